//! Finds hazards: who touched which bytes last, and whom the next op must therefore wait for.
//!
//! All buffers lie end to end in one space of addresses. It is cut into segments of bytes with one
//! history: their last writer and the readers since. A read waits for the writers of its segments;
//! a write waits for the readers since, or for the writer where nobody has read (the readers have
//! waited for the writer already).
//!
//! Reads of one range with no write between them form a *group*: the first visits the segments, the
//! others join in constant time. So a thousand ops that each read what a thousand others wrote cost
//! some thousand steps, not a million.

use std::{collections::BTreeMap, iter, mem, ops::Range};

use super::DependencyGraph;

/// No op has written.
const NOBODY: u32 = u32::MAX;

/// The empty list.
const NIL: usize = usize::MAX;

/// Takes the accesses of op after op, and grows the dependency graph.
///
/// Ranges are never empty, and the ranges that one op writes touch no other range of that op.
pub(super) struct Hazards {
    graph: DependencyGraph,
    /// The op being looked at.
    op: u32,
    /// By their first address; what lies before them is untouched.
    segments: BTreeMap<u64, Segment>,
    groups: Vec<Group>,
    /// What `Group::writers` are ranges of.
    writers: Vec<u32>,
    group_lists: Lists<usize>,
    reader_lists: Lists<u32>,
    sources: Vec<Source>,
    previous_sources: Vec<Source>,
    predecessors: Vec<u32>,
}

/// The history of some bytes.
#[derive(Clone, Copy)]
struct Segment {
    /// Where the next segment starts, if there is one.
    end: u64,
    /// The last op that wrote them.
    writer: u32,
    /// List of the groups that have read them since.
    groups: usize,
}

/// Ops that read the same range, no byte of which was written in between.
struct Group {
    range: Range<u64>,
    /// The ops that wrote what the range held.
    writers: Range<usize>,
    /// List of the ops.
    readers: usize,
    /// The last op that wrote into the range. Such a group takes no more readers.
    overwritten_by: u32,
}

/// Ops to wait for. A set grows no more once it is named here: the writers of a group are fixed,
/// its readers are when it is overwritten. So equal sources mean equal predecessors.
#[derive(Clone, Copy, Eq, PartialEq)]
enum Source {
    Op(u32),
    WritersOf(usize),
    ReadersOf(usize),
}

impl Hazards {
    pub(super) fn new(ops: usize) -> Self {
        Self {
            graph: DependencyGraph::with_capacity(ops),
            op: 0,
            segments: BTreeMap::new(),
            groups: Vec::new(),
            writers: Vec::new(),
            group_lists: Lists::default(),
            reader_lists: Lists::default(),
            sources: Vec::new(),
            previous_sources: Vec::new(),
            predecessors: Vec::new(),
        }
    }

    /// The op being looked at reads `range`.
    pub(super) fn read(&mut self, range: Range<u64>) {
        let first = cut(&mut self.segments, &range);
        let group = match self.group_lists.first(first.groups) {
            Some(group) if self.groups[group].admits(&range) => group,
            _ => self.open_group(range),
        };
        let Group {
            readers, writers, ..
        } = &mut self.groups[group];
        *readers = self.reader_lists.push(self.op, *readers);
        if writers.start < writers.end {
            self.sources.push(Source::WritersOf(group));
        }
    }

    /// The op being looked at writes `range`, and may read it too.
    pub(super) fn write(&mut self, range: Range<u64>) {
        let rest = cut(&mut self.segments, &range).end..range.end;
        for (_, segment) in self.segments.range_mut(range.clone()) {
            let writer = Source::Op(segment.writer);
            let unread = segment.groups == NIL && segment.writer != NOBODY;
            if unread && self.sources.last() != Some(&writer) {
                self.sources.push(writer);
            }
            for group in self.group_lists.iter(segment.groups) {
                let overwritten_by = &mut self.groups[group].overwritten_by;
                if mem::replace(overwritten_by, self.op) != self.op {
                    self.sources.push(Source::ReadersOf(group));
                }
            }
            // The first segment takes over the range, the rest is removed below.
            *segment = Segment {
                end: range.end,
                writer: self.op,
                groups: NIL,
            };
        }
        if rest.start < rest.end {
            self.segments.extract_if(rest, |_, _| true).for_each(drop);
        }
    }

