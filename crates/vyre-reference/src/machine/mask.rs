//! Which lanes are active.

use super::{Machine, State};
use crate::code::{Inst, Reg};

impl Machine<'_, '_> {
    /// Instructions that change which lanes are active.
    pub(super) fn control(&mut self, inst: &Inst) {
        match inst {
            Inst::If {
                condition,
                saved,
                skip,
            } => {
                self.save(*saved);
                self.narrow_to(*condition, 0);
                self.skip_if_idle(*skip);
            }
            Inst::Else {
                condition,
                saved,
                skip,
            } => {
                self.restore(*saved, None);
                self.narrow_to(*condition, 1);
                self.skip_if_idle(*skip);
            }
            Inst::Restore { saved, left, skip } => {
                self.restore(*saved, *left);
                self.skip_if_idle(*skip);
            }
            Inst::Save(saved) => self.save(*saved),
            Inst::Clear(mask) => self.state.registers[mask.index()].fill(0),
            Inst::Leave {
                condition,
                masks,
                skip,
            } => {
                self.leave(*condition, masks);
                self.skip_if_idle(*skip);
            }
            _ => {}
        }
    }

    fn skip_if_idle(&mut self, skip: usize) {
        if self.state.active_count == 0 {
            self.pc = skip;
        }
    }

    fn save(&mut self, saved: Reg) {
        let State {
            registers, active, ..
        } = &mut *self.state;
        registers[saved.index()].copy_from_slice(active);
    }

    /// Deactivates the lanes where `condition` is `unwanted`.
    fn narrow_to(&mut self, condition: Reg, unwanted: u32) {
        let State {
            registers, active, ..
        } = &mut *self.state;
        for (active, condition) in active.iter_mut().zip(&registers[condition.index()]) {
            *active &= condition ^ unwanted;
        }
        self.count();
    }

    /// Activates `saved` but for the lanes in `left`; whether there are any.
    pub(super) fn restore(&mut self, saved: Reg, left: Option<Reg>) -> bool {
        let State {
            registers, active, ..
        } = &mut *self.state;
        let saved = &registers[saved.index()];
        match left {
            None => active.copy_from_slice(saved),
            Some(left) => {
                let left = &registers[left.index()];
                for ((active, saved), left) in active.iter_mut().zip(saved).zip(left) {
                    *active = saved & !left;
                }
            }
        }
        self.count();
        self.state.active_count > 0
    }

    fn leave(&mut self, condition: Option<(Reg, bool)>, masks: &[Reg]) {
        let State {
            registers,
            active,
            leaving,
            ..
        } = &mut *self.state;
        leaving.copy_from_slice(active);
        if let Some((condition, value)) = condition {
            let unwanted = u32::from(!value);
            for (leaving, condition) in leaving.iter_mut().zip(&registers[condition.index()]) {
                *leaving &= condition ^ unwanted;
            }
        }
        for mask in masks {
            for (mask, leaving) in registers[mask.index()].iter_mut().zip(&*leaving) {
                *mask |= leaving;
            }
        }
        for (active, leaving) in active.iter_mut().zip(&*leaving) {
            *active &= !*leaving;
        }
        self.count();
    }

    fn count(&mut self) {
        let count: u32 = self.state.active.iter().sum();
        let last = self.state.active.iter().rposition(|&active| active != 0);
        let reach = last.map_or(0, |last| (last + 1).next_multiple_of(8));
        self.state.reach = reach.min(self.state.active.len());
        self.state.active_count = count as usize;
    }
}
