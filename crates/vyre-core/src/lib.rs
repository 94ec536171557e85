//! The vocabulary of vyre: kernels, programs, the backend trait, output accounting and statistics.

#![forbid(unsafe_code)]

pub mod kernel;
pub mod program;
pub mod backend;
pub mod error;
pub mod output;
pub mod stats;

pub use naga;
