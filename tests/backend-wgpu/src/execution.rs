//! `Execution`: the buffers and bind groups of one running instance of a program.

use std::collections::HashMap;
use std::sync::mpsc;
use std::time::Duration;

use vyre_driver::program::{BoundRange, BufferDecl, Program};
use vyre_driver::{BackendError, kernel::Kernel, naga};
use wgpu::{BufferUsages, MapMode};

use crate::compiled::Compiled;
use crate::error::{failed, no_buffer};
use crate::gpu::Gpu;

/// How a wait for the device ended.
pub(crate) enum Waited {
    Done,
    TooLong,
}

pub(crate) struct Execution {
    /// One for each of the program's buffers.
    buffers: Vec<wgpu::Buffer>,
    /// Where the host writes inputs, mapped between dispatches, and where it reads outputs.
    upload: Staging,
    readback: Staging,
    /// Places of buffers that begin as zeros.
    cleared: Vec<usize>,
    steps: Vec<Step>,
    /// What all buffers take.
    pub(crate) allocated_bytes: u64,
    pub(crate) allocations: u32,
}

/// One op.
struct Step {
    /// Ranges that the op must not read where they are.
    copies: Vec<Copied>,
    pipeline: wgpu::ComputePipeline,
    groups: Vec<(u32, wgpu::BindGroup)>,
    grid: [u32; 3],
}

struct Copied {
    from: usize,
    offset: u64,
    byte_len: u64,
    to: wgpu::Buffer,
}

/// A buffer that the host can map, and what of the program's buffers lies where in it.
struct Staging {
    /// `None` if nothing crosses.
    buffer: Option<wgpu::Buffer>,
    parts: Vec<Part>,
}

struct Part {
    /// Place of the program's buffer.
    of: usize,
    offset: u64,
    byte_len: u64,
}

/// Makes the buffers of an execution, and counts them.
struct Maker<'a> {
    gpu: &'a Gpu,
    bytes: u64,
    count: u32,
    /// Copies of ranges by their place among an op's bindings and their length. Ops run one after the
    /// other wherever one of them is written, so they can share.
    copies: HashMap<(usize, u64), wgpu::Buffer>,
}

impl Maker<'_> {
    fn buffer(
        &mut self,
        name: &str,
        size: u64,
        usage: BufferUsages,
    ) -> Result<wgpu::Buffer, BackendError> {
        self.bytes += size;
        self.count += 1;
        let descriptor = wgpu::BufferDescriptor {
            label: Some(name),
            size,
            usage,
            mapped_at_creation: usage.contains(BufferUsages::MAP_WRITE),
        };
        let made = self
            .gpu
            .guarded(|| self.gpu.device.create_buffer(&descriptor));
        made.map_err(|error| no_buffer(&format!("buffer `{name}`"), size, error))
    }

    fn staging(
        &mut self,
        name: &str,
        program: &Program,
        crosses: fn(&BufferDecl) -> bool,
        usage: BufferUsages,
    ) -> Result<Staging, BackendError> {
        let (mut parts, mut end) = (Vec::new(), 0);
        for (of, decl) in program.buffers().iter().enumerate() {
            if crosses(decl) {
                let byte_len = decl.byte_len();
                parts.push(Part {
                    of,
                    offset: end,
                    byte_len,
                });
                end = (end + byte_len).next_multiple_of(wgpu::MAP_ALIGNMENT);
            }
        }
        let buffer = match end {
            0 => None,
            _ => Some(self.buffer(name, end, usage)?),
        };
        Ok(Staging { buffer, parts })
    }

    /// The buffer that range `place` of an op is copied to.
    fn copy(&mut self, place: usize, byte_len: u64) -> Result<wgpu::Buffer, BackendError> {
        if let Some(buffer) = self.copies.get(&(place, byte_len)) {
            return Ok(buffer.clone());
        }
        let usage = BufferUsages::STORAGE | BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let buffer = self.buffer("copy of a range", byte_len, usage)?;
        self.copies.insert((place, byte_len), buffer.clone());
        Ok(buffer)
    }

    fn step(
        &mut self,
        program: &Program,
        op: usize,
        compiled: &Compiled,
        buffers: &[wgpu::Buffer],
    ) -> Result<Step, BackendError> {
        let kernel_index = program.ops()[op].kernel() as usize;
        let kernel = &program.kernels()[kernel_index];
        let pipeline = &compiled.pipelines[kernel_index];
        let bound = program.bindings(op);
        let mut copies = Vec::new();
        let mut groups: Vec<(u32, Vec<wgpu::BindGroupEntry<'_>>)> = Vec::new();
        let copied = (0..bound.len()).filter(|place| must_copy(kernel, bound, *place));
        for place in copied {
            copies.push((place, self.copy(place, bound[place].byte_len)?));
        }
        for (place, (binding, range)) in kernel.bindings().iter().zip(bound).enumerate() {
            let copy = copies.iter().find(|(copied, _)| *copied == place);
            let (buffer, offset) = match copy {
                Some((_, copy)) => (copy, 0),
                None => (&buffers[range.buffer.index()], range.offset),
            };
            let entry = wgpu::BindGroupEntry {
                binding: binding.binding,
                resource: wgpu::BindingResource::Buffer(wgpu::BufferBinding {
                    buffer,
                    offset,
                    size: range.byte_len.try_into().ok(),
                }),
            };
            match groups.last_mut() {
                Some((group, entries)) if *group == binding.group => entries.push(entry),
                _ => groups.push((binding.group, vec![entry])),
            }
        }
        let bind = |(group, entries): &(u32, Vec<_>)| {
            let layout = pipeline.get_bind_group_layout(*group);
            let descriptor = wgpu::BindGroupDescriptor {
                label: Some(kernel.entry_point()),
                layout: &layout,
                entries,
            };
            (*group, self.gpu.device.create_bind_group(&descriptor))
        };
        let made = self.gpu.guarded(|| groups.iter().map(bind).collect());
        let groups = made.map_err(|error| failed("create_bind_group", error))?;
        let copies = copies.into_iter().map(|(place, to)| Copied {
            from: bound[place].buffer.index(),
            offset: bound[place].offset,
            byte_len: bound[place].byte_len,
            to,
        });
        Ok(Step {
            copies: copies.collect(),
            pipeline: pipeline.clone(),
            groups,
            grid: program.ops()[op].grid(),
        })
    }
}

