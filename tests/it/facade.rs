//! The whole way through the facade alone: kernel, program, backend, report.

use vyre_driver::backend::{OutputBuffers, TimedDispatchResult};
use vyre_driver::{DispatchConfig, Kernel, Program};

/// `sums[i] = x[i] + x[i + 1]` and then `products[i] = sums[i] * sums[i + 1]`, with zeros past the
/// end.
pub(crate) fn neighbours(count: u64) -> Program {
    let kernel = |operator: &str| {
        let source = format!(
            "@group(0) @binding(0) var<storage, read> x: array<u32>;
             @group(0) @binding(1) var<storage, read_write> y: array<u32>;
             @compute @workgroup_size(64)
             fn neighbours(@builtin(global_invocation_id) id: vec3u) {{
                 y[id.x] = x[id.x] {operator} x[id.x + 1];
             }}"
        );
        Kernel::from_wgsl(&source).unwrap()
    };
    let workgroups = u32::try_from(count.div_ceil(64)).unwrap();
    let mut builder = Program::builder("neighbours");
    let x = builder.input("x", 4 * count);
    let sums = builder.scratch("sums", 4 * count);
    let products = builder.output("products", 4 * count);
    for (operator, from, to) in [("+", x, sums), ("*", sums, products)] {
        builder
            .op(&kernel(operator), [workgroups, 1, 1])
            .bind("x", from)
            .bind("y", to);
    }
    builder.build().unwrap()
}

pub(crate) fn expected(x: &[u32]) -> Vec<u8> {
    let pairs = |x: &[u32], join: fn(u32, u32) -> u32| -> Vec<u32> {
        let next = x.iter().skip(1).chain([&0]);
        x.iter().zip(next).map(|(&a, &b)| join(a, b)).collect()
    };
    let products = pairs(&pairs(x, u32::wrapping_add), u32::wrapping_mul);
    products.into_iter().flat_map(u32::to_le_bytes).collect()
}

#[test]
fn dependent_ops_see_each_other_and_nothing_past_the_end() {
    let backend = vyre_driver::open().unwrap();
    for count in [1_u32, 63, 64, 65, 1000] {
        let x: Vec<u32> = (0..count)
            .map(|i| i.wrapping_mul(2_654_435_761) % 9973)
            .collect();
        let input: Vec<u8> = x.iter().copied().flat_map(u32::to_le_bytes).collect();
        let program = neighbours(count.into());
        let outputs = backend.dispatch(&program, &[&input], &DispatchConfig::default());
        assert_eq!(outputs.unwrap(), [expected(&x)], "{count} words");
    }
}

#[test]
fn parts_of_the_time_stay_within_the_whole() {
    let backend = vyre_driver::open().unwrap();
    let timed = backend.dispatch_timed(&neighbours(4), &[&[1; 16]], &DispatchConfig::default());
    let TimedDispatchResult {
        wall_ns,
        enqueue_ns,
        wait_ns,
        ..
    } = timed.unwrap();
    assert!(enqueue_ns.unwrap_or(0) + wait_ns.unwrap_or(0) <= wall_ns);
}

#[test]
fn retained_slot_keeps_its_allocation() {
    let backend = vyre_driver::open().unwrap();
    let program = neighbours(4);
    let mut outputs: OutputBuffers = vec![Vec::with_capacity(64), vec![1]];
    let slot = outputs[0].as_ptr();
    let config = DispatchConfig::default();
    let replaced = backend
        .dispatch_into(&program, &[&[0; 16]], &config, &mut outputs)
        .unwrap();
    assert_eq!((outputs.len(), outputs[0].as_ptr()), (1, slot));
    assert_eq!(replaced.bytes.copied_bytes, 16);
}
