//! The operations over floats, with the rows of the accuracy table in the WGSL specification
//! ("Floating point accuracy").

use super::inherited as inh;
use super::op::{Floats, Form, Op, Rule, Shape};
use super::range::{Format, Range, Span};
use super::ty::Scalar;
use Scalar::{F16, F32};

pub(crate) const FLOATS: &[Scalar] = &[F32, F16];

const CORRECT: &str = "correctly rounded";

const fn infix(name: &'static str, row: &'static str, rule: Floats) -> Op {
    op(name, Form::Infix, Shape::Same(2), row, rule)
}

pub(super) const fn call(
    name: &'static str,
    operands: usize,
    row: &'static str,
    rule: Floats,
) -> Op {
    op(name, Form::Call, Shape::Same(operands), row, rule)
}

const fn op(name: &'static str, form: Form, shape: Shape, row: &'static str, rule: Floats) -> Op {
    Op {
        name,
        form,
        shape,
        on: FLOATS,
        rule: Rule::Floats(row, rule),
    }
}

const fn compare(name: &'static str, rule: fn(&f64, &f64) -> bool) -> Op {
    Op {
        name,
        form: Form::Infix,
        shape: Shape::Compare,
        on: FLOATS,
        rule: Rule::CompareFloats(rule),
    }
}

/// An increasing function whose result is a float of the format.
const fn exact(name: &'static str, rule: Floats) -> Op {
    call(name, 1, CORRECT, rule)
}

fn remainder(f: &Format, a: &[Range]) -> Range {
    let whole = Format::increasing(f.div(a[0], a[1]), f64::trunc);
    f.sub(a[0], f.mul(a[1], whole))
}

fn abs(_: &Format, a: &[Range]) -> Range {
    let a = a[0]?;
    let (lo, hi) = (a.lo.abs().min(a.hi.abs()), a.magnitude());
    let lo = if a.contains(0.0) { 0.0 } else { lo };
    Some(Span { lo, hi })
}

fn min(_: &Format, a: &[Range]) -> Range {
    let (a, b) = (a[0]?, a[1]?);
    Some(Span {
        lo: a.lo.min(b.lo),
        hi: a.hi.min(b.hi),
    })
}

fn max(_: &Format, a: &[Range]) -> Range {
    let (a, b) = (a[0]?, a[1]?);
    Some(Span {
        lo: a.lo.max(b.lo),
        hi: a.hi.max(b.hi),
    })
}

/// The least of the greater, or the median of the three.
fn clamp(f: &Format, a: &[Range]) -> Range {
    let first = min(f, &[max(f, &[a[0], a[1]]), a[2]])?;
    let (x, low, high) = (a[0]?, a[1]?, a[2]?);
    let median = |x: f64, low: f64, high: f64| x.min(low).max(x.max(low).min(high));
    let second = Span {
        lo: median(x.lo, low.lo, high.lo),
        hi: median(x.hi, low.hi, high.hi),
    };
    Some(first.hull(second))
}

fn step(_: &Format, a: &[Range]) -> Range {
    let (edge, x) = (a[0]?, a[1]?);
    let number = |holds: bool| if holds { 1.0 } else { 0.0 };
    Some(Span {
        lo: number(edge.hi <= x.lo),
        hi: number(edge.lo <= x.hi),
    })
}

fn fract(f: &Format, a: &[Range]) -> Range {
    let x = a[0]?;
    let floors = Format::increasing(a[0], f64::floor)?;
    if floors.lo < floors.hi {
        // A denormal below zero, which may be zero instead.
        return Some(Span { lo: 0.0, hi: 1.0 });
    }
    f.sub(Some(x), Some(floors))
}

fn sign(f64: f64) -> f64 {
    if f64 == 0.0 { 0.0 } else { f64.signum() }
}

fn fused(f: &Format, a: &[Range]) -> Range {
    let apart = f.add(f.mul(a[0], a[1]), a[2])?;
    Some(apart.hull(f.fused(a[0], a[1], a[2])?))
}

fn quantize(_: &Format, a: &[Range]) -> Range {
    let a = a[0]?;
    super::range::BINARY16.rounded(a.lo, a.hi)
}

