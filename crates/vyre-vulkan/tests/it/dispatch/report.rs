//! What a dispatch says it cost, and what becomes of the caller's output slots.

use vyre_core::backend::{DispatchConfig, DispatchReport, OutputBuffers, VyreBackend};
use vyre_core::program::BufferRole::{InOut, Input, Output, Scratch};
use vyre_core::program::Program;

use crate::harness::{ADD, declare, kernel, one_op, run_reported};
use crate::support::{bytes, open, words};

/// `y += x`, `hidden += y`, `z += hidden`, `z += ones`, with a length of its own for each buffer.
fn sums() -> Program {
    let kernel = kernel(ADD);
    let mut builder = Program::builder("sums");
    let x = declare(&mut builder, ("x", Input, 30));
    let y = declare(&mut builder, ("y", InOut, 20));
    let hidden = declare(&mut builder, ("hidden", Scratch, 10));
    let z = declare(&mut builder, ("z", Output, 7));
    let ones = builder.constant("ones", bytes(&[1; 5]));
    for (from, to) in [(x, y), (y, hidden), (hidden, z), (ones, z)] {
        builder
            .op(&kernel, [1, 1, 1])
            .bind("x", from)
            .bind("sum", to);
    }
    builder.build().unwrap()
}

/// Runs [`sums`] over `x` full of 2 and `y` full of 3.
fn run_sums(
    backend: &impl VyreBackend,
    program: &Program,
    outputs: &mut OutputBuffers,
) -> DispatchReport {
    let inputs = [bytes(&[2; 30]), bytes(&[3; 20])];
    let inputs = inputs.each_ref().map(Vec::as_slice);
    let config = DispatchConfig::default();
    backend
        .dispatch_reported(program, &inputs, &config, outputs)
        .unwrap()
}

/// Where the bytes of each slot lie.
fn pointers(outputs: &OutputBuffers) -> Vec<*const u8> {
    outputs.iter().map(|slot| slot.as_ptr()).collect()
}

fn assert_sums(outputs: &OutputBuffers) {
    assert_eq!(words(&outputs[0]), [5; 20]);
    assert_eq!(words(&outputs[1]), [6, 6, 6, 6, 6, 5, 5]);
}

#[test]
fn each_op_is_one_launch_and_the_host_waits_once() {
    let Some(backend) = open() else { return };
    let stats = run_sums(&*backend, &sums(), &mut Vec::new()).stats;
    assert_eq!((stats.kernel_launches, stats.sync_points), (4, 1));
}

#[test]
fn bytes_are_those_that_cross_between_host_and_device() {
    let Some(backend) = open() else { return };
    let (program, mut outputs) = (sums(), Vec::new());
    let first = run_sums(&*backend, &program, &mut outputs).stats;
    let stats = run_sums(&*backend, &program, &mut outputs).stats;
    // The five words of the constant cross once.
    assert_eq!(first.bytes_moved, stats.bytes_moved + 4 * 5);
    assert_eq!(stats.input_bytes, 4 * (30 + 20));
    assert_eq!(stats.output_bytes, 4 * (20 + 7));
    assert_eq!(stats.readback_bytes, 4 * (20 + 7));
    assert_eq!(stats.bytes_moved, 4 * (30 + 20 + 20 + 7));
    assert_eq!(stats.output_buffers, 2);
}

#[test]
fn dispatch_without_resident_buffers_counts_none() {
    let Some(backend) = open() else { return };
    let stats = run_sums(&*backend, &sums(), &mut Vec::new()).stats;
    let resident = (
        stats.resident_resource_rows,
        stats.resident_resource_handles,
    );
    assert_eq!(resident, (0, 0));
    assert!(!stats.recovered_after_device_loss);
}

#[test]
fn first_dispatch_allocates_at_least_its_buffers_and_later_ones_nothing() {
    let Some(backend) = open() else { return };
    let (program, mut outputs) = (sums(), Vec::new());
    let first = run_sums(&*backend, &program, &mut outputs).stats;
    assert!(first.device_allocation_events > 0);
    assert!(first.device_allocation_bytes >= 4 * (30 + 20 + 10 + 7 + 5));
    for _ in 0..3 {
        let later = run_sums(&*backend, &program, &mut outputs).stats;
        assert_eq!(later.device_allocation_events, 0);
        assert_eq!(later.device_allocation_bytes, 0);
    }
}

#[test]
fn dispatch_after_compile_allocates_only_what_it_runs_on() {
    let Some(backend) = open() else { return };
    let constant_len = 1 << 16;
    let mut builder = Program::builder("large constant");
    let x = builder.constant("x", vec![1; 4 * constant_len]);
    let sum = declare(&mut builder, ("sum", Output, 8));
    builder
        .op(&kernel(ADD), [1, 1, 1])
        .bind("x", x)
        .bind("sum", sum);
    let program = builder.build().unwrap();
    backend.compile(&program).unwrap();
    let (outputs, report) = run_reported(&*backend, &program, &[]);
    assert_eq!(outputs, [[0x0101_0101; 8]]);
    assert!(report.stats.device_allocation_events > 0);
    assert!(report.stats.device_allocation_bytes < constant_len as u64);
}

