//! Functions: their registers, calls and returns.

use std::rc::Rc;

use vyre_core::naga::{
    Binding, Block, BuiltIn, Expression, Function, FunctionArgument, Handle, Statement, Type,
    TypeInner,
};

use super::frame::{Frame, Slot};
use super::place::{Place, Root};
use super::{CompileError, Compiler};
use crate::code::{DynamicIndex, Inst, Reg};
use crate::layout;

/// What a function is compiled for: the variable that a pointer argument points into, the offset
/// there, and whether there is an index; none for values.
pub(super) type ArgumentKey = Option<(Root, u32, bool)>;

/// A compiled function, as callers see it.
#[derive(Debug)]
pub(super) struct Signature {
    /// Index into [`Code::functions`](crate::code::Code::functions).
    index: usize,
    /// Registers of all arguments, one after another.
    arguments: Vec<Reg>,
    result: Rc<[Reg]>,
    /// Whether lanes may return before others do.
    returns_early: bool,
}

impl Frame<'_, '_> {
    pub(super) fn call(
        &mut self,
        function: Handle<Function>,
        arguments: &[Handle<Expression>],
        result: Option<Handle<Expression>>,
    ) -> Result<(), CompileError> {
        let mut keys = Vec::with_capacity(arguments.len());
        let mut given = Vec::new();
        for &argument in arguments {
            match self.take(argument)? {
                Slot::Value(regs) => {
                    keys.push(None);
                    given.extend_from_slice(&regs);
                }
                Slot::Pointer(place) => {
                    keys.push(Some((place.root, place.offset, place.index.is_some())));
                    let index = place.index.map(|index| [index.offset, index.valid]);
                    given.extend(index.into_iter().flatten());
                }
            }
        }
        let line = self.line;
        let callee = self.compiler.signature(function, keys)?;
        self.line = line;
        for (&dst, &src) in callee.arguments.iter().zip(&given) {
            self.push(Inst::Copy { dst, src });
        }
        self.settle()?;
        let function = callee.index;
        if callee.returns_early {
            let saved = self.pinned()?;
            self.push(Inst::Save(saved));
            self.push(Inst::Call { function });
            let skip = self.insts.len() + 1;
            self.push(Inst::Restore {
                saved,
                left: None,
                skip,
            });
            self.release(saved);
        } else {
            self.push(Inst::Call { function });
        }
        if let Some(result) = result {
            self.define(result, callee.result.to_vec());
        }
        Ok(())
    }

    pub(super) fn return_value(
        &mut self,
        value: Option<Handle<Expression>>,
    ) -> Result<(), CompileError> {
        if let Some(value) = value {
            let regs = self.value(value)?;
            let result = Rc::clone(&self.result);
            for (&dst, &src) in result.iter().zip(&*regs) {
                self.push(Inst::Move { dst, src });
            }
        }
        if self.returned.is_some() {
            self.leave_function();
        }
        Ok(())
    }

    /// Compiles the body, after what is done on entry.
    fn body(&mut self, returns_early: bool) -> Result<(), CompileError> {
        if returns_early {
            let returned = self.pinned()?;
            self.push(Inst::Clear(returned));
            self.returned = Some(returned);
        }
        let module = self.compiler.module;
        for (_, variable) in self.function.local_variables.iter() {
            let len = layout::words_of(module, variable.ty)?;
            let base = self.compiler.new_variable(len)?;
            self.locals.push(Place::at(Root::Lanes { base, len }, 0));
            let init = match variable.init {
                Some(init) => self.value(init)?.to_vec(),
                None => vec![self.compiler.constant(0)?; len as usize],
            };
            for (dst, src) in (0..len).map(|word| base.after(word)).zip(init) {
                self.push(Inst::Copy { dst, src });
            }
        }
        self.block(&self.function.body)?;
        self.push(Inst::Return);
        Ok(())
    }
}

impl<'a> Compiler<'a> {
    /// The function, compiled for these pointers.
    fn signature(
        &mut self,
        handle: Handle<Function>,
        keys: Vec<ArgumentKey>,
    ) -> Result<Rc<Signature>, CompileError> {
        let key = (handle, keys);
        if let Some(signature) = self.signatures.get(&key) {
            return Ok(Rc::clone(signature));
        }
        let function = &self.module.functions[handle];
        let mut slots = Vec::new();
        let mut arguments = Vec::new();
        for (argument, key) in function.arguments.iter().zip(&key.1) {
            let slot = self.argument(argument.ty, *key)?;
            match &slot {
                Slot::Value(regs) => arguments.extend_from_slice(regs),
                Slot::Pointer(place) => {
                    let index = place.index.map(|index| [index.offset, index.valid]);
                    arguments.extend(index.into_iter().flatten());
                }
            }
            slots.push(slot);
        }
        let words = match &function.result {
            Some(result) => layout::words_of(self.module, result.ty)?,
            None => 0,
        };
        // A later call overwrites the result, so it is a variable to those who use it.
        let first = self.new_variable(words)?;
        let result: Rc<[Reg]> = (0..words).map(|word| first.after(word)).collect();
        let returns_early = returns_early(&function.body);
        let info = &self.info[handle];
        let mut frame = Frame::new(self, function, info);
        frame.arguments = slots;
        frame.result = Rc::clone(&result);
        frame.body(returns_early)?;
        let (insts, lines) = (frame.insts, frame.lines);
        let index = self.link(insts, lines);
        let signature = Rc::new(Signature {
            index,
            arguments,
            result,
            returns_early,
        });
        self.signatures.insert(key, Rc::clone(&signature));
        Ok(signature)
    }

