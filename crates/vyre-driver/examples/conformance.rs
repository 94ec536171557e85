//! Runs the conformance kit on a backend of this build, and prints a table by group.

#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "the table is the program's purpose"
)]

use std::process::ExitCode;

use lexopt::{Arg, Parser, ValueExt};
use vyre_conformance::Kit;

const USAGE: &str = "\
Usage: conformance [--backend NAME] [--filter TEXT]

  --backend NAME  the backend to test: vulkan (the default)
  --filter TEXT   only cases whose name contains the text, such as `bounds::`

VYRE_CONFORMANCE_SEED=N chooses other random kernels, VYRE_CONFORMANCE_CASES=N their number.
";

struct Settings {
    backend: String,
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
    let Some(kit) = kit(&settings.backend) else {
        eprintln!("error: this build has no backend `{}`", settings.backend);
        return ExitCode::from(2);
    };
    match kit.run(&settings.filter) {
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
            ExitCode::FAILURE
        }
    }
}

/// `None` when the user asked for help.
fn parse(mut parser: Parser) -> Result<Option<Settings>, lexopt::Error> {
    let mut settings = Settings {
        backend: "vulkan".to_owned(),
        filter: String::new(),
    };
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("backend") => settings.backend = parser.value()?.string()?,
            Arg::Long("filter") => settings.filter = parser.value()?.string()?,
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected()),
        }
    }
    Ok(Some(settings))
}

fn kit(backend: &str) -> Option<Kit> {
    match backend {
        #[cfg(feature = "vulkan")]
        "vulkan" => Some(Kit::new("vulkan", vyre_driver::open)),
        _ => None,
    }
}
