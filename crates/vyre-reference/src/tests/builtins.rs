//! Built-in functions, against the tables of the WGSL specification worked out by hand.

use super::{output, run};

#[test]
fn bits_are_counted_and_moved() {
    let out = output(
        "@compute @workgroup_size(1)
         fn main() {
             var x = 0x00f0u;
             var y = -16i;
             var zero = 0u;
             out[0] = countOneBits(x); out[1] = countLeadingZeros(x); out[2] = countTrailingZeros(x);
             out[3] = firstLeadingBit(x); out[4] = firstTrailingBit(x); out[5] = reverseBits(x);
             out[6] = u32(firstLeadingBit(y)); out[7] = firstLeadingBit(zero); out[8] = firstTrailingBit(zero);
             out[9] = extractBits(x, 4u, 3u); out[10] = u32(extractBits(y, 3u, 4u)); out[11] = extractBits(x, 30u, 9u);
             out[12] = insertBits(x, 5u, 6u, 3u); out[13] = insertBits(x, ~0u, 31u, 5u);
             out[14] = extractBits(x, 0u, 32u) + u32(extractBits(y, 5u, 0u));
             out[15] = u32(sign(y) * 3i + clamp(y, -3i, 5i)); 
         }",
        16,
    );
    let expected = [
        4,
        24,
        4,
        7,
        4,
        0x0f00_0000,
        3,
        u32::MAX,
        u32::MAX,
        7,
        0xffff_fffe,
        0,
        0x170,
        0x8000_00f0,
        0xf0,
        0_u32.wrapping_sub(6),
    ];
    assert_eq!(out, expected);
}

#[test]
fn packing_is_undone_by_unpacking() {
    let out = output(
        "@compute @workgroup_size(1)
         fn main() {
             var v = vec4f(-1.0, 0.5, 0.0, 2.0);
             out[0] = pack4x8snorm(v); out[1] = pack4x8unorm(v);
             out[2] = pack2x16snorm(v.xy); out[3] = pack2x16unorm(v.yz); out[4] = pack2x16float(v.xy);
             var i = vec4i(-1, 200, -300, 5);
             out[5] = pack4xI8(i); out[6] = pack4xI8Clamp(i); out[7] = pack4xU8(vec4u(i)); out[8] = pack4xU8Clamp(vec4u(i));
             var w = 0x80ff017fu;
             out[9] = u32(dot4I8Packed(w, w)); out[10] = dot4U8Packed(w, w);
             let s = unpack4xI8(w); out[11] = u32(s.x + 2 * s.y + 4 * s.z + 8 * s.w);
             let u = unpack4xU8(w); out[12] = u.x + 2u * u.y + 4u * u.z + 8u * u.w;
             let n = unpack4x8snorm(w); out[13] = u32(n.x == 1.0 && n.w == -1.0 && n.y == 1.0 / 127.0);
             let f = unpack2x16float(0x3c00c000u); out[14] = bitcast<u32>(f.x + f.y);
             let h = unpack2x16snorm(0x80007fffu); out[15] = bitcast<u32>(h.x + h.y);
         }",
        16,
    );
    let expected = [
        0x7f00_4081,
        0xff00_8000,
        0x4000_8001,
        0x0000_8000,
        0x3800_bc00,
        0x05d4_c8ff,
        0x0580_7fff,
        0x05d4_c8ff,
        0x05ff_c8ff,
        32515,
        97539,
        127 + 2 - 4 - 1024,
        127 + 2 + 1020 + 1024,
        1,
        0xbf80_0000,
        0,
    ];
    let expected = expected.map(|word: i64| u32::try_from(word & 0xffff_ffff).unwrap());
    assert_eq!(out, expected);
}

/// Runs `expression` of `x` for each input.
fn floats(expression: &str, inputs: &[f32]) -> Vec<f32> {
    let source = format!(
        "@group(0) @binding(0) var<storage, read> x_in: array<f32>;
         @group(0) @binding(1) var<storage, read_write> out: array<f32>;
         @compute @workgroup_size(1)
         fn main(@builtin(workgroup_id) id: vec3u) {{ let x = x_in[id.x]; out[id.x] = {expression}; }}"
    );
    let bits: Vec<u32> = inputs.iter().map(|x| x.to_bits()).collect();
    let grid = u32::try_from(inputs.len()).unwrap();
    let out = run(
        &source,
        grid,
        &[("x_in", &bits), ("out", &vec![0; inputs.len()])],
    );
    out[0].iter().map(|&word| f32::from_bits(word)).collect()
}

