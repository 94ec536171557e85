//! What a physical device says of itself, as plain data that pure functions decide over.

use ash::vk;
use vyre_core::backend::{DeviceInfo, DeviceKind, Limits};
use vyre_core::kernel::Capability;

use crate::instance::{Instance, MINIMUM_API_VERSION};

/// One queue family.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct QueueFamily {
    pub(crate) compute: bool,
    /// Bits of its timestamps that count; 0 when it has none.
    pub(crate) timestamp_valid_bits: u32,
}

/// One physical device.
#[derive(Clone, Debug)]
pub(crate) struct DeviceSnapshot {
    pub(crate) info: DeviceInfo,
    pub(crate) api_version: u32,
    pub(crate) vendor_id: u32,
    pub(crate) device_id: u32,
    pub(crate) driver_version: u32,
    pub(crate) pipeline_cache_uuid: [u8; 16],
    pub(crate) queue_families: Vec<QueueFamily>,
    /// Nanoseconds of one timestamp tick.
    pub(crate) timestamp_period: f32,
    /// Bytes of the largest `VkDeviceMemory`.
    pub(crate) max_allocation: u64,
    pub(crate) max_storage_descriptors: u32,
    pub(crate) max_uniform_descriptors: u32,
    pub(crate) max_bound_sets: u32,
    /// Bytes of the heap behind memory that is device-local and mappable; 0 without any.
    pub(crate) mappable_device_heap: u64,
    pub(crate) features: OptionalFeatures,
}

/// Features that are switched on where the device has them.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct OptionalFeatures {
    pub(crate) shader_int64: bool,
    /// On 64 bits, in storage and in workgroup memory.
    pub(crate) shader_int64_atomics: bool,
    /// Subgroup operations on the types of the other features.
    pub(crate) subgroup_extended_types: bool,
    /// `shaderZeroInitializeWorkgroupMemory`, of Vulkan 1.3.
    pub(crate) zeroed_workgroup_memory: bool,
    /// `shaderFloat16`, with 16-bit storage and uniform access.
    pub(crate) float16: bool,
}

impl DeviceSnapshot {
    pub(crate) fn capture(instance: &Instance, device: vk::PhysicalDevice) -> Self {
        let raw = instance.raw();
        // SAFETY: `device` comes from this instance; these only fill the structures given.
        let (properties, families, memory) = unsafe {
            (
                raw.get_physical_device_properties(device),
                raw.get_physical_device_queue_family_properties(device),
                raw.get_physical_device_memory_properties(device),
            )
        };
        let (details, features) = if properties.api_version >= MINIMUM_API_VERSION {
            query_details(raw, device, properties.api_version)
        } else {
            Default::default()
        };
        let limits = &properties.limits;
        Self {
            info: device_info(&properties, &details, features, &memory),
            api_version: properties.api_version,
            vendor_id: properties.vendor_id,
            device_id: properties.device_id,
            driver_version: properties.driver_version,
            pipeline_cache_uuid: properties.pipeline_cache_uuid,
            queue_families: families.iter().map(queue_family).collect(),
            timestamp_period: limits.timestamp_period,
            max_allocation: details.max_allocation,
            max_storage_descriptors: limits.max_per_stage_descriptor_storage_buffers,
            max_uniform_descriptors: limits.max_per_stage_descriptor_uniform_buffers,
            max_bound_sets: limits.max_bound_descriptor_sets,
            mappable_device_heap: mappable_device_heap(&memory),
            features,
        }
    }
}

#[derive(Clone, Debug, Default)]
struct Details {
    driver: String,
    max_allocation: u64,
    subgroup_operations: vk::SubgroupFeatureFlags,
    subgroup_stages: vk::ShaderStageFlags,
}

fn query_details(
    instance: &ash::Instance,
    device: vk::PhysicalDevice,
    api_version: u32,
) -> (Details, OptionalFeatures) {
    let mut maintenance3 = vk::PhysicalDeviceMaintenance3Properties::default();
    let mut subgroup = vk::PhysicalDeviceSubgroupProperties::default();
    let mut driver = vk::PhysicalDeviceDriverProperties::default();
    let mut properties = vk::PhysicalDeviceProperties2::default()
        .push_next(&mut maintenance3)
        .push_next(&mut subgroup)
        .push_next(&mut driver);
    let mut v11 = vk::PhysicalDeviceVulkan11Features::default();
    let mut v12 = vk::PhysicalDeviceVulkan12Features::default();
    let mut features = vk::PhysicalDeviceFeatures2::default()
        .push_next(&mut v11)
        .push_next(&mut v12);
    let mut zeroing = vk::PhysicalDeviceZeroInitializeWorkgroupMemoryFeatures::default();
    if api_version >= vk::API_VERSION_1_3 {
        features = features.push_next(&mut zeroing);
    }
    // SAFETY: the device's version defines every structure of both chains.
    unsafe {
        instance.get_physical_device_properties2(device, &mut properties);
        instance.get_physical_device_features2(device, &mut features);
    }
    let basic = features.features;
    let optional = OptionalFeatures {
        shader_int64: basic.shader_int64 == vk::TRUE,
        shader_int64_atomics: v12.shader_buffer_int64_atomics == vk::TRUE
            && v12.shader_shared_int64_atomics == vk::TRUE,
        subgroup_extended_types: v12.shader_subgroup_extended_types == vk::TRUE,
        zeroed_workgroup_memory: zeroing.shader_zero_initialize_workgroup_memory == vk::TRUE,
        float16: v12.shader_float16 == vk::TRUE
            && v11.storage_buffer16_bit_access == vk::TRUE
            && v11.uniform_and_storage_buffer16_bit_access == vk::TRUE,
    };
    let text = |bytes: Result<&std::ffi::CStr, _>| {
        bytes.map_or_else(
            |_| String::new(),
            |text| text.to_string_lossy().into_owned(),
        )
    };
    let details = Details {
        driver: format!(
            "{} {}",
            text(driver.driver_name_as_c_str()),
            text(driver.driver_info_as_c_str())
        ),
        max_allocation: maintenance3.max_memory_allocation_size,
        subgroup_operations: subgroup.supported_operations,
        subgroup_stages: subgroup.supported_stages,
    };
    (details, optional)
}

