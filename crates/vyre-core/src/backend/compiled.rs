//! A program made ready for one backend.

use std::any::Any;
use std::fmt;
use std::sync::Arc;

use crate::program::Program;

/// A program whose kernels a backend has compiled.
///
/// It keeps what the backend compiled alive: a dispatch of [`program`](Self::program) on the same
/// backend compiles nothing.
#[derive(Clone)]
pub struct CompiledPipeline {
    program: Program,
    state: Option<Arc<dyn Any + Send + Sync>>,
}

impl CompiledPipeline {
    /// A program that needs no compilation.
    #[must_use]
    pub fn interpreted(program: Program) -> Self {
        Self {
            program,
            state: None,
        }
    }

    /// A program and what the backend made of it.
    #[must_use]
    pub fn new(program: Program, state: Arc<dyn Any + Send + Sync>) -> Self {
        Self {
            program,
            state: Some(state),
        }
    }

    /// The program.
    #[must_use]
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// What the backend made of the program; its type is the backend's own.
    #[must_use]
    pub fn state(&self) -> Option<&(dyn Any + Send + Sync)> {
        self.state.as_deref()
    }
}

impl fmt::Debug for CompiledPipeline {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("CompiledPipeline")
            .field("program", &self.program.label())
            .finish_non_exhaustive()
    }
}
