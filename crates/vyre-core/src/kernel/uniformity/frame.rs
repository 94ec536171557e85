//! Follows the control flow of one function.

use std::collections::BTreeMap;

use naga::{Barrier, Block, Expression, Function, Handle, Span, Statement, SwitchCase};

use super::value::Place;
use super::{Analysis, Misplaced, Outcome};

/// For each local variable and then each argument, whether it varies; nothing where control flow
/// doesn't come.
type State = Option<Vec<bool>>;

/// One analysis of one function.
pub(super) struct Frame<'f, 'a> {
    pub(super) analysis: &'f mut Analysis<'a>,
    pub(super) function: &'a Function,
    pub(super) is_entry: bool,
    /// For each expression, whether it varies.
    pub(super) values: Vec<bool>,
    state: State,
    /// The loops and switches around the statement.
    breaks: Vec<Exit>,
    /// The loops around the statement.
    continues: Vec<Exit>,
    returns: Exit,
    result: bool,
    /// By the address of the body, what is known to hold at the head of a loop. Going through an
    /// outer loop again starts from there, or the time would double with each level.
    heads: BTreeMap<*const Block, Exit>,
}

/// Where control flow leaves to.
#[derive(Clone, Default, PartialEq)]
struct Exit {
    state: State,
    /// Why only some invocations may have left.
    split: Option<Span>,
}

impl<'f, 'a> Frame<'f, 'a> {
    pub(super) fn new(
        analysis: &'f mut Analysis<'a>,
        function: &'a Function,
        arguments: Vec<bool>,
        is_entry: bool,
    ) -> Self {
        let mut state = vec![false; function.local_variables.len()];
        state.extend(arguments);
        Self {
            analysis,
            function,
            is_entry,
            values: vec![false; function.expressions.len()],
            state: Some(state),
            breaks: Vec::new(),
            continues: Vec::new(),
            returns: Exit::default(),
            result: false,
            heads: BTreeMap::new(),
        }
    }

    /// Analyses the function, called in control flow that varies since `flow`.
    pub(super) fn run(mut self, flow: Option<Span>) -> Result<Outcome, Misplaced> {
        let function = self.function;
        self.block(&function.body, flow)?;
        let state = join(self.returns.state, self.state).unwrap_or_default();
        Ok(Outcome {
            result: self.result,
            arguments: state
                .into_iter()
                .skip(function.local_variables.len())
                .collect(),
        })
    }

    /// The index of an argument in the state.
    pub(super) fn argument(&self, index: u32) -> usize {
        self.function.local_variables.len() + index as usize
    }

    pub(super) fn state_of(&self, index: usize) -> bool {
        self.state.as_ref().is_some_and(|state| state[index])
    }

    /// Why control flow varies because invocations may have left.
    fn split(&self) -> Option<Span> {
        let exits = self.breaks.iter().chain(&self.continues);
        exits.chain([&self.returns]).find_map(|exit| exit.split)
    }

    /// Follows a block in control flow that varies since `outer`.
    fn block(&mut self, block: &'a Block, outer: Option<Span>) -> Result<(), Misplaced> {
        for (statement, &span) in block.span_iter() {
            if self.state.is_none() {
                break;
            }
            let flow = outer.or(self.split());
            self.statement(statement, span, flow)?;
        }
        Ok(())
    }

    fn statement(
        &mut self,
        statement: &'a Statement,
        span: Span,
        flow: Option<Span>,
    ) -> Result<(), Misplaced> {
        match statement {
            Statement::Block(block) => self.block(block, flow),
            Statement::If {
                condition,
                accept,
                reject,
            } => {
                let flow = flow.or(self.varies(*condition).then_some(span));
                let before = self.state.clone();
                self.block(accept, flow)?;
                let accepted = std::mem::replace(&mut self.state, before);
                self.block(reject, flow)?;
                self.state = join(accepted, self.state.take());
                Ok(())
            }
            Statement::Switch { selector, cases } => {
                self.switch(cases, flow.or(self.varies(*selector).then_some(span)))
            }
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => self.repeat(
                body,
                continuing,
                break_if.map(|condition| (condition, span)),
                flow,
            ),
            Statement::Break => {
                leave(self.breaks.last_mut(), &mut self.state, flow);
                Ok(())
            }
            Statement::Continue => {
                leave(self.continues.last_mut(), &mut self.state, flow);
                Ok(())
            }
            Statement::Return { value } => {
                self.result |= flow.is_some() || value.is_some_and(|value| self.varies(value));
                leave(Some(&mut self.returns), &mut self.state, flow);
                Ok(())
            }
            _ => self.straight(statement, span, flow),
        }
    }

