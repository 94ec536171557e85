//! Dispatches over rows of resident buffers.

use vyre_core::backend::{DispatchConfig, DispatchReport, Resource, VyreBackend};
use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use super::{contents, resident};
use crate::programs::{SUMS_BYTES, SUMS_LEN, add, sums};
use crate::support::{bytes, open, words};

/// Runs `program` over rows and expects it to work.
fn run(backend: &impl VyreBackend, program: &Program, rows: &[&[Resource]]) -> DispatchReport {
    let report = backend.dispatch_resident(program, rows, &DispatchConfig::default());
    report.unwrap()
}

/// Runs `sums` over rows and expects an error.
fn refused(backend: &impl VyreBackend, rows: &[&[Resource]]) -> BackendError {
    let report = backend.dispatch_resident(&sums(), rows, &DispatchConfig::default());
    report.unwrap_err()
}

/// A row of `sums`, each buffer filled with one word.
fn row(backend: &impl VyreBackend, [x, y, z]: [u32; 3]) -> [Resource; 3] {
    [x, y, z].map(|word| resident(backend, &[word; SUMS_LEN]))
}

/// The words that the buffers of a row are filled with.
fn filled(backend: &impl VyreBackend, row: [Resource; 3]) -> [u32; 3] {
    row.map(|resource| {
        let contents = contents(backend, resource, SUMS_LEN);
        assert_eq!(contents, vec![contents[0]; SUMS_LEN]);
        contents[0]
    })
}

#[test]
fn rows_do_what_a_dispatch_of_each_does() {
    let Some(backend) = open() else { return };
    let program = sums();
    for count in [1, 2, 9] {
        let given: Vec<[Vec<u32>; 2]> = (0..count)
            .map(|row| [7, 1_000_003].map(|step| (0..16).map(|i| step * (row + i)).collect()))
            .collect();
        let rows: Vec<[Resource; 3]> = given
            .iter()
            .map(|[x, y]| [x, y, &vec![99; SUMS_LEN]].map(|words| resident(&*backend, words)))
            .collect();
        let slices: Vec<&[Resource]> = rows.iter().map(|row| &row[..]).collect();
        run(&*backend, &program, &slices);
        for ([x, y], row) in given.iter().zip(&rows) {
            let inputs = [bytes(x), bytes(y)];
            let inputs = [&inputs[0][..], &inputs[1][..]];
            let outputs = backend.dispatch(&program, &inputs, &DispatchConfig::default());
            let expected: Vec<u32> = x.iter().zip(y).map(|(x, y)| x + y).collect();
            for (output, resource) in outputs.unwrap().iter().zip(&row[1..]) {
                assert_eq!(words(output), expected);
                assert_eq!(contents(&*backend, *resource, SUMS_LEN), expected);
            }
            assert_eq!(contents(&*backend, row[0], SUMS_LEN), *x);
        }
    }
}

#[test]
fn outputs_start_as_zeros_and_in_outs_with_what_they_hold() {
    let Some(backend) = open() else { return };
    let (program, row) = (sums(), row(&*backend, [5, 100, 77]));
    for times in 1..=4 {
        run(&*backend, &program, &[&row]);
        let sum = 100 + 5 * times;
        assert_eq!(filled(&*backend, row), [5, sum, sum]);
    }
}

#[test]
fn upload_between_dispatches_is_seen_by_the_next() {
    let Some(backend) = open() else { return };
    let (program, row) = (sums(), row(&*backend, [1, 0, 0]));
    run(&*backend, &program, &[&row]);
    let twos = bytes(&[2; SUMS_LEN]);
    let write = vyre_core::backend::ResidentWrite {
        resource: row[0],
        offset: 0,
        bytes: &twos,
    };
    backend.upload_resident(&[write]).unwrap();
    run(&*backend, &program, &[&row]);
    assert_eq!(filled(&*backend, row), [2, 3, 3]);
}

#[test]
fn rows_share_an_input() {
    let Some(backend) = open() else { return };
    let shared = resident(&*backend, &[3; SUMS_LEN]);
    let rows = [10, 20, 30].map(|y| {
        let [_, y, z] = row(&*backend, [0, y, 0]);
        [shared, y, z]
    });
    run(&*backend, &sums(), &rows.each_ref().map(|row| &row[..]));
    let found = rows.map(|row| filled(&*backend, row));
    assert_eq!(found, [[3, 13, 13], [3, 23, 23], [3, 33, 33]]);
}

