//! Runs programs made of many small GPU compute operations, and reports what every dispatch cost.
//!
//! This crate is the one to depend on: it re-exports the vocabulary of `vyre-core` and opens a
//! backend for the machine it runs on.
//!
//! - A [`Kernel`] is a WGSL compute entry point, checked once.
//! - A [`Program`] is buffers and ops over them; what depends on what follows from the buffers.
//! - A [`VyreBackend`] runs programs: [`open`] finds the best one of this build, on the host's
//!   processor if there is nothing better, and a crate of yours adds its own to a [`Registry`].
//!
//! ```
//! use vyre_driver::{DispatchConfig, Kernel, Program, VyreBackend};
//!
//! let kernel = Kernel::from_wgsl(
//!     "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
//!      @compute @workgroup_size(64)
//!      fn square(@builtin(global_invocation_id) id: vec3u) { x[id.x] *= x[id.x]; }",
//! )?;
//! let mut builder = Program::builder("square");
//! let x = builder.in_out("x", 16);
//! builder.op(&kernel, [1, 1, 1]).bind("x", x);
//! let program = builder.build()?;
//!
//! let backend = vyre_driver::open()?;
//! let input: Vec<u8> = [1u32, 2, 3, 4].into_iter().flat_map(u32::to_le_bytes).collect();
//! let outputs = backend.dispatch(&program, &[&input], &DispatchConfig::default())?;
//! assert_eq!(outputs[0][12..], 16u32.to_le_bytes());
//! # Ok::<(), vyre_driver::BackendError>(())
//! ```

#![forbid(unsafe_code)]

mod open;
mod registry;

pub use open::{OpenConfig, open, open_with};
pub use registry::Registry;

pub use vyre_core::backend::{
    CompiledPipeline, DeviceInfo, DispatchConfig, DispatchReport, LaunchMode, VyreBackend,
};
pub use vyre_core::error::BackendError;
pub use vyre_core::kernel::Kernel;
pub use vyre_core::program::Program;
pub use vyre_core::{error, finding, kernel, naga, output, program, stats, switch};
#[cfg(feature = "reference")]
pub use vyre_reference as reference;
#[cfg(feature = "vulkan")]
pub use vyre_vulkan as vulkan;

/// The backend trait, what crosses it, and the accounting of dispatch results.
pub mod backend {
    pub use vyre_core::backend::*;
    pub use vyre_core::output::*;
    pub use vyre_core::stats::MegakernelDispatchStats;
}
