//! Chooses a device: a pure function over snapshots.

use ash::vk;
use vyre_core::backend::DeviceKind;
use vyre_core::error::BackendError;

use crate::config::DeviceSelector;
use crate::instance::MINIMUM_API_VERSION;
use crate::snapshot::DeviceSnapshot;

/// Why a device can't be used at all; `None` when it can.
pub(crate) fn unfit(device: &DeviceSnapshot) -> Option<String> {
    if device.api_version < MINIMUM_API_VERSION {
        let (major, minor) = version(device.api_version);
        return Some(format!("Vulkan {major}.{minor}, at least 1.2 is needed"));
    }
    if !device.queue_families.iter().any(|family| family.compute) {
        return Some("no compute queue".to_owned());
    }
    None
}

fn version(api_version: u32) -> (u32, u32) {
    (
        vk::api_version_major(api_version),
        vk::api_version_minor(api_version),
    )
}

/// The position of the device to open.
pub(crate) fn choose(
    devices: &[DeviceSnapshot],
    selector: &DeviceSelector,
) -> Result<usize, BackendError> {
    let fit = (0..devices.len()).filter(|&index| unfit(&devices[index]).is_none());
    let chosen = match selector {
        DeviceSelector::Best => fit.min_by_key(|&index| rank(devices[index].info.kind)),
        DeviceSelector::Index(wanted) => fit.into_iter().find(|index| index == wanted),
        DeviceSelector::Name(wanted) => {
            let wanted = wanted.to_lowercase();
            fit.into_iter()
                .find(|&index| devices[index].info.name.to_lowercase().contains(&wanted))
        }
    };
    chosen.ok_or_else(|| refusal(devices, selector))
}

fn refusal(devices: &[DeviceSnapshot], selector: &DeviceSelector) -> BackendError {
    let found = describe(devices);
    let wanted = match selector {
        DeviceSelector::Index(index) => format!("index {index}"),
        DeviceSelector::Name(name) => format!("`{name}` in its name"),
        DeviceSelector::Best => "Vulkan compute".to_owned(),
    };
    if *selector != DeviceSelector::Best && devices.iter().any(|it| unfit(it).is_none()) {
        return BackendError::UnknownDevice { wanted, found };
    }
    BackendError::NoDevice {
        wanted,
        found,
        remedy: "install a driver (Debian: apt-get install mesa-vulkan-drivers)",
    }
}

fn describe(devices: &[DeviceSnapshot]) -> String {
    if devices.is_empty() {
        return "the loader found no device".to_owned();
    }
    let lines = devices
        .iter()
        .enumerate()
        .map(|(index, device)| match unfit(device) {
            Some(reason) => format!("[{index}] {} ({reason})", device.info.name),
            None => format!("[{index}] {}", device.info.name),
        });
    format!("found {}", lines.collect::<Vec<_>>().join(", "))
}

fn rank(kind: DeviceKind) -> u32 {
    match kind {
        DeviceKind::DiscreteGpu => 0,
        DeviceKind::IntegratedGpu => 1,
        DeviceKind::VirtualGpu => 2,
        DeviceKind::Cpu => 4,
        _ => 3,
    }
}

/// The queue family to submit to: one that computes, with a timer before one without.
pub(crate) fn queue_family(device: &DeviceSnapshot) -> Option<(u32, u32)> {
    (0..)
        .zip(&device.queue_families)
        .filter(|(_, family)| family.compute)
        .min_by_key(|(_, family)| family.timestamp_valid_bits == 0)
        .map(|(index, family)| (index, family.timestamp_valid_bits))
}

#[cfg(test)]
pub(crate) mod tests {
    use vyre_core::backend::DeviceInfo;

    use super::*;
    use crate::snapshot::{OptionalFeatures, QueueFamily};

    pub(crate) fn device(name: &str, kind: DeviceKind) -> DeviceSnapshot {
        DeviceSnapshot {
            info: DeviceInfo::new(name, kind),
            api_version: vk::API_VERSION_1_2,
            vendor_id: 0,
            device_id: 0,
            driver_version: 0,
            pipeline_cache_uuid: [0; 16],
            queue_families: vec![QueueFamily {
                compute: true,
                timestamp_valid_bits: 64,
            }],
            timestamp_period: 1.0,
            max_allocation: 1 << 30,
            max_storage_descriptors: 16,
            max_uniform_descriptors: 16,
            max_bound_sets: 4,
            mappable_device_heap: 0,
            features: OptionalFeatures::default(),
        }
    }

    #[test]
    fn discrete_gpu_comes_before_a_cpu() {
        let devices = [
            device("cpu", DeviceKind::Cpu),
            device("gpu", DeviceKind::DiscreteGpu),
        ];
        assert_eq!(choose(&devices, &DeviceSelector::Best).unwrap(), 1);
    }

    #[test]
    fn name_is_matched_in_part_and_without_case() {
        let devices = [
            device("NVIDIA H200", DeviceKind::DiscreteGpu),
            device("llvmpipe (LLVM)", DeviceKind::Cpu),
        ];
        assert_eq!(
            choose(&devices, &DeviceSelector::Name("LLVMPIPE".into())).unwrap(),
            1
        );
    }

    #[test]
    fn refusal_lists_what_is_there() {
        let mut old = device("old", DeviceKind::DiscreteGpu);
        old.api_version = vk::API_VERSION_1_1;
        let gpu = device("gpu", DeviceKind::DiscreteGpu);
        let error = choose(&[old, gpu], &DeviceSelector::Index(0)).unwrap_err();
        assert_eq!(
            error.to_string(),
            "no device has index 0; found [0] old (Vulkan 1.1, at least 1.2 is needed), [1] gpu; \
             choose one of these by its index or a part of its name, or none for the best"
        );
    }

    #[test]
    fn without_a_fit_device_every_choice_finds_none() {
        let mut old = device("old", DeviceKind::DiscreteGpu);
        old.api_version = vk::API_VERSION_1_1;
        for devices in [&[][..], &[old]] {
            for selector in [DeviceSelector::Best, DeviceSelector::Index(0)] {
                let error = choose(devices, &selector).unwrap_err();
                assert!(matches!(error, BackendError::NoDevice { .. }), "{error}");
            }
        }
    }

    #[test]
    fn queue_with_a_timer_is_preferred() {
        let mut gpu = device("gpu", DeviceKind::DiscreteGpu);
        let family = |compute, timestamp_valid_bits| QueueFamily {
            compute,
            timestamp_valid_bits,
        };
        gpu.queue_families = vec![family(false, 64), family(true, 0), family(true, 36)];
        assert_eq!(queue_family(&gpu), Some((2, 36)));
        gpu.queue_families = vec![family(true, 0)];
        assert_eq!(queue_family(&gpu), Some((0, 0)));
    }
}
