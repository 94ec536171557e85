//! One instance of a program on the device: memory, descriptors and a recorded command buffer, run
//! again and again.

use std::sync::Arc;
use std::time::{Duration, Instant};

use ash::vk;
use vyre_core::backend::Resource;
use vyre_core::error::BackendError;
use vyre_core::program::{BufferId, BufferRole, Program};

use crate::arena::ArenaMemory;
use crate::command::Commands;
use crate::compiled::{CompiledProgram, roles_and_lengths};
use crate::descriptors::Descriptors;
use crate::device::Device;
use crate::layout::Layout;
use crate::memory::{Buffer, Tally};
use crate::queue::{Fence, Waited};
use crate::record::Recording;
use crate::timestamp::Timer;

/// Everything that one run of a program occupies. Fields are declared in drop order; whoever drops
/// an execution has seen its work end.
pub(crate) struct Execution {
    fence: Fence,
    /// Recorded at the first run that is not timed.
    plain: Option<Commands>,
    /// Recorded at the first run that is timed.
    timed: Option<(Timer, Commands)>,
    /// Dispatch commands of a run.
    launches: u32,
    descriptors: Descriptors,
    memory: ArenaMemory,
    layout: Layout,
    rows: Rows,
}

/// Whether the device takes the time of a run. That costs a small run a good part of its time.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Timing {
    Device,
    HostOnly,
}

/// The resident buffers that an execution runs over; without any it has buffers of its own.
#[derive(Default)]
pub(crate) struct Rows {
    /// Handles of all rows, one row after the other.
    pub(crate) handles: Vec<Resource>,
    /// Parallel to `handles`; keeps freed buffers alive while work on them is under way.
    pub(crate) buffers: Vec<Arc<Buffer>>,
    pub(crate) count: usize,
}

impl Execution {
    pub(crate) fn new(
        device: &Arc<Device>,
        program: &Program,
        compiled: &CompiledProgram,
        rows: Rows,
        tally: &mut Tally,
    ) -> Result<Self, BackendError> {
        let name = program.label();
        let instances = rows.count.max(1);
        let resident = rows.count > 0;
        let layout = Layout::pack(
            &roles_and_lengths(program).repeat(instances),
            device.snapshot.max_allocation,
            |role| role == BufferRole::Scratch || (!resident && role != BufferRole::Constant),
        )?;
        let memory = ArenaMemory::new(device, name, &layout, tally)?;
        let resident_index = resident_index(program);
        let locate = |row: usize, buffer: BufferId| {
            let own = layout.places[row * program.buffers().len() + buffer.index()];
            own.map(|place| (memory.buffer(place.arena), place.offset))
                .or_else(|| compiled.constant(buffer))
                .unwrap_or_else(|| {
                    let row_len = rows.handles.len() / instances;
                    (
                        rows.buffers[row * row_len + resident_index[buffer.index()]].raw(),
                        0,
                    )
                })
        };
        let descriptors = Descriptors::new(device, program, compiled, instances, locate)?;
        let fence = Fence::new(device, name)?;
        Ok(Self {
            fence,
            plain: None,
            timed: None,
            launches: 0,
            descriptors,
            memory,
            layout,
            rows,
        })
    }

    /// Records the run that `timing` asks for, unless it has been recorded before.
    pub(crate) fn prepare(
        &mut self,
        device: &Arc<Device>,
        program: &Program,
        compiled: &CompiledProgram,
        timing: Timing,
    ) -> Result<(), BackendError> {
        let Self {
            plain,
            timed,
            launches,
            memory,
            descriptors,
            rows,
            ..
        } = self;
        let recording = Recording {
            program,
            compiled,
            memory,
            descriptors,
            rows,
        };
        let name = program.label();
        let has_timer = timing == Timing::Device && device.timestamp_valid_bits > 0;
        if has_timer && timed.is_none() {
            let timer = Timer::new(device, name)?;
            let mut commands = Commands::new(device, name)?;
            commands.record(|device, commands| {
                timer.record_start(commands);
                *launches = recording.record(device, commands);
                timer.record_end(commands);
            })?;
            *timed = Some((timer, commands));
        }
        if !has_timer && plain.is_none() {
            let mut commands = Commands::new(device, name)?;
            commands.record(|device, commands| *launches = recording.record(device, commands))?;
            *plain = Some(commands);
        }
        Ok(())
    }

