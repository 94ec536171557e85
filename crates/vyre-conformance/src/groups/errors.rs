//! Bad kernels, programs and calls: each is refused with an error that names what is wrong.

use std::fmt::Debug;

use vyre_core::backend::{DispatchConfig, LaunchMode, Limits};
use vyre_core::error::BackendError;
use vyre_core::kernel::{Capability, Kernel, KernelError};
use vyre_core::program::{Program, ProgramBuilder, ProgramError};

use crate::case::{Case, Fault, Group, ensure};
use crate::context::{Context, bytes, one_op, same_words, words};

const fn case(name: &'static str, run: fn(&Context) -> Result<(), Fault>) -> Case {
    Case::new(Group::Errors, name, run)
}

pub(super) const CASES: &[Case] = &[
    case("bad_kernels_are_refused", bad_kernels),
    case("bad_bindings_are_refused", bad_bindings),
    case("bad_roles_and_ranges_are_refused", bad_roles),
    case("bad_buffers_are_refused", bad_buffers),
    case("bad_grids_are_refused", bad_grids),
    case("the_device's_own_limits_hold", own_limits),
    case("missing_capabilities_are_named", missing_capabilities),
    case("launch_modes_work_or_are_refused", launch_modes),
    case("refusals_leave_the_backend_usable", still_usable),
];

/// Fails unless `result` is an error that `is` takes.
fn refused<T: Debug, E: Debug>(
    what: &str,
    result: Result<T, E>,
    is: impl Fn(&E) -> bool,
) -> Result<(), Fault> {
    match result {
        Err(error) if is(&error) => Ok(()),
        other => Err(Fault::new(format!("{what} gave {other:?}"))),
    }
}

fn bad_kernels(_: &Context) -> Result<(), Fault> {
    let kernel = |what: &str, source: &str, is: fn(&KernelError) -> bool| {
        refused(what, Kernel::from_wgsl(source), is)
    };
    kernel("no WGSL", "fn (", |error| {
        matches!(error, KernelError::Parse { .. })
    })?;
    kernel("an empty source", "", |error| {
        matches!(error, KernelError::NoEntryPoint)
    })?;
    kernel(
        "two entry points",
        "@compute @workgroup_size(1) fn a() {} @compute @workgroup_size(1) fn b() {}",
        |error| matches!(error, KernelError::AmbiguousEntryPoint { available } if *available == ["a", "b"]),
    )?;
    kernel(
        "a fragment shader",
        "@fragment fn paint() {}",
        |error| matches!(error, KernelError::NotCompute { name, .. } if name == "paint"),
    )?;
    kernel(
        "a texture",
        "@group(0) @binding(0) var image: texture_2d<f32>;
         @group(0) @binding(1) var<storage, read_write> y: array<vec4f>;
         @compute @workgroup_size(1) fn main() { y[0] = textureLoad(image, vec2u(), 0); }",
        |error| matches!(error, KernelError::UnsupportedBinding { name, .. } if name == "image"),
    )?;
    kernel(
        "a barrier that not all reach",
        "@compute @workgroup_size(64) fn main(@builtin(local_invocation_index) at: u32) {
             if at < 3u { workgroupBarrier(); }
         }",
        |error| matches!(error, KernelError::NonUniformBarrier { .. }),
    )?;
    let source = "override N: u32; @compute @workgroup_size(N) fn main() {}";
    kernel(
        "an override without a value",
        source,
        |error| matches!(error, KernelError::MissingOverride { names } if *names == ["N"]),
    )?;
    let unknown = Kernel::builder(source).override_constant("M", 1.0).build();
    refused(
        "an unknown override",
        unknown,
        |error| matches!(error, KernelError::UnknownOverride { name, .. } if name == "M"),
    )?;
    let fraction = Kernel::builder(source).override_constant("N", 1.5).build();
    refused(
        "half an integer",
        fraction,
        |error| matches!(error, KernelError::OverrideValue { name, .. } if name == "N"),
    )
}

const ADD: &str = "
    @group(0) @binding(0) var<storage, read> x: array<vec4<u32>>;
    @group(0) @binding(1) var<storage, read_write> y: array<vec4<u32>>;
    @compute @workgroup_size(1) fn add() { y[0] += x[0]; }";

