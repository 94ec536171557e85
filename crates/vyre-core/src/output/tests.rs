//! Replacement against a naive model, and failures that leave the caller's outputs alone.

use std::collections::TryReserveError;

use proptest::collection::vec;
use proptest::prelude::*;

use super::plan::{Incoming, commit, plan};
use super::replace::copy_into_slots;
use super::*;

/// Byte length and spare capacity of one buffer.
type Shape = (usize, usize);

fn shapes() -> impl Strategy<Value = Vec<Shape>> {
    vec((0..24_usize, 0..24_usize), 0..10)
}

/// Buffers of the given shapes, in which every byte differs from its neighbours.
fn buffers(shapes: &[Shape], first_byte: u8) -> OutputBuffers {
    let mut bytes = (0..=u8::MAX).cycle().skip(first_byte.into());
    shapes
        .iter()
        .map(|&(byte_len, spare)| {
            let mut buffer = Vec::with_capacity(byte_len + spare);
            buffer.extend(bytes.by_ref().take(byte_len));
            buffer
        })
        .collect()
}

/// Where every buffer lies and how much it can hold.
fn allocations(buffers: &OutputBuffers) -> Vec<(*const u8, usize)> {
    buffers
        .iter()
        .map(|buffer| (buffer.as_ptr(), buffer.capacity()))
        .collect()
}

fn keeps_slot(old: &OutputBuffers, new: &OutputBuffers, slot: usize) -> bool {
    slot < old.len() && new[slot].len() <= old[slot].capacity()
}

/// The counters by the words of the contract, one independent sum each.
fn model(old: &OutputBuffers, new: &OutputBuffers) -> OutputReplacementStats {
    let all: Vec<usize> = (0..new.len()).collect();
    let shared = &all[..old.len().min(new.len())];
    let (reused, moved): (Vec<usize>, Vec<usize>) =
        shared.iter().partition(|&&slot| keeps_slot(old, new, slot));
    let appended = &all[shared.len()..];
    let byte_len = |slots: &[usize]| -> usize { slots.iter().map(|&slot| new[slot].len()).sum() };
    let kept: usize = reused.iter().map(|&slot| old[slot].capacity()).sum();
    let taken: usize = [&moved, appended]
        .concat()
        .iter()
        .map(|&slot| new[slot].capacity())
        .sum();
    OutputReplacementStats {
        slots: OutputSlotStats {
            total_slots: new.len(),
            reused_slots: reused.len(),
            moved_slots: moved.len(),
            appended_slots: new.len().saturating_sub(old.len()),
        },
        bytes: OutputSlotByteStats {
            incoming_bytes: byte_len(&all),
            copied_bytes: byte_len(&reused),
            moved_bytes: byte_len(&moved),
            appended_bytes: byte_len(appended),
            retained_capacity_bytes: kept + taken,
        },
    }
}

fn out_of_memory() -> TryReserveError {
    Vec::<u8>::new().try_reserve(usize::MAX).unwrap_err()
}

proptest! {
    #[test]
    fn replacing_follows_the_model(old in shapes(), new in shapes()) {
        let (mut outputs, incoming) = (buffers(&old, 0), buffers(&new, 101));
        let (bytes, expected) = (incoming.clone(), model(&outputs, &incoming));
        let allocations_after: Vec<_> = (0..new.len())
            .map(|slot| match keeps_slot(&outputs, &incoming, slot) {
                true => allocations(&outputs)[slot],
                false => allocations(&incoming)[slot],
            })
            .collect();

        let stats =
            replace_output_buffers_preserving_slots_with_memory_stats(incoming, &mut outputs);

        prop_assert_eq!(&outputs, &bytes);
        prop_assert_eq!(allocations(&outputs), allocations_after);
        prop_assert_eq!(stats, expected);
    }

    #[test]
    fn every_variant_replaces_alike(old in shapes(), new in shapes()) {
        let expected = model(&buffers(&old, 0), &buffers(&new, 101));
        let run = |replace: &dyn Fn(OutputBuffers, &mut OutputBuffers)| {
            let mut outputs = buffers(&old, 0);
            replace(buffers(&new, 101), &mut outputs);
            assert_eq!(outputs, buffers(&new, 101));
            assert_eq!(
                outputs.iter().map(Vec::capacity).sum::<usize>(),
                expected.bytes.retained_capacity_bytes
            );
        };
        run(&|new, old| replace_output_buffers_preserving_slots(new, old));
        run(&|new, old| {
            let slots = replace_output_buffers_preserving_slots_with_stats(new, old);
            assert_eq!(slots, expected.slots);
        });
        run(&|new, old| try_replace_output_buffers_preserving_slots(new, old).unwrap());
        run(&|new, old| {
            let slots = try_replace_output_buffers_preserving_slots_with_stats(new, old);
            assert_eq!(slots, Ok(expected.slots));
        });
        run(&|new, old| {
            let stats = try_replace_output_buffers_preserving_slots_with_memory_stats(new, old);
            assert_eq!(stats, Ok(expected));
        });
    }

    #[test]
    fn the_outer_vector_stays_when_it_has_room(old in shapes(), new in shapes()) {
        let mut outputs = buffers(&old, 0);
        outputs.reserve_exact(new.len());
        let outer = (outputs.as_ptr(), outputs.capacity());

        replace_output_buffers_preserving_slots(buffers(&new, 101), &mut outputs);

        prop_assert_eq!((outputs.as_ptr(), outputs.capacity()), outer);
    }

    #[test]
    fn copying_agrees_with_replacing_by_exact_vectors(
        old in shapes(),
        lengths in vec(0..48_usize, 0..10),
    ) {
        let new: Vec<Shape> = lengths.into_iter().map(|byte_len| (byte_len, 0)).collect();
        let incoming = buffers(&new, 101);
        let (mut copied, mut replaced) = (buffers(&old, 0), buffers(&old, 0));
        let before = allocations(&copied);
        let kept: Vec<_> =
            (0..new.len()).filter(|&slot| keeps_slot(&copied, &incoming, slot)).collect();

        let slices = incoming.iter().map(Vec::as_slice);
        let copy_stats = try_copy_outputs_into_slots(slices, &mut copied).unwrap();
        let replace_stats =
            replace_output_buffers_preserving_slots_with_memory_stats(incoming, &mut replaced);

        prop_assert_eq!(copy_stats, replace_stats);
        prop_assert_eq!(&copied, &replaced);
        for slot in kept {
            prop_assert_eq!(allocations(&copied)[slot], before[slot]);
        }
        prop_assert_eq!(
            copied.iter().map(Vec::capacity).collect::<Vec<_>>(),
            replaced.iter().map(Vec::capacity).collect::<Vec<_>>()
        );
    }

    /// Whichever allocation fails, nothing has been touched by then.
    #[test]
    fn a_copy_that_runs_out_of_memory_leaves_the_outputs_alone(
        old in shapes(),
        new in shapes(),
        granted in 0..10_usize,
    ) {
        let (mut outputs, incoming) = (buffers(&old, 0), buffers(&new, 101));
        let (before, bytes_before) = (allocations(&outputs), outputs.clone());
        let outer = (outputs.as_ptr(), outputs.capacity());
        let refused = (0..new.len()).filter(|&slot| !keeps_slot(&outputs, &incoming, slot)).nth(granted);

        let mut left = granted;
        let slices = incoming.iter().map(Vec::as_slice);
        let result = copy_into_slots(slices, &mut outputs, |byte_len| {
            left = left.checked_sub(1).ok_or_else(out_of_memory)?;
            Ok(Vec::with_capacity(byte_len))
        });

        let Some(slot) = refused else {
            prop_assert!(result.is_ok());
            return Ok(());
        };
        let byte_len = new[slot].0;
        let source = out_of_memory();
        prop_assert_eq!(result, Err(OutputError::ReserveBytes { slot, byte_len, source }));
        prop_assert_eq!(outputs.as_ptr(), outer.0);
        prop_assert_eq!(outputs.capacity(), outer.1);
        prop_assert_eq!(allocations(&outputs), before);
        prop_assert_eq!(outputs, bytes_before);
    }
}

