//! Control flow by masks: which lanes go on, and which wait or have left.
//!
//! A mask is a register with 1 in its lanes. Loops and switches keep a mask of the lanes that
//! `left` them; at the end of an `if`, all lanes that were active before it are active again but
//! for those. When no lane is left, the machine skips to where some come back.

use vyre_core::naga::{
    BinaryOperator, Block, Expression, Handle, Statement, SwitchCase, SwitchValue,
};

use super::CompileError;
use super::frame::Frame;
use crate::code::{Inst, Reg};
use crate::layout::Num;
use crate::ops::{Op, binary};

/// A loop or a switch that lanes may leave.
pub(super) struct Target {
    /// Lanes that are done with this iteration of the loop, or with the switch.
    left: Reg,
    /// Lanes that are done with the loop; none for a switch.
    out: Option<Reg>,
    /// `Restore`s that skip to the end of the body when no lane is left.
    skips: Vec<usize>,
}

impl Frame<'_, '_> {
    /// The mask of lanes that have left the innermost loop, switch or function.
    pub(super) fn left(&self) -> Option<Reg> {
        self.targets
            .last()
            .map_or(self.returned, |target| Some(target.left))
    }

    fn here(&self) -> usize {
        self.insts.len()
    }

    /// Sets where the instruction at `index` goes.
    fn aim(&mut self, index: usize, to: usize) {
        if let Inst::If { skip: target, .. }
        | Inst::Else { skip: target, .. }
        | Inst::Restore { skip: target, .. }
        | Inst::Leave { skip: target, .. } = &mut self.insts[index]
        {
            *target = to;
        }
    }

    /// Activates `saved` but for the lanes that have left meanwhile.
    fn restore(&mut self, saved: Reg) {
        let left = self.left();
        let skip = self.here() + 1;
        let index = self.push(Inst::Restore { saved, left, skip });
        if let Some(target) = self.targets.last_mut() {
            target.skips.push(index);
        }
    }

    /// A condition in a register that no store changes, taken until it is released.
    fn condition(&mut self, handle: Handle<Expression>) -> Result<Reg, CompileError> {
        let reg = self.value(handle)?;
        let reg = self.copy_variables(&reg)?[0];
        self.hold(reg);
        Ok(reg)
    }

    pub(super) fn branch(
        &mut self,
        condition: Handle<Expression>,
        accept: &Block,
        reject: &Block,
    ) -> Result<(), CompileError> {
        if let Some((value, is_break)) = as_leave(accept, reject) {
            let condition = self.scalar(condition)?;
            self.leave_target_if(Some((condition, value)), is_break);
            return Ok(());
        }
        let condition = self.condition(condition)?;
        self.settle()?;
        let saved = self.pinned()?;
        let skip = 0;
        let enter = self.push(Inst::If {
            condition,
            saved,
            skip,
        });
        self.block(accept)?;
        let mut last = enter;
        if !reject.is_empty() {
            let other = self.push(Inst::Else {
                condition,
                saved,
                skip,
            });
            self.aim(enter, other);
            self.block(reject)?;
            last = other;
        }
        let end = self.here();
        self.aim(last, end);
        self.restore(saved);
        self.release(saved);
        self.release(condition);
        Ok(())
    }

    pub(super) fn switch(
        &mut self,
        selector: Handle<Expression>,
        cases: &[SwitchCase],
    ) -> Result<(), CompileError> {
        let selector = self.condition(selector)?;
        self.settle()?;
        let groups = self.case_masks(selector, cases)?;
        let (saved, left) = (self.pinned()?, self.pinned()?);
        self.push(Inst::Save(saved));
        self.push(Inst::Clear(left));
        for (mask, body) in groups {
            let scratch = self.pinned()?;
            // Lanes of other cases are active again; no lane is in two cases.
            let skip = self.here() + 1;
            self.push(Inst::Restore {
                saved,
                left: None,
                skip,
            });
            let enter = self.push(Inst::If {
                condition: mask,
                saved: scratch,
                skip: 0,
            });
            self.targets.push(Target {
                left,
                out: None,
                skips: Vec::new(),
            });
            self.block(body)?;
            self.end_target();
            let end = self.here();
            self.aim(enter, end);
            self.release(scratch);
            self.release(mask);
        }
        self.restore(saved);
        for reg in [saved, left, selector] {
            self.release(reg);
        }
        Ok(())
    }

