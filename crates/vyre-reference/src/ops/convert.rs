//! Conversions between scalar types, as `T(e)` does them.

use super::lane::{map_words, map1};
use super::{Op, Wide, cast};
use crate::layout::Num;

/// `to(from)`; none where the bits stay what they are.
pub(crate) fn convert(from: Num, to: Num) -> Option<Op> {
    use Num::{Bool, F16, F32, I32, I64, U32, U64};
    Some(match (from, to) {
        (I32 | U32, I32 | U32) | (I64 | U64, I64 | U64) => return None,
        _ if from == to => return None,
        (Bool, F16) => Op::Narrow(|d, s| map1(d, s, |a: u32| a * 0x3c00)),
        (Bool, F32) => Op::Narrow(|d, s| map1(d, s, |a: bool| f32::from(u8::from(a)))),
        (Bool, I32 | U32) => return None,
        (I32 | U32, Bool) => Op::Narrow(|d, s| map1(d, s, |a: u32| a != 0)),
        (F32, Bool) => Op::Narrow(|d, s| map1(d, s, |a: f32| a != 0.0)),
        (F16, Bool) => Op::Narrow(|d, s| map1(d, s, |a: u32| a & 0x7fff != 0)),
        (I32, F32) => Op::Narrow(|d, s| map1(d, s, cast::i32_to_f32)),
        (U32, F32) => Op::Narrow(|d, s| map1(d, s, cast::u32_to_f32)),
        (I32, F16) => Op::Narrow(|d, s| map1(d, s, |a| cast::f32_to_half(cast::i32_to_f32(a)))),
        (U32, F16) => Op::Narrow(|d, s| map1(d, s, |a| cast::f32_to_half(cast::u32_to_f32(a)))),
        (F32, I32) => Op::Narrow(|d, s| map1(d, s, cast::f32_to_i32)),
        (F32, U32) => Op::Narrow(|d, s| map1(d, s, cast::f32_to_u32)),
        (F16, I32) => Op::Narrow(|d, s| map1(d, s, |a| cast::f32_to_i32(clamp_half(a)))),
        (F16, U32) => Op::Narrow(|d, s| map1(d, s, |a| cast::f32_to_u32(clamp_half(a)))),
        (F16, F32) => Op::Narrow(|d, s| map1(d, s, cast::half_to_f32)),
        (F32, F16) => Op::Narrow(|d, s| map1(d, s, cast::f32_to_half)),
        _ => {
            let words = to.words();
            return convert_wide(from, to).map(|run| Op::Wide(run, words));
        }
    })
}

/// An `f16` as an `f32`, with infinities pulled to the greatest finite `f16`s.
fn clamp_half(bits: u32) -> f32 {
    let value = cast::half_to_f32(bits);
    if value.is_nan() {
        return value;
    }
    value.clamp(-65504.0, 65504.0)
}

/// Conversions from or to 64 bits.
fn convert_wide(from: Num, to: Num) -> Option<Wide> {
    use Num::{Bool, F16, F32, I32, I64, U32, U64};
    fn narrow(d: &mut [Vec<u32>], s: &[&[u32]], run: impl Fn(u64) -> u32) {
        map_words(d, s, |[low, high]: [u32; 2]| [run(cast::whole(low, high))]);
    }
    fn widen(d: &mut [Vec<u32>], s: &[&[u32]], run: impl Fn(u32) -> u64) {
        map_words(d, s, |[word]: [u32; 1]| cast::halves(run(word)));
    }
    Some(match (from, to) {
        (Bool | U32, I64 | U64) => |d, s| widen(d, s, u64::from),
        (I32, I64 | U64) => |d, s| {
            widen(d, s, |a| i64::from(a.cast_signed()).cast_unsigned());
        },
        (F32, I64) => |d, s| {
            widen(d, s, |a| {
                cast::f32_to_i64(f32::from_bits(a)).cast_unsigned()
            });
        },
        (F32, U64) => |d, s| widen(d, s, |a| cast::f32_to_u64(f32::from_bits(a))),
        (F16, I64) => |d, s| {
            widen(d, s, |a| cast::f32_to_i64(clamp_half(a)).cast_unsigned());
        },
        (F16, U64) => |d, s| widen(d, s, |a| cast::f32_to_u64(clamp_half(a))),
        (I64 | U64, Bool) => |d, s| narrow(d, s, |a| u32::from(a != 0)),
        (I64 | U64, I32 | U32) => |d, s| narrow(d, s, cast::low_word),
        (I64, F32) => |d, s| narrow(d, s, |a| cast::i64_to_f32(a.cast_signed()).to_bits()),
        (U64, F32) => |d, s| narrow(d, s, |a| cast::u64_to_f32(a).to_bits()),
        (I64, F16) => |d, s| {
            narrow(d, s, |a| {
                cast::f32_to_half(cast::i64_to_f32(a.cast_signed()))
            });
        },
        (U64, F16) => |d, s| narrow(d, s, |a| cast::f32_to_half(cast::u64_to_f32(a))),
        _ => return None,
    })
}
