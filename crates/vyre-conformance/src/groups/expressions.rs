//! Random expressions, each checked by the host's own evaluation.

use vyre_core::kernel::Capability;

use crate::case::{Case, Fault, Faults, Group, Need};
use crate::context::Context;
use crate::expr::check::{PLAIN, check};
use crate::expr::tree::{Expr, Generator};
use crate::expr::ty::{Scalar, Ty};
use Scalar::{Bool, F16, F32, I32, I64, U32, U64};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Expressions, name, run)
}

pub(super) const CASES: &[Case] = &[
    case("of_u32", |context| random(context, U32, &[Bool, U32, I32])),
    case("of_i32", |context| random(context, I32, &[Bool, U32, I32])),
    case("of_bool", |context| random(context, Bool, PLAIN)),
    case("of_f32", |context| {
        random(context, F32, &[Bool, U32, I32, F32])
    }),
    case("of_all_types_mixed", |context| random(context, U32, PLAIN)),
    case("of_u64", |context| {
        random(context, U64, &[Bool, U32, I32, U64, I64])
    })
    .needing(&[Need::Capability(Capability::Int64)]),
    case("of_i64", |context| {
        random(context, I64, &[Bool, U32, I32, U64, I64])
    })
    .needing(&[Need::Capability(Capability::Int64)]),
    case("of_f16", |context| {
        random(context, F16, &[Bool, U32, I32, F16])
    })
    .needing(&[Need::Capability(Capability::Float16)]),
];

/// Expressions in one kernel: as many as keep its compilation short.
const PER_KERNEL: usize = 6;
const ROWS: usize = 128;

fn random(context: &Context, root: Scalar, scalars: &[Scalar]) -> Result<(), Fault> {
    let mut random = context.random(root.name());
    let mut faults = Faults::default();
    for kernel in 0..context.kernels {
        if faults.is_full() {
            break;
        }
        let depth = 2 + kernel % 3;
        let mut generator = Generator {
            scalars,
            rows: ROWS,
            random: &mut random,
        };
        let exprs: Vec<Expr> = (0..PER_KERNEL)
            .map(|_| {
                let lanes = 1 + generator.random.below(4);
                generator.expression(Ty::new(root, lanes), depth)
            })
            .collect();
        let outcome = check(&context.backend, &exprs, ROWS)
            .map_err(|Fault(text)| Fault::new(format!("random kernel {kernel}: {text}")));
        faults.add(outcome);
    }
    faults.into_result()
}
