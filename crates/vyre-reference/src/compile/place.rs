//! Pointers: which variable, and how far into it. Loads and stores through them.

use std::rc::Rc;

use vyre_core::naga::{Expression, Handle, TypeInner};

use super::CompileError;
use super::frame::Frame;
use crate::code::{
    Access, Address, DynamicIndex, Inst, LaneAccess, Length, Part, PartSize, Reg, RuntimeArray,
    Shared,
};
use crate::layout;

/// The variable that a pointer points into.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(super) enum Root {
    /// Index into the kernel's bindings; offsets are bytes.
    Buffer(u32),
    /// Workgroup memory as a whole; offsets are words, as in all that follow.
    Workgroup,
    /// A function's or private variable, in registers.
    Lanes { base: Reg, len: u32 },
}

/// What a pointer points to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Place {
    pub(super) root: Root,
    pub(super) offset: u32,
    pub(super) index: Option<DynamicIndex>,
}

impl Place {
    pub(super) fn at(root: Root, offset: u32) -> Self {
        Self {
            root,
            offset,
            index: None,
        }
    }

    fn address(&self) -> Address {
        Address {
            offset: self.offset,
            index: self.index,
        }
    }

    fn after(self, more: u32) -> Result<Self, CompileError> {
        let offset = self.offset.checked_add(more);
        Ok(Self {
            offset: offset.ok_or(CompileError::TooLarge)?,
            ..self
        })
    }

    /// The memory that atomic operations through this pointer work on.
    pub(super) fn shared(&self) -> Result<(Shared, Address), CompileError> {
        let memory = match self.root {
            Root::Buffer(binding) => Shared::Buffer(binding),
            Root::Workgroup => Shared::Workgroup,
            Root::Lanes { .. } => return Err(CompileError::Unsupported("atomics in registers")),
        };
        Ok((memory, self.address()))
    }
}

impl Frame<'_, '_> {
    /// The type that a pointer points to.
    pub(super) fn pointee(&self, pointer: Handle<Expression>) -> Result<TypeInner, CompileError> {
        Ok(match *self.type_of(pointer) {
            TypeInner::Pointer { base, .. } => self.compiler.module.types[base].inner.clone(),
            TypeInner::ValuePointer {
                size: Some(size),
                scalar,
                ..
            } => TypeInner::Vector { size, scalar },
            TypeInner::ValuePointer {
                size: None, scalar, ..
            } => TypeInner::Scalar(scalar),
            _ => return Err(CompileError::Unsupported("a value as a pointer")),
        })
    }

    /// What lies between elements of `inner`, in bytes in buffers, else in words, and how many
    /// elements there are; none for a runtime-sized array.
    fn elements(&self, inner: &TypeInner, root: Root) -> Result<(u32, Option<u32>), CompileError> {
        let module = self.compiler.module;
        let in_bytes = matches!(root, Root::Buffer(_));
        Ok(match *inner {
            TypeInner::Vector { size, scalar } => {
                let words = layout::words(module, &TypeInner::Scalar(scalar))?;
                let stride = if in_bytes { scalar.width.into() } else { words };
                (stride, Some(size as u32))
            }
            TypeInner::Matrix {
                columns,
                rows,
                scalar,
            } => {
                let column = TypeInner::Vector { size: rows, scalar };
                let stride = if in_bytes {
                    layout::column_stride(rows, scalar)
                } else {
                    layout::words(module, &column)?
                };
                (stride, Some(columns as u32))
            }
            TypeInner::Array { base, size, stride } => {
                let stride = if in_bytes {
                    stride
                } else {
                    layout::words_of(module, base)?
                };
                (stride, layout::array_length(size))
            }
            _ => return Err(CompileError::Unsupported("an index into this type")),
        })
    }

    /// `&base[index]`, or `&base.member`.
    pub(super) fn step(
        &mut self,
        base: Handle<Expression>,
        index: u32,
    ) -> Result<Place, CompileError> {
        let inner = self.pointee(base)?;
        let place = self.place(base)?;
        if let TypeInner::Struct { members, .. } = &inner {
            let module = self.compiler.module;
            let index = index as usize;
            if let Root::Buffer(_) = place.root {
                return place.after(members[index].offset);
            }
            let before = members[..index].iter();
            let words = before.map(|member| layout::words_of(module, member.ty));
            return place.after(words.sum::<Result<u32, _>>()?);
        }
        let (stride, length) = self.elements(&inner, place.root)?;
        if length.is_some_and(|length| index < length) {
            let offset = index.checked_mul(stride);
            return place.after(offset.ok_or(CompileError::TooLarge)?);
        }
        let index = self.compiler.constant(index)?;
        self.index_place(place, index, stride, length)
    }

    /// `&base[index]` for an index that is known when the kernel runs.
    pub(super) fn step_by(
        &mut self,
        base: Handle<Expression>,
        index: Reg,
    ) -> Result<Place, CompileError> {
        let inner = self.pointee(base)?;
        let place = self.place(base)?;
        let (stride, length) = self.elements(&inner, place.root)?;
        self.index_place(place, index, stride, length)
    }

