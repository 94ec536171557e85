//! `Kit`: a backend's declaration of what is to be tested and what it expects.

use std::panic::{AssertUnwindSafe, catch_unwind};
use std::sync::Arc;

use vyre_core::backend::VyreBackend;
use vyre_core::error::BackendError;

use crate::case::{Case, Fault, Group, Outcome};
use crate::context::Context;
use crate::groups;
use crate::table::Table;

/// Opens the backend under test.
pub(crate) type Open = dyn Fn() -> Result<Arc<dyn VyreBackend>, BackendError> + Send + Sync;

/// Looks for complaints outside of the results, such as a validation log.
pub(crate) type Check = dyn Fn() -> Result<(), String> + Send + Sync;

/// Random kernels of each random case, if nothing else is asked for.
const DEFAULT_KERNELS: usize = 8;

/// A backend under test, and what it declares.
#[derive(Clone)]
pub struct Kit {
    pub(crate) name: String,
    pub(crate) open: Arc<Open>,
    pub(crate) groups: Vec<Group>,
    pub(crate) expected: Vec<(String, String)>,
    pub(crate) oracle: Option<Arc<dyn VyreBackend>>,
    pub(crate) after_case: Option<Arc<Check>>,
    pub(crate) at_end: Option<Arc<Check>>,
    pub(crate) seed: u64,
    pub(crate) kernels: usize,
}

impl Kit {
    /// A kit that runs every group on the backend that `open` opens.
    ///
    /// `VYRE_CONFORMANCE_SEED` and `VYRE_CONFORMANCE_CASES` set seed and number of random kernels.
    pub fn new(
        name: impl Into<String>,
        open: impl Fn() -> Result<Arc<dyn VyreBackend>, BackendError> + Send + Sync + 'static,
    ) -> Self {
        let number = |name| std::env::var(name).ok().and_then(|text| text.parse().ok());
        Self {
            name: name.into(),
            open: Arc::new(open),
            groups: Group::ALL.to_vec(),
            expected: Vec::new(),
            oracle: None,
            after_case: None,
            at_end: None,
            seed: number("VYRE_CONFORMANCE_SEED").unwrap_or(1),
            kernels: number("VYRE_CONFORMANCE_CASES")
                .and_then(|count| usize::try_from(count).ok())
                .unwrap_or(DEFAULT_KERNELS),
        }
    }

    /// Runs these groups only.
    #[must_use]
    pub fn with_groups(mut self, groups: &[Group]) -> Self {
        self.groups = groups.to_vec();
        self
    }

    /// Declares that a case fails, and why; it is an error then if it passes.
    #[must_use]
    pub fn expecting_failure(mut self, case: &str, reason: &str) -> Self {
        self.expected.push((case.to_owned(), reason.to_owned()));
        self
    }

    /// Compares with this backend too, where the host doesn't compute the result.
    #[must_use]
    pub fn with_oracle(mut self, oracle: Arc<dyn VyreBackend>) -> Self {
        self.oracle = Some(oracle);
        self
    }

    /// Has each case followed by a check, whose complaint fails the case.
    #[must_use]
    pub fn after_each_case(
        mut self,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.after_case = Some(Arc::new(check));
        self
    }

    /// Has the whole run followed by a check, once the backend is dropped.
    #[must_use]
    pub fn at_the_end(
        mut self,
        check: impl Fn() -> Result<(), String> + Send + Sync + 'static,
    ) -> Self {
        self.at_end = Some(Arc::new(check));
        self
    }

    /// Sets the seed of everything random.
    #[must_use]
    pub fn with_seed(mut self, seed: u64) -> Self {
        self.seed = seed;
        self
    }

    /// Sets the number of random kernels of each random case.
    #[must_use]
    pub fn with_kernels(mut self, kernels: usize) -> Self {
        self.kernels = kernels;
        self
    }

    /// The cases of the declared groups.
    #[must_use]
    pub fn cases(&self) -> Vec<Case> {
        let cases = groups::all().into_iter();
        cases
            .filter(|case| self.groups.contains(&case.group))
            .collect()
    }

    /// Runs every case whose full name contains `filter`, one after the other.
    ///
    /// # Errors
    /// The error of opening the backend.
    pub fn run(&self, filter: &str) -> Result<Table, BackendError> {
        let context = self.context()?;
        let mut table = Table::new(&self.name, &context.backend.device_info().name);
        for case in self.cases() {
            if case.full_name().contains(filter) {
                table.push(case, self.outcome(&case, &context));
            }
        }
        drop(context);
        table.finish(self.check_end());
        Ok(table)
    }

    pub(crate) fn context(&self) -> Result<Context, BackendError> {
        Ok(Context {
            backend: (self.open)()?,
            oracle: self.oracle.clone(),
            open: Arc::clone(&self.open),
            seed: self.seed,
            kernels: self.kernels,
        })
    }

    pub(crate) fn check_end(&self) -> Result<(), String> {
        self.at_end.as_ref().map_or(Ok(()), |check| check())
    }

    /// Runs one case and holds the end against what the backend declares.
    pub(crate) fn outcome(&self, case: &Case, context: &Context) -> Outcome {
        if let Some(need) = context.lacks(case.needs) {
            return Outcome::Unsupported(format!("`{}` has no {need}", self.name));
        }
        let name = case.full_name();
        let expected = self.expected.iter().find(|(case, _)| *case == name);
        match (self.verdict(case, context), expected) {
            (Ok(()), None) => Outcome::Passed,
            (Ok(()), Some((_, reason))) => Outcome::Failed(format!(
                "passed, though a failure is declared ({reason}); take the declaration back"
            )),
            (Err(Fault(message)), None) => Outcome::Failed(format!(
                "{message}\nseed: VYRE_CONFORMANCE_SEED={}",
                self.seed
            )),
            (Err(Fault(message)), Some((_, reason))) => {
                // Nobody has to act on it, so the kernel that may follow is left out.
                let summary = message.lines().next().unwrap_or_default();
                Outcome::ExpectedFailure(format!("{reason} ({summary})"))
            }
        }
    }

    fn verdict(&self, case: &Case, context: &Context) -> Result<(), Fault> {
        // A backend that panics fails this case and no other.
        let end = catch_unwind(AssertUnwindSafe(|| (case.run)(context)));
        end.unwrap_or_else(|panic| {
            let text = panic.downcast_ref::<&str>().map(|text| (*text).to_owned());
            let text = text.or_else(|| panic.downcast_ref::<String>().cloned());
            let text = text.unwrap_or_default();
            Err(Fault::new(format!("the backend panicked: {text}")))
        })?;
        match &self.after_case {
            Some(check) => check().map_err(Fault),
            None => Ok(()),
        }
    }
}
