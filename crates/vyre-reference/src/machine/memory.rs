//! Loads, stores and addresses.

use super::Machine;
use crate::buffer::{Bound, lock_wide_atomics};
use crate::code::{
    Access, Address, DynamicIndex, Inst, LaneAccess, Length, Part, PartSize, Reg, RuntimeArray,
    Shared,
};

impl Machine<'_, '_> {
    /// Instructions that reach beyond a lane's own registers.
    pub(super) fn access(&mut self, inst: &Inst) {
        if self.watch.is_some() {
            self.observe(inst);
        }
        match inst {
            Inst::Index {
                to,
                from,
                index,
                stride,
                length,
            } => {
                let length = match length {
                    Length::Fixed(length) => *length,
                    Length::Runtime(array) => self.array_length(*array),
                };
                self.index(*to, *from, *index, (*stride, length));
            }
            Inst::ArrayLength { dst, array } => {
                let length = self.array_length(*array);
                self.state.registers[dst.index()].fill(length);
            }
            Inst::Load(access) => self.load(access),
            Inst::Store(access) => self.store(access),
            Inst::LoadLanes(access) => self.load_lanes(access),
            Inst::StoreLanes(access) => self.store_lanes(access),
            Inst::Atomic(atomic) => self.atomic(atomic),
            Inst::Subgroup {
                operation,
                words,
                dst,
                src,
            } => self.subgroup(operation, *words as usize, dst, src),
            _ => {}
        }
    }

    /// Elements of the runtime-sized array in a binding.
    fn array_length(&self, array: RuntimeArray) -> u32 {
        let bytes = self.launch.bindings[array.binding as usize].byte_len();
        let bytes = bytes.saturating_sub(array.offset.into());
        let length = bytes / u64::from(array.stride.max(1));
        u32::try_from(length).unwrap_or(u32::MAX)
    }

    fn index(
        &mut self,
        to: DynamicIndex,
        from: Option<DynamicIndex>,
        index: Reg,
        (stride, length): (u32, u32),
    ) {
        let mut offsets = self.state.take(to.offset);
        let mut valid = self.state.take(to.valid);
        let registers = &self.state.registers;
        let lanes = offsets.iter_mut().zip(valid.iter_mut());
        let lanes = lanes.zip(&registers[index.index()][..self.state.reach]);
        match from {
            None => {
                for ((offset, valid), index) in lanes {
                    *valid = u32::from(*index < length);
                    *offset = index.wrapping_mul(stride) * *valid;
                }
            }
            Some(from) => {
                let from_offset = &registers[from.offset.index()];
                let from_valid = &registers[from.valid.index()];
                let from = from_offset.iter().zip(from_valid);
                for (((offset, valid), index), (from_offset, from_valid)) in lanes.zip(from) {
                    *valid = u32::from(*index < length) & from_valid;
                    *offset = index.wrapping_mul(stride).wrapping_add(*from_offset) * *valid;
                }
            }
        }
        self.state.put(to.offset, offsets);
        self.state.put(to.valid, valid);
    }

    fn load(&mut self, access: &Access) {
        let _guard = (access.atomic && access.parts.len() == 2).then(lock_wide_atomics);
        let launch = self.launch;
        for part in &access.parts {
            match (access.memory, part.size) {
                (Shared::Workgroup, _) => self.load_workgroup(access.address, *part),
                (Shared::Buffer(binding), size) => {
                    let bound = launch.bindings[binding as usize];
                    match size {
                        PartSize::Word => {
                            self.load_part(access.address, *part, |at| bound.load(at))
                        }
                        PartSize::Half => {
                            self.load_part(access.address, *part, |at| bound.load_half(at));
                        }
                    }
                }
            }
        }
    }

    fn load_workgroup(&mut self, address: Address, part: Part) {
        let memory = std::mem::take(&mut self.state.workgroup);
        self.load_part(address, part, |at| {
            memory.get(at as usize).copied().unwrap_or(0)
        });
        self.state.workgroup = memory;
    }