    /// Ends the op being looked at.
    pub(super) fn end_op(&mut self) {
        if self.sources == self.previous_sources {
            self.graph.repeat_last();
        } else {
            self.collect_predecessors();
            self.graph.push(&self.predecessors);
            mem::swap(&mut self.sources, &mut self.previous_sources);
        }
        self.sources.clear();
        self.op += 1;
    }

    pub(super) fn finish(self) -> DependencyGraph {
        self.graph
    }

    /// Adds a group without readers to all segments of `range`.
    fn open_group(&mut self, range: Range<u64>) -> usize {
        let group = self.groups.len();
        let first_writer = self.writers.len();
        // Neighbours that had the same readers so far go on sharing their list.
        let (mut before, mut after) = (NIL, self.group_lists.push(group, NIL));
        for (_, segment) in self.segments.range_mut(range.clone()) {
            let writer = segment.writer;
            if writer != NOBODY && self.writers[first_writer..].last() != Some(&writer) {
                self.writers.push(writer);
            }
            if segment.groups != before {
                before = segment.groups;
                after = self.group_lists.push(group, before);
            }
            segment.groups = after;
        }
        self.groups.push(Group {
            range,
            writers: first_writer..self.writers.len(),
            readers: NIL,
            overwritten_by: NOBODY,
        });
        group
    }

    fn collect_predecessors(&mut self) {
        let found = &mut self.predecessors;
        found.clear();
        for source in &self.sources {
            match *source {
                Source::Op(op) => found.push(op),
                Source::WritersOf(group) => {
                    found.extend_from_slice(&self.writers[self.groups[group].writers.clone()]);
                }
                Source::ReadersOf(group) => {
                    found.extend(self.reader_lists.iter(self.groups[group].readers));
                }
            }
        }
        // A few runs, each sorted already: what the stable sort is fast at.
        found.sort();
        found.dedup();
    }
}

impl Group {
    fn admits(&self, range: &Range<u64>) -> bool {
        self.overwritten_by == NOBODY && self.range == *range
    }
}

/// Makes segments start and end where `range` does; gives the first one in it.
fn cut(segments: &mut BTreeMap<u64, Segment>, range: &Range<u64>) -> Segment {
    match segments.get(&range.start) {
        Some(first) if first.end == range.end => *first,
        _ => {
            cut_at(segments, range.end);
            cut_at(segments, range.start)
        }
    }
}

fn cut_at(segments: &mut BTreeMap<u64, Segment>, at: u64) -> Segment {
    let segment = match segments.range_mut(..=at).next_back() {
        Some((&start, segment)) if start == at => return *segment,
        Some((_, segment)) => Segment {
            end: mem::replace(&mut segment.end, at),
            ..*segment
        },
        None => Segment {
            end: segments.keys().next().copied().unwrap_or(u64::MAX),
            writer: NOBODY,
            groups: NIL,
        },
    };
    segments.insert(at, segment);
    segment
}

/// Linked lists, newest value first. Entries never change, so lists share their tails.
struct Lists<T>(Vec<(T, usize)>);

impl<T> Default for Lists<T> {
    fn default() -> Self {
        Self(Vec::new())
    }
}

impl<T: Copy> Lists<T> {
    /// The list of `value` and then `rest`.
    fn push(&mut self, value: T, rest: usize) -> usize {
        self.0.push((value, rest));
        self.0.len() - 1
    }

    fn first(&self, list: usize) -> Option<T> {
        self.0.get(list).map(|&(value, _)| value)
    }

