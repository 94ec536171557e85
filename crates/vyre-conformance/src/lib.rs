//! A test kit that any backend of vyre runs against itself.
//!
//! Design rules:
//! - **Expected values come from the host**, from code that shares nothing with any backend, or from
//!   a second backend that the caller passes.
//! - **Unsupported is not failed, and neither is failing as declared**: a backend declares its groups
//!   and the cases that it fails, and a declared failure that passes is a failure.
//! - **Where WGSL allows a range, so does the kit**, and a failure names the row of WGSL's table.
//! - **Everything random has a seed**, which a failure prints with the smallest kernel that shows it.
//! - **Few dispatches, many checks**: one kernel evaluates many expressions over many rows.
//!
//! A backend runs every case as a test of its own from one file, `tests/conformance.rs`, which its
//! manifest lists as a `[[test]]` with `harness = false`:
//!
//! ```no_run
//! use std::process::ExitCode;
//! use std::sync::Arc;
//!
//! use vyre_conformance::{Group, Kit};
//! # use vyre_core::backend::VyreBackend;
//! # use vyre_core::error::BackendError;
//! # fn open_mine() -> Result<Arc<dyn VyreBackend>, BackendError> { Err(BackendError::InputCount { expected: 0, given: 0 }) }
//!
//! fn main() -> ExitCode {
//!     let kit = Kit::new("mine", || open_mine())
//!         .with_groups(&[Group::Semantics, Group::Bounds])
//!         .expecting_failure("bounds::atomics_do_nothing", "no atomics yet");
//!     vyre_conformance::main(kit)
//! }
//! ```
//!
//! `VYRE_CONFORMANCE_SEED` chooses another seed, `VYRE_CONFORMANCE_CASES` another number of random
//! kernels.

#![forbid(unsafe_code)]

mod case;
mod kit;
mod context;
mod table;
mod runner;
mod random;
mod expr;
mod groups;

pub use case::{Case, Group, Need, Outcome};
pub use context::Context;
pub use kit::Kit;
pub use runner::main;
pub use table::{Counts, Table};
