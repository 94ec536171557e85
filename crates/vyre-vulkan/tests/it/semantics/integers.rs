//! 32-bit integers: overflow wraps, no division is undefined, shift counts are taken modulo 32.

use super::evaluate;
use crate::support::open;

/// Small ones, ones around the bit width, and ones around the limits of both types.
const NUMBERS: [u32; 16] = [
    0,
    1,
    2,
    7,
    31,
    32,
    33,
    64,
    0x7fff_fffe,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_ffe0,
    0xffff_fff9,
    0xffff_fffe,
    u32::MAX,
];

/// An operation on `a` and `b`, in WGSL (`uint` is `u32` or a vector of them) and on the host.
type Operation<T> = (&'static str, fn(T, T) -> T);

const UNSIGNED: [Operation<u32>; 9] = [
    ("a + b", u32::wrapping_add),
    ("a - b", u32::wrapping_sub),
    ("a * b", u32::wrapping_mul),
    ("a / b", |a, b| a.checked_div(b).unwrap_or(a)),
    ("a % b", |a, b| a.checked_rem(b).unwrap_or(0)),
    ("a << b", u32::wrapping_shl),
    ("a >> b", u32::wrapping_shr),
    ("a & (a - 1u)", |a, _| a & a.wrapping_sub(1)),
    ("max(a, b) - min(a, b)", u32::abs_diff),
];

const SIGNED: [Operation<i32>; 10] = [
    ("a + b", i32::wrapping_add),
    ("a - b", i32::wrapping_sub),
    ("a * b", i32::wrapping_mul),
    ("a / b", |a, b| match b {
        0 => a,
        _ => a.wrapping_div(b),
    }),
    ("a % b", |a, b| match b {
        0 => 0,
        _ => a.wrapping_rem(b),
    }),
    ("a << uint(b)", |a, b| a.wrapping_shl(b.cast_unsigned())),
    ("a >> uint(b)", |a, b| a.wrapping_shr(b.cast_unsigned())),
    ("-a", |a, _| a.wrapping_neg()),
    ("abs(a)", |a, _| a.wrapping_abs()),
    ("sign(a)", |a, _| a.signum()),
];

/// Both operands of every pair of [`NUMBERS`].
fn pairs() -> (Vec<u32>, Vec<u32>) {
    let pairs = NUMBERS.iter().flat_map(|a| NUMBERS.map(|b| (*a, b)));
    pairs.unzip()
}

/// The kernel that takes all `a`, then all `b`, and gives the results of one operation after the
/// other. `number` and `uint` are the types of `a` and of a shift count, of `lanes` each.
fn kernel(operations: &[&str], number: &str, uint: &str, lanes: usize) -> String {
    let pairs = NUMBERS.len() * NUMBERS.len() / lanes;
    let mut body = String::new();
    for (index, operation) in operations.iter().enumerate() {
        body += &format!("y[{index}u * {pairs}u + i] = {operation};\n");
    }
    format!(
        "alias uint = {uint};
         @group(0) @binding(0) var<storage, read> x: array<{number}>;
         @group(0) @binding(1) var<storage, read_write> y: array<{number}>;
         @compute @workgroup_size({pairs})
         fn operate(@builtin(local_invocation_index) i: u32) {{
             let a = x[i];
             let b = x[{pairs}u + i];
             {body}
         }}"
    )
}

/// Fails unless each operation gives for each pair what `host` says, which is given its index.
fn assert_operations(
    operations: &[&str],
    (number, uint, lanes): (&str, &str, usize),
    host: impl Fn(usize, u32, u32) -> u32,
) {
    let Some(backend) = open() else { return };
    let (a, b) = pairs();
    let source = kernel(operations, number, uint, lanes);
    let len = operations.len() * a.len();
    let results = evaluate(&*backend, &source, &[&a[..], &b].concat(), len);
    for (index, results) in results.chunks(a.len()).enumerate() {
        for ((&a, &b), &result) in a.iter().zip(&b).zip(results) {
            let operation = operations[index];
            let expected = host(index, a, b);
            assert_eq!(result, expected, "{operation} of {number}: {a:#x}, {b:#x}");
        }
    }
}

fn assert_unsigned(types: (&str, &str, usize)) {
    let host = |index: usize, a, b| UNSIGNED[index].1(a, b);
    assert_operations(&UNSIGNED.map(|(wgsl, _)| wgsl), types, host);
}

fn assert_signed(types: (&str, &str, usize)) {
    let host = |index: usize, a: u32, b: u32| {
        SIGNED[index].1(a.cast_signed(), b.cast_signed()).cast_unsigned()
    };
    assert_operations(&SIGNED.map(|(wgsl, _)| wgsl), types, host);
}

#[test]
fn unsigned_operations_are_defined_for_all_operands() {
    assert_unsigned(("u32", "u32", 1));
}

#[test]
fn unsigned_vector_operations_are_defined_for_all_operands() {
    assert_unsigned(("vec4u", "vec4u", 4));
    assert_unsigned(("vec2u", "vec2u", 2));
}

#[test]
fn signed_operations_are_defined_for_all_operands() {
    assert_signed(("i32", "u32", 1));
}

#[test]
fn signed_vector_operations_are_defined_for_all_operands() {
    assert_signed(("vec4i", "vec4u", 4));
    assert_signed(("vec2i", "vec2u", 2));
}

#[test]
fn compound_assignments_are_defined_for_all_operands() {
    const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read> x: array<i32>;
    @group(0) @binding(1) var<storage, read_write> y: array<i32>;
    @compute @workgroup_size(16)
    fn assign(@builtin(local_invocation_index) i: u32) {
        for (var j = 0u; j < 16u; j++) {
            let at = 4u * (16u * i + j);
            for (var k = 0u; k < 4u; k++) { y[at + k] = x[i]; }
            y[at] /= x[j];
            y[at + 1u] %= x[j];
            y[at + 2u] <<= u32(x[j]);
            y[at + 3u] >>= u32(x[j]);
        }
    }";
    let Some(backend) = open() else { return };
    let results = evaluate(&*backend, KERNEL, &NUMBERS, 4 * 256);
    let (a, b) = pairs();
    let expected: Vec<u32> = a
        .iter()
        .zip(&b)
        .flat_map(|(a, b)| {
            let (a, b) = (a.cast_signed(), b.cast_signed());
            [3, 4, 5, 6].map(|operation| SIGNED[operation].1(a, b).cast_unsigned())
        })
        .collect();
    assert_eq!(results, expected);
}
