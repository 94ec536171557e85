//! One owner for every plain Vulkan object: destroyed once, before its device.

use std::ops::Deref;
use std::sync::Arc;

use ash::vk;

use crate::device::Device;

/// A handle that a device can destroy.
pub(crate) trait DeviceObject: vk::Handle + Copy {
    /// Destroys the object.
    ///
    /// # Safety
    /// The object was made from `device`, is destroyed only here, and no submitted work uses it.
    unsafe fn destroy(self, device: &ash::Device);
}

/// An object of a device, destroyed on drop.
///
/// Whoever drops one has seen all work that uses it end: executions are dropped after their fence
/// was signalled, pipelines after the executions.
pub(crate) struct Owned<H: DeviceObject> {
    handle: H,
    device: Arc<Device>,
}

impl<H: DeviceObject> Owned<H> {
    /// Takes over an object that was just made from `device`, and names it.
    pub(crate) fn new(device: &Arc<Device>, handle: H, name: &str) -> Self {
        device.set_name(handle, name);
        Self {
            handle,
            device: Arc::clone(device),
        }
    }

    pub(crate) fn device(&self) -> &Arc<Device> {
        &self.device
    }
}

impl<H: DeviceObject> Deref for Owned<H> {
    type Target = H;

    fn deref(&self) -> &H {
        &self.handle
    }
}

impl<H: DeviceObject> Drop for Owned<H> {
    fn drop(&mut self) {
        // SAFETY: `new` took the object over from `device`, drop runs once, and the type's contract
        // keeps submitted work away.
        unsafe { self.handle.destroy(self.device.raw()) };
    }
}

macro_rules! device_objects {
    ($($handle:ident => $destroy:ident),* $(,)?) => {$(
        impl DeviceObject for vk::$handle {
            unsafe fn destroy(self, device: &ash::Device) {
                // SAFETY: passed on to the caller.
                unsafe { device.$destroy(self, None) };
            }
        }
    )*};
}

device_objects! {
    CommandPool => destroy_command_pool,
    DescriptorPool => destroy_descriptor_pool,
    DescriptorSetLayout => destroy_descriptor_set_layout,
    Fence => destroy_fence,
    Pipeline => destroy_pipeline,
    PipelineCache => destroy_pipeline_cache,
    PipelineLayout => destroy_pipeline_layout,
    QueryPool => destroy_query_pool,
    ShaderModule => destroy_shader_module,
}
