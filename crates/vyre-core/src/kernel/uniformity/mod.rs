//! Refuses barriers in non-uniform control flow, which naga's validator lets pass.
//!
//! The rules are those of WGSL section "Uniformity", relaxed where it is safe: a storage variable
//! that the kernel doesn't write counts as uniform, and so do the size and the number of
//! subgroups. *Varying* is short for: may differ between the invocations of a workgroup.

mod frame;
mod value;

use std::collections::HashMap;

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{Binding, BuiltIn, Function, FunctionArgument, Handle, Module, Span, TypeInner};

use super::{KernelError, SourceLocation};
use frame::Frame;

/// Checks the only entry point of `module` and the functions it calls.
pub(super) fn check(module: &Module, info: &ModuleInfo, source: &str) -> Result<(), KernelError> {
    let Some(entry) = module.entry_points.first() else {
        return Ok(());
    };
    let mut analysis = Analysis {
        module,
        uses: info.get_entry_point(0),
        outcomes: HashMap::new(),
    };
    let arguments = entry.function.arguments.iter();
    let arguments = arguments
        .map(|argument| analysis.input_varies(argument))
        .collect();
    let frame = Frame::new(&mut analysis, &entry.function, arguments, true);
    frame
        .run(None)
        .map(|_| ())
        .map_err(|misplaced| KernelError::NonUniformBarrier {
            location: SourceLocation::new(misplaced.barrier, "", source),
            cause: SourceLocation::new(misplaced.cause, "", source),
        })
}

/// What holds for the whole kernel.
struct Analysis<'a> {
    module: &'a Module,
    uses: &'a FunctionInfo,
    /// By function, whether it is called in varying control flow, and which arguments vary.
    outcomes: HashMap<(Handle<Function>, bool, Vec<bool>), Outcome>,
}

/// What a call leaves behind.
#[derive(Clone)]
struct Outcome {
    /// Whether the returned value varies.
    result: bool,
    /// For each argument that is a pointer to a local variable, whether the variable varies now.
    arguments: Vec<bool>,
}

/// A barrier in varying control flow.
struct Misplaced {
    barrier: Span,
    /// The condition that varies.
    cause: Span,
}

impl Analysis<'_> {
    /// Analyses a call in control flow that varies since `flow`.
    fn call(
        &mut self,
        function: Handle<Function>,
        arguments: Vec<bool>,
        flow: Option<Span>,
    ) -> Result<Outcome, Misplaced> {
        let key = (function, flow.is_some(), arguments.clone());
        if let Some(outcome) = self.outcomes.get(&key) {
            return Ok(outcome.clone());
        }
        let module = self.module;
        let frame = Frame::new(self, &module.functions[function], arguments, false);
        let outcome = frame.run(flow)?;
        self.outcomes.insert(key, outcome.clone());
        Ok(outcome)
    }

    fn input_varies(&self, argument: &FunctionArgument) -> bool {
        match (&argument.binding, &self.module.types[argument.ty].inner) {
            (None, TypeInner::Struct { members, .. }) => {
                members.iter().any(|member| builtin_varies(&member.binding))
            }
            (binding, _) => builtin_varies(binding),
        }
    }
}

fn builtin_varies(binding: &Option<Binding>) -> bool {
    !matches!(
        binding,
        Some(Binding::BuiltIn(
            BuiltIn::WorkGroupId
                | BuiltIn::NumWorkGroups
                | BuiltIn::WorkGroupSize
                | BuiltIn::SubgroupSize
                | BuiltIn::NumSubgroups
        ))
    )
}
