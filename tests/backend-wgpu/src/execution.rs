//! `Execution`: the buffers and bind groups of one running instance of a program.

use std::collections::HashMap;
use std::sync::mpsc;
use std::time::Duration;

use vyre_driver::BackendError;
use vyre_driver::program::{BufferDecl, Program};
use wgpu::{BufferUsages, MapMode};

use crate::compiled::Compiled;
use crate::error::failed;
use crate::gpu::Gpu;
use crate::memory::{Maker, Part, Staging};
use crate::step::{Copied, Step, StepMaker};

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

impl Execution {
    pub(crate) fn new(
        gpu: &Gpu,
        program: &Program,
        compiled: &Compiled,
    ) -> Result<Self, BackendError> {
        let mut maker = Maker::new(gpu);
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
        let mut step_maker = StepMaker {
            program,
            compiled,
            buffers: &buffers,
            maker: &mut maker,
            copies: HashMap::new(),
        };
        let steps = (0..program.ops().len()).map(|op| step_maker.step(op));
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
        self.upload.write(inputs)?;
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
        self.readback.read(take)
    }
}
