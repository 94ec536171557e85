//! `Step`: one op with its bind groups, and the ranges that wgpu wants apart.

use std::collections::HashMap;

use vyre_driver::program::{BoundRange, Program};
use vyre_driver::{BackendError, Kernel, naga};
use wgpu::BufferUsages;

use crate::compiled::Compiled;
use crate::error::failed;
use crate::memory::Maker;

/// One op.
pub(crate) struct Step {
    /// Ranges that the op must not read where they are.
    pub(crate) copies: Vec<Copied>,
    pipeline: wgpu::ComputePipeline,
    groups: Vec<(u32, wgpu::BindGroup)>,
    grid: [u32; 3],
}

/// A range of a buffer, and where an op finds it.
pub(crate) struct Copied {
    pub(crate) from: usize,
    pub(crate) offset: u64,
    pub(crate) byte_len: u64,
    pub(crate) to: wgpu::Buffer,
}

/// Makes the steps of a program.
pub(crate) struct StepMaker<'a, 'gpu> {
    pub(crate) program: &'a Program,
    pub(crate) compiled: &'a Compiled,
    pub(crate) buffers: &'a [wgpu::Buffer],
    pub(crate) maker: &'a mut Maker<'gpu>,
    /// Copies of ranges by their place among an op's bindings and their length. Ops that copy run one
    /// after the other, so they can share.
    pub(crate) copies: HashMap<(usize, u64), wgpu::Buffer>,
}

impl StepMaker<'_, '_> {
    /// The buffer that range `place` of an op is copied to.
    fn copy(&mut self, place: usize, byte_len: u64) -> Result<wgpu::Buffer, BackendError> {
        if let Some(buffer) = self.copies.get(&(place, byte_len)) {
            return Ok(buffer.clone());
        }
        let usage = BufferUsages::STORAGE | BufferUsages::UNIFORM | BufferUsages::COPY_DST;
        let buffer = self.maker.buffer("copy of a range", byte_len, usage)?;
        self.copies.insert((place, byte_len), buffer.clone());
        Ok(buffer)
    }

    pub(crate) fn step(&mut self, op: usize) -> Result<Step, BackendError> {
        let program = self.program;
        let kernel_index = program.ops()[op].kernel() as usize;
        let kernel = &program.kernels()[kernel_index];
        let pipeline = &self.compiled.pipelines[kernel_index];
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
                None => (&self.buffers[range.buffer.index()], range.offset),
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
            (*group, self.maker.gpu.device.create_bind_group(&descriptor))
        };
        let made = self.maker.gpu.guarded(|| groups.iter().map(bind).collect());
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

impl Step {
    pub(crate) fn encode(&self, pass: &mut wgpu::ComputePass<'_>) {
        pass.set_pipeline(&self.pipeline);
        for (index, group) in &self.groups {
            pass.set_bind_group(*index, group, &[]);
        }
        let [x, y, z] = self.grid;
        pass.dispatch_workgroups(x, y, z);
    }
}
