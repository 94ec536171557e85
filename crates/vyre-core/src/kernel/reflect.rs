//! The buffers of an entry point: names, slots, access and sizes.

use naga::proc::Layouter;
use naga::valid::{GlobalUse, ModuleInfo};
use naga::{AddressSpace, ArraySize, GlobalVariable, Handle, Module, TypeInner};

use super::KernelError;

/// The last bind group every Vulkan device has (`maxBoundDescriptorSets` is at least 4).
pub(super) const MAX_GROUP: u32 = 3;

/// A storage or uniform variable that a kernel uses.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct KernelBinding {
    /// The variable's name in the source.
    pub name: String,
    /// The value of `@group`.
    pub group: u32,
    /// The value of `@binding`.
    pub binding: u32,
    /// The address space.
    pub kind: BindingKind,
    /// What the kernel does to the buffer, which may be less than the variable's declaration allows.
    pub access: Access,
    /// The least bytes to bind: the size of the type, where a runtime-sized array counts as one
    /// element.
    pub min_byte_len: u64,
    /// Bytes from one element of the runtime-sized array to the next, if there is such an array.
    pub element_stride: Option<u32>,
    /// The variable in [`Kernel::module`](super::Kernel::module).
    pub variable: Handle<GlobalVariable>,
}

/// A storage or uniform variable that the source declares and the kernel doesn't use.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct UnusedBinding {
    /// The variable's name in the source.
    pub name: String,
    /// The value of `@group`.
    pub group: u32,
    /// The value of `@binding`.
    pub binding: u32,
    /// The address space.
    pub kind: BindingKind,
}

/// The address space of a buffer variable.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BindingKind {
    /// `var<storage>`
    Storage,
    /// `var<uniform>`
    Uniform,
}

/// What a kernel does to a buffer.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub enum Access {
    /// Neither reads nor writes: the kernel asks for the array's length at most.
    None,
    /// Reads only.
    Read,
    /// Writes only.
    Write,
    /// Reads and writes, or does atomic operations.
    ReadWrite,
}

impl Access {
    /// Whether bytes of the buffer reach the kernel.
    pub fn reads(self) -> bool {
        matches!(self, Self::Read | Self::ReadWrite)
    }

    /// Whether the kernel may change bytes of the buffer.
    pub fn writes(self) -> bool {
        matches!(self, Self::Write | Self::ReadWrite)
    }

    fn from_use(usage: GlobalUse) -> Self {
        let atomic = usage.contains(GlobalUse::ATOMIC);
        let reads = atomic || usage.contains(GlobalUse::READ);
        let writes = atomic || usage.contains(GlobalUse::WRITE);
        match (reads, writes) {
            (false, false) => Self::None,
            (true, false) => Self::Read,
            (false, true) => Self::Write,
            (true, true) => Self::ReadWrite,
        }
    }
}

pub(super) fn name(variable: &GlobalVariable) -> String {
    variable.name.clone().unwrap_or_default()
}

fn kind(variable: &GlobalVariable) -> Option<BindingKind> {
    match variable.space {
        AddressSpace::Storage { .. } => Some(BindingKind::Storage),
        AddressSpace::Uniform => Some(BindingKind::Uniform),
        _ => None,
    }
}

/// The storage and uniform variables of the whole source.
pub(super) fn declared_bindings(module: &Module) -> Vec<UnusedBinding> {
    let variables = module.global_variables.iter();
    let declared = variables.filter_map(|(_, variable)| {
        let at = variable.binding?;
        Some(UnusedBinding {
            name: name(variable),
            group: at.group,
            binding: at.binding,
            kind: kind(variable)?,
        })
    });
    declared.collect()
}

/// Those of `declared` that aren't in `used`; names are unique in a source.
pub(super) fn unused(
    mut declared: Vec<UnusedBinding>,
    used: &[KernelBinding],
) -> Vec<UnusedBinding> {
    declared.retain(|unused| used.iter().all(|binding| binding.name != unused.name));
    declared
}

/// Refuses variables that are no buffers; `module` holds only what the entry point uses.
pub(super) fn check_variables(module: &Module) -> Result<(), KernelError> {
    for (_, variable) in module.global_variables.iter() {
        let name = name(variable);
        if let Some(kind) = unsupported_kind(module, variable) {
            return Err(KernelError::UnsupportedBinding { name, kind });
        }
        let group = variable.binding.map_or(0, |at| at.group);
        if group > MAX_GROUP {
            return Err(KernelError::GroupOutOfRange { name, group });
        }
    }
    Ok(())
}

fn unsupported_kind(module: &Module, variable: &GlobalVariable) -> Option<&'static str> {
    match module.types[variable.ty].inner {
        TypeInner::Image { .. } => return Some("a texture"),
        TypeInner::Sampler { .. } => return Some("a sampler"),
        TypeInner::AccelerationStructure { .. } => return Some("an acceleration structure"),
        TypeInner::BindingArray { .. } => return Some("a binding array"),
        _ => {}
    }
    match variable.space {
        AddressSpace::Storage { .. }
        | AddressSpace::Uniform
        | AddressSpace::Private
        | AddressSpace::WorkGroup => None,
        AddressSpace::Immediate => Some("immediate data"),
        AddressSpace::TaskPayload => Some("a task payload"),
        AddressSpace::RayPayload | AddressSpace::IncomingRayPayload => Some("a ray payload"),
        AddressSpace::Function | AddressSpace::Handle => Some("an opaque resource"),
    }
}

/// The buffers of the only entry point of `module`.
pub(super) fn bindings(
    module: &Module,
    info: &ModuleInfo,
    layouter: &Layouter,
) -> Vec<KernelBinding> {
    let uses = info.get_entry_point(0);
    let variables = module.global_variables.iter();
    let mut bindings: Vec<_> = variables
        .filter_map(|(handle, variable)| {
            let at = variable.binding?;
            let (min_byte_len, element_stride) = byte_len(module, layouter, variable);
            Some(KernelBinding {
                name: name(variable),
                group: at.group,
                binding: at.binding,
                kind: kind(variable)?,
                access: Access::from_use(uses[handle]),
                min_byte_len,
                element_stride,
                variable: handle,
            })
        })
        .collect();
    bindings.sort_by_key(|binding| (binding.group, binding.binding));
    bindings
}

/// The least bytes to bind, and the stride of the runtime-sized array.
fn byte_len(module: &Module, layouter: &Layouter, variable: &GlobalVariable) -> (u64, Option<u32>) {
    let runtime_stride = |ty| match module.types[ty].inner {
        TypeInner::Array {
            size: ArraySize::Dynamic,
            stride,
            ..
        } => Some(stride),
        _ => None,
    };
    let (offset, tail) = match &module.types[variable.ty].inner {
        TypeInner::Struct { members, .. } => members
            .last()
            .map_or((0, variable.ty), |last| (last.offset, last.ty)),
        _ => (0, variable.ty),
    };
    match runtime_stride(tail) {
        Some(stride) => (u64::from(offset) + u64::from(stride), Some(stride)),
        None => (u64::from(layouter[variable.ty].size), None),
    }
}
