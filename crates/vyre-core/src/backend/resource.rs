//! Handles of resident buffers, and the table that checks them.

use std::fmt;
use std::sync::atomic::{AtomicU64, Ordering};

use crate::error::BackendError;

/// Handle of a buffer that lives on a backend between dispatches.
///
/// A handle belongs to the backend that made it and dies when the buffer is freed: using it on
/// another backend, or afterwards, is an error and never reaches another buffer.
#[derive(Clone, Copy, Debug, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct Resource {
    table: u64,
    slot: u32,
    generation: u32,
}

impl fmt::Display for Resource {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let Self {
            table,
            slot,
            generation,
        } = self;
        write!(f, "resident buffer {table}:{slot}.{generation}")
    }
}

/// The live resident buffers of one backend: a slab whose handles carry table and generation.
#[derive(Debug)]
pub struct ResourceTable<T> {
    table: u64,
    slots: Vec<Slot<T>>,
    free: Vec<u32>,
}

#[derive(Debug)]
struct Slot<T> {
    generation: u32,
    value: Option<T>,
}

impl<T> ResourceTable<T> {
    /// An empty table whose handles no other table of this process accepts.
    #[must_use]
    pub fn new() -> Self {
        static NEXT_TABLE: AtomicU64 = AtomicU64::new(0);
        let table = NEXT_TABLE.fetch_add(1, Ordering::Relaxed);
        Self {
            table,
            slots: Vec::new(),
            free: Vec::new(),
        }
    }

    /// Stores `value` and returns its handle.
    ///
    /// # Errors
    /// [`BackendError::LimitExceeded`] when the table has 2³² − 1 slots and none is free. Slots
    /// that are retired, their generations used up, count too.
    pub fn insert(&mut self, value: T) -> Result<Resource, BackendError> {
        if let Some(slot) = self.free.pop() {
            let entry = &mut self.slots[slot as usize];
            entry.value = Some(value);
            return Ok(Resource {
                table: self.table,
                slot,
                generation: entry.generation,
            });
        }
        let slot = u32::try_from(self.slots.len())
            .ok()
            .filter(|slot| *slot != u32::MAX)
            .ok_or(BackendError::LimitExceeded {
                subject: "resident buffers".into(),
                limit: "handles of one backend",
                requested: self.slots.len() as u64 + 1,
                maximum: u64::from(u32::MAX),
            })?;
        self.slots.push(Slot {
            generation: 0,
            value: Some(value),
        });
        Ok(Resource {
            table: self.table,
            slot,
            generation: 0,
        })
    }

    /// The buffer behind `resource`.
    ///
    /// # Errors
    /// [`BackendError::ForeignResource`] or [`BackendError::StaleResource`].
    pub fn get(&self, resource: Resource) -> Result<&T, BackendError> {
        if resource.table != self.table {
            return Err(BackendError::ForeignResource { resource });
        }
        self.slots
            .get(resource.slot as usize)
            .filter(|slot| slot.generation == resource.generation)
            .and_then(|slot| slot.value.as_ref())
            .ok_or(BackendError::StaleResource { resource })
    }

    /// The buffer behind `resource`, to be changed.
    ///
    /// # Errors
    /// [`BackendError::ForeignResource`] or [`BackendError::StaleResource`].
    pub fn get_mut(&mut self, resource: Resource) -> Result<&mut T, BackendError> {
        self.get(resource)?;
        let slot = &mut self.slots[resource.slot as usize];
        slot.value
            .as_mut()
            .ok_or(BackendError::StaleResource { resource })
    }

    /// Takes the buffer behind `resource` out; the handle is stale from now on.
    ///
    /// # Errors
    /// [`BackendError::ForeignResource`] or [`BackendError::StaleResource`].
    pub fn remove(&mut self, resource: Resource) -> Result<T, BackendError> {
        self.get(resource)?;
        let slot = &mut self.slots[resource.slot as usize];
        // A slot whose generations are used up is retired, so that no handle ever comes back.
        if let Some(next) = slot.generation.checked_add(1) {
            slot.generation = next;
            self.free.push(resource.slot);
        }
        slot.value
            .take()
            .ok_or(BackendError::StaleResource { resource })
    }

    /// The live handles, in slot order.
    pub fn handles(&self) -> impl Iterator<Item = Resource> {
        (0..)
            .zip(&self.slots)
            .filter(|(_, slot)| slot.value.is_some())
            .map(|(slot, entry)| Resource {
                table: self.table,
                slot,
                generation: entry.generation,
            })
    }
}

impl<T> Default for ResourceTable<T> {
    fn default() -> Self {
        Self::new()
    }
}

#[cfg(test)]
mod tests {
    use proptest::prelude::*;

    use super::*;

    #[test]
    fn foreign_handle_is_refused() {
        let mut here = ResourceTable::new();
        let mut elsewhere = ResourceTable::new();
        here.insert(1).unwrap();
        let foreign = elsewhere.insert(2).unwrap();
        assert!(
            matches!(here.get(foreign), Err(BackendError::ForeignResource { resource }) if resource == foreign)
        );
    }

    #[test]
    fn stale_handle_never_reaches_the_next_tenant() {
        let mut table = ResourceTable::new();
        let first = table.insert(1).unwrap();
        table.remove(first).unwrap();
        let second = table.insert(2).unwrap();
        assert!(matches!(
            table.get(first),
            Err(BackendError::StaleResource { .. })
        ));
        assert!(matches!(
            table.remove(first),
            Err(BackendError::StaleResource { .. })
        ));
        assert_eq!(*table.get(second).unwrap(), 2);
    }

    proptest! {
        #[test]
        fn agrees_with_a_map(steps in prop::collection::vec((any::<bool>(), any::<prop::sample::Index>()), 0..200)) {
            let mut table = ResourceTable::new();
            let mut live = Vec::new();
            let mut dead = Vec::new();
            for (step, (insert, pick)) in steps.into_iter().enumerate() {
                if insert || live.is_empty() {
                    live.push((table.insert(step).unwrap(), step));
                } else {
                    let (handle, value) = live.swap_remove(pick.index(live.len()));
                    prop_assert_eq!(table.remove(handle).unwrap(), value);
                    dead.push(handle);
                }
                for (handle, value) in &live {
                    prop_assert_eq!(table.get(*handle).unwrap(), value);
                }
                prop_assert!(dead.iter().all(|handle| table.get(*handle).is_err()));
            }
            let mut handles: Vec<_> = live.iter().map(|(handle, _)| *handle).collect();
            handles.sort_unstable();
            prop_assert_eq!(table.handles().collect::<Vec<_>>(), handles);
        }
    }
}
