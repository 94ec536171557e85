//! Everything that must hold before a program is one. What is checked here, the rest relies on.

use std::collections::HashMap;

use crate::{
    backend::Limits,
    kernel::{BindingKind, Kernel, KernelBinding},
};

use super::{
    BINDING_OFFSET_ALIGNMENT, BoundRange, BufferDecl, Op, Parts, ProgramError,
    error::{BindingSite, OpSite},
};

/// Finds the first fault: of the buffers, then of the ops, then of the whole.
pub(super) fn check(parts: &Parts, limits: &Limits) -> Result<(), ProgramError> {
    check_buffers(&parts.buffers)?;
    let mut written = vec![false; parts.buffers.len()];
    for (index, op) in parts.ops.iter().enumerate() {
        let op = CheckedOp {
            index,
            kernel: &parts.kernels[op.kernel as usize],
            op,
            ranges: parts.bindings(op),
            parts,
            limits,
        };
        op.check()?;
        for (_, range) in op.written() {
            written[range.buffer.index()] = true;
        }
    }
    if parts.ops.is_empty() {
        let label = parts.label.clone();
        return Err(ProgramError::NoOps { label });
    }
    check_outputs(&parts.buffers, &written)
}

fn check_buffers(buffers: &[BufferDecl]) -> Result<(), ProgramError> {
    let mut names = HashMap::with_capacity(buffers.len());
    let mut total = 0_u64;
    for (index, buffer) in buffers.iter().enumerate() {
        let (name, byte_len) = (buffer.name(), buffer.byte_len());
        if name.is_empty() {
            return Err(ProgramError::EmptyBufferName { index });
        }
        let name = || name.to_owned();
        if let Some(first) = names.insert(buffer.name(), index) {
            let (name, second) = (name(), index);
            return Err(ProgramError::DuplicateBufferName {
                name,
                first,
                second,
            });
        }
        if byte_len == 0 {
            return Err(ProgramError::EmptyBuffer { name: name() });
        }
        if byte_len % 4 != 0 {
            let name = name();
            return Err(ProgramError::BufferLength { name, byte_len });
        }
        total = total.checked_add(byte_len).ok_or_else(|| {
            let name = name();
            ProgramError::BuffersTooLarge { name, byte_len }
        })?;
    }
    Ok(())
}

fn check_outputs(buffers: &[BufferDecl], written: &[bool]) -> Result<(), ProgramError> {
    let idle = buffers.iter().zip(written).find(|&(buffer, &written)| {
        // An in-out buffer that is left alone hands the input back, which is a result too.
        buffer.is_output() && !buffer.is_input() && !written
    });
    idle.map_or(Ok(()), |(buffer, _)| {
        let name = buffer.name().to_owned();
        Err(ProgramError::OutputNeverWritten { name })
    })
}

/// An op, and what it is checked against.
struct CheckedOp<'a> {
    index: usize,
    kernel: &'a Kernel,
    op: &'a Op,
    ranges: &'a [BoundRange],
    parts: &'a Parts,
    limits: &'a Limits,
}

