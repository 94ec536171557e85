//! Expressions: the ones that rename registers, and the way to all others.

use std::rc::Rc;

use vyre_core::naga::{Expression, Handle, TypeInner};

use super::CompileError;
use super::constant;
use super::frame::{Frame, Slot};
use crate::code::{DynamicIndex, Inst, Length, Reg};
use crate::layout;

impl Frame<'_, '_> {
    /// Computes an expression.
    pub(super) fn evaluate(&mut self, handle: Handle<Expression>) -> Result<Slot, CompileError> {
        let function = self.function;
        let regs = match function.expressions[handle] {
            Expression::FunctionArgument(index) => {
                let slot = self.arguments.get(index as usize).cloned();
                return slot.ok_or(CompileError::Unsupported("this argument"));
            }
            Expression::GlobalVariable(variable) => {
                let place = self.compiler.globals.get(&variable).copied();
                let place = place.ok_or(CompileError::Unsupported("this variable"))?;
                return Ok(Slot::Pointer(place));
            }
            Expression::LocalVariable(variable) => {
                return Ok(Slot::Pointer(self.locals[variable.index()]));
            }
            Expression::Access { base, index } => return self.access_by(base, index),
            Expression::AccessIndex { base, index } => return self.access_at(base, index),
            Expression::Load { pointer } => return Ok(Slot::Value(self.load(pointer)?)),
            Expression::Literal(literal) => self.constants(&constant::literal(literal)?)?,
            Expression::Constant(handle) => {
                let init = self.compiler.module.constants[handle].init;
                let words = self.compiler.constant_words(init)?;
                self.constants(&words)?
            }
            Expression::ZeroValue(ty) => {
                let words = layout::words_of(self.compiler.module, ty)?;
                vec![self.compiler.constant(0)?; words as usize]
            }
            Expression::Compose { ref components, .. } => {
                let mut regs = Vec::new();
                for &component in components {
                    regs.extend_from_slice(&self.value(component)?);
                }
                regs
            }
            Expression::Splat { size, value } => self.value(value)?.repeat(size as usize),
            Expression::Swizzle {
                size,
                vector,
                pattern,
            } => {
                let regs = self.value(vector)?;
                let words = self.num_of(vector)?.words() as usize;
                let picked = pattern.iter().take(size as usize);
                picked
                    .flat_map(|&component| &regs[component as usize * words..][..words])
                    .copied()
                    .collect()
            }
            Expression::ArrayLength(pointer) => vec![self.array_length(pointer)?],
            ref other => self.compute(other, handle)?,
        };
        Ok(Slot::Value(regs.into()))
    }

    fn constants(&mut self, words: &[u32]) -> Result<Vec<Reg>, CompileError> {
        let words = words.iter();
        words.map(|&word| self.compiler.constant(word)).collect()
    }

    fn is_pointer(&self, handle: Handle<Expression>) -> bool {
        matches!(
            self.type_of(handle),
            TypeInner::Pointer { .. } | TypeInner::ValuePointer { .. }
        )
    }

    fn access_at(&mut self, base: Handle<Expression>, index: u32) -> Result<Slot, CompileError> {
        if self.is_pointer(base) {
            return Ok(Slot::Pointer(self.step(base, index)?));
        }
        let module = self.compiler.module;
        let inner = self.type_of(base);
        let regs = self.value(base)?;
        let (start, words) = match inner {
            TypeInner::Struct { members, .. } => {
                let (before, rest) = members.split_at(index as usize);
                let member = rest
                    .first()
                    .ok_or(CompileError::Unsupported("this member"))?;
                let before = before.iter();
                let start = before.map(|member| layout::words_of(module, member.ty));
                let words = layout::words_of(module, member.ty)?;
                (start.sum::<Result<u32, _>>()?, words)
            }
            _ => {
                let words = self.element_words(inner)?;
                (index.saturating_mul(words), words)
            }
        };
        let picked = regs.iter().skip(start as usize).take(words as usize);
        Ok(Slot::Value(picked.copied().collect()))
    }

    /// Words of one element of a vector, matrix or array.
    fn element_words(&self, inner: &TypeInner) -> Result<u32, CompileError> {
        let module = self.compiler.module;
        match *inner {
            TypeInner::Vector { scalar, .. } => layout::words(module, &TypeInner::Scalar(scalar)),
            TypeInner::Matrix { rows, scalar, .. } => {
                layout::words(module, &TypeInner::Vector { size: rows, scalar })
            }
            TypeInner::Array { base, .. } => layout::words_of(module, base),
            _ => Err(CompileError::Unsupported("an index into this type")),
        }
    }

    fn access_by(
        &mut self,
        base: Handle<Expression>,
        index: Handle<Expression>,
    ) -> Result<Slot, CompileError> {
        let index = {
            let words = self.value(index)?;
            let [index] = *words else {
                return Err(CompileError::Unsupported(
                    "an index that is neither i32 nor u32",
                ));
            };
            index
        };
        if self.is_pointer(base) {
            return Ok(Slot::Pointer(self.step_by(base, index)?));
        }
        let stride = self.element_words(self.type_of(base))?;
        let regs = self.value(base)?;
        Ok(Slot::Value(self.pick(&regs, index, stride)?))
    }

    /// The element of a value at an index.
    fn pick(&mut self, regs: &[Reg], index: Reg, stride: u32) -> Result<Rc<[Reg]>, CompileError> {
        let len = u32::try_from(regs.len()).unwrap_or(u32::MAX);
        let block = self.compiler.new_block(len, false)?;
        for (word, &src) in (0..).zip(regs) {
            let dst = block.after(word);
            self.push(Inst::Copy { dst, src });
        }
        let to = DynamicIndex {
            offset: self.temporary()?,
            valid: self.temporary()?,
        };
        self.push(Inst::Index {
            to,
            from: None,
            index,
            stride,
            length: Length::Fixed(len / stride.max(1)),
        });
        let picked = self.temporaries(stride)?;
        self.load_lanes(block, 0, to, &picked);
        Ok(picked.into())
    }
}
