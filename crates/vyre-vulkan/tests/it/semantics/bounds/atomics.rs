//! Atomic operations out of bounds do nothing and return zero.

use vyre_core::backend::VyreBackend;
use vyre_core::kernel::{Capability, Kernel};
use vyre_core::program::BufferRole::{InOut, Input};
use vyre_core::program::Program;

use super::{RANGE, UNTOUCHED, indices};
use crate::harness::{declare, run};
use crate::semantics::has;
use crate::support::open;

/// Elements of each array.
const LEN: u32 = 6;

/// Operations on the element `@`, each of which returns a number.
const OPERATIONS: [&str; 12] = [
    "atomicLoad(&@)",
    "atomicAdd(&@, 10)",
    "atomicSub(&@, 3)",
    "atomicMax(&@, 40)",
    "atomicMin(&@, 30)",
    "atomicAnd(&@, 27)",
    "atomicOr(&@, 5)",
    "atomicXor(&@, 63)",
    "atomicExchange(&@, 7)",
    "atomicCompareExchangeWeak(&@, 7, 9).old_value",
    "select(0u, 1u, atomicCompareExchangeWeak(&@, 9, 11).exchanged)",
    "select(0u, 1u, atomicCompareExchangeWeak(&@, 0, 1).exchanged)",
];

/// What the operations return for an element that holds `start`, and 11, which they leave in it.
fn results(start: u32) -> [u32; 12] {
    let added = start + 10;
    let largest = (added - 3).max(40);
    let smallest = largest.min(30);
    let and = smallest & 27;
    let or = and | 5;
    let xor = or ^ 63;
    [
        start,
        start,
        added,
        added - 3,
        largest,
        smallest,
        and,
        or,
        xor,
        7,
        1,
        0,
    ]
}

/// For each index, fills the array with `k + 1`, runs the operations and an `atomicStore`, and
/// looks at all elements.
fn kernel(module: &str, element: &str, number: &str) -> Kernel {
    let at = |index: &str| element.replace('_', index);
    let operations: String = OPERATIONS
        .iter()
        .map(|operation| {
            let operation = operation.replace('@', &at("index"));
            format!("seen[at] = u32({operation}); at += 1u;\n")
        })
        .collect();
    let source = format!(
        "@group(0) @binding(0) var<storage, read> indices: array<u32>;
         @group(0) @binding(1) var<storage, read_write> seen: array<u32>;
         {module}
         @compute @workgroup_size(1) fn probe() {{
             var at = 0u;
             for (var turn = 0u; turn < arrayLength(&indices); turn++) {{
                 let index = indices[turn];
                 for (var k = 0u; k < {LEN}u; k++) {{ atomicStore(&{}, {number}(k + 1u)); }}
                 {operations}
                 for (var k = 0u; k < {LEN}u; k++) {{
                     seen[at] = u32(atomicLoad(&{}));
                     at += 1u;
                 }}
                 atomicStore(&{}, 99);
                 for (var k = 0u; k < {LEN}u; k++) {{
                     seen[at] = u32(atomicLoad(&{}));
                     at += 1u;
                 }}
             }}
         }}",
        at("k"),
        at("k"),
        at("index"),
        at("k"),
    );
    Kernel::from_wgsl(&source.replace("NUMBER", number)).unwrap()
}

fn expected(indices: &[u32]) -> Vec<u32> {
    let mut seen = Vec::new();
    for &index in indices {
        let mut elements: Vec<u32> = (1..=LEN).collect();
        let index = index as usize;
        seen.extend(elements.get(index).map_or([0; 12], |start| results(*start)));
        for left in [11, 99] {
            if let Some(element) = elements.get_mut(index) {
                *element = left;
            }
            seen.extend(&elements);
        }
    }
    seen
}

/// Runs the kernel over an array of `element`; `place`, of `words` words, lies within a buffer.
fn assert_is_kept_to(
    backend: &dyn VyreBackend,
    (module, element, words): (&str, &str, usize),
    number: &str,
) {
    let indices = indices(LEN);
    let expected = expected(&indices);
    let mut builder = Program::builder("atomics");
    let index_buffer = declare(&mut builder, ("indices", Input, indices.len()));
    let seen = declare(&mut builder, ("seen", InOut, expected.len()));
    let data = declare(&mut builder, ("data", InOut, 3 * RANGE));
    let kernel = kernel(module, element, number);
    let mut op = builder.op(&kernel, [1, 1, 1]);
    op.bind("indices", index_buffer).bind("seen", seen);
    if words > 0 {
        op.bind("place", data.slice(4 * RANGE as u64, 4 * words as u64));
    }
    let program = builder.build().unwrap();
    let seen = vec![UNTOUCHED; expected.len()];
    let outputs = run(
        backend,
        &program,
        &[&indices, &seen, &[UNTOUCHED; 3 * RANGE]],
    );
    assert_eq!(outputs[0], expected, "{element} of {number}");
    let mut around = outputs[1].clone();
    around.drain(RANGE..RANGE + words);
    assert!(around.iter().all(|word| *word == UNTOUCHED), "{around:x?}");
}

fn assert_32_bits(module: &str, element: &str, words: usize) {
    let Some(backend) = open() else { return };
    for number in ["u32", "i32"] {
        assert_is_kept_to(&*backend, (module, element, words), number);
    }
}

#[test]
fn atomics_of_a_runtime_array_are_kept_to() {
    let module = "@group(0) @binding(2) var<storage, read_write> place: array<atomic<NUMBER>>;";
    assert_32_bits(module, "place[_]", LEN as usize);
}

#[test]
fn atomics_behind_other_members_are_kept_to() {
    let module = "
    struct Frame { before: vec4u, cells: array<atomic<NUMBER>> }
    @group(0) @binding(2) var<storage, read_write> place: Frame;";
    assert_32_bits(module, "place.cells[_]", 4 + LEN as usize);
}

#[test]
fn atomics_of_a_fixed_array_are_kept_to() {
    let module = "
    struct Frame { before: u32, cells: array<atomic<NUMBER>, 6>, after: array<u32, 2> }
    @group(0) @binding(2) var<storage, read_write> place: Frame;";
    assert_32_bits(module, "place.cells[_]", 3 + LEN as usize);
}

#[test]
fn atomics_in_rows_are_kept_to() {
    let module = "
    struct Row { before: u32, count: atomic<NUMBER> }
    @group(0) @binding(2) var<storage, read_write> place: array<Row>;";
    assert_32_bits(module, "place[_].count", 2 * LEN as usize);
}

#[test]
fn atomics_in_workgroup_memory_are_kept_to() {
    let module = "var<workgroup> cells: array<atomic<NUMBER>, 6>;";
    assert_32_bits(module, "cells[_]", 0);
}

#[test]
fn wide_atomics_are_kept_to() {
    let Some(backend) = open() else { return };
    if !has(&*backend, Capability::Int64Atomics) {
        return;
    }
    let module = "@group(0) @binding(2) var<storage, read_write> place: array<atomic<NUMBER>>;";
    for number in ["u64", "i64"] {
        let place = (module, "place[_]", 2 * LEN as usize);
        assert_is_kept_to(&*backend, place, number);
    }
}
