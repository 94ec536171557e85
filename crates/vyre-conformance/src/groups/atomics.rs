//! Atomic operations: none is lost, and each returns the value before it.

use vyre_core::kernel::Capability;

use crate::case::{Case, Fault, Group, Need, ensure};
use crate::context::{Context, same_words};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Atomics, name, run)
}

pub(super) const CASES: &[Case] = &[
    case(
        "each_operation_changes_and_returns_as_it_should",
        each_operation,
    ),
    case("no_operation_of_many_invocations_is_lost", none_is_lost),
    case("tickets_are_given_out_once", tickets_are_given_out_once),
    case(
        "compare_exchange_in_a_loop_loses_nothing",
        compare_exchange_loop,
    ),
    case("workgroup_atomics_lose_nothing", workgroup_atomics),
    case("operations_on_64_bits_lose_nothing", wide)
        .needing(&[Need::Capability(Capability::Int64Atomics)]),
];

fn each_operation(context: &Context) -> Result<(), Fault> {
    let source = "
        struct Both { word: atomic<u32>, integer: atomic<i32> }
        @group(0) @binding(0) var<storage, read_write> both: Both;
        @group(0) @binding(1) var<storage, read_write> results: array<u32>;
        @compute @workgroup_size(1) fn main() {
            results[0] = atomicAdd(&both.word, 5u);
            results[1] = atomicSub(&both.word, 7u);
            results[2] = atomicMax(&both.word, 3u);
            results[3] = atomicMin(&both.word, 12u);
            results[4] = atomicAnd(&both.word, 10u);
            results[5] = atomicOr(&both.word, 5u);
            results[6] = atomicXor(&both.word, 6u);
            results[7] = atomicExchange(&both.word, 100u);
            let kept = atomicCompareExchangeWeak(&both.word, 99u, 1u);
            results[8] = kept.old_value + select(1000u, 0u, kept.exchanged);
            results[9] = atomicLoad(&both.word);
            results[10] = bitcast<u32>(atomicAdd(&both.integer, -5));
            results[11] = bitcast<u32>(atomicMax(&both.integer, -9));
            results[12] = bitcast<u32>(atomicMin(&both.integer, 3));
            results[13] = bitcast<u32>(atomicSub(&both.integer, 2147483647));
            atomicStore(&both.integer, -1);
            results[14] = bitcast<u32>(atomicLoad(&both.integer));
        }";
    let got = context.run_kernel(source, [1, 1, 1], &[&[0, 1], &[0; 15]])?;
    let negative = |value: i32| value.cast_unsigned();
    let expected = [
        0,
        5,
        negative(-2),
        negative(-2),
        12,
        8,
        13,
        11,
        1100,
        100,
        1,
        negative(-4),
        negative(-4),
        negative(-4),
        negative(-1),
    ];
    same_words("values before each operation", &got[1], &expected)
}

fn none_is_lost(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> sums: array<atomic<u32>>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            atomicAdd(&sums[0], id.x);
            atomicMax(&sums[1], id.x * 3u);
            atomicMin(&sums[2], 100000u - id.x);
            atomicOr(&sums[3], 1u << (id.x % 32u));
            atomicXor(&sums[4], id.x);
            atomicAnd(&sums[5], ~(1u << (id.x % 31u)));
            atomicAdd(&sums[6 + id.x % 4u], 1u);
        }";
    let before = [0, 0, u32::MAX, 0, 0, u32::MAX, 0, 0, 0, 0];
    let got = context.run_kernel(source, [128, 1, 1], &[&before])?;
    let count = 128 * 64;
    let expected = [
        count * (count - 1) / 2,
        (count - 1) * 3,
        100_000 - (count - 1),
        u32::MAX,
        (0..count).fold(0, |sum, id| sum ^ id),
        0x8000_0000,
        count / 4,
        count / 4,
        count / 4,
        count / 4,
    ];
    same_words("sums", &got[0], &expected)
}

fn tickets_are_given_out_once(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> next: atomic<u32>;
        @group(0) @binding(1) var<storage, read_write> taken: array<u32>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            taken[id.x] = atomicAdd(&next, 1u);
        }";
    let got = context.run_kernel(source, [64, 1, 1], &[&[0], &[0; 4096]])?;
    let mut taken = got[1].clone();
    taken.sort_unstable();
    same_words("tickets in order", &taken, &(0..4096).collect::<Vec<_>>())
}

fn compare_exchange_loop(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> sum: atomic<u32>;
        @compute @workgroup_size(8) fn main(@builtin(global_invocation_id) id: vec3u) {
            var turns = 0u;
            loop {
                let old = atomicLoad(&sum);
                if atomicCompareExchangeWeak(&sum, old, old + id.x).exchanged || turns > 5000u { break; }
                turns++;
            }
        }";
    let got = context.run_kernel(source, [16, 1, 1], &[&[0]])?;
    same_words("the sum", &got[0], &[127 * 128 / 2])
}

fn workgroup_atomics(context: &Context) -> Result<(), Fault> {
    let source = "
        var<workgroup> count: atomic<u32>;
        var<workgroup> least: atomic<i32>;
        @group(0) @binding(0) var<storage, read_write> counts: array<u32>;
        @compute @workgroup_size(128)
        fn main(@builtin(workgroup_id) group: vec3u, @builtin(local_invocation_index) at: u32) {
            atomicAdd(&count, at + group.x);
            atomicMin(&least, -i32(at));
            workgroupBarrier();
            if at == 5u {
                counts[2 * group.x] = atomicLoad(&count);
                counts[2 * group.x + 1] = bitcast<u32>(atomicLoad(&least));
            }
        }";
    let got = context.run_kernel(source, [100, 1, 1], &[&[0; 200]])?;
    let each = |group: u32| [127 * 64 + 128 * group, (-127i32).cast_unsigned()];
    same_words(
        "counts",
        &got[0],
        &(0..100).flat_map(each).collect::<Vec<_>>(),
    )
}

fn wide(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> sums: array<atomic<u64>, 3>;
        @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {
            atomicAdd(&sums[0], u64(id.x) << 30u);
            atomicMax(&sums[1], u64(id.x) << 33u);
        }";
    let got = context.run_kernel(source, [4, 1, 1], &[&[0; 6]])?;
    let words: Vec<u64> = got[0]
        .as_chunks::<2>()
        .0
        .iter()
        .map(|[low, high]| u64::from(*low) | u64::from(*high) << 32)
        .collect();
    let expected = [(255 * 128) << 30, 255 << 33, 0];
    ensure!(words == expected, "sums are {words:x?}, not {expected:x?}");
    Ok(())
}
