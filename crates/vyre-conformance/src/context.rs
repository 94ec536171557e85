//! What a case gets to work with: the backend under test, randomness, and short ways to run kernels.

use std::sync::Arc;

use vyre_core::backend::{DispatchConfig, OutputBuffers, VyreBackend};
use vyre_core::error::BackendError;
use vyre_core::kernel::{Capability, Kernel};
use vyre_core::program::Program;

use crate::case::{Fault, Need};
use crate::kit::Open;
use crate::random::Random;

/// The backend under test, and what a case may ask of the kit.
pub struct Context {
    pub(crate) backend: Arc<dyn VyreBackend>,
    pub(crate) oracle: Option<Arc<dyn VyreBackend>>,
    pub(crate) open: Arc<Open>,
    pub(crate) seed: u64,
    pub(crate) kernels: usize,
}

impl Context {
    pub(crate) fn backend(&self) -> &dyn VyreBackend {
        &*self.backend
    }

    /// Another instance of the backend under test.
    pub(crate) fn open_another(&self) -> Result<Arc<dyn VyreBackend>, Fault> {
        Ok((self.open)()?)
    }

    pub(crate) fn random(&self, name: &str) -> Random {
        Random::named(self.seed, name)
    }

    pub(crate) fn has(&self, capability: Capability) -> bool {
        self.backend
            .device_info()
            .capabilities
            .contains(&capability)
    }

    /// What of `needs` the backend lacks.
    pub(crate) fn lacks(&self, needs: &[Need]) -> Option<Need> {
        needs.iter().copied().find(|need| match need {
            Need::Residents => match self.backend.allocate_resident(4) {
                Ok(resource) => self.backend.free_resident(resource).is_err(),
                Err(error) => matches!(error, BackendError::UnsupportedOperation { .. }),
            },
            Need::Capability(capability) => !self.has(*capability),
            Need::Oracle => self.oracle.is_none(),
        })
    }

    pub(crate) fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
    ) -> Result<OutputBuffers, Fault> {
        Ok(self
            .backend
            .dispatch(program, inputs, &DispatchConfig::default())?)
    }

    /// Runs one kernel over in-out buffers, which are bound to its variables in order of their
    /// bindings; gives the words that come back.
    pub(crate) fn run_kernel(
        &self,
        source: &str,
        grid: [u32; 3],
        buffers: &[&[u32]],
    ) -> Result<Vec<Vec<u32>>, Fault> {
        let program = one_op(source, grid, buffers)?;
        let inputs: Vec<Vec<u8>> = buffers.iter().map(|words| bytes(words)).collect();
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let outputs = self.dispatch(&program, &inputs)?;
        outputs.iter().map(|bytes| words(bytes)).collect()
    }
}

/// A program of one op over in-out buffers as long as `buffers`.
pub(crate) fn one_op(source: &str, grid: [u32; 3], buffers: &[&[u32]]) -> Result<Program, Fault> {
    let kernel = Kernel::from_wgsl(source)?;
    let mut builder = Program::builder(kernel.entry_point());
    let ids: Vec<_> = buffers
        .iter()
        .enumerate()
        .map(|(index, words)| builder.in_out(format!("buffer {index}"), 4 * words.len() as u64))
        .collect();
    let mut op = builder.op(&kernel, grid);
    for (binding, id) in kernel.bindings().iter().zip(ids) {
        op.bind(&binding.name, id);
    }
    Ok(builder.build()?)
}

/// Little-endian bytes of words.
pub(crate) fn bytes(words: &[u32]) -> Vec<u8> {
    words.iter().copied().flat_map(u32::to_le_bytes).collect()
}

/// Words of little-endian bytes.
pub(crate) fn words(bytes: &[u8]) -> Result<Vec<u32>, Fault> {
    let (words, rest) = bytes.as_chunks();
    if rest.is_empty() {
        Ok(words.iter().copied().map(u32::from_le_bytes).collect())
    } else {
        let message = format!(
            "an output of {} bytes is no whole number of words",
            bytes.len()
        );
        Err(Fault::new(message))
    }
}

/// Compares words, and names the first that differs.
pub(crate) fn same_words(what: &str, got: &[u32], expected: &[u32]) -> Result<(), Fault> {
    if got.len() != expected.len() {
        let (got, expected) = (got.len(), expected.len());
        return Err(Fault::new(format!("{what}: {got} words, not {expected}")));
    }
    match got
        .iter()
        .zip(expected)
        .position(|(got, expected)| got != expected)
    {
        None => Ok(()),
        Some(at) => Err(Fault::new(format!(
            "{what}: word {at} of {} is {:#010x} ({}), not {:#010x} ({})",
            got.len(),
            got[at],
            got[at],
            expected[at],
            expected[at]
        ))),
    }
}
