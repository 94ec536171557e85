//! The baseline: one dispatch written by hand over ash, as a careful user would.

use std::error::Error;

use ash::vk;
use vyre_core::kernel::Kernel;

/// How bytes reach the device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Upload {
    /// Into host memory that a copy command reads.
    Staged,
    /// Into the device's own memory through its mapping, where there is one; else into host memory
    /// that the kernel works in.
    InPlace,
}

struct Mapped {
    buffer: vk::Buffer,
    memory: vk::DeviceMemory,
    pointer: *mut u8,
}

/// A recorded command buffer with the buffers that it works on.
pub(crate) struct HandWritten {
    device: ash::Device,
    instance: ash::Instance,
    _entry: ash::Entry,
    queue: vk::Queue,
    fence: vk::Fence,
    commands: vk::CommandBuffer,
    command_pool: vk::CommandPool,
    descriptor_pool: vk::DescriptorPool,
    set_layout: vk::DescriptorSetLayout,
    layout: vk::PipelineLayout,
    pipeline: vk::Pipeline,
    upload: Mapped,
    work: Option<Mapped>,
    readback: Mapped,
    output: Vec<u8>,
}

impl HandWritten {
    /// Prepares `kernel`, which works in place on one buffer of `byte_len` bytes, on the device of
    /// this name.
    pub(crate) fn new(
        device_name: &str,
        kernel: &Kernel,
        byte_len: u64,
        upload: Upload,
    ) -> Result<Self, Box<dyn Error>> {
        let spirv = spirv(kernel)?;
        // SAFETY: every call below gets handles that were made above it from the same device, and
        // structures that live across the call; sizes are positive and small.
        unsafe { Self::create(device_name, &spirv, byte_len, upload) }
    }

    /// Copies `input` in, runs the kernel, polls until it has ended and copies the output out.
    pub(crate) fn run(&mut self, input: &[u8]) -> Result<(), Box<dyn Error>> {
        // SAFETY: the buffers are mapped and hold `byte_len` bytes; nothing is in flight between
        // runs.
        unsafe {
            self.upload
                .pointer
                .copy_from_nonoverlapping(input.as_ptr(), input.len());
            let commands = [self.commands];
            let submit = [vk::SubmitInfo::default().command_buffers(&commands)];
            self.device.queue_submit(self.queue, &submit, self.fence)?;
            while !self.device.get_fence_status(self.fence)? {
                std::hint::spin_loop();
            }
            self.device.reset_fences(&[self.fence])?;
            self.readback
                .pointer
                .copy_to_nonoverlapping(self.output.as_mut_ptr(), self.output.len());
        }
        Ok(())
    }

    /// The bytes that the last run copied out.
    pub(crate) fn output(&self) -> &[u8] {
        &self.output
    }

