//! Chooses the compute entry point of a module.

use naga::{Module, ShaderStage};

use super::KernelError;

/// The name of the entry point to build: `wanted`, or the only compute one.
pub(super) fn choose(module: &Module, wanted: Option<&str>) -> Result<String, KernelError> {
    let entry_points = module.entry_points.iter();
    let compute = entry_points.filter(|entry| entry.stage == ShaderStage::Compute);
    let mut available: Vec<String> = compute.map(|entry| entry.name.clone()).collect();
    let Some(wanted) = wanted else {
        return match available.len() {
            0 => Err(no_compute(module)),
            1 => Ok(available.remove(0)),
            _ => Err(KernelError::AmbiguousEntryPoint { available }),
        };
    };
    match module
        .entry_points
        .iter()
        .find(|entry| entry.name == wanted)
    {
        Some(entry) if entry.stage == ShaderStage::Compute => Ok(wanted.to_owned()),
        Some(entry) => Err(not_compute(entry)),
        None => Err(KernelError::EntryPointNotFound {
            wanted: wanted.to_owned(),
            available,
        }),
    }
}

fn no_compute(module: &Module) -> KernelError {
    let first = module.entry_points.first();
    first.map_or(KernelError::NoEntryPoint, not_compute)
}

fn not_compute(entry: &naga::EntryPoint) -> KernelError {
    KernelError::NotCompute {
        name: entry.name.clone(),
        stage: entry.stage,
    }
}
