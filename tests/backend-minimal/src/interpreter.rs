//! Runs a kernel of assignments between `array<u32>`, one invocation after the other.

use vyre_driver::naga::{
    ArraySize, BinaryOperator, Binding, BuiltIn, Expression, Function, Handle, Literal, Module,
    Scalar, Statement, TypeInner,
};
use vyre_driver::program::BoundRange;
use vyre_driver::{BackendError, Kernel};

/// Runs `kernel` over a grid of workgroups, on `bound` ranges of `memory`.
pub(crate) fn run(
    kernel: &Kernel,
    grid: [u32; 3],
    bound: &[BoundRange],
    memory: &mut [Vec<u8>],
) -> Result<(), BackendError> {
    let module = kernel.module();
    let function = &module.entry_points[kernel.entry_point_index()].function;
    let mut machine = Machine {
        kernel,
        function,
        bound,
        memory,
        id: [0; 3],
        values: vec![None; function.expressions.len()],
    };
    let arrays = kernel.bindings().iter();
    let refused = match arrays.clone().all(|it| is_words(module, it.variable)) {
        true => machine.run_grid(grid),
        false => Err("a buffer that is not an `array<u32>`"),
    };
    refused.map_err(|construct| BackendError::Translation {
        kernel: kernel.entry_point().to_owned(),
        source: format!("backend `minimal` has no way to run {construct}").into(),
    })
}

/// Whether a variable is a storage buffer of type `array<u32>`.
fn is_words(module: &Module, variable: Handle<vyre_driver::naga::GlobalVariable>) -> bool {
    match module.types[module.global_variables[variable].ty].inner {
        TypeInner::Array { base, size, .. } => {
            size == ArraySize::Dynamic && module.types[base].inner == TypeInner::Scalar(Scalar::U32)
        }
        _ => false,
    }
}

/// What an expression gives.
#[derive(Clone, Copy)]
enum Value {
    Word(u32),
    /// `global_invocation_id`.
    Id,
    /// A whole array.
    Array(BoundRange),
    /// A word of an array, by its index.
    Element(BoundRange, u32),
}

/// One invocation, with the name of a construct that it can't run as its error.
struct Machine<'a> {
    kernel: &'a Kernel,
    function: &'a Function,
    bound: &'a [BoundRange],
    memory: &'a mut [Vec<u8>],
    id: [u32; 3],
    /// What expressions gave at the place in the body where naga wants them evaluated.
    values: Vec<Option<Value>>,
}

