//! Command buffers: one in a pool of its own, recorded by a closure.

use std::sync::Arc;

use ash::vk;
use vyre_core::error::BackendError;

use crate::device::Device;
use crate::error::driver;
use crate::owned::Owned;

/// A command buffer that can be submitted again and again.
pub(crate) struct Commands {
    raw: vk::CommandBuffer,
    pool: Owned<vk::CommandPool>,
}

impl Commands {
    pub(crate) fn new(device: &Arc<Device>, name: &str) -> Result<Self, BackendError> {
        let info = vk::CommandPoolCreateInfo::default().queue_family_index(device.queue_family);
        // SAFETY: the device has this queue family.
        let pool = unsafe { device.raw().create_command_pool(&info, None) }
            .map_err(driver("vkCreateCommandPool"))?;
        let pool = Owned::new(device, pool, name);
        let info = vk::CommandBufferAllocateInfo::default()
            .command_pool(*pool)
            .level(vk::CommandBufferLevel::PRIMARY)
            .command_buffer_count(1);
        // SAFETY: the pool is alive and used by this owner only.
        let buffers = unsafe { device.raw().allocate_command_buffers(&info) }
            .map_err(driver("vkAllocateCommandBuffers"))?;
        device.set_name(buffers[0], name);
        Ok(Self {
            raw: buffers[0],
            pool,
        })
    }

    pub(crate) fn raw(&self) -> vk::CommandBuffer {
        self.raw
    }

    /// Replaces what is recorded; the command buffer must not be pending.
    pub(crate) fn record(
        &mut self,
        body: impl FnOnce(&Device, vk::CommandBuffer),
    ) -> Result<(), BackendError> {
        let device = self.pool.device();
        // SAFETY: the buffer is not pending, so its pool can be reset and it can be recorded.
        unsafe {
            device
                .raw()
                .reset_command_pool(*self.pool, vk::CommandPoolResetFlags::empty())
                .map_err(driver("vkResetCommandPool"))?;
            device
                .raw()
                .begin_command_buffer(self.raw, &vk::CommandBufferBeginInfo::default())
                .map_err(driver("vkBeginCommandBuffer"))?;
        }
        body(device, self.raw);
        // SAFETY: recording has begun above.
        unsafe { device.raw().end_command_buffer(self.raw) }.map_err(driver("vkEndCommandBuffer"))
    }
}
