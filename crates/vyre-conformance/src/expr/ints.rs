//! The operations over integers and bools, exact by WGSL.

use super::op::{Form, Integers, Op, Rule, Shape};
use super::ty::{Scalar, Ty};
use Scalar::{Bool, F16, F32, I32, I64, U32, U64};

const INTEGERS: &[Scalar] = &[U32, I32, U64, I64];
const SIGNED: &[Scalar] = &[I32, I64];
const WORDS: &[Scalar] = &[U32, I32];
const NOT_BOOL: &[Scalar] = &[U32, I32, F32, U64, I64, F16];

const fn infix(name: &'static str, on: &'static [Scalar], rule: Integers) -> Op {
    with(name, Form::Infix, Shape::Same(2), on, rule)
}

const fn call(name: &'static str, shape: Shape, on: &'static [Scalar], rule: Integers) -> Op {
    with(name, Form::Call, shape, on, rule)
}

const fn with(
    name: &'static str,
    form: Form,
    shape: Shape,
    on: &'static [Scalar],
    rule: Integers,
) -> Op {
    Op {
        name,
        form,
        shape,
        on,
        rule: Rule::Integers(rule),
    }
}

const fn compare(name: &'static str, on: &'static [Scalar], rule: fn(&i128, &i128) -> bool) -> Op {
    Op {
        name,
        form: Form::Infix,
        shape: Shape::Compare,
        on,
        rule: Rule::CompareIntegers(rule),
    }
}

/// The bits of an integer, without the sign's extension.
fn bits(scalar: Scalar, value: i128) -> u64 {
    scalar.wrap(value)
}

fn count_modulo(scalar: Scalar, count: i128) -> u32 {
    count as u32 % scalar.width()
}

/// Offset and count, cut to the 32 bits that there are.
fn field(offset: i128, count: i128) -> (u32, u32) {
    let offset = offset.min(32) as u32;
    (offset, (count.min(32) as u32).min(32 - offset))
}

fn mask(count: u32) -> u64 {
    (1u64 << count) - 1
}

fn extract(scalar: Scalar, args: &[i128]) -> i128 {
    let (offset, count) = field(args[1], args[2]);
    let taken = i128::from((bits(scalar, args[0]) >> offset) & mask(count));
    let negative = scalar.is_signed() && count > 0 && (taken >> (count - 1)) & 1 == 1;
    if negative {
        taken - (1 << count)
    } else {
        taken
    }
}

fn insert(scalar: Scalar, args: &[i128]) -> i128 {
    let (offset, count) = field(args[2], args[3]);
    let (old, new) = (bits(scalar, args[0]), bits(scalar, args[1]));
    let hole = mask(count) << offset;
    i128::from((old & !hole) | ((new << offset) & hole))
}

fn first_leading_bit(scalar: Scalar, args: &[i128]) -> i128 {
    let word = bits(scalar, args[0]) as u32;
    // Of a negative number the first bit that is not a copy of the sign.
    let word = if args[0] < 0 { !word } else { word };
    31 - i128::from(word.leading_zeros())
}

fn first_trailing_bit(scalar: Scalar, args: &[i128]) -> i128 {
    match bits(scalar, args[0]) {
        0 => -1,
        word => i128::from(word.trailing_zeros()),
    }
}

fn divide(_: Scalar, args: &[i128]) -> i128 {
    args[0].checked_div(args[1]).unwrap_or(args[0])
}

fn remainder(_: Scalar, args: &[i128]) -> i128 {
    args[0].checked_rem(args[1]).unwrap_or(0)
}

fn clamp(_: Scalar, args: &[i128]) -> i128 {
    args[0].max(args[1]).min(args[2])
}

fn dot(_: Scalar, args: &[Vec<i128>]) -> i128 {
    let products = args[0].iter().zip(&args[1]);
    products.fold(0, |sum, (a, b)| sum.wrapping_add(a.wrapping_mul(*b)))
}

fn as_words(args: &[i128], scalar: Scalar) -> [u32; 1] {
    [bits(scalar, args[0]) as u32]
}

