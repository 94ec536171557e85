//! 16-bit floats: conversions to integers are clamped, and a NaN equals nothing.

use vyre_core::kernel::Capability;

use super::{evaluate, has};
use crate::support::open;

/// Bits of 16-bit floats with what they stand for.
const HALVES: [(u16, f32); 16] = [
    (0x0000, 0.0),
    (0x8000, -0.0),
    (0x3800, 0.5),
    (0xb800, -0.5),
    (0x3c00, 1.0),
    (0xbc00, -1.0),
    (0x3e00, 1.5),
    (0xbe00, -1.5),
    (0x6400, 1024.0),
    (0xe401, -1025.0),
    (0x7bff, 65504.0),
    (0xfbff, -65504.0),
    (0x7c00, f32::INFINITY),
    (0xfc00, f32::NEG_INFINITY),
    (0x7e00, f32::NAN),
    (0xfe01, f32::NAN),
];

/// Two halves in each word.
fn packed() -> Vec<u32> {
    let pair = |pair: &[(u16, f32)]| u32::from(pair[0].0) | u32::from(pair[1].0) << 16;
    HALVES.chunks(2).map(pair).collect()
}

/// What WGSL makes of `x`: the closest integer, in bounds, that a 16-bit float can represent.
fn convert(x: f32, min: f32) -> u32 {
    if x.is_nan() {
        0
    } else {
        (x.trunc().clamp(min, 65504.0) as i32).cast_unsigned()
    }
}

/// Checks a kernel that converts all halves to signed, then to unsigned integers.
fn check_conversions(kernel: &str) {
    let Some(backend) = open() else { return };
    if !has(&*backend, Capability::Float16) {
        return;
    }
    let results = evaluate(&*backend, kernel, &packed(), 32);
    let expected = [-65504.0, 0.0].map(|min| HALVES.map(|(_, x)| convert(x, min)));
    assert_eq!(results, expected.concat());
}

#[test]
fn conversions_to_integers_are_clamped() {
    const KERNEL: &str = "enable f16;
    @group(0) @binding(0) var<storage, read> x: array<f16>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(16)
    fn convert(@builtin(local_invocation_index) i: u32) {
        y[i] = u32(i32(x[i]));
        y[16u + i] = u32(x[i]);
    }";
    check_conversions(KERNEL);
}

#[test]
fn conversions_of_vectors_to_integers_are_clamped() {
    const KERNEL: &str = "enable f16;
    @group(0) @binding(0) var<storage, read> x: array<vec4h>;
    @group(0) @binding(1) var<storage, read_write> y: array<vec4u>;
    @compute @workgroup_size(4)
    fn convert(@builtin(local_invocation_index) i: u32) {
        y[i] = vec4u(vec4i(x[i]));
        y[4u + i] = vec4u(x[i]);
    }";
    check_conversions(KERNEL);
}

#[test]
fn comparisons_are_those_of_ieee_754() {
    const KERNEL: &str = "enable f16;
    @group(0) @binding(0) var<storage, read> x: array<f16>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(16)
    fn compare(@builtin(local_invocation_index) i: u32) {
        for (var j = 0u; j < 16u; j++) {
            let a = x[i];
            let b = x[j];
            y[16u * i + j] = select(0u, 1u, a == b) + select(0u, 2u, a != b)
                + select(0u, 4u, a < b) + select(0u, 8u, a >= b);
        }
    }";
    let Some(backend) = open() else { return };
    if !has(&*backend, Capability::Float16) {
        return;
    }
    let results = evaluate(&*backend, KERNEL, &packed(), 256);
    let compare = |a: f32, b: f32| {
        u32::from(a == b) + 2 * u32::from(a != b) + 4 * u32::from(a < b) + 8 * u32::from(a >= b)
    };
    let expected: Vec<u32> = HALVES
        .iter()
        .flat_map(|(_, a)| HALVES.map(|(_, b)| compare(*a, b)))
        .collect();
    assert_eq!(results, expected);
}
