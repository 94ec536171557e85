//! What a kernel asks of a device, found in the types, expressions and statements it uses.

use std::collections::BTreeSet;
use std::fmt;

use naga::valid::{Capabilities, FunctionInfo, ModuleInfo};
use naga::{
    Barrier, Binding, Block, BuiltIn, Function, Module, Scalar, ScalarKind, Statement, TypeInner,
};

use super::KernelError;

/// A feature that not every device has.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Capability {
    /// 16-bit floats, in arithmetic and in buffers.
    Float16,
    /// 64-bit integers.
    Int64,
    /// Atomic operations on 64-bit integers.
    Int64Atomics,
    /// Subgroup operations, barriers and built-in values.
    Subgroups,
}

impl fmt::Display for Capability {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        formatter.write_str(match self {
            Self::Float16 => "16-bit floats",
            Self::Int64 => "64-bit integers",
            Self::Int64Atomics => "64-bit atomics",
            Self::Subgroups => "subgroup operations",
        })
    }
}

/// What naga may let through.
pub(super) const SUPPORTED: Capabilities = Capabilities::SHADER_FLOAT16
    .union(Capabilities::SHADER_FLOAT16_IN_FLOAT32)
    .union(Capabilities::SHADER_INT64)
    .union(Capabilities::SHADER_INT64_ATOMIC_MIN_MAX)
    .union(Capabilities::SHADER_INT64_ATOMIC_ALL_OPS)
    .union(Capabilities::SUBGROUP)
    .union(Capabilities::SUBGROUP_BARRIER);

/// Levels of nested statements; `else if` counts as one. naga's own limit is 127 braces, but it
/// lets chains of `else if` be so long that recursive consumers overflow their stack.
const MAX_NESTING: u32 = 500;

/// What a scan of a module found.
pub(super) struct Found {
    pub(super) capabilities: BTreeSet<Capability>,
    pub(super) barriers: bool,
    unsupported: Option<&'static str>,
}

/// Scans `module`, which holds one entry point and what it uses.
pub(super) fn scan(module: &Module, info: &ModuleInfo) -> Result<Found, KernelError> {
    let mut found = Found {
        capabilities: BTreeSet::new(),
        barriers: false,
        unsupported: None,
    };
    for (_, item) in module.types.iter() {
        found.see_type(&item.inner);
    }
    for (handle, function) in module.functions.iter() {
        found.see_function(module, function, &info[handle]);
    }
    for (index, entry) in module.entry_points.iter().enumerate() {
        found.see_function(module, &entry.function, info.get_entry_point(index));
        if let Some(feature) = found.unsupported {
            return Err(KernelError::UnsupportedFeature {
                entry_point: entry.name.clone(),
                feature,
            });
        }
    }
    Ok(found)
}

impl Found {
    fn see_type(&mut self, inner: &TypeInner) {
        match inner {
            TypeInner::Struct { members, .. } => {
                let bindings = members.iter().filter_map(|member| member.binding.as_ref());
                bindings.for_each(|binding| self.see_binding(binding));
            }
            TypeInner::Atomic(scalar) => self.see_atomic(*scalar),
            TypeInner::CooperativeMatrix { .. } => {
                self.unsupported = Some("cooperative matrices");
            }
            TypeInner::RayQuery { .. } => self.unsupported = Some("ray queries"),
            _ => {}
        }
        if let Some(scalar) = inner.scalar() {
            self.see_scalar(scalar);
        }
    }

    fn see_scalar(&mut self, scalar: Scalar) {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Float, 2) => {
                self.capabilities.insert(Capability::Float16);
            }
            (ScalarKind::Sint | ScalarKind::Uint, 8) => {
                self.capabilities.insert(Capability::Int64);
            }
            (ScalarKind::Float, 8) => self.unsupported = Some("64-bit floats"),
            (ScalarKind::Sint | ScalarKind::Uint, 2) => {
                self.unsupported = Some("16-bit integers");
            }
            _ => {}
        }
    }

    fn see_atomic(&mut self, scalar: Scalar) {
        match (scalar.kind, scalar.width) {
            (ScalarKind::Float, _) => self.unsupported = Some("atomic floats"),
            (_, 8) => {
                self.capabilities.insert(Capability::Int64Atomics);
            }
            _ => {}
        }
    }

    fn see_binding(&mut self, binding: &Binding) {
        if let Binding::BuiltIn(
            BuiltIn::NumSubgroups
            | BuiltIn::SubgroupId
            | BuiltIn::SubgroupSize
            | BuiltIn::SubgroupInvocationId,
        ) = binding
        {
            self.capabilities.insert(Capability::Subgroups);
        }
    }

    fn see_function(&mut self, module: &Module, function: &Function, info: &FunctionInfo) {
        for argument in &function.arguments {
            argument
                .binding
                .iter()
                .for_each(|binding| self.see_binding(binding));
        }
        // Not every type of a value is in the module's list.
        for (handle, _) in function.expressions.iter() {
            self.see_type(info[handle].ty.inner_with(&module.types));
        }
        self.see_block(&function.body, 0);
    }

    fn see_block(&mut self, block: &Block, depth: u32) {
        if depth > MAX_NESTING {
            self.unsupported = Some("more than 500 levels of nested statements");
            return;
        }
        let depth = depth + 1;
        for statement in block {
            match statement {
                Statement::Block(block) => self.see_block(block, depth),
                Statement::If { accept, reject, .. } => {
                    self.see_block(accept, depth);
                    self.see_block(reject, depth);
                }
                Statement::Switch { cases, .. } => {
                    cases
                        .iter()
                        .for_each(|case| self.see_block(&case.body, depth));
                }
                Statement::Loop {
                    body, continuing, ..
                } => {
                    self.see_block(body, depth);
                    self.see_block(continuing, depth);
                }
                Statement::ControlBarrier(barrier) => {
                    self.barriers = true;
                    if barrier.contains(Barrier::SUB_GROUP) {
                        self.capabilities.insert(Capability::Subgroups);
                    }
                }
                Statement::WorkGroupUniformLoad { .. } => self.barriers = true,
                Statement::SubgroupBallot { .. }
                | Statement::SubgroupGather { .. }
                | Statement::SubgroupCollectiveOperation { .. } => {
                    self.capabilities.insert(Capability::Subgroups);
                }
                _ => {}
            }
        }
    }
}
