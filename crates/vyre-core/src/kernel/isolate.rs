//! Runs naga where neither its recursion nor a panic of it can take the caller down.

use std::any::Any;
use std::{io, thread};

/// Stack that naga needs whatever the source, in bytes.
const BASE_STACK: usize = 4 << 20;

/// Stack for each byte of source. naga recurses along chains of operators, `else if`s and
/// declarations without a limit; measured, it takes up to
/// 0.6 KiB for a byte when optimised, and 6.7 KiB when not.
const STACK_PER_BYTE: usize = 8 << 10;

/// Only address space is reserved, but where that is limited, more would be refused.
const MAX_STACK: usize = 256 << 20;

/// Why work done by [`isolated`] has no result.
#[doc(hidden)]
#[derive(Debug, thiserror::Error)]
#[non_exhaustive]
pub enum IsolationError {
    /// The thread could not start.
    #[error("no thread to compile the kernel in; free memory or raise the limit of threads")]
    Thread(#[source] io::Error),
    /// The work panicked.
    #[error("naga panicked on this kernel, which is a fault of naga: {message}")]
    Panic {
        /// The message of the panic.
        message: String,
    },
}

/// Runs `work`, which parses, validates or translates a source of `source_len` bytes, on a thread
/// with stack enough for it, and waits for it.
///
/// For backends, whose translators recurse as naga does; no part of the stable interface.
///
/// # Errors
///
/// [`IsolationError`] when the thread could not start or `work` panicked.
#[doc(hidden)]
pub fn isolated<T: Send>(
    source_len: usize,
    work: impl FnOnce() -> T + Send,
) -> Result<T, IsolationError> {
    let stack = BASE_STACK.saturating_add(source_len.saturating_mul(STACK_PER_BYTE));
    let builder = thread::Builder::new()
        .name("vyre kernel".to_owned())
        .stack_size(stack.min(MAX_STACK));
    thread::scope(|scope| {
        let worker = builder
            .spawn_scoped(scope, work)
            .map_err(IsolationError::Thread)?;
        worker.join().map_err(|payload| {
            let message = panic_message(payload.as_ref());
            IsolationError::Panic { message }
        })
    })
}

fn panic_message(payload: &(dyn Any + Send)) -> String {
    let text = payload.downcast_ref::<&str>().copied();
    let text = text.or_else(|| payload.downcast_ref::<String>().map(String::as_str));
    text.unwrap_or("no message").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn panic_becomes_an_error_with_its_message() {
        let result = isolated(0, || -> () { panic!("index {} is out", 7) });
        assert!(
            matches!(result, Err(IsolationError::Panic { message }) if message == "index 7 is out")
        );
    }
}
