//! Owns the loader, the `VkInstance` and the debug messenger.

use std::ffi::CStr;
use std::sync::{Arc, Mutex, PoisonError};

use ash::{ext, vk};
use vyre_core::error::BackendError;

use crate::config::Validation;
use crate::error::{driver, loader};
use crate::validation::ValidationLog;

const VALIDATION_LAYER: &CStr = c"VK_LAYER_KHRONOS_validation";

/// The lowest version whose devices are used.
pub(crate) const MINIMUM_API_VERSION: u32 = vk::API_VERSION_1_2;

/// An instance, alive until everything made from it is gone.
pub(crate) struct Instance {
    messenger: Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>,
    raw: ash::Instance,
    debug_utils: bool,
    log: Option<ValidationLog>,
    /// The loader's library; unloaded last.
    _entry: ash::Entry,
}

/// Loads the Vulkan loader.
pub(crate) fn load_entry() -> Result<ash::Entry, BackendError> {
    // SAFETY: loading the system's Vulkan loader runs its initialisers, which the platform vouches
    // for; the library stays loaded for as long as the entry lives, which every instance holds.
    unsafe { ash::Entry::load() }.map_err(|error| BackendError::NoLoader {
        source: error.into(),
    })
}

/// The version of the instance that the loader offers.
pub(crate) fn loader_version(entry: &ash::Entry) -> Result<u32, BackendError> {
    // SAFETY: a global command without parameters.
    let version = unsafe { entry.try_enumerate_instance_version() };
    Ok(version
        .map_err(driver("vkEnumerateInstanceVersion"))?
        .unwrap_or(vk::API_VERSION_1_0))
}

/// The layers that the loader knows.
pub(crate) fn layers(entry: &ash::Entry) -> Result<Vec<vk::LayerProperties>, BackendError> {
    // SAFETY: a global command without parameters beyond its outputs.
    unsafe { entry.enumerate_instance_layer_properties() }
        .map_err(driver("vkEnumerateInstanceLayerProperties"))
}

fn is_validation(layer: &vk::LayerProperties) -> bool {
    layer.layer_name_as_c_str() == Ok(VALIDATION_LAYER)
}

fn has_extension(
    entry: &ash::Entry,
    layer: Option<&CStr>,
    name: &CStr,
) -> Result<bool, BackendError> {
    // SAFETY: `layer` is null or a null-terminated name.
    let found = unsafe { entry.enumerate_instance_extension_properties(layer) }
        .map_err(loader("vkEnumerateInstanceExtensionProperties"))?;
    Ok(found
        .iter()
        .any(|extension| extension.extension_name_as_c_str() == Ok(name)))
}

/// The instance that all backends without validation share, kept until the process ends.
///
/// It keeps the drivers' libraries loaded. Some drivers do not survive being loaded again and again,
/// nor being unloaded while threads end (see docs/driver-quirks.md).
static SHARED: Mutex<Option<Arc<Instance>>> = Mutex::new(None);

impl Instance {
    /// The shared instance, or one of its own under validation.
    pub(crate) fn open(validation: Validation) -> Result<Arc<Self>, BackendError> {
        let mut shared = SHARED.lock().unwrap_or_else(PoisonError::into_inner);
        let instance = match &*shared {
            Some(instance) => Arc::clone(instance),
            None => Arc::clone(shared.insert(Self::new(Validation::Off)?)),
        };
        drop(shared);
        match validation {
            Validation::Off => Ok(instance),
            Validation::On => Self::new(validation),
        }
    }

    fn new(validation: Validation) -> Result<Arc<Self>, BackendError> {
        let entry = load_entry()?;
        let validate = validation == Validation::On;
        if validate && !layers(&entry)?.iter().any(is_validation) {
            return Err(BackendError::NotInstalled {
                name: "VK_LAYER_KHRONOS_validation",
                remedy: "install it (Debian: apt-get install vulkan-validationlayers) or turn \
                         validation off",
            });
        }
        // The validation layer brings the extension along; without it, it only names objects.
        let debug_utils = validate || has_extension(&entry, None, ext::debug_utils::NAME)?;
        let log = validate.then(ValidationLog::default);
        let raw = create(&entry, debug_utils, log.as_ref())?;
        let mut instance = Self {
            messenger: None,
            raw,
            debug_utils,
            log,
            _entry: entry,
        };
        instance.messenger = instance.create_messenger()?;
        Ok(Arc::new(instance))
    }

    fn create_messenger(
        &self,
    ) -> Result<Option<(ext::debug_utils::Instance, vk::DebugUtilsMessengerEXT)>, BackendError>
    {
        let Some(log) = &self.log else {
            return Ok(None);
        };
        let loader = ext::debug_utils::Instance::new(&self._entry, &self.raw);
        // SAFETY: VK_EXT_debug_utils is enabled, and the log lives until after the messenger.
        let messenger = unsafe { loader.create_debug_utils_messenger(&log.messenger(), None) }
            .map_err(driver("vkCreateDebugUtilsMessengerEXT"))?;
        Ok(Some((loader, messenger)))
    }

    pub(crate) fn raw(&self) -> &ash::Instance {
        &self.raw
    }

    /// Whether objects can be named.
    pub(crate) fn has_debug_utils(&self) -> bool {
        self.debug_utils
    }

    /// The messages of the validation layer, when it is on.
    pub(crate) fn validation_log(&self) -> Option<&ValidationLog> {
        self.log.as_ref()
    }

    pub(crate) fn physical_devices(&self) -> Result<Vec<vk::PhysicalDevice>, BackendError> {
        // SAFETY: the instance is alive.
        unsafe { self.raw.enumerate_physical_devices() }
            .map_err(driver("vkEnumeratePhysicalDevices"))
    }
}

fn create(
    entry: &ash::Entry,
    debug_utils: bool,
    log: Option<&ValidationLog>,
) -> Result<ash::Instance, BackendError> {
    let application = vk::ApplicationInfo::default()
        .engine_name(c"vyre")
        // The highest version that the code knows; devices of MINIMUM_API_VERSION are accepted.
        .api_version(vk::API_VERSION_1_3);
    let layer_names = [VALIDATION_LAYER.as_ptr()];
    let extension_names = [
        ext::debug_utils::NAME.as_ptr(),
        ext::validation_features::NAME.as_ptr(),
    ];
    // The validation layer brings both along.
    let extensions = if log.is_some() {
        2
    } else {
        usize::from(debug_utils)
    };
    let checks = [vk::ValidationFeatureEnableEXT::SYNCHRONIZATION_VALIDATION];
    let mut features = vk::ValidationFeaturesEXT::default().enabled_validation_features(&checks);
    let mut messenger = log.map(ValidationLog::messenger);
    let mut info = vk::InstanceCreateInfo::default()
        .application_info(&application)
        .enabled_extension_names(&extension_names[..extensions]);
    if let Some(messenger) = &mut messenger {
        // Chained here too, so that creation and destruction of the instance are heard.
        info = info
            .enabled_layer_names(&layer_names)
            .push_next(&mut features)
            .push_next(messenger);
    }
    // SAFETY: layer and extensions were found before; the chain lives across the call.
    unsafe { entry.create_instance(&info, None) }.map_err(loader("vkCreateInstance"))
}

impl Drop for Instance {
    fn drop(&mut self) {
        if let Some((loader, messenger)) = self.messenger.take() {
            // SAFETY: made from this instance, and destroyed once, before it.
            unsafe { loader.destroy_debug_utils_messenger(messenger, None) };
        }
        // SAFETY: every child holds an `Arc` of this, so none is left.
        unsafe { self.raw.destroy_instance(None) };
    }
}
