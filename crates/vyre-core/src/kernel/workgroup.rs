//! The size of a workgroup and of the memory it shares.

use naga::proc::Layouter;
use naga::{AddressSpace, ArraySize, Module, Scalar, TypeInner};

use super::KernelError;

/// Invocations along each axis; their product is from 1 to `u32::MAX`.
pub(super) fn size(module: &Module) -> Result<[u32; 3], KernelError> {
    let entry = module.entry_points.first();
    let size = entry.map_or([0; 3], |entry| entry.workgroup_size);
    let mut axes = size.iter();
    match axes.try_fold(1u32, |product, &axis| product.checked_mul(axis)) {
        Some(1..) => Ok(size),
        _ => Err(KernelError::WorkgroupSize { size }),
    }
}

/// Bytes of the workgroup variables, laid out one after another in declaration order.
pub(super) fn memory_bytes(module: &Module, layouter: &Layouter) -> Result<u32, KernelError> {
    let layouts = layouts(module, layouter);
    let variables = module.global_variables.iter().map(|(_, variable)| variable);
    let shared = variables.filter(|variable| variable.space == AddressSpace::WorkGroup);
    let bytes = shared.fold(0, |end, variable| append(end, layouts[variable.ty.index()]));
    u32::try_from(bytes).map_err(|_too_large| KernelError::WorkgroupMemory { bytes })
}

/// Size and alignment in bytes.
type Layout = (u64, u64);

fn append(end: u64, (size, alignment): Layout) -> u64 {
    end.next_multiple_of(alignment) + size
}

/// The layout of each type in workgroup memory, where a `bool` takes 4 bytes as in Vulkan's limit
/// `maxComputeSharedMemorySize`; naga counts one. A type refers to earlier types only.
fn layouts(module: &Module, layouter: &Layouter) -> Vec<Layout> {
    let mut layouts: Vec<Layout> = Vec::with_capacity(module.types.len());
    for (handle, item) in module.types.iter() {
        let layout = match &item.inner {
            TypeInner::Scalar(Scalar::BOOL) => (BOOL_BYTES, BOOL_BYTES),
            TypeInner::Vector {
                size,
                scalar: Scalar::BOOL,
            } => {
                let components = u64::from(u32::from(*size));
                let alignment = BOOL_BYTES * components.next_power_of_two();
                (BOOL_BYTES * components, alignment)
            }
            TypeInner::Array {
                base,
                size: ArraySize::Constant(length),
                ..
            } => {
                let (size, alignment) = layouts[base.index()];
                let stride = size.next_multiple_of(alignment);
                (u64::from(length.get()) * stride, alignment)
            }
            TypeInner::Struct { members, .. } => {
                let members = members.iter().map(|member| layouts[member.ty.index()]);
                let (end, alignment) = members.fold((0, 1), |(end, largest), member| {
                    (append(end, member), largest.max(member.1))
                });
                (end.next_multiple_of(alignment), alignment)
            }
            _ => {
                let layout = layouter[handle];
                // naga's `Alignment` gives its value only by multiplication.
                (u64::from(layout.size), u64::from(layout.alignment * 1))
            }
        };
        layouts.push(layout);
    }
    layouts
}

const BOOL_BYTES: u64 = 4;
