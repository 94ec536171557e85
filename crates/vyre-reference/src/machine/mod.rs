//! Runs the instructions of a kernel for one workgroup at a time, each over all lanes.

mod mask;
mod memory;
mod atomic;
mod subgroup;
mod observe;

use std::sync::atomic::{AtomicBool, AtomicU64, Ordering::Relaxed};
use std::time::Instant;

use vyre_core::naga::BuiltIn;
use vyre_core::program::BoundRange;

use crate::buffer::Bound;
use crate::code::{Code, Inst, Reg};
use crate::sanitize::{Sanitizer, place};

/// Steps between two looks at the clock.
const STEPS_PER_CHECK: u64 = 1 << 14;

/// What stops a workgroup before its end.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(crate) enum Stop {
    /// The time is over.
    Timeout,
    /// Another workgroup has failed, or has noticed the time.
    Cancelled,
    /// The workgroup took more steps than allowed; the source line it was in.
    StepLimit { line: u32 },
}

/// What ends a dispatch early.
#[derive(Debug, Default)]
pub(crate) struct Control {
    pub(crate) deadline: Option<Instant>,
    /// Instructions that a workgroup may run.
    pub(crate) step_limit: Option<u64>,
    pub(crate) cancelled: AtomicBool,
    /// Instructions that ran, counted for each invocation.
    pub(crate) instructions: AtomicU64,
}

impl Control {
    pub(crate) fn check(&self) -> Result<(), Stop> {
        if self.cancelled.load(Relaxed) {
            return Err(Stop::Cancelled);
        }
        match self.deadline {
            Some(deadline) if Instant::now() >= deadline => Err(Stop::Timeout),
            _ => Ok(()),
        }
    }
}

/// An op that is ready to run.
pub(crate) struct Launch<'a> {
    pub(crate) code: &'a Code,
    pub(crate) bindings: Vec<Bound<'a>>,
    /// Where the bindings are in the program's buffers.
    pub(crate) ranges: &'a [BoundRange],
    pub(crate) grid: [u32; 3],
    pub(crate) subgroup_size: u32,
    pub(crate) control: &'a Control,
}

impl Launch<'_> {
    pub(crate) fn workgroups(&self) -> u64 {
        self.grid.iter().map(|&axis| u64::from(axis)).product()
    }

    /// The workgroup at a place in the order x, y, z.
    pub(crate) fn workgroup_id(&self, index: u64) -> [u32; 3] {
        place(self.grid, index)
    }
}

/// The memory of a workgroup, used for one after another.
#[derive(Debug)]
pub(crate) struct State {
    registers: Vec<Vec<u32>>,
    /// 1 for lanes that are active, else 0.
    active: Vec<u32>,
    active_count: usize,
    /// One past the last active lane, or a little more: what instructions compute. The lanes from
    /// there on need no values before they are active again.
    reach: usize,
    /// The `local_invocation_id` of every lane, by axis.
    local: [Vec<u32>; 3],
    /// Used by one instruction, and kept for the next.
    leaving: Vec<u32>,
    workgroup: Vec<u32>,
    returns: Vec<usize>,
}

impl State {
    pub(crate) fn new(code: &Code) -> Self {
        let lanes = lanes(code);
        let mut registers = vec![vec![0; lanes]; code.register_count];
        for &(reg, word) in &code.constants {
            registers[reg.index()].fill(word);
        }
        let ids = (0..lanes as u64).map(|lane| place(code.workgroup_size, lane));
        let local = [0, 1, 2].map(|axis| ids.clone().map(|id| id[axis]).collect());
        Self {
            registers,
            local,
            active: vec![1; lanes],
            active_count: lanes,
            reach: lanes,
            leaving: vec![0; lanes],
            workgroup: vec![0; code.workgroup_words],
            returns: Vec::new(),
        }
    }

    /// Takes a register out, to write it while others are read.
    fn take(&mut self, reg: Reg) -> Vec<u32> {
        std::mem::take(&mut self.registers[reg.index()])
    }

    fn put(&mut self, reg: Reg, words: Vec<u32>) {
        self.registers[reg.index()] = words;
    }

    fn all_active(&self) -> bool {
        self.active_count == self.active.len()
    }
}

/// Invocations of one workgroup.
pub(crate) fn lanes(code: &Code) -> usize {
    let axes = code.workgroup_size.iter().map(|&axis| axis as usize);
    axes.product()
}

/// Runs one workgroup.
pub(crate) fn run(
    launch: &Launch<'_>,
    state: &mut State,
    index: u64,
    watch: Option<&mut Sanitizer<'_>>,
) -> Result<(), Stop> {
    launch.control.check()?;
    state.active.fill(1);
    state.active_count = state.active.len();
    state.reach = state.active.len();
    state.workgroup.fill(0);
    state.returns.clear();
    let id = launch.workgroup_id(index);
    let mut machine = Machine {
        launch,
        state,
        watch,
        id,
        pc: launch.code.functions.last().copied().unwrap_or(0),
        steps: 0,
        next_check: STEPS_PER_CHECK,
    };
    let result = machine.run();
    let instructions = machine.steps * state.active.len() as u64;
    launch.control.instructions.fetch_add(instructions, Relaxed);
    result
}

/// A workgroup that is running.
struct Machine<'a, 'p> {
    launch: &'a Launch<'a>,
    state: &'a mut State,
    /// Whoever looks on; slow.
    watch: Option<&'a mut Sanitizer<'p>>,
    id: [u32; 3],
    /// The next instruction.
    pc: usize,
    steps: u64,
    next_check: u64,
}

