//! Several threads on one backend.

use std::thread;

use vyre_core::backend::DispatchConfig;
use vyre_core::program::Program;

use crate::case::{Case, Fault, Group};
use crate::context::{Context, bytes, one_op, same_words, words};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Threads, name, run)
}

pub(super) const CASES: &[Case] = &[
    case("threads_share_one_program", share_one_program),
    case("threads_make_programs_of_their_own", own_programs),
];

const THREADS: u32 = 8;
const TURNS: u32 = 25;

fn source(factor: u32) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(64) fn main(@builtin(global_invocation_id) id: vec3u) {{
             y[id.x] = y[id.x] * {factor}u + id.x;
         }}"
    )
}

/// Dispatches over and over with inputs of this thread's own.
fn work(context: &Context, program: &Program, thread: u32, factor: u32) -> Result<(), Fault> {
    let (config, mut outputs) = (DispatchConfig::default(), Vec::new());
    for turn in 0..TURNS {
        let given: Vec<u32> = (0..256)
            .map(|at| at ^ (thread << 16) ^ (turn << 8))
            .collect();
        let input = bytes(&given);
        context
            .backend()
            .dispatch_into(program, &[&input], &config, &mut outputs)?;
        let expected = (0..)
            .zip(given)
            .map(|(at, word): (u32, u32)| word.wrapping_mul(factor).wrapping_add(at));
        let what = format!("thread {thread}, turn {turn}");
        same_words(&what, &words(&outputs[0])?, &expected.collect::<Vec<_>>())?;
    }
    Ok(())
}

/// Runs `work` on every thread; gives the first fault.
fn on_threads(work: impl Fn(u32) -> Result<(), Fault> + Sync) -> Result<(), Fault> {
    let work = &work;
    thread::scope(|scope| {
        let threads: Vec<_> = (0..THREADS)
            .map(|thread| scope.spawn(move || work(thread)))
            .collect();
        let ends = threads.into_iter().map(|thread| {
            let panicked = |_| Err(Fault::new("a thread panicked"));
            thread.join().unwrap_or_else(panicked)
        });
        ends.collect::<Vec<_>>().into_iter().collect()
    })
}

fn share_one_program(context: &Context) -> Result<(), Fault> {
    let program = one_op(&source(3), [4, 1, 1], &[&[0; 256]])?;
    on_threads(|thread| work(context, &program, thread, 3))
}

fn own_programs(context: &Context) -> Result<(), Fault> {
    on_threads(|thread| {
        // Two threads each have the same kernel.
        let factor = 5 + thread / 2;
        let program = one_op(&source(factor), [4, 1, 1], &[&[0; 256]])?;
        work(context, &program, thread, factor)
    })
}
