//! Copies to and from resident buffers agree with copies between slices.

use proptest::prelude::*;
use vyre_core::backend::{ResidentRead, ResidentWrite, Resource, VyreBackend};
use vyre_core::error::BackendError;

use super::{contents, resident};
use crate::support::{bytes, open};

/// Ranges, by offset and length in bytes, that a buffer of 16 bytes does not have.
const BAD_RANGES: [(u64, usize); 9] = [
    (12, 8),
    (16, 4),
    (0, 20),
    (20, 0),
    (u64::MAX - 3, 4),
    (u64::MAX, 4),
    (1 << 32, 4),
    (2, 4),
    (4, 6),
];

fn write(resource: Resource, offset: u64, bytes: &[u8]) -> ResidentWrite<'_> {
    ResidentWrite {
        resource,
        offset,
        bytes,
    }
}

#[test]
fn new_buffer_holds_zeros_even_where_a_freed_one_was() {
    let Some(backend) = open() else { return };
    for len in [1, 3, 100, 1000] {
        let ones = vec![u32::MAX; len];
        let dirty = resident(&*backend, &ones);
        backend.free_resident(dirty).unwrap();
        let fresh = backend.allocate_resident(4 * len as u64).unwrap();
        assert_eq!(contents(&*backend, fresh, len), vec![0; len]);
    }
}

#[test]
fn buffer_knows_its_length() {
    let Some(backend) = open() else { return };
    for byte_len in [4, 12, 1 << 20] {
        let resource = backend.allocate_resident(byte_len).unwrap();
        assert_eq!(backend.resident_byte_len(resource).unwrap(), byte_len);
    }
}

#[test]
fn length_that_is_no_positive_number_of_words_is_refused() {
    let Some(backend) = open() else { return };
    for wanted in [0, 1, 2, 7, u64::MAX] {
        let error = backend.allocate_resident(wanted).unwrap_err();
        assert!(
            matches!(error, BackendError::InvalidResidentLength { byte_len } if byte_len == wanted)
        );
    }
}

