//! The two programs: one hashes the pieces of a batch, one combines the segments of a file.

use vyre_driver::kernel::KernelError;
use vyre_driver::program::{
    BINDING_OFFSET_ALIGNMENT, BufferId, BufferSlice, ProgramBuilder, ProgramError,
};
use vyre_driver::{Kernel, Program};

use crate::batch::Batch;
use crate::tree::{self, NODE_BYTES, Piece};

/// What a piece takes up in the constants and in the digests, so that its range can be bound.
pub(crate) const SLOT: usize = 256;

const _: () = assert!(SLOT as u64 == BINDING_OFFSET_ALIGNMENT);

/// Invocations of both kernels' workgroups.
const WORKGROUP: u64 = 64;

/// The two kernels, each compiled with the compression function.
pub(crate) struct Kernels {
    chunk: Kernel,
    parent: Kernel,
}

impl Kernels {
    pub(crate) fn new() -> Result<Self, KernelError> {
        let chunk = concat!(include_str!("compress.wgsl"), include_str!("chunk.wgsl"));
        let parent = concat!(include_str!("compress.wgsl"), include_str!("parent.wgsl"));
        Ok(Self {
            chunk: Kernel::from_wgsl(chunk)?,
            parent: Kernel::from_wgsl(parent)?,
        })
    }

    /// Takes the bytes of a batch; gives the root of each piece at the beginning of its slot.
    pub(crate) fn hash(&self, batch: &Batch) -> Result<Program, ProgramError> {
        let count = batch.pieces().len();
        let chunks = || batch.pieces().iter().map(|piece| piece.chunks());
        let mut constants = vec![0; count * SLOT];
        for (slot, piece) in constants.chunks_mut(SLOT).zip(batch.pieces()) {
            slot[..Piece::BYTES].copy_from_slice(&piece.to_bytes());
        }
        let scratch: u64 = chunks().map(tree::scratch_bytes).sum();

        let mut builder = Program::builder("blake3");
        let data = builder.input("data", batch.data().len() as u64);
        let constants = builder.constant("pieces", constants);
        let nodes = builder.scratch("nodes", scratch.max(SLOT as u64));
        let digests = builder.output("digests", (count * SLOT) as u64);
        let mut start = 0;
        for (index, chunks) in chunks().enumerate() {
            let slot = (index * SLOT) as u64;
            let piece = constants.slice(slot, Piece::BYTES as u64);
            let mut levels = level_slices(nodes, start, chunks);
            levels.push(digests.slice(slot, NODE_BYTES as u64));
            start += tree::scratch_bytes(chunks);
            let (offset, byte_len) = batch.range(index);
            builder
                .op(&self.chunk, grid(chunks))
                .bind("data", data.slice(offset, byte_len))
                .bind("piece", piece)
                .bind("nodes", levels[0]);
            self.add_parents(&mut builder, piece, chunks, &levels);
        }
        builder.build()
    }

    /// Takes the values of a file's segments, two or more; gives the file's digest.
    pub(crate) fn combine(&self, segments: usize) -> Result<Program, ProgramError> {
        let mut builder = Program::builder("blake3 segments");
        let values = builder.input("values", (segments * NODE_BYTES) as u64);
        let segments = segments as u64;
        let piece = builder.constant("pieces", Piece::TOP.to_bytes().to_vec());
        let nodes = builder.scratch("nodes", tree::scratch_bytes(segments));
        let digest = builder.output("digest", NODE_BYTES as u64);
        let mut levels = level_slices(nodes, 0, segments);
        levels[0] = values.into();
        levels.push(digest.into());
        self.add_parents(&mut builder, piece.into(), segments, &levels);
        builder.build()
    }

    /// Adds an op for each level above the leaves.
    fn add_parents(
        &self,
        builder: &mut ProgramBuilder,
        piece: BufferSlice,
        leaves: u64,
        levels: &[BufferSlice],
    ) {
        for (pair, parents) in levels.windows(2).zip(tree::levels(leaves).skip(1)) {
            builder
                .op(&self.parent, grid(parents))
                .bind("children", pair[0])
                .bind("piece", piece)
                .bind("parents", pair[1]);
        }
    }
}

/// The levels of a tree below its root, in `nodes` from `start` on.
fn level_slices(nodes: BufferId, start: u64, leaves: u64) -> Vec<BufferSlice> {
    let ranges = tree::level_ranges(leaves, start);
    ranges
        .map(|range| nodes.slice(range.start, range.end - range.start))
        .collect()
}

/// As many workgroups as hold an invocation for each node; a grid that is too large for the
/// program's check when there are more than any device takes.
fn grid(nodes: u64) -> [u32; 3] {
    let workgroups = u32::try_from(nodes.div_ceil(WORKGROUP)).unwrap_or(u32::MAX);
    [workgroups, 1, 1]
}
