//! `f32`: the operators.

use vyre_core::naga::BinaryOperator as B;

use super::Narrow;
use super::lane::map2;

pub(super) fn binary(op: B) -> Option<Narrow> {
    Some(match op {
        B::Add => |d, s| map2(d, s, |a: f32, b: f32| a + b),
        B::Subtract => |d, s| map2(d, s, |a: f32, b: f32| a - b),
        B::Multiply => |d, s| map2(d, s, |a: f32, b: f32| a * b),
        B::Divide => |d, s| map2(d, s, |a: f32, b: f32| a / b),
        // WGSL defines it so; Rust's own operator is exact.
        B::Modulo => |d, s| map2(d, s, |a: f32, b: f32| a - b * (a / b).trunc()),
        B::Equal => |d, s| map2(d, s, |a: f32, b: f32| a == b),
        B::NotEqual => |d, s| map2(d, s, |a: f32, b: f32| a != b),
        B::Less => |d, s| map2(d, s, |a: f32, b: f32| a < b),
        B::LessEqual => |d, s| map2(d, s, |a: f32, b: f32| a <= b),
        B::Greater => |d, s| map2(d, s, |a: f32, b: f32| a > b),
        B::GreaterEqual => |d, s| map2(d, s, |a: f32, b: f32| a >= b),
        _ => return None,
    })
}
