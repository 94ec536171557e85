//! The kit on backends that are wrong, and known to be.

#![forbid(unsafe_code)]
#![expect(
    clippy::unwrap_used,
    reason = "a helper of a test may fail it, and clippy spares only functions marked as tests"
)]

use std::sync::Arc;

use vyre_conformance::{Group, Kit, Outcome, Table};
use vyre_core::backend::{
    DeviceInfo, DeviceKind, DispatchConfig, HostResidents, OutputBuffers, VyreBackend,
};
use vyre_core::error::BackendError;
use vyre_core::program::Program;

/// Checks its inputs, and gives zeros.
struct Zeros {
    info: DeviceInfo,
    residents: Option<HostResidents>,
}

impl VyreBackend for Zeros {
    fn id(&self) -> &'static str {
        "zeros"
    }

    fn device_info(&self) -> &DeviceInfo {
        &self.info
    }

    fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        _config: &DispatchConfig,
    ) -> Result<OutputBuffers, BackendError> {
        program.check_inputs(inputs)?;
        let len = |byte_len| usize::try_from(byte_len).unwrap_or(usize::MAX);
        let outputs = program.outputs();
        Ok(outputs
            .map(|(_, buffer)| vec![0; len(buffer.byte_len())])
            .collect())
    }

    fn host_residents(&self) -> Option<&HostResidents> {
        self.residents.as_ref()
    }
}

fn zeros(residents: bool) -> Kit {
    Kit::new("zeros", move || {
        Ok(Arc::new(Zeros {
            info: DeviceInfo::new("nothing", DeviceKind::Other),
            residents: residents.then(HostResidents::new),
        }))
    })
}

fn outcome(table: &Table, name: &str) -> Outcome {
    let mut results = table.results().iter();
    let found = results.find(|(case, _)| case.full_name() == name);
    found.map(|(_, outcome)| outcome.clone()).unwrap()
}

#[test]
fn a_backend_that_computes_nothing_fails_wherever_something_is_computed() {
    let table = zeros(true).run("").unwrap();
    let computing = [
        Group::Semantics,
        Group::Expressions,
        Group::Bounds,
        Group::Hazards,
        Group::Atomics,
        Group::Barriers,
        Group::Threads,
    ];
    for (case, outcome) in table.results() {
        if computing.contains(&case.group) {
            assert!(
                matches!(outcome, Outcome::Failed(_) | Outcome::Unsupported(_)),
                "{} is {outcome:?}",
                case.full_name()
            );
        }
    }
    assert!(!table.is_conformant());
}

#[test]
fn a_failure_names_seed_and_smallest_kernel() {
    let table = zeros(true).with_seed(5).run("expressions::of_u32").unwrap();
    let Outcome::Failed(text) = outcome(&table, "expressions::of_u32") else {
        panic!("{table}");
    };
    assert!(text.contains("VYRE_CONFORMANCE_SEED=5"), "{text}");
    let (text, _) = text.split_once("\n----\n").unwrap();
    // All but one operation over values from the buffers is cut away.
    assert_eq!(text.matches("let n").count(), 1, "{text}");
    assert!(text.lines().count() < 30, "{text}");
}

#[test]
fn what_a_backend_lacks_is_unsupported_and_not_failed() {
    let table = zeros(false).run("").unwrap();
    for name in [
        "residents::buffers_start_as_zeros",
        "semantics::operations_of_f16",
    ] {
        assert!(
            matches!(outcome(&table, name), Outcome::Unsupported(_)),
            "{name}"
        );
    }
}

#[test]
fn a_declared_failure_is_expected_and_an_unexpected_pass_is_not() {
    let (failing, passing) = ("bounds::reads_give_zero", "errors::bad_grids_are_refused");
    let table = zeros(false)
        .with_groups(&[Group::Bounds, Group::Errors])
        .expecting_failure(failing, "it computes nothing")
        .expecting_failure(passing, "a mistake")
        .run("re")
        .unwrap();
    assert!(matches!(
        outcome(&table, failing),
        Outcome::ExpectedFailure(_)
    ));
    assert!(matches!(outcome(&table, passing), Outcome::Failed(_)));
    assert_eq!(
        table.counts(Group::Hazards),
        vyre_conformance::Counts::default()
    );
}

#[test]
fn names_of_cases_are_unique() {
    let mut names: Vec<String> = zeros(false)
        .cases()
        .iter()
        .map(|case| case.full_name())
        .collect();
    let count = names.len();
    names.sort_unstable();
    names.dedup();
    assert_eq!(names.len(), count);
}

#[test]
fn without_a_second_backend_nothing_is_compared_with_one() {
    let table = zeros(false).run("agreement").unwrap();
    assert_eq!(
        table.counts(Group::Agreement).unsupported,
        table.results().len()
    );
}

#[test]
fn two_backends_that_give_the_same_agree() {
    let info = DeviceInfo::new("nothing", DeviceKind::Other);
    let oracle = Zeros {
        info,
        residents: None,
    };
    let table = zeros(false)
        .with_oracle(Arc::new(oracle))
        .run("agreement")
        .unwrap();
    assert!(table.is_conformant(), "{table}");
}

#[test]
fn a_complaint_after_a_case_fails_it() {
    let table = zeros(false)
        .after_each_case(|| Err("the log is not empty".to_owned()))
        .run("errors::bad_grids_are_refused")
        .unwrap();
    assert!(!table.is_conformant());
}
