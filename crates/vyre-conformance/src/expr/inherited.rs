//! Accuracy of the functions that have a bound of their own or inherit one from a formula.

use std::f64::consts::PI;

use super::range::{BINARY16, Format, Range, Span};

pub(super) const LOG_ROW: &str =
    "log(x), log2(x): absolute error 2^-21 for x in [0.5, 2.0], else 3 ULP (f16: 2^-7, 3 ULP)";
pub(super) const SIN_ROW: &str =
    "sin(x), cos(x): absolute error 2^-11 for x in [-π, π] (f16: 2^-7)";
pub(super) const ATAN2_ROW: &str =
    "atan2(y, x): 4096 ULP for |x| in [2^-126, 2^126] and y finite and normal (f16: 5 ULP)";
pub(super) const ASIN_ROW: &str = "asin(x), acos(x): absolute error 6.81e-5 (f16: 3.91e-3), or inherited from atan2(x, sqrt(1.0 - x * x))";
pub(super) const TANH_ROW: &str =
    "tanh(x): absolute error 1e-5, or inherited from sinh(x) / cosh(x)";
pub(super) const SMOOTHSTEP_ROW: &str = "smoothstep(low, high, x): inherited from t * t * (3.0 - 2.0 * t), where t = clamp((x - low) / (high - low), 0.0, 1.0)";

/// The neighbours of a constant that is no float.
pub(super) fn constant(f: &Format, x: f64) -> Range {
    f.rounded(x, x)
}

fn is_half(f: &Format) -> bool {
    f.fraction == BINARY16.fraction
}

/// The bound that holds for the format.
fn bound(f: &Format, single: f64, half: f64) -> f64 {
    if is_half(f) { half } else { single }
}

pub(super) fn inverse_sqrt(f: &Format, a: Range) -> Range {
    let a = a?;
    if a.lo <= 0.0 {
        return None;
    }
    f.units(a.hi.sqrt().recip(), a.lo.sqrt().recip(), 2.0)
}

pub(super) fn sqrt(f: &Format, a: Range) -> Range {
    f.div(constant(f, 1.0), inverse_sqrt(f, a))
}

fn exponential(f: &Format, a: Range, function: fn(f64) -> f64) -> Range {
    let a = a?;
    let units = bound(f, 3.0, 1.0) + 2.0 * a.magnitude();
    f.units(function(a.lo), function(a.hi), units)
}

pub(super) fn exp(f: &Format, a: Range) -> Range {
    exponential(f, a, f64::exp)
}

pub(super) fn exp2(f: &Format, a: Range) -> Range {
    exponential(f, a, f64::exp2)
}

pub(super) fn log(f: &Format, a: Range, function: fn(f64) -> f64) -> Range {
    let a = a?;
    if a.lo <= 0.0 {
        return None;
    }
    let (lo, hi) = (function(a.lo), function(a.hi));
    let middle = Span { lo: 0.5, hi: 2.0 };
    let near = f.within(lo, hi, 2f64.powf(bound(f, -21.0, -7.0)));
    let far = f.units(lo, hi, 3.0);
    match (middle.contains(a.lo), middle.contains(a.hi)) {
        (true, true) => near,
        (false, false) if a.hi < 0.5 || a.lo > 2.0 => far,
        _ => Some(near?.hull(far?)),
    }
}

/// Sine or cosine, whose slope is at most 1.
pub(super) fn wave(f: &Format, a: Range, function: fn(f64) -> f64) -> Range {
    let a = a?;
    if a.lo < -PI || a.hi > PI {
        return None;
    }
    let middle = function((a.lo + a.hi) / 2.0);
    let error = 2f64.powf(bound(f, -11.0, -7.0)) + (a.hi - a.lo) / 2.0;
    f.within(middle, middle, error)
}

pub(super) fn atan(f: &Format, a: Range) -> Range {
    let a = a?;
    f.units(a.lo.atan(), a.hi.atan(), bound(f, 4096.0, 5.0))
}

