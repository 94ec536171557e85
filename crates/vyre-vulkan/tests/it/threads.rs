//! Many threads on one backend at once.

use std::sync::Barrier;
use std::thread;

use vyre_core::backend::{DispatchConfig, ResidentRead, ResidentWrite, Resource, VyreBackend};
use vyre_core::program::Program;

use crate::programs::{SUMS_BYTES, SUMS_LEN, assert_scales, scaled, sums};
use crate::resident::{contents, resident};
use crate::support::{bytes, open, words};

const THREADS: u32 = 8;
const TURNS: u32 = 12;

/// Starts `work` on all threads at once, each with its number, and passes a panic on.
fn on_all_threads(work: impl Fn(u32) + Sync) {
    let start = Barrier::new(THREADS as usize);
    thread::scope(|scope| {
        for thread in 0..THREADS {
            let (start, work) = (&start, &work);
            scope.spawn(move || {
                start.wait();
                work(thread);
            });
        }
    });
}

/// Dispatches `sums` over inputs that no other thread and turn has.
fn assert_sums(backend: &impl VyreBackend, program: &Program, thread: u32, turn: u32) {
    let x: Vec<u32> = (0..16).map(|i| 1000 * thread + 100 * turn + i).collect();
    let y: Vec<u32> = (0..16).map(|i| 7 * i * (thread + 1)).collect();
    let expected: Vec<u32> = x.iter().zip(&y).map(|(x, y)| x + y).collect();
    let inputs = [bytes(&x), bytes(&y)];
    let inputs = [&inputs[0][..], &inputs[1][..]];
    let outputs = backend.dispatch(program, &inputs, &DispatchConfig::default());
    for output in outputs.unwrap() {
        assert_eq!(words(&output), expected);
    }
}

#[test]
fn threads_share_a_program() {
    let Some(backend) = open() else { return };
    let program = sums();
    on_all_threads(|thread| {
        for turn in 0..TURNS {
            assert_sums(&*backend, &program, thread, turn);
        }
    });
}

#[test]
fn threads_run_programs_of_their_own() {
    let Some(backend) = open() else { return };
    on_all_threads(|thread| {
        let programs = [thread, thread + THREADS].map(|factor| (factor, scaled(factor)));
        for _ in 0..TURNS {
            for (factor, program) in &programs {
                assert_scales(&*backend, program, *factor);
            }
        }
    });
}

#[test]
fn threads_build_run_and_drop_programs_of_one_kernel() {
    let Some(backend) = open() else { return };
    on_all_threads(|_| {
        for _ in 0..TURNS {
            assert_scales(&*backend, &scaled(3), 3);
        }
    });
}

#[test]
fn threads_compile_a_new_program_at_once() {
    let Some(backend) = open() else { return };
    for factor in 0..6 {
        let program = scaled(factor);
        on_all_threads(|_| {
            backend.compile(&program).unwrap();
            assert_scales(&*backend, &program, factor);
        });
    }
}

#[test]
fn threads_that_compile_at_once_get_one_result() {
    let Some(backend) = open() else { return };
    let program = scaled(5);
    let states = std::sync::Mutex::new(Vec::new());
    on_all_threads(|_| {
        let compiled = backend.compile(&program).unwrap();
        states.lock().unwrap().push(compiled);
    });
    let states = states.into_inner().unwrap();
    let addresses: Vec<_> = states
        .iter()
        .map(|compiled| std::ptr::from_ref(compiled.state().unwrap()).cast::<()>())
        .collect();
    assert_eq!(addresses, [addresses[0]; THREADS as usize]);
}

