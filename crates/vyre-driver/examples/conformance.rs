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
Usage: cargo xtask conformance [--backend NAME] [--filter TEXT]

  --backend NAME  the backend to test: vulkan, reference, or minimal and wgpu of the folder tests;
                  that of VYRE_BACKEND or else vulkan unless given
  --filter TEXT   only cases whose name contains the text, such as `bounds::`

VYRE_CONFORMANCE_SEED=N chooses other random kernels, VYRE_CONFORMANCE_CASES=N their number.
";

/// The backend that others are compared with.
const ORACLE: &str = "reference";

struct Settings {
    config: OpenConfig,
    filter: String,
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
    match kit(settings.config).and_then(|kit| kit.run(&settings.filter)) {
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
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("backend") => settings.config.backend = Some(parser.value()?.string()?),
            Arg::Long("filter") => settings.filter = parser.value()?.string()?,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(settings))
}

/// The kit of the backend that is named, or else of the first of the build.
fn kit(mut config: OpenConfig) -> Result<Kit, BackendError> {
    let registry = Registry::default();
    let first = || registry.names().next().unwrap_or_default().to_owned();
    let backend = config.backend.take().unwrap_or_else(first);
    let has_oracle = backend != ORACLE && registry.names().any(|name| name == ORACLE);
    let oracle = has_oracle.then(|| registry.open(&config.clone().with_backend(ORACLE)));
    let opened = config.with_backend(&*backend);
    let kit = Kit::new(backend, move || registry.open(&opened));
    Ok(match oracle.transpose()? {
        Some(oracle) => kit.with_oracle(oracle),
        None => kit,
    })
}
