//! The reference backend of vyre: runs programs on the CPU, as the oracle for all other backends.
//!
//! - **The same semantics.** What vyre fixes is fixed here: overflow wraps, reads out of bounds are
//!   zero and writes are dropped, workgroup and private memory is zero for every workgroup.
//! - **All lanes at once.** A kernel is compiled to a flat list of instructions, each of which runs
//!   over all invocations of a workgroup under a mask. Barriers are met by construction.
//! - **No schedule shows.** Workgroups run on all cores. Kernels that look at what atomic operations
//!   leave in storage run theirs in order. Only a data race, which WGSL gives no meaning, may
//!   differ from run to run.
//! - **Also a sanitizer.** On request, whatever a kernel must not do fails the dispatch, with kernel,
//!   op, workgroup, invocation and source line.
//! - **No unsafe code.** Buffers are relaxed atomics, which are plain moves.
//!
//! ```
//! use vyre_core::backend::{DispatchConfig, VyreBackend};
//! use vyre_core::kernel::Kernel;
//! use vyre_core::program::Program;
//! use vyre_reference::{ReferenceBackend, ReferenceConfig};
//!
//! let kernel = Kernel::from_wgsl(
//!     "@group(0) @binding(0) var<storage, read_write> values: array<u32>;
//!      @compute @workgroup_size(4)
//!      fn main(@builtin(global_invocation_id) id: vec3u) { values[id.x] += id.x; }",
//! )?;
//! let mut builder = Program::builder("count");
//! let values = builder.in_out("values", 16);
//! builder.op(&kernel, [1, 1, 1]).bind("values", values);
//! let program = builder.build()?;
//!
//! let backend = ReferenceBackend::new(ReferenceConfig::from_env());
//! let outputs = backend.dispatch(&program, &[&[1; 16]], &DispatchConfig::default())?;
//! assert_eq!(outputs[0], [1, 1, 1, 1, 2, 1, 1, 1, 3, 1, 1, 1, 4, 1, 1, 1]);
//! # Ok::<(), vyre_core::error::BackendError>(())
//! ```

#![forbid(unsafe_code)]

mod config;
mod backend;
mod programs;
mod execution;
mod buffer;
mod layout;
mod code;
mod compile;
mod machine;
mod sanitize;
mod ops;

pub use backend::ReferenceBackend;
pub use config::{ReferenceConfig, Sanitize};

#[cfg(test)]
mod tests;
