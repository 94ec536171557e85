//! Places a program's buffers in few large allocations: a pure function.
//!
//! Buffers are packed by role, so that each allocation has one range to upload, one to clear and
//! one to read back, however many buffers there are.

use std::ops::Range;

use vyre_core::error::BackendError;
use vyre_core::program::{BINDING_OFFSET_ALIGNMENT, BufferRole};

/// Where a buffer lies.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
pub(crate) struct Place {
    /// Index of the allocation.
    pub(crate) arena: usize,
    /// First byte.
    pub(crate) offset: u64,
}

/// One allocation, with the bytes that move at each dispatch.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Arena {
    pub(crate) byte_len: u64,
    /// Inputs and in-out buffers.
    pub(crate) upload: Range<u64>,
    /// Outputs and scratch buffers, which start as zeros.
    pub(crate) clear: Range<u64>,
    /// In-out buffers and outputs.
    pub(crate) readback: Range<u64>,
}

/// The places of some buffers of a program.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
pub(crate) struct Layout {
    pub(crate) arenas: Vec<Arena>,
    /// Parallel to the buffers given; `None` for those left out.
    pub(crate) places: Vec<Option<Place>>,
}

/// Roles in packing order: what is uploaded first, what is cleared last, and what is read back
/// between, where both meet.
fn packing_order(role: BufferRole) -> u32 {
    match role {
        BufferRole::Constant => 0,
        BufferRole::Input => 1,
        BufferRole::InOut => 2,
        BufferRole::Output => 3,
        _ => 4,
    }
}

impl Layout {
    /// Packs the buffers whose role is kept, each given by role and length in bytes, into
    /// allocations of at most `max_arena` bytes.
    pub(crate) fn pack(
        buffers: &[(BufferRole, u64)],
        max_arena: u64,
        keep: impl Fn(BufferRole) -> bool,
    ) -> Result<Self, BackendError> {
        let mut order: Vec<usize> = (0..buffers.len()).filter(|&i| keep(buffers[i].0)).collect();
        order.sort_by_key(|&index| packing_order(buffers[index].0));
        let mut layout = Self {
            arenas: Vec::new(),
            places: vec![None; buffers.len()],
        };
        for index in order {
            let (role, byte_len) = buffers[index];
            if byte_len > max_arena {
                return Err(BackendError::LimitExceeded {
                    subject: "bytes of one buffer".to_owned(),
                    limit: "maxMemoryAllocationSize",
                    requested: byte_len,
                    maximum: max_arena,
                });
            }
            layout.places[index] = Some(layout.push(role, byte_len, max_arena));
        }
        Ok(layout)
    }

    fn push(&mut self, role: BufferRole, byte_len: u64, max_arena: u64) -> Place {
        let end = self
            .arenas
            .last()
            .map(|arena| arena.byte_len.next_multiple_of(BINDING_OFFSET_ALIGNMENT));
        let offset = end.filter(|end| *end <= max_arena && max_arena - end >= byte_len);
        if offset.is_none() {
            self.arenas.push(Arena::default());
        }
        let (arena, offset) = (self.arenas.len() - 1, offset.unwrap_or(0));
        let range = offset..offset + byte_len;
        let target = &mut self.arenas[arena];
        target.byte_len = range.end;
        if matches!(
            role,
            BufferRole::Constant | BufferRole::Input | BufferRole::InOut
        ) {
            grow(&mut target.upload, &range);
        } else {
            grow(&mut target.clear, &range);
        }
        if matches!(role, BufferRole::InOut | BufferRole::Output) {
            grow(&mut target.readback, &range);
        }
        Place { arena, offset }
    }
}

fn grow(range: &mut Range<u64>, by: &Range<u64>) {
    if range.is_empty() {
        range.start = by.start;
    }
    range.end = by.end;
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    const ROLES: [BufferRole; 5] = [
        BufferRole::Constant,
        BufferRole::Input,
        BufferRole::InOut,
        BufferRole::Output,
        BufferRole::Scratch,
    ];

    fn contains(outer: &Range<u64>, inner: &Range<u64>) -> bool {
        outer.start <= inner.start && inner.end <= outer.end
    }

    fn overlap(a: &Range<u64>, b: &Range<u64>) -> bool {
        a.start < b.end && b.start < a.end
    }

    proptest! {
        #[test]
        fn places_are_aligned_disjoint_and_move_with_their_role(
            buffers in prop::collection::vec((0usize..5, 1u64..700), 0..40),
            max_arena in 700u64..4000,
        ) {
            let buffers: Vec<_> = buffers.into_iter().map(|(role, len)| (ROLES[role], len)).collect();
            let layout = Layout::pack(&buffers, max_arena, |_| true).unwrap();
            let mut seen: Vec<(usize, Range<u64>)> = Vec::new();
            for (&(role, len), place) in buffers.iter().zip(&layout.places) {
                let place = place.unwrap();
                let arena = &layout.arenas[place.arena];
                let range = place.offset..place.offset + len;
                prop_assert_eq!(place.offset % BINDING_OFFSET_ALIGNMENT, 0);
                prop_assert!(range.end <= arena.byte_len && arena.byte_len <= max_arena);
                prop_assert!(seen.iter().all(|(a, r)| *a != place.arena || !overlap(r, &range)));
                let uploaded = matches!(role, BufferRole::Constant | BufferRole::Input | BufferRole::InOut);
                let read = matches!(role, BufferRole::InOut | BufferRole::Output);
                prop_assert_eq!(contains(&arena.upload, &range), uploaded);
                prop_assert_eq!(overlap(&arena.clear, &range), !uploaded);
                prop_assert_eq!(contains(&arena.clear, &range), !uploaded);
                prop_assert_eq!(overlap(&arena.readback, &range), read);
                prop_assert_eq!(contains(&arena.readback, &range), read);
                seen.push((place.arena, range));
            }
        }
    }

    #[test]
    fn buffer_over_the_limit_names_both_figures() {
        let error = Layout::pack(&[(BufferRole::Input, 1024)], 1000, |_| true).unwrap_err();
        assert!(matches!(
            error,
            BackendError::LimitExceeded {
                requested: 1024,
                maximum: 1000,
                ..
            }
        ));
    }

    #[test]
    fn full_arena_starts_the_next() {
        let buffers = [(BufferRole::Input, 600), (BufferRole::Output, 600)];
        let layout = Layout::pack(&buffers, 1024, |_| true).unwrap();
        let places = [
            Place {
                arena: 0,
                offset: 0,
            },
            Place {
                arena: 1,
                offset: 0,
            },
        ];
        assert_eq!(layout.places, places.map(Some));
    }

    #[test]
    fn role_that_is_not_kept_takes_no_room() {
        let buffers = [(BufferRole::Input, 600), (BufferRole::Scratch, 4)];
        let layout = Layout::pack(&buffers, 1024, |role| role == BufferRole::Scratch).unwrap();
        assert_eq!(
            layout.places,
            [
                None,
                Some(Place {
                    arena: 0,
                    offset: 0
                })
            ]
        );
        assert_eq!(layout.arenas[0].byte_len, 4);
    }
}
