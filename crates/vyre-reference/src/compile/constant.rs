//! Values that are known before the kernel runs.

use vyre_core::naga::{Expression, Handle, Literal};

use super::{CompileError, Compiler};
use crate::layout;
use crate::ops::to_words;

/// The words of a literal.
pub(super) fn literal(literal: Literal) -> Result<Vec<u32>, CompileError> {
    Ok(match literal {
        Literal::F32(value) => vec![value.to_bits()],
        Literal::F16(value) => vec![value.to_bits().into()],
        Literal::U32(value) => vec![value],
        Literal::I32(value) => vec![value.cast_unsigned()],
        Literal::Bool(value) => vec![value.into()],
        Literal::U64(value) => to_words(value).to_vec(),
        Literal::I64(value) => to_words(value.cast_unsigned()).to_vec(),
        Literal::F64(_)
        | Literal::U16(_)
        | Literal::I16(_)
        | Literal::AbstractInt(_)
        | Literal::AbstractFloat(_) => {
            return Err(CompileError::Unsupported("a literal of this width"));
        }
    })
}

impl Compiler<'_> {
    /// The words of a constant expression of the module.
    pub(super) fn constant_words(
        &self,
        handle: Handle<Expression>,
    ) -> Result<Vec<u32>, CompileError> {
        let module = self.module;
        match module.global_expressions[handle] {
            Expression::Literal(value) => literal(value),
            Expression::Constant(constant) => self.constant_words(module.constants[constant].init),
            Expression::ZeroValue(ty) => {
                let words = layout::words_of(module, ty)?;
                Ok(vec![0; words as usize])
            }
            Expression::Compose { ref components, .. } => {
                let mut words = Vec::new();
                for &component in components {
                    words.extend(self.constant_words(component)?);
                }
                Ok(words)
            }
            Expression::Splat { size, value } => {
                Ok(self.constant_words(value)?.repeat(size as usize))
            }
            _ => Err(CompileError::Unsupported(
                "a module constant that is not folded",
            )),
        }
    }
}
