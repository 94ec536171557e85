//! Which op has to wait for which: the direct predecessors of every op, and its level.

use std::ops::Range;

/// The dependencies between the ops of a program.
///
/// Two ops conflict when they touch a common byte and one of them writes it. Every predecessor of
/// an op conflicts with it, and every conflict is a path of predecessors; dependencies that follow
/// from others are mostly left out.
#[derive(Clone, Debug, Default)]
pub struct DependencyGraph {
    /// Where the predecessors of each op lie in `targets`. Ops in a row with the same predecessors
    /// share a span, so a layer that waits for all of the layer before it stays linear in memory.
    spans: Vec<Range<usize>>,
    targets: Vec<u32>,
    levels: Vec<u32>,
    level_count: u32,
}

impl DependencyGraph {
    pub(super) fn with_capacity(ops: usize) -> Self {
        Self {
            spans: Vec::with_capacity(ops),
            targets: Vec::with_capacity(ops),
            levels: Vec::with_capacity(ops),
            level_count: 0,
        }
    }

    /// Number of ops.
    pub fn len(&self) -> usize {
        self.spans.len()
    }

    /// Whether there is no op.
    pub fn is_empty(&self) -> bool {
        self.spans.is_empty()
    }

    /// The ops that op `op` waits for directly: ascending, each once, all less than `op`.
    ///
    /// # Panics
    ///
    /// If there is no op `op`.
    pub fn predecessors(&self, op: usize) -> &[u32] {
        &self.targets[self.spans[op].clone()]
    }

    /// Whether op `op` is known to have the predecessors of the op before it: they share memory.
    pub(crate) fn shares_predecessors(&self, op: usize) -> bool {
        op > 0 && self.spans[op] == self.spans[op - 1]
    }

    /// The level of every op: 0 without predecessors, else one more than the highest level among
    /// them. Ops of one level never conflict.
    pub fn levels(&self) -> &[u32] {
        &self.levels
    }

    /// Number of levels, the length of the longest chain of dependent ops.
    pub fn level_count(&self) -> u32 {
        self.level_count
    }

    /// Number of stored predecessors; shared ones count once.
    #[cfg(test)]
    pub(super) fn stored_edges(&self) -> usize {
        self.targets.len()
    }

    /// Adds an op whose predecessors are those of the op before it.
    pub(super) fn repeat_last(&mut self) {
        let span = self.spans.last().cloned().unwrap_or(0..0);
        let level = self.levels.last().copied().unwrap_or(0);
        self.push_span(span, level);
    }

    /// Adds an op with these predecessors, ascending and without duplicates.
    pub(super) fn push(&mut self, predecessors: &[u32]) {
        let last = self.spans.last().cloned().unwrap_or(0..0);
        if self.targets[last] == *predecessors {
            return self.repeat_last();
        }
        let level = predecessors
            .iter()
            .map(|&op| self.levels[op as usize] + 1)
            .max()
            .unwrap_or(0);
        let start = self.targets.len();
        self.targets.extend_from_slice(predecessors);
        self.push_span(start..self.targets.len(), level);
    }

    fn push_span(&mut self, span: Range<usize>, level: u32) {
        self.spans.push(span);
        self.levels.push(level);
        self.level_count = self.level_count.max(level + 1);
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ops_in_a_row_with_the_same_predecessors_share_them() {
        let mut graph = DependencyGraph::default();
        for predecessors in [&[][..], &[], &[0, 1], &[0, 1], &[2], &[0, 1]] {
            graph.push(predecessors);
        }
        assert_eq!(graph.predecessors(3), [0, 1]);
        assert_eq!(graph.predecessors(5), [0, 1]);
        assert_eq!(graph.stored_edges(), 5);
    }

    #[test]
    fn level_is_one_more_than_the_highest_predecessor() {
        let mut graph = DependencyGraph::default();
        for predecessors in [&[][..], &[0], &[0, 1], &[], &[0, 3]] {
            graph.push(predecessors);
        }
        assert_eq!(graph.levels(), [0, 1, 2, 0, 1]);
        assert_eq!(graph.level_count(), 3);
    }

    #[test]
    fn a_graph_without_ops_has_no_level() {
        let graph = DependencyGraph::default();
        assert!(graph.is_empty());
        assert_eq!(graph.level_count(), 0);
    }
}