#[test]
fn enqueueing_and_waiting_are_parts_of_the_whole() {
    let Some(backend) = open() else { return };
    let (program, mut outputs) = (sums(), Vec::new());
    for _ in 0..5 {
        let report = run_sums(&*backend, &program, &mut outputs);
        let (enqueue_ns, wait_ns) = (report.enqueue_ns.unwrap(), report.wait_ns.unwrap());
        assert!(enqueue_ns + wait_ns <= report.wall_ns, "{report:?}");
        assert_eq!(report.stats.latency_ns, report.wall_ns);
    }
}

/// Whether `backend` runs on a device that is known to take times on every queue.
fn has_timestamps(backend: &impl VyreBackend) -> bool {
    let name = &backend.device_info().name;
    ["llvmpipe", "NVIDIA"]
        .iter()
        .any(|known| name.contains(known))
}

#[test]
fn device_says_how_long_it_took() {
    let Some(backend) = open() else { return };
    if !has_timestamps(&*backend) {
        return eprintln!("SKIPPED, since it is not known whether this device has timestamps");
    }
    let report = run_sums(&*backend, &sums(), &mut Vec::new());
    assert!(report.device_ns.is_some_and(|ns| ns > 0), "{report:?}");
}

#[test]
fn timed_dispatch_gives_outputs_and_all_times() {
    let Some(backend) = open() else { return };
    let inputs = [bytes(&[2; 30]), bytes(&[3; 20])];
    let inputs = inputs.each_ref().map(Vec::as_slice);
    let timed = backend.dispatch_timed(&sums(), &inputs, &DispatchConfig::default());
    let timed = timed.unwrap();
    assert_sums(&timed.outputs);
    assert!(timed.device_ns.is_some() || !has_timestamps(&*backend));
    assert!(timed.enqueue_ns.unwrap() + timed.wait_ns.unwrap() <= timed.wall_ns);
}

#[test]
fn timed_and_untimed_dispatches_may_alternate() {
    let Some(backend) = open() else { return };
    let program = sums();
    let inputs = [bytes(&[2; 30]), bytes(&[3; 20])];
    let inputs = inputs.each_ref().map(Vec::as_slice);
    for _ in 0..3 {
        let plain = backend.dispatch(&program, &inputs, &DispatchConfig::default());
        assert_sums(&plain.unwrap());
        let timed = backend.dispatch_timed(&program, &inputs, &DispatchConfig::default());
        assert_sums(&timed.unwrap().outputs);
    }
}

#[test]
fn output_slots_keep_their_allocations() {
    let Some(backend) = open() else { return };
    let program = sums();
    let mut outputs = vec![vec![0xaa; 1000], Vec::with_capacity(28)];
    let slots = pointers(&outputs);
    for _ in 0..3 {
        let report = run_sums(&*backend, &program, &mut outputs);
        assert_sums(&outputs);
        assert_eq!(report.replaced.slots.reused_slots, 2);
        assert_eq!(report.replaced.bytes.copied_bytes, 4 * (20 + 7));
        assert_eq!(pointers(&outputs), slots);
    }
}

#[test]
fn slots_that_are_too_small_are_replaced_and_missing_ones_appended() {
    let Some(backend) = open() else { return };
    let mut outputs = vec![Vec::with_capacity(8)];
    let replaced = run_sums(&*backend, &sums(), &mut outputs).replaced;
    assert_sums(&outputs);
    assert_eq!(replaced.slots.total_slots, 2);
    assert_eq!(replaced.slots.reused_slots, 0);
    assert_eq!(replaced.slots.appended_slots, 1);
}

#[test]
fn slots_past_the_last_output_are_dropped() {
    let Some(backend) = open() else { return };
    let mut outputs = vec![vec![0xaa; 100]; 5];
    run_sums(&*backend, &sums(), &mut outputs);
    assert_eq!(outputs.len(), 2);
    assert_sums(&outputs);
}

#[test]
fn program_without_inputs_and_outputs_moves_no_bytes() {
    let Some(backend) = open() else { return };
    let program = one_op(ADD, [1, 1, 1], &[("x", Scratch, 8), ("sum", Scratch, 8)]);
    let (outputs, report) = run_reported(&*backend, &program, &[]);
    assert_eq!(outputs.len(), 0);
    assert_eq!(report.stats.bytes_moved, 0);
    assert_eq!(report.stats.output_buffers, 0);
}
