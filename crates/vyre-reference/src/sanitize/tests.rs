//! Each fault is found where it is, and nothing else is.

use vyre_core::backend::BackendError;
use vyre_core::finding::{Finding, FindingKind};
use vyre_core::kernel::Kernel;
use vyre_core::program::Program;

use super::{AccessKind, Sanitizer, Site, Space};
use crate::tests::try_run;
use crate::{ReferenceConfig, Sanitize};

/// What the sanitizer says of a kernel over `out`, 16 words.
fn findings(source: &str, grid: u32) -> Vec<Finding> {
    let source =
        format!("@group(0) @binding(0) var<storage, read_write> out: array<u32>;\n{source}");
    let config = ReferenceConfig::default().with_sanitize(Sanitize::On);
    match try_run(config, &source, grid, &[("out", &[0; 16])]) {
        Ok(_) => Vec::new(),
        Err(BackendError::Faults { findings, .. }) => findings,
        Err(error) => panic!("{error}"),
    }
}

#[test]
fn sound_kernel_passes() {
    let found = findings(
        "var<workgroup> w: array<u32, 4>;
         var<workgroup> n: atomic<u32>;
         @compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3u) {
             w[i] = i;
             atomicAdd(&n, 1u);
             workgroupBarrier();
             out[g.x * 4u + i] = w[3u - i] + atomicLoad(&n);
             storageBarrier();
             out[g.x * 4u + (i + 1u) % 4u] += 1u;
         }",
        4,
    );
    assert_eq!(found, []);
}

#[test]
fn index_out_of_bounds_has_its_line_and_invocation() {
    let found = findings(
        "var<private> own: array<u32, 3>;
         @compute @workgroup_size(4)
         fn main(@builtin(global_invocation_id) id: vec3u) {
             own[id.x] = 1u;
             out[id.x] = own[0];
             if id.x > 100u { out[id.x] = 1u; }
         }",
        5,
    );
    assert_eq!(found.len(), 2);
    assert_eq!(found[0].kind, FindingKind::OutOfBounds);
    assert_eq!(
        (found[0].line, found[0].workgroup, found[0].invocation),
        (5, [0; 3], [3, 0, 0])
    );
    assert_eq!(
        (found[1].line, found[1].workgroup, found[1].invocation),
        (6, [4, 0, 0], [0; 3])
    );
    let text = found[1].to_string();
    assert_eq!(
        text,
        "index out of bounds in line 6 of kernel `main` (op 0, workgroup [4, 0, 0], invocation \
         [0, 0, 0])"
    );
}

#[test]
fn races_in_and_between_workgroups_are_found() {
    let found = findings(
        "var<workgroup> w: array<u32, 4>;
         @compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32, @builtin(workgroup_id) g: vec3u) {
             w[i] = i;
             let x = w[i ^ 1u];
             out[i] = x;
         }",
        2,
    );
    let race = |index: usize| {
        let FindingKind::DataRace {
            workgroup,
            invocation,
            line,
            ..
        } = found[index].kind
        else {
            panic!("{}", found[index]);
        };
        (found[index].line, line, workgroup, invocation)
    };
    assert_eq!(found.len(), 2);
    assert_eq!(race(0), (6, 5, [0; 3], [1, 0, 0]));
    assert_eq!(race(1), (7, 7, [0; 3], [0; 3]));
    assert_eq!(
        (found[1].workgroup, found[1].invocation),
        ([1, 0, 0], [0; 3])
    );
}

#[test]
fn workgroup_barrier_does_not_order_storage() {
    let found = findings(
        "@compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32) {
             out[i] = i;
             workgroupBarrier();
             out[8u + i] = out[3u - i];
         }",
        1,
    );
    assert!(matches!(
        found[..],
        [Finding {
            line: 6,
            kind: FindingKind::DataRace { line: 4, .. },
            ..
        }]
    ));
}

#[test]
fn unwritten_workgroup_memory_is_found() {
    let found = findings(
        "var<workgroup> w: array<u32, 4>;
         @compute @workgroup_size(4)
         fn main(@builtin(local_invocation_index) i: u32) {
             if i < 3u { w[i] = i; }
             workgroupBarrier();
             out[i] = w[i];
         }",
        1,
    );
    assert_eq!(found.len(), 1);
    assert_eq!(found[0].kind, FindingKind::UnwrittenWorkgroupMemory);
    assert_eq!((found[0].line, found[0].invocation), (7, [3, 0, 0]));
}

