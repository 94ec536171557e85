//! 64-bit integers: overflow wraps, no division is undefined, shift counts are taken modulo 64.

use vyre_core::kernel::Capability;

use super::{evaluate, has};
use crate::support::open;

/// Small ones, ones around the bit width, and ones around the limits of both types.
const NUMBERS: [u64; 16] = [
    0,
    1,
    2,
    31,
    32,
    63,
    64,
    65,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_8000_0000,
    0xffff_ffff_ffff_fffe,
    u64::MAX,
];

/// An operation on `a` and `b`, in WGSL and on the host; `count` is the low half of `b`.
type Operation = (&'static str, fn(u64, u64) -> u64);

const UNSIGNED: [Operation; 8] = [
    ("a + b", u64::wrapping_add),
    ("a - b", u64::wrapping_sub),
    ("a * b", u64::wrapping_mul),
    ("a / b", |a, b| a.checked_div(b).unwrap_or(a)),
    ("a % b", |a, b| a.checked_rem(b).unwrap_or(0)),
    ("a << count", |a, b| a.wrapping_shl(b as u32)),
    ("a >> count", |a, b| a.wrapping_shr(b as u32)),
    ("u64(u32(a))", |a, _| a & 0xffff_ffff),
];

const SIGNED: [Operation; 10] = [
    ("a + b", u64::wrapping_add),
    ("a - b", u64::wrapping_sub),
    ("a * b", u64::wrapping_mul),
    ("a / b", |a, b| match b {
        0 => a,
        _ => a
            .cast_signed()
            .wrapping_div(b.cast_signed())
            .cast_unsigned(),
    }),
    ("a % b", |a, b| match b {
        0 => 0,
        _ => a
            .cast_signed()
            .wrapping_rem(b.cast_signed())
            .cast_unsigned(),
    }),
    ("a << count", |a, b| a.wrapping_shl(b as u32)),
    ("a >> count", |a, b| {
        a.cast_signed().wrapping_shr(b as u32).cast_unsigned()
    }),
    ("-a", |a, _| a.wrapping_neg()),
    ("abs(a)", |a, _| {
        a.cast_signed().wrapping_abs().cast_unsigned()
    }),
    ("i64(i32(a))", |a, _| i64::from(a as i32).cast_unsigned()),
];

fn halves(numbers: &[u64]) -> Vec<u32> {
    let halves = |number: &u64| [*number as u32, (*number >> 32) as u32];
    numbers.iter().flat_map(halves).collect()
}

fn numbers(halves: &[u32]) -> Vec<u64> {
    let number = |halves: &[u32]| u64::from(halves[0]) | u64::from(halves[1]) << 32;
    halves.chunks(2).map(number).collect()
}

/// Compares each operation on each pair; `number` is made of `lanes` numbers.
fn assert_operations(operations: &[Operation], number: &str, count: &str, lanes: usize) {
    let Some(backend) = open() else { return };
    if !has(&*backend, Capability::Int64) {
        return;
    }
    let pairs: Vec<_> = NUMBERS
        .iter()
        .flat_map(|a| NUMBERS.map(|b| (*a, b)))
        .collect();
    let threads = pairs.len() / lanes;
    let mut body = String::new();
    for (index, (operation, _)) in operations.iter().enumerate() {
        body += &format!("y[{index}u * {threads}u + i] = {operation};\n");
    }
    let source = format!(
        "@group(0) @binding(0) var<storage, read> x: array<{number}>;
         @group(0) @binding(1) var<storage, read_write> y: array<{number}>;
         @compute @workgroup_size({threads})
         fn operate(@builtin(local_invocation_index) i: u32) {{
             let a = x[i];
             let b = x[{threads}u + i];
             let count = {count}(b);
             {body}
         }}"
    );
    let (a, b): (Vec<_>, Vec<_>) = pairs.iter().copied().unzip();
    let words = halves(&[a, b].concat());
    let len = 2 * operations.len() * pairs.len();
    let results = numbers(&evaluate(&*backend, &source, &words, len));
    for ((operation, host), results) in operations.iter().zip(results.chunks(pairs.len())) {
        for ((a, b), result) in pairs.iter().zip(results) {
            let expected = host(*a, *b);
            assert_eq!(*result, expected, "{operation} of {number}: {a:#x}, {b:#x}");
        }
    }
}

#[test]
fn unsigned_operations_are_defined_for_all_operands() {
    assert_operations(&UNSIGNED, "u64", "u32", 1);
}

#[test]
fn signed_operations_are_defined_for_all_operands() {
    assert_operations(&SIGNED, "i64", "u32", 1);
}

#[test]
fn vector_operations_are_defined_for_all_operands() {
    // The last ones convert scalars.
    assert_operations(&UNSIGNED[..7], "vec2<u64>", "vec2u", 2);
    assert_operations(&SIGNED[..9], "vec4<i64>", "vec4u", 4);
}

/// Numbers around the limits of 64-bit integers, and those that are none.
const FLOATS: [f32; 12] = [
    1.5,
    -1.5,
    4_294_967_296.0,
    -4_294_967_296.0,
    9_223_371_487_098_961_920.0,
    9_223_372_036_854_775_808.0,
    -9_223_372_036_854_775_808.0,
    1e30,
    -1e30,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
];

/// What WGSL makes of `x`: the closest integer, in bounds, that a 32-bit float can represent.
fn convert(x: f32, min: f64, max: f64) -> u64 {
    if x.is_nan() {
        0
    } else {
        (f64::from(x).trunc().clamp(min, max) as i128) as u64
    }
}

#[test]
fn conversions_of_floats_are_clamped() {
    const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u64>;
    @compute @workgroup_size(12)
    fn convert(@builtin(local_invocation_index) i: u32) {
        y[i] = u64(i64(x[i]));
        y[12u + i] = u64(x[i]);
    }";
    let Some(backend) = open() else { return };
    if !has(&*backend, Capability::Int64) {
        return;
    }
    let words = FLOATS.map(f32::to_bits);
    let results = numbers(&evaluate(&*backend, KERNEL, &words, 4 * FLOATS.len()));
    let signed = |x| convert(x, -9_223_372_036_854_775_808.0, 9_223_371_487_098_961_920.0);
    let unsigned = |x| convert(x, 0.0, 18_446_742_974_197_923_840.0);
    assert_eq!(results, [FLOATS.map(signed), FLOATS.map(unsigned)].concat());
}
