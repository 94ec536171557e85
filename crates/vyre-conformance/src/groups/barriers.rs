//! Barriers: what one invocation wrote before, all of the workgroup read after.

use crate::case::{Case, Fault, Group};
use crate::context::{Context, same_words};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Barriers, name, run)
}

pub(super) const CASES: &[Case] = &[
    case("workgroup_barriers_order_workgroup_memory", scan),
    case("storage_barriers_order_storage", storage),
    case("uniform_loads_give_one_value", uniform_load),
    case("barriers_in_loops_and_functions_hold", transpose),
];

const GROUPS: u32 = 24;

fn scan(context: &Context) -> Result<(), Fault> {
    let source = "
        var<workgroup> sums: array<u32, 128>;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(128)
        fn main(@builtin(global_invocation_id) id: vec3u, @builtin(local_invocation_index) at: u32) {
            sums[at] = data[id.x];
            workgroupBarrier();
            for (var step = 1u; step < 128u; step *= 2u) {
                var sum = sums[at];
                if at >= step { sum += sums[at - step]; }
                workgroupBarrier();
                sums[at] = sum;
                workgroupBarrier();
            }
            data[id.x] = sums[at];
        }";
    let data = context.random("scan").words(128 * GROUPS as usize);
    let got = context.run_kernel(source, [GROUPS, 1, 1], &[&data])?;
    let sums = data.chunks(128).flat_map(|chunk| {
        chunk.iter().scan(0u32, |sum, word| {
            *sum = sum.wrapping_add(*word);
            Some(*sum)
        })
    });
    same_words("running sums", &got[0], &sums.collect::<Vec<_>>())
}

fn storage(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) at: u32) {
            let base = 64u * group.x;
            for (var turn = 0u; turn < 10u; turn++) {
                let next = data[base + (at + 1u) % 64u] * 3u + turn;
                storageBarrier();
                data[base + at] = next;
                storageBarrier();
            }
        }";
    let mut data = context.random("storage").words(64 * GROUPS as usize);
    let got = context.run_kernel(source, [GROUPS, 1, 1], &[&data])?;
    for chunk in data.chunks_mut(64) {
        for turn in 0..10 {
            let next = (0..64).map(|at| chunk[(at + 1) % 64].wrapping_mul(3).wrapping_add(turn));
            let next: Vec<u32> = next.collect();
            chunk.copy_from_slice(&next);
        }
    }
    same_words("after ten turns", &got[0], &data)
}

fn uniform_load(context: &Context) -> Result<(), Fault> {
    let source = "
        var<workgroup> chosen: u32;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) at: u32) {
            var sum = 0u;
            for (var turn = 0u; turn < 8u; turn++) {
                if at == (turn * 7u + group.x) % 64u { chosen = at * 100u + turn; }
                sum += workgroupUniformLoad(&chosen);
            }
            data[64u * group.x + at] = sum;
        }";
    let got = context.run_kernel(source, [GROUPS, 1, 1], &[&vec![0; 64 * GROUPS as usize]])?;
    let sum = |group: u32| {
        (0..8)
            .map(|turn| (turn * 7 + group) % 64 * 100 + turn)
            .sum()
    };
    let expected = (0..GROUPS).flat_map(|group| [sum(group); 64]);
    same_words("sums of loads", &got[0], &expected.collect::<Vec<u32>>())
}

fn transpose(context: &Context) -> Result<(), Fault> {
    let source = "
        var<workgroup> tile: array<array<u32, 16>, 16>;
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        fn turn(at: vec2u) {
            let word = tile[at.y][at.x];
            workgroupBarrier();
            tile[at.x][15u - at.y] = word;
            workgroupBarrier();
        }
        @compute @workgroup_size(16, 16)
        fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_id) local: vec3u) {
            let at = 256u * group.x + 16u * local.y + local.x;
            tile[local.y][local.x] = data[at];
            workgroupBarrier();
            for (var quarter = 0u; quarter < 3u; quarter++) { turn(local.xy); }
            data[at] = tile[local.y][local.x];
        }";
    let data: Vec<u32> = (0..256 * GROUPS).collect();
    let got = context.run_kernel(source, [GROUPS, 1, 1], &[&data])?;
    // Three quarter turns are one the other way round.
    let expected = (0..256 * GROUPS).map(|at| {
        let (base, row, column) = (at / 256 * 256, at / 16 % 16, at % 16);
        base + 16 * column + (15 - row)
    });
    same_words("turned tiles", &got[0], &expected.collect::<Vec<_>>())
}
