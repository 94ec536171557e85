//! Operators and built-in functions: how they are written, what they take, and what they give.

use super::range::{Format, Range};
use super::ty::{Scalar, Ty};

/// How an operation is written.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Form {
    Prefix,
    Infix,
    Call,
    /// The name of the result's type, and the operand in parentheses.
    Convert,
    Bitcast,
}

/// What an operation takes, given its result.
#[derive(Clone, Copy, Debug, PartialEq)]
pub(crate) enum Shape {
    /// So many operands of the result's type.
    Same(usize),
    /// A value of the result's type, and as many `u32`.
    Shift,
    /// Two values of the operand scalar; the result is as many `bool`.
    Compare,
    /// A value, an offset and a count.
    Extract,
    /// A value, other bits, an offset and a count.
    Insert,
    /// So many vectors of the result's scalar.
    Fold(usize),
    /// Two values of the result's type and a `bool` for each lane.
    Select,
    /// A vector of `bool` to one.
    Reduce,
    /// A value of another scalar and as many lanes.
    From(Scalar),
    /// A float and as many `i32`.
    Exponent,
    /// Exactly these operands and this result.
    Fixed(&'static [Ty], Ty),
    /// Vectors of three, the result included.
    Three(usize),
    /// So many vectors, the result included.
    Vectors(usize),
}

/// An integer operation: over the values as integers, with the result wrapped to its type.
pub(crate) type Integers = fn(Scalar, &[i128]) -> i128;
/// A float operation over ranges of operands, lane by lane.
pub(crate) type Floats = fn(&Format, &[Range]) -> Range;
/// A float operation over whole vectors, one after the other in the slice.
pub(crate) type Vectors = fn(&Format, &[&[Range]]) -> Vec<Range>;

/// What an operation gives.
#[derive(Clone, Copy)]
pub(crate) enum Rule {
    Integers(Integers),
    /// Over whole vectors of integers.
    IntegerVectors(fn(Scalar, &[Vec<i128>]) -> i128),
    CompareIntegers(fn(&i128, &i128) -> bool),
    CompareFloats(fn(&f64, &f64) -> bool),
    /// With the row of WGSL's accuracy table.
    Floats(&'static str, Floats),
    FloatVectors(&'static str, Vectors),
    Select,
    ToFloat,
    FloatToInteger,
    FloatToBool,
    Bits,
    /// Over the raw bits of all operands, to the raw bits of all lanes.
    Words(fn(&[u64]) -> [u64; 4]),
    /// As `Words`, where each lane of the result has a range.
    WordsToFloats(&'static str, fn(&[u64]) -> [Range; 4]),
    /// Lanes of floats, to the words that may come out.
    FloatsToWord(&'static str, fn(&[f64], u64) -> bool),
    LoadExponent,
}

/// One operation.
pub(crate) struct Op {
    pub(crate) name: &'static str,
    pub(crate) form: Form,
    pub(crate) shape: Shape,
    /// Scalars that the operation is defined for: of the operands in `Compare`, else of the result.
    pub(crate) on: &'static [Scalar],
    pub(crate) rule: Rule,
}

impl Op {
    /// Whether the operation can give `result`.
    pub(crate) fn gives(&self, result: Ty) -> bool {
        match self.shape {
            Shape::Compare => result.scalar == Scalar::Bool,
            Shape::Fold(_) | Shape::Reduce => result.lanes == 1 && self.on.contains(&result.scalar),
            Shape::Fixed(_, fixed) => fixed == result,
            Shape::Three(_) => result.lanes == 3 && self.on.contains(&result.scalar),
            Shape::Vectors(_) => result.lanes > 1 && self.on.contains(&result.scalar),
            _ => self.on.contains(&result.scalar),
        }
    }

    /// The types of the operands, given the result, the scalar that `Compare` compares, and the
    /// lanes that `Fold` and `Reduce` take in.
    pub(crate) fn operands(&self, result: Ty, compared: Scalar, folded: usize) -> Vec<Ty> {
        let word = Ty::one(Scalar::U32);
        match self.shape {
            Shape::Same(count) | Shape::Three(count) | Shape::Vectors(count) => vec![result; count],
            Shape::Shift => vec![result, result.with(Scalar::U32)],
            Shape::Compare => vec![result.with(compared); 2],
            Shape::Extract => vec![result, word, word],
            Shape::Insert => vec![result, result, word, word],
            Shape::Fold(count) => vec![Ty::new(result.scalar, folded); count],
            Shape::Select => vec![result, result, result.with(Scalar::Bool)],
            Shape::Reduce => vec![Ty::new(Scalar::Bool, folded)],
            Shape::From(scalar) => vec![result.with(scalar)],
            Shape::Exponent => vec![result, result.with(Scalar::I32)],
            Shape::Fixed(operands, _) => operands.to_vec(),
        }
    }

    /// The operation as WGSL, over the texts of its operands.
    pub(crate) fn wgsl(&self, result: Ty, operands: &[String]) -> String {
        let all = operands.join(", ");
        match self.form {
            Form::Prefix => format!("({}{all})", self.name),
            Form::Infix => format!("({} {} {})", operands[0], self.name, operands[1]),
            Form::Call => format!("{}({all})", self.name),
            Form::Convert => format!("{}({all})", result.wgsl()),
            Form::Bitcast => format!("bitcast<{}>({all})", result.wgsl()),
        }
    }
}
