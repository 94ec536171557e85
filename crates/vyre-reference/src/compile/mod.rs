//! From naga's IR to [`Code`].
//!
//! Each function is compiled once (once for each set of variables that its pointer arguments point
//! into, so that every access knows its variable). WGSL has no recursion, so each function has
//! registers of its own, and a call copies arguments and jumps.

mod constant;
mod frame;
mod statement;
mod control;
mod call;
mod place;
mod expression;
mod arithmetic;
mod math;
mod geometry;
mod order;

use std::collections::HashMap;
use std::rc::Rc;
use std::{io, thread};

use vyre_core::kernel::Kernel;
use vyre_core::naga::valid::ModuleInfo;
use vyre_core::naga::{AddressSpace, Function, GlobalVariable, Handle, Module, Span};

use crate::code::{Code, Inst, Reg};
use crate::layout;
use call::{ArgumentKey, Signature};
use place::{Place, Root};

/// Why a kernel does not run here.
#[derive(Debug, thiserror::Error)]
pub(crate) enum CompileError {
    /// Something that WGSL kernels don't have, as far as known.
    #[error("the reference backend does not run {0}")]
    Unsupported(&'static str),
    /// A value of more words than can be counted.
    #[error("a value or variable takes more than 16 GiB; make it smaller")]
    TooLarge,
    /// Registers that don't fit a sensible amount of memory.
    #[error(
        "the variables and values of one workgroup take {bytes} bytes but the limit is {limit}; \
         make private arrays smaller"
    )]
    TooManyRegisters { bytes: u64, limit: u64 },
    /// No thread to compile on.
    #[error("no thread to compile the kernel on; end some other work first")]
    Thread(#[from] io::Error),
    /// A defect of the compiler.
    #[error("the compiler of the reference backend failed; please report the kernel")]
    Panic,
}

/// Bytes of registers that one workgroup may take, and what a register takes beside its words.
const MAX_REGISTER_BYTES: u64 = 512 << 20;
const REGISTER_OVERHEAD: u64 = 48;

/// Stack that compiling takes at least, and more for each byte of source: functions that call each
/// other in a chain, and nested statements, are compiled recursively.
const BASE_STACK: usize = 4 << 20;
const STACK_PER_BYTE: usize = 2 << 10;
/// Address space is reserved and not memory; beyond this it could be refused.
const MAX_STACK: usize = 1 << 30;

/// Compiles the entry point of `kernel` and all it calls, on a stack that is large enough.
pub(crate) fn compile(kernel: &Kernel) -> Result<Code, CompileError> {
    let stack = kernel.source().len().saturating_mul(STACK_PER_BYTE);
    let builder = thread::Builder::new()
        .name("vyre reference compiler".to_owned())
        .stack_size(stack.saturating_add(BASE_STACK).min(MAX_STACK));
    thread::scope(|scope| {
        let worker = builder.spawn_scoped(scope, || compile_here(kernel))?;
        worker.join().unwrap_or(Err(CompileError::Panic))
    })
}

fn compile_here(kernel: &Kernel) -> Result<Code, CompileError> {
    let mut compiler = Compiler::new(kernel)?;
    compiler.add_entry_point(kernel.entry_point_index())?;
    Ok(compiler.finish(kernel))
}

/// What the functions of a kernel share.
struct Compiler<'a> {
    module: &'a Module,
    info: &'a ModuleInfo,
    /// The first byte of every line of the source but the first.
    line_starts: Vec<usize>,
    globals: HashMap<Handle<GlobalVariable>, Place>,
    workgroup_words: u32,
    register_bytes: u64,
    constants: HashMap<u32, Reg>,
    next_register: u32,
    /// Whether a register belongs to a variable, which stores change.
    is_variable: Vec<bool>,
    insts: Vec<Inst>,
    lines: Vec<u32>,
    functions: Vec<usize>,
    signatures: HashMap<(Handle<Function>, Vec<ArgumentKey>), Rc<Signature>>,
}

