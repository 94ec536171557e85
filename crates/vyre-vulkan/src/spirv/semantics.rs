//! Rewrites a kernel so that naga's SPIR-V writer gives it WGSL's meaning.

use std::collections::{HashMap, HashSet};

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{Block, Expression, Function, Handle, Module, Statement, Type, UniqueArena};

use super::SpirvError;
use super::arithmetic;
use super::guard;
use super::remap::{self, Builder, Rewriter};
use super::source::Source;

/// A copy of `module` with `entry_point` as its only entry point, in which that entry point and
/// all it calls are rewritten.
pub(super) fn fix(
    module: &Module,
    info: &ModuleInfo,
    entry_point: usize,
) -> Result<Module, SpirvError> {
    let mut fixed = module.clone();
    let mut entry = fixed.entry_points.swap_remove(entry_point);
    let entry_info = info.get_entry_point(entry_point);
    for function in called_by(module, &entry.function) {
        let old = &module.functions[function];
        fixed.functions[function] = fix_function(module, &info[function], old, &mut fixed.types)?;
    }
    entry.function = fix_function(module, entry_info, &entry.function, &mut fixed.types)?;
    fixed.entry_points = vec![entry];
    Ok(fixed)
}

/// Every function that `function` calls, directly or not, in the module's order.
fn called_by(module: &Module, function: &Function) -> Vec<Handle<Function>> {
    let mut called = HashSet::new();
    let mut waiting = vec![function];
    while let Some(function) = waiting.pop() {
        remap::for_each_leaf(&function.body, &mut |statement| {
            if let Statement::Call { function, .. } = *statement
                && called.insert(function)
            {
                waiting.push(&module.functions[function]);
            }
        });
    }
    module
        .functions
        .iter()
        .map(|(handle, _)| handle)
        .filter(|handle| called.contains(handle))
        .collect()
}

fn fix_function(
    module: &Module,
    info: &FunctionInfo,
    function: &Function,
    types: &mut UniqueArena<Type>,
) -> Result<Function, SpirvError> {
    let source = Source {
        module,
        function,
        info,
    };
    let mut guarded_results = HashSet::new();
    remap::for_each_leaf(&function.body, &mut |statement| match *statement {
        Statement::Atomic {
            pointer,
            result: Some(result),
            ..
        }
        | Statement::WorkGroupUniformLoad { pointer, result }
            if guard::is_needed(source, pointer) =>
        {
            guarded_results.insert(result);
        }
        _ => {}
    });
    let mut semantics = Semantics {
        source,
        guarded_results,
        kept: HashMap::new(),
    };
    remap::rebuild(function, types, &mut semantics)
}

/// The rewrite of one function.
struct Semantics<'a> {
    source: Source<'a>,
    /// The results of statements that access memory under a guard.
    guarded_results: HashSet<Handle<Expression>>,
    /// Where such a result is kept until its users read it.
    kept: HashMap<Handle<Expression>, KeptResult>,
}

/// A statement's result that exists only where its guard holds, and so goes through a variable.
#[derive(Clone, Copy)]
struct KeptResult {
    ty: Handle<Type>,
    /// What the statement returns.
    returned: Handle<Expression>,
    /// The function variable that keeps it.
    variable: Handle<Expression>,
    /// What its users take: the variable's value, after the statement.
    value: Handle<Expression>,
}

