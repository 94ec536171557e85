//! Equality, hashing and cloning of kernels.

use std::collections::HashSet;

use crate::kernel::Kernel;

const SOURCE: &str = "
    override N: u32 = 1;
    @compute @workgroup_size(N) fn main() {}
    @compute @workgroup_size(N) fn other() {}";

fn kernel(entry_point: &str, n: f64) -> Kernel {
    let builder = Kernel::builder(SOURCE).entry_point(entry_point);
    builder.override_constant("N", n).build().unwrap()
}

#[test]
fn kernels_built_alike_are_equal() {
    assert_eq!(kernel("main", 2.0), kernel("main", 2.0));
}

#[test]
fn entry_point_override_and_source_tell_kernels_apart() {
    let kernels = [
        kernel("main", 2.0),
        kernel("main", 2.0),
        kernel("main", 3.0),
        kernel("other", 2.0),
        Kernel::builder(SOURCE).entry_point("main").build().unwrap(),
        Kernel::from_wgsl("@compute @workgroup_size(2) fn main() {}").unwrap(),
    ];
    assert_eq!(kernels.into_iter().collect::<HashSet<_>>().len(), 5);
}

#[test]
fn order_of_overrides_is_no_matter() {
    let source = "override A = 1; override B = 2; @compute @workgroup_size(A, B) fn main() {}";
    let builder = || Kernel::builder(source);
    let one = builder()
        .override_constant("A", 3.0)
        .override_constant("B", 4.0)
        .build();
    let other = builder()
        .override_constant("B", 4.0)
        .override_constant("A", 3.0)
        .build();
    assert_eq!(one.unwrap(), other.unwrap());
}

#[test]
fn naming_the_only_entry_point_is_no_difference() {
    let source = "@compute @workgroup_size(2) fn main() {}";
    let named = Kernel::builder(source).entry_point("main").build();
    assert_eq!(named.unwrap(), Kernel::from_wgsl(source).unwrap());
}

#[test]
fn clones_share_the_module() {
    let kernel = kernel("main", 2.0);
    assert!(std::ptr::eq(kernel.module(), kernel.clone().module()));
}

#[test]
fn kernels_cross_threads() {
    fn crosses<T: Send + Sync + 'static>() {}
    crosses::<Kernel>();
}

#[test]
fn debug_is_one_short_line() {
    let text = format!("{:?}", kernel("main", 2.0));
    assert!(text.starts_with("Kernel {") && text.len() < 200, "{text}");
}