    fn index_place(
        &mut self,
        place: Place,
        index: Reg,
        stride: u32,
        length: Option<u32>,
    ) -> Result<Place, CompileError> {
        let to = DynamicIndex {
            offset: self.temporary()?,
            valid: self.temporary()?,
        };
        let length = match (length, place.root) {
            (Some(length), _) => Length::Fixed(length),
            (None, Root::Buffer(binding)) => Length::Runtime(RuntimeArray {
                binding,
                offset: place.offset,
                stride,
            }),
            _ => return Err(CompileError::Unsupported("a runtime-sized array elsewhere")),
        };
        self.push(Inst::Index {
            to,
            from: place.index,
            index,
            stride,
            length,
        });
        Ok(Place {
            index: Some(to),
            ..place
        })
    }

    /// The number of elements of a runtime-sized array.
    pub(super) fn array_length(
        &mut self,
        pointer: Handle<Expression>,
    ) -> Result<Reg, CompileError> {
        let inner = self.pointee(pointer)?;
        let place = self.place(pointer)?;
        let (stride, _) = self.elements(&inner, place.root)?;
        let Root::Buffer(binding) = place.root else {
            return Err(CompileError::Unsupported("arrayLength of this pointer"));
        };
        let dst = self.temporary()?;
        self.push(Inst::ArrayLength {
            dst,
            array: RuntimeArray {
                binding,
                offset: place.offset,
                stride,
            },
        });
        Ok(dst)
    }

    /// The value that a pointer points to.
    pub(super) fn load(&mut self, pointer: Handle<Expression>) -> Result<Rc<[Reg]>, CompileError> {
        let inner = self.pointee(pointer)?;
        let place = self.place(pointer)?;
        let words = layout::words(self.compiler.module, &inner)?;
        match (place.root, place.index) {
            (Root::Lanes { base, .. }, None) => {
                let first = base.after(place.offset);
                Ok((0..words).map(|word| first.after(word)).collect())
            }
            (Root::Lanes { base, .. }, Some(index)) => {
                let regs = self.temporaries(words)?;
                self.load_lanes(base, place.offset, index, &regs);
                Ok(regs.into())
            }
            _ => {
                let regs = self.temporaries(words)?;
                let access = self.access(place, &inner, &regs)?;
                self.push(Inst::Load(access));
                Ok(regs.into())
            }
        }
    }

    /// `regs` of a variable in registers, at an index.
    pub(super) fn load_lanes(&mut self, base: Reg, offset: u32, index: DynamicIndex, regs: &[Reg]) {
        self.push(Inst::LoadLanes(Box::new(LaneAccess {
            base,
            offset,
            index,
            regs: regs.into(),
        })));
    }

    pub(super) fn store(
        &mut self,
        pointer: Handle<Expression>,
        value: Handle<Expression>,
    ) -> Result<(), CompileError> {
        let inner = self.pointee(pointer)?;
        let place = self.place(pointer)?;
        let regs = self.value(value)?;
        match (place.root, place.index) {
            (Root::Lanes { base, .. }, None) => {
                self.settle()?;
                self.move_all(base.after(place.offset), &regs)?;
            }
            (Root::Lanes { base, .. }, Some(index)) => {
                let regs = self.copy_variables(&regs)?;
                self.settle()?;
                self.push(Inst::StoreLanes(Box::new(LaneAccess {
                    base,
                    offset: place.offset,
                    index,
                    regs: (&*regs).into(),
                })));
            }
            _ => {
                let access = self.access(place, &inner, &regs)?;
                self.push(Inst::Store(access));
            }
        }
        Ok(())
    }

    /// Moves `regs` to the block that starts at `first`, as if all at once.
    pub(super) fn move_all(&mut self, first: Reg, regs: &[Reg]) -> Result<(), CompileError> {
        let block = first.0..first.0 + u32::try_from(regs.len()).unwrap_or(u32::MAX);
        let mut moves = Vec::with_capacity(regs.len());
        for (dst, &src) in block.clone().map(Reg).zip(regs) {
            // A source that an earlier move overwrites, because the value is a permutation of the
            // variable's own parts, is kept aside.
            let overwritten = block.contains(&src.0) && src < dst;
            if src == dst {
                continue;
            }
            if !overwritten {
                moves.push((dst, src));
                continue;
            }
            let aside = self.temporary()?;
            self.push(Inst::Copy { dst: aside, src });
            moves.push((dst, aside));
        }
        for (dst, src) in moves {
            self.push(Inst::Move { dst, src });
        }
        Ok(())
    }

    /// An access to shared memory.
    fn access(
        &self,
        place: Place,
        inner: &TypeInner,
        regs: &[Reg],
    ) -> Result<Box<Access>, CompileError> {
        let (memory, address) = place.shared()?;
        let part = |(&reg, (offset, size))| Part { reg, offset, size };
        let parts = match memory {
            Shared::Buffer(_) => {
                let leaves = layout::leaves(self.compiler.module, inner)?.into_iter();
                let leaves = leaves.map(|leaf| (leaf.offset, leaf.size));
                regs.iter().zip(leaves).map(part).collect()
            }
            Shared::Workgroup => {
                let words = (0..).map(|word| (word, PartSize::Word));
                regs.iter().zip(words).map(part).collect()
            }
        };
        Ok(Box::new(Access {
            memory,
            address,
            parts,
            atomic: matches!(inner, TypeInner::Atomic(_)),
        }))
    }
}
