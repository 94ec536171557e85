//! Rebuilds a function with room for new expressions and statements anywhere in it.
//!
//! naga keeps a function's expressions in one arena in which operands precede their users, and
//! its `Emit` statements name ranges of that arena. So nothing can be inserted in place: the
//! arena is rebuilt in order, every handle is translated, every range is stretched over what was
//! inserted. A [`Rewriter`] says what becomes of each expression and statement.

use std::ops;

use naga::{
    Arena, BinaryOperator, Block, Expression, Function, Handle, LocalVariable, Range, Span,
    Statement, SwitchCase, Type, TypeInner, UniqueArena,
};

use super::{SpirvError, operands};

/// What becomes of each expression and statement of a function. The defaults keep them.
pub(super) trait Rewriter {
    /// Appends what replaces the expression `old`, of which `copy` is a copy with translated
    /// operands, and returns the expression that its users take instead.
    fn expression(
        &mut self,
        new: &mut Builder<'_>,
        old: Handle<Expression>,
        copy: Expression,
    ) -> Result<Handle<Expression>, SpirvError> {
        let _ = old;
        Ok(new.append(copy))
    }

    /// Pushes what replaces `old`, a statement without blocks, to `out`.
    fn statement(
        &mut self,
        new: &mut Builder<'_>,
        old: &Statement,
        out: &mut Block,
    ) -> Result<(), SpirvError> {
        let copy = new.copy_of(old)?;
        new.push(copy, out);
        Ok(())
    }
}

/// Rebuilds `function` as `rewriter` says. New types go into `types`, which begins with those
/// that `function` already refers to.
pub(super) fn rebuild(
    function: &Function,
    types: &mut UniqueArena<Type>,
    rewriter: &mut impl Rewriter,
) -> Result<Function, SpirvError> {
    let mut new = Builder {
        types,
        expressions: Arena::new(),
        locals: function.local_variables.clone(),
        moved: Vec::with_capacity(function.expressions.len()),
        starts: Vec::with_capacity(function.expressions.len() + 1),
        span: Span::UNDEFINED,
    };
    for (old, expression) in function.expressions.iter() {
        let mut copy = expression.clone();
        operands::of_expression(&mut copy, |operand| *operand = new.moved(*operand))?;
        new.span = function.expressions.get_span(old);
        new.starts.push(new.mark());
        let replacement = rewriter.expression(&mut new, old, copy)?;
        new.moved.push(replacement);
    }
    new.starts.push(new.mark());
    let body = new.block(&function.body, rewriter)?;
    for (handle, local) in function.local_variables.iter() {
        new.locals[handle].init = local.init.map(|init| new.moved(init));
    }
    Ok(Function {
        name: function.name.clone(),
        arguments: function.arguments.clone(),
        result: function.result.clone(),
        named_expressions: function
            .named_expressions
            .iter()
            .map(|(&expression, name)| (new.moved(expression), name.clone()))
            .collect(),
        local_variables: new.locals,
        expressions: new.expressions,
        body,
        diagnostic_filter_leaf: function.diagnostic_filter_leaf,
    })
}

/// Calls `visit` on every statement of `block` that holds no blocks, in program order.
pub(super) fn for_each_leaf<'a>(block: &'a Block, visit: &mut impl FnMut(&'a Statement)) {
    for statement in block {
        match statement {
            Statement::Block(inner) => for_each_leaf(inner, visit),
            Statement::If { accept, reject, .. } => {
                for_each_leaf(accept, visit);
                for_each_leaf(reject, visit);
            }
            Statement::Switch { cases, .. } => {
                cases
                    .iter()
                    .for_each(|case| for_each_leaf(&case.body, visit));
            }
            Statement::Loop {
                body, continuing, ..
            } => {
                for_each_leaf(body, visit);
                for_each_leaf(continuing, visit);
            }
            leaf => visit(leaf),
        }
    }
}

/// A function being rebuilt.
pub(super) struct Builder<'a> {
    types: &'a mut UniqueArena<Type>,
    expressions: Arena<Expression>,
    locals: Arena<LocalVariable>,
    /// For each old expression the new one that its users take instead.
    moved: Vec<Handle<Expression>>,
    /// For each old expression the mark at which its replacement begins, then the last one's end.
    starts: Vec<usize>,
    /// Where in the source the expression or statement being replaced stands.
    span: Span,
}

