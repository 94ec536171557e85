//! `Registry`: backends by name, and which of them is opened.

use std::sync::Arc;

use vyre_core::backend::VyreBackend;
use vyre_core::error::BackendError;

use crate::open::OpenConfig;

/// Opens a backend as the settings say.
type Open = dyn Fn(&OpenConfig) -> Result<Arc<dyn VyreBackend>, BackendError> + Send + Sync;

/// Backends by name, in order of preference.
///
/// [`Registry::default`] holds the backends of this build: `vulkan`, then `reference`. A crate with a
/// backend of its own adds it under a name, by which it is chosen from then on:
///
/// ```
/// use std::sync::Arc;
///
/// use vyre_driver::backend::{DeviceInfo, DeviceKind, OutputBuffers};
/// use vyre_driver::{
///     BackendError, DispatchConfig, OpenConfig, Program, Registry, VyreBackend,
/// };
///
/// /// Leaves every buffer as it is.
/// struct Idle(DeviceInfo);
///
/// impl VyreBackend for Idle {
///     fn id(&self) -> &str {
///         "idle"
///     }
///
///     fn device_info(&self) -> &DeviceInfo {
///         &self.0
///     }
///
///     fn dispatch(
///         &self,
///         program: &Program,
///         inputs: &[&[u8]],
///         _config: &DispatchConfig,
///     ) -> Result<OutputBuffers, BackendError> {
///         program.check_inputs(inputs)?;
///         Ok(inputs.iter().map(|input| input.to_vec()).collect())
///     }
/// }
///
/// let mut registry = Registry::default();
/// registry.register("idle", |_| Ok(Arc::new(Idle(DeviceInfo::new("idle", DeviceKind::Other)))));
/// let backend = registry.open(&OpenConfig::default().with_backend("idle"))?;
/// assert_eq!(backend.id(), "idle");
/// # Ok::<(), BackendError>(())
/// ```
#[derive(Clone)]
pub struct Registry {
    backends: Vec<(String, Arc<Open>)>,
}

impl Registry {
    /// No backends.
    #[must_use]
    pub fn empty() -> Self {
        Self {
            backends: Vec::new(),
        }
    }

    /// Adds a backend, as the last one; takes the place of the one that has the name already.
    ///
    /// `open` returns [`BackendError::NoDevice`] when this machine has nothing that the backend could
    /// run on. Any other error is taken for a fault that another backend must not hide.
    pub fn register(
        &mut self,
        name: impl Into<String>,
        open: impl Fn(&OpenConfig) -> Result<Arc<dyn VyreBackend>, BackendError> + Send + Sync + 'static,
    ) -> &mut Self {
        let (name, open) = (name.into(), Arc::new(open));
        match self.backends.iter_mut().find(|(known, _)| *known == name) {
            Some((_, known)) => *known = open,
            None => self.backends.push((name, open)),
        }
        self
    }

    /// The names, in order of preference.
    pub fn names(&self) -> impl Iterator<Item = &str> {
        self.backends.iter().map(|(name, _)| name.as_str())
    }

    /// Opens the backend that `config` names, and no other. If it names none, the first that has a
    /// device.
    ///
    /// A backend is passed over only if this machine has no device for it, and `config` asks for
    /// nothing that the next one may not have: neither for a certain device nor for validation. A
    /// warning says so (by `tracing`), and [`DeviceInfo::fallback`] where the backend fills it.
    ///
    /// # Errors
    /// [`BackendError::UnknownBackend`], or that of opening the backend. If none has a device, that of
    /// the first.
    ///
    /// [`DeviceInfo::fallback`]: vyre_core::backend::DeviceInfo::fallback
    pub fn open(&self, config: &OpenConfig) -> Result<Arc<dyn VyreBackend>, BackendError> {
        let Some(wanted) = config
            .backend
            .as_ref()
            .filter(|_| !self.backends.is_empty())
        else {
            return self.open_first(config.clone());
        };
        match self.backends.iter().find(|(name, _)| name == wanted) {
            Some((_, open)) => open(config),
            None => Err(BackendError::UnknownBackend {
                wanted: wanted.clone(),
                available: self.names().map(str::to_owned).collect(),
            }),
        }
    }

    /// The first that has a device.
    fn open_first(&self, mut config: OpenConfig) -> Result<Arc<dyn VyreBackend>, BackendError> {
        let mut skipped: Vec<(&str, BackendError)> = Vec::new();
        for (name, open) in &self.backends {
            match open(&config) {
                Ok(backend) => {
                    for (skipped, error) in &skipped {
                        tracing::warn!("`{name}` is used instead of backend `{skipped}`: {error}");
                    }
                    return Ok(backend);
                }
                Err(error) if is_absence(&error) && config.allows_fallback() => {
                    config.pass_over(name, &error);
                    skipped.push((name, error));
                }
                Err(error) => return Err(error),
            }
        }
        let first = skipped.into_iter().next();
        Err(first.map_or_else(no_backends, |(_, error)| error))
    }
}

/// Whether the machine has no device for the backend at all.
fn is_absence(error: &BackendError) -> bool {
    matches!(
        error,
        BackendError::NoDevice { .. } | BackendError::NoLoader { .. }
    )
}

fn no_backends() -> BackendError {
    BackendError::NoDevice {
        wanted: "any backend".to_owned(),
        found: "there is no backend to choose from".to_owned(),
        remedy: "enable feature `vulkan` or `reference` of vyre-driver, or register a backend",
    }
}

impl Default for Registry {
    /// The backends of this build: `vulkan` (feature `vulkan`), then `reference` (feature `reference`).
    fn default() -> Self {
        #[allow(unused_mut, reason = "nothing is added without features")]
        let mut registry = Self::empty();
        #[cfg(feature = "vulkan")]
        registry.register("vulkan", |config| {
            Ok(Arc::new(vyre_vulkan::VulkanBackend::open(&config.vulkan)?))
        });
        #[cfg(feature = "reference")]
        registry.register("reference", |config| {
            let backend = vyre_reference::ReferenceBackend::open(config.reference.clone())?;
            let fallback = config.fallback().map(str::to_owned);
            Ok(Arc::new(backend.with_fallback(fallback)))
        });
        registry
    }
}

#[cfg(test)]
mod tests;
