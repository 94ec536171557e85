//! Which slot goes which way: counted first over bare figures, carried out after.

use super::{OutputBuffers, OutputError, OutputReplacementStats};

/// The figures of one incoming buffer.
#[derive(Clone, Copy, Debug)]
pub(super) struct Incoming {
    pub(super) byte_len: usize,
    /// Bytes of capacity that the slot gets if it takes over this buffer's allocation.
    pub(super) capacity: usize,
}

/// The one rule by which a slot keeps its allocation.
pub(super) fn fits(byte_len: usize, capacity: usize) -> bool {
    byte_len <= capacity
}

/// Counts what replacing slots of the given capacities will do, with every sum checked.
pub(super) fn plan(
    incoming: impl ExactSizeIterator<Item = Incoming>,
    mut capacities: impl Iterator<Item = usize>,
) -> Result<OutputReplacementStats, OutputError> {
    let mut stats = OutputReplacementStats::default();
    let OutputReplacementStats { slots, bytes } = &mut stats;
    slots.total_slots = incoming.len();
    for (slot, Incoming { byte_len, capacity }) in incoming.enumerate() {
        let (way_slots, way_bytes, retained) = match capacities.next() {
            Some(kept) if fits(byte_len, kept) => {
                (&mut slots.reused_slots, &mut bytes.copied_bytes, kept)
            }
            Some(_) => (&mut slots.moved_slots, &mut bytes.moved_bytes, capacity),
            None => (
                &mut slots.appended_slots,
                &mut bytes.appended_bytes,
                capacity,
            ),
        };
        bytes.incoming_bytes = bytes.incoming_bytes.checked_add(byte_len).ok_or(
            OutputError::IncomingBytesOverflow {
                slot,
                total: bytes.incoming_bytes,
                added: byte_len,
            },
        )?;
        bytes.retained_capacity_bytes = bytes.retained_capacity_bytes.checked_add(retained).ok_or(
            OutputError::RetainedCapacityOverflow {
                slot,
                total: bytes.retained_capacity_bytes,
                added: retained,
            },
        )?;
        // Parts of the slot and byte totals above, so these can't overflow.
        *way_slots += 1;
        *way_bytes += byte_len;
    }
    Ok(stats)
}

/// Carries out what `planned` counted; only the reservation, which comes first, can fail.
///
/// `own` makes the allocation that a moved or appended slot takes over.
pub(super) fn commit<B: AsRef<[u8]>>(
    planned: OutputReplacementStats,
    mut incoming: impl ExactSizeIterator<Item = B>,
    outputs: &mut OutputBuffers,
    mut own: impl FnMut(B) -> Vec<u8>,
) -> Result<OutputReplacementStats, OutputError> {
    reserve_slots(outputs, planned.slots.appended_slots)?;
    outputs.truncate(incoming.len());
    for (slot, buffer) in outputs.iter_mut().zip(incoming.by_ref()) {
        let bytes = buffer.as_ref();
        if fits(bytes.len(), slot.capacity()) {
            slot.clear();
            slot.extend_from_slice(bytes);
        } else {
            *slot = own(buffer);
        }
    }
    outputs.extend(incoming.map(own));
    Ok(planned)
}

pub(super) fn reserve_slots(
    slots: &mut OutputBuffers,
    additional: usize,
) -> Result<(), OutputError> {
    let held = slots.len();
    slots
        .try_reserve(additional)
        .map_err(|source| OutputError::ReserveSlots {
            held,
            additional,
            source,
        })
}
