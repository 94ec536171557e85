//! Resident buffers: copies, dispatches over rows of them, and what becomes of freed ones.

mod copies;
mod freed;
mod rows;
mod timeouts;

use vyre_core::backend::{ResidentRead, ResidentWrite, Resource, VyreBackend};

use crate::support::{bytes, words};

/// A resident buffer that holds `contents`.
pub(crate) fn resident(backend: &impl VyreBackend, contents: &[u32]) -> Resource {
    let bytes = bytes(contents);
    let resource = backend.allocate_resident(bytes.len() as u64).unwrap();
    let bytes = &bytes[..];
    let write = ResidentWrite {
        resource,
        offset: 0,
        bytes,
    };
    backend.upload_resident(&[write]).unwrap();
    resource
}

/// The first `len` words of a resident buffer.
pub(crate) fn contents(backend: &impl VyreBackend, resource: Resource, len: usize) -> Vec<u32> {
    let mut bytes = vec![0xee; 4 * len];
    let read = ResidentRead {
        resource,
        offset: 0,
        bytes: &mut bytes,
    };
    backend.download_resident(&mut [read]).unwrap();
    words(&bytes)
}
