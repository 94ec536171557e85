//! Whole kernels, against values worked out by hand.

mod builtins;
mod control;
mod dispatch;
mod groups;
mod kernels;
mod language;
mod matrices;
mod memory;
mod numbers;

use vyre_core::backend::{BackendError, DispatchConfig, VyreBackend};
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use crate::{ReferenceBackend, ReferenceConfig};

/// A program of one op: buffers that the kernel writes are in-out, the others input.
pub(crate) fn program(source: &str, grid: u32, buffers: &[(&str, &[u32])]) -> Program {
    let kernel = Kernel::from_wgsl(source).unwrap_or_else(|error| panic!("{error}"));
    let mut builder = Program::builder("test");
    let ids: Vec<_> = buffers
        .iter()
        .map(|(name, words)| {
            let bindings = kernel.bindings().iter();
            let mut named = bindings.filter(|binding| binding.name == *name);
            let byte_len = words.len() as u64 * 4;
            if named.any(|binding| binding.access.writes()) {
                builder.in_out(*name, byte_len)
            } else {
                builder.input(*name, byte_len)
            }
        })
        .collect();
    let mut op = builder.op(&kernel, [grid, 1, 1]);
    for ((name, _), id) in buffers.iter().zip(ids) {
        op.bind(name, id);
    }
    builder.build().unwrap_or_else(|error| panic!("{error}"))
}

pub(crate) fn try_run(
    config: ReferenceConfig,
    source: &str,
    grid: u32,
    buffers: &[(&str, &[u32])],
) -> Result<Vec<Vec<u32>>, BackendError> {
    let program = program(source, grid, buffers);
    let bytes: Vec<Vec<u8>> = buffers
        .iter()
        .map(|(_, words)| words.iter().flat_map(|word| word.to_le_bytes()).collect())
        .collect();
    let inputs: Vec<&[u8]> = bytes.iter().map(Vec::as_slice).collect();
    let backend = ReferenceBackend::new(config);
    let outputs = backend.dispatch(&program, &inputs, &DispatchConfig::default())?;
    let words = outputs.iter().map(|bytes| {
        let (words, _) = bytes.as_chunks();
        words.iter().map(|word| u32::from_le_bytes(*word)).collect()
    });
    Ok(words.collect())
}

/// Runs a kernel over `grid` workgroups; gives the buffers that it writes.
pub(crate) fn run(source: &str, grid: u32, buffers: &[(&str, &[u32])]) -> Vec<Vec<u32>> {
    try_run(ReferenceConfig::default(), source, grid, buffers)
        .unwrap_or_else(|error| panic!("{error}"))
}

/// The one buffer that a kernel of one workgroup writes to, `len` words of zeros at first.
pub(crate) fn output(source: &str, len: usize) -> Vec<u32> {
    let out = format!("@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n{source}");
    run(&out, 1, &[("out", &vec![0; len])]).remove(0)
}
