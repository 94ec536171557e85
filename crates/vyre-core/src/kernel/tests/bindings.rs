//! Reflection of buffer variables.

use super::{build, build_with};
use crate::kernel::{Access, BindingKind, Kernel, KernelBinding, KernelError};

const STRUCTS: &str = "
    struct Header { count: u32, values: array<vec3<f32>> }
    struct Settings { scale: vec3<f32>, turn: mat3x3<f32> }
    @group(2) @binding(1) var<uniform> settings: Settings;
    @group(1) @binding(9) var<storage, read> header: Header;
    @group(1) @binding(3) var<storage, read> bare: array<vec3<f32>>;
    @group(1) @binding(4) var<storage, read> fixed: array<u32, 7>;
    @group(1) @binding(5) var<storage, read_write> only_written: u32;
    @group(1) @binding(6) var<storage, read_write> counter: atomic<u32>;
    @group(3) @binding(0) var<storage, read_write> unused: array<u32>;
    @group(3) @binding(1) var picture: texture_2d<f32>;
    fn count() -> u32 { return header.count; }
";

fn kernel() -> Kernel {
    let body = "
        data[id.x] = count() + u32(header.values[0].x + settings.turn[1].y);
        data[id.y] = arrayLength(&bare) + fixed[id.z] + data[0];
        only_written = 1;
        atomicAdd(&counter, 1u);";
    build_with(STRUCTS, body).unwrap()
}

fn binding(name: &str) -> KernelBinding {
    let kernel = kernel();
    let mut bindings = kernel.bindings().iter();
    bindings
        .find(|binding| binding.name == name)
        .unwrap()
        .clone()
}

#[test]
fn bindings_are_sorted_by_group_and_binding() {
    let kernel = kernel();
    let slots = kernel
        .bindings()
        .iter()
        .map(|found| (found.group, found.binding));
    let expected = [(0, 0), (1, 3), (1, 4), (1, 5), (1, 6), (1, 9), (2, 1)];
    assert_eq!(slots.collect::<Vec<_>>(), expected);
}

#[test]
fn handles_lead_to_the_variables() {
    let kernel = kernel();
    for found in kernel.bindings() {
        let variable = &kernel.module().global_variables[found.variable];
        assert_eq!(variable.name.as_ref(), Some(&found.name));
    }
}

#[test]
fn access_is_what_the_kernel_does() {
    let access = [
        "data",
        "header",
        "bare",
        "only_written",
        "counter",
        "settings",
    ]
    .map(|name| binding(name).access);
    use Access::{None, Read, ReadWrite, Write};
    assert_eq!(access, [ReadWrite, Read, None, Write, ReadWrite, Read]);
}

#[test]
fn uniforms_are_told_from_storage() {
    let kinds = ["settings", "data"].map(|name| binding(name).kind);
    assert_eq!(kinds, [BindingKind::Uniform, BindingKind::Storage]);
}

#[test]
fn runtime_array_counts_as_one_element() {
    // A vec3<f32> is aligned to 16 bytes: one element at 0, and at 16 behind the count.
    let lengths = ["bare", "header"].map(|name| binding(name).min_byte_len);
    assert_eq!(lengths, [16, 32]);
}

#[test]
fn fixed_types_have_their_size() {
    // Settings: 12 bytes padded to 16, then three columns of 16.
    let lengths = ["fixed", "settings", "only_written"].map(|name| binding(name).min_byte_len);
    assert_eq!(lengths, [28, 64, 4]);
}

#[test]
fn only_runtime_arrays_have_a_stride() {
    let strides = ["data", "bare", "header", "fixed"].map(|name| binding(name).element_stride);
    assert_eq!(strides, [Some(4), Some(16), Some(16), None]);
}

#[test]
fn unused_buffers_are_listed_apart() {
    let kernel = kernel();
    let unused = kernel.unused_bindings();
    assert_eq!(
        (unused.len(), unused[0].name.as_str(), unused[0].group),
        (1, "unused", 3)
    );
}

#[test]
fn phony_assignment_makes_a_binding_that_is_not_accessed() {
    let kernel = build("_ = &data;").unwrap();
    assert_eq!(kernel.bindings()[0].access, Access::None);
}

#[test]
fn names_need_not_be_ascii() {
    let declaration = "@group(0) @binding(1) var<storage, read> größe: u32; // …";
    let kernel = build_with(declaration, "data[0] = größe;").unwrap();
    assert_eq!(kernel.bindings()[1].name, "größe");
}

/// What the error calls the variable `thing` that `value` uses.
fn refused_kind(declarations: &str, value: &str) -> &'static str {
    match build_with(declarations, &format!("data[0] = {value};")) {
        Err(KernelError::UnsupportedBinding { name, kind }) if name == "thing" => kind,
        other => panic!("{other:?}"),
    }
}

#[test]
fn textures_are_refused() {
    let declaration = "@group(0) @binding(1) var thing: texture_2d<f32>;";
    assert_eq!(
        refused_kind(declaration, "textureDimensions(thing).x"),
        "a texture"
    );
}

#[test]
fn samplers_are_refused() {
    let declarations = "
        @group(0) @binding(1) var thing: sampler;
        @group(0) @binding(2) var image: texture_2d<f32>;";
    let value = "u32(textureSampleLevel(image, thing, vec2<f32>(), 0).x)";
    assert_eq!(refused_kind(declarations, value), "a sampler");
}

#[test]
fn immediate_data_is_refused() {
    assert_eq!(
        refused_kind("var<immediate> thing: u32;", "thing"),
        "immediate data"
    );
}

#[test]
fn binding_arrays_are_refused() {
    let declarations = "
        enable wgpu_binding_array;
        struct Item { value: u32 }
        @group(0) @binding(1) var<storage, read> thing: binding_array<Item, 4>;";
    assert_eq!(
        refused_kind(declarations, "thing[0].value"),
        "a binding array"
    );
}

#[test]
fn acceleration_structures_are_refused() {
    let source = "
        enable wgpu_ray_query;
        @group(0) @binding(0) var thing: acceleration_structure;
        @compute @workgroup_size(1) fn main() {
            var query: ray_query;
            let ray = RayDesc(0u, 255u, 0.1, 1.0, vec3<f32>(), vec3<f32>(1.0));
            rayQueryInitialize(&query, thing, ray);
        }";
    let error = Kernel::from_wgsl(source).unwrap_err();
    let expected = "variable 'thing' is an acceleration structure; \
                    kernels use storage and uniform buffers only";
    assert_eq!(error.to_string(), expected);
}

#[test]
fn two_used_variables_on_one_slot_are_refused() {
    let declaration = "@group(0) @binding(0) var<storage, read> other: u32;";
    let error = build_with(declaration, "data[0] = other;").unwrap_err();
    assert_eq!(
        error.to_string(),
        "variables other, data share @group(0) @binding(0); give each its own"
    );
}

#[test]
fn a_slot_may_be_shared_with_an_unused_variable() {
    let declaration = "@group(0) @binding(0) var<storage, read> other: u32;";
    assert_eq!(
        build_with(declaration, "data[0] = 1;")
            .unwrap()
            .bindings()
            .len(),
        1
    );
}

#[test]
fn groups_end_at_three() {
    let declaration = "@group(4) @binding(0) var<storage, read> other: u32;";
    let error = build_with(declaration, "data[0] = other;").unwrap_err();
    assert!(matches!(
        error,
        KernelError::GroupOutOfRange { group: 4, .. }
    ));
}
