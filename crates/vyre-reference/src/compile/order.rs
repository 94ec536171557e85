//! Whether the workgroups of a kernel may run in any order.

use vyre_core::kernel::Kernel;
use vyre_core::naga::valid::FunctionInfo;
use vyre_core::naga::{
    AddressSpace, AtomicFunction, Block, Expression, Function, Handle, Module, Statement, TypeInner,
};

use crate::code::Order;

/// A kernel that only adds up (or takes minima, sets bits …) in storage gives the same result in
/// any order. One that looks at the intermediate values does not, and neither does one that
/// overwrites them.
pub(super) fn of(kernel: &Kernel) -> Order {
    let (module, info) = (kernel.module(), kernel.module_info());
    let functions = module.functions.iter();
    let mut functions = functions.map(|(handle, function)| (function, &info[handle]));
    let entry_points = module.entry_points.iter().enumerate();
    let mut entry_points =
        entry_points.map(|(index, entry)| (&entry.function, info.get_entry_point(index)));
    let depends = |(function, info): (&Function, &FunctionInfo)| {
        Scan {
            module,
            function,
            info,
        }
        .depends()
    };
    if functions.any(depends) || entry_points.any(depends) {
        Order::Ascending
    } else {
        Order::Any
    }
}

struct Scan<'a> {
    module: &'a Module,
    function: &'a Function,
    info: &'a FunctionInfo,
}

impl Scan<'_> {
    fn depends(&self) -> bool {
        let loads = self.function.expressions.iter();
        let mut loads = loads.filter_map(|(_, expression)| match *expression {
            Expression::Load { pointer } => Some(pointer),
            _ => None,
        });
        loads.any(|pointer| self.is_storage_atomic(pointer)) || self.block(&self.function.body)
    }

    fn block(&self, block: &Block) -> bool {
        block.iter().any(|statement| match statement {
            Statement::Block(block) => self.block(block),
            Statement::If { accept, reject, .. } => self.block(accept) || self.block(reject),
            Statement::Switch { cases, .. } => cases.iter().any(|case| self.block(&case.body)),
            Statement::Loop {
                body, continuing, ..
            } => self.block(body) || self.block(continuing),
            Statement::Store { pointer, .. } => self.is_storage_atomic(*pointer),
            Statement::Atomic {
                pointer,
                fun,
                result,
                ..
            } => {
                let order_shows =
                    result.is_some() || matches!(fun, AtomicFunction::Exchange { .. });
                order_shows && self.is_storage_atomic(*pointer)
            }
            _ => false,
        })
    }

    fn is_storage_atomic(&self, pointer: Handle<Expression>) -> bool {
        let TypeInner::Pointer { base, space } =
            *self.info[pointer].ty.inner_with(&self.module.types)
        else {
            return false;
        };
        matches!(space, AddressSpace::Storage { .. })
            && matches!(self.module.types[base].inner, TypeInner::Atomic(_))
    }
}
