//! Output accounting: the buffers a dispatch returns, and replacing the caller's buffers in place.
//!
//! A caller that dispatches in a loop keeps one [`OutputBuffers`] and lets each dispatch replace
//! its contents. Slot `i` then goes one of these ways, and the counters say which:
//!
//! | incoming buffer `i` | way | what happens |
//! |---|---|---|
//! | fits the capacity of slot `i` | *reused* | bytes are copied in, the slot keeps its allocation |
//! | is longer than that | *moved* | the incoming allocation becomes the slot's, nothing is copied |
//! | has no slot `i` yet | *appended* | the incoming allocation becomes a new slot |
//!
//! Slots past the incoming length are dropped. Everything that can fail (sums, reservations) does
//! so before the first slot is touched.
//!
//! ```
//! use vyre_core::output::{OutputBuffers, replace_output_buffers_preserving_slots_with_memory_stats};
//!
//! let mut outputs: OutputBuffers = vec![Vec::with_capacity(64)];
//! let kept = outputs[0].as_ptr();
//!
//! let stats = replace_output_buffers_preserving_slots_with_memory_stats(
//!     vec![vec![1; 64], vec![2; 16]],
//!     &mut outputs,
//! );
//!
//! assert_eq!(outputs, [vec![1; 64], vec![2; 16]]);
//! assert_eq!(outputs[0].as_ptr(), kept);
//! assert_eq!((stats.slots.reused_slots, stats.bytes.copied_bytes), (1, 64));
//! assert_eq!((stats.slots.appended_slots, stats.bytes.appended_bytes), (1, 16));
//! ```

mod error;
mod plan;
mod replace;
mod stats;
#[cfg(test)]
mod tests;
mod timed;

pub use error::OutputError;
pub use replace::{
    replace_output_buffers_preserving_slots,
    replace_output_buffers_preserving_slots_with_memory_stats,
    replace_output_buffers_preserving_slots_with_stats, try_copy_outputs_into_slots,
    try_replace_output_buffers_preserving_slots,
    try_replace_output_buffers_preserving_slots_with_memory_stats,
    try_replace_output_buffers_preserving_slots_with_stats,
};
pub use stats::{OutputReplacementStats, OutputSlotByteStats, OutputSlotStats};
pub use timed::TimedDispatchResult;

/// One byte vector per output slot, in the order in which the program declares its output buffers.
pub type OutputBuffers = Vec<Vec<u8>>;
