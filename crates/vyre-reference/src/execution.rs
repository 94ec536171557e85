//! One dispatch: buffers in, ops level by level, buffers out.
//!
//! Ops of one level don't conflict, so all their workgroups run at once, on all cores.

use std::sync::atomic::{AtomicU32, AtomicUsize, Ordering::Relaxed};
use std::sync::{Mutex, PoisonError};
use std::time::Instant;

use vyre_core::backend::{DispatchConfig, OutputBuffers};
use vyre_core::error::BackendError;
use vyre_core::finding::{Finding, FindingKind};
use vyre_core::program::Program;

use crate::buffer::{self, Bound};
use crate::code::Order;
use crate::config::{ReferenceConfig, Sanitize};
use crate::machine::{self, Control, Launch, Stop};
use crate::programs::CompiledProgram;
use crate::sanitize::Sanitizer;

/// Items for each thread, so that none waits long for the last.
const ITEMS_PER_THREAD: u64 = 8;

/// Workgroups of an op that one thread runs one after the other.
#[derive(Clone, Copy, Debug)]
struct Item {
    /// The op in its program.
    op: usize,
    /// Its place in the level.
    launch: usize,
    first: u64,
    end: u64,
}

/// A workgroup that was stopped.
#[derive(Clone, Copy, Debug)]
struct Stopped {
    op: usize,
    workgroup: u64,
    stop: Stop,
}

/// A dispatch that is running.
pub(crate) struct Execution<'a> {
    program: &'a Program,
    compiled: &'a CompiledProgram,
    config: &'a DispatchConfig,
    settings: &'a ReferenceConfig,
    /// Constants are in `compiled`.
    buffers: Vec<Vec<AtomicU32>>,
    control: Control,
    start: Instant,
    /// Looks on, if it is asked to; workgroups run one after the other then.
    watch: Option<Mutex<Sanitizer<'a>>>,
}

impl<'a> Execution<'a> {
    pub(crate) fn new(
        program: &'a Program,
        compiled: &'a CompiledProgram,
        config: &'a DispatchConfig,
        settings: &'a ReferenceConfig,
        inputs: &[&[u8]],
    ) -> Result<Self, BackendError> {
        let start = Instant::now();
        let mut inputs = inputs.iter();
        let mut buffers = Vec::with_capacity(program.buffers().len());
        for decl in program.buffers() {
            buffers.push(if decl.is_input() {
                inputs
                    .next()
                    .map_or_else(Vec::new, |input| buffer::from_bytes(input))
            } else if decl.contents().is_some() {
                Vec::new()
            } else {
                zeros(decl.byte_len())?
            });
        }
        let control = Control {
            deadline: config
                .timeout
                .and_then(|timeout| start.checked_add(timeout)),
            step_limit: settings.steps(),
            ..Control::default()
        };
        let watch = || Mutex::new(Sanitizer::new(program, settings.lanes_of_subgroup()));
        Ok(Self {
            watch: (settings.sanitize == Sanitize::On).then(watch),
            program,
            compiled,
            config,
            settings,
            buffers,
            control,
            start,
        })
    }

    /// Runs all ops, and gives the outputs and the instructions that ran.
    pub(crate) fn run(mut self) -> Result<(OutputBuffers, u64), BackendError> {
        let levels = self.program.dependencies().levels();
        let mut ops: Vec<usize> = (0..levels.len()).collect();
        ops.sort_by_key(|&op| levels[op]);
        for level in ops.chunk_by(|&a, &b| levels[a] == levels[b]) {
            if let Err(stopped) = self.run_level(level) {
                return Err(self.error(stopped));
            }
        }
        let (findings, count) = self.take_findings();
        if count > 0 {
            let label = self.label();
            return Err(BackendError::Faults {
                label,
                findings,
                count,
            });
        }
        let decls = self.program.buffers().iter();
        let outputs = decls.zip(self.buffers);
        let outputs = outputs.filter(|(decl, _)| decl.is_output());
        let outputs = outputs
            .map(|(_, words)| buffer::into_bytes(words))
            .collect();
        Ok((outputs, self.control.instructions.into_inner()))
    }

    fn run_level(&self, ops: &[usize]) -> Result<(), Stopped> {
        let launches: Vec<_> = ops.iter().map(|&op| self.launch(op)).collect();
        let workgroups: u64 = launches.iter().map(Launch::workgroups).sum();
        let threads = match self.watch {
            None => rayon::current_num_threads(),
            Some(_) => 1,
        };
        let chunk = workgroups
            .div_ceil(ITEMS_PER_THREAD * threads as u64)
            .max(1);
        let mut items = Vec::with_capacity(ops.len());
        for (launch, &op) in ops.iter().enumerate() {
            let count = launches[launch].workgroups();
            let chunk = match launches[launch].code.order {
                Order::Any => chunk,
                Order::Ascending => count,
            };
            let mut first = 0;
            while first < count {
                let end = count.min(first + chunk);
                items.push(Item {
                    op,
                    launch,
                    first,
                    end,
                });
                first = end;
            }
        }
        let level = Level {
            execution: self,
            launches,
            items,
            next: AtomicUsize::new(0),
            stopped: Mutex::default(),
        };
        level.run(threads)
    }

