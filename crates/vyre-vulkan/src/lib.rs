//! The Vulkan backend of vyre.
//!
//! Design rules:
//! - **Device snapshot → pure plan → live object.** What the driver decides (device, memory layout,
//!   order of ops) is a function over plain data, tested without a GPU.
//! - **Every Vulkan object has one owner**, which destroys it once its work has ended.
//! - **Submissions and waits have one home** (`queue`), allocations another (`memory`): what is
//!   reported is counted there.
//! - **The host reads nothing that a barrier has not made available to it**; a fence alone orders
//!   execution only.
//! - **WGSL's semantics are fixed in the SPIR-V**, not left to optional device features.
//!
//! ```no_run
//! use vyre_core::backend::VyreBackend;
//! use vyre_vulkan::{VulkanBackend, VulkanConfig};
//!
//! let backend = VulkanBackend::open(&VulkanConfig::from_env())?;
//! println!("{}", backend.device_info().name);
//! # Ok::<(), vyre_core::error::BackendError>(())
//! ```

#![expect(
    unsafe_code,
    reason = "Vulkan is a C interface; every other crate forbids unsafe code"
)]

mod config;
mod validation;
mod error;
mod instance;
mod snapshot;
mod select;
mod device;
mod owned;
mod queue;
mod memory;
mod command;
mod barrier;
mod timestamp;
mod spirv;
mod cache_file;
mod requirements;
mod pipeline;
mod pipeline_cache;
mod layout;
mod arena;
mod transfer;
mod schedule;
mod descriptors;
mod record;
mod execution;
mod compiled;
mod programs;
mod resident;
mod call;
mod backend;
mod survey;

pub use backend::VulkanBackend;
pub use config::{DeviceSelector, PipelineCacheLocation, Validation, VulkanConfig};
pub use survey::{Survey, SurveyedDevice};
pub use validation::ValidationLog;
