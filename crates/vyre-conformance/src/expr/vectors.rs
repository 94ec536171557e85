//! Float operations over whole vectors, and the packing of floats into words.

use half::f16;

use super::floats::FLOATS;
use super::inherited as inh;
use super::op::{Form, Op, Rule, Shape, Vectors};
use super::range::{BINARY16, BINARY32, Format, Range, Span};
use super::ty::{Scalar, Ty};
use Scalar::{F32, U32};

const fn whole(name: &'static str, shape: Shape, row: &'static str, rule: Vectors) -> Op {
    Op {
        name,
        form: Form::Call,
        shape,
        on: FLOATS,
        rule: Rule::FloatVectors(row, rule),
    }
}

/// The sum of the products, in whatever order, fused or not.
fn dot(f: &Format, a: &[Range], b: &[Range]) -> Range {
    let mut magnitude = 0.0;
    let (mut lo, mut hi) = (0.0, 0.0);
    for (&a, &b) in a.iter().zip(b) {
        let product = f.mul(a, b)?;
        lo += product.lo;
        hi += product.hi;
        magnitude += product.magnitude();
    }
    // A factor that all products share may be drawn out, so the other side is summed first.
    for side in [a, b] {
        let mut lanes = side.iter();
        let sum = lanes.try_fold(0.0, |sum, lane| Some(sum + (*lane)?.magnitude()))?;
        f.rounded(sum, sum)?;
    }
    // Every partial sum is at most the sum of the magnitudes, and is off by one unit of that.
    f.rounded(magnitude, magnitude)?;
    f.within(lo, hi, a.len() as f64 * f.ulp(magnitude))
}

fn length(f: &Format, a: &[Range]) -> Range {
    inh::sqrt(f, dot(f, a, a))
}

fn difference(f: &Format, a: &[Range], b: &[Range]) -> Vec<Range> {
    a.iter().zip(b).map(|(&a, &b)| f.sub(a, b)).collect()
}

fn normalize(f: &Format, a: &[&[Range]]) -> Vec<Range> {
    let length = length(f, a[0]);
    let divided = a[0].iter().map(|&lane| f.div(lane, length));
    let inverse = inh::inverse_sqrt(f, dot(f, a[0], a[0]));
    let multiplied = a[0].iter().map(|&lane| f.mul(lane, inverse));
    let both = divided.zip(multiplied);
    both.map(|(a, b)| Some(a?.hull(b?))).collect()
}

fn cross(f: &Format, a: &[&[Range]]) -> Vec<Range> {
    let (a, b) = (a[0], a[1]);
    let lane = |i: usize, j: usize| {
        let (left, right) = (f.mul(a[i], b[j]), f.mul(a[j], b[i]));
        let apart = f.sub(left, right)?;
        let first = f.fused(a[i], b[j], Format::neg(right))?;
        let second = f.fused(Format::neg(a[j]), b[i], left)?;
        Some(apart.hull(first).hull(second))
    };
    vec![lane(1, 2), lane(2, 0), lane(0, 1)]
}

fn reflect(f: &Format, a: &[&[Range]]) -> Vec<Range> {
    let twice = f.mul(inh::constant(f, 2.0), dot(f, a[1], a[0]));
    let lanes = a[0].iter().zip(a[1]);
    let lane = |(&x, &normal): (&Range, &Range)| {
        let apart = f.sub(x, f.mul(twice, normal))?;
        Some(apart.hull(f.fused(Format::neg(twice), normal, x)?))
    };
    lanes.map(lane).collect()
}

fn face_forward(f: &Format, a: &[&[Range]]) -> Vec<Range> {
    let lanes = a[0].iter();
    match dot(f, a[1], a[2]) {
        None => vec![None; a[0].len()],
        Some(dot) if dot.hi < 0.0 => a[0].to_vec(),
        Some(dot) if dot.lo >= 0.0 => lanes.map(|&lane| Format::neg(lane)).collect(),
        Some(_) => lanes
            .map(|&lane| Some(lane?.hull(Format::neg(lane)?)))
            .collect(),
    }
}

