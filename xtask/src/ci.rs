//! `cargo xtask ci`: every check that a change must pass, cheapest first.

use std::process::Command;
use std::time::{Duration, Instant};

use crate::error::Error;
use crate::{demo, process, setup};

/// The name of each step and the arguments of its cargo command.
const STEPS: [(&str, &str); 7] = [
    ("format", "fmt --all --check"),
    (
        "no features",
        "check --package vyre-driver --no-default-features",
    ),
    (
        "clippy",
        "clippy --workspace --all-targets --all-features -- -D warnings",
    ),
    ("doc", "doc --workspace --all-features --no-deps"),
    // Without `--all-targets`, which would leave out the doctests.
    ("test", "test --workspace --all-features"),
    (
        "quickstart",
        "run --release --package vyre-driver --example saxpy",
    ),
    ("demo", demo::EXAMPLE),
];

pub(crate) fn run(install: bool) -> Result<(), Error> {
    let mut times = Vec::new();
    if install {
        timed("setup", &mut times, || setup::run(install))?;
    }
    for (name, args) in STEPS {
        let outcome = timed(name, &mut times, || process::run(&mut command(args)));
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
fn command(args: &str) -> Command {
    let mut command = Command::new("cargo");
    command
        .args(args.split(' '))
        .current_dir(process::root())
        .env("CI", "true");
    if args.starts_with("doc ") {
        command.env("RUSTDOCFLAGS", "-D warnings");
    }
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
        eprintln!("{step:<12}{:>8.1} s", time.as_secs_f64());
    }
    let total: Duration = times.iter().map(|(_, time)| *time).sum();
    eprintln!("{:<12}{:>8.1} s", "total", total.as_secs_f64());
}
