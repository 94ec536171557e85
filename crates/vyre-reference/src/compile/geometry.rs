//! Vectors and matrices as a whole. `f16`s are computed as `f32`s and rounded at the end.

use vyre_core::naga::{BinaryOperator as B, MathFunction as M, TypeInner, VectorSize};

use super::CompileError;
use super::frame::Frame;
use crate::code::Reg;
use crate::layout::Num;
use crate::ops::{self, SELECT};

impl Frame<'_, '_> {
    pub(super) fn geometry(
        &mut self,
        fun: M,
        num: Num,
        inner: &TypeInner,
        arguments: &[&[Reg]],
    ) -> Result<Vec<Reg>, CompileError> {
        if num != Num::F16 {
            return self.geometry_in(fun, num, inner, arguments);
        }
        let mut widened = Vec::with_capacity(arguments.len());
        for argument in arguments {
            widened.push(self.convert_all(argument, Num::F16, Num::F32)?);
        }
        let widened: Vec<&[Reg]> = widened.iter().map(Vec::as_slice).collect();
        let result = self.geometry_in(fun, Num::F32, inner, &widened)?;
        self.convert_all(&result, Num::F32, Num::F16)
    }

    fn geometry_in(
        &mut self,
        fun: M,
        num: Num,
        inner: &TypeInner,
        arguments: &[&[Reg]],
    ) -> Result<Vec<Reg>, CompileError> {
        let a = arguments[0];
        let b = arguments.get(1).copied().unwrap_or(a);
        Ok(match fun {
            M::Dot => self.dot(num, a, b)?,
            M::Cross => self.cross(a, b)?,
            M::Length => vec![self.length(a)?],
            M::Distance => {
                let difference = self.floats(B::Subtract, a, b)?;
                vec![self.length(&difference)?]
            }
            M::Normalize => {
                let length = self.length(a)?;
                self.floats(B::Divide, a, &[length])?
            }
            M::FaceForward => {
                let product = self.dot(Num::F32, b, arguments[2])?;
                let zero = self.compiler.constant(0)?;
                let keep = self.floats(B::Less, &product, &[zero])?[0];
                let negative = self.negate(a)?;
                self.choose(keep, a, &negative)?
            }
            M::Reflect => {
                let product = self.dot(Num::F32, b, a)?;
                let twice = self.floats(B::Add, &product, &product)?;
                let along = self.floats(B::Multiply, b, &twice)?;
                self.floats(B::Subtract, a, &along)?
            }
            M::Refract => self.refract(a, b, arguments[2])?,
            M::Transpose => transpose(inner, a),
            M::Determinant => vec![self.determinant(inner, a)?],
            _ => return Err(CompileError::Unsupported("this built-in function")),
        })
    }

    /// `a op b` on `f32`s.
    fn floats(&mut self, op: B, a: &[Reg], b: &[Reg]) -> Result<Vec<Reg>, CompileError> {
        self.binary_values(op, Num::F32, a, (b, 1))
    }

    fn float(&mut self, op: B, a: Reg, b: Reg) -> Result<Reg, CompileError> {
        Ok(self.floats(op, &[a], &[b])?[0])
    }

    fn function(&mut self, fun: M, a: &[Reg]) -> Result<Vec<Reg>, CompileError> {
        let op = ops::math(fun, Num::F32);
        let op = op.ok_or(CompileError::Unsupported("this built-in function"))?;
        self.each(op, &[(a, 1)])
    }

    fn negate(&mut self, a: &[Reg]) -> Result<Vec<Reg>, CompileError> {
        let sign = self.compiler.constant(1 << 31)?;
        self.binary_values(B::ExclusiveOr, Num::U32, a, (&[sign], 1))
    }

    /// `accept` where `condition` holds, else `reject`.
    fn choose(
        &mut self,
        condition: Reg,
        accept: &[Reg],
        reject: &[Reg],
    ) -> Result<Vec<Reg>, CompileError> {
        let pairs = accept.iter().zip(reject);
        pairs
            .map(|(&accept, &reject)| self.narrow(SELECT, &[condition, accept, reject]))
            .collect()
    }

    fn dot(&mut self, num: Num, a: &[Reg], b: &[Reg]) -> Result<Vec<Reg>, CompileError> {
        let words = num.words() as usize;
        let products = self.binary_values(B::Multiply, num, a, (b, num.words()))?;
        let mut sum = products[..words].to_vec();
        for product in products[words..].chunks(words) {
            sum = self.binary_values(B::Add, num, &sum, (product, num.words()))?;
        }
        Ok(sum)
    }

    fn length(&mut self, a: &[Reg]) -> Result<Reg, CompileError> {
        if let [scalar] = a {
            return Ok(self.function(M::Abs, &[*scalar])?[0]);
        }
        let square = self.dot(Num::F32, a, a)?;
        Ok(self.function(M::Sqrt, &square)?[0])
    }

