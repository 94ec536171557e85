//! `Code`: a kernel as a flat list of instructions, each of which runs over all lanes at once.
//!
//! A lane is one invocation of a workgroup. A register holds 32 bits for every lane; a 64-bit scalar
//! takes two registers, low half first, an `f16` the low half of one, a `bool` is 0 or 1. Vectors,
//! matrices, arrays and structs are lists of scalars, so swizzles and compositions cost nothing.

use vyre_core::naga::{AtomicFunction, Barrier, BuiltIn, CollectiveOperation, SubgroupOperation};

use crate::ops::{Narrow, Wide};

/// A register of the machine: one word for each lane.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub(crate) struct Reg(pub(crate) u32);

impl Reg {
    pub(crate) fn index(self) -> usize {
        self.0 as usize
    }

    /// The register `count` after this one; blocks of registers are contiguous.
    pub(crate) fn after(self, count: u32) -> Self {
        Self(self.0 + count)
    }
}

/// A compiled kernel.
#[derive(Debug)]
pub(crate) struct Code {
    pub(crate) insts: Vec<Inst>,
    /// The source line of each instruction, from 1; 0 where there is none.
    pub(crate) lines: Vec<u32>,
    /// Where each function starts in `insts`; the entry point is the last.
    pub(crate) functions: Vec<usize>,
    pub(crate) register_count: usize,
    /// Registers that hold one value in all lanes, and are never written.
    pub(crate) constants: Vec<(Reg, u32)>,
    pub(crate) workgroup_size: [u32; 3],
    pub(crate) workgroup_words: usize,
    pub(crate) order: Order,
}

/// In which order the workgroups of an op may run.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Order {
    /// Any: what a workgroup computes depends on no other.
    Any,
    /// One after the other: the kernel looks at what atomic operations leave behind, and the
    /// result must not depend on the schedule.
    Ascending,
}

/// Where in memory an access goes: `offset`, and `index` on top of it in lanes where it is valid.
///
/// Offsets are bytes in buffers, words everywhere else.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct Address {
    pub(crate) offset: u32,
    pub(crate) index: Option<DynamicIndex>,
}

/// The part of an address that differs between lanes.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) struct DynamicIndex {
    /// Offset, 0 in lanes that are out of bounds.
    pub(crate) offset: Reg,
    /// 1 where all indices are in bounds, else 0.
    pub(crate) valid: Reg,
}

/// How many elements there are to index.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Length {
    Fixed(u32),
    /// Those of the runtime-sized array in a binding.
    Runtime(RuntimeArray),
}

/// The runtime-sized array at the end of a binding.
#[derive(Clone, Copy, Debug)]
pub(crate) struct RuntimeArray {
    pub(crate) binding: u32,
    /// First byte of the array.
    pub(crate) offset: u32,
    /// Bytes from one element to the next.
    pub(crate) stride: u32,
}

/// One word, or half of one, of a value in a buffer.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Part {
    pub(crate) reg: Reg,
    /// Bytes from the start of the value.
    pub(crate) offset: u32,
    pub(crate) size: PartSize,
}

/// How much of a register a buffer holds.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum PartSize {
    Half,
    Word,
}

/// Memory that the invocations of a workgroup share.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Shared {
    /// Index into the kernel's bindings.
    Buffer(u32),
    Workgroup,
}

/// A load from, or a store to, shared memory.
#[derive(Debug)]
pub(crate) struct Access {
    pub(crate) memory: Shared,
    pub(crate) address: Address,
    pub(crate) parts: Box<[Part]>,
    /// Whether the type is `atomic<…>`.
    pub(crate) atomic: bool,
}

/// An access to a variable in registers at an index that is only known when the kernel runs.
#[derive(Debug)]
pub(crate) struct LaneAccess {
    /// First register of the variable.
    pub(crate) base: Reg,
    pub(crate) offset: u32,
    pub(crate) index: DynamicIndex,
    pub(crate) regs: Box<[Reg]>,
}

/// An atomic read-modify-write.
#[derive(Debug)]
pub(crate) struct Atomic {
    pub(crate) memory: Shared,
    pub(crate) address: Address,
    pub(crate) fun: AtomicKind,
    pub(crate) signed: bool,
    /// One register, or two for 64 bits.
    pub(crate) value: Box<[Reg]>,
    /// The old value, and whether a compare-exchange exchanged; empty when nobody asks.
    pub(crate) result: Box<[Reg]>,
}

