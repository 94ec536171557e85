//! What kernels ask of a device, and what they can't have.

use super::{build, build_with};
use crate::kernel::{Capability, KernelError};

fn capabilities(declarations: &str, body: &str) -> Vec<Capability> {
    build_with(declarations, body)
        .unwrap()
        .capabilities()
        .to_vec()
}

#[test]
fn plain_kernels_need_nothing() {
    assert_eq!(capabilities("", "data[0] = 1;"), []);
}

#[test]
fn f16_is_found_inside_expressions() {
    let body = "data[0] = u32(f16(data[1]));";
    assert_eq!(capabilities("enable f16;", body), [Capability::Float16]);
}

#[test]
fn packed_halves_need_nothing() {
    let body = "data[0] = pack2x16float(unpack2x16float(data[1]));";
    assert_eq!(capabilities("", body), []);
}

#[test]
fn sixty_four_bit_integers_are_found_in_called_functions() {
    let function = "fn wide(x: u32) -> u32 { return u32((u64(x) * 3lu) >> 32u); }";
    assert_eq!(
        capabilities(function, "data[0] = wide(data[1]);"),
        [Capability::Int64]
    );
}

#[test]
fn sixty_four_bit_atomics_are_told_apart() {
    let declaration = "@group(0) @binding(1) var<storage, read_write> wide: atomic<u64>;";
    let found = capabilities(declaration, "atomicMax(&wide, 3lu);");
    assert_eq!(found, [Capability::Int64, Capability::Int64Atomics]);
}

#[test]
fn subgroup_operations_need_no_directive() {
    assert_eq!(
        capabilities("", "data[0] = subgroupAdd(1u);"),
        [Capability::Subgroups]
    );
}

#[test]
fn subgroup_built_in_values_are_found_in_structs() {
    let source = "
        struct Inputs { @builtin(subgroup_size) size: u32 }
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(1) fn main(in: Inputs) { data[0] = in.size; }";
    let kernel = crate::kernel::Kernel::from_wgsl(source).unwrap();
    assert_eq!(kernel.capabilities(), [Capability::Subgroups]);
}

#[test]
fn constants_of_other_entry_points_ask_for_nothing() {
    let declaration = "const WIDE: u64 = 5lu; fn unused() -> u64 { return WIDE; }";
    assert_eq!(capabilities(declaration, "data[0] = 1;"), []);
}

#[test]
fn f64_is_refused_by_name() {
    let error = build("data[0] = u32(f64(data[1]));").unwrap_err();
    assert_eq!(
        error.to_string(),
        "entry point 'main' uses 64-bit floats, which kernels can't"
    );
}

#[test]
fn unused_f64_is_no_matter() {
    let declaration = "fn unused() -> f64 { return 1.0lf; }";
    assert!(build_with(declaration, "data[0] = 1;").is_ok());
}

#[test]
fn sixteen_bit_integers_are_refused_by_name() {
    let error = build_with("enable wgpu_int16;", "data[0] = u32(u16(data[1]));").unwrap_err();
    assert!(matches!(
        error,
        KernelError::UnsupportedFeature {
            feature: "16-bit integers",
            ..
        }
    ));
}

#[test]
fn long_else_if_chains_are_refused() {
    let chain = "if data[0] == 1 { data[1] = 2; } else ".repeat(2000);
    let error = build(&format!("{chain} {{}}")).unwrap_err();
    assert!(
        matches!(error, KernelError::UnsupportedFeature { .. }),
        "{error}"
    );
}

#[test]
fn barriers_are_found_in_called_functions() {
    let function = "fn sync() { workgroupBarrier(); }";
    assert!(build_with(function, "sync();").unwrap().uses_barriers());
}

#[test]
fn uniform_loads_count_as_barriers() {
    let declaration = "var<workgroup> shared_value: u32;";
    let kernel = build_with(
        declaration,
        "data[0] = workgroupUniformLoad(&shared_value);",
    );
    assert!(kernel.unwrap().uses_barriers());
}

#[test]
fn atomics_are_no_barriers() {
    let declaration = "@group(0) @binding(1) var<storage, read_write> counter: atomic<u32>;";
    assert!(
        !build_with(declaration, "atomicAdd(&counter, 1u);")
            .unwrap()
            .uses_barriers()
    );
}
