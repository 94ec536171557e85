//! Which expressions an expression or a statement refers to.

use naga::{AtomicFunction, Expression, GatherMode, Handle, Statement};

use super::SpirvError;

/// Calls `visit` on every operand of `expression`.
pub(super) fn of_expression(
    expression: &mut Expression,
    mut visit: impl FnMut(&mut Handle<Expression>),
) -> Result<(), SpirvError> {
    match expression {
        Expression::AccessIndex { base: operand, .. }
        | Expression::Splat { value: operand, .. }
        | Expression::Swizzle {
            vector: operand, ..
        }
        | Expression::Load { pointer: operand }
        | Expression::Unary { expr: operand, .. }
        | Expression::Relational {
            argument: operand, ..
        }
        | Expression::As { expr: operand, .. }
        | Expression::ArrayLength(operand) => visit(operand),
        Expression::Access {
            base: first,
            index: second,
        }
        | Expression::Binary {
            left: first,
            right: second,
            ..
        } => {
            visit(first);
            visit(second);
        }
        Expression::Select {
            condition,
            accept,
            reject,
        } => {
            visit(condition);
            visit(accept);
            visit(reject);
        }
        Expression::Compose { components, .. } => components.iter_mut().for_each(visit),
        Expression::Math {
            arg,
            arg1,
            arg2,
            arg3,
            ..
        } => {
            visit(arg);
            [arg1, arg2, arg3].into_iter().flatten().for_each(visit);
        }
        other => return refuse_graphics_expression(other),
    }
    Ok(())
}

/// Calls `visit` on every operand of `statement`, its result among them.
///
/// Statements that hold blocks, and `Emit`, are the caller's: their parts move one by one.
pub(super) fn of_leaf(
    statement: &mut Statement,
    mut visit: impl FnMut(&mut Handle<Expression>),
) -> Result<(), SpirvError> {
    match statement {
        Statement::Return { value } => value.iter_mut().for_each(visit),
        Statement::Store {
            pointer: first,
            value: second,
        }
        | Statement::WorkGroupUniformLoad {
            pointer: first,
            result: second,
        }
        | Statement::SubgroupCollectiveOperation {
            argument: first,
            result: second,
            ..
        } => {
            visit(first);
            visit(second);
        }
        Statement::Atomic {
            pointer,
            fun,
            value,
            result,
        } => {
            visit(pointer);
            visit(value);
            if let AtomicFunction::Exchange { compare } = fun {
                compare.iter_mut().for_each(&mut visit);
            }
            result.iter_mut().for_each(visit);
        }
        Statement::Call {
            arguments, result, ..
        } => {
            arguments.iter_mut().chain(result).for_each(visit);
        }
        Statement::SubgroupBallot { result, predicate } => {
            visit(result);
            predicate.iter_mut().for_each(visit);
        }
        Statement::SubgroupGather {
            mode,
            argument,
            result,
        } => {
            gather_lane(mode).into_iter().for_each(&mut visit);
            visit(argument);
            visit(result);
        }
        other => return refuse_graphics_statement(other),
    }
    Ok(())
}

/// The expression that says from which lane a gather takes its value.
fn gather_lane(mode: &mut GatherMode) -> Option<&mut Handle<Expression>> {
    match mode {
        GatherMode::BroadcastFirst | GatherMode::QuadSwap(_) => None,
        GatherMode::Broadcast(lane)
        | GatherMode::Shuffle(lane)
        | GatherMode::ShuffleDown(lane)
        | GatherMode::ShuffleUp(lane)
        | GatherMode::ShuffleXor(lane)
        | GatherMode::QuadBroadcast(lane) => Some(lane),
    }
}

fn refuse_graphics_expression(expression: &Expression) -> Result<(), SpirvError> {
    match expression {
        Expression::Literal(_)
        | Expression::Constant(_)
        | Expression::Override(_)
        | Expression::ZeroValue(_)
        | Expression::FunctionArgument(_)
        | Expression::GlobalVariable(_)
        | Expression::LocalVariable(_)
        | Expression::CallResult(_)
        | Expression::AtomicResult { .. }
        | Expression::WorkGroupUniformLoadResult { .. }
        | Expression::SubgroupBallotResult
        | Expression::SubgroupOperationResult { .. } => Ok(()),
        _ => Err(NOT_COMPUTE),
    }
}

fn refuse_graphics_statement(statement: &Statement) -> Result<(), SpirvError> {
    match statement {
        Statement::Emit(_)
        | Statement::Block(_)
        | Statement::If { .. }
        | Statement::Switch { .. }
        | Statement::Loop { .. }
        | Statement::Break
        | Statement::Continue
        | Statement::ControlBarrier(_)
        | Statement::MemoryBarrier(_) => Ok(()),
        _ => Err(NOT_COMPUTE),
    }
}

const NOT_COMPUTE: SpirvError = SpirvError::Unsupported {
    what: "textures, derivatives, ray queries or cooperative matrices in a kernel",
    remedy: "use storage buffers and uniforms",
};
