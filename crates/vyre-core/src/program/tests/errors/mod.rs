//! One test for each way in which a program can be wrong.

mod bindings;
mod ops;

use super::*;

/// A program with an op of each kernel, which `change` may spoil.
struct Draft {
    builder: ProgramBuilder,
    input: BufferId,
    constant: BufferId,
    output: BufferId,
    scratch: BufferId,
}

impl Draft {
    fn new() -> Self {
        let mut builder = Program::builder("draft");
        let input = builder.input("input", 1024);
        let constant = builder.constant("constant", vec![7; 1024]);
        let output = builder.output("output", 1024);
        let scratch = builder.scratch("scratch", 1024);
        builder
            .op(&kernel(ADD), GRID)
            .bind("source", input)
            .bind("sum", output);
        Self {
            builder,
            input,
            constant,
            output,
            scratch,
        }
    }

    fn add(&mut self, source: impl Into<BufferSlice>, sum: impl Into<BufferSlice>) -> &mut Self {
        self.builder
            .op(&kernel(ADD), GRID)
            .bind("source", source)
            .bind("sum", sum);
        self
    }

    /// The error, whose message must have these parts.
    fn error(self, parts: &[&str]) -> ProgramError {
        let error = self.builder.build().unwrap_err();
        let message = error.to_string();
        for part in parts {
            assert!(message.contains(part), "`{part}` is missing in: {message}");
        }
        error
    }
}

/// Asserts that the draft, after the statements, is refused with an error of this shape and text.
macro_rules! refused {
    ($name:ident, |$draft:ident| $change:expr, $error:pat, $($part:literal),+) => {
        #[test]
        fn $name() {
            let mut $draft = Draft::new();
            $change;
            let error = $draft.error(&[$($part),+]);
            assert!(matches!(error, $error), "{error:?}");
        }
    };
}

use refused;

refused!(
    an_empty_buffer_name,
    |draft| draft.builder.scratch("", 4),
    ProgramError::EmptyBufferName { index: 4 },
    "buffer 4"
);
refused!(
    a_buffer_name_used_twice,
    |draft| draft.builder.scratch("input", 4),
    ProgramError::DuplicateBufferName {
        first: 0,
        second: 4,
        ..
    },
    "buffers 0 and 4",
    "`input`"
);
refused!(
    a_buffer_without_bytes,
    |draft| draft.builder.constant("empty", []),
    ProgramError::EmptyBuffer { .. },
    "`empty`"
);
refused!(
    a_buffer_that_ends_within_a_word,
    |draft| draft.builder.input("odd", 6),
    ProgramError::BufferLength { byte_len: 6, .. },
    "`odd` has 6 bytes"
);
refused!(
    buffers_beyond_64_bits,
    |draft| draft.builder.scratch("huge", u64::MAX - 3),
    ProgramError::BuffersTooLarge { .. },
    "`huge` (18446744073709551612 bytes)"
);
refused!(
    an_output_that_nobody_writes,
    |draft| draft.builder.output("forgotten", 4),
    ProgramError::OutputNeverWritten { .. },
    "`forgotten`"
);
refused!(
    a_program_without_ops,
    |draft| draft.builder = Program::builder("nothing"),
    ProgramError::NoOps { .. },
    "`nothing`"
);
#[test]
fn the_first_error_is_the_one_returned() {
    let mut draft = Draft::new();
    let foreign = Draft::new().input;
    draft
        .builder
        .op(&kernel(ADD), GRID)
        .bind("first", draft.input)
        .bind("second", foreign);
    draft.error(&["`first`"]);
}

#[test]
fn ranges_that_are_only_read_may_overlap() {
    let sum = kernel(
        "@group(0) @binding(0) var<storage, read> a: array<u32>;
        @group(0) @binding(1) var<storage, read> b: array<u32>;
        @group(0) @binding(2) var<storage, read_write> c: array<u32>;
        @compute @workgroup_size(1) fn sum() { c[0] = a[0] + b[0]; }",
    );
    let mut draft = Draft::new();
    draft
        .builder
        .op(&sum, GRID)
        .bind("a", draft.scratch)
        .bind("b", draft.scratch.slice(0, 512))
        .bind("c", draft.output);
    assert!(draft.builder.build().is_ok());
}

#[test]
fn an_in_out_buffer_need_not_be_written() {
    let mut draft = Draft::new();
    draft.builder.in_out("untouched", 4);
    assert!(draft.builder.build().is_ok());
}

#[test]
fn raised_limits_let_larger_programs_pass() {
    let mut limits = Limits::default();
    limits.max_grid[0] = 65_536;
    let mut draft = Draft::new();
    draft.builder.limits(limits);
    let (input, scratch) = (draft.input, draft.scratch);
    draft
        .builder
        .op(&kernel(ADD), [65_536, 1, 1])
        .bind("source", input)
        .bind("sum", scratch);
    assert!(draft.builder.build().is_ok());
}
