//! Types and values of expressions.

use half::f16;
use vyre_core::kernel::Capability;

/// A scalar type of WGSL, or of naga's extension by 64-bit integers.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) enum Scalar {
    Bool,
    U32,
    I32,
    F32,
    U64,
    I64,
    F16,
}

use Scalar::{Bool, F16, F32, I32, I64, U32, U64};

impl Scalar {
    pub(crate) const ALL: &'static [Self] = &[Bool, U32, I32, F32, U64, I64, F16];

    pub(crate) fn name(self) -> &'static str {
        match self {
            Bool => "bool",
            U32 => "u32",
            I32 => "i32",
            F32 => "f32",
            U64 => "u64",
            I64 => "i64",
            F16 => "f16",
        }
    }

    pub(crate) fn is_float(self) -> bool {
        matches!(self, F32 | F16)
    }

    pub(crate) fn is_signed(self) -> bool {
        matches!(self, I32 | I64)
    }

    /// Bits of a value; a bool counts as a word.
    pub(crate) fn width(self) -> u32 {
        match self {
            Bool | U32 | I32 | F32 => 32,
            U64 | I64 => 64,
            F16 => 16,
        }
    }

    pub(crate) fn capability(self) -> Option<Capability> {
        match self {
            U64 | I64 => Some(Capability::Int64),
            F16 => Some(Capability::Float16),
            _ => None,
        }
    }

    /// A short name for the variables of this type.
    pub(crate) fn letter(self) -> &'static str {
        match self {
            Bool => "b",
            U32 => "u",
            I32 => "i",
            F32 => "f",
            U64 => "ul",
            I64 => "il",
            F16 => "h",
        }
    }

    /// The integer that these bits are.
    pub(crate) fn integer(self, bits: u64) -> i128 {
        match self {
            I32 => i128::from(bits as u32 as i32),
            I64 => i128::from(bits as i64),
            Bool | U32 | F32 => i128::from(bits as u32),
            U64 => i128::from(bits),
            F16 => i128::from(bits as u16),
        }
    }

    /// The float that these bits are.
    pub(crate) fn float(self, bits: u64) -> f64 {
        match self {
            F16 => f16::from_bits(bits as u16).to_f64(),
            _ => f64::from(f32::from_bits(bits as u32)),
        }
    }

    /// The low bits of an integer, as many as the type has.
    pub(crate) fn wrap(self, integer: i128) -> u64 {
        match self.width() {
            64 => integer as u64,
            32 => u64::from(integer as u32),
            _ => u64::from(integer as u16),
        }
    }

    /// Values at which implementations go wrong.
    pub(crate) fn specials(self) -> &'static [u64] {
        match self {
            Bool => BOOLS,
            U32 | I32 => WORDS,
            U64 | I64 => LONGS,
            F32 => SINGLES,
            F16 => HALVES,
        }
    }
}

// Bits of special values: zeros, ones, shift counts around the width, extremes, and of floats
// halves, large, least normal, denormal and infinite ones, NaN, and the edges of integers.
const BOOLS: &[u64] = &[0, 1];

const WORDS: &[u64] = &[
    0,
    1,
    2,
    3,
    7,
    31,
    32,
    33,
    63,
    64,
    255,
    0xffff,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
    0xffff_ffe0,
    0x1234_5678,
    0xaaaa_5555,
];

const LONGS: &[u64] = &[
    0,
    1,
    2,
    3,
    31,
    32,
    33,
    63,
    64,
    65,
    0x7fff_ffff,
    0x8000_0000,
    0xffff_ffff,
    0x1_0000_0000,
    0x7fff_ffff_ffff_ffff,
    0x8000_0000_0000_0000,
    0x8000_0000_0000_0001,
    0xffff_ffff_ffff_ffff,
    0xffff_ffff_ffff_fffe,
    0x0123_4567_89ab_cdef,
];

const SINGLES: &[u64] = &[
    0x0000_0000,
    0x8000_0000,
    0x3f80_0000,
    0xbf80_0000,
    0x3f00_0000,
    0xbf00_0000,
    0x3fc0_0000,
    0xc020_0000,
    0x4049_0fdb,
    0x7f7f_ffff,
    0xff7f_ffff,
    0x0080_0000,
    0x8080_0000,
    0x0000_0001,
    0x8040_0000,
    0x7f80_0000,
    0xff80_0000,
    0x7fc0_0000,
    0x4f00_0000,
    0xcf00_0000,
    0x4f80_0000,
    0x4b00_0001,
    0x3eaa_aaab,
    0x42c8_0000,
];

const HALVES: &[u64] = &[
    0x0000, 0x8000, 0x3c00, 0xbc00, 0x3800, 0xb800, 0x3e00, 0xc100, 0x4248, 0x7bff, 0xfbff, 0x0400,
    0x8400, 0x0001, 0x8200, 0x7c00, 0xfc00, 0x7e00, 0x3555, 0x6400,
];

/// A scalar or a vector of 2 to 4 lanes.
#[derive(Clone, Copy, Debug, Eq, Hash, PartialEq)]
pub(crate) struct Ty {
    pub(crate) scalar: Scalar,
    pub(crate) lanes: usize,
}

impl Ty {
    pub(crate) const fn new(scalar: Scalar, lanes: usize) -> Self {
        Self { scalar, lanes }
    }

    pub(crate) const fn one(scalar: Scalar) -> Self {
        Self::new(scalar, 1)
    }

    pub(crate) fn with(self, scalar: Scalar) -> Self {
        Self::new(scalar, self.lanes)
    }

    pub(crate) fn wgsl(self) -> String {
        match self.lanes {
            1 => self.scalar.name().to_owned(),
            lanes => format!("vec{lanes}<{}>", self.scalar.name()),
        }
    }
}

/// The bits of up to four lanes.
pub(crate) type Value = [u64; 4];

/// A value for people: each lane as number and bits.
pub(crate) fn show(ty: Ty, value: &Value) -> String {
    let lanes = value[..ty.lanes]
        .iter()
        .map(|&bits| show_lane(ty.scalar, bits));
    let lanes = lanes.collect::<Vec<_>>().join(", ");
    match ty.lanes {
        1 => lanes,
        _ => format!("({lanes})"),
    }
}

pub(crate) fn show_lane(scalar: Scalar, bits: u64) -> String {
    match scalar {
        Bool => (bits != 0).to_string(),
        F32 => format!("{:e} [{bits:#010x}]", f32::from_bits(bits as u32)),
        F16 => format!("{:e} [{bits:#06x}]", scalar.float(bits)),
        _ => format!("{} [{bits:#x}]", scalar.integer(bits)),
    }
}
