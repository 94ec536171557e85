//! The loops over lanes.

use super::cast;

/// A scalar that a register holds.
pub(super) trait Lane: Copy {
    fn from_word(word: u32) -> Self;
    fn to_word(self) -> u32;
}

impl Lane for u32 {
    fn from_word(word: u32) -> Self {
        word
    }

    fn to_word(self) -> u32 {
        self
    }
}

impl Lane for i32 {
    fn from_word(word: u32) -> Self {
        word.cast_signed()
    }

    fn to_word(self) -> u32 {
        self.cast_unsigned()
    }
}

impl Lane for f32 {
    fn from_word(word: u32) -> Self {
        Self::from_bits(word)
    }

    fn to_word(self) -> u32 {
        self.to_bits()
    }
}

impl Lane for bool {
    fn from_word(word: u32) -> Self {
        word != 0
    }

    fn to_word(self) -> u32 {
        u32::from(self)
    }
}

/// A scalar that two registers hold.
pub(super) trait Lane64: Copy {
    fn from_u64(bits: u64) -> Self;
    fn to_u64(self) -> u64;
}

impl Lane64 for u64 {
    fn from_u64(bits: u64) -> Self {
        bits
    }

    fn to_u64(self) -> u64 {
        self
    }
}

impl Lane64 for i64 {
    fn from_u64(bits: u64) -> Self {
        bits.cast_signed()
    }

    fn to_u64(self) -> u64 {
        self.cast_unsigned()
    }
}

pub(super) fn map1<A: Lane, R: Lane>(to: &mut [u32], [a, ..]: [&[u32]; 3], run: impl Fn(A) -> R) {
    for (to, a) in to.iter_mut().zip(a) {
        *to = run(A::from_word(*a)).to_word();
    }
}

pub(super) fn map2<A: Lane, B: Lane, R: Lane>(
    to: &mut [u32],
    [a, b, _]: [&[u32]; 3],
    run: impl Fn(A, B) -> R,
) {
    for ((to, a), b) in to.iter_mut().zip(a).zip(b) {
        *to = run(A::from_word(*a), B::from_word(*b)).to_word();
    }
}

pub(super) fn map3<A: Lane, B: Lane, C: Lane, R: Lane>(
    to: &mut [u32],
    [a, b, c]: [&[u32]; 3],
    run: impl Fn(A, B, C) -> R,
) {
    for (((to, a), b), c) in to.iter_mut().zip(a).zip(b).zip(c) {
        *to = run(A::from_word(*a), B::from_word(*b), C::from_word(*c)).to_word();
    }
}

/// `run` from `I` words to `O` in every lane.
pub(super) fn map_words<const I: usize, const O: usize>(
    to: &mut [Vec<u32>],
    from: &[&[u32]],
    run: impl Fn([u32; I]) -> [u32; O],
) {
    let (Some(to), Some(from)) = (to.first_chunk_mut::<O>(), from.first_chunk::<I>()) else {
        return;
    };
    let lanes = to[0].len();
    let from = from.map(|words| &words[..lanes]);
    let mut to = to.each_mut().map(|words| &mut words[..lanes]);
    for lane in 0..lanes {
        let result = run(from.map(|words| words[lane]));
        for (to, word) in to.iter_mut().zip(result) {
            to[lane] = word;
        }
    }
}

/// `run` from one 64-bit scalar to another.
pub(super) fn wide1<A: Lane64, R: Lane64>(
    to: &mut [Vec<u32>],
    from: &[&[u32]],
    run: impl Fn(A) -> R,
) {
    map_words(to, from, |[low, high]: [u32; 2]| {
        cast::halves(run(A::from_u64(cast::whole(low, high))).to_u64())
    });
}

/// `run` from two 64-bit scalars to one.
pub(super) fn wide2<A: Lane64, R: Lane64>(
    to: &mut [Vec<u32>],
    from: &[&[u32]],
    run: impl Fn(A, A) -> R,
) {
    map_words(to, from, |[a, b, c, d]: [u32; 4]| {
        let (left, right) = (cast::whole(a, b), cast::whole(c, d));
        cast::halves(run(A::from_u64(left), A::from_u64(right)).to_u64())
    });
}

/// Whether `run` holds for two 64-bit scalars.
pub(super) fn compare2<A: Lane64>(
    to: &mut [Vec<u32>],
    from: &[&[u32]],
    run: impl Fn(A, A) -> bool,
) {
    map_words(to, from, |[a, b, c, d]: [u32; 4]| {
        let (left, right) = (cast::whole(a, b), cast::whole(c, d));
        [u32::from(run(A::from_u64(left), A::from_u64(right)))]
    });
}
