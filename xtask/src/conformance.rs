//! `cargo xtask conformance`: the kit on a backend, with the user's arguments and its exit status.
//!
//! The backends of the facade share an example. Each other one of this tree has a package with the kit
//! as a test of its own, so that nobody builds what only that backend needs.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use lexopt::{Arg, Parser, ValueExt};

use crate::error::Error;
use crate::process;

const EXAMPLE: &str = "run --release --package vyre-driver --example conformance --";

/// Backends by name whose package is `backend-NAME`.
const OUTSIDE: [&str; 2] = ["minimal", "wgpu"];

pub(crate) fn run(args: Vec<OsString>) -> Result<ExitCode, Error> {
    let mut command = Command::new("cargo");
    match outside(&args, std::env::var("VYRE_BACKEND").ok())? {
        Some(kit) => command
            .args(kit.words)
            .envs(kit.variables)
            .current_dir(process::root()),
        None => command.args(EXAMPLE.split(' ')).args(args),
    };
    let status = process::status(&mut command)?;
    match status.code() {
        Some(code) => Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)),
        None => Err(process::failure(&command, status)), // a signal ended it
    }
}

/// The cargo command that runs the kit of a package.
struct Kit {
    words: Vec<String>,
    variables: Vec<(&'static str, String)>,
}

/// The command for a backend in [`OUTSIDE`], `None` for any other and for help.
fn outside(args: &[OsString], variable: Option<String>) -> Result<Option<Kit>, Error> {
    let mut parser = Parser::from_args(args.iter().cloned());
    let (mut backend, mut filter) = (variable.unwrap_or_default(), String::new());
    let mut variables = Vec::new();
    let mut number = |name, value: u64| variables.push((name, value.to_string()));
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("backend") => backend = parser.value()?.string()?,
            Arg::Long("filter") => filter = parser.value()?.string()?,
            Arg::Long("kernels") => number("VYRE_CONFORMANCE_CASES", parser.value()?.parse()?),
            Arg::Long("seed") => number("VYRE_CONFORMANCE_SEED", parser.value()?.parse()?),
            Arg::Long("help") | Arg::Short('h') => return Ok(None),
            other => return Err(other.unexpected().into()),
        }
    }
    let backend = backend.trim();
    Ok(OUTSIDE.contains(&backend).then(|| {
        let package = format!("backend-{backend}");
        let words = ["test", "--quiet", "--package", &package];
        let kit = ["--test", "conformance", "--", "--table"];
        let filter = (!filter.is_empty()).then_some(&*filter);
        let words = words.into_iter().chain(kit).chain(filter);
        Kit {
            words: words.map(str::to_owned).collect(),
            variables,
        }
    }))
}

#[cfg(test)]
mod tests {
    use super::*;

    fn words(line: &str, variable: Option<&str>) -> Option<String> {
        let args: Vec<_> = line.split_whitespace().map(OsString::from).collect();
        let kit = outside(&args, variable.map(str::to_owned)).unwrap();
        kit.map(|kit| kit.words.join(" "))
    }

    #[test]
    fn numbers_reach_the_kit_as_variables() {
        let args = ["--backend=wgpu", "--seed", "7", "--kernels=20"].map(OsString::from);
        let kit = outside(&args, None).unwrap().unwrap();
        let pairs = [
            ("VYRE_CONFORMANCE_SEED", "7"),
            ("VYRE_CONFORMANCE_CASES", "20"),
        ];
        assert_eq!(
            kit.variables,
            pairs.map(|(name, value)| (name, value.to_owned()))
        );
        assert!(outside(&["--seed".into(), "x".into()], None).is_err());
    }

    #[test]
    fn backend_with_a_package_of_its_own_is_run_there() {
        let command = "test --quiet --package backend-wgpu --test conformance -- --table";
        assert_eq!(words("--backend wgpu", None), Some(command.to_owned()));
        assert_eq!(words("", Some("wgpu")), Some(command.to_owned()));
        assert_eq!(
            words("--filter=bounds:: --backend=minimal", Some("wgpu")),
            Some(command.replace("wgpu", "minimal") + " bounds::")
        );
    }

    #[test]
    fn other_backends_and_help_are_the_example_s() {
        assert_eq!(words("", None), None);
        assert_eq!(words("--backend vulkan", Some("wgpu")), None);
        assert_eq!(words("--backend wgpu --help", None), None);
    }
}
