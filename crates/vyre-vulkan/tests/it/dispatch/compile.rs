//! What a backend compiles, and what it has compiled before.

use std::sync::Arc;
use std::sync::atomic::{AtomicU32, Ordering};

use tracing::{Event, Metadata, Subscriber, span};
use vyre_core::backend::VyreBackend;

use crate::harness::run;
use crate::programs::{assert_scales, scaled, sums};
use crate::support::open;

/// Counts the spans in which a kernel is compiled.
struct Compilations(Arc<AtomicU32>);

impl Subscriber for Compilations {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        metadata.is_span() && metadata.name() == "compile"
    }

    fn new_span(&self, _: &span::Attributes<'_>) -> span::Id {
        span::Id::from_u64(1 + u64::from(self.0.fetch_add(1, Ordering::Relaxed)))
    }

    fn record(&self, _: &span::Id, _: &span::Record<'_>) {}
    fn record_follows_from(&self, _: &span::Id, _: &span::Id) {}
    fn event(&self, _: &Event<'_>) {}
    fn enter(&self, _: &span::Id) {}
    fn exit(&self, _: &span::Id) {}
}

/// Kernels that this thread compiles during `work`.
fn compilations(work: impl FnOnce()) -> u32 {
    let count = Arc::new(AtomicU32::new(0));
    tracing::subscriber::with_default(Compilations(Arc::clone(&count)), work);
    count.load(Ordering::Relaxed)
}

#[test]
fn dispatch_of_a_compiled_program_compiles_nothing() {
    let Some(backend) = open() else { return };
    let program = sums();
    let compiled = compilations(|| {
        backend.compile(&program).unwrap();
    });
    let dispatched = compilations(|| {
        run(&*backend, &program, &[&[1; 16], &[2; 16]]);
    });
    assert_eq!((compiled, dispatched), (1, 0));
}

#[test]
fn programs_share_the_pipeline_of_a_kernel() {
    let Some(backend) = open() else { return };
    let [same, another] = [3, 4].map(|factor| {
        compilations(|| {
            for _ in 0..2 {
                assert_scales(&*backend, &scaled(3), 3);
                assert_scales(&*backend, &scaled(factor), factor);
            }
        })
    });
    assert_eq!((same, another), (1, 1));
}
