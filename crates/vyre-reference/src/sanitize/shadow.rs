//! What was done last to each cell of memory.

use super::AccessKind;

/// Cells that are allocated together, when the first of them is touched.
const PAGE: usize = 1024;

/// An access in the past.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub(super) struct Event {
    pub(super) op: usize,
    /// In the order x, y, z.
    pub(super) workgroup: u64,
    pub(super) lane: u32,
    pub(super) line: u32,
    /// Barriers before it that order this memory.
    pub(super) epoch: u32,
    pub(super) subgroup_epoch: u32,
}

impl Event {
    fn is_by_same_lane(&self, other: &Self) -> bool {
        (self.op, self.workgroup, self.lane) == (other.op, other.workgroup, other.lane)
    }
}

/// The last accesses of one kind by two different invocations: whoever comes next, one of them is
/// another's.
#[derive(Clone, Copy, Debug, Default)]
struct Recent([Option<Event>; 2]);

impl Recent {
    fn push(&mut self, event: Event) {
        let same = self.0[0].is_some_and(|last| last.is_by_same_lane(&event));
        if !same {
            self.0[1] = self.0[0];
        }
        self.0[0] = Some(event);
    }
}

/// The past of one cell.
#[derive(Clone, Copy, Debug, Default)]
pub(super) struct Cell {
    reads: Recent,
    writes: Recent,
    atomics: Recent,
}

/// Events that conflict with an access.
pub(super) type Conflicts = [Option<Event>; 6];

impl Cell {
    pub(super) fn is_written(&self) -> bool {
        self.writes.0[0].is_some() || self.atomics.0[0].is_some()
    }

    /// Records an access, and gives the earlier ones that it conflicts with.
    pub(super) fn observe(&mut self, kind: AccessKind, event: Event) -> Conflicts {
        let join =
            |a: Recent, b: Recent, c: Recent| [a.0[0], a.0[1], b.0[0], b.0[1], c.0[0], c.0[1]];
        let none = Recent::default();
        match kind {
            AccessKind::Read => {
                self.reads.push(event);
                join(self.writes, self.atomics, none)
            }
            AccessKind::Atomic => {
                self.atomics.push(event);
                join(self.writes, self.reads, none)
            }
            AccessKind::Write => {
                let past = std::mem::take(self);
                // What comes after this write comes after all that this write came after.
                self.writes.push(event);
                join(past.reads, past.writes, past.atomics)
            }
        }
    }
}

/// The past of a buffer, or of workgroup memory.
#[derive(Debug, Default)]
pub(super) struct Shadow(Vec<Option<Box<[Cell]>>>);

impl Shadow {
    pub(super) fn cell(&mut self, index: u64) -> &mut Cell {
        let index = usize::try_from(index).unwrap_or(usize::MAX);
        let (page, place) = (index / PAGE, index % PAGE);
        if page >= self.0.len() {
            self.0.resize_with(page + 1, || None);
        }
        let page = self.0[page].get_or_insert_with(|| vec![Cell::default(); PAGE].into());
        &mut page[place]
    }
}
