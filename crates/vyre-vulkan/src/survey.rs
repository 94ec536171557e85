//! What Vulkan offers on this machine, for people who look for what is missing.

use ash::vk;
use vyre_core::backend::{DeviceInfo, LaunchMode};
use vyre_core::error::BackendError;

use crate::config::Validation;
use crate::instance::{Instance, layers, load_entry, loader_version};
use crate::select::{queue_family, unfit};
use crate::snapshot::DeviceSnapshot;

/// The loader, its layers and every device.
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct Survey {
    /// Version of the loader's instance, such as `1.3.239`.
    pub loader_version: String,
    /// Names of the layers.
    pub layers: Vec<String>,
    /// Every device, in the driver's order, usable or not.
    pub devices: Vec<SurveyedDevice>,
}

/// One device of a [`Survey`].
#[derive(Clone, Debug)]
#[non_exhaustive]
pub struct SurveyedDevice {
    /// The device.
    pub info: DeviceInfo,
    /// Vulkan version of the device.
    pub api_version: String,
    /// Nanoseconds of a tick of the device's timer; `None` without a timer.
    pub timestamp_period_ns: Option<f32>,
    /// Bytes of the largest allocation.
    pub max_allocation_bytes: u64,
    /// Every launch mode, with the reason why the device can't run it.
    pub launch_modes: Vec<(LaunchMode, Option<String>)>,
}

impl Survey {
    /// Asks the loader and every driver.
    ///
    /// # Errors
    /// [`BackendError::NoLoader`] without a Vulkan loader, [`BackendError::NoDevice`] without any
    /// driver, or a driver call fails.
    pub fn take() -> Result<Self, BackendError> {
        let entry = load_entry()?;
        let name = |layer: &vk::LayerProperties| {
            layer
                .layer_name_as_c_str()
                .map(|name| name.to_string_lossy().into_owned())
                .ok()
        };
        let instance = Instance::open(Validation::Off)?;
        let devices = instance.physical_devices()?;
        Ok(Self {
            loader_version: version(loader_version(&entry)?),
            layers: layers(&entry)?.iter().filter_map(name).collect(),
            devices: devices
                .iter()
                .map(|device| surveyed(&DeviceSnapshot::capture(&instance, *device)))
                .collect(),
        })
    }
}

fn version(packed: u32) -> String {
    let (major, minor) = (vk::api_version_major(packed), vk::api_version_minor(packed));
    format!("{major}.{minor}.{}", vk::api_version_patch(packed))
}

fn surveyed(device: &DeviceSnapshot) -> SurveyedDevice {
    let unfit = unfit(device);
    let has_timer = queue_family(device).is_some_and(|(_, valid_bits)| valid_bits > 0);
    let megakernel = unfit
        .clone()
        .unwrap_or_else(|| crate::call::NO_MEGAKERNEL.to_owned());
    SurveyedDevice {
        info: device.info.clone(),
        api_version: version(device.api_version),
        timestamp_period_ns: has_timer.then_some(device.timestamp_period),
        max_allocation_bytes: device.max_allocation,
        launch_modes: vec![
            (LaunchMode::Dispatch, unfit),
            (LaunchMode::Megakernel, Some(megakernel)),
        ],
    }
}