    fn argument(&mut self, ty: Handle<Type>, key: ArgumentKey) -> Result<Slot, CompileError> {
        let Some((root, offset, is_indexed)) = key else {
            let words = layout::words_of(self.module, ty)?;
            let first = self.new_block(words, false)?;
            return Ok(Slot::Value(
                (0..words).map(|word| first.after(word)).collect(),
            ));
        };
        let index = if is_indexed {
            Some(DynamicIndex {
                offset: self.new_register()?,
                valid: self.new_register()?,
            })
        } else {
            None
        };
        Ok(Slot::Pointer(Place {
            root,
            offset,
            index,
        }))
    }

    /// Compiles the entry point: private variables first, then built-in values.
    pub(super) fn add_entry_point(&mut self, index: usize) -> Result<(), CompileError> {
        let entry = &self.module.entry_points[index];
        let info = self.info.get_entry_point(index);
        let mut frame = Frame::new(self, &entry.function, info);
        frame.start_private()?;
        for argument in &entry.function.arguments {
            let slot = frame.built_ins(argument)?;
            frame.arguments.push(slot);
        }
        frame.body(returns_early(&entry.function.body))?;
        let (insts, lines) = (frame.insts, frame.lines);
        self.link(insts, lines);
        Ok(())
    }
}

impl Frame<'_, '_> {
    /// Sets private variables to their first values, for every workgroup anew.
    fn start_private(&mut self) -> Result<(), CompileError> {
        let module = self.compiler.module;
        for (handle, variable) in module.global_variables.iter() {
            let Some(&Place {
                root: Root::Lanes { base, len },
                ..
            }) = self.compiler.globals.get(&handle)
            else {
                continue;
            };
            let init = match variable.init {
                Some(init) => self.compiler.constant_words(init)?,
                None => vec![0; len as usize],
            };
            for (dst, word) in (0..len).map(|word| base.after(word)).zip(init) {
                let src = self.compiler.constant(word)?;
                self.push(Inst::Copy { dst, src });
            }
        }
        Ok(())
    }

    /// The registers of an entry point's argument: a built-in value, or a struct of them.
    fn built_ins(&mut self, argument: &FunctionArgument) -> Result<Slot, CompileError> {
        let module = self.compiler.module;
        let mut regs = Vec::new();
        match (&argument.binding, &module.types[argument.ty].inner) {
            (Some(Binding::BuiltIn(built_in)), inner) => {
                self.built_in(*built_in, inner, &mut regs)?;
            }
            (None, TypeInner::Struct { members, .. }) => {
                for member in members {
                    let Some(Binding::BuiltIn(built_in)) = member.binding else {
                        return Err(CompileError::Unsupported("an input of an entry point"));
                    };
                    self.built_in(built_in, &module.types[member.ty].inner, &mut regs)?;
                }
            }
            _ => return Err(CompileError::Unsupported("an input of an entry point")),
        }
        Ok(Slot::Value(regs.into()))
    }

    fn built_in(
        &mut self,
        built_in: BuiltIn,
        inner: &TypeInner,
        regs: &mut Vec<Reg>,
    ) -> Result<(), CompileError> {
        let words = layout::words(self.compiler.module, inner)?;
        let first = self.compiler.new_block(words, false)?;
        let dst: Vec<_> = (0..words).map(|word| first.after(word)).collect();
        regs.extend_from_slice(&dst);
        self.push(Inst::BuiltIn {
            built_in,
            dst: dst.into(),
        });
        Ok(())
    }
}

/// Whether a function may return anywhere but at its end.
fn returns_early(body: &Block) -> bool {
    let last = body.len().saturating_sub(1);
    body.iter().enumerate().any(|(index, statement)| {
        let is_end = index == last && matches!(statement, Statement::Return { .. });
        !is_end && has_return(statement)
    })
}

fn has_return(statement: &Statement) -> bool {
    let any = |block: &Block| block.iter().any(has_return);
    match statement {
        Statement::Return { .. } => true,
        Statement::Block(block) => any(block),
        Statement::If { accept, reject, .. } => any(accept) || any(reject),
        Statement::Switch { cases, .. } => cases.iter().any(|case| any(&case.body)),
        Statement::Loop {
            body, continuing, ..
        } => any(body) || any(continuing),
        _ => false,
    }
}