/// Whether an op binds the buffer of a range for writing, too. wgpu tracks what a dispatch does to
/// whole buffers and refuses both at once, even where the ranges don't overlap.
fn must_copy(kernel: &Kernel, bound: &[BoundRange], place: usize) -> bool {
    let writable = |place: usize| {
        let variable = kernel.bindings()[place].variable;
        let space = kernel.module().global_variables[variable].space;
        matches!(space, naga::AddressSpace::Storage { access } if access.contains(naga::StorageAccess::STORE))
    };
    let same = |other: &usize| bound[*other].buffer == bound[place].buffer;
    !writable(place) && (0..bound.len()).filter(same).any(writable)
}

impl Execution {
    pub(crate) fn new(
        gpu: &Gpu,
        program: &Program,
        compiled: &Compiled,
    ) -> Result<Self, BackendError> {
        let mut maker = Maker {
            gpu,
            bytes: 0,
            count: 0,
            copies: HashMap::new(),
        };
        let usage = BufferUsages::STORAGE
            | BufferUsages::UNIFORM
            | BufferUsages::COPY_SRC
            | BufferUsages::COPY_DST;
        let decls = program.buffers().iter();
        let buffers = decls.map(|decl| maker.buffer(decl.name(), decl.byte_len(), usage));
        let buffers = buffers.collect::<Result<Vec<_>, _>>()?;
        let upload = maker.staging(
            "inputs",
            program,
            BufferDecl::is_input,
            BufferUsages::MAP_WRITE | BufferUsages::COPY_SRC,
        )?;
        let readback = maker.staging(
            "outputs",
            program,
            BufferDecl::is_output,
            BufferUsages::MAP_READ | BufferUsages::COPY_DST,
        )?;
        let steps = (0..program.ops().len()).map(|op| maker.step(program, op, compiled, &buffers));
        let steps = steps.collect::<Result<Vec<_>, _>>()?;
        let mut cleared = Vec::new();
        for (place, decl) in program.buffers().iter().enumerate() {
            match decl.contents() {
                Some(contents) => gpu
                    .guarded(|| gpu.queue.write_buffer(&buffers[place], 0, contents))
                    .map_err(|error| failed("write_buffer", error))?,
                None if !decl.is_input() => cleared.push(place),
                None => {}
            }
        }
        Ok(Self {
            buffers,
            upload,
            readback,
            cleared,
            steps,
            allocated_bytes: maker.bytes,
            allocations: maker.count,
        })
    }

