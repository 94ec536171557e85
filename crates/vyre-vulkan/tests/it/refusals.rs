//! What the backend refuses, with which figures, and that it works on afterwards.

use vyre_core::backend::{DispatchConfig, LaunchMode, Limits, VyreBackend};
use vyre_core::error::BackendError;
use vyre_core::kernel::Kernel;
use vyre_core::program::{Program, ProgramError};
use vyre_vulkan::{DeviceSelector, VulkanBackend, VulkanConfig};

use crate::programs::{SUMS_BYTES, assert_scales, scaled, sums};
use crate::support::{config, open};

/// Limits that no program is over, so that only the device's own are met.
fn no_limits() -> Limits {
    let mut limits = Limits::default();
    limits.max_grid = [u32::MAX; 3];
    limits.max_workgroup_size = [u32::MAX; 3];
    limits.max_workgroup_invocations = u32::MAX;
    limits.max_workgroup_memory = u32::MAX;
    limits.max_storage_range = u64::MAX;
    limits.max_uniform_range = u64::MAX;
    limits
}

/// One op of `kernel`, which writes its `y`, over `grid`; checked against no limits.
fn one_op(kernel: &str, grid: [u32; 3], y_bytes: u64) -> Program {
    let kernel = Kernel::from_wgsl(kernel).unwrap();
    let mut builder = Program::builder("over a limit");
    builder.limits(no_limits());
    let y = builder.scratch("y", y_bytes);
    builder.op(&kernel, grid).bind("y", y);
    builder.build().unwrap()
}

/// A kernel that writes one word, with a workgroup of this size.
fn one_word([x, y, z]: [u32; 3]) -> String {
    format!(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size({x}, {y}, {z}) fn one() {{ y[0] = 1; }}"
    )
}

/// Why the device refuses to compile and to dispatch `program`; it runs another one afterwards.
fn refusal(backend: &impl VyreBackend, program: &Program) -> ProgramError {
    let compiled = backend.compile(program).unwrap_err();
    let dispatched = backend.dispatch(program, &[], &DispatchConfig::default());
    assert_eq!(dispatched.unwrap_err().to_string(), compiled.to_string());
    assert_scales(backend, &scaled(3), 3);
    match compiled {
        BackendError::InvalidProgram(error) => Some(error),
        _ => None,
    }
    .unwrap()
}

#[test]
fn wrong_number_of_inputs_is_refused() {
    let Some(backend) = open() else { return };
    let (program, input) = (sums(), vec![0; 64]);
    for count in [0, 1, 3] {
        let inputs = vec![&input[..]; count];
        let error = backend.dispatch(&program, &inputs, &DispatchConfig::default());
        let error = error.unwrap_err();
        assert!(
            matches!(error, BackendError::InputCount { expected: 2, given } if given == count),
            "{error}"
        );
    }
    assert_scales(&*backend, &scaled(3), 3);
}

