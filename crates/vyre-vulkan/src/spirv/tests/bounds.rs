//! Accesses out of bounds: reads give zero, writes and atomic operations do nothing.

use naga::{BinaryOperator, Expression, Statement};

use super::inspect::{self, Guarded};
use super::{lowered, words};

const ACCESSES: &str = include_str!("accesses.wgsl");

#[test]
fn every_access_is_guarded() {
    let (module, info) = lowered(ACCESSES);
    // Counted by hand in accesses.wgsl.
    let expected = Guarded {
        reads: 13,
        writes: 13,
        atomics: 9,
    };
    assert_eq!(inspect::guarded(&module, &info), expected);
}

#[test]
fn accesses_that_are_always_in_bounds_stay_as_they_are() {
    let (module, info) = lowered(
        "struct Head { count: atomic<u32>, lanes: vec4<u32>, fixed: array<u32, 4> }
         @group(0) @binding(0) var<storage, read_write> head: Head;
         @compute @workgroup_size(1) fn main() {
             head.lanes.y = head.fixed[3] + atomicAdd(&head.count, 1u);
         }",
    );
    assert_eq!(inspect::guarded(&module, &info), Guarded::default());
    let body = &module.entry_points[0].function.body;
    assert!(
        !body
            .iter()
            .any(|statement| matches!(statement, Statement::If { .. }))
    );
}

#[test]
fn a_runtime_sized_array_is_checked_even_at_a_constant_index() {
    let (module, info) = lowered(
        "@group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
         @compute @workgroup_size(1) fn main() { atomicAdd(&data[7], 1u); }",
    );
    let expected = Guarded {
        atomics: 1,
        ..Guarded::default()
    };
    assert_eq!(inspect::guarded(&module, &info), expected);
}

#[test]
fn each_index_of_a_chain_is_checked() {
    let source = |access: &str| {
        format!(
            "@group(0) @binding(0) var<storage, read_write> data: array<array<vec4<u32>, 4>>;
             @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {{
                 {access} = 1u;
             }}"
        )
    };
    for (access, checks) in [
        ("data[id.x][id.y][id.z]", 3),
        ("data[id.x][id.y].z", 2),
        ("data[id.x][1].z", 1),
        ("data[1][1].z", 1),
    ] {
        let (module, info) = lowered(&source(access));
        assert_eq!(inspect::guarded(&module, &info).writes, 1, "{access}");
        let comparisons = module.entry_points[0]
            .function
            .expressions
            .iter()
            .filter(|(_, expression)| {
                matches!(
                    expression,
                    Expression::Binary {
                        op: BinaryOperator::Less,
                        ..
                    }
                )
            })
            .count();
        assert_eq!(comparisons, checks, "{access}");
    }
}

#[test]
fn a_uniform_load_stays_where_all_invocations_reach_it() {
    let (module, _) = lowered(ACCESSES);
    let top_level = module.entry_points[0]
        .function
        .body
        .iter()
        .filter(|statement| matches!(statement, Statement::WorkGroupUniformLoad { .. }))
        .count();
    assert_eq!(top_level, 1);
}

#[test]
fn nothing_but_compute_accesses_is_accepted() {
    let cases = [
        (
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
             fn bump(value: ptr<function, u32>) { *value += 1u; }
             @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                 var values: array<u32, 4>;
                 bump(&values[id.x]);
                 data[0] = values[0];
             }",
            "a pointer to a part of a variable",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
             @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
                 data[u64(id.x)] = 1u;
             }",
            "neither i32 nor u32",
        ),
        (
            "@group(0) @binding(0) var<storage, read_write> data: array<u64>;
             @compute @workgroup_size(1) fn main() { data[0] = countLeadingZeros(data[1]); }",
            "64-bit integer",
        ),
        (
            "@group(0) @binding(0) var image: texture_2d<f32>;
             @group(0) @binding(1) var<storage, read_write> data: array<vec4<f32>>;
             @compute @workgroup_size(1) fn main() { data[0] = textureLoad(image, vec2(0), 0); }",
            "textures",
        ),
    ];
    for (source, expected) in cases {
        let error = words(source).expect_err(expected).to_string();
        assert!(error.contains(expected), "{error}");
    }
}
