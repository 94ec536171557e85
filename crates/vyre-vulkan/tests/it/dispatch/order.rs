//! Ops run as if one after the other, over the whole of their grids.

use vyre_core::program::BufferRole::{InOut, Input, Output, Scratch};
use vyre_core::program::Program;

use crate::harness::{ADD, STEP, declare, kernel, one_op, run, run_reported, step};
use crate::support::open;

/// A chain of `ops` times [`STEP`] over 100 words, through `scratch` buffers in turn.
fn chain(ops: usize, scratch: usize) -> Program {
    let kernel = kernel(STEP);
    let mut builder = Program::builder("chain");
    let mut last = declare(&mut builder, ("x", Input, 100));
    let between: Vec<_> = (0..scratch)
        .map(|index| declare(&mut builder, (&format!("scratch {index}"), Scratch, 100)))
        .collect();
    let end = declare(&mut builder, ("y", Output, 100));
    for op in 0..ops {
        let next = if op + 1 == ops {
            end
        } else {
            between[op % scratch]
        };
        builder
            .op(&kernel, [2, 1, 1])
            .bind("x", last)
            .bind("y", next);
        last = next;
    }
    builder.build().unwrap()
}

fn assert_chain(ops: usize, scratch: usize) {
    let Some(backend) = open() else { return };
    let x: Vec<u32> = (0..100).collect();
    let after = |x: &u32| (0..ops).fold(*x, |x, _| step(x));
    let expected: Vec<u32> = x.iter().map(after).collect();
    let outputs = run(&*backend, &chain(ops, scratch), &[&x]);
    assert_eq!(outputs, [expected]);
}

#[test]
fn dependent_ops_run_in_order() {
    assert_chain(40, 40);
}

#[test]
fn ops_that_write_where_earlier_ones_read_run_in_order() {
    assert_chain(41, 2);
}

#[test]
fn two_thousand_ops_run_in_one_dispatch() {
    let Some(backend) = open() else { return };
    let x = [7; 100];
    let expected = (0..2000).fold(7, |x, _| step(x));
    let (outputs, report) = run_reported(&*backend, &chain(2000, 3), &[&x]);
    assert_eq!(outputs, [[expected; 100]]);
    assert_eq!(report.stats.kernel_launches, 2000);
    assert_eq!(report.stats.sync_points, 1);
}

#[test]
fn both_sides_of_a_diamond_arrive() {
    let Some(backend) = open() else { return };
    let (step_kernel, add_kernel) = (kernel(STEP), kernel(ADD));
    let mut builder = Program::builder("diamond");
    let x = declare(&mut builder, ("x", Input, 64));
    let top = declare(&mut builder, ("top", Scratch, 64));
    let left = declare(&mut builder, ("left", Scratch, 64));
    let right = declare(&mut builder, ("right", Scratch, 64));
    let bottom = declare(&mut builder, ("bottom", Output, 64));
    for (from, to) in [(x, top), (top, left), (left, right)] {
        let mut op = builder.op(&step_kernel, [1, 1, 1]);
        op.bind("x", from).bind("y", to);
    }
    for side in [left, right] {
        let mut op = builder.op(&add_kernel, [1, 1, 1]);
        op.bind("x", side).bind("sum", bottom);
    }
    let program = builder.build().unwrap();
    let x: Vec<u32> = (1000..1064).collect();
    let sum = |&x: &u32| {
        let left = step(step(x));
        left.wrapping_add(step(left))
    };
    let expected: Vec<u32> = x.iter().map(sum).collect();
    assert_eq!(run(&*backend, &program, &[&x]), [expected]);
}

#[test]
fn independent_ops_all_run() {
    let Some(backend) = open() else { return };
    let kernel = kernel(STEP);
    let mut builder = Program::builder("independent");
    let x = declare(&mut builder, ("x", Input, 64 * 50));
    let y = declare(&mut builder, ("y", Output, 64 * 50));
    for op in 0..50 {
        builder
            .op(&kernel, [1, 1, 1])
            .bind("x", x.slice(256 * op, 256))
            .bind("y", y.slice(256 * op, 256));
    }
    let program = builder.build().unwrap();
    let x: Vec<u32> = (0..64 * 50).collect();
    let expected: Vec<u32> = x.iter().copied().map(step).collect();
    assert_eq!(run(&*backend, &program, &[&x]), [expected]);
}

#[test]
fn reader_sees_what_was_there_before_a_later_writer() {
    let Some(backend) = open() else { return };
    let kernel = kernel(STEP);
    let mut builder = Program::builder("write after read");
    let first = declare(&mut builder, ("first", InOut, 64));
    let second = declare(&mut builder, ("second", InOut, 64));
    let third = declare(&mut builder, ("third", Output, 64));
    for (from, to) in [(first, third), (second, first)] {
        builder.op(&kernel, [1, 1, 1]).bind("x", from).bind("y", to);
    }
    let program = builder.build().unwrap();
    let outputs = run(&*backend, &program, &[&[10; 64], &[20; 64]]);
    assert_eq!(outputs, [[61; 64], [20; 64], [31; 64]]);
}

#[test]
fn every_workgroup_of_a_three_dimensional_grid_runs_once() {
    const COUNT: &str = "
    @group(0) @binding(0) var<storage, read_write> runs: array<atomic<u32>>;
    @compute @workgroup_size(2, 3, 4)
    fn count(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) grid: vec3u) {
        let size = grid * vec3u(2u, 3u, 4u);
        atomicAdd(&runs[(id.z * size.y + id.y) * size.x + id.x], 1u);
    }";
    let Some(backend) = open() else { return };
    let len = (5 * 2) * (6 * 3) * (7 * 4);
    let program = one_op(COUNT, [5, 6, 7], &[("runs", Output, len)]);
    assert_eq!(run(&*backend, &program, &[]), [vec![1; len]]);
}

#[test]
fn kernel_without_bindings_runs_between_others() {
    const IDLE: &str = "@compute @workgroup_size(8) fn idle() {}";
    let Some(backend) = open() else { return };
    let (step_kernel, idle) = (kernel(STEP), kernel(IDLE));
    let mut builder = Program::builder("idle");
    let x = declare(&mut builder, ("x", Input, 64));
    let y = declare(&mut builder, ("y", Output, 64));
    builder.op(&idle, [3, 1, 1]);
    builder
        .op(&step_kernel, [1, 1, 1])
        .bind("x", x)
        .bind("y", y);
    builder.op(&idle, [1, 2, 1]);
    let program = builder.build().unwrap();
    assert_eq!(run(&*backend, &program, &[&[5; 64]]), [[16; 64]]);
}

#[test]
fn program_of_nothing_but_a_kernel_without_bindings_runs() {
    const IDLE: &str = "@compute @workgroup_size(8) fn idle() {}";
    let Some(backend) = open() else { return };
    let program = one_op(IDLE, [3, 1, 1], &[]);
    let (outputs, report) = run_reported(&*backend, &program, &[]);
    assert_eq!(outputs.len(), 0);
    assert_eq!(report.stats.kernel_launches, 1);
}
