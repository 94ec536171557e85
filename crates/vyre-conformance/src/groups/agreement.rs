//! Random kernels with control flow, compared with a second backend bit by bit.

use std::fmt::Write as _;

use vyre_core::backend::DispatchConfig;

use crate::case::{Case, Fault, Group, Need};
use crate::context::{Context, bytes, one_op, same_words, words};
use crate::random::Random;

pub(super) const CASES: &[Case] = &[Case::new(
    Group::Agreement,
    "integer_kernels_with_control_flow_agree",
    integer_kernels,
)
.needing(&[Need::Oracle])];

const ROWS: usize = 128;
/// Words of a row: input, and output.
const WORDS: u32 = 4;

fn integer_kernels(context: &Context) -> Result<(), Fault> {
    let Some(oracle) = &context.oracle else {
        return Ok(());
    };
    let mut random = context.random("agreement");
    for kernel in 0..context.kernels {
        let source = source(&mut random);
        let zeros = vec![0; ROWS * WORDS as usize];
        let given: Vec<u32> = (0..zeros.len()).map(|_| operand(&mut random)).collect();
        let program = one_op(&source, [2, 1, 1], &[&given, &zeros])?;
        let inputs = [bytes(&given), bytes(&zeros)];
        let inputs: Vec<&[u8]> = inputs.iter().map(Vec::as_slice).collect();
        let got = context.dispatch(&program, &inputs)?;
        let expected = oracle.dispatch(&program, &inputs, &DispatchConfig::default())?;
        let what = format!(
            "random kernel {kernel} against `{}`:\n{source}\n",
            oracle.id()
        );
        same_words(&what, &words(&got[1])?, &words(&expected[1])?)?;
    }
    Ok(())
}

fn operand(random: &mut Random) -> u32 {
    let specials = [0, 1, 2, 31, 32, 33, 0x7fff_ffff, 0x8000_0000, u32::MAX];
    match random.below(3) {
        0 => *random.pick(&specials),
        1 => random.word() % 16,
        _ => random.word(),
    }
}

fn source(random: &mut Random) -> String {
    let mut body = String::new();
    for _ in 0..6 {
        statement(random, &mut body, 3);
    }
    format!(
        "@group(0) @binding(0) var<storage, read_write> given: array<u32>;
@group(0) @binding(1) var<storage, read_write> results: array<u32>;
var<private> table: array<u32, 8>;
fn mixed(x: u32, y: u32) -> u32 {{
    if x > y {{ return x - y; }}
    table[y % 8u] += x;
    return x ^ (y >> 3u);
}}
@compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
    var a = given[4u * id.x];
    var b = given[4u * id.x + 1u];
    var c = bitcast<i32>(given[4u * id.x + 2u]);
    var d = given[4u * id.x + 3u];
{body}    results[4u * id.x] = a;
    results[4u * id.x + 1u] = b;
    results[4u * id.x + 2u] = bitcast<u32>(c);
    results[4u * id.x + 3u] = d + table[a % 8u];
}}
"
    )
}

/// Adds one statement, which holds others at most `depth` deep.
fn statement(random: &mut Random, body: &mut String, depth: usize) {
    let (choice, value) = (
        random.below(if depth == 0 { 4 } else { 8 }),
        value(random, 2),
    );
    let variable = *random.pick(&["a", "b", "d"]);
    let block = |random: &mut Random| {
        let mut inner = String::new();
        for _ in 0..=random.below(2) {
            statement(random, &mut inner, depth - 1);
        }
        inner
    };
    let text = match choice {
        0 | 1 => format!("{variable} = {value};"),
        2 => format!("c = c * 3 - bitcast<i32>({value});"),
        3 => format!("table[{variable}] = {value};"),
        4 => format!(
            "if {value} > {variable} {{\n{}}} else {{\n{}}}",
            block(random),
            block(random)
        ),
        5 => {
            // Each loop has a counter of its own, which nothing in it changes.
            let end = format!("if {value} == turn {{ break; }}");
            let skip = format!("if ({variable} & 3u) == (turn & 3u) {{ continue; }}");
            let inner = block(random);
            format!(
                "for (var turn = 0u; turn < {variable} % 5u; turn++) {{\n{end}\n{skip}\n{inner}}}"
            )
        }
        6 => format!(
            "switch {variable} % 4u {{\ncase 0u, 3u: {{\n{}}}\ncase 1u: {{\n{}}}\ndefault: {{ c = ~c; }}\n}}",
            block(random),
            block(random)
        ),
        _ => {
            let inner = block(random);
            format!(
                "{{\nvar turn = 0u;\nloop {{\nif turn >= 3u {{ break; }}\n{inner}continuing {{ turn++; break if ({variable} & 7u) == 7u; }}\n}}\n}}"
            )
        }
    };
    let _ = writeln!(body, "{text}");
}

/// A `u32` over the variables, at most `depth` operations deep.
fn value(random: &mut Random, depth: usize) -> String {
    if depth == 0 {
        let leaves = [
            "a",
            "b",
            "d",
            "bitcast<u32>(c)",
            "id.x",
            "7u",
            "0x80000001u",
            "table[a]",
        ];
        return (*random.pick(&leaves)).to_owned();
    }
    let (x, y) = (value(random, depth - 1), value(random, depth - 1));
    match random.below(8) {
        0 => format!("({x} + {y})"),
        1 => format!("({x} * ({y} | 1u))"),
        2 => format!("({x} / (id.x ^ {y}))"),
        3 => format!("mixed({x}, {y})"),
        4 => format!("select({x}, {y}, c < 0)"),
        5 => format!("(({x} ^ d) << ({y} ^ id.x))"),
        6 => format!("bitcast<u32>(c % (bitcast<i32>({x}) ^ i32(id.x)))"),
        _ => format!("min({x}, {y} - id.x)"),
    }
}
