//! What one program hashes together: pieces of files, in one buffer.

use std::io::{self, BufRead, Read};

use crate::program::SLOT;
use crate::tree::{Extent, Piece, SEGMENT_BYTES};

const MAX_BYTES: u64 = 64 << 20;
const MAX_PIECES: usize = 1024;

/// The bytes of pieces, each from a bindable offset on and followed by zeros.
#[derive(Default)]
pub(crate) struct Batch {
    data: Vec<u8>,
    pieces: Vec<Piece>,
    /// Where the bytes of each piece begin.
    starts: Vec<usize>,
}

impl Batch {
    /// Whether another piece might not fit.
    pub(crate) fn is_full(&self) -> bool {
        self.data.len() as u64 + SEGMENT_BYTES > MAX_BYTES || self.pieces.len() == MAX_PIECES
    }

    /// The bytes of all pieces.
    pub(crate) fn data(&self) -> &[u8] {
        &self.data
    }

    /// The pieces in the order in which they were read.
    pub(crate) fn pieces(&self) -> &[Piece] {
        &self.pieces
    }

    /// Offset and length of what is bound for a piece: its bytes up to a multiple of 4, not none.
    pub(crate) fn range(&self, index: usize) -> (u64, u64) {
        let byte_len = u64::from(self.pieces[index].byte_len);
        (
            self.starts[index] as u64,
            byte_len.max(1).next_multiple_of(4),
        )
    }

    /// Adds the piece of a file that begins with chunk `first_chunk`.
    ///
    /// Returns its bytes, and whether the file ends with them. Adds nothing when reading fails.
    pub(crate) fn read(
        &mut self,
        file: &mut impl BufRead,
        first_chunk: u64,
    ) -> io::Result<(&[u8], bool)> {
        let start = self.data.len();
        let (byte_len, ended) =
            read_segment(file, &mut self.data).inspect_err(|_| self.data.truncate(start))?;
        let extent = match (first_chunk, ended) {
            (0, true) => Extent::WholeFile,
            _ => Extent::Segment,
        };
        self.pieces.push(Piece {
            byte_len,
            first_chunk,
            extent,
        });
        self.starts.push(start);
        let end = self.data.len();
        let padded = end.max(start + 1).next_multiple_of(SLOT);
        self.data.resize(padded, 0);
        Ok((&self.data[start..end], ended))
    }

    /// Drops all pieces but the first `count`.
    pub(crate) fn truncate(&mut self, count: usize) {
        if let Some(&start) = self.starts.get(count) {
            self.data.truncate(start);
        }
        self.pieces.truncate(count);
        self.starts.truncate(count);
    }
}

/// Appends up to a segment to `data`; returns its length, and whether nothing follows it.
fn read_segment(file: &mut impl BufRead, data: &mut Vec<u8>) -> io::Result<(u32, bool)> {
    let byte_len = file.by_ref().take(SEGMENT_BYTES).read_to_end(data)?;
    let byte_len = u32::try_from(byte_len).map_err(io::Error::other)?;
    Ok((byte_len, file.fill_buf()?.is_empty()))
}
