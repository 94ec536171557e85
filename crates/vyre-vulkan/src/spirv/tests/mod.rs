//! What kernels look like once their semantics are fixed.

mod bounds;
mod words;
mod remapping;
mod inspect;
mod random;

use naga::Module;
use naga::back::spv::ZeroInitializeWorkgroupMemoryMode;
use naga::valid::{Capabilities, ModuleInfo, ValidationFlags, Validator};

use super::{SpirvError, generate, lower};

/// What holds on every device.
const POLYFILL: ZeroInitializeWorkgroupMemoryMode = ZeroInitializeWorkgroupMemoryMode::Polyfill;

/// Parses and validates a kernel that uses whatever naga knows.
fn parse(source: &str) -> (Module, ModuleInfo) {
    let module = naga::front::wgsl::parse_str(source)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .unwrap_or_else(|error| panic!("{}", error.emit_to_string(source)));
    (module, info)
}

/// The SPIR-V of entry point `main`.
fn words(source: &str) -> Result<Vec<u32>, SpirvError> {
    let (module, info) = parse(source);
    generate(&module, &info, "main", POLYFILL)
}

/// What entry point `main` is once its semantics are fixed.
fn lowered(source: &str) -> (Module, ModuleInfo) {
    let (module, info) = parse(source);
    lower(&module, &info, "main").expect("the kernel lowers")
}
