//! Memory barriers, by what comes before and after.

use ash::vk;

use crate::device::Device;

/// A kind of access to memory.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Access {
    stages: vk::PipelineStageFlags,
    reads: vk::AccessFlags,
    writes: vk::AccessFlags,
}

impl Access {
    /// What kernels do.
    pub(crate) const KERNEL: Self = Self {
        stages: vk::PipelineStageFlags::COMPUTE_SHADER,
        reads: vk::AccessFlags::from_raw(
            vk::AccessFlags::SHADER_READ.as_raw() | vk::AccessFlags::UNIFORM_READ.as_raw(),
        ),
        writes: vk::AccessFlags::SHADER_WRITE,
    };
    /// What copies and fills do.
    pub(crate) const TRANSFER: Self = Self {
        stages: vk::PipelineStageFlags::TRANSFER,
        reads: vk::AccessFlags::TRANSFER_READ,
        writes: vk::AccessFlags::TRANSFER_WRITE,
    };
    /// What the host reads after it has waited for a fence.
    pub(crate) const HOST_READ: Self = Self {
        stages: vk::PipelineStageFlags::HOST,
        reads: vk::AccessFlags::HOST_READ,
        writes: vk::AccessFlags::empty(),
    };

    pub(crate) const fn and(self, other: Self) -> Self {
        Self {
            stages: vk::PipelineStageFlags::from_raw(self.stages.as_raw() | other.stages.as_raw()),
            reads: vk::AccessFlags::from_raw(self.reads.as_raw() | other.reads.as_raw()),
            writes: vk::AccessFlags::from_raw(self.writes.as_raw() | other.writes.as_raw()),
        }
    }
}

impl Device {
    /// Records that what `before` wrote is there for what `after` reads and writes, and that nothing
    /// of `after` overtakes `before`; across submissions to the queue too.
    pub(crate) fn cmd_barrier(&self, commands: vk::CommandBuffer, before: Access, after: Access) {
        let barrier = vk::MemoryBarrier::default()
            .src_access_mask(before.writes)
            .dst_access_mask(after.reads | after.writes);
        // SAFETY: `commands` is being recorded outside a render pass on a compute queue, which has all
        // stages of `Access`.
        unsafe {
            self.raw().cmd_pipeline_barrier(
                commands,
                before.stages,
                after.stages,
                vk::DependencyFlags::empty(),
                &[barrier],
                &[],
                &[],
            );
        }
    }
}
