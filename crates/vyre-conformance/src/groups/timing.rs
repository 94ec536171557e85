//! Times that a backend reports: there or absent, never made up.

use std::time::Instant;

use vyre_core::backend::{DispatchConfig, OutputBuffers, elapsed_ns};
use vyre_core::program::Program;

use crate::case::{Case, Fault, Group, ensure};
use crate::context::{Context, bytes, one_op};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Timing, name, run)
}

pub(super) const CASES: &[Case] = &[case(
    "wall_time_covers_its_parts",
    wall_time_covers_its_parts,
)];

/// Each invocation counts for this many turns.
fn counting(turns: u32) -> Result<(Program, Vec<u8>), Fault> {
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
             var word = y[id.x];
             for (var turn = 0u; turn < {turns}u; turn++) {{ word = word * 1664525u + 1013904223u; }}
             y[id.x] = word;
         }}"
    );
    let zeros = [0; 4096];
    Ok((one_op(&source, [64, 1, 1], &[&zeros])?, bytes(&zeros)))
}

fn wall_time_covers_its_parts(context: &Context) -> Result<(), Fault> {
    let (program, input) = counting(100)?;
    let config = DispatchConfig::default();
    for _ in 0..10 {
        let start = Instant::now();
        let timed = context
            .backend()
            .dispatch_timed(&program, &[&input], &config)?;
        let outside = elapsed_ns(start);
        let parts = timed.enqueue_ns.unwrap_or(0) + timed.wait_ns.unwrap_or(0);
        ensure!(
            timed.wall_ns > 0 && timed.wall_ns <= outside && parts <= timed.wall_ns,
            "wall {} ns of {outside} ns seen from outside, enqueue {:?}, wait {:?}",
            timed.wall_ns,
            timed.enqueue_ns,
            timed.wait_ns
        );
        ensure!(
            timed.device_ns.is_none_or(|device| device <= timed.wall_ns),
            "{:?} ns on the device within {} ns in all",
            timed.device_ns,
            timed.wall_ns
        );
    }
    let mut outputs = OutputBuffers::new();
    let report = context
        .backend()
        .dispatch_reported(&program, &[&input], &config, &mut outputs)?;
    let latency = report.stats.latency_ns;
    ensure!(
        latency > 0 && latency <= report.wall_ns,
        "a latency of {latency} ns within {} ns in all",
        report.wall_ns
    );
    Ok(())
}
