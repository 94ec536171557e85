//! What building a program costs per op, from the first declaration to the dependency graph.

use std::hint::black_box;

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vyre_core::{
    kernel::Kernel,
    program::{Program, ProgramBuilder},
};

const ADD: &str = "
    @group(0) @binding(0) var<storage, read> source: array<u32>;
    @group(0) @binding(1) var<storage, read_write> sum: array<u32>;

    @compute @workgroup_size(64)
    fn add(@builtin(global_invocation_id) id: vec3<u32>) {
        sum[id.x] += source[id.x];
    }";

const GRID: [u32; 3] = [1, 1, 1];
const BYTES: u64 = 256;

/// Every op waits for the one before.
fn chain(add: &Kernel, ops: u64) -> ProgramBuilder {
    let mut builder = Program::builder("chain");
    let (mut from, mut to) = (builder.scratch("a", BYTES), builder.in_out("b", BYTES));
    for _ in 0..ops {
        builder.op(add, GRID).bind("source", from).bind("sum", to);
        (from, to) = (to, from);
    }
    builder
}

/// No op waits; each has a buffer of its own.
fn independent(add: &Kernel, ops: u64) -> ProgramBuilder {
    let mut builder = Program::builder("independent");
    let source = builder.input("source", BYTES);
    for op in 0..ops {
        let sum = builder.scratch(format!("sum {op}"), BYTES);
        builder
            .op(add, GRID)
            .bind("source", source)
            .bind("sum", sum);
    }
    builder
}

/// A binary tree over ranges of one buffer: every op adds one node to another.
fn sub_ranges(add: &Kernel, ops: u64) -> ProgramBuilder {
    let mut builder = Program::builder("sub-ranges");
    let nodes = builder.in_out("nodes", (ops + 1) * BYTES);
    let mut stride = 1;
    while stride <= ops {
        for node in (0..=ops - stride).step_by(usize::try_from(stride * 2).unwrap_or(usize::MAX)) {
            builder
                .op(add, GRID)
                .bind("source", nodes.slice((node + stride) * BYTES, BYTES))
                .bind("sum", nodes.slice(node * BYTES, BYTES));
        }
        stride *= 2;
    }
    builder
}

/// Layers of 1,000 ops: each reads one buffer whole and writes its own part of another.
fn layers(add: &Kernel, ops: u64) -> ProgramBuilder {
    let mut builder = Program::builder("layers");
    let buffers = ["a", "b"].map(|name| builder.in_out(name, 1000 * BYTES));
    for op in 0..ops {
        let [from, to] = if op / 1000 % 2 == 0 {
            buffers
        } else {
            [buffers[1], buffers[0]]
        };
        builder
            .op(add, GRID)
            .bind("source", from)
            .bind("sum", to.slice(op % 1000 * BYTES, BYTES));
    }
    builder
}

type Shape = (&'static str, fn(&Kernel, u64) -> ProgramBuilder);

fn build(criterion: &mut Criterion) {
    let Ok(add) = Kernel::from_wgsl(ADD) else {
        return;
    };
    let shapes: [Shape; 4] = [
        ("chain", chain),
        ("independent", independent),
        ("sub_ranges", sub_ranges),
        ("layers", layers),
    ];
    for (name, shape) in shapes {
        let mut group = criterion.benchmark_group(name);
        for ops in [10, 1_000, 100_000] {
            group.throughput(Throughput::Elements(ops));
            group.bench_function(ops.to_string(), |bencher| {
                bencher.iter_with_large_drop(|| shape(black_box(&add), ops).build());
            });
        }
        group.finish();
    }
}

criterion_group!(benches, build);
criterion_main!(benches);
