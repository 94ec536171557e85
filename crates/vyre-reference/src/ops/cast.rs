//! The conversions between number types, in one place: all others call these.

#![expect(
    clippy::cast_possible_truncation,
    clippy::cast_precision_loss,
    clippy::cast_sign_loss,
    reason = "to round, to wrap and to clamp is what they are for"
)]

use half::f16;

pub(super) fn whole(low: u32, high: u32) -> u64 {
    u64::from(low) | u64::from(high) << 32
}

pub(super) fn halves(bits: u64) -> [u32; 2] {
    [bits as u32, (bits >> 32) as u32]
}

/// The `f32` nearest to `value`.
pub(super) fn to_f32(value: f64) -> f32 {
    value as f32
}

pub(super) fn i32_to_f32(value: i32) -> f32 {
    value as f32
}

pub(super) fn u32_to_f32(value: u32) -> f32 {
    value as f32
}

pub(super) fn i64_to_f32(value: i64) -> f32 {
    value as f32
}

pub(super) fn u64_to_f32(value: u64) -> f32 {
    value as f32
}

/// Toward zero, clamped to the least and greatest `i32` that an `f32` can be; 0 for a NaN.
pub(super) fn f32_to_i32(value: f32) -> i32 {
    value.min(2_147_483_520.0) as i32 * i32::from(!value.is_nan())
}

pub(super) fn f32_to_u32(value: f32) -> u32 {
    value.min(4_294_967_040.0) as u32 * u32::from(!value.is_nan())
}

pub(super) fn f32_to_i64(value: f32) -> i64 {
    value.min(9_223_371_487_098_961_920.0) as i64 * i64::from(!value.is_nan())
}

pub(super) fn f32_to_u64(value: f32) -> u64 {
    value.min(18_446_742_974_197_923_840.0) as u64 * u64::from(!value.is_nan())
}

/// The `f32` of an `f16`'s bits.
pub(super) fn half_to_f32(bits: u32) -> f32 {
    f16::from_bits(bits as u16).to_f32()
}

/// The bits of the `f16` nearest to `value`.
pub(super) fn f32_to_half(value: f32) -> u32 {
    u32::from(f16::from_f32(value).to_bits())
}

/// The low bits of an integer, rounded from a float that has none after the point.
pub(super) fn to_i32(value: f32) -> i32 {
    value as i32
}

pub(super) fn low_word(value: u64) -> u32 {
    value as u32
}

/// The bits of the `f32` of an `f16`'s bits.
pub(crate) fn half_to_f32_bits(bits: u32) -> u32 {
    half_to_f32(bits).to_bits()
}

/// The bits of the `f16` nearest to an `f32`, given by its bits.
pub(crate) fn f32_bits_to_half(bits: u32) -> u32 {
    f32_to_half(f32::from_bits(bits))
}
