//! Workgroup and private memory start as zeros in every workgroup, not only in the first ones.

use crate::case::{Case, Fault, Group};
use crate::context::{Context, same_words};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Freshness, name, run)
}

pub(super) const CASES: &[Case] = &[
    case(
        "workgroup_memory_is_zero_in_every_workgroup",
        workgroup_memory,
    ),
    case(
        "private_memory_is_initialised_in_every_invocation",
        private_memory,
    ),
    case(
        "variables_of_functions_are_zero_in_every_turn",
        function_variables,
    ),
    case("workgroup_structs_and_atomics_are_zero", workgroup_structs),
];

/// Workgroups: far more than run at once anywhere.
const GROUPS: u32 = 2000;

fn each_group_gives(
    context: &Context,
    source: &str,
    word: impl Fn(u32) -> u32,
) -> Result<(), Fault> {
    let zeros = vec![0; GROUPS as usize];
    let expected: Vec<u32> = (0..GROUPS).map(word).collect();
    for _ in 0..2 {
        let got = context.run_kernel(source, [GROUPS, 1, 1], &[&zeros])?;
        same_words("what each workgroup saw", &got[0], &expected)?;
    }
    Ok(())
}

fn workgroup_memory(context: &Context) -> Result<(), Fault> {
    let source = "
        var<workgroup> ours: array<u32, 256>;
        @group(0) @binding(0) var<storage, read_write> seen: array<atomic<u32>>;
        @compute @workgroup_size(64)
        fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) at: u32) {
            var found = 0u;
            for (var word = at; word < 256u; word += 64u) { found |= ours[word]; }
            atomicOr(&seen[group.x], found);
            workgroupBarrier();
            for (var word = at; word < 256u; word += 64u) { ours[word] = 0xdeadbeefu; }
            workgroupBarrier();
            if ours[255u - at] != 0xdeadbeefu { atomicOr(&seen[group.x], 1u); }
        }";
    each_group_gives(context, source, |_| 0)
}

fn private_memory(context: &Context) -> Result<(), Fault> {
    let source = "
        var<private> zero: array<u32, 16>;
        var<private> seven: u32 = 7u;
        @group(0) @binding(0) var<storage, read_write> seen: array<atomic<u32>>;
        @compute @workgroup_size(32)
        fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) at: u32) {
            var found = seven ^ 7u;
            for (var word = 0u; word < 16u; word++) { found |= zero[word]; zero[word] = at + 1u; }
            seven = 9u + at;
            atomicOr(&seen[group.x], found);
        }";
    each_group_gives(context, source, |_| 0)
}

fn function_variables(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> seen: array<u32>;
        fn turn(at: u32) -> u32 {
            var sum: u32;
            var words: array<u32, 4>;
            sum += words[at % 4u] + at;
            words[at % 4u] = 100u;
            return sum + words[0] * 0u;
        }
        @compute @workgroup_size(1) fn main(@builtin(workgroup_id) group: vec3u) {
            var total = 0u;
            for (var at = 0u; at < 8u; at++) {
                var fresh: u32;
                fresh += turn(at);
                total += fresh;
            }
            seen[group.x] = total + group.x;
        }";
    each_group_gives(context, source, |group| 28 + group)
}

fn workgroup_structs(context: &Context) -> Result<(), Fault> {
    let source = "
        struct Shared { count: atomic<u32>, flags: array<bool, 5>, lanes: vec3<f32>, tail: array<vec2<i32>, 3> }
        var<workgroup> ours: Shared;
        @group(0) @binding(0) var<storage, read_write> seen: array<u32>;
        @compute @workgroup_size(16)
        fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) at: u32) {
            let dirty = ours.flags[at % 5u] || any(ours.lanes != vec3f()) || any(ours.tail[at % 3u] != vec2i());
            workgroupBarrier();
            ours.flags[at % 5u] = true;
            if at == 0u { ours.lanes = vec3f(1.0, 2.0, 3.0); }
            if at < 3u { ours.tail[at] = vec2i(5, 6); }
            atomicAdd(&ours.count, select(1u, 1000u, dirty));
            workgroupBarrier();
            if at == 0u { seen[group.x] = atomicLoad(&ours.count); }
        }";
    each_group_gives(context, source, |_| 16)
}
