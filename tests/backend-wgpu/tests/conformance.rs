//! The conformance kit on the wgpu backend, with the reference backend as its oracle.

#![forbid(unsafe_code)]

use std::process::ExitCode;
use std::sync::Arc;

use vyre_conformance::Kit;
use vyre_driver::reference::ReferenceBackend;
use vyre_driver::{OpenConfig, Registry};

/// WGSL lets an access out of bounds go to any element, and wgpu offers no other choice.
const CLAMPED: &str = "wgpu has naga clamp indices to the last element";
const WRAPPED: &str =
    "wgpu leaves bounds to robustBufferAccess2, where byte offsets wrap at 32 bits";
/// See docs/driver-quirks.md.
const WIDENED: &str = "naga widens integers by the sign of the result";

/// What wgpu or the naga in it do otherwise, as docs/driver-quirks.md shows by the smallest kernels. Of
/// random cases these are the ones that the default seed meets; with other seeds NaN, for one, becomes
/// an integer in more of them.
const FAILURES: [(&str, &str); 14] = [
    (
        "semantics::floats_as_written_down",
        "naga compares by OpFOrdNotEqual, so that NaN != NaN is false",
    ),
    (
        "semantics::operations_of_i32",
        "naga clamps before it converts, which makes NaN the least integer",
    ),
    ("semantics::operations_of_u64", WIDENED),
    ("semantics::operations_of_i64", WIDENED),
    ("expressions::of_u64", WIDENED),
    ("expressions::of_i64", WIDENED),
    (
        "agreement::integer_kernels_with_control_flow_agree",
        CLAMPED,
    ),
    ("bounds::reads_give_zero", WRAPPED),
    ("bounds::writes_are_dropped", WRAPPED),
    ("bounds::atomics_do_nothing", WRAPPED),
    (
        "bounds::each_nested_array_has_its_own_end",
        "wgpu leaves bounds to robustBufferAccess2, which knows the end of the buffer alone",
    ),
    ("bounds::lanes_of_vectors_have_an_end", WRAPPED),
    ("bounds::private_and_workgroup_arrays_have_an_end", CLAMPED),
    ("bounds::arrays_after_a_header_have_an_end", WRAPPED),
];

/// What more it does otherwise on SwiftShader, whose invocations past the end write the last element.
const FAILURES_ON_SWIFTSHADER: [&str; 10] = [
    "bounds::ranges_end_where_they_are_bound",
    "buffers::roles_keep_their_order",
    "buffers::lengths_come_back_exactly",
    "buffers::an_in_out_buffer_that_nobody_touches_comes_back",
    "buffers::uniforms_and_constants_are_read",
    "buffers::many_buffers_keep_apart",
    "outputs::slots_with_room_keep_their_allocation",
    "outputs::slots_are_counted_as_they_went",
    "outputs::superfluous_slots_are_dropped",
    "outputs::all_ways_to_dispatch_agree",
];
const CLAMPED_BUFFERS: &str =
    "SwiftShader has no robustBufferAccess2, so wgpu has naga clamp indices of buffers too";

fn main() -> ExitCode {
    let mut registry = Registry::default();
    backend_wgpu::register(&mut registry);
    let config = OpenConfig::default().with_backend("wgpu");
    // Where there is no device, the kit says so.
    let backend = registry.open(&config);
    let is_on_swiftshader =
        backend.is_ok_and(|backend| backend.device_info().name.contains("SwiftShader"));
    let mut kit = Kit::new("wgpu", move || registry.open(&config))
        .with_oracle(Arc::new(ReferenceBackend::default()));
    for (case, reason) in FAILURES {
        kit = kit.expecting_failure(case, reason);
    }
    if is_on_swiftshader {
        for case in FAILURES_ON_SWIFTSHADER {
            kit = kit.expecting_failure(case, CLAMPED_BUFFERS);
        }
    }
    vyre_conformance::main(kit)
}