    /// Puts the inputs where the device finds them, and submits all ops.
    pub(crate) fn submit(
        &self,
        gpu: &Gpu,
        inputs: &[&[u8]],
    ) -> Result<wgpu::SubmissionIndex, BackendError> {
        if let Some(upload) = &self.upload.buffer {
            for (part, input) in self.upload.parts.iter().zip(inputs) {
                let range = part.offset..part.offset + part.byte_len;
                let view = upload.get_mapped_range_mut(range);
                let mut view = view.map_err(|error| failed("get_mapped_range_mut", error))?;
                view.copy_from_slice(input);
            }
            upload.unmap();
        }
        gpu.guarded(|| gpu.queue.submit([self.encode(gpu)]))
            .map_err(|error| failed("submit", error))
    }

    fn encode(&self, gpu: &Gpu) -> wgpu::CommandBuffer {
        let mut encoder = gpu.device.create_command_encoder(&Default::default());
        if let Some(upload) = &self.upload.buffer {
            for Part {
                of,
                offset,
                byte_len,
            } in &self.upload.parts
            {
                let to = &self.buffers[*of];
                encoder.copy_buffer_to_buffer(upload, *offset, to, 0, *byte_len);
            }
        }
        for &place in &self.cleared {
            encoder.clear_buffer(&self.buffers[place], 0, None);
        }
        let mut steps = &self.steps[..];
        while let Some(first) = steps.first() {
            for Copied {
                from,
                offset,
                byte_len,
                to,
            } in &first.copies
            {
                let from = &self.buffers[*from];
                encoder.copy_buffer_to_buffer(from, *offset, to, 0, *byte_len);
            }
            // A pass can't copy, so it ends before the next step that needs copies.
            let more = steps[1..].iter().take_while(|it| it.copies.is_empty());
            let (these, rest) = steps.split_at(1 + more.count());
            let mut pass = encoder.begin_compute_pass(&Default::default());
            for step in these {
                step.encode(&mut pass);
            }
            steps = rest;
        }
        if let Some(readback) = &self.readback.buffer {
            for Part {
                of,
                offset,
                byte_len,
            } in &self.readback.parts
            {
                let from = &self.buffers[*of];
                encoder.copy_buffer_to_buffer(from, 0, readback, *offset, *byte_len);
            }
        }
        encoder.finish()
    }

    /// Waits until the host can read the outputs and write the next inputs.
    pub(crate) fn wait(
        &self,
        gpu: &Gpu,
        submission: wgpu::SubmissionIndex,
        limit: Option<Duration>,
    ) -> Result<Waited, BackendError> {
        let (mapped, results) = mpsc::channel();
        let stagings = [
            (&self.readback, MapMode::Read),
            (&self.upload, MapMode::Write),
        ];
        gpu.guarded(|| {
            for (staging, mode) in stagings {
                if let Some(buffer) = &staging.buffer {
                    let mapped = mapped.clone();
                    // Nobody listens any more after a time-out.
                    buffer.map_async(mode, .., move |result| drop(mapped.send(result)));
                }
            }
        })
        .map_err(|error| failed("map_async", error))?;
        drop(mapped);
        let wait = wgpu::PollType::Wait {
            submission_index: Some(submission),
            timeout: limit,
        };
        match gpu.device.poll(wait) {
            Ok(_) => {}
            Err(wgpu::PollError::Timeout) => return Ok(Waited::TooLong),
            Err(error) => return Err(failed("poll", error)),
        }
        // Another thread's poll may be the one that calls back, so this one waits to hear of it.
        for result in results {
            result.map_err(|error| failed("map_async", error))?;
        }
        Ok(Waited::Done)
    }

    /// Hands the outputs, in order, to `take`.
    pub(crate) fn read<T>(&self, take: impl FnOnce(&[&[u8]]) -> T) -> Result<T, BackendError> {
        let Some(readback) = &self.readback.buffer else {
            return Ok(take(&[]));
        };
        let view = readback.get_mapped_range(..);
        let view = view.map_err(|error| failed("get_mapped_range", error))?;
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let parts = self.readback.parts.iter();
        let parts = parts.map(|it| &view[place(it.offset)..place(it.offset + it.byte_len)]);
        let taken = take(&parts.collect::<Vec<_>>());
        drop(view);
        readback.unmap();
        Ok(taken)
    }
}

impl Step {
    fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        for (index, group) in &self.groups {
            pass.set_bind_group(*index, group, &[]);
        }
        let [x, y, z] = self.grid;
        pass.dispatch_workgroups(x, y, z);
    }
}
