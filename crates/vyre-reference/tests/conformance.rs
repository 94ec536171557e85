//! The conformance kit on the reference backend.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use vyre_conformance::Kit;
use vyre_reference::ReferenceBackend;

fn main() -> ExitCode {
    vyre_conformance::main(Kit::new("reference", || {
        Ok(Arc::new(ReferenceBackend::default()))
    }))
}
