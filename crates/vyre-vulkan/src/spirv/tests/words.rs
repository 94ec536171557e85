//! What the words of the SPIR-V say. Numbers are those of the SPIR-V specification, section 3.

use naga::back::pipeline_constants;

use super::super::{SpirvError, generate};
use super::{POLYFILL, inspect, lowered, parse, words};

const ACCESSES: &str = include_str!("accesses.wgsl");
const NUMBERS: &str = include_str!("numbers.wgsl");

mod op {
    pub(super) const ENTRY_POINT: u16 = 15;
    pub(super) const CAPABILITY: u16 = 17;
    pub(super) const VARIABLE: u16 = 59;
    pub(super) const DECORATE: u16 = 71;
    pub(super) const CONVERT_F_TO_U: u16 = 109;
    pub(super) const CONVERT_F_TO_S: u16 = 110;
    pub(super) const IS_NAN: u16 = 156;
    pub(super) const LOGICAL_NOT: u16 = 168;
    pub(super) const F_ORD_EQUAL: u16 = 180;
    pub(super) const F_ORD_NOT_EQUAL: u16 = 182;
    pub(super) const ATOMIC_LOAD: u16 = 227;
    pub(super) const ATOMIC_STORE: u16 = 228;
}

/// The opcode and the operands of each instruction.
fn instructions(words: &[u32]) -> Vec<(u16, &[u32])> {
    let mut rest = &words[5..];
    let mut instructions = Vec::new();
    while let [first, ..] = rest {
        let (instruction, others) = rest.split_at((first >> 16) as usize);
        instructions.push(((first & 0xffff) as u16, &instruction[1..]));
        rest = others;
    }
    instructions
}

fn count(words: &[u32], opcode: u16) -> usize {
    instructions(words)
        .iter()
        .filter(|(op, _)| *op == opcode)
        .count()
}

/// The values of `decoration` in the order of their instructions.
fn decorations(words: &[u32], decoration: u32) -> Vec<u32> {
    instructions(words)
        .into_iter()
        .filter(|(op, operands)| *op == op::DECORATE && operands[1] == decoration)
        .map(|(_, operands)| operands.get(2).copied().unwrap_or_default())
        .collect()
}

fn capabilities(words: &[u32]) -> Vec<u32> {
    instructions(words)
        .into_iter()
        .filter(|(op, _)| *op == op::CAPABILITY)
        .map(|(_, operands)| operands[0])
        .collect()
}

#[test]
fn the_module_is_spirv_1_5() {
    let words = words(ACCESSES).unwrap();
    assert_eq!(words[0], 0x0723_0203);
    assert_eq!(words[1], 0x0001_0500);
}

#[test]
fn sets_and_bindings_are_the_sources() {
    let words = words(
        "@group(2) @binding(7) var<storage, read_write> first: array<u32>;
         @group(1) @binding(5) var<uniform> second: vec4<u32>;
         @compute @workgroup_size(1) fn main() { first[0] = second.x; }",
    )
    .unwrap();
    let (descriptor_set, binding) = (34, 33);
    assert_eq!(decorations(&words, descriptor_set), [2, 1]);
    assert_eq!(decorations(&words, binding), [7, 5]);
}

#[test]
fn only_the_wanted_entry_point_and_what_it_uses_is_there() {
    let (module, info) = parse(
        "@group(0) @binding(0) var<storage, read_write> used: array<u32>;
         @group(0) @binding(1) var<storage, read_write> unused: array<u64>;
         fn helper() { unused[0] = countOneBits(unused[1]); }
         @compute @workgroup_size(1) fn other() { helper(); }
         @compute @workgroup_size(1) fn main() { used[0] = 1u; }",
    );
    let words = generate(&module, &info, "main", POLYFILL).unwrap();
    assert_eq!(count(&words, op::ENTRY_POINT), 1);
    assert_eq!(count(&words, op::VARIABLE), 1);
    let shader = 1;
    assert_eq!(capabilities(&words), [shader]);
}

