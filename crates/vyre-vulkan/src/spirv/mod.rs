//! WGSL semantics in, Vulkan SPIR-V out: one compute entry point as one SPIR-V module.
//!
//! Every device gives the same answers, whatever robustness features it has:
//!
//! - **Bounds.** A read out of bounds gives zero, a write is dropped, an atomic does nothing and
//!   returns zero ([`guard`]). The host binds at least one element of every runtime-sized array.
//! - **Numbers.** Overflow wraps, division is guarded, shift counts are taken modulo the bit
//!   width, a NaN differs from itself and becomes the integer 0 ([`arithmetic`]).
//! - **Memory.** Workgroup, private and function variables start as zeros.
//!
//! naga's writer does part of it ([`options`]); a rewrite of its IR ([`semantics`], by means of
//! [`remap`]) does the rest. What can't be written for Vulkan is refused, never left undefined.

mod options;
mod semantics;
mod guard;
mod arithmetic;
mod source;
mod remap;
mod operands;
#[cfg(test)]
mod tests;

use naga::back::spv;
use naga::compact::{KeepUnused, compact};
use naga::valid::{
    Capabilities, ModuleInfo, ShaderStages, SubgroupOperationSet, ValidationError, ValidationFlags,
    Validator,
};
use naga::{Module, ShaderStage, WithSpan};

/// Why a kernel has no SPIR-V.
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub(crate) enum SpirvError {
    /// The module has no such compute entry point.
    #[error("the module has no compute entry point \"{entry_point}\"")]
    EntryPointNotFound { entry_point: String },
    /// The kernel does something that Vulkan SPIR-V has no form for.
    #[error("vulkan can't express {what}; {remedy}")]
    Unsupported {
        what: &'static str,
        remedy: &'static str,
    },
    /// The kernel no longer validates after the rewrite: a defect of the rewrite.
    #[error("entry point \"{entry_point}\" is invalid after its semantics were fixed")]
    Rewrite {
        entry_point: String,
        #[source]
        source: Box<WithSpan<ValidationError>>,
    },
    /// naga's SPIR-V writer refused the module.
    #[error("the SPIR-V writer refused entry point \"{entry_point}\"")]
    Write {
        entry_point: String,
        #[source]
        source: spv::Error,
    },
}

/// Writes the compute entry point named `entry_point` as a SPIR-V module for Vulkan 1.2, in words.
///
/// `info` is the validator's result for `module`, whose overrides are resolved. Descriptor sets
/// and bindings are the groups and bindings of the source. The module holds nothing that the
/// entry point does not use. `zeroing` is native where the device has
/// `shaderZeroInitializeWorkgroupMemory`.
///
/// # Errors
///
/// [`SpirvError`]: no such entry point, or a kernel that Vulkan can't express.
pub(crate) fn generate(
    module: &Module,
    info: &ModuleInfo,
    entry_point: &str,
    zeroing: spv::ZeroInitializeWorkgroupMemoryMode,
) -> Result<Vec<u32>, SpirvError> {
    let (module, info) = lower(module, info, entry_point)?;
    let pipeline = spv::PipelineOptions {
        shader_stage: ShaderStage::Compute,
        entry_point: entry_point.to_owned(),
    };
    spv::write_vec(
        &module,
        &info,
        &options::vulkan_1_2(zeroing),
        Some(&pipeline),
    )
    .map_err(|source| SpirvError::Write {
        entry_point: entry_point.to_owned(),
        source,
    })
}

/// The module of this entry point alone, with the semantics that the writer leaves open fixed.
fn lower(
    module: &Module,
    info: &ModuleInfo,
    entry_point: &str,
) -> Result<(Module, ModuleInfo), SpirvError> {
    let index = module
        .entry_points
        .iter()
        .position(|entry| entry.name == entry_point && entry.stage == ShaderStage::Compute)
        .ok_or_else(|| SpirvError::EntryPointNotFound {
            entry_point: entry_point.to_owned(),
        })?;
    let mut lowered = semantics::fix(module, info, index)?;
    compact(&mut lowered, KeepUnused::No);
    // The kernel itself was validated before. Guards make values look less uniform than they
    // are, and what the device must have is checked elsewhere.
    let flags = ValidationFlags::all() - ValidationFlags::CONTROL_FLOW_UNIFORMITY;
    let info = Validator::new(flags, Capabilities::all())
        .subgroup_stages(ShaderStages::COMPUTE)
        .subgroup_operations(SubgroupOperationSet::all())
        .validate_resolved_overrides(&lowered)
        .map_err(|source| SpirvError::Rewrite {
            entry_point: entry_point.to_owned(),
            source: Box::new(source),
        })?;
    Ok((lowered, info))
}
