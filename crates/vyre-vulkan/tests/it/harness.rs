//! Builds small programs, and runs them on words instead of bytes.

use vyre_core::backend::{DispatchConfig, DispatchReport, VyreBackend};
use vyre_core::kernel::Kernel;
use vyre_core::program::{BufferId, BufferRole, Program, ProgramBuilder};

use crate::support::{bytes, words};

// The arrays of kernels whose hazards matter lie in structs: version 1.3.239 of the validation layer
// takes a bare `array<u32>` for one that is never written, since naga reaches its elements in two
// steps and the layer follows one. It then misses every hazard between two ops.

/// `y[i] = 3 * x[i] + 1`, in workgroups of 64.
pub(crate) const STEP: &str = "
struct Words { words: array<u32> }
@group(0) @binding(0) var<storage, read> x: Words;
@group(0) @binding(1) var<storage, read_write> y: Words;
@compute @workgroup_size(64)
fn step(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&y.words) { y.words[id.x] = x.words[id.x] * 3u + 1u; }
}
";

/// What [`STEP`] does to one word.
pub(crate) fn step(x: u32) -> u32 {
    x.wrapping_mul(3).wrapping_add(1)
}

/// `sum[i] += x[i]`, in workgroups of 64.
pub(crate) const ADD: &str = "
struct Words { words: array<u32> }
@group(0) @binding(0) var<storage, read> x: Words;
@group(0) @binding(1) var<storage, read_write> sum: Words;
@compute @workgroup_size(64)
fn add(@builtin(global_invocation_id) id: vec3u) {
    if id.x < arrayLength(&sum.words) { sum.words[id.x] += x.words[id.x]; }
}
";

/// The only entry point of `source`.
pub(crate) fn kernel(source: &str) -> Kernel {
    Kernel::from_wgsl(source).unwrap()
}

/// Declares a buffer of `len` words; a constant one holds zeros.
pub(crate) fn declare(
    builder: &mut ProgramBuilder,
    (name, role, len): (&str, BufferRole, usize),
) -> BufferId {
    let byte_len = 4 * len as u64;
    match role {
        BufferRole::Input => builder.input(name, byte_len),
        BufferRole::Output => builder.output(name, byte_len),
        BufferRole::InOut => builder.in_out(name, byte_len),
        BufferRole::Scratch => builder.scratch(name, byte_len),
        _ => builder.constant(name, vec![0; 4 * len]),
    }
}

/// A program of one op. Each buffer, of the given number of words, is bound to the variable of the
/// same name.
pub(crate) fn one_op(
    source: &str,
    grid: [u32; 3],
    buffers: &[(&str, BufferRole, usize)],
) -> Program {
    let mut builder = Program::builder("one op");
    let ids: Vec<_> = buffers
        .iter()
        .map(|buffer| (buffer.0, declare(&mut builder, *buffer)))
        .collect();
    let mut op = builder.op(&kernel(source), grid);
    for (name, id) in ids {
        op.bind(name, id);
    }
    builder.build().unwrap()
}

/// Runs `program` on the words of its inputs, and returns those of its outputs.
pub(crate) fn run(
    backend: &dyn VyreBackend,
    program: &Program,
    inputs: &[&[u32]],
) -> Vec<Vec<u32>> {
    run_reported(backend, program, inputs).0
}

/// The same, with the report.
pub(crate) fn run_reported(
    backend: &dyn VyreBackend,
    program: &Program,
    inputs: &[&[u32]],
) -> (Vec<Vec<u32>>, DispatchReport) {
    let inputs: Vec<_> = inputs.iter().map(|words| bytes(words)).collect();
    let inputs: Vec<_> = inputs.iter().map(Vec::as_slice).collect();
    let mut outputs = Vec::new();
    let report = backend
        .dispatch_reported(program, &inputs, &DispatchConfig::default(), &mut outputs)
        .unwrap();
    (outputs.iter().map(|bytes| words(bytes)).collect(), report)
}
