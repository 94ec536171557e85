//! The compiled kernels of a backend, for as long as their programs live.

use std::collections::HashMap;
use std::sync::atomic::AtomicU32;
use std::sync::{Arc, Mutex, PoisonError, Weak};

use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;
use vyre_core::program::{Program, ProgramId, WeakProgram};

use crate::buffer;
use crate::code::Code;
use crate::compile::compile;
use crate::machine::State;

/// A kernel that is ready to run.
#[derive(Debug)]
pub(crate) struct CompiledKernel {
    pub(crate) code: Code,
    /// Workgroup memory that ran before and is free now.
    idle: Mutex<Vec<State>>,
}

impl CompiledKernel {
    fn new(kernel: &Kernel) -> Result<Self, BackendError> {
        let code = compile(kernel).map_err(|source| BackendError::Translation {
            kernel: kernel.entry_point().to_owned(),
            source: source.into(),
        })?;
        Ok(Self {
            code,
            idle: Mutex::default(),
        })
    }

    pub(crate) fn take_state(&self) -> State {
        let idle = self
            .idle
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .pop();
        idle.unwrap_or_else(|| State::new(&self.code))
    }

    pub(crate) fn keep_state(&self, state: State) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        if idle.len() < rayon::current_num_threads() {
            idle.push(state);
        }
    }
}

/// A program that is ready to run.
#[derive(Debug)]
pub(crate) struct CompiledProgram {
    /// In the order of [`Program::kernels`].
    pub(crate) kernels: Vec<Arc<CompiledKernel>>,
    /// The words of constants, in the order of [`Program::buffers`]; empty for other buffers.
    pub(crate) constants: Vec<Vec<AtomicU32>>,
}

/// Compiled programs, and the kernels they share.
#[derive(Debug, Default)]
pub(crate) struct Programs(Mutex<Tables>);

#[derive(Debug, Default)]
struct Tables {
    programs: HashMap<ProgramId, (WeakProgram, Arc<CompiledProgram>)>,
    kernels: HashMap<Kernel, Weak<CompiledKernel>>,
}

impl Programs {
    /// What was compiled for `program`, compiling it if need be.
    pub(crate) fn get(&self, program: &Program) -> Result<Arc<CompiledProgram>, BackendError> {
        let mut tables = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compiled)) = tables.programs.get(&program.id()) {
            return Ok(Arc::clone(compiled));
        }
        let kernels = program.kernels().iter();
        let kernels = kernels
            .map(|kernel| tables.kernel(kernel))
            .collect::<Result<_, _>>()?;
        let constants = program.buffers().iter().map(|decl| {
            let contents = decl.contents();
            contents.map_or_else(Vec::new, |bytes| buffer::from_bytes(bytes))
        });
        let compiled = Arc::new(CompiledProgram {
            kernels,
            constants: constants.collect(),
        });
        tables.programs.retain(|_, (weak, _)| weak.is_alive());
        tables.kernels.retain(|_, kernel| kernel.strong_count() > 0);
        let entry = (program.downgrade(), Arc::clone(&compiled));
        tables.programs.insert(program.id(), entry);
        Ok(compiled)
    }
}

impl Tables {
    fn kernel(&mut self, kernel: &Kernel) -> Result<Arc<CompiledKernel>, BackendError> {
        if let Some(compiled) = self.kernels.get(kernel).and_then(Weak::upgrade) {
            return Ok(compiled);
        }
        let compiled = Arc::new(CompiledKernel::new(kernel)?);
        let weak = Arc::downgrade(&compiled);
        self.kernels.insert(kernel.clone(), weak);
        Ok(compiled)
    }
}
