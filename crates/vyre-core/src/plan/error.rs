//! Why a program can't be planned.

use thiserror::Error;

/// Why there is no [`Plan`](super::Plan) for a program.
#[derive(Clone, Debug, Eq, Error, PartialEq)]
#[non_exhaustive]
pub enum PlanError {
    /// Nothing could ever run.
    #[error("{what} is 0, and nothing could run; set it to 1 or more")]
    Zero {
        /// The argument, or the field of [`PlanConfig`](super::PlanConfig).
        what: &'static str,
    },
    /// The classes don't belong to the kernels.
    #[error(
        "{given} classes were given for the {expected} kernels of the program; give one for each, in the order of `Program::kernels`"
    )]
    ClassCount {
        /// Kernels of the program.
        expected: usize,
        /// Classes given.
        given: usize,
    },
    /// An item counts tiles in 32 bits.
    #[error(
        "op {op} has a grid of {grid:?}, which is {tiles} tiles, and a plan counts at most {max} for an op; split the op, or use dispatch mode",
        max = u32::MAX
    )]
    TooManyTiles {
        /// Index of the op.
        op: usize,
        /// Workgroups along x, y and z.
        grid: [u32; 3],
        /// Their product.
        tiles: u128,
    },
    /// The buffers of a ring are addressed with 32 bits.
    #[error(
        "{ops} ops over {rows} rows need {needed} {what}, and a plan holds at most {limit}; dispatch fewer rows at once, or split the program"
    )]
    TooLarge {
        /// What there is too much of.
        what: &'static str,
        /// Ops of the program.
        ops: usize,
        /// Rows asked for.
        rows: u32,
        /// How much would be needed.
        needed: u128,
        /// How much there can be.
        limit: u32,
    },
    /// The host has no memory for the plan.
    #[error(
        "no memory for {len} {what} of {ops} ops over {rows} rows; dispatch fewer rows at once, or split the program"
    )]
    HostMemory {
        /// What there was no memory for.
        what: &'static str,
        /// Ops of the program.
        ops: usize,
        /// Rows asked for.
        rows: u32,
        /// How much of it.
        len: usize,
        /// What the allocator said.
        source: std::collections::TryReserveError,
    },
}
