//! Every operation over every pair of special values, and figures written down by hand.

use vyre_core::kernel::Capability;

use crate::case::{Case, Fault, Faults, Group, Need};
use crate::context::{Context, same_words};
use crate::expr::check::check;
use crate::expr::op::{Op, Shape};
use crate::expr::tree::{Expr, Generator, Kind, Node, ops};
use crate::expr::ty::{Scalar, Ty, Value};
use crate::random::Random;
use Scalar::{Bool, F16, F32, I32, I64, U32, U64};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Semantics, name, run)
}

const INT64: &[Need] = &[Need::Capability(Capability::Int64)];
const FLOAT16: &[Need] = &[Need::Capability(Capability::Float16)];

pub(super) const CASES: &[Case] = &[
    case("integers_as_written_down", integers_as_written_down),
    case("floats_as_written_down", floats_as_written_down),
    case("operations_of_u32", |context| operations(context, U32)),
    case("operations_of_i32", |context| operations(context, I32)),
    case("operations_of_bool", |context| operations(context, Bool)),
    case("operations_of_f32", |context| operations(context, F32)),
    case("operations_of_u64", |context| operations(context, U64)).needing(INT64),
    case("operations_of_i64", |context| operations(context, I64)).needing(INT64),
    case("operations_of_f16", |context| operations(context, F16)).needing(FLOAT16),
];

/// Rows hold the pairs of special values, and again with other third operands.
const ROWS: usize = 640;
const PER_KERNEL: usize = 12;

/// Runs everything that has `scalar` as its result, or compares it, on scalars and vectors.
fn operations(context: &Context, scalar: Scalar) -> Result<(), Fault> {
    let mut random = context.random(scalar.name());
    let mut exprs = Vec::new();
    for op in ops() {
        for lanes in [1, 3] {
            if let Some(expr) = alone(context, op, scalar, lanes, &mut random) {
                exprs.push(expr);
            }
        }
    }
    let mut faults = Faults::default();
    for exprs in exprs.chunks(PER_KERNEL) {
        if !faults.is_full() {
            faults.add(check(&context.backend, exprs, ROWS));
        }
    }
    faults.into_result()
}

/// `op` over values from the inputs, if it has a form for `scalar` and `lanes`.
fn alone(
    context: &Context,
    op: &'static Op,
    scalar: Scalar,
    lanes: usize,
    random: &mut Random,
) -> Option<Expr> {
    let result = match op.shape {
        Shape::Compare if op.on.contains(&scalar) => Ty::new(Bool, lanes),
        Shape::Compare => return None,
        Shape::Fixed(_, result) if lanes == 1 && result.scalar == scalar => result,
        Shape::Fold(_) | Shape::Reduce if lanes > 1 => Ty::one(scalar),
        Shape::Fold(_) | Shape::Reduce => return None,
        _ => Ty::new(scalar, lanes),
    };
    if !op.gives(result) {
        return None;
    }
    let operands = op.operands(result, scalar, lanes);
    let mut types = operands.iter().filter_map(|ty| ty.scalar.capability());
    if !types.all(|capability| context.has(capability)) {
        return None;
    }
    let mut nodes: Vec<Node> = Vec::new();
    for (place, ty) in operands.iter().enumerate() {
        let values = specials(*ty, place, random);
        nodes.push(Node {
            ty: *ty,
            kind: Kind::Leaf(values),
        });
    }
    let places = (0..operands.len()).collect();
    nodes.push(Node {
        ty: result,
        kind: Kind::Apply(op, places),
    });
    Some(Expr { nodes })
}

/// The values of operand `place`: all pairs between the first two, random from there on.
fn specials(ty: Ty, place: usize, random: &mut Random) -> Vec<Value> {
    let specials = ty.scalar.specials();
    let count = specials.len();
    let mut generator = Generator {
        scalars: &[],
        rows: ROWS,
        random,
    };
    let row = |row: usize| {
        let mut value = generator.value(ty);
        if row < count * count {
            let index = [row % count, row / count];
            for (lane, bits) in value[..ty.lanes].iter_mut().enumerate() {
                match place {
                    0 | 1 => *bits = specials[(index[place] + lane) % count],
                    _ => {}
                }
            }
        }
        value
    };
    (0..ROWS).map(row).collect()
}

