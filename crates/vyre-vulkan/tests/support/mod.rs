//! Opens the backend under validation, and fails the test on the first message of the layers.

#![expect(
    clippy::print_stderr,
    clippy::panic,
    reason = "a test says that it was skipped, and fails where it may not be"
)]

use std::ops::Deref;

use vyre_core::error::BackendError;
use vyre_vulkan::{PipelineCacheLocation, Validation, ValidationLog, VulkanBackend, VulkanConfig};

/// A backend whose validation log must still be empty once it is gone.
pub(crate) struct Checked {
    backend: Option<VulkanBackend>,
    log: ValidationLog,
}

/// The settings of tests: the device of `VYRE_DEVICE`, under validation, with no files.
pub(crate) fn config() -> VulkanConfig {
    VulkanConfig::from_env()
        .with_validation(Validation::On)
        .with_pipeline_cache(PipelineCacheLocation::None)
}

/// Opens a backend for a test; `None`, said aloud, where there is no Vulkan and `CI` is not set.
pub(crate) fn open() -> Option<Checked> {
    open_with(&config())
}

/// The same with other settings.
pub(crate) fn open_with(config: &VulkanConfig) -> Option<Checked> {
    match VulkanBackend::open(config) {
        Ok(backend) => {
            let log = backend
                .validation_log()
                .unwrap_or_else(|| panic!("validation is off"));
            Some(Checked {
                backend: Some(backend),
                log,
            })
        }
        Err(
            error @ (BackendError::NoLoader { .. }
            | BackendError::NoDevice { .. }
            | BackendError::NotInstalled { .. }),
        ) if std::env::var_os("CI").is_none() => {
            eprintln!("SKIPPED, since Vulkan or its validation layer is missing: {error}");
            None
        }
        Err(error) => panic!("{error}"),
    }
}

impl Checked {
    /// Drops the backend before something that was made from it, then checks the log.
    #[allow(dead_code, reason = "not every test binary needs it")]
    pub(crate) fn close_before<T>(mut self, last: T) {
        drop(self.backend.take());
        drop(last);
    }
}

impl Deref for Checked {
    type Target = VulkanBackend;

    fn deref(&self) -> &VulkanBackend {
        self.backend
            .as_ref()
            .unwrap_or_else(|| panic!("the backend is gone"))
    }
}

impl Drop for Checked {
    fn drop(&mut self) {
        drop(self.backend.take());
        // A second panic would hide the first one.
        if !std::thread::panicking() {
            assert!(
                self.log.messages().is_empty(),
                "validation says:\n{}",
                self.log
            );
        }
    }
}

/// Little-endian bytes of words.
pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().copied().flat_map(u32::to_le_bytes).collect()
}

/// Words of little-endian bytes.
pub(crate) fn words(bytes: &[u8]) -> Vec<u32> {
    let (words, rest) = bytes.as_chunks();
    assert!(
        rest.is_empty(),
        "{} bytes are no whole number of words",
        bytes.len()
    );
    words.iter().copied().map(u32::from_le_bytes).collect()
}