    fn cross(&mut self, a: &[Reg], b: &[Reg]) -> Result<Vec<Reg>, CompileError> {
        let turn = |v: &[Reg], by: usize| -> Vec<Reg> { (0..3).map(|i| v[(i + by) % 3]).collect() };
        let forth = self.floats(B::Multiply, &turn(a, 1), &turn(b, 2))?;
        let back = self.floats(B::Multiply, &turn(a, 2), &turn(b, 1))?;
        self.floats(B::Subtract, &forth, &back)
    }

    fn refract(
        &mut self,
        a: &[Reg],
        normal: &[Reg],
        ratio: &[Reg],
    ) -> Result<Vec<Reg>, CompileError> {
        let one = self.compiler.constant(1.0_f32.to_bits())?;
        let zero = self.compiler.constant(0)?;
        let cosine = self.dot(Num::F32, normal, a)?[0];
        let square = self.float(B::Multiply, cosine, cosine)?;
        let rest = self.float(B::Subtract, one, square)?;
        let ratio_square = self.float(B::Multiply, ratio[0], ratio[0])?;
        let scaled = self.float(B::Multiply, ratio_square, rest)?;
        let k = self.float(B::Subtract, one, scaled)?;
        let root = self.function(M::Sqrt, &[k])?[0];
        let along = self.float(B::Multiply, ratio[0], cosine)?;
        let along = self.float(B::Add, along, root)?;
        let first = self.floats(B::Multiply, a, ratio)?;
        let second = self.floats(B::Multiply, normal, &[along])?;
        let refracted = self.floats(B::Subtract, &first, &second)?;
        let total = self.float(B::Less, k, zero)?;
        self.choose(total, &vec![zero; refracted.len()], &refracted)
    }

    /// By the first column, recursively.
    fn determinant(&mut self, inner: &TypeInner, a: &[Reg]) -> Result<Reg, CompileError> {
        let columns: Vec<&[Reg]> = a.chunks(rows_of(inner)).collect();
        self.minor(&columns)
    }

    fn minor(&mut self, columns: &[&[Reg]]) -> Result<Reg, CompileError> {
        let (Some(first), rest) = (columns.first(), &columns[1..]) else {
            return Err(CompileError::Unsupported("the determinant of nothing"));
        };
        if rest.is_empty() {
            return Ok(first[0]);
        }
        let mut sum = None;
        for (row, &factor) in first.iter().enumerate() {
            let without = |column: &&[Reg]| -> Vec<Reg> {
                let kept = column.iter().enumerate().filter(|&(index, _)| index != row);
                kept.map(|(_, &reg)| reg).collect()
            };
            let smaller: Vec<Vec<Reg>> = rest.iter().map(without).collect();
            let smaller: Vec<&[Reg]> = smaller.iter().map(Vec::as_slice).collect();
            let minor = self.minor(&smaller)?;
            let term = self.float(B::Multiply, factor, minor)?;
            sum = Some(match sum {
                None => term,
                Some(sum) if row % 2 == 1 => self.float(B::Subtract, sum, term)?,
                Some(sum) => self.float(B::Add, sum, term)?,
            });
        }
        sum.ok_or(CompileError::Unsupported("the determinant of nothing"))
    }

    /// The product of two matrices, or of a matrix and a vector.
    pub(super) fn matrix_product(
        &mut self,
        num: Num,
        (left_type, a): (&TypeInner, &[Reg]),
        (right_type, b): (&TypeInner, &[Reg]),
    ) -> Result<Vec<Reg>, CompileError> {
        let (a, b) = (
            self.convert_all(a, num, Num::F32)?,
            self.convert_all(b, num, Num::F32)?,
        );
        let mut result = Vec::new();
        if matches!(left_type, TypeInner::Vector { .. }) {
            for column in b.chunks(rows_of(right_type)) {
                result.extend(self.dot(Num::F32, &a, column)?);
            }
        } else {
            let rows = rows_of(left_type);
            let columns = a.len() / rows;
            for factors in b.chunks(columns) {
                result.extend(self.combine(&a, rows, factors)?);
            }
        }
        self.convert_all(&result, Num::F32, num)
    }

    /// The sum of a matrix's columns, each times a factor.
    fn combine(
        &mut self,
        a: &[Reg],
        rows: usize,
        factors: &[Reg],
    ) -> Result<Vec<Reg>, CompileError> {
        let mut sum = Vec::new();
        for (column, &factor) in a.chunks(rows).zip(factors) {
            let term = self.floats(B::Multiply, column, &[factor])?;
            sum = if sum.is_empty() {
                term
            } else {
                self.floats(B::Add, &sum, &term)?
            };
        }
        Ok(sum)
    }
}

fn rows_of(inner: &TypeInner) -> usize {
    match inner {
        TypeInner::Matrix { rows, .. } => *rows as usize,
        _ => VectorSize::Bi as usize,
    }
}

fn transpose(inner: &TypeInner, a: &[Reg]) -> Vec<Reg> {
    let rows = rows_of(inner);
    let columns = a.len() / rows;
    let swapped = (0..rows).flat_map(|row| (0..columns).map(move |column| column * rows + row));
    swapped.map(|index| a[index]).collect()
}
