//! What a backend says about its device.

use super::Limits;
use crate::error::BackendError;
use crate::kernel::{Capability, Kernel};
use crate::program::Program;

/// The kind of a device.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum DeviceKind {
    /// A GPU with memory of its own.
    DiscreteGpu,
    /// A GPU that shares the host's memory.
    IntegratedGpu,
    /// A GPU handed through by a virtual machine.
    VirtualGpu,
    /// The host's processor.
    Cpu,
    /// Anything else.
    Other,
}

/// The device behind a backend.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct DeviceInfo {
    /// Name of the device, as its driver gives it.
    pub name: String,
    /// Name and version of the driver.
    pub driver: String,
    /// Kind of the device.
    pub kind: DeviceKind,
    /// Largest sizes.
    pub limits: Limits,
    /// What kernels may use beyond the basics.
    pub capabilities: Vec<Capability>,
    /// Bytes of the device's largest memory heap.
    pub memory_bytes: u64,
    /// Why this device was taken though another backend is preferred: a line for each backend that
    /// was passed over. `None` for what was preferred or asked for.
    pub fallback: Option<String>,
}

impl DeviceInfo {
    /// A device of this name and kind with default limits, no capabilities and no known memory size.
    pub fn new(name: impl Into<String>, kind: DeviceKind) -> Self {
        Self {
            name: name.into(),
            driver: String::new(),
            kind,
            limits: Limits::default(),
            capabilities: Vec::new(),
            memory_bytes: 0,
            fallback: None,
        }
    }

    /// Checks a program against the [`limits`](Self::limits) and [`capabilities`](Self::capabilities)
    /// of this device; a backend does so before it runs one.
    ///
    /// # Errors
    /// [`BackendError::InvalidProgram`] or [`BackendError::MissingCapability`].
    pub fn check_program(&self, program: &Program) -> Result<(), BackendError> {
        program.check_limits(&self.limits)?;
        let mut kernels = program.kernels().iter();
        kernels.try_for_each(|kernel| self.check_kernel(kernel))
    }

    /// Checks a kernel against the [`capabilities`](Self::capabilities) of this device.
    ///
    /// # Errors
    /// [`BackendError::MissingCapability`].
    pub fn check_kernel(&self, kernel: &Kernel) -> Result<(), BackendError> {
        let lacks = |needed: &&Capability| !self.capabilities.contains(needed);
        match kernel.capabilities().iter().find(lacks) {
            None => Ok(()),
            Some(&capability) => Err(BackendError::MissingCapability {
                kernel: kernel.entry_point().to_owned(),
                capability,
                device: self.name.clone(),
            }),
        }
    }
}
