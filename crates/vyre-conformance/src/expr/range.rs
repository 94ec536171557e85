//! Ranges of floats that WGSL lets an operation return, and the arithmetic of its accuracy table.
//!
//! Computed in `f64`, whose own error is far below half a unit in the last place of what is checked.

/// The floats from `lo` to `hi`; `None` is any value at all, which WGSL allows where an operand or
/// the exact result is infinite or no number.
pub(crate) type Range = Option<Span>;

/// Both ends included, finite.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) struct Span {
    pub(crate) lo: f64,
    pub(crate) hi: f64,
}

/// A floating-point format.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Format {
    /// Bits of the fraction.
    pub(crate) fraction: i32,
    /// Exponent of the smallest normal number.
    pub(crate) least_exponent: i32,
    pub(crate) largest: f64,
}

pub(crate) const BINARY32: Format = Format {
    fraction: 23,
    least_exponent: -126,
    largest: f32::MAX as f64,
};

pub(crate) const BINARY16: Format = Format {
    fraction: 10,
    least_exponent: -14,
    largest: 65504.0,
};

impl Format {
    pub(crate) fn least_normal(&self) -> f64 {
        2f64.powi(self.least_exponent)
    }

    /// A unit in the last place of the floats around `x`.
    pub(crate) fn ulp(&self, x: f64) -> f64 {
        let exponent = ((x.abs().to_bits() >> 52) as i32 - 1023).max(self.least_exponent);
        2f64.powi(exponent - self.fraction)
    }

    fn down(&self, x: f64) -> f64 {
        let ulp = self.ulp(x);
        (x / ulp).floor() * ulp
    }

    fn up(&self, x: f64) -> f64 {
        let ulp = self.ulp(x);
        (x / ulp).ceil() * ulp
    }

    /// A float as an operand: a denormal may be taken for zero.
    pub(crate) fn operand(&self, x: f64) -> Range {
        self.flushed(x, x)
    }

    /// The range, with zero if it has denormals; any value if it leaves the format.
    fn flushed(&self, lo: f64, hi: f64) -> Range {
        if !(lo.abs() <= self.largest && hi.abs() <= self.largest) {
            return None;
        }
        let least = self.least_normal();
        let lo = if lo > 0.0 && lo < least { 0.0 } else { lo };
        let hi = if hi < 0.0 && hi > -least { 0.0 } else { hi };
        Some(Span { lo, hi })
    }

    /// Correctly rounded, which in WGSL means either neighbour of an exact result that is no float.
    pub(crate) fn rounded(&self, lo: f64, hi: f64) -> Range {
        if !(lo.is_finite() && hi.is_finite()) {
            return None;
        }
        self.flushed(self.down(lo), self.up(hi))
    }

    /// Off by at most `error`.
    pub(crate) fn within(&self, lo: f64, hi: f64, error: f64) -> Range {
        if !(lo.is_finite() && hi.is_finite()) {
            return None;
        }
        self.flushed(self.down(lo - error), self.up(hi + error))
    }

    /// Off by at most `units` in the last place.
    pub(crate) fn units(&self, lo: f64, hi: f64, units: f64) -> Range {
        if !(lo.is_finite() && hi.is_finite()) {
            return None;
        }
        let (lo, hi) = (lo - units * self.ulp(lo), hi + units * self.ulp(hi));
        self.flushed(self.down(lo), self.up(hi))
    }

    pub(crate) fn add(&self, a: Range, b: Range) -> Range {
        let (a, b) = (a?, b?);
        self.rounded(sum(a.lo, b.lo).lo, sum(a.hi, b.hi).hi)
    }

    pub(crate) fn neg(a: Range) -> Range {
        a.map(|a| Span {
            lo: -a.hi,
            hi: -a.lo,
        })
    }

    pub(crate) fn sub(&self, a: Range, b: Range) -> Range {
        self.add(a, Self::neg(b))
    }

    pub(crate) fn mul(&self, a: Range, b: Range) -> Range {
        let (a, b) = (a?, b?);
        let (lo, hi) = products(a, b);
        self.rounded(lo, hi)
    }

    /// A multiplication whose result is not rounded before `c` is added.
    pub(crate) fn fused(&self, a: Range, b: Range, c: Range) -> Range {
        let (a, b, c) = (a?, b?, c?);
        let (lo, hi) = products(a, b);
        self.rounded(sum(lo, c.lo).lo, sum(hi, c.hi).hi)
    }

    /// 2.5 units for a divisor of ordinary size, anything else otherwise.
    pub(crate) fn div(&self, a: Range, b: Range) -> Range {
        let (a, b) = (a?, b?);
        let least = self.least_normal();
        let (small, large) = (b.lo.abs().min(b.hi.abs()), b.magnitude());
        if b.lo <= 0.0 && b.hi >= 0.0 || small < least || large > least.recip() {
            return None;
        }
        let (lo, hi) = products(
            a,
            Span {
                lo: b.hi.recip(),
                hi: b.lo.recip(),
            },
        );
        self.units(lo, hi, 2.5)
    }

