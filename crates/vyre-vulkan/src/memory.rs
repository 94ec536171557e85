//! Buffers and the memory behind them, counted where they are allocated.

#![expect(clippy::disallowed_methods, reason = "memory has its one home here")]

use std::ops::Range;
use std::sync::{Arc, PoisonError};

use ash::vk;
use gpu_allocator::vulkan::{Allocation, AllocationCreateDesc, AllocationScheme};
use gpu_allocator::{AllocationError, MemoryLocation};
use vyre_core::error::BackendError;

use crate::device::Device;
use crate::error::driver;

/// What one call has cost so far.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Tally {
    /// Bytes of device memory taken.
    pub(crate) bytes: u64,
    /// Buffers that they were taken for.
    pub(crate) events: u32,
    /// Bytes of constants sent to the device.
    pub(crate) constant_bytes: u64,
    /// Times that the host waited for the device.
    pub(crate) waits: u32,
}

/// Where a buffer lives.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Location {
    /// Device memory that the host need not reach.
    Device,
    /// Device memory that the host writes in place.
    DeviceMapped,
    /// Host memory that the host writes and the device copies from.
    Upload,
    /// Host memory, cached where possible, that the device copies to and the host reads.
    Readback,
}

impl Location {
    fn of_allocator(self) -> MemoryLocation {
        match self {
            Self::Device => MemoryLocation::GpuOnly,
            Self::DeviceMapped => MemoryLocation::CpuToGpu,
            // `CpuToGpu` would take up the mappable part of the device's memory.
            Self::Upload | Self::Readback => MemoryLocation::GpuToCpu,
        }
    }
}

/// A buffer with memory of its own.
pub(crate) struct Buffer {
    raw: vk::Buffer,
    /// `None` only while the buffer is being made or dropped.
    allocation: Option<Allocation>,
    device: Arc<Device>,
}

impl Buffer {
    pub(crate) fn new(
        device: &Arc<Device>,
        name: &str,
        byte_len: u64,
        location: Location,
        tally: &mut Tally,
    ) -> Result<Self, BackendError> {
        let maximum = device.snapshot.max_allocation;
        if byte_len > maximum {
            return Err(BackendError::LimitExceeded {
                subject: format!("{name}: bytes of one buffer"),
                limit: "maxMemoryAllocationSize",
                requested: byte_len,
                maximum,
            });
        }
        let info = vk::BufferCreateInfo::default()
            .size(byte_len)
            .usage(
                vk::BufferUsageFlags::STORAGE_BUFFER
                    | vk::BufferUsageFlags::UNIFORM_BUFFER
                    | vk::BufferUsageFlags::TRANSFER_SRC
                    | vk::BufferUsageFlags::TRANSFER_DST,
            )
            .sharing_mode(vk::SharingMode::EXCLUSIVE);
        // SAFETY: the size is positive and within the device's limit.
        let raw =
            unsafe { device.raw().create_buffer(&info, None) }.map_err(driver("vkCreateBuffer"))?;
        device.set_name(raw, name);
        let mut buffer = Self {
            raw,
            allocation: None,
            device: Arc::clone(device),
        };
        buffer.allocate(name, location)?;
        buffer.bind()?;
        tally.bytes = tally.bytes.saturating_add(byte_len);
        tally.events = tally.events.saturating_add(1);
        Ok(buffer)
    }

    fn allocate(&mut self, name: &str, location: Location) -> Result<(), BackendError> {
        // SAFETY: the buffer is alive.
        let requirements = unsafe { self.device.raw().get_buffer_memory_requirements(self.raw) };
        let mut allocator = self
            .device
            .allocator
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        let allocated = allocator.allocate(&AllocationCreateDesc {
            name,
            requirements,
            location: location.of_allocator(),
            linear: true,
            allocation_scheme: AllocationScheme::GpuAllocatorManaged,
        });
        let allocated = match allocated {
            // The allocator falls back to host memory, where kernels would crawl.
            Ok(allocation)
                if location == Location::DeviceMapped && !is_device_local(&allocation) =>
            {
                allocator
                    .free(allocation)
                    .and(Err(AllocationError::OutOfMemory))
            }
            other => other,
        };
        let taken = allocator.capacity();
        drop(allocator);
        self.allocation = Some(allocated.map_err(|error| self.out_of_memory(name, error, taken))?);
        Ok(())
    }