impl Machine<'_> {
    fn run_grid(&mut self, grid: [u32; 3]) -> Result<(), &'static str> {
        let size = self.kernel.workgroup_size();
        let [x, y, z] = [0, 1, 2].map(|axis| u64::from(grid[axis]) * u64::from(size[axis]));
        for index in 0..x * y * z {
            let id = [index % x, index / x % y, index / x / y];
            self.id = id.map(|at| u32::try_from(at).unwrap_or(u32::MAX));
            self.run_invocation()?;
        }
        Ok(())
    }

    fn run_invocation(&mut self) -> Result<(), &'static str> {
        for statement in &self.function.body {
            match statement {
                Statement::Emit(expressions) => {
                    for expression in expressions.clone() {
                        self.values[expression.index()] = Some(self.evaluate(expression)?);
                    }
                }
                Statement::Store { pointer, value } => {
                    let word = self.word(*value)?;
                    if let Some(place) = self.place(*pointer)? {
                        place.copy_from_slice(&word.to_le_bytes());
                    }
                }
                Statement::Return { .. } => break,
                _ => return Err("a statement other than an assignment"),
            }
        }
        Ok(())
    }

    /// The value from where the body evaluated the expression; those it doesn't mention are constant.
    fn value(&self, expression: Handle<Expression>) -> Result<Value, &'static str> {
        match self.values[expression.index()] {
            Some(value) => Ok(value),
            None => self.evaluate(expression),
        }
    }

    fn evaluate(&self, expression: Handle<Expression>) -> Result<Value, &'static str> {
        Ok(match self.function.expressions[expression] {
            Expression::Literal(Literal::U32(word)) => Value::Word(word),
            Expression::FunctionArgument(index) => {
                match self.function.arguments[index as usize].binding {
                    Some(Binding::BuiltIn(BuiltIn::GlobalInvocationId)) => Value::Id,
                    _ => return Err("a built-in value other than `global_invocation_id`"),
                }
            }
            Expression::GlobalVariable(variable) => {
                let bindings = self.kernel.bindings().iter().zip(self.bound);
                let mut found = bindings.filter(|(binding, _)| binding.variable == variable);
                let (_, range) = found.next().ok_or("workgroup or private variables")?;
                Value::Array(*range)
            }
            Expression::Access { base, index } => self.element(base, self.word(index)?)?,
            Expression::AccessIndex { base, index } => self.element(base, index)?,
            Expression::Load { pointer } => Value::Word(self.load(pointer)?),
            Expression::Binary { op, left, right } => {
                Value::Word(binary(op, self.word(left)?, self.word(right)?)?)
            }
            _ => return Err("an expression other than indexing and arithmetic on `u32`"),
        })
    }

    fn word(&self, expression: Handle<Expression>) -> Result<u32, &'static str> {
        match self.value(expression)? {
            Value::Word(word) => Ok(word),
            _ => Err("a value that is not a `u32`"),
        }
    }

    fn element(&self, base: Handle<Expression>, index: u32) -> Result<Value, &'static str> {
        match self.value(base)? {
            Value::Id => Ok(Value::Word(*self.id.get(index as usize).unwrap_or(&0))),
            Value::Array(range) => Ok(Value::Element(range, index)),
            _ => Err("an index of something else than an array"),
        }
    }

    /// Reads past the end give zero.
    fn load(&self, pointer: Handle<Expression>) -> Result<u32, &'static str> {
        let (buffer, start) = self.address(pointer)?;
        let word = start.and_then(|at| self.memory[buffer].get(at..)?.first_chunk());
        Ok(word.map_or(0, |bytes| u32::from_le_bytes(*bytes)))
    }

    /// Where a store goes; `None` past the end, where it is dropped.
    fn place(&mut self, pointer: Handle<Expression>) -> Result<Option<&mut [u8; 4]>, &'static str> {
        let (buffer, start) = self.address(pointer)?;
        Ok(start.and_then(|at| self.memory[buffer].get_mut(at..)?.first_chunk_mut()))
    }

    /// A buffer and the byte in it, if that is in the bound range.
    fn address(&self, pointer: Handle<Expression>) -> Result<(usize, Option<usize>), &'static str> {
        let Value::Element(range, index) = self.value(pointer)? else {
            return Err("a pointer to something else than a word of an array");
        };
        let start = range.offset + 4 * u64::from(index);
        let start = usize::try_from(start).ok().filter(|_| start < range.end());
        Ok((range.buffer.index(), start))
    }
}

/// As WGSL has it: overflow wraps, and division by zero gives the dividend.
fn binary(op: BinaryOperator, left: u32, right: u32) -> Result<u32, &'static str> {
    Ok(match op {
        BinaryOperator::Add => left.wrapping_add(right),
        BinaryOperator::Subtract => left.wrapping_sub(right),
        BinaryOperator::Multiply => left.wrapping_mul(right),
        BinaryOperator::Divide => left.checked_div(right).unwrap_or(left),
        BinaryOperator::Modulo => left.checked_rem(right).unwrap_or(0),
        BinaryOperator::And => left & right,
        BinaryOperator::InclusiveOr => left | right,
        BinaryOperator::ExclusiveOr => left ^ right,
        BinaryOperator::ShiftLeft => left.wrapping_shl(right),
        BinaryOperator::ShiftRight => left.wrapping_shr(right),
        _ => return Err("a comparison"),
    })
}
