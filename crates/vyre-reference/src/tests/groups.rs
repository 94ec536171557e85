//! Workgroups and subgroups: built-in values, barriers, atomics, operations between lanes.

use super::{output, run, try_run};
use crate::ReferenceConfig;

#[test]
fn built_in_values_name_every_invocation() {
    let source = "
        struct Ids { @builtin(local_invocation_id) local: vec3u, @builtin(local_invocation_index) index: u32 }
        @group(0) @binding(0) var<storage, read_write> out: array<vec4u>;
        @compute @workgroup_size(2, 3, 2)
        fn main(ids: Ids, @builtin(global_invocation_id) id: vec3u, @builtin(workgroup_id) group: vec3u, @builtin(num_workgroups) groups: vec3u) {
            let local = ids.local;
            out[group.x * 12u + ids.index] = vec4u(id.x, local.x + local.y * 10u + local.z * 100u, groups.x, id.y);
        }";
    let out = run(source, 3, &[("out", &[0; 4 * 36])]).remove(0);
    assert_eq!(out[4 * 35..], [5, 121, 3, 2]);
    assert_eq!(out[4 * 15..][..4], [3, 11, 3, 1]);
}

#[test]
fn tree_sum_over_workgroup_memory() {
    let out = output(
        "var<workgroup> sums: array<u32, 64>;
         @compute @workgroup_size(64)
         fn main(@builtin(local_invocation_index) i: u32) {
             sums[i] = i;
             for (var step = 32u; step > 0u; step /= 2u) {
                 workgroupBarrier();
                 if i < step { sums[i] += sums[i + step]; }
             }
             let total = workgroupUniformLoad(&sums[0]);
             out[i] = total;
         }",
        64,
    );
    assert_eq!(out, [2016; 64]);
}

#[test]
fn atomics_do_what_they_say() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: array<atomic<i32>, 8>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(32)
        fn main(@builtin(global_invocation_id) id: vec3u) {
            let i = i32(id.x);
            atomicAdd(&a[0], i);
            atomicSub(&a[1], 2);
            atomicMin(&a[2], i - 40);
            atomicMax(&a[3], i - 40);
            atomicAnd(&a[4], ~(1 << (id.x % 4u)));
            atomicOr(&a[5], 1 << (id.x % 5u));
            atomicXor(&a[6], i);
            let slot = atomicAdd(&a[7], 1);
            out[slot] = id.x;
        }";
    let out = run(
        source,
        2,
        &[("a", &[0, 0, 0, 0, 255, 0, 0, 0]), ("out", &[0; 64])],
    );
    let signed: Vec<i32> = out[0].iter().map(|word| word.cast_signed()).collect();
    assert_eq!(signed, [2016, -128, -40, 23, 240, 31, 0, 64]);
    // Workgroups run in order where it shows.
    assert!(out[1].iter().copied().eq(0..64));
}

#[test]
fn lock_by_compare_exchange() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> counter: atomic<u32>;
        @compute @workgroup_size(16)
        fn main() {
            var done = false;
            loop {
                if done { break; }
                let old = atomicLoad(&counter);
                done = atomicCompareExchangeWeak(&counter, old, old * 2u + 1u).exchanged;
            }
        }";
    assert_eq!(run(source, 1, &[("counter", &[0])])[0], [0xffff]);
}

#[test]
fn wide_atomics_carry() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> a: atomic<u64>;
        var<workgroup> w: atomic<u64>;
        @compute @workgroup_size(64)
        fn main() {
            atomicAdd(&a, 0x80000000lu);
            atomicAdd(&w, 0x100000000lu);
            workgroupBarrier();
            atomicMax(&a, atomicLoad(&w));
        }";
    // Each workgroup adds 32 to the high word; the first one's maximum is 64 without the low.
    assert_eq!(run(source, 4, &[("a", &[5, 0])])[0], [0, 160]);
}

#[test]
fn subgroup_operations_take_active_lanes() {
    let source = "
        enable subgroups;
        @group(0) @binding(0) var<storage, read_write> out: array<array<u32, 16>>;
        @compute @workgroup_size(12)
        fn main(@builtin(local_invocation_index) i: u32, @builtin(subgroup_id) group: u32, @builtin(num_subgroups) groups: u32,
                @builtin(subgroup_size) size: u32, @builtin(subgroup_invocation_id) lane: u32) {
            out[i][0] = group * 1000u + groups * 100u + size * 10u + lane;
            out[i][1] = subgroupAdd(i);
            out[i][2] = subgroupInclusiveAdd(i);
            out[i][3] = subgroupExclusiveMul(i + 1u);
            out[i][4] = subgroupBallot(i % 3u == 0u).x;
            out[i][5] = subgroupBroadcastFirst(i + 7u);
            out[i][6] = subgroupShuffleXor(i, 1u);
            out[i][7] = subgroupShuffleDown(i, 2u);
            out[i][8] = u32(subgroupAll(i < 8u)) + 2u * u32(subgroupAny(i == 9u));
            if i % 2u == 1u {
                out[i][9] = subgroupMin(i);
                out[i][10] = subgroupBroadcast(i, 3u);
            }
            let v = subgroupMax(vec2f(f32(i), -f32(i)));
            out[i][11] = u32(v.x - v.y);
            out[i][12] = quadSwapX(i);
            out[i][13] = quadBroadcast(i, 2u);
            out[i][14] = subgroupXor(i) * 100u + subgroupOr(i);
            out[i][15] = subgroupShuffleUp(i, 1u);
        }";
    let config = ReferenceConfig::default().with_subgroup_size(8);
    let out = try_run(config, source, 1, &[("out", &[0; 192])]).unwrap();
    let lane = |i: usize| &out[0][16 * i..][..16];
    let expected = [283, 28, 6, 6, 0b100_1001, 7, 2, 5, 1, 1, 3, 7, 2, 2, 7, 2];
    assert_eq!(lane(3), expected);
    let xor = 8 ^ 9 ^ 10 ^ 11;
    let expected = [
        1281,
        38,
        17,
        9,
        0b10,
        15,
        8,
        11,
        2,
        9,
        11,
        11 + 8,
        8,
        10,
        xor * 100 + 11,
        8,
    ];
    assert_eq!(lane(9), expected);
}
