//! Replacing output buffers in place against plain assignment, which drops what was there.
//!
//! Assignment hands over the incoming allocations and copies nothing, so it bounds from below what
//! a replacement can cost; `copy_from_slices` is to be read against `assign_from_slices`, which
//! allocates every output anew.

use std::hint::black_box;

use criterion::{BatchSize, Criterion, Throughput, criterion_group, criterion_main};
use vyre_core::output::{
    OutputBuffers, replace_output_buffers_preserving_slots,
    replace_output_buffers_preserving_slots_with_memory_stats,
    replace_output_buffers_preserving_slots_with_stats, try_copy_outputs_into_slots,
};

struct Shape {
    name: &'static str,
    slots: usize,
    byte_len: usize,
    /// Bytes of capacity of each slot that the caller holds.
    held: usize,
}

const SHAPES: [Shape; 4] = [
    Shape {
        name: "reuse_64x256B",
        slots: 64,
        byte_len: 256,
        held: 256,
    },
    Shape {
        name: "reuse_16x64KiB",
        slots: 16,
        byte_len: 64 << 10,
        held: 64 << 10,
    },
    Shape {
        name: "reuse_1x4MiB",
        slots: 1,
        byte_len: 4 << 20,
        held: 4 << 20,
    },
    Shape {
        name: "grow_16x64KiB",
        slots: 16,
        byte_len: 64 << 10,
        held: 32 << 10,
    },
];

type Replacement = fn(OutputBuffers, &mut OutputBuffers);

const REPLACEMENTS: [(&str, Replacement); 4] = [
    ("assign", |incoming, outputs| *outputs = incoming),
    ("replace", replace_output_buffers_preserving_slots),
    ("replace_with_stats", |incoming, outputs| {
        black_box(replace_output_buffers_preserving_slots_with_stats(
            incoming, outputs,
        ));
    }),
    ("replace_with_memory_stats", |incoming, outputs| {
        black_box(replace_output_buffers_preserving_slots_with_memory_stats(
            incoming, outputs,
        ));
    }),
];

type Copying = fn(&[Vec<u8>], &mut OutputBuffers);

const COPIES: [(&str, Copying); 2] = [
    ("assign_from_slices", |incoming, outputs| {
        *outputs = incoming.to_vec()
    }),
    ("copy_from_slices", |incoming, outputs| {
        let stats = try_copy_outputs_into_slots(incoming.iter().map(Vec::as_slice), outputs);
        assert!(black_box(stats).is_ok());
    }),
];

fn output(criterion: &mut Criterion) {
    for shape in &SHAPES {
        let mut group = criterion.benchmark_group(format!("output/{}", shape.name));
        group.throughput(Throughput::Bytes((shape.slots * shape.byte_len) as u64));
        // Filled with ones, so that the pages are there before the clock starts.
        let source = vec![vec![1; shape.byte_len]; shape.slots];
        let held = || vec![vec![1; shape.held]; shape.slots];
        for (name, replace) in REPLACEMENTS {
            group.bench_function(name, |bencher| {
                bencher.iter_batched(
                    || (source.clone(), held()),
                    |(incoming, mut outputs)| {
                        replace(incoming, &mut outputs);
                        outputs
                    },
                    BatchSize::LargeInput,
                );
            });
        }
        for (name, copy) in COPIES {
            group.bench_function(name, |bencher| {
                bencher.iter_batched_ref(
                    held,
                    |outputs| copy(&source, outputs),
                    BatchSize::LargeInput,
                );
            });
        }
    }
}

criterion_group!(benches, output);
criterion_main!(benches);
