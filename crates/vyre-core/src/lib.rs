//! The vocabulary of vyre: kernels, output accounting and dispatch statistics.

#![forbid(unsafe_code)]

pub mod kernel;
pub mod output;
pub mod stats;

pub use naga;
