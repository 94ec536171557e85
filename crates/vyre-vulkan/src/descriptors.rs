//! Descriptor sets: one group of sets for each distinct set of bindings and each row.

use std::sync::Arc;

use ash::vk;
use vyre_core::error::BackendError;
use vyre_core::kernel::BindingKind;
use vyre_core::program::{BufferId, Program};

use crate::compiled::CompiledProgram;
use crate::device::Device;
use crate::error::driver;
use crate::owned::Owned;
use crate::pipeline::{KernelPipeline, descriptor_type};

/// Descriptor writes passed to the driver at once.
const WRITE_BATCH: usize = 256;

/// All descriptor sets of one execution.
pub(crate) struct Descriptors {
    sets: Vec<vk::DescriptorSet>,
    /// Where the sets of each distinct set of bindings begin within a row, and the end of the last.
    starts: Vec<usize>,
    /// `None` when no kernel binds anything. The sets die with it.
    _pool: Option<Owned<vk::DescriptorPool>>,
}

impl Descriptors {
    /// Allocates and writes the sets of `rows` instances of `program`; `locate` says where a buffer
    /// of a row lies.
    pub(crate) fn new(
        device: &Arc<Device>,
        program: &Program,
        compiled: &CompiledProgram,
        rows: usize,
        locate: impl Fn(usize, BufferId) -> (vk::Buffer, u64),
    ) -> Result<Self, BackendError> {
        let owners = &compiled.schedule.set_owner;
        let pipelines = || owners.iter().map(|&op| compiled.pipeline_of(program, op));
        let mut starts = vec![0];
        starts.extend(pipelines().scan(0, |end, pipeline| {
            *end += pipeline.set_layouts.len();
            Some(*end)
        }));
        if starts.last() == Some(&0) {
            return Ok(Self {
                sets: Vec::new(),
                starts,
                _pool: None,
            });
        }
        let pool = create_pool(device, pipelines(), rows, program.label())?;
        let layouts: Vec<_> = pipelines()
            .flat_map(|pipeline| pipeline.set_layouts.iter().map(|l| **l))
            .collect();
        let mut sets = Vec::with_capacity(layouts.len() * rows);
        for _ in 0..rows {
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(*pool)
                .set_layouts(&layouts);
            // SAFETY: the pool was made for exactly these sets, and is used by this owner only.
            let row = unsafe { device.raw().allocate_descriptor_sets(&info) }
                .map_err(driver("vkAllocateDescriptorSets"))?;
            sets.extend(row);
        }
        let descriptors = Self {
            sets,
            starts,
            _pool: Some(pool),
        };
        for row in 0..rows {
            descriptors.write_row(device, program, owners, row, |buffer| locate(row, buffer));
        }
        Ok(descriptors)
    }

    /// The sets to bind for ops with this set of bindings.
    pub(crate) fn sets(&self, row: usize, binding_set: u32) -> &[vk::DescriptorSet] {
        let row_start = row * self.starts.last().copied().unwrap_or(0);
        let set = binding_set as usize;
        &self.sets[row_start + self.starts[set]..row_start + self.starts[set + 1]]
    }

    fn write_row(
        &self,
        device: &Device,
        program: &Program,
        owners: &[u32],
        row: usize,
        locate: impl Fn(BufferId) -> (vk::Buffer, u64),
    ) {
        let ops = (0u32..).zip(owners);
        let targets = ops.flat_map(|(set, &op)| {
            let kernel = &program.kernels()[program.ops()[op as usize].kernel() as usize];
            let sets = self.sets(row, set);
            let bindings = kernel.bindings().iter().zip(program.bindings(op as usize));
            bindings.map(move |(binding, bound)| (sets[binding.group as usize], binding, bound))
        });
        let targets: Vec<_> = targets.collect();
        for batch in targets.chunks(WRITE_BATCH) {
            let infos: Vec<_> = batch
                .iter()
                .map(|(_, _, bound)| {
                    let (buffer, start) = locate(bound.buffer);
                    [vk::DescriptorBufferInfo {
                        buffer,
                        offset: start + bound.offset,
                        range: bound.byte_len,
                    }]
                })
                .collect();
            let writes: Vec<_> = batch
                .iter()
                .zip(&infos)
                .map(|((set, binding, _), info)| {
                    vk::WriteDescriptorSet::default()
                        .dst_set(*set)
                        .dst_binding(binding.binding)
                        .descriptor_type(descriptor_type(binding.kind))
                        .buffer_info(info)
                })
                .collect();
            // SAFETY: the sets are new and not in use; the ranges lie inside their buffers, start at
            // multiples of 256, which every device's alignment divides, and were checked against the
            // device's range limits when the program was compiled.
            unsafe { device.raw().update_descriptor_sets(&writes, &[]) };
        }
    }
}

fn create_pool<'a>(
    device: &Arc<Device>,
    pipelines: impl Iterator<Item = &'a Arc<KernelPipeline>>,
    rows: usize,
    name: &str,
) -> Result<Owned<vk::DescriptorPool>, BackendError> {
    let [mut sets, mut storage, mut uniform] = [0u64; 3];
    for pipeline in pipelines {
        sets += pipeline.set_layouts.len() as u64;
        storage += u64::from(pipeline.storage_descriptors);
        uniform += u64::from(pipeline.uniform_descriptors);
    }
    let total = |count: u64| {
        let requested = count.saturating_mul(rows as u64);
        u32::try_from(requested).map_err(|_overflow| BackendError::LimitExceeded {
            subject: format!("descriptors of `{name}`"),
            limit: "maxSets and descriptorCount of a descriptor pool",
            requested,
            maximum: u64::from(u32::MAX),
        })
    };
    let sizes: Vec<_> = [
        (BindingKind::Storage, storage),
        (BindingKind::Uniform, uniform),
    ]
    .into_iter()
    .filter(|(_, count)| *count > 0)
    .map(|(kind, count)| {
        Ok(vk::DescriptorPoolSize {
            ty: descriptor_type(kind),
            descriptor_count: total(count)?,
        })
    })
    .collect::<Result<_, BackendError>>()?;
    let info = vk::DescriptorPoolCreateInfo::default()
        .max_sets(total(sets)?)
        .pool_sizes(&sizes);
    // SAFETY: counts are positive.
    let pool = unsafe { device.raw().create_descriptor_pool(&info, None) }
        .map_err(driver("vkCreateDescriptorPool"))?;
    Ok(Owned::new(device, pool, name))
}
