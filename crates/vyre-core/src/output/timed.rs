//! The outputs of one dispatch together with what it took in time.

use super::OutputBuffers;

/// The outputs of one dispatch and its times, all in nanoseconds.
///
/// A time that the backend can't measure is `None`, never zero.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub struct TimedDispatchResult {
    /// One byte vector per declared output buffer.
    pub outputs: OutputBuffers,
    /// Host nanoseconds from the call until the outputs are there.
    pub wall_ns: u64,
    /// Nanoseconds of execution read from a timer of the device itself.
    pub device_ns: Option<u64>,
    /// Host nanoseconds until the work is submitted.
    pub enqueue_ns: Option<u64>,
    /// Host nanoseconds of waiting for the device and collecting the outputs.
    pub wait_ns: Option<u64>,
}
