//! What scalar operations compute, as functions over all lanes.
//!
//! The compiler picks a function once; the machine calls it without looking at the operation
//! again. Each is one loop over slices, which the Rust compiler vectorises.

mod lane;
mod cast;
mod integer;
mod float;
mod wide;
mod convert;
mod math;
mod pack;
#[cfg(test)]
mod tests;

use vyre_core::naga::{BinaryOperator, UnaryOperator};

use crate::layout::Num;

pub(crate) use cast::{f32_bits_to_half, half_to_f32_bits};
pub(crate) use convert::convert;
pub(crate) use math::math;
pub(crate) use pack::pack;
pub(crate) use wide::{from_words, to_words};

/// Computes a register from up to three others.
pub(crate) type Narrow = fn(&mut [u32], [&[u32]; 3]);

/// Computes registers from any number of others.
pub(crate) type Wide = fn(&mut [Vec<u32>], &[&[u32]]);

/// How an operation on scalars is computed.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Op {
    /// From one register each to one.
    Narrow(Narrow),
    /// To as many registers as given.
    Wide(Wide, u32),
    /// As the narrow function does on `f32`, and rounded to `f16`.
    Half(Narrow),
    /// From `f16`s to a `bool`, as the narrow function does from `f32`s.
    HalfTest(Narrow),
}

/// `a op b` on scalars; none where WGSL has no such operation.
pub(crate) fn binary(op: BinaryOperator, num: Num) -> Option<Op> {
    match num {
        Num::Bool => integer::binary_bool(op).map(Op::Narrow),
        Num::I32 => integer::binary_i32(op).map(Op::Narrow),
        Num::U32 => integer::binary_u32(op).map(Op::Narrow),
        Num::F32 => float::binary(op).map(Op::Narrow),
        Num::F16 if is_comparison(op) => float::binary(op).map(Op::HalfTest),
        Num::F16 => float::binary(op).map(Op::Half),
        Num::I64 => wide::binary_i64(op),
        Num::U64 => wide::binary_u64(op),
    }
}

/// Whether the operation yields a `bool` whatever its operands are.
pub(crate) fn is_comparison(op: BinaryOperator) -> bool {
    use BinaryOperator as B;
    matches!(
        op,
        B::Equal | B::NotEqual | B::Less | B::LessEqual | B::Greater | B::GreaterEqual
    )
}

/// `op a` on scalars; none where WGSL has no such operation.
pub(crate) fn unary(op: UnaryOperator, num: Num) -> Option<Op> {
    use lane::map1;
    let run: Narrow = match (op, num) {
        (UnaryOperator::Negate, Num::I32) => |d, s| map1(d, s, i32::wrapping_neg),
        (UnaryOperator::Negate, Num::F32) => |d, s| map1(d, s, |a: f32| -a),
        (UnaryOperator::Negate, Num::F16) => |d, s| map1(d, s, |a: u32| a ^ 0x8000),
        (UnaryOperator::Negate, Num::I64) => return Some(wide::negate()),
        (UnaryOperator::BitwiseNot, Num::I32 | Num::U32) => |d, s| map1(d, s, |a: u32| !a),
        (UnaryOperator::BitwiseNot, Num::I64 | Num::U64) => return Some(wide::not()),
        (UnaryOperator::LogicalNot, Num::Bool) => |d, s| map1(d, s, |a: u32| a ^ 1),
        _ => return None,
    };
    Some(Op::Narrow(run))
}

/// `condition ? accept : reject`, from registers in this order.
pub(crate) const SELECT: Narrow = |d, s| {
    lane::map3(
        d,
        s,
        |condition: bool, accept: u32, reject: u32| {
            if condition { accept } else { reject }
        },
    );
};
