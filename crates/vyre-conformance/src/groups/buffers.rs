//! Inputs and outputs by role, order and size.

use vyre_core::backend::DispatchConfig;
use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use crate::case::{Case, Fault, Group, ensure};
use crate::context::{Context, bytes, same_words, words};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Buffers, name, run)
}

pub(super) const CASES: &[Case] = &[
    case("roles_keep_their_order", roles_keep_their_order),
    case(
        "outputs_and_scratch_start_as_zeros",
        outputs_and_scratch_start_as_zeros,
    ),
    case(
        "a_wrong_number_of_inputs_is_refused",
        a_wrong_number_of_inputs_is_refused,
    ),
    case(
        "an_input_one_byte_short_or_long_is_refused",
        an_input_of_another_length_is_refused,
    ),
    case("lengths_come_back_exactly", lengths_come_back_exactly),
    case(
        "large_buffers_come_back_whole",
        large_buffers_come_back_whole,
    ),
    case(
        "an_in_out_buffer_that_nobody_touches_comes_back",
        untouched_in_out_comes_back,
    ),
    case(
        "uniforms_and_constants_are_read",
        uniforms_and_constants_are_read,
    ),
    case("grids_have_three_axes", grids_have_three_axes),
    case("many_buffers_keep_apart", many_buffers_keep_apart),
];

const ADD: &str = "
    @group(0) @binding(0) var<storage, read> x: array<u32>;
    @group(0) @binding(1) var<storage, read_write> y: array<u32>;
    @compute @workgroup_size(64) fn add(@builtin(global_invocation_id) id: vec3u) {
        y[id.x] += x[id.x];
    }";

/// Every role, declared in an order that is neither that of inputs nor that of outputs.
fn mixed() -> Result<Program, Fault> {
    let add = Kernel::from_wgsl(ADD)?;
    let mut builder = Program::builder("roles");
    let last = builder.output("last", 16);
    let constant = builder.constant("constant", bytes(&[100, 200, 300, 400]));
    let both = builder.in_out("both", 16);
    let scratch = builder.scratch("scratch", 16);
    let first = builder.input("first", 16);
    let other = builder.output("other", 16);
    for (x, y) in [
        (first, scratch),
        (constant, scratch),
        (scratch, both),
        (both, last),
        (first, other),
    ] {
        builder.op(&add, [1, 1, 1]).bind("x", x).bind("y", y);
    }
    Ok(builder.build()?)
}

fn roles_keep_their_order(context: &Context) -> Result<(), Fault> {
    let program = mixed()?;
    let (both, first) = ([1, 2, 3, 4], [10, 20, 30, 40]);
    // Three times, so that nothing of one dispatch is left over in the next.
    for _ in 0..3 {
        let outputs = context.dispatch(&program, &[&bytes(&both), &bytes(&first)])?;
        ensure!(outputs.len() == 3, "{} outputs, not 3", outputs.len());
        let sum = [111, 222, 333, 444];
        same_words("output `last`", &words(&outputs[0])?, &sum)?;
        same_words("in-out buffer `both`", &words(&outputs[1])?, &sum)?;
        same_words("output `other`", &words(&outputs[2])?, &first)?;
    }
    Ok(())
}

fn outputs_and_scratch_start_as_zeros(context: &Context) -> Result<(), Fault> {
    let copy = Kernel::from_wgsl(ADD)?;
    let touch = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1) fn touch() { y[7] = y[7] * 3u + 1u; }",
    )?;
    let mut builder = Program::builder("zeros");
    let scratch = builder.scratch("scratch", 4096);
    let seen = builder.output("seen", 4096);
    let sparse = builder.output("sparse", 4096);
    builder
        .op(&copy, [16, 1, 1])
        .bind("x", scratch)
        .bind("y", seen);
    for buffer in [scratch, sparse] {
        builder.op(&touch, [1, 1, 1]).bind("y", buffer);
    }
    let program = builder.build()?;
    let mut expected = [0; 1024];
    for _ in 0..3 {
        let outputs = context.dispatch(&program, &[])?;
        expected[7] = 0;
        same_words(
            "what scratch held at first",
            &words(&outputs[0])?,
            &expected,
        )?;
        expected[7] = 1;
        same_words("an output written once", &words(&outputs[1])?, &expected)?;
    }
    Ok(())
}

