//! Corners of the language: pointers, overrides, composite values.

use super::{output, run};

#[test]
fn pointers_reach_into_every_kind_of_variable() {
    let source = "
        struct Cell { v: vec4u, m: array<u32, 3> }
        @group(0) @binding(0) var<storage, read_write> cells: array<Cell, 2>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        var<workgroup> shared_cells: array<Cell, 2>;
        var<private> own: array<Cell, 2>;
        fn put(c: ptr<private, Cell>, i: u32, x: u32) { (*c).v[i] = x; (*c).m[i % 3u] += x; }
        fn sum(c: ptr<function, array<u32, 3>>) -> u32 { return (*c)[0] + (*c)[1] + (*c)[2]; }
        @compute @workgroup_size(1)
        fn main(@builtin(num_workgroups) n: vec3u) {
            let i = n.x;
            let p = &cells[i];
            (*p).v.y = 50u; (*p).v[i + 1u] += 3u; (*p).m[i]++;
            let q = &shared_cells[i].v;
            (*q).z = 9u;
            shared_cells[0] = cells[1];
            put(&own[i], i, 7u);
            put(&own[i], 3u, 2u);
            put(&own[0], 3u, 4u);
            var m = own[i].m;
            out[0] = cells[1].v.y * 10u + cells[1].v.z;
            out[1] = cells[1].m[1];
            out[2] = shared_cells[1].v.z + shared_cells[0].v.w;
            out[3] = own[1].v.y * 1000u + own[1].v.w * 100u + own[1].m[1] * 10u + own[1].m[0];
            out[4] = sum(&m) * 10u + own[0].v.w;
        }";
    let cells: Vec<u32> = (0..16).collect();
    let out = run(source, 1, &[("cells", &cells), ("out", &[0; 5])]);
    assert_eq!(out[1], [500 + 13, 14, 9 + 11, 7272, 94]);
}

#[test]
fn composite_values_are_indexed_and_returned() {
    let out = output(
        "struct Pair { rows: array<vec2u, 2>, flag: bool }
         const PRIMES = array<u32, 5>(2u, 3u, 5u, 7u, 11u);
         fn pair(i: u32) -> Pair {
             if i == 2u { return Pair(array(vec2u(1u), vec2u(2u)), true); }
             for (var k = 0u; ; k++) {
                 if PRIMES[k] > i * 3u { return Pair(array(vec2u(k, i), vec2u(i, k)), i == 1u); }
             }
             return Pair();
         }
         @compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32) {
             let p = pair(i);
             let rows = p.rows;
             let zero = Pair();
             out[i] = rows[i % 2u].x * 100u + p.rows[1][i % 2u] * 10u + u32(p.flag) + zero.rows[i % 2u].y;
         }",
        4,
    );
    // k is 0, 1 and 4 in lanes 0, 1 and 3: the first primes over 0, 3 and 9 are 2, 5 and 11.
    assert_eq!(out, [0, 121, 121, 340]);
}

#[test]
fn overrides_size_arrays_and_workgroups() {
    let out = output(
        "override SIZE: u32 = 4u;
         override SCALE: f32 = 2.5;
         var<workgroup> line: array<u32, SIZE>;
         @compute @workgroup_size(SIZE)
         fn main(@builtin(local_invocation_index) i: u32) {
             line[i] = u32(f32(i) * SCALE);
             workgroupBarrier();
             out[i] = line[SIZE - 1u - i] + 100u * SIZE;
         }",
        4,
    );
    assert_eq!(out, [407, 405, 402, 400]);
}

#[test]
fn logic_stops_where_it_is_decided() {
    let out = output(
        "var<private> calls: u32;
         fn seen(x: bool) -> bool { calls += 1u; return x; }
         @compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32) {
             let a = seen((i & 1u) == 1u) && seen((i & 2u) == 2u);
             let b = a || seen(i == 0u);
             out[i] = calls * 100u + u32(a) * 10u + u32(b);
         }",
        4,
    );
    assert_eq!(out, [201, 300, 200, 211]);
}

#[test]
fn uniform_matrices_and_halves_have_their_strides() {
    let source = "
        enable f16;
        struct Block { m: mat3x3<f16>, v: vec3<f16>, list: array<vec4f, 2>, w: mat2x2f }
        @group(0) @binding(0) var<uniform> block: Block;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(1)
        fn main(@builtin(workgroup_id) id: vec3u) {
            let i = id.x;
            out[i * 4u] = f32(block.m[i][2]);
            out[i * 4u + 1u] = f32((block.m * block.v)[i]);
            out[i * 4u + 2u] = block.list[i].w;
            out[i * 4u + 3u] = block.w[i].y;
        }";
    // m: columns of 8 bytes at 0; v at 24; list at 32; w at 64.
    let half = |a: u32, b: u32| a | b << 16;
    let (one, two, three) = (0x3c00, 0x4000, 0x4200);
    let mut block = vec![0; 20];
    block[..6].copy_from_slice(&[
        half(one, 0),
        half(two, 0),
        half(0, one),
        half(three, 0),
        half(0, 0),
        half(one, 0),
    ]);
    block[6..8].copy_from_slice(&[half(one, two), half(three, 0)]);
    block[11] = 5.0_f32.to_bits();
    block[15] = 6.0_f32.to_bits();
    block[17] = 7.0_f32.to_bits();
    block[19] = 8.0_f32.to_bits();
    let out = run(source, 2, &[("block", &block), ("out", &[0; 8])]).remove(0);
    let out: Vec<f32> = out.into_iter().map(f32::from_bits).collect();
    // Columns (1 0 2), (0 1 3), (0 0 1) times (1 2 3).
    assert_eq!(out, [2.0, 1.0, 5.0, 7.0, 3.0, 2.0, 6.0, 8.0]);
}
