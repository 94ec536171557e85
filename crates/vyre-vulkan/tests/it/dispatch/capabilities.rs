//! What not every device has: it works where it is there, and is refused where it is not.

use vyre_core::backend::VyreBackend;
use vyre_core::error::BackendError;
use vyre_core::kernel::Capability;
use vyre_core::program::BufferRole::{Input, Output};
use vyre_core::program::{Program, ProgramBuilder};

use crate::harness::{declare, kernel, one_op, run};
use crate::programs::{assert_scales, scaled};
use crate::support::{Checked, bytes, open};

/// Expects `program` to turn `input` into `expected` where the device has all of `needs`, and to be
/// refused for what it lacks elsewhere.
fn assert_needs(needs: &[Capability], program: &Program, input: &[u32], expected: &[u32]) {
    let Some(backend) = open() else { return };
    let has = &backend.device_info().capabilities;
    if needs.iter().all(|capability| has.contains(capability)) {
        assert_eq!(run(&*backend, program, &[input]), [expected]);
        return;
    }
    let error = backend.compile(program).unwrap_err();
    assert!(
        matches!(error, BackendError::MissingCapability { capability, .. } if needs.contains(&capability) && !has.contains(&capability)),
        "{error}"
    );
    assert_scales(&*backend, &scaled(3), 3);
}

#[test]
fn half_floats_compute_or_are_refused() {
    const HALVES: &str = "
    enable f16;
    @group(0) @binding(0) var<storage, read> x: array<vec2<f16>>;
    @group(0) @binding(1) var<storage, read_write> y: array<vec2<f16>>;
    @compute @workgroup_size(1)
    fn halves() { y[0] = x[0] * 2.0h + vec2<f16>(0.5h); }";
    let program = one_op(HALVES, [1, 1, 1], &[("x", Input, 1), ("y", Output, 1)]);
    // 1.5 and -2 go in, 3.5 and -3.5 come out.
    assert_needs(
        &[Capability::Float16],
        &program,
        &[0xc000_3e00],
        &[0xc300_4300],
    );
}

#[test]
fn long_integers_compute_or_are_refused() {
    const LONGS: &str = "
    @group(0) @binding(0) var<storage, read> x: array<u64>;
    @group(0) @binding(1) var<storage, read_write> y: array<u64>;
    @compute @workgroup_size(1)
    fn longs() { y[0] = x[0] * x[1] + 1lu; }";
    let program = one_op(LONGS, [1, 1, 1], &[("x", Input, 4), ("y", Output, 2)]);
    // 2³³ · 5 + 1.
    let input = [0, 2, 5, 0];
    assert_needs(&[Capability::Int64], &program, &input, &[1, 10]);
}

#[test]
fn long_atomics_compute_or_are_refused() {
    const LONG_ATOMICS: &str = "
    @group(0) @binding(0) var<storage, read> x: array<u64>;
    @group(0) @binding(1) var<storage, read_write> y: atomic<u64>;
    @compute @workgroup_size(64)
    fn add() { atomicAdd(&y, x[0]); }";
    let program = one_op(
        LONG_ATOMICS,
        [2, 1, 1],
        &[("x", Input, 2), ("y", Output, 2)],
    );
    // 128 times 2³² + 2²⁵ carries into the upper half.
    let input = [1 << 25, 1];
    assert_needs(
        &[Capability::Int64, Capability::Int64Atomics],
        &program,
        &input,
        &[0, 129],
    );
}

#[test]
fn subgroups_compute_or_are_refused() {
    const SUBGROUPS: &str = "
    enable subgroups;
    @group(0) @binding(0) var<storage, read> x: array<u32>;
    @group(0) @binding(1) var<storage, read_write> y: array<atomic<u32>>;
    @compute @workgroup_size(64)
    fn sum(
        @builtin(global_invocation_id) id: vec3u,
        @builtin(subgroup_invocation_id) lane: u32,
    ) {
        let sum = subgroupAdd(x[id.x]);
        let last = subgroupMax(lane);
        if lane == 0u { atomicAdd(&y[0], sum); }
        if subgroupBroadcastFirst(lane) == 0u && lane == last { atomicAdd(&y[1], last + 1u); }
    }";
    let buffers = [("x", Input, 128), ("y", Output, 2)];
    let program = one_op(SUBGROUPS, [2, 1, 1], &buffers);
    let input: Vec<u32> = (1..=128).collect();
    // The sum of all, and the lanes of all subgroups together.
    assert_needs(
        &[Capability::Subgroups],
        &program,
        &input,
        &[128 * 129 / 2, 128],
    );
}

/// A program whose one kernel writes to `count` buffers through as many bindings.
fn writes_to(count: u32) -> Program {
    let bindings = (0..count)
        .map(|i| format!("@group(0) @binding({i}) var<storage, read_write> y{i}: array<u32>;\n"));
    let writes = (0..count).map(|i| format!("y{i}[0] = {i}u + 1u;\n"));
    let source = format!(
        "{}@compute @workgroup_size(1) fn wide() {{ {} }}",
        bindings.collect::<String>(),
        writes.collect::<String>()
    );
    let kernel = kernel(&source);
    let mut builder: ProgramBuilder = Program::builder("wide");
    let names: Vec<_> = (0..count).map(|i| format!("y{i}")).collect();
    let ids: Vec<_> = names
        .iter()
        .map(|name| declare(&mut builder, (name, Output, 1)))
        .collect();
    let mut op = builder.op(&kernel, [1, 1, 1]);
    for (name, id) in names.iter().zip(ids) {
        op.bind(name, id);
    }
    builder.build().unwrap()
}

fn assert_writes_to(backend: &Checked, count: u32) {
    let outputs = backend.dispatch(&writes_to(count), &[], &Default::default());
    let expected: Vec<_> = (1..=count).map(|word| bytes(&[word])).collect();
    assert_eq!(outputs.unwrap(), expected);
}

#[test]
fn as_many_bindings_work_as_the_device_allows() {
    let Some(backend) = open() else { return };
    let most = match backend.compile(&writes_to(200)) {
        Ok(_) => 200,
        Err(BackendError::LimitExceeded {
            requested: 200,
            maximum,
            ..
        }) => u32::try_from(maximum).unwrap(),
        Err(error) => panic!("{error}"),
    };
    assert_writes_to(&backend, most);
}
