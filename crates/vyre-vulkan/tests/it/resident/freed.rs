//! Freed and foreign handles never reach a buffer.

use std::sync::Barrier;
use std::thread;
use std::time::Duration;

use vyre_core::backend::{DispatchConfig, ResidentRead, ResidentWrite, Resource, VyreBackend};
use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use super::{contents, resident};
use crate::programs::{SUMS_LEN, sums};
use crate::support::open;

/// What each operation on `resource` says; the dispatch has it as the input of a row of `sums`.
fn errors(backend: &impl VyreBackend, resource: Resource) -> Vec<BackendError> {
    let [y, z] = [(); 2].map(|()| resident(backend, &[0; SUMS_LEN]));
    let write = ResidentWrite {
        resource,
        offset: 0,
        bytes: &[1; 4],
    };
    let read = ResidentRead {
        resource,
        offset: 0,
        bytes: &mut [0; 4],
    };
    let config = DispatchConfig::default();
    let rows: [&[Resource]; 1] = [&[resource, y, z]];
    vec![
        backend.upload_resident(&[write]).unwrap_err(),
        backend.download_resident(&mut [read]).unwrap_err(),
        backend.resident_byte_len(resource).unwrap_err(),
        backend.free_resident(resource).unwrap_err(),
        backend
            .dispatch_resident(&sums(), &rows, &config)
            .unwrap_err(),
    ]
}

fn dispatch(
    backend: &impl VyreBackend,
    program: &Program,
    row: &[Resource],
) -> Result<(), BackendError> {
    let report = backend.dispatch_resident(program, &[row], &DispatchConfig::default());
    report.map(drop)
}

/// A row of `sums` that adds ones.
fn ones(backend: &impl VyreBackend) -> [Resource; 3] {
    [1, 0, 0].map(|word| resident(backend, &[word; SUMS_LEN]))
}

#[test]
fn freed_handle_is_stale_everywhere() {
    let Some(backend) = open() else { return };
    let freed = resident(&*backend, &[1; SUMS_LEN]);
    backend.free_resident(freed).unwrap();
    for error in errors(&*backend, freed) {
        let stale = matches!(error, BackendError::StaleResource { resource } if resource == freed);
        assert!(stale, "{error}");
    }
}

#[test]
fn handle_of_another_backend_is_foreign_everywhere() {
    let (Some(here), Some(elsewhere)) = (open(), open()) else {
        return;
    };
    let theirs = resident(&*elsewhere, &[1; SUMS_LEN]);
    for error in errors(&*here, theirs) {
        let foreign =
            matches!(error, BackendError::ForeignResource { resource } if resource == theirs);
        assert!(foreign, "{error}");
    }
    assert_eq!(contents(&*elsewhere, theirs, SUMS_LEN), [1; SUMS_LEN]);
}

#[test]
fn each_handle_of_a_row_that_ran_before_is_stale_once_freed() {
    let Some(backend) = open() else { return };
    let programs = [sums(), sums()];
    for place in 0..3 {
        let row = ones(&*backend);
        for program in &programs {
            dispatch(&*backend, program, &row).unwrap();
        }
        backend.free_resident(row[place]).unwrap();
        for program in &programs {
            let error = dispatch(&*backend, program, &row).unwrap_err();
            assert!(
                matches!(error, BackendError::StaleResource { resource } if resource == row[place])
            );
        }
    }
}

#[test]
fn next_tenant_of_a_freed_slot_gets_a_row_of_its_own() {
    let Some(backend) = open() else { return };
    let (program, [x, y, z]) = (sums(), ones(&*backend));
    for turn in 1..=5 {
        let x = match turn {
            1 => x,
            _ => resident(&*backend, &[turn; SUMS_LEN]),
        };
        dispatch(&*backend, &program, &[x, y, z]).unwrap();
        backend.free_resident(x).unwrap();
        // 1 + 2 + … + turn
        let sum = turn * (turn + 1) / 2;
        assert_eq!(contents(&*backend, y, SUMS_LEN), [sum; SUMS_LEN]);
    }
}

#[test]
fn buffer_can_be_freed_under_work_that_timed_out() {
    let Some(backend) = open() else { return };
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
         @compute @workgroup_size(64)
         fn busy(@builtin(global_invocation_id) id: vec3u) {
             var value = id.x;
             for (var turn = 0u; turn < 20000u; turn++) { value = value * 1664525u + 1013904223u; }
             x[id.x % arrayLength(&x)] = value;
         }",
    )
    .unwrap();
    let mut builder = Program::builder("busy");
    let x = builder.in_out("x", 64);
    for _ in 0..64 {
        builder.op(&kernel, [32, 1, 1]).bind("x", x);
    }
    let program = builder.build().unwrap();
    let hasty = DispatchConfig::default().with_timeout(Duration::from_millis(1));
    let x = resident(&*backend, &[0; 16]);
    let error = backend.dispatch_resident(&program, &[&[x]], &hasty);
    assert!(matches!(error, Err(BackendError::Timeout { .. })));
    backend.free_resident(x).unwrap();
    let fresh = resident(&*backend, &[3; 16]);
    assert_eq!(contents(&*backend, fresh, 16), [3; 16]);
}

#[test]
fn dispatch_is_right_or_stale_while_another_thread_frees() {
    let Some(backend) = open() else { return };
    let (backend, program) = (&*backend, sums());
    for turn in 0..60 {
        let row = ones(backend);
        let start = Barrier::new(2);
        let right = thread::scope(|scope| {
            let dispatches = scope.spawn(|| {
                start.wait();
                let mut right = 0;
                loop {
                    match dispatch(backend, &program, &row) {
                        Ok(()) => right += 1,
                        Err(error) => return (right, error),
                    }
                }
            });
            start.wait();
            thread::sleep(Duration::from_micros(turn * 20));
            backend.free_resident(row[0]).unwrap();
            dispatches.join().unwrap()
        });
        let (right, error) = right;
        assert!(matches!(error, BackendError::StaleResource { resource } if resource == row[0]));
        // Each dispatch that claimed to be right added one, no other did.
        let sums = row.map(|resource| {
            let live = backend.resident_byte_len(resource).is_ok();
            live.then(|| contents(backend, resource, SUMS_LEN))
        });
        assert_eq!(sums[1], Some(vec![right; SUMS_LEN]));
    }
}

#[test]
fn freed_row_is_stale_at_once_though_other_threads_still_run_it() {
    let Some(backend) = open() else { return };
    let (backend, program) = (&*backend, sums());
    for _ in 0..100 {
        let row = ones(backend);
        let start = Barrier::new(3);
        thread::scope(|scope| {
            for _ in 0..2 {
                scope.spawn(|| {
                    start.wait();
                    while dispatch(backend, &program, &row).is_ok() {}
                });
            }
            start.wait();
            thread::sleep(Duration::from_micros(500));
            backend.free_resident(row[0]).unwrap();
            for _ in 0..50 {
                let error = dispatch(backend, &program, &row).unwrap_err();
                assert!(matches!(error, BackendError::StaleResource { .. }));
            }
        });
    }
}
