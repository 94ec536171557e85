//! Opens a backend of this build, and what can be said about which.

use std::sync::Arc;

use vyre_core::backend::VyreBackend;
use vyre_core::error::BackendError;
#[cfg(feature = "reference")]
use vyre_reference::ReferenceConfig;
#[cfg(feature = "vulkan")]
use vyre_vulkan::{DeviceSelector, Validation, VulkanConfig};

use crate::registry::Registry;

/// Settings for opening a backend.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct OpenConfig {
    /// Name of the backend to open; `None` for the first that has a device.
    pub backend: Option<String>,
    /// Settings of the Vulkan backend.
    #[cfg(feature = "vulkan")]
    pub vulkan: VulkanConfig,
    /// Settings of the reference backend.
    #[cfg(feature = "reference")]
    pub reference: ReferenceConfig,
    fallback: Option<String>,
}

impl OpenConfig {
    /// The defaults, changed by what the environment says: `VYRE_BACKEND` names the backend, unset
    /// or empty is none, and each backend has variables of its own (see its settings).
    #[must_use]
    pub fn from_env() -> Self {
        Self {
            backend: named(std::env::var("VYRE_BACKEND").ok()),
            #[cfg(feature = "vulkan")]
            vulkan: VulkanConfig::from_env(),
            #[cfg(feature = "reference")]
            reference: ReferenceConfig::from_env(),
            fallback: None,
        }
    }

    /// Sets [`backend`](Self::backend).
    #[must_use]
    pub fn with_backend(mut self, name: impl Into<String>) -> Self {
        self.backend = Some(name.into());
        self
    }

    /// Which backends were passed over for the one being opened, and why; what the backend puts into
    /// [`DeviceInfo::fallback`](vyre_core::backend::DeviceInfo::fallback).
    #[must_use]
    pub fn fallback(&self) -> Option<&str> {
        self.fallback.as_deref()
    }

    /// Notes that a backend has no device.
    pub(crate) fn pass_over(&mut self, name: &str, error: &BackendError) {
        let before = self.fallback.take().map_or(String::new(), |it| it + "\n");
        self.fallback = Some(format!("{before}{name}: {error}"));
    }

    /// Whether any backend will do.
    pub(crate) fn allows_fallback(&self) -> bool {
        #[cfg(feature = "vulkan")]
        let asks_for_vulkan =
            self.vulkan.device != DeviceSelector::Best || self.vulkan.validation != Validation::Off;
        #[cfg(not(feature = "vulkan"))]
        let asks_for_vulkan = false;
        self.backend.is_none() && !asks_for_vulkan
    }
}

/// The value of a variable; nothing if there is nothing in it.
fn named(value: Option<String>) -> Option<String> {
    let value = value?.trim().to_owned();
    (!value.is_empty()).then_some(value)
}

/// Opens a backend of this build, as [`OpenConfig::from_env`] says.
///
/// # Errors
/// Those of [`Registry::open`].
pub fn open() -> Result<Arc<dyn VyreBackend>, BackendError> {
    open_with(&OpenConfig::from_env())
}

/// Opens a backend of this build, as `config` says.
///
/// # Errors
/// Those of [`Registry::open`].
pub fn open_with(config: &OpenConfig) -> Result<Arc<dyn VyreBackend>, BackendError> {
    Registry::default().open(config)
}
