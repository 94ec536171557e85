//! One small op, there and back: `dispatch_into` against a hand-written loop over the same driver.
//!
//! `cargo bench -p vyre-vulkan --bench round_trip [-- RUNS]` prints the median nanoseconds of each
//! and their ratios. They run in turn, in blocks: whatever slows the machine slows all of them, and
//! what it costs a GPU to switch between their devices stays out of the figures.

#![expect(unsafe_code, reason = "the baseline is Vulkan written by hand")]
#![expect(clippy::print_stdout, reason = "a benchmark prints its table")]
#![expect(
    clippy::disallowed_methods,
    reason = "the baseline submits and waits on its own"
)]

mod hand_written;

use std::error::Error;
use std::time::Instant;

use vyre_core::backend::{DispatchConfig, VyreBackend};
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;
use vyre_vulkan::{VulkanBackend, VulkanConfig};

use hand_written::{HandWritten, Upload};

/// Elements of the op; one workgroup.
const ELEMENTS: u32 = 256;

/// Runs of one contender before the next one's turn.
const BLOCK: usize = 60;

/// Runs at the start of a block that are not counted: the GPU switches to another device.
const WARM_UP: usize = 10;

/// Whether the output was right.
type Run = Result<bool, Box<dyn Error>>;

const KERNEL: &str = "
@group(0) @binding(0) var<storage, read_write> x: array<u32>;
@compute @workgroup_size(256)
fn step(@builtin(global_invocation_id) id: vec3u) { x[id.x] = x[id.x] * 3u + 1u; }
";

fn main() -> Result<(), Box<dyn Error>> {
    let runs: usize = std::env::args()
        .find_map(|argument| argument.parse().ok())
        .unwrap_or(1000);
    let backend = VulkanBackend::open(&VulkanConfig::from_env())?;
    let kernel = Kernel::from_wgsl(KERNEL)?;
    let byte_len = u64::from(ELEMENTS) * 4;
    let mut builder = Program::builder("round trip");
    let x = builder.in_out("x", byte_len);
    builder.op(&kernel, [1, 1, 1]).bind("x", x);
    let program = builder.build()?;
    let input: Vec<u8> = (0..ELEMENTS).flat_map(u32::to_le_bytes).collect();
    let expected: Vec<u8> = (0..ELEMENTS)
        .flat_map(|x| (x * 3 + 1).to_le_bytes())
        .collect();

    let name = &backend.device_info().name;
    let mut staged = HandWritten::new(name, &kernel, byte_len, Upload::Staged)?;
    let mut in_place = HandWritten::new(name, &kernel, byte_len, Upload::InPlace)?;
    let config = DispatchConfig::default();
    let (mut outputs, mut reported) = (Vec::new(), Vec::new());
    let mut contenders: [(&str, &mut dyn FnMut() -> Run); 4] = [
        ("hand-written, staged upload", &mut || {
            staged.run(&input)?;
            Ok(staged.output() == expected)
        }),
        ("hand-written, upload in place", &mut || {
            in_place.run(&input)?;
            Ok(in_place.output() == expected)
        }),
        ("dispatch_into", &mut || {
            backend.dispatch_into(&program, &[&input], &config, &mut outputs)?;
            Ok(outputs[0] == expected)
        }),
        ("dispatch_reported", &mut || {
            backend.dispatch_reported(&program, &[&input], &config, &mut reported)?;
            Ok(reported[0] == expected)
        }),
    ];
    let mut ns = [const { Vec::new() }; 4];
    for _ in 0..runs.div_ceil(BLOCK - WARM_UP) {
        for ((name, run), ns) in contenders.iter_mut().zip(&mut ns) {
            for index in 0..BLOCK {
                let start = Instant::now();
                let right = run()?;
                let elapsed = u64::try_from(start.elapsed().as_nanos())?;
                assert!(right, "{name}: wrong output");
                if index >= WARM_UP {
                    ns.push(elapsed);
                }
            }
        }
    }
    let medians = ns.map(|mut ns| median(&mut ns));
    println!("device: {name}; {runs} runs of one op over {ELEMENTS} u32, median ns");
    for ((name, _), median) in contenders.iter().zip(medians) {
        let [to_staged, to_in_place] = [medians[0], medians[1]].map(|it| ratio(median, it));
        println!("{name:<30} {median:>7}, to staged {to_staged:.3}, to in place {to_in_place:.3}");
    }
    Ok(())
}

#[expect(
    clippy::cast_precision_loss,
    reason = "the nanoseconds of a run are far below 2^53"
)]
fn ratio(ns: u64, baseline: u64) -> f64 {
    ns as f64 / baseline as f64
}

fn median(ns: &mut [u64]) -> u64 {
    ns.sort_unstable();
    ns[ns.len() / 2]
}