fn a_wrong_number_of_inputs_is_refused(context: &Context) -> Result<(), Fault> {
    let (program, config) = (mixed()?, DispatchConfig::default());
    let input = [0; 16];
    for given in [0, 1, 3] {
        let inputs = vec![&input[..]; given];
        let result = context.backend().dispatch(&program, &inputs, &config);
        ensure!(
            matches!(result, Err(BackendError::InputCount { expected: 2, given: it }) if it == given),
            "{given} inputs in place of 2 gave {result:?}"
        );
    }
    Ok(())
}

fn an_input_of_another_length_is_refused(context: &Context) -> Result<(), Fault> {
    let (program, config) = (mixed()?, DispatchConfig::default());
    for given in [0, 12, 15, 17, 32] {
        let (right, wrong) = (vec![0; 16], vec![0; given]);
        for (index, inputs) in [[&wrong[..], &right], [&right[..], &wrong]]
            .iter()
            .enumerate()
        {
            let mut outputs = vec![vec![1, 2, 3]];
            let backend = context.backend();
            let result = backend.dispatch_into(&program, inputs, &config, &mut outputs);
            ensure!(
                matches!(result, Err(BackendError::InputLength { index: at, expected: 16, .. }) if at == index),
                "{given} bytes as input {index} in place of 16 gave {result:?}"
            );
            ensure!(
                outputs == [[1, 2, 3]],
                "a refused dispatch changed the caller's outputs"
            );
        }
    }
    Ok(())
}

fn lengths_come_back_exactly(context: &Context) -> Result<(), Fault> {
    let add = Kernel::from_wgsl(ADD)?;
    let mut builder = Program::builder("lengths");
    // Neighbours of the sizes at which copies and alignments change.
    let lengths = [
        4, 8, 12, 16, 20, 60, 64, 68, 252, 256, 260, 1020, 1028, 4092, 4100, 65532,
    ];
    let mut inputs = Vec::new();
    for (index, len) in lengths.into_iter().enumerate() {
        let x = builder.input(format!("x{index}"), len);
        let y = builder.output(format!("y{index}"), len);
        let groups = u32::try_from(len.div_ceil(256)).unwrap_or(u32::MAX);
        builder.op(&add, [groups, 1, 1]).bind("x", x).bind("y", y);
        let words = usize::try_from(len / 4).unwrap_or(usize::MAX);
        inputs.push(bytes(&context.random("lengths").words(words)));
    }
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let outputs = context.dispatch(&builder.build()?, &inputs)?;
    for (output, input) in outputs.iter().zip(inputs) {
        let what = format!("a copy of {} bytes", input.len());
        ensure!(output.len() == input.len(), "{what} has {}", output.len());
        same_words(&what, &words(output)?, &words(input)?)?;
    }
    Ok(())
}

fn large_buffers_come_back_whole(context: &Context) -> Result<(), Fault> {
    let limits = context.backend().device_info().limits;
    let byte_len = limits.max_storage_range.min(32 << 20) / 4 * 4;
    let grid = u32::try_from(byte_len / 256).unwrap_or(u32::MAX);
    let grid = grid.min(limits.max_grid[0]);
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(64)
         fn fill(@builtin(global_invocation_id) id: vec3u, @builtin(num_workgroups) groups: vec3u) {
             for (var at = id.x; at < arrayLength(&y); at += 64u * groups.x) { y[at] = at * 7u; }
         }",
    )?;
    let mut builder = Program::builder("large");
    let y = builder.output("y", byte_len);
    builder.op(&kernel, [grid.min(1024), 1, 1]).bind("y", y);
    let outputs = context.dispatch(&builder.build()?, &[])?;
    let got = words(&outputs[0])?;
    let wrong = (0u32..)
        .zip(&got)
        .find(|(at, word)| at.wrapping_mul(7) != **word);
    ensure!(
        got.len() as u64 == byte_len / 4 && wrong.is_none(),
        "of {byte_len} bytes {} came back, the first wrong word is {wrong:?}",
        4 * got.len()
    );
    Ok(())
}

