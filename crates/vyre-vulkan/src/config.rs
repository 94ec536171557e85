//! How a Vulkan backend is opened.

use std::path::PathBuf;
use std::time::Duration;

use vyre_core::switch::{InvalidSwitch, switch};

/// Which device to take.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum DeviceSelector {
    /// The first discrete GPU, else integrated, else virtual, else CPU.
    #[default]
    Best,
    /// The device at this position in the driver's list.
    Index(usize),
    /// The first device whose name contains this text, letter case aside.
    Name(String),
}

impl DeviceSelector {
    /// A number is an index, anything else part of a name, nothing at all the best device.
    #[must_use]
    pub fn parse(text: &str) -> Self {
        match (text.trim(), text.trim().parse()) {
            ("", _) => Self::Best,
            (_, Ok(index)) => Self::Index(index),
            (name, Err(_)) => Self::Name(name.to_owned()),
        }
    }
}

/// Whether the validation layer watches every call.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Validation {
    /// No validation.
    #[default]
    Off,
    /// Validation and synchronization validation; opening fails where the layer is not installed.
    On,
}

/// Where compiled pipelines are kept between processes.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum PipelineCacheLocation {
    /// `$VYRE_CACHE_DIR`, else `$XDG_CACHE_HOME/vyre`, else `$HOME/.cache/vyre`, else nowhere.
    #[default]
    Default,
    /// This folder.
    Directory(PathBuf),
    /// Nowhere.
    None,
}

/// Settings of a Vulkan backend.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct VulkanConfig {
    /// Which device to take.
    pub device: DeviceSelector,
    /// Whether the validation layer watches every call.
    pub validation: Validation,
    /// Where compiled pipelines are kept.
    pub pipeline_cache: PipelineCacheLocation,
    /// How long a wait polls before it blocks; `None` chooses by the kind of device.
    ///
    /// Polling answers faster than the driver's blocking wait, which has to wake the thread, but
    /// occupies a core.
    pub poll: Option<Duration>,
    /// What the environment says and nobody understands.
    pub(crate) invalid: Option<InvalidSwitch>,
}

impl VulkanConfig {
    /// The defaults, with `VYRE_DEVICE` (see [`DeviceSelector::parse`]) and `VYRE_VALIDATION` (see
    /// [`switch`]) from the environment. A value that is no switch fails [`VulkanBackend::open`].
    ///
    /// [`VulkanBackend::open`]: crate::VulkanBackend::open
    #[must_use]
    pub fn from_env() -> Self {
        Self::from_lookup(|name| std::env::var(name).ok())
    }

    fn from_lookup(lookup: impl Fn(&str) -> Option<String>) -> Self {
        let device = lookup("VYRE_DEVICE")
            .map_or_else(DeviceSelector::default, |text| DeviceSelector::parse(&text));
        let validation = switch("VYRE_VALIDATION", lookup("VYRE_VALIDATION").as_deref());
        Self {
            device,
            validation: match validation {
                Ok(true) => Validation::On,
                _ => Validation::Off,
            },
            invalid: validation.err(),
            ..Self::default()
        }
    }

    /// Sets [`device`](Self::device).
    #[must_use]
    pub fn with_device(mut self, device: DeviceSelector) -> Self {
        self.device = device;
        self
    }

    /// Sets [`validation`](Self::validation).
    #[must_use]
    pub fn with_validation(mut self, validation: Validation) -> Self {
        self.validation = validation;
        self
    }

    /// Sets [`pipeline_cache`](Self::pipeline_cache).
    #[must_use]
    pub fn with_pipeline_cache(mut self, location: PipelineCacheLocation) -> Self {
        self.pipeline_cache = location;
        self
    }

    /// Sets [`poll`](Self::poll).
    #[must_use]
    pub fn with_poll(mut self, poll: Duration) -> Self {
        self.poll = Some(poll);
        self
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn number_is_an_index_and_text_a_name() {
        assert_eq!(DeviceSelector::parse(" 2 "), DeviceSelector::Index(2));
        assert_eq!(
            DeviceSelector::parse("H200"),
            DeviceSelector::Name("H200".into())
        );
        assert_eq!(DeviceSelector::parse(" "), DeviceSelector::Best);
    }

    #[test]
    fn environment_is_read() {
        let config = VulkanConfig::from_lookup(|name| match name {
            "VYRE_DEVICE" => Some("llvmpipe".into()),
            "VYRE_VALIDATION" => Some("1".into()),
            _ => None,
        });
        assert_eq!(config.device, DeviceSelector::Name("llvmpipe".into()));
        assert_eq!(config.validation, Validation::On);
        assert_eq!(VulkanConfig::from_lookup(|_| None), VulkanConfig::default());
    }

    #[test]
    fn unclear_switch_is_refused_before_anything_is_opened() {
        let config = VulkanConfig::from_lookup(|name| {
            (name == "VYRE_VALIDATION").then(|| "perhaps".to_owned())
        });
        let error = crate::VulkanBackend::open(&config).err();
        let Some(vyre_core::error::BackendError::InvalidSwitch(invalid)) = error else {
            panic!("{error:?}")
        };
        assert_eq!(
            (invalid.variable, &*invalid.value),
            ("VYRE_VALIDATION", "perhaps")
        );
    }
}