fn queue_family(family: &vk::QueueFamilyProperties) -> QueueFamily {
    QueueFamily {
        compute: family.queue_count > 0 && family.queue_flags.contains(vk::QueueFlags::COMPUTE),
        timestamp_valid_bits: family.timestamp_valid_bits,
    }
}

fn mappable_device_heap(memory: &vk::PhysicalDeviceMemoryProperties) -> u64 {
    let wanted = vk::MemoryPropertyFlags::DEVICE_LOCAL
        | vk::MemoryPropertyFlags::HOST_VISIBLE
        | vk::MemoryPropertyFlags::HOST_COHERENT;
    let types = memory.memory_types_as_slice().iter();
    types
        .filter(|kind| kind.property_flags.contains(wanted))
        .map(|kind| memory.memory_heaps[kind.heap_index as usize].size)
        .max()
        .unwrap_or(0)
}

fn device_info(
    properties: &vk::PhysicalDeviceProperties,
    details: &Details,
    features: OptionalFeatures,
    memory: &vk::PhysicalDeviceMemoryProperties,
) -> DeviceInfo {
    let kind = match properties.device_type {
        vk::PhysicalDeviceType::DISCRETE_GPU => DeviceKind::DiscreteGpu,
        vk::PhysicalDeviceType::INTEGRATED_GPU => DeviceKind::IntegratedGpu,
        vk::PhysicalDeviceType::VIRTUAL_GPU => DeviceKind::VirtualGpu,
        vk::PhysicalDeviceType::CPU => DeviceKind::Cpu,
        _ => DeviceKind::Other,
    };
    let name = properties
        .device_name_as_c_str()
        .map(|name| name.to_string_lossy().into_owned());
    let mut info = DeviceInfo::new(name.unwrap_or_default(), kind);
    info.driver = details.driver.clone();
    info.limits = limits(&properties.limits);
    info.capabilities = capabilities(details, features);
    let heaps = memory.memory_heaps_as_slice().iter();
    info.memory_bytes = heaps
        .filter(|heap| heap.flags.contains(vk::MemoryHeapFlags::DEVICE_LOCAL))
        .map(|heap| heap.size)
        .max()
        .unwrap_or(0);
    info
}

fn limits(from: &vk::PhysicalDeviceLimits) -> Limits {
    let mut limits = Limits::default();
    limits.max_grid = from.max_compute_work_group_count;
    limits.max_workgroup_size = from.max_compute_work_group_size;
    limits.max_workgroup_invocations = from.max_compute_work_group_invocations;
    limits.max_workgroup_memory = from.max_compute_shared_memory_size;
    limits.max_storage_range = u64::from(from.max_storage_buffer_range);
    limits.max_uniform_range = u64::from(from.max_uniform_buffer_range);
    limits
}

fn capabilities(details: &Details, features: OptionalFeatures) -> Vec<Capability> {
    // What WGSL's subgroup built-ins translate to.
    let subgroup_operations = vk::SubgroupFeatureFlags::BASIC
        | vk::SubgroupFeatureFlags::VOTE
        | vk::SubgroupFeatureFlags::ARITHMETIC
        | vk::SubgroupFeatureFlags::BALLOT
        | vk::SubgroupFeatureFlags::SHUFFLE
        | vk::SubgroupFeatureFlags::SHUFFLE_RELATIVE
        | vk::SubgroupFeatureFlags::QUAD;
    // Kernels may use them on every type that they may use otherwise.
    let extended = features.subgroup_extended_types || !(features.float16 || features.shader_int64);
    let subgroups = extended
        && details.subgroup_operations.contains(subgroup_operations)
        && details
            .subgroup_stages
            .contains(vk::ShaderStageFlags::COMPUTE);
    [
        (features.float16, Capability::Float16),
        (features.shader_int64, Capability::Int64),
        (features.shader_int64_atomics, Capability::Int64Atomics),
        (subgroups, Capability::Subgroups),
    ]
    .into_iter()
    .filter_map(|(present, capability)| present.then_some(capability))
    .collect()
}