fn untouched_in_out_comes_back(context: &Context) -> Result<(), Fault> {
    let mut builder = Program::builder("untouched");
    let y = builder.in_out("y", 16);
    builder.in_out("idle", 20);
    let x = builder.input("x", 16);
    let add = Kernel::from_wgsl(ADD)?;
    builder.op(&add, [1, 1, 1]).bind("x", x).bind("y", y);
    let idle = bytes(&[5, 4, 3, 2, 1]);
    let outputs = context.dispatch(
        &builder.build()?,
        &[&bytes(&[1; 4]), &idle, &bytes(&[2; 4])],
    )?;
    same_words("the changed one", &words(&outputs[0])?, &[3; 4])?;
    same_words("the idle one", &words(&outputs[1])?, &[5, 4, 3, 2, 1])
}

fn uniforms_and_constants_are_read(context: &Context) -> Result<(), Fault> {
    let kernel = Kernel::from_wgsl(
        "struct Settings { scale: u32, shift: vec3<u32>, table: array<vec4<u32>, 2> }
         @group(0) @binding(0) var<uniform> settings: Settings;
         @group(1) @binding(3) var<uniform> index: u32;
         @group(2) @binding(1) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(4) fn main(@builtin(local_invocation_index) at: u32) {
             y[at] = settings.scale * settings.table[index][at] + settings.shift.z;
         }",
    )?;
    let mut builder = Program::builder("uniforms");
    let contents: Vec<u32> = (1..=16).collect();
    let settings = builder.constant("settings", bytes(&contents));
    let index = builder.input("index", 4);
    let y = builder.output("y", 16);
    let mut op = builder.op(&kernel, [1, 1, 1]);
    op.bind("settings", settings)
        .bind("index", index)
        .bind("y", y);
    let program = builder.build()?;
    // scale is word 0, shift words 4 to 6, table from word 8 on.
    for (index, expected) in [(0, [16, 17, 18, 19]), (1, [20, 21, 22, 23]), (2, [7; 4])] {
        let outputs = context.dispatch(&program, &[&bytes(&[index])])?;
        same_words(&format!("row {index}"), &words(&outputs[0])?, &expected)?;
    }
    Ok(())
}

fn grids_have_three_axes(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> seen: array<u32>;
        @compute @workgroup_size(2, 3, 4)
        fn main(
            @builtin(global_invocation_id) id: vec3u,
            @builtin(workgroup_id) group: vec3u,
            @builtin(local_invocation_id) local: vec3u,
            @builtin(local_invocation_index) index: u32,
            @builtin(num_workgroups) groups: vec3u,
        ) {
            let right = all(id == group * vec3(2, 3, 4) + local)
                && index == local.x + 2 * local.y + 6 * local.z
                && all(groups == vec3(3, 5, 2));
            let at = id.x + 6 * id.y + 90 * id.z;
            seen[at] += select(1000u, 1u, right);
        }";
    let got = context.run_kernel(source, [3, 5, 2], &[&[0; 720]])?;
    same_words("visits of each invocation", &got[0], &[1; 720])
}

fn many_buffers_keep_apart(context: &Context) -> Result<(), Fault> {
    let add = Kernel::from_wgsl(ADD)?;
    let mut builder = Program::builder("many");
    let x = builder.input("x", 4);
    for index in 0..200 {
        let y = builder.in_out(format!("y{index}"), 4 * (1 + index % 3));
        builder.op(&add, [1, 1, 1]).bind("x", x).bind("y", y);
    }
    let program = builder.build()?;
    let mut inputs = vec![bytes(&[1000])];
    for index in 0..200usize {
        inputs.push(bytes(&vec![
            u32::try_from(index).unwrap_or(0);
            1 + index % 3
        ]));
    }
    let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
    let outputs = context.dispatch(&program, &inputs)?;
    for ((index, output), input) in (0..).zip(&outputs).zip(&inputs[1..]) {
        let mut expected = words(input)?;
        expected[0] = 1000 + index;
        same_words(&format!("buffer {index}"), &words(output)?, &expected)?;
    }
    Ok(())
}
