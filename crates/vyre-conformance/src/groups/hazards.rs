//! Programs of many small ops over few buffers: as if one op ran after the other.

use vyre_core::kernel::Kernel;
use vyre_core::program::{BufferId, Program};

use crate::case::{Case, Fault, Group};
use crate::context::{Context, bytes, same_words, words};
use crate::random::Random;

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Hazards, name, run)
}

pub(super) const CASES: &[Case] = &[
    case("random_programs_run_in_order", random_programs_run_in_order),
    case("long_chains_run_in_order", long_chains_run_in_order),
    case("independent_ops_do_not_disturb_each_other", independent_ops),
];

/// Words of a block; every op reads and writes whole blocks.
const BLOCK: usize = 64;
const BLOCKS: usize = 6;

/// Reads one block, changes another by it.
const MIX: &str = "
    @group(0) @binding(0) var<storage, read> source: array<u32>;
    @group(0) @binding(1) var<storage, read_write> into: array<u32>;
    @compute @workgroup_size(32) fn mix(@builtin(global_invocation_id) id: vec3u) {
        into[id.x] = into[id.x] * 5u + source[63u - id.x] + 1u;
    }";

/// Overwrites a block by the sum of two.
const JOIN: &str = "
    @group(0) @binding(0) var<storage, read> left: array<u32>;
    @group(0) @binding(1) var<storage, read> right: array<u32>;
    @group(0) @binding(2) var<storage, read_write> sum: array<u32>;
    @compute @workgroup_size(64) fn join(@builtin(global_invocation_id) id: vec3u) {
        sum[id.x] = left[id.x] ^ (right[(id.x + 1u) % 64u] << 1u);
    }";

/// Writes every other word of a block only: the others stay.
const SPARSE: &str = "
    @group(0) @binding(0) var<storage, read_write> into: array<u32>;
    @compute @workgroup_size(32) fn sparse(@builtin(global_invocation_id) id: vec3u) {
        into[2u * id.x] = id.x;
    }";

struct Kernels {
    mix: Kernel,
    join: Kernel,
    sparse: Kernel,
}

impl Kernels {
    fn new() -> Result<Self, Fault> {
        Ok(Self {
            mix: Kernel::from_wgsl(MIX)?,
            join: Kernel::from_wgsl(JOIN)?,
            sparse: Kernel::from_wgsl(SPARSE)?,
        })
    }
}

/// Adds one op at random to the program, and does the same to `state`: one list of words a buffer.
fn step(
    random: &mut Random,
    kernels: &Kernels,
    builder: &mut vyre_core::program::ProgramBuilder,
    buffers: &[BufferId],
    state: &mut [Vec<u32>],
) {
    let mut places = Vec::new();
    while places.len() < 3 {
        let place = (random.below(buffers.len()), BLOCK * random.below(BLOCKS));
        if !places.contains(&place) {
            places.push(place);
        }
    }
    let slice = |place: usize| {
        let (buffer, start) = places[place];
        buffers[buffer].slice(4 * start as u64, 4 * BLOCK as u64)
    };
    let block = |state: &[Vec<u32>], place: usize| {
        let (buffer, start) = places[place];
        state[buffer][start..start + BLOCK].to_vec()
    };
    let (a, b, c) = (block(state, 0), block(state, 1), block(state, 2));
    let words = 0..BLOCK;
    let next: Vec<u32> = match random.below(5) {
        0 | 1 => {
            let mut op = builder.op(&kernels.mix, [2, 1, 1]);
            op.bind("source", slice(0)).bind("into", slice(2));
            let mix = |at: usize| {
                c[at]
                    .wrapping_mul(5)
                    .wrapping_add(a[63 - at])
                    .wrapping_add(1)
            };
            words.map(mix).collect()
        }
        2 | 3 => {
            let mut op = builder.op(&kernels.join, [1, 1, 1]);
            op.bind("left", slice(0))
                .bind("right", slice(1))
                .bind("sum", slice(2));
            words.map(|at| a[at] ^ (b[(at + 1) % BLOCK] << 1)).collect()
        }
        _ => {
            builder
                .op(&kernels.sparse, [1, 1, 1])
                .bind("into", slice(2));
            let sparse = (0..).zip(c);
            sparse
                .map(|(at, old): (u32, u32)| if at % 2 == 0 { at / 2 } else { old })
                .collect()
        }
    };
    let (buffer, start) = places[2];
    state[buffer][start..start + BLOCK].copy_from_slice(&next);
}

