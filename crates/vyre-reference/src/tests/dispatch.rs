//! What a dispatch does around its kernels.

use std::time::{Duration, Instant};

use vyre_core::backend::{BackendError, DispatchConfig, LaunchMode, ResidentRead, VyreBackend};
use vyre_core::finding::FindingKind;
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use super::{program, try_run};
use crate::{ReferenceBackend, ReferenceConfig};

const ENDLESS: &str = "
    @group(0) @binding(0) var<storage, read_write> out: array<u32>;
    @compute @workgroup_size(1)
    fn main() { loop { out[0] += 1u; if out[0] == 0u { break; } out[0] |= 1u; } }";

const DOUBLE: &str = "
    @group(0) @binding(0) var<storage, read> x: array<u32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(4)
    fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] += 2u * x[id.x]; }";

#[test]
fn endless_loop_times_out_and_the_backend_goes_on() {
    let backend = ReferenceBackend::default();
    let limit = Duration::from_millis(50);
    let config = DispatchConfig::default().with_timeout(limit);
    let start = Instant::now();
    let error = backend
        .dispatch(&program(ENDLESS, 8, &[("out", &[0])]), &[&[0; 4]], &config)
        .unwrap_err();
    assert!(
        matches!(error, BackendError::Timeout { limit: l, waited, .. } if l == limit && waited >= limit)
    );
    assert!(start.elapsed() < Duration::from_secs(5));
    let double = program(DOUBLE, 1, &[("x", &[3; 4]), ("y", &[1; 4])]);
    let inputs: [&[u8]; 2] = [&[3, 0, 0, 0].repeat(4), &[1, 0, 0, 0].repeat(4)];
    let outputs = backend.dispatch(&double, &inputs, &config).unwrap();
    assert_eq!(outputs[0], [7, 0, 0, 0].repeat(4));
}

#[test]
fn step_limit_names_the_line() {
    let config = ReferenceConfig::default().with_step_limit(100_000);
    let error = try_run(config, ENDLESS, 1, &[("out", &[0])]).unwrap_err();
    let BackendError::Faults {
        findings, count: 1, ..
    } = error
    else {
        panic!("{error}");
    };
    assert_eq!(findings[0].kind, FindingKind::StepLimit { limit: 100_000 });
    assert_eq!(findings[0].line, 4);
    assert_eq!(findings[0].kernel, "main");
}

#[test]
fn megakernel_is_refused() {
    let config = DispatchConfig::default().with_launch_mode(LaunchMode::Megakernel);
    let error = ReferenceBackend::default()
        .dispatch(&program(ENDLESS, 1, &[("out", &[0])]), &[&[0; 4]], &config)
        .unwrap_err();
    assert!(matches!(error, BackendError::UnsupportedLaunchMode { .. }));
}

#[test]
fn ops_follow_each_other() {
    let kernel = Kernel::from_wgsl(DOUBLE).unwrap();
    let mut builder = Program::builder("chain");
    let constant = builder.constant("c", [1, 0, 0, 0].repeat(64));
    let scratch = builder.scratch("s", 256);
    let out = builder.output("o", 256);
    builder
        .op(&kernel, [16, 1, 1])
        .bind("x", constant)
        .bind("y", scratch);
    builder
        .op(&kernel, [16, 1, 1])
        .bind("x", scratch)
        .bind("y", out);
    builder
        .op(&kernel, [8, 1, 1])
        .bind("x", constant)
        .bind("y", out);
    let program = builder.build().unwrap();
    let backend = ReferenceBackend::default();
    for _ in 0..3 {
        let outputs = backend
            .dispatch(&program, &[], &DispatchConfig::default())
            .unwrap();
        let expected = [[6, 0, 0, 0].repeat(32), [4, 0, 0, 0].repeat(32)].concat();
        assert_eq!(outputs[0], expected);
    }
}

#[test]
fn rows_run_on_resident_buffers() {
    let backend = ReferenceBackend::default();
    let double = program(DOUBLE, 1, &[("x", &[0; 4]), ("y", &[0; 4])]);
    let [x, y] = [16, 16].map(|len| backend.allocate_resident(len).unwrap());
    let ones = [1; 16];
    let write = vyre_core::backend::ResidentWrite {
        resource: x,
        offset: 0,
        bytes: &ones,
    };
    backend.upload_resident(&[write]).unwrap();
    let report = backend
        .dispatch_resident(&double, &[&[x, y]], &DispatchConfig::default())
        .unwrap();
    assert_eq!(report.stats.resident_resource_rows, 1);
    let mut bytes = [0; 16];
    let read = ResidentRead {
        resource: y,
        offset: 0,
        bytes: &mut bytes,
    };
    backend.download_resident(&mut [read]).unwrap();
    assert_eq!(bytes, [2; 16]);
}

#[test]
fn kernel_with_too_large_values_is_refused() {
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        var<private> huge: array<u32, 100000000>;
        @compute @workgroup_size(64)
        fn main() { out[0] = huge[out[1]]; }";
    let error = try_run(ReferenceConfig::default(), source, 1, &[("out", &[0; 2])]).unwrap_err();
    let BackendError::Translation { kernel, source } = error else {
        panic!("{error}");
    };
    assert_eq!(kernel, "main");
    assert!(source.to_string().contains("make private arrays smaller"));
}
