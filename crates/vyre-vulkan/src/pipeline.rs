//! A kernel's compute pipeline and its layout.

use std::sync::Arc;

use ash::vk;
use naga::back::spv::ZeroInitializeWorkgroupMemoryMode;
use vyre_core::error::{BackendError, Cause};
use vyre_core::kernel::{BindingKind, Kernel, isolated};

use crate::device::Device;
use crate::error::{self, driver};
use crate::owned::Owned;
use crate::requirements::{check_kernel, descriptor_count, group_count};
use crate::snapshot::DeviceSnapshot;
use crate::spirv;

/// What a device needs to run one kernel. Fields are declared in drop order.
pub(crate) struct KernelPipeline {
    pub(crate) pipeline: Owned<vk::Pipeline>,
    pub(crate) layout: Owned<vk::PipelineLayout>,
    /// One for each group up to the highest in use; a group in between may be empty.
    pub(crate) set_layouts: Vec<Owned<vk::DescriptorSetLayout>>,
    pub(crate) storage_descriptors: u32,
    pub(crate) uniform_descriptors: u32,
}

pub(crate) fn descriptor_type(kind: BindingKind) -> vk::DescriptorType {
    match kind {
        BindingKind::Uniform => vk::DescriptorType::UNIFORM_BUFFER,
        _ => vk::DescriptorType::STORAGE_BUFFER,
    }
}

impl KernelPipeline {
    pub(crate) fn new(
        device: &Arc<Device>,
        cache: vk::PipelineCache,
        kernel: &Kernel,
    ) -> Result<Self, BackendError> {
        check_kernel(kernel, &device.snapshot)?;
        let name = kernel.entry_point();
        let set_layouts = set_layouts(device, kernel)?;
        let layout = pipeline_layout(device, &set_layouts, name)?;
        let pipeline = compute_pipeline(device, cache, kernel, *layout)?;
        Ok(Self {
            pipeline,
            layout,
            set_layouts,
            storage_descriptors: descriptor_count(kernel, BindingKind::Storage),
            uniform_descriptors: descriptor_count(kernel, BindingKind::Uniform),
        })
    }
}

fn set_layouts(
    device: &Arc<Device>,
    kernel: &Kernel,
) -> Result<Vec<Owned<vk::DescriptorSetLayout>>, BackendError> {
    let groups = group_count(kernel);
    (0..groups)
        .map(|group| {
            let bindings: Vec<_> = kernel
                .bindings()
                .iter()
                .filter(|binding| binding.group == group)
                .map(|binding| {
                    vk::DescriptorSetLayoutBinding::default()
                        .binding(binding.binding)
                        .descriptor_type(descriptor_type(binding.kind))
                        .descriptor_count(1)
                        .stage_flags(vk::ShaderStageFlags::COMPUTE)
                })
                .collect();
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            // SAFETY: the bindings of a kernel have distinct numbers.
            let layout = unsafe { device.raw().create_descriptor_set_layout(&info, None) }
                .map_err(driver("vkCreateDescriptorSetLayout"))?;
            Ok(Owned::new(device, layout, kernel.entry_point()))
        })
        .collect()
}

fn pipeline_layout(
    device: &Arc<Device>,
    set_layouts: &[Owned<vk::DescriptorSetLayout>],
    name: &str,
) -> Result<Owned<vk::PipelineLayout>, BackendError> {
    let set_layouts: Vec<_> = set_layouts.iter().map(|layout| **layout).collect();
    let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
    // SAFETY: the set layouts are alive and within the limits that `check_kernel` checks.
    let layout = unsafe { device.raw().create_pipeline_layout(&info, None) }
        .map_err(driver("vkCreatePipelineLayout"))?;
    Ok(Owned::new(device, layout, name))
}

fn compute_pipeline(
    device: &Arc<Device>,
    cache: vk::PipelineCache,
    kernel: &Kernel,
    layout: vk::PipelineLayout,
) -> Result<Owned<vk::Pipeline>, BackendError> {
    let name = kernel.entry_point();
    let words = translate(kernel, &device.snapshot)?;
    let info = vk::ShaderModuleCreateInfo::default().code(&words);
    // SAFETY: the words are the SPIR-V that naga wrote for validated IR.
    let module = unsafe { device.raw().create_shader_module(&info, None) }
        .map_err(driver("vkCreateShaderModule"))?;
    let module = Owned::new(device, module, name);
    // naga names the entry point as the source does; WGSL identifiers hold no zero byte.
    let entry_point = std::ffi::CString::new(name).unwrap_or_default();
    let stage = vk::PipelineShaderStageCreateInfo::default()
        .stage(vk::ShaderStageFlags::COMPUTE)
        .module(*module)
        .name(&entry_point);
    let info = vk::ComputePipelineCreateInfo::default()
        .stage(stage)
        .layout(layout);
    // SAFETY: module, layout and cache are alive and of this device; the layout was made from the
    // same reflection as the module's interface.
    let created = unsafe { device.raw().create_compute_pipelines(cache, &[info], None) };
    match created {
        Ok(pipelines) => Ok(Owned::new(device, pipelines[0], name)),
        Err((_, result)) => Err(error::pipeline(name, result)),
    }
}

fn translate(kernel: &Kernel, device: &DeviceSnapshot) -> Result<Vec<u32>, BackendError> {
    let (module, info, name) = (kernel.module(), kernel.module_info(), kernel.entry_point());
    let zeroing = match device.features.zeroed_workgroup_memory {
        true => ZeroInitializeWorkgroupMemoryMode::Native,
        false => ZeroInitializeWorkgroupMemoryMode::Polyfill,
    };
    let failed = |source: Cause| BackendError::Translation {
        kernel: name.to_owned(),
        source,
    };
    // Validator and writer recurse as deeply as the source nests, and may panic.
    isolated(kernel.source().len(), || {
        spirv::generate(module, info, name, zeroing)
    })
    .map_err(|error| failed(error.into()))?
    .map_err(|error| failed(error.into()))
}
