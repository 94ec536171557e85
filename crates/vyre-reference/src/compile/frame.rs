//! `Frame`: the registers, values and instructions of a function while it is compiled.
//!
//! A value lives from the statement that computes it to its last use. Values that are loaded from
//! variables in registers borrow those: they are copied only when a store could come in between.

use std::rc::Rc;

use vyre_core::naga::valid::FunctionInfo;
use vyre_core::naga::{Expression, Function, Handle, TypeInner};

use super::control::Target;
use super::place::Place;
use super::{CompileError, Compiler};
use crate::code::{Inst, Reg};
use crate::layout::Num;
use crate::ops::{Narrow, Op, Wide, convert};

/// What an expression is to those that use it.
#[derive(Clone, Debug)]
pub(super) enum Slot {
    /// The registers of its scalars.
    Value(Rc<[Reg]>),
    Pointer(Place),
}

/// A function that is being compiled.
pub(super) struct Frame<'c, 'a> {
    pub(super) compiler: &'c mut Compiler<'a>,
    pub(super) function: &'a Function,
    pub(super) info: &'a FunctionInfo,
    pub(super) insts: Vec<Inst>,
    pub(super) lines: Vec<u32>,
    /// The source line that instructions are for.
    pub(super) line: u32,
    pub(super) slots: Vec<Option<Slot>>,
    /// Uses of each expression that are still to come.
    remaining: Vec<usize>,
    /// Expressions of the current block that hold registers.
    pub(super) scope: Vec<Handle<Expression>>,
    /// Expressions whose registers belong to variables.
    borrowed: Vec<Handle<Expression>>,
    /// How many slots hold a register; registers of other frames are never counted.
    holds: Vec<u32>,
    own: Vec<bool>,
    free: Vec<Reg>,
    /// Registers handed out since the last statement or expression ended.
    fresh: Vec<Reg>,
    /// The loops and switches around the current statement, outermost first.
    pub(super) targets: Vec<Target>,
    /// Lanes that have returned, if any may before the function's end.
    pub(super) returned: Option<Reg>,
    pub(super) result: Rc<[Reg]>,
    pub(super) locals: Vec<Place>,
    pub(super) arguments: Vec<Slot>,
}

impl<'c, 'a> Frame<'c, 'a> {
    pub(super) fn new(
        compiler: &'c mut Compiler<'a>,
        function: &'a Function,
        info: &'a FunctionInfo,
    ) -> Self {
        let expressions = function.expressions.iter();
        Self {
            compiler,
            function,
            info,
            insts: Vec::new(),
            lines: Vec::new(),
            line: 0,
            slots: vec![None; function.expressions.len()],
            remaining: expressions
                .map(|(handle, _)| info[handle].ref_count)
                .collect(),
            scope: Vec::new(),
            borrowed: Vec::new(),
            holds: Vec::new(),
            own: Vec::new(),
            free: Vec::new(),
            fresh: Vec::new(),
            targets: Vec::new(),
            returned: None,
            result: Rc::new([]),
            locals: Vec::new(),
            arguments: Vec::new(),
        }
    }

