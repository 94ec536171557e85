//! The sanitizer: what a kernel must not do, noticed while it runs.
//!
//! Workgroups run one after the other here, so what races is not found by chance: two accesses race
//! when neither a barrier nor a dependency between ops orders them, whatever order they ran in.

mod shadow;
#[cfg(test)]
mod tests;

use std::collections::{HashMap, HashSet};

use vyre_core::finding::{Finding, FindingKind};
use vyre_core::kernel::Capability;
use vyre_core::naga::Barrier;
use vyre_core::program::Program;

use shadow::{Event, Shadow};

/// Findings that an error lists.
const MAX_FINDINGS: usize = 16;

/// What an access does.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum AccessKind {
    Read,
    Write,
    /// A load, a store, or both at once.
    Atomic,
}

/// The memory that an access goes to.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Space {
    /// Index into the program's buffers.
    Buffer(usize),
    Workgroup,
}

/// A lane, and the source line it is in.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Site {
    pub(crate) lane: u32,
    pub(crate) line: u32,
}

/// Watches a dispatch.
#[derive(Debug)]
pub(crate) struct Sanitizer<'a> {
    program: &'a Program,
    subgroup_size: u32,
    /// Bytes of a buffer that are watched as one; the smallest scalar there is.
    grain: u64,
    buffers: Vec<Shadow>,
    workgroup_memory: Shadow,
    op: usize,
    /// The workgroup that is running, in the order x, y, z.
    workgroup: u64,
    /// Barriers so far, by what they order.
    storage_epoch: u32,
    workgroup_epoch: u32,
    subgroup_epoch: u32,
    /// Whether the current op comes after another.
    after: HashMap<usize, bool>,
    findings: Vec<Finding>,
    count: u64,
    /// What is already in `findings`: kind, kernel and line.
    seen: HashSet<(std::mem::Discriminant<FindingKind>, u32, u32)>,
}

impl<'a> Sanitizer<'a> {
    pub(crate) fn new(program: &'a Program, subgroup_size: u32) -> Self {
        let mut kernels = program.kernels().iter();
        let has_halves = kernels.any(|kernel| kernel.capabilities().contains(&Capability::Float16));
        let mut buffers = Vec::new();
        buffers.resize_with(program.buffers().len(), Shadow::default);
        Self {
            program,
            subgroup_size,
            grain: if has_halves { 2 } else { 4 },
            buffers,
            workgroup_memory: Shadow::default(),
            op: 0,
            workgroup: 0,
            storage_epoch: 0,
            workgroup_epoch: 0,
            subgroup_epoch: 0,
            after: HashMap::new(),
            findings: Vec::new(),
            count: 0,
            seen: HashSet::new(),
        }
    }

    pub(crate) fn begin(&mut self, op: usize, workgroup: u64) {
        if op != self.op {
            self.after.clear();
        }
        (self.op, self.workgroup) = (op, workgroup);
        self.workgroup_memory = Shadow::default();
    }

    /// All invocations have met.
    pub(crate) fn barrier(&mut self, barrier: Barrier) {
        self.storage_epoch += u32::from(barrier.contains(Barrier::STORAGE));
        self.workgroup_epoch += u32::from(barrier.contains(Barrier::WORK_GROUP));
        self.subgroup_epoch += u32::from(barrier.contains(Barrier::SUB_GROUP));
    }

