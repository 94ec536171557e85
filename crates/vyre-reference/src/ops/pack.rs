//! Built-in functions between whole vectors and words, and those with two results.

use vyre_core::naga::MathFunction as M;

use super::lane::map_words;
use super::math::INSERT_BITS;
use super::{Wide, cast};

/// `fun` from the registers of its arguments to as many as the result has.
pub(crate) fn pack(fun: M) -> Option<(Wide, u32)> {
    Some(match fun {
        M::Pack4x8snorm => (|d, s| pack4(d, s, |e| norm(e, -1.0, 127.0)), 1),
        M::Pack4x8unorm => (|d, s| pack4(d, s, |e| norm(e, 0.0, 255.0)), 1),
        M::Pack2x16snorm => (|d, s| pack2(d, s, |e| norm(e, -1.0, 32767.0)), 1),
        M::Pack2x16unorm => (|d, s| pack2(d, s, |e| norm(e, 0.0, 65535.0)), 1),
        M::Pack2x16float => (
            |d, s| pack2(d, s, |e| cast::f32_to_half(f32::from_bits(e))),
            1,
        ),
        M::Pack4xI8 | M::Pack4xU8 => (|d, s| pack4(d, s, |e| e), 1),
        M::Pack4xI8Clamp => (
            |d, s| pack4(d, s, |e| e.cast_signed().clamp(-128, 127).cast_unsigned()),
            1,
        ),
        M::Pack4xU8Clamp => (|d, s| pack4(d, s, |e| e.min(255)), 1),
        M::Dot4I8Packed => (|d, s| dot(d, s, signed_byte), 1),
        M::Dot4U8Packed => (|d, s| dot(d, s, byte), 1),
        M::InsertBits => (INSERT_BITS, 1),
        M::Modf => (MODF, 2),
        M::Frexp => (FREXP, 2),
        M::Ldexp => (LDEXP, 1),
        _ => return unpack(fun),
    })
}

fn unpack(fun: M) -> Option<(Wide, u32)> {
    Some(match fun {
        M::Unpack4x8snorm => (
            |d, s| unpack4(d, s, |w, i| signed_norm(signed_byte(w, i), 127.0)),
            4,
        ),
        M::Unpack4x8unorm => (
            |d, s| {
                unpack4(d, s, |w, i| {
                    (cast::u32_to_f32(byte(w, i)) / 255.0).to_bits()
                })
            },
            4,
        ),
        M::Unpack2x16snorm => (
            |d, s| unpack2(d, s, |half| signed_norm(extend(half), 32767.0)),
            2,
        ),
        M::Unpack2x16unorm => (
            |d, s| unpack2(d, s, |half| (cast::u32_to_f32(half) / 65535.0).to_bits()),
            2,
        ),
        M::Unpack2x16float => (
            |d, s| unpack2(d, s, |half| cast::half_to_f32(half).to_bits()),
            2,
        ),
        M::Unpack4xI8 => (|d, s| unpack4(d, s, signed_byte), 4),
        M::Unpack4xU8 => (|d, s| unpack4(d, s, byte), 4),
        _ => return None,
    })
}

/// A float from `low` to 1 as an integer, halves rounded up.
fn norm(bits: u32, low: f32, scale: f32) -> u32 {
    let value = f32::from_bits(bits).max(low).min(1.0);
    cast::to_i32((0.5 + scale * value).floor()).cast_unsigned()
}

fn signed_norm(word: u32, scale: f32) -> u32 {
    (cast::i32_to_f32(word.cast_signed()) / scale)
        .max(-1.0)
        .to_bits()
}

fn pack4(to: &mut [Vec<u32>], from: &[&[u32]], run: impl Fn(u32) -> u32) {
    map_words(to, from, |[a, b, c, d]: [u32; 4]| {
        [run(a) & 0xff | (run(b) & 0xff) << 8 | (run(c) & 0xff) << 16 | run(d) << 24]
    });
}

fn pack2(to: &mut [Vec<u32>], from: &[&[u32]], run: impl Fn(u32) -> u32) {
    map_words(
        to,
        from,
        |[a, b]: [u32; 2]| [run(a) & 0xffff | run(b) << 16],
    );
}

fn unpack4(to: &mut [Vec<u32>], from: &[&[u32]], run: impl Fn(u32, u32) -> u32) {
    map_words(to, from, |[word]: [u32; 1]| {
        [0, 1, 2, 3].map(|index| run(word, index))
    });
}

fn unpack2(to: &mut [Vec<u32>], from: &[&[u32]], run: impl Fn(u32) -> u32) {
    map_words(to, from, |[word]: [u32; 1]| {
        [run(word & 0xffff), run(word >> 16)]
    });
}

fn byte(word: u32, index: u32) -> u32 {
    word >> (8 * index) & 0xff
}

fn signed_byte(word: u32, index: u32) -> u32 {
    (word.cast_signed() << (24 - 8 * index) >> 24).cast_unsigned()
}

/// A 16-bit two's complement number as a 32-bit one.
fn extend(half: u32) -> u32 {
    (half.cast_signed() << 16 >> 16).cast_unsigned()
}

fn dot(to: &mut [Vec<u32>], from: &[&[u32]], part: impl Fn(u32, u32) -> u32) {
    map_words(to, from, |[a, b]: [u32; 2]| {
        let products = (0..4).map(|index| part(a, index).wrapping_mul(part(b, index)));
        [products.fold(0, u32::wrapping_add)]
    });
}

const MODF: Wide = |d, s| {
    map_words(d, s, |[e]: [u32; 1]| {
        let e = f32::from_bits(e);
        let whole = e.trunc();
        let fract = if e.is_infinite() { 0.0 } else { e - whole };
        [fract.copysign(e).to_bits(), whole.to_bits()]
    });
};

const FREXP: Wide = |d, s| {
    map_words(d, s, |[e]: [u32; 1]| {
        let value = f32::from_bits(e);
        if value == 0.0 || !value.is_finite() {
            return [e, 0];
        }
        // Exact, and no longer denormal.
        let bits = f64::from(value).to_bits();
        let exponent = cast::low_word(bits >> 52 & 0x7ff).wrapping_sub(1022);
        let fract = f64::from_bits(bits & !(0x7ff << 52) | 1022 << 52);
        [cast::to_f32(fract).to_bits(), exponent]
    });
};

const LDEXP: Wide = |d, s| {
    map_words(d, s, |[e, exponent]: [u32; 2]| {
        // Beyond these, every float is 0 or infinite.
        let exponent = exponent.cast_signed().clamp(-400, 400);
        let value = f64::from(f32::from_bits(e)) * f64::from(exponent).exp2();
        [cast::to_f32(value).to_bits()]
    });
};