pub(crate) static OPS: &[Op] = &[
    infix("+", INTEGERS, |_, a| a[0] + a[1]),
    infix("-", INTEGERS, |_, a| a[0] - a[1]),
    infix("*", INTEGERS, |_, a| a[0].wrapping_mul(a[1])),
    infix("/", INTEGERS, divide),
    infix("%", INTEGERS, remainder),
    infix("&", INTEGERS, |_, a| a[0] & a[1]),
    infix("|", INTEGERS, |_, a| a[0] | a[1]),
    infix("^", INTEGERS, |_, a| a[0] ^ a[1]),
    infix("&", &[Bool], |_, a| a[0] & a[1]),
    infix("|", &[Bool], |_, a| a[0] | a[1]),
    with("-", Form::Prefix, Shape::Same(1), SIGNED, |_, a| -a[0]),
    with("~", Form::Prefix, Shape::Same(1), INTEGERS, |_, a| !a[0]),
    with("!", Form::Prefix, Shape::Same(1), &[Bool], |_, a| 1 - a[0]),
    with("<<", Form::Infix, Shape::Shift, INTEGERS, |s, a| {
        i128::from(bits(s, a[0])) << count_modulo(s, a[1])
    }),
    with(">>", Form::Infix, Shape::Shift, INTEGERS, |s, a| {
        a[0] >> count_modulo(s, a[1])
    }),
    compare("==", INTEGERS, i128::eq),
    compare("!=", INTEGERS, i128::ne),
    compare("<", INTEGERS, i128::lt),
    compare("<=", INTEGERS, i128::le),
    compare(">", INTEGERS, i128::gt),
    compare(">=", INTEGERS, i128::ge),
    compare("==", &[Bool], i128::eq),
    compare("!=", &[Bool], i128::ne),
    call("abs", Shape::Same(1), INTEGERS, |_, a| a[0].abs()),
    call("min", Shape::Same(2), INTEGERS, |_, a| a[0].min(a[1])),
    call("max", Shape::Same(2), INTEGERS, |_, a| a[0].max(a[1])),
    call("clamp", Shape::Same(3), INTEGERS, clamp),
    call("sign", Shape::Same(1), SIGNED, |_, a| a[0].signum()),
    call("countOneBits", Shape::Same(1), WORDS, |s, a| {
        as_words(a, s)[0].count_ones().into()
    }),
    call("countLeadingZeros", Shape::Same(1), WORDS, |s, a| {
        as_words(a, s)[0].leading_zeros().into()
    }),
    call("countTrailingZeros", Shape::Same(1), WORDS, |s, a| {
        as_words(a, s)[0].trailing_zeros().into()
    }),
    call("reverseBits", Shape::Same(1), WORDS, |s, a| {
        as_words(a, s)[0].reverse_bits().into()
    }),
    call("firstLeadingBit", Shape::Same(1), WORDS, first_leading_bit),
    call(
        "firstTrailingBit",
        Shape::Same(1),
        WORDS,
        first_trailing_bit,
    ),
    call("extractBits", Shape::Extract, WORDS, extract),
    call("insertBits", Shape::Insert, WORDS, insert),
    Op {
        name: "dot",
        form: Form::Call,
        shape: Shape::Fold(2),
        on: WORDS,
        rule: Rule::IntegerVectors(dot),
    },
    Op {
        name: "all",
        form: Form::Call,
        shape: Shape::Reduce,
        on: &[Bool],
        rule: Rule::IntegerVectors(|_, a| a[0].iter().copied().min().unwrap_or(1)),
    },
    Op {
        name: "any",
        form: Form::Call,
        shape: Shape::Reduce,
        on: &[Bool],
        rule: Rule::IntegerVectors(|_, a| a[0].iter().copied().max().unwrap_or(0)),
    },
    Op {
        name: "select",
        form: Form::Call,
        shape: Shape::Select,
        on: Scalar::ALL,
        rule: Rule::Select,
    },
    convert(U32, &[I32]),
    convert(I32, &[U32]),
    convert(Bool, WORDS),
    convert(U32, &[U64, I64]),
    convert(I32, &[U64, I64]),
    convert(U64, &[U32, I32, I64]),
    convert(I64, &[U32, I32, U64]),
    to_bool(U32),
    to_bool(I32),
    bitcast(I32, &[U32]),
    bitcast(U32, &[I32]),
    bitcast(F32, WORDS),
    bitcast(U32, &[F32]),
    bitcast(I32, &[F32]),
    to_float(Bool),
    to_float(U32),
    to_float(I32),
    from_float(F32),
    from_float(F16),
    Op {
        name: "bool",
        form: Form::Convert,
        shape: Shape::From(F32),
        on: &[Bool],
        rule: Rule::FloatToBool,
    },
];

