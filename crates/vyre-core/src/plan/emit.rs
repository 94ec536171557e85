//! Items, counters, records and launches of groups in their order.

use crate::{
    program::Program,
    ring::{Item, NONE, item, record},
};

use super::{
    Launch, Plan, PlanConfig, PlanError, PlannedOp, group::Groups, narrow, order::Order,
    wait::Waits,
};

pub(super) fn emit(
    program: &Program,
    groups: &Groups,
    order: &Order,
    rows: u32,
    config: &PlanConfig,
) -> Result<Plan, PlanError> {
    let emitter = Emitter {
        program,
        groups,
        order,
        rows,
        config,
    };
    let row_items = order.places.iter().map(|place| u128::from(place.chunks));
    let items = row_items.sum::<u128>() * u128::from(rows);
    // Every workgroup takes one ticket more than there are items.
    let items = emitter.fits("items", items, u32::MAX - config.workgroups)?;
    let words = u128::from(items) * u128::from(item::WORDS);
    let lists_start = emitter.fits("words of ring", words, u32::MAX)?;
    let (records, record_units) = emitter.records()?;
    let waits = emitter.waits(items)?;
    let mut plan = Plan {
        items: emitter.reserve("items", items as usize)?,
        signal_lists: Vec::new(),
        counters: waits.counters,
        records,
        record_units,
        launches: Vec::new(),
    };
    emitter.fill(&mut plan, &waits, lists_start)?;
    Ok(plan)
}

/// What a plan is made from.
pub(super) struct Emitter<'a> {
    pub(super) program: &'a Program,
    pub(super) groups: &'a Groups,
    pub(super) order: &'a Order,
    pub(super) rows: u32,
    pub(super) config: &'a PlanConfig,
}

impl Emitter<'_> {
    pub(super) fn fits(
        &self,
        what: &'static str,
        needed: u128,
        limit: u32,
    ) -> Result<u32, PlanError> {
        match u32::try_from(needed) {
            Ok(fits) if fits <= limit => Ok(fits),
            _ => Err(PlanError::TooLarge {
                what,
                ops: self.program.ops().len(),
                rows: self.rows,
                needed,
                limit,
            }),
        }
    }

    fn reserve<T>(&self, what: &'static str, len: usize) -> Result<Vec<T>, PlanError> {
        let mut values = Vec::new();
        values
            .try_reserve_exact(len)
            .map_err(|source| PlanError::HostMemory {
                what,
                ops: self.program.ops().len(),
                rows: self.rows,
                len,
                source,
            })?;
        Ok(values)
    }

    /// The records in the order of the items, and the units they fill.
    fn records(&self) -> Result<(Vec<PlannedOp>, u32), PlanError> {
        let kernels = self.program.kernels().iter();
        let units: Vec<u32> = kernels
            .map(|kernel| record::units(u32::try_from(kernel.bindings().len()).unwrap_or(u32::MAX)))
            .collect();
        let ops = self.program.ops();
        let row_units = ops.iter().map(|op| u128::from(units[op.kernel() as usize]));
        let total = row_units.sum::<u128>() * u128::from(self.rows);
        let total = self.fits("units of op records", total, u32::MAX)?;

        let mut records = self.reserve("op records", ops.len() * self.rows as usize)?;
        let mut first_unit = 0;
        for &group in &self.order.sequence {
            let group = &self.groups.groups[group as usize];
            for row in 0..self.rows {
                for &op in self.groups.ops(group) {
                    records.push(PlannedOp {
                        op,
                        row,
                        first_unit,
                    });
                    first_unit += units[ops[op as usize].kernel() as usize];
                }
            }
        }
        Ok((records, total))
    }

    /// Adds items, lists and launches to a plan that has its records.
    fn fill(&self, plan: &mut Plan, waits: &Waits, lists_start: u32) -> Result<(), PlanError> {
        let mut next_record = 0;
        let mut phase = Phase::default();
        for &index in &self.order.sequence {
            let group = &self.groups.groups[index as usize];
            let place = self.order.places[index as usize];
            if place.phase != phase.number {
                self.launch(plan, &phase);
                phase.number = place.phase;
                phase.first_item = narrow(plan.items.len());
            }
            phase.class = group.class;
            let (counter, target) = waits.waits[index as usize];
            for row in 0..self.rows {
                let skipped = waits.per_row * row;
                let mut item = Item {
                    first_record: plan.records[next_record].first_unit,
                    ops: group.len,
                    wait_counter: if counter == NONE {
                        NONE
                    } else {
                        counter + skipped
                    },
                    wait_target: target,
                    ..Item::default()
                };
                let signals = waits.signals(index as usize);
                (item.signal_first, item.signal_count) =
                    self.list(plan, signals, skipped, lists_start)?;
                for chunk in 0..place.chunks {
                    item.tiles =
                        group.tiles / place.chunks + u32::from(chunk < group.tiles % place.chunks);
                    plan.items.push(item);
                    item.first_tile += item.tiles;
                }
                next_record += group.len as usize;
            }
        }
        self.launch(plan, &phase);
        Ok(())
    }

    /// First and number of the counters to signal, which are put in a list if they aren't
    /// neighbours.
    fn list(
        &self,
        plan: &mut Plan,
        signals: &[u32],
        skipped: u32,
        lists_start: u32,
    ) -> Result<(u32, u32), PlanError> {
        let (Some(first), Some(last)) = (signals.first(), signals.last()) else {
            return Ok((0, 0));
        };
        let count = self.fits(
            "signals of an item",
            signals.len() as u128,
            item::LISTED - 1,
        )?;
        if last - first == count - 1 {
            return Ok((first + skipped, count));
        }
        let end = u128::from(lists_start) + plan.signal_lists.len() as u128 + u128::from(count);
        let end = self.fits("words of ring", end, u32::MAX)?;
        let listed = signals.iter().map(|counter| counter + skipped);
        plan.signal_lists.extend(listed);
        Ok((end - count, count | item::LISTED))
    }

    /// Adds the launches of a phase that ends here.
    fn launch(&self, plan: &mut Plan, phase: &Phase) {
        let (mut start, end) = (phase.first_item, narrow(plan.items.len()));
        while start < end {
            let items = start..start.saturating_add(self.config.launch_budget).min(end);
            start = items.end;
            plan.launches.push(Launch {
                class: phase.class,
                items,
            });
        }
    }
}

/// The phase that is being filled.
#[derive(Default)]
struct Phase {
    number: u32,
    class: u32,
    first_item: u32,
}
