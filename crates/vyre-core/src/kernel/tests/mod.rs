//! Tests of kernels, one file per subject.

mod bindings;
mod capabilities;
mod entry_point;
mod errors;
mod garbage;
mod identity;
mod overrides;
mod uniformity;
mod workgroup;

use super::{Kernel, KernelError};

/// A kernel of one invocation over `data`, an array of u32 to read and write.
fn build(body: &str) -> Result<Kernel, KernelError> {
    build_with("", body)
}

/// The same with declarations before it, on lines of their own.
fn build_with(declarations: &str, body: &str) -> Result<Kernel, KernelError> {
    Kernel::from_wgsl(&format!(
        "{declarations}
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @compute @workgroup_size(1)
        fn main(@builtin(global_invocation_id) id: vec3<u32>) {{ {body} }}"
    ))
}
