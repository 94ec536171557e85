//! How types become lists of scalars, in registers and in buffers.

use vyre_core::naga::{ArraySize, Module, Scalar, ScalarKind, Type, TypeInner, VectorSize};
use vyre_core::naga::{Handle, proc::Alignment};

use crate::code::PartSize;
use crate::compile::CompileError;

/// The type of a scalar.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Num {
    Bool,
    I32,
    U32,
    F32,
    F16,
    I64,
    U64,
}

impl Num {
    pub(crate) fn new(scalar: Scalar) -> Result<Self, CompileError> {
        Ok(match (scalar.kind, scalar.width) {
            (ScalarKind::Bool, _) => Self::Bool,
            (ScalarKind::Sint, 4) => Self::I32,
            (ScalarKind::Uint, 4) => Self::U32,
            (ScalarKind::Float, 4) => Self::F32,
            (ScalarKind::Float, 2) => Self::F16,
            (ScalarKind::Sint, 8) => Self::I64,
            (ScalarKind::Uint, 8) => Self::U64,
            _ => return Err(CompileError::Unsupported("a scalar of this width")),
        })
    }

    /// Registers that hold one scalar.
    pub(crate) fn words(self) -> u32 {
        match self {
            Self::I64 | Self::U64 => 2,
            _ => 1,
        }
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, Self::I32 | Self::I64)
    }
}

/// One word of a value, where a buffer holds it.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Leaf {
    pub(crate) offset: u32,
    pub(crate) size: PartSize,
}

/// Registers that a value of this type takes; runtime-sized arrays count as nothing.
pub(crate) fn words(module: &Module, inner: &TypeInner) -> Result<u32, CompileError> {
    Ok(match *inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => Num::new(scalar)?.words(),
        TypeInner::Vector { size, scalar } => size as u32 * Num::new(scalar)?.words(),
        TypeInner::Matrix {
            columns,
            rows,
            scalar,
        } => columns as u32 * rows as u32 * Num::new(scalar)?.words(),
        TypeInner::Array { base, size, .. } => {
            let each = words_of(module, base)?;
            let all = each.checked_mul(array_length(size).unwrap_or(0));
            all.ok_or(CompileError::TooLarge)?
        }
        TypeInner::Struct { ref members, .. } => {
            let mut sum = 0_u32;
            for member in members {
                let more = words_of(module, member.ty)?;
                sum = sum.checked_add(more).ok_or(CompileError::TooLarge)?;
            }
            sum
        }
        _ => return Err(CompileError::Unsupported("a value of an opaque type")),
    })
}

pub(crate) fn words_of(module: &Module, ty: Handle<Type>) -> Result<u32, CompileError> {
    words(module, &module.types[ty].inner)
}

/// The length of an array that is not runtime-sized.
pub(crate) fn array_length(size: ArraySize) -> Option<u32> {
    match size {
        ArraySize::Constant(length) => Some(length.get()),
        ArraySize::Pending(_) | ArraySize::Dynamic => None,
    }
}

/// Bytes from one column of a matrix in a buffer to the next.
pub(crate) fn column_stride(rows: VectorSize, scalar: Scalar) -> u32 {
    Alignment::from(rows) * u32::from(scalar.width)
}

/// The words of a value in a buffer, in the order of its registers.
pub(crate) fn leaves(module: &Module, inner: &TypeInner) -> Result<Vec<Leaf>, CompileError> {
    // Refuses what is too large before the list is.
    words(module, inner)?;
    let mut list = Vec::new();
    push_leaves(module, inner, 0, &mut list)?;
    Ok(list)
}

fn push_leaves(
    module: &Module,
    inner: &TypeInner,
    offset: u32,
    list: &mut Vec<Leaf>,
) -> Result<(), CompileError> {
    match *inner {
        TypeInner::Scalar(scalar) | TypeInner::Atomic(scalar) => {
            push_scalars(scalar, 1, offset, list)?;
        }
        TypeInner::Vector { size, scalar } => push_scalars(scalar, size as u32, offset, list)?,
        TypeInner::Matrix {
            columns,
            rows,
            scalar,
        } => {
            let stride = column_stride(rows, scalar);
            for column in 0..columns as u32 {
                push_scalars(scalar, rows as u32, offset + column * stride, list)?;
            }
        }
        TypeInner::Array { base, size, stride } => {
            let element = &module.types[base].inner;
            for index in 0..array_length(size).unwrap_or(0) {
                push_leaves(module, element, offset + index * stride, list)?;
            }
        }
        TypeInner::Struct { ref members, .. } => {
            for member in members {
                let inner = &module.types[member.ty].inner;
                push_leaves(module, inner, offset + member.offset, list)?;
            }
        }
        _ => return Err(CompileError::Unsupported("a value of an opaque type")),
    }
    Ok(())
}

fn push_scalars(
    scalar: Scalar,
    count: u32,
    offset: u32,
    list: &mut Vec<Leaf>,
) -> Result<(), CompileError> {
    let num = Num::new(scalar)?;
    let size = match num {
        Num::F16 => PartSize::Half,
        _ => PartSize::Word,
    };
    for index in 0..count {
        let offset = offset + index * u32::from(scalar.width);
        list.extend((0..num.words()).map(|word| Leaf {
            offset: offset + 4 * word,
            size,
        }));
    }
    Ok(())
}
