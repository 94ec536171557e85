//! The command line of `cargo xtask`: text in, a [`Task`] out.

use std::ffi::OsString;

use lexopt::{Arg, Parser, ValueExt};

use crate::error::Error;

pub(crate) const USAGE: &str = "\
Usage: cargo xtask COMMAND

  setup [--install]             find the Vulkan loader, CPU drivers and the validation layer
  doctor                        print which backend is opened, loader, layers, devices, launch modes
  ci    [--install]             run every check that a change must pass
  demo  [--install] [ARGUMENT…] hash files with the blake3 example, on a device or the CPU;
                                `cargo xtask demo --help` lists its arguments
  conformance [ARGUMENT…]       run the conformance kit on a backend, print a table by group;
                                `cargo xtask conformance --help` lists its arguments

  --install   install what is missing by apt-get first
  -h, --help  print this
";

/// What the user asked for.
#[derive(Debug, PartialEq)]
pub(crate) enum Task {
    Help,
    Setup { install: bool },
    Doctor,
    Ci { install: bool },
    Demo { install: bool, args: Vec<OsString> },
    Conformance { args: Vec<OsString> },
}

pub(crate) fn parse(mut parser: Parser) -> Result<Task, Error> {
    let command = match parser.next()? {
        Some(Arg::Value(command)) => command.string()?,
        Some(Arg::Long("help") | Arg::Short('h')) => return Ok(Task::Help),
        Some(other) => return Err(other.unexpected().into()),
        None => return Err(Error::Usage("no command was given".into())),
    };
    match command.as_str() {
        "setup" => flags(parser, |install| Task::Setup { install }),
        "doctor" => match parser.next()? {
            Some(Arg::Long("help") | Arg::Short('h')) => Ok(Task::Help),
            Some(other) => Err(other.unexpected().into()),
            None => Ok(Task::Doctor),
        },
        "ci" => flags(parser, |install| Task::Ci { install }),
        "demo" => demo(parser),
        "conformance" => Ok(Task::Conformance {
            args: parser.raw_args()?.collect(),
        }),
        unknown => Err(Error::Usage(format!("there is no command `{unknown}`"))),
    }
}

/// The flags of a command that takes nothing but `--install`.
fn flags(mut parser: Parser, task: fn(bool) -> Task) -> Result<Task, Error> {
    let mut install = false;
    while let Some(arg) = parser.next()? {
        match arg {
            Arg::Long("install") => install = true,
            Arg::Long("help") | Arg::Short('h') => return Ok(Task::Help),
            other => return Err(other.unexpected().into()),
        }
    }
    Ok(task(install))
}

/// Takes `--install` out of the arguments before `--`; the example reads all others.
fn demo(mut parser: Parser) -> Result<Task, Error> {
    let mut args: Vec<OsString> = parser.raw_args()?.collect();
    let flags = args
        .iter()
        .position(|arg| arg == "--")
        .unwrap_or(args.len());
    let found = args[..flags].iter().position(|arg| arg == "--install");
    if let Some(index) = found {
        args.remove(index);
    }
    Ok(Task::Demo {
        install: found.is_some(),
        args,
    })
}

#[cfg(test)]
mod tests {
    use super::*;

    fn parsed(line: &str) -> Result<Task, Error> {
        parse(Parser::from_args(line.split_whitespace()))
    }

    fn refusal(line: &str) -> String {
        parsed(line).unwrap_err().to_string()
    }

    #[test]
    fn install_is_off_unless_given() {
        assert_eq!(parsed("ci").unwrap(), Task::Ci { install: false });
        assert_eq!(
            parsed("setup --install").unwrap(),
            Task::Setup { install: true }
        );
    }

    #[test]
    fn the_demo_gets_every_other_argument() {
        let task = parsed("demo --print --install src -- --install").unwrap();
        let args = ["--print", "src", "--", "--install"]
            .map(OsString::from)
            .to_vec();
        assert_eq!(
            task,
            Task::Demo {
                install: true,
                args
            }
        );
    }

    #[test]
    fn the_kit_gets_every_argument() {
        let args = ["--filter", "bounds::", "--help"]
            .map(OsString::from)
            .to_vec();
        let task = parsed("conformance --filter bounds:: --help").unwrap();
        assert_eq!(task, Task::Conformance { args });
    }

    #[test]
    fn what_is_unknown_is_named() {
        assert!(refusal("fly").contains("`fly`"));
        assert!(refusal("ci --fast").contains("'--fast'"));
        assert!(refusal("doctor --install").contains("'--install'"));
        assert!(refusal("setup now").contains("\"now\""));
        assert!(refusal("").contains("no command"));
    }
}
