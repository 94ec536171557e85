//! The one trait that every backend implements, and the types that cross it.

mod config;
mod info;
mod limits;
mod compiled;
mod report;
mod resource;
mod row;
mod host_residents;

pub use compiled::CompiledPipeline;
pub use config::{DispatchConfig, LaunchMode};
pub use host_residents::{
    HostResidents, ResidentRead, ResidentWrite, check_resident_length, resident_range,
};
pub use info::{DeviceInfo, DeviceKind};
pub use limits::Limits;
pub use report::DispatchReport;
pub use resource::{Resource, ResourceTable};
pub use row::check_rows;

pub use crate::error::BackendError;
pub use crate::output::{
    OutputBuffers, OutputReplacementStats, OutputSlotByteStats, OutputSlotStats,
    TimedDispatchResult,
};

use std::time::Instant;

use crate::output::try_replace_output_buffers_preserving_slots_with_memory_stats;
use crate::program::Program;
use crate::stats::MegakernelDispatchStats;

/// Runs programs.
///
/// A backend starts with the three required methods; everything else is built on them, and is
/// overridden where the backend can do better. All methods may be called from many threads at once.
///
/// ```
/// use vyre_core::backend::{
///     BackendError, DeviceInfo, DeviceKind, DispatchConfig, OutputBuffers, VyreBackend,
/// };
/// use vyre_core::kernel::Kernel;
/// use vyre_core::program::Program;
///
/// /// Knows one kernel, and runs it on the host: `y[i] = 2 * x[i]`.
/// struct Doubler(DeviceInfo);
///
/// impl VyreBackend for Doubler {
///     fn id(&self) -> &str {
///         "doubler"
///     }
///
///     fn device_info(&self) -> &DeviceInfo {
///         &self.0
///     }
///
///     fn dispatch(
///         &self,
///         program: &Program,
///         inputs: &[&[u8]],
///         _config: &DispatchConfig,
///     ) -> Result<OutputBuffers, BackendError> {
///         program.check_inputs(inputs)?;
///         let words = inputs[0].chunks_exact(4);
///         let doubled = words.map(|word| u32::from_le_bytes(word.try_into().unwrap()).wrapping_mul(2));
///         Ok(vec![doubled.flat_map(u32::to_le_bytes).collect()])
///     }
/// }
///
/// let kernel = Kernel::from_wgsl(
///     "@group(0) @binding(0) var<storage, read> x: array<u32>;
///      @group(0) @binding(1) var<storage, read_write> y: array<u32>;
///      @compute @workgroup_size(1)
///      fn double(@builtin(global_invocation_id) id: vec3u) { y[id.x] = 2u * x[id.x]; }",
/// )?;
/// let mut builder = Program::builder("double");
/// let x = builder.input("x", 12);
/// let y = builder.output("y", 12);
/// builder.op(&kernel, [3, 1, 1]).bind("x", x).bind("y", y);
/// let program = builder.build()?;
///
/// let backend: Box<dyn VyreBackend> =
///     Box::new(Doubler(DeviceInfo::new("host", DeviceKind::Cpu)));
/// let mut outputs = vec![Vec::with_capacity(12)];
/// let input: Vec<u8> = [1u32, 2, 3].into_iter().flat_map(u32::to_le_bytes).collect();
/// let report =
///     backend.dispatch_reported(&program, &[&input], &DispatchConfig::default(), &mut outputs)?;
/// assert_eq!(outputs[0], [2, 0, 0, 0, 4, 0, 0, 0, 6, 0, 0, 0]);
/// assert_eq!(report.replaced.slots.reused_slots, 1);
/// # Ok::<(), BackendError>(())
/// ```
pub trait VyreBackend: Send + Sync {
    /// Short name of the backend, such as `vulkan`.
    fn id(&self) -> &str;

    /// The device that programs run on.
    fn device_info(&self) -> &DeviceInfo;

