//! Which entry point becomes the kernel.

use naga::ShaderStage;

use crate::kernel::{Kernel, KernelError};

const TWO: &str = "
    @group(0) @binding(0) var<storage, read_write> one: u32;
    @group(0) @binding(0) var<storage, read_write> other: u32;
    @group(0) @binding(1) var picture: texture_2d<f32>;
    @compute @workgroup_size(1) fn first() { one = 1; }
    @compute @workgroup_size(2) fn second() { other = 2; }
    @compute @workgroup_size(3) fn third() { other = textureDimensions(picture).x; }
    @fragment fn paint() {}";

#[test]
fn chosen_entry_point_is_built() {
    let kernel = Kernel::builder(TWO).entry_point("second").build().unwrap();
    assert_eq!(
        (kernel.entry_point(), kernel.workgroup_size()),
        ("second", [2, 1, 1])
    );
}

#[test]
fn module_holds_only_the_chosen_entry_point() {
    let kernel = Kernel::builder(TWO).entry_point("second").build().unwrap();
    let names = kernel
        .module()
        .entry_points
        .iter()
        .map(|entry| entry.name.as_str());
    assert_eq!(names.collect::<Vec<_>>(), ["second"]);
    assert_eq!(
        kernel.module().entry_points[kernel.entry_point_index()].name,
        "second"
    );
}

#[test]
fn only_compute_entry_point_needs_no_choice() {
    let source = "@fragment fn paint() {} @compute @workgroup_size(1) fn count() {}";
    assert_eq!(Kernel::from_wgsl(source).unwrap().entry_point(), "count");
}

#[test]
fn several_compute_entry_points_need_a_choice() {
    let error = Kernel::from_wgsl(TWO).unwrap_err();
    assert_eq!(
        error.to_string(),
        "the source has 3 compute entry points; choose one with `entry_point`; \
         available: first, second, third"
    );
}

#[test]
fn unknown_entry_point_lists_the_available() {
    let error = Kernel::builder(TWO)
        .entry_point("fourth")
        .build()
        .unwrap_err();
    assert_eq!(
        error.to_string(),
        "no entry point is named 'fourth'; available: first, second, third"
    );
}

#[test]
fn other_stages_are_refused_by_name() {
    let error = Kernel::builder(TWO)
        .entry_point("paint")
        .build()
        .unwrap_err();
    assert!(matches!(
        error,
        KernelError::NotCompute {
            stage: ShaderStage::Fragment,
            ..
        }
    ));
}

#[test]
fn source_with_other_stages_only_names_one() {
    let error = Kernel::from_wgsl("@fragment fn paint() {}").unwrap_err();
    assert!(matches!(error, KernelError::NotCompute { name, .. } if name == "paint"));
}

#[test]
fn texture_of_another_entry_point_is_no_matter() {
    assert!(Kernel::builder(TWO).entry_point("first").build().is_ok());
}

#[test]
fn texture_of_this_entry_point_is_refused() {
    let error = Kernel::builder(TWO)
        .entry_point("third")
        .build()
        .unwrap_err();
    assert!(matches!(error, KernelError::UnsupportedBinding { name, .. } if name == "picture"));
}

#[test]
fn sources_without_functions_have_no_entry_point() {
    for source in ["", "  \n", "// nothing", "const A = 1;", "fn unused() {}"] {
        let error = Kernel::from_wgsl(source).unwrap_err();
        assert!(
            matches!(error, KernelError::NoEntryPoint),
            "{source:?}: {error}"
        );
    }
}
