//! The built-in functions that work on each component by itself.
//!
//! Where WGSL grants an accuracy in place of a result, functions go through `f64` and are rounded
//! once, which is within any of its limits.

use vyre_core::naga::MathFunction as M;

use super::lane::{map_words, map1, map2, map3, wide1, wide2};
use super::{Narrow, Op, Wide, cast};
use crate::layout::Num;

/// `fun` on scalars; none where it is not a function of each component, or not of this type.
pub(crate) fn math(fun: M, num: Num) -> Option<Op> {
    match num {
        Num::F32 => float(fun).map(Op::Narrow),
        Num::F16 => float(fun).map(Op::Half),
        Num::I32 => signed(fun).or_else(|| bits(fun)).map(Op::Narrow),
        Num::U32 => unsigned(fun).or_else(|| bits(fun)).map(Op::Narrow),
        Num::I64 => wide_signed(fun),
        Num::U64 => wide_unsigned(fun),
        Num::Bool => None,
    }
}

fn float(fun: M) -> Option<Narrow> {
    Some(match fun {
        M::Abs => |d, s| map1(d, s, f32::abs),
        M::Min => |d, s| map2(d, s, f32::min),
        M::Max => |d, s| map2(d, s, f32::max),
        M::Clamp => |d, s| map3(d, s, |e: f32, low: f32, high: f32| e.max(low).min(high)),
        M::Saturate => |d, s| map1(d, s, saturate),
        M::Ceil => |d, s| map1(d, s, f32::ceil),
        M::Floor => |d, s| map1(d, s, f32::floor),
        M::Round => |d, s| map1(d, s, f32::round_ties_even),
        M::Trunc => |d, s| map1(d, s, f32::trunc),
        M::Fract => |d, s| map1(d, s, |e: f32| e - e.floor()),
        M::Sqrt => |d, s| map1(d, s, f32::sqrt),
        M::InverseSqrt => |d, s| map1(d, s, |e| double(e, |e| e.sqrt().recip())),
        M::Fma => |d, s| map3(d, s, |a: f32, b: f32, c: f32| a * b + c),
        M::Sign => |d, s| {
            map1(d, s, |e: f32| {
                f32::from(i8::from(e > 0.0) - i8::from(e < 0.0))
            })
        },
        M::Step => |d, s| map2(d, s, |edge: f32, x: f32| f32::from(u8::from(edge <= x))),
        M::SmoothStep => |d, s| map3(d, s, smooth_step),
        M::Mix => |d, s| map3(d, s, |a: f32, b: f32, t: f32| a * (1.0 - t) + b * t),
        M::Radians => |d, s| map1(d, s, |e| double(e, f64::to_radians)),
        M::Degrees => |d, s| map1(d, s, |e| double(e, f64::to_degrees)),
        M::QuantizeToF16 => |d, s| map1(d, s, |e| cast::half_to_f32(cast::f32_to_half(e))),
        _ => return transcendental(fun),
    })
}

fn transcendental(fun: M) -> Option<Narrow> {
    Some(match fun {
        M::Cos => |d, s| map1(d, s, |e| double(e, f64::cos)),
        M::Cosh => |d, s| map1(d, s, |e| double(e, f64::cosh)),
        M::Sin => |d, s| map1(d, s, |e| double(e, f64::sin)),
        M::Sinh => |d, s| map1(d, s, |e| double(e, f64::sinh)),
        M::Tan => |d, s| map1(d, s, |e| double(e, f64::tan)),
        M::Tanh => |d, s| map1(d, s, |e| double(e, f64::tanh)),
        M::Acos => |d, s| map1(d, s, |e| double(e, f64::acos)),
        M::Asin => |d, s| map1(d, s, |e| double(e, f64::asin)),
        M::Atan => |d, s| map1(d, s, |e| double(e, f64::atan)),
        M::Asinh => |d, s| map1(d, s, |e| double(e, f64::asinh)),
        M::Acosh => |d, s| map1(d, s, |e| double(e, f64::acosh)),
        M::Atanh => |d, s| map1(d, s, |e| double(e, f64::atanh)),
        M::Exp => |d, s| map1(d, s, |e| double(e, f64::exp)),
        M::Exp2 => |d, s| map1(d, s, |e| double(e, f64::exp2)),
        M::Log => |d, s| map1(d, s, |e| double(e, f64::ln)),
        M::Log2 => |d, s| map1(d, s, |e| double(e, f64::log2)),
        M::Atan2 => |d, s| {
            map2(d, s, |y: f32, x: f32| {
                cast::to_f32(f64::from(y).atan2(f64::from(x)))
            });
        },
        M::Pow => |d, s| map2(d, s, power),
        _ => return None,
    })
}

/// `run(e)` in double precision, rounded.
fn double(e: f32, run: impl Fn(f64) -> f64) -> f32 {
    cast::to_f32(run(f64::from(e)))
}

#[expect(clippy::manual_clamp, reason = "a NaN becomes 0, not a NaN")]
fn saturate(e: f32) -> f32 {
    e.max(0.0).min(1.0)
}

fn smooth_step(low: f32, high: f32, x: f32) -> f32 {
    let t = saturate((x - low) / (high - low));
    t * t * (3.0 - 2.0 * t)
}

