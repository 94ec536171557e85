//! Opens the best backend that this build has and this machine can run.

use std::sync::Arc;

use vyre_core::backend::VyreBackend;
use vyre_core::error::BackendError;
#[cfg(feature = "vulkan")]
use vyre_vulkan::{VulkanBackend, VulkanConfig};

/// Settings for opening a backend.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct OpenConfig {
    /// Settings of the Vulkan backend.
    #[cfg(feature = "vulkan")]
    pub vulkan: VulkanConfig,
}

impl OpenConfig {
    /// The defaults, changed by what the environment says (`VYRE_DEVICE`, `VYRE_VALIDATION`).
    #[must_use]
    pub fn from_env() -> Self {
        Self {
            #[cfg(feature = "vulkan")]
            vulkan: VulkanConfig::from_env(),
        }
    }
}

/// Opens the best available device, as [`OpenConfig::from_env`] says.
///
/// # Errors
/// Those of [`open_with`].
pub fn open() -> Result<Arc<dyn VyreBackend>, BackendError> {
    open_with(&OpenConfig::from_env())
}

/// Opens the device that `config` chooses.
///
/// # Errors
/// [`BackendError`] that says what is missing and how to get it.
#[cfg(feature = "vulkan")]
pub fn open_with(config: &OpenConfig) -> Result<Arc<dyn VyreBackend>, BackendError> {
    Ok(Arc::new(VulkanBackend::open(&config.vulkan)?))
}

/// Opens the device that `config` chooses.
///
/// # Errors
/// [`BackendError`] that says what is missing and how to get it.
#[cfg(not(feature = "vulkan"))]
pub fn open_with(_config: &OpenConfig) -> Result<Arc<dyn VyreBackend>, BackendError> {
    Err(BackendError::NoDevice {
        wanted: "any backend".to_owned(),
        found: "this build of vyre-driver has none".to_owned(),
        remedy: "enable its feature `vulkan`, or use a backend of your own",
    })
}