    /// An access to `byte_len` bytes of a buffer from `byte` on, or to a word of workgroup memory.
    pub(crate) fn access(
        &mut self,
        space: Space,
        (byte, byte_len): (u64, u64),
        kind: AccessKind,
        site: Site,
    ) {
        let event = Event {
            op: self.op,
            workgroup: self.workgroup,
            lane: site.lane,
            line: site.line,
            epoch: match space {
                Space::Buffer(_) => self.storage_epoch,
                Space::Workgroup => self.workgroup_epoch,
            },
            subgroup_epoch: self.subgroup_epoch,
        };
        let cells = match space {
            Space::Buffer(_) => byte / self.grain..(byte + byte_len).div_ceil(self.grain),
            Space::Workgroup => byte..byte + 1,
        };
        for cell in cells {
            let shadow = match space {
                Space::Buffer(index) => &mut self.buffers[index],
                Space::Workgroup => &mut self.workgroup_memory,
            };
            let cell = shadow.cell(cell);
            let is_unwritten = space == Space::Workgroup && !cell.is_written();
            let before = cell.observe(kind, event);
            let before = before.into_iter().flatten();
            let race = { before }.find(|earlier| !self.orders(earlier, &event));
            if let Some(earlier) = race {
                let kind = FindingKind::DataRace {
                    op: earlier.op,
                    workgroup: self.workgroup_id(earlier.op, earlier.workgroup),
                    invocation: self.invocation_id(earlier.op, earlier.lane),
                    line: earlier.line,
                };
                self.report(kind, site);
            }
            if is_unwritten && kind == AccessKind::Read {
                self.report(FindingKind::UnwrittenWorkgroupMemory, site);
            }
        }
    }

    /// Whether `earlier` is known to be over when `event` begins.
    fn orders(&mut self, earlier: &Event, event: &Event) -> bool {
        if earlier.op != event.op {
            return self.comes_after(earlier.op);
        }
        let group = |lane: u32| lane / self.subgroup_size;
        earlier.workgroup == event.workgroup
            && (earlier.lane == event.lane
                || earlier.epoch < event.epoch
                || (group(earlier.lane) == group(event.lane)
                    && earlier.subgroup_epoch < event.subgroup_epoch))
    }

    /// Whether the current op waits for `op`, directly or not.
    fn comes_after(&mut self, op: usize) -> bool {
        if let Some(&known) = self.after.get(&op) {
            return known;
        }
        let graph = self.program.dependencies();
        let mut seen = HashSet::new();
        let mut waiting = vec![self.op];
        let mut found = false;
        while let Some(next) = waiting.pop() {
            found |= next == op;
            let earlier = graph
                .predecessors(next)
                .iter()
                .map(|&earlier| earlier as usize);
            waiting.extend(earlier.filter(|&earlier| earlier >= op && seen.insert(earlier)));
        }
        self.after.insert(op, found);
        found
    }

    /// Adds a finding, unless there is one of its kind for this line.
    pub(crate) fn report(&mut self, kind: FindingKind, site: Site) {
        self.count += 1;
        let kernel = self.program.ops()[self.op].kernel();
        let key = (std::mem::discriminant(&kind), kernel, site.line);
        if self.findings.len() >= MAX_FINDINGS || !self.seen.insert(key) {
            return;
        }
        let name = self.program.kernels()[kernel as usize].entry_point();
        let mut finding = Finding::new(kind, name, self.op);
        finding.workgroup = self.workgroup_id(self.op, self.workgroup);
        finding.invocation = self.invocation_id(self.op, site.lane);
        finding.line = site.line;
        self.findings.push(finding);
    }

    /// What was found: the first findings, and how many there are.
    pub(crate) fn into_findings(self) -> (Vec<Finding>, u64) {
        (self.findings, self.count)
    }

    fn workgroup_id(&self, op: usize, index: u64) -> [u32; 3] {
        place(self.program.ops()[op].grid(), index)
    }

    fn invocation_id(&self, op: usize, lane: u32) -> [u32; 3] {
        let kernel = self.program.ops()[op].kernel() as usize;
        place(self.program.kernels()[kernel].workgroup_size(), lane.into())
    }
}

/// The place of an index in a grid, x first.
pub(crate) fn place(size: [u32; 3], index: u64) -> [u32; 3] {
    let [x, y, _] = size.map(u64::from);
    let place = [index % x, index / x % y, index / x / y];
    place.map(|axis| u32::try_from(axis).unwrap_or(u32::MAX))
}
