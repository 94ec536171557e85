//! Statements, but for control flow and calls.

use vyre_core::naga::{
    AtomicFunction, Barrier, Block, Direction, Expression, GatherMode, Handle, Range, Statement,
    SubgroupOperation, TypeInner,
};

use super::CompileError;
use super::frame::{Frame, Slot};
use crate::code::{Atomic, AtomicKind, Combine, Gather, Inst, PlainAtomic, Reg, Subgroup};
use crate::layout::{self, Num};
use crate::ops::to_words;

/// Whether the statements after one are ever reached.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) enum Flow {
    Goes,
    Ends,
}

impl Frame<'_, '_> {
    /// Compiles a block; its values end with it.
    pub(super) fn block(&mut self, block: &Block) -> Result<Flow, CompileError> {
        let outer = std::mem::take(&mut self.scope);
        let flow = self.statements(block)?;
        self.end_scope();
        self.scope = outer;
        Ok(flow)
    }

    /// Compiles the statements of a block in the current scope.
    pub(super) fn statements(&mut self, block: &Block) -> Result<Flow, CompileError> {
        let mut flow = Flow::Goes;
        for (statement, span) in block.span_iter() {
            if span.is_defined() {
                self.line = self.compiler.line(*span);
            }
            flow = self.statement(statement)?;
            self.end_statement();
            if flow == Flow::Ends {
                break;
            }
        }
        Ok(flow)
    }

    fn statement(&mut self, statement: &Statement) -> Result<Flow, CompileError> {
        match *statement {
            Statement::Emit(ref range) => self.emit(range)?,
            Statement::Block(ref block) => return self.block(block),
            Statement::If {
                condition,
                ref accept,
                ref reject,
            } => self.branch(condition, accept, reject)?,
            Statement::Switch {
                selector,
                ref cases,
            } => self.switch(selector, cases)?,
            Statement::Loop {
                ref body,
                ref continuing,
                break_if,
            } => self.repeat(body, continuing, break_if)?,
            Statement::Break => self.leave_target(true),
            Statement::Continue => self.leave_target(false),
            Statement::Return { value } => self.return_value(value)?,
            Statement::ControlBarrier(barrier) => {
                self.push(Inst::Barrier(barrier));
            }
            Statement::Store { pointer, value } => self.store(pointer, value)?,
            Statement::Call {
                function,
                ref arguments,
                result,
            } => self.call(function, arguments, result)?,
            _ => self.shared_statement(statement)?,
        }
        let ends = matches!(
            statement,
            Statement::Break | Statement::Continue | Statement::Return { .. }
        );
        Ok(if ends { Flow::Ends } else { Flow::Goes })
    }

    /// Statements in which invocations meet.
    fn shared_statement(&mut self, statement: &Statement) -> Result<(), CompileError> {
        match *statement {
            // Lanes run in step, and see each other's writes at once.
            Statement::MemoryBarrier(_) => Ok(()),
            Statement::WorkGroupUniformLoad { pointer, result } => {
                self.push(Inst::Barrier(Barrier::WORK_GROUP));
                let regs = self.load(pointer)?;
                self.push(Inst::Barrier(Barrier::WORK_GROUP));
                self.define(result, regs.to_vec());
                Ok(())
            }
            Statement::Atomic {
                pointer,
                ref fun,
                value,
                result,
            } => self.atomic(pointer, fun, value, result),
            Statement::SubgroupBallot { result, predicate } => {
                let predicate = match predicate {
                    Some(predicate) => self.scalar(predicate)?,
                    None => self.compiler.constant(1)?,
                };
                self.subgroup(Subgroup::Ballot { predicate }, &[], 1, 4, result)
            }
            Statement::SubgroupGather {
                ref mode,
                argument,
                result,
            } => {
                let gather = self.gather(mode)?;
                let src = self.value(argument)?;
                let words = self.num_of(argument)?.words();
                let count = u32::try_from(src.len()).unwrap_or(u32::MAX);
                self.subgroup(Subgroup::Gather(gather), &src, words, count, result)
            }
            Statement::SubgroupCollectiveOperation {
                op,
                collective_op,
                argument,
                result,
            } => {
                let num = self.num_of(argument)?;
                let src = self.value(argument)?;
                let count = u32::try_from(src.len()).unwrap_or(u32::MAX);
                let collective = Subgroup::Collective {
                    kind: collective_op,
                    combine: Combine { op, num },
                    neutral: neutral(op, num),
                };
                self.subgroup(collective, &src, num.words(), count, result)
            }
            _ => Err(CompileError::Unsupported("this kind of statement")),
        }
    }

