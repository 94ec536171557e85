//! Hashes files with BLAKE3 on the device and checks every digest against the `blake3` crate.
//!
//! Each file is a few small ops: one over its chunks, then one for each level of its tree. A
//! program holds the ops of many files, and files don't wait for each other.

#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program talks through its output"
)]

mod walk;
mod tree;
mod batch;
mod program;
mod hash;
mod report;

use std::error::Error;
use std::fs;
use std::io;
use std::path::{Path, PathBuf};
use std::process::ExitCode;

use hash::Hasher;
use lexopt::{Arg, ValueExt};
use report::{Output, Report};
use vyre_driver::OpenConfig;
use walk::Unreadable;

const USAGE: &str = "\
Usage: cargo xtask demo [--install] [--backend NAME] [--print] [PATH…]

Hashes every file under each PATH with BLAKE3 on the device, and checks each digest by another
implementation.
Without a PATH: every file of this repository but .git and target. Links below a PATH are left out.

  --install       install what is missing of Vulkan by apt-get first
  --backend NAME  run on this backend: vulkan, or reference, which needs no device; that of
                  VYRE_BACKEND or else the first that has a device unless given
  --print         print a line for each file, as b3sum does, instead of the summary
  -h, --help      print this
";

struct Arguments {
    config: OpenConfig,
    output: Output,
    paths: Vec<PathBuf>,
}

fn main() -> ExitCode {
    match parse(lexopt::Parser::from_env()) {
        Ok(Some(arguments)) => run(&arguments).unwrap_or_else(|error| failure(&*error)),
        Ok(None) => {
            print!("{USAGE}");
            ExitCode::SUCCESS
        }
        Err(error) => {
            eprint!("error: {error}\n\n{USAGE}");
            ExitCode::from(2)
        }
    }
}

/// The arguments, or none when the user asks for help.
fn parse(mut parser: lexopt::Parser) -> Result<Option<Arguments>, lexopt::Error> {
    let mut arguments = Arguments {
        config: OpenConfig::from_env(),
        output: Output::Summary,
        paths: Vec::new(),
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("backend") => arguments.config.backend = Some(parser.value()?.string()?),
            Arg::Long("print") => arguments.output = Output::Digests,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            Arg::Value(path) => arguments.paths.push(path.into()),
            unknown => return Err(unknown.unexpected()),
        }
    }
    Ok(Some(arguments))
}

fn run(arguments: &Arguments) -> Result<ExitCode, Box<dyn Error>> {
    let (files, unreadable) = files(&arguments.paths);
    // Lengths only scale the progress bar: a file may have another one when it is read.
    let byte_len = files
        .iter()
        .flat_map(fs::metadata)
        .map(|file| file.len())
        .sum();
    let mut report = Report::new(arguments.output, byte_len);
    for (path, error) in &unreadable {
        report.unreadable(path, error);
    }
    let backend = vyre_driver::open_with(&arguments.config)?;
    if let Some(reason) = &backend.device_info().fallback {
        eprintln!("backend `{}` is used, since\n{reason}", backend.id());
    }
    let mut hasher = Hasher::new(&*backend, &mut report)?;
    for file in &files {
        hasher.add(file)?;
    }
    hasher.flush()?;
    report.finish(&*backend)?;
    Ok(if report.is_clean() {
        ExitCode::SUCCESS
    } else {
        ExitCode::FAILURE
    })
}

/// The files under `paths`, or those of this repository, and what could not be walked.
fn files(paths: &[PathBuf]) -> (Vec<PathBuf>, Vec<Unreadable>) {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    let root = here.ancestors().nth(2).unwrap_or(here).to_owned();
    let (paths, skipped): (_, &[_]) = match paths {
        [] => (&[root][..], &[".git", "target"]),
        paths => (paths, &[]),
    };
    let (mut files, mut unreadable) = (Vec::new(), Vec::new());
    for found in paths.iter().flat_map(|path| walk::files(path, skipped)) {
        match found {
            Ok(file) => files.push(file),
            Err(error) => unreadable.push(error),
        }
    }
    (files, unreadable)
}

/// Prints the error and its causes, unless the reader of the output has gone.
fn failure(error: &(dyn Error + 'static)) -> ExitCode {
    let io = error.downcast_ref::<io::Error>();
    if io.is_none_or(|io| io.kind() != io::ErrorKind::BrokenPipe) {
        eprint!("error: {error}");
        let mut cause = error.source();
        while let Some(source) = cause {
            eprint!(": {source}");
            cause = source.source();
        }
        eprintln!();
    }
    ExitCode::FAILURE
}