pub(super) fn atan2(f: &Format, y: Range, x: Range) -> Range {
    let (y, x) = (y?, x?);
    let least = f.least_normal();
    let normal = |span: Span| span.lo.abs().min(span.hi.abs()) >= least && span.lo * span.hi > 0.0;
    if !normal(x) || !normal(y) || x.magnitude() > least.recip() {
        return None;
    }
    let corners = [
        y.lo.atan2(x.lo),
        y.lo.atan2(x.hi),
        y.hi.atan2(x.lo),
        y.hi.atan2(x.hi),
    ];
    let lo = corners.into_iter().fold(f64::INFINITY, f64::min);
    let hi = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
    f.units(lo, hi, bound(f, 4096.0, 5.0))
}

/// `sqrt(1.0 - x * x)`
fn other_side(f: &Format, x: Range) -> Range {
    sqrt(f, f.sub(constant(f, 1.0), f.mul(x, x)))
}

/// The worse of an absolute error and what a formula inherits.
fn worse(f: &Format, exact: f64, error: f64, inherited: Range) -> Range {
    Some(f.within(exact, exact, error)?.hull(inherited?))
}

pub(super) fn asin(f: &Format, x: Range) -> Range {
    let inherited = atan2(f, x, other_side(f, x));
    worse(f, x?.lo.asin(), bound(f, 6.81e-5, 3.91e-3), inherited)
}

pub(super) fn acos(f: &Format, x: Range) -> Range {
    let inherited = atan2(f, other_side(f, x), x);
    worse(f, x?.lo.acos(), bound(f, 6.77e-5, 3.91e-3), inherited)
}

fn halved(f: &Format, x: Range) -> Range {
    f.mul(x, constant(f, 0.5))
}

pub(super) fn sinh(f: &Format, x: Range) -> Range {
    halved(f, f.sub(exp(f, x), exp(f, Format::neg(x))))
}

pub(super) fn cosh(f: &Format, x: Range) -> Range {
    halved(f, f.add(exp(f, x), exp(f, Format::neg(x))))
}

pub(super) fn tanh(f: &Format, x: Range) -> Range {
    let inherited = f.div(sinh(f, x), cosh(f, x));
    worse(f, x?.lo.tanh(), bound(f, 1e-5, 1e-2), inherited)
}

fn area(f: &Format, x: Range, one: f64) -> Range {
    let root = sqrt(f, f.add(f.mul(x, x), constant(f, one)));
    log(f, f.add(x, root), f64::ln)
}

pub(super) fn asinh(f: &Format, x: Range) -> Range {
    area(f, x, 1.0)
}

pub(super) fn acosh(f: &Format, x: Range) -> Range {
    area(f, x, -1.0)
}

pub(super) fn atanh(f: &Format, x: Range) -> Range {
    let one = constant(f, 1.0);
    halved(f, log(f, f.div(f.add(one, x), f.sub(one, x)), f64::ln))
}

pub(super) fn mix(f: &Format, a: &[Range]) -> Range {
    let rest = f.sub(constant(f, 1.0), a[2]);
    let apart = f.add(f.mul(a[0], rest), f.mul(a[1], a[2]))?;
    // The other form in use, which is as accurate: x + (y - x) * z. Where its difference or product
    // overflows, as WGSL lets implementations assume never happens, anything may come out.
    let slope = f.add(a[0], f.mul(f.sub(a[1], a[0]), a[2]))?;
    Some(apart.hull(slope))
}

pub(super) fn smoothstep(f: &Format, a: &[Range]) -> Range {
    let quotient = f.div(f.sub(a[2], a[0]), f.sub(a[1], a[0]));
    let t = Format::increasing(quotient, |x| x.clamp(0.0, 1.0));
    let rest = f.sub(constant(f, 3.0), f.mul(constant(f, 2.0), t));
    f.mul(f.mul(t, t), rest)
}
