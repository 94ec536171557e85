//! Random small kernels: SPIR-V comes out, and each of their accesses is guarded.

use proptest::prelude::*;

use super::super::generate;
use super::{POLYFILL, inspect, lowered, parse};

/// Variables of every kind that can be indexed.
const FRAME: &str = include_str!("random.wgsl");

/// `pattern` with each `_` replaced by the next of `parts`.
fn fill(pattern: &str, parts: &[String]) -> String {
    let mut parts = parts.iter();
    pattern
        .chars()
        .map(|character| match (character, parts.len()) {
            ('_', 1..) => parts.next().cloned().unwrap_or_default(),
            _ => character.to_string(),
        })
        .collect()
}

/// One of `patterns`, filled with what `part` makes.
fn one_of(
    patterns: &'static [&'static str],
    part: impl Strategy<Value = String>,
) -> impl Strategy<Value = String> {
    let parts = prop::collection::vec(part, 4);
    (prop::sample::select(patterns), parts).prop_map(|(pattern, parts)| fill(pattern, &parts))
}

fn index() -> impl Strategy<Value = String> {
    let leaf = prop::sample::select(&["0", "2u", "id.x", "i32(id.y)", "turn", "signed"][..]);
    leaf.prop_map(str::to_owned)
        .prop_recursive(2, 4, 2, |inner| {
            one_of(
                &[
                    "(id.z + u32(_))",
                    "(i32(_) << id.x)",
                    "plain[_]",
                    "u32(lanes[_])",
                ],
                inner,
            )
        })
}

fn place() -> impl Strategy<Value = String> {
    one_of(
        &[
            "plain[_]",
            "rows[_].cells[_]",
            "rows[_].lanes[_]",
            "tile[_][_]",
            "seen[_]",
            "values[_]",
            "lanes[_]",
        ],
        index(),
    )
}

fn atomic() -> impl Strategy<Value = String> {
    let places = &[
        "counters[_]",
        "mixed.fixed[_]",
        "mixed.runtime[_]",
        "bins[_]",
    ];
    one_of(places, index())
}

fn value() -> impl Strategy<Value = String> {
    let read = one_of(
        &["PRIMES[_]", "id[_]", "rows[_].cells[1]", "table[_][_]"],
        index(),
    );
    let load = one_of(&["atomicLoad(&_)"], atomic());
    prop_oneof![read, load, place()].prop_recursive(2, 6, 2, |inner| {
        let operation = one_of(
            &[
                "(_ + _)", "(_ * _)", "(_ / _)", "(_ % _)", "(_ << _)", "(_ >> _)",
            ],
            inner.clone(),
        );
        let names = &["Add", "Sub", "Max", "Min", "And", "Or", "Xor", "Exchange"][..];
        let update = (prop::sample::select(names), atomic(), inner)
            .prop_map(|(name, place, value)| format!("atomic{name}(&{place}, {value})"));
        prop_oneof![operation, update]
    })
}

fn statement() -> impl Strategy<Value = String> {
    let store = (
        place(),
        prop::sample::select(&["=", "+=", "<<=", "%="][..]),
        value(),
    )
        .prop_map(|(place, assign, value)| format!("{place} {assign} {value};"));
    let update = (atomic(), value(), value()).prop_map(|(place, value, other)| {
        format!(
            "{{ atomicStore(&{place}, {value}); atomicAdd(&{place}, {other});
             let old = atomicCompareExchangeWeak(&{place}, {value}, {other});
             if old.exchanged {{ plain[old.old_value] = 1u; }} }}"
        )
    });
    let whole = one_of(
        &[
            "rows[_] = rows[_];",
            "values = pick(&values, i32(_));",
            "lanes = rows[_].lanes;",
        ],
        index(),
    );
    prop_oneof![store, update, whole].prop_recursive(2, 8, 3, |inner| {
        let nested = one_of(
            &[
                "if turn > id.x { _ } else { _ }",
                "for (var turn = 0u; turn < id.y; turn++) { _ }",
                "loop { _ if turn > id.x { break; } continuing { turn += 1u; } }",
                "switch signed { case 1: { _ } default: { _ } }",
            ],
            inner,
        );
        (nested, value()).prop_map(|(nested, value)| format!("{nested} plain[1] = {value};"))
    })
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(128))]

    #[test]
    fn every_kernel_is_generated_and_guarded(statements in prop::collection::vec(statement(), 1..4)) {
        let source = FRAME.replace("_ = 0;", &statements.join("\n"));
        let (module, info) = parse(&source);
        let spirv = generate(&module, &info, "main", POLYFILL);
        prop_assert!(spirv.is_ok(), "{spirv:?}\n{source}");
        let (module, info) = lowered(&source);
        inspect::guarded(&module, &info);
        for (function, _) in inspect::functions(&module, &info) {
            prop_assert!(inspect::shift_counts_are_masked(function), "{source}");
        }
    }
}