impl Machine<'_, '_> {
    fn run(&mut self) -> Result<(), Stop> {
        let code = self.launch.code;
        while let Some(inst) = code.insts.get(self.pc) {
            self.pc += 1;
            self.steps += 1;
            match inst {
                Inst::Narrow { run, dst, src } => {
                    let reach = self.state.reach;
                    let mut to = self.state.take(*dst);
                    let from = |reg: Reg| &self.state.registers[reg.index()][..reach];
                    // An array literal: mapping `src` stores and loads it twice.
                    run(&mut to[..reach], [from(src[0]), from(src[1]), from(src[2])]);
                    self.state.put(*dst, to);
                }
                Inst::Wide { run, dst, src } => self.wide(*run, dst, src),
                Inst::Copy { dst, src } => self.copy(*dst, *src),
                Inst::Move { dst, src } => self.masked_copy(*dst, *src),
                Inst::BuiltIn { built_in, dst } => self.built_in(*built_in, dst),
                Inst::Return => match self.state.returns.pop() {
                    Some(pc) => self.pc = pc,
                    None => return Ok(()),
                },
                Inst::Call { function } => {
                    self.state.returns.push(self.pc);
                    self.pc = code.functions[*function];
                }
                Inst::Repeat { saved, out, top } => {
                    if self.restore(*saved, Some(*out)) {
                        self.tick()?;
                        self.pc = *top;
                    }
                }
                Inst::If { .. }
                | Inst::Else { .. }
                | Inst::Restore { .. }
                | Inst::Save(_)
                | Inst::Clear(_)
                | Inst::Leave { .. } => self.control(inst),
                _ => self.access(inst),
            }
        }
        Ok(())
    }

    /// Ends what takes too long.
    fn tick(&mut self) -> Result<(), Stop> {
        if self.steps < self.next_check {
            return Ok(());
        }
        self.next_check = self.steps + STEPS_PER_CHECK;
        let control = self.launch.control;
        if control.step_limit.is_some_and(|limit| self.steps > limit) {
            let line = self.line();
            return Err(Stop::StepLimit { line });
        }
        control.check()
    }

    /// The source line of the current instruction.
    fn line(&self) -> u32 {
        let lines = &self.launch.code.lines;
        lines.get(self.pc.saturating_sub(1)).copied().unwrap_or(0)
    }

    fn wide(&mut self, run: crate::ops::Wide, dst: &[Reg], src: &[Reg]) {
        let mut to: Vec<_> = dst.iter().map(|&reg| self.state.take(reg)).collect();
        let registers = &self.state.registers;
        let from: Vec<&[u32]> = src.iter().map(|reg| &*registers[reg.index()]).collect();
        run(&mut to, &from);
        for (&reg, words) in dst.iter().zip(to) {
            self.state.put(reg, words);
        }
    }

    fn copy(&mut self, dst: Reg, src: Reg) {
        if dst == src {
            return;
        }
        let reach = self.state.reach;
        let mut to = self.state.take(dst);
        to[..reach].copy_from_slice(&self.state.registers[src.index()][..reach]);
        self.state.put(dst, to);
    }

    fn masked_copy(&mut self, dst: Reg, src: Reg) {
        if self.state.all_active() {
            return self.copy(dst, src);
        }
        let mut to = self.state.take(dst);
        let from = &self.state.registers[src.index()][..self.state.reach];
        for ((to, from), active) in to.iter_mut().zip(from).zip(&self.state.active) {
            // Without a branch, for the loop to vectorise.
            *to ^= (*to ^ *from) & active.wrapping_neg();
        }
        self.state.put(dst, to);
    }

    fn built_in(&mut self, built_in: BuiltIn, dst: &[Reg]) {
        let size = self.launch.code.workgroup_size;
        let (id, grid) = (self.id, self.launch.grid);
        let subgroup = self.launch.subgroup_size;
        let lanes = u32::try_from(self.state.active.len()).unwrap_or(u32::MAX);
        for (axis, &reg) in dst.iter().enumerate() {
            let mut to = self.state.take(reg);
            let local = &self.state.local[axis];
            let by_lane = |to: &mut [u32], run: &dyn Fn(u32) -> u32| {
                (0..).zip(to).for_each(|(lane, to)| *to = run(lane));
            };
            match built_in {
                BuiltIn::GlobalInvocationId => {
                    let first = id[axis].wrapping_mul(size[axis]);
                    for (to, local) in to.iter_mut().zip(local) {
                        *to = first.wrapping_add(*local);
                    }
                }
                BuiltIn::LocalInvocationId => to.copy_from_slice(local),
                BuiltIn::LocalInvocationIndex => by_lane(&mut to, &|lane| lane),
                BuiltIn::SubgroupId => by_lane(&mut to, &|lane| lane / subgroup),
                BuiltIn::SubgroupInvocationId => by_lane(&mut to, &|lane| lane % subgroup),
                BuiltIn::WorkGroupId => to.fill(id[axis]),
                BuiltIn::WorkGroupSize => to.fill(size[axis]),
                BuiltIn::NumWorkGroups => to.fill(grid[axis]),
                BuiltIn::SubgroupSize => to.fill(subgroup),
                BuiltIn::NumSubgroups => to.fill(lanes.div_ceil(subgroup)),
                _ => to.fill(0),
            }
            self.state.put(reg, to);
        }
    }
}
