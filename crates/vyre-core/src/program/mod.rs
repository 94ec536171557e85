//! `Program`: declared buffers, ops over them, and the dependencies between the ops.
//!
//! The way to one: `builder` (buffers and ops) → `check` (everything that can be known) → `hazard`
//! (who must wait for whom) → `graph`.

mod buffer;
mod builder;
mod check;
mod error;
mod graph;
mod hazard;
#[cfg(test)]
mod tests;

use std::{
    fmt,
    sync::{
        Arc, Weak,
        atomic::{AtomicU64, Ordering},
    },
};

pub use buffer::{
    BINDING_OFFSET_ALIGNMENT, BoundRange, BufferDecl, BufferId, BufferRole, BufferSlice,
};
pub use builder::{OpBuilder, ProgramBuilder};
pub use error::{BindingSite, OpSite, ProgramError};
pub use graph::DependencyGraph;

use crate::{backend::Limits, error::BackendError, kernel::Kernel};
use hazard::Hazards;

/// Buffers, and the ops that run over them; checked, immutable and cheap to clone.
///
/// Ops run as if one after the other, in the order in which they were added. Which of them may
/// really run at once follows from the bytes they touch ([`dependencies`](Self::dependencies)).
///
/// ```
/// use vyre_core::{kernel::Kernel, program::Program};
///
/// let scale = Kernel::from_wgsl(
///     "@group(0) @binding(0) var<uniform> factor: f32;
///      @group(0) @binding(1) var<storage, read> x: array<f32>;
///      @group(0) @binding(2) var<storage, read_write> scaled: array<f32>;
///
///      @compute @workgroup_size(64)
///      fn scale(@builtin(global_invocation_id) id: vec3<u32>) {
///          scaled[id.x] = factor * x[id.x];
///      }",
/// )?;
/// let add = Kernel::from_wgsl(
///     "@group(0) @binding(0) var<storage, read> term: array<f32>;
///      @group(0) @binding(1) var<storage, read_write> sum: array<f32>;
///
///      @compute @workgroup_size(64)
///      fn add(@builtin(global_invocation_id) id: vec3<u32>) {
///          sum[id.x] += term[id.x];
///      }",
/// )?;
///
/// let (len, grid) = (1024 * 4, [16, 1, 1]);
/// let mut builder = Program::builder("saxpy");
/// let a = builder.constant("a", 2.0_f32.to_le_bytes());
/// let x = builder.input("x", len);
/// let y = builder.in_out("y", len);
/// let ax = builder.scratch("ax", len);
/// builder.op(&scale, grid).bind("factor", a).bind("x", x).bind("scaled", ax);
/// builder.op(&add, grid).bind("term", ax).bind("sum", y);
/// let program = builder.build()?;
///
/// assert_eq!(program.dependencies().predecessors(1), [0]);
/// assert_eq!(program.inputs().len(), 2);
/// assert_eq!(program.output_bytes(), len);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone)]
pub struct Program(Arc<Inner>);

struct Inner {
    id: ProgramId,
    parts: Parts,
    inputs: Vec<BufferId>,
    outputs: Vec<BufferId>,
    row: Vec<BufferId>,
    dependencies: DependencyGraph,
}

/// What the builder collects and the program keeps.
#[derive(Debug, Default)]
struct Parts {
    label: String,
    buffers: Vec<BufferDecl>,
    kernels: Vec<Kernel>,
    ops: Vec<Op>,
    /// For each op in turn, one range per binding of its kernel.
    bound: Vec<BoundRange>,
}

impl Parts {
    fn bindings(&self, op: &Op) -> &[BoundRange] {
        let bindings = self.kernels[op.kernel as usize].bindings().len();
        &self.bound[op.first_binding..op.first_binding + bindings]
    }

