//! The order in which dispatch mode records ops: a pure function.
//!
//! Ops are sorted by their level in the dependency graph. Ops of one level depend on none of each
//! other, so one barrier between levels is enough, and no program needs fewer.

use std::collections::HashMap;
use std::ops::Range;

use vyre_core::program::{BoundRange, Program};

/// Ops in recording order.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Schedule {
    /// Op indices, by level, kernel and place in the program.
    pub(crate) order: Vec<u32>,
    /// Ranges of `order`, with a barrier between each two.
    pub(crate) levels: Vec<Range<usize>>,
    /// The set of bindings that each op uses: ops that bind the same ranges share it.
    pub(crate) binding_set: Vec<u32>,
    /// An op for each set of bindings.
    pub(crate) set_owner: Vec<u32>,
}

impl Schedule {
    pub(crate) fn new(program: &Program) -> Self {
        let levels = program.dependencies().levels();
        let mut order: Vec<u32> = (0..).take(program.ops().len()).collect();
        // Within a level, ops of one kernel stand together and share the pipeline binding.
        order.sort_by_key(|&op| (levels[op as usize], program.ops()[op as usize].kernel()));
        let same_level = |a: &u32, b: &u32| levels[*a as usize] == levels[*b as usize];
        let mut start = 0;
        let ranges = order.chunk_by(same_level).map(|ops| {
            start += ops.len();
            start - ops.len()..start
        });
        let levels = ranges.collect();
        let (binding_set, set_owner) = share_bindings(program);
        Self {
            order,
            levels,
            binding_set,
            set_owner,
        }
    }
}

fn share_bindings(program: &Program) -> (Vec<u32>, Vec<u32>) {
    let mut sets: HashMap<(u32, &[BoundRange]), u32> = HashMap::new();
    let mut owners = Vec::new();
    let mut next_set = 0u32;
    let binding_set = (0u32..)
        .zip(program.ops())
        .map(|(index, op)| {
            *sets
                .entry((op.kernel(), program.bindings(index as usize)))
                .or_insert_with(|| {
                    owners.push(index);
                    next_set += 1;
                    next_set - 1
                })
        })
        .collect();
    (binding_set, owners)
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;
    use vyre_core::kernel::Kernel;

    use super::*;

    const COPY: &str = "
        @group(0) @binding(0) var<storage, read> source: array<u32>;
        @group(0) @binding(1) var<storage, read_write> copy_of: array<u32>;
        @compute @workgroup_size(1) fn copy() { copy_of[0] = source[0]; }";

    /// A program of copies between the buffers of these indices.
    fn copies(ops: &[(usize, usize)]) -> Program {
        let kernel = Kernel::from_wgsl(COPY).unwrap();
        let mut builder = Program::builder("copies");
        let buffers: Vec<_> = (0..8)
            .map(|index| builder.scratch(format!("buffer {index}"), 4))
            .collect();
        for &(from, to) in ops {
            builder
                .op(&kernel, [1, 1, 1])
                .bind("source", buffers[from])
                .bind("copy_of", buffers[to]);
        }
        builder.build().unwrap()
    }

    fn levels(ops: &[(usize, usize)]) -> Vec<Vec<u32>> {
        let schedule = Schedule::new(&copies(ops));
        let ranges = schedule.levels.into_iter();
        ranges.map(|range| schedule.order[range].to_vec()).collect()
    }

    #[test]
    fn independent_ops_share_a_level() {
        assert_eq!(levels(&[(0, 1), (0, 2), (3, 4)]), [[0, 1, 2]]);
    }

    #[test]
    fn dependent_ops_have_a_barrier_between_each_two() {
        assert_eq!(levels(&[(0, 1), (1, 2), (2, 3)]), [[0], [1], [2]]);
    }

    #[test]
    fn chains_one_after_the_other_run_side_by_side() {
        let chains = [(0, 1), (1, 2), (4, 5), (5, 6)];
        assert_eq!(levels(&chains), [[0, 2], [1, 3]]);
    }

    #[test]
    fn ops_that_bind_the_same_ranges_share_their_sets() {
        let schedule = Schedule::new(&copies(&[(0, 1), (1, 2), (0, 1)]));
        assert_eq!(schedule.binding_set, [0, 1, 0]);
        assert_eq!(schedule.set_owner, [0, 1]);
    }

    proptest! {
        #[test]
        fn every_op_comes_once_and_a_level_after_what_it_depends_on(
            ops in prop::collection::vec((0usize..8, 0usize..8), 1..60),
        ) {
            let ops: Vec<_> = ops.into_iter().filter(|(from, to)| from != to).collect();
            prop_assume!(!ops.is_empty());
            let program = copies(&ops);
            let schedule = Schedule::new(&program);
            let mut level_of = vec![None; ops.len()];
            for (level, range) in schedule.levels.iter().enumerate() {
                for &op in &schedule.order[range.clone()] {
                    prop_assert_eq!(level_of[op as usize].replace(level), None);
                }
            }
            for op in 0..ops.len() {
                prop_assert!(level_of[op].is_some());
                for &before in program.dependencies().predecessors(op) {
                    prop_assert!(level_of[before as usize] < level_of[op]);
                }
            }
        }
    }
}
