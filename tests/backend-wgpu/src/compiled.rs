//! `Compiled`: the pipelines of a program's kernels, and the executions that wait to be used again.

use std::collections::HashMap;
use std::sync::{Arc, Mutex, PoisonError};

use vyre_driver::kernel::Kernel;
use vyre_driver::program::{ProgramId, WeakProgram};
use vyre_driver::{BackendError, Program, naga};

use crate::error::refused;
use crate::execution::Execution;
use crate::gpu::Gpu;

/// A program made ready.
pub(crate) struct Compiled {
    /// One for each of the program's kernels.
    pub(crate) pipelines: Vec<wgpu::ComputePipeline>,
    /// Executions that no dispatch uses now.
    idle: Mutex<Vec<Execution>>,
}

impl Compiled {
    fn new(gpu: &Gpu, program: &Program) -> Result<Self, BackendError> {
        let kernels = program.kernels().iter();
        let pipelines = kernels.map(|kernel| pipeline(gpu, kernel));
        Ok(Self {
            pipelines: pipelines.collect::<Result<_, _>>()?,
            idle: Mutex::default(),
        })
    }

    pub(crate) fn take(&self) -> Option<Execution> {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.pop()
    }

    pub(crate) fn give_back(&self, execution: Execution) {
        let mut idle = self.idle.lock().unwrap_or_else(PoisonError::into_inner);
        idle.push(execution);
    }
}

/// The layout of the bindings is wgpu's own, derived from the kernel.
fn pipeline(gpu: &Gpu, kernel: &Kernel) -> Result<wgpu::ComputePipeline, BackendError> {
    let keys = override_keys(kernel);
    let constants: Vec<(&str, f64)> = keys.iter().map(|(key, value)| (&**key, *value)).collect();
    let name = kernel.entry_point();
    let make = || {
        let module = gpu
            .device
            .create_shader_module(wgpu::ShaderModuleDescriptor {
                label: Some(name),
                source: wgpu::ShaderSource::Wgsl(kernel.source().into()),
            });
        gpu.device
            .create_compute_pipeline(&wgpu::ComputePipelineDescriptor {
                label: Some(name),
                layout: None,
                module: &module,
                entry_point: Some(name),
                compilation_options: wgpu::PipelineCompilationOptions {
                    constants: &constants,
                    ..wgpu::PipelineCompilationOptions::default()
                },
                cache: None,
            })
    };
    gpu.guarded(make).map_err(|error| refused(name, error))
}

/// wgpu names an override that has an `@id` by the number, vyre by its name.
fn override_keys(kernel: &Kernel) -> Vec<(String, f64)> {
    if kernel.overrides().is_empty() {
        return Vec::new();
    }
    let module = naga::front::wgsl::parse_str(kernel.source()).unwrap_or_default();
    let id = |name: &str| {
        let mut overrides = module.overrides.iter();
        let (_, found) = overrides.find(|(_, it)| it.name.as_deref() == Some(name))?;
        found.id
    };
    let overrides = kernel.overrides().iter();
    let keyed = overrides.map(|(name, value)| {
        let key = id(name).map_or_else(|| name.clone(), |id| id.to_string());
        (key, *value)
    });
    keyed.collect()
}

/// The compiled programs that still exist.
#[derive(Default)]
pub(crate) struct Programs(Mutex<HashMap<ProgramId, (WeakProgram, Arc<Compiled>)>>);

impl Programs {
    /// What was compiled for `program`; the first time it is checked and compiled.
    pub(crate) fn get(
        &self,
        gpu: &Gpu,
        program: &Program,
        check: impl FnOnce() -> Result<(), BackendError>,
    ) -> Result<Arc<Compiled>, BackendError> {
        // Held while compiling, so that two threads don't compile one program.
        let mut programs = self.0.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, compiled)) = programs.get(&program.id()) {
            return Ok(Arc::clone(compiled));
        }
        check()?;
        programs.retain(|_, (program, _)| program.is_alive());
        let compiled = Arc::new(Compiled::new(gpu, program)?);
        programs.insert(program.id(), (program.downgrade(), Arc::clone(&compiled)));
        Ok(compiled)
    }
}
