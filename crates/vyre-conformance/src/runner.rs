//! `main`: every case as a named test, with the arguments of `cargo test`.

use std::ffi::OsString;
use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use libtest_mimic::{Arguments, Completion, Failed, Trial};
use vyre_core::error::BackendError;

use crate::case::Outcome;
use crate::context::Context;
use crate::kit::Kit;

/// Runs every case of the kit as a test of its own, and the check at the end as one more.
///
/// Takes the arguments of Rust's own test binaries: a filter, `--exact`, `--list`,
/// `--test-threads`. With `--table` it runs the cases one after the other and prints the [`Table`](crate::Table).
/// Where the backend's driver is missing, all cases are skipped, said aloud, unless
/// `CI` is set.
#[must_use]
pub fn main(kit: Kit) -> ExitCode {
    let mut words: Vec<OsString> = std::env::args_os().collect();
    let count = words.len();
    words.retain(|word| word != "--table");
    let as_table = words.len() < count;
    let arguments = Arguments::from_iter(words);
    if as_table {
        return tabulate(&kit, arguments.filter.as_deref().unwrap_or_default());
    }
    if arguments.list {
        return libtest_mimic::run(&arguments, trials(&kit, &Arc::default())).exit_code();
    }
    let context = match kit.context() {
        Ok(context) => context,
        Err(error) => return missing(&kit, &error),
    };
    let context = Arc::new(Mutex::new(Some(Arc::new(context))));
    let conclusion = libtest_mimic::run(&arguments, trials(&kit, &context));
    // The check at the end is about the backend's destruction too.
    drop(lock(&context).take());
    match kit.check_end() {
        Ok(()) => conclusion.exit_code(),
        Err(text) => {
            report(&format!("FAILED at the end of `{}`: {text}", kit.name));
            ExitCode::FAILURE
        }
    }
}

/// Prints the table of the cases whose full name contains `filter`.
#[expect(clippy::print_stdout, reason = "the table was asked for")]
fn tabulate(kit: &Kit, filter: &str) -> ExitCode {
    match kit.run(filter) {
        Ok(table) => {
            print!("{table}");
            match table.is_conformant() {
                true => ExitCode::SUCCESS,
                false => ExitCode::FAILURE,
            }
        }
        Err(error) => {
            report(&format!("FAILED to open `{}`: {error}", kit.name));
            ExitCode::FAILURE
        }
    }
}

type Shared = Arc<Mutex<Option<Arc<Context>>>>;

fn lock(shared: &Shared) -> std::sync::MutexGuard<'_, Option<Arc<Context>>> {
    shared.lock().unwrap_or_else(PoisonError::into_inner)
}

fn trials(kit: &Kit, context: &Shared) -> Vec<Trial> {
    let cases = kit.cases().into_iter();
    let trial = |case: crate::Case| {
        let (kit, context) = (kit.clone(), Arc::clone(context));
        Trial::ignorable_test(case.full_name(), move || {
            let Some(context) = lock(&context).clone() else {
                return Ok(Completion::ignored_with("the backend is not open"));
            };
            match kit.outcome(&case, &context) {
                Outcome::Passed => Ok(Completion::Completed),
                Outcome::Failed(text) => Err(Failed::from(text)),
                Outcome::Unsupported(text) => {
                    Ok(Completion::ignored_with(format!("unsupported: {text}")))
                }
                Outcome::ExpectedFailure(text) => Ok(Completion::ignored_with(format!(
                    "fails as expected: {text}"
                ))),
            }
        })
    };
    cases.map(trial).collect()
}

/// No backend: a skip on a machine without its driver, a failure in CI and for any other reason.
fn missing(kit: &Kit, error: &BackendError) -> ExitCode {
    let absent = matches!(
        error,
        BackendError::NoLoader { .. }
            | BackendError::NoDevice { .. }
            | BackendError::NotInstalled { .. }
    );
    if absent && std::env::var_os("CI").is_none() {
        report(&format!("SKIPPED all cases of `{}`: {error}", kit.name));
        for case in kit.cases() {
            report(&format!("skipped {}", case.full_name()));
        }
        return ExitCode::SUCCESS;
    }
    report(&format!("FAILED to open `{}`: {error}", kit.name));
    ExitCode::FAILURE
}

#[expect(
    clippy::print_stderr,
    reason = "a test binary talks through its output"
)]
fn report(text: &str) {
    eprintln!("{text}");
}
