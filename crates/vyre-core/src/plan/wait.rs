//! Which counters there are, who waits for which, and who signals it.

use crate::ring::NONE;

use super::{PlanError, emit::Emitter, group::Group, order::Place};

/// How many signals there may be for each item, and how many in any case, before levels are counted
/// instead of sets.
const SIGNALS_PER_ITEM: u128 = 4;
const FREE_SIGNALS: u128 = 1024;

/// Who waits for which counter, and who signals it. Counters are those of row 0; each further row
/// has `per_row` more.
pub(super) struct Waits {
    pub(super) per_row: u32,
    /// Of all rows.
    pub(super) counters: u32,
    /// Of each group: counter and target.
    pub(super) waits: Vec<(u32, u32)>,
    /// Where the counters that each group signals lie in `signals`, and their number.
    starts: Vec<usize>,
    /// Ascending within a group.
    signals: Vec<u32>,
}

impl Waits {
    pub(super) fn signals(&self, group: usize) -> &[u32] {
        &self.signals[self.starts[group]..self.starts[group + 1]]
    }
}

impl Emitter<'_> {
    /// Counts sets of groups, or where that takes too many signals the steps of a phase.
    pub(super) fn waits(&self, items: u32) -> Result<Waits, PlanError> {
        let mut used = vec![false; self.groups.sets()];
        for (group, place) in self.placed() {
            if self.order.waits(group, place) {
                used[group.set as usize] = true;
            }
        }
        let signals = |set| {
            let chunks = self.members(set).map(|(_, place)| u128::from(place.chunks));
            chunks.sum::<u128>()
        };
        let sets = (0_u32..).zip(&used).filter(|(_, used)| **used);
        let signals = sets.map(|(set, _)| signals(set)).sum::<u128>() * u128::from(self.rows);
        if signals <= SIGNALS_PER_ITEM * u128::from(items) + FREE_SIGNALS {
            self.count_sets(&used)
        } else {
            self.count_steps()
        }
    }

    fn placed(&self) -> impl Iterator<Item = (&Group, Place)> {
        self.groups
            .groups
            .iter()
            .zip(self.order.places.iter().copied())
    }

    /// The groups of a set that are in its last phase: nobody waits for the others, which have
    /// ended before.
    fn members(&self, set: u32) -> impl Iterator<Item = (u32, Place)> {
        let phase = self.order.sets[set as usize].phase;
        let members = self.groups.set(set).iter();
        members
            .map(|&group| (group, self.order.places[group as usize]))
            .filter(move |(_, place)| place.phase == phase)
    }

    /// A counter for each used set.
    fn count_sets(&self, used: &[bool]) -> Result<Waits, PlanError> {
        let mut counters: Vec<(u32, u32)> = Vec::with_capacity(used.len());
        let mut starts = vec![0_usize; self.groups.groups.len() + 1];
        let mut per_row = 0;
        for (set, &used) in (0_u32..).zip(used) {
            if !used {
                counters.push((NONE, 0));
                continue;
            }
            let mut target = 0;
            for (group, place) in self.members(set) {
                target += u128::from(place.chunks);
                starts[group as usize + 1] += 1;
            }
            let target = self.fits("signals to a counter", target, u32::MAX)?;
            counters.push((per_row, target));
            per_row += 1;
        }
        for group in 1..starts.len() {
            starts[group] += starts[group - 1];
        }
        let mut next = starts.clone();
        let mut signals = vec![0; starts.last().copied().unwrap_or(0)];
        for (set, &(counter, _)) in (0_u32..).zip(&counters) {
            if counter != NONE {
                for (group, _) in self.members(set) {
                    let place = &mut next[group as usize];
                    signals[*place] = counter;
                    *place += 1;
                }
            }
        }
        let waits = self.placed().map(|(group, place)| {
            if self.order.waits(group, place) {
                counters[group.set as usize]
            } else {
                (NONE, 0)
            }
        });
        Ok(Waits {
            per_row,
            counters: self.counters(per_row)?,
            waits: waits.collect(),
            starts,
            signals,
        })
    }

    /// A counter for each step, which the next step of the phase waits for.
    fn count_steps(&self) -> Result<Waits, PlanError> {
        let first_steps = &self.order.first_steps;
        let per_row = first_steps.last().copied().unwrap_or(0);
        let mut targets = vec![0_u128; per_row as usize];
        for place in &self.order.places {
            targets[place.step as usize] += u128::from(place.chunks);
        }
        let mut counters = Vec::with_capacity(targets.len());
        for target in targets {
            counters.push(self.fits("signals to a counter", target, u32::MAX)?);
        }
        let mut waits = Vec::with_capacity(self.order.places.len());
        let mut starts = vec![0];
        let mut signals = Vec::with_capacity(self.order.places.len());
        for place in &self.order.places {
            let phase = place.phase as usize;
            waits.push(if place.step == first_steps[phase] {
                (NONE, 0)
            } else {
                (place.step - 1, counters[place.step as usize - 1])
            });
            if place.step + 1 < first_steps[phase + 1] {
                signals.push(place.step);
            }
            starts.push(signals.len());
        }
        Ok(Waits {
            per_row,
            counters: self.counters(per_row)?,
            waits,
            starts,
            signals,
        })
    }

    fn counters(&self, per_row: u32) -> Result<u32, PlanError> {
        let counters = u128::from(per_row) * u128::from(self.rows);
        self.fits("counters", counters, NONE - 1)
    }
}
