//! Ops that don't fit their kernels or the limits.

use super::*;

refused!(
    a_grid_without_workgroups,
    |draft| draft.builder.op(&kernel(ADD), [1, 0, 1]),
    ProgramError::EmptyGrid {
        grid: [1, 0, 1],
        ..
    },
    "op 1 (`add`)",
    "[1, 0, 1]"
);
refused!(
    a_grid_over_the_limit_along_x,
    |draft| draft.builder.op(&kernel(ADD), [65_536, 1, 1]),
    ProgramError::GridTooLarge { axis: 'x', .. },
    "op 1 (`add`)",
    "65536 workgroups along x",
    "65535"
);
refused!(
    a_grid_over_the_limit_along_y,
    |draft| draft.builder.op(&kernel(ADD), [1, 65_536, 1]),
    ProgramError::GridTooLarge { axis: 'y', .. },
    "65536 workgroups along y"
);
refused!(
    a_grid_over_the_limit_along_z,
    |draft| draft.builder.op(&kernel(ADD), [1, 1, u32::MAX]),
    ProgramError::GridTooLarge { axis: 'z', .. },
    "4294967295 workgroups along z"
);
refused!(
    a_workgroup_over_the_limit_along_an_axis,
    |draft| {
        let mut limits = Limits::default();
        limits.max_workgroup_size[0] = 32;
        draft.builder.limits(limits)
    },
    ProgramError::WorkgroupTooLarge {
        axis: 'x',
        given: 64,
        limit: 32,
        ..
    },
    "op 0 (`add`)",
    "64 along x",
    "32"
);
refused!(
    a_workgroup_with_too_many_invocations,
    |draft| draft.builder.op(
        &kernel("@compute @workgroup_size(64, 32) fn wide() {}"),
        GRID
    ),
    ProgramError::TooManyInvocations {
        given: 2048,
        limit: 1024,
        ..
    },
    "op 1 (`wide`)",
    "2048",
    "1024"
);
refused!(
    a_kernel_with_too_much_workgroup_memory,
    |draft| draft.builder.op(
        &kernel(
            "var<workgroup> tile: array<u32, 10000>;
            @compute @workgroup_size(1) fn hoard() { tile[0] = 1; }"
        ),
        GRID
    ),
    ProgramError::WorkgroupMemory {
        given: 40_000,
        limit: 32_768,
        ..
    },
    "op 1 (`hoard`)",
    "40000",
    "32768"
);
refused!(
    a_variable_that_the_kernel_lacks,
    |draft| draft
        .builder
        .op(&kernel(ADD), GRID)
        .bind("sums", draft.scratch),
    ProgramError::UnknownBinding { .. },
    "op 1 (`add`)",
    "`sums`",
    "source, sum"
);
refused!(
    a_variable_of_a_kernel_without_any,
    |draft| draft
        .builder
        .op(&kernel("@compute @workgroup_size(1) fn idle() {}"), GRID)
        .bind("sums", draft.scratch),
    ProgramError::UnknownBinding { .. },
    "op 1 (`idle`) binds `sums`, but its kernel uses no variables; drop the binding"
);
refused!(
    a_variable_left_unbound,
    |draft| draft
        .builder
        .op(&kernel(ADD), GRID)
        .bind("source", draft.input),
    ProgramError::UnboundBinding { .. },
    "op 1 (`add`)",
    "`sum`"
);
refused!(
    a_variable_bound_twice,
    |draft| draft
        .builder
        .op(&kernel(ADD), GRID)
        .bind("sum", draft.output)
        .bind("sum", draft.scratch),
    ProgramError::BoundTwice { .. },
    "op 1 (`add`)",
    "`sum`"
);
refused!(
    a_buffer_of_another_program,
    |draft| draft.add(Draft::new().input, draft.scratch),
    ProgramError::ForeignBuffer { .. },
    "op 1 (`add`)",
    "`source`"
);