#[test]
fn length_over_every_device_is_refused_with_both_figures() {
    let Some(backend) = open() else { return };
    let wanted = u64::MAX - 3;
    let error = backend.allocate_resident(wanted).unwrap_err();
    let BackendError::LimitExceeded {
        requested, maximum, ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(requested, wanted);
    assert!(maximum < wanted);
    assert_eq!(contents(&*backend, resident(&*backend, &[5]), 1), [5]);
}

#[test]
fn write_of_a_range_leaves_the_rest_alone() {
    let Some(backend) = open() else { return };
    let resource = resident(&*backend, &[1, 2, 3, 4, 5]);
    let patch = bytes(&[30, 40]);
    backend
        .upload_resident(&[write(resource, 8, &patch)])
        .unwrap();
    assert_eq!(contents(&*backend, resource, 5), [1, 2, 30, 40, 5]);
}

#[test]
fn read_of_a_range_starts_at_its_offset() {
    let Some(backend) = open() else { return };
    let resource = resident(&*backend, &[1, 2, 3, 4, 5]);
    let mut there = [0; 8];
    let read = ResidentRead {
        resource,
        offset: 8,
        bytes: &mut there,
    };
    backend.download_resident(&mut [read]).unwrap();
    assert_eq!(there[..], bytes(&[3, 4]));
}

#[test]
fn later_of_two_overlapping_writes_wins() {
    let Some(backend) = open() else { return };
    let [first, second] = [[0; 8], [9; 8]].map(|words| resident(&*backend, &words));
    let [ones, twos, threes] = [1, 2, 3].map(|word| bytes(&[word; 4]));
    let batch = [
        write(first, 0, &ones),
        write(second, 0, &ones),
        write(first, 8, &twos),
        write(first, 12, &threes),
        write(second, 0, &threes),
    ];
    // Were the copies not ordered, one of many batches would show it.
    for _ in 0..20 {
        backend.upload_resident(&batch).unwrap();
        assert_eq!(contents(&*backend, first, 8), [1, 1, 2, 3, 3, 3, 3, 0]);
        assert_eq!(contents(&*backend, second, 8), [3, 3, 3, 3, 9, 9, 9, 9]);
    }
}

#[test]
fn pieces_of_no_bytes_and_empty_batches_do_nothing() {
    let Some(backend) = open() else { return };
    let resource = resident(&*backend, &[1, 2, 3, 4]);
    let word = bytes(&[7]);
    let batch = [
        write(resource, 0, &[]),
        write(resource, 4, &word),
        write(resource, 16, &[]),
    ];
    backend.upload_resident(&[]).unwrap();
    backend.upload_resident(&batch[..1]).unwrap();
    backend.upload_resident(&batch).unwrap();
    backend.download_resident(&mut []).unwrap();
    let end = ResidentRead {
        resource,
        offset: 16,
        bytes: &mut [],
    };
    backend.download_resident(&mut [end]).unwrap();
    assert_eq!(contents(&*backend, resource, 4), [1, 7, 3, 4]);
}

#[test]
fn batch_with_a_bad_range_writes_nothing() {
    let Some(backend) = open() else { return };
    let resource = resident(&*backend, &[1, 2, 3, 4]);
    let source = [0xff; 20];
    for (bad_offset, len) in BAD_RANGES {
        let batch = [
            write(resource, 0, &source[..4]),
            write(resource, bad_offset, &source[..len]),
        ];
        let error = backend.upload_resident(&batch).unwrap_err();
        let BackendError::ResourceRange {
            offset,
            byte_len,
            capacity,
            ..
        } = error
        else {
            panic!("{error}")
        };
        let figures = (offset, byte_len, capacity);
        assert_eq!(figures, (bad_offset, len as u64, 16));
        assert_eq!(contents(&*backend, resource, 4), [1, 2, 3, 4]);
    }
}

#[test]
fn batch_with_a_bad_range_reads_nothing() {
    let Some(backend) = open() else { return };
    let resource = resident(&*backend, &[1, 2, 3, 4]);
    for (offset, len) in BAD_RANGES {
        let (mut good, mut bad) = ([0xaa; 4], vec![0xaa; len]);
        let mut batch =
            [(0, &mut good[..]), (offset, &mut bad[..])].map(|(offset, bytes)| ResidentRead {
                resource,
                offset,
                bytes,
            });
        let error = backend.download_resident(&mut batch).unwrap_err();
        assert!(matches!(error, BackendError::ResourceRange { .. }));
        assert!(good.iter().chain(&bad).all(|byte| *byte == 0xaa));
    }
}

#[test]
fn copies_larger_than_what_staging_keeps_come_back_whole() {
    let Some(backend) = open() else { return };
    let large: Vec<u32> = (0..5 << 20).collect();
    for _ in 0..2 {
        let resource = resident(&*backend, &large);
        assert!(contents(&*backend, resource, large.len()) == large);
        assert_eq!(contents(&*backend, resource, 3), [0, 1, 2]);
        backend.free_resident(resource).unwrap();
    }
}

/// Words in each buffer of the property.
const LEN: usize = 32;

/// A buffer, the first word, and words to copy.
fn piece() -> impl Strategy<Value = (usize, usize, Vec<u32>)> {
    (0..3_usize, 0..=LEN).prop_flat_map(|(buffer, start)| {
        let words = prop::collection::vec(any::<u32>(), 0..=LEN - start);
        (Just(buffer), Just(start), words)
    })
}

#[test]
fn batches_do_what_copies_between_slices_do() {
    let Some(backend) = open() else { return };
    let batches = prop::collection::vec(prop::collection::vec(piece(), 0..8), 1..4);
    let mut runner = proptest::test_runner::TestRunner::new(ProptestConfig {
        cases: 40,
        failure_persistence: None,
        ..ProptestConfig::default()
    });
    runner
        .run(&(batches, piece()), |(batches, probe)| {
            let mut model = vec![vec![0; LEN]; 3];
            let buffers = [(); 3].map(|()| backend.allocate_resident(4 * LEN as u64).unwrap());
            for batch in &batches {
                let sources: Vec<_> = batch.iter().map(|(_, _, words)| bytes(words)).collect();
                let writes: Vec<_> = batch
                    .iter()
                    .zip(&sources)
                    .map(|((buffer, start, _), source)| {
                        write(buffers[*buffer], 4 * *start as u64, source)
                    })
                    .collect();
                backend.upload_resident(&writes).unwrap();
                for (buffer, start, words) in batch {
                    model[*buffer][*start..*start + words.len()].copy_from_slice(words);
                }
            }
            let (buffer, start, words) = probe;
            let mut part = vec![0; 4 * words.len()];
            let mut whole = [(); 3].map(|()| vec![0; 4 * LEN]);
            let mut reads = vec![ResidentRead {
                resource: buffers[buffer],
                offset: 4 * start as u64,
                bytes: &mut part,
            }];
            reads.extend(
                buffers
                    .iter()
                    .zip(&mut whole)
                    .map(|(&resource, bytes)| ResidentRead {
                        resource,
                        offset: 0,
                        bytes,
                    }),
            );
            backend.download_resident(&mut reads).unwrap();
            prop_assert_eq!(part, bytes(&model[buffer][start..start + words.len()]));
            for (resource, (whole, model)) in buffers.into_iter().zip(whole.iter().zip(&model)) {
                prop_assert_eq!(whole, &bytes(model));
                backend.free_resident(resource).unwrap();
            }
            Ok(())
        })
        .unwrap();
}
