//! The shape of BLAKE3's tree over one piece of a file, and where its nodes lie: arithmetic only.
//!
//! The algorithm is that of "BLAKE3: one function, fast everywhere" (O'Connor, Aumasson, Neves,
//! Wilcox-O'Hearn), section 2.

use std::iter;
use std::ops::Range;

use vyre_driver::program::BINDING_OFFSET_ALIGNMENT;

/// Bytes of a leaf.
const CHUNK_BYTES: u64 = 1024;

/// Bytes of a chaining value, and of a digest.
pub(crate) const NODE_BYTES: usize = 32;

/// Chunks of the segments that a longer file is cut into. As they are a power of two, a segment is
/// a complete subtree, and the tree over the segments' values is the top of the file's.
pub(crate) const SEGMENT_CHUNKS: usize = 1 << 14;

/// Bytes of a segment.
pub(crate) const SEGMENT_BYTES: u64 = SEGMENT_CHUNKS as u64 * CHUNK_BYTES;

/// What one tree of chunks is built over.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Piece {
    /// At most [`SEGMENT_BYTES`].
    pub(crate) byte_len: u32,
    /// The place of its first chunk in the file, counted in chunks.
    pub(crate) first_chunk: u64,
    pub(crate) extent: Extent,
}

/// Whether the root of a tree is the file's digest or one chaining value of many.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Extent {
    WholeFile,
    Segment,
}

impl Piece {
    /// Bytes of the struct `Piece` of `compress.wgsl`.
    pub(crate) const BYTES: usize = 16;

    /// Stands for a file of which only the segments' values are left to combine.
    pub(crate) const TOP: Self = Self {
        byte_len: 0,
        first_chunk: 0,
        extent: Extent::WholeFile,
    };

    /// The number of chunks. Nothing at all is one empty chunk.
    pub(crate) fn chunks(&self) -> u64 {
        u64::from(self.byte_len).div_ceil(CHUNK_BYTES).max(1)
    }

    /// The struct `Piece` of `compress.wgsl`.
    pub(crate) fn to_bytes(self) -> [u8; Self::BYTES] {
        let whole = u32::from(self.extent == Extent::WholeFile);
        let mut bytes = [0; Self::BYTES];
        bytes[..4].copy_from_slice(&self.byte_len.to_le_bytes());
        bytes[4..12].copy_from_slice(&self.first_chunk.to_le_bytes());
        bytes[12..].copy_from_slice(&whole.to_le_bytes());
        bytes
    }
}

/// The number of nodes on each level of the tree over `leaves` nodes, from the leaves to the root.
pub(crate) fn levels(leaves: u64) -> impl Iterator<Item = u64> {
    iter::successors(Some(leaves), |&nodes| {
        (nodes > 1).then(|| nodes.div_ceil(2))
    })
}

/// The bytes of each level of the tree over `leaves` nodes but the root's, packed from `start` on.
pub(crate) fn level_ranges(leaves: u64, start: u64) -> impl Iterator<Item = Range<u64>> {
    let below_root = levels(leaves).filter(|&nodes| nodes > 1);
    below_root.scan(start, |next, nodes| {
        let range = *next..*next + nodes * NODE_BYTES as u64;
        *next = align(range.end);
        Some(range)
    })
}

/// The bytes that [`level_ranges`] takes up.
pub(crate) fn scratch_bytes(leaves: u64) -> u64 {
    level_ranges(leaves, 0)
        .last()
        .map_or(0, |range| align(range.end))
}

/// The next offset at which a range may be bound.
pub(crate) fn align(offset: u64) -> u64 {
    offset.next_multiple_of(BINDING_OFFSET_ALIGNMENT)
}

#[cfg(test)]
mod tests {
    use super::*;

    /// The tree of section 2.1: a left subtree is the largest complete one that leaves something
    /// for the right. Leaves are numbered.
    fn specified(leaves: Range<u64>) -> String {
        let count = leaves.end - leaves.start;
        if count == 1 {
            return leaves.start.to_string();
        }
        let middle = leaves.start + count.next_power_of_two() / 2;
        let [left, right] = [leaves.start..middle, middle..leaves.end].map(specified);
        format!("({left} {right})")
    }

    /// The tree that pairing by levels gives, as `parent.wgsl` does.
    fn paired(mut nodes: Vec<String>) -> String {
        for count in levels(nodes.len() as u64).skip(1) {
            let pairs = nodes.chunks(2).map(|pair| match pair {
                [left, right] => format!("({left} {right})"),
                odd => odd.concat(),
            });
            nodes = pairs.collect();
            assert_eq!(nodes.len() as u64, count);
        }
        nodes.concat()
    }

    fn leaves(range: Range<u64>) -> Vec<String> {
        range.map(|leaf| leaf.to_string()).collect()
    }

    #[test]
    fn pairing_by_levels_gives_the_specified_tree() {
        for count in 1..=200 {
            assert_eq!(paired(leaves(0..count)), specified(0..count));
        }
    }

    #[test]
    fn the_tree_over_segments_is_the_top_of_the_specified_tree() {
        for count in 1..=200 {
            let segments = (0..count)
                .step_by(8)
                .map(|start| start..count.min(start + 8));
            let values = segments.map(|segment| paired(leaves(segment))).collect();
            assert_eq!(paired(values), specified(0..count));
        }
    }

    #[test]
    fn chunks_are_counted_up_and_nothing_is_one_chunk() {
        let chunks = |byte_len| {
            Piece {
                byte_len,
                ..Piece::TOP
            }
            .chunks()
        };
        assert_eq!(
            [0, 1, 1024, 1025, 16 << 20].map(chunks),
            [1, 1, 1, 2, 1 << 14]
        );
    }

    #[test]
    fn levels_lie_one_after_the_other_at_bindable_offsets() {
        for leaves in 1..=300 {
            let ranges: Vec<_> = level_ranges(leaves, 512).collect();
            assert_eq!(ranges.len(), levels(leaves).count() - 1);
            assert!(ranges.iter().all(|range| range.start % 256 == 0));
            assert!(ranges.is_sorted_by(|a, b| a.end <= b.start));
        }
    }

    #[test]
    fn a_piece_is_laid_out_as_the_kernels_read_it() {
        let piece = Piece {
            byte_len: 5,
            first_chunk: 3 << 32 | 4,
            extent: Extent::Segment,
        };
        let words = [5u32, 4, 3, 0].map(u32::to_le_bytes);
        assert_eq!(piece.to_bytes(), *words.as_flattened());
        assert_eq!(Piece::TOP.to_bytes()[12..], [1, 0, 0, 0]);
    }
}
