//! What the validation layer says: into `tracing`, and into a log that tests read.

use std::ffi::{CStr, c_void};
use std::fmt;
use std::sync::{Arc, Mutex, PoisonError};

use ash::vk;

/// The messages of the validation layer over the life of one backend, its destruction included.
#[derive(Clone, Debug, Default)]
pub struct ValidationLog(Arc<Messages>);

type Messages = Mutex<Vec<String>>;

impl ValidationLog {
    /// The messages so far, warnings and errors alike.
    #[must_use]
    pub fn messages(&self) -> Vec<String> {
        self.0
            .lock()
            .unwrap_or_else(PoisonError::into_inner)
            .clone()
    }

    /// How a messenger reports into this log; the log must outlive the messenger.
    pub(crate) fn messenger(&self) -> vk::DebugUtilsMessengerCreateInfoEXT<'_> {
        vk::DebugUtilsMessengerCreateInfoEXT::default()
            .message_severity(
                vk::DebugUtilsMessageSeverityFlagsEXT::WARNING
                    | vk::DebugUtilsMessageSeverityFlagsEXT::ERROR,
            )
            .message_type(
                vk::DebugUtilsMessageTypeFlagsEXT::VALIDATION
                    | vk::DebugUtilsMessageTypeFlagsEXT::PERFORMANCE,
            )
            .pfn_user_callback(Some(on_message))
            .user_data(Arc::as_ptr(&self.0).cast_mut().cast())
    }
}

impl fmt::Display for ValidationLog {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        self.messages()
            .iter()
            .try_for_each(|message| writeln!(f, "{message}"))
    }
}

/// The layer's callback; it never calls back into Vulkan, and never stops the call it reports on.
unsafe extern "system" fn on_message(
    severity: vk::DebugUtilsMessageSeverityFlagsEXT,
    _kind: vk::DebugUtilsMessageTypeFlagsEXT,
    data: *const vk::DebugUtilsMessengerCallbackDataEXT<'_>,
    user_data: *mut c_void,
) -> vk::Bool32 {
    // SAFETY: `messenger` set `user_data` to a log that outlives the messenger, and the layer gives
    // callback data whose message is null or a string (VkDebugUtilsMessengerCallbackDataEXT).
    let (log, message) = unsafe {
        let message = (*data).p_message;
        let text = if message.is_null() {
            c""
        } else {
            CStr::from_ptr(message)
        };
        (&*user_data.cast::<Messages>(), text.to_string_lossy())
    };
    if severity.contains(vk::DebugUtilsMessageSeverityFlagsEXT::ERROR) {
        tracing::error!(target: "vyre::validation", "{message}");
    } else {
        tracing::warn!(target: "vyre::validation", "{message}");
    }
    log.lock()
        .unwrap_or_else(PoisonError::into_inner)
        .push(message.into_owned());
    vk::FALSE
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::command::Commands;
    use crate::config::{Validation, VulkanConfig};
    use crate::device::Device;
    use crate::instance::Instance;
    use crate::memory::{Buffer, Location, Tally};
    use crate::select;
    use crate::snapshot::DeviceSnapshot;
    use vyre_core::error::BackendError;

    /// The device of `VYRE_DEVICE`, under validation.
    fn open() -> Result<Arc<Device>, BackendError> {
        let instance = Instance::open(Validation::On)?;
        let physical = instance.physical_devices()?;
        let mut snapshots: Vec<_> = physical
            .iter()
            .map(|device| DeviceSnapshot::capture(&instance, *device))
            .collect();
        let chosen = select::choose(&snapshots, &VulkanConfig::from_env().device)?;
        Device::new(&instance, physical[chosen], snapshots.swap_remove(chosen))
    }

    /// `None`, said aloud, where there is no Vulkan and `CI` is not set.
    fn open_or_skip() -> Option<Arc<Device>> {
        match open() {
            Err(
                error @ (BackendError::NoLoader { .. }
                | BackendError::NoDevice { .. }
                | BackendError::NotInstalled { .. }),
            ) if std::env::var_os("CI").is_none() => {
                eprintln!("SKIPPED, since Vulkan or its validation layer is missing: {error}");
                None
            }
            opened => Some(opened.unwrap()),
        }
    }

    /// What the layer says on two fills of one range, with or without a barrier between them.
    ///
    /// They are only recorded: the layer compares the commands of one buffer as they come.
    fn messages_on_two_fills(device: &Arc<Device>, barrier: bool) -> Vec<String> {
        let buffer = Buffer::new(
            device,
            "canary",
            64,
            Location::Device,
            &mut Tally::default(),
        );
        let buffer = buffer.unwrap();
        let mut commands = Commands::new(device, "canary").unwrap();
        let log = device.instance().validation_log().unwrap();
        let before = log.messages().len();
        let recorded = commands.record(|device, commands| {
            let device = device.raw();
            let between = vk::MemoryBarrier::default()
                .src_access_mask(vk::AccessFlags::TRANSFER_WRITE)
                .dst_access_mask(vk::AccessFlags::TRANSFER_WRITE);
            let barriers = [between];
            let transfer = vk::PipelineStageFlags::TRANSFER;
            let flags = vk::DependencyFlags::empty();
            // SAFETY: the commands are being recorded, the buffer is alive and as long as the
            // fills, and nothing is submitted, so the hazard never runs.
            unsafe {
                device.cmd_fill_buffer(commands, buffer.raw(), 0, 64, 1);
                if barrier {
                    device.cmd_pipeline_barrier(
                        commands,
                        transfer,
                        transfer,
                        flags,
                        &barriers,
                        &[],
                        &[],
                    );
                }
                device.cmd_fill_buffer(commands, buffer.raw(), 32, 32, 2);
            }
        });
        recorded.unwrap();
        log.messages().split_off(before)
    }

    #[test]
    fn hazard_is_reported_and_a_barrier_removes_it() {
        let Some(device) = open_or_skip() else { return };
        let messages = messages_on_two_fills(&device, false);
        assert!(
            messages
                .iter()
                .any(|message| message.contains("SYNC-HAZARD")),
            "{messages:?}"
        );
        assert_eq!(messages_on_two_fills(&device, true), [""; 0]);
    }
}