    fn iter(&self, list: usize) -> impl Iterator<Item = T> {
        iter::successors(self.0.get(list), |&&(_, rest)| self.0.get(rest)).map(|&(value, _)| value)
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[derive(Clone, Debug)]
    struct Touch {
        range: Range<u64>,
        writes: bool,
    }

    fn conflict(a: &[Touch], b: &[Touch]) -> bool {
        a.iter().any(|a| b.iter().any(|b| clash(a, b)))
    }

    fn clash(a: &Touch, b: &Touch) -> bool {
        (a.writes || b.writes) && a.range.clone().any(|byte| b.range.contains(&byte))
    }

    fn analyse(ops: &[Vec<Touch>]) -> DependencyGraph {
        let mut hazards = Hazards::new(ops.len());
        for op in ops {
            for touch in op {
                if touch.writes {
                    hazards.write(touch.range.clone());
                } else {
                    hazards.read(touch.range.clone());
                }
            }
            hazards.end_op();
        }
        hazards.finish()
    }

    /// A few ranges come often, so that groups, equal sources and partial overlaps all happen.
    fn touch() -> impl Strategy<Value = Touch> {
        let range = prop_oneof![
            3 => (0..3_u64).prop_map(|buffer| buffer * 12..buffer * 12 + 12),
            3 => (0..12_u64).prop_map(|tile| tile * 3..tile * 3 + 3),
            2 => (0..35_u64, 1..24_u64).prop_map(|(start, len)| start..(start + len).min(36)),
        ];
        (range, any::<bool>()).prop_map(|(range, writes)| Touch { range, writes })
    }

    /// Ops whose own touches don't clash, as the builder makes sure.
    fn ops() -> impl Strategy<Value = Vec<Vec<Touch>>> {
        let op = prop::collection::vec(touch(), 0..4).prop_map(|touches| {
            let mut kept: Vec<Touch> = Vec::new();
            for touch in touches {
                if !kept.iter().any(|other| clash(&touch, other)) {
                    kept.push(touch);
                }
            }
            kept
        });
        prop::collection::vec(op, 0..40)
    }

    fn reach(graph: &DependencyGraph) -> Vec<Vec<bool>> {
        let mut reach = vec![vec![false; graph.len()]; graph.len()];
        for op in 0..graph.len() {
            for &before in graph.predecessors(op) {
                let (done, rest) = reach.split_at_mut(op);
                rest[0][before as usize] = true;
                for (mine, theirs) in rest[0].iter_mut().zip(&done[before as usize]) {
                    *mine |= theirs;
                }
            }
        }
        reach
    }

    proptest! {
        #![proptest_config(ProptestConfig::with_cases(2000))]

        #[test]
        fn predecessors_are_conflicts_and_reach_every_conflict(ops in ops()) {
            let graph = analyse(&ops);
            let reach = reach(&graph);
            prop_assert_eq!(graph.len(), ops.len());
            for op in 0..ops.len() {
                let predecessors = graph.predecessors(op);
                prop_assert!(predecessors.is_sorted_by(|a, b| a < b));
                for &before in predecessors {
                    prop_assert!((before as usize) < op);
                    prop_assert!(conflict(&ops[before as usize], &ops[op]));
                }
                for before in 0..op {
                    if conflict(&ops[before], &ops[op]) {
                        prop_assert!(reach[op][before], "op {} must wait for op {}", op, before);
                    }
                }
            }
        }

        #[test]
        fn levels_are_the_longest_chains_of_conflicts(ops in ops()) {
            let graph = analyse(&ops);
            let mut longest = vec![0; ops.len()];
            for op in 0..ops.len() {
                for before in 0..op {
                    if conflict(&ops[before], &ops[op]) {
                        longest[op] = longest[op].max(longest[before] + 1);
                    }
                }
            }
            prop_assert_eq!(graph.levels(), &longest[..]);
            prop_assert_eq!(graph.level_count(), longest.iter().max().map_or(0, |max| max + 1));
        }
    }

    /// Layers of `width` ops: each reads all of one buffer and writes its own part of the other.
    #[test]
    fn layers_that_wait_for_all_of_the_layer_before_stay_linear() {
        let (width, layers) = (1_000_u64, 100);
        let mut hazards = Hazards::new(0);
        for layer in 0..layers {
            let (from, to) = (layer % 2 * width * 4, (layer + 1) % 2 * width * 4);
            for part in 0..width {
                hazards.read(from..from + width * 4);
                hazards.write(to + part * 4..to + part * 4 + 4);
                hazards.end_op();
            }
        }
        let graph = hazards.finish();
        assert_eq!(graph.predecessors(1_000), (0..1_000).collect::<Vec<_>>());
        assert_eq!(graph.level_count(), 100);
        assert_eq!(graph.stored_edges(), 99_000);
    }
}
