//! Resident buffers, rows over them, and handles that are stale or foreign.

use vyre_core::backend::{DispatchConfig, ResidentRead, ResidentWrite, Resource};
use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use crate::case::{Case, Fault, Group, Need, ensure};
use crate::context::{Context, bytes, same_words, words};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Residents, name, run).needing(&[Need::Residents])
}

pub(super) const CASES: &[Case] = &[
    case("buffers_start_as_zeros", start_as_zeros),
    case("ranges_are_written_and_read", ranges),
    case("bad_ranges_change_nothing", bad_ranges),
    case("rows_run_on_their_own_buffers", rows),
    case("bad_rows_are_refused", bad_rows),
    case("stale_handles_are_refused", stale_handles),
    case("foreign_handles_are_refused", foreign_handles),
    case("contents_stay_between_dispatches", contents_stay),
];

fn upload(context: &Context, resource: Resource, given: &[u32]) -> Result<(), Fault> {
    let bytes = bytes(given);
    Ok(context.backend().upload_resident(&[ResidentWrite {
        resource,
        offset: 0,
        bytes: &bytes,
    }])?)
}

fn download(context: &Context, resource: Resource) -> Result<Vec<u32>, Fault> {
    let len = context.backend().resident_byte_len(resource)?;
    let mut bytes = vec![0xaa; usize::try_from(len).unwrap_or(0)];
    context.backend().download_resident(&mut [ResidentRead {
        resource,
        offset: 0,
        bytes: &mut bytes,
    }])?;
    words(&bytes)
}

fn allocate(context: &Context, contents: &[u32]) -> Result<Resource, Fault> {
    let resource = context
        .backend()
        .allocate_resident(4 * contents.len() as u64)?;
    upload(context, resource, contents)?;
    Ok(resource)
}

fn free(context: &Context, resources: &[Resource]) -> Result<(), Fault> {
    for &resource in resources {
        context.backend().free_resident(resource)?;
    }
    Ok(())
}

fn start_as_zeros(context: &Context) -> Result<(), Fault> {
    // The second of two gets the memory that the first one had.
    for words in [1, 3, 64, 1000, 1000, 64] {
        let resource = context.backend().allocate_resident(4 * words as u64)?;
        same_words(
            "a new buffer",
            &download(context, resource)?,
            &vec![0; words],
        )?;
        upload(context, resource, &vec![u32::MAX; words])?;
        free(context, &[resource])?;
    }
    Ok(())
}

fn ranges(context: &Context) -> Result<(), Fault> {
    let (a, b) = (allocate(context, &[1; 16])?, allocate(context, &[2; 4])?);
    let write = |resource, offset, bytes| ResidentWrite {
        resource,
        offset,
        bytes,
    };
    let (first, second, third) = (bytes(&[7, 8]), bytes(&[9]), bytes(&[5]));
    // In order: the later write of the same word stays.
    context.backend().upload_resident(&[
        write(a, 8, &first),
        write(b, 12, &second),
        write(a, 12, &third),
        write(a, 60, &[]),
    ])?;
    let mut expected = [1; 16];
    expected[2..4].copy_from_slice(&[7, 5]);
    same_words("the first buffer", &download(context, a)?, &expected)?;
    same_words("the second buffer", &download(context, b)?, &[2, 2, 2, 9])?;
    let (mut some, mut more) = ([0; 8], [0; 4]);
    context.backend().download_resident(&mut [
        ResidentRead {
            resource: a,
            offset: 12,
            bytes: &mut some,
        },
        ResidentRead {
            resource: b,
            offset: 12,
            bytes: &mut more,
        },
    ])?;
    same_words("a range", &words(&some)?, &[5, 1])?;
    same_words("another range", &words(&more)?, &[9])?;
    free(context, &[a, b])
}

fn bad_ranges(context: &Context) -> Result<(), Fault> {
    let a = allocate(context, &[1; 4])?;
    for (offset, len) in [
        (12, 8),
        (16, 4),
        (2, 4),
        (0, 3),
        (u64::MAX - 3, 4),
        (1 << 40, 4),
    ] {
        let (good, bad) = (bytes(&[9]), vec![9; len]);
        let result = context.backend().upload_resident(&[
            ResidentWrite {
                resource: a,
                offset: 0,
                bytes: &good,
            },
            ResidentWrite {
                resource: a,
                offset,
                bytes: &bad,
            },
        ]);
        ensure!(
            matches!(result, Err(BackendError::ResourceRange { .. })),
            "{len} bytes at {offset} of 16 gave {result:?}"
        );
    }
    same_words("after refused batches", &download(context, a)?, &[1; 4])?;
    for byte_len in [0, 1, 6] {
        let result = context.backend().allocate_resident(byte_len);
        ensure!(
            matches!(result, Err(BackendError::InvalidResidentLength { .. })),
            "a resident buffer of {byte_len} bytes gave {result:?}"
        );
    }
    free(context, &[a])
}

/// y += x; z = y, over 4 words.
fn program() -> Result<Program, Fault> {
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
         @group(0) @binding(1) var<storage, read_write> y: array<u32>;
         @group(0) @binding(2) var<storage, read_write> z: array<u32>;
         @compute @workgroup_size(4) fn main(@builtin(global_invocation_id) id: vec3u) {
             y[id.x] += x[id.x];
             z[id.x] += y[id.x];
         }",
    )?;
    let mut builder = Program::builder("rows");
    let z = builder.output("z", 16);
    let x = builder.input("x", 16);
    let y = builder.in_out("y", 16);
    let mut op = builder.op(&kernel, [1, 1, 1]);
    op.bind("x", x).bind("y", y).bind("z", z);
    Ok(builder.build()?)
}

