//! The backend is opened by its name, runs what it can, and says what it can't.

#![forbid(unsafe_code)]

use std::sync::Arc;

use backend_minimal::MinimalBackend;
use vyre_driver::backend::OutputBuffers;
use vyre_driver::{
    BackendError, DispatchConfig, Kernel, OpenConfig, Program, Registry, VyreBackend,
};

fn open() -> Result<Arc<dyn VyreBackend>, BackendError> {
    let mut registry = Registry::default();
    registry.register("minimal", |_| Ok(Arc::new(MinimalBackend::default())));
    registry.open(&OpenConfig::default().with_backend("minimal"))
}

/// Runs a kernel over one buffer of four words.
fn run(body: &str, words: [u32; 4]) -> Result<OutputBuffers, BackendError> {
    let kernel = Kernel::from_wgsl(&format!(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(4)
         fn main(@builtin(global_invocation_id) id: vec3u) {{ {body} }}"
    ))?;
    let mut builder = Program::builder("one op");
    let y = builder.in_out("y", 16);
    builder.op(&kernel, [1, 1, 1]).bind("y", y);
    let input: Vec<u8> = words.into_iter().flat_map(u32::to_le_bytes).collect();
    let backend = open()?;
    assert_eq!(backend.id(), "minimal");
    backend.dispatch(&builder.build()?, &[&input], &DispatchConfig::default())
}

fn bytes(words: [u32; 4]) -> Vec<u8> {
    words.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn values_are_taken_where_the_kernel_takes_them() {
    let swap = "
        let old = y[id.x];
        y[id.x] = y[id.x] / (id.x - id.x) + 1u;
        y[id.x] = y[id.x] * 10u + old;";
    let outputs = run(swap, [1, 2, 3, 4]).unwrap();
    assert_eq!(outputs, [bytes([21, 32, 43, 54])]);
}

#[test]
fn accesses_past_the_end_do_nothing() {
    let outputs = run("y[id.x] = y[id.x + 2u]; y[id.x + 4u] = 9u;", [1, 2, 3, 4]);
    assert_eq!(outputs.unwrap(), [bytes([3, 4, 0, 0])]);
}

#[test]
fn what_it_can_t_run_is_named() {
    for (body, construct) in [
        ("if id.x == 1u { y[0] = 1u; }", "a comparison"),
        ("y[0] = u32(f32(y[0]));", "an expression other than"),
        ("storageBarrier();", "a statement other than"),
    ] {
        let error = run(body, [0; 4]).unwrap_err();
        assert!(matches!(error, BackendError::Translation { .. }), "{error}");
        let text = format!("{error:?}");
        assert!(text.contains(construct), "{text}");
    }
}
