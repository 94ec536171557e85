//! Shows the sanitizer what the active lanes do.

use vyre_core::finding::FindingKind;
use vyre_core::naga::Barrier;

use super::Machine;
use crate::code::{Access, Address, Atomic, DynamicIndex, Inst, PartSize, Shared};
use crate::sanitize::{AccessKind, Sanitizer, Site, Space};

impl Machine<'_, '_> {
    pub(super) fn observe(&mut self, inst: &Inst) {
        let Some(watch) = self.watch.take() else {
            return;
        };
        match inst {
            Inst::Load(access) => self.observe_access(watch, access, AccessKind::Read),
            Inst::Store(access) => self.observe_access(watch, access, AccessKind::Write),
            Inst::Atomic(atomic) => self.observe_atomic(watch, atomic),
            Inst::LoadLanes(access) | Inst::StoreLanes(access) => {
                self.observe_index(watch, Some(access.index));
            }
            Inst::Barrier(barrier) => self.observe_barrier(watch, *barrier),
            _ => {}
        }
        self.watch = Some(watch);
    }

    /// The active lanes.
    fn sites(&self) -> impl Iterator<Item = Site> + use<> {
        let line = self.line();
        let active = self.state.active.clone();
        let lanes = (0..).zip(active).filter(|&(_, active)| active != 0);
        lanes.map(move |(lane, _)| Site { lane, line })
    }

    fn observe_index(&self, watch: &mut Sanitizer<'_>, index: Option<DynamicIndex>) {
        let Some(index) = index else {
            return;
        };
        let valid = &self.state.registers[index.valid.index()];
        for site in self.sites() {
            if valid[site.lane as usize] == 0 {
                watch.report(FindingKind::OutOfBounds, site);
            }
        }
    }

    fn observe_access(&self, watch: &mut Sanitizer<'_>, access: &Access, kind: AccessKind) {
        let kind = if access.atomic {
            AccessKind::Atomic
        } else {
            kind
        };
        let parts = access.parts.iter();
        let parts = parts
            .map(|part| (part.offset, part.size))
            .collect::<Vec<_>>();
        self.observe_parts(watch, (access.memory, access.address), &parts, kind);
    }

    fn observe_atomic(&self, watch: &mut Sanitizer<'_>, atomic: &Atomic) {
        let step = match atomic.memory {
            Shared::Buffer(_) => 4,
            Shared::Workgroup => 1,
        };
        let offsets = (0..).step_by(step).take(atomic.value.len());
        let parts = offsets
            .map(|offset| (offset, PartSize::Word))
            .collect::<Vec<_>>();
        let place = (atomic.memory, atomic.address);
        self.observe_parts(watch, place, &parts, AccessKind::Atomic);
    }

    fn observe_parts(
        &self,
        watch: &mut Sanitizer<'_>,
        (memory, address): (Shared, Address),
        parts: &[(u32, PartSize)],
        kind: AccessKind,
    ) {
        self.observe_index(watch, address.index);
        let (space, start) = match memory {
            Shared::Workgroup => (Space::Workgroup, 0),
            Shared::Buffer(binding) => {
                let range = &self.launch.ranges[binding as usize];
                (Space::Buffer(range.buffer.index()), range.offset)
            }
        };
        for site in self.sites() {
            let Some(at) = self.lane_address(address, site.lane as usize) else {
                continue;
            };
            for &(offset, size) in parts {
                let byte_len = match size {
                    PartSize::Half => 2,
                    PartSize::Word => 4,
                };
                let byte = start + u64::from(at) + u64::from(offset);
                watch.access(space, (byte, byte_len), kind, site);
            }
        }
    }

    /// A barrier takes all invocations of the workgroup, or all of a subgroup.
    fn observe_barrier(&self, watch: &mut Sanitizer<'_>, barrier: Barrier) {
        let active = &self.state.active;
        let size = if barrier == Barrier::SUB_GROUP {
            self.launch.subgroup_size as usize
        } else {
            active.len()
        };
        for group in active.chunks(size) {
            let reached = group.iter().filter(|&&active| active != 0).count();
            let is_torn = reached < group.len() && (reached > 0 || size == active.len());
            if is_torn && let Some(site) = self.sites().next() {
                let kind = FindingKind::NonUniformBarrier {
                    reached,
                    invocations: group.len(),
                };
                watch.report(kind, site);
            }
        }
        watch.barrier(barrier);
    }
}
