//! Repeated use: nothing is allocated after the first dispatches, and nothing runs out.

use vyre_core::backend::{DispatchConfig, OutputBuffers, Resource};

use crate::case::{Case, Fault, Group, Need, ensure};
use crate::context::{Context, bytes, one_op, same_words, words};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Growth, name, run)
}

pub(super) const CASES: &[Case] = &[
    case(
        "a_repeated_dispatch_allocates_no_device_memory",
        repeated_dispatch,
    ),
    case("many_programs_come_and_go", many_programs),
    case("resident_buffers_come_and_go", residents).needing(&[Need::Residents]),
    case("repeated_rows_allocate_no_device_memory", repeated_rows).needing(&[Need::Residents]),
];

const ADD: &str = "
    @group(0) @binding(0) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] += 1u; }";

/// Dispatches that may allocate before none may.
const WARM_UP: u32 = 3;

fn repeated_dispatch(context: &Context) -> Result<(), Fault> {
    let program = one_op(ADD, [4, 1, 1], &[&[0; 256]])?;
    let (config, mut outputs) = (DispatchConfig::default(), OutputBuffers::new());
    for turn in 0..100 {
        let input = bytes(&[turn; 256]);
        let backend = context.backend();
        let report = backend.dispatch_reported(&program, &[&input], &config, &mut outputs)?;
        let stats = report.stats;
        ensure!(
            turn < WARM_UP
                || stats.device_allocation_events == 0 && stats.device_allocation_bytes == 0,
            "dispatch {turn} allocated {} bytes of device memory in {} pieces",
            stats.device_allocation_bytes,
            stats.device_allocation_events
        );
        same_words("the output", &words(&outputs[0])?, &[turn + 1; 256])?;
    }
    Ok(())
}

fn many_programs(context: &Context) -> Result<(), Fault> {
    for turn in 0..200 {
        let program = one_op(ADD, [1, 1, 1], &[&[0; 64]])?;
        let outputs = context.dispatch(&program, &[&bytes(&[turn; 64])])?;
        same_words("the output", &words(&outputs[0])?, &[turn + 1; 64])?;
    }
    Ok(())
}

fn residents(context: &Context) -> Result<(), Fault> {
    // Together several times the memory of any device.
    let byte_len = 16 << 20;
    let rounds = context.backend().device_info().memory_bytes / byte_len + 16;
    for round in 0..rounds.min(200) {
        let resource = context.backend().allocate_resident(byte_len)?;
        let len = context.backend().resident_byte_len(resource)?;
        ensure!(len == byte_len, "round {round} gave {len} bytes");
        context.backend().free_resident(resource)?;
    }
    Ok(())
}

fn repeated_rows(context: &Context) -> Result<(), Fault> {
    let program = one_op(ADD, [1, 1, 1], &[&[0; 64]])?;
    let backend = context.backend();
    let handles = [
        backend.allocate_resident(256)?,
        backend.allocate_resident(256)?,
    ];
    let rows: [&[Resource]; 2] = [&handles[..1], &handles[1..]];
    for turn in 0..50 {
        let report = backend.dispatch_resident(&program, &rows, &DispatchConfig::default())?;
        ensure!(
            turn < WARM_UP || report.stats.device_allocation_events == 0,
            "dispatch {turn} allocated {} times",
            report.stats.device_allocation_events
        );
    }
    for handle in handles {
        backend.free_resident(handle)?;
    }
    Ok(())
}
