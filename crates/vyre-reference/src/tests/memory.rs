//! Memory: layouts, bounds, freshness.

use super::{output, run};

#[test]
fn structs_lie_in_buffers_as_wgsl_says() {
    let source = "
        struct Inner { a: u32, b: vec3u, c: array<vec2u, 2> }
        struct Outer { head: u32, inner: array<Inner, 2>, tail: array<u32> }
        @group(0) @binding(0) var<storage, read_write> data: Outer;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1)
        fn main() {
            var i = 1u;
            out[0] = data.head;
            out[1] = data.inner[i].b.z;
            out[2] = data.inner[i].c[i].y;
            out[3] = data.tail[i];
            out[4] = arrayLength(&data.tail);
            let copy = data.inner[0];
            data.inner[1] = copy;
            data.inner[i].c[i][i] = 99u;
            data.tail[i + 1u] += 5u;
        }";
    // Inner takes 48 bytes: a 0, b 16, c 32. Outer: inner 16, tail 112.
    let data: Vec<u32> = (0..32).collect();
    let out = run(source, 1, &[("data", &data), ("out", &[0; 5])]);
    assert_eq!(out[1], [0, 16 + 6, 16 + 11, 29, 4]);
    let mut expected = data;
    for word in [0, 4, 5, 6, 8, 9, 10, 11] {
        expected[16 + word] = expected[4 + word];
    }
    expected[16 + 11] = 99;
    expected[30] += 5;
    assert_eq!(out[0], expected);
}

#[test]
fn out_of_bounds_reads_zero_and_writes_nothing() {
    let source = "
        struct Two { a: array<u32, 2>, b: array<atomic<u32>, 2> }
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<storage, read_write> two: Two;
        @group(0) @binding(2) var<storage, read_write> out: array<u32>;
        var<workgroup> shared_words: array<u32, 4>;
        var<private> own: array<vec2u, 2>;
        @compute @workgroup_size(1)
        fn main() {
            var big = -1;
            var far = 0x40000000u;
            out[0] = data[big] + data[far] + data[4];
            data[big] = 1u; data[far] = 2u; data[4] = 3u;
            var i = 2;
            out[1] = two.a[i];
            two.a[i] = 7u;
            out[2] = atomicAdd(&two.b[i], 1u) + atomicLoad(&two.b[big]);
            atomicStore(&two.b[big], 5u);
            shared_words[i + 2] = 8u;
            out[3] = shared_words[big] + shared_words[i + 2];
            own[i].x = 4u; own[1][i] = 6u;
            out[4] = own[i].x + own[1].x + own[1].y + own[1][i];
            var local = array(1u, 2u, 3u);
            local[i + 1] = 9u;
            out[5] = local[i + 1] + local[i];
            out[6] = atomicCompareExchangeWeak(&two.b[i], 0u, 3u).old_value;
            out[7] = u32(atomicCompareExchangeWeak(&two.b[i], 0u, 3u).exchanged);
        }";
    let data = [10, 11, 12, 13];
    let out = run(
        source,
        1,
        &[("data", &data), ("two", &data), ("out", &[1; 8])],
    );
    assert_eq!(out[0], data);
    assert_eq!(out[1], data);
    assert_eq!(out[2], [0, 0, 0, 0, 0, 3, 0, 0]);
}

#[test]
fn workgroup_and_private_memory_is_fresh_for_every_workgroup() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<workgroup> count: atomic<u32>;
        var<workgroup> flags: array<bool, 3>;
        var<private> own: u32 = 5u;
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) id: vec3u) {
            atomicAdd(&count, 1u);
            own += i;
            if flags[1] { atomicAdd(&count, 100u); }
            workgroupBarrier();
            flags[1] = true;
            if i == 3u { out[id.x] = atomicLoad(&count) * 10u + own; }
        }";
    let out = run(source, 9, &[("out", &[0; 9])]);
    assert_eq!(out[0], [48; 9]);
}

#[test]
fn sixteen_bit_neighbours_are_left_alone() {
    let source = "
        enable f16;
        @group(0) @binding(0) var<storage, read_write> data: array<f16>;
        @compute @workgroup_size(1)
        fn main(@builtin(global_invocation_id) id: vec3u) {
            if id.x % 2u == 0u { data[id.x] = f16(id.x); }
        }";
    let out = run(source, 64, &[("data", &[0x3c00_3c00; 32])]).remove(0);
    assert!(out.iter().all(|word| word >> 16 == 0x3c00));
    assert_eq!(out[1], 0x3c00_4000);
}

#[test]
fn private_arrays_take_any_index() {
    let out = output(
        "var<private> table: array<array<u32, 3>, 4>;
         fn fill(row: u32) { for (var k = 0u; k < 3u; k++) { table[row][k] = row * 10u + k; } }
         @compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32) {
             fill(i);
             fill(3u - i);
             let row = table[i];
             out[i] = row[i % 3u] + table[3u - i][2] * 100u + table[(i + 1u) % 4u][0];
         }",
        4,
    );
    assert_eq!(out, [3200, 2231, 1222, 230]);
}
