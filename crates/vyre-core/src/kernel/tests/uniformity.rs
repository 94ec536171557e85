//! Barriers in uniform and non-uniform control flow, by the rules of WGSL section "Uniformity".

use crate::kernel::{Kernel, KernelError};

const DECLARATIONS: &str = "
    struct Inputs {
        @builtin(workgroup_id) group: vec3<u32>,
        @builtin(local_invocation_index) lane: u32,
    }
    @group(0) @binding(0) var<storage, read_write> written: array<u32>;
    @group(0) @binding(1) var<storage, read_write> only_read: array<u32>;
    @group(0) @binding(2) var<uniform> count: u32;
    var<workgroup> shared_count: u32;
    fn sync_if(condition: bool) { if condition { workgroupBarrier(); } }
    fn same(value: u32) -> u32 { return value; }
    fn assign(target_value: ptr<function, u32>, value: u32) { *target_value = value; }
    fn ignore(value: u32) -> u32 { if value == 3 { return 1; } return 1; }
    fn increase(target_value: ptr<function, u32>) { *target_value += 1; }
";

fn build(body: &str) -> Result<Kernel, KernelError> {
    Kernel::from_wgsl(&format!(
        "{DECLARATIONS}
        @compute @workgroup_size(64)
        fn main(in: Inputs) {{ written[in.lane] = 1; {body} }}"
    ))
}

/// Bodies that the rules allow.
const UNIFORM: &[&str] = &[
    "workgroupBarrier();",
    "if in.group.x == 1 { workgroupBarrier(); }",
    "if count == 1 { storageBarrier(); }",
    "if only_read[3] == 1 { workgroupBarrier(); }",
    "if arrayLength(&written) == 1 { workgroupBarrier(); }",
    "for (var i = 0u; i < count; i++) { workgroupBarrier(); }",
    "var i = 0u; while i < 8 { if in.lane < i { written[0] = i; } workgroupBarrier(); i += 1; }",
    "var step = 32u; loop { workgroupBarrier(); step /= 2; continuing { break if step == 0; } }",
    "if in.lane == 0 { written[0] = 1; } workgroupBarrier();",
    "let loaded = workgroupUniformLoad(&shared_count); if loaded == 1 { workgroupBarrier(); }",
    "var x = in.lane; x = 4; if x == 4 { workgroupBarrier(); }",
    "var x = 1u; if in.lane == 0 { let y = x; } if x == 1 { workgroupBarrier(); }",
    "sync_if(count == 3);",
    "if same(count) == 1 { workgroupBarrier(); }",
    "var x = in.lane; assign(&x, 4); if x == 4 { workgroupBarrier(); }",
    "var x = 1u; increase(&x); if x == 4 { workgroupBarrier(); }",
    "if in.lane == 0 { subgroupBarrier(); }",
    "switch count { case 1, 2: { workgroupBarrier(); } default: {} }",
    "switch in.lane { case 1: { written[0] = 1; } default: {} } workgroupBarrier();",
    "for (var i = 0u; i < in.lane; i++) { written[i] = 1; } workgroupBarrier();",
    "for (var i = 0u; i < 9; i++) { if i == count { continue; } workgroupBarrier(); }",
    "for (var i = 0u; i < 9; i++) { switch in.lane { case 1: { break; } default: {} } workgroupBarrier(); }",
    "if count == 1 { return; } workgroupBarrier();",
    "if count == 1 { var x = in.lane; return; } workgroupBarrier();",
    "var x = 1u; if count == 1 { x = in.lane; return; } if x == 1 { workgroupBarrier(); }",
    "if count == 1 && in.group.x == 2 { workgroupBarrier(); }",
    "var x: array<u32, 4>; x[1] = 3; if x[count] == 1 { workgroupBarrier(); }",
];

