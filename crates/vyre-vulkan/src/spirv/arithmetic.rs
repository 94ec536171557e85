//! The operations to which SPIR-V or naga's writer gives another meaning than WGSL, or none.

use naga::{
    BinaryOperator, Expression, Handle, Literal, MathFunction, RelationalFunction, ScalarKind,
    TypeInner, UnaryOperator,
};

use super::SpirvError;
use super::remap::Builder;
use super::source::Source;

/// Appends `copy`, the copy of `old`, in a form that has WGSL's meaning for all operands.
pub(super) fn append(
    source: Source<'_>,
    new: &mut Builder<'_>,
    old: Handle<Expression>,
    copy: Expression,
) -> Result<Handle<Expression>, SpirvError> {
    let defined = match *source.expression(old) {
        Expression::Binary {
            op: op @ (BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight),
            left,
            right,
        } => Expression::Binary {
            op,
            left: new.moved(left),
            right: shift_count(source, new, left, right),
        },
        // naga's writer compares ordered, so a NaN would not even differ from itself.
        Expression::Binary {
            op: BinaryOperator::NotEqual,
            left,
            right,
        } if source.type_of(left).scalar_kind() == Some(ScalarKind::Float) => Expression::Unary {
            op: UnaryOperator::LogicalNot,
            expr: new.append_binary(BinaryOperator::Equal, new.moved(left), new.moved(right)),
        },
        Expression::As {
            expr,
            kind: kind @ (ScalarKind::Sint | ScalarKind::Uint),
            convert: convert @ Some(_),
        } if source.type_of(expr).scalar_kind() == Some(ScalarKind::Float) => Expression::As {
            expr: zero_if_nan(source, new, expr),
            kind,
            convert,
        },
        // The writer widens by the sign of the result's type, where that of the operand's counts.
        Expression::As {
            expr,
            kind: kind @ (ScalarKind::Sint | ScalarKind::Uint),
            convert: convert @ Some(8),
        } if source.type_of(expr).scalar_width() == Some(4) => match source
            .type_of(expr)
            .scalar_kind()
        {
            Some(from @ (ScalarKind::Sint | ScalarKind::Uint)) if from != kind => Expression::As {
                expr: new.append(Expression::As {
                    expr: new.moved(expr),
                    kind: from,
                    convert,
                }),
                kind,
                convert,
            },
            _ => copy,
        },
        Expression::Math {
            fun: MathFunction::Abs,
            arg,
            ..
        } if source.type_of(arg).scalar_kind() == Some(ScalarKind::Sint) => {
            absolute(source, new, arg)
        }
        Expression::Math { fun, arg, .. } => {
            check_width(source, fun, arg)?;
            copy
        }
        _ => copy,
    };
    Ok(new.append(defined))
}

/// The shift count `count` modulo the bit width of `value`.
fn shift_count(
    source: Source<'_>,
    new: &mut Builder<'_>,
    value: Handle<Expression>,
    count: Handle<Expression>,
) -> Handle<Expression> {
    let moved = new.moved(count);
    // The validator refuses literal counts that are too large.
    if matches!(source.expression(count), Expression::Literal(_)) {
        return moved;
    }
    let mask = source
        .type_of(value)
        .scalar_width()
        .map_or(0, |bytes| 8 * bytes - 1);
    let mask = new.append(Expression::Literal(
        match source.type_of(count).scalar_width() {
            Some(8) => Literal::U64(mask.into()),
            _ => Literal::U32(mask.into()),
        },
    ));
    let mask = match *source.type_of(count) {
        TypeInner::Vector { size, .. } => new.append(Expression::Splat { size, value: mask }),
        _ => mask,
    };
    new.append_binary(BinaryOperator::And, moved, mask)
}

/// `abs(value)` as `(value ^ sign) - sign`, where `sign` is all ones for a negative value.
///
/// Mesa 22.3.6 takes what `SAbs` gives for non-negative, which it is not for the least integer, and
/// drops operations that would matter then.
fn absolute(source: Source<'_>, new: &mut Builder<'_>, value: Handle<Expression>) -> Expression {
    let moved = new.moved(value);
    let ty = source.type_of(value);
    let shift = ty.scalar_width().map_or(0, |bytes| 8 * bytes - 1);
    let mut shift = new.append(Expression::Literal(Literal::U32(shift.into())));
    if let TypeInner::Vector { size, .. } = *ty {
        shift = new.append(Expression::Splat { size, value: shift });
    }
    let sign = new.append_binary(BinaryOperator::ShiftRight, moved, shift);
    Expression::Binary {
        op: BinaryOperator::Subtract,
        left: new.append_binary(BinaryOperator::ExclusiveOr, moved, sign),
        right: sign,
    }
}

/// The float `value`, or zero in place of a NaN, whose conversion to an integer is undefined.
fn zero_if_nan(
    source: Source<'_>,
    new: &mut Builder<'_>,
    value: Handle<Expression>,
) -> Handle<Expression> {
    let moved = new.moved(value);
    let is_nan = new.append(Expression::Relational {
        fun: RelationalFunction::IsNan,
        argument: moved,
    });
    let ty = source.type_handle(new, value);
    let zero = new.append(Expression::ZeroValue(ty));
    new.append(Expression::Select {
        condition: is_nan,
        accept: zero,
        reject: moved,
    })
}

/// Refuses bit functions on 64-bit integers: Vulkan has none (VUID-StandaloneSpirv-Base-04781),
/// and naga's writer panics on some.
fn check_width(
    source: Source<'_>,
    fun: MathFunction,
    argument: Handle<Expression>,
) -> Result<(), SpirvError> {
    let is_bit_function = matches!(
        fun,
        MathFunction::CountTrailingZeros
            | MathFunction::CountLeadingZeros
            | MathFunction::CountOneBits
            | MathFunction::ReverseBits
            | MathFunction::ExtractBits
            | MathFunction::InsertBits
            | MathFunction::FirstTrailingBit
            | MathFunction::FirstLeadingBit
    );
    if is_bit_function && source.type_of(argument).scalar_width() != Some(4) {
        return Err(SpirvError::Unsupported {
            what: "counting, finding, reversing or extracting the bits of a 64-bit integer",
            remedy: "apply the function to the two halves of the value",
        });
    }
    Ok(())
}