impl<'a> Compiler<'a> {
    fn new(kernel: &'a Kernel) -> Result<Self, CompileError> {
        let lanes = kernel.workgroup_size().map(u64::from);
        let source = kernel.source().bytes().enumerate();
        let newlines = source.filter(|&(_, byte)| byte == b'\n');
        let mut compiler = Self {
            module: kernel.module(),
            info: kernel.module_info(),
            line_starts: newlines.map(|(index, _)| index + 1).collect(),
            globals: HashMap::new(),
            workgroup_words: 0,
            register_bytes: 4 * lanes.iter().product::<u64>() + REGISTER_OVERHEAD,
            constants: HashMap::new(),
            next_register: 0,
            is_variable: Vec::new(),
            insts: Vec::new(),
            lines: Vec::new(),
            functions: Vec::new(),
            signatures: HashMap::new(),
        };
        for (index, binding) in (0..).zip(kernel.bindings()) {
            let place = Place::at(Root::Buffer(index), 0);
            compiler.globals.insert(binding.variable, place);
        }
        for (handle, variable) in kernel.module().global_variables.iter() {
            compiler.place_global(handle, variable)?;
        }
        Ok(compiler)
    }

    fn place_global(
        &mut self,
        handle: Handle<GlobalVariable>,
        variable: &GlobalVariable,
    ) -> Result<(), CompileError> {
        let place = match variable.space {
            AddressSpace::WorkGroup => {
                let words = layout::words_of(self.module, variable.ty)?;
                let offset = self.workgroup_words;
                let end = offset.checked_add(words);
                self.workgroup_words = end.ok_or(CompileError::TooLarge)?;
                Place::at(Root::Workgroup, offset)
            }
            AddressSpace::Private => {
                let len = layout::words_of(self.module, variable.ty)?;
                let base = self.new_variable(len)?;
                Place::at(Root::Lanes { base, len }, 0)
            }
            _ => return Ok(()),
        };
        self.globals.insert(handle, place);
        Ok(())
    }

    /// A register that nothing else uses.
    fn new_register(&mut self) -> Result<Reg, CompileError> {
        self.new_block(1, false)
    }

    /// Contiguous registers of a variable.
    fn new_variable(&mut self, words: u32) -> Result<Reg, CompileError> {
        self.new_block(words, true)
    }

    fn new_block(&mut self, words: u32, is_variable: bool) -> Result<Reg, CompileError> {
        let first = Reg(self.next_register);
        let next = self.next_register.checked_add(words);
        let next = next.ok_or(CompileError::TooLarge)?;
        let bytes = u64::from(next).saturating_mul(self.register_bytes);
        if bytes > MAX_REGISTER_BYTES {
            let limit = MAX_REGISTER_BYTES;
            return Err(CompileError::TooManyRegisters { bytes, limit });
        }
        self.next_register = next;
        self.is_variable.resize(next as usize, is_variable);
        Ok(first)
    }

    /// The register that holds `word` in all lanes.
    fn constant(&mut self, word: u32) -> Result<Reg, CompileError> {
        if let Some(&reg) = self.constants.get(&word) {
            return Ok(reg);
        }
        let reg = self.new_register()?;
        self.constants.insert(word, reg);
        Ok(reg)
    }

    /// The line that `span` starts in, from 1; 0 if it is unknown.
    fn line(&self, span: Span) -> u32 {
        let line = span.to_range().map_or(0, |range| {
            self.line_starts
                .partition_point(|&start| start <= range.start)
                + 1
        });
        u32::try_from(line).unwrap_or(0)
    }

    /// Appends the instructions of a function, whose jumps are relative to its start.
    fn link(&mut self, insts: Vec<Inst>, lines: Vec<u32>) -> usize {
        let start = self.insts.len();
        self.functions.push(start);
        self.lines.extend(lines);
        self.insts.extend(insts.into_iter().map(|mut inst| {
            if let Inst::If { skip: target, .. }
            | Inst::Else { skip: target, .. }
            | Inst::Restore { skip: target, .. }
            | Inst::Leave { skip: target, .. }
            | Inst::Repeat { top: target, .. } = &mut inst
            {
                *target += start;
            }
            inst
        }));
        self.functions.len() - 1
    }

    fn finish(self, kernel: &Kernel) -> Code {
        let constants = self.constants.into_iter().map(|(word, reg)| (reg, word));
        Code {
            insts: self.insts,
            lines: self.lines,
            functions: self.functions,
            register_count: self.next_register as usize,
            constants: constants.collect(),
            workgroup_size: kernel.workgroup_size(),
            workgroup_words: self.workgroup_words as usize,
            order: order::of(kernel),
        }
    }
}