impl Rewriter for Semantics<'_> {
    fn expression(
        &mut self,
        new: &mut Builder<'_>,
        old: Handle<Expression>,
        copy: Expression,
    ) -> Result<Handle<Expression>, SpirvError> {
        match copy {
            Expression::Load { .. } | Expression::Access { .. } => {
                let condition = guard::read_condition(self.source, new, old)?;
                let value = new.append(copy);
                Ok(match condition {
                    Some(condition) => {
                        let ty = self.source.type_handle(new, old);
                        guard::zero_unless(new, condition, value, ty)
                    }
                    None => value,
                })
            }
            Expression::AtomicResult { ty, .. } | Expression::WorkGroupUniformLoadResult { ty }
                if self.guarded_results.contains(&old) =>
            {
                Ok(self.keep(new, old, copy, ty))
            }
            _ => arithmetic::append(self.source, new, old, copy),
        }
    }

    fn statement(
        &mut self,
        new: &mut Builder<'_>,
        old: &Statement,
        out: &mut Block,
    ) -> Result<(), SpirvError> {
        let mut copy = new.copy_of(old)?;
        let kept = self.take_returned(old, &mut copy);
        match *old {
            Statement::Store { pointer, .. } | Statement::Atomic { pointer, .. } => {
                self.write(new, pointer, copy, kept, out);
            }
            Statement::WorkGroupUniformLoad { pointer, .. } => {
                self.uniform_load(new, pointer, copy, kept, out);
            }
            Statement::Call { ref arguments, .. } => {
                guard::check_arguments(self.source, arguments)?;
                new.push(copy, out);
            }
            _ => new.push(copy, out),
        }
        Ok(())
    }
}

impl Semantics<'_> {
    /// Puts a variable between the result `old` and its users.
    fn keep(
        &mut self,
        new: &mut Builder<'_>,
        old: Handle<Expression>,
        returned: Expression,
        ty: Handle<Type>,
    ) -> Handle<Expression> {
        let returned = new.append(returned);
        let variable = new.append_local(ty);
        let value = new.append(Expression::Load { pointer: variable });
        self.kept.insert(
            old,
            KeptResult {
                ty,
                returned,
                variable,
                value,
            },
        );
        value
    }

    /// Has `copy` return what `old` returned, if a variable keeps that.
    fn take_returned(&self, old: &Statement, copy: &mut Statement) -> Option<KeptResult> {
        let (Statement::Atomic {
            result: Some(old), ..
        }
        | Statement::WorkGroupUniformLoad { result: old, .. }) = old
        else {
            return None;
        };
        let kept = *self.kept.get(old)?;
        if let Statement::Atomic {
            result: Some(result),
            ..
        }
        | Statement::WorkGroupUniformLoad { result, .. } = copy
        {
            *result = kept.returned;
        }
        Some(kept)
    }

    /// Has `access` write through `pointer` only where that is in bounds; else it returns zero.
    fn write(
        &self,
        new: &mut Builder<'_>,
        pointer: Handle<Expression>,
        access: Statement,
        kept: Option<KeptResult>,
        out: &mut Block,
    ) {
        let mark = new.mark();
        let Some(condition) = guard::pointer_condition(self.source, new, pointer) else {
            return new.push(access, out);
        };
        new.emit_since(mark, out);
        let mut accept = Block::new();
        let mut reject = Block::new();
        new.push(access, &mut accept);
        if let Some(kept) = kept {
            let zero = new.append(Expression::ZeroValue(kept.ty));
            new.push(kept.set(kept.returned), &mut accept);
            new.push(kept.set(zero), &mut reject);
        }
        new.push(
            Statement::If {
                condition,
                accept,
                reject,
            },
            out,
        );
        if let Some(kept) = kept {
            new.emit_one(kept.value, out);
        }
    }

    /// Has `access`, which all invocations must reach for its barriers, return zero where
    /// `pointer` is out of bounds.
    fn uniform_load(
        &self,
        new: &mut Builder<'_>,
        pointer: Handle<Expression>,
        access: Statement,
        kept: Option<KeptResult>,
        out: &mut Block,
    ) {
        new.push(access, out);
        let mark = new.mark();
        if let Some(kept) = kept
            && let Some(condition) = guard::pointer_condition(self.source, new, pointer)
        {
            let value = guard::zero_unless(new, condition, kept.returned, kept.ty);
            new.emit_since(mark, out);
            new.push(kept.set(value), out);
            new.emit_one(kept.value, out);
        }
    }
}

impl KeptResult {
    /// The statement that keeps `value`.
    fn set(self, value: Handle<Expression>) -> Statement {
        Statement::Store {
            pointer: self.variable,
            value,
        }
    }
}
