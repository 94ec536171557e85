//! Finds accesses that no guard protects, independently of the code that places the guards.

use naga::valid::{FunctionInfo, ModuleInfo};
use naga::{
    ArraySize, BinaryOperator, Block, Expression, Function, Handle, Literal, Module, Statement,
    TypeInner,
};

use super::super::operands;
use super::super::remap::for_each_leaf;

/// How many accesses of each kind were looked at, all of them under a guard.
#[derive(Debug, Default, PartialEq)]
pub(super) struct Guarded {
    pub(super) reads: usize,
    pub(super) writes: usize,
    pub(super) atomics: usize,
}

/// Looks at every access in `module` that may be out of bounds.
///
/// # Panics
///
/// If one of them is not guarded by a comparison of each of its indices.
pub(super) fn guarded(module: &Module, info: &ModuleInfo) -> Guarded {
    let mut found = Guarded::default();
    for (function, info) in functions(module, info) {
        let inspection = Inspection {
            module,
            function,
            info,
        };
        inspection.reads(&mut found);
        inspection.block(&function.body, &[], &mut found);
    }
    found
}

/// Every function of a module, entry points last, and what the validator found out about it.
pub(super) fn functions<'a>(
    module: &'a Module,
    info: &'a ModuleInfo,
) -> impl Iterator<Item = (&'a Function, &'a FunctionInfo)> {
    let called = module.functions.iter();
    let entries = module.entry_points.iter().enumerate();
    called
        .map(|(handle, function)| (function, &info[handle]))
        .chain(entries.map(|(index, entry)| (&entry.function, info.get_entry_point(index))))
}

/// Whether every shift count is a literal or has been masked.
pub(super) fn shift_counts_are_masked(function: &Function) -> bool {
    let expressions = &function.expressions;
    expressions.iter().all(|(_, expression)| match *expression {
        Expression::Binary {
            op: BinaryOperator::ShiftLeft | BinaryOperator::ShiftRight,
            right,
            ..
        } => matches!(
            expressions[right],
            Expression::Literal(_)
                | Expression::Binary {
                    op: BinaryOperator::And,
                    ..
                }
        ),
        _ => true,
    })
}

struct Inspection<'a> {
    module: &'a Module,
    function: &'a Function,
    info: &'a FunctionInfo,
}

/// An index whose place in the bounds only the running kernel knows.
#[derive(Clone, Debug, PartialEq)]
enum Index {
    Value(Handle<Expression>),
    Constant(u32),
}

