//! Workgroup size and memory.

use super::build_with;
use crate::kernel::{Kernel, KernelError};

fn sized(size: &str) -> Result<Kernel, KernelError> {
    Kernel::from_wgsl(&format!("@compute @workgroup_size({size}) fn main() {{}}"))
}

fn memory(declarations: &str, body: &str) -> u32 {
    build_with(declarations, body)
        .unwrap()
        .workgroup_memory_bytes()
}

#[test]
fn missing_axes_are_one() {
    assert_eq!(sized("4, 2").unwrap().workgroup_size(), [4, 2, 1]);
}

#[test]
fn an_axis_of_zero_is_refused() {
    let error = sized("8, 0, 1").unwrap_err();
    assert!(
        matches!(error, KernelError::WorkgroupSize { size: [8, 0, 1] }),
        "{error}"
    );
}

#[test]
fn invocations_must_fit_32_bits() {
    assert!(sized("16384, 16384, 8").is_ok());
    let error = sized("16384, 16384, 16").unwrap_err();
    assert!(
        matches!(error, KernelError::WorkgroupSize { .. }),
        "{error}"
    );
}

#[test]
fn memory_includes_padding_between_variables() {
    let declarations = "var<workgroup> a: u32; var<workgroup> b: array<vec4<f32>, 3>;";
    assert_eq!(memory(declarations, "a = 1; b[0].x = 2;"), 16 + 48);
}

#[test]
fn unused_workgroup_variables_take_no_memory() {
    assert_eq!(
        memory("var<workgroup> a: array<u32, 64>;", "data[0] = 1;"),
        0
    );
}

#[test]
fn a_bool_takes_four_bytes() {
    let declarations = "struct S { flag: bool, pair: vec2<bool> } var<workgroup> a: array<S, 3>;";
    assert_eq!(memory(declarations, "a[1].flag = true;"), 3 * 16);
}

#[test]
fn memory_must_fit_32_bits() {
    let names = ["a", "b", "c"];
    let declare = |name| format!("var<workgroup> {name}: array<vec4<f32>, 100000000>;");
    let declarations = names.map(declare).concat();
    let body = names.map(|name| format!("{name}[1].x = 1;")).concat();
    let error = build_with(&declarations, &body).unwrap_err();
    assert!(
        matches!(
            error,
            KernelError::WorkgroupMemory {
                bytes: 4_800_000_000
            }
        ),
        "{error}"
    );
}