    /// The lanes of each case body, in pinned registers. Cases that fall through have no body of
    /// their own in WGSL: they are further selectors of the next one.
    fn case_masks<'b>(
        &mut self,
        selector: Reg,
        cases: &'b [SwitchCase],
    ) -> Result<Vec<(Reg, &'b Block)>, CompileError> {
        let none = self.compiler.constant(0)?;
        let mut groups: Vec<(Reg, &Block)> = Vec::new();
        let mut default = None;
        let mut group = (none, false);
        let mut matched = none;
        for case in cases {
            let word = match case.value {
                SwitchValue::I32(value) => Some(value.cast_unsigned()),
                SwitchValue::U32(value) => Some(value),
                SwitchValue::Default => None,
            };
            if let Some(word) = word {
                let word = self.compiler.constant(word)?;
                let equal = self.logic(BinaryOperator::Equal, selector, word)?;
                group.0 = self.logic(BinaryOperator::InclusiveOr, group.0, equal)?;
                matched = self.logic(BinaryOperator::InclusiveOr, matched, equal)?;
            }
            group.1 |= word.is_none();
            if case.fall_through {
                if !case.body.is_empty() {
                    return Err(CompileError::Unsupported("a case that falls through"));
                }
                continue;
            }
            if group.1 {
                default = Some(groups.len());
            }
            groups.push((group.0, &case.body));
            group = (none, false);
        }
        if let Some(index) = default {
            let one = self.compiler.constant(1)?;
            let others = self.logic(BinaryOperator::ExclusiveOr, matched, one)?;
            groups[index].0 = self.logic(BinaryOperator::InclusiveOr, others, groups[index].0)?;
        }
        for (mask, _) in &mut groups {
            let kept = self.pinned()?;
            self.push(Inst::Copy {
                dst: kept,
                src: *mask,
            });
            *mask = kept;
        }
        Ok(groups)
    }

    fn logic(&mut self, op: BinaryOperator, a: Reg, b: Reg) -> Result<Reg, CompileError> {
        match binary(op, Num::U32) {
            Some(Op::Narrow(run)) => self.narrow(run, &[a, b]),
            _ => Err(CompileError::Unsupported("this operator on masks")),
        }
    }

    pub(super) fn repeat(
        &mut self,
        body: &Block,
        continuing: &Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<(), CompileError> {
        self.settle()?;
        let (saved, left, out) = (self.pinned()?, self.pinned()?, self.pinned()?);
        self.push(Inst::Save(saved));
        self.push(Inst::Clear(out));
        let top = self.push(Inst::Clear(left));
        self.targets.push(Target {
            left,
            out: Some(out),
            skips: Vec::new(),
        });
        // The continuing block may use the body's values, so they end after it.
        let outer = std::mem::take(&mut self.scope);
        self.statements(body)?;
        self.end_target();
        if !continuing.is_empty() || break_if.is_some() {
            self.continuing((saved, left, out), continuing, break_if)?;
        }
        self.end_scope();
        self.scope = outer;
        self.push(Inst::Repeat { saved, out, top });
        self.restore(saved);
        for reg in [saved, left, out] {
            self.release(reg);
        }
        Ok(())
    }

    fn continuing(
        &mut self,
        (saved, left, out): (Reg, Reg, Reg),
        block: &Block,
        break_if: Option<Handle<Expression>>,
    ) -> Result<(), CompileError> {
        let enter = self.push(Inst::Restore {
            saved,
            left: Some(out),
            skip: 0,
        });
        self.push(Inst::Clear(left));
        self.targets.push(Target {
            left,
            out: Some(out),
            skips: Vec::new(),
        });
        self.statements(block)?;
        if let Some(condition) = break_if {
            let condition = self.scalar(condition)?;
            self.leave(Some((condition, true)), vec![out]);
        }
        self.end_target();
        self.end_step();
        let end = self.here();
        self.aim(enter, end);
        Ok(())
    }

    /// Ends the innermost loop body or case: lanes that were skipped come back after it.
    fn end_target(&mut self) {
        let end = self.here();
        let skips = self.targets.pop().map(|target| target.skips);
        for index in skips.into_iter().flatten() {
            self.aim(index, end);
        }
    }

    /// `break` out of the innermost loop or switch, or `continue` the innermost loop.
    pub(super) fn leave_target(&mut self, is_break: bool) {
        self.leave_target_if(None, is_break);
    }

    fn leave_target_if(&mut self, condition: Option<(Reg, bool)>, is_break: bool) {
        let mut masks = Vec::new();
        for target in self.targets.iter().rev() {
            masks.push(target.left);
            if is_break {
                masks.extend(target.out);
                break;
            }
            if target.out.is_some() {
                break;
            }
        }
        self.leave(condition, masks);
    }

    /// Takes the active lanes out of all loops and switches, and of the function.
    pub(super) fn leave_function(&mut self) {
        let mut masks: Vec<_> = self.returned.into_iter().collect();
        for target in &self.targets {
            masks.push(target.left);
            masks.extend(target.out);
        }
        self.leave(None, masks);
    }

    fn leave(&mut self, condition: Option<(Reg, bool)>, masks: Vec<Reg>) {
        let skip = self.here() + 1;
        let index = self.push(Inst::Leave {
            condition,
            masks: masks.into(),
            skip,
        });
        if let Some(target) = self.targets.last_mut() {
            target.skips.push(index);
        }
    }
}

/// Whether an `if` only breaks or continues: for which value of its condition, and whether it
/// breaks. Every `for` and `while` begins with one.
fn as_leave(accept: &Block, reject: &Block) -> Option<(bool, bool)> {
    let only = |block: &Block| match block.as_ref() {
        [Statement::Break] => Some(true),
        [Statement::Continue] => Some(false),
        _ => None,
    };
    if reject.is_empty() {
        return Some((true, only(accept)?));
    }
    accept.is_empty().then_some((false, only(reject)?))
}
