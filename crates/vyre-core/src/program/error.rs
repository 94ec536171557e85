//! `ProgramError`: what is wrong with a program, where, and what to do about it.

use std::{fmt, ops::Range};

use super::{BINDING_OFFSET_ALIGNMENT, BufferRole};

/// An op, as errors name it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct OpSite {
    /// The place among the program's ops.
    pub op: usize,
    /// Entry point of its kernel.
    pub kernel: String,
}

impl fmt::Display for OpSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "op {} (`{}`)", self.op, self.kernel)
    }
}

/// A buffer bound to a variable of an op's kernel, as errors name it.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct BindingSite {
    /// The op.
    pub op: OpSite,
    /// The variable.
    pub binding: String,
    /// The buffer.
    pub buffer: String,
}

impl fmt::Display for BindingSite {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            op,
            binding,
            buffer,
        } = self;
        write!(f, "{op} binds buffer `{buffer}` to `{binding}`")
    }
}

/// What can be bound instead of a variable that does not exist.
fn bindable(available: &[String]) -> String {
    match available {
        [] => "uses no variables; drop the binding".to_owned(),
        names => format!("has no such variable; bind one of: {}", names.join(", ")),
    }
}

/// Why a program could not be built.
#[derive(Clone, Debug, Eq, PartialEq, thiserror::Error)]
#[non_exhaustive]
pub enum ProgramError {
    /// There are more buffers or ops than 32 bits count.
    #[error(
        "a program holds at most {} {what}; split it into several programs",
        u32::MAX
    )]
    TooMany {
        /// What there is too much of.
        what: &'static str,
    },

    /// A buffer has no name.
    #[error("buffer {index} has an empty name; give every buffer a name of its own")]
    EmptyBufferName {
        /// Place in the order of declaration.
        index: usize,
    },

    /// Two buffers have the same name.
    #[error("buffers {first} and {second} are both named `{name}`; rename one of them")]
    DuplicateBufferName {
        /// The name.
        name: String,
        /// Places in the order of declaration.
        first: usize,
        /// See `first`.
        second: usize,
    },

    /// A buffer has no bytes.
    #[error("buffer `{name}` has 0 bytes; give it at least 4, or leave it out")]
    EmptyBuffer {
        /// The buffer.
        name: String,
    },

    /// The length of a buffer is not a whole number of words.
    #[error("buffer `{name}` has {byte_len} bytes, no multiple of 4; round its length up")]
    BufferLength {
        /// The buffer.
        name: String,
        /// Its length in bytes.
        byte_len: u64,
    },

    /// The bytes of all buffers can't be counted in 64 bits.
    #[error("the buffers up to `{name}` ({byte_len} bytes) pass 2^64 bytes together; shrink them")]
    BuffersTooLarge {
        /// The buffer that passes the bound.
        name: String,
        /// Its length in bytes.
        byte_len: u64,
    },

    /// No op writes to an output.
    #[error(
        "no op writes to output `{name}`; bind it to a variable that a kernel writes, or drop it"
    )]
    OutputNeverWritten {
        /// The buffer.
        name: String,
    },

    /// The program does nothing.
    #[error("program `{label}` has no ops; add at least one")]
    NoOps {
        /// Label of the program.
        label: String,
    },

    /// An op has no workgroups.
    #[error(
        "{op} has a grid of {grid:?} workgroups; every axis needs at least 1, or leave the op out"
    )]
    EmptyGrid {
        /// The op.
        op: OpSite,
        /// Workgroups along x, y and z.
        grid: [u32; 3],
    },

    /// A grid has too many workgroups along an axis.
    #[error("{op} has {given} workgroups along {axis}, the limit is {limit}; use another axis too")]
    GridTooLarge {
        /// The op.
        op: OpSite,
        /// x, y or z.
        axis: char,
        /// Workgroups along the axis.
        given: u32,
        /// The most allowed.
        limit: u32,
    },

    /// A workgroup is too large along an axis.
    #[error("{op} has a workgroup size of {given} along {axis}, the limit is {limit}; lower it")]
    WorkgroupTooLarge {
        /// The op.
        op: OpSite,
        /// x, y or z.
        axis: char,
        /// Invocations along the axis.
        given: u32,
        /// The most allowed.
        limit: u32,
    },

    /// A workgroup has too many invocations.
    #[error(
        "{op} has {given} invocations in a workgroup, the limit is {limit}; use smaller workgroups"
    )]
    TooManyInvocations {
        /// The op.
        op: OpSite,
        /// Invocations of a workgroup.
        given: u64,
        /// The most allowed.
        limit: u32,
    },

    /// A kernel declares too much workgroup memory.
    #[error("{op} uses {given} bytes of workgroup memory, the limit is {limit}; use less")]
    WorkgroupMemory {
        /// The op.
        op: OpSite,
        /// Bytes of workgroup memory.
        given: u32,
        /// The most allowed.
        limit: u32,
    },

    /// A name is bound that the kernel doesn't declare.
    #[error("{op} binds `{binding}`, but its kernel {}", bindable(available))]
    UnknownBinding {
        /// The op.
        op: OpSite,
        /// The name.
        binding: String,
        /// The variables that the kernel uses.
        available: Vec<String>,
    },

    /// A variable of the kernel is left without a buffer.
    #[error("{op} leaves `{binding}` unbound; bind a buffer to it")]
    UnboundBinding {
        /// The op.
        op: OpSite,
        /// The variable.
        binding: String,
    },

    /// A variable of the kernel is given two buffers.
    #[error("{op} binds `{binding}` twice; keep one of the two")]
    BoundTwice {
        /// The op.
        op: OpSite,
        /// The variable.
        binding: String,
    },

    /// A buffer of another program is bound.
    #[error("{op} binds a buffer of another program to `{binding}`; declare it in this program")]
    ForeignBuffer {
        /// The op.
        op: OpSite,
        /// The variable.
        binding: String,
    },

    /// A range has no bytes.
    #[error("{at} with a range of 0 bytes; bind at least 4")]
    EmptyRange {
        /// The binding.
        at: Box<BindingSite>,
    },

    /// The length of a range is not a whole number of words.
    #[error("{at} with a range of {byte_len} bytes, no multiple of 4; round it")]
    RangeLength {
        /// The binding.
        at: Box<BindingSite>,
        /// Length of the range in bytes.
        byte_len: u64,
    },

    /// A range starts where devices can't bind.
    #[error(
        "{at} from byte {offset} on, no multiple of {BINDING_OFFSET_ALIGNMENT}; pad what lies before"
    )]
    RangeOffset {
        /// The binding.
        at: Box<BindingSite>,
        /// First byte of the range.
        offset: u64,
    },

    /// A range leaves its buffer.
    #[error(
        "{at} with {byte_len} bytes from byte {offset} on, but the buffer has {buffer_len}; shorten \
         the range or enlarge the buffer"
    )]
    RangePastEnd {
        /// The binding.
        at: Box<BindingSite>,
        /// First byte of the range.
        offset: u64,
        /// Length of the range in bytes.
        byte_len: u64,
        /// Length of the buffer in bytes.
        buffer_len: u64,
    },

    /// A range is shorter than the type of its variable.
    #[error("{at} with {byte_len} bytes, but the variable needs {needed}; bind at least that")]
    RangeTooSmall {
        /// The binding.
        at: Box<BindingSite>,
        /// Length of the range in bytes.
        byte_len: u64,
        /// Bytes of the type.
        needed: u64,
    },

    /// A range doesn't hold one element of the runtime-sized array it is bound to.
    #[error(
        "{at} with {byte_len} bytes, but the first element of the array (stride {stride}) ends at \
         {needed}; bind at least that"
    )]
    ArrayTooShort {
        /// The binding.
        at: Box<BindingSite>,
        /// Length of the range in bytes.
        byte_len: u64,
        /// Bytes up to the end of the first element.
        needed: u64,
        /// Bytes from one element to the next.
        stride: u32,
    },

    /// A range is longer than devices can bind.
    #[error(
        "{at} with {byte_len} bytes, the limit of a {kind} binding is {limit}; bind parts of it"
    )]
    RangeTooLarge {
        /// The binding.
        at: Box<BindingSite>,
        /// `storage` or `uniform`.
        kind: &'static str,
        /// Length of the range in bytes.
        byte_len: u64,
        /// The most allowed.
        limit: u64,
    },

    /// A kernel writes to a buffer that no op may change.
    #[error(
        "{at}, which its kernel writes, but the buffer is declared as {role}; declare it as in-out \
         or scratch"
    )]
    NotWritable {
        /// The binding.
        at: Box<BindingSite>,
        /// Input or constant.
        role: BufferRole,
    },

    /// An op writes bytes that it also sees through another variable.
    #[error(
        "{at} (bytes {range:?}) and to `{other}` (bytes {other_range:?}); a range that a kernel \
         writes can't overlap another of the same op"
    )]
    Overlap {
        /// One binding.
        at: Box<BindingSite>,
        /// Bytes bound there.
        range: Range<u64>,
        /// The other variable.
        other: String,
        /// Bytes bound there.
        other_range: Range<u64>,
    },
}
