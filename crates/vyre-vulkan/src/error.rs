//! The one mapping from `VkResult` to errors.

use ash::vk;
use vyre_core::error::BackendError;

/// Maps a failure of the driver call named `call`.
pub(crate) fn driver(call: &'static str) -> impl Fn(vk::Result) -> BackendError {
    move |result| match result {
        vk::Result::ERROR_DEVICE_LOST => BackendError::DeviceLost {
            call,
            source: result.into(),
        },
        vk::Result::ERROR_OUT_OF_HOST_MEMORY => BackendError::OutOfHostMemory {
            call,
            source: result.into(),
        },
        _ => BackendError::DriverCall {
            call,
            code: result.as_raw(),
            source: result.into(),
        },
    }
}

/// Maps a failure of the call named `call`, which the loader answers with the help of a driver.
pub(crate) fn loader(call: &'static str) -> impl Fn(vk::Result) -> BackendError {
    move |result| match result {
        vk::Result::ERROR_INCOMPATIBLE_DRIVER => BackendError::NoDevice {
            wanted: "Vulkan compute".to_owned(),
            found: "the loader found no driver".to_owned(),
            remedy: "install one (Debian: apt-get install mesa-vulkan-drivers)",
        },
        other => driver(call)(other),
    }
}

/// Maps a failure to make the pipeline of the kernel named `kernel`: whatever is not about the
/// device or the host as a whole is the driver's refusal of this kernel.
pub(crate) fn pipeline(kernel: &str, result: vk::Result) -> BackendError {
    match driver("vkCreateComputePipelines")(result) {
        BackendError::DriverCall { code, source, .. } => BackendError::PipelineRefused {
            kernel: kernel.to_owned(),
            code,
            source,
        },
        other => other,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn device_loss_is_told_from_other_failures() {
        let error = driver("vkQueueSubmit")(vk::Result::ERROR_DEVICE_LOST);
        assert!(matches!(
            error,
            BackendError::DeviceLost {
                call: "vkQueueSubmit",
                ..
            }
        ));
    }

    #[test]
    fn other_failures_keep_call_and_code() {
        let error = driver("vkCreateFence")(vk::Result::ERROR_OUT_OF_DEVICE_MEMORY);
        assert!(matches!(
            error,
            BackendError::DriverCall {
                call: "vkCreateFence",
                code: -2,
                ..
            }
        ));
    }

    #[test]
    fn loader_without_a_driver_has_no_device() {
        let error = loader("vkCreateInstance")(vk::Result::ERROR_INCOMPATIBLE_DRIVER);
        assert!(matches!(error, BackendError::NoDevice { .. }));
        let other = loader("vkCreateInstance")(vk::Result::ERROR_LAYER_NOT_PRESENT);
        assert!(matches!(other, BackendError::DriverCall { code: -6, .. }));
    }

    #[test]
    fn refused_pipeline_names_the_kernel() {
        let error = pipeline("saxpy", vk::Result::ERROR_UNKNOWN);
        assert!(
            matches!(error, BackendError::PipelineRefused { kernel, code: -13, .. } if kernel == "saxpy")
        );
        let lost = pipeline("saxpy", vk::Result::ERROR_DEVICE_LOST);
        assert!(matches!(lost, BackendError::DeviceLost { .. }));
    }
}
