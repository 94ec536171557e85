//! The Vulkan backend on a real driver, under validation and synchronization validation.

#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

#[path = "../support/mod.rs"]
mod support;

mod harness;
mod programs;

mod cache;
mod depth;
mod dispatch;
mod lifetime;
mod refusals;
mod resident;
mod semantics;
mod threads;
