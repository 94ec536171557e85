//! What the conformance kit doesn't ask: how the backend is chosen, and how wgpu's refusals come out.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    clippy::panic,
    clippy::print_stderr,
    reason = "a helper of a test may fail it, and says when it is skipped"
)]

mod calls;
mod choice;

use vyre_driver::{BackendError, Kernel, Program};

use backend_wgpu::WgpuBackend;

/// Opens the backend; `None`, said aloud, where there is no Vulkan and `CI` is not set.
fn open() -> Option<WgpuBackend> {
    match WgpuBackend::open() {
        Ok(backend) => Some(backend),
        Err(error @ BackendError::NoDevice { .. }) if std::env::var_os("CI").is_none() => {
            eprintln!("SKIPPED, since wgpu finds no device: {error}");
            None
        }
        Err(error) => panic!("{error:?}"),
    }
}

/// One op of `kernel` over one in-out buffer.
fn in_place(kernel: &Kernel, byte_len: u64) -> Program {
    let mut builder = Program::builder("in place");
    let y = builder.in_out("y", byte_len);
    builder.op(kernel, [1, 1, 1]).bind("y", y);
    builder.build().unwrap()
}
