//! The smallest backend of vyre: three methods, for kernels of plain assignments.

#![forbid(unsafe_code)]

mod interpreter;

use vyre_driver::backend::{DeviceInfo, DeviceKind, OutputBuffers};
use vyre_driver::{BackendError, DispatchConfig, Program, VyreBackend};

/// Runs kernels of assignments between `array<u32>` on the host, and refuses all others.
pub struct MinimalBackend(DeviceInfo);

impl Default for MinimalBackend {
    fn default() -> Self {
        Self(DeviceInfo::new("the host, by plain steps", DeviceKind::Cpu))
    }
}

impl VyreBackend for MinimalBackend {
    fn id(&self) -> &str {
        "minimal"
    }

    fn device_info(&self) -> &DeviceInfo {
        &self.0
    }

    fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
    ) -> Result<OutputBuffers, BackendError> {
        let reason = "it runs one op after the other";
        config.launch_mode.refuse_megakernel(self.id(), reason)?;
        program.check_inputs(inputs)?;
        self.0.check_program(program)?;
        let mut memory = program.initial_buffers(inputs);
        for (index, op) in program.ops().iter().enumerate() {
            let kernel = &program.kernels()[op.kernel() as usize];
            interpreter::run(kernel, op.grid(), program.bindings(index), &mut memory)?;
        }
        let outputs = program.outputs();
        Ok(outputs
            .map(|(id, _)| std::mem::take(&mut memory[id.index()]))
            .collect())
    }
}
