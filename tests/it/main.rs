//! The one integration binary.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test may fail it, and clippy spares only functions marked as tests"
)]

mod readme;
mod tidy;
mod facade;
mod registry;
