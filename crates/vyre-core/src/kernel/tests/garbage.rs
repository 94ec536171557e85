//! Sources that no one would write.

use proptest::collection::vec;
use proptest::prelude::*;
use proptest::sample::select;

use super::build;
use crate::kernel::{Kernel, KernelError};

/// Pieces that a front end may stumble over, in any order.
const PIECES: &[&str] = &[
    "enable",
    "subgroups",
    "f16",
    ",",
    ";",
    "/*",
    "*/",
    "//",
    "\n",
    "requires",
    "override",
    "N",
    ":",
    "u32",
    "=",
    "0",
    "-1",
    "1e400",
    "0x",
    "var",
    "<",
    ">",
    "workgroup",
    "array",
    "(",
    ")",
    "{",
    "}",
    "@compute",
    "@workgroup_size",
    "fn",
    "main",
    "let",
    "&",
    "*",
    "[",
    "]",
    "_",
    "é",
    "\u{0}",
    "\u{2028}",
    "@group(0)",
    "@binding(0)",
    "storage",
    "if",
    "else",
    "loop",
    "switch",
    "workgroupBarrier()",
    ".",
];

proptest! {
    #![proptest_config(ProptestConfig::with_cases(200))]

    #[test]
    fn any_text_gives_an_error(source in "\\PC*") {
        prop_assert!(is_plain_error(&source));
    }

    #[test]
    fn any_pieces_give_an_error(pieces in vec(select(PIECES), 0..60)) {
        prop_assert!(is_plain_error(&pieces.join(" ")));
    }

    #[test]
    fn a_cut_source_gives_an_error(cut in 0..CUT.len()) {
        prop_assert!(is_plain_error(&CUT[..cut]));
    }
}

const CUT: &str = "enable f16, subgroups; @group(0) @binding(0) var<storage> a: array<u32>; \
    override N = 4; @compute @workgroup_size(N) fn main() { for (var i = 0; i < N; i++) { _ = a[i]; } }";

/// An error whose message can be made, and not one that tells of a panic.
fn is_plain_error(source: &str) -> bool {
    match Kernel::from_wgsl(source) {
        Ok(_) => false,
        Err(error) => {
            !error.to_string().is_empty() && !matches!(error, KernelError::CompilerPanic { .. })
        }
    }
}

#[test]
fn deep_expressions_do_not_overflow_the_stack() {
    let sources = [
        "!".repeat(20_000) + "true",
        "1".to_owned() + &"+data[0]".repeat(5_000),
    ];
    for expression in sources {
        assert!(build(&format!("let x = {expression};")).is_ok());
    }
}

#[test]
fn long_chains_of_declarations_do_not_overflow_the_stack() {
    let functions = (1..5_000)
        .rev()
        .map(|i| format!("fn f{i}() {{ f{}(); }}\n", i - 1));
    let source = functions.collect::<String>()
        + "fn f0() {} @compute @workgroup_size(1) fn main() { f4999(); }";
    assert!(Kernel::from_wgsl(&source).is_ok());
}

#[test]
fn unbalanced_nesting_is_an_error() {
    for piece in ["(", "{", "[", "/*", "array<", "if true {"] {
        assert!(build(&piece.repeat(10_000)).is_err(), "{piece}");
    }
}

#[test]
fn a_source_that_makes_naga_panic_gives_an_error() {
    // naga 30.0.2 takes it for granted that the value is a scalar.
    let error = build("const_assert vec4<f32>(1);").unwrap_err();
    assert!(
        matches!(error, KernelError::CompilerPanic { .. }),
        "{error}"
    );
}