/// Fails unless the program that `make` adds to is refused as `is` says.
fn program(
    what: &str,
    make: impl Fn(&mut ProgramBuilder, &Kernel),
    is: fn(&ProgramError) -> bool,
) -> Result<(), Fault> {
    let kernel = Kernel::from_wgsl(ADD)?;
    let mut builder = Program::builder("bad");
    make(&mut builder, &kernel);
    refused(what, builder.build(), is)
}

const GRID: [u32; 3] = [1, 1, 1];

fn bad_bindings(_: &Context) -> Result<(), Fault> {
    program(
        "an unbound variable",
        |builder, add| {
            let x = builder.input("x", 16);
            builder.op(add, GRID).bind("x", x);
        },
        |error| matches!(error, ProgramError::UnboundBinding { binding, .. } if binding == "y"),
    )?;
    program(
        "an unknown variable",
        |builder, add| {
            let x = builder.in_out("x", 16);
            builder.op(add, GRID).bind("z", x);
        },
        |error| matches!(error, ProgramError::UnknownBinding { binding, .. } if binding == "z"),
    )?;
    program(
        "a buffer that is too small",
        |builder, add| {
            let (x, y) = (builder.input("x", 12), builder.output("y", 16));
            builder.op(add, GRID).bind("x", x).bind("y", y);
        },
        |error| {
            matches!(
                error,
                ProgramError::ArrayTooShort {
                    byte_len: 12,
                    needed: 16,
                    ..
                }
            )
        },
    )
}

fn bad_roles(_: &Context) -> Result<(), Fault> {
    program(
        "a write to an input",
        |builder, add| {
            let (x, y) = (builder.input("x", 16), builder.input("y", 16));
            builder.op(add, GRID).bind("x", x).bind("y", y);
        },
        |error| matches!(error, ProgramError::NotWritable { .. }),
    )?;
    program(
        "a buffer bound twice and written",
        |builder, add| {
            let y = builder.in_out("y", 16);
            builder.op(add, GRID).bind("x", y).bind("y", y);
        },
        |error| matches!(error, ProgramError::Overlap { .. }),
    )?;
    program(
        "an output that nobody writes",
        |builder, add| {
            let (x, y) = (builder.output("x", 16), builder.output("y", 16));
            builder.op(add, GRID).bind("x", x).bind("y", y);
        },
        |error| matches!(error, ProgramError::OutputNeverWritten { name } if name == "x"),
    )?;
    program(
        "a range at an odd place",
        |builder, add| {
            let (x, y) = (builder.input("x", 512), builder.output("y", 16));
            builder
                .op(add, GRID)
                .bind("x", x.slice(16, 16))
                .bind("y", y);
        },
        |error| matches!(error, ProgramError::RangeOffset { offset: 16, .. }),
    )
}

fn bad_buffers(_: &Context) -> Result<(), Fault> {
    for byte_len in [0, 1, 15, 17] {
        program(
            &format!("a buffer of {byte_len} bytes"),
            |builder, add| {
                let (x, y) = (builder.input("x", byte_len), builder.output("y", 16));
                builder.op(add, GRID).bind("x", x).bind("y", y);
            },
            |error| {
                matches!(
                    error,
                    ProgramError::EmptyBuffer { .. } | ProgramError::BufferLength { .. }
                )
            },
        )?;
    }
    program(
        "no ops",
        |_, _| {},
        |error| matches!(error, ProgramError::NoOps { .. }),
    )
}

fn bad_grids(_: &Context) -> Result<(), Fault> {
    for axis in 0..3 {
        for (count, empty) in [(0, true), (65_536, false), (u32::MAX, false)] {
            let mut grid = GRID;
            grid[axis] = count;
            let kernel = Kernel::from_wgsl(ADD)?;
            let mut builder = Program::builder("grid");
            let (x, y) = (builder.input("x", 16), builder.output("y", 16));
            builder.op(&kernel, grid).bind("x", x).bind("y", y);
            refused(
                &format!("grid {grid:?}"),
                builder.build(),
                |error| match error {
                    ProgramError::EmptyGrid { .. } => empty,
                    ProgramError::GridTooLarge { given, .. } => !empty && *given == count,
                    _ => false,
                },
            )?;
        }
    }
    Ok(())
}

