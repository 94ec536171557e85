//! Plans of small programs, checked by hand.

use crate::{
    kernel::Kernel,
    ring::{NONE, item},
};

use super::*;

mod simulate;

const ADD: &str = "
    @group(0) @binding(0) var<storage, read> source: array<u32>;
    @group(0) @binding(1) var<storage, read_write> sum: array<u32>;

    @compute @workgroup_size(64)
    fn add(@builtin(local_invocation_index) i: u32) { sum[i] += source[i]; }";

fn add() -> Kernel {
    Kernel::from_wgsl(ADD).unwrap()
}

/// Ops of one kernel; each is (tiles, buffer read, buffer written).
fn program(buffers: usize, ops: &[(u32, usize, usize)]) -> Program {
    let kernel = add();
    let mut builder = Program::builder("test");
    let ids: Vec<_> = (0..buffers)
        .map(|buffer| builder.in_out(buffer.to_string(), 256))
        .collect();
    for &(tiles, from, to) in ops {
        builder
            .op(&kernel, [tiles, 1, 1])
            .bind("source", ids[from])
            .bind("sum", ids[to]);
    }
    builder.build().unwrap()
}

fn plan(program: &Program, rows: u32, workgroups: u32) -> Plan {
    Plan::new(program, rows, &[0], &PlanConfig::new(workgroups)).unwrap()
}

#[test]
fn a_chain_is_one_item_for_each_row() {
    let ops: Vec<_> = (0..10).map(|op| (1, op % 2, (op + 1) % 2)).collect();
    let plan = plan(&program(2, &ops), 3, 8);
    assert_eq!(plan.items().len(), 3);
    assert!(plan.items().iter().all(|item| item.ops == 10));
    assert_eq!(plan.counters(), 0);
    assert_eq!(plan.record_units(), 30);
    let ops: Vec<_> = plan.records()[10..20]
        .iter()
        .map(|record| record.op)
        .collect();
    assert_eq!(ops, (0..10).collect::<Vec<_>>());
}

#[test]
fn chains_are_found_among_each_other() {
    let ops: Vec<_> = (0..12).map(|op| (1, 0, 1 + op % 3)).collect();
    let plan = plan(&program(4, &ops), 1, 8);
    assert_eq!(plan.items().len(), 3);
    assert!(plan.items().iter().all(|item| item.ops == 4));
}

#[test]
fn a_long_chain_is_cut() {
    let config = PlanConfig {
        max_ops_per_item: 4,
        ..PlanConfig::new(8)
    };
    let ops = [(1, 0, 1); 10];
    let plan = Plan::new(&program(2, &ops), 1, &[0], &config).unwrap();
    let ops: Vec<_> = plan.items().iter().map(|item| item.ops).collect();
    assert_eq!(ops, [4, 4, 2]);
    assert_eq!(plan.items()[0].wait_counter, NONE);
    let item = plan.items()[2];
    assert_eq!((item.wait_counter, item.wait_target), (1, 1));
    assert_eq!(
        (plan.items()[1].signal_first, plan.items()[1].signal_count),
        (1, 1)
    );
}

#[test]
fn a_wide_op_is_cut_into_as_many_chunks_as_workgroups() {
    let plan = plan(&program(2, &[(100, 0, 1)]), 1, 8);
    assert_eq!(plan.items().len(), 8);
    let tiles: u32 = plan.items().iter().map(|item| item.tiles).sum();
    assert_eq!(tiles, 100);
    assert!(
        plan.items()
            .iter()
            .all(|item| [12, 13].contains(&item.tiles))
    );
}

#[test]
fn workgroups_are_shared_by_width() {
    let plan = plan(&program(4, &[(97, 0, 1), (1, 0, 2), (2, 0, 3)]), 1, 50);
    let chunks = |op| {
        plan.items()
            .iter()
            .filter(|item| item.first_record == op)
            .count()
    };
    assert_eq!([chunks(0), chunks(1), chunks(2)], [49, 1, 1]);
}

#[test]
fn ops_that_go_on_from_one_op_run_at_once() {
    let plan = plan(&program(4, &[(1, 0, 1), (1, 1, 2), (1, 1, 3)]), 1, 8);
    assert_eq!(plan.items().len(), 3);
    assert_eq!(plan.counters(), 1);
    assert!(plan.items()[1..].iter().all(|item| item.wait_target == 1));
}

#[test]
fn launches_change_with_the_class_and_end_at_the_budget() {
    let [a, b] = ["a", "b"].map(|name| Kernel::from_wgsl(&ADD.replace("add", name)).unwrap());
    let mut builder = Program::builder("test");
    for buffer in 0..6 {
        let id = builder.in_out(format!("{buffer}"), 256);
        let source = builder.input(format!("source {buffer}"), 256);
        let kernel = if buffer % 2 == 0 { &a } else { &b };
        builder
            .op(kernel, [1, 1, 1])
            .bind("source", source)
            .bind("sum", id);
    }
    let program = builder.build().unwrap();
    let config = PlanConfig {
        launch_budget: 2,
        ..PlanConfig::new(8)
    };
    let plan = Plan::new(&program, 1, &[7, 5], &config).unwrap();
    let launches: Vec<_> = plan
        .launches()
        .iter()
        .map(|launch| (launch.class, launch.items.clone()))
        .collect();
    assert_eq!(launches, [(5, 0..2), (5, 2..3), (7, 3..5), (7, 5..6)]);
    let one_class = Plan::new(&program, 1, &[3, 3], &PlanConfig::new(8)).unwrap();
    assert_eq!(one_class.launches().len(), 1);
}

#[test]
fn senseless_arguments_are_refused() {
    let program = program(2, &[(1, 0, 1)]);
    let zero = Plan::new(&program, 0, &[0], &PlanConfig::new(8));
    assert_eq!(zero, Err(PlanError::Zero { what: "`rows`" }));
    let zero = Plan::new(&program, 1, &[0], &PlanConfig::new(0));
    assert_eq!(
        zero,
        Err(PlanError::Zero {
            what: "`workgroups`"
        })
    );
    let classes = Plan::new(&program, 1, &[], &PlanConfig::new(8));
    let (expected, given) = (1, 0);
    assert_eq!(classes, Err(PlanError::ClassCount { expected, given }));
}
