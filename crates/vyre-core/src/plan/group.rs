//! Groups of ops that one item runs one after the other, and the groups that each waits for.
//!
//! A group is a list of ops with as many tiles and the same class, in program order. It waits for
//! what its first op waits for. Another op may join only if whatever it waits for is in the group,
//! or is waited for already. So a group waits only for groups that were opened before it, and the
//! order in which groups are opened is one in which they can run.

use std::ops::Range;

use crate::program::{DependencyGraph, Op, Program};

use super::{PlanConfig, PlanError, narrow};

/// No set.
pub(super) const NO_SET: u32 = u32::MAX;

/// The groups of a program.
pub(super) struct Groups {
    pub(super) groups: Vec<Group>,
    /// The ops, group by group.
    ops: Vec<u32>,
    sets: Vec<Range<usize>>,
    members: Vec<u32>,
}

/// Ops that one item runs.
#[derive(Clone, Copy)]
pub(super) struct Group {
    /// Where its ops start in `Groups::ops`.
    pub(super) first: u32,
    /// Number of ops.
    pub(super) len: u32,
    /// Tiles of each op.
    pub(super) tiles: u32,
    pub(super) class: u32,
    /// The set of groups to wait for, or [`NO_SET`]; groups in a row may share one.
    pub(super) set: u32,
    /// The op that joined last.
    tail: u32,
}

impl Groups {
    /// # Errors
    ///
    /// [`PlanError::TooManyTiles`].
    pub(super) fn new(
        program: &Program,
        classes: &[u32],
        config: &PlanConfig,
    ) -> Result<Self, PlanError> {
        let mut grouping = Grouping {
            dependencies: program.dependencies(),
            config,
            heirs: heirs(program.dependencies()),
            groups: Vec::new(),
            group_of: Vec::with_capacity(program.ops().len()),
            sets: Vec::new(),
            members: Vec::new(),
            waits: Vec::new(),
            stored: None,
        };
        for (index, op) in (0_u32..).zip(program.ops()) {
            let class = classes.get(op.kernel() as usize).copied().unwrap_or(0);
            grouping.add(index, tiles(index, op)?, class);
        }
        Ok(grouping.finish())
    }

    /// The groups of a set, ascending.
    pub(super) fn set(&self, set: u32) -> &[u32] {
        &self.members[self.sets[set as usize].clone()]
    }

    /// Number of sets. A set appears first at the group that was opened with it.
    pub(super) fn sets(&self) -> usize {
        self.sets.len()
    }

    /// The ops of a group, in program order.
    pub(super) fn ops(&self, group: &Group) -> &[u32] {
        &self.ops[group.first as usize..][..group.len as usize]
    }
}

fn tiles(index: u32, op: &Op) -> Result<u32, PlanError> {
    let grid = op.grid();
    let tiles: u128 = grid.into_iter().map(u128::from).product();
    u32::try_from(tiles).map_err(|_too_large| PlanError::TooManyTiles {
        op: index as usize,
        grid,
        tiles,
    })
}

/// For each op, how many ops of the next level wait for it.
fn heirs(dependencies: &DependencyGraph) -> Vec<u32> {
    let levels = dependencies.levels();
    let mut heirs = vec![0_u32; levels.len()];
    let mut op = 0;
    while op < levels.len() {
        let run = (op + 1..levels.len())
            .take_while(|&next| dependencies.shares_predecessors(next))
            .fold(1, |run: u32, _| run.saturating_add(1));
        for &before in dependencies.predecessors(op) {
            if levels[before as usize] + 1 == levels[op] {
                let heirs = &mut heirs[before as usize];
                *heirs = heirs.saturating_add(run);
            }
        }
        op += run as usize;
    }
    heirs
}

struct Grouping<'a> {
    dependencies: &'a DependencyGraph,
    config: &'a PlanConfig,
    heirs: Vec<u32>,
    groups: Vec<Group>,
    group_of: Vec<u32>,
    sets: Vec<Range<usize>>,
    members: Vec<u32>,
    /// The groups of the predecessors of the op being looked at.
    waits: Vec<u32>,
    /// Their set, once it is stored.
    stored: Option<u32>,
}

impl Grouping<'_> {
    fn add(&mut self, op: u32, tiles: u32, class: u32) {
        if op == 0 || !self.dependencies.shares_predecessors(op as usize) {
            let before = self.dependencies.predecessors(op as usize).iter();
            self.stored = None;
            self.waits.clear();
            self.waits
                .extend(before.map(|&op| self.group_of[op as usize]));
            self.waits.sort();
            self.waits.dedup();
        }
        let group = match self.joins(op, tiles, class) {
            Some(group) => {
                let joined = &mut self.groups[group as usize];
                joined.len += 1;
                joined.tail = op;
                group
            }
            None => self.open(op, tiles, class),
        };
        self.group_of.push(group);
    }

    /// The group that `op` continues, if there is one.
    ///
    /// Of the groups it waits for, all others must be waited for by that one, which has thus been
    /// opened last.
    fn joins(&self, op: u32, tiles: u32, class: u32) -> Option<u32> {
        let (&last, others) = self.waits.split_last()?;
        let group = &self.groups[last as usize];
        let predecessors = self.dependencies.predecessors(op as usize);
        let alike = tiles == group.tiles && class == group.class;
        let joins = alike
            && tiles == 1
            && group.len < self.config.max_ops_per_item
            // Of several ops that could go on from here, none does: they can run at once.
            && self.heirs[group.tail as usize] == 1
            && predecessors.binary_search(&group.tail).is_ok()
            && others.iter().all(|other| self.waits_for(group, *other));
        joins.then_some(last)
    }

    fn waits_for(&self, group: &Group, other: u32) -> bool {
        group.set != NO_SET
            && self.members[self.sets[group.set as usize].clone()]
                .binary_search(&other)
                .is_ok()
    }

    fn open(&mut self, op: u32, tiles: u32, class: u32) -> u32 {
        let set = self.store_waits();
        let index = narrow(self.groups.len());
        self.groups.push(Group {
            first: 0,
            len: 1,
            tiles,
            class,
            set,
            tail: op,
        });
        index
    }

    /// Groups that wait for the same share a set if no other set was stored in between.
    fn store_waits(&mut self) -> u32 {
        if self.waits.is_empty() {
            return NO_SET;
        }
        if let Some(set) = self.stored {
            return set;
        }
        let last = self.sets.last();
        if last.is_none_or(|last| self.members[last.clone()] != self.waits) {
            let start = self.members.len();
            self.members.extend_from_slice(&self.waits);
            self.sets.push(start..self.members.len());
        }
        let set = narrow(self.sets.len() - 1);
        self.stored = Some(set);
        set
    }

    fn finish(mut self) -> Groups {
        let mut end = 0;
        for group in &mut self.groups {
            group.first = end;
            end += group.len;
        }
        let mut next: Vec<u32> = self.groups.iter().map(|group| group.first).collect();
        let mut ops = vec![0; self.group_of.len()];
        for (op, &group) in (0_u32..).zip(&self.group_of) {
            let place = &mut next[group as usize];
            ops[*place as usize] = op;
            *place += 1;
        }
        Groups {
            groups: self.groups,
            ops,
            sets: self.sets,
            members: self.members,
        }
    }
}
