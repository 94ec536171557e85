//! The ring protocol: the layout of the buffers through which the host and a persistent kernel talk.
//!
//! Host code and generated WGSL take every offset from here. All offsets and lengths are in `u32`
//! words unless they say otherwise.

/// Changes whenever anything in this module changes its meaning. The host writes it to
/// [`control::VERSION`], and a kernel that was generated for another one does nothing.
pub const VERSION: u32 = 1;

/// The control buffer: one line of memory for each word that many workgroups write.
pub mod control {
    /// [`VERSION`](super::VERSION), written by the host.
    pub const VERSION: u32 = 0;
    /// The next item to take; workgroups add 1.
    pub const TICKET: u32 = 32;
    /// Not zero once the host wants workgroups to leave; read before each item.
    pub const STOP: u32 = 64;
    /// Items completed; each workgroup adds its number when it leaves.
    pub const DONE: u32 = 96;
    /// Zero, or the first [`Fault`](super::Fault) that a workgroup met.
    pub const FAULT: u32 = 97;
    /// Words before the first completion counter.
    pub const COUNTERS: u32 = 128;
    /// Words from one completion counter to the next, so that no two share a sector of the cache.
    pub const COUNTER_STRIDE: u32 = 8;

    /// Words of a control buffer with this number of completion counters.
    #[must_use]
    pub fn words(counters: u32) -> u64 {
        u64::from(COUNTERS) + u64::from(counters) * u64::from(COUNTER_STRIDE)
    }
}

/// Why a kernel left before its work was done: the value of [`control::FAULT`].
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[repr(u32)]
pub enum Fault {
    /// The host wrote another [`VERSION`].
    Version = 1,
    /// A loop ended before it should have: the driver limits the iterations of an invocation.
    LoopCutShort = 2,
}

/// A work item: a run of op records, each over a range of tiles, with one wait before it and
/// signals after it.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Item {
    /// Where the first op record lies, in units of [`record::UNIT`] words.
    pub first_record: u32,
    /// Op records that are run one after the other, with a barrier between two.
    pub ops: u32,
    /// First tile. A tile is a workgroup of the op's grid, counted along x first, then y, then z.
    pub first_tile: u32,
    /// Tiles of each op, fewer where the op's grid ends before.
    pub tiles: u32,
    /// The counter to wait for, or [`NONE`].
    pub wait_counter: u32,
    /// The value that the counter has to reach.
    pub wait_target: u32,
    /// The first counter to add 1 to; with [`item::LISTED`], where the list of counters begins.
    pub signal_first: u32,
    /// Counters to add 1 to once all ops are done: neighbours, or with [`item::LISTED`] a list.
    pub signal_count: u32,
}

/// No counter.
pub const NONE: u32 = u32::MAX;

/// The words of an item in the ring buffer.
pub mod item {
    /// Words of an item.
    pub const WORDS: u32 = 8;
    /// Set in [`Item::signal_count`](super::Item::signal_count) when the counters are words of the
    /// ring buffer behind the items, at word `signal_first`, and not neighbours.
    pub const LISTED: u32 = 1 << 31;
}

impl Item {
    /// The item as the ring buffer holds it.
    #[must_use]
    pub fn words(&self) -> [u32; item::WORDS as usize] {
        [
            self.first_record,
            self.ops,
            self.first_tile,
            self.tiles,
            self.wait_counter,
            self.wait_target,
            self.signal_first,
            self.signal_count,
        ]
    }
}

/// Op records: what to run, and on which buffers.
///
/// Words 0 to 3 are [`head`](record::head) and the grid; then follow three words for each binding
/// of the kernel, in the order of [`Kernel::bindings`](crate::kernel::Kernel::bindings): slot of
/// the heap, first element, number of elements.
pub mod record {
    /// Record lengths are multiples of this many words, which a kernel loads at once.
    pub const UNIT: u32 = 16;
    /// Words before those of the bindings.
    pub const HEADER: u32 = 4;
    /// Words of a binding.
    pub const BINDING: u32 = 3;

    /// Units of the record of a kernel with this many bindings.
    #[must_use]
    pub fn units(bindings: u32) -> u32 {
        (HEADER + BINDING * bindings).div_ceil(UNIT)
    }

    /// The first word: the kernel's index in the linked module, and the record's units in the
    /// upper half.
    #[must_use]
    pub fn head(kernel: u16, bindings: u32) -> u32 {
        u32::from(kernel) | units(bindings) << 16
    }
}

/// Bindings of the linked kernel in descriptor set 0.
pub mod binding {
    /// Control buffer, storage, read and written.
    pub const CONTROL: u32 = 0;
    /// Ring buffer, storage, read only: items, then lists of counters.
    pub const RING: u32 = 1;
    /// Op records, storage, read only.
    pub const RECORDS: u32 = 2;
    /// Debug buffer, storage, read and written.
    pub const DEBUG: u32 = 3;
    /// Descriptor array of storage buffers: the heap that op records index.
    pub const HEAP: u32 = 4;
}

/// Push constants of a launch, in bytes.
pub mod push {
    /// Offset of the item at which this launch ends: a `u32`.
    pub const LIMIT: u32 = 0;
    /// Bytes of all push constants.
    pub const BYTES: u32 = 4;
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_that_many_workgroups_write_lie_on_lines_of_their_own() {
        let line = |word: u32| word * 4 / 128;
        let shared = [
            control::TICKET,
            control::STOP,
            control::DONE,
            control::COUNTERS,
        ];
        for (index, word) in shared.into_iter().enumerate() {
            assert!(
                shared[..index]
                    .iter()
                    .all(|other| line(*other) != line(word))
            );
        }
    }

    #[test]
    fn four_bindings_fit_one_unit() {
        assert_eq!([0, 1, 4, 5, 9, 10].map(record::units), [1, 1, 1, 2, 2, 3]);
        assert_eq!(record::head(7, 5), 2 << 16 | 7);
    }
}