#[test]
fn threads_use_resident_buffers_of_their_own() {
    let Some(backend) = open() else { return };
    let program = sums();
    on_all_threads(|thread| {
        for _ in 0..3 {
            let [x, y, z] = [0, 5, 9].map(|word| resident(&*backend, &[word; SUMS_LEN]));
            let mut sum = 5;
            for turn in 0..TURNS {
                let step = 100 * thread + turn;
                let write = ResidentWrite {
                    resource: x,
                    offset: 0,
                    bytes: &bytes(&[step; SUMS_LEN]),
                };
                backend.upload_resident(&[write]).unwrap();
                run(&*backend, &program, &[x, y, z]);
                sum += step;
                assert_eq!(contents(&*backend, y, SUMS_LEN), [sum; SUMS_LEN]);
                assert_eq!(contents(&*backend, z, SUMS_LEN), [sum; SUMS_LEN]);
            }
            for resource in [x, y, z] {
                backend.free_resident(resource).unwrap();
            }
        }
    });
}

fn run(backend: &impl VyreBackend, program: &Program, row: &[Resource]) {
    let report = backend.dispatch_resident(program, &[row], &DispatchConfig::default());
    report.unwrap();
}

#[test]
fn no_dispatch_over_a_shared_buffer_is_lost() {
    let Some(backend) = open() else { return };
    let program = sums();
    let y = resident(&*backend, &[0; SUMS_LEN]);
    let steps = [1, 10, 100, 1000, 1, 10, 100, 1000];
    on_all_threads(|thread| {
        let step = steps[thread as usize];
        let [x, z] = [step, 0].map(|word| resident(&*backend, &[word; SUMS_LEN]));
        for _ in 0..TURNS {
            run(&*backend, &program, &[x, y, z]);
            // What others have added meanwhile is in `y` too, but each dispatch as a whole.
            let sums = contents(&*backend, y, SUMS_LEN);
            assert_eq!(sums, vec![sums[0]; SUMS_LEN]);
        }
    });
    let expected = TURNS * steps.iter().sum::<u32>();
    assert_eq!(contents(&*backend, y, SUMS_LEN), [expected; SUMS_LEN]);
}

#[test]
fn no_dispatch_of_a_row_that_all_threads_run_is_lost() {
    let Some(backend) = open() else { return };
    let program = sums();
    let [x, y, z] = [1, 0, 0].map(|word| resident(&*backend, &[word; SUMS_LEN]));
    on_all_threads(|_| {
        for _ in 0..TURNS {
            run(&*backend, &program, &[x, y, z]);
        }
    });
    let expected = THREADS * TURNS;
    assert_eq!(contents(&*backend, y, SUMS_LEN), [expected; SUMS_LEN]);
}

#[test]
fn threads_copy_to_and_from_parts_of_one_buffer() {
    let Some(backend) = open() else { return };
    let shared = backend
        .allocate_resident(u64::from(THREADS) * SUMS_BYTES)
        .unwrap();
    on_all_threads(|thread| {
        let offset = u64::from(thread) * SUMS_BYTES;
        for turn in 0..TURNS {
            let there = bytes(&[1000 * thread + turn; SUMS_LEN]);
            let mut back = vec![0; there.len()];
            let write = ResidentWrite {
                resource: shared,
                offset,
                bytes: &there,
            };
            backend.upload_resident(&[write]).unwrap();
            let read = ResidentRead {
                resource: shared,
                offset,
                bytes: &mut back,
            };
            backend.download_resident(&mut [read]).unwrap();
            assert_eq!(back, there);
        }
    });
}

#[test]
fn threads_mix_dispatches_and_resident_buffers() {
    let Some(backend) = open() else { return };
    let program = sums();
    on_all_threads(|thread| {
        let row = [1, 0, 0].map(|word| resident(&*backend, &[word; SUMS_LEN]));
        for turn in 0..TURNS {
            match thread % 4 {
                0 => assert_sums(&*backend, &program, thread, turn),
                1 => assert_scales(&*backend, &scaled(turn), turn),
                2 => run(&*backend, &program, &row),
                _ => {
                    let fresh = resident(&*backend, &[turn]);
                    assert_eq!(contents(&*backend, fresh, 1), [turn]);
                    backend.free_resident(fresh).unwrap();
                }
            }
        }
        if thread % 4 == 2 {
            assert_eq!(contents(&*backend, row[1], SUMS_LEN), [TURNS; SUMS_LEN]);
        }
    });
}
