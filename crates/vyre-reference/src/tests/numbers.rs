//! Arithmetic and conversions at their edges.

use super::{output, run};

const MIN: u32 = 1 << 31;

#[test]
fn integer_edges_are_defined() {
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<i32>;
        @group(0) @binding(1) var<storage, read> b: array<i32>;
        @group(0) @binding(2) var<storage, read_write> out: array<i32>;
        @compute @workgroup_size(4)
        fn main(@builtin(local_invocation_index) i: u32) {
            let x = a[i];
            let y = b[i];
            out[i * 6u] = x / y;
            out[i * 6u + 1u] = x % y;
            out[i * 6u + 2u] = x << u32(y);
            out[i * 6u + 3u] = x >> u32(y);
            out[i * 6u + 4u] = x * y;
            out[i * 6u + 5u] = abs(-x);
        }";
    let a = [7, MIN, MIN, 0_u32.wrapping_sub(7)];
    let b = [0, u32::MAX, 33, 2];
    let out = run(source, 1, &[("a", &a), ("b", &b), ("out", &[0; 24])]).remove(0);
    let out: Vec<i32> = out.into_iter().map(u32::cast_signed).collect();
    assert_eq!(out[..6], [7, 0, 7, 7, 0, 7]);
    assert_eq!(out[6..12], [i32::MIN, 0, 0, -1, i32::MIN, i32::MIN]);
    assert_eq!(
        out[12..18],
        [-65_075_262, -2, 0, -(1 << 30), i32::MIN, i32::MIN]
    );
    assert_eq!(out[18..], [-3, -1, -28, -2, -14, 7]);
}

#[test]
fn floats_become_integers_by_clamping() {
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<f32>;
        @group(0) @binding(1) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(6)
        fn main(@builtin(local_invocation_index) i: u32) {
            out[i * 4u] = u32(i32(a[i]));
            out[i * 4u + 1u] = u32(a[i]);
            out[i * 4u + 2u] = u32(a[i] != a[i]);
            out[i * 4u + 3u] = u32(a[i] < 0.0) + 2u * u32(bool(a[i]));
        }";
    let a = [f32::NAN, 1e10, -1e10, -1.9, f32::INFINITY, -0.0].map(f32::to_bits);
    let out = run(source, 1, &[("a", &a), ("out", &[0; 24])]).remove(0);
    let (greatest, greatest_u) = (2_147_483_520, 4_294_967_040);
    let expected = [
        [0, 0, 1, 2],
        [greatest, greatest_u, 0, 2],
        [MIN, 0, 0, 3],
        [u32::MAX, 0, 0, 3],
        [greatest, greatest_u, 0, 2],
        [0, 0, 0, 0],
    ];
    assert_eq!(out, expected.concat());
}

#[test]
fn wide_integers_carry() {
    let source = "
        @group(0) @binding(0) var<storage, read> a: array<u64>;
        @group(0) @binding(1) var<storage, read_write> out: array<u64>;
        @group(0) @binding(2) var<storage, read_write> signed: array<i64>;
        @compute @workgroup_size(1)
        fn main() {
            out[0] = a[0] + a[1];
            out[1] = a[0] * a[1];
            out[2] = (a[0] >> 4u) ^ (a[1] << 63u);
            out[3] = u64(u32(a[0])) + u64(a[0] > a[1]);
            out[4] = a[0] / 0lu + a[0] % 0lu;
            let x = i64(a[0]);
            signed[0] = x / -3li;
            signed[1] = min(x, -5li) + abs(x);
            signed[2] = i64(f32(x));
            signed[3] = select(1li, 2li, x < 0li);
            signed[4] = dot(vec2(x, 2li), vec2(2li, 3li));
        }";
    let (x, y) = (0xffff_ffff_ffff_fff0_u64, 0x1_0000_0003_u64);
    let words = |value: u64| [value & 0xffff_ffff, value >> 32].map(|w| u32::try_from(w).unwrap());
    let a = [words(x), words(y)].concat();
    let out = run(
        source,
        1,
        &[("a", &a), ("out", &[0; 10]), ("signed", &[0; 10])],
    );
    let expected = [
        x.wrapping_add(y),
        x.wrapping_mul(y),
        (x >> 4) ^ (y << 63),
        0xffff_fff0 + 1,
        x,
    ];
    assert_eq!(out[0], expected.map(words).concat());
    let expected: [i64; 5] = [5, -16 + 16, -16, 2, -26];
    assert_eq!(
        out[1],
        expected.map(|value| words(value.cast_unsigned())).concat()
    );
}

#[test]
fn halves_round_to_even() {
    let source = "
        enable f16;
        struct Pair { a: f16, b: vec2<f16>, c: f16 }
        @group(0) @binding(0) var<storage, read_write> pairs: array<Pair>;
        @group(0) @binding(1) var<storage, read_write> out: array<f32>;
        @compute @workgroup_size(2)
        fn main(@builtin(local_invocation_index) i: u32) {
            let p = pairs[i];
            out[i * 3u] = f32(p.a + p.b.x);
            out[i * 3u + 1u] = f32(p.b.y * p.c);
            out[i * 3u + 2u] = f32(dot(p.b, p.b));
            pairs[i].b.y = p.a;
            pairs[i].c = -p.c;
        }";
    // 2048 + 1 has no f16: 2048 is even. 1 + 3 / 2048 is halfway, up to the even neighbour.
    let half = |a: u32, b: u32| a | b << 16;
    let pairs = [
        half(0x6800, 0xffff),
        half(0x3c00, 0x4000),
        half(0x4200, 0xeeee),
    ];
    let pairs = [
        pairs,
        [half(0x3c00, 0xffff), half(0x1600, 0x3800), half(0x7bff, 0)],
    ]
    .concat();
    let out = run(source, 1, &[("pairs", &pairs), ("out", &[0; 6])]);
    let floats: Vec<f32> = out[1].iter().map(|&word| f32::from_bits(word)).collect();
    assert_eq!(floats, [2048.0, 6.0, 5.0, 1.0 + 1.0 / 512.0, 32752.0, 0.25]);
    assert_eq!(out[0][1], half(0x3c00, 0x6800));
    assert_eq!(out[0][2], half(0xc200, 0xeeee));
}

#[test]
fn selections_and_masks_work_by_component() {
    let out = output(
        "@compute @workgroup_size(1)
         fn main() {
             let a = vec3u(1u, 2u, 3u);
             let b = vec3u(3u, 2u, 1u);
             let less = a < b;
             let c = select(a, b, less);
             out[0] = c.x; out[1] = c.y; out[2] = c.z;
             out[3] = u32(any(less)) + 2u * u32(all(less)) + 4u * u32(all(less | (a >= b)));
             out[4] = u32(!less.x);
             let d = vec3u(less);
             out[5] = d.x * 100u + d.y * 10u + d.z;
             var i = 2;
             out[6] = a[i] + vec2u(5u, 6u)[i - 1] + a[i + 5];
             out[7] = bitcast<u32>(1.0f) + bitcast<u32>(-1i);
         }",
        8,
    );
    assert_eq!(out, [3, 2, 3, 5, 0, 100, 9, 0x3f7f_ffff]);
}
