//! What a kernel finds in its buffers, and what of them comes back.

use vyre_core::kernel::Kernel;
use vyre_core::program::BufferRole::{InOut, Input, Output, Scratch};
use vyre_core::program::Program;

use crate::harness::{ADD, STEP, declare, kernel, one_op, run, step};
use crate::support::{bytes, open};

#[test]
fn in_out_buffer_comes_back_changed() {
    let Some(backend) = open() else { return };
    let program = one_op(ADD, [1, 1, 1], &[("x", Input, 3), ("sum", InOut, 3)]);
    let outputs = run(&*backend, &program, &[&[1, 2, 3], &[10, 20, u32::MAX]]);
    assert_eq!(outputs, [[11, 22, 2]]);
}

#[test]
fn in_out_buffer_that_no_op_touches_comes_back_as_it_was() {
    let Some(backend) = open() else { return };
    let mut builder = Program::builder("untouched");
    let x = declare(&mut builder, ("x", Input, 4));
    declare(&mut builder, ("kept", InOut, 5));
    let y = declare(&mut builder, ("y", Output, 4));
    builder
        .op(&kernel(STEP), [1, 1, 1])
        .bind("x", x)
        .bind("y", y);
    let program = builder.build().unwrap();
    let kept = [9, 8, 7, 6, 5];
    let outputs = run(&*backend, &program, &[&[0; 4], &kept]);
    assert_eq!(outputs, [kept.to_vec(), vec![1; 4]]);
}

#[test]
fn outputs_come_back_in_order_of_declaration() {
    let Some(backend) = open() else { return };
    let kernel = kernel(STEP);
    let mut builder = Program::builder("order of outputs");
    let first = declare(&mut builder, ("first", Output, 2));
    let x = declare(&mut builder, ("x", Input, 4));
    let second = declare(&mut builder, ("second", InOut, 3));
    let between = declare(&mut builder, ("between", Scratch, 4));
    let third = declare(&mut builder, ("third", Output, 4));
    for (from, to) in [
        (x, between),
        (between, third),
        (third, second),
        (third, first),
    ] {
        builder.op(&kernel, [1, 1, 1]).bind("x", from).bind("y", to);
    }
    let program = builder.build().unwrap();
    let outputs = run(&*backend, &program, &[&[0, 1, 2, 3], &[0; 3]]);
    let twice = [4, 13, 22, 31];
    let thrice = twice.map(step);
    assert_eq!(outputs, [&thrice[..2], &thrice[..3], &twice[..]]);
}

#[test]
fn constants_hold_in_every_dispatch() {
    let Some(backend) = open() else { return };
    let mut builder = Program::builder("constants");
    let pad = builder.constant("first", bytes(&[u32::MAX; 5]));
    let x = builder.constant("second", bytes(&[1, 2, 3]));
    let sum = declare(&mut builder, ("sum", InOut, 3));
    let y = declare(&mut builder, ("y", Output, 5));
    builder
        .op(&kernel(ADD), [1, 1, 1])
        .bind("x", x)
        .bind("sum", sum);
    builder
        .op(&kernel(STEP), [1, 1, 1])
        .bind("x", pad)
        .bind("y", y);
    let program = builder.build().unwrap();
    for round in 0..3 {
        let outputs = run(&*backend, &program, &[&[round; 3]]);
        let expected = [vec![round + 1, round + 2, round + 3], vec![u32::MAX - 1; 5]];
        assert_eq!(outputs, expected);
    }
}

#[test]
fn uniform_buffer_is_read() {
    const SCALE: &str = "
    struct Parameters { factor: u32, offset: vec3u }
    @group(0) @binding(0) var<uniform> parameters: Parameters;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(3)
    fn scale(@builtin(global_invocation_id) id: vec3u) {
        y[id.x] = parameters.factor * id.x + parameters.offset[id.x];
    }";
    let Some(backend) = open() else { return };
    let buffers = [("parameters", Input, 8), ("y", Output, 3)];
    let program = one_op(SCALE, [1, 1, 1], &buffers);
    let outputs = run(&*backend, &program, &[&[7, 0, 0, 0, 100, 200, 300, 0]]);
    assert_eq!(outputs, [[100, 207, 314]]);
}

#[test]
fn outputs_start_as_zeros_in_every_dispatch() {
    let Some(backend) = open() else { return };
    let program = one_op(ADD, [1, 1, 1], &[("x", Input, 5), ("sum", Output, 5)]);
    for _ in 0..3 {
        assert_eq!(run(&*backend, &program, &[&[7; 5]]), [[7; 5]]);
    }
}

#[test]
fn scratch_starts_as_zeros_in_every_dispatch() {
    let Some(backend) = open() else { return };
    let mut builder = Program::builder("scratch");
    let x = declare(&mut builder, ("x", Input, 5));
    let sum = declare(&mut builder, ("sum", Scratch, 5));
    let y = declare(&mut builder, ("y", Output, 5));
    builder
        .op(&kernel(ADD), [1, 1, 1])
        .bind("x", x)
        .bind("sum", sum);
    builder
        .op(&kernel(STEP), [1, 1, 1])
        .bind("x", sum)
        .bind("y", y);
    let program = builder.build().unwrap();
    for _ in 0..3 {
        assert_eq!(run(&*backend, &program, &[&[7; 5]]), [[22; 5]]);
    }
}