#[test]
fn one_buffer_in_two_places_is_refused_where_it_is_written() {
    let Some(backend) = open() else { return };
    let [a, b] = [1, 2].map(|word| row(&*backend, [word, word, word]));
    let [x, y, z] = a;
    let batches: [(Resource, [[Resource; 3]; 2], [usize; 2]); 5] = [
        (y, [[x, y, y], b], [0, 0]),
        (x, [[x, x, z], b], [0, 0]),
        (z, [a, [b[0], b[1], z]], [0, 1]),
        (y, [a, [b[0], y, b[2]]], [0, 1]),
        (x, [a, [b[0], x, b[2]]], [0, 1]),
    ];
    for (twice, rows, places) in batches {
        let error = refused(&*backend, &rows.each_ref().map(|row| &row[..]));
        let BackendError::RowAlias {
            resource,
            first,
            second,
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!((resource, [first, second]), (twice, places));
    }
    assert_eq!([a, b].map(|row| filled(&*backend, row)), [[1; 3], [2; 3]]);
}

#[test]
fn row_of_another_shape_is_refused() {
    let Some(backend) = open() else { return };
    let [a, b] = [1, 2].map(|word| row(&*backend, [word, word, word]));
    let long = [b[0], b[1], b[2], b[0]];
    for bad in [&[][..], &b[..2], &long] {
        let error = refused(&*backend, &[&a, bad]);
        let BackendError::RowShape {
            row,
            expected,
            given,
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!((row, expected, given), (1, 3, bad.len()));
    }
    assert_eq!(filled(&*backend, a), [1; 3]);
}

#[test]
fn row_with_a_buffer_of_another_length_is_refused() {
    let Some(backend) = open() else { return };
    let good = row(&*backend, [1, 1, 1]);
    for byte_len in [SUMS_BYTES - 4, SUMS_BYTES + 4] {
        let other = backend.allocate_resident(byte_len).unwrap();
        let error = refused(&*backend, &[&[good[0], other, good[2]]]);
        let BackendError::RowLength {
            row,
            resource,
            name,
            expected,
            given,
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!((row, resource, name.as_str()), (0, other, "y"));
        assert_eq!((expected, given), (SUMS_BYTES, byte_len));
    }
}

#[test]
fn no_rows_launch_nothing() {
    let Some(backend) = open() else { return };
    assert_eq!(run(&*backend, &sums(), &[]), DispatchReport::default());
}

#[test]
fn report_counts_rows_handles_and_launches_and_no_bytes() {
    let Some(backend) = open() else { return };
    let program = sums();
    let rows = [1, 2, 3].map(|word| row(&*backend, [word, 0, 0]));
    let slices = rows.each_ref().map(|row| &row[..]);
    run(&*backend, &program, &slices);
    let stats = run(&*backend, &program, &slices).stats;
    let counted = [
        stats.resident_resource_rows,
        stats.resident_resource_handles,
        stats.kernel_launches,
        stats.sync_points,
        stats.device_allocation_events,
        stats.output_buffers,
    ];
    assert_eq!(counted, [3, 9, 6, 1, 0, 0]);
    let moved = [
        stats.bytes_moved,
        stats.input_bytes,
        stats.output_bytes,
        stats.readback_bytes,
        stats.device_allocation_bytes,
    ];
    assert_eq!(moved, [0; 5]);
}

#[test]
fn results_pass_from_dispatch_to_dispatch_on_the_device() {
    let Some(backend) = open() else { return };
    let kernel = add();
    let mut builder = Program::builder("copy and step");
    let x = builder.input("x", SUMS_BYTES);
    let y = builder.output("y", SUMS_BYTES);
    let ones = builder.constant("ones", bytes(&[1; SUMS_LEN]));
    for from in [x, ones] {
        builder.op(&kernel, [1, 1, 1]).bind("x", from).bind("y", y);
    }
    let program = builder.build().unwrap();
    backend.compile(&program).unwrap();
    let [mut from, mut to] = [(); 2].map(|()| resident(&*backend, &[40; SUMS_LEN]));
    for _ in 0..25 {
        let report = run(&*backend, &program, &[&[from, to]]);
        assert_eq!(report.stats.bytes_moved, 0);
        (from, to) = (to, from);
    }
    assert_eq!(contents(&*backend, from, SUMS_LEN), [65; SUMS_LEN]);
}

#[test]
fn each_row_has_scratch_of_its_own() {
    let Some(backend) = open() else { return };
    let kernel = add();
    let mut builder = Program::builder("through scratch");
    let x = builder.input("x", SUMS_BYTES);
    let scratch = builder.scratch("scratch", SUMS_BYTES);
    let y = builder.output("y", SUMS_BYTES);
    for (from, to) in [(x, scratch), (x, scratch), (scratch, y)] {
        builder.op(&kernel, [1, 1, 1]).bind("x", from).bind("y", to);
    }
    let program = builder.build().unwrap();
    let rows = [1, 20, 300].map(|word| [word, 7].map(|w| resident(&*backend, &[w; SUMS_LEN])));
    for _ in 0..2 {
        run(&*backend, &program, &rows.each_ref().map(|row| &row[..]));
        let found = rows.map(|[_, y]| contents(&*backend, y, SUMS_LEN)[0]);
        assert_eq!(found, [2, 40, 600]);
    }
}

#[test]
fn more_row_sets_than_are_kept_stay_right() {
    let Some(backend) = open() else { return };
    let program = sums();
    let rows: Vec<_> = (0..20).map(|word| row(&*backend, [word, 0, 0])).collect();
    for times in 1..=3 {
        for (word, row) in (0..).zip(&rows) {
            run(&*backend, &program, &[row]);
            assert_eq!(filled(&*backend, *row)[1], times * word);
        }
    }
}

#[test]
fn same_handles_in_another_order_are_another_row() {
    let Some(backend) = open() else { return };
    let (program, [x, y, z]) = (sums(), row(&*backend, [1, 10, 0]));
    run(&*backend, &program, &[&[x, y, z]]);
    run(&*backend, &program, &[&[y, x, z]]);
    assert_eq!(filled(&*backend, [x, y, z]), [12, 11, 12]);
}

#[test]
fn program_without_inputs_and_outputs_runs_over_an_empty_row() {
    let Some(backend) = open() else { return };
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read_write> x: array<u32>;
         @compute @workgroup_size(1) fn one() { x[0] = 1; }",
    );
    let mut builder = Program::builder("nothing in or out");
    let x = builder.scratch("x", 4);
    builder.op(&kernel.unwrap(), [1, 1, 1]).bind("x", x);
    let program = builder.build().unwrap();
    let stats = run(&*backend, &program, &[&[], &[]]).stats;
    assert_eq!(
        (stats.resident_resource_rows, stats.kernel_launches),
        (2, 2)
    );
    let outputs = backend.dispatch(&program, &[], &DispatchConfig::default());
    assert!(outputs.unwrap().is_empty());
}
