//! Expressions of WGSL: made at random or from a table, run on a backend, and evaluated by the host.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_possible_wrap,
    clippy::cast_sign_loss,
    clippy::cast_precision_loss,
    clippy::cast_lossless,
    reason = "evaluates WGSL's conversions, wrap-around and bit patterns, which casts are"
)]

pub(crate) mod ty;
pub(crate) mod range;
pub(crate) mod op;
pub(crate) mod ints;
pub(crate) mod floats;
mod inherited;
pub(crate) mod vectors;
mod expected;
pub(crate) mod tree;
pub(crate) mod kernel;
pub(crate) mod check;
