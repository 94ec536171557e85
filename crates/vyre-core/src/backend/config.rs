//! How one dispatch is to run.

use std::borrow::Cow;
use std::time::Duration;

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