    /// Runs `program` once.
    ///
    /// `inputs` holds the bytes of every input and in-out buffer, the result those of every output
    /// and in-out buffer, each in the order of declaration and exactly of its declared length.
    ///
    /// # Errors
    /// [`BackendError`] of the first thing that went wrong; nothing of the dispatch is visible then.
    fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
    ) -> Result<OutputBuffers, BackendError>;

    /// Runs `program` once into the caller's output slots, and reports what it cost.
    ///
    /// Slots keep their allocations as
    /// [`replace_output_buffers_preserving_slots`](crate::output::replace_output_buffers_preserving_slots)
    /// says. The default counts what can be seen from outside: bytes, outputs and wall time.
    ///
    /// # Errors
    /// Those of [`dispatch`](Self::dispatch); `outputs` is untouched then.
    fn dispatch_reported(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
        outputs: &mut OutputBuffers,
    ) -> Result<DispatchReport, BackendError> {
        let start = Instant::now();
        let incoming = self.dispatch(program, inputs, config)?;
        let replaced =
            try_replace_output_buffers_preserving_slots_with_memory_stats(incoming, outputs)?;
        let wall_ns = elapsed_ns(start);
        let stats = MegakernelDispatchStats {
            latency_ns: wall_ns,
            output_buffers: u32::try_from(outputs.len()).unwrap_or(u32::MAX),
            ..MegakernelDispatchStats::of_crossing(program)
        };
        Ok(DispatchReport {
            stats,
            replaced,
            wall_ns,
            ..DispatchReport::default()
        })
    }

    /// Runs `program` once into the caller's output slots.
    ///
    /// # Errors
    /// Those of [`dispatch_reported`](Self::dispatch_reported).
    fn dispatch_into(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
        outputs: &mut OutputBuffers,
    ) -> Result<OutputReplacementStats, BackendError> {
        Ok(self
            .dispatch_reported(program, inputs, config, outputs)?
            .replaced)
    }

    /// Runs `program` once and times it.
    ///
    /// # Errors
    /// Those of [`dispatch`](Self::dispatch).
    fn dispatch_timed(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
    ) -> Result<TimedDispatchResult, BackendError> {
        let mut outputs = OutputBuffers::new();
        let report = self.dispatch_reported(program, inputs, config, &mut outputs)?;
        let DispatchReport {
            wall_ns,
            device_ns,
            enqueue_ns,
            wait_ns,
            ..
        } = report;
        Ok(TimedDispatchResult {
            outputs,
            wall_ns,
            device_ns,
            enqueue_ns,
            wait_ns,
        })
    }

    /// Makes `program` ready, so that its dispatches compile nothing.
    ///
    /// # Errors
    /// [`BackendError`] when the device can't run the program.
    fn compile(&self, program: &Program) -> Result<CompiledPipeline, BackendError> {
        Ok(CompiledPipeline::interpreted(program.clone()))
    }

    /// The store that the default methods keep resident buffers in; `None` when there is none.
    fn host_residents(&self) -> Option<&HostResidents> {
        None
    }

    /// Allocates a resident buffer of `byte_len` zeros.
    ///
    /// # Errors
    /// [`BackendError::InvalidResidentLength`], or the backend's memory is used up.
    fn allocate_resident(&self, byte_len: u64) -> Result<Resource, BackendError> {
        residents(self)?.allocate(byte_len)
    }

    /// Frees a resident buffer; its handle is stale from now on.
    ///
    /// # Errors
    /// [`BackendError::StaleResource`] or [`BackendError::ForeignResource`].
    fn free_resident(&self, resource: Resource) -> Result<(), BackendError> {
        residents(self)?.free(resource)
    }

    /// Bytes of a resident buffer.
    ///
    /// # Errors
    /// [`BackendError::StaleResource`] or [`BackendError::ForeignResource`].
    fn resident_byte_len(&self, resource: Resource) -> Result<u64, BackendError> {
        residents(self)?.byte_len(resource)
    }

    /// Writes a batch of ranges into resident buffers, in order; all of it or nothing.
    ///
    /// # Errors
    /// [`BackendError::ResourceRange`], or a handle is stale or foreign.
    fn upload_resident(&self, writes: &[ResidentWrite<'_>]) -> Result<(), BackendError> {
        residents(self)?.upload(writes)
    }

    /// Reads a batch of ranges from resident buffers.
    ///
    /// # Errors
    /// [`BackendError::ResourceRange`], or a handle is stale or foreign.
    fn download_resident(&self, reads: &mut [ResidentRead<'_>]) -> Result<(), BackendError> {
        residents(self)?.download(reads)
    }

    /// Runs `program` once for each row on resident buffers.
    ///
    /// A row gives a handle for every input, output and in-out buffer, in the order of declaration
    /// (see [`Program::row_buffers`]). Output buffers start as zeros, in-out buffers with what they hold.
    /// Rows are independent of each other and run in any order.
    ///
    /// # Errors
    /// [`BackendError::RowShape`], [`BackendError::RowLength`], [`BackendError::RowAlias`], a handle
    /// is stale or foreign, or those of [`dispatch`](Self::dispatch). What the output and in-out
    /// buffers of all rows hold is undefined then.
    fn dispatch_resident(
        &self,
        program: &Program,
        rows: &[&[Resource]],
        config: &DispatchConfig,
    ) -> Result<DispatchReport, BackendError> {
        residents(self)?.dispatch(self, program, rows, config)
    }

    /// Rebuilds what a lost device took along; resident buffers are gone.
    ///
    /// # Errors
    /// [`BackendError::UnsupportedOperation`] when the backend can't, or the device does not come
    /// back.
    fn recover(&self) -> Result<(), BackendError> {
        Err(BackendError::UnsupportedOperation {
            backend: self.id().to_owned(),
            operation: "recovery after device loss",
            remedy: "open the backend again",
        })
    }
}

fn residents<B: VyreBackend + ?Sized>(backend: &B) -> Result<&HostResidents, BackendError> {
    backend
        .host_residents()
        .ok_or_else(|| BackendError::UnsupportedOperation {
            backend: backend.id().to_owned(),
            operation: "resident buffers",
            remedy: "return a `HostResidents` from `VyreBackend::host_residents`, or override them",
        })
}

/// Nanoseconds since `start`, up to `u64::MAX`.
#[must_use]
pub fn elapsed_ns(start: Instant) -> u64 {
    u64::try_from(start.elapsed().as_nanos()).unwrap_or(u64::MAX)
}

#[cfg(test)]
mod tests;