impl Inspection<'_> {
    /// The values that were read with indices that may be out of bounds, and those indices.
    fn unsafe_values(&self) -> Vec<(Handle<Expression>, Vec<Index>)> {
        let mut values = Vec::new();
        for (handle, expression) in self.function.expressions.iter() {
            match *expression {
                Expression::Load { pointer } => values.push((handle, self.unsafe_indices(pointer))),
                Expression::Access { base, index } if !self.is_pointer(base) => {
                    values.push((handle, vec![Index::Value(index)]));
                }
                _ => {}
            }
        }
        for_each_leaf(&self.function.body, &mut |statement| {
            if let Statement::WorkGroupUniformLoad { pointer, result } = *statement {
                values.push((result, self.unsafe_indices(pointer)));
            }
        });
        values.retain(|(_, indices)| !indices.is_empty());
        values
    }

    /// Each unsafe value is used by selections, or by the members of one, and by nothing else.
    fn reads(&self, found: &mut Guarded) {
        let values = self.unsafe_values();
        for (value, indices) in &values {
            self.assert_selected(*value, indices);
            found.reads += 1;
        }
        for_each_leaf(&self.function.body, &mut |statement| {
            if matches!(statement, Statement::WorkGroupUniformLoad { .. }) {
                return;
            }
            operands::of_leaf(&mut statement.clone(), |operand| {
                let is_unsafe = values.iter().any(|(value, _)| value == operand);
                assert!(
                    !is_unsafe,
                    "{statement:?} uses a value that may be out of bounds"
                );
            })
            .unwrap();
        });
    }

    fn assert_selected(&self, value: Handle<Expression>, indices: &[Index]) {
        for (user, expression) in self.function.expressions.iter() {
            match *expression {
                Expression::Select {
                    condition, accept, ..
                } if accept == value => self.assert_compared(&[condition], indices),
                Expression::AccessIndex { base, .. } if base == value => {
                    self.assert_selected(user, indices);
                }
                ref other => operands::of_expression(&mut other.clone(), |operand| {
                    assert_ne!(
                        *operand, value,
                        "{other:?} uses a value that may be out of bounds"
                    );
                })
                .unwrap(),
            }
        }
    }

    /// Each write is inside the accepting blocks of conditions that compare its indices.
    fn block(&self, block: &Block, conditions: &[Handle<Expression>], found: &mut Guarded) {
        for statement in block {
            match *statement {
                Statement::Store { pointer, .. } => {
                    found.writes += self.assert_guarded(pointer, conditions);
                }
                Statement::Atomic { pointer, .. } => {
                    found.atomics += self.assert_guarded(pointer, conditions);
                }
                Statement::If {
                    condition,
                    ref accept,
                    ref reject,
                } => {
                    self.block(accept, &[conditions, &[condition]].concat(), found);
                    self.block(reject, conditions, found);
                }
                Statement::Block(ref inner) => self.block(inner, conditions, found),
                Statement::Switch { ref cases, .. } => {
                    for case in cases {
                        self.block(&case.body, conditions, found);
                    }
                }
                Statement::Loop {
                    ref body,
                    ref continuing,
                    ..
                } => {
                    self.block(body, conditions, found);
                    self.block(continuing, conditions, found);
                }
                _ => {}
            }
        }
    }

    /// 1 if `pointer` may be out of bounds, all its indices being compared; 0 if it never is.
    fn assert_guarded(
        &self,
        pointer: Handle<Expression>,
        conditions: &[Handle<Expression>],
    ) -> usize {
        let indices = self.unsafe_indices(pointer);
        self.assert_compared(conditions, &indices);
        usize::from(!indices.is_empty())
    }

    fn assert_compared(&self, conditions: &[Handle<Expression>], indices: &[Index]) {
        let compared: Vec<_> = conditions
            .iter()
            .flat_map(|&condition| self.compared(condition))
            .collect();
        for index in indices {
            assert!(compared.contains(index), "{index:?} is not compared");
        }
    }

    /// The values that `condition` wants to be less than something.
    fn compared(&self, condition: Handle<Expression>) -> Vec<Index> {
        match self.function.expressions[condition] {
            Expression::Binary {
                op: BinaryOperator::LogicalAnd,
                left,
                right,
            } => [self.compared(left), self.compared(right)].concat(),
            Expression::Binary {
                op: BinaryOperator::Less,
                left,
                ..
            } => match self.function.expressions[left] {
                Expression::As { expr, .. } => vec![Index::Value(left), Index::Value(expr)],
                Expression::Literal(Literal::U32(constant)) => vec![Index::Constant(constant)],
                _ => vec![Index::Value(left)],
            },
            _ => Vec::new(),
        }
    }

    /// The indices on the way to `pointer` that may be out of bounds.
    fn unsafe_indices(&self, pointer: Handle<Expression>) -> Vec<Index> {
        let (base, index) = match self.function.expressions[pointer] {
            Expression::AccessIndex { base, index } => {
                let index = self
                    .is_runtime_sized(base)
                    .then_some(Index::Constant(index));
                (base, index)
            }
            Expression::Access { base, index } => (base, Some(Index::Value(index))),
            _ => return Vec::new(),
        };
        let mut indices = self.unsafe_indices(base);
        indices.extend(index);
        indices
    }

    fn is_pointer(&self, value: Handle<Expression>) -> bool {
        self.info[value]
            .ty
            .inner_with(&self.module.types)
            .pointer_space()
            .is_some()
    }

    fn is_runtime_sized(&self, pointer: Handle<Expression>) -> bool {
        let types = &self.module.types;
        let TypeInner::Pointer { base, .. } = *self.info[pointer].ty.inner_with(types) else {
            return false;
        };
        matches!(
            types[base].inner,
            TypeInner::Array {
                size: ArraySize::Dynamic,
                ..
            }
        )
    }
}
