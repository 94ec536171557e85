//! Errors of wgpu as errors of vyre.

use vyre_driver::BackendError;
use vyre_driver::error::Cause;

/// Name of the backend in errors and registries.
pub(crate) const NAME: &str = "wgpu";

/// A call that wgpu refused.
pub(crate) fn failed(call: &'static str, source: impl Into<Cause>) -> BackendError {
    BackendError::BackendCall {
        backend: NAME.to_owned(),
        call,
        source: source.into(),
    }
}

/// A kernel that wgpu refused, for its source or for what the device can't bind.
pub(crate) fn refused(kernel: &str, error: wgpu::Error) -> BackendError {
    BackendError::Translation {
        kernel: kernel.to_owned(),
        source: error.into(),
    }
}

/// A buffer that wgpu did not make.
pub(crate) fn no_buffer(subject: &str, byte_len: u64, error: wgpu::Error) -> BackendError {
    match error {
        wgpu::Error::OutOfMemory { source } => BackendError::OutOfDeviceMemory {
            subject: subject.to_owned(),
            requested: byte_len,
            available: None,
            source,
        },
        error => failed("create_buffer", error),
    }
}