    pub(crate) fn has_rows(&self) -> bool {
        self.rows.count > 0
    }

    pub(crate) fn uses(&self, resource: Resource) -> bool {
        self.rows.handles.contains(&resource)
    }

    /// Whether this execution was recorded for exactly these rows.
    pub(crate) fn is_over(&self, rows: &[&[Resource]]) -> bool {
        let handles = &self.rows.handles;
        self.rows.count == rows.len()
            && rows
                .iter()
                .all(|row| row.len() * rows.len() == handles.len())
            && rows.iter().copied().flatten().eq(handles)
    }

    /// Puts the inputs of the next run in place.
    pub(crate) fn write_inputs(&mut self, program: &Program, inputs: &[&[u8]]) {
        for ((buffer, _), bytes) in program.inputs().zip(inputs) {
            if let Some(place) = self.layout.places[buffer.index()] {
                self.memory.write(place, bytes);
            }
        }
    }

    /// The outputs of the last run, in the order of declaration.
    pub(crate) fn outputs<'a>(
        &'a self,
        program: &'a Program,
    ) -> impl ExactSizeIterator<Item = &'a [u8]> + Clone {
        program.outputs().map(|(buffer, decl)| {
            let place = self.layout.places[buffer.index()];
            place.map_or(&[][..], |place| self.memory.read(place, decl.byte_len()))
        })
    }

    /// Starts the run that was prepared.
    pub(crate) fn submit(&self, timing: Timing) -> Result<(), BackendError> {
        let timed = self.timed.as_ref().filter(|_| timing == Timing::Device);
        let commands = timed.map(|(_, commands)| commands).or(self.plain.as_ref());
        commands.map_or(Ok(()), |commands| self.fence.submit(commands.raw()))
    }

    pub(crate) fn wait(
        &self,
        start: Instant,
        poll: Duration,
        limit: Option<Duration>,
    ) -> Result<Waited, BackendError> {
        self.fence.wait(start, poll, limit)
    }

    /// Kernel launches of a run that has been prepared.
    pub(crate) fn launches(&self) -> u32 {
        self.launches
    }

    /// Whether the last run has ended.
    pub(crate) fn is_done(&self) -> bool {
        self.fence.is_done()
    }

    /// Nanoseconds of the last timed run; `None` without a timer.
    pub(crate) fn device_ns(&self) -> Result<Option<u64>, BackendError> {
        self.timed
            .as_ref()
            .map_or(Ok(None), |(timer, _)| timer.elapsed_ns())
    }
}

/// For each buffer of the program its position in a row, where it has one.
fn resident_index(program: &Program) -> Vec<usize> {
    let mut index = vec![usize::MAX; program.buffers().len()];
    for (position, (buffer, _)) in program.row_buffers().enumerate() {
        index[buffer.index()] = position;
    }
    index
}

/// The resident buffers of all rows that a dispatch starts with zeros: those of output buffers.
pub(crate) fn cleared_residents<'a>(
    program: &'a Program,
    rows: &'a Rows,
) -> impl Iterator<Item = vk::Buffer> + 'a {
    let row_roles = program.row_buffers().map(|(_, decl)| decl.role());
    let roles: Vec<BufferRole> = row_roles.collect();
    let all = rows.buffers.iter().enumerate();
    all.filter(move |(index, _)| roles[index % roles.len()] == BufferRole::Output)
        .map(|(_, buffer)| buffer.raw())
}
