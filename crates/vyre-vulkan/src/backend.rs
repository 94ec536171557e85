//! The Vulkan backend: `VyreBackend` over everything else in this crate.

use std::sync::{Arc, Mutex, PoisonError};
use std::time::{Duration, Instant};

use vyre_core::backend::{
    CompiledPipeline, DeviceInfo, DispatchConfig, DispatchReport, OutputBuffers, ResidentRead,
    ResidentWrite, Resource, VyreBackend,
};
use vyre_core::error::BackendError;
use vyre_core::output::{OutputReplacementStats, try_copy_outputs_into_slots};
use vyre_core::program::Program;
use vyre_core::stats::MegakernelDispatchStats;

use crate::call::{Call, count};
use crate::compiled::CompiledProgram;
use crate::config::VulkanConfig;
use crate::device::Device;
use crate::execution::{Execution, Timing};
use crate::instance::Instance;
use crate::memory::Tally;
use crate::pipeline_cache::PipelineCache;
use crate::programs::Programs;
use crate::queue::{default_poll, wait_idle};
use crate::resident::Residents;
use crate::select;
use crate::snapshot::DeviceSnapshot;
use crate::transfer::Transfers;
use crate::validation::ValidationLog;

/// Runs programs on a Vulkan device.
///
/// Any number of threads may use one backend at once. Dropping it waits for work in flight.
///
/// Fields are declared in drop order: what runs goes before what it runs on.
pub struct VulkanBackend {
    /// Executions that were given up after a time-out, until their work ends.
    abandoned: Mutex<Vec<(Execution, Arc<CompiledProgram>)>>,
    pub(crate) programs: Programs,
    pub(crate) residents: Residents,
    transfers: Transfers,
    pipelines: PipelineCache,
    pub(crate) poll: Duration,
    pub(crate) device: Arc<Device>,
}

impl VulkanBackend {
    /// Opens the device that `config` chooses.
    ///
    /// # Errors
    /// [`BackendError::NoLoader`] without a Vulkan loader, [`BackendError::NotInstalled`] when
    /// validation is on and its layer missing, [`BackendError::NoDevice`] when there is no device that
    /// fits, [`BackendError::UnknownDevice`] when there are but not the one asked for,
    /// [`BackendError::InvalidSwitch`] when `VYRE_VALIDATION` is unclear, or a driver call fails.
    pub fn open(config: &VulkanConfig) -> Result<Self, BackendError> {
        if let Some(invalid) = &config.invalid {
            return Err(invalid.clone().into());
        }
        let instance = Instance::open(config.validation)?;
        let physical = instance.physical_devices()?;
        let mut snapshots: Vec<_> = physical
            .iter()
            .map(|device| DeviceSnapshot::capture(&instance, *device))
            .collect();
        let chosen = select::choose(&snapshots, &config.device)?;
        let device = Device::new(&instance, physical[chosen], snapshots.swap_remove(chosen))?;
        let poll = config
            .poll
            .unwrap_or_else(|| default_poll(device.snapshot.info.kind));
        let info = &device.snapshot.info;
        tracing::info!(
            device = info.name,
            driver = info.driver,
            "opened a Vulkan device"
        );
        Ok(Self {
            abandoned: Mutex::default(),
            programs: Programs::default(),
            residents: Residents::default(),
            transfers: Transfers::new(&device, poll),
            pipelines: PipelineCache::new(&device, &config.pipeline_cache)?,
            poll,
            device,
        })
    }

    /// What the validation layer has said so far; `None` when validation is off.
    ///
    /// The log outlives the backend, so that its destruction can be checked too.
    #[must_use]
    pub fn validation_log(&self) -> Option<ValidationLog> {
        self.device.instance().validation_log().cloned()
    }

    /// What was compiled for `program`, compiling it if need be.
    pub(crate) fn compiled(
        &self,
        program: &Program,
        tally: &mut Tally,
    ) -> Result<Arc<CompiledProgram>, BackendError> {
        self.programs.get(program, || {
            CompiledProgram::new(
                &self.device,
                &self.pipelines,
                &self.transfers,
                program,
                tally,
            )
        })
    }

