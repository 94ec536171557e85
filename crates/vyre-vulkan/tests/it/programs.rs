//! Small programs that several tests run, and what the host makes of the same inputs.

use vyre_core::backend::{DispatchConfig, VyreBackend};
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use crate::support::{bytes, words};

/// Words in each buffer of [`sums`].
pub(crate) const SUMS_LEN: usize = 16;

/// Bytes in each buffer of [`sums`].
pub(crate) const SUMS_BYTES: u64 = 64;

// The arrays lie in structs for the reason that `harness` gives.
const ADD: &str = "
struct Words { words: array<u32> }
@group(0) @binding(0) var<storage, read> x: Words;
@group(0) @binding(1) var<storage, read_write> y: Words;
@compute @workgroup_size(16)
fn add(@builtin(global_invocation_id) id: vec3u) { y.words[id.x] += x.words[id.x]; }";

/// The kernel `y[i] += x[i]` over workgroups of 16.
pub(crate) fn add() -> Kernel {
    Kernel::from_wgsl(ADD).unwrap()
}

/// `y += x`, then `z += y`: rows are `[x (input), y (in-out), z (output)]`.
///
/// Since an output starts as zeros, `z` ends as `y` does.
pub(crate) fn sums() -> Program {
    let kernel = add();
    let mut builder = Program::builder("sums");
    let x = builder.input("x", SUMS_BYTES);
    let y = builder.in_out("y", SUMS_BYTES);
    let z = builder.output("z", SUMS_BYTES);
    for (from, to) in [(x, y), (y, z)] {
        builder.op(&kernel, [1, 1, 1]).bind("x", from).bind("y", to);
    }
    builder.build().unwrap()
}

/// `x[i] = factor * x[i] + i` over four words; each factor makes a kernel of its own.
pub(crate) fn scaled(factor: u32) -> Program {
    let kernel = Kernel::from_wgsl(&format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
         @compute @workgroup_size(4)
         fn scale(@builtin(global_invocation_id) id: vec3u) {{ x[id.x] = {factor}u * x[id.x] + id.x; }}"
    ))
    .unwrap();
    let mut builder = Program::builder(format!("scaled by {factor}"));
    let x = builder.in_out("x", 16);
    builder.op(&kernel, [1, 1, 1]).bind("x", x);
    builder.build().unwrap()
}

/// Runs a [`scaled`] program over 1, 2, 3, 4 and checks what comes back.
pub(crate) fn assert_scales(backend: &impl VyreBackend, program: &Program, factor: u32) {
    let input = bytes(&[1, 2, 3, 4]);
    let outputs = backend.dispatch(program, &[&input], &DispatchConfig::default());
    let expected = [0, 1, 2, 3].map(|index| factor * (index + 1) + index);
    assert_eq!(words(&outputs.unwrap()[0]), expected);
}
