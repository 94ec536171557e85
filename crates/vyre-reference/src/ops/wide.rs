//! 64-bit integers, each in two registers.

use vyre_core::naga::BinaryOperator as B;

use super::lane::{compare2, map_words, wide1, wide2};
use super::{Op, Wide, cast};

/// The words of a 64-bit integer, low half first.
pub(crate) fn to_words(value: u64) -> [u32; 2] {
    cast::halves(value)
}

/// The 64-bit integer of its words.
pub(crate) fn from_words(low: u32, high: u32) -> u64 {
    cast::whole(low, high)
}

pub(super) fn negate() -> Op {
    Op::Wide(|d, s| wide1(d, s, i64::wrapping_neg), 2)
}

pub(super) fn not() -> Op {
    Op::Wide(|d, s| wide1(d, s, |a: u64| !a), 2)
}

pub(super) fn binary_i64(op: B) -> Option<Op> {
    let compare: Wide = match op {
        B::Less => |d, s| compare2(d, s, |a: i64, b: i64| a < b),
        B::LessEqual => |d, s| compare2(d, s, |a: i64, b: i64| a <= b),
        B::Greater => |d, s| compare2(d, s, |a: i64, b: i64| a > b),
        B::GreaterEqual => |d, s| compare2(d, s, |a: i64, b: i64| a >= b),
        B::Divide => {
            let run: Wide = |d, s| wide2(d, s, |a: i64, b: i64| a.checked_div(b).unwrap_or(a));
            return Some(Op::Wide(run, 2));
        }
        B::Modulo => {
            let run: Wide = |d, s| wide2(d, s, |a: i64, b: i64| a.checked_rem(b).unwrap_or(0));
            return Some(Op::Wide(run, 2));
        }
        B::ShiftRight => {
            let run: Wide = |d, s| {
                map_words(d, s, |[low, high, count]: [u32; 3]| {
                    let value = cast::whole(low, high).cast_signed();
                    cast::halves(value.wrapping_shr(count).cast_unsigned())
                });
            };
            return Some(Op::Wide(run, 2));
        }
        _ => return binary_u64(op),
    };
    Some(Op::Wide(compare, 1))
}

pub(super) fn binary_u64(op: B) -> Option<Op> {
    if let Some(compare) = compare_u64(op) {
        return Some(Op::Wide(compare, 1));
    }
    let run: Wide = match op {
        B::Add => |d, s| wide2(d, s, u64::wrapping_add),
        B::Subtract => |d, s| wide2(d, s, u64::wrapping_sub),
        B::Multiply => |d, s| wide2(d, s, u64::wrapping_mul),
        B::Divide => |d, s| wide2(d, s, |a: u64, b: u64| a.checked_div(b).unwrap_or(a)),
        B::Modulo => |d, s| wide2(d, s, |a: u64, b: u64| a.checked_rem(b).unwrap_or(0)),
        B::And => |d, s| wide2(d, s, |a: u64, b: u64| a & b),
        B::ExclusiveOr => |d, s| wide2(d, s, |a: u64, b: u64| a ^ b),
        B::InclusiveOr => |d, s| wide2(d, s, |a: u64, b: u64| a | b),
        // Shift counts are `u32`s, one register.
        B::ShiftLeft => |d, s| {
            map_words(d, s, |[low, high, count]: [u32; 3]| {
                cast::halves(cast::whole(low, high).wrapping_shl(count))
            });
        },
        B::ShiftRight => |d, s| {
            map_words(d, s, |[low, high, count]: [u32; 3]| {
                cast::halves(cast::whole(low, high).wrapping_shr(count))
            });
        },
        _ => return None,
    };
    Some(Op::Wide(run, 2))
}

fn compare_u64(op: B) -> Option<Wide> {
    Some(match op {
        B::Equal => |d, s| compare2(d, s, |a: u64, b: u64| a == b),
        B::NotEqual => |d, s| compare2(d, s, |a: u64, b: u64| a != b),
        B::Less => |d, s| compare2(d, s, |a: u64, b: u64| a < b),
        B::LessEqual => |d, s| compare2(d, s, |a: u64, b: u64| a <= b),
        B::Greater => |d, s| compare2(d, s, |a: u64, b: u64| a > b),
        B::GreaterEqual => |d, s| compare2(d, s, |a: u64, b: u64| a >= b),
        _ => return None,
    })
}
