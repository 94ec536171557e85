//! Replacing the caller's output buffers, by incoming vectors or straight from borrowed bytes.

use std::collections::TryReserveError;

use super::plan::{Incoming, commit, fits, plan, reserve_slots};
use super::{OutputBuffers, OutputError, OutputReplacementStats, OutputSlotStats};

/// Replaces the contents of `outputs` by `incoming`, keeping each slot's allocation where the
/// incoming bytes fit it.
///
/// # Panics
///
/// With the message of the [`OutputError`] that
/// [`try_replace_output_buffers_preserving_slots`] returns.
#[track_caller]
pub fn replace_output_buffers_preserving_slots(
    incoming: OutputBuffers,
    outputs: &mut OutputBuffers,
) {
    replace_output_buffers_preserving_slots_with_memory_stats(incoming, outputs);
}

/// Like [`replace_output_buffers_preserving_slots`], and counts the slots.
///
/// # Panics
///
/// With the message of the [`OutputError`] that
/// [`try_replace_output_buffers_preserving_slots_with_stats`] returns.
#[track_caller]
pub fn replace_output_buffers_preserving_slots_with_stats(
    incoming: OutputBuffers,
    outputs: &mut OutputBuffers,
) -> OutputSlotStats {
    replace_output_buffers_preserving_slots_with_memory_stats(incoming, outputs).slots
}

/// Like [`replace_output_buffers_preserving_slots`], and counts the slots and the bytes.
///
/// # Panics
///
/// With the message of the [`OutputError`] that
/// [`try_replace_output_buffers_preserving_slots_with_memory_stats`] returns.
#[track_caller]
#[expect(
    clippy::panic,
    reason = "the documented contract of the variants without `try_`"
)]
pub fn replace_output_buffers_preserving_slots_with_memory_stats(
    incoming: OutputBuffers,
    outputs: &mut OutputBuffers,
) -> OutputReplacementStats {
    match try_replace_output_buffers_preserving_slots_with_memory_stats(incoming, outputs) {
        Ok(stats) => stats,
        Err(error) => panic!("{error}"),
    }
}

/// Replaces the contents of `outputs` by `incoming`, keeping each slot's allocation where the
/// incoming bytes fit it, or leaves `outputs` as they are.
///
/// # Errors
///
/// When a sum of byte lengths or capacities overflows, or when there is no memory for the list of
/// slots.
pub fn try_replace_output_buffers_preserving_slots(
    incoming: OutputBuffers,
    outputs: &mut OutputBuffers,
) -> Result<(), OutputError> {
    try_replace_output_buffers_preserving_slots_with_memory_stats(incoming, outputs).map(|_| ())
}

/// Like [`try_replace_output_buffers_preserving_slots`], and counts the slots.
///
/// # Errors
///
/// Those of [`try_replace_output_buffers_preserving_slots`].
pub fn try_replace_output_buffers_preserving_slots_with_stats(
    incoming: OutputBuffers,
    outputs: &mut OutputBuffers,
) -> Result<OutputSlotStats, OutputError> {
    try_replace_output_buffers_preserving_slots_with_memory_stats(incoming, outputs)
        .map(|stats| stats.slots)
}

/// Like [`try_replace_output_buffers_preserving_slots`], and counts the slots and the bytes.
///
/// # Errors
///
/// Those of [`try_replace_output_buffers_preserving_slots`].
pub fn try_replace_output_buffers_preserving_slots_with_memory_stats(
    incoming: OutputBuffers,
    outputs: &mut OutputBuffers,
) -> Result<OutputReplacementStats, OutputError> {
    let figures = incoming.iter().map(|buffer| Incoming {
        byte_len: buffer.len(),
        capacity: buffer.capacity(),
    });
    let planned = plan(figures, outputs.iter().map(Vec::capacity))?;
    commit(planned, incoming.into_iter(), outputs, |buffer| buffer)
}

/// Replaces the contents of `outputs` by copies of the `incoming` bytes, or leaves `outputs` as
/// they are.
///
/// For backends that read straight out of mapped memory. The result and the counters are those of
/// [`try_replace_output_buffers_preserving_slots_with_memory_stats`] over freshly allocated
/// vectors, but a slot that is large enough is written to directly: when all are, nothing is
/// allocated. A slot that is too small gets an allocation of exactly the incoming length and
/// counts as moved. `incoming` is walked three times: to count, to allocate, to copy.
///
/// # Errors
///
/// When a sum of byte lengths or capacities overflows, or when there is no memory for the list of
/// slots or for the bytes of one.
///
/// # Examples
///
/// ```
/// use vyre_core::output::try_copy_outputs_into_slots;
///
/// let mapped = [1, 2, 3, 4, 5, 6, 7, 8];
/// let mut outputs = vec![Vec::with_capacity(4)];
/// let kept = outputs[0].as_ptr();
///
/// let stats = try_copy_outputs_into_slots(mapped.chunks(4), &mut outputs)?;
///
/// assert_eq!(outputs, [[1, 2, 3, 4], [5, 6, 7, 8]]);
/// assert_eq!(outputs[0].as_ptr(), kept);
/// assert_eq!((stats.slots.reused_slots, stats.slots.appended_slots), (1, 1));
/// # Ok::<(), vyre_core::output::OutputError>(())
/// ```
pub fn try_copy_outputs_into_slots<'a>(
    incoming: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    outputs: &mut OutputBuffers,
) -> Result<OutputReplacementStats, OutputError> {
    copy_into_slots(incoming, outputs, |byte_len| {
        let mut buffer = Vec::new();
        buffer.try_reserve_exact(byte_len)?;
        Ok(buffer)
    })
}

/// The copy with the allocation of a slot's bytes left open, so that tests can make it fail.
pub(super) fn copy_into_slots<'a>(
    incoming: impl ExactSizeIterator<Item = &'a [u8]> + Clone,
    outputs: &mut OutputBuffers,
    mut allocate: impl FnMut(usize) -> Result<Vec<u8>, TryReserveError>,
) -> Result<OutputReplacementStats, OutputError> {
    let figures = incoming.clone().map(|bytes| Incoming {
        byte_len: bytes.len(),
        capacity: bytes.len(),
    });
    let planned = plan(figures, outputs.iter().map(Vec::capacity))?;

    let mut fresh = OutputBuffers::new();
    reserve_slots(
        &mut fresh,
        planned.slots.moved_slots + planned.slots.appended_slots,
    )?;
    for (slot, bytes) in incoming.clone().enumerate() {
        let byte_len = bytes.len();
        if !outputs
            .get(slot)
            .is_some_and(|kept| fits(byte_len, kept.capacity()))
        {
            let buffer = allocate(byte_len).map_err(|source| OutputError::ReserveBytes {
                slot,
                byte_len,
                source,
            })?;
            fresh.push(buffer);
        }
    }

    let mut fresh = fresh.into_iter();
    commit(planned, incoming, outputs, |bytes| {
        let mut buffer = fresh.next().unwrap_or_default();
        buffer.extend_from_slice(bytes);
        buffer
    })
}
