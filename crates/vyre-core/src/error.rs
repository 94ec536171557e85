//! The one error that crosses the backend border.

use std::error::Error;
use std::fmt;
use std::iter;
use std::time::Duration;

use crate::backend::{LaunchMode, Resource};
use crate::finding::{Finding, Listed};
use crate::kernel::{Capability, KernelError};
use crate::output::OutputError;
use crate::program::ProgramError;
use crate::switch::InvalidSwitch;

/// The cause below an error, kept as the layer that raised it had it.
pub type Cause = Box<dyn Error + Send + Sync>;

/// Why a backend could not do what it was asked.
///
/// `Debug` prints what `Display` prints and then the causes, since a `main` that returns the error
/// shows it by `Debug`.
#[derive(thiserror::Error)]
#[non_exhaustive]
pub enum BackendError {
    /// The WGSL is not a kernel that vyre runs.
    #[error(transparent)]
    InvalidKernel(#[from] KernelError),

    /// The program is not well formed.
    #[error(transparent)]
    InvalidProgram(#[from] ProgramError),

    /// The caller's output slots could not be replaced.
    #[error(transparent)]
    Outputs(#[from] OutputError),

    /// A dispatch got too few or too many inputs.
    #[error(
        "the program declares {expected} inputs but {given} were given; pass one slice for each \
         input and in-out buffer, in the order of their declaration"
    )]
    InputCount {
        /// Declared input and in-out buffers.
        expected: usize,
        /// Slices passed to the dispatch.
        given: usize,
    },

    /// An input is not as long as its buffer.
    #[error(
        "input {index} (`{name}`) is declared with {expected} bytes but {given} were given; pass \
         exactly the declared length"
    )]
    InputLength {
        /// Position among the inputs.
        index: usize,
        /// Name of the buffer.
        name: String,
        /// Declared bytes.
        expected: u64,
        /// Bytes passed to the dispatch.
        given: u64,
    },

    /// A handle of another backend.
    #[error("{resource} belongs to another backend; use handles only where they were allocated")]
    ForeignResource {
        /// The handle.
        resource: Resource,
    },

    /// A handle whose buffer was freed.
    #[error("{resource} was freed; allocate a new one")]
    StaleResource {
        /// The handle.
        resource: Resource,
    },

    /// A resident buffer of no length, or of a length that is not a whole number of words.
    #[error("a resident buffer of {byte_len} bytes; allocate a positive multiple of 4")]
    InvalidResidentLength {
        /// Bytes asked for.
        byte_len: u64,
    },

    /// A range outside a resident buffer, or one that the device can't copy.
    #[error(
        "bytes {offset}..{offset}+{byte_len} of {resource} are not a range of its {capacity} \
         bytes; offset and length are multiples of 4 inside the buffer"
    )]
    ResourceRange {
        /// The handle.
        resource: Resource,
        /// First byte of the range.
        offset: u64,
        /// Bytes in the range.
        byte_len: u64,
        /// Bytes of the buffer.
        capacity: u64,
    },

    /// A row without exactly one handle for each input and output buffer.
    #[error(
        "row {row} has {given} handles but the program declares {expected} input, output and \
         in-out buffers; pass one handle for each, in the order of their declaration"
    )]
    RowShape {
        /// Position of the row in the batch.
        row: usize,
        /// Declared input, output and in-out buffers.
        expected: usize,
        /// Handles in the row.
        given: usize,
    },

    /// A handle in a row whose buffer is not as long as the program's.
    #[error(
        "row {row} binds {resource} of {given} bytes to buffer `{name}` of {expected}; allocate \
         exactly the declared length"
    )]
    RowLength {
        /// Position of the row in the batch.
        row: usize,
        /// The handle.
        resource: Resource,
        /// Name of the program's buffer.
        name: String,
        /// Declared bytes.
        expected: u64,
        /// Bytes of the resident buffer.
        given: u64,
    },

    /// One buffer in two places of a batch, written in at least one of them.
    #[error(
        "{resource} is bound twice in one batch (rows {first} and {second}) and written; rows of \
         a batch are independent, so dispatch them one after the other"
    )]
    RowAlias {
        /// The handle.
        resource: Resource,
        /// The earlier row.
        first: usize,
        /// The later row, or the same one.
        second: usize,
    },

    /// The request is larger than the device allows.
    #[error(
        "{subject}: {requested} requested but the limit {limit} is {maximum}; make it smaller or \
         choose another device"
    )]
    LimitExceeded {
        /// What was to be made, with its name.
        subject: String,
        /// The limit, in the words of its specification.
        limit: &'static str,
        /// The figure asked for.
        requested: u64,
        /// The largest figure allowed.
        maximum: u64,
    },

    /// A kernel needs a capability that the device lacks.
    #[error("kernel `{kernel}` needs {capability}, which {device} lacks; choose another device")]
    MissingCapability {
        /// Entry point of the kernel.
        kernel: String,
        /// What it needs.
        capability: Capability,
        /// Name of the device.
        device: String,
    },

    /// The backend can't run programs in this launch mode.
    #[error("backend `{backend}` can't launch in {mode:?} mode: {reason}; use LaunchMode::Auto")]
    UnsupportedLaunchMode {
        /// The backend.
        backend: String,
        /// The mode asked for.
        mode: LaunchMode,
        /// Why not.
        reason: &'static str,
    },

    /// The backend doesn't offer an optional part of the trait.
    #[error("backend `{backend}` has no {operation}; {remedy}")]
    UnsupportedOperation {
        /// The backend.
        backend: String,
        /// The part of the trait.
        operation: &'static str,
        /// What the caller or the backend's author can do.
        remedy: &'static str,
    },

    /// No library of the backend's driver on this machine.
    #[error(
        "no Vulkan loader on this machine; install it and a driver (Debian: apt-get install \
         libvulkan1 mesa-vulkan-drivers), in a checkout of vyre by `cargo xtask setup --install`"
    )]
    NoLoader {
        /// What the dynamic linker said.
        source: Cause,
    },

    /// A layer or extension that was asked for is not installed.
    #[error("{name} is not installed; {remedy}")]
    NotInstalled {
        /// The layer or extension.
        name: &'static str,
        /// How to get it.
        remedy: &'static str,
    },

    /// No backend of this name.
    #[error("there is no backend `{wanted}`; choose one of: {}", .available.join(", "))]
    UnknownBackend {
        /// The name.
        wanted: String,
        /// The names that there are.
        available: Vec<String>,
    },

    /// Devices, but not the one that was asked for.
    #[error(
        "no device has {wanted}; {found}; choose one of these by its index or a part of its name, or \
         none for the best"
    )]
    UnknownDevice {
        /// What was asked for.
        wanted: String,
        /// What is there, and why it can't be used where it can't.
        found: String,
    },

    /// A variable of the environment is neither on nor off.
    #[error(transparent)]
    InvalidSwitch(#[from] InvalidSwitch),

    /// The backend finds no device that it could run on.
    #[error("no device for {wanted}; {found}; {remedy}")]
    NoDevice {
        /// What was asked for.
        wanted: String,
        /// What is there and why it does not fit.
        found: String,
        /// What to do.
        remedy: &'static str,
    },

    /// The device is gone, and with it everything on it.
    #[error("the device was lost in {call}; open the backend again")]
    DeviceLost {
        /// The driver call that noticed.
        call: &'static str,
        /// The driver's own error.
        source: Cause,
    },

    /// The work did not end in time. It may still be running; its results are lost.
    #[error(
        "`{label}` did not end within {limit:?} (waited {waited:?}); raise the time-out or make \
         the program smaller"
    )]
    Timeout {
        /// Label of the dispatch, or else of the program.
        label: String,
        /// The time-out of the dispatch.
        limit: Duration,
        /// Time really waited.
        waited: Duration,
    },

    /// The device's memory is used up.
    #[error(
        "out of device memory for {subject}: {requested} bytes requested{}; free resident buffers or \
         make the program smaller",
        .available.map_or(String::new(), |it| format!(", about {it} of the heap not taken by this backend"))
    )]
    OutOfDeviceMemory {
        /// What the memory was for.
        subject: String,
        /// Bytes asked for.
        requested: u64,
        /// Bytes of the heap that this backend has not taken, if it knows; others may have.
        available: Option<u64>,
        /// The driver's or allocator's own error.
        source: Cause,
    },

    /// The host's memory is used up.
    #[error("out of host memory in {call}; end other processes or make the program smaller")]
    OutOfHostMemory {
        /// The driver call that failed.
        call: &'static str,
        /// The driver's own error.
        source: Cause,
    },

    /// A kernel could not be translated for the device.
    #[error("kernel `{kernel}` could not be translated for the device; see the cause")]
    Translation {
        /// Entry point of the kernel.
        kernel: String,
        /// The translator's own error.
        source: Cause,
    },

    /// The driver refused a kernel; the device and all other programs go on.
    #[error("the driver refused kernel `{kernel}` with code {code}; make the kernel smaller")]
    PipelineRefused {
        /// Entry point of the kernel.
        kernel: String,
        /// The driver's code (`VkResult`).
        code: i32,
        /// The driver's own error.
        source: Cause,
    },

    /// Another driver call failed.
    #[error(
        "{call} failed with code {code}; look the code up among the values of VkResult, update the \
         driver or choose another device"
    )]
    DriverCall {
        /// The driver call.
        call: &'static str,
        /// The driver's code (`VkResult`).
        code: i32,
        /// The driver's own error.
        source: Cause,
    },

    /// Something failed below a backend that calls no driver itself.
    #[error("backend `{backend}` failed in {call}; see the cause, or choose another backend")]
    BackendCall {
        /// The backend.
        backend: String,
        /// What it called.
        call: &'static str,
        /// The error of what it called.
        source: Cause,
    },

    /// A checking backend found faults of a kernel; nothing of the dispatch is visible.
    #[error("`{label}` is faulty: {}", Listed { findings, count: *count })]
    Faults {
        /// Label of the dispatch, or else of the program.
        label: String,
        /// The first of what was found.
        findings: Vec<Finding>,
        /// How much was found in all.
        count: u64,
    },
}

impl fmt::Debug for BackendError {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{self}")?;
        iter::successors(self.source(), |&cause| cause.source())
            .try_for_each(|cause| write!(f, ": {cause}"))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[derive(Debug, thiserror::Error)]
    #[error("the outer cause")]
    struct Outer(#[source] Inner);

    #[derive(Debug, thiserror::Error)]
    #[error("the inner cause")]
    struct Inner;

    #[test]
    fn debug_is_the_message_and_its_causes() {
        let error = BackendError::DeviceLost {
            call: "vkQueueSubmit",
            source: Outer(Inner).into(),
        };
        let debug = format!("{error:?}");
        assert_eq!(debug, format!("{error}: the outer cause: the inner cause"));
    }

    #[test]
    fn debug_without_a_cause_is_the_message() {
        let error = BackendError::InputCount {
            expected: 2,
            given: 1,
        };
        assert_eq!(format!("{error:?}"), error.to_string());
    }
}