    fn dependencies(&self) -> DependencyGraph {
        let mut hazards = Hazards::new(self.ops.len());
        // Where each buffer starts when all lie end to end; `check` has seen that 64 bits suffice.
        let starts = self.buffers.iter().scan(0, |next, buffer| {
            let start = *next;
            *next += buffer.byte_len();
            Some(start)
        });
        let starts: Vec<u64> = starts.collect();
        for op in &self.ops {
            let bindings = self.kernels[op.kernel as usize].bindings();
            for (binding, range) in bindings.iter().zip(self.bindings(op)) {
                let buffer = range.buffer.index();
                let start = starts[buffer] + range.offset;
                let bytes = start..start + range.byte_len;
                if binding.access.writes() {
                    hazards.write(bytes);
                } else if binding.access.reads() && self.buffers[buffer].role().is_writable() {
                    hazards.read(bytes);
                }
            }
            hazards.end_op();
        }
        hazards.finish()
    }
}

impl Program {
    /// Starts a program; the label is for people.
    pub fn builder(label: impl Into<String>) -> ProgramBuilder {
        ProgramBuilder::new(label.into())
    }

    /// Finishes parts that have been checked.
    fn new(parts: Parts, tag: u32) -> Self {
        static NEXT_ID: AtomicU64 = AtomicU64::new(0);
        let ids = |wanted: fn(&BufferDecl) -> bool| {
            let ids = (0..).zip(&parts.buffers);
            ids.filter(|(_, buffer)| wanted(buffer))
                .map(|(index, _)| BufferId::new(index, tag))
                .collect()
        };
        Self(Arc::new(Inner {
            id: ProgramId(NEXT_ID.fetch_add(1, Ordering::Relaxed)),
            inputs: ids(BufferDecl::is_input),
            outputs: ids(BufferDecl::is_output),
            row: ids(|buffer| buffer.is_input() || buffer.is_output()),
            dependencies: parts.dependencies(),
            parts,
        }))
    }

    /// Tells this program, and its clones, from all others of the process.
    pub fn id(&self) -> ProgramId {
        self.0.id
    }

    /// The label given to [`Program::builder`].
    pub fn label(&self) -> &str {
        &self.0.parts.label
    }

    /// All buffers, in declaration order; [`BufferId::index`] is the place.
    pub fn buffers(&self) -> &[BufferDecl] {
        &self.0.parts.buffers
    }

    /// The buffers that a dispatch takes from the caller, in declaration order.
    pub fn inputs(&self) -> impl ExactSizeIterator<Item = (BufferId, &BufferDecl)> + Clone {
        self.declared(&self.0.inputs)
    }

    /// The buffers that a dispatch hands back to the caller, in declaration order.
    pub fn outputs(&self) -> impl ExactSizeIterator<Item = (BufferId, &BufferDecl)> + Clone {
        self.declared(&self.0.outputs)
    }

    /// The buffers that a row of resident buffers stands for: inputs and outputs, in declaration
    /// order.
    pub fn row_buffers(&self) -> impl ExactSizeIterator<Item = (BufferId, &BufferDecl)> + Clone {
        self.declared(&self.0.row)
    }

    /// The distinct kernels, in the order of their first use.
    pub fn kernels(&self) -> &[Kernel] {
        &self.0.parts.kernels
    }

    /// The ops, in the order in which they seem to run.
    pub fn ops(&self) -> &[Op] {
        &self.0.parts.ops
    }

    /// What op `op` binds, in the order of its kernel's [`bindings`](Kernel::bindings).
    ///
    /// # Panics
    ///
    /// If there is no op `op`.
    pub fn bindings(&self, op: usize) -> &[BoundRange] {
        self.0.parts.bindings(&self.0.parts.ops[op])
    }

    /// Which op has to wait for which.
    pub fn dependencies(&self) -> &DependencyGraph {
        &self.0.dependencies
    }

    /// Bytes that a dispatch takes from the caller.
    pub fn input_bytes(&self) -> u64 {
        self.inputs().map(|(_, buffer)| buffer.byte_len()).sum()
    }