    #[expect(
        clippy::too_many_lines,
        reason = "one straight line of calls, as by hand"
    )]
    unsafe fn create(
        device_name: &str,
        spirv: &[u32],
        byte_len: u64,
        upload: Upload,
    ) -> Result<Self, Box<dyn Error>> {
        // SAFETY: passed on to the caller.
        unsafe {
            let entry = ash::Entry::load()?;
            let application = vk::ApplicationInfo::default().api_version(vk::API_VERSION_1_2);
            let info = vk::InstanceCreateInfo::default().application_info(&application);
            let instance = entry.create_instance(&info, None)?;
            let physical = instance
                .enumerate_physical_devices()?
                .into_iter()
                .find(|physical| {
                    let properties = instance.get_physical_device_properties(*physical);
                    properties
                        .device_name_as_c_str()
                        .is_ok_and(|name| name.to_string_lossy() == device_name)
                })
                .ok_or("the device is gone")?;
            let families = instance.get_physical_device_queue_family_properties(physical);
            let family = families
                .iter()
                .position(|family| family.queue_flags.contains(vk::QueueFlags::COMPUTE))
                .ok_or("no compute queue")?;
            let family = u32::try_from(family)?;
            let queues = [vk::DeviceQueueCreateInfo::default()
                .queue_family_index(family)
                .queue_priorities(&[1.0])];
            let info = vk::DeviceCreateInfo::default().queue_create_infos(&queues);
            let device = instance.create_device(physical, &info, None)?;
            let queue = device.get_device_queue(family, 0);
            let fence = device.create_fence(&vk::FenceCreateInfo::default(), None)?;

            let memory = instance.get_physical_device_memory_properties(physical);
            let host =
                vk::MemoryPropertyFlags::HOST_VISIBLE | vk::MemoryPropertyFlags::HOST_COHERENT;
            let local = vk::MemoryPropertyFlags::DEVICE_LOCAL;
            let cached = vk::MemoryPropertyFlags::HOST_CACHED;
            let none = vk::MemoryPropertyFlags::empty();
            let (upload, work) = match upload {
                Upload::Staged => (
                    mapped(&device, &memory, byte_len, host, local)?,
                    Some(mapped(&device, &memory, byte_len, local, host)?),
                ),
                Upload::InPlace => (
                    mapped(&device, &memory, byte_len, host | local, none)?,
                    None,
                ),
            };
            let readback = mapped(&device, &memory, byte_len, host | cached, local)?;

            let bindings = [vk::DescriptorSetLayoutBinding::default()
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .descriptor_count(1)
                .stage_flags(vk::ShaderStageFlags::COMPUTE)];
            let info = vk::DescriptorSetLayoutCreateInfo::default().bindings(&bindings);
            let set_layout = device.create_descriptor_set_layout(&info, None)?;
            let set_layouts = [set_layout];
            let info = vk::PipelineLayoutCreateInfo::default().set_layouts(&set_layouts);
            let layout = device.create_pipeline_layout(&info, None)?;
            let info = vk::ShaderModuleCreateInfo::default().code(spirv);
            let module = device.create_shader_module(&info, None)?;
            let stage = vk::PipelineShaderStageCreateInfo::default()
                .stage(vk::ShaderStageFlags::COMPUTE)
                .module(module)
                .name(c"step");
            let info = [vk::ComputePipelineCreateInfo::default()
                .stage(stage)
                .layout(layout)];
            let pipelines = device.create_compute_pipelines(vk::PipelineCache::null(), &info, None);
            let pipeline = pipelines.map_err(|(_, error)| error)?[0];
            device.destroy_shader_module(module, None);

            let sizes = [vk::DescriptorPoolSize {
                ty: vk::DescriptorType::STORAGE_BUFFER,
                descriptor_count: 1,
            }];
            let info = vk::DescriptorPoolCreateInfo::default()
                .max_sets(1)
                .pool_sizes(&sizes);
            let descriptor_pool = device.create_descriptor_pool(&info, None)?;
            let info = vk::DescriptorSetAllocateInfo::default()
                .descriptor_pool(descriptor_pool)
                .set_layouts(&set_layouts);
            let set = device.allocate_descriptor_sets(&info)?[0];
            let target = work.as_ref().map_or(upload.buffer, |work| work.buffer);
            let info = [vk::DescriptorBufferInfo {
                buffer: target,
                offset: 0,
                range: vk::WHOLE_SIZE,
            }];
            let write = vk::WriteDescriptorSet::default()
                .dst_set(set)
                .descriptor_type(vk::DescriptorType::STORAGE_BUFFER)
                .buffer_info(&info);
            device.update_descriptor_sets(&[write], &[]);

            let info = vk::CommandPoolCreateInfo::default().queue_family_index(family);
            let command_pool = device.create_command_pool(&info, None)?;
            let info = vk::CommandBufferAllocateInfo::default()
                .command_pool(command_pool)
                .command_buffer_count(1);
            let commands = device.allocate_command_buffers(&info)?[0];
            device.begin_command_buffer(commands, &vk::CommandBufferBeginInfo::default())?;
            let copy = [vk::BufferCopy::default().size(byte_len)];
            let transfer = (
                vk::PipelineStageFlags::TRANSFER,
                vk::AccessFlags::TRANSFER_WRITE,
            );
            let kernel = vk::PipelineStageFlags::COMPUTE_SHADER;
            let kernel_access = vk::AccessFlags::SHADER_READ | vk::AccessFlags::SHADER_WRITE;
            if work.is_some() {
                device.cmd_copy_buffer(commands, upload.buffer, target, &copy);
                barrier(&device, commands, transfer, (kernel, kernel_access));
            }
            let compute = vk::PipelineBindPoint::COMPUTE;
            device.cmd_bind_pipeline(commands, compute, pipeline);
            device.cmd_bind_descriptor_sets(commands, compute, layout, 0, &[set], &[]);
            device.cmd_dispatch(commands, 1, 1, 1);
            let read = (
                vk::PipelineStageFlags::TRANSFER,
                vk::AccessFlags::TRANSFER_READ,
            );
            barrier(
                &device,
                commands,
                (kernel, vk::AccessFlags::SHADER_WRITE),
                read,
            );
            device.cmd_copy_buffer(commands, target, readback.buffer, &copy);
            let host_read = (vk::PipelineStageFlags::HOST, vk::AccessFlags::HOST_READ);
            barrier(&device, commands, transfer, host_read);
            device.end_command_buffer(commands)?;

            Ok(Self {
                device,
                instance,
                _entry: entry,
                queue,
                fence,
                commands,
                command_pool,
                descriptor_pool,
                set_layout,
                layout,
                pipeline,
                upload,
                work,
                readback,
                output: vec![0; usize::try_from(byte_len)?],
            })
        }
    }
}

