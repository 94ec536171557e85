//! Workspace automation.
#![forbid(unsafe_code)]
fn main() {}