    fn out_of_memory(&self, name: &str, error: AllocationError, taken: u64) -> BackendError {
        // SAFETY: the buffer is alive.
        let requirements = unsafe { self.device.raw().get_buffer_memory_requirements(self.raw) };
        match error {
            AllocationError::OutOfMemory => BackendError::OutOfDeviceMemory {
                subject: name.to_owned(),
                requested: requirements.size,
                available: Some(self.device.snapshot.info.memory_bytes.saturating_sub(taken)),
                source: error.into(),
            },
            error => BackendError::DriverCall {
                call: "allocation of device memory",
                code: vk::Result::ERROR_UNKNOWN.as_raw(),
                source: error.into(),
            },
        }
    }

    fn bind(&self) -> Result<(), BackendError> {
        let Some(allocation) = &self.allocation else {
            return Ok(());
        };
        // SAFETY: the buffer is new and unbound; the allocation was made for its requirements and
        // belongs to it alone.
        unsafe {
            self.device
                .raw()
                .bind_buffer_memory(self.raw, allocation.memory(), allocation.offset())
        }
        .map_err(driver("vkBindBufferMemory"))
    }

    pub(crate) fn raw(&self) -> vk::Buffer {
        self.raw
    }

    /// Whether the host reads this memory in place, as fast as its own.
    pub(crate) fn is_host_readable(&self) -> bool {
        self.allocation.as_ref().is_some_and(|allocation| {
            let flags = allocation.memory_properties();
            flags.contains(
                vk::MemoryPropertyFlags::HOST_VISIBLE
                    | vk::MemoryPropertyFlags::HOST_COHERENT
                    | vk::MemoryPropertyFlags::HOST_CACHED,
            )
        })
    }

    /// Writes `bytes` at `offset`; the device must not be using the range.
    ///
    /// # Panics
    /// When the range is outside mapped memory, which the layout of an execution rules out.
    pub(crate) fn write(&mut self, offset: u64, bytes: &[u8]) {
        let mapped = self
            .allocation
            .as_mut()
            .and_then(Allocation::mapped_slice_mut);
        mapped.unwrap_or_default()[host_range(offset..offset + bytes.len() as u64)]
            .copy_from_slice(bytes);
    }

    /// The bytes of `range`; the device must not be writing them.
    ///
    /// # Panics
    /// When the range is outside mapped memory, which the layout of an execution rules out.
    pub(crate) fn read(&self, range: Range<u64>) -> &[u8] {
        let mapped = self.allocation.as_ref().and_then(Allocation::mapped_slice);
        &mapped.unwrap_or_default()[host_range(range)]
    }
}

fn is_device_local(allocation: &Allocation) -> bool {
    allocation
        .memory_properties()
        .contains(vk::MemoryPropertyFlags::DEVICE_LOCAL)
}

/// Memory that is mapped has addresses, so its offsets fit.
#[expect(
    clippy::cast_possible_truncation,
    reason = "offsets into mapped memory fit an address"
)]
fn host_range(range: Range<u64>) -> Range<usize> {
    range.start as usize..range.end as usize
}

impl Drop for Buffer {
    fn drop(&mut self) {
        // SAFETY: the owner has seen all work that uses the buffer end; it is destroyed once.
        unsafe { self.device.raw().destroy_buffer(self.raw, None) };
        if let Some(allocation) = self.allocation.take() {
            let mut allocator = self
                .device
                .allocator
                .lock()
                .unwrap_or_else(PoisonError::into_inner);
            if let Err(error) = allocator.free(allocation) {
                tracing::error!(%error, "device memory could not be freed");
            }
        }
    }
}
