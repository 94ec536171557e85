//! 32-bit floats: conversions to integers are clamped, and a NaN equals nothing.

use super::evaluate;
use crate::support::open;

/// Numbers around the limits of integers, and those that are none.
const FLOATS: [f32; 32] = [
    0.0,
    -0.0,
    0.5,
    -0.5,
    0.999,
    -0.999,
    1.0,
    -1.0,
    1.5,
    -1.5,
    2.5,
    -2.5,
    8_388_609.0,
    -8_388_609.0,
    2_147_483_520.0,
    2_147_483_648.0,
    2_147_483_904.0,
    -2_147_483_520.0,
    -2_147_483_648.0,
    -2_147_483_904.0,
    4_294_967_040.0,
    4_294_967_296.0,
    -4_294_967_296.0,
    1e20,
    -1e20,
    f32::MAX,
    f32::MIN,
    f32::INFINITY,
    f32::NEG_INFINITY,
    f32::NAN,
    -f32::NAN,
    // With a payload; whether it is quiet or signals, it is a NaN.
    f32::from_bits(0x7fc1_2345),
];

fn bits() -> [u32; 32] {
    FLOATS.map(f32::to_bits)
}

/// The integer that WGSL makes of `x`: truncated, the closest that a 32-bit float can represent
/// within `min` and `max`. For a NaN WGSL names none, and this workspace zero.
fn convert(x: f32, min: f64, max: f64) -> i64 {
    if x.is_nan() {
        0
    } else {
        f64::from(x).trunc().clamp(min, max) as i64
    }
}

fn to_signed(x: f32) -> u32 {
    convert(x, -2_147_483_648.0, 2_147_483_520.0) as u32
}

fn to_unsigned(x: f32) -> u32 {
    convert(x, 0.0, 4_294_967_040.0) as u32
}

/// Converts `lanes` floats at a time: first all to `i32`, then all to `u32`.
fn assert_conversions(float: &str, signed: &str, unsigned: &str, lanes: usize) {
    let Some(backend) = open() else { return };
    let count = FLOATS.len() / lanes;
    let source = format!(
        "@group(0) @binding(0) var<storage, read> x: array<{float}>;
         @group(0) @binding(1) var<storage, read_write> y: array<{unsigned}>;
         @compute @workgroup_size({count})
         fn convert(@builtin(local_invocation_index) i: u32) {{
             y[i] = bitcast<{unsigned}>({signed}(x[i]));
             y[{count}u + i] = {unsigned}(x[i]);
         }}"
    );
    let results = evaluate(&*backend, &source, &bits(), 2 * FLOATS.len());
    let (to_i32, to_u32) = results.split_at(FLOATS.len());
    for (x, (signed, unsigned)) in FLOATS.iter().zip(to_i32.iter().zip(to_u32)) {
        assert_eq!(*signed, to_signed(*x), "i32 of {x}");
        assert_eq!(*unsigned, to_unsigned(*x), "u32 of {x}");
    }
}

#[test]
fn conversions_to_integers_are_clamped() {
    assert_conversions("f32", "i32", "u32", 1);
}

#[test]
fn conversions_of_vectors_to_integers_are_clamped() {
    assert_conversions("vec2f", "vec2i", "vec2u", 2);
    assert_conversions("vec4f", "vec4i", "vec4u", 4);
}

#[test]
fn negative_numbers_may_be_signed_on_the_way_to_unsigned() {
    const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(32)
    fn convert(@builtin(local_invocation_index) i: u32) { y[i] = u32(i32(x[i])); }";
    let Some(backend) = open() else { return };
    let results = evaluate(&*backend, KERNEL, &bits(), FLOATS.len());
    assert_eq!(results, FLOATS.map(to_signed));
}

/// One bit for each comparison: `==`, `!=`, `<`, `<=`, `>`, `>=`, and the negations of all.
fn comparisons(a: f32, b: f32) -> u32 {
    let holds = [a == b, a != b, a < b, a <= b, a > b, a >= b];
    let bit =
        |index: usize| u32::from(holds[index]) << index | u32::from(!holds[index]) << (index + 6);
    (0..6).map(bit).sum()
}

/// Compares each number of `x` with each, `lanes` at a time.
fn assert_comparisons(float: &str, uint: &str, lanes: usize) {
    let Some(backend) = open() else { return };
    let mut body = String::new();
    for (index, operator) in ["==", "!=", "<", "<=", ">", ">="].iter().enumerate() {
        let (bit, negated) = (1 << index, 1 << (index + 6));
        body += &format!(
            "bits += select({uint}(), {uint}({bit}u), a {operator} b);
             bits += select({uint}(), {uint}({negated}u), !(a {operator} b));\n"
        );
    }
    let count = FLOATS.len() / lanes;
    let source = format!(
        "@group(0) @binding(0) var<storage, read> x: array<f32>;
         @group(0) @binding(1) var<storage, read_write> y: array<{uint}>;
         @compute @workgroup_size(32)
         fn compare(@builtin(local_invocation_index) i: u32) {{
             let a = {float}(x[i]);
             for (var j = 0u; j < {count}u; j++) {{
                 var b: {float};
                 {}
                 var bits: {uint};
                 {body}
                 y[i * {count}u + j] = bits;
             }}
         }}",
        match lanes {
            1 => "b = x[j];".to_owned(),
            _ => format!("for (var k = 0u; k < {lanes}u; k++) {{ b[k] = x[{lanes}u * j + k]; }}"),
        }
    );
    let results = evaluate(&*backend, &source, &bits(), FLOATS.len() * FLOATS.len());
    for (a, results) in FLOATS.iter().zip(results.chunks(FLOATS.len())) {
        for (b, result) in FLOATS.iter().zip(results) {
            let expected = comparisons(*a, *b);
            assert_eq!(
                *result, expected,
                "{float} {a} and {b}: {result:#b}, {expected:#b}"
            );
        }
    }
}

#[test]
fn comparisons_are_those_of_ieee_754() {
    assert_comparisons("f32", "u32", 1);
}

#[test]
fn comparisons_of_vectors_are_those_of_ieee_754() {
    assert_comparisons("vec2f", "vec2u", 2);
    assert_comparisons("vec4f", "vec4u", 4);
}

#[test]
fn nan_differs_from_itself_in_branches_and_loops() {
    const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    fn is_nan(x: f32) -> bool { return x != x; }
    @compute @workgroup_size(32)
    fn find(@builtin(local_invocation_index) i: u32) {
        let value = x[i];
        var found = 0u;
        if value != value { found += 1u; }
        if !(value == value) { found += 2u; }
        if is_nan(value) { found += 4u; }
        if any(vec2f(1.0, value) != vec2f(1.0, value)) { found += 8u; }
        while value != value { found += 16u; break; }
        if value == value { found += 32u; }
        y[i] = found;
    }";
    let Some(backend) = open() else { return };
    let results = evaluate(&*backend, KERNEL, &bits(), FLOATS.len());
    assert_eq!(results, FLOATS.map(|x| if x.is_nan() { 31 } else { 32 }));
}
