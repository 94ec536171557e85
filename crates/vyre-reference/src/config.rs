//! How a reference backend runs and what it checks.

use std::env;

use vyre_core::switch::{InvalidSwitch, switch};

/// Whether a backend looks for faults of kernels.
#[derive(Clone, Copy, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub enum Sanitize {
    /// Faults have the meaning that vyre gives them: reads out of bounds are zero and so on.
    #[default]
    Off,
    /// Faults fail the dispatch with a list of them. Slower, and on one core.
    On,
}

/// Settings of a reference backend.
#[derive(Clone, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct ReferenceConfig {
    /// Whether faults of kernels fail the dispatch.
    pub sanitize: Sanitize,
    /// Invocations of a subgroup, a power of two from 4 to 128; others are moved into that range.
    pub subgroup_size: u32,
    /// Instructions that a workgroup may run before its dispatch fails; `None` for no limit.
    pub step_limit: Option<u64>,
    /// What the environment says and nobody understands.
    pub(crate) invalid: Option<InvalidSwitch>,
}

/// Steps that the sanitizer allows a workgroup: minutes of running.
const SANITIZER_STEPS: u64 = 1 << 32;

impl Default for ReferenceConfig {
    fn default() -> Self {
        Self {
            sanitize: Sanitize::Off,
            subgroup_size: 32,
            step_limit: None,
            invalid: None,
        }
    }
}

impl ReferenceConfig {
    /// The defaults, with the sanitizer where the environment says `VYRE_SANITIZE=1` or the like (see
    /// [`switch`]). A value that is no switch fails [`ReferenceBackend::open`].
    ///
    /// [`ReferenceBackend::open`]: crate::ReferenceBackend::open
    #[must_use]
    pub fn from_env() -> Self {
        let value = env::var("VYRE_SANITIZE").ok();
        match switch("VYRE_SANITIZE", value.as_deref()) {
            Ok(true) => Self::default().with_sanitize(Sanitize::On),
            Ok(false) => Self::default(),
            Err(invalid) => Self {
                invalid: Some(invalid),
                ..Self::default()
            },
        }
    }

    /// Sets [`sanitize`](Self::sanitize).
    #[must_use]
    pub fn with_sanitize(mut self, sanitize: Sanitize) -> Self {
        self.sanitize = sanitize;
        self
    }

    /// Sets [`subgroup_size`](Self::subgroup_size).
    #[must_use]
    pub fn with_subgroup_size(mut self, subgroup_size: u32) -> Self {
        self.subgroup_size = subgroup_size;
        self
    }

    /// Sets [`step_limit`](Self::step_limit).
    #[must_use]
    pub fn with_step_limit(mut self, step_limit: u64) -> Self {
        self.step_limit = Some(step_limit);
        self
    }

    /// The subgroup size that is used.
    pub(crate) fn lanes_of_subgroup(&self) -> u32 {
        self.subgroup_size.clamp(4, 128).next_power_of_two()
    }

    /// The step limit that is used.
    pub(crate) fn steps(&self) -> Option<u64> {
        let default = (self.sanitize == Sanitize::On).then_some(SANITIZER_STEPS);
        self.step_limit.or(default)
    }
}
