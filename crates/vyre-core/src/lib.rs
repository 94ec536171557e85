//! The vocabulary of vyre: output accounting and dispatch statistics.

#![forbid(unsafe_code)]

pub mod output;
pub mod stats;
