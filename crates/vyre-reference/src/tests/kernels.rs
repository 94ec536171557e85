//! The kernels that people bring: saxpy, BLAKE3.

use vyre_core::kernel::Kernel;

use super::run;

#[test]
fn saxpy_over_a_ragged_end() {
    let source = "
        @group(0) @binding(0) var<storage, read> x: array<f32>;
        @group(0) @binding(1) var<storage, read_write> y: array<f32>;
        @group(0) @binding(2) var<uniform> a: f32;
        @compute @workgroup_size(64)
        fn saxpy(@builtin(global_invocation_id) id: vec3u) {
            if id.x < arrayLength(&x) { y[id.x] += a * x[id.x]; }
        }";
    let x: Vec<u32> = (0..1000_u16).map(|i| f32::from(i).to_bits()).collect();
    let y = vec![1.0_f32.to_bits(); 1000];
    let a = [2.0_f32.to_bits()];
    let out = run(source, 16, &[("x", &x), ("y", &y), ("a", &a)]).remove(0);
    let expected = (0..1000_u16).map(|i| (2.0 * f32::from(i) + 1.0).to_bits());
    assert!(out.into_iter().eq(expected));
}

/// The hash of a chunk of at most 1024 bytes.
fn blake3(message: &[u8]) -> Vec<u32> {
    let source = concat!(
        include_str!("../../../vyre-driver/examples/blake3/compress.wgsl"),
        include_str!("../../../vyre-driver/examples/blake3/chunk.wgsl"),
    );
    let mut padded = message.to_vec();
    padded.resize(message.len().next_multiple_of(4).max(4), 0);
    let data: Vec<u32> = padded
        .chunks(4)
        .map(|word| u32::from_le_bytes(word.try_into().unwrap()))
        .collect();
    let piece = [u32::try_from(message.len()).unwrap(), 0, 0, 1];
    run(
        source,
        1,
        &[("data", &data), ("piece", &piece), ("nodes", &[0; 8])],
    )
    .remove(0)
}

/// From the test vectors in the BLAKE3 repository: bytes that count up modulo 251.
#[test]
fn blake3_of_one_chunk() {
    let message = |len: usize| -> Vec<u8> { (0..251).cycle().take(len).collect() };
    let digest = |len| -> String {
        let words = blake3(&message(len));
        let bytes = words.iter().flat_map(|word| word.to_le_bytes());
        bytes.map(|byte| format!("{byte:02x}")).collect()
    };
    assert_eq!(
        digest(0),
        "af1349b9f5f9a1a6a0404dea36dcc9499bcb25c9adc112b7cc9a93cae41f3262"
    );
    assert_eq!(
        digest(1),
        "2d3adedff11b61f14c886e35afa036736dcd87a74d27b5c1510225d0f592e213"
    );
    assert_eq!(
        digest(1024),
        "42214739f095a406f3fc83deb889744ac00df831c10daa55189b5d121c855af7"
    );
}

/// Kernels that the Vulkan backend is tested with, for their breadth.
#[test]
fn kernels_of_the_other_backend_compile() {
    for source in [
        include_str!("../../../vyre-vulkan/src/spirv/tests/accesses.wgsl"),
        include_str!("../../../vyre-vulkan/src/spirv/tests/numbers.wgsl"),
        include_str!("../../../vyre-vulkan/src/spirv/tests/random.wgsl"),
    ] {
        let kernel = Kernel::from_wgsl(source).unwrap_or_else(|error| panic!("{error}"));
        crate::compile::compile(&kernel).unwrap();
    }
}

#[test]
fn long_chain_of_functions_compiles() {
    let mut source = String::from("fn f0() -> u32 { return 1u; }\n");
    for index in 1..3000 {
        let before = index - 1;
        source += &format!("fn f{index}() -> u32 {{ return f{before}(); }}\n");
    }
    source += "@group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(1) fn main() { out[0] = f2999(); }";
    assert_eq!(run(&source, 1, &[("out", &[0])])[0], [1]);
}
