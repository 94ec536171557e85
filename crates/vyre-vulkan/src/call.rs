//! One dispatch under way, from the call to the report.

use std::sync::Arc;
use std::time::Instant;

use vyre_core::backend::{DispatchConfig, DispatchReport, Resource, elapsed_ns};
use vyre_core::error::BackendError;
use vyre_core::output::OutputReplacementStats;
use vyre_core::program::Program;
use vyre_core::stats::MegakernelDispatchStats;

use crate::backend::VulkanBackend;
use crate::compiled::CompiledProgram;
use crate::execution::{Execution, Rows, Timing};
use crate::memory::Tally;
use crate::queue::Waited;

/// Why there is no megakernel mode.
pub(crate) const NO_MEGAKERNEL: &str = "this version does not link programs into one kernel";

/// A dispatch, from its call on.
pub(crate) struct Call<'a> {
    backend: &'a VulkanBackend,
    program: &'a Program,
    config: &'a DispatchConfig,
    timing: Timing,
    start: Instant,
    tally: Tally,
    compiled: Arc<CompiledProgram>,
}

/// What is known of a run that has ended well.
pub(crate) struct Times {
    launches: u32,
    enqueue_ns: u64,
    submitted: Instant,
    device_ns: Option<u64>,
}

impl<'a> Call<'a> {
    /// Begins a dispatch that was called at `start`: its program gets compiled if need be.
    pub(crate) fn begin(
        backend: &'a VulkanBackend,
        program: &'a Program,
        config: &'a DispatchConfig,
        timing: Timing,
        start: Instant,
    ) -> Result<Self, BackendError> {
        config
            .launch_mode
            .refuse_megakernel("vulkan", NO_MEGAKERNEL)?;
        backend.reap();
        let mut tally = Tally::default();
        let compiled = backend.compiled(program, &mut tally)?;
        Ok(Self {
            backend,
            program,
            config,
            timing,
            start,
            tally,
            compiled,
        })
    }

    /// An execution over these resident buffers (none: over buffers of its own), ready to run.
    pub(crate) fn execution(&mut self, rows: &[&[Resource]]) -> Result<Execution, BackendError> {
        let Self {
            backend,
            program,
            compiled,
            tally,
            ..
        } = self;
        let mut execution = match compiled.take_idle(rows) {
            Some(execution) => {
                // One that another thread has just kept may be over rows freed meanwhile.
                backend.residents.check_live(rows)?;
                execution
            }
            None => {
                backend.programs.drop_dead();
                let rows = match rows {
                    [] => Rows::default(),
                    rows => backend.residents.rows(program, rows)?,
                };
                Execution::new(&backend.device, program, compiled, rows, tally)?
            }
        };
        execution.prepare(&backend.device, program, compiled, self.timing)?;
        Ok(execution)
    }

    /// Runs `execution` to its end. One that does not end well is set aside: its work may go on.
    pub(crate) fn run(&mut self, execution: Execution) -> Result<(Execution, Times), BackendError> {
        if let Err(error) = execution.submit(self.timing) {
            // A lost device may hold what it failed to submit; nothing else keeps hold of it.
            if matches!(error, BackendError::DeviceLost { .. }) {
                self.backend.abandon(execution, &self.compiled);
            }
            return Err(error);
        }
        let enqueue_ns = elapsed_ns(self.start);
        let submitted = Instant::now();
        let limit = self.config.timeout;
        self.tally.waits += 1;
        let error = match execution.wait(submitted, self.backend.poll, limit) {
            Ok(Waited::Done) => {
                let device_ns = match self.timing {
                    Timing::Device => execution.device_ns()?,
                    Timing::HostOnly => None,
                };
                let launches = execution.launches();
                return Ok((
                    execution,
                    Times {
                        launches,
                        enqueue_ns,
                        submitted,
                        device_ns,
                    },
                ));
            }
            Ok(Waited::TimedOut) => BackendError::Timeout {
                label: self.label(),
                limit: limit.unwrap_or_default(),
                waited: submitted.elapsed(),
            },
            Err(error) => error,
        };
        self.backend.abandon(execution, &self.compiled);
        Err(error)
    }

    /// Keeps an execution for the next dispatch.
    pub(crate) fn keep(&self, execution: Execution) {
        self.compiled.keep_idle(execution);
    }

    /// Lets go of rows that another thread has freed since they were looked up: its own call to
    /// `forget` came too early for an execution that was still running.
    pub(crate) fn forget_freed(&self, rows: &[&[Resource]]) {
        for &resource in rows.iter().copied().flatten() {
            if self.backend.residents.byte_len(resource).is_err() {
                self.compiled.forget(resource);
            }
        }
    }

    /// Completes `stats`, which has what crossed the border, with what was counted and timed.
    pub(crate) fn report(
        &self,
        times: &Times,
        stats: MegakernelDispatchStats,
        replaced: OutputReplacementStats,
    ) -> DispatchReport {
        // Read before the whole, of which it is a part.
        let wait_ns = elapsed_ns(times.submitted);
        let wall_ns = elapsed_ns(self.start);
        let stats = MegakernelDispatchStats {
            device_allocation_bytes: self.tally.bytes,
            device_allocation_events: self.tally.events,
            bytes_moved: stats.bytes_moved.saturating_add(self.tally.constant_bytes),
            kernel_launches: times.launches,
            sync_points: self.tally.waits,
            latency_ns: wall_ns,
            ..stats
        };
        DispatchReport {
            stats,
            replaced,
            wall_ns,
            device_ns: times.device_ns,
            enqueue_ns: Some(times.enqueue_ns),
            wait_ns: Some(wait_ns),
        }
    }

    fn label(&self) -> String {
        self.config.label_for(self.program).to_owned()
    }
}

/// Saturating, for figures that are counts of things in memory.
pub(crate) fn count(number: usize) -> u32 {
    u32::try_from(number).unwrap_or(u32::MAX)
}
