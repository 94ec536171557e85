//! Runs plans on simulated workgroups in random order, and checks every access.
//!
//! What counts is not what has run but what is *known* to have run: an item knows the items of
//! earlier launches, those that signalled the counter it waited for, and what they knew.

use proptest::prelude::*;

use super::*;
use crate::program::BufferId;

/// Bytes of a tile of the local kernel, and the alignment of ranges.
const TILE: u64 = 256;

/// Every tile touches all of both ranges.
const GLOBAL: &str = "
    @group(0) @binding(0) var<storage, read> source: array<u32>;
    @group(0) @binding(1) var<storage, read_write> sum: array<u32>;
    @compute @workgroup_size(64)
    fn global(@builtin(local_invocation_index) i: u32) { sum[source[i]] += source[i]; }";

/// Every tile touches its own part of both ranges.
const LOCAL: &str = "
    @group(0) @binding(0) var<storage, read> source: array<u32>;
    @group(0) @binding(1) var<storage, read_write> sum: array<u32>;
    @compute @workgroup_size(64)
    fn local(@builtin(global_invocation_id) id: vec3u) { sum[id.x] += source[id.x]; }";

/// An op; ranges are (first tile, tiles) of one buffer.
#[derive(Clone, Debug)]
struct TestOp {
    kernel: usize,
    tiles: u32,
    source: (u64, u64),
    sum: (u64, u64),
}

impl TestOp {
    /// The bytes that a tile touches, and whether it writes them.
    fn touches(&self, tile: u32) -> [(Range<u64>, bool); 2] {
        [(self.source, false), (self.sum, true)].map(|((first, tiles), writes)| {
            let range = first..first + tiles;
            let at = first + u64::from(tile);
            let own = at.min(range.end)..(at + 1).min(range.end);
            let tiles = if self.kernel % 2 == 1 { own } else { range };
            (tiles, writes)
        })
    }
}

fn conflict(a: &TestOp, tile_a: u32, b: &TestOp, tile_b: u32) -> bool {
    a.touches(tile_a).iter().any(|(a, a_writes)| {
        let mut others = b.touches(tile_b).into_iter();
        others
            .any(|(b, b_writes)| (*a_writes || b_writes) && a.start.max(b.start) < a.end.min(b.end))
    })
}

fn build(ops: &[TestOp]) -> (Program, Vec<u32>) {
    let [global, local] = [GLOBAL, LOCAL].map(|source| Kernel::from_wgsl(source).unwrap());
    let named = |source: &str, name| Kernel::from_wgsl(&source.replace("fn ", name)).unwrap();
    let kernels = [
        global,
        local,
        named(GLOBAL, "fn other_"),
        named(LOCAL, "fn other_"),
    ];
    let mut builder = Program::builder("random");
    let end = |(first, tiles): (u64, u64)| first + tiles;
    let ends = ops.iter().map(|op| end(op.source).max(end(op.sum)));
    let buffer: BufferId = builder.in_out("buffer", ends.max().unwrap_or(1) * TILE);
    let slice = |(first, tiles): (u64, u64)| buffer.slice(first * TILE, tiles * TILE);
    for op in ops {
        builder
            .op(&kernels[op.kernel], [op.tiles, 1, 1])
            .bind("source", slice(op.source))
            .bind("sum", slice(op.sum));
    }
    let program = builder.build().unwrap();
    let class = |kernel: &Kernel| u32::from(kernel.entry_point().starts_with("other_"));
    let classes = program.kernels().iter().map(class).collect();
    (program, classes)
}

/// A workgroup's place in its item.
struct Running {
    item: usize,
    op: u32,
    tile: u32,
    begun: bool,
}

struct Simulation<'a> {
    plan: &'a Plan,
    ops: &'a [TestOp],
    counters: Vec<u32>,
    /// The items that signalled each counter.
    signallers: Vec<Vec<usize>>,
    /// By item, the items that it knows to be done.
    known: Vec<Vec<bool>>,
    /// By row, op and tile: the item that ran it.
    ran: Vec<Vec<Vec<Option<usize>>>>,
    random: u64,
}