    /// What an increasing function makes of the ends.
    pub(crate) fn increasing(a: Range, function: fn(f64) -> f64) -> Range {
        let a = a?;
        let (lo, hi) = (function(a.lo), function(a.hi));
        (lo.is_finite() && hi.is_finite()).then_some(Span { lo, hi })
    }
}

/// The numbers next to a sum, or the sum itself where it is exact, by Knuth's TwoSum (The Art of
/// Computer Programming, volume 2, section 4.2.2): `1 - 2^-126` must not count as 1.
pub(super) fn sum(a: f64, b: f64) -> Span {
    let sum = a + b;
    let part = sum - a;
    let error = (a - (sum - part)) + (b - part);
    Span {
        lo: if error < 0.0 { sum.next_down() } else { sum },
        hi: if error > 0.0 { sum.next_up() } else { sum },
    }
}

/// The least and the largest product.
fn products(a: Span, b: Span) -> (f64, f64) {
    let corners = [a.lo * b.lo, a.lo * b.hi, a.hi * b.lo, a.hi * b.hi];
    let lo = corners.into_iter().fold(f64::INFINITY, f64::min);
    let hi = corners.into_iter().fold(f64::NEG_INFINITY, f64::max);
    (lo, hi)
}

impl Span {
    pub(crate) fn point(x: f64) -> Self {
        Self { lo: x, hi: x }
    }

    /// The largest magnitude in the range.
    pub(crate) fn magnitude(&self) -> f64 {
        self.lo.abs().max(self.hi.abs())
    }

    pub(crate) fn contains(&self, x: f64) -> bool {
        self.lo <= x && x <= self.hi
    }

    pub(crate) fn hull(self, other: Self) -> Self {
        Self {
            lo: self.lo.min(other.lo),
            hi: self.hi.max(other.hi),
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn correctly_rounded_means_either_neighbour() {
        // 1/3 lies between these two floats.
        let span = BINARY32.rounded(1.0 / 3.0, 1.0 / 3.0).unwrap();
        let [below, above] = [0x3eaa_aaaa, 0x3eaa_aaab].map(|bits| f64::from(f32::from_bits(bits)));
        assert_eq!(
            span,
            Span {
                lo: below,
                hi: above
            }
        );
        assert_eq!(BINARY32.rounded(0.5, 0.5), Some(Span::point(0.5)));
    }

    #[test]
    fn denormals_may_be_flushed_and_overflow_leaves_everything_open() {
        let denormal = f64::from(f32::from_bits(5));
        let span = BINARY32.operand(denormal).unwrap();
        assert_eq!(
            span,
            Span {
                lo: 0.0,
                hi: denormal
            }
        );
        assert_eq!(
            BINARY32.add(BINARY32.operand(3e38), BINARY32.operand(3e38)),
            None
        );
        assert_eq!(BINARY16.operand(65505.0), None);
    }

    #[test]
    fn a_unit_in_the_last_place_is_the_distance_of_neighbours() {
        assert_eq!(BINARY32.ulp(1.0), f64::from(f32::EPSILON));
        assert_eq!(BINARY32.ulp(1e-45), f64::from(f32::from_bits(1)));
        assert_eq!(BINARY16.ulp(1024.0), 1.0);
    }

    #[test]
    fn a_division_by_what_may_be_zero_is_open() {
        let one = BINARY32.operand(1.0);
        assert_eq!(BINARY32.div(one, BINARY32.operand(0.0)), None);
        assert_eq!(BINARY32.div(one, BINARY32.operand(1e-40)), None);
        let third = BINARY32.div(one, BINARY32.operand(3.0)).unwrap();
        assert!(third.contains(1.0 / 3.0) && third.hi - third.lo < 2e-7);
    }

    #[test]
    fn a_sum_that_one_operand_swallows_may_be_the_neighbour() {
        let tiny = BINARY32.operand(-BINARY32.least_normal());
        let span = BINARY32.add(BINARY32.operand(1.0), tiny).unwrap();
        let below = f64::from(f32::from_bits(0x3f7f_ffff));
        assert_eq!((span.lo, span.hi), (below, 1.0));
        assert_eq!(sum(f64::INFINITY, 1.0), Span::point(f64::INFINITY));
    }

    #[test]
    fn a_fused_product_is_not_rounded_before_the_sum() {
        let x = f64::from(f32::from_bits(0x3f80_0001));
        let square = BINARY32.operand(-f64::from(f32::from_bits(0x3f80_0002)));
        let x = BINARY32.operand(x);
        let span = BINARY32.fused(x, x, square).unwrap();
        assert!(span.contains(2f64.powi(-46)) && !span.contains(0.0));
    }
}
