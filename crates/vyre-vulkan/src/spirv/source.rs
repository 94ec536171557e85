//! A function as the kernel's author wrote it, with what the validator found out about it.

use naga::valid::FunctionInfo;
use naga::{Expression, Function, Handle, Module, Type, TypeInner};

use super::remap::Builder;

/// The function that is being rewritten. Its handles are the *old* ones.
#[derive(Clone, Copy)]
pub(super) struct Source<'a> {
    pub(super) module: &'a Module,
    pub(super) function: &'a Function,
    pub(super) info: &'a FunctionInfo,
}

impl<'a> Source<'a> {
    pub(super) fn expression(self, old: Handle<Expression>) -> &'a Expression {
        &self.function.expressions[old]
    }

    /// The type of the expression `old`.
    pub(super) fn type_of(self, old: Handle<Expression>) -> &'a TypeInner {
        self.info[old].ty.inner_with(&self.module.types)
    }

    /// The handle of that type, which is new if nothing in the module had one.
    pub(super) fn type_handle(
        self,
        new: &mut Builder<'_>,
        old: Handle<Expression>,
    ) -> Handle<Type> {
        match self.info[old].ty.handle() {
            Some(handle) => handle,
            None => new.type_handle(self.type_of(old).clone()),
        }
    }

    pub(super) fn is_pointer(self, old: Handle<Expression>) -> bool {
        self.type_of(old).pointer_space().is_some()
    }
}
