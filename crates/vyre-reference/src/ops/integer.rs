//! 32-bit integers and booleans: overflow wraps, shift counts are taken modulo the width.

use vyre_core::naga::BinaryOperator as B;

use super::Narrow;
use super::lane::map2;

/// `a / b`, where division by zero and overflow give `a`.
fn divide(a: i32, b: i32) -> i32 {
    a.checked_div(b).unwrap_or(a)
}

/// `a % b`, where division by zero and overflow give 0.
fn modulo(a: i32, b: i32) -> i32 {
    a.checked_rem(b).unwrap_or(0)
}

pub(super) fn binary_i32(op: B) -> Option<Narrow> {
    Some(match op {
        B::Add => |d, s| map2(d, s, i32::wrapping_add),
        B::Subtract => |d, s| map2(d, s, i32::wrapping_sub),
        B::Multiply => |d, s| map2(d, s, i32::wrapping_mul),
        B::Divide => |d, s| map2(d, s, divide),
        B::Modulo => |d, s| map2(d, s, modulo),
        B::Less => |d, s| map2(d, s, |a: i32, b: i32| a < b),
        B::LessEqual => |d, s| map2(d, s, |a: i32, b: i32| a <= b),
        B::Greater => |d, s| map2(d, s, |a: i32, b: i32| a > b),
        B::GreaterEqual => |d, s| map2(d, s, |a: i32, b: i32| a >= b),
        B::ShiftRight => |d, s| map2(d, s, i32::wrapping_shr),
        _ => return binary_u32(op),
    })
}

pub(super) fn binary_u32(op: B) -> Option<Narrow> {
    Some(match op {
        B::Add => |d, s| map2(d, s, u32::wrapping_add),
        B::Subtract => |d, s| map2(d, s, u32::wrapping_sub),
        B::Multiply => |d, s| map2(d, s, u32::wrapping_mul),
        B::Divide => |d, s| map2(d, s, |a: u32, b: u32| a.checked_div(b).unwrap_or(a)),
        B::Modulo => |d, s| map2(d, s, |a: u32, b: u32| a.checked_rem(b).unwrap_or(0)),
        B::Equal => |d, s| map2(d, s, |a: u32, b: u32| a == b),
        B::NotEqual => |d, s| map2(d, s, |a: u32, b: u32| a != b),
        B::Less => |d, s| map2(d, s, |a: u32, b: u32| a < b),
        B::LessEqual => |d, s| map2(d, s, |a: u32, b: u32| a <= b),
        B::Greater => |d, s| map2(d, s, |a: u32, b: u32| a > b),
        B::GreaterEqual => |d, s| map2(d, s, |a: u32, b: u32| a >= b),
        B::And => |d, s| map2(d, s, |a: u32, b: u32| a & b),
        B::ExclusiveOr => |d, s| map2(d, s, |a: u32, b: u32| a ^ b),
        B::InclusiveOr => |d, s| map2(d, s, |a: u32, b: u32| a | b),
        B::ShiftLeft => |d, s| map2(d, s, u32::wrapping_shl),
        B::ShiftRight => |d, s| map2(d, s, u32::wrapping_shr),
        B::LogicalAnd | B::LogicalOr => return None,
    })
}

pub(super) fn binary_bool(op: B) -> Option<Narrow> {
    binary_u32(match op {
        B::Equal | B::NotEqual | B::And | B::ExclusiveOr | B::InclusiveOr => op,
        B::LogicalAnd => B::And,
        B::LogicalOr => B::InclusiveOr,
        _ => return None,
    })
}
