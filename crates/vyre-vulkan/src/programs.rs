//! The compiled programs of a backend, for as long as their programs live.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, MutexGuard, PoisonError};

use vyre_core::backend::Resource;
use vyre_core::error::BackendError;
use vyre_core::program::{Program, ProgramId, WeakProgram};

use crate::compiled::CompiledProgram;

/// Compiled programs, by program.
#[derive(Default)]
pub(crate) struct Programs(Mutex<HashMap<ProgramId, Entry>>);

struct Entry {
    program: WeakProgram,
    compiled: Arc<CompiledProgram>,
}

impl Programs {
    /// What was compiled for `program`, or else what `compile` makes of it.
    pub(crate) fn get(
        &self,
        program: &Program,
        compile: impl FnOnce() -> Result<CompiledProgram, BackendError>,
    ) -> Result<Arc<CompiledProgram>, BackendError> {
        if let Some(entry) = self.entries().get(&program.id()) {
            return Ok(Arc::clone(&entry.compiled));
        }
        self.drop_dead();
        // Compiled without the lock; of two threads that do so at once, the first one's is kept.
        let compiled = Arc::new(compile()?);
        let entry = Entry {
            program: program.downgrade(),
            compiled,
        };
        Ok(Arc::clone(
            &self.entries().entry(program.id()).or_insert(entry).compiled,
        ))
    }

    /// Frees what was compiled for programs that are gone.
    pub(crate) fn drop_dead(&self) {
        let dead: Vec<_> = {
            let mut entries = self.entries();
            entries
                .extract_if(|_, entry| !entry.program.is_alive())
                .collect()
        };
        drop(dead);
    }

    /// Lets go of everything over a resident buffer that is being freed.
    pub(crate) fn forget(&self, resource: Resource) {
        let all: Vec<_> = {
            let entries = self.entries();
            entries
                .values()
                .map(|entry| Arc::clone(&entry.compiled))
                .collect()
        };
        all.iter().for_each(|compiled| compiled.forget(resource));
    }

    fn entries(&self) -> MutexGuard<'_, HashMap<ProgramId, Entry>> {
        self.0.lock().unwrap_or_else(PoisonError::into_inner)
    }
}
