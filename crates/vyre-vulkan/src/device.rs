//! Owns the `VkDevice`, its queue and the memory allocator.

use std::sync::{Arc, Mutex};

use ash::{ext, vk};
use gpu_allocator::AllocationSizes;
use gpu_allocator::vulkan::{Allocator, AllocatorCreateDesc};
use vyre_core::error::{BackendError, Cause};

use crate::error::driver;
use crate::instance::Instance;
use crate::select;
use crate::snapshot::{DeviceSnapshot, OptionalFeatures};

/// A logical device with one queue, alive until everything made from it is gone.
///
/// Fields are declared in drop order: the allocator frees its blocks before the device goes.
pub(crate) struct Device {
    pub(crate) allocator: Mutex<Allocator>,
    pub(crate) queue: Mutex<vk::Queue>,
    pub(crate) queue_family: u32,
    /// Bits of the queue's timestamps that count; 0 when it has none.
    pub(crate) timestamp_valid_bits: u32,
    pub(crate) snapshot: DeviceSnapshot,
    debug_utils: Option<ext::debug_utils::Device>,
    raw: RawDevice,
}

struct RawDevice {
    device: ash::Device,
    instance: Arc<Instance>,
}

impl Drop for RawDevice {
    fn drop(&mut self) {
        // SAFETY: everything made from the device holds an `Arc` of it, so nothing is left, and what
        // was submitted has ended: who submits waits (see `execution`).
        unsafe { self.device.destroy_device(None) };
    }
}

impl Device {
    pub(crate) fn new(
        instance: &Arc<Instance>,
        physical: vk::PhysicalDevice,
        snapshot: DeviceSnapshot,
    ) -> Result<Arc<Self>, BackendError> {
        let Some((queue_family, timestamp_valid_bits)) = select::queue_family(&snapshot) else {
            return Err(BackendError::NoDevice {
                wanted: "a compute queue".to_owned(),
                found: format!("{} has none", snapshot.info.name),
                remedy: "choose another device with VYRE_DEVICE",
            });
        };
        let device = create(instance.raw(), physical, queue_family, snapshot.features)?;
        let raw = RawDevice {
            device,
            instance: Arc::clone(instance),
        };
        // SAFETY: the device was created with one queue of this family.
        let queue = unsafe { raw.device.get_device_queue(queue_family, 0) };
        let debug_utils = instance
            .has_debug_utils()
            .then(|| ext::debug_utils::Device::new(instance.raw(), &raw.device));
        let allocator = create_allocator(instance, physical, &raw.device)?;
        Ok(Arc::new(Self {
            allocator: Mutex::new(allocator),
            queue: Mutex::new(queue),
            queue_family,
            timestamp_valid_bits,
            snapshot,
            debug_utils,
            raw,
        }))
    }

    pub(crate) fn raw(&self) -> &ash::Device {
        &self.raw.device
    }

    pub(crate) fn instance(&self) -> &Instance {
        &self.raw.instance
    }

    /// Gives `object` a name for validation messages and GPU debuggers.
    pub(crate) fn set_name<H: vk::Handle>(&self, object: H, name: &str) {
        let Some(debug_utils) = &self.debug_utils else {
            return;
        };
        let Ok(name) = std::ffi::CString::new(name) else {
            return;
        };
        let info = vk::DebugUtilsObjectNameInfoEXT::default()
            .object_handle(object)
            .object_name(&name);
        // SAFETY: the object was just made from this device and is not in use elsewhere. A name
        // that can't be set changes nothing but messages, so the result is not needed.
        let _ = unsafe { debug_utils.set_debug_utils_object_name(&info) };
    }
}

fn create(
    instance: &ash::Instance,
    physical: vk::PhysicalDevice,
    queue_family: u32,
    optional: OptionalFeatures,
) -> Result<ash::Device, BackendError> {
    let queues = [vk::DeviceQueueCreateInfo::default()
        .queue_family_index(queue_family)
        .queue_priorities(&[1.0])];
    let features = vk::PhysicalDeviceFeatures::default().shader_int64(optional.shader_int64);
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default()
        .storage_buffer16_bit_access(optional.float16)
        .uniform_and_storage_buffer16_bit_access(optional.float16);
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default()
        .shader_float16(optional.float16)
        .shader_buffer_int64_atomics(optional.shader_int64_atomics)
        .shader_shared_int64_atomics(optional.shader_int64_atomics)
        .shader_subgroup_extended_types(optional.subgroup_extended_types);
    let mut zeroing = vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default()
        .shader_zero_initialize_workgroup_memory(true);
    let mut info = vk::DeviceCreateInfo::default()
        .queue_create_infos(&queues)
        .enabled_features(&features)
        .push_next(&mut v11)
        .push_next(&mut v12);
    if optional.zeroed_workgroup_memory {
        info = info.push_next(&mut zeroing);
    }
    // SAFETY: the features were found on this device, the queue family is one of its own.
    unsafe { instance.create_device(physical, &info, None) }.map_err(driver("vkCreateDevice"))
}

fn create_allocator(
    instance: &Instance,
    physical: vk::PhysicalDevice,
    device: &ash::Device,
) -> Result<Allocator, BackendError> {
    let mebibyte = 1 << 20;
    let sizes = AllocationSizes::new(64 * mebibyte, 16 * mebibyte)
        .with_max_device_memblock_size(256 * mebibyte)
        .with_max_host_memblock_size(64 * mebibyte);
    Allocator::new(&AllocatorCreateDesc {
        instance: instance.raw().clone(),
        device: device.clone(),
        physical_device: physical,
        debug_settings: gpu_allocator::AllocatorDebugSettings::default(),
        buffer_device_address: false,
        allocation_sizes: sizes,
    })
    .map_err(|error| BackendError::DriverCall {
        call: "creation of the memory allocator",
        code: vk::Result::ERROR_INITIALIZATION_FAILED.as_raw(),
        source: Cause::from(error),
    })
}
