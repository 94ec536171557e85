//! Atomic read-modify-writes, lane by lane.

use super::Machine;
use crate::buffer::lock_wide_atomics;
use crate::code::{Atomic, AtomicKind, PlainAtomic, Shared};
use crate::ops::{from_words, to_words};

impl Machine<'_, '_> {
    pub(super) fn atomic(&mut self, atomic: &Atomic) {
        let lanes = self.state.active.len();
        let wide = atomic.value.len() == 2;
        let _guard = wide.then(lock_wide_atomics);
        for lane in 0..lanes {
            let address = self.lane_address(atomic.address, lane);
            let (old, exchanged) = match address {
                Some(at) if wide => self.atomic_wide(atomic, at, lane),
                Some(at) => self.atomic_narrow(atomic, at, lane),
                None => (0, false),
            };
            let words = to_words(old);
            let values = words.into_iter().take(atomic.value.len());
            let result = values.chain([u32::from(exchanged)]);
            for (&reg, word) in atomic.result.iter().zip(result) {
                self.state.registers[reg.index()][lane] = word;
            }
        }
    }

    /// The operands of a lane: value, and what to compare with.
    fn operands(&self, atomic: &Atomic, lane: usize) -> (u64, Option<u64>) {
        let read = |regs: &[crate::code::Reg]| {
            let word = |index: usize| {
                regs.get(index)
                    .map_or(0, |reg| self.state.registers[reg.index()][lane])
            };
            from_words(word(0), word(1))
        };
        let compare = match &atomic.fun {
            AtomicKind::CompareExchange(compare) => Some(read(compare)),
            AtomicKind::Plain(_) => None,
        };
        (read(&atomic.value), compare)
    }

    fn atomic_narrow(&mut self, atomic: &Atomic, at: u32, lane: usize) -> (u64, bool) {
        let (value, compare) = self.operands(atomic, lane);
        let [value, _] = to_words(value);
        let compare = compare.map(|compare| to_words(compare)[0]);
        let next = |old: u32| match (&atomic.fun, compare) {
            (AtomicKind::Plain(fun), _) => plain(*fun, atomic.signed, old, value),
            (_, Some(compare)) if old != compare => old,
            _ => value,
        };
        let old = match atomic.memory {
            Shared::Buffer(binding) => self.launch.bindings[binding as usize].update(at, next),
            Shared::Workgroup => match self.state.workgroup.get_mut(at as usize) {
                Some(word) => std::mem::replace(word, next(*word)),
                None => 0,
            },
        };
        (old.into(), compare == Some(old))
    }

    /// On two words; those in buffers are locked.
    fn atomic_wide(&mut self, atomic: &Atomic, at: u32, lane: usize) -> (u64, bool) {
        let (value, compare) = self.operands(atomic, lane);
        let old = match atomic.memory {
            Shared::Buffer(binding) => {
                let bound = self.launch.bindings[binding as usize];
                from_words(bound.load(at), bound.load(at + 4))
            }
            Shared::Workgroup => {
                let word = |at: u32| self.state.workgroup.get(at as usize).copied();
                from_words(word(at).unwrap_or(0), word(at + 1).unwrap_or(0))
            }
        };
        let next = match (&atomic.fun, compare) {
            (AtomicKind::Plain(fun), _) => plain_wide(*fun, atomic.signed, old, value),
            (_, Some(compare)) if old != compare => old,
            _ => value,
        };
        let [low, high] = to_words(next);
        match atomic.memory {
            Shared::Buffer(binding) => {
                let bound = self.launch.bindings[binding as usize];
                bound.store(at, low);
                bound.store(at + 4, high);
            }
            Shared::Workgroup => {
                let words = self.state.workgroup.iter_mut().skip(at as usize);
                words.zip([low, high]).for_each(|(to, word)| *to = word);
            }
        }
        (old, compare == Some(old))
    }
}

/// What an atomic operation leaves behind, for a word of each width.
macro_rules! plain_atomic {
    ($name:ident, $word:ty) => {
        fn $name(fun: PlainAtomic, signed: bool, old: $word, value: $word) -> $word {
            let (a, b) = (old.cast_signed(), value.cast_signed());
            match fun {
                PlainAtomic::Add => old.wrapping_add(value),
                PlainAtomic::Subtract => old.wrapping_sub(value),
                PlainAtomic::And => old & value,
                PlainAtomic::Xor => old ^ value,
                PlainAtomic::Or => old | value,
                PlainAtomic::Min if signed => a.min(b).cast_unsigned(),
                PlainAtomic::Max if signed => a.max(b).cast_unsigned(),
                PlainAtomic::Min => old.min(value),
                PlainAtomic::Max => old.max(value),
                PlainAtomic::Exchange => value,
            }
        }
    };
}

plain_atomic!(plain, u32);
plain_atomic!(plain_wide, u64);