impl CheckedOp<'_> {
    fn check(&self) -> Result<(), ProgramError> {
        self.check_grid()?;
        self.check_workgroup()?;
        for (binding, range) in self.kernel.bindings().iter().zip(self.ranges) {
            self.check_range(binding, range)?;
            self.check_length(binding, range)?;
            self.check_role(binding, range)?;
        }
        self.check_overlaps()
    }

    fn check_grid(&self) -> Result<(), ProgramError> {
        let grid = self.op.grid;
        if grid.contains(&0) {
            let op = self.site();
            return Err(ProgramError::EmptyGrid { op, grid });
        }
        over_limit(grid, self.limits.max_grid).map_or(Ok(()), |(axis, given, limit)| {
            Err(ProgramError::GridTooLarge {
                op: self.site(),
                axis,
                given,
                limit,
            })
        })
    }

    fn check_workgroup(&self) -> Result<(), ProgramError> {
        let size = self.kernel.workgroup_size();
        if let Some((axis, given, limit)) = over_limit(size, self.limits.max_workgroup_size) {
            return Err(ProgramError::WorkgroupTooLarge {
                op: self.site(),
                axis,
                given,
                limit,
            });
        }
        let given = size.into_iter().map(u64::from).product();
        let limit = self.limits.max_workgroup_invocations;
        if given > u64::from(limit) {
            let op = self.site();
            return Err(ProgramError::TooManyInvocations { op, given, limit });
        }
        let given = self.kernel.workgroup_memory_bytes();
        let limit = self.limits.max_workgroup_memory;
        if given > limit {
            let op = self.site();
            return Err(ProgramError::WorkgroupMemory { op, given, limit });
        }
        Ok(())
    }

    /// Whether something is bound, and lies in its buffer as every device wants it.
    fn check_range(&self, binding: &KernelBinding, range: &BoundRange) -> Result<(), ProgramError> {
        if !range.is_bound() {
            return Err(ProgramError::UnboundBinding {
                op: self.site(),
                binding: binding.name.clone(),
            });
        }
        let &BoundRange {
            offset, byte_len, ..
        } = range;
        let at = || self.binding_site(binding, range);
        let buffer_len = self.buffer(range).byte_len();
        if byte_len == 0 {
            return Err(ProgramError::EmptyRange { at: at() });
        }
        if byte_len % 4 != 0 {
            return Err(ProgramError::RangeLength { at: at(), byte_len });
        }
        if offset % BINDING_OFFSET_ALIGNMENT != 0 {
            return Err(ProgramError::RangeOffset { at: at(), offset });
        }
        match offset.checked_add(byte_len) {
            Some(end) if end <= buffer_len => Ok(()),
            _ => Err(ProgramError::RangePastEnd {
                at: at(),
                offset,
                byte_len,
                buffer_len,
            }),
        }
    }

    fn check_length(
        &self,
        binding: &KernelBinding,
        range: &BoundRange,
    ) -> Result<(), ProgramError> {
        let at = || self.binding_site(binding, range);
        let (byte_len, needed) = (range.byte_len, binding.min_byte_len);
        if byte_len < needed {
            return Err(match binding.element_stride {
                Some(stride) => ProgramError::ArrayTooShort {
                    at: at(),
                    byte_len,
                    needed,
                    stride,
                },
                None => ProgramError::RangeTooSmall {
                    at: at(),
                    byte_len,
                    needed,
                },
            });
        }
        let (kind, limit) = match binding.kind {
            BindingKind::Storage => ("storage", self.limits.max_storage_range),
            BindingKind::Uniform => ("uniform", self.limits.max_uniform_range),
        };
        if byte_len > limit {
            return Err(ProgramError::RangeTooLarge {
                at: at(),
                kind,
                byte_len,
                limit,
            });
        }
        Ok(())
    }

    fn check_role(&self, binding: &KernelBinding, range: &BoundRange) -> Result<(), ProgramError> {
        let role = self.buffer(range).role();
        if binding.access.writes() && !role.is_writable() {
            let at = self.binding_site(binding, range);
            return Err(ProgramError::NotWritable { at, role });
        }
        Ok(())
    }

    fn check_overlaps(&self) -> Result<(), ProgramError> {
        for (binding, range) in self.written() {
            let touched = self.kernel.bindings().iter().zip(self.ranges);
            let clash = touched
                .filter(|(other, _)| other.access.reads() || other.access.writes())
                .find(|(other, bytes)| other.variable != binding.variable && bytes.overlaps(range));
            if let Some((other, bytes)) = clash {
                return Err(ProgramError::Overlap {
                    at: self.binding_site(binding, range),
                    range: range.bytes(),
                    other: other.name.clone(),
                    other_range: bytes.bytes(),
                });
            }
        }
        Ok(())
    }

    /// The bindings that the kernel writes.
    fn written(&self) -> impl Iterator<Item = (&KernelBinding, &BoundRange)> {
        let bindings = self.kernel.bindings().iter().zip(self.ranges);
        bindings.filter(|(binding, _)| binding.access.writes())
    }

    fn buffer(&self, range: &BoundRange) -> &BufferDecl {
        &self.parts.buffers[range.buffer.index()]
    }

    fn site(&self) -> OpSite {
        OpSite {
            op: self.index,
            kernel: self.kernel.entry_point().to_owned(),
        }
    }

    fn binding_site(&self, binding: &KernelBinding, range: &BoundRange) -> Box<BindingSite> {
        Box::new(BindingSite {
            op: self.site(),
            binding: binding.name.clone(),
            buffer: self.buffer(range).name().to_owned(),
        })
    }
}

/// The first axis over its limit, with both figures.
fn over_limit(given: [u32; 3], limit: [u32; 3]) -> Option<(char, u32, u32)> {
    (0..3)
        .map(|axis| (['x', 'y', 'z'][axis], given[axis], limit[axis]))
        .find(|&(_, given, limit)| given > limit)
}
