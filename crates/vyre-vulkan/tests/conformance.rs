//! The conformance kit on the Vulkan backend, under validation and synchronization validation, with
//! the reference backend as its oracle.

use std::process::ExitCode;
use std::sync::{Arc, Mutex, PoisonError};

use vyre_conformance::Kit;
use vyre_core::backend::VyreBackend;
use vyre_core::error::BackendError;
use vyre_reference::ReferenceBackend;
use vyre_vulkan::{PipelineCacheLocation, Validation, ValidationLog, VulkanBackend, VulkanConfig};

/// The logs of all backends that the kit has opened.
#[derive(Clone, Default)]
struct Logs(Arc<Mutex<Vec<ValidationLog>>>);

impl Logs {
    fn open(&self) -> Result<Arc<dyn VyreBackend>, BackendError> {
        let config = VulkanConfig::from_env()
            .with_validation(Validation::On)
            .with_pipeline_cache(PipelineCacheLocation::None);
        let backend = VulkanBackend::open(&config)?;
        let mut logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        logs.extend(backend.validation_log());
        Ok(Arc::new(backend))
    }

    fn check(&self) -> Result<(), String> {
        let logs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        let said: String = logs.iter().map(ToString::to_string).collect();
        match said.is_empty() {
            true => Ok(()),
            false => Err(format!("validation says:\n{said}")),
        }
    }
}

fn main() -> ExitCode {
    let logs = Logs::default();
    let (opened, checked) = (logs.clone(), logs.clone());
    let kit = Kit::new("vulkan", move || opened.open())
        .with_oracle(Arc::new(ReferenceBackend::default()))
        .after_each_case(move || checked.check())
        .at_the_end(move || logs.check());
    vyre_conformance::main(kit)
}
