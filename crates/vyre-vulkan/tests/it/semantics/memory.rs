//! Workgroup, private and function memory is fresh for every workgroup of the grid.

use vyre_core::program::BufferRole::{InOut, Output};
use vyre_core::program::Program;

use super::UNTOUCHED;
use crate::harness::{declare, kernel, one_op, run};
use crate::support::open;

/// Workgroups of a grid: far more than run at once on a CPU, in two dimensions.
const GRID: [u32; 3] = [25, 4, 1];

/// Invocations of the whole grid, 64 in each workgroup.
const INVOCATIONS: usize = 100 * 64;

/// Each invocation first gathers what it finds in its share of `declarations` by `look`, then
/// dirties it by `dirty`. What others left there goes into `dirt`, so that no compiler drops it.
fn source(declarations: &str, local: &str, look: &str, dirty: &str) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> seen: array<u32>;
         @group(0) @binding(1) var<storage, read_write> dirt: array<u32>;
         {declarations}
         @compute @workgroup_size(8, 8)
         fn probe(
             @builtin(workgroup_id) workgroup: vec3u,
             @builtin(num_workgroups) grid: vec3u,
             @builtin(local_invocation_index) i: u32,
         ) {{
             {local}
             let at = 64u * (workgroup.y * grid.x + workgroup.x) + i;
             {{ let mine = i; seen[at] = {look}; }}
             workgroupBarrier();
             {dirty}
             workgroupBarrier();
             {{ let mine = (i + 1u) % 64u; dirt[at] = {look}; }}
         }}"
    )
}

/// Fails unless every invocation finds `fresh`, and then `dirty`, in two ops one after the other.
fn assert_fresh(source: &str, fresh: u32, dirty: u32) {
    let Some(backend) = open() else { return };
    let kernel = kernel(source);
    let mut builder = Program::builder("fresh memory");
    let buffers = ["first seen", "first dirt", "second seen", "second dirt"]
        .map(|name| declare(&mut builder, (name, InOut, INVOCATIONS)));
    for [seen, dirt] in [[buffers[0], buffers[1]], [buffers[2], buffers[3]]] {
        builder
            .op(&kernel, GRID)
            .bind("seen", seen)
            .bind("dirt", dirt);
    }
    let program = builder.build().unwrap();
    let untouched = vec![UNTOUCHED; INVOCATIONS];
    let outputs = run(&*backend, &program, &[&untouched[..]; 4]);
    for (output, expected) in outputs.iter().zip([fresh, dirty, fresh, dirty]) {
        let other = output.iter().position(|word| *word != expected);
        assert_eq!(other, None, "{:#x}", output[other.unwrap_or(0)]);
    }
}

#[test]
fn workgroup_arrays_are_zeros_for_every_workgroup() {
    assert_fresh(
        &source(
            "var<workgroup> words: array<u32, 1024>;
             fn all(mine: u32) -> u32 {
                 var found = 0u;
                 for (var k = 0u; k < 16u; k++) { found |= words[64u * k + mine]; }
                 return found;
             }",
            "",
            "all(mine)",
            "for (var k = 0u; k < 16u; k++) { words[64u * k + i] = 0xffu; }",
        ),
        0,
        0xff,
    );
}

#[test]
fn workgroup_atomics_are_zeros_for_every_workgroup() {
    assert_fresh(
        &source(
            "struct Counts { cells: array<atomic<u32>, 64>, total: atomic<i32> }
             var<workgroup> counts: Counts;",
            "",
            "atomicLoad(&counts.cells[mine]) + u32(atomicLoad(&counts.total))",
            "atomicAdd(&counts.cells[i], 5u); atomicAdd(&counts.total, 1);",
        ),
        0,
        5 + 64,
    );
}

#[test]
fn workgroup_structs_are_zeros_for_every_workgroup() {
    assert_fresh(
        &source(
            "struct Cell { flag: bool, lanes: vec3f, inner: array<vec2i, 2>, m: mat2x2f }
             var<workgroup> cells: array<Cell, 64>;
             fn sum(cell: Cell) -> u32 {
                 let floats = cell.lanes.x + cell.lanes.y + cell.lanes.z + cell.m[0].x + cell.m[1].y;
                 let integers = cell.inner[0].x + cell.inner[1].y;
                 return select(0u, 1u, cell.flag) + bitcast<u32>(floats) + u32(integers);
             }",
            "",
            "sum(cells[mine])",
            "cells[i] = Cell(true, vec3f(1.0), array(vec2i(2), vec2i(3)), mat2x2f(1.0, 0.0, 0.0, 1.0));",
        ),
        0,
        1 + 5.0_f32.to_bits() + 5,
    );
}

#[test]
fn private_memory_is_fresh_for_every_workgroup() {
    assert_fresh(
        &source(
            "var<private> zeros: array<u32, 16>;
             var<private> seven = 7u;
             fn all() -> u32 {
                 var found = seven;
                 for (var k = 0u; k < 16u; k++) { found += zeros[k]; }
                 return found;
             }",
            "",
            "all()",
            "for (var k = 0u; k < 16u; k++) { zeros[(k + i) % 16u] = 10u; } seven = 9u;",
        ),
        7,
        9 + 160,
    );
}

#[test]
fn function_memory_is_fresh_for_every_workgroup() {
    assert_fresh(
        &source(
            "fn all(zeros: ptr<function, array<u32, 16>>) -> u32 {
                 var found = 0u;
                 for (var k = 0u; k < 16u; k++) { found += (*zeros)[k]; }
                 return found;
             }",
            "var zeros: array<u32, 16>;",
            "all(&zeros)",
            "for (var k = 0u; k < 16u; k++) { zeros[(k + i) % 16u] = 10u; }",
        ),
        0,
        160,
    );
}

#[test]
fn variable_of_a_loop_is_zero_in_every_turn() {
    const KERNEL: &str = "
    @group(0) @binding(0) var<storage, read_write> y: array<u32>;
    fn count() -> u32 { var calls: u32; calls += 1u; return calls; }
    @compute @workgroup_size(4)
    fn turns(@builtin(local_invocation_index) i: u32) {
        var largest = 0u;
        for (var turn = 0u; turn < 10u; turn++) {
            var number: u32;
            var cells: array<u32, 4>;
            number += 1u;
            cells[(turn + i) % 4u] += 1u;
            largest = max(largest, number + cells[0] + cells[1] + cells[2] + cells[3] + count());
        }
        y[i] = largest;
    }";
    let Some(backend) = open() else { return };
    let program = one_op(KERNEL, [1, 1, 1], &[("y", Output, 4)]);
    assert_eq!(run(&*backend, &program, &[]), [[3; 4]]);
}
