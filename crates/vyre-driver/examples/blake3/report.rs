//! What the user sees: digests or a summary, a progress bar, complaints.

use std::io::{self, Write};
use std::path::Path;
use std::time::Duration;

use blake3::Hash;
use indicatif::{HumanBytes, ProgressBar, ProgressStyle};
use vyre_driver::backend::{DispatchReport, VyreBackend};

/// Input from which on a progress bar is drawn, in bytes.
const LONG_INPUT: u64 = 64 << 20;

/// What goes to standard output.
#[derive(Clone, Copy, PartialEq)]
pub(crate) enum Output {
    Summary,
    Digests,
}

/// What became of each file and each dispatch.
pub(crate) struct Report {
    output: Output,
    bar: ProgressBar,
    verified: u64,
    byte_len: u64,
    complaints: u64,
    dispatches: Vec<DispatchReport>,
}

impl Report {
    /// Expects to read about `byte_len` bytes.
    pub(crate) fn new(output: Output, byte_len: u64) -> Self {
        let bar = match output {
            // indicatif draws nothing unless standard error is a terminal.
            Output::Summary if byte_len >= LONG_INPUT => ProgressBar::new(byte_len),
            _ => ProgressBar::hidden(),
        };
        let style = "{wide_bar} {bytes} of {total_bytes}, {bytes_per_sec}";
        Self {
            output,
            bar: match ProgressStyle::with_template(style) {
                Ok(style) => bar.with_style(style),
                Err(_) => bar,
            },
            verified: 0,
            byte_len: 0,
            complaints: 0,
            dispatches: Vec::new(),
        }
    }

    /// `byte_len` more bytes were read.
    pub(crate) fn read(&mut self, byte_len: usize) {
        self.byte_len += byte_len as u64;
        self.bar.inc(byte_len as u64);
    }

    pub(crate) fn unreadable(&mut self, path: &Path, error: &io::Error) {
        self.complain(&format!("{}: {error}", path.display()));
    }

    pub(crate) fn dispatched(&mut self, dispatch: DispatchReport) {
        self.dispatches.push(dispatch);
    }

    /// The device found `digest` for a file.
    pub(crate) fn hashed(&mut self, path: &Path, digest: Hash, expected: Hash) -> io::Result<()> {
        if digest == expected {
            self.verified += 1;
        } else {
            let path = path.display();
            self.complain(&format!(
                "{path}: the device found {digest}, not {expected}"
            ));
        }
        match self.output {
            Output::Summary => Ok(()),
            Output::Digests => print_digest(path, digest),
        }
    }

    /// Whether every file was read and verified.
    pub(crate) fn is_clean(&self) -> bool {
        self.complaints == 0
    }

    /// Ends the output, with the summary if that is asked for.
    pub(crate) fn finish(&self, backend: &dyn VyreBackend) -> io::Result<()> {
        self.bar.finish_and_clear();
        match self.output {
            Output::Summary => self.print_summary(backend),
            Output::Digests => Ok(()),
        }
    }

    fn complain(&mut self, complaint: &str) {
        self.complaints += 1;
        self.bar.suspend(|| eprintln!("error: {complaint}"));
    }

    fn print_summary(&self, backend: &dyn VyreBackend) -> io::Result<()> {
        let sum = |of: fn(&DispatchReport) -> u64| self.dispatches.iter().map(of).sum::<u64>();
        let bytes = |of: fn(&DispatchReport) -> u64| HumanBytes(sum(of)).to_string();
        let time = |of: fn(&DispatchReport) -> Option<u64>| {
            let total: Option<u64> = self.dispatches.iter().map(of).sum();
            total.map_or("no timer".into(), |ns| {
                format!("{:.3?}", Duration::from_nanos(ns))
            })
        };
        let rows = [
            (
                "verified",
                format!("{} files, {}", self.verified, HumanBytes(self.byte_len)),
            ),
            ("failed", self.complaints.to_string()),
            ("backend", backend.id().to_owned()),
            ("device", backend.device_info().name.clone()),
            ("dispatches", self.dispatches.len().to_string()),
            (
                "launches",
                sum(|it| it.stats.kernel_launches.into()).to_string(),
            ),
            (
                "synchronisations",
                sum(|it| it.stats.sync_points.into()).to_string(),
            ),
            ("bytes in", bytes(|it| it.stats.input_bytes)),
            ("bytes out", bytes(|it| it.stats.output_bytes)),
            (
                "allocations",
                sum(|it| it.stats.device_allocation_events.into()).to_string(),
            ),
            ("allocated", bytes(|it| it.stats.device_allocation_bytes)),
            ("wall time", time(|it| Some(it.wall_ns))),
            ("device time", time(|it| it.device_ns)),
            ("enqueue time", time(|it| it.enqueue_ns)),
            ("wait time", time(|it| it.wait_ns)),
        ];
        let mut stdout = io::stdout().lock();
        rows.iter()
            .try_for_each(|(name, value)| writeln!(stdout, "{name:<18}{value}"))
    }
}

/// The line that `b3sum` prints, which marks and escapes names that would break lines.
fn print_digest(path: &Path, digest: Hash) -> io::Result<()> {
    let name = path.to_string_lossy();
    let escaped = name
        .replace('\\', "\\\\")
        .replace('\n', "\\n")
        .replace('\r', "\\r");
    let mark = if escaped == name { "" } else { "\\" };
    writeln!(io::stdout(), "{mark}{digest}  {escaped}")
}
