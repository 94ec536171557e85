//! The conformance kit on the minimal backend: the groups that assignments are enough for.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use backend_minimal::MinimalBackend;
use vyre_conformance::{Group, Kit};

fn main() -> ExitCode {
    let kit = Kit::new("minimal", || Ok(Arc::new(MinimalBackend::default())))
        .with_groups(&[
            Group::Hazards,
            Group::Buffers,
            Group::Outputs,
            Group::Errors,
            Group::Threads,
            Group::Growth,
        ])
        .expecting_failure("buffers::large_buffers_come_back_whole", "it has no loops")
        .expecting_failure(
            "buffers::uniforms_and_constants_are_read",
            "it has no structs",
        )
        .expecting_failure("buffers::grids_have_three_axes", "it has no comparisons");
    vyre_conformance::main(kit)
}
