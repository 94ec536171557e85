//! A backend of vyre over wgpu, written as another crate would: on the facade alone.
//!
//! | module | holds |
//! |---|---|
//! | `backend` | the trait, a dispatch from top to bottom |
//! | `gpu` | the device, what it says of itself, errors that wgpu raises beside its results |
//! | `compiled` | the pipelines of a program's kernels |
//! | `execution` | one running instance of a program: upload, ops, wait, read back |
//! | `step` | one op: its bind groups, and the ranges that wgpu wants apart |
//! | `memory` | buffers, counted as they are made, and those that the host maps |
//! | `error` | errors of wgpu as errors of vyre |
//!
//! ```no_run
//! use vyre_driver::{OpenConfig, Registry};
//!
//! let mut registry = Registry::empty();
//! backend_wgpu::register(&mut registry);
//! let backend = registry.open(&OpenConfig::from_env())?;
//! println!("{}", backend.device_info().name);
//! # Ok::<(), vyre_driver::BackendError>(())
//! ```

#![forbid(unsafe_code)]

mod backend;
mod gpu;
mod compiled;
mod execution;
mod step;
mod memory;
mod error;

pub use backend::{WgpuBackend, register};
