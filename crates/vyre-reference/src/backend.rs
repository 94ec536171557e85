//! The reference backend: `VyreBackend` over everything else in this crate.

use std::sync::Arc;
use std::sync::atomic::{AtomicU64, Ordering::Relaxed};

use vyre_core::backend::{
    CompiledPipeline, DeviceInfo, DeviceKind, DispatchConfig, HostResidents, OutputBuffers,
    VyreBackend,
};
use vyre_core::error::BackendError;
use vyre_core::kernel::Capability;
use vyre_core::program::Program;

use crate::config::ReferenceConfig;
use crate::execution::Execution;
use crate::programs::Programs;

/// Runs programs on the host's processor.
///
/// Any number of threads may use one backend at once.
pub struct ReferenceBackend {
    info: DeviceInfo,
    config: ReferenceConfig,
    programs: Programs,
    residents: HostResidents,
    instructions: AtomicU64,
}

impl ReferenceBackend {
    /// A backend with these settings.
    #[must_use]
    pub fn new(config: ReferenceConfig) -> Self {
        let mut info = DeviceInfo::new("vyre reference (CPU)", DeviceKind::Cpu);
        info.driver = format!("vyre-reference {}", env!("CARGO_PKG_VERSION"));
        info.capabilities = vec![
            Capability::Float16,
            Capability::Int64,
            Capability::Int64Atomics,
            Capability::Subgroups,
        ];
        Self {
            info,
            config,
            programs: Programs::default(),
            residents: HostResidents::new(),
            instructions: AtomicU64::new(0),
        }
    }

    /// A backend with these settings, if they are sound.
    ///
    /// # Errors
    /// [`BackendError::InvalidSwitch`] if the environment that the settings are from is unclear.
    pub fn open(config: ReferenceConfig) -> Result<Self, BackendError> {
        match config.invalid {
            Some(invalid) => Err(invalid.into()),
            None => Ok(Self::new(config)),
        }
    }

    /// Sets [`DeviceInfo::fallback`].
    #[must_use]
    pub fn with_fallback(mut self, fallback: Option<String>) -> Self {
        self.info.fallback = fallback;
        self
    }

    /// Instructions of this backend's own code that ran so far, counted for each invocation, in
    /// dispatches that ended well.
    #[must_use]
    pub fn instructions(&self) -> u64 {
        self.instructions.load(Relaxed)
    }

    /// The settings.
    #[must_use]
    pub fn config(&self) -> &ReferenceConfig {
        &self.config
    }
}

impl Default for ReferenceBackend {
    fn default() -> Self {
        Self::new(ReferenceConfig::default())
    }
}

impl VyreBackend for ReferenceBackend {
    fn id(&self) -> &str {
        "reference"
    }

    fn device_info(&self) -> &DeviceInfo {
        &self.info
    }

    fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
    ) -> Result<OutputBuffers, BackendError> {
        let reason = "a processor has no launch to save";
        config.launch_mode.refuse_megakernel(self.id(), reason)?;
        program.check_inputs(inputs)?;
        self.info.check_program(program)?;
        let compiled = self.programs.get(program)?;
        let execution = Execution::new(program, &compiled, config, &self.config, inputs)?;
        let (outputs, instructions) = execution.run()?;
        self.instructions.fetch_add(instructions, Relaxed);
        Ok(outputs)
    }

    fn compile(&self, program: &Program) -> Result<CompiledPipeline, BackendError> {
        let compiled = self.programs.get(program)?;
        Ok(CompiledPipeline::new(program.clone(), Arc::new(compiled)))
    }

    fn host_residents(&self) -> Option<&HostResidents> {
        Some(&self.residents)
    }
}
