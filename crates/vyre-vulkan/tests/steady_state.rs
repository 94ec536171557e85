//! After warm-up a dispatch allocates nothing: not on the host's heap, not on the device.

#![expect(
    unsafe_code,
    reason = "a global allocator that counts is an unsafe trait"
)]
#![expect(clippy::unwrap_used, reason = "a test fails by panicking")]

mod support;

use std::alloc::{GlobalAlloc, Layout, System};
use std::cell::Cell;

use vyre_core::backend::{DeviceKind, DispatchConfig, Resource, VyreBackend};
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use support::{bytes, open, words};

/// Counts the allocations of each thread; drivers and layers allocate elsewhere.
struct Counting;

thread_local! {
    static ALLOCATIONS: Cell<usize> = const { Cell::new(0) };
}

fn count() {
    // A thread that is being torn down no longer counts.
    let _ = ALLOCATIONS.try_with(|count| count.set(count.get() + 1));
}

// SAFETY: every call is passed on to `System` as it came; counting neither allocates nor unwinds.
unsafe impl GlobalAlloc for Counting {
    unsafe fn alloc(&self, layout: Layout) -> *mut u8 {
        count();
        // SAFETY: passed on to the caller.
        unsafe { System.alloc(layout) }
    }

    unsafe fn dealloc(&self, pointer: *mut u8, layout: Layout) {
        // SAFETY: passed on to the caller.
        unsafe { System.dealloc(pointer, layout) }
    }

    unsafe fn realloc(&self, pointer: *mut u8, layout: Layout, new_size: usize) -> *mut u8 {
        count();
        // SAFETY: passed on to the caller.
        unsafe { System.realloc(pointer, layout, new_size) }
    }
}

#[global_allocator]
static ALLOCATOR: Counting = Counting;

/// Heap allocations of this thread during `work`.
fn allocations<T>(work: impl FnOnce() -> T) -> (usize, T) {
    let before = ALLOCATIONS.get();
    let result = work();
    (ALLOCATIONS.get() - before, result)
}

/// Three ops over two inputs, a scratch buffer and two outputs, one of them an in-out buffer.
fn program() -> Program {
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
         @group(0) @binding(1) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(64)
         fn add(@builtin(global_invocation_id) id: vec3u) { y[id.x] += x[id.x]; }",
    )
    .unwrap();
    let mut builder = Program::builder("steady");
    let x = builder.input("x", 1024);
    let y = builder.in_out("y", 1024);
    let sum = builder.scratch("sum", 1024);
    let total = builder.output("total", 1024);
    for (from, to) in [(x, sum), (sum, y), (y, total)] {
        builder.op(&kernel, [4, 1, 1]).bind("x", from).bind("y", to);
    }
    builder.build().unwrap()
}

#[test]
fn counting_allocator_counts() {
    let (count, boxed) = allocations(|| Box::new(1));
    assert_eq!((count, *boxed), (1, 1));
}

#[test]
fn repeated_dispatch_allocates_nothing() {
    let Some(backend) = open() else { return };
    let (program, config) = (program(), DispatchConfig::default());
    let input = bytes(&[7; 256]);
    let inputs = [&input[..], &input[..]];
    let mut outputs = Vec::new();
    let mut dispatch = || {
        backend
            .dispatch_into(&program, &inputs, &config, &mut outputs)
            .unwrap();
        backend
            .dispatch_reported(&program, &inputs, &config, &mut outputs)
            .unwrap()
    };
    dispatch();
    for _ in 0..10 {
        let (heap, report) = allocations(&mut dispatch);
        assert_eq!(heap, 0);
        assert_eq!(report.stats.device_allocation_events, 0);
        assert_eq!(report.stats.device_allocation_bytes, 0);
    }
    assert_eq!(words(&outputs[0]), [14; 256]);
    assert_eq!(words(&outputs[1]), [14; 256]);
}

#[test]
fn repeated_dispatch_of_the_same_rows_allocates_nothing() {
    let Some(backend) = open() else { return };
    let (program, config) = (program(), DispatchConfig::default());
    let handles: Vec<Resource> = (0..6)
        .map(|_| backend.allocate_resident(1024).unwrap())
        .collect();
    let rows = [&handles[..3], &handles[3..]];
    let dispatch = || backend.dispatch_resident(&program, &rows, &config).unwrap();
    dispatch();
    for _ in 0..10 {
        let (heap, report) = allocations(dispatch);
        assert_eq!(heap, 0);
        assert_eq!(report.stats.device_allocation_events, 0);
        assert_eq!(report.stats.resident_resource_rows, 2);
    }
}

/// Mebibytes of this process that are in memory.
#[cfg(target_os = "linux")]
fn resident_mebibytes() -> u64 {
    let status = std::fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmRSS:"));
    let kibibytes = line.unwrap().split_whitespace().nth(1).unwrap();
    kibibytes.parse::<u64>().unwrap() / 1024
}

/// A CPU device's memory is that of this process, so what becomes of it can be seen.
#[cfg(target_os = "linux")]
#[test]
fn memory_of_a_dropped_program_is_freed_when_the_next_one_is_compiled() {
    let Some(backend) = open() else { return };
    if backend.device_info().kind != DeviceKind::Cpu {
        return eprintln!("SKIPPED, since memory of a GPU can't be seen from here");
    }
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1) fn one() { y[0] = 1; }",
    )
    .unwrap();
    let program = |mebibytes: u64| {
        let mut builder = Program::builder("large");
        let y = builder.scratch("y", mebibytes << 20);
        builder.op(&kernel, [1, 1, 1]).bind("y", y.slice(0, 256));
        builder.build().unwrap()
    };
    let dispatch = |program: &Program| {
        let outputs = backend.dispatch(program, &[], &DispatchConfig::default());
        assert!(outputs.unwrap().is_empty());
        resident_mebibytes()
    };
    let (small, large) = (program(1), program(320));
    let before = dispatch(&small);
    let held = dispatch(&large);
    drop(large);
    let after = dispatch(&program(2));
    // The other tests of this binary take a few of these.
    assert!(held >= before + 250, "{before} MiB, then {held}");
    assert!(after + 250 <= held, "{held} MiB, then {after}");
}