#[test]
fn rounding_goes_where_it_should() {
    let inputs = [2.5, -2.5, 3.5, -0.25];
    assert_eq!(floats("round(x)", &inputs), [2.0, -2.0, 4.0, -0.0]);
    assert_eq!(floats("floor(x)", &inputs), [2.0, -3.0, 3.0, -1.0]);
    assert_eq!(floats("ceil(x)", &inputs), [3.0, -2.0, 4.0, -0.0]);
    assert_eq!(floats("trunc(x)", &inputs), [2.0, -2.0, 3.0, -0.0]);
    assert_eq!(floats("fract(x)", &inputs), [0.5, 0.5, 0.5, 0.75]);
    assert_eq!(floats("x % 2.0", &inputs), [0.5, -0.5, 1.5, -0.25]);
    assert_eq!(floats("sign(x)", &inputs), [1.0, -1.0, 1.0, -1.0]);
    assert_eq!(floats("saturate(x)", &inputs), [1.0, 0.0, 1.0, 0.0]);
}

#[test]
fn parts_of_floats_come_apart() {
    let inputs = [6.5, -0.75, 1e-40, 0.0];
    assert_eq!(floats("modf(x).fract", &inputs)[..2], [0.5, -0.75]);
    assert_eq!(floats("modf(x).whole", &inputs)[..2], [6.0, -0.0]);
    assert_eq!(floats("frexp(x).fract", &inputs)[..2], [0.8125, -0.75]);
    assert_eq!(
        floats("f32(frexp(x).exp)", &inputs),
        [3.0, 0.0, -132.0, 0.0]
    );
    assert_eq!(
        floats("ldexp(frexp(x).fract, frexp(x).exp)", &inputs),
        inputs
    );
    assert_eq!(
        floats("quantizeToF16(x)", &[1.0 + 1e-5, 65504.0]),
        [1.0, 65504.0]
    );
}

#[test]
#[expect(
    clippy::approx_constant,
    clippy::excessive_precision,
    reason = "a table of decimal figures"
)]
fn functions_meet_known_values() {
    let near = |expression: &str, x: f32, expected: f32| {
        let got = floats(expression, &[x])[0];
        let error = (got - expected).abs() / expected.abs().max(1.0);
        assert!(error < 1e-6, "{expression} of {x}: {got}, not {expected}");
    };
    near("sin(x)", 1.0, 0.841_470_98);
    near("cos(x)", 1.0, 0.540_302_3);
    near("tan(x)", 1.0, 1.557_407_7);
    near("asin(x)", 0.5, 0.523_598_8);
    near("acos(x)", 0.5, 1.047_197_6);
    near("atan(x)", 1.0, 0.785_398_2);
    near("atan2(x, -1.0)", 1.0, 2.356_194_5);
    near("sinh(x) + cosh(x)", 1.0, 2.718_281_8);
    near("tanh(x)", 0.5, 0.462_117_16);
    near("asinh(x)", 1.0, 0.881_373_6);
    near("acosh(x)", 2.0, 1.316_957_9);
    near("atanh(x)", 0.5, 0.549_306_15);
    near("exp(x)", 2.0, 7.389_056);
    near("exp2(x)", 0.5, 1.414_213_6);
    near("log(x)", 10.0, 2.302_585);
    near("log2(x)", 10.0, 3.321_928);
    near("pow(x, 1.5)", 4.0, 8.0);
    near("inverseSqrt(x)", 16.0, 0.25);
    near("degrees(x)", 1.0, 57.295_78);
    near("radians(x)", 180.0, 3.141_592_7);
    near("mix(1.0, 3.0, x)", 0.25, 1.5);
    near("smoothstep(0.0, 2.0, x)", 0.5, 0.156_25);
    near("step(x, 1.0) + step(1.5, x)", 1.0, 1.0);
    near("fma(x, 2.0, 1.0)", 3.0, 7.0);
}

#[test]
fn vectors_have_lengths_and_angles() {
    let out = output(
        "@compute @workgroup_size(1)
         fn main() {
             var a = vec3f(1.0, 2.0, 2.0);
             var b = vec3f(0.0, 1.0, 0.0);
             let c = cross(a, b);
             let n = normalize(a);
             let r = reflect(a, b);
             let t = refract(vec3f(0.6, -0.8, 0.0), b, 0.5);
             let none = refract(vec3f(0.96, -0.28, 0.0), b, 2.0);
             let f = faceForward(a, b, -b);
             let v = array(length(a), distance(a, b), dot(a, b), c.x, c.z, n.y * 3.0, r.y, t.x, t.y * t.y, none.y, f.x, length(-3.0));
             for (var i = 0; i < 12; i++) { out[i] = bitcast<u32>(v[i]); }
         }",
        12,
    );
    let expected = [
        3.0,
        6.0_f32.sqrt(),
        2.0,
        -2.0,
        1.0,
        2.0,
        -2.0,
        0.3,
        0.91,
        0.0,
        1.0,
        3.0,
    ];
    for (got, expected) in out.into_iter().map(f32::from_bits).zip(expected) {
        assert!((got - expected).abs() < 1e-6, "{got}, not {expected}");
    }
}