    /// The type of an expression.
    pub(super) fn type_of(&self, handle: Handle<Expression>) -> &'a TypeInner {
        self.info[handle].ty.inner_with(&self.compiler.module.types)
    }

    /// The type of the scalars in an expression.
    pub(super) fn num_of(&self, handle: Handle<Expression>) -> Result<Num, CompileError> {
        let scalar = self.type_of(handle).scalar();
        Num::new(scalar.ok_or(CompileError::Unsupported("arithmetic on this type"))?)
    }

    /// Appends an instruction and gives its place.
    pub(super) fn push(&mut self, inst: Inst) -> usize {
        self.insts.push(inst);
        self.lines.push(self.line);
        self.insts.len() - 1
    }

    /// A register for a value that is being computed; free again unless a slot holds it when the
    /// current expression or statement ends.
    pub(super) fn temporary(&mut self) -> Result<Reg, CompileError> {
        let reg = match self.free.pop() {
            Some(reg) => reg,
            None => {
                let reg = self.compiler.new_register()?;
                self.holds.resize(reg.index() + 1, 0);
                self.own.resize(reg.index() + 1, false);
                self.own[reg.index()] = true;
                reg
            }
        };
        self.fresh.push(reg);
        Ok(reg)
    }

    pub(super) fn temporaries(&mut self, count: u32) -> Result<Vec<Reg>, CompileError> {
        (0..count).map(|_| self.temporary()).collect()
    }

    /// A register that stays taken until [`release`](Self::release).
    pub(super) fn pinned(&mut self) -> Result<Reg, CompileError> {
        let reg = self.temporary()?;
        self.hold(reg);
        Ok(reg)
    }

    pub(super) fn release(&mut self, reg: Reg) {
        if !self.is_own(reg) {
            return;
        }
        let holds = &mut self.holds[reg.index()];
        *holds -= 1;
        if *holds == 0 && !self.fresh.contains(&reg) {
            self.free.push(reg);
        }
    }

    /// Keeps a register taken until [`release`](Self::release).
    pub(super) fn hold(&mut self, reg: Reg) {
        if self.is_own(reg) {
            self.holds[reg.index()] += 1;
        }
    }

    fn is_own(&self, reg: Reg) -> bool {
        self.own.get(reg.index()).copied().unwrap_or(false)
    }

    fn is_variable(&self, reg: Reg) -> bool {
        self.compiler.is_variable[reg.index()]
    }

    /// Ends an expression or statement: frees what it did not keep.
    pub(super) fn end_step(&mut self) {
        let fresh = std::mem::take(&mut self.fresh);
        let unheld = fresh.into_iter().filter(|reg| self.holds[reg.index()] == 0);
        self.free.extend(unheld);
    }

    /// Ends a statement: frees the values of the current block that have no uses left.
    pub(super) fn end_statement(&mut self) {
        self.end_step();
        let mut scope = std::mem::take(&mut self.scope);
        scope.retain(|&handle| {
            let live = self.remaining[handle.index()] > 0;
            if !live {
                self.clear(handle);
            }
            live
        });
        self.scope = scope;
    }

    /// Ends a block: frees all of its values.
    pub(super) fn end_scope(&mut self) {
        for handle in std::mem::take(&mut self.scope) {
            self.clear(handle);
        }
    }

    fn clear(&mut self, handle: Handle<Expression>) {
        let slot = self.slots[handle.index()].take();
        for reg in slot.iter().flat_map(Slot::registers) {
            self.release(reg);
        }
    }

    /// Makes `slot` what `handle` stands for.
    pub(super) fn set(&mut self, handle: Handle<Expression>, slot: Slot) {
        for reg in slot.registers() {
            self.hold(reg);
        }
        if slot.registers().any(|reg| self.is_variable(reg)) {
            self.borrowed.push(handle);
        }
        self.slots[handle.index()] = Some(slot);
    }

    /// Copies every value that borrows from variables and is used later.
    pub(super) fn settle(&mut self) -> Result<(), CompileError> {
        for handle in std::mem::take(&mut self.borrowed) {
            let Some(Slot::Value(regs)) = &self.slots[handle.index()] else {
                continue;
            };
            if self.remaining[handle.index()] == 0 {
                continue;
            }
            let regs = Rc::clone(regs);
            let copied = self.copy_variables(&regs)?;
            self.set(handle, Slot::Value(copied));
            // Only now, for the two may share registers.
            regs.iter().for_each(|&reg| self.release(reg));
        }
        Ok(())
    }

    /// The same value in registers that no store changes.
    pub(super) fn copy_variables(&mut self, regs: &[Reg]) -> Result<Rc<[Reg]>, CompileError> {
        let mut copies = Vec::with_capacity(regs.len());
        for &src in regs {
            if !self.is_variable(src) {
                copies.push(src);
                continue;
            }
            let dst = self.temporary()?;
            self.push(Inst::Copy { dst, src });
            copies.push(dst);
        }
        Ok(copies.into())
    }

    /// Uses an expression once.
    pub(super) fn take(&mut self, handle: Handle<Expression>) -> Result<Slot, CompileError> {
        if self.slots[handle.index()].is_none() {
            // Constants, variables and arguments are there before any statement. A load is not:
            // at another time it has another value.
            if let Expression::Load { .. } = self.function.expressions[handle] {
                return Err(CompileError::Unsupported("a load before its statement"));
            }
            let slot = self.evaluate(handle)?;
            self.set(handle, slot);
        }
        let remaining = &mut self.remaining[handle.index()];
        *remaining = remaining.saturating_sub(1);
        let slot = self.slots[handle.index()].clone();
        slot.ok_or(CompileError::Unsupported("a value before it is computed"))
    }

    /// Uses the registers of an expression once.
    pub(super) fn value(&mut self, handle: Handle<Expression>) -> Result<Rc<[Reg]>, CompileError> {
        match self.take(handle)? {
            Slot::Value(regs) => Ok(regs),
            Slot::Pointer(_) => Err(CompileError::Unsupported("a pointer as a value")),
        }
    }

    /// Uses the only register of an expression once.
    pub(super) fn scalar(&mut self, handle: Handle<Expression>) -> Result<Reg, CompileError> {
        let regs = self.value(handle)?;
        let first = regs.first().copied();
        first.ok_or(CompileError::Unsupported("a scalar of no words"))
    }

    /// Uses a pointer once.
    pub(super) fn place(&mut self, handle: Handle<Expression>) -> Result<Place, CompileError> {
        match self.take(handle)? {
            Slot::Pointer(place) => Ok(place),
            Slot::Value(_) => Err(CompileError::Unsupported("a value as a pointer")),
        }
    }

    pub(super) fn narrow(&mut self, run: Narrow, src: &[Reg]) -> Result<Reg, CompileError> {
        let dst = self.temporary()?;
        let first = src.first().copied().unwrap_or(dst);
        let at = |index: usize| src.get(index).copied().unwrap_or(first);
        let src = [at(0), at(1), at(2)];
        self.push(Inst::Narrow { run, dst, src });
        Ok(dst)
    }

    pub(super) fn wide(
        &mut self,
        run: Wide,
        words: u32,
        src: &[Reg],
    ) -> Result<Vec<Reg>, CompileError> {
        let dst = self.temporaries(words)?;
        self.push(Inst::Wide {
            run,
            dst: dst.clone().into(),
            src: src.into(),
        });
        Ok(dst)
    }

    /// An operation on the words of scalars.
    pub(super) fn apply(&mut self, op: Op, src: &[Reg]) -> Result<Vec<Reg>, CompileError> {
        Ok(match op {
            Op::Narrow(run) => vec![self.narrow(run, src)?],
            Op::Wide(run, words) => self.wide(run, words, src)?,
            Op::Half(run) => {
                let src = self.convert_all(src, Num::F16, Num::F32)?;
                let result = self.narrow(run, &src)?;
                self.convert_all(&[result], Num::F32, Num::F16)?
            }
            Op::HalfTest(run) => {
                let src = self.convert_all(src, Num::F16, Num::F32)?;
                vec![self.narrow(run, &src)?]
            }
        })
    }

    /// Converts scalars.
    pub(super) fn convert_all(
        &mut self,
        src: &[Reg],
        from: Num,
        to: Num,
    ) -> Result<Vec<Reg>, CompileError> {
        let Some(op) = convert(from, to) else {
            return Ok(src.to_vec());
        };
        let mut regs = Vec::with_capacity(src.len());
        for scalar in src.chunks(from.words() as usize) {
            regs.extend(self.apply(op, scalar)?);
        }
        Ok(regs)
    }
}

impl Slot {
    fn registers(&self) -> impl Iterator<Item = Reg> {
        let (value, index): (&[Reg], _) = match self {
            Self::Value(regs) => (regs, None),
            Self::Pointer(place) => (&[], place.index),
        };
        let index = index.into_iter();
        let index = index.flat_map(|index| [index.offset, index.valid]);
        value.iter().copied().chain(index)
    }
}
