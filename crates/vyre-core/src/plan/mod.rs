//! `Plan`: a program as work items for persistent workgroups.
//!
//! The way to one: `group` (ops that one item runs, and which groups wait for which) → `order`
//! (launches, and levels within them) → `wait` (counters) → `emit` (items and records).

mod emit;
mod error;
mod group;
mod order;
mod wait;
#[cfg(test)]
mod tests;

use std::ops::Range;

pub use error::PlanError;

use crate::{program::Program, ring::Item};

/// What a plan is made for.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct PlanConfig {
    /// Workgroups that run at once: into about so many items each level is cut.
    pub workgroups: u32,
    /// The most ops that one item runs one after the other.
    pub max_ops_per_item: u32,
    /// The most items of one launch.
    pub launch_budget: u32,
}

impl PlanConfig {
    /// For this number of workgroups at once.
    #[must_use]
    pub fn new(workgroups: u32) -> Self {
        Self {
            workgroups,
            ..Self::default()
        }
    }
}

impl Default for PlanConfig {
    /// One workgroup, at most 1,024 ops in an item, launches without a bound.
    fn default() -> Self {
        Self {
            workgroups: 1,
            max_ops_per_item: 1024,
            launch_budget: u32::MAX,
        }
    }
}

/// Where the record of an op is to lie.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct PlannedOp {
    /// Index of the op in [`Program::ops`].
    pub op: u32,
    /// The row whose buffers it runs on.
    pub row: u32,
    /// Where its record starts, in units of [`record::UNIT`](crate::ring::record::UNIT) words.
    pub first_unit: u32,
}

/// Items that one launch runs.
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Launch {
    /// The class of all kernels in it.
    pub class: u32,
    /// Its items, by their place in [`Plan::items`].
    pub items: Range<u32>,
}

/// A program, over some rows, as work items.
///
/// - An item waits only for items before it, so any number of workgroups gets through.
/// - An item waits for one counter. It reaches its target when all that has to be done before is
///   done, except what an earlier launch did: a launch begins after the one before it has ended.
/// - Rows share no bytes; no item waits for one of another row.
///
/// ```
/// use vyre_core::kernel::Kernel;
/// use vyre_core::plan::{Plan, PlanConfig};
/// use vyre_core::program::Program;
///
/// let kernel = Kernel::from_wgsl(
///     "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
///      @compute @workgroup_size(64)
///      fn increment(@builtin(global_invocation_id) id: vec3u) { x[id.x] += 1u; }",
/// )?;
/// let mut builder = Program::builder("add ten");
/// let x = builder.in_out("x", 4 * 64);
/// for _ in 0..10 {
///     builder.op(&kernel, [1, 1, 1]).bind("x", x);
/// }
/// let plan = Plan::new(&builder.build()?, 3, &[0], &PlanConfig::new(132))?;
///
/// // A chain of ten ops for each row; nobody waits.
/// assert_eq!(plan.items().len(), 3);
/// assert!(plan.items().iter().all(|item| item.ops == 10));
/// assert_eq!(plan.counters(), 0);
/// # Ok::<(), Box<dyn std::error::Error>>(())
/// ```
#[derive(Clone, Debug, Eq, PartialEq)]
pub struct Plan {
    items: Vec<Item>,
    signal_lists: Vec<u32>,
    records: Vec<PlannedOp>,
    record_units: u32,
    counters: u32,
    launches: Vec<Launch>,
}

impl Plan {
    /// Plans `program` over `rows` rows. `classes` holds a class for each of
    /// [`Program::kernels`]; kernels of different classes never share a launch.
    ///
    /// # Errors
    ///
    /// If an argument makes no sense, or something outgrows the 32 bits that the ring has for it.
    pub fn new(
        program: &Program,
        rows: u32,
        classes: &[u32],
        config: &PlanConfig,
    ) -> Result<Self, PlanError> {
        for (what, value) in [
            ("`rows`", rows),
            ("`workgroups`", config.workgroups),
            ("`max_ops_per_item`", config.max_ops_per_item),
            ("`launch_budget`", config.launch_budget),
        ] {
            if value == 0 {
                return Err(PlanError::Zero { what });
            }
        }
        if classes.len() != program.kernels().len() {
            return Err(PlanError::ClassCount {
                expected: program.kernels().len(),
                given: classes.len(),
            });
        }
        let groups = group::Groups::new(program, classes, config)?;
        let order = order::Order::new(&groups, rows, config.workgroups);
        emit::emit(program, &groups, &order, rows, config)
    }

    /// The items, in the order in which workgroups take them.
    pub fn items(&self) -> &[Item] {
        &self.items
    }

    /// The lists of counters that lie in the ring behind the items.
    pub fn signal_lists(&self) -> &[u32] {
        &self.signal_lists
    }

    /// The ring buffer: the items, then the lists of counters.
    pub fn ring_words(&self) -> impl Iterator<Item = u32> {
        let items = self.items.iter().flat_map(Item::words);
        items.chain(self.signal_lists.iter().copied())
    }

    /// The op records, one for each op and row, in the order in which they lie.
    pub fn records(&self) -> &[PlannedOp] {
        &self.records
    }

    /// Length of all op records, in units of [`record::UNIT`](crate::ring::record::UNIT) words.
    pub fn record_units(&self) -> u32 {
        self.record_units
    }

    /// Number of completion counters, all of which start at 0.
    pub fn counters(&self) -> u32 {
        self.counters
    }

    /// The launches, one after the other; together they have all items.
    pub fn launches(&self) -> &[Launch] {
        &self.launches
    }
}

/// The index of something of which there are no more than 32 bits can count: ops, and what is not
/// more than ops; items, once that is checked.
fn narrow(index: usize) -> u32 {
    u32::try_from(index).unwrap_or(u32::MAX)
}
