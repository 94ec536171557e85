//! The one integration binary.

#![forbid(unsafe_code)]
