//! The settings of naga's SPIR-V writer that fix WGSL's semantics on every device.

use naga::back::spv::{self, Capability};
use naga::proc::{BoundsCheckPolicies, BoundsCheckPolicy};

/// SPIR-V 1.5 is what every Vulkan 1.2 device accepts.
const SPIRV_VERSION: (u8, u8) = (1, 5);

/// Whether every loop counts its iterations, so that a compiler can't conclude from "each loop
/// ends" that code after an endless one is reached.
///
/// Off. The count is 64 bits wide and ends no loop within a lifetime, so it bounds nothing that
/// a time-out does not; it is five more instructions in each iteration of each inner loop; and
/// kernels are the user's own code, for which an endless loop is a failed launch either way.
const FORCE_LOOP_BOUNDING: bool = false;

/// The SPIR-V capabilities that a kernel may need. Where naga has the choice between one that is
/// absent here and plain instructions (byte packing, packed dot products), it takes the latter.
const CAPABILITIES: [Capability; 14] = [
    Capability::Shader,
    Capability::Float16,
    Capability::StorageBuffer16BitAccess,
    Capability::UniformAndStorageBuffer16BitAccess,
    Capability::Int64,
    Capability::Int64Atomics,
    Capability::GroupNonUniform,
    Capability::GroupNonUniformVote,
    Capability::GroupNonUniformArithmetic,
    Capability::GroupNonUniformBallot,
    Capability::GroupNonUniformShuffle,
    Capability::GroupNonUniformShuffleRelative,
    Capability::GroupNonUniformQuad,
    Capability::Matrix,
];

/// The settings for a compute kernel on a Vulkan 1.2 device that zeroes workgroup memory this way.
///
/// naga's own zeroing (`Polyfill`) is right everywhere but costs: one invocation stores the whole
/// memory at once, which drivers take long to compile and to run for large arrays.
pub(super) fn vulkan_1_2(zeroing: spv::ZeroInitializeWorkgroupMemoryMode) -> spv::Options<'static> {
    let mut flags = spv::WriterFlags::empty();
    flags.set(spv::WriterFlags::DEBUG, cfg!(debug_assertions));
    spv::Options {
        lang_version: SPIRV_VERSION,
        flags,
        // With an empty map this means: descriptor set and binding are the source's.
        fake_missing_bindings: true,
        capabilities: Some(CAPABILITIES.into_iter().collect()),
        bounds_check_policies: bounds_check_policies(),
        zero_initialize_workgroup_memory: zeroing,
        force_loop_bounding: FORCE_LOOP_BOUNDING,
        // Needs `storageInputOutput16`, and a compute entry point has no such inputs.
        use_storage_input_output_16: false,
        emit_int_div_checks: true,
        ..spv::Options::default()
    }
}

/// Indices are clamped in the kernel, whatever robustness the device has: drivers compute byte
/// offsets in 32 bits, so a large index can wrap back into the buffer, and a fixed array inside
/// a struct would spill into the next member, which no check of the whole buffer notices.
///
/// Clamping keeps accesses inside; the guards give them their meaning. naga's policy that has
/// that meaning by itself (`ReadZeroSkipWrite`) refuses atomic operations, writes atomic loads
/// and stores as plain ones, and branches around every load.
fn bounds_check_policies() -> BoundsCheckPolicies {
    BoundsCheckPolicies {
        index: BoundsCheckPolicy::Restrict,
        buffer: BoundsCheckPolicy::Restrict,
        binding_array: BoundsCheckPolicy::Restrict,
        image_load: BoundsCheckPolicy::Restrict,
    }
}
