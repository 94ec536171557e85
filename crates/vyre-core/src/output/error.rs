//! Why output buffers could not be replaced.

use std::collections::TryReserveError;

/// Why output buffers could not be replaced. The caller's buffers are as they were.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum OutputError {
    /// The lengths of the incoming buffers add up to more than a `usize` holds.
    #[error(
        "incoming output bytes overflow at slot {slot}: {total} + {added} bytes exceed {max}; \
         split the program so that one dispatch returns fewer bytes",
        max = usize::MAX
    )]
    IncomingBytesOverflow {
        /// The slot whose bytes no longer fit the sum.
        slot: usize,
        /// Bytes in the slots before it.
        total: usize,
        /// Bytes in this slot.
        added: usize,
    },
    /// The capacities of the slots add up to more than a `usize` holds.
    #[error(
        "retained output capacity overflows at slot {slot}: {total} + {added} bytes exceed {max}; \
         clear the output buffers or shrink them to fit before the next dispatch",
        max = usize::MAX
    )]
    RetainedCapacityOverflow {
        /// The slot whose capacity no longer fits the sum.
        slot: usize,
        /// Bytes of capacity in the slots before it.
        total: usize,
        /// Bytes of capacity in this slot.
        added: usize,
    },
    /// There is no memory for the list of output slots.
    #[error(
        "can't reserve {additional} output slots beside {held}; \
         free host memory or declare fewer output buffers"
    )]
    ReserveSlots {
        /// Slots held before.
        held: usize,
        /// Slots asked for in addition.
        additional: usize,
        /// What the allocator said.
        source: TryReserveError,
    },
    /// There is no memory for the bytes of an output slot.
    #[error(
        "can't reserve {byte_len} bytes for output slot {slot}; \
         free host memory or split the program so that the output is smaller"
    )]
    ReserveBytes {
        /// The slot that needs a new allocation.
        slot: usize,
        /// Bytes asked for.
        byte_len: usize,
        /// What the allocator said.
        source: TryReserveError,
    },
}
