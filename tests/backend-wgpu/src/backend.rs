//! `WgpuBackend`: the trait, a dispatch from top to bottom.

use std::sync::{Arc, PoisonError, RwLock};
use std::time::Instant;

use vyre_driver::backend::{
    CompiledPipeline, DeviceInfo, DispatchReport, HostResidents, MegakernelDispatchStats,
    OutputBuffers, elapsed_ns, try_copy_outputs_into_slots,
};
use vyre_driver::{BackendError, DispatchConfig, Program, Registry, VyreBackend};

use crate::compiled::{Compiled, Programs};
use crate::error::NAME;
use crate::execution::{Execution, Waited};
use crate::gpu::Gpu;

/// Adds the backend under the name `wgpu`.
pub fn register(registry: &mut Registry) {
    registry.register(NAME, |_| Ok(Arc::new(WgpuBackend::open()?)));
}

/// Runs programs by wgpu, on what it takes for the fastest adapter.
pub struct WgpuBackend {
    info: DeviceInfo,
    state: RwLock<Arc<State>>,
    residents: HostResidents,
}

/// What goes with the device.
struct State {
    programs: Programs,
    gpu: Gpu,
}

impl WgpuBackend {
    /// Opens wgpu's device.
    ///
    /// # Errors
    /// [`BackendError::NoDevice`] without an adapter, [`BackendError::BackendCall`] if it can't be opened.
    pub fn open() -> Result<Self, BackendError> {
        let (gpu, info) = Gpu::open()?;
        Ok(Self {
            info,
            state: RwLock::new(State::new(gpu)),
            residents: HostResidents::new(),
        })
    }

    fn state(&self) -> Arc<State> {
        Arc::clone(&self.state.read().unwrap_or_else(PoisonError::into_inner))
    }
}

impl State {
    fn new(gpu: Gpu) -> Arc<Self> {
        Arc::new(Self {
            programs: Programs::default(),
            gpu,
        })
    }
}

impl VyreBackend for WgpuBackend {
    fn id(&self) -> &str {
        NAME
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
        let mut outputs = OutputBuffers::new();
        self.dispatch_reported(program, inputs, config, &mut outputs)?;
        Ok(outputs)
    }

    fn dispatch_reported(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
        outputs: &mut OutputBuffers,
    ) -> Result<DispatchReport, BackendError> {
        let start = Instant::now();
        let reason = "WebGPU promises no progress between workgroups";
        config.launch_mode.refuse_megakernel(NAME, reason)?;
        program.check_inputs(inputs)?;
        let state = self.state();
        let gpu = &state.gpu;
        gpu.check("dispatch")?;
        let compiled = self.compiled(&state, program)?;
        let (execution, is_new) = match compiled.take() {
            Some(execution) => (execution, false),
            None => (Execution::new(gpu, program, &compiled)?, true),
        };
        // What goes wrong from here on drops the execution, whose buffers may still be in use.
        let submission = execution.submit(gpu, inputs);
        let submission = submission.map_err(|error| gpu.explain("submit", error))?;
        let enqueue_ns = elapsed_ns(start);
        let waiting = Instant::now();
        let waited = execution.wait(gpu, submission, config.timeout);
        match waited.map_err(|error| gpu.explain("poll", error))? {
            Waited::Done => gpu.check("poll")?,
            Waited::TooLong => return Err(timeout(program, config, waiting)),
        }
        let replaced = execution
            .read(|slices| try_copy_outputs_into_slots(slices.iter().copied(), outputs))??;
        let (wait_ns, wall_ns) = (elapsed_ns(waiting), elapsed_ns(start));
        let mut stats = MegakernelDispatchStats {
            latency_ns: wall_ns,
            kernel_launches: u32::try_from(program.ops().len()).unwrap_or(u32::MAX),
            sync_points: 1,
            ..MegakernelDispatchStats::of_crossing(program)
        };
        if is_new {
            stats.device_allocation_bytes = execution.allocated_bytes;
            stats.device_allocation_events = execution.allocations;
        }
        compiled.give_back(execution);
        Ok(DispatchReport {
            stats,
            replaced,
            wall_ns,
            device_ns: None,
            enqueue_ns: Some(enqueue_ns),
            wait_ns: Some(wait_ns),
        })
    }

    fn compile(&self, program: &Program) -> Result<CompiledPipeline, BackendError> {
        let compiled = self.compiled(&self.state(), program)?;
        Ok(CompiledPipeline::new(program.clone(), compiled))
    }

    fn host_residents(&self) -> Option<&HostResidents> {
        Some(&self.residents)
    }

    fn recover(&self) -> Result<(), BackendError> {
        let (gpu, _) = Gpu::open()?;
        *self.state.write().unwrap_or_else(PoisonError::into_inner) = State::new(gpu);
        Ok(())
    }
}

impl WgpuBackend {
    fn compiled(&self, state: &State, program: &Program) -> Result<Arc<Compiled>, BackendError> {
        let check = || self.info.check_program(program);
        state.programs.get(&state.gpu, program, check)
    }
}

fn timeout(program: &Program, config: &DispatchConfig, waiting: Instant) -> BackendError {
    BackendError::Timeout {
        label: config.label_for(program).to_owned(),
        limit: config.timeout.unwrap_or_default(),
        waited: waiting.elapsed(),
    }
}

#[cfg(test)]
mod tests {
    use vyre_driver::Kernel;

    use super::*;

    /// Adds 1 to a word.
    fn increment() -> Program {
        let kernel = Kernel::from_wgsl(
            "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
             @compute @workgroup_size(1) fn main() { y[0] += 1u; }",
        );
        let mut builder = Program::builder("increment");
        let y = builder.in_out("y", 4);
        builder.op(&kernel.unwrap(), [1, 1, 1]).bind("y", y);
        builder.build().unwrap()
    }

    #[test]
    fn lost_device_is_an_error_until_recovered() {
        let backend = match WgpuBackend::open() {
            Err(BackendError::NoDevice { .. }) if std::env::var_os("CI").is_none() => return,
            opened => opened.unwrap(),
        };
        let (program, config) = (increment(), DispatchConfig::default());
        let run = || backend.dispatch(&program, &[&[1, 0, 0, 0]], &config);
        assert_eq!(run().unwrap(), [[2, 0, 0, 0]]);
        backend.state().gpu.device.destroy();
        for _ in 0..2 {
            let lost = run();
            assert!(
                matches!(lost, Err(BackendError::DeviceLost { .. })),
                "{lost:?}"
            );
        }
        backend.recover().unwrap();
        assert_eq!(run().unwrap(), [[2, 0, 0, 0]]);
    }
}
