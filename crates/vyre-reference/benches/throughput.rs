//! Instructions per second over kernels that people bring.
//!
//! An instruction is one of the backend's own, counted for each invocation; a kernel's line is a few.

#![expect(clippy::panic, reason = "a benchmark that can't run says why and ends")]

use criterion::{Criterion, Throughput, criterion_group, criterion_main};
use vyre_core::backend::{DispatchConfig, VyreBackend};
use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;
use vyre_reference::ReferenceBackend;

const SAXPY: &str = "
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64)
    fn main(@builtin(global_invocation_id) id: vec3u) { y[id.x] += 2.0 * x[id.x]; }";

const BLAKE3: &str = concat!(
    include_str!("../../vyre-driver/examples/blake3/compress.wgsl"),
    include_str!("../../vyre-driver/examples/blake3/chunk.wgsl"),
);

/// Bytes of a chunk, and of its chaining value.
const CHUNK: u64 = 1024;
const NODE: u64 = 32;

fn saxpy(numbers: u32) -> Result<Program, BackendError> {
    let kernel = Kernel::from_wgsl(SAXPY)?;
    let mut builder = Program::builder("saxpy");
    let x = builder.input("x", 4 * u64::from(numbers));
    let y = builder.in_out("y", 4 * u64::from(numbers));
    let mut op = builder.op(&kernel, [numbers / 64, 1, 1]);
    op.bind("x", x).bind("y", y);
    Ok(builder.build()?)
}

fn blake3(chunks: u32) -> Result<Program, BackendError> {
    let kernel = Kernel::from_wgsl(BLAKE3)?;
    let bytes = u64::from(chunks) * CHUNK;
    let piece = [u32::try_from(bytes).unwrap_or(u32::MAX), 0, 0, 0];
    let piece = piece.map(u32::to_le_bytes).concat();
    let mut builder = Program::builder("blake3");
    let data = builder.input("data", bytes);
    let piece = builder.constant("piece", piece);
    let nodes = builder.output("nodes", u64::from(chunks) * NODE);
    let mut op = builder.op(&kernel, [chunks / 64, 1, 1]);
    op.bind("data", data)
        .bind("piece", piece)
        .bind("nodes", nodes);
    Ok(builder.build()?)
}

fn matrix(side: u32) -> Result<Program, BackendError> {
    let kernel = Kernel::builder(include_str!("matrix.wgsl"))
        .override_constant("SIDE", side.into())
        .build()?;
    let bytes = 4 * u64::from(side) * u64::from(side);
    let mut builder = Program::builder("matrix product");
    let a = builder.input("a", bytes);
    let b = builder.input("b", bytes);
    let product = builder.output("product", bytes);
    let mut op = builder.op(&kernel, [side / 16, side / 16, 1]);
    op.bind("a", a).bind("b", b).bind("product", product);
    Ok(builder.build()?)
}

fn throughput(criterion: &mut Criterion) {
    let programs = [
        ("saxpy 1 Mi numbers", saxpy(1 << 20)),
        ("blake3 4 MiB", blake3(4 << 10)),
        ("matrix product 256", matrix(256)),
    ];
    let backend = ReferenceBackend::default();
    let config = DispatchConfig::default();
    let mut group = criterion.benchmark_group("throughput");
    group.sample_size(10);
    for (name, program) in programs {
        let program = program.unwrap_or_else(|error| panic!("{name}: {error}"));
        let inputs: Vec<_> = program
            .inputs()
            .map(|(_, decl)| vec![1; usize::try_from(decl.byte_len()).unwrap_or(0)])
            .collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let run = || backend.dispatch(&program, &inputs, &config);
        let before = backend.instructions();
        run().unwrap_or_else(|error| panic!("{name}: {error}"));
        group.throughput(Throughput::Elements(backend.instructions() - before));
        group.bench_function(name, |bencher| bencher.iter(run));
    }
}

criterion_group!(benches, throughput);
criterion_main!(benches);