fn rows(context: &Context) -> Result<(), Fault> {
    let (program, config) = (program()?, DispatchConfig::default());
    // Inputs may be shared between rows.
    let shared = allocate(context, &[1, 2, 3, 4])?;
    let mut handles = Vec::new();
    for row in 0..20 {
        handles.push([
            allocate(context, &[77; 4])?,
            shared,
            allocate(context, &[row; 4])?,
        ]);
    }
    let rows: Vec<&[Resource]> = handles.iter().map(<[_; 3]>::as_slice).collect();
    for turn in 1..=2 {
        let report = context
            .backend()
            .dispatch_resident(&program, &rows, &config)?;
        ensure!(
            report.stats.resident_resource_rows == 20
                && report.stats.resident_resource_handles == 60,
            "20 rows of 3 handles were counted as {:?}",
            report.stats
        );
        for (row, [z, _, y]) in (0..).zip(&handles) {
            let expected = [1, 2, 3, 4].map(|word| row + turn * word);
            same_words("y of a row", &download(context, *y)?, &expected)?;
            same_words("z of a row", &download(context, *z)?, &expected)?;
        }
    }
    let report = context
        .backend()
        .dispatch_resident(&program, &[], &config)?;
    ensure!(
        report.stats.resident_resource_rows == 0,
        "no rows gave {report:?}"
    );
    let own: Vec<Resource> = handles.iter().flat_map(|[z, _, y]| [*z, *y]).collect();
    free(context, &own)?;
    free(context, &[shared])
}

fn bad_rows(context: &Context) -> Result<(), Fault> {
    let program = program()?;
    let made = [[5; 4]; 4].map(|words| allocate(context, &words));
    let [a, b, c, d] = made;
    let (a, b, c, d) = (a?, b?, c?, d?);
    let long = allocate(context, &[5; 5])?;
    let bad: [(&str, &[&[Resource]]); 5] = [
        ("a row of two handles", &[&[a, b]]),
        ("a row of four handles", &[&[a, b, c, d]]),
        ("a buffer that is too long", &[&[a, long, c]]),
        ("a buffer twice in a row", &[&[a, b, b]]),
        ("an output in two rows", &[&[a, b, c], &[a, b, d]]),
    ];
    for (what, rows) in bad {
        let result =
            context
                .backend()
                .dispatch_resident(&program, rows, &DispatchConfig::default());
        ensure!(
            matches!(
                result,
                Err(BackendError::RowShape { .. }
                    | BackendError::RowLength { .. }
                    | BackendError::RowAlias { .. })
            ),
            "{what} gave {result:?}"
        );
    }
    for resource in [a, b, c, d] {
        same_words("after refused rows", &download(context, resource)?, &[5; 4])?;
    }
    free(context, &[a, b, c, d, long])
}

/// Every use of `bad` beside good handles is refused as `is` says.
fn every_use(context: &Context, bad: Resource, is: fn(&BackendError) -> bool) -> Result<(), Fault> {
    let (program, config) = (program()?, DispatchConfig::default());
    let (a, b) = (allocate(context, &[1; 4])?, allocate(context, &[1; 4])?);
    let backend = context.backend();
    let (given, mut taken) = (bytes(&[4; 4]), [0; 16]);
    let write = |resource| ResidentWrite {
        resource,
        offset: 0,
        bytes: &given,
    };
    let uses = [
        ("free", backend.free_resident(bad)),
        ("length", backend.resident_byte_len(bad).map(drop)),
        ("upload", backend.upload_resident(&[write(a), write(bad)])),
        (
            "download",
            backend.download_resident(&mut [ResidentRead {
                resource: bad,
                offset: 0,
                bytes: &mut taken,
            }]),
        ),
        (
            "dispatch",
            backend
                .dispatch_resident(&program, &[&[a, bad, b]], &config)
                .map(drop),
        ),
    ];
    for (what, result) in uses {
        ensure!(
            matches!(&result, Err(error) if is(error)),
            "{what} gave {result:?}"
        );
    }
    same_words("after refused calls", &download(context, a)?, &[1; 4])?;
    free(context, &[a, b])
}

fn stale_handles(context: &Context) -> Result<(), Fault> {
    let stale = allocate(context, &[3; 4])?;
    free(context, &[stale])?;
    // Its place may be taken; the handle must not reach the next tenant.
    let next = allocate(context, &[8; 4])?;
    every_use(context, stale, |error| {
        matches!(error, BackendError::StaleResource { .. })
    })?;
    same_words("the next tenant", &download(context, next)?, &[8; 4])?;
    free(context, &[next])
}

fn foreign_handles(context: &Context) -> Result<(), Fault> {
    let other = context.open_another()?;
    let foreign = other.allocate_resident(16)?;
    every_use(context, foreign, |error| {
        matches!(error, BackendError::ForeignResource { .. })
    })?;
    Ok(other.free_resident(foreign)?)
}

fn contents_stay(context: &Context) -> Result<(), Fault> {
    let (program, config) = (program()?, DispatchConfig::default());
    let [z, x, y] = [[0; 4], [1; 4], [0; 4]].map(|words| allocate(context, &words));
    let (z, x, y) = (z?, x?, y?);
    for turn in 1..=50 {
        context
            .backend()
            .dispatch_resident(&program, &[&[z, x, y]], &config)?;
        if turn % 10 == 0 {
            // A plain dispatch between them changes none of them.
            context.dispatch(&program, &[&bytes(&[9; 4]), &bytes(&[9; 4])])?;
            same_words("the running sum", &download(context, y)?, &[turn; 4])?;
        }
    }
    free(context, &[z, x, y])
}