/// What an atomic operation does.
#[derive(Clone, Debug)]
pub(crate) enum AtomicKind {
    Plain(PlainAtomic),
    CompareExchange(Box<[Reg]>),
}

/// An atomic function without a comparison.
#[derive(Clone, Copy, Debug)]
pub(crate) enum PlainAtomic {
    Add,
    Subtract,
    And,
    Xor,
    Or,
    Min,
    Max,
    Exchange,
}

impl PlainAtomic {
    pub(crate) fn new(fun: &AtomicFunction) -> Self {
        match fun {
            AtomicFunction::Add => Self::Add,
            AtomicFunction::Subtract => Self::Subtract,
            AtomicFunction::And => Self::And,
            AtomicFunction::ExclusiveOr => Self::Xor,
            AtomicFunction::InclusiveOr => Self::Or,
            AtomicFunction::Min => Self::Min,
            AtomicFunction::Max => Self::Max,
            AtomicFunction::Exchange { .. } => Self::Exchange,
        }
    }
}

/// An operation between the lanes of a subgroup.
#[derive(Debug)]
pub(crate) enum Subgroup {
    Ballot {
        predicate: Reg,
    },
    /// Takes the value of another lane, or 0 where that is not active.
    Gather(Gather),
    /// `combine` reads accumulator and value, and writes the accumulator.
    Collective {
        kind: CollectiveOperation,
        combine: Combine,
        /// The words of the neutral element.
        neutral: [u32; 2],
    },
}

/// Folds a value into an accumulator.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Combine {
    pub(crate) op: SubgroupOperation,
    pub(crate) num: crate::layout::Num,
}

/// Which lane to take a value from.
#[derive(Clone, Copy, Debug)]
pub(crate) enum Gather {
    First,
    Lane(Reg),
    Down(Reg),
    Up(Reg),
    Xor(Reg),
    QuadLane(Reg),
    QuadXor(u32),
}

/// One instruction. Only those that say so look at which lanes are active.
#[derive(Debug)]
pub(crate) enum Inst {
    /// A function of up to three registers; the rest of `src` is ignored.
    Narrow {
        run: Narrow,
        dst: Reg,
        src: [Reg; 3],
    },
    /// A function of any number of registers.
    Wide {
        run: Wide,
        dst: Box<[Reg]>,
        src: Box<[Reg]>,
    },
    /// Copies all lanes.
    Copy {
        dst: Reg,
        src: Reg,
    },
    /// Copies active lanes.
    Move {
        dst: Reg,
        src: Reg,
    },
    BuiltIn {
        built_in: BuiltIn,
        dst: Box<[Reg]>,
    },
    /// Adds `index * stride` to an address, and checks the index.
    Index {
        to: DynamicIndex,
        from: Option<DynamicIndex>,
        index: Reg,
        stride: u32,
        length: Length,
    },
    ArrayLength {
        dst: Reg,
        array: RuntimeArray,
    },
    Load(Box<Access>),
    /// Active lanes only, as are all that follow up to `Subgroup`.
    Store(Box<Access>),
    LoadLanes(Box<LaneAccess>),
    StoreLanes(Box<LaneAccess>),
    Atomic(Box<Atomic>),
    Barrier(Barrier),
    Subgroup {
        operation: Box<Subgroup>,
        words: u32,
        dst: Box<[Reg]>,
        src: Box<[Reg]>,
    },
    /// Leaves the lanes active where `condition` holds; goes to `skip` if there are none.
    If {
        condition: Reg,
        saved: Reg,
        skip: usize,
    },
    /// The other lanes of an `If`.
    Else {
        condition: Reg,
        saved: Reg,
        skip: usize,
    },
    /// Activates `saved` but for the lanes that `left`; goes to `skip` if there are none.
    Restore {
        saved: Reg,
        left: Option<Reg>,
        skip: usize,
    },
    /// Keeps which lanes are active.
    Save(Reg),
    /// Sets a mask to no lanes.
    Clear(Reg),
    /// Adds the active lanes to the masks, and deactivates them; goes to `skip` if none is left.
    Leave {
        /// Takes the lanes alone where a register has this value.
        condition: Option<(Reg, bool)>,
        masks: Box<[Reg]>,
        skip: usize,
    },
    /// Activates `saved` but for the lanes that are `out`, and goes to `top` if there are any.
    Repeat {
        saved: Reg,
        out: Reg,
        top: usize,
    },
    Call {
        function: usize,
    },
    Return,
}
