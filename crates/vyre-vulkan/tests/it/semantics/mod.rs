//! What WGSL fixes, and drivers get wrong where nobody looks.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_sign_loss,
    clippy::print_stderr,
    reason = "truncation is what is expected here, and a test says that it was skipped"
)]

mod bits;
mod bounds;
mod floats;
mod half;
mod integers;
mod memory;
mod wide;

use vyre_core::backend::VyreBackend;
use vyre_core::kernel::Capability;
use vyre_core::program::BufferRole::{InOut, Input};

use crate::harness::{one_op, run};

/// Fills outputs beforehand, so that a zero is one that was written.
pub(crate) const UNTOUCHED: u32 = 0xeeee_eeee;

/// Whether the device has `capability`; where not, that the test is skipped is said aloud.
fn has(backend: &impl VyreBackend, capability: Capability) -> bool {
    let has = backend.device_info().capabilities.contains(&capability);
    if !has {
        eprintln!("SKIPPED, since the device has no {capability}");
    }
    has
}

/// Runs one workgroup of `source` with its buffer `x` full of `words`, and returns the `len` words
/// of its buffer `y`.
fn evaluate(backend: &dyn VyreBackend, source: &str, words: &[u32], len: usize) -> Vec<u32> {
    let program = one_op(
        source,
        [1, 1, 1],
        &[("x", Input, words.len()), ("y", InOut, len)],
    );
    run(backend, &program, &[words, &vec![UNTOUCHED; len]]).remove(0)
}