/// WGSL's `pow` is `exp2(y * log2(x))`, so a negative base has no power.
fn power(x: f32, y: f32) -> f32 {
    if x < 0.0 {
        return f32::NAN;
    }
    cast::to_f32(f64::from(x).powf(f64::from(y)))
}

fn signed(fun: M) -> Option<Narrow> {
    Some(match fun {
        M::Abs => |d, s| map1(d, s, i32::wrapping_abs),
        M::Min => |d, s| map2(d, s, |a: i32, b: i32| a.min(b)),
        M::Max => |d, s| map2(d, s, |a: i32, b: i32| a.max(b)),
        M::Clamp => |d, s| map3(d, s, |e: i32, low: i32, high: i32| e.max(low).min(high)),
        M::Sign => |d, s| map1(d, s, i32::signum),
        M::FirstLeadingBit => |d, s| map1(d, s, |e: i32| leading(e.cast_unsigned() ^ sign(e))),
        M::ExtractBits => |d, s| {
            map3(d, s, |e: i32, offset, count| {
                let (offset, count) = field(offset, count);
                let up = e.unbounded_shl(32 - offset - count);
                up.unbounded_shr(32 - count) * i32::from(count > 0)
            });
        },
        _ => return None,
    })
}

fn unsigned(fun: M) -> Option<Narrow> {
    Some(match fun {
        M::Abs => |d, s| map1(d, s, |e: u32| e),
        M::Min => |d, s| map2(d, s, |a: u32, b: u32| a.min(b)),
        M::Max => |d, s| map2(d, s, |a: u32, b: u32| a.max(b)),
        M::Clamp => |d, s| map3(d, s, |e: u32, low: u32, high: u32| e.max(low).min(high)),
        M::Sign => |d, s| map1(d, s, |e: u32| e.min(1)),
        M::FirstLeadingBit => |d, s| map1(d, s, leading),
        M::ExtractBits => |d, s| {
            map3(d, s, |e: u32, offset, count| {
                let (offset, count) = field(offset, count);
                e.unbounded_shr(offset) & ones(count)
            });
        },
        _ => return None,
    })
}

fn bits(fun: M) -> Option<Narrow> {
    Some(match fun {
        M::CountTrailingZeros => |d, s| map1(d, s, u32::trailing_zeros),
        M::CountLeadingZeros => |d, s| map1(d, s, u32::leading_zeros),
        M::CountOneBits => |d, s| map1(d, s, u32::count_ones),
        M::ReverseBits => |d, s| map1(d, s, u32::reverse_bits),
        // -1 where there is none.
        M::FirstTrailingBit => |d, s| {
            map1(
                d,
                s,
                |e: u32| if e == 0 { u32::MAX } else { e.trailing_zeros() },
            );
        },
        _ => return None,
    })
}

/// Position of the highest bit that is set, -1 where there is none.
fn leading(e: u32) -> u32 {
    31_u32.wrapping_sub(e.leading_zeros())
}

/// All ones for a negative number.
fn sign(e: i32) -> u32 {
    (e >> 31).cast_unsigned()
}

/// A field of bits, cut to what a word has.
fn field(offset: u32, count: u32) -> (u32, u32) {
    let offset = offset.min(32);
    (offset, count.min(32 - offset))
}

fn ones(count: u32) -> u32 {
    !u32::MAX.unbounded_shl(count)
}

/// `insertBits`: of `e`, `newbits`, `offset` and `count`, in registers in this order.
pub(super) const INSERT_BITS: Wide = |d, s| {
    map_words(d, s, |[e, new, offset, count]: [u32; 4]| {
        let (offset, count) = field(offset, count);
        let mask = ones(count).unbounded_shl(offset);
        [e & !mask | new.unbounded_shl(offset) & mask]
    });
};

fn wide_signed(fun: M) -> Option<Op> {
    let run: Wide = match fun {
        M::Abs => |d, s| wide1(d, s, i64::wrapping_abs),
        M::Sign => |d, s| wide1(d, s, i64::signum),
        M::Min => |d, s| wide2(d, s, |a: i64, b: i64| a.min(b)),
        M::Max => |d, s| wide2(d, s, |a: i64, b: i64| a.max(b)),
        M::Clamp => |d, s| {
            map_words(d, s, |[a, b, c, e, f, g]: [u32; 6]| {
                let of = |low, high| cast::whole(low, high).cast_signed();
                let value = of(a, b).max(of(c, e)).min(of(f, g));
                cast::halves(value.cast_unsigned())
            });
        },
        _ => return None,
    };
    Some(Op::Wide(run, 2))
}

fn wide_unsigned(fun: M) -> Option<Op> {
    let run: Wide = match fun {
        M::Abs => |d, s| wide1(d, s, |a: u64| a),
        M::Sign => |d, s| wide1(d, s, |a: u64| a.min(1)),
        M::Min => |d, s| wide2(d, s, |a: u64, b: u64| a.min(b)),
        M::Max => |d, s| wide2(d, s, |a: u64, b: u64| a.max(b)),
        M::Clamp => |d, s| {
            map_words(d, s, |[a, b, c, e, f, g]: [u32; 6]| {
                let value = cast::whole(a, b)
                    .max(cast::whole(c, e))
                    .min(cast::whole(f, g));
                cast::halves(value)
            });
        },
        _ => return None,
    };
    Some(Op::Wide(run, 2))
}