impl Simulation<'_> {
    fn random(&mut self, below: usize) -> usize {
        self.random ^= self.random << 13;
        self.random ^= self.random >> 7;
        self.random ^= self.random << 17;
        usize::try_from(self.random % below as u64).unwrap()
    }

    fn run(&mut self, workgroups: usize) -> Result<(), TestCaseError> {
        let mut next = 0;
        for launch in &self.plan.launches {
            prop_assert_eq!(launch.items.start as usize, next);
            let first = next;
            let end = launch.items.end as usize;
            let mut running: Vec<Option<Running>> = (0..workgroups).map(|_| None).collect();
            loop {
                let able: Vec<usize> = (0..workgroups)
                    .filter(|&index| match &running[index] {
                        None => next < end,
                        Some(at) => at.begun || self.may_begin(at.item),
                    })
                    .collect();
                if able.is_empty() {
                    break;
                }
                let index = able[self.random(able.len())];
                if let Some(mut at) = running[index].take() {
                    running[index] = self.step(&mut at, first)?.then_some(at);
                } else {
                    running[index] = Some(Running {
                        item: next,
                        op: 0,
                        tile: 0,
                        begun: false,
                    });
                    next += 1;
                }
            }
            prop_assert!(running.iter().all(Option::is_none), "deadlock");
        }
        prop_assert_eq!(next, self.plan.items.len());
        let mut all = self.ran.iter().flatten().flatten();
        prop_assert!(all.all(Option::is_some), "a tile never ran");
        Ok(())
    }

    fn may_begin(&self, item: usize) -> bool {
        let item = &self.plan.items[item];
        item.wait_counter == NONE || self.counters[item.wait_counter as usize] >= item.wait_target
    }

    /// One step of a workgroup; whether its item goes on.
    fn step(&mut self, at: &mut Running, launch_start: usize) -> Result<bool, TestCaseError> {
        let item = self.plan.items[at.item];
        if !at.begun {
            at.begun = true;
            let mut known = vec![false; self.plan.items.len()];
            known[..launch_start].fill(true);
            if item.wait_counter != NONE {
                for &other in &self.signallers[item.wait_counter as usize] {
                    known[other] = true;
                    for (mine, theirs) in known.iter_mut().zip(&self.known[other]) {
                        *mine |= theirs;
                    }
                }
            }
            self.known[at.item] = known;
        } else if at.op == item.ops {
            self.signal(at.item);
            return Ok(false);
        } else {
            self.access(at)?;
            at.tile += 1;
            if at.tile == item.tiles {
                (at.op, at.tile) = (at.op + 1, 0);
            }
        }
        Ok(true)
    }

    fn access(&mut self, at: &Running) -> Result<(), TestCaseError> {
        let item = self.plan.items[at.item];
        let records = &self.plan.records;
        let first = records.partition_point(|record| record.first_unit < item.first_record);
        let PlannedOp { op, row, .. } = records[first + at.op as usize];
        let tile = item.first_tile + at.tile;
        let ran = &mut self.ran[row as usize];
        let slot = &mut ran[op as usize][tile as usize];
        prop_assert!(slot.is_none(), "op {} ran tile {} twice", op, tile);
        *slot = Some(at.item);
        let this = &self.ops[op as usize];
        for (before, other) in self.ops[..op as usize].iter().enumerate() {
            for (other_tile, by) in (0..).zip(&ran[before]) {
                if conflict(this, tile, other, other_tile) {
                    let seen = by.is_some_and(|by| by == at.item || self.known[at.item][by]);
                    prop_assert!(seen, "op {} tile {} misses op {}", op, tile, before);
                }
            }
        }
        Ok(())
    }

    fn signal(&mut self, index: usize) {
        let item = self.plan.items[index];
        let first = item.signal_first as usize;
        let count = (item.signal_count & !item::LISTED) as usize;
        let counters: Vec<u32> = if item.signal_count & item::LISTED == 0 {
            (item.signal_first..).take(count).collect()
        } else {
            self.plan.ring_words().skip(first).take(count).collect()
        };
        for counter in counters {
            self.counters[counter as usize] += 1;
            self.signallers[counter as usize].push(index);
        }
    }
}