#[test]
fn a_failed_slot_reservation_leaves_the_outputs_alone() {
    let mut outputs = buffers(&[(4, 4), (8, 0)], 0);
    let (before, bytes_before) = (allocations(&outputs), outputs.clone());
    let mut planned = OutputReplacementStats::default();
    planned.slots.appended_slots = usize::MAX;

    let incoming = buffers(&[(1, 0), (99, 0), (3, 0)], 101);
    let result = commit(planned, incoming.into_iter(), &mut outputs, |buffer| buffer);

    let source = out_of_memory();
    let expected = OutputError::ReserveSlots {
        held: 2,
        additional: usize::MAX,
        source,
    };
    assert_eq!(result, Err(expected));
    assert_eq!(allocations(&outputs), before);
    assert_eq!(outputs, bytes_before);
}

#[test]
fn an_overflow_of_the_incoming_bytes_is_refused_with_its_figures() {
    let half = Incoming {
        byte_len: usize::MAX / 2,
        capacity: 0,
    };
    let incoming = [
        half,
        half,
        Incoming {
            byte_len: 2,
            capacity: 0,
        },
    ];
    let error = plan(incoming.into_iter(), [].into_iter()).unwrap_err();
    // Twice the half is one less than the maximum, which is odd.
    let expected = OutputError::IncomingBytesOverflow {
        slot: 2,
        total: usize::MAX - 1,
        added: 2,
    };
    assert_eq!(error, expected);
}

#[test]
fn an_overflow_of_the_retained_capacity_is_refused_with_its_figures() {
    let incoming = [Incoming {
        byte_len: 1,
        capacity: 1,
    }; 2];
    let error = plan(incoming.into_iter(), [usize::MAX, 1].into_iter()).unwrap_err();
    let expected = OutputError::RetainedCapacityOverflow {
        slot: 1,
        total: usize::MAX,
        added: 1,
    };
    assert_eq!(error, expected);
}

#[test]
fn sums_up_to_the_largest_usize_are_counted() {
    let incoming = [usize::MAX - 7, 7].map(|byte_len| Incoming {
        byte_len,
        capacity: byte_len,
    });
    let stats = plan(incoming.into_iter(), [usize::MAX - 7].into_iter()).unwrap();
    assert_eq!(stats.bytes.incoming_bytes, usize::MAX);
    assert_eq!(stats.bytes.copied_bytes, usize::MAX - 7);
    assert_eq!(stats.bytes.appended_bytes, 7);
    assert_eq!(stats.bytes.retained_capacity_bytes, usize::MAX);
}

#[test]
fn capacity_of_dropped_slots_is_not_counted() {
    let incoming = [Incoming {
        byte_len: 1,
        capacity: 1,
    }];
    let stats = plan(incoming.into_iter(), [8, usize::MAX].into_iter()).unwrap();
    assert_eq!(stats.bytes.retained_capacity_bytes, 8);
}

#[test]
fn messages_say_what_happened_and_what_to_do() {
    let source = out_of_memory();
    assert_eq!(
        OutputError::ReserveBytes {
            slot: 3,
            byte_len: 4096,
            source
        }
        .to_string(),
        "can't reserve 4096 bytes for output slot 3; \
         free host memory or split the program so that the output is smaller"
    );
}
