//! Child processes: every one is printed before it runs, and named when it fails.

use std::path::{Path, PathBuf};
use std::process::{Command, ExitStatus};

use crate::error::Error;

/// The folder of the workspace.
pub(crate) fn root() -> &'static Path {
    let here = Path::new(env!("CARGO_MANIFEST_DIR"));
    here.parent().unwrap_or(here)
}

/// Runs `command` to its end and fails unless it succeeds.
pub(crate) fn run(command: &mut Command) -> Result<(), Error> {
    let status = status(command)?;
    if status.success() {
        return Ok(());
    }
    Err(failure(command, status))
}

/// The error of a command that ended with `status`.
pub(crate) fn failure(command: &Command, status: ExitStatus) -> Error {
    Error::Failed {
        command: line(command),
        status,
    }
}

/// Runs `command` to its end and returns its status.
pub(crate) fn status(command: &mut Command) -> Result<ExitStatus, Error> {
    let line = line(command);
    eprintln!("$ {line}");
    command.status().map_err(|source| Error::Start {
        command: line,
        source,
    })
}

/// Whether a program of this name is on the path.
pub(crate) fn is_on_path(program: &str) -> bool {
    let path = std::env::var_os("PATH").unwrap_or_default();
    std::env::split_paths(&path).any(|folder: PathBuf| folder.join(program).is_file())
}

/// The command as one would type it.
fn line(command: &Command) -> String {
    let variables = command.get_envs().filter_map(|(name, value)| {
        Some(format!(
            "{}={}",
            name.to_string_lossy(),
            quoted(&value?.to_string_lossy())
        ))
    });
    let words = std::iter::once(command.get_program()).chain(command.get_args());
    let words = words.map(|word| quoted(&word.to_string_lossy()));
    variables.chain(words).collect::<Vec<_>>().join(" ")
}

fn quoted(word: &str) -> String {
    let plain = |c: char| c.is_alphanumeric() || "-_./=:,+@".contains(c);
    if !word.is_empty() && word.chars().all(plain) {
        return word.to_owned();
    }
    format!("'{}'", word.replace('\'', r"'\''"))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_failure_names_the_command_and_its_status() {
        let error = run(Command::new("sh").args(["-c", "exit 7"]).env("A", "b c")).unwrap_err();
        assert_eq!(
            error.to_string(),
            "`A='b c' sh -c 'exit 7'` failed: exit status: 7"
        );
    }

    #[test]
    fn a_program_that_does_not_exist_is_named() {
        let error = run(&mut Command::new("no-such-program")).unwrap_err();
        assert_eq!(error.to_string(), "`no-such-program` could not be started");
    }
}