#[test]
fn an_absent_entry_point_is_named() {
    let (module, info) = parse("@compute @workgroup_size(1) fn main() {}");
    let error = generate(&module, &info, "absent", POLYFILL).unwrap_err();
    assert!(
        matches!(error, SpirvError::EntryPointNotFound { entry_point } if entry_point == "absent")
    );
}

#[test]
fn kernels_need_no_more_than_they_use() {
    let words = words(ACCESSES).unwrap();
    let shader = 1;
    assert_eq!(capabilities(&words), [shader]);
    let (non_uniform, no_signed_wrap) = (5300, 4469);
    assert!(decorations(&words, non_uniform).is_empty());
    assert!(decorations(&words, no_signed_wrap).is_empty());
}

#[test]
fn packing_and_packed_dot_products_need_no_feature() {
    let words = words(
        "@group(0) @binding(0) var<storage, read_write> data: array<u32>;
         @compute @workgroup_size(1) fn main() {
             data[0] = pack4xU8(unpack4xU8(data[1])) + dot4U8Packed(data[2], data[3]);
         }",
    )
    .unwrap();
    let shader = 1;
    assert_eq!(capabilities(&words), [shader]);
}

#[test]
fn half_floats_need_no_16_bit_inputs() {
    let words = words(
        "enable f16;
         @group(0) @binding(0) var<storage, read_write> data: array<f16>;
         @compute @workgroup_size(1) fn main() { data[0] = data[1] * 2.0h; }",
    )
    .unwrap();
    let storage_input_output_16 = 4436;
    assert!(!capabilities(&words).contains(&storage_input_output_16));
}

#[test]
fn atomic_loads_and_stores_stay_atomic_at_any_index() {
    let words = words(
        "@group(0) @binding(0) var<storage, read_write> data: array<atomic<u32>>;
         @compute @workgroup_size(1) fn main(@builtin(global_invocation_id) id: vec3<u32>) {
             atomicStore(&data[id.x], atomicLoad(&data[id.y]));
         }",
    )
    .unwrap();
    assert_eq!(count(&words, op::ATOMIC_LOAD), 1);
    assert_eq!(count(&words, op::ATOMIC_STORE), 1);
}

#[test]
fn shift_counts_are_masked() {
    let (module, info) = lowered(NUMBERS);
    for (function, _) in inspect::functions(&module, &info) {
        assert!(inspect::shift_counts_are_masked(function));
    }
}

#[test]
fn every_conversion_of_a_float_to_an_integer_looks_for_nan() {
    let words = words(NUMBERS).unwrap();
    let conversions = count(&words, op::CONVERT_F_TO_S) + count(&words, op::CONVERT_F_TO_U);
    assert_eq!(conversions, 4);
    assert_eq!(count(&words, op::IS_NAN), conversions);
}

#[test]
fn a_nan_differs_from_everything() {
    let words = words(
        "@group(0) @binding(0) var<storage, read_write> data: array<vec2<f32>>;
         @compute @workgroup_size(1) fn main() {
             if any(data[0] != data[1]) | (data[0].x != data[1].y) { data[2] = data[3]; }
         }",
    )
    .unwrap();
    assert_eq!(count(&words, op::F_ORD_NOT_EQUAL), 0);
    assert_eq!(count(&words, op::F_ORD_EQUAL), 2);
    assert_eq!(count(&words, op::LOGICAL_NOT), 2);
}

#[test]
fn arrays_sized_by_overrides_are_accepted() {
    let (module, info) = parse(
        "override size = 4u;
         var<workgroup> tile: array<u32, size>;
         @group(0) @binding(0) var<storage, read_write> data: array<u32>;
         @compute @workgroup_size(64) fn main(@builtin(local_invocation_index) lane: u32) {
             tile[lane] = lane;
             data[lane] = tile[lane + 1u];
         }",
    );
    let values = [("size".to_owned(), 16.0)].into_iter().collect();
    let (module, info) =
        pipeline_constants::process_overrides(&module, &info, None, &values).unwrap();
    generate(&module, &info, "main", POLYFILL).unwrap();
}
