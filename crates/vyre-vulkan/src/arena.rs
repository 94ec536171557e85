//! The memory of a layout: device buffers, and staging where the host can't reach them.

use std::sync::Arc;

use ash::vk;
use vyre_core::error::BackendError;

use crate::barrier::Access;
use crate::device::Device;
use crate::layout::{Arena, Layout, Place};
use crate::memory::{Buffer, Location, Tally};
use crate::snapshot::DeviceSnapshot;

/// Device memory for all buffers of a layout.
pub(crate) struct ArenaMemory(Vec<ArenaBuffers>);

struct ArenaBuffers {
    ranges: Arena,
    buffer: Buffer,
    /// Where the host writes what is uploaded; `None` when it writes `buffer` itself.
    upload: Option<Buffer>,
    /// Where the host reads what comes back; `None` when it reads `buffer` itself.
    readback: Option<Buffer>,
}

/// Whether the host can write all device memory in place (resizable BAR, shared memory): then
/// uploads need no copy. A small mappable window is left to others.
fn writes_in_place(device: &DeviceSnapshot) -> bool {
    device.mappable_device_heap > 0 && device.mappable_device_heap >= device.info.memory_bytes
}

impl ArenaMemory {
    pub(crate) fn new(
        device: &Arc<Device>,
        name: &str,
        layout: &Layout,
        tally: &mut Tally,
    ) -> Result<Self, BackendError> {
        let arenas = layout.arenas.iter();
        arenas
            .map(|arena| ArenaBuffers::new(device, name, arena, tally))
            .collect::<Result<_, _>>()
            .map(Self)
    }

    /// The device buffer of an allocation.
    pub(crate) fn buffer(&self, arena: usize) -> vk::Buffer {
        self.0[arena].buffer.raw()
    }

    /// Whether uploads go through staging.
    pub(crate) fn is_staged(&self) -> bool {
        self.0.iter().any(|arena| arena.upload.is_some())
    }

    /// Frees staging for uploads, once all that is ever uploaded has arrived.
    pub(crate) fn drop_staging(&mut self) {
        self.0.iter_mut().for_each(|arena| arena.upload = None);
    }

    /// Puts uploaded bytes where the next run finds them.
    pub(crate) fn write(&mut self, place: Place, bytes: &[u8]) {
        let arena = &mut self.0[place.arena];
        match &mut arena.upload {
            Some(staging) => staging.write(place.offset - arena.ranges.upload.start, bytes),
            None => arena.buffer.write(place.offset, bytes),
        }
    }

    /// What the last run left in the `byte_len` bytes at `place`.
    pub(crate) fn read(&self, place: Place, byte_len: u64) -> &[u8] {
        let arena = &self.0[place.arena];
        let (source, start) = match &arena.readback {
            Some(staging) => (staging, place.offset - arena.ranges.readback.start),
            None => (&arena.buffer, place.offset),
        };
        source.read(start..start + byte_len)
    }

    /// Records uploads and clears; true when there were any.
    pub(crate) fn record_start(&self, device: &Device, commands: vk::CommandBuffer) -> bool {
        let mut any = false;
        for ArenaBuffers {
            ranges,
            buffer,
            upload,
            ..
        } in &self.0
        {
            if let Some(staging) = upload {
                let range = &ranges.upload;
                let copy = vk::BufferCopy::default()
                    .dst_offset(range.start)
                    .size(range.end - range.start);
                // SAFETY: the range lies inside both buffers, as the layout placed it.
                unsafe {
                    device
                        .raw()
                        .cmd_copy_buffer(commands, staging.raw(), buffer.raw(), &[copy])
                };
                any = true;
            }
            let range = &ranges.clear;
            if !range.is_empty() {
                // SAFETY: the range lies inside the buffer; offset and length are multiples of 4, as
                // all lengths of a program are.
                unsafe {
                    let size = range.end - range.start;
                    device
                        .raw()
                        .cmd_fill_buffer(commands, buffer.raw(), range.start, size, 0);
                }
                any = true;
            }
        }
        any
    }

    /// Records the way back of the results, and makes them available to the host.
    pub(crate) fn record_end(&self, device: &Device, commands: vk::CommandBuffer) {
        let work = Access::KERNEL.and(Access::TRANSFER);
        let staged = self
            .0
            .iter()
            .filter_map(|arena| Some((arena, arena.readback.as_ref()?)));
        if staged.clone().next().is_some() {
            device.cmd_barrier(commands, work, Access::TRANSFER);
        }
        for (ArenaBuffers { ranges, buffer, .. }, staging) in staged {
            let range = &ranges.readback;
            let copy = vk::BufferCopy::default()
                .src_offset(range.start)
                .size(range.end - range.start);
            // SAFETY: the range lies inside both buffers, as the layout placed it.
            unsafe {
                device
                    .raw()
                    .cmd_copy_buffer(commands, buffer.raw(), staging.raw(), &[copy])
            };
        }
        if self.0.iter().any(|arena| !arena.ranges.readback.is_empty()) {
            device.cmd_barrier(commands, work, Access::HOST_READ);
        }
    }
}

impl ArenaBuffers {
    fn new(
        device: &Arc<Device>,
        name: &str,
        ranges: &Arena,
        tally: &mut Tally,
    ) -> Result<Self, BackendError> {
        let in_place = writes_in_place(&device.snapshot);
        let location = if in_place && !ranges.upload.is_empty() {
            Location::DeviceMapped
        } else {
            Location::Device
        };
        let buffer = Buffer::new(device, name, ranges.byte_len, location, tally)?;
        let mut staging = |range: &std::ops::Range<u64>, needed: bool, location| {
            (needed && !range.is_empty())
                .then(|| Buffer::new(device, name, range.end - range.start, location, tally))
                .transpose()
        };
        let upload = staging(&ranges.upload, !in_place, Location::Upload)?;
        let readback = staging(
            &ranges.readback,
            !buffer.is_host_readable(),
            Location::Readback,
        )?;
        Ok(Self {
            ranges: ranges.clone(),
            buffer,
            upload,
            readback,
        })
    }
}