#[test]
fn input_of_another_length_is_refused() {
    let Some(backend) = open() else { return };
    let (program, good) = (sums(), vec![0; 64]);
    for len in [0, 60, 63, 65, 68] {
        let bad = vec![0; len];
        let mut outputs = vec![vec![1, 2, 3]];
        let inputs = [&good[..], &bad[..]];
        let error =
            backend.dispatch_into(&program, &inputs, &DispatchConfig::default(), &mut outputs);
        let error = error.unwrap_err();
        let BackendError::InputLength {
            index,
            name,
            expected,
            given,
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!((index, name.as_str()), (1, "y"));
        assert_eq!((expected, given), (SUMS_BYTES, len as u64));
        assert_eq!(outputs, [[1, 2, 3]]);
    }
    assert_scales(&*backend, &scaled(3), 3);
}

#[test]
fn storage_range_over_the_device_is_refused_with_both_figures() {
    let Some(backend) = open() else { return };
    let maximum = backend.device_info().limits.max_storage_range;
    // The refusal comes before any memory is taken, so the length costs nothing.
    let over = (maximum / 4 + 1) * 4;
    let error = refusal(&*backend, &one_op(&one_word([1, 1, 1]), [1, 1, 1], over));
    let ProgramError::RangeTooLarge {
        at,
        byte_len,
        limit,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((byte_len, limit), (over, maximum));
    assert_eq!((at.binding.as_str(), at.buffer.as_str()), ("y", "y"));
}

#[test]
fn uniform_range_over_the_device_is_refused_with_both_figures() {
    let Some(backend) = open() else { return };
    let maximum = backend.device_info().limits.max_uniform_range;
    let over = (maximum / 16 + 1) * 16;
    if over > 1 << 30 {
        return eprintln!("SKIPPED, since no type is over {maximum} bytes of uniforms");
    }
    let kernel = format!(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         @group(0) @binding(1) var<uniform> u: array<vec4u, {}>;
         @compute @workgroup_size(1) fn one() {{ y[0] = u[0].x; }}",
        over / 16
    );
    let kernel = Kernel::from_wgsl(&kernel).unwrap();
    let mut builder = Program::builder("large uniform");
    builder.limits(no_limits());
    let (u, y) = (builder.scratch("u", over), builder.scratch("y", 4));
    builder.op(&kernel, [1, 1, 1]).bind("y", y).bind("u", u);
    let error = refusal(&*backend, &builder.build().unwrap());
    let ProgramError::RangeTooLarge {
        kind,
        byte_len,
        limit,
        ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!((kind, byte_len, limit), ("uniform", over, maximum));
}

#[test]
fn grid_over_the_device_is_refused_along_each_axis() {
    let Some(backend) = open() else { return };
    let maximum = backend.device_info().limits.max_grid;
    for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
        let Some(over) = maximum[axis].checked_add(1) else {
            eprintln!("SKIPPED along {name}, since no grid is over the device's limit");
            continue;
        };
        let mut grid = [1; 3];
        grid[axis] = over;
        let error = refusal(&*backend, &one_op(&one_word([1, 1, 1]), grid, 4));
        let ProgramError::GridTooLarge {
            axis: along,
            given,
            limit,
            ..
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!((along, given, limit), (name, over, maximum[axis]));
    }
}

#[test]
fn largest_grid_of_the_device_runs_along_each_axis() {
    let Some(backend) = open() else { return };
    let maximum = backend.device_info().limits.max_grid;
    let count = "
        @group(0) @binding(0) var<storage, read_write> y: array<atomic<u32>>;
        @compute @workgroup_size(1) fn count() { atomicAdd(&y[0], 1u); }";
    let kernel = Kernel::from_wgsl(count).unwrap();
    for axis in 0..3 {
        let mut grid = [1; 3];
        // Some devices take 2³¹ workgroups, more than a test has time for.
        grid[axis] = maximum[axis].min(1 << 20);
        let mut builder = Program::builder("largest grid");
        builder.limits(no_limits());
        let y = builder.output("y", 4);
        builder.op(&kernel, grid).bind("y", y);
        let outputs = backend.dispatch(&builder.build().unwrap(), &[], &DispatchConfig::default());
        assert_eq!(outputs.unwrap(), [grid[axis].to_le_bytes()]);
    }
}

#[test]
fn workgroup_over_the_device_is_refused_along_each_axis() {
    let Some(backend) = open() else { return };
    let maximum = backend.device_info().limits.max_workgroup_size;
    for (axis, name) in ['x', 'y', 'z'].into_iter().enumerate() {
        let mut size = [1; 3];
        size[axis] = maximum[axis] + 1;
        let error = refusal(&*backend, &one_op(&one_word(size), [1, 1, 1], 4));
        let ProgramError::WorkgroupTooLarge {
            axis: along,
            given,
            limit,
            ..
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!((along, given, limit), (name, size[axis], maximum[axis]));
    }
}

#[test]
fn invocations_over_the_device_are_refused() {
    let Some(backend) = open() else { return };
    let limits = backend.device_info().limits;
    let [x, y, _] = limits.max_workgroup_size;
    let most = limits.max_workgroup_invocations;
    let rows = most / x + 1;
    if rows > y {
        return eprintln!("SKIPPED, since {x} x {y} invocations are within {most}");
    }
    let error = refusal(&*backend, &one_op(&one_word([x, rows, 1]), [1, 1, 1], 4));
    let ProgramError::TooManyInvocations { given, limit, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((given, limit), (u64::from(x) * u64::from(rows), most));
}

#[test]
fn workgroup_memory_over_the_device_is_refused() {
    let Some(backend) = open() else { return };
    let maximum = backend.device_info().limits.max_workgroup_memory;
    let length = maximum / 4 + 1;
    let kernel = format!(
        "@group(0) @binding(0) var<storage, read_write> y: array<u32>;
         var<workgroup> local: array<u32, {length}>;
         @compute @workgroup_size(1) fn one() {{ y[0] = local[y[0]]; }}"
    );
    let error = refusal(&*backend, &one_op(&kernel, [1, 1, 1], 4));
    let ProgramError::WorkgroupMemory { given, limit, .. } = error else {
        panic!("{error}")
    };
    assert_eq!((given, limit), (4 * length, maximum));
}

#[test]
fn buffer_over_every_allocation_is_refused_with_both_figures() {
    let Some(backend) = open() else { return };
    let kernel = Kernel::from_wgsl(&one_word([1, 1, 1])).unwrap();
    let mut builder = Program::builder("huge");
    let y = builder.scratch("y", 1 << 62);
    builder.op(&kernel, [1, 1, 1]).bind("y", y.slice(0, 256));
    let program = builder.build().unwrap();
    let error = backend.dispatch(&program, &[], &DispatchConfig::default());
    let error = error.unwrap_err();
    let BackendError::LimitExceeded {
        requested, maximum, ..
    } = error
    else {
        panic!("{error}")
    };
    assert_eq!(requested, 1 << 62);
    assert!(maximum < requested);
    assert_scales(&*backend, &scaled(3), 3);
}

#[test]
fn megakernel_mode_is_refused_with_a_reason() {
    let Some(backend) = open() else { return };
    let config = DispatchConfig::default().with_launch_mode(LaunchMode::Megakernel);
    let input = [0; 64];
    let program = sums();
    let errors = [
        backend
            .dispatch(&program, &[&input, &input], &config)
            .unwrap_err(),
        backend
            .dispatch_resident(&program, &[], &config)
            .unwrap_err(),
    ];
    for error in errors {
        let BackendError::UnsupportedLaunchMode {
            backend,
            mode,
            reason,
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!((&*backend, mode), ("vulkan", LaunchMode::Megakernel));
        assert!(!reason.is_empty());
    }
    assert_scales(&*backend, &scaled(3), 3);
}

#[test]
fn dispatch_mode_is_what_auto_does() {
    let Some(backend) = open() else { return };
    let (program, input) = (sums(), [7; 64]);
    let [auto, dispatch] = [LaunchMode::Auto, LaunchMode::Dispatch].map(|mode| {
        let config = DispatchConfig::default().with_launch_mode(mode);
        backend.dispatch(&program, &[&input, &input], &config)
    });
    assert_eq!(auto.unwrap(), dispatch.unwrap());
}

#[test]
fn unknown_device_is_refused_with_a_list_of_what_is_there() {
    let Some(backend) = open() else { return };
    let there = &backend.device_info().name;
    let selectors = [
        (
            DeviceSelector::Name("abacus of bronze".into()),
            "abacus of bronze",
        ),
        (DeviceSelector::Index(1_000_001), "1000001"),
    ];
    for (selector, named) in selectors {
        let error = VulkanBackend::open(&config().with_device(selector)).err();
        let Some(BackendError::UnknownDevice { wanted, found }) = error else {
            panic!("{error:?}")
        };
        assert!(wanted.contains(named), "{wanted}");
        assert!(found.contains(there.as_str()), "{found}");
    }
    assert_scales(&*backend, &scaled(3), 3);
}

#[test]
fn machine_without_a_driver_has_no_device() {
    const NOTHING: &str = "/dev/null";
    if std::env::var_os("VK_DRIVER_FILES").is_some_and(|files| files == NOTHING) {
        for config in [config(), VulkanConfig::default()] {
            let error = VulkanBackend::open(&config).err();
            assert!(
                matches!(error, Some(BackendError::NoDevice { .. })),
                "{error:?}"
            );
        }
        return;
    }
    let Some(_backend) = open() else { return };
    // The loader reads the environment once, so another process has to look.
    let output = std::process::Command::new(std::env::current_exe().unwrap())
        .args([
            "--exact",
            "refusals::machine_without_a_driver_has_no_device",
        ])
        .env("VK_DRIVER_FILES", NOTHING)
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(output.status.success(), "{said}");
    assert!(said.contains("1 passed"), "{said}");
}
