//! What programs promise, and what the builder refuses.

mod errors;

use super::*;

/// Adds `source` to `sum`, element by element.
const ADD: &str = "
    @group(0) @binding(0) var<storage, read> source: array<u32>;
    @group(0) @binding(1) var<storage, read_write> sum: array<u32>;

    @compute @workgroup_size(64)
    fn add(@builtin(global_invocation_id) id: vec3<u32>) {
        sum[id.x] += source[id.x];
    }";

/// Declares more than it uses.
const FILL: &str = "
    struct Settings { value: u32, scale: vec4<f32> }
    @group(0) @binding(0) var<uniform> settings: Settings;
    @group(0) @binding(1) var<storage, read_write> values: array<u32>;
    @group(1) @binding(0) var<storage, read_write> idle: array<u32>;

    @compute @workgroup_size(4, 2)
    fn fill(@builtin(global_invocation_id) id: vec3<u32>) {
        values[id.x] = settings.value;
    }";

const GRID: [u32; 3] = [1, 1, 1];

fn kernel(source: &str) -> Kernel {
    Kernel::from_wgsl(source).unwrap()
}

/// Ops in the order: fill `a`, add `a` to `b`, fill `a`.
fn three_ops() -> ProgramBuilder {
    let mut builder = Program::builder("three ops");
    let settings = builder.constant("settings", vec![0; 32]);
    let a = builder.scratch("a", 256);
    let b = builder.output("b", 256);
    let (fill, add) = (kernel(FILL), kernel(ADD));
    builder
        .op(&fill, GRID)
        .bind("settings", settings)
        .bind("values", a);
    builder.op(&add, [2, 3, 4]).bind("source", a).bind("sum", b);
    builder
        .op(&kernel(FILL), GRID)
        .bind("values", a)
        .bind("settings", settings);
    builder
}

#[test]
fn ops_depend_on_each_other_through_their_buffers() {
    let program = three_ops().build().unwrap();
    let dependencies = program.dependencies();
    assert!(dependencies.predecessors(0).is_empty());
    assert_eq!(dependencies.predecessors(1), [0]);
    assert_eq!(dependencies.predecessors(2), [1]);
    assert_eq!(dependencies.levels(), [0, 1, 2]);
}

#[test]
fn inputs_and_constants_never_make_ops_wait() {
    let mut builder = Program::builder("shared");
    let shared = builder.input("shared", 4);
    let add = kernel(ADD);
    for name in ["a", "b", "c"] {
        let sum = builder.output(name, 4);
        builder
            .op(&add, GRID)
            .bind("source", shared)
            .bind("sum", sum);
    }
    let program = builder.build().unwrap();
    assert_eq!(program.dependencies().levels(), [0, 0, 0]);
}

#[test]
fn ranges_of_one_buffer_are_told_apart() {
    let mut builder = Program::builder("ranges");
    let data = builder.in_out("data", 1024);
    let add = kernel(ADD);
    let mut step = |from, to| {
        builder
            .op(&add, GRID)
            .bind("source", data.slice(from, 256))
            .bind("sum", data.slice(to, 256));
    };
    step(0, 256);
    step(512, 768);
    step(256, 512);
    let program = builder.build().unwrap();
    assert!(program.dependencies().predecessors(1).is_empty());
    assert_eq!(program.dependencies().predecessors(2), [0, 1]);
}

#[test]
fn bindings_are_in_the_order_of_the_kernel() {
    let program = three_ops().build().unwrap();
    let [settings, values] = program.bindings(2) else {
        panic!("two bindings expected");
    };
    assert_eq!(
        program.buffers()[settings.buffer.index()].name(),
        "settings"
    );
    assert_eq!((settings.offset, settings.byte_len), (0, 32));
    assert_eq!(program.buffers()[values.buffer.index()].name(), "a");
    assert_eq!(
        (values.offset, values.byte_len, values.end()),
        (0, 256, 256)
    );
}

#[test]
fn equal_kernels_are_kept_once() {
    let program = three_ops().build().unwrap();
    let names: Vec<_> = program.kernels().iter().map(Kernel::entry_point).collect();
    assert_eq!(names, ["fill", "add"]);
    let used: Vec<_> = program.ops().iter().map(Op::kernel).collect();
    assert_eq!(used, [0, 1, 0]);
    assert_eq!(program.ops()[1].grid(), [2, 3, 4]);
}

