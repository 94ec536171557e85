//! What an operation may give for these operands: the host's own evaluation.

use super::op::{Op, Rule};
use super::range::{BINARY16, BINARY32, Format, Range, Span, sum};
use super::ty::{Scalar, Ty, Value, show_lane};

/// What one lane of a result may be.
#[derive(Clone, Debug)]
pub(crate) enum Expected {
    /// These bits; for a float also those of another zero, or of another NaN.
    Bits(u64),
    /// One of these bits.
    OneOf(Vec<u64>),
    /// A float in the range, by a row of the accuracy table.
    Float(&'static str, Span),
    /// WGSL leaves the value open.
    Any,
    /// The word fails the rule of this row.
    Refused(&'static str),
}

impl Expected {
    pub(crate) fn accepts(&self, scalar: Scalar, got: u64) -> bool {
        match self {
            Self::Any => true,
            Self::Refused(_) => false,
            Self::Bits(bits) => same(scalar, *bits, got),
            Self::OneOf(all) => all.iter().any(|bits| same(scalar, *bits, got)),
            Self::Float(_, span) => span.contains(scalar.float(got)),
        }
    }

    pub(crate) fn show(&self, scalar: Scalar) -> String {
        match self {
            Self::Any => "anything".to_owned(),
            Self::Refused(row) => format!("another word ({row})"),
            Self::Bits(bits) => show_lane(scalar, *bits),
            Self::OneOf(all) => {
                let all = all.iter().map(|&bits| show_lane(scalar, bits));
                all.collect::<Vec<_>>().join(" or ")
            }
            Self::Float(row, span) => format!("{:e} to {:e} ({row})", span.lo, span.hi),
        }
    }
}

fn same(scalar: Scalar, expected: u64, got: u64) -> bool {
    if !scalar.is_float() {
        return scalar.wrap(scalar.integer(expected)) == scalar.wrap(scalar.integer(got));
    }
    let (a, b) = (scalar.float(expected), scalar.float(got));
    a == b || a.is_nan() && b.is_nan()
}

pub(crate) fn format(scalar: Scalar) -> &'static Format {
    match scalar {
        Scalar::F16 => &BINARY16,
        _ => &BINARY32,
    }
}

/// An operand: its value, and the floats that it may have been where it was used.
#[derive(Clone, Copy)]
pub(crate) struct Operand {
    pub(crate) ty: Ty,
    pub(crate) value: Value,
    pub(crate) ranges: [Range; 4],
}

impl Operand {
    /// An operand that has this value wherever it is used.
    pub(crate) fn exact(ty: Ty, value: Value) -> Self {
        let range = |bits| match ty.scalar.is_float() {
            true => format(ty.scalar).operand(ty.scalar.float(bits)),
            false => None,
        };
        Self {
            ty,
            value,
            ranges: value.map(range),
        }
    }

    /// The lane of a vector; a scalar stands for each lane.
    fn lane(&self, lane: usize) -> usize {
        if self.ty.lanes == 1 { 0 } else { lane }
    }

    fn bits(&self, lane: usize) -> u64 {
        self.value[self.lane(lane)]
    }

    fn range(&self, lane: usize) -> Range {
        self.ranges[self.lane(lane)]
    }

    fn integer(&self, lane: usize) -> i128 {
        self.ty.scalar.integer(self.bits(lane))
    }

    fn float(&self, lane: usize) -> f64 {
        self.ty.scalar.float(self.bits(lane))
    }

