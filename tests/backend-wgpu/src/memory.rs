//! `Maker` and `Staging`: buffers, counted as they are made, and those that the host maps.

use vyre_driver::BackendError;
use vyre_driver::program::{BufferDecl, Program};
use wgpu::BufferUsages;

use crate::error::{failed, no_buffer};
use crate::gpu::Gpu;

/// Makes buffers, and counts them.
pub(crate) struct Maker<'a> {
    pub(crate) gpu: &'a Gpu,
    pub(crate) bytes: u64,
    pub(crate) count: u32,
}

impl<'a> Maker<'a> {
    pub(crate) fn new(gpu: &'a Gpu) -> Self {
        Self {
            gpu,
            bytes: 0,
            count: 0,
        }
    }

    pub(crate) fn buffer(
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

    pub(crate) fn staging(
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
}

/// A buffer that the host can map, and what of the program's buffers lies where in it.
pub(crate) struct Staging {
    /// `None` if nothing crosses.
    pub(crate) buffer: Option<wgpu::Buffer>,
    pub(crate) parts: Vec<Part>,
}

pub(crate) struct Part {
    /// Place of the program's buffer.
    pub(crate) of: usize,
    pub(crate) offset: u64,
    pub(crate) byte_len: u64,
}

impl Staging {
    /// Writes what crosses, in order, and lets the device have it.
    pub(crate) fn write(&self, contents: &[&[u8]]) -> Result<(), BackendError> {
        let Some(buffer) = &self.buffer else {
            return Ok(());
        };
        for (part, bytes) in self.parts.iter().zip(contents) {
            let view = buffer.get_mapped_range_mut(part.offset..part.offset + part.byte_len);
            let mut view = view.map_err(|error| failed("get_mapped_range_mut", error))?;
            view.copy_from_slice(bytes);
        }
        buffer.unmap();
        Ok(())
    }

    /// Hands what crossed, in order, to `take`, and lets the device have the buffer again.
    pub(crate) fn read<T>(&self, take: impl FnOnce(&[&[u8]]) -> T) -> Result<T, BackendError> {
        let Some(buffer) = &self.buffer else {
            return Ok(take(&[]));
        };
        let view = buffer.get_mapped_range(..);
        let view = view.map_err(|error| failed("get_mapped_range", error))?;
        let place = |at: u64| usize::try_from(at).unwrap_or(usize::MAX);
        let parts = self.parts.iter();
        let parts = parts.map(|it| &view[place(it.offset)..place(it.offset + it.byte_len)]);
        let taken = take(&parts.collect::<Vec<_>>());
        drop(view);
        buffer.unmap();
        Ok(taken)
    }
}
