//! Time-outs, and what outlives what.

use std::time::Duration;

use vyre_core::backend::{DispatchConfig, VyreBackend};
use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use crate::support::{bytes, open, words};

/// Takes 100 µs or more on a fast GPU, far more elsewhere.
const BUSY: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(64)
fn busy(@builtin(global_invocation_id) id: vec3u) {
    var value = id.x;
    for (var turn = 0u; turn < 60000u; turn++) { value = value * 1664525u + 1013904223u; }
    x[id.x] = value;
}";

const DOUBLE: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(1)
fn double(@builtin(global_invocation_id) id: vec3u) { x[id.x] *= 2u; }";

/// One in-out buffer of 4 words and `ops` ops over it.
fn program(label: &str, kernel: &str, grid: [u32; 3], ops: usize) -> Program {
    let kernel = Kernel::from_wgsl(kernel).unwrap();
    let mut builder = Program::builder(label);
    let x = builder.in_out("x", 16);
    for _ in 0..ops {
        builder.op(&kernel, grid).bind("x", x);
    }
    builder.build().unwrap()
}

/// Runs for milliseconds even on a fast GPU: far longer than `hasty` waits.
fn busy() -> Program {
    program("busy", BUSY, [16, 1, 1], 64)
}

fn double() -> Program {
    program("double", DOUBLE, [4, 1, 1], 1)
}

fn hasty() -> DispatchConfig {
    DispatchConfig::default().with_timeout(Duration::from_micros(10))
}

/// The outputs of a small program.
fn doubled(backend: &impl VyreBackend, program: &Program) -> Vec<u32> {
    let outputs = backend.dispatch(
        program,
        &[&bytes(&[1, 2, 3, 4])],
        &DispatchConfig::default(),
    );
    words(&outputs.unwrap()[0])
}

#[test]
fn time_out_names_the_dispatch_and_its_limit() {
    let Some(backend) = open() else { return };
    let (busy, input) = (busy(), bytes(&[0; 4]));
    let error = backend.dispatch(&busy, &[&input], &hasty()).unwrap_err();
    let BackendError::Timeout {
        label,
        limit,
        waited,
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((label.as_str(), limit), ("busy", Duration::from_micros(10)));
    assert!(waited >= limit);
    let named = hasty().with_label("night shift");
    let error = backend.dispatch(&busy, &[&input], &named).unwrap_err();
    assert!(matches!(error, BackendError::Timeout { label, .. } if label == "night shift"));
}

#[test]
fn failed_dispatch_leaves_the_outputs_alone() {
    let Some(backend) = open() else { return };
    let mut outputs = vec![vec![1, 2, 3]];
    backend
        .dispatch_into(&busy(), &[&bytes(&[0; 4])], &hasty(), &mut outputs)
        .unwrap_err();
    assert_eq!(outputs, [[1, 2, 3]]);
}

#[test]
fn backend_works_on_after_a_time_out() {
    let Some(backend) = open() else { return };
    let (busy, double) = (busy(), double());
    let expected = backend.dispatch(&busy, &[&bytes(&[0; 4])], &DispatchConfig::default());
    for _ in 0..2 {
        backend
            .dispatch(&busy, &[&bytes(&[0; 4])], &hasty())
            .unwrap_err();
        assert_eq!(doubled(&*backend, &double), [2, 4, 6, 8]);
    }
    let again = backend.dispatch(&busy, &[&bytes(&[0; 4])], &DispatchConfig::default());
    assert_eq!(again.unwrap(), expected.unwrap());
}

#[test]
fn backend_is_dropped_with_work_in_flight() {
    let Some(backend) = open() else { return };
    backend
        .dispatch(&busy(), &[&bytes(&[0; 4])], &hasty())
        .unwrap_err();
    drop(backend);
}

#[test]
fn compiled_pipeline_outlives_its_backend() {
    let Some(backend) = open() else { return };
    let double = double();
    let compiled = backend.compile(&double).unwrap();
    assert_eq!(doubled(&*backend, compiled.program()), [2, 4, 6, 8]);
    // The log is read once the last Vulkan object is gone.
    backend.close_before(compiled);
}

#[test]
fn program_runs_on_two_backends() {
    let (Some(first), Some(second)) = (open(), open()) else {
        return;
    };
    let double = double();
    assert_eq!(doubled(&*first, &double), doubled(&*second, &double));
    drop(first);
    assert_eq!(doubled(&*second, &double), [2, 4, 6, 8]);
}

#[test]
fn dropped_program_is_compiled_anew() {
    let Some(backend) = open() else { return };
    for _ in 0..20 {
        assert_eq!(doubled(&*backend, &double()), [2, 4, 6, 8]);
    }
}