    fn emit(&mut self, range: &Range<Expression>) -> Result<(), CompileError> {
        for handle in range.clone() {
            let span = self.function.expressions.get_span(handle);
            if span.is_defined() {
                self.line = self.compiler.line(span);
            }
            if self.slots[handle.index()].is_none() {
                let slot = self.evaluate(handle)?;
                self.set(handle, slot);
                self.scope.push(handle);
            }
            self.end_step();
        }
        Ok(())
    }

    /// Gives the result of a statement its registers.
    pub(super) fn define(&mut self, result: Handle<Expression>, regs: Vec<Reg>) {
        self.set(result, Slot::Value(regs.into()));
        self.scope.push(result);
    }

    fn atomic(
        &mut self,
        pointer: Handle<Expression>,
        fun: &AtomicFunction,
        value: Handle<Expression>,
        result: Option<Handle<Expression>>,
    ) -> Result<(), CompileError> {
        let TypeInner::Atomic(scalar) = self.pointee(pointer)? else {
            return Err(CompileError::Unsupported("an atomic on another type"));
        };
        let (memory, address) = self.place(pointer)?.shared()?;
        let value = self.value(value)?;
        let kind = match *fun {
            AtomicFunction::Exchange {
                compare: Some(compare),
            } => AtomicKind::CompareExchange((&*self.value(compare)?).into()),
            _ => AtomicKind::Plain(PlainAtomic::new(fun)),
        };
        let words = match result {
            Some(result) => layout::words(self.compiler.module, self.type_of(result))?,
            None => 0,
        };
        let regs = self.temporaries(words)?;
        self.push(Inst::Atomic(Box::new(Atomic {
            memory,
            address,
            fun: kind,
            signed: Num::new(scalar)?.is_signed(),
            value: (&*value).into(),
            result: regs.clone().into(),
        })));
        if let Some(result) = result {
            self.define(result, regs);
        }
        Ok(())
    }

    fn gather(&mut self, mode: &GatherMode) -> Result<Gather, CompileError> {
        Ok(match *mode {
            GatherMode::BroadcastFirst => Gather::First,
            GatherMode::Broadcast(lane) | GatherMode::Shuffle(lane) => {
                Gather::Lane(self.scalar(lane)?)
            }
            GatherMode::ShuffleDown(delta) => Gather::Down(self.scalar(delta)?),
            GatherMode::ShuffleUp(delta) => Gather::Up(self.scalar(delta)?),
            GatherMode::ShuffleXor(mask) => Gather::Xor(self.scalar(mask)?),
            GatherMode::QuadBroadcast(lane) => Gather::QuadLane(self.scalar(lane)?),
            GatherMode::QuadSwap(direction) => Gather::QuadXor(match direction {
                Direction::X => 1,
                Direction::Y => 2,
                Direction::Diagonal => 3,
            }),
        })
    }

    fn subgroup(
        &mut self,
        operation: Subgroup,
        src: &[Reg],
        words: u32,
        count: u32,
        result: Handle<Expression>,
    ) -> Result<(), CompileError> {
        let dst = self.temporaries(count)?;
        self.push(Inst::Subgroup {
            operation: Box::new(operation),
            words,
            dst: dst.clone().into(),
            src: src.into(),
        });
        self.define(result, dst);
        Ok(())
    }
}

/// The neutral element of an operation.
fn neutral(op: SubgroupOperation, num: Num) -> [u32; 2] {
    use SubgroupOperation as S;
    let (one, least, greatest) = match num {
        Num::F32 => (0x3f80_0000, 0xff80_0000, 0x7f80_0000),
        Num::F16 => (0x3c00, 0xfc00, 0x7c00),
        Num::I32 => (1, 1 << 31, u64::from(u32::MAX >> 1)),
        Num::I64 => (1, 1 << 63, u64::MAX >> 1),
        Num::U32 => (1, 0, u64::from(u32::MAX)),
        Num::U64 => (1, 0, u64::MAX),
        Num::Bool => (1, 0, 1),
    };
    to_words(match op {
        S::Add | S::Or | S::Xor | S::Any => 0,
        S::Mul | S::All => one,
        S::Min => greatest,
        S::Max => least,
        S::And => u64::MAX,
    })
}
