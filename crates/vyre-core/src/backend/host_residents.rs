//! Resident buffers in host memory, for backends without device memory of their own.

use std::ops::Range;
use std::sync::{Mutex, MutexGuard, PoisonError};

use super::{DispatchConfig, DispatchReport, Resource, ResourceTable, VyreBackend, check_rows};
use crate::error::BackendError;
use crate::program::Program;

/// Bytes to write into a resident buffer.
#[derive(Clone, Copy, Debug)]
pub struct ResidentWrite<'a> {
    /// The buffer.
    pub resource: Resource,
    /// First byte to write, a multiple of 4.
    pub offset: u64,
    /// What to write; its length is a multiple of 4.
    pub bytes: &'a [u8],
}

/// Bytes to read from a resident buffer.
#[derive(Debug)]
pub struct ResidentRead<'a> {
    /// The buffer.
    pub resource: Resource,
    /// First byte to read, a multiple of 4.
    pub offset: u64,
    /// Where to put the bytes; its length is a multiple of 4.
    pub bytes: &'a mut [u8],
}

/// The range of `byte_len` bytes at `offset` in a resident buffer of `capacity` bytes.
///
/// # Errors
/// [`BackendError::ResourceRange`] when it is not inside the buffer or not a whole number of words.
pub fn resident_range(
    resource: Resource,
    offset: u64,
    byte_len: usize,
    capacity: u64,
) -> Result<Range<usize>, BackendError> {
    let start = usize::try_from(offset)
        .ok()
        .filter(|start| start.is_multiple_of(4) && byte_len.is_multiple_of(4));
    start
        .and_then(|start| Some(start..start.checked_add(byte_len)?))
        .filter(|range| range.end as u64 <= capacity)
        .ok_or(BackendError::ResourceRange {
            resource,
            offset,
            byte_len: byte_len as u64,
            capacity,
        })
}

/// Checks the length of a resident buffer to be allocated, in bytes.
///
/// # Errors
/// [`BackendError::InvalidResidentLength`] when it is 0 or not a multiple of 4.
pub fn check_resident_length(byte_len: u64) -> Result<(), BackendError> {
    if byte_len == 0 || !byte_len.is_multiple_of(4) {
        return Err(BackendError::InvalidResidentLength { byte_len });
    }
    Ok(())
}

/// A store of resident buffers in host memory.
///
/// A backend that owns one and returns it from [`VyreBackend::host_residents`] has resident
/// buffers and rows, each row run by [`VyreBackend::dispatch`].
#[derive(Debug, Default)]
pub struct HostResidents {
    table: Mutex<ResourceTable<Vec<u8>>>,
}

impl HostResidents {
    /// An empty store.
    #[must_use]
    pub fn new() -> Self {
        Self::default()
    }

    fn lock(&self) -> MutexGuard<'_, ResourceTable<Vec<u8>>> {
        // Each critical section leaves the table valid, so a panic elsewhere spoils nothing.
        self.table.lock().unwrap_or_else(PoisonError::into_inner)
    }

    pub(super) fn allocate(&self, byte_len: u64) -> Result<Resource, BackendError> {
        check_resident_length(byte_len)?;
        let too_large = |source: crate::error::Cause| BackendError::OutOfHostMemory {
            call: "allocate_resident",
            source,
        };
        let len = usize::try_from(byte_len).map_err(|error| too_large(error.into()))?;
        let mut bytes = Vec::new();
        bytes
            .try_reserve_exact(len)
            .map_err(|error| too_large(error.into()))?;
        bytes.resize(len, 0);
        self.lock().insert(bytes)
    }

    pub(super) fn byte_len(&self, resource: Resource) -> Result<u64, BackendError> {
        Ok(self.lock().get(resource)?.len() as u64)
    }

    pub(super) fn free(&self, resource: Resource) -> Result<(), BackendError> {
        self.lock().remove(resource).map(drop)
    }

    pub(super) fn upload(&self, writes: &[ResidentWrite<'_>]) -> Result<(), BackendError> {
        let mut table = self.lock();
        let range = |table: &ResourceTable<Vec<u8>>, write: &ResidentWrite<'_>| {
            let capacity = table.get(write.resource)?.len() as u64;
            resident_range(write.resource, write.offset, write.bytes.len(), capacity)
        };
        // All ranges are checked before the first byte is written: a batch happens whole or not.
        for write in writes {
            range(&table, write)?;
        }
        for write in writes {
            let range = range(&table, write)?;
            table.get_mut(write.resource)?[range].copy_from_slice(write.bytes);
        }
        Ok(())
    }

    pub(super) fn download(&self, reads: &mut [ResidentRead<'_>]) -> Result<(), BackendError> {
        let table = self.lock();
        for read in reads {
            let bytes = table.get(read.resource)?;
            let range = resident_range(
                read.resource,
                read.offset,
                read.bytes.len(),
                bytes.len() as u64,
            )?;
            read.bytes.copy_from_slice(&bytes[range]);
        }
        Ok(())
    }

    /// Runs the rows one after the other through [`VyreBackend::dispatch_reported`].
    pub(super) fn dispatch<B: VyreBackend + ?Sized>(
        &self,
        backend: &B,
        program: &Program,
        rows: &[&[Resource]],
        config: &DispatchConfig,
    ) -> Result<DispatchReport, BackendError> {
        check_rows(program, rows, |resource| self.byte_len(resource))?;
        let mut total = DispatchReport::default();
        let mut outputs = Vec::new();
        for handles in rows {
            let bound = || {
                program
                    .row_buffers()
                    .map(|(_, decl)| decl)
                    .zip(handles.iter().copied())
            };
            let inputs = {
                let table = self.lock();
                let given = bound().filter(|(decl, _)| decl.is_input());
                given
                    .map(|(_, handle)| table.get(handle).cloned())
                    .collect::<Result<Vec<_>, _>>()?
            };
            let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
            let report = backend.dispatch_reported(program, &inputs, config, &mut outputs)?;
            let mut table = self.lock();
            for ((_, handle), bytes) in bound().filter(|(decl, _)| decl.is_output()).zip(&outputs) {
                table.get_mut(handle)?.copy_from_slice(bytes);
            }
            total.add_row(&report, handles.len());
        }
        Ok(total)
    }
}
