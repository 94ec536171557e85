//! Which accesses may be out of bounds, and the conditions under which they are not.

use naga::proc::IndexableLength;
use naga::proc::index::{GuardedIndex, access_needs_check};
use naga::{
    ArraySize, BinaryOperator, Expression, Handle, Literal, Scalar, ScalarKind, Type, TypeInner,
};

use super::SpirvError;
use super::remap::Builder;
use super::source::Source;

/// An index that is only known to be in bounds while the kernel runs.
struct Check {
    base: Handle<Expression>,
    index: GuardedIndex,
    length: IndexableLength,
}

/// Whether an access through `pointer` may be out of bounds.
pub(super) fn is_needed(source: Source<'_>, pointer: Handle<Expression>) -> bool {
    !checks(source, pointer).is_empty()
}

/// Appends the condition under which `pointer` is in bounds; none where it always is.
pub(super) fn pointer_condition(
    source: Source<'_>,
    new: &mut Builder<'_>,
    pointer: Handle<Expression>,
) -> Option<Handle<Expression>> {
    let mut condition = None;
    for check in checks(source, pointer) {
        let holds = append_check(source, new, &check);
        condition = Some(match condition {
            None => holds,
            Some(others) => new.append_binary(BinaryOperator::LogicalAnd, others, holds),
        });
    }
    condition
}

/// Appends the condition under which `old`, a load or an access, yields a value that is in
/// bounds; none where it always is, or where it yields a pointer.
pub(super) fn read_condition(
    source: Source<'_>,
    new: &mut Builder<'_>,
    old: Handle<Expression>,
) -> Result<Option<Handle<Expression>>, SpirvError> {
    Ok(match *source.expression(old) {
        Expression::Load { pointer } => pointer_condition(source, new, pointer),
        Expression::Access { base, index } => {
            check_index(source, index)?;
            if source.is_pointer(base) {
                return Ok(None);
            }
            check(source, base, GuardedIndex::Expression(index))
                .map(|check| append_check(source, new, &check))
        }
        _ => None,
    })
}

/// Refuses pointers to a part of a variable as arguments, which naga's writer panics on.
pub(super) fn check_arguments(
    source: Source<'_>,
    arguments: &[Handle<Expression>],
) -> Result<(), SpirvError> {
    let is_part = |&argument: &Handle<Expression>| {
        source.is_pointer(argument) && step(source, argument).is_some()
    };
    if arguments.iter().any(is_part) {
        return Err(SpirvError::Unsupported {
            what: "a pointer to a part of a variable as the argument of a function",
            remedy: "pass a pointer to the whole variable, and the index beside it",
        });
    }
    Ok(())
}

/// Refuses indices that are wider than WGSL's.
fn check_index(source: Source<'_>, index: Handle<Expression>) -> Result<(), SpirvError> {
    match source.type_of(index).scalar_width() {
        Some(4) => Ok(()),
        _ => Err(SpirvError::Unsupported {
            what: "an index that is neither i32 nor u32",
            remedy: "convert the index with u32()",
        }),
    }
}

/// The checks that the chain of accesses ending in `end` needs.
fn checks(source: Source<'_>, end: Handle<Expression>) -> Vec<Check> {
    let mut checks = Vec::new();
    let mut end = end;
    while let Some((base, index)) = step(source, end) {
        checks.extend(check(source, base, index));
        end = base;
    }
    checks
}

/// The last step of a chain of accesses.
fn step(source: Source<'_>, end: Handle<Expression>) -> Option<(Handle<Expression>, GuardedIndex)> {
    match *source.expression(end) {
        Expression::Access { base, index } => Some((base, GuardedIndex::Expression(index))),
        Expression::AccessIndex { base, index } => Some((base, GuardedIndex::Known(index))),
        _ => None,
    }
}

/// The check that indexing `base` with `index` needs.
fn check(source: Source<'_>, base: Handle<Expression>, index: GuardedIndex) -> Option<Check> {
    let pointee = match *source.type_of(base) {
        TypeInner::Pointer { base, .. } => &source.module.types[base].inner,
        ref value => value,
    };
    // A member of a struct is always there, and a descriptor is not memory.
    if matches!(
        pointee,
        TypeInner::Struct { .. } | TypeInner::BindingArray { .. }
    ) {
        return None;
    }
    let Source {
        module,
        function,
        info,
    } = source;
    let length = access_needs_check(base, index, module, &function.expressions, info)?;
    Some(Check {
        base,
        index,
        length,
    })
}

/// The condition under which `check` passes.
fn append_check(source: Source<'_>, new: &mut Builder<'_>, check: &Check) -> Handle<Expression> {
    let index = match check.index {
        GuardedIndex::Known(index) => new.append(Expression::Literal(Literal::U32(index))),
        GuardedIndex::Expression(index) => unsigned(source, new, index),
    };
    let length = match check.length {
        IndexableLength::Known(length) => Expression::Literal(Literal::U32(length)),
        IndexableLength::Dynamic => Expression::ArrayLength(new.moved(check.base)),
    };
    let length = new.append(length);
    new.append_binary(BinaryOperator::Less, index, length)
}

/// The index as a `u32`, in which a negative one is out of every bound.
fn unsigned(
    source: Source<'_>,
    new: &mut Builder<'_>,
    index: Handle<Expression>,
) -> Handle<Expression> {
    let moved = new.moved(index);
    if *source.type_of(index) == TypeInner::Scalar(Scalar::U32) {
        return moved;
    }
    new.append(Expression::As {
        expr: moved,
        kind: ScalarKind::Uint,
        convert: None,
    })
}

/// Appends `value`, of type `ty`, or zeros where `condition` does not hold.
pub(super) fn zero_unless(
    new: &mut Builder<'_>,
    condition: Handle<Expression>,
    value: Handle<Expression>,
    ty: Handle<Type>,
) -> Handle<Expression> {
    // naga selects between scalars and vectors only.
    let members = members(new, ty);
    if members.is_empty() {
        let zero = new.append(Expression::ZeroValue(ty));
        return new.append(Expression::Select {
            condition,
            accept: value,
            reject: zero,
        });
    }
    let components = (0..)
        .zip(members)
        .map(|(index, ty)| {
            let member = new.append(Expression::AccessIndex { base: value, index });
            zero_unless(new, condition, member, ty)
        })
        .collect();
    new.append(Expression::Compose { ty, components })
}

/// The types of what a matrix, an array or a struct is composed of; empty for scalars, vectors.
fn members(new: &mut Builder<'_>, ty: Handle<Type>) -> Vec<Handle<Type>> {
    match new.types()[ty].inner {
        TypeInner::Struct { ref members, .. } => members.iter().map(|member| member.ty).collect(),
        TypeInner::Array {
            base,
            size: ArraySize::Constant(length),
            ..
        } => (0..length.get()).map(|_| base).collect(),
        TypeInner::Matrix {
            columns,
            rows,
            scalar,
        } => {
            let column = new.type_handle(TypeInner::Vector { size: rows, scalar });
            vec![column; columns as usize]
        }
        _ => Vec::new(),
    }
}
