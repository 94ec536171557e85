//! `ProgramBuilder`: declares buffers, adds ops, and hands out the finished program.

use std::{
    collections::HashMap,
    sync::{
        Arc,
        atomic::{AtomicU32, Ordering},
    },
};

use crate::{backend::Limits, kernel::Kernel};

use super::{
    BoundRange, BufferDecl, BufferId, BufferRole, BufferSlice, Op, OpSite, Parts, Program,
    ProgramError, check,
};

/// Builds a [`Program`].
///
/// Nothing here fails or panics at once: the first error is kept, and [`build`](Self::build)
/// returns it.
#[derive(Debug)]
pub struct ProgramBuilder {
    /// Marks the buffer ids handed out.
    tag: u32,
    parts: Parts,
    kernel_indices: HashMap<Kernel, u32>,
    limits: Limits,
    error: Option<ProgramError>,
}

impl ProgramBuilder {
    pub(super) fn new(label: String) -> Self {
        static NEXT_TAG: AtomicU32 = AtomicU32::new(0);
        Self {
            tag: NEXT_TAG.fetch_add(1, Ordering::Relaxed),
            parts: Parts {
                label,
                ..Parts::default()
            },
            kernel_indices: HashMap::new(),
            limits: Limits::default(),
            error: None,
        }
    }

    /// Checks the program against these limits instead of [`Limits::default`].
    pub fn limits(&mut self, limits: Limits) -> &mut Self {
        self.limits = limits;
        self
    }

    /// Declares `byte_len` bytes that the caller gives to each dispatch.
    pub fn input(&mut self, name: impl Into<String>, byte_len: u64) -> BufferId {
        self.declare(BufferDecl::new(name.into(), byte_len, BufferRole::Input))
    }

    /// Declares `byte_len` bytes that start as zeros and that each dispatch hands back.
    pub fn output(&mut self, name: impl Into<String>, byte_len: u64) -> BufferId {
        self.declare(BufferDecl::new(name.into(), byte_len, BufferRole::Output))
    }

    /// Declares `byte_len` bytes that the caller gives to each dispatch and gets back changed.
    pub fn in_out(&mut self, name: impl Into<String>, byte_len: u64) -> BufferId {
        self.declare(BufferDecl::new(name.into(), byte_len, BufferRole::InOut))
    }

    /// Declares `byte_len` bytes that start as zeros and are gone after a dispatch.
    pub fn scratch(&mut self, name: impl Into<String>, byte_len: u64) -> BufferId {
        self.declare(BufferDecl::new(name.into(), byte_len, BufferRole::Scratch))
    }

    /// Declares a buffer that holds `contents` in every dispatch.
    pub fn constant(
        &mut self,
        name: impl Into<String>,
        contents: impl Into<Arc<[u8]>>,
    ) -> BufferId {
        self.declare(BufferDecl::constant(name.into(), contents.into()))
    }