    fn switch(&mut self, cases: &'a [SwitchCase], flow: Option<Span>) -> Result<(), Misplaced> {
        let before = self.state.take();
        self.breaks.push(Exit::default());
        for case in cases {
            self.state = join(self.state.take(), before.clone());
            self.block(&case.body, flow)?;
            if !case.fall_through {
                leave(self.breaks.last_mut(), &mut self.state, None);
            }
        }
        let exit = self.breaks.pop().unwrap_or_default();
        self.state = join(exit.state, self.state.take());
        Ok(())
    }

    /// Goes through a loop until nothing more varies at its head.
    fn repeat(
        &mut self,
        body: &'a Block,
        continuing: &'a Block,
        break_if: Option<(Handle<Expression>, Span)>,
        flow: Option<Span>,
    ) -> Result<(), Misplaced> {
        let key = std::ptr::from_ref(body);
        loop {
            let head = self.heads.entry(key).or_default();
            leave(Some(head), &mut self.state, None);
            let head = head.clone();
            self.state.clone_from(&head.state);
            self.breaks.push(Exit {
                state: None,
                split: head.split,
            });
            self.continues.push(Exit::default());

            self.block(body, flow)?;
            if let Some(exit) = self.continues.last_mut() {
                self.state = join(self.state.take(), exit.state.take());
            }
            self.block(continuing, flow)?;
            if let Some((condition, span)) = break_if {
                let flow = flow.or(self.varies(condition).then_some(span));
                leave(self.breaks.last_mut(), &mut self.state.clone(), flow);
            }

            let continued = self.continues.pop().unwrap_or_default();
            let left = self.breaks.pop().unwrap_or_default();
            let next = Exit {
                state: join(head.state.clone(), self.state.clone()),
                split: left.split.or(continued.split),
            };
            if next == head {
                self.state = left.state;
                return Ok(());
            }
            self.heads.insert(key, next);
        }
    }

    /// Statements after which the next one follows.
    fn straight(
        &mut self,
        statement: &Statement,
        span: Span,
        flow: Option<Span>,
    ) -> Result<(), Misplaced> {
        match statement {
            Statement::Emit(range) => {
                for expression in range.clone() {
                    self.values[expression.index()] = self.evaluate(expression);
                }
            }
            Statement::ControlBarrier(barrier) if *barrier != Barrier::SUB_GROUP => {
                check_barrier(span, flow)?;
            }
            Statement::WorkGroupUniformLoad { pointer, result } => {
                check_barrier(span, flow.or(self.varies(*pointer).then_some(span)))?;
                self.values[result.index()] = false;
            }
            Statement::Store { pointer, value } => {
                self.store(*pointer, flow.is_some() || self.varies(*value));
            }
            Statement::Call {
                function,
                arguments,
                result,
            } => {
                let varying = arguments
                    .iter()
                    .map(|&argument| self.passes_varying(argument));
                let varying = varying.collect();
                let outcome = self.analysis.call(*function, varying, flow)?;
                for (&argument, varies) in arguments.iter().zip(outcome.arguments) {
                    self.store(argument, varies);
                }
                if let Some(result) = result {
                    self.values[result.index()] = outcome.result;
                }
            }
            Statement::Atomic {
                result: Some(result),
                ..
            }
            | Statement::SubgroupBallot { result, .. }
            | Statement::SubgroupGather { result, .. }
            | Statement::SubgroupCollectiveOperation { result, .. } => {
                self.values[result.index()] = true;
            }
            _ => {}
        }
        Ok(())
    }

    /// Callees see what a pointer to a local variable leads to.
    fn passes_varying(&self, argument: Handle<Expression>) -> bool {
        let local = matches!(self.place(argument), Place::Local { .. });
        self.varies(argument) || (local && self.content_varies(argument))
    }

    /// Notes a store through a pointer; only local variables are followed.
    fn store(&mut self, pointer: Handle<Expression>, varies: bool) {
        let varies = varies || self.varies(pointer);
        if let (Place::Local { index, whole }, Some(state)) = (self.place(pointer), &mut self.state)
        {
            state[index] = varies || (!whole && state[index]);
        }
    }
}

fn check_barrier(barrier: Span, flow: Option<Span>) -> Result<(), Misplaced> {
    flow.map_or(Ok(()), |cause| Err(Misplaced { barrier, cause }))
}

/// Leaves for `exit`; nothing follows.
fn leave(exit: Option<&mut Exit>, state: &mut State, flow: Option<Span>) {
    if let Some(exit) = exit {
        exit.state = join(exit.state.take(), state.take());
        exit.split = exit.split.or(flow);
    }
}

/// What holds where two ways meet.
fn join(one: State, other: State) -> State {
    match (one, other) {
        (Some(mut one), Some(other)) => {
            one.iter_mut()
                .zip(other)
                .for_each(|(one, other)| *one |= other);
            Some(one)
        }
        (one, other) => one.or(other),
    }
}
