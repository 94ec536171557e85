//! Calls and how they end: bytes, typed errors, never a panic.

use std::time::Duration;

use vyre_driver::kernel::Capability;
use vyre_driver::{BackendError, DispatchConfig, Kernel, Program, VyreBackend};

use super::{in_place, open};

fn config() -> DispatchConfig {
    DispatchConfig::default()
}

#[test]
fn lengths_that_are_no_whole_number_of_vectors_come_back_exactly() {
    let Some(backend) = open() else { return };
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(64)
         fn invert(@builtin(global_invocation_id) id: vec3u) {
             if id.x < arrayLength(&y) { y[id.x] = ~y[id.x]; }
         }",
    );
    let kernel = kernel.unwrap();
    for byte_len in [4, 12, 20, 28, 100, 252] {
        let program = in_place(&kernel, byte_len as u64);
        let outputs = backend.dispatch(&program, &[&vec![0x5a; byte_len]], &config());
        assert_eq!(outputs.unwrap(), [vec![0xa5; byte_len]]);
    }
}

#[test]
fn overrides_are_set_by_name_even_if_they_have_an_id() {
    let Some(backend) = open() else { return };
    let source = "
        @id(7) override FIRST: u32;
        override SECOND: u32;
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(1) fn main() { y[0] = 10u * FIRST + SECOND; }";
    let kernel = Kernel::builder(source)
        .override_constant("FIRST", 4.0)
        .override_constant("SECOND", 2.0)
        .build();
    let program = in_place(&kernel.unwrap(), 4);
    let outputs = backend.dispatch(&program, &[&[0; 4]], &config()).unwrap();
    assert_eq!(outputs, [[42, 0, 0, 0]]);
}

/// wgpu tracks whole buffers, and would refuse this.
#[test]
fn op_may_read_one_range_of_a_buffer_and_write_another() {
    let Some(backend) = open() else { return };
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
         @group(0) @binding(1) var<uniform> shift: u32;
         @group(0) @binding(2) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1) fn main() { y[0] = x[0] + shift; }",
    );
    let mut builder = Program::builder("ranges");
    let data = builder.in_out("data", 772);
    let mut op = builder.op(&kernel.unwrap(), [1, 1, 1]);
    op.bind("x", data.slice(0, 4))
        .bind("shift", data.slice(256, 4))
        .bind("y", data.slice(512, 260));
    let mut input = vec![0; 772];
    (input[0], input[256]) = (40, 2);
    let outputs = backend.dispatch(&builder.build().unwrap(), &[&input], &config());
    input[512] = 42;
    assert_eq!(outputs.unwrap(), [input]);
}

#[test]
fn kernel_with_too_many_bindings_is_refused_with_the_cause_from_wgpu() {
    let Some(backend) = open() else { return };
    // More than any device has, and fewer than WGSL allows.
    let count = 999;
    let declared =
        (0..count).map(|at| format!("@group(0) @binding({at}) var<uniform> x{at}: u32;\n"));
    let used = (0..count).map(|at| format!(" + x{at}"));
    let source = format!(
        "{}@group(1) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1) fn wide() {{ y[0] = 0u{}; }}",
        declared.collect::<String>(),
        used.collect::<String>()
    );
    let kernel = Kernel::from_wgsl(&source).unwrap();
    let mut builder = Program::builder("wide");
    let y = builder.output("y", 4);
    let x = builder.constant("x", [1, 0, 0, 0]);
    let mut op = builder.op(&kernel, [1, 1, 1]);
    op.bind("y", y);
    for at in 0..count {
        op.bind(&format!("x{at}"), x);
    }
    let refused = backend.dispatch(&builder.build().unwrap(), &[], &config());
    match refused {
        // A device with so many bindings runs it.
        Ok(outputs) => assert_eq!(outputs, [999_u32.to_le_bytes()]),
        Err(BackendError::Translation { kernel, source }) => {
            assert_eq!(kernel, "wide");
            assert!(source.downcast_ref::<wgpu::Error>().is_some(), "{source}");
        }
        Err(error) => panic!("{error:?}"),
    }
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1) fn main() { y[0] += 1u; }",
    );
    let program = in_place(&kernel.unwrap(), 4);
    let outputs = backend.dispatch(&program, &[&[1; 4]], &config());
    assert_eq!(outputs.unwrap(), [[2, 1, 1, 1]]);
}

#[test]
fn subgroups_are_refused_before_wgpu_sees_them() {
    let Some(backend) = open() else { return };
    let kernel = Kernel::from_wgsl(
        "enable subgroups;
         @group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1) fn main() { y[0] = subgroupAdd(y[0]); }",
    );
    let refused = backend.dispatch(&in_place(&kernel.unwrap(), 4), &[&[0; 4]], &config());
    let lacks = |error: &_| matches!(error, BackendError::MissingCapability { capability, .. } if *capability == Capability::Subgroups);
    assert!(refused.as_ref().is_err_and(lacks), "{refused:?}");
}

#[test]
fn time_out_is_an_error_and_the_next_dispatch_works() {
    let Some(backend) = open() else { return };
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(64) fn count(@builtin(local_invocation_index) at: u32) {
             for (var turn = 0u; turn < 60000u; turn++) { y[at] = y[at] * 1664525u + turn; }
         }",
    );
    let program = in_place(&kernel.unwrap(), 256);
    let (none, input) = (Duration::ZERO, [1; 256]);
    let late = backend.dispatch(&program, &[&input], &config().with_timeout(none));
    assert!(
        matches!(&late, Err(BackendError::Timeout { label, limit, .. }) if label == "in place" && *limit == none),
        "{late:?}"
    );
    let mut expected = u32::from_le_bytes([1; 4]);
    for turn in 0..60_000 {
        expected = expected.wrapping_mul(1_664_525).wrapping_add(turn);
    }
    let outputs = backend.dispatch(&program, &[&input], &config()).unwrap();
    assert_eq!(outputs, [expected.to_le_bytes().repeat(64)]);
}