    /// Loads one register in all lanes; zero where the address is out of bounds.
    fn load_part(&mut self, address: Address, part: Part, load: impl Fn(u32) -> u32) {
        let start = address.offset + part.offset;
        let mut to = self.state.take(part.reg);
        match address.index {
            None => to.fill(load(start)),
            Some(index) => {
                let offsets = &self.state.registers[index.offset.index()][..self.state.reach];
                let valid = &self.state.registers[index.valid.index()];
                for ((to, offset), valid) in to.iter_mut().zip(offsets).zip(valid) {
                    *to = if *valid != 0 { load(start + offset) } else { 0 };
                }
            }
        }
        self.state.put(part.reg, to);
    }

    fn store(&mut self, access: &Access) {
        let _guard = (access.atomic && access.parts.len() == 2).then(lock_wide_atomics);
        match access.memory {
            Shared::Buffer(binding) => {
                let bound = self.launch.bindings[binding as usize];
                access
                    .parts
                    .iter()
                    .for_each(|part| self.store_part(access.address, *part, bound));
            }
            Shared::Workgroup => {
                let mut memory = std::mem::take(&mut self.state.workgroup);
                for part in &access.parts {
                    self.for_each_store(access.address, *part, |at, word| {
                        if let Some(to) = memory.get_mut(at as usize) {
                            *to = word;
                        }
                    });
                }
                self.state.workgroup = memory;
            }
        }
    }

    fn store_part(&self, address: Address, part: Part, bound: Bound<'_>) {
        match part.size {
            PartSize::Word => self.for_each_store(address, part, |at, word| bound.store(at, word)),
            PartSize::Half => {
                self.for_each_store(address, part, |at, word| bound.store_half(at, word));
            }
        }
    }

    /// Calls `store` for every active lane that is in bounds.
    fn for_each_store(&self, address: Address, part: Part, mut store: impl FnMut(u32, u32)) {
        let start = address.offset + part.offset;
        let from = &self.state.registers[part.reg.index()][..self.state.reach];
        let lanes = from.iter().zip(&self.state.active);
        match address.index {
            None => {
                for (word, active) in lanes {
                    if *active != 0 {
                        store(start, *word);
                    }
                }
            }
            Some(index) => {
                let offsets = &self.state.registers[index.offset.index()];
                let valid = &self.state.registers[index.valid.index()];
                for (((word, active), offset), valid) in lanes.zip(offsets).zip(valid) {
                    if active & valid != 0 {
                        store(start + offset, *word);
                    }
                }
            }
        }
    }

    /// The address in a lane, if that is active and in bounds.
    pub(super) fn lane_address(&self, address: Address, lane: usize) -> Option<u32> {
        if self.state.active[lane] == 0 {
            return None;
        }
        let Some(index) = address.index else {
            return Some(address.offset);
        };
        let registers = &self.state.registers;
        let is_valid = registers[index.valid.index()][lane] != 0;
        is_valid.then(|| address.offset + registers[index.offset.index()][lane])
    }

    fn load_lanes(&mut self, access: &LaneAccess) {
        for (word, &reg) in (0..).zip(&access.regs) {
            let start = access.base.index() + (access.offset + word) as usize;
            let mut to = self.state.take(reg);
            let registers = &self.state.registers;
            let offsets = &registers[access.index.offset.index()];
            let valid = &registers[access.index.valid.index()];
            for (lane, to) in to.iter_mut().enumerate().take(self.state.reach) {
                *to = if valid[lane] != 0 {
                    registers[start + offsets[lane] as usize][lane]
                } else {
                    0
                };
            }
            self.state.put(reg, to);
        }
    }

    fn store_lanes(&mut self, access: &LaneAccess) {
        for (word, &reg) in (0..).zip(&access.regs) {
            let start = access.base.index() + (access.offset + word) as usize;
            for lane in 0..self.state.reach {
                let registers = &mut self.state.registers;
                let valid = registers[access.index.valid.index()][lane];
                if self.state.active[lane] & valid != 0 {
                    let offset = registers[access.index.offset.index()][lane] as usize;
                    registers[start + offset][lane] = registers[reg.index()][lane];
                }
            }
        }
    }
}