#[test]
fn every_length_comes_back_exactly() {
    let Some(backend) = open() else { return };
    let kernel = kernel(STEP);
    let lengths = [1, 2, 3, 5, 63, 64, 65, 127, 257];
    let mut builder = Program::builder("lengths");
    for len in lengths {
        let x = declare(&mut builder, (&format!("x {len}"), Input, len));
        let y = declare(&mut builder, (&format!("y {len}"), Output, len));
        builder.op(&kernel, [5, 1, 1]).bind("x", x).bind("y", y);
    }
    let program = builder.build().unwrap();
    let inputs = lengths.map(|len| (0..).map(|i| 1000 * i).take(len).collect::<Vec<u32>>());
    let expected = inputs
        .clone()
        .map(|words| words.into_iter().map(step).collect::<Vec<_>>());
    let outputs = run(&*backend, &program, &inputs.each_ref().map(Vec::as_slice));
    assert_eq!(outputs, expected);
}

#[test]
fn ranges_of_one_buffer_are_apart() {
    let Some(backend) = open() else { return };
    let kernel = kernel(STEP);
    let mut builder = Program::builder("ranges");
    let data = declare(&mut builder, ("data", InOut, 64 * 4));
    for (from, to) in [(0, 512), (512, 768)] {
        builder
            .op(&kernel, [1, 1, 1])
            .bind("x", data.slice(from, 256))
            .bind("y", data.slice(to, 252));
    }
    let program = builder.build().unwrap();
    let before: Vec<u32> = (0..256).collect();
    let mut expected = before.clone();
    for (from, to) in [(0, 128), (128, 192)] {
        for word in 0..63 {
            expected[to + word] = step(expected[from + word]);
        }
    }
    assert_eq!(run(&*backend, &program, &[&before]), [expected]);
}

#[test]
fn array_length_is_that_of_the_bound_range() {
    const LENGTHS: &str = "
    struct Rows { header: vec4u, rows: array<vec2u> }
    @group(0) @binding(0) var<storage, read> a: array<u32>;
    @group(0) @binding(1) var<storage, read> b: Rows;
    @group(0) @binding(2) var<storage, read_write> y: array<u32, 2>;
    @compute @workgroup_size(1)
    fn lengths() { y[0] = arrayLength(&a); y[1] = arrayLength(&b.rows); }";
    let Some(backend) = open() else { return };
    let mut builder = Program::builder("lengths");
    let data = declare(&mut builder, ("data", Input, 1000));
    let y = declare(&mut builder, ("y", Output, 2));
    builder
        .op(&kernel(LENGTHS), [1, 1, 1])
        .bind("a", data.slice(256, 4 * 77))
        .bind("b", data.slice(512, 4 * (4 + 2 * 9)))
        .bind("y", y);
    let program = builder.build().unwrap();
    assert_eq!(run(&*backend, &program, &[&[0; 1000]]), [[77, 9]]);
}

#[test]
fn every_group_is_bound() {
    const GROUPS: &str = "
    @group(0) @binding(5) var<storage, read> a: array<u32>;
    @group(1) @binding(0) var<uniform> b: vec4u;
    @group(2) @binding(1) var<storage, read> c: array<u32>;
    @group(3) @binding(3) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(4)
    fn groups(@builtin(global_invocation_id) id: vec3u) {
        y[id.x] = a[id.x] + b[id.x] * c[id.x];
    }";
    let Some(backend) = open() else { return };
    let buffers = [
        ("y", Output, 4),
        ("a", Input, 4),
        ("b", Input, 4),
        ("c", Input, 4),
    ];
    let program = one_op(GROUPS, [1, 1, 1], &buffers);
    let outputs = run(&*backend, &program, &[&[1; 4], &[2, 3, 4, 5], &[10; 4]]);
    assert_eq!(outputs, [[21, 31, 41, 51]]);
}

#[test]
fn group_may_be_left_out() {
    const GAP: &str = "
    @group(1) @binding(0) var<storage, read> x: array<u32>;
    @group(3) @binding(2) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(4)
    fn gap(@builtin(global_invocation_id) id: vec3u) { y[id.x] = x[id.x] + 1u; }";
    let Some(backend) = open() else { return };
    let program = one_op(GAP, [1, 1, 1], &[("x", Input, 4), ("y", Output, 4)]);
    assert_eq!(run(&*backend, &program, &[&[1, 2, 3, 4]]), [[2, 3, 4, 5]]);
}

#[test]
fn kernels_of_one_source_are_told_apart() {
    const TWO: &str = "
    override by = 1u;
    @group(0) @binding(0) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(4)
    fn add(@builtin(global_invocation_id) id: vec3u) { y[id.x] += by; }
    @compute @workgroup_size(4)
    fn multiply(@builtin(global_invocation_id) id: vec3u) { y[id.x] *= by; }";
    let Some(backend) = open() else { return };
    let mut builder = Program::builder("overrides");
    let y = declare(&mut builder, ("y", InOut, 4));
    for (entry_point, by) in [("add", 10.0), ("multiply", 3.0), ("add", 5.0)] {
        let kernel = Kernel::builder(TWO)
            .entry_point(entry_point)
            .override_constant("by", by)
            .build()
            .unwrap();
        builder.op(&kernel, [1, 1, 1]).bind("y", y);
    }
    let program = builder.build().unwrap();
    assert_eq!(
        run(&*backend, &program, &[&[0, 1, 2, 3]]),
        [[35, 38, 41, 44]]
    );
}
