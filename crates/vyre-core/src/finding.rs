//! What a checking backend found wrong in a kernel, and where.

use std::fmt;

/// A fault of a kernel that shows when it runs.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Finding {
    /// What is wrong.
    pub kind: FindingKind,
    /// Entry point of the kernel.
    pub kernel: String,
    /// The op in its program, from 0.
    pub op: usize,
    /// The workgroup in the op's grid.
    pub workgroup: [u32; 3],
    /// The invocation in its workgroup (`local_invocation_id`).
    pub invocation: [u32; 3],
    /// The line in the kernel's source, from 1; 0 where it is unknown.
    pub line: u32,
}

/// The kind of a fault.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub enum FindingKind {
    /// An index that is not less than the length of what it indexes.
    OutOfBounds,
    /// Two accesses to the same memory, one of them a write and not both atomic, that nothing
    /// orders.
    DataRace {
        /// The op of the earlier access.
        op: usize,
        /// The workgroup of the earlier access.
        workgroup: [u32; 3],
        /// The invocation of the earlier access.
        invocation: [u32; 3],
        /// The line of the earlier access.
        line: u32,
    },
    /// A read of workgroup memory that no invocation wrote; it is zero.
    UnwrittenWorkgroupMemory,
    /// A barrier that not all invocations of the workgroup reach together.
    NonUniformBarrier {
        /// Invocations that reached it.
        reached: usize,
        /// Invocations of the workgroup.
        invocations: usize,
    },
    /// A workgroup that did not end within its steps.
    StepLimit {
        /// Instructions that a workgroup may run.
        limit: u64,
    },
}

impl Finding {
    /// A finding of this kind at this place.
    pub fn new(kind: FindingKind, kernel: impl Into<String>, op: usize) -> Self {
        Self {
            kind,
            kernel: kernel.into(),
            op,
            workgroup: [0; 3],
            invocation: [0; 3],
            line: 0,
        }
    }
}

impl fmt::Display for Finding {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            kind,
            kernel,
            op,
            workgroup,
            invocation,
            line,
        } = self;
        write!(
            f,
            "{kind} in line {line} of kernel `{kernel}` (op {op}, workgroup {workgroup:?}, \
             invocation {invocation:?})"
        )
    }
}

impl fmt::Display for FindingKind {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Self::OutOfBounds => f.write_str("index out of bounds"),
            Self::DataRace {
                op,
                workgroup,
                invocation,
                line,
            } => write!(
                f,
                "data race with line {line} (op {op}, workgroup {workgroup:?}, invocation \
                 {invocation:?})"
            ),
            Self::UnwrittenWorkgroupMemory => {
                f.write_str("read of workgroup memory that nothing wrote")
            }
            Self::NonUniformBarrier {
                reached,
                invocations,
            } => write!(
                f,
                "barrier reached by {reached} of {invocations} invocations"
            ),
            Self::StepLimit { limit } => write!(f, "more than {limit} steps"),
        }
    }
}

/// Findings one after another, and how many are left out.
pub(crate) struct Listed<'a> {
    pub(crate) findings: &'a [Finding],
    pub(crate) count: u64,
}

impl fmt::Display for Listed<'_> {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        for (index, finding) in self.findings.iter().enumerate() {
            let separator = if index == 0 { "" } else { "; " };
            write!(f, "{separator}{finding}")?;
        }
        match self.count.saturating_sub(self.findings.len() as u64) {
            0 => Ok(()),
            more => write!(f, "; and {more} more"),
        }
    }
}
