//! Runs the conformance kit on a backend of this build, and prints a table by group.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is the program's purpose"
)]

use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt};
use vyre_conformance::Kit;
use vyre_driver::{BackendError, OpenConfig, Registry};

const USAGE: &str = "\
Usage: cargo xtask conformance [--backend NAME] [--filter TEXT] [--kernels N] [--seed N]

  --backend NAME  the backend to test: vulkan, reference, or minimal and wgpu of the folder tests;
                  that of VYRE_BACKEND or else vulkan unless given
  --filter TEXT   only cases whose name contains the text, such as `bounds::`
  --kernels N     random kernels of each random case; VYRE_CONFORMANCE_CASES or else 8 unless given
  --seed N        chooses other random kernels; VYRE_CONFORMANCE_SEED or else 1 unless given
";

/// The backend that others are compared with.
const ORACLE: &str = "reference";

struct Settings {
    config: OpenConfig,
    filter: String,
    kernels: Option<usize>,
    seed: Option<u64>,
}

fn main() -> ExitCode {
    let settings = match parse(Parser::from_env()) {
        Ok(Some(settings)) => settings,
        Ok(None) => {
            print!("{USAGE}");
            return ExitCode::SUCCESS;
        }
        Err(error) => {
            eprint!("error: {error}\n\n{USAGE}");
            return ExitCode::from(2);
        }
    };
    let filter = settings.filter.clone();
    match kit(settings).and_then(|kit| kit.run(&filter)) {
        Ok(table) => {
            print!("{table}");
            if table.is_conformant() {
                ExitCode::SUCCESS
            } else {
                ExitCode::FAILURE
            }
        }
        Err(error) => {
            eprintln!("error: {error}");
            match error {
                BackendError::UnknownBackend { .. } => ExitCode::from(2),
                _ => ExitCode::FAILURE,
            }
        }
    }
}

/// `None` when the user asked for help.
fn parse(mut parser: Parser) -> Result<Option<Settings>, lexopt::Error> {
    let mut settings = Settings {
        config: OpenConfig::from_env(),
        filter: String::new(),
        kernels: None,
        seed: None,
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("backend") => settings.config.backend = Some(parser.value()?.string()?),
            Arg::Long("filter") => settings.filter = parser.value()?.string()?,
            Arg::Long("kernels") => settings.kernels = Some(parser.value()?.parse()?),
            Arg::Long("seed") => settings.seed = Some(parser.value()?.parse()?),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(settings))
}

/// The kit of the backend that is named, or else of the first of the build.
fn kit(settings: Settings) -> Result<Kit, BackendError> {
    let registry = Registry::default();
    let mut config = settings.config;
    let first = || registry.names().next().unwrap_or_default().to_owned();
    let backend = config.backend.take().unwrap_or_else(first);
    let has_oracle = backend != ORACLE && registry.names().any(|name| name == ORACLE);
    let oracle = has_oracle.then(|| registry.open(&config.clone().with_backend(ORACLE)));
    let opened = config.with_backend(&*backend);
    let mut kit = Kit::new(backend, move || registry.open(&opened));
    if let Some(oracle) = oracle.transpose()? {
        kit = kit.with_oracle(oracle);
    }
    if let Some(kernels) = settings.kernels {
        kit = kit.with_kernels(kernels);
    }
    if let Some(seed) = settings.seed {
        kit = kit.with_seed(seed);
    }
    Ok(kit)
}
