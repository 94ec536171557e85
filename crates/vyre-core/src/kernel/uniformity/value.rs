//! Which values vary.

use naga::valid::GlobalUse;
use naga::{AddressSpace, Expression, GlobalVariable, Handle, TypeInner};

use super::builtin_varies;
use super::frame::Frame;

/// What a pointer leads to.
pub(super) enum Place {
    /// A local variable of this function or, through an argument, of a caller: its index in the
    /// state of the frame.
    Local { index: usize, whole: bool },
    /// A variable of the module.
    Global(Handle<GlobalVariable>),
    /// Memory that is shared or unknown.
    Other,
}

impl Frame<'_, '_> {
    /// Whether a value varies; for a pointer, whether it may lead to different places.
    pub(super) fn varies(&self, expression: Handle<Expression>) -> bool {
        match self.function.expressions[expression] {
            Expression::FunctionArgument(index) => {
                !self.is_pointer(index) && self.state_of(self.argument(index))
            }
            _ => self.values[expression.index()],
        }
    }

    /// Evaluates an expression where it is emitted.
    pub(super) fn evaluate(&self, expression: Handle<Expression>) -> bool {
        let varies = |operand: Handle<Expression>| self.varies(operand);
        let some_varies = |operand: Option<Handle<Expression>>| operand.is_some_and(varies);
        match self.function.expressions[expression] {
            Expression::Literal(_)
            | Expression::Constant(_)
            | Expression::Override(_)
            | Expression::ZeroValue(_)
            | Expression::GlobalVariable(_)
            | Expression::LocalVariable(_)
            | Expression::ArrayLength(_) => false,
            Expression::Compose { ref components, .. } => {
                components.iter().any(|&component| varies(component))
            }
            Expression::AccessIndex { base, index } => self.member_varies(base, index),
            Expression::Access { base, index } => varies(base) || varies(index),
            Expression::Splat { value: operand, .. }
            | Expression::Swizzle {
                vector: operand, ..
            }
            | Expression::Unary { expr: operand, .. }
            | Expression::Relational {
                argument: operand, ..
            }
            | Expression::As { expr: operand, .. } => varies(operand),
            Expression::Load { pointer } => varies(pointer) || self.content_varies(pointer),
            Expression::Binary { left, right, .. } => varies(left) || varies(right),
            Expression::Select {
                condition,
                accept,
                reject,
            } => varies(condition) || varies(accept) || varies(reject),
            Expression::Math {
                arg,
                arg1,
                arg2,
                arg3,
                ..
            } => varies(arg) || [arg1, arg2, arg3].into_iter().any(some_varies),
            _ => true,
        }
    }

    /// Inputs of the entry point may come in a struct, of which some members are uniform.
    fn member_varies(&self, base: Handle<Expression>, member: u32) -> bool {
        if let (true, &Expression::FunctionArgument(argument)) =
            (self.is_entry, &self.function.expressions[base])
        {
            let ty = self.function.arguments[argument as usize].ty;
            if let TypeInner::Struct { members, .. } = &self.analysis.module.types[ty].inner {
                return builtin_varies(&members[member as usize].binding);
            }
        }
        self.varies(base)
    }

    pub(super) fn place(&self, pointer: Handle<Expression>) -> Place {
        match self.function.expressions[pointer] {
            Expression::LocalVariable(variable) => Place::Local {
                index: variable.index(),
                whole: true,
            },
            Expression::FunctionArgument(index) if self.points_to_local(index) => Place::Local {
                index: self.argument(index),
                whole: true,
            },
            Expression::GlobalVariable(variable) => Place::Global(variable),
            Expression::Access { base, .. } | Expression::AccessIndex { base, .. } => {
                match self.place(base) {
                    Place::Local { index, .. } => Place::Local {
                        index,
                        whole: false,
                    },
                    place => place,
                }
            }
            _ => Place::Other,
        }
    }

    /// Whether what a pointer leads to varies.
    pub(super) fn content_varies(&self, pointer: Handle<Expression>) -> bool {
        match self.place(pointer) {
            Place::Local { index, .. } => self.state_of(index),
            Place::Global(variable) => {
                match self.analysis.module.global_variables[variable].space {
                    AddressSpace::Uniform => false,
                    AddressSpace::Storage { .. } => {
                        let writes = GlobalUse::WRITE | GlobalUse::ATOMIC;
                        self.analysis.uses[variable].intersects(writes)
                    }
                    _ => true,
                }
            }
            Place::Other => true,
        }
    }

    fn is_pointer(&self, argument: u32) -> bool {
        self.pointed_space(argument).is_some()
    }

    fn points_to_local(&self, argument: u32) -> bool {
        self.pointed_space(argument) == Some(AddressSpace::Function)
    }

    fn pointed_space(&self, argument: u32) -> Option<AddressSpace> {
        let ty = self.function.arguments[argument as usize].ty;
        self.analysis.module.types[ty].inner.pointer_space()
    }
}
