//! Accesses out of bounds: reads give zero, writes are dropped, atomics do nothing and give zero.

use crate::case::{Case, Fault, Group};
use crate::context::{Context, bytes, same_words, words};
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Bounds, name, run)
}

pub(super) const CASES: &[Case] = &[
    case("reads_give_zero", reads_give_zero),
    case("writes_are_dropped", writes_are_dropped),
    case("atomics_do_nothing", atomics_do_nothing),
    case(
        "ranges_end_where_they_are_bound",
        ranges_end_where_they_are_bound,
    ),
    case(
        "each_nested_array_has_its_own_end",
        each_nested_array_has_its_own_end,
    ),
    case("lanes_of_vectors_have_an_end", lanes_of_vectors_have_an_end),
    case(
        "private_and_workgroup_arrays_have_an_end",
        private_and_workgroup_arrays_have_an_end,
    ),
    case(
        "arrays_after_a_header_have_an_end",
        arrays_after_a_header_have_an_end,
    ),
];

/// Just outside, and where byte offsets wrap in 32 bits: `0x40000001` times 4 is 4.
const FAR: [u32; 16] = [
    0,
    1,
    63,
    64,
    65,
    127,
    1000,
    0x00ff_ffff,
    0x3fff_ffff,
    0x4000_0000,
    0x4000_0001,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];

/// 64 words, none of them zero.
fn contents() -> Vec<u32> {
    (0..64).map(|index| 0x1000 + index).collect()
}

fn inside(index: u32, len: usize) -> Option<usize> {
    usize::try_from(index).ok().filter(|index| *index < len)
}

fn reads_give_zero(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<storage, read_write> indices: array<u32>;
        @group(0) @binding(2) var<storage, read_write> results: array<u32>;
        @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
            results[2 * id.x] = data[indices[id.x]];
            results[2 * id.x + 1] = data[bitcast<i32>(indices[id.x])];
        }";
    let got = context.run_kernel(source, [1, 1, 1], &[&contents(), &FAR, &[7; 32]])?;
    let expected = FAR.iter().flat_map(|&index| {
        let value = inside(index, 64).map_or(0, |index| contents()[index]);
        [value, value]
    });
    same_words("reads", &got[2], &expected.collect::<Vec<_>>())
}

fn writes_are_dropped(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<u32>;
        @group(0) @binding(1) var<storage, read_write> indices: array<u32>;
        @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
            data[indices[id.x]] = id.x;
        }";
    let mut expected = contents();
    for (value, &index) in (0..).zip(&FAR) {
        if let Some(index) = inside(index, 64) {
            expected[index] = value;
        }
    }
    let got = context.run_kernel(source, [1, 1, 1], &[&contents(), &FAR])?;
    same_words("the buffer written to", &got[0], &expected)?;
    same_words("the buffer of the indices", &got[1], &FAR)
}

fn atomics_do_nothing(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
        @group(0) @binding(1) var<storage, read_write> indices: array<u32>;
        @group(0) @binding(2) var<storage, read_write> results: array<u32>;
        @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3u) {
            for (var at = 0u; at < 16u; at++) {
                let index = indices[at];
                results[4 * at] = atomicAdd(&data[index], 5u);
                results[4 * at + 1] = atomicLoad(&data[index]);
                results[4 * at + 2] = atomicExchange(&data[index], 9u);
                results[4 * at + 3] = atomicCompareExchangeWeak(&data[index], 1u, 2u).old_value;
                atomicStore(&data[index], 3u);
                atomicMax(&data[index], 17u);
            }
        }";
    let (mut expected, mut results) = (contents(), Vec::new());
    for &index in &FAR {
        match inside(index, 64) {
            Some(index) => {
                let old = expected[index];
                results.extend_from_slice(&[old, old + 5, old + 5, 9]);
                expected[index] = 17;
            }
            None => results.extend_from_slice(&[0; 4]),
        }
    }
    let got = context.run_kernel(source, [1, 1, 1], &[&contents(), &FAR, &[7; 64]])?;
    same_words("the results of atomics", &got[2], &results)?;
    same_words("the buffer of the atomics", &got[0], &expected)
}

fn ranges_end_where_they_are_bound(context: &Context) -> Result<(), Fault> {
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> part: array<u32>;
         @group(0) @binding(1) var<storage, read_write> results: array<u32>;
         @compute @workgroup_size(1) fn main() {
             results[0] = arrayLength(&part);
             for (var index = 60u; index < 70u; index++) {
                 results[1 + index - 60u] = part[index];
                 part[index] = 0u;
             }
             results[11] = part[arrayLength(&part) - 66u];
             part[arrayLength(&part) - 129u] = 1u;
         }",
    )?;
    let mut builder = Program::builder("ranges");
    let whole = builder.in_out("whole", 1024);
    let results = builder.output("results", 48);
    let mut op = builder.op(&kernel, [1, 1, 1]);
    op.bind("part", whole.slice(256, 260))
        .bind("results", results);
    let program = builder.build()?;
    let input: Vec<u32> = (0..256).map(|index| 0x100 + index).collect();
    let outputs = context.dispatch(&program, &[&bytes(&input)])?;
    let mut expected = input;
    expected[64 + 60..64 + 65].fill(0);
    same_words(
        "the buffer around the range",
        &words(&outputs[0])?,
        &expected,
    )?;
    let read: Vec<u32> = (0x100 + 124..0x100 + 129).collect();
    let results = [&[65][..], &read, &[0; 6]].concat();
    same_words(
        "the range's length and what is read",
        &words(&outputs[1])?,
        &results,
    )
}