fn random_programs_run_in_order(context: &Context) -> Result<(), Fault> {
    let kernels = Kernels::new()?;
    let mut random = context.random("hazards");
    for turn in 0..context.kernels {
        let mut builder = Program::builder("hazards");
        let len = BLOCK * BLOCKS;
        let byte_len = 4 * len as u64;
        let buffers = [
            builder.in_out("a", byte_len),
            builder.scratch("b", byte_len),
            builder.in_out("c", byte_len),
        ];
        let mut state = vec![random.words(len), vec![0; len], random.words(len)];
        let inputs = [bytes(&state[0]), bytes(&state[2])];
        let ops = 4 + random.below(60);
        for _ in 0..ops {
            step(&mut random, &kernels, &mut builder, &buffers, &mut state);
        }
        let program = builder.build()?;
        // Twice, since the second dispatch may replay what the first recorded.
        for dispatch in ["first", "second"] {
            let outputs = context.dispatch(&program, &[&inputs[0], &inputs[1]])?;
            for (output, expected) in outputs.iter().zip([&state[0], &state[2]]) {
                let what = format!("program {turn} of {ops} ops, {dispatch} dispatch");
                same_words(&what, &words(output)?, expected)?;
            }
        }
    }
    Ok(())
}

fn long_chains_run_in_order(context: &Context) -> Result<(), Fault> {
    let kernels = Kernels::new()?;
    let mut builder = Program::builder("chain");
    let data = builder.in_out("data", 4 * 2 * BLOCK as u64);
    let (left, right) = (data.slice(0, 256), data.slice(256, 256));
    let mut expected: Vec<u32> = (0..128).collect();
    let input = bytes(&expected);
    for op in 0..300 {
        let (from, to) = if op % 2 == 0 {
            (left, right)
        } else {
            (right, left)
        };
        builder
            .op(&kernels.mix, [2, 1, 1])
            .bind("source", from)
            .bind("into", to);
        let (a, b) = expected.split_at_mut(BLOCK);
        let (from, to) = if op % 2 == 0 { (a, b) } else { (b, a) };
        for (at, word) in to.iter_mut().enumerate() {
            *word = word
                .wrapping_mul(5)
                .wrapping_add(from[63 - at])
                .wrapping_add(1);
        }
    }
    let outputs = context.dispatch(&builder.build()?, &[&input])?;
    same_words("300 dependent ops", &words(&outputs[0])?, &expected)
}

fn independent_ops(context: &Context) -> Result<(), Fault> {
    let kernels = Kernels::new()?;
    let mut builder = Program::builder("independent");
    let data = builder.in_out("data", 4 * 256 * BLOCK as u64);
    let given = builder.input("given", 4 * BLOCK as u64);
    for block in 0..256 {
        let target = data.slice(256 * block, 256);
        builder
            .op(&kernels.mix, [2, 1, 1])
            .bind("source", given)
            .bind("into", target);
    }
    let program = builder.build()?;
    let (before, given) = (context.random("independent").words(256 * BLOCK), [3; BLOCK]);
    let outputs = context.dispatch(&program, &[&bytes(&before), &bytes(&given)])?;
    let expected = before
        .iter()
        .map(|word| word.wrapping_mul(5).wrapping_add(4));
    same_words(
        "256 independent ops",
        &words(&outputs[0])?,
        &expected.collect::<Vec<_>>(),
    )
}
