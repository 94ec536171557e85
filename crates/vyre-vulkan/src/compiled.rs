//! A program made ready for the device, with the executions that wait to be used again.

use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use vyre_core::backend::Resource;
use vyre_core::error::BackendError;
use vyre_core::program::{BufferId, BufferRole, Program};

use crate::arena::ArenaMemory;
use crate::device::Device;
use crate::execution::Execution;
use crate::layout::Layout;
use crate::memory::Tally;
use crate::pipeline::KernelPipeline;
use crate::pipeline_cache::PipelineCache;
use crate::schedule::Schedule;
use crate::transfer::Transfers;

/// Executions over resident buffers that are kept for the next dispatch of the same rows.
const IDLE_ROW_SETS: usize = 16;

/// Pipelines, order and constants of one program. Fields are declared in drop order.
pub(crate) struct CompiledProgram {
    idle: Mutex<Vec<Execution>>,
    constants: ArenaMemory,
    constant_places: Layout,
    pub(crate) schedule: Schedule,
    /// Parallel to the program's kernels.
    pub(crate) pipelines: Vec<Arc<KernelPipeline>>,
}

impl CompiledProgram {
    pub(crate) fn new(
        device: &Arc<Device>,
        cache: &PipelineCache,
        transfers: &Transfers,
        program: &Program,
        tally: &mut Tally,
    ) -> Result<Self, BackendError> {
        // It may have been built for a larger device.
        program.check_limits(&device.snapshot.info.limits)?;
        let pipelines = program
            .kernels()
            .iter()
            .map(|kernel| cache.get(kernel))
            .collect::<Result<_, _>>()?;
        let buffers = roles_and_lengths(program);
        let layout = Layout::pack(&buffers, device.snapshot.max_allocation, |role| {
            role == BufferRole::Constant
        })?;
        let constants = upload_constants(device, transfers, program, &layout, tally)?;
        Ok(Self {
            idle: Mutex::default(),
            constants,
            constant_places: layout,
            schedule: Schedule::new(program),
            pipelines,
        })
    }

    pub(crate) fn pipeline_of(&self, program: &Program, op: u32) -> &Arc<KernelPipeline> {
        &self.pipelines[program.ops()[op as usize].kernel() as usize]
    }

    /// Where a constant lies; `None` for any other buffer.
    pub(crate) fn constant(&self, buffer: BufferId) -> Option<(vk::Buffer, u64)> {
        let place = self.constant_places.places[buffer.index()]?;
        Some((self.constants.buffer(place.arena), place.offset))
    }

    /// An execution that ran before, over these resident buffers (none: over buffers of its own).
    pub(crate) fn take_idle(&self, rows: &[&[Resource]]) -> Option<Execution> {
        let mut idle = self.idle();
        let found = idle.iter().rposition(|execution| execution.is_over(rows))?;
        Some(idle.remove(found))
    }

    /// Keeps an execution that has ended for the next dispatch.
    pub(crate) fn keep_idle(&self, execution: Execution) {
        let mut idle = self.idle();
        let over_rows = execution.has_rows();
        let surplus =
            over_rows && idle.iter().filter(|idle| idle.has_rows()).count() >= IDLE_ROW_SETS;
        let oldest = surplus
            .then(|| idle.iter().position(Execution::has_rows))
            .flatten();
        let evicted = oldest.map(|oldest| idle.remove(oldest));
        idle.push(execution);
        drop(idle);
        drop(evicted);
    }

    /// Lets go of executions over a resident buffer that is being freed.
    pub(crate) fn forget(&self, resource: Resource) {
        let forgotten: Vec<_> = self
            .idle()
            .extract_if(.., |execution| execution.uses(resource))
            .collect();
        drop(forgotten);
    }

    fn idle(&self) -> MutexGuard<'_, Vec<Execution>> {
        self.idle.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

pub(crate) fn roles_and_lengths(program: &Program) -> Vec<(BufferRole, u64)> {
    program
        .buffers()
        .iter()
        .map(|decl| (decl.role(), decl.byte_len()))
        .collect()
}

fn upload_constants(
    device: &Arc<Device>,
    transfers: &Transfers,
    program: &Program,
    layout: &Layout,
    tally: &mut Tally,
) -> Result<ArenaMemory, BackendError> {
    let mut memory = ArenaMemory::new(device, program.label(), layout, tally)?;
    for (decl, place) in program.buffers().iter().zip(&layout.places) {
        if let (Some(place), Some(contents)) = (place, decl.contents()) {
            memory.write(*place, contents);
            tally.constant_bytes += contents.len() as u64;
        }
    }
    if memory.is_staged() {
        transfers.run(|device, commands| {
            memory.record_start(device, commands);
        })?;
        tally.waits += 1;
        memory.drop_staging();
    }
    Ok(memory)
}