type Scope = (vk::PipelineStageFlags, vk::AccessFlags);

unsafe fn barrier(device: &ash::Device, commands: vk::CommandBuffer, before: Scope, after: Scope) {
    let barrier = [vk::MemoryBarrier::default()
        .src_access_mask(before.1)
        .dst_access_mask(after.1)];
    let none = vk::DependencyFlags::empty();
    // SAFETY: passed on to the caller.
    unsafe { device.cmd_pipeline_barrier(commands, before.0, after.0, none, &barrier, &[], &[]) };
}

/// A buffer in the first memory type with `wanted`, preferably without `avoided`.
unsafe fn mapped(
    device: &ash::Device,
    types: &vk::PhysicalDeviceMemoryProperties,
    byte_len: u64,
    wanted: vk::MemoryPropertyFlags,
    avoided: vk::MemoryPropertyFlags,
) -> Result<Mapped, Box<dyn Error>> {
    let usage = vk::BufferUsageFlags::STORAGE_BUFFER
        | vk::BufferUsageFlags::TRANSFER_SRC
        | vk::BufferUsageFlags::TRANSFER_DST;
    // SAFETY: passed on to the caller.
    unsafe {
        let info = vk::BufferCreateInfo::default().size(byte_len).usage(usage);
        let buffer = device.create_buffer(&info, None)?;
        let requirements = device.get_buffer_memory_requirements(buffer);
        let fits = |index: &u32, avoided| {
            let flags = types.memory_types[*index as usize].property_flags;
            requirements.memory_type_bits & (1 << index) != 0
                && flags.contains(wanted)
                && !flags.intersects(avoided)
        };
        let all = 0..types.memory_type_count;
        let index = all
            .clone()
            .find(|index| fits(index, avoided))
            .or_else(|| {
                all.clone()
                    .find(|index| fits(index, vk::MemoryPropertyFlags::empty()))
            })
            .ok_or("no such memory")?;
        let info = vk::MemoryAllocateInfo::default()
            .allocation_size(requirements.size)
            .memory_type_index(index);
        let memory = device.allocate_memory(&info, None)?;
        device.bind_buffer_memory(buffer, memory, 0)?;
        let flags = types.memory_types[index as usize].property_flags;
        let pointer = if flags.contains(vk::MemoryPropertyFlags::HOST_VISIBLE) {
            device
                .map_memory(memory, 0, vk::WHOLE_SIZE, vk::MemoryMapFlags::empty())?
                .cast()
        } else {
            std::ptr::null_mut()
        };
        Ok(Mapped {
            buffer,
            memory,
            pointer,
        })
    }
}

/// The kernel without bounds checks, as a hand-written one would be.
fn spirv(kernel: &Kernel) -> Result<Vec<u32>, Box<dyn Error>> {
    let options = naga::back::spv::Options {
        flags: naga::back::spv::WriterFlags::empty(),
        force_loop_bounding: false,
        ..Default::default()
    };
    Ok(naga::back::spv::write_vec(
        kernel.module(),
        kernel.module_info(),
        &options,
        None,
    )?)
}

impl Drop for HandWritten {
    fn drop(&mut self) {
        // SAFETY: nothing is in flight between runs, and each object is destroyed once.
        unsafe {
            let device = &self.device;
            let buffers = [Some(&self.upload), self.work.as_ref(), Some(&self.readback)];
            for Mapped { buffer, memory, .. } in buffers.into_iter().flatten() {
                device.destroy_buffer(*buffer, None);
                device.free_memory(*memory, None);
            }
            device.destroy_fence(self.fence, None);
            device.destroy_command_pool(self.command_pool, None);
            device.destroy_descriptor_pool(self.descriptor_pool, None);
            device.destroy_pipeline(self.pipeline, None);
            device.destroy_pipeline_layout(self.layout, None);
            device.destroy_descriptor_set_layout(self.set_layout, None);
            device.destroy_device(None);
            self.instance.destroy_instance(None);
        }
    }
}
