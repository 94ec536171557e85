//! `cargo xtask ci`: every check that a change must pass, cheapest first.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::{demo, process, setup, swiftshader};

/// The name of each step and the arguments of its cargo command.
const STEPS: [(&str, &str); 11] = [
    ("format", "fmt --all --check"),
    (
        "no features",
        "check --package vyre-driver --no-default-features",
    ),
    (
        "vulkan alone",
        "check --package vyre-driver --no-default-features --features vulkan",
    ),
    (
        "reference alone",
        "check --package vyre-driver --no-default-features --features reference",
    ),
    (
        "clippy",
        "clippy --workspace --all-targets --all-features -- -D warnings",
    ),
    ("doc", "doc --workspace --all-features --no-deps"),
    // Without `--all-targets`, which would leave out the doctests.
    ("test", "test --workspace --all-features"),
    (
        SWIFTSHADER,
        "test --workspace --all-features --test conformance --test it -- --test-threads=1",
    ),
    (
        "quickstart",
        "run --release --package vyre-driver --example saxpy",
    ),
    ("demo", demo::EXAMPLE),
    (WITHOUT_DEVICE, demo::EXAMPLE),
];

/// The step whose Vulkan tests run on the second CPU driver; one after the other, since the validation
/// layer crashes where one test creates its device while another uses its own (docs/driver-quirks.md).
const SWIFTSHADER: &str = "swiftshader";

/// The step that sees no Vulkan driver, so that the reference backend has to do the work.
const WITHOUT_DEVICE: &str = "demo, no device";

pub(crate) fn run(install: bool) -> Result<(), Error> {
    let mut times = Vec::new();
    if install {
        timed("setup", &mut times, || setup::run(install))?;
    }
    timed("fetch", &mut times, || swiftshader::fetch(install))?;
    for (name, args) in STEPS {
        let outcome = timed(name, &mut times, || process::run(&mut command(name, args)));
        if outcome.is_err() {
            summarise(&times);
        }
        outcome?;
    }
    summarise(&times);
    Ok(())
}

/// The step's command at the root, with warnings in documents as errors, and `CI` set: by it the
/// tests know that a missing driver is a failure.
fn command(step: &str, args: &str) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(args.split(' '))
        .current_dir(process::root())
        .env("CI", "true");
    if args.starts_with("doc ") {
        command.env("RUSTDOCFLAGS", "-D warnings");
    }
    match step {
        WITHOUT_DEVICE => command.env("VK_DRIVER_FILES", "/dev/null"),
        SWIFTSHADER => command.env("VK_DRIVER_FILES", swiftshader::manifest()),
        _ => &mut command,
    };
    command
}

fn timed(
    step: &'static str,
    times: &mut Vec<(&'static str, Duration)>,
    work: impl FnOnce() -> Result<(), Error>,
) -> Result<(), Error> {
    let start = Instant::now();
    let outcome = work();
    times.push((step, start.elapsed()));
    outcome.map_err(|source| Error::Step {
        step,
        source: Box::new(source),
    })
}

fn summarise(times: &[(&str, Duration)]) {
    eprintln!();
    for (step, time) in times {
        eprintln!("{step:<16}{:>8.1} s", time.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    eprintln!("{:<16}{:>8.1} s", "total", total.as_secs_f64());
}
