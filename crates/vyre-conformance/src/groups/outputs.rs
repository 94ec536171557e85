//! Output slots: what is kept, what is moved, and what is counted.

use vyre_core::backend::{DispatchConfig, OutputBuffers};
use vyre_core::output::{OutputReplacementStats, OutputSlotByteStats, OutputSlotStats};
use vyre_core::program::Program;

use crate::case::{Case, Fault, Group, ensure};
use crate::context::{Context, bytes, one_op};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Outputs, name, run)
}

pub(super) const CASES: &[Case] = &[
    case(
        "slots_with_room_keep_their_allocation",
        slots_with_room_keep_their_allocation,
    ),
    case(
        "slots_are_counted_as_they_went",
        slots_are_counted_as_they_went,
    ),
    case(
        "superfluous_slots_are_dropped",
        superfluous_slots_are_dropped,
    ),
    case("all_ways_to_dispatch_agree", all_ways_to_dispatch_agree),
    case(
        "reports_count_bytes_and_buffers",
        reports_count_bytes_and_buffers,
    ),
];

type Pair = [Vec<u8>; 2];

/// Doubles an in-out buffer of 4 words and one of 16.
fn doubling() -> Result<(Program, Pair, Pair), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> x: array<u32>;
        @group(0) @binding(1) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(16) fn double(@builtin(global_invocation_id) id: vec3u) {
            x[id.x] *= 2u;
            y[id.x] *= 2u;
        }";
    let (x, y): (Vec<u32>, Vec<u32>) = ((1..5).collect(), (1..17).collect());
    let program = one_op(source, [1, 1, 1], &[&x, &y])?;
    let double = |words: &[u32]| bytes(&words.iter().map(|word| word * 2).collect::<Vec<_>>());
    let expected = [double(&x), double(&y)];
    Ok((program, [bytes(&x), bytes(&y)], expected))
}

/// Dispatches into `outputs`, and checks bytes and sums.
fn into(context: &Context, outputs: &mut OutputBuffers) -> Result<OutputReplacementStats, Fault> {
    let (program, [x, y], expected) = doubling()?;
    let config = DispatchConfig::default();
    let replaced = context
        .backend()
        .dispatch_into(&program, &[&x, &y], &config, outputs)?;
    ensure!(
        *outputs == expected,
        "outputs are {outputs:?}, not {expected:?}"
    );
    let (slots, bytes) = (replaced.slots, replaced.bytes);
    let capacity: usize = outputs.iter().map(Vec::capacity).sum();
    ensure!(
        slots.total_slots == 2
            && slots.reused_slots + slots.moved_slots + slots.appended_slots == 2
            && bytes.incoming_bytes == 80
            && bytes.copied_bytes + bytes.moved_bytes + bytes.appended_bytes == 80
            && bytes.retained_capacity_bytes == capacity,
        "with {capacity} bytes of capacity the counts are {replaced:?}"
    );
    Ok(replaced)
}

fn slots_with_room_keep_their_allocation(context: &Context) -> Result<(), Fault> {
    let mut outputs = vec![Vec::with_capacity(100), vec![7; 64]];
    let pointers = [outputs[0].as_ptr(), outputs[1].as_ptr()];
    for _ in 0..3 {
        let replaced = into(context, &mut outputs)?;
        ensure!(
            pointers == [outputs[0].as_ptr(), outputs[1].as_ptr()],
            "a slot with room lost its allocation"
        );
        ensure!(
            replaced.slots.reused_slots == 2 && replaced.bytes.copied_bytes == 80,
            "two reused slots were counted as {replaced:?}"
        );
    }
    Ok(())
}

fn slots_are_counted_as_they_went(context: &Context) -> Result<(), Fault> {
    let mut outputs = vec![Vec::with_capacity(15)];
    let replaced = into(context, &mut outputs)?;
    let expected = OutputReplacementStats {
        slots: OutputSlotStats {
            total_slots: 2,
            reused_slots: 0,
            moved_slots: 1,
            appended_slots: 1,
        },
        bytes: OutputSlotByteStats {
            incoming_bytes: 80,
            copied_bytes: 0,
            moved_bytes: 16,
            appended_bytes: 64,
            retained_capacity_bytes: replaced.bytes.retained_capacity_bytes,
        },
    };
    ensure!(
        replaced == expected,
        "counted {replaced:?}, not {expected:?}"
    );
    Ok(())
}

fn superfluous_slots_are_dropped(context: &Context) -> Result<(), Fault> {
    let mut outputs = vec![vec![1; 16], vec![2; 100], vec![3; 5], vec![]];
    let replaced = into(context, &mut outputs)?;
    ensure!(
        replaced.slots.appended_slots == 0 && replaced.slots.reused_slots == 2,
        "four slots that became two were counted as {replaced:?}"
    );
    Ok(())
}

fn all_ways_to_dispatch_agree(context: &Context) -> Result<(), Fault> {
    let (program, [x, y], expected) = doubling()?;
    let (backend, config) = (context.backend(), DispatchConfig::default());
    let inputs = [&x[..], &y];
    let compiled = backend.compile(&program)?;
    let plain = backend.dispatch(compiled.program(), &inputs, &config)?;
    let timed = backend.dispatch_timed(&program, &inputs, &config)?;
    let mut reported = OutputBuffers::new();
    backend.dispatch_reported(&program, &inputs, &config, &mut reported)?;
    let ways = [
        ("dispatch", plain),
        ("dispatch_timed", timed.outputs),
        ("dispatch_reported", reported),
    ];
    for (way, outputs) in ways {
        ensure!(
            outputs == expected,
            "{way} gave {outputs:?}, not {expected:?}"
        );
    }
    Ok(())
}

fn reports_count_bytes_and_buffers(context: &Context) -> Result<(), Fault> {
    let (program, [x, y], _) = doubling()?;
    let config = DispatchConfig::default();
    let mut outputs = OutputBuffers::new();
    let report = context
        .backend()
        .dispatch_reported(&program, &[&x, &y], &config, &mut outputs)?;
    let stats = report.stats;
    ensure!(
        stats.output_bytes == 80
            && stats.output_buffers == 2
            && stats.input_bytes >= 80
            && stats.readback_bytes >= 80
            && stats.bytes_moved >= 160
            && stats.resident_resource_rows == 0
            && stats.resident_resource_handles == 0
            && !stats.recovered_after_device_loss,
        "80 bytes in and out were counted as {stats:?}"
    );
    Ok(())
}
