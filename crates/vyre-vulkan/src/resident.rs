//! Resident buffers: their table, and copies to and from them.

use std::collections::HashSet;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use ash::vk;
use vyre_core::backend::{
    ResidentRead, ResidentWrite, Resource, ResourceTable, check_resident_length, check_rows,
    resident_range,
};
use vyre_core::error::BackendError;
use vyre_core::program::Program;

use crate::barrier::Access;
use crate::device::Device;
use crate::execution::Rows;
use crate::memory::{Buffer, Location, Tally};
use crate::transfer::Transfers;

/// The resident buffers of one backend.
#[derive(Default)]
pub(crate) struct Residents(Mutex<ResourceTable<Resident>>);

struct Resident {
    buffer: Arc<Buffer>,
    byte_len: u64,
}

/// A range of a resident buffer, and where it begins in staging.
struct Piece {
    buffer: Arc<Buffer>,
    offset: u64,
    byte_len: u64,
    staged: u64,
}

impl Residents {
    /// Allocates `byte_len` zeros.
    pub(crate) fn allocate(
        &self,
        device: &Arc<Device>,
        transfers: &Transfers,
        byte_len: u64,
    ) -> Result<Resource, BackendError> {
        check_resident_length(byte_len)?;
        let tally = &mut Tally::default();
        let buffer = Buffer::new(device, "resident buffer", byte_len, Location::Device, tally)?;
        transfers.run(|device, commands| {
            // SAFETY: the buffer is alive and its length a multiple of 4.
            unsafe {
                device
                    .raw()
                    .cmd_fill_buffer(commands, buffer.raw(), 0, byte_len, 0)
            };
        })?;
        self.table().insert(Resident {
            buffer: Arc::new(buffer),
            byte_len,
        })
    }

    pub(crate) fn free(&self, resource: Resource) -> Result<(), BackendError> {
        let resident = self.table().remove(resource);
        resident.map(drop)
    }

    pub(crate) fn byte_len(&self, resource: Resource) -> Result<u64, BackendError> {
        Ok(self.table().get(resource)?.byte_len)
    }

    /// Writes a batch of ranges, in order.
    pub(crate) fn upload(
        &self,
        transfers: &Transfers,
        writes: &[ResidentWrite<'_>],
    ) -> Result<(), BackendError> {
        let ranges = writes
            .iter()
            .map(|write| (write.resource, write.offset, write.bytes.len()));
        let pieces = self.pieces(ranges)?;
        let Some(byte_len) = staging_len(&pieces) else {
            return Ok(());
        };
        let fill = |staging: &mut Buffer| {
            for (piece, write) in pieces.iter().zip(writes) {
                staging.write(piece.staged, write.bytes);
            }
        };
        transfers.upload(byte_len, fill, |device, commands, staging| {
            let mut written = HashSet::new();
            for piece in pieces.iter().filter(|piece| piece.byte_len > 0) {
                let target = piece.buffer.raw();
                // Two writes to one buffer may overlap, and the later one counts.
                if !written.insert(target) {
                    device.cmd_barrier(commands, Access::TRANSFER, Access::TRANSFER);
                    written.clear();
                    written.insert(target);
                }
                let copy = vk::BufferCopy::default()
                    .src_offset(piece.staged)
                    .dst_offset(piece.offset)
                    .size(piece.byte_len);
                // SAFETY: the range lies inside the resident buffer, and staging holds all pieces.
                unsafe {
                    device
                        .raw()
                        .cmd_copy_buffer(commands, staging, target, &[copy])
                };
            }
        })
    }

    /// Reads a batch of ranges.
    pub(crate) fn download(
        &self,
        transfers: &Transfers,
        reads: &mut [ResidentRead<'_>],
    ) -> Result<(), BackendError> {
        let ranges = reads
            .iter()
            .map(|read| (read.resource, read.offset, read.bytes.len()));
        let pieces = self.pieces(ranges)?;
        let Some(byte_len) = staging_len(&pieces) else {
            return Ok(());
        };
        let copies = |device: &Device, commands: vk::CommandBuffer, staging: vk::Buffer| {
            for piece in pieces.iter().filter(|piece| piece.byte_len > 0) {
                let copy = vk::BufferCopy::default()
                    .src_offset(piece.offset)
                    .dst_offset(piece.staged)
                    .size(piece.byte_len);
                let source = piece.buffer.raw();
                // SAFETY: the range lies inside the resident buffer, and staging holds all pieces.
                unsafe {
                    device
                        .raw()
                        .cmd_copy_buffer(commands, source, staging, &[copy])
                };
            }
        };
        transfers.download(byte_len, copies, |staging| {
            for (piece, read) in pieces.iter().zip(reads) {
                read.bytes
                    .copy_from_slice(staging.read(piece.staged..piece.staged + piece.byte_len));
            }
        })
    }

    /// Checks that no handle of these rows has been freed.
    pub(crate) fn check_live(&self, rows: &[&[Resource]]) -> Result<(), BackendError> {
        let table = self.table();
        let mut handles = rows.iter().copied().flatten();
        handles.try_for_each(|&handle| table.get(handle).map(drop))
    }

    /// Looks up the buffers of all rows, after checking them against the program.
    pub(crate) fn rows(
        &self,
        program: &Program,
        rows: &[&[Resource]],
    ) -> Result<Rows, BackendError> {
        let table = self.table();
        check_rows(program, rows, |resource| Ok(table.get(resource)?.byte_len))?;
        let handles: Vec<Resource> = rows.iter().copied().flatten().copied().collect();
        let buffers = handles
            .iter()
            .map(|&handle| Ok(Arc::clone(&table.get(handle)?.buffer)));
        let buffers = buffers.collect::<Result<_, BackendError>>()?;
        Ok(Rows {
            handles,
            buffers,
            count: rows.len(),
        })
    }

    /// Checks ranges and lays them out one after the other in staging.
    fn pieces(
        &self,
        ranges: impl Iterator<Item = (Resource, u64, usize)>,
    ) -> Result<Vec<Piece>, BackendError> {
        let table = self.table();
        let mut staged = 0;
        ranges
            .map(|(resource, offset, byte_len)| {
                let resident = table.get(resource)?;
                resident_range(resource, offset, byte_len, resident.byte_len)?;
                let buffer = Arc::clone(&resident.buffer);
                let piece = Piece {
                    buffer,
                    offset,
                    staged,
                    byte_len: byte_len as u64,
                };
                staged += piece.byte_len;
                Ok(piece)
            })
            .collect()
    }

    fn table(&self) -> MutexGuard<'_, ResourceTable<Resident>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}

/// Bytes of staging for all pieces; `None` when there is nothing to copy.
fn staging_len(pieces: &[Piece]) -> Option<u64> {
    pieces
        .last()
        .map(|last| last.staged + last.byte_len)
        .filter(|byte_len| *byte_len > 0)
}
