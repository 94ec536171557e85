//! The results of a run as a table by group.

use std::fmt;

use crate::case::{Case, Group, Outcome};

/// How every case of a run ended; prints as a table by group, with a line for each case that did
/// not pass.
#[derive(Clone, Debug)]
pub struct Table {
    backend: String,
    device: String,
    results: Vec<(Case, Outcome)>,
    end: Result<(), String>,
}

/// The number of cases of one group, by outcome.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub struct Counts {
    /// Cases that passed.
    pub passed: usize,
    /// Cases that failed, or passed against a declared failure.
    pub failed: usize,
    /// Cases whose needs the backend doesn't meet.
    pub unsupported: usize,
    /// Cases that failed as declared.
    pub expected: usize,
}

impl Table {
    pub(crate) fn new(backend: &str, device: &str) -> Self {
        Self {
            backend: backend.to_owned(),
            device: device.to_owned(),
            results: Vec::new(),
            end: Ok(()),
        }
    }

    pub(crate) fn push(&mut self, case: Case, outcome: Outcome) {
        self.results.push((case, outcome));
    }

    pub(crate) fn finish(&mut self, end: Result<(), String>) {
        self.end = end;
    }

    /// Every case that ran, and how it ended.
    #[must_use]
    pub fn results(&self) -> &[(Case, Outcome)] {
        &self.results
    }

    /// The counts of one group.
    #[must_use]
    pub fn counts(&self, group: Group) -> Counts {
        let mut counts = Counts::default();
        let results = self.results.iter();
        for (_, outcome) in results.filter(|(case, _)| case.group == group) {
            match outcome {
                Outcome::Passed => counts.passed += 1,
                Outcome::Failed(_) => counts.failed += 1,
                Outcome::Unsupported(_) => counts.unsupported += 1,
                Outcome::ExpectedFailure(_) => counts.expected += 1,
            }
        }
        counts
    }

    /// Whether nothing failed that was not expected to.
    #[must_use]
    pub fn is_conformant(&self) -> bool {
        let mut results = self.results.iter();
        self.end.is_ok() && !results.any(|(_, outcome)| matches!(outcome, Outcome::Failed(_)))
    }
}

impl fmt::Display for Table {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        writeln!(f, "{} on {}", self.backend, self.device)?;
        writeln!(
            f,
            "group        passed  failed  unsupported  expected failures"
        )?;
        for &group in Group::ALL {
            let counts = self.counts(group);
            if counts != Counts::default() {
                let Counts {
                    passed,
                    failed,
                    unsupported,
                    expected,
                } = counts;
                writeln!(
                    f,
                    "{group:<12} {passed:>6} {failed:>7} {unsupported:>12} {expected:>18}"
                )?;
            }
        }
        for (case, outcome) in &self.results {
            let (word, text) = match outcome {
                Outcome::Passed => continue,
                Outcome::Failed(text) => ("FAILED", text),
                Outcome::Unsupported(text) => ("unsupported", text),
                Outcome::ExpectedFailure(text) => ("expected failure", text),
            };
            writeln!(f, "{}: {word}: {text}", case.full_name())?;
        }
        if let Err(text) = &self.end {
            writeln!(f, "FAILED at the end: {text}")?;
        }
        Ok(())
    }
}
