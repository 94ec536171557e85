//! Calls of built-in functions.

use vyre_core::naga::{Expression, Handle, MathFunction as M, TypeInner};

use super::CompileError;
use super::frame::Frame;
use crate::code::Reg;
use crate::layout::Num;
use crate::ops::{self, Op};

impl Frame<'_, '_> {
    pub(super) fn math(
        &mut self,
        fun: M,
        arguments: &[Handle<Expression>],
        handle: Handle<Expression>,
    ) -> Result<Vec<Reg>, CompileError> {
        let num = self.num_of(arguments[0])?;
        let inner = self.type_of(arguments[0]);
        let mut values = Vec::with_capacity(arguments.len());
        for &argument in arguments {
            values.push((self.value(argument)?, self.num_of(argument)?.words()));
        }
        let values: Vec<(&[Reg], u32)> = values
            .iter()
            .map(|(regs, words)| (&**regs, *words))
            .collect();
        match fun {
            M::Modf | M::Frexp => self.two_results(fun, num, values[0].0),
            M::Ldexp => self.ldexp(num, values[0].0, values[1].0),
            M::InsertBits => self.each_packed(fun, &values),
            _ if is_packing(fun) => {
                let src: Vec<_> = values
                    .iter()
                    .flat_map(|(regs, _)| regs.iter().copied())
                    .collect();
                self.packed(fun, &src)
            }
            _ if is_geometric(fun) => {
                let regs: Vec<&[Reg]> = values.iter().map(|(regs, _)| *regs).collect();
                self.geometry(fun, num, inner, &regs)
            }
            _ => {
                let op = ops::math(fun, num);
                let op = op.ok_or(CompileError::Unsupported("this built-in function"))?;
                // The mix factor of a vector may be one scalar; `each` spreads it.
                let result = self.each(op, &values)?;
                debug_assert!(
                    !matches!(self.type_of(handle), TypeInner::Scalar(_)) || result.len() <= 2
                );
                Ok(result)
            }
        }
    }

    /// A function of all words of its arguments.
    fn packed(&mut self, fun: M, src: &[Reg]) -> Result<Vec<Reg>, CompileError> {
        let (run, words) =
            ops::pack(fun).ok_or(CompileError::Unsupported("this built-in function"))?;
        self.wide(run, words, src)
    }

    fn each_packed(&mut self, fun: M, values: &[(&[Reg], u32)]) -> Result<Vec<Reg>, CompileError> {
        if values.iter().any(|&(_, words)| words != 1) {
            return Err(CompileError::Unsupported("bit fields of 64-bit integers"));
        }
        let (run, words) =
            ops::pack(fun).ok_or(CompileError::Unsupported("this built-in function"))?;
        self.each(Op::Wide(run, words), values)
    }

    /// The struct of fractional and whole parts, or of fractions and exponents.
    fn two_results(&mut self, fun: M, num: Num, regs: &[Reg]) -> Result<Vec<Reg>, CompileError> {
        let regs = self.convert_all(regs, num, Num::F32)?;
        let (mut first, mut second) = (Vec::new(), Vec::new());
        for &reg in &regs {
            let pair = self.packed(fun, &[reg])?;
            first.push(pair[0]);
            second.push(pair[1]);
        }
        let mut result = self.convert_all(&first, Num::F32, num)?;
        if fun == M::Modf {
            second = self.convert_all(&second, Num::F32, num)?;
        }
        result.extend(second);
        Ok(result)
    }

    fn ldexp(
        &mut self,
        num: Num,
        value: &[Reg],
        exponent: &[Reg],
    ) -> Result<Vec<Reg>, CompileError> {
        let value = self.convert_all(value, num, Num::F32)?;
        let result = self.each_packed(M::Ldexp, &[(&value, 1), (exponent, 1)])?;
        self.convert_all(&result, Num::F32, num)
    }
}

fn is_packing(fun: M) -> bool {
    matches!(
        fun,
        M::Pack4x8snorm
            | M::Pack4x8unorm
            | M::Pack2x16snorm
            | M::Pack2x16unorm
            | M::Pack2x16float
            | M::Pack4xI8
            | M::Pack4xU8
            | M::Pack4xI8Clamp
            | M::Pack4xU8Clamp
            | M::Unpack4x8snorm
            | M::Unpack4x8unorm
            | M::Unpack2x16snorm
            | M::Unpack2x16unorm
            | M::Unpack2x16float
            | M::Unpack4xI8
            | M::Unpack4xU8
            | M::Dot4I8Packed
            | M::Dot4U8Packed
    )
}

fn is_geometric(fun: M) -> bool {
    matches!(
        fun,
        M::Dot
            | M::Outer
            | M::Cross
            | M::Distance
            | M::Length
            | M::Normalize
            | M::FaceForward
            | M::Reflect
            | M::Refract
            | M::Inverse
            | M::Transpose
            | M::Determinant
    )
}