#[test]
fn inputs_and_outputs_follow_the_declarations() {
    let mut builder = Program::builder("roles");
    let in_out = builder.in_out("first", 4);
    let constant = builder.constant("second", [1, 0, 0, 0]);
    builder.input("third", 8);
    builder.scratch("fourth", 12);
    let output = builder.output("fifth", 16);
    let add = kernel(ADD);
    for sum in [in_out, output] {
        builder
            .op(&add, GRID)
            .bind("source", constant)
            .bind("sum", sum);
    }
    let program = builder.build().unwrap();
    let name = |(_, buffer): (_, &BufferDecl)| buffer.name().to_owned();
    assert_eq!(
        program.inputs().map(name).collect::<Vec<_>>(),
        ["first", "third"]
    );
    assert_eq!(
        program.outputs().map(name).collect::<Vec<_>>(),
        ["first", "fifth"]
    );
    assert_eq!(program.outputs().last().unwrap().0, output);
    assert_eq!((program.input_bytes(), program.output_bytes()), (12, 20));
    let contents = program.buffers()[constant.index()].contents().unwrap();
    assert_eq!(**contents, [1, 0, 0, 0]);
}

#[test]
fn inputs_must_match_in_number_and_length() {
    let mut builder = Program::builder("inputs");
    let source = builder.input("source", 8);
    let sum = builder.in_out("sum", 4);
    builder
        .op(&kernel(ADD), GRID)
        .bind("source", source)
        .bind("sum", sum);
    let program = builder.build().unwrap();
    assert!(program.check_inputs(&[&[0; 8], &[0; 4]]).is_ok());
    assert!(matches!(
        program.check_inputs(&[&[0; 8]]),
        Err(BackendError::InputCount {
            expected: 2,
            given: 1
        })
    ));
    assert!(matches!(
        program.check_inputs(&[&[0; 8], &[0; 5]]),
        Err(BackendError::InputLength { index: 1, name, expected: 4, given: 5 }) if name == "sum"
    ));
}

#[test]
fn a_program_can_be_checked_against_a_smaller_device() {
    let program = three_ops().build().unwrap();
    let mut limits = Limits::default();
    assert!(program.check_limits(&limits).is_ok());
    limits.max_grid[2] = 3;
    assert!(matches!(
        program.check_limits(&limits),
        Err(ProgramError::GridTooLarge {
            axis: 'z',
            given: 4,
            limit: 3,
            ..
        })
    ));
}

#[test]
fn every_build_has_an_id_of_its_own_and_clones_share_it() {
    let (first, second) = (three_ops().build().unwrap(), three_ops().build().unwrap());
    assert_ne!(first.id(), second.id());
    assert_eq!(first.id(), first.clone().id());
}

#[test]
fn a_weak_program_knows_when_the_last_clone_is_gone() {
    let program = three_ops().build().unwrap();
    let weak = program.downgrade();
    let clone = program.clone();
    drop(program);
    assert!(weak.is_alive());
    drop(clone);
    assert!(!weak.is_alive());
}

#[test]
fn programs_can_be_shared_between_threads() {
    fn shared<T: Send + Sync + Clone>() {}
    shared::<Program>();
    shared::<WeakProgram>();
}

#[test]
fn a_variable_that_the_kernel_does_not_use_may_be_bound() {
    let mut builder = Program::builder("idle");
    let settings = builder.input("settings", 32);
    let values = builder.output("values", 4);
    builder
        .op(&kernel(FILL), GRID)
        .bind("settings", settings)
        .bind("values", values)
        .bind("idle", values);
    let program = builder.build().unwrap();
    assert_eq!(program.bindings(0).len(), 2);
}

#[test]
fn a_hundred_thousand_ops_have_linearly_many_edges() {
    let add = kernel(ADD);
    let mut builder = Program::builder("many");
    let (a, b) = (
        builder.scratch("a", 1000 * 256),
        builder.in_out("b", 1000 * 256),
    );
    for op in 0..100_000 {
        let part = op % 1000 * 256;
        let (from, to) = if op / 1000 % 2 == 0 { (a, b) } else { (b, a) };
        builder
            .op(&add, GRID)
            .bind("source", from)
            .bind("sum", to.slice(part, 256));
    }
    let program = builder.build().unwrap();
    assert_eq!(program.dependencies().len(), 100_000);
    assert_eq!(program.dependencies().level_count(), 100);
    assert_eq!(program.dependencies().stored_edges(), 99_000);
}

#[test]
fn buffers_begin_with_inputs_constants_and_zeros() {
    let mut builder = Program::builder("begin");
    let sum = builder.output("sum", 8);
    let source = builder.input("source", 4);
    let fixed = builder.constant("fixed", [7; 4]);
    let both = builder.in_out("both", 4);
    let add = kernel(ADD);
    for (from, to) in [(source, sum), (fixed, both)] {
        builder.op(&add, GRID).bind("source", from).bind("sum", to);
    }
    let buffers = builder
        .build()
        .unwrap()
        .initial_buffers(&[&[1; 4], &[2; 4]]);
    assert_eq!(buffers, [vec![0; 8], vec![1; 4], vec![7; 4], vec![2; 4]]);
}