/// What a plan is made for, and by how many workgroups it is run, in which order.
#[derive(Clone, Debug)]
struct Setting {
    rows: u32,
    config: PlanConfig,
    workgroups: usize,
    seed: u64,
}

fn setting() -> impl Strategy<Value = Setting> {
    let config = (1..12_u32, 1..6_u32, prop_oneof![1..9_u32, Just(u32::MAX)]);
    (1..4_u32, config, 1..9_usize, 1..u64::MAX).prop_map(|(rows, config, workgroups, seed)| {
        let (planned, max_ops_per_item, launch_budget) = config;
        Setting {
            rows,
            config: PlanConfig {
                workgroups: planned,
                max_ops_per_item,
                launch_budget,
            },
            workgroups,
            seed,
        }
    })
}

fn check(ops: &[TestOp], setting: &Setting) -> Result<(), TestCaseError> {
    let (program, classes) = build(ops);
    let plan = Plan::new(&program, setting.rows, &classes, &setting.config).unwrap();
    for launch in plan.launches() {
        let len = launch.items.end - launch.items.start;
        prop_assert!((1..=setting.config.launch_budget).contains(&len));
        for item in &plan.items()[launch.items.start as usize..launch.items.end as usize] {
            prop_assert!((1..=setting.config.max_ops_per_item).contains(&item.ops));
            let first = plan
                .records
                .iter()
                .position(|at| at.first_unit == item.first_record);
            for record in &plan.records()[first.unwrap()..][..item.ops as usize] {
                let kernel = program.ops()[record.op as usize].kernel();
                prop_assert_eq!(classes[kernel as usize], launch.class);
            }
        }
    }
    let nothing = ops.iter().map(|op| vec![None; op.tiles as usize]).collect();
    let mut simulation = Simulation {
        plan: &plan,
        ops,
        counters: vec![0; plan.counters() as usize],
        signallers: vec![Vec::new(); plan.counters() as usize],
        known: vec![Vec::new(); plan.items().len()],
        ran: vec![nothing; setting.rows as usize],
        random: setting.seed,
    };
    simulation.run(setting.workgroups)
}

/// Ops over a few tiles of one buffer, of which one tile or the same few come often.
fn ops() -> impl Strategy<Value = Vec<TestOp>> {
    let range = || {
        prop_oneof![
            3 => (0..4_u64).prop_map(|tile| (tile, 1)),
            3 => (0..3_u64).prop_map(|part| (part * 4, 4)),
            1 => (0..10_u64, 1..6_u64),
        ]
    };
    let tiles = prop_oneof![3 => Just(1_u32), 3 => Just(4), 1 => 1..7_u32];
    let kernel = prop_oneof![2 => 0..2_usize, 1 => 0..4_usize];
    let op = (kernel, tiles, range(), range()).prop_filter_map(
        "the ranges of an op that writes may not overlap",
        |(kernel, tiles, source, sum)| {
            let apart = source.0 + source.1 <= sum.0 || sum.0 + sum.1 <= source.0;
            apart.then_some(TestOp {
                kernel,
                tiles,
                source,
                sum,
            })
        },
    );
    prop::collection::vec(op, 1..28)
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(600))]

    #[test]
    fn all_runs_once_after_what_it_depends_on(ops in ops(), setting in setting()) {
        check(&ops, &setting)?;
    }
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(4))]

    /// So many different sets to wait for that steps are counted.
    #[test]
    fn stairs_run_too(width in 80..90_u64, layers in 2..3_u64, setting in setting()) {
        let ops: Vec<_> = (0..width * layers).map(|op| {
            let (layer, part) = (op / width, op % width);
            // The first op of a layer waits for the last of the layer before, which runs latest.
            // Ranges of their own, so that no op waits for the readers of what it overwrites.
            let (from, to) = (layer * width, (layer + 1) * width);
            TestOp { kernel: 0, tiles: 1, source: (from, width - part), sum: (to + part, 1) }
        }).collect();
        check(&ops, &setting)?;
        let (program, classes) = build(&ops);
        let plan = Plan::new(&program, 1, &classes, &PlanConfig::new(8)).unwrap();
        // The last step is counted too, though nobody waits for it.
        prop_assert_eq!(u64::from(plan.counters()), layers);
    }
}
