//! Integer operations against wider arithmetic, bit functions against their definitions.

use proptest::prelude::*;
use vyre_core::naga::{BinaryOperator as B, MathFunction as M};

use super::{Op, binary, convert, math};
use crate::layout::Num;

/// The words of the result of `op`.
fn apply(op: Option<Op>, src: &[u32]) -> Vec<u32> {
    match op.unwrap() {
        Op::Narrow(run) => {
            let word = |index: usize| [src.get(index).copied().unwrap_or(0)];
            let (a, b, c) = (word(0), word(1), word(2));
            let mut to = [0];
            run(&mut to, [&a, &b, &c]);
            to.to_vec()
        }
        Op::Wide(run, words) => {
            let mut to = vec![vec![0]; words as usize];
            let src: Vec<[u32; 1]> = src.iter().map(|&word| [word]).collect();
            run(
                &mut to,
                &src.iter().map(<[u32; 1]>::as_slice).collect::<Vec<_>>(),
            );
            to.concat()
        }
        Op::Half(_) | Op::HalfTest(_) => panic!("not on 32-bit numbers"),
    }
}

fn words(value: u64) -> Vec<u32> {
    super::to_words(value).to_vec()
}

/// The low 32 bits.
fn low(value: i64) -> Vec<u32> {
    vec![words(value.cast_unsigned())[0]]
}

/// Numbers near the edges of their type more often than others.
fn integer() -> impl Strategy<Value = i32> {
    prop_oneof![any::<i32>(), -3..4, Just(i32::MIN), Just(i32::MAX), 28..70]
}

proptest! {
    #[test]
    fn signed_operators_agree_with_wider_ones(a in integer(), b in integer()) {
        let (x, y) = (i64::from(a), i64::from(b));
        let of = |op| apply(binary(op, Num::I32), &[a.cast_unsigned(), b.cast_unsigned()]);
        prop_assert_eq!(of(B::Add), low(x + y));
        prop_assert_eq!(of(B::Subtract), low(x - y));
        prop_assert_eq!(of(B::Multiply), low(x * y));
        prop_assert_eq!(of(B::Divide), low(if y == 0 { x } else { x / y }));
        prop_assert_eq!(of(B::Modulo), low(if y == 0 { 0 } else { x % y }));
        prop_assert_eq!(of(B::ShiftRight), low(x >> y.rem_euclid(32)));
        prop_assert_eq!(of(B::ShiftLeft), low(x << y.rem_euclid(32)));
        prop_assert_eq!(of(B::Less), low((x < y).into()));
        prop_assert_eq!(of(B::GreaterEqual), low((x >= y).into()));
    }

    #[test]
    fn wide_operators_agree_with_wider_ones(a in any::<i64>(), b in any::<i64>(), count in any::<u32>()) {
        let src = [words(a.cast_unsigned()), words(b.cast_unsigned())].concat();
        let (x, y) = (i128::from(a), i128::from(b));
        let low = |value: i128| words(u64::try_from(value & i128::from(u64::MAX)).unwrap());
        let of = |op| apply(binary(op, Num::I64), &src);
        prop_assert_eq!(of(B::Add), low(x + y));
        prop_assert_eq!(of(B::Subtract), low(x - y));
        prop_assert_eq!(of(B::Multiply), low(x * y));
        prop_assert_eq!(of(B::Divide), low(if y == 0 { x } else { x / y }));
        prop_assert_eq!(of(B::Less), [u32::from(x < y)]);
        let shift = [&src[..2], &[count]].concat();
        prop_assert_eq!(apply(binary(B::ShiftRight, Num::I64), &shift), low(x >> (count % 64)));
        prop_assert_eq!(apply(binary(B::ShiftLeft, Num::U64), &shift), low(x << (count % 64)));
    }

    #[test]
    fn bits_are_extracted_as_a_wide_shift_does(e in any::<u32>(), offset in 0..70_u32, count in 0..70_u32) {
        let (from, len) = (offset.min(32), count.min(32 - offset.min(32)));
        let field = (u64::from(e) >> from) & ((1_u64 << len) - 1);
        prop_assert_eq!(apply(math(M::ExtractBits, Num::U32), &[e, offset, count]), low(field.cast_signed()));
        let sign = len > 0 && field >> (len - 1) == 1;
        let signed = field.cast_signed() - if sign { 1_i64 << len } else { 0 };
        prop_assert_eq!(apply(math(M::ExtractBits, Num::I32), &[e, offset, count]), low(signed));
    }

    #[test]
    fn floats_convert_to_the_nearest_integer_below(value in -3e9_f32..5e9) {
        let whole = f64::from(value).trunc();
        let signed = whole.clamp(-2_147_483_648.0, 2_147_483_520.0);
        let unsigned = whole.clamp(0.0, 4_294_967_040.0);
        let of = |num| f64::from(apply(convert(Num::F32, num), &[value.to_bits()])[0]);
        prop_assert_eq!(of(Num::U32), unsigned);
        prop_assert_eq!(of(Num::I32), if signed < 0.0 { signed + 4_294_967_296.0 } else { signed });
    }

    #[test]
    fn halves_come_back_from_floats(bits in 0..0x7c01_u32) {
        let float = apply(convert(Num::F16, Num::F32), &[bits]);
        prop_assert_eq!(apply(convert(Num::F32, Num::F16), &float), [bits]);
    }
}