const fn convert(from: Scalar, on: &'static [Scalar]) -> Op {
    with("convert", Form::Convert, Shape::From(from), on, |_, a| a[0])
}

const fn to_bool(from: Scalar) -> Op {
    with("bool", Form::Convert, Shape::From(from), &[Bool], |_, a| {
        (a[0] != 0) as i128
    })
}

const fn bitcast(from: Scalar, on: &'static [Scalar]) -> Op {
    Op {
        name: "bitcast",
        form: Form::Bitcast,
        shape: Shape::From(from),
        on,
        rule: Rule::Bits,
    }
}

const fn to_float(from: Scalar) -> Op {
    Op {
        name: "to float",
        form: Form::Convert,
        shape: Shape::From(from),
        on: &[F32, F16],
        rule: Rule::ToFloat,
    }
}

const fn from_float(from: Scalar) -> Op {
    Op {
        name: "to integer",
        form: Form::Convert,
        shape: Shape::From(from),
        on: WORDS,
        rule: Rule::FloatToInteger,
    }
}

/// Packed vectors of bytes in a word.
pub(crate) static PACKED: &[Op] = &[
    fixed("dot4U8Packed", &[WORD, WORD], WORD, |a| {
        let lanes = (0..4).map(|lane| byte(a[0], lane) * byte(a[1], lane));
        [lanes.sum(), 0, 0, 0]
    }),
    fixed("dot4I8Packed", &[WORD, WORD], Ty::one(I32), |a| {
        let lanes = (0..4).map(|lane| signed_byte(a[0], lane) * signed_byte(a[1], lane));
        [I32.wrap(lanes.sum()), 0, 0, 0]
    }),
    fixed("pack4xU8", &[Ty::new(U32, 4)], WORD, |a| {
        pack(a, |lane| lane & 0xff)
    }),
    fixed("pack4xI8", &[Ty::new(I32, 4)], WORD, |a| {
        pack(a, |lane| lane & 0xff)
    }),
    fixed("pack4xU8Clamp", &[Ty::new(U32, 4)], WORD, |a| {
        pack(a, |lane| lane.min(255))
    }),
    fixed("pack4xI8Clamp", &[Ty::new(I32, 4)], WORD, |a| {
        pack(a, |lane| I32.integer(lane).clamp(-128, 127) as u64 & 0xff)
    }),
    fixed("unpack4xU8", &[WORD], Ty::new(U32, 4), |a| {
        [0, 1, 2, 3].map(|lane| byte(a[0], lane))
    }),
    fixed("unpack4xI8", &[WORD], Ty::new(I32, 4), |a| {
        [0, 1, 2, 3].map(|lane| I32.wrap(signed_byte(a[0], lane)))
    }),
];

const WORD: Ty = Ty::one(U32);

const fn fixed(
    name: &'static str,
    operands: &'static [Ty],
    result: Ty,
    rule: fn(&[u64]) -> [u64; 4],
) -> Op {
    Op {
        name,
        form: Form::Call,
        shape: Shape::Fixed(operands, result),
        on: NOT_BOOL,
        rule: Rule::Words(rule),
    }
}

fn byte(word: u64, lane: u32) -> u64 {
    (word >> (8 * lane)) & 0xff
}

fn signed_byte(word: u64, lane: u32) -> i128 {
    i128::from(byte(word, lane) as u8 as i8)
}

fn pack(lanes: &[u64], to_byte: fn(u64) -> u64) -> [u64; 4] {
    let bytes = lanes.iter().rev();
    [
        bytes.fold(0, |word, &lane| word << 8 | to_byte(lane)),
        0,
        0,
        0,
    ]
}
