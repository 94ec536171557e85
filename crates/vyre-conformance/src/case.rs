//! Cases, the groups they belong to, what they need, and how they end.

use std::fmt;

use vyre_core::error::BackendError;
use vyre_core::kernel::{Capability, KernelError};
use vyre_core::program::ProgramError;

use crate::Context;

/// A group of cases; a backend declares the groups that it passes.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
#[non_exhaustive]
pub enum Group {
    /// Operators, conversions and built-in functions, by tables of special values.
    Semantics,
    /// The same in random expressions.
    Expressions,
    /// Random kernels with control flow, compared with a second backend.
    Agreement,
    /// Accesses out of bounds.
    Bounds,
    /// Programs of many ops over few buffers.
    Hazards,
    /// Inputs and outputs by role, order and size.
    Buffers,
    /// Output slots and their accounting.
    Outputs,
    /// Workgroup and private memory of each workgroup.
    Freshness,
    /// Atomic operations.
    Atomics,
    /// Barriers.
    Barriers,
    /// Programs and calls that must be refused.
    Errors,
    /// Resident buffers, rows and their handles.
    Residents,
    /// Several threads on one backend.
    Threads,
    /// Times that a backend reports.
    Timing,
    /// Repeated use.
    Growth,
}

impl Group {
    /// All groups, in the order in which reports list them.
    pub const ALL: &'static [Self] = &[
        Self::Semantics,
        Self::Expressions,
        Self::Agreement,
        Self::Bounds,
        Self::Hazards,
        Self::Buffers,
        Self::Outputs,
        Self::Freshness,
        Self::Atomics,
        Self::Barriers,
        Self::Errors,
        Self::Residents,
        Self::Threads,
        Self::Timing,
        Self::Growth,
    ];

    /// The name, as the names of cases begin with it.
    #[must_use]
    pub fn name(self) -> &'static str {
        match self {
            Self::Semantics => "semantics",
            Self::Expressions => "expressions",
            Self::Agreement => "agreement",
            Self::Bounds => "bounds",
            Self::Hazards => "hazards",
            Self::Buffers => "buffers",
            Self::Outputs => "outputs",
            Self::Freshness => "freshness",
            Self::Atomics => "atomics",
            Self::Barriers => "barriers",
            Self::Errors => "errors",
            Self::Residents => "residents",
            Self::Threads => "threads",
            Self::Timing => "timing",
            Self::Growth => "growth",
        }
    }
}

impl fmt::Display for Group {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.pad(self.name())
    }
}

/// What a backend must have for a case to make sense; without it the case is unsupported.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum Need {
    /// Resident buffers.
    Residents,
    /// A capability of the device.
    Capability(Capability),
    /// A second backend to compare with.
    Oracle,
}

impl fmt::Display for Need {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::Residents => f.write_str("resident buffers"),
            Self::Capability(capability) => capability.fmt(f),
            Self::Oracle => f.write_str("a backend to compare with"),
        }
    }
}

/// One case of the kit.
#[derive(Clone, Copy, Debug)]
pub struct Case {
    /// The group.
    pub group: Group,
    /// What holds when the case passes, in the words of a test's name.
    pub name: &'static str,
    /// What the backend must have.
    pub needs: &'static [Need],
    pub(crate) run: fn(&Context) -> Result<(), Fault>,
}

impl Case {
    pub(crate) const fn new(
        group: Group,
        name: &'static str,
        run: fn(&Context) -> Result<(), Fault>,
    ) -> Self {
        Self {
            group,
            name,
            needs: &[],
            run,
        }
    }

    pub(crate) const fn needing(mut self, needs: &'static [Need]) -> Self {
        self.needs = needs;
        self
    }

    /// Group and name, as filters and expectations spell them: `bounds::reads_give_zero`.
    #[must_use]
    pub fn full_name(&self) -> String {
        format!("{}::{}", self.group, self.name)
    }
}

/// How a case ended.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum Outcome {
    /// The backend is right.
    Passed,
    /// The backend is wrong, or was expected to be and is not.
    Failed(String),
    /// The backend has not what the case needs.
    Unsupported(String),
    /// The backend is wrong, as it said it would be.
    ExpectedFailure(String),
}

/// Why a case failed: a sentence with the figures.
#[derive(Debug)]
pub(crate) struct Fault(pub(crate) String);

impl Fault {
    pub(crate) fn new(message: impl Into<String>) -> Self {
        Self(message.into())
    }
}

impl From<BackendError> for Fault {
    fn from(error: BackendError) -> Self {
        Self(format!("the backend refused: {}", with_causes(&error)))
    }
}

impl From<KernelError> for Fault {
    fn from(error: KernelError) -> Self {
        Self(format!("a kernel of the kit was refused: {error}"))
    }
}

impl From<ProgramError> for Fault {
    fn from(error: ProgramError) -> Self {
        Self(format!("a program of the kit was refused: {error}"))
    }
}

fn with_causes(error: &dyn std::error::Error) -> String {
    let mut text = error.to_string();
    let mut next = error.source();
    while let Some(cause) = next {
        text.push_str(": ");
        text.push_str(&cause.to_string());
        next = cause.source();
    }
    text
}

/// The faults of a case that goes on after the first, so that one run shows what a driver gets wrong.
#[derive(Default)]
pub(crate) struct Faults(Vec<String>);

impl Faults {
    /// Enough to see what they have in common.
    const MOST: usize = 8;

    pub(crate) fn add(&mut self, outcome: Result<(), Fault>) {
        if let Err(Fault(text)) = outcome {
            self.0.push(text);
        }
    }

    pub(crate) fn is_full(&self) -> bool {
        self.0.len() >= Self::MOST
    }

    pub(crate) fn into_result(self) -> Result<(), Fault> {
        match self.0.is_empty() {
            true => Ok(()),
            false => Err(Fault(self.0.join("\n----\n"))),
        }
    }
}

/// Fails the case with a message unless the condition holds.
macro_rules! ensure {
    ($condition:expr, $($message:tt)+) => {
        if !$condition {
            return Err($crate::case::Fault::new(format!($($message)+)));
        }
    };
}
pub(crate) use ensure;
