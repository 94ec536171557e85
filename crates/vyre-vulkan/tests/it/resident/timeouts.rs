//! Rows whose dispatch was given up: the work goes on, and nothing of it is lost.

use std::time::Duration;

use vyre_core::backend::{DispatchConfig, VyreBackend};
use vyre_core::error::BackendError;
use vyre_core::program::Program;

use super::{contents, resident};
use crate::harness::kernel;
use crate::support::open;

/// Adds one to `x` after a long detour.
const BUSY: &str = "
struct Words { words: array<u32> }
@group(0) @binding(0) var<storage, read_write> x: Words;
@compute @workgroup_size(64)
fn busy(@builtin(local_invocation_index) local: u32, @builtin(workgroup_id) group: vec3u) {
    var value = x.words[local];
    let before = value;
    for (var turn = 0u; turn < 60000u; turn++) { value = value * 1664525u + 1013904223u; }
    if group.x == 0u { x.words[local] = before + select(1u, 2u, value == 0xffffffffu); }
}";

/// Runs for a millisecond even on a fast GPU. Its row is one in-out buffer of 64 words, to which it
/// adds 4, unless the generator happens to end at its largest value.
fn busy() -> Program {
    let kernel = kernel(BUSY);
    let mut builder = Program::builder("busy");
    let x = builder.in_out("x", 256);
    for _ in 0..4 {
        builder.op(&kernel, [4, 1, 1]).bind("x", x);
    }
    builder.build().unwrap()
}

/// What `busy` makes of a word.
fn busy_on_host(word: u32) -> u32 {
    (0..4).fold(word, |before, _| {
        let turn = |value: u32, _| value.wrapping_mul(1_664_525).wrapping_add(1_013_904_223);
        let value = (0..60_000).fold(before, turn);
        before + if value == u32::MAX { 2 } else { 1 }
    })
}

fn hasty() -> DispatchConfig {
    DispatchConfig::default()
        .with_timeout(Duration::from_micros(10))
        .with_label("rows")
}

#[test]
fn time_out_over_rows_names_the_dispatch() {
    let Some(backend) = open() else { return };
    let x = resident(&*backend, &[0; 64]);
    let error = backend.dispatch_resident(&busy(), &[&[x]], &hasty());
    assert!(matches!(error, Err(BackendError::Timeout { label, .. }) if label == "rows"));
}

#[test]
fn later_dispatch_over_the_same_rows_comes_after_the_one_given_up() {
    let Some(backend) = open() else { return };
    let (busy, x) = (busy(), resident(&*backend, &[5; 64]));
    backend
        .dispatch_resident(&busy, &[&[x]], &hasty())
        .unwrap_err();
    backend
        .dispatch_resident(&busy, &[&[x]], &DispatchConfig::default())
        .unwrap();
    let expected = busy_on_host(busy_on_host(5));
    assert_eq!(contents(&*backend, x, 64), [expected; 64]);
}

#[test]
fn download_comes_after_work_that_was_given_up() {
    let Some(backend) = open() else { return };
    let x = resident(&*backend, &[5; 64]);
    backend
        .dispatch_resident(&busy(), &[&[x]], &hasty())
        .unwrap_err();
    assert_eq!(contents(&*backend, x, 64), [busy_on_host(5); 64]);
}

#[test]
fn backend_is_dropped_with_rows_in_flight() {
    let Some(backend) = open() else { return };
    let [x, y] = [(); 2].map(|()| resident(&*backend, &[0; 64]));
    backend
        .dispatch_resident(&busy(), &[&[x], &[y]], &hasty())
        .unwrap_err();
    backend.free_resident(x).unwrap();
    drop(backend);
}