/// One line of a table: an expression over `a`, `b`, `c`, their values, and what comes out.
type Line = (&'static str, [u32; 3], u32);

const fn bits(value: i32) -> u32 {
    value.cast_unsigned()
}

const MIN: u32 = 0x8000_0000;

/// Taken from the WGSL specification by hand; `i` reads a word as `i32`.
const INTEGERS: &[Line] = &[
    ("a / b", [7, 0, 0], 7),
    ("a % b", [7, 0, 0], 0),
    ("u(i(a) / i(b))", [MIN, bits(-1), 0], MIN),
    ("u(i(a) % i(b))", [MIN, bits(-1), 0], 0),
    ("u(i(a) / i(b))", [bits(-7), 0, 0], bits(-7)),
    ("u(i(a) / i(b))", [bits(-7), 2, 0], bits(-3)),
    ("u(i(a) % i(b))", [bits(-7), 2, 0], bits(-1)),
    ("u(i(a) % i(b))", [7, bits(-2), 0], 1),
    ("u(-i(a))", [MIN, 0, 0], MIN),
    ("u(abs(i(a)))", [MIN, 0, 0], MIN),
    ("a + b", [u32::MAX, 1, 0], 0),
    ("a - b", [0, 1, 0], u32::MAX),
    ("a * b", [0x1_0001, 0x1_0001, 0], 0x2_0001),
    ("u(i(a) + i(b))", [0x7fff_ffff, 1, 0], MIN),
    ("a << b", [1, 32, 0], 1),
    ("a << b", [1, 33, 0], 2),
    ("a >> b", [MIN, 63, 0], 1),
    ("u(i(a) >> b)", [MIN, 31, 0], u32::MAX),
    ("u(i(a) >> b)", [MIN, 32, 0], MIN),
    ("u(i(a) << b)", [bits(-1), 31, 0], MIN),
    ("countLeadingZeros(a)", [0, 0, 0], 32),
    ("countTrailingZeros(a)", [0, 0, 0], 32),
    ("firstLeadingBit(a)", [0, 0, 0], u32::MAX),
    ("u(firstLeadingBit(i(a)))", [bits(-1), 0, 0], u32::MAX),
    ("u(firstLeadingBit(i(a)))", [bits(-2), 0, 0], 0),
    ("u(firstLeadingBit(i(a)))", [MIN, 0, 0], 30),
    ("firstTrailingBit(a)", [0, 0, 0], u32::MAX),
    ("extractBits(a, b, c)", [0xdead_beef, 8, 16], 0xadbe),
    ("extractBits(a, b, c)", [0xdead_beef, 24, 16], 0xde),
    ("extractBits(a, b, c)", [0xdead_beef, 32, 4], 0),
    ("extractBits(a, b, c)", [0xdead_beef, 0, 32], 0xdead_beef),
    ("extractBits(a, b, c)", [0xdead_beef, 40, 40], 0),
    ("u(extractBits(i(a), b, c))", [0x80, 4, 4], bits(-8)),
    ("u(extractBits(i(a), b, c))", [0x80, 4, 0], 0),
    ("insertBits(a, 5u, b, c)", [u32::MAX, 4, 4], 0xffff_ff5f),
    ("insertBits(a, 5u, b, c)", [9, 0, 32], 5),
    ("insertBits(a, 5u, b, c)", [9, 31, 8], 0x8000_0009),
    ("insertBits(a, 5u, b, c)", [9, 32, 8], 9),
    ("clamp(a, b, c)", [5, 10, 3], 3),
    ("u(clamp(i(a), i(b), i(c)))", [5, 10, bits(-3)], bits(-3)),
    ("reverseBits(a)", [1, 0, 0], MIN),
    ("u(dot(vec2(i(a)), vec2(i(b))))", [MIN, 3, 0], 0),
    ("select(a, b, c != 0u)", [1, 2, 3], 2),
    ("select(0u, 1u, bool(a))", [MIN, 0, 0], 1),
];

const ONE: u32 = 0x3f80_0000;
const NAN: u32 = 0x7fc0_0000;
const INFINITY: u32 = 0x7f80_0000;

/// What vyre promises of floats beyond the accuracy table; `f` reads a word as `f32`.
const FLOATS: &[Line] = &[
    ("select(0u, 1u, f(a) != f(a))", [NAN, 0, 0], 1),
    ("select(0u, 1u, f(a) == f(a))", [NAN, 0, 0], 0),
    ("select(0u, 1u, f(a) < f(b))", [NAN, ONE, 0], 0),
    ("select(0u, 1u, f(a) >= f(b))", [NAN, ONE, 0], 0),
    ("u32(f(a))", [NAN, 0, 0], 0),
    ("u(i32(f(a)))", [NAN, 0, 0], 0),
    ("u32(f(a))", [INFINITY, 0, 0], 0xffff_ff00),
    ("u32(f(a))", [0xbf80_0000, 0, 0], 0),
    ("u(i32(f(a)))", [INFINITY, 0, 0], 0x7fff_ff80),
    ("u(i32(f(a)))", [0xff80_0000, 0, 0], MIN),
    ("u(i32(f(a)))", [0x4f00_0000, 0, 0], 0x7fff_ff80),
    ("u(i32(f(a)))", [0xbfff_ffff, 0, 0], bits(-1)),
    ("bitcast<u32>(round(f(a)))", [0x3f00_0000, 0, 0], 0),
    (
        "bitcast<u32>(round(f(a)))",
        [0x3fc0_0000, 0, 0],
        0x4000_0000,
    ),
    (
        "bitcast<u32>(round(f(a)))",
        [0x4020_0000, 0, 0],
        0x4000_0000,
    ),
    ("bitcast<u32>(f32(a))", [0x0100_0000, 0, 0], 0x4b80_0000),
    (
        "bitcast<u32>(fract(f(a)))",
        [0xbf40_0000, 0, 0],
        0x3e80_0000,
    ),
    (
        "bitcast<u32>(modf(f(a)).fract)",
        [0xbfc0_0000, 0, 0],
        0xbf00_0000,
    ),
    (
        "bitcast<u32>(modf(f(a)).whole)",
        [0xbfc0_0000, 0, 0],
        0xbf80_0000,
    ),
    (
        "bitcast<u32>(frexp(f(a)).fract)",
        [0x40c0_0000, 0, 0],
        0x3f40_0000,
    ),
    ("u(frexp(f(a)).exp)", [0x40c0_0000, 0, 0], 3),
    ("u(frexp(f(a)).exp)", [0, 0, 0], 0),
    ("bitcast<u32>(f(a) + f(b))", [ONE, ONE, 0], 0x4000_0000),
    (
        "bitcast<u32>(f(a) * f(b))",
        [0x4040_0000, 0x40a0_0000, 0],
        0x4170_0000,
    ),
    (
        "bitcast<u32>(f(a) - f(b))",
        [0x4b80_0000, ONE, 0],
        0x4b7f_ffff,
    ),
    (
        "bitcast<u32>(transpose(mat2x3(f(a), 0, f(b), 0, 0, f(c)))[2].y)",
        [ONE, ONE, NAN - 1],
        NAN - 1,
    ),
    (
        "bitcast<u32>(determinant(mat2x2(f(a), f(b), f(c), f(a))))",
        [0x4000_0000, ONE, 0x4040_0000],
        ONE,
    ),
    (
        "bitcast<u32>((mat2x2(f(a), f(b), f(c), f(a)) * vec2(f(b), f(c))).y)",
        [0x4000_0000, ONE, 0x4040_0000],
        0x40e0_0000,
    ),
];

fn integers_as_written_down(context: &Context) -> Result<(), Fault> {
    table(context, INTEGERS)
}

fn floats_as_written_down(context: &Context) -> Result<(), Fault> {
    table(context, FLOATS)
}

/// Evaluates every line in one kernel, whose operands come from a buffer.
fn table(context: &Context, lines: &[Line]) -> Result<(), Fault> {
    use std::fmt::Write as _;
    let mut body = String::new();
    let (mut given, mut expected) = (Vec::new(), Vec::new());
    for (index, (expression, operands, result)) in lines.iter().enumerate() {
        let load = |operand: usize| format!("given[{}]", 3 * index + operand);
        let _ = writeln!(
            body,
            "    {{ let a = {}; let b = {}; let c = {}; results[{index}] = {expression}; }}",
            load(0),
            load(1),
            load(2)
        );
        given.extend_from_slice(operands);
        expected.push(*result);
    }
    let source = format!(
        "@group(0) @binding(0) var<storage, read_write> given: array<u32>;\n\
         @group(0) @binding(1) var<storage, read_write> results: array<u32>;\n\
         fn i(word: u32) -> i32 {{ return bitcast<i32>(word); }}\n\
         fn u(integer: i32) -> u32 {{ return bitcast<u32>(integer); }}\n\
         fn f(word: u32) -> f32 {{ return bitcast<f32>(word); }}\n\
         @compute @workgroup_size(1)\nfn table() {{\n{body}}}\n"
    );
    let zeros = vec![0; lines.len()];
    let got = context.run_kernel(&source, [1, 1, 1], &[&given, &zeros])?;
    let results = got[1].iter().zip(lines);
    for (&got, (expression, operands, result)) in results {
        same_words(
            &format!("{expression} over {operands:x?}"),
            &[got],
            &[*result],
        )?;
    }
    Ok(())
}