pub(crate) static OPS: &[Op] = &[
    whole(
        "dot",
        Shape::Fold(2),
        "dot(x, y): inherited from sum of x[i] * y[i]",
        |f, a| vec![dot(f, a[0], a[1])],
    ),
    whole(
        "length",
        Shape::Fold(1),
        "length(x): inherited from sqrt(dot(x, x))",
        |f, a| vec![length(f, a[0])],
    ),
    whole(
        "distance",
        Shape::Fold(2),
        "distance(x, y): inherited from length(x - y)",
        |f, a| vec![length(f, &difference(f, a[0], a[1]))],
    ),
    whole(
        "normalize",
        Shape::Vectors(1),
        "normalize(x): inherited from x / length(x)",
        normalize,
    ),
    whole(
        "cross",
        Shape::Three(2),
        "cross(x, y): inherited from x[i] * y[j] - x[j] * y[i]",
        cross,
    ),
    whole(
        "reflect",
        Shape::Vectors(2),
        "reflect(x, y): inherited from x - 2.0 * dot(x, y) * y",
        reflect,
    ),
    whole(
        "faceForward",
        Shape::Vectors(3),
        "faceForward(x, y, z): inherited from select(-x, x, dot(z, y) < 0.0)",
        face_forward,
    ),
    unpack("unpack4x8snorm", 4, |a| lanes(a[0], 8, snorm(127.0))),
    unpack("unpack4x8unorm", 4, |a| lanes(a[0], 8, unorm(255.0))),
    unpack("unpack2x16snorm", 2, |a| lanes(a[0], 16, snorm(32767.0))),
    unpack("unpack2x16unorm", 2, |a| lanes(a[0], 16, unorm(65535.0))),
    unpack("unpack2x16float", 2, |a| {
        lanes(a[0], 16, |bits| {
            let value = f16::from_bits(bits as u16).to_f64();
            // A denormal of either format may become zero.
            let span = BINARY16.operand(value)?;
            Some(Span {
                lo: span.lo.min(value),
                hi: span.hi.max(value),
            })
        })
    }),
    pack("pack4x8snorm", &[Ty::new(F32, 4)], |a, word| {
        packed(a, word, 8, |x, bits| {
            norm(x, -1.0, 127.0, f64::from(bits as u8 as i8))
        })
    }),
    pack("pack4x8unorm", &[Ty::new(F32, 4)], |a, word| {
        packed(a, word, 8, |x, bits| {
            norm(x, 0.0, 255.0, f64::from(bits as u8))
        })
    }),
    pack("pack2x16snorm", &[Ty::new(F32, 2)], |a, word| {
        packed(a, word, 16, |x, bits| {
            norm(x, -1.0, 32767.0, f64::from(bits as u16 as i16))
        })
    }),
    pack("pack2x16unorm", &[Ty::new(F32, 2)], |a, word| {
        packed(a, word, 16, |x, bits| {
            norm(x, 0.0, 65535.0, f64::from(bits as u16))
        })
    }),
    pack("pack2x16float", &[Ty::new(F32, 2)], |a, word| {
        // One value beyond binary16, or a NaN, leaves the whole word open.
        !a.iter().all(|x| x.abs() <= BINARY16.largest)
            || packed(a, word, 16, |x, bits| {
                let range = BINARY32.operand(x);
                let range = range.and_then(|span| BINARY16.rounded(span.lo, span.hi));
                range.is_none_or(|span| span.contains(f16::from_bits(bits as u16).to_f64()))
            })
    }),
];

const fn unpack(name: &'static str, lanes: usize, rule: fn(&[u64]) -> [Range; 4]) -> Op {
    Op {
        name,
        form: Form::Call,
        shape: Shape::Fixed(const { &[Ty::one(U32)] }, Ty::new(F32, lanes)),
        on: &[F32],
        rule: Rule::WordsToFloats("unpacking: 3 ULP", rule),
    }
}

const fn pack(name: &'static str, operand: &'static [Ty], rule: fn(&[f64], u64) -> bool) -> Op {
    Op {
        name,
        form: Form::Call,
        shape: Shape::Fixed(operand, Ty::one(U32)),
        on: &[U32],
        rule: Rule::FloatsToWord("packing: nearest, either one at a tie", rule),
    }
}

fn lanes(word: u64, width: u32, lane: impl Fn(u64) -> Range) -> [Range; 4] {
    let mask = (1 << width) - 1;
    [0, 1, 2, 3].map(|index| lane(word.checked_shr(width * index).unwrap_or(0) & mask))
}

fn quotient(x: f64, scale: f64) -> Range {
    BINARY32.units((x / scale).max(-1.0), (x / scale).max(-1.0), 3.0)
}

fn snorm(scale: f64) -> impl Fn(u64) -> Range {
    move |bits| {
        let value = if scale < 200.0 {
            f64::from(bits as u8 as i8)
        } else {
            f64::from(bits as u16 as i16)
        };
        quotient(value, scale)
    }
}

fn unorm(scale: f64) -> impl Fn(u64) -> Range {
    move |bits| quotient(bits as f64, scale)
}

fn packed(values: &[f64], word: u64, width: u32, lane: impl Fn(f64, u64) -> bool) -> bool {
    let mask = (1u64 << width) - 1;
    let lanes = (0..).zip(values);
    lanes.into_iter().all(|(index, &value): (u32, _)| {
        value.is_nan() || lane(value, (word >> (width * index)) & mask)
    })
}

/// Whether `packed` is a nearest step of `x`, clamped to `least` and 1.
fn norm(x: f64, least: f64, scale: f64, packed: f64) -> bool {
    let exact = x.clamp(least, 1.0) * scale;
    x.is_infinite() || (packed - exact).abs() <= 0.5 + scale * 2f64.powi(-22)
}
