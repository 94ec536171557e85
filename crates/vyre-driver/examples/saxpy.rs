//! y = a·x + y over 4096 numbers, on the best device of this machine.

#![expect(clippy::print_stdout, reason = "an example prints what it found")]

use vyre_driver::{BackendError, DispatchConfig, Kernel, Program};

const SAXPY: &str = "
    @group(0) @binding(0) var<storage, read> x: array<f32>;
    @group(0) @binding(1) var<storage, read_write> y: array<f32>;
    @compute @workgroup_size(64)
    fn saxpy(@builtin(global_invocation_id) id: vec3u) { y[id.x] += 2.0 * x[id.x]; }";

fn main() -> Result<(), BackendError> {
    let kernel = Kernel::from_wgsl(SAXPY)?;
    let mut builder = Program::builder("saxpy");
    let x = builder.input("x", 4 * 4096);
    let y = builder.in_out("y", 4 * 4096);
    let mut op = builder.op(&kernel, [4096 / 64, 1, 1]);
    op.bind("x", x).bind("y", y);
    let program = builder.build()?;

    let [x, y] = [3.0f32, 1.0].map(|value| value.to_le_bytes().repeat(4096));
    let (config, mut outputs) = (DispatchConfig::default(), Vec::new());
    let backend = vyre_driver::open()?;
    let report = backend.dispatch_reported(&program, &[&x, &y], &config, &mut outputs)?;
    assert_eq!(outputs[0], 7.0f32.to_le_bytes().repeat(4096));
    let device = &backend.device_info().name;
    println!("{device}: {:?} ns on the device", report.device_ns);
    Ok(())
}
