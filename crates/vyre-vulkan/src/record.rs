//! Records dispatch mode: one dispatch command for each op, one barrier between levels.

use ash::vk;
use vyre_core::program::Program;

use crate::arena::ArenaMemory;
use crate::barrier::Access;
use crate::compiled::CompiledProgram;
use crate::descriptors::Descriptors;
use crate::device::Device;
use crate::execution::{Rows, cleared_residents};

/// What a command buffer is recorded from.
pub(crate) struct Recording<'a> {
    pub(crate) program: &'a Program,
    pub(crate) compiled: &'a CompiledProgram,
    pub(crate) memory: &'a ArenaMemory,
    pub(crate) descriptors: &'a Descriptors,
    pub(crate) rows: &'a Rows,
}

impl Recording<'_> {
    /// Records a whole run: inputs in, ops, outputs out. Returns the number of launches.
    pub(crate) fn record(&self, device: &Device, commands: vk::CommandBuffer) -> u32 {
        let everything = Access::KERNEL.and(Access::TRANSFER);
        if self.rows.count > 0 {
            // Other submissions may use the same resident buffers.
            device.cmd_barrier(commands, everything, everything);
        }
        let mut pending = self.memory.record_start(device, commands);
        for buffer in cleared_residents(self.program, self.rows) {
            // SAFETY: the buffer is alive and its length a multiple of 4.
            unsafe {
                device
                    .raw()
                    .cmd_fill_buffer(commands, buffer, 0, vk::WHOLE_SIZE, 0)
            };
            pending = true;
        }
        if pending {
            device.cmd_barrier(commands, Access::TRANSFER, everything);
        }
        let launches = self.record_ops(device, commands);
        self.memory.record_end(device, commands);
        launches
    }

    fn record_ops(&self, device: &Device, commands: vk::CommandBuffer) -> u32 {
        let schedule = &self.compiled.schedule;
        let (mut bound, mut launches) = (Bound::default(), 0);
        for (level, range) in schedule.levels.iter().enumerate() {
            if level > 0 {
                device.cmd_barrier(commands, Access::KERNEL, Access::KERNEL);
            }
            for row in 0..self.rows.count.max(1) {
                for &op in &schedule.order[range.clone()] {
                    self.record_op(device, commands, row, op, &mut bound);
                    launches += 1;
                }
            }
        }
        launches
    }

    fn record_op(
        &self,
        device: &Device,
        commands: vk::CommandBuffer,
        row: usize,
        op: u32,
        bound: &mut Bound,
    ) {
        let pipeline = self.compiled.pipeline_of(self.program, op);
        let binding_set = self.compiled.schedule.binding_set[op as usize];
        let sets = self.descriptors.sets(row, binding_set);
        let [x, y, z] = self.program.ops()[op as usize].grid();
        let compute = vk::PipelineBindPoint::COMPUTE;
        // SAFETY: pipeline, layout and sets are alive for as long as the command buffer can be
        // submitted, the sets match the layout, and the grid was checked against the limits.
        unsafe {
            let device = device.raw();
            if bound.pipeline != *pipeline.pipeline {
                device.cmd_bind_pipeline(commands, compute, *pipeline.pipeline);
                *bound = Bound {
                    pipeline: *pipeline.pipeline,
                    sets: None,
                };
            }
            if bound.sets != Some((row, binding_set)) && !sets.is_empty() {
                let layout = *pipeline.layout;
                device.cmd_bind_descriptor_sets(commands, compute, layout, 0, sets, &[]);
                bound.sets = Some((row, binding_set));
            }
            device.cmd_dispatch(commands, x, y, z);
        }
    }
}

/// What is bound already.
#[derive(Default)]
struct Bound {
    pipeline: vk::Pipeline,
    /// Row and set of bindings.
    sets: Option<(usize, u32)>,
}