pub(crate) static OPS: &[Op] = &[
    infix("+", "x + y: correctly rounded", |f, a| f.add(a[0], a[1])),
    infix("-", "x - y: correctly rounded", |f, a| f.sub(a[0], a[1])),
    infix("*", "x * y: correctly rounded", |f, a| f.mul(a[0], a[1])),
    infix(
        "/",
        "x / y: 2.5 ULP for |y| in [2^-126, 2^126] (f16: [2^-14, 2^14])",
        |f, a| f.div(a[0], a[1]),
    ),
    infix("%", "x % y: inherited from x - y * trunc(x / y)", remainder),
    op("-", Form::Prefix, Shape::Same(1), CORRECT, |_, a| {
        Format::neg(a[0])
    }),
    compare("==", f64::eq),
    compare("!=", f64::ne),
    compare("<", f64::lt),
    compare("<=", f64::le),
    compare(">", f64::gt),
    compare(">=", f64::ge),
    exact("abs", abs),
    exact("sign", |_, a| Format::increasing(a[0], sign)),
    exact("floor", |_, a| Format::increasing(a[0], f64::floor)),
    exact("ceil", |_, a| Format::increasing(a[0], f64::ceil)),
    exact("trunc", |_, a| Format::increasing(a[0], f64::trunc)),
    exact("round", |_, a| {
        Format::increasing(a[0], f64::round_ties_even)
    }),
    exact("saturate", |_, a| {
        Format::increasing(a[0], |x| x.clamp(0.0, 1.0))
    }),
    call("fract", 1, "fract(x): inherited from x - floor(x)", fract),
    call("min", 2, CORRECT, min),
    call("max", 2, CORRECT, max),
    call("clamp", 3, CORRECT, clamp),
    call("step", 2, CORRECT, step),
    call("fma", 3, "fma(x, y, z): inherited from x * y + z", fused),
    Op {
        name: "quantizeToF16",
        form: Form::Call,
        shape: Shape::Same(1),
        on: &[F32],
        rule: Rule::Floats("quantizeToF16(x): correctly rounded", quantize),
    },
    Op {
        name: "ldexp",
        form: Form::Call,
        shape: Shape::Exponent,
        on: FLOATS,
        rule: Rule::LoadExponent,
    },
    call(
        "degrees",
        1,
        "degrees(x): inherited from x * 57.295779513082322865",
        |f, a| f.mul(a[0], inh::constant(f, 57.295_779_513_082_32)),
    ),
    call(
        "radians",
        1,
        "radians(x): inherited from x * 0.017453292519943295474",
        |f, a| f.mul(a[0], inh::constant(f, 0.017_453_292_519_943_295)),
    ),
    call("inverseSqrt", 1, "inverseSqrt(x): 2 ULP", |f, a| {
        inh::inverse_sqrt(f, a[0])
    }),
    call(
        "sqrt",
        1,
        "sqrt(x): inherited from 1.0 / inverseSqrt(x)",
        |f, a| inh::sqrt(f, a[0]),
    ),
    call(
        "exp",
        1,
        "exp(x): (3 + 2 * |x|) ULP (f16: 1 + 2 * |x|)",
        |f, a| inh::exp(f, a[0]),
    ),
    call(
        "exp2",
        1,
        "exp2(x): (3 + 2 * |x|) ULP (f16: 1 + 2 * |x|)",
        |f, a| inh::exp2(f, a[0]),
    ),
    call("log", 1, inh::LOG_ROW, |f, a| inh::log(f, a[0], f64::ln)),
    call("log2", 1, inh::LOG_ROW, |f, a| inh::log(f, a[0], f64::log2)),
    call(
        "pow",
        2,
        "pow(x, y): inherited from exp2(y * log2(x))",
        |f, a| inh::exp2(f, f.mul(a[1], inh::log(f, a[0], f64::log2))),
    ),
    call("sin", 1, inh::SIN_ROW, |f, a| inh::wave(f, a[0], f64::sin)),
    call("cos", 1, inh::SIN_ROW, |f, a| inh::wave(f, a[0], f64::cos)),
    call(
        "tan",
        1,
        "tan(x): inherited from sin(x) / cos(x)",
        |f, a| f.div(inh::wave(f, a[0], f64::sin), inh::wave(f, a[0], f64::cos)),
    ),
    call("atan", 1, "atan(x): 4096 ULP (f16: 5 ULP)", |f, a| {
        inh::atan(f, a[0])
    }),
    call("atan2", 2, inh::ATAN2_ROW, |f, a| inh::atan2(f, a[0], a[1])),
    call("asin", 1, inh::ASIN_ROW, |f, a| inh::asin(f, a[0])),
    call("acos", 1, inh::ASIN_ROW, |f, a| inh::acos(f, a[0])),
    call(
        "sinh",
        1,
        "sinh(x): inherited from (exp(x) - exp(-x)) * 0.5",
        |f, a| inh::sinh(f, a[0]),
    ),
    call(
        "cosh",
        1,
        "cosh(x): inherited from (exp(x) + exp(-x)) * 0.5",
        |f, a| inh::cosh(f, a[0]),
    ),
    call("tanh", 1, inh::TANH_ROW, |f, a| inh::tanh(f, a[0])),
    call(
        "asinh",
        1,
        "asinh(x): inherited from log(x + sqrt(x * x + 1.0))",
        |f, a| inh::asinh(f, a[0]),
    ),
    call(
        "acosh",
        1,
        "acosh(x): inherited from log(x + sqrt(x * x - 1.0))",
        |f, a| inh::acosh(f, a[0]),
    ),
    call(
        "atanh",
        1,
        "atanh(x): inherited from log((1.0 + x) / (1.0 - x)) * 0.5",
        |f, a| inh::atanh(f, a[0]),
    ),
    call(
        "mix",
        3,
        "mix(x, y, z): inherited from x * (1.0 - z) + y * z",
        inh::mix,
    ),
    call("smoothstep", 3, inh::SMOOTHSTEP_ROW, inh::smoothstep),
];
