//! Operators, conversions and selections.

use vyre_core::naga::{
    BinaryOperator, Expression, Handle, RelationalFunction, ScalarKind, TypeInner,
};

use super::CompileError;
use super::frame::Frame;
use crate::code::Reg;
use crate::layout::Num;
use crate::ops::{Op, SELECT, binary, convert, unary};

impl Frame<'_, '_> {
    /// The registers of an expression that computes.
    pub(super) fn compute(
        &mut self,
        expression: &Expression,
        handle: Handle<Expression>,
    ) -> Result<Vec<Reg>, CompileError> {
        match *expression {
            Expression::Unary { op, expr } => {
                let num = self.num_of(expr)?;
                let op = unary(op, num).ok_or(CompileError::Unsupported("this operator"))?;
                let regs = self.value(expr)?;
                self.each(op, &[(&regs, num.words())])
            }
            Expression::Binary { op, left, right } => self.binary(op, left, right),
            Expression::Select {
                condition,
                accept,
                reject,
            } => self.select(condition, accept, reject),
            Expression::Relational { fun, argument } => self.relational(fun, argument),
            Expression::As {
                expr,
                kind,
                convert,
            } => self.convert_to(expr, kind, convert),
            Expression::Math {
                fun,
                arg,
                arg1,
                arg2,
                arg3,
            } => {
                let arguments = [Some(arg), arg1, arg2, arg3];
                let arguments: Vec<_> = arguments.into_iter().flatten().collect();
                self.math(fun, &arguments, handle)
            }
            _ => Err(CompileError::Unsupported("this kind of expression")),
        }
    }

    /// Applies `op` to each component of arguments with so many words in a scalar; scalars go with
    /// every component.
    pub(super) fn each(
        &mut self,
        op: Op,
        arguments: &[(&[Reg], u32)],
    ) -> Result<Vec<Reg>, CompileError> {
        let count = |&(regs, words): &(&[Reg], u32)| regs.len() / words as usize;
        let components = arguments.iter().map(count).max().unwrap_or(0);
        let mut result = Vec::new();
        for component in 0..components {
            let mut src = Vec::new();
            for argument in arguments {
                let (regs, words) = (argument.0, argument.1 as usize);
                let component = if count(argument) == 1 { 0 } else { component };
                src.extend_from_slice(&regs[component * words..][..words]);
            }
            result.extend(self.apply(op, &src)?);
        }
        Ok(result)
    }

    fn binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Result<Vec<Reg>, CompileError> {
        let (left_type, right_type) = (self.type_of(left), self.type_of(right));
        let (num, right_num) = (self.num_of(left)?, self.num_of(right)?);
        let (a, b) = (self.value(left)?, self.value(right)?);
        let is_matrix = |inner: &TypeInner| matches!(inner, TypeInner::Matrix { .. });
        let is_scalar = |inner: &TypeInner| matches!(inner, TypeInner::Scalar(_));
        let is_product = op == BinaryOperator::Multiply
            && (is_matrix(left_type) || is_matrix(right_type))
            && !is_scalar(left_type)
            && !is_scalar(right_type);
        if is_product {
            return self.matrix_product(num, (left_type, &a), (right_type, &b));
        }
        self.binary_values(op, num, &a, (&b, right_num.words()))
    }

    /// `a op b` on each component.
    pub(super) fn binary_values(
        &mut self,
        op: BinaryOperator,
        num: Num,
        a: &[Reg],
        (b, b_words): (&[Reg], u32),
    ) -> Result<Vec<Reg>, CompileError> {
        let op = binary(op, num).ok_or(CompileError::Unsupported("this operator"))?;
        self.each(op, &[(a, num.words()), (b, b_words)])
    }

    fn select(
        &mut self,
        condition: Handle<Expression>,
        accept: Handle<Expression>,
        reject: Handle<Expression>,
    ) -> Result<Vec<Reg>, CompileError> {
        let condition = self.value(condition)?;
        let (accept, reject) = (self.value(accept)?, self.value(reject)?);
        // A condition for each component, or one for all; a component may have two words.
        let words = accept.len() / condition.len();
        let mut result = Vec::with_capacity(accept.len());
        for (index, (&accept, &reject)) in accept.iter().zip(&*reject).enumerate() {
            let condition = condition[index / words];
            result.push(self.narrow(SELECT, &[condition, accept, reject])?);
        }
        Ok(result)
    }

    fn relational(
        &mut self,
        fun: RelationalFunction,
        argument: Handle<Expression>,
    ) -> Result<Vec<Reg>, CompileError> {
        let regs = self.value(argument)?;
        let op = match fun {
            RelationalFunction::All => BinaryOperator::LogicalAnd,
            RelationalFunction::Any => BinaryOperator::LogicalOr,
            RelationalFunction::IsNan | RelationalFunction::IsInf => {
                return Err(CompileError::Unsupported("isNan and isInf"));
            }
        };
        let (&first, rest) = regs
            .split_first()
            .ok_or(CompileError::Unsupported("an empty vector"))?;
        let mut result = vec![first];
        for &next in rest {
            result = self.binary_values(op, Num::Bool, &result, (&[next], 1))?;
        }
        Ok(result)
    }

    fn convert_to(
        &mut self,
        from: Handle<Expression>,
        kind: ScalarKind,
        width: Option<u8>,
    ) -> Result<Vec<Reg>, CompileError> {
        let num = self.num_of(from)?;
        let regs = self.value(from)?;
        let Some(width) = width else {
            return Ok(regs.to_vec());
        };
        let to = Num::new(vyre_core::naga::Scalar { kind, width })?;
        match convert(num, to) {
            Some(op) => self.each(op, &[(&regs, num.words())]),
            None => Ok(regs.to_vec()),
        }
    }
}