    /// Bytes that a dispatch hands back to the caller.
    pub fn output_bytes(&self) -> u64 {
        self.outputs().map(|(_, buffer)| buffer.byte_len()).sum()
    }

    /// Checks that `inputs` match the declared [`inputs`](Self::inputs) in number and length.
    ///
    /// # Errors
    ///
    /// [`BackendError::InputCount`] or [`BackendError::InputLength`].
    pub fn check_inputs(&self, inputs: &[&[u8]]) -> Result<(), BackendError> {
        let declared = self.inputs();
        if declared.len() != inputs.len() {
            return Err(BackendError::InputCount {
                expected: declared.len(),
                given: inputs.len(),
            });
        }
        for (index, ((_, buffer), input)) in declared.zip(inputs).enumerate() {
            let (expected, given) = (buffer.byte_len(), input.len() as u64);
            if expected != given {
                return Err(BackendError::InputLength {
                    index,
                    name: buffer.name().to_owned(),
                    expected,
                    given,
                });
            }
        }
        Ok(())
    }

    /// What every buffer holds when a dispatch begins, in declaration order: the bytes of `inputs`,
    /// which [`check_inputs`](Self::check_inputs) has let through, those of constants, and zeros.
    ///
    /// For backends that work in the host's memory.
    pub fn initial_buffers(&self, inputs: &[&[u8]]) -> Vec<Vec<u8>> {
        let mut inputs = inputs.iter();
        let initial = self.buffers().iter().map(|buffer| {
            let given = match buffer.is_input() {
                true => inputs.next().copied(),
                false => buffer.contents().map(|contents| &contents[..]),
            };
            let zeros = || vec![0; usize::try_from(buffer.byte_len()).unwrap_or(usize::MAX)];
            given.map_or_else(zeros, <[u8]>::to_vec)
        });
        initial.collect()
    }

    /// Checks the program against other limits than it was built with, such as a device's own.
    ///
    /// # Errors
    ///
    /// The first op that is over a limit.
    pub fn check_limits(&self, limits: &Limits) -> Result<(), ProgramError> {
        check::check(&self.0.parts, limits)
    }

    /// A handle that doesn't keep the program alive.
    pub fn downgrade(&self) -> WeakProgram {
        WeakProgram(Arc::downgrade(&self.0))
    }

    fn declared<'a>(
        &'a self,
        ids: &'a [BufferId],
    ) -> impl ExactSizeIterator<Item = (BufferId, &'a BufferDecl)> + Clone {
        ids.iter().map(|&id| (id, &self.buffers()[id.index()]))
    }
}

impl fmt::Debug for Program {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("Program")
            .field("id", &self.id().0)
            .field("label", &self.label())
            .field("buffers", &self.buffers().len())
            .field("kernels", &self.kernels().len())
            .field("ops", &self.ops().len())
            .finish()
    }
}

/// Tells one program of the process from all others; clones of a program share theirs.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct ProgramId(u64);

/// Knows whether a program still exists, for caches that outlive programs.
#[derive(Clone)]
pub struct WeakProgram(Weak<Inner>);

impl WeakProgram {
    /// Whether some clone of the program is left.
    pub fn is_alive(&self) -> bool {
        self.0.strong_count() > 0
    }
}

impl fmt::Debug for WeakProgram {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_tuple("WeakProgram")
            .field(&self.is_alive())
            .finish()
    }
}

/// One run of a kernel over a grid of workgroups.
#[derive(Clone, Copy, Debug)]
pub struct Op {
    kernel: u32,
    grid: [u32; 3],
    /// Where its ranges start in `Parts::bound`.
    first_binding: usize,
}

impl Op {
    /// Index of the kernel in [`Program::kernels`].
    pub fn kernel(&self) -> u32 {
        self.kernel
    }

    /// Workgroups along x, y and z; none is zero.
    pub fn grid(&self) -> [u32; 3] {
        self.grid
    }
}
