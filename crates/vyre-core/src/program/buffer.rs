//! Buffers of a program: what is declared, and how an op names one of them or a part of it.

use std::{fmt, ops::Range, sync::Arc};

/// Every range bound to a kernel starts at a multiple of this many bytes.
///
/// Vulkan caps `minStorageBufferOffsetAlignment` and `minUniformBufferOffsetAlignment` at this
/// figure, so a program that keeps to it is valid on every device.
pub const BINDING_OFFSET_ALIGNMENT: u64 = 256;

/// What a buffer is to the caller of a dispatch.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum BufferRole {
    /// Given by the caller, read by the ops.
    Input,
    /// Zeros at first, written by the ops, handed back to the caller.
    Output,
    /// Given by the caller, changed by the ops, handed back to the caller.
    InOut,
    /// Zeros at first, never seen by the caller.
    Scratch,
    /// Contents fixed when the program is built, read by the ops.
    Constant,
}

impl BufferRole {
    /// Whether ops may write to the buffer.
    pub fn is_writable(self) -> bool {
        !matches!(self, Self::Input | Self::Constant)
    }
}

impl fmt::Display for BufferRole {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            Self::Input => "input",
            Self::Output => "output",
            Self::InOut => "in-out buffer",
            Self::Scratch => "scratch buffer",
            Self::Constant => "constant",
        })
    }
}

/// A declared buffer.
#[derive(Clone, Eq, PartialEq)]
pub struct BufferDecl {
    name: String,
    byte_len: u64,
    role: BufferRole,
    contents: Option<Arc<[u8]>>,
}

impl BufferDecl {
    pub(super) fn new(name: String, byte_len: u64, role: BufferRole) -> Self {
        Self {
            name,
            byte_len,
            role,
            contents: None,
        }
    }

    pub(super) fn constant(name: String, contents: Arc<[u8]>) -> Self {
        Self {
            name,
            byte_len: contents.len() as u64,
            role: BufferRole::Constant,
            contents: Some(contents),
        }
    }

    /// The name, unique within the program.
    pub fn name(&self) -> &str {
        &self.name
    }

    /// Length in bytes, a multiple of 4 and not 0.
    pub fn byte_len(&self) -> u64 {
        self.byte_len
    }

    /// What the buffer is to the caller.
    pub fn role(&self) -> BufferRole {
        self.role
    }

    /// The bytes of a constant; every other buffer starts as zeros or as the caller's input.
    pub fn contents(&self) -> Option<&Arc<[u8]>> {
        self.contents.as_ref()
    }

    /// Whether a dispatch takes the contents from the caller.
    pub fn is_input(&self) -> bool {
        matches!(self.role, BufferRole::Input | BufferRole::InOut)
    }

    /// Whether a dispatch hands the contents back to the caller.
    pub fn is_output(&self) -> bool {
        matches!(self.role, BufferRole::Output | BufferRole::InOut)
    }
}

impl fmt::Debug for BufferDecl {
    /// Without the contents, which may be long.
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.debug_struct("BufferDecl")
            .field("name", &self.name)
            .field("byte_len", &self.byte_len)
            .field("role", &self.role)
            .finish_non_exhaustive()
    }
}

/// Names a buffer of one program, and of no other.
#[derive(Clone, Copy, Eq, Hash, Ord, PartialEq, PartialOrd)]
pub struct BufferId {
    index: u32,
    /// Tells the ids of one builder from those of another.
    builder: u32,
}

impl BufferId {
    pub(super) const fn new(index: u32, builder: u32) -> Self {
        Self { index, builder }
    }

    /// The place of the buffer in [`Program::buffers`](super::Program::buffers).
    pub fn index(self) -> usize {
        self.index as usize
    }

    /// `byte_len` bytes of the buffer from `offset` on, a multiple of [`BINDING_OFFSET_ALIGNMENT`].
    pub fn slice(self, offset: u64, byte_len: u64) -> BufferSlice {
        BufferSlice {
            buffer: self,
            range: Some((offset, byte_len)),
        }
    }

    pub(super) fn builder(self) -> u32 {
        self.builder
    }
}

impl fmt::Debug for BufferId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "BufferId({})", self.index)
    }
}

/// A whole buffer or a range of one, as an op binds it.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
pub struct BufferSlice {
    pub(super) buffer: BufferId,
    /// Offset and length in bytes; the whole buffer without.
    pub(super) range: Option<(u64, u64)>,
}

impl From<BufferId> for BufferSlice {
    fn from(buffer: BufferId) -> Self {
        Self {
            buffer,
            range: None,
        }
    }
}

/// The bytes that an op binds to a variable of its kernel.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub struct BoundRange {
    /// The buffer.
    pub buffer: BufferId,
    /// First byte, a multiple of [`BINDING_OFFSET_ALIGNMENT`].
    pub offset: u64,
    /// Length in bytes, a multiple of 4.
    pub byte_len: u64,
}

impl BoundRange {
    /// Stands for the range of a variable until one is bound to it.
    pub(super) const UNBOUND: Self = Self {
        buffer: BufferId::new(u32::MAX, u32::MAX),
        offset: 0,
        byte_len: 0,
    };

    pub(super) fn is_bound(&self) -> bool {
        self.buffer.index != Self::UNBOUND.buffer.index
    }

    /// One past the last byte.
    ///
    /// Can't overflow in a built program, where every range ends inside its buffer.
    pub fn end(&self) -> u64 {
        self.offset + self.byte_len
    }

    /// First byte to one past the last.
    pub(super) fn bytes(&self) -> Range<u64> {
        self.offset..self.end()
    }

    /// Whether both name some common byte.
    pub(super) fn overlaps(&self, other: &Self) -> bool {
        self.buffer == other.buffer && self.offset < other.end() && other.offset < self.end()
    }
}
