//! The cases, one module per group.

mod semantics;
mod expressions;
mod agreement;
mod bounds;
mod hazards;
mod buffers;
mod outputs;
mod freshness;
mod atomics;
mod barriers;
mod errors;
mod residents;
mod threads;
mod timing;
mod growth;

use crate::case::Case;

/// Every case of the kit, group by group.
pub(crate) fn all() -> Vec<Case> {
    let groups = [
        semantics::CASES,
        expressions::CASES,
        agreement::CASES,
        bounds::CASES,
        hazards::CASES,
        buffers::CASES,
        outputs::CASES,
        freshness::CASES,
        atomics::CASES,
        barriers::CASES,
        errors::CASES,
        residents::CASES,
        threads::CASES,
        timing::CASES,
        growth::CASES,
    ];
    groups.concat()
}