#[test]
fn endless_loop_ends() {
    let config = ReferenceConfig::default()
        .with_sanitize(Sanitize::On)
        .with_step_limit(50_000);
    let source = "
        @group(0) @binding(0) var<storage, read_write> out: array<u32>;
        @compute @workgroup_size(2)
        fn main() { loop { out[0] = 1u; } }";
    let error = try_run(config, source, 1, &[("out", &[0])]).unwrap_err();
    let BackendError::Faults {
        findings, count, ..
    } = error
    else {
        panic!("{error}");
    };
    // Two invocations write the same word, and then never end.
    assert!(count > 2);
    assert_eq!(findings.len(), 2);
    assert!(matches!(
        findings[1].kind,
        FindingKind::StepLimit { limit: 50_000 }
    ));
}

#[test]
fn kernels_in_use_are_sound() {
    let config = || ReferenceConfig::default().with_sanitize(Sanitize::On);
    let source = include_str!("../../benches/matrix.wgsl").replace("SIDE: u32", "SIDE: u32 = 32");
    // One row of tiles: the identity times a matrix that counts.
    let identity: Vec<u32> = (0..1024_u32)
        .map(|index| f32::from(u8::from(index % 33 == 0)).to_bits())
        .collect();
    let counting: Vec<u32> = (0..1024_u16)
        .map(|index| f32::from(index).to_bits())
        .collect();
    let buffers: [(&str, &[u32]); 3] =
        [("a", &identity), ("b", &counting), ("product", &[0; 1024])];
    let product = try_run(config(), &source, 2, &buffers).unwrap();
    assert_eq!(product[0][..512], counting[..512]);

    let source = concat!(
        include_str!("../../../vyre-driver/examples/blake3/compress.wgsl"),
        include_str!("../../../vyre-driver/examples/blake3/chunk.wgsl"),
    );
    let buffers: [(&str, &[u32]); 3] = [
        ("data", &[7; 600]),
        ("piece", &[2400, 0, 0, 0]),
        ("nodes", &[0; 24]),
    ];
    assert!(try_run(config(), source, 1, &buffers).is_ok());
}

#[test]
fn subgroup_barrier_orders_its_own_lanes_only() {
    let source = "enable subgroups;
         @group(0) @binding(0) var<storage, read_write> out: array<u32>;
         var<workgroup> w: array<u32, 16>;
         @compute @workgroup_size(16)
         fn main(@builtin(local_invocation_index) i: u32) {
             w[i] = i;
             subgroupBarrier();
             out[i] = w[i ^ MASK];
         }";
    let config = ReferenceConfig::default()
        .with_sanitize(Sanitize::On)
        .with_subgroup_size(8);
    let run = |mask| {
        let source = source.replace("MASK", mask);
        try_run(config.clone(), &source, 1, &[("out", &[0; 16])])
    };
    assert!(run("7u").is_ok());
    assert!(matches!(
        run("8u"),
        Err(BackendError::Faults { count: 16, .. })
    ));
}

/// The builder derives a dependency from every conflict, so only a made-up access can miss one.
#[test]
fn ops_race_unless_one_waits_for_the_other() {
    let kernel = Kernel::from_wgsl(
        "@group(0) @binding(0) var<storage, read> x: array<u32>;
         @group(0) @binding(1) var<storage, read_write> y: array<u32>;
         @compute @workgroup_size(4) fn main() { y[0] = x[0]; }",
    )
    .unwrap();
    let mut builder = Program::builder("ops");
    let x = builder.input("x", 16);
    let [a, b, c] = ["a", "b", "c"].map(|name| builder.output(name, 16));
    for (from, to) in [(x, a), (a, b), (x, c)] {
        builder.op(&kernel, [1, 1, 1]).bind("x", from).bind("y", to);
    }
    let program = builder.build().unwrap();
    let races = |first: usize, second: usize| {
        let mut sanitizer = Sanitizer::new(&program, 32);
        for (op, kind) in [(first, AccessKind::Write), (second, AccessKind::Read)] {
            sanitizer.begin(op, 0);
            let site = Site { lane: 1, line: 3 };
            sanitizer.access(Space::Buffer(0), (8, 4), kind, site);
        }
        let (findings, _) = sanitizer.into_findings();
        findings
            .into_iter()
            .map(|finding| finding.kind)
            .collect::<Vec<_>>()
    };
    assert_eq!(races(0, 1), []);
    let race = FindingKind::DataRace {
        op: 1,
        workgroup: [0; 3],
        invocation: [1, 0, 0],
        line: 3,
    };
    assert_eq!(races(1, 2), [race]);
}
