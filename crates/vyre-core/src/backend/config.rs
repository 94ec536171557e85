//! How one dispatch is to run.

use std::borrow::Cow;
use std::time::Duration;

use crate::error::BackendError;
use crate::program::Program;

/// How a program reaches the device.
#[derive(Clone, Copy, Debug, Default, Eq, Hash, PartialEq)]
#[non_exhaustive]
pub enum LaunchMode {
    /// The faster of the modes that device and program allow.
    #[default]
    Auto,
    /// One dispatch command for each op, barriers where there is a hazard.
    Dispatch,
    /// All ops in one launch of a linked kernel.
    Megakernel,
}

impl LaunchMode {
    /// Passes what a backend without megakernel mode can do, and refuses the rest in the name of
    /// `backend`, for `reason`.
    ///
    /// # Errors
    /// [`BackendError::UnsupportedLaunchMode`].
    pub fn refuse_megakernel(
        self,
        backend: &str,
        reason: &'static str,
    ) -> Result<(), BackendError> {
        match self {
            Self::Auto | Self::Dispatch => Ok(()),
            Self::Megakernel => Err(BackendError::UnsupportedLaunchMode {
                backend: backend.to_owned(),
                mode: self,
                reason,
            }),
        }
    }
}

/// Settings of one dispatch.
#[derive(Clone, Debug, Default, Eq, PartialEq)]
#[non_exhaustive]
pub struct DispatchConfig {
    /// How the program reaches the device.
    pub launch_mode: LaunchMode,
    /// Longest wait for the device; `None` waits for as long as it takes.
    pub timeout: Option<Duration>,
    /// Name of the dispatch in errors and traces, in place of the program's label.
    pub label: Option<Cow<'static, str>>,
}

impl DispatchConfig {
    /// The [`label`](Self::label), or else that of `program`.
    #[must_use]
    pub fn label_for<'a>(&'a self, program: &'a Program) -> &'a str {
        self.label.as_deref().unwrap_or(program.label())
    }

    /// Sets [`launch_mode`](Self::launch_mode).
    #[must_use]
    pub fn with_launch_mode(mut self, launch_mode: LaunchMode) -> Self {
        self.launch_mode = launch_mode;
        self
    }

    /// Sets [`timeout`](Self::timeout).
    #[must_use]
    pub fn with_timeout(mut self, timeout: Duration) -> Self {
        self.timeout = Some(timeout);
        self
    }

    /// Sets [`label`](Self::label).
    #[must_use]
    pub fn with_label(mut self, label: impl Into<Cow<'static, str>>) -> Self {
        self.label = Some(label.into());
        self
    }
}
