//! Buffers as words that all workgroups may touch at once.
//!
//! Atomics with relaxed order are plain moves on every processor, need no unsafe code, and leave
//! a data race of a kernel without meaning but defined.

use std::sync::atomic::{AtomicU32, Ordering::Relaxed};
use std::sync::{Mutex, MutexGuard, PoisonError};

/// Held by 64-bit atomic operations, which take two words.
static WIDE_ATOMICS: Mutex<()> = Mutex::new(());

pub(crate) fn lock_wide_atomics() -> MutexGuard<'static, ()> {
    WIDE_ATOMICS.lock().unwrap_or_else(PoisonError::into_inner)
}

/// The words of a buffer; its length is a whole number of them.
pub(crate) fn from_bytes(bytes: &[u8]) -> Vec<AtomicU32> {
    let (words, _) = bytes.as_chunks();
    let words = words.iter();
    words
        .map(|&word| AtomicU32::new(u32::from_le_bytes(word)))
        .collect()
}

pub(crate) fn into_bytes(words: Vec<AtomicU32>) -> Vec<u8> {
    let mut bytes = vec![0; words.len() * 4];
    let (chunks, _) = bytes.as_chunks_mut();
    for (chunk, word) in chunks.iter_mut().zip(words) {
        *chunk = word.into_inner().to_le_bytes();
    }
    bytes
}

/// The part of a buffer that is bound to a variable.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Bound<'a> {
    pub(crate) words: &'a [AtomicU32],
}

impl<'a> Bound<'a> {
    pub(crate) fn byte_len(self) -> u64 {
        self.words.len() as u64 * 4
    }

    /// The word that holds a byte; addresses are checked before, so there is one.
    pub(crate) fn word(self, byte: u32) -> Option<&'a AtomicU32> {
        self.words.get(byte as usize / 4)
    }

    pub(crate) fn load(self, byte: u32) -> u32 {
        self.word(byte).map_or(0, |word| word.load(Relaxed))
    }

    pub(crate) fn load_half(self, byte: u32) -> u32 {
        self.load(byte) >> (byte % 4 * 8) & 0xffff
    }

    pub(crate) fn store(self, byte: u32, value: u32) {
        if let Some(word) = self.word(byte) {
            word.store(value, Relaxed);
        }
    }

    /// Leaves the other half to whoever writes it at the same time.
    pub(crate) fn store_half(self, byte: u32, value: u32) {
        let shift = byte % 4 * 8;
        self.update(byte, |word| {
            word & !(0xffff << shift) | (value & 0xffff) << shift
        });
    }

    /// Replaces a word by what `run` makes of it, and gives the old one.
    pub(crate) fn update(self, byte: u32, run: impl Fn(u32) -> u32) -> u32 {
        let Some(word) = self.word(byte) else {
            return 0;
        };
        let mut old = word.load(Relaxed);
        while let Err(now) = word.compare_exchange_weak(old, run(old), Relaxed, Relaxed) {
            old = now;
        }
        old
    }
}