    /// Whether the value is the only one, but for a denormal that may be flushed.
    fn is_exact(&self, lane: usize) -> bool {
        self.range(lane) == format(self.ty.scalar).operand(self.float(lane))
    }
}

/// What each lane of `op` over `operands` may be.
pub(crate) fn expected(op: &Op, result: Ty, operands: &[Operand]) -> Vec<Expected> {
    match op.rule {
        Rule::IntegerVectors(rule) => {
            let vectors = operands.iter();
            let lanes = |operand: &Operand| {
                (0..operand.ty.lanes)
                    .map(|lane| operand.integer(lane))
                    .collect()
            };
            let vectors: Vec<Vec<i128>> = vectors.map(lanes).collect();
            vec![Expected::Bits(
                result.scalar.wrap(rule(result.scalar, &vectors)),
            )]
        }
        Rule::FloatVectors(row, rule) => {
            let lanes = |operand: &Operand| {
                (0..operand.ty.lanes)
                    .map(|lane| operand.range(lane))
                    .collect()
            };
            let vectors: Vec<Vec<Range>> = operands.iter().map(lanes).collect();
            let vectors: Vec<&[Range]> = vectors.iter().map(Vec::as_slice).collect();
            let ranges = rule(format(result.scalar), &vectors).into_iter();
            ranges.map(|range| float(row, range)).collect()
        }
        Rule::Words(rule) => {
            let words = rule(&flat(operands));
            words[..result.lanes]
                .iter()
                .map(|&bits| Expected::Bits(bits))
                .collect()
        }
        Rule::WordsToFloats(row, rule) => {
            let ranges = rule(&flat(operands));
            ranges[..result.lanes]
                .iter()
                .map(|&range| float(row, range))
                .collect()
        }
        // The word is known only once it is there; see `packs`.
        Rule::FloatsToWord(..) => vec![Expected::Any],
        _ => (0..result.lanes)
            .map(|lane| lane_expected(op, result, operands, lane))
            .collect(),
    }
}

/// Why a word can't come of packing these floats, if it can't.
pub(crate) fn packs(op: &Op, operands: &[Operand], word: u64) -> Option<Expected> {
    let Rule::FloatsToWord(row, rule) = op.rule else {
        return None;
    };
    let lanes = 0..operands[0].ty.lanes;
    if !lanes.clone().all(|lane| operands[0].is_exact(lane)) {
        return None;
    }
    let floats: Vec<f64> = lanes.map(|lane| operands[0].float(lane)).collect();
    (!rule(&floats, word)).then_some(Expected::Refused(row))
}

fn flat(operands: &[Operand]) -> Vec<u64> {
    let lanes = operands
        .iter()
        .flat_map(|operand| operand.value[..operand.ty.lanes].to_vec());
    lanes.collect()
}

fn float(row: &'static str, range: Range) -> Expected {
    range.map_or(Expected::Any, |span| Expected::Float(row, span))
}

fn lane_expected(op: &Op, result: Ty, operands: &[Operand], lane: usize) -> Expected {
    let scalar = result.scalar;
    let first = &operands[0];
    match op.rule {
        Rule::Integers(rule) => {
            let args: Vec<i128> = operands
                .iter()
                .map(|operand| operand.integer(lane))
                .collect();
            Expected::Bits(scalar.wrap(rule(scalar, &args)))
        }
        Rule::CompareIntegers(rule) => {
            Expected::Bits(rule(&first.integer(lane), &operands[1].integer(lane)).into())
        }
        Rule::CompareFloats(rule) => compare(rule, first, &operands[1], lane),
        Rule::Floats(row, rule) => {
            let args: Vec<Range> = operands.iter().map(|operand| operand.range(lane)).collect();
            let open = args.contains(&None);
            float(
                row,
                if open {
                    None
                } else {
                    rule(format(scalar), &args)
                },
            )
        }
        Rule::Select => {
            let chosen = &operands[usize::from(operands[2].bits(lane) != 0)];
            moved(chosen, lane)
        }
        Rule::Bits => reinterpreted(scalar, first, lane),
        Rule::ToFloat => {
            // In two parts, since not every 64-bit integer is an f64.
            let x = first.integer(lane);
            let low = x.rem_euclid(1 << 32);
            let x = sum((x - low) as f64, low as f64);
            float(
                "conversion to float: correctly rounded",
                format(scalar).rounded(x.lo, x.hi),
            )
        }
        Rule::FloatToInteger if !first.is_exact(lane) => Expected::Any,
        Rule::FloatToInteger => {
            Expected::Bits(truncated(scalar, first.ty.scalar, first.bits(lane)))
        }
        Rule::FloatToBool => to_bool(first.range(lane)),
        Rule::LoadExponent => {
            let exponent = operands[1].integer(lane);
            load_exponent(format(scalar), first.range(lane), exponent)
        }
        _ => Expected::Any,
    }
}

/// A value that is copied, and not computed with.
pub(crate) fn moved(operand: &Operand, lane: usize) -> Expected {
    let scalar = operand.ty.scalar;
    if scalar.is_float() && !operand.is_exact(lane) {
        return float("a copy", operand.range(lane));
    }
    Expected::Bits(operand.bits(lane))
}

/// Every outcome that some choice of flushed operands gives; open for infinities and NaNs.
fn compare(rule: fn(&f64, &f64) -> bool, a: &Operand, b: &Operand, lane: usize) -> Expected {
    let (Some(left), Some(right)) = (a.range(lane), b.range(lane)) else {
        return Expected::Any;
    };
    if !a.is_exact(lane) || !b.is_exact(lane) {
        if left.lo <= right.hi && right.lo <= left.hi {
            return Expected::Any;
        }
        return Expected::Bits(rule(&left.lo, &right.lo).into());
    }
    let ends = |span: Span, exact: f64| [exact, if span.contains(0.0) { 0.0 } else { exact }];
    let mut all = Vec::new();
    for x in ends(left, a.float(lane)) {
        for y in ends(right, b.float(lane)) {
            all.push(u64::from(rule(&x, &y)));
        }
    }
    Expected::OneOf(all)
}

fn to_bool(x: Range) -> Expected {
    match x {
        None => Expected::Any,
        Some(Span { lo: 0.0, hi: 0.0 }) => Expected::Bits(0),
        Some(span) if span.contains(0.0) => Expected::Any,
        Some(_) => Expected::Bits(1),
    }
}

/// The same bits; a denormal may be flushed, and NaNs have no bits of their own.
fn reinterpreted(to: Scalar, operand: &Operand, lane: usize) -> Expected {
    let (from, bits) = (operand.ty.scalar, operand.bits(lane));
    let scalar = if to.is_float() { to } else { from };
    if !scalar.is_float() {
        return Expected::Bits(bits);
    }
    if from.is_float() && !operand.is_exact(lane) {
        return float("the bits of a float", operand.range(lane));
    }
    let value = scalar.float(bits);
    if value.is_nan() {
        Expected::Any
    } else if value == 0.0 || value.abs() < format(scalar).least_normal() {
        Expected::OneOf(vec![bits, 0, 1 << (scalar.width() - 1)])
    } else {
        Expected::Bits(bits)
    }
}

/// Rounded toward zero, within what both types can hold; vyre promises 0 for a NaN.
fn truncated(to: Scalar, from: Scalar, bits: u64) -> u64 {
    let fraction = format(from).fraction;
    let (least, most) = match to.is_signed() {
        true => (
            -(1i128 << (to.width() - 1)),
            (1i128 << (to.width() - 1)) - 1,
        ),
        false => (0, (1i128 << to.width()) - 1),
    };
    // The largest float at most `most`: its leading bits, as many as the fraction and one.
    let leading = 128 - most.leading_zeros() as i32;
    let most = most >> (leading - fraction - 1).max(0) << (leading - fraction - 1).max(0);
    let x = from
        .float(bits)
        .clamp(-format(from).largest, format(from).largest);
    to.wrap((x.trunc() as i128).clamp(least, most))
}

fn load_exponent(f: &Format, x: Range, exponent: i128) -> Expected {
    const ROW: &str = "ldexp(x, y): correctly rounded";
    let bias = i128::from(1 - f.least_exponent);
    if exponent > bias + 1 {
        return Expected::Any;
    }
    let Some(x) = x else { return Expected::Any };
    let power = 2f64.powi(exponent.max(-2000) as i32);
    let mut found = f.rounded(x.lo * power, x.hi * power);
    // Below the least exponent zero is allowed, whatever x is.
    if exponent + bias <= 0 {
        found = found.map(|span| span.hull(Span::point(0.0)));
    }
    float(ROW, found)
}