    /// Adds an op: `kernel` over `grid` workgroups along x, y and z.
    ///
    /// Bind a buffer to each variable that the kernel uses.
    pub fn op(&mut self, kernel: &Kernel, grid: [u32; 3]) -> OpBuilder<'_> {
        let first_binding = self.parts.bound.len();
        match next_index(self.parts.ops.len()) {
            Some(_) => {
                let kernel_index = self.intern(kernel);
                let bindings = kernel.bindings().len();
                self.parts
                    .bound
                    .resize(first_binding + bindings, BoundRange::UNBOUND);
                self.parts.ops.push(Op {
                    kernel: kernel_index,
                    grid,
                    first_binding,
                });
            }
            None => self.fail(ProgramError::TooMany { what: "ops" }),
        }
        OpBuilder { builder: self }
    }

    /// Checks everything and derives the dependencies between the ops.
    ///
    /// # Errors
    ///
    /// The first error met, with the op, the variable, the buffer and the figures.
    pub fn build(self) -> Result<Program, ProgramError> {
        if let Some(error) = self.error {
            return Err(error);
        }
        check::check(&self.parts, &self.limits)?;
        Ok(Program::new(self.parts, self.tag))
    }

    fn declare(&mut self, buffer: BufferDecl) -> BufferId {
        let index = next_index(self.parts.buffers.len());
        match index {
            Some(_) => self.parts.buffers.push(buffer),
            None => self.fail(ProgramError::TooMany { what: "buffers" }),
        }
        BufferId::new(index.unwrap_or_default(), self.tag)
    }

    /// The index of `kernel` among the distinct ones, whose number is at most that of the ops.
    fn intern(&mut self, kernel: &Kernel) -> u32 {
        let kernels = &mut self.parts.kernels;
        if let Some(last) = self.parts.ops.last()
            && kernels[last.kernel as usize] == *kernel
        {
            return last.kernel;
        }
        if let Some(&index) = self.kernel_indices.get(kernel) {
            return index;
        }
        let index = next_index(kernels.len()).unwrap_or_default();
        kernels.push(kernel.clone());
        self.kernel_indices.insert(kernel.clone(), index);
        index
    }

    fn fail(&mut self, error: ProgramError) {
        self.error.get_or_insert(error);
    }
}

/// `len` as the index of one more, with one index left over to mean none.
fn next_index(len: usize) -> Option<u32> {
    u32::try_from(len).ok().filter(|&index| index < u32::MAX)
}

/// Binds buffers to the op added last.
#[derive(Debug)]
pub struct OpBuilder<'a> {
    builder: &'a mut ProgramBuilder,
}

impl OpBuilder<'_> {
    /// Binds a buffer, or a [slice](BufferId::slice) of one, to a variable of the kernel.
    ///
    /// A variable that the source declares and the kernel doesn't use may be bound too, with no
    /// effect.
    pub fn bind(&mut self, variable: &str, buffer: impl Into<BufferSlice>) -> &mut Self {
        if self.builder.error.is_none()
            && let Err(error) = self.try_bind(variable, buffer.into())
        {
            self.builder.fail(error);
        }
        self
    }

    fn try_bind(&mut self, variable: &str, slice: BufferSlice) -> Result<(), ProgramError> {
        let ProgramBuilder { tag, parts, .. } = &mut *self.builder;
        let Some(op) = parts.ops.last() else {
            return Ok(());
        };
        let kernel = &parts.kernels[op.kernel as usize];
        let site = || OpSite {
            op: parts.ops.len() - 1,
            kernel: kernel.entry_point().to_owned(),
        };
        let mut bindings = kernel.bindings().iter();
        let Some(slot) = bindings.position(|binding| binding.name == variable) else {
            return check_unused(kernel, variable, site);
        };
        let binding = || variable.to_owned();
        if slice.buffer.builder() != *tag {
            return Err(ProgramError::ForeignBuffer {
                op: site(),
                binding: binding(),
            });
        }
        let bound = &mut parts.bound[op.first_binding + slot];
        if bound.is_bound() {
            return Err(ProgramError::BoundTwice {
                op: site(),
                binding: binding(),
            });
        }
        let whole = parts.buffers[slice.buffer.index()].byte_len();
        let (offset, byte_len) = slice.range.unwrap_or((0, whole));
        *bound = BoundRange {
            buffer: slice.buffer,
            offset,
            byte_len,
        };
        Ok(())
    }
}

/// Accepts a variable that the kernel's source declares, though the kernel doesn't use it.
fn check_unused(
    kernel: &Kernel,
    variable: &str,
    op: impl FnOnce() -> OpSite,
) -> Result<(), ProgramError> {
    let mut unused = kernel.unused_bindings().iter();
    if unused.any(|unused| unused.name == variable) {
        return Ok(());
    }
    let bindings = kernel.bindings().iter();
    Err(ProgramError::UnknownBinding {
        op: op(),
        binding: variable.to_owned(),
        available: bindings.map(|binding| binding.name.clone()).collect(),
    })
}
