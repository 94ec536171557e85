//! Random programs do what the host does with the same ops, one after the other.

use std::ops::Range;

use proptest::prelude::*;
use proptest::test_runner::TestRunner;
use vyre_core::kernel::Kernel;
use vyre_core::program::BufferRole::{InOut, Input, Output, Scratch};
use vyre_core::program::{BufferRole, Program};

use crate::harness::{declare, kernel, run};
use crate::support::open;

/// Words between two places at which a range may start.
const ALIGNMENT: usize = 64;

/// Places in each buffer.
const PLACES: usize = 4;

/// Words in each buffer.
const LEN: usize = ALIGNMENT * PLACES;

/// Every role that can be written, and one that can't.
const BUFFERS: [(&str, BufferRole, usize); 5] = [
    ("input", Input, LEN),
    ("first", InOut, LEN),
    ("second", InOut, LEN),
    ("scratch", Scratch, LEN),
    ("output", Output, LEN),
];

/// What an op does to `y[i]`, in WGSL and on the host, which is given `x`, `y` and `i`.
struct Step {
    wgsl: &'static str,
    host: fn(&[u32], &mut [u32], usize),
}

/// A read past the end of `x` gives zero, which the host says for itself.
const STEPS: [Step; 5] = [
    Step {
        wgsl: "y.words[i] = x.words[i] * 3u + 1u;",
        host: |x, y, i| y[i] = at(x, i).wrapping_mul(3).wrapping_add(1),
    },
    Step {
        wgsl: "y.words[i] += x.words[i];",
        host: |x, y, i| y[i] = y[i].wrapping_add(at(x, i)),
    },
    Step {
        wgsl: "y.words[i] = (y.words[i] << 1u) ^ x.words[(7u * i + 3u) % arrayLength(&x.words)];",
        host: |x, y, i| y[i] = (y[i] << 1) ^ x[(7 * i + 3) % x.len()],
    },
    Step {
        wgsl: "y.words[i] = max(y.words[i], x.words[arrayLength(&x.words) - 1u - i]);",
        host: |x, y, i| y[i] = y[i].max(at(x, (x.len() - 1).wrapping_sub(i))),
    },
    Step {
        wgsl: "y.words[i] = select(i, y.words[i], (x.words[i] & 1u) == 0u);",
        host: |x, y, i| {
            if at(x, i) & 1 == 1 {
                y[i] = u32::try_from(i).unwrap();
            }
        },
    },
];

fn at(words: &[u32], index: usize) -> u32 {
    words.get(index).copied().unwrap_or(0)
}

/// Their arrays lie in structs for the reason that `harness` gives.
fn kernels() -> [Kernel; 5] {
    STEPS.each_ref().map(|Step { wgsl, .. }| {
        kernel(&format!(
            "struct Words {{ words: array<u32> }}
             @group(0) @binding(0) var<storage, read> x: Words;
             @group(0) @binding(1) var<storage, read_write> y: Words;
             @compute @workgroup_size(16)
             fn step(@builtin(global_invocation_id) id: vec3u) {{
                 let i = id.x;
                 if i < arrayLength(&y.words) {{ {wgsl} }}
             }}"
        ))
    })
}

/// A range of words of one buffer.
#[derive(Clone, Debug)]
struct Part {
    buffer: usize,
    words: Range<usize>,
}

impl Part {
    fn overlaps(&self, other: &Self) -> bool {
        self.buffer == other.buffer
            && self.words.start < other.words.end
            && other.words.start < self.words.end
    }
}

#[derive(Clone, Debug)]
struct Op {
    step: usize,
    workgroups: u32,
    x: Part,
    y: Part,
}

fn part(buffers: Range<usize>) -> impl Strategy<Value = Part> {
    (buffers, 0..PLACES).prop_flat_map(|(buffer, place)| {
        let start = ALIGNMENT * place;
        (1..=LEN - start).prop_map(move |len| Part {
            buffer,
            words: start..start + len,
        })
    })
}

/// An op whose ranges are apart, as a program demands of what is written.
fn op() -> impl Strategy<Value = Op> {
    let parts = (part(0..BUFFERS.len()), part(1..BUFFERS.len()));
    (0..STEPS.len(), 1..=16_u32, parts).prop_map(|(step, workgroups, (mut x, y))| {
        if x.overlaps(&y) {
            x.buffer -= 1;
        }
        Op {
            step,
            workgroups,
            x,
            y,
        }
    })
}

fn program(kernels: &[Kernel], ops: &[Op]) -> Program {
    let mut builder = Program::builder("random");
    let buffers = BUFFERS.map(|buffer| declare(&mut builder, buffer));
    let range = |part: &Part| {
        let (start, len) = (part.words.start as u64, part.words.len() as u64);
        buffers[part.buffer].slice(4 * start, 4 * len)
    };
    for op in ops {
        builder
            .op(&kernels[op.step], [op.workgroups, 1, 1])
            .bind("x", range(&op.x))
            .bind("y", range(&op.y));
    }
    builder.build().unwrap()
}

/// The outputs that the ops leave, run one after the other.
fn expected(ops: &[Op], inputs: &[Vec<u32>; 3]) -> Vec<Vec<u32>> {
    let [input, first, second] = inputs.clone();
    let mut buffers = [input, first, second, vec![0; LEN], vec![0; LEN]];
    for op in ops {
        let x = buffers[op.x.buffer][op.x.words.clone()].to_vec();
        let y = &mut buffers[op.y.buffer][op.y.words.clone()];
        for i in 0..y.len().min(16 * op.workgroups as usize) {
            (STEPS[op.step].host)(&x, y, i);
        }
    }
    let [_, first, second, _, output] = buffers;
    vec![first, second, output]
}

/// Fills the output, which a program must write, with what the input holds.
fn first_op() -> Op {
    let whole = |buffer| Part {
        buffer,
        words: 0..LEN,
    };
    Op {
        step: 1,
        workgroups: 16,
        x: whole(0),
        y: whole(BUFFERS.len() - 1),
    }
}

/// Words that differ from each other and, for another seed, from others.
fn words(seed: u32) -> Vec<u32> {
    (0..)
        .map(|i: u32| (seed ^ i).wrapping_mul(0x9e37_79b1).rotate_left(i))
        .take(LEN)
        .collect()
}

#[test]
fn programs_do_what_their_ops_do_in_order() {
    let Some(backend) = open() else { return };
    let kernels = kernels();
    let seeds = prop::collection::vec(any::<[u32; 3]>(), 2);
    let ops = prop::collection::vec(op(), 0..30).prop_map(|mut ops| {
        ops.insert(0, first_op());
        ops
    });
    let mut runner = TestRunner::new(ProptestConfig {
        cases: 32,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&(ops, seeds), |(ops, seeds)| {
            let program = program(&kernels, &ops);
            for inputs in seeds.iter().map(|seeds| seeds.map(words)) {
                let outputs = run(&*backend, &program, &inputs.each_ref().map(Vec::as_slice));
                prop_assert_eq!(outputs, expected(&ops, &inputs));
            }
            Ok(())
        })
        .unwrap();
}
