//! The vocabulary of vyre: kernels, programs, the backend trait, output accounting and statistics.
//!
//! | module | holds |
//! |---|---|
//! | [`kernel`] | a WGSL compute entry point, checked and reflected once |
//! | [`program`] | buffers, ops over them, and the hazards that order the ops |
//! | [`plan`] | a program as work items for persistent workgroups |
//! | [`ring`] | the buffers through which a persistent kernel is fed |
//! | [`backend`] | the trait that runs programs, what crosses it, resident buffers |
//! | [`output`] | putting results into the caller's slots, and what became of those |
//! | [`stats`] | what one dispatch cost |
//! | [`switch`] | variables of the environment that are on or off |
//! | [`mod@error`] | the one error that crosses the backend border |
//!
//! # Design rules
//!
//! - Everything that can be known is checked when a kernel or program is built, not when it runs.
//! - What depends on what follows from the bytes that ops share; nobody writes a barrier.
//! - Nothing here knows a backend or a device; a backend needs three methods to begin with.
//! - Costs are counted where they arise, and only what was counted is reported.
//! - Errors are told apart by type, and their messages say what to do.
//!
//! # Example
//!
//! Two ops on one buffer, of which the second has to wait for the first:
//!
//! ```
//! use vyre_core::kernel::Kernel;
//! use vyre_core::program::Program;
//!
//! let kernel = Kernel::from_wgsl(
//!     "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
//!      @compute @workgroup_size(64)
//!      fn increment(@builtin(global_invocation_id) id: vec3u) { x[id.x] += 1u; }",
//! )?;
//! let mut builder = Program::builder("add two");
//! let x = builder.in_out("x", 4 * 64);
//! builder.op(&kernel, [1, 1, 1]).bind("x", x);
//! builder.op(&kernel, [1, 1, 1]).bind("x", x);
//! let program = builder.build()?;
//! assert_eq!(program.dependencies().predecessors(1), [0]);
//! # Ok::<(), vyre_core::error::BackendError>(())
//! ```

#![forbid(unsafe_code)]

pub mod kernel;
pub mod program;
pub mod plan;
pub mod ring;
pub mod backend;
pub mod error;
pub mod finding;
pub mod output;
pub mod stats;
pub mod switch;

/// The WGSL front end, for backends: [`Kernel::module`](kernel::Kernel::module) is in its types, so
/// they have to use the same version.
pub use naga;