/// Bodies that the rules forbid.
const NON_UNIFORM: &[&str] = &[
    "if in.lane == 0 { workgroupBarrier(); }",
    "if written[3] == 1 { workgroupBarrier(); }",
    "if shared_count == 1 { workgroupBarrier(); }",
    "if in.lane == 0 { return; } workgroupBarrier();",
    "if in.lane == 0 { let x = workgroupUniformLoad(&shared_count); }",
    "for (var i = 0u; i < in.lane; i++) { workgroupBarrier(); }",
    "for (var i = 0u; i < 9; i++) { if i == in.lane { break; } workgroupBarrier(); }",
    "for (var i = 0u; i < 9; i++) { if i == in.lane { continue; } workgroupBarrier(); }",
    "for (var i = 0u; i < 9; i++) { workgroupBarrier(); if i == in.lane { break; } }",
    "loop { workgroupBarrier(); continuing { break if written[0] == in.lane; } }",
    "var x = 1u; if in.lane == 0 { x = 2; } if x == 1 { workgroupBarrier(); }",
    "var x = 1u; for (var i = 0u; i < 9; i++) { if x == 1 { workgroupBarrier(); } x = in.lane; }",
    "var i = 0u; loop { if i == in.lane { break; } i += 1; } if i == 3 { workgroupBarrier(); }",
    "sync_if(in.lane == 3);",
    "if in.lane == 3 { sync_if(true); }",
    "if same(in.lane) == 1 { workgroupBarrier(); }",
    "if ignore(in.lane) == 1 { workgroupBarrier(); }",
    "var x = 1u; assign(&x, in.lane); if x == 4 { workgroupBarrier(); }",
    "var x = in.lane; increase(&x); if x == 4 { workgroupBarrier(); }",
    "switch in.lane { case 1: { workgroupBarrier(); } default: {} }",
    "switch in.lane { case 1: { return; } default: {} } workgroupBarrier();",
    "if count == 1 && in.lane == 2 { workgroupBarrier(); }",
    "var x: array<u32, 4>; x[1] = in.lane; if x[count] == 1 { workgroupBarrier(); }",
    "var x: array<u32, 64>; x[in.lane] = 1; if x[count] == 1 { workgroupBarrier(); }",
    "var x = vec2<u32>(); if x[in.lane & 1] == 0 { workgroupBarrier(); }",
    "if subgroupAdd(1u) == 3 { workgroupBarrier(); }",
];

#[test]
fn barriers_in_uniform_control_flow_are_accepted() {
    for body in UNIFORM {
        let error = build(body).err().map(|error| error.to_string());
        assert_eq!(error, None, "{body}");
    }
}

#[test]
fn barriers_in_non_uniform_control_flow_are_refused() {
    for body in NON_UNIFORM {
        let result = build(body);
        assert!(
            matches!(result, Err(KernelError::NonUniformBarrier { .. })),
            "{body}: {result:?}"
        );
    }
}

#[test]
fn time_does_not_double_with_each_loop_around() {
    let depth = 60;
    let heads =
        (0..depth).map(|level| format!("x{level} = 1; loop {{ if count == {level} {{ break; }}"));
    let tails = (0..depth)
        .rev()
        .map(|level| format!("x{level} = in.lane; }}"));
    let variables: String = (0..depth)
        .map(|level| format!("var x{level} = 1u;"))
        .collect();
    let body = variables + &heads.collect::<String>() + &tails.collect::<String>();
    assert!(build(&format!("workgroupBarrier(); {body}")).is_ok());
}

#[test]
fn error_points_at_barrier_and_condition() {
    let source = "
@compute @workgroup_size(64)
fn main(@builtin(local_invocation_index) lane: u32) {
    if lane < 3 {
        workgroupBarrier();
    }
}";
    let Err(KernelError::NonUniformBarrier { location, cause }) = Kernel::from_wgsl(source) else {
        panic!("accepted");
    };
    let places = [location, cause].map(|place| place.map(|place| (place.line, place.column)));
    assert_eq!(places, [Some((5, 9)), Some((4, 5))]);
}
