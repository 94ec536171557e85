//! Operations between the lanes of a subgroup: consecutive lanes, of which the active ones take
//! part.

use std::ops::Range;

use vyre_core::naga::SubgroupOperation as S;
use vyre_core::naga::{BinaryOperator as B, CollectiveOperation, MathFunction as M};

use super::Machine;
use crate::code::{Combine, Gather, Reg, Subgroup};
use crate::layout::Num;
use crate::ops::{self, Op};

impl Machine<'_, '_> {
    pub(super) fn subgroup(
        &mut self,
        operation: &Subgroup,
        words: usize,
        dst: &[Reg],
        src: &[Reg],
    ) {
        let (lanes, size) = (self.state.active.len(), self.launch.subgroup_size as usize);
        for start in (0..lanes).step_by(size.max(1)) {
            let group = start..lanes.min(start + size);
            match operation {
                Subgroup::Ballot { predicate } => self.ballot(*predicate, dst, group),
                Subgroup::Gather(gather) => {
                    for (&dst, &src) in dst.iter().zip(src) {
                        self.gather(*gather, dst, src, group.clone());
                    }
                }
                Subgroup::Collective {
                    kind,
                    combine,
                    neutral,
                } => {
                    for (dst, src) in dst.chunks(words).zip(src.chunks(words)) {
                        let fold = (*kind, *combine, *neutral);
                        self.collective(fold, dst, src, group.clone());
                    }
                }
            }
        }
    }

    fn is_active(&self, lane: usize) -> bool {
        self.state.active[lane] != 0
    }

    fn ballot(&mut self, predicate: Reg, dst: &[Reg], group: Range<usize>) {
        let mut bits = 0_u128;
        for (bit, lane) in group.clone().enumerate() {
            let votes = self.state.registers[predicate.index()][lane] != 0;
            bits |= u128::from(self.is_active(lane) && votes) << bit;
        }
        for (word, &reg) in dst.iter().enumerate() {
            let word = u32::try_from(bits >> (32 * word) & u128::from(u32::MAX)).unwrap_or(0);
            self.state.registers[reg.index()][group.clone()].fill(word);
        }
    }

    fn gather(&mut self, gather: Gather, dst: Reg, src: Reg, group: Range<usize>) {
        let mut to = self.state.take(dst);
        let first = group.clone().find(|&lane| self.is_active(lane));
        for lane in group.clone() {
            let read = |reg: Reg| self.state.registers[reg.index()][lane] as usize;
            let own = lane - group.start;
            let from = match gather {
                Gather::First => first.map(|lane| lane - group.start),
                Gather::Lane(id) => Some(read(id)),
                Gather::Down(delta) => own.checked_add(read(delta)),
                Gather::Up(delta) => own.checked_sub(read(delta)),
                Gather::Xor(mask) => Some(own ^ read(mask)),
                Gather::QuadLane(id) => Some(own & !3 | read(id) & 3),
                Gather::QuadXor(mask) => Some(own ^ mask as usize),
            };
            let from = from.and_then(|from| from.checked_add(group.start));
            let from = from.filter(|from| group.contains(from) && self.is_active(*from));
            to[lane] = from.map_or(0, |from| self.state.registers[src.index()][from]);
        }
        self.state.put(dst, to);
    }

    fn collective(
        &mut self,
        (kind, combine, neutral): (CollectiveOperation, Combine, [u32; 2]),
        dst: &[Reg],
        src: &[Reg],
        group: Range<usize>,
    ) {
        let mut sum: Vec<Vec<u32>> = neutral.iter().take(src.len()).map(|&w| vec![w]).collect();
        let active: Vec<_> = group.filter(|&lane| self.is_active(lane)).collect();
        let write = |machine: &mut Self, sum: &[Vec<u32>], lane: usize| {
            for (&reg, word) in dst.iter().zip(sum) {
                machine.state.registers[reg.index()][lane] = word[0];
            }
        };
        for &lane in &active {
            if kind == CollectiveOperation::ExclusiveScan {
                write(self, &sum, lane);
            }
            let value = src
                .iter()
                .map(|reg| self.state.registers[reg.index()][lane]);
            sum = combine.fold(&sum, &value.collect::<Vec<_>>());
            if kind == CollectiveOperation::InclusiveScan {
                write(self, &sum, lane);
            }
        }
        if kind == CollectiveOperation::Reduce {
            active.iter().for_each(|&lane| write(self, &sum, lane));
        }
    }
}

impl Combine {
    /// The function that folds two scalars.
    fn op(self) -> Option<Op> {
        match self.op {
            S::All => ops::binary(B::LogicalAnd, Num::Bool),
            S::Any => ops::binary(B::LogicalOr, Num::Bool),
            S::Add => ops::binary(B::Add, self.num),
            S::Mul => ops::binary(B::Multiply, self.num),
            S::And => ops::binary(B::And, self.num),
            S::Or => ops::binary(B::InclusiveOr, self.num),
            S::Xor => ops::binary(B::ExclusiveOr, self.num),
            S::Min => ops::math(M::Min, self.num),
            S::Max => ops::math(M::Max, self.num),
        }
    }

    /// `sum op value`, each the words of one scalar.
    fn fold(self, sum: &[Vec<u32>], value: &[u32]) -> Vec<Vec<u32>> {
        let widen = |word: u32| ops::half_to_f32_bits(word);
        let (a, b) = (sum[0][0], value[0]);
        match self.op() {
            Some(Op::Narrow(run) | Op::HalfTest(run)) => {
                let mut to = [0];
                run(&mut to, [&[a], &[b], &[b]]);
                vec![to.to_vec()]
            }
            Some(Op::Half(run)) => {
                let mut to = [0];
                run(&mut to, [&[widen(a)], &[widen(b)], &[widen(b)]]);
                vec![vec![ops::f32_bits_to_half(to[0])]]
            }
            Some(Op::Wide(run, words)) => {
                let mut to = vec![vec![0]; words as usize];
                let value: Vec<_> = value.iter().map(|&word| [word]).collect();
                let sum = sum.iter().map(Vec::as_slice);
                let src: Vec<&[u32]> = sum.chain(value.iter().map(<[u32; 1]>::as_slice)).collect();
                run(&mut to, &src);
                to
            }
            None => sum.to_vec(),
        }
    }
}