/// Limits that let everything through, so that the backend has to look.
fn no_limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_grid = [u32::MAX; 3];
    limits.max_workgroup_size = [16_384; 3];
    limits.max_workgroup_invocations = u32::MAX;
    limits.max_workgroup_memory = u32::MAX;
    limits.max_storage_range = u64::MAX;
    limits.max_uniform_range = u64::MAX;
    limits
}

fn own_limits(context: &Context) -> Result<(), Fault> {
    let own = context.backend().device_info().limits;
    let memory = own.max_workgroup_memory / 4 + 1;
    let sources = [
        format!(
            "@compute @workgroup_size({}) fn main() {{ y[0] = 1u; }}",
            own.max_workgroup_size[0] + 1
        ),
        format!(
            "var<workgroup> much: array<u32, {memory}>; @compute @workgroup_size(1) fn main() {{ much[1] = 1u; y[0] = much[1]; }}"
        ),
    ];
    let frame = "@group(0) @binding(0) var<storage, read_write> y: array<u32>;";
    for source in sources {
        let kernel = Kernel::from_wgsl(&format!("{frame} {source}"))?;
        let mut builder = Program::builder("over the device's limits");
        builder.limits(no_limits());
        let y = builder.output("y", 4);
        builder.op(&kernel, GRID).bind("y", y);
        let result = context
            .backend()
            .dispatch(&builder.build()?, &[], &DispatchConfig::default());
        refused(&source, result, |error| {
            matches!(
                error,
                BackendError::InvalidProgram(_) | BackendError::LimitExceeded { .. }
            )
        })?;
    }
    Ok(())
}

fn missing_capabilities(context: &Context) -> Result<(), Fault> {
    let frame = "@group(0) @binding(0) var<storage, read_write> y: array<u32>;";
    for (capability, source) in [
        (
            Capability::Float16,
            "enable f16;\nVAR @compute @workgroup_size(1) fn main() { y[0] = u32(f16(y[0]) + 1h); }",
        ),
        (
            Capability::Int64,
            "VAR @compute @workgroup_size(1) fn main() { y[0] = u32(u64(y[0]) * 3lu); }",
        ),
        (
            Capability::Subgroups,
            "enable subgroups;\nVAR @compute @workgroup_size(1) fn main() { y[0] = subgroupAdd(y[0]); }",
        ),
    ] {
        let program = one_op(&source.replace("VAR", frame), GRID, &[&[2]])?;
        let result =
            context
                .backend()
                .dispatch(&program, &[&bytes(&[2])], &DispatchConfig::default());
        if context.has(capability) {
            result?;
        } else {
            refused(
                &capability.to_string(),
                result,
                |error| matches!(error, BackendError::MissingCapability { capability: it, .. } if *it == capability),
            )?;
        }
    }
    Ok(())
}

fn launch_modes(context: &Context) -> Result<(), Fault> {
    let program = one_op(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(1) fn main() { y[0] += 1u; }",
        GRID,
        &[&[2]],
    )?;
    for mode in [
        LaunchMode::Auto,
        LaunchMode::Dispatch,
        LaunchMode::Megakernel,
    ] {
        let config = DispatchConfig::default().with_launch_mode(mode);
        match context
            .backend()
            .dispatch(&program, &[&bytes(&[2])], &config)
        {
            Ok(outputs) => same_words(&format!("{mode:?}"), &words(&outputs[0])?, &[3])?,
            Err(BackendError::UnsupportedLaunchMode { mode: named, .. })
                if named == mode && mode != LaunchMode::Auto => {}
            Err(error) => return Err(Fault::new(format!("{mode:?} mode: {error:?}"))),
        }
    }
    Ok(())
}

fn still_usable(context: &Context) -> Result<(), Fault> {
    let source = "
        @group(0) @binding(0) var<storage, read_write> y: array<u32>;
        @compute @workgroup_size(1) fn main() { y[0] += 1u; }";
    let program = one_op(source, GRID, &[&[2]])?;
    for turn in 0..5 {
        let result = context
            .backend()
            .dispatch(&program, &[], &DispatchConfig::default());
        ensure!(
            result.is_err(),
            "a dispatch without its input gave {result:?}"
        );
        let outputs = context.dispatch(&program, &[&bytes(&[turn])])?;
        same_words("the next dispatch", &words(&outputs[0])?, &[turn + 1])?;
    }
    Ok(())
}
