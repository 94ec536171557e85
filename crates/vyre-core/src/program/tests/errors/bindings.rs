//! Ranges that don't fit their buffers, their variables or each other.

use super::*;

refused!(
    a_range_without_bytes,
    |draft| draft.add(draft.input.slice(0, 0), draft.output),
    ProgramError::EmptyRange { .. },
    "op 1 (`add`) binds buffer `input` to `source`"
);
refused!(
    a_range_that_ends_within_a_word,
    |draft| draft.add(draft.input.slice(0, 7), draft.output),
    ProgramError::RangeLength { byte_len: 7, .. },
    "`source`",
    "7 bytes"
);
refused!(
    a_range_that_starts_where_devices_cannot_bind,
    |draft| draft.add(draft.input.slice(128, 4), draft.output),
    ProgramError::RangeOffset { offset: 128, .. },
    "`source`",
    "byte 128",
    "256"
);
refused!(
    a_range_past_the_end,
    |draft| draft.add(draft.input.slice(768, 260), draft.output),
    ProgramError::RangePastEnd {
        offset: 768,
        byte_len: 260,
        buffer_len: 1024,
        ..
    },
    "`source`",
    "260 bytes",
    "byte 768",
    "1024"
);
refused!(
    a_range_whose_end_overflows,
    |draft| draft.add(draft.input.slice(u64::MAX - 255, 256), draft.output),
    ProgramError::RangePastEnd { .. },
    "18446744073709551360"
);
refused!(
    a_range_shorter_than_its_type,
    |draft| draft
        .builder
        .op(&kernel(FILL), GRID)
        .bind("settings", draft.constant.slice(0, 28))
        .bind("values", draft.scratch),
    ProgramError::RangeTooSmall {
        byte_len: 28,
        needed: 32,
        ..
    },
    "op 1 (`fill`) binds buffer `constant` to `settings`",
    "28",
    "32"
);
refused!(
    a_range_shorter_than_one_array_element,
    |draft| draft
        .builder
        .op(
            &kernel(
                "struct Rows { count: vec4<u32>, rows: array<vec4<u32>> }
                @group(0) @binding(0) var<storage, read_write> rows: Rows;
                @compute @workgroup_size(1) fn clear() { rows.rows[0].x = 0; }"
            ),
            GRID
        )
        .bind("rows", draft.scratch.slice(0, 28)),
    ProgramError::ArrayTooShort {
        byte_len: 28,
        needed: 32,
        stride: 16,
        ..
    },
    "op 1 (`clear`) binds buffer `scratch` to `rows`",
    "28",
    "32",
    "16"
);
refused!(
    a_storage_range_over_the_limit,
    |draft| {
        let huge = draft.builder.in_out("huge", 1 << 32);
        draft.add(draft.input, huge)
    },
    ProgramError::RangeTooLarge {
        kind: "storage",
        ..
    },
    "`huge` to `sum`",
    "4294967296 bytes",
    "4294967295"
);
refused!(
    a_uniform_range_over_the_limit,
    |draft| {
        let settings = draft.builder.input("settings", 65_540);
        draft
            .builder
            .op(&kernel(FILL), GRID)
            .bind("settings", settings)
            .bind("values", draft.scratch)
    },
    ProgramError::RangeTooLarge {
        kind: "uniform",
        ..
    },
    "65540",
    "65536"
);
refused!(
    a_write_to_an_input,
    |draft| draft.add(draft.constant, draft.input),
    ProgramError::NotWritable {
        role: BufferRole::Input,
        ..
    },
    "op 1 (`add`) binds buffer `input` to `sum`",
    "as input"
);
refused!(
    a_write_to_a_constant,
    |draft| draft.add(draft.input, draft.constant),
    ProgramError::NotWritable {
        role: BufferRole::Constant,
        ..
    },
    "`constant` to `sum`",
    "as constant"
);
refused!(
    a_written_range_that_overlaps_another_of_the_op,
    |draft| draft.add(draft.scratch.slice(0, 260), draft.scratch.slice(256, 256)),
    ProgramError::Overlap { .. },
    "op 1 (`add`) binds buffer `scratch` to `sum` (bytes 256..512)",
    "`source` (bytes 0..260)"
);
