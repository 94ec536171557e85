//! That kernels nested as deeply as is accepted run, whatever the stack of the caller.

use std::thread;

use vyre_core::backend::{DeviceKind, DispatchConfig, VyreBackend};
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use crate::support::{bytes, open, words};

/// Links of the chain: of the 500 levels that a kernel may have, as many as drivers compile within
/// seconds.
const LINKS: u32 = 300;

/// Links that Mesa's llvmpipe gets right; it takes every condition nested deeper than 80 as true.
const LLVMPIPE_LINKS: u32 = 75;

/// Half of what Rust gives a thread unless told otherwise, and less than naga takes for the chain in
/// a debug build.
const STACK_BYTES: usize = 1 << 20;

/// `x = LINKS - x` where `x < LINKS`, else `x = 7`, by a chain of comparisons.
fn chain() -> Program {
    let links = (0..LINKS)
        .map(|link| format!("if value == {link}u {{ result = {}u; }}", LINKS - link))
        .collect::<Vec<_>>()
        .join(" else ");
    let kernel = Kernel::from_wgsl(&format!(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
         @compute @workgroup_size(4)
         fn chain(@builtin(global_invocation_id) id: vec3u) {{
             let value = x[id.x];
             var result: u32;
             {links} else {{ result = 7u; }}
             x[id.x] = result;
         }}"
    ))
    .unwrap();
    let mut builder = Program::builder("chain");
    let x = builder.in_out("x", 16);
    builder.op(&kernel, [1, 1, 1]).bind("x", x);
    builder.build().unwrap()
}

#[test]
fn long_chain_of_else_if_runs_from_a_thread_with_a_small_stack() {
    let Some(backend) = open() else { return };
    let values = match backend.device_info().kind {
        DeviceKind::Cpu => [0, 1, LLVMPIPE_LINKS / 2, LLVMPIPE_LINKS],
        _ => [0, LINKS / 2, LINKS - 1, LINKS],
    };
    let run = || backend.dispatch(&chain(), &[&bytes(&values)], &DispatchConfig::default());
    let outputs = thread::scope(|scope| {
        let builder = thread::Builder::new().stack_size(STACK_BYTES);
        builder.spawn_scoped(scope, run).unwrap().join().unwrap()
    });
    let expected = values.map(|value| if value < LINKS { LINKS - value } else { 7 });
    assert_eq!(words(&outputs.unwrap()[0]), expected);
}