impl Builder<'_> {
    /// What the users of the old expression `old` take instead.
    pub(super) fn moved(&self, old: Handle<Expression>) -> Handle<Expression> {
        self.moved[old.index()]
    }

    /// A copy of a statement without blocks, with translated operands.
    pub(super) fn copy_of(&self, old: &Statement) -> Result<Statement, SpirvError> {
        let mut copy = old.clone();
        operands::of_leaf(&mut copy, |operand| *operand = self.moved(*operand))?;
        Ok(copy)
    }

    /// Appends an expression. One appended for an expression is evaluated where that one was;
    /// one appended for a statement needs [`Builder::emit_since`].
    pub(super) fn append(&mut self, expression: Expression) -> Handle<Expression> {
        self.expressions.append(expression, self.span)
    }

    /// Appends the expression `left op right`.
    pub(super) fn append_binary(
        &mut self,
        op: BinaryOperator,
        left: Handle<Expression>,
        right: Handle<Expression>,
    ) -> Handle<Expression> {
        self.append(Expression::Binary { op, left, right })
    }

    /// The types, those added by the rewrite among them.
    pub(super) fn types(&self) -> &UniqueArena<Type> {
        self.types
    }

    /// The handle of an unnamed type.
    pub(super) fn type_handle(&mut self, inner: TypeInner) -> Handle<Type> {
        self.types
            .insert(Type { name: None, inner }, Span::UNDEFINED)
    }

    /// Appends a pointer to a new local variable, which starts as zeros.
    pub(super) fn append_local(&mut self, ty: Handle<Type>) -> Handle<Expression> {
        let local = LocalVariable {
            name: None,
            ty,
            init: None,
        };
        let local = self.locals.append(local, self.span);
        self.append(Expression::LocalVariable(local))
    }

    /// The end of the expressions so far, for [`Builder::emit_since`].
    pub(super) fn mark(&self) -> usize {
        self.expressions.len()
    }

    /// Has everything appended since `mark` evaluated here.
    pub(super) fn emit_since(&self, mark: usize, out: &mut Block) {
        self.emit(mark..self.mark(), out);
    }

    /// Has `expression`, made for a result that a statement writes, evaluated here.
    pub(super) fn emit_one(&self, expression: Handle<Expression>, out: &mut Block) {
        self.emit(expression.index()..expression.index() + 1, out);
    }

    /// Pushes a statement.
    pub(super) fn push(&self, statement: Statement, out: &mut Block) {
        out.push(statement, self.span);
    }

    /// Emits the runs of expressions in `new` that are evaluated in place.
    fn emit(&self, new: ops::Range<usize>, out: &mut Block) {
        let mut run = None;
        for handle in self.expressions.range_from(new.start).take(new.len()) {
            if is_evaluated_in_place(&self.expressions[handle]) {
                run = Some((run.map_or(handle, |(first, _)| first), handle));
            } else if let Some((first, last)) = run.take() {
                self.push(Statement::Emit(Range::new_from_bounds(first, last)), out);
            }
        }
        if let Some((first, last)) = run {
            self.push(Statement::Emit(Range::new_from_bounds(first, last)), out);
        }
    }

    fn block(&mut self, old: &Block, rewriter: &mut impl Rewriter) -> Result<Block, SpirvError> {
        let mut out = Block::with_capacity(old.len());
        for (statement, &span) in old.span_iter() {
            self.span = span;
            match statement {
                Statement::Emit(range) => {
                    let old = range.index_range();
                    let start = self.starts[old.start as usize];
                    self.emit(start..self.starts[old.end as usize], &mut out);
                }
                Statement::Block(_)
                | Statement::If { .. }
                | Statement::Switch { .. }
                | Statement::Loop { .. } => {
                    let copy = self.nested(statement, rewriter)?;
                    out.push(copy, span);
                }
                leaf => rewriter.statement(self, leaf, &mut out)?,
            }
        }
        Ok(out)
    }

    /// The rebuilt form of a statement that holds blocks.
    fn nested(
        &mut self,
        old: &Statement,
        rewriter: &mut impl Rewriter,
    ) -> Result<Statement, SpirvError> {
        Ok(match old {
            Statement::Block(inner) => Statement::Block(self.block(inner, rewriter)?),
            Statement::If {
                condition,
                accept,
                reject,
            } => Statement::If {
                condition: self.moved(*condition),
                accept: self.block(accept, rewriter)?,
                reject: self.block(reject, rewriter)?,
            },
            Statement::Switch { selector, cases } => Statement::Switch {
                selector: self.moved(*selector),
                cases: cases
                    .iter()
                    .map(|case| {
                        Ok(SwitchCase {
                            value: case.value,
                            body: self.block(&case.body, rewriter)?,
                            fall_through: case.fall_through,
                        })
                    })
                    .collect::<Result<_, SpirvError>>()?,
            },
            Statement::Loop {
                body,
                continuing,
                break_if,
            } => Statement::Loop {
                body: self.block(body, rewriter)?,
                continuing: self.block(continuing, rewriter)?,
                break_if: break_if.map(|condition| self.moved(condition)),
            },
            leaf => self.copy_of(leaf)?,
        })
    }
}

/// Whether `expression` is evaluated by an `Emit` rather than once at the start of the function
/// or by the statement whose result it is.
fn is_evaluated_in_place(expression: &Expression) -> bool {
    let is_a_statements_result = matches!(
        expression,
        Expression::CallResult(_)
            | Expression::AtomicResult { .. }
            | Expression::WorkGroupUniformLoadResult { .. }
            | Expression::SubgroupBallotResult
            | Expression::SubgroupOperationResult { .. }
            | Expression::RayQueryProceedResult
    );
    !is_a_statements_result && !expression.needs_pre_emit()
}