    fn launch(&self, op: usize) -> Launch<'_> {
        let grid = self.program.ops()[op].grid();
        let bindings = self.program.bindings(op).iter().map(|range| {
            let index = range.buffer.index();
            let constant = &self.compiled.constants[index];
            let words = if constant.is_empty() {
                &self.buffers[index]
            } else {
                constant
            };
            let at = |byte: u64| usize::try_from(byte / 4).unwrap_or(usize::MAX);
            let words = words.get(at(range.offset)..at(range.end())).unwrap_or(&[]);
            Bound { words }
        });
        Launch {
            code: &self.compiled.kernels[self.kernel_of(op)].code,
            bindings: bindings.collect(),
            ranges: self.program.bindings(op),
            grid,
            subgroup_size: self.settings.lanes_of_subgroup(),
            control: &self.control,
        }
    }

    fn kernel_of(&self, op: usize) -> usize {
        self.program.ops()[op].kernel() as usize
    }

    fn label(&self) -> String {
        self.config.label_for(self.program).to_owned()
    }

    fn take_findings(&mut self) -> (Vec<Finding>, u64) {
        let watch = self.watch.take();
        let watch = watch.map(|watch| watch.into_inner().unwrap_or_else(PoisonError::into_inner));
        watch.map_or((Vec::new(), 0), Sanitizer::into_findings)
    }

    fn error(mut self, stopped: Stopped) -> BackendError {
        let label = self.label();
        match stopped.stop {
            Stop::StepLimit { line } => {
                let limit = self.settings.steps().unwrap_or(u64::MAX);
                let kernel = &self.program.kernels()[self.kernel_of(stopped.op)];
                let kind = FindingKind::StepLimit { limit };
                let mut finding = Finding::new(kind, kernel.entry_point(), stopped.op);
                finding.workgroup = self.launch(stopped.op).workgroup_id(stopped.workgroup);
                finding.line = line;
                let (mut findings, count) = self.take_findings();
                findings.push(finding);
                BackendError::Faults {
                    label,
                    findings,
                    count: count + 1,
                }
            }
            Stop::Timeout | Stop::Cancelled => BackendError::Timeout {
                label,
                limit: self.config.timeout.unwrap_or_default(),
                waited: self.start.elapsed(),
            },
        }
    }
}

/// The ops of one level, and who runs which workgroups.
struct Level<'a, 'p> {
    execution: &'a Execution<'p>,
    launches: Vec<Launch<'a>>,
    items: Vec<Item>,
    next: AtomicUsize,
    stopped: Mutex<Option<Stopped>>,
}

impl Level<'_, '_> {
    fn run(&self, threads: usize) -> Result<(), Stopped> {
        let helpers = threads.min(self.items.len()).saturating_sub(1);
        if helpers == 0 {
            self.work();
        } else {
            rayon::in_place_scope(|scope| {
                for _ in 0..helpers {
                    scope.spawn(|_| self.work());
                }
                self.work();
            });
        }
        let stopped = self.stopped.lock();
        let stopped = *stopped.unwrap_or_else(PoisonError::into_inner);
        stopped.map_or(Ok(()), Err)
    }

    /// Runs items until there are none left.
    fn work(&self) {
        while let Some(&item) = self.items.get(self.next.fetch_add(1, Relaxed)) {
            if let Err(stopped) = self.run_item(item) {
                self.execution.control.cancelled.store(true, Relaxed);
                let first = self.stopped.lock();
                let mut first = first.unwrap_or_else(PoisonError::into_inner);
                // What another stop caused says nothing.
                if first.is_none_or(|first| first.stop == Stop::Cancelled) {
                    *first = Some(stopped);
                }
                return;
            }
        }
    }

    fn run_item(&self, item: Item) -> Result<(), Stopped> {
        let kernel = self.execution.kernel_of(item.op);
        let kernel = &self.execution.compiled.kernels[kernel];
        let mut state = kernel.take_state();
        let launch = &self.launches[item.launch];
        let watch = self.execution.watch.as_ref();
        let mut watch = watch.map(|watch| watch.lock().unwrap_or_else(PoisonError::into_inner));
        let result = (item.first..item.end).try_for_each(|workgroup| {
            let mut watch = watch.as_deref_mut();
            if let Some(watch) = &mut watch {
                watch.begin(item.op, workgroup);
            }
            machine::run(launch, &mut state, workgroup, watch).map_err(|stop| Stopped {
                op: item.op,
                workgroup,
                stop,
            })
        });
        kernel.keep_state(state);
        result
    }
}

/// So many zero bytes, in words.
fn zeros(byte_len: u64) -> Result<Vec<AtomicU32>, BackendError> {
    let too_large = |source: vyre_core::error::Cause| BackendError::OutOfHostMemory {
        call: "dispatch",
        source,
    };
    let words = usize::try_from(byte_len / 4).map_err(|error| too_large(error.into()))?;
    let mut buffer = Vec::new();
    let reserved = buffer.try_reserve_exact(words);
    reserved.map_err(|error| too_large(error.into()))?;
    buffer.resize_with(words, AtomicU32::default);
    Ok(buffer)
}
