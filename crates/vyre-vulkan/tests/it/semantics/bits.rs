//! Bit functions of 32-bit integers: ranges of bits are cut to what there is, zero has no first bit.

use super::evaluate;
use crate::support::open;

/// Offsets and counts of bits, and words to count in.
const WORDS: [u32; 12] = [
    0,
    1,
    5,
    16,
    31,
    32,
    33,
    0x7fff_ffff,
    0x8000_0000,
    0x8000_0001,
    0xffff_fffe,
    0xffff_ffff,
];

const BITS: u32 = 0x9abc_def1;

/// Computes `expression` of `a` and `b`, of type `number`, for every pair of [`WORDS`], and expects
/// `host`.
fn assert_pairs(number: &str, expression: &str, host: impl Fn(u32, u32) -> u32) {
    let Some(backend) = open() else { return };
    let source = format!(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
         @group(0) @binding(1) var<storage, read_write> y: array<{number}>;
         @compute @workgroup_size(12, 12)
         fn compute(@builtin(local_invocation_id) id: vec3u) {{
             let a = x[id.y];
             let b = x[id.x];
             y[id.y * 12u + id.x] = {expression};
         }}"
    );
    let results = evaluate(&*backend, &source, &WORDS, 144);
    let pairs = WORDS.iter().flat_map(|&a| WORDS.map(|b| (a, b)));
    for ((a, b), result) in pairs.zip(results) {
        assert_eq!(result, host(a, b), "{expression}: {a:#x}, {b:#x}");
    }
}

/// The offset of a range, and the mask of as many bits as the word has from there on.
fn range(offset: u32, count: u32) -> (u32, u64) {
    let offset = offset.min(32);
    (offset, (1 << count.min(32 - offset)) - 1)
}

#[test]
fn extracted_range_is_cut_to_the_word() {
    assert_pairs("u32", &format!("extractBits({BITS}u, a, b)"), |a, b| {
        let (offset, mask) = range(a, b);
        u32::try_from((u64::from(BITS) >> offset) & mask).unwrap()
    });
}

#[test]
fn signed_range_is_extended_from_its_last_bit() {
    let bits = format!("extractBits(bitcast<i32>({BITS}u), a, b)");
    assert_pairs("i32", &bits, |a, b| {
        let (offset, mask) = range(a, b);
        let unused = mask.leading_zeros();
        if unused == 64 {
            return 0;
        }
        let first_to_top = (u64::from(BITS) >> offset) << unused;
        let extended = first_to_top.cast_signed() >> unused;
        u32::try_from(extended.cast_unsigned() & 0xffff_ffff).unwrap()
    });
}

#[test]
fn inserted_range_is_cut_to_the_word() {
    let insert = format!("insertBits({BITS}u, 0x13579bdfu, a, b)");
    assert_pairs("u32", &insert, |a, b| {
        let (offset, mask) = range(a, b);
        let kept = u64::from(BITS) & !(mask << offset);
        u32::try_from(kept | ((0x1357_9bdf & mask) << offset)).unwrap()
    });
}

#[test]
fn bits_of_every_word_are_counted() {
    let counts = "countLeadingZeros(a) * 10000u + countTrailingZeros(a) * 100u + countOneBits(a)";
    assert_pairs("u32", counts, |a, _| {
        a.leading_zeros() * 10_000 + a.trailing_zeros() * 100 + a.count_ones()
    });
}

#[test]
fn zero_has_no_first_bit() {
    assert_pairs("u32", "firstLeadingBit(a)", |a, _| {
        a.checked_ilog2().unwrap_or(u32::MAX)
    });
    assert_pairs("u32", "firstTrailingBit(a)", |a, _| match a {
        0 => u32::MAX,
        _ => a.trailing_zeros(),
    });
}

#[test]
fn first_bit_of_a_signed_integer_is_the_first_unlike_its_sign() {
    assert_pairs("i32", "firstLeadingBit(bitcast<i32>(a))", |a, _| {
        let unlike_sign = if a >> 31 == 1 { !a } else { a };
        unlike_sign.checked_ilog2().unwrap_or(u32::MAX)
    });
}

#[test]
fn reversed_bits_come_in_the_other_order() {
    assert_pairs("u32", "reverseBits(a)", |a, _| a.reverse_bits());
}