fn each_nested_array_has_its_own_end(context: &Context) -> Result<(), Fault> {
    let source = "
        struct Row { first: array<u32, 4>, second: array<u32, 4> }
        @group(0) @binding(0) var<storage, read_write> rows: array<Row, 8>;
        @group(0) @binding(1) var<storage, read_write> indices: array<u32>;
        @group(0) @binding(2) var<storage, read_write> results: array<u32>;
        @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
            let index = indices[id.x];
            results[4 * id.x] = rows[1].first[index];
            results[4 * id.x + 1] = rows[index].second[1];
            results[4 * id.x + 2] = rows[index].first[index];
            results[4 * id.x + 3] = rows[index].second[min(index, 3u)];
            if index >= 4u { rows[2].first[index] = 99u; }
            if index >= 8u { rows[index].first[1] = 98u; }
        }";
    let mut indices = FAR;
    indices[..8].copy_from_slice(&[0, 1, 3, 4, 5, 7, 8, 9]);
    let got = context.run_kernel(source, [1, 1, 1], &[&contents(), &indices, &[7; 64]])?;
    let word = |row: u32, array: usize, index: u32| match (inside(row, 8), inside(index, 4)) {
        (Some(row), Some(index)) => contents()[8 * row + 4 * array + index],
        _ => 0,
    };
    let expected = indices.iter().flat_map(|&index| {
        [
            word(1, 0, index),
            word(index, 1, 1),
            word(index, 0, index),
            word(index, 1, index.min(3)),
        ]
    });
    same_words("reads", &got[2], &expected.collect::<Vec<_>>())?;
    same_words("the rows", &got[0], &contents())
}

fn lanes_of_vectors_have_an_end(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> data: array<vec4<u32>>;
        @group(0) @binding(1) var<storage, read_write> indices: array<u32>;
        @group(0) @binding(2) var<storage, read_write> results: array<u32>;
        @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
            let index = indices[id.x];
            results[id.x] = data[1][index];
            if index >= 4u { data[2][index] = 99u; }
        }";
    let got = context.run_kernel(source, [1, 1, 1], &[&contents(), &FAR, &[7; 16]])?;
    let expected = FAR
        .iter()
        .map(|&index| inside(index, 4).map_or(0, |lane| contents()[4 + lane]));
    same_words("lanes read", &got[2], &expected.collect::<Vec<_>>())?;
    same_words("the vectors", &got[0], &contents())
}

fn private_and_workgroup_arrays_have_an_end(context: &Context) -> Result<(), Fault> {
    let source = "
        var<private> mine: array<u32, 8>;
        var<workgroup> ours: array<u32, 8>;
        @group(0) @binding(0) var<storage, read_write> indices: array<u32>;
        @group(0) @binding(1) var<storage, read_write> results: array<u32>;
        @compute @workgroup_size(1) fn main() {
            var local: array<u32, 8>;
            for (var at = 0u; at < 8u; at++) { mine[at] = at + 1; ours[at] = at + 11; local[at] = at + 21; }
            for (var at = 0u; at < 16u; at++) {
                let index = indices[at];
                if index >= 8u { mine[index] = 99u; ours[index] = 98u; local[index] = 97u; }
                results[3 * at] = mine[index];
                results[3 * at + 1] = ours[index];
                results[3 * at + 2] = local[index];
            }
            for (var at = 0u; at < 8u; at++) { results[48 + at] = mine[at] + ours[at] + local[at]; }
        }";
    let got = context.run_kernel(source, [1, 1, 1], &[&FAR, &[7; 56]])?;
    let read = FAR.iter().flat_map(|&index| match index {
        0..8 => [index + 1, index + 11, index + 21],
        _ => [0; 3],
    });
    let sums = (0..8).map(|at| 3 * at + 33);
    same_words("arrays", &got[1], &read.chain(sums).collect::<Vec<_>>())
}

fn arrays_after_a_header_have_an_end(context: &Context) -> Result<(), Fault> {
    let source = "
        struct Table { header: vec4<u32>, rows: array<vec2<u32>> }
        @group(0) @binding(0) var<storage, read_write> table: Table;
        @group(0) @binding(1) var<storage, read_write> indices: array<u32>;
        @group(0) @binding(2) var<storage, read_write> results: array<u32>;
        @compute @workgroup_size(16) fn main(@builtin(global_invocation_id) id: vec3u) {
            let index = indices[id.x];
            results[2 * id.x] = table.rows[index].y;
            results[2 * id.x + 1] = arrayLength(&table.rows);
            if index >= 30u { table.rows[index] = vec2(99u); }
        }";
    let got = context.run_kernel(source, [1, 1, 1], &[&contents(), &FAR, &[7; 32]])?;
    let expected = FAR.iter().flat_map(|&index| {
        let value = inside(index, 30).map_or(0, |row| contents()[4 + 2 * row + 1]);
        [value, 30]
    });
    same_words("rows", &got[2], &expected.collect::<Vec<_>>())?;
    same_words("the table", &got[0], &contents())
}