    fn dispatch_slots(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
        outputs: &mut OutputBuffers,
        timing: Timing,
    ) -> Result<DispatchReport, BackendError> {
        let start = Instant::now();
        program.check_inputs(inputs)?;
        let mut call = Call::begin(self, program, config, timing, start)?;
        let mut execution = call.execution(&[])?;
        execution.write_inputs(program, inputs);
        let (execution, times) = call.run(execution)?;
        let replaced = try_copy_outputs_into_slots(execution.outputs(program), outputs);
        call.keep(execution);
        let stats = MegakernelDispatchStats::of_crossing(program);
        Ok(call.report(&times, stats, replaced?))
    }

    /// Sets an execution aside whose work may still be running.
    pub(crate) fn abandon(&self, execution: Execution, compiled: &Arc<CompiledProgram>) {
        let mut abandoned = self
            .abandoned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        abandoned.push((execution, Arc::clone(compiled)));
    }

    /// Frees executions that were given up and have ended since.
    pub(crate) fn reap(&self) {
        let mut abandoned = self
            .abandoned
            .lock()
            .unwrap_or_else(PoisonError::into_inner);
        if !abandoned.is_empty() {
            abandoned.retain(|(execution, _)| !execution.is_done());
        }
    }
}

impl VyreBackend for VulkanBackend {
    fn id(&self) -> &str {
        "vulkan"
    }

    fn device_info(&self) -> &DeviceInfo {
        &self.device.snapshot.info
    }

    fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
    ) -> Result<OutputBuffers, BackendError> {
        let mut outputs = OutputBuffers::new();
        self.dispatch_into(program, inputs, config, &mut outputs)?;
        Ok(outputs)
    }

    fn dispatch_into(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
        outputs: &mut OutputBuffers,
    ) -> Result<OutputReplacementStats, BackendError> {
        let report = self.dispatch_slots(program, inputs, config, outputs, Timing::HostOnly)?;
        Ok(report.replaced)
    }

    fn dispatch_reported(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
        outputs: &mut OutputBuffers,
    ) -> Result<DispatchReport, BackendError> {
        self.dispatch_slots(program, inputs, config, outputs, Timing::Device)
    }

    fn compile(&self, program: &Program) -> Result<CompiledPipeline, BackendError> {
        let compiled = self.compiled(program, &mut Tally::default())?;
        Ok(CompiledPipeline::new(program.clone(), compiled))
    }

    fn allocate_resident(&self, byte_len: u64) -> Result<Resource, BackendError> {
        let allocate = || {
            self.residents
                .allocate(&self.device, &self.transfers, byte_len)
        };
        allocate().or_else(|error| match error {
            BackendError::OutOfDeviceMemory { .. } => {
                self.programs.drop_dead();
                allocate()
            }
            other => Err(other),
        })
    }

    fn free_resident(&self, resource: Resource) -> Result<(), BackendError> {
        self.residents.free(resource)?;
        self.programs.forget(resource);
        Ok(())
    }

    fn resident_byte_len(&self, resource: Resource) -> Result<u64, BackendError> {
        self.residents.byte_len(resource)
    }

    fn upload_resident(&self, writes: &[ResidentWrite<'_>]) -> Result<(), BackendError> {
        self.residents.upload(&self.transfers, writes)
    }

    fn download_resident(&self, reads: &mut [ResidentRead<'_>]) -> Result<(), BackendError> {
        self.residents.download(&self.transfers, reads)
    }

    fn dispatch_resident(
        &self,
        program: &Program,
        rows: &[&[Resource]],
        config: &DispatchConfig,
    ) -> Result<DispatchReport, BackendError> {
        let start = Instant::now();
        let mut call = Call::begin(self, program, config, Timing::Device, start)?;
        if rows.is_empty() {
            return Ok(DispatchReport::default());
        }
        let execution = call.execution(rows)?;
        let (execution, times) = call.run(execution)?;
        call.keep(execution);
        call.forget_freed(rows);
        let stats = MegakernelDispatchStats {
            resident_resource_rows: count(rows.len()),
            resident_resource_handles: count(rows.iter().map(|row| row.len()).sum()),
            ..MegakernelDispatchStats::default()
        };
        Ok(call.report(&times, stats, OutputReplacementStats::default()))
    }
}

impl Drop for VulkanBackend {
    fn drop(&mut self) {
        wait_idle(&self.device);
    }
}
