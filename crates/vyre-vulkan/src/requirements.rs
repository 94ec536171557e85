//! What a kernel asks of a device beyond what its program has been checked for.

use vyre_core::error::BackendError;
use vyre_core::kernel::{BindingKind, Kernel};

use crate::snapshot::DeviceSnapshot;

/// Bindings of a kernel that are of this kind.
pub(crate) fn descriptor_count(kernel: &Kernel, kind: BindingKind) -> u32 {
    let bindings = kernel
        .bindings()
        .iter()
        .filter(|binding| binding.kind == kind);
    // More than a u32 is over every device's limit just the same.
    u32::try_from(bindings.count()).unwrap_or(u32::MAX)
}

/// Descriptor sets that a kernel spans: one for each group up to the highest in use.
pub(crate) fn group_count(kernel: &Kernel) -> u32 {
    kernel
        .bindings()
        .iter()
        .map(|binding| binding.group + 1)
        .max()
        .unwrap_or(0)
}

/// Checks a kernel against what the device can bind, and against its capabilities.
pub(crate) fn check_kernel(kernel: &Kernel, device: &DeviceSnapshot) -> Result<(), BackendError> {
    device.info.check_kernel(kernel)?;
    let limits = [
        (
            "storage bindings",
            "maxPerStageDescriptorStorageBuffers",
            descriptor_count(kernel, BindingKind::Storage),
            device.max_storage_descriptors,
        ),
        (
            "uniform bindings",
            "maxPerStageDescriptorUniformBuffers",
            descriptor_count(kernel, BindingKind::Uniform),
            device.max_uniform_descriptors,
        ),
        (
            "binding groups",
            "maxBoundDescriptorSets",
            group_count(kernel),
            device.max_bound_sets,
        ),
    ];
    match limits
        .into_iter()
        .find(|(_, _, requested, maximum)| requested > maximum)
    {
        None => Ok(()),
        Some((what, limit, requested, maximum)) => Err(BackendError::LimitExceeded {
            subject: format!("{what} of kernel `{}`", kernel.entry_point()),
            limit,
            requested: requested.into(),
            maximum: maximum.into(),
        }),
    }
}

#[cfg(test)]
mod tests {
    use vyre_core::backend::DeviceKind;
    use vyre_core::kernel::Capability;

    use super::*;
    use crate::select::tests::device;

    /// A kernel named `wide` with these many bindings of each kind.
    fn kernel(storage: usize, uniform: usize) -> Kernel {
        let storage_lines =
            (0..storage).map(|i| format!("@binding({i}) var<storage, read_write> s{i}: u32;"));
        let uniform_lines =
            (0..uniform).map(|i| format!("@binding({}) var<uniform> u{i}: u32;", storage + i));
        let uses = (0..storage).map(|i| format!("s{i} = 1;"));
        let uniform_uses = (0..uniform).map(|i| format!("s0 += u{i};"));
        let bindings: String = storage_lines
            .chain(uniform_lines)
            .map(|line| format!("@group(0) {line}"))
            .collect();
        let body: String = uses.chain(uniform_uses).collect();
        let source = format!("{bindings} @compute @workgroup_size(1) fn wide() {{ {body} }}");
        Kernel::from_wgsl(&source).unwrap()
    }

    fn snapshot(storage: u32, uniform: u32, sets: u32) -> DeviceSnapshot {
        DeviceSnapshot {
            max_storage_descriptors: storage,
            max_uniform_descriptors: uniform,
            max_bound_sets: sets,
            ..device("gpu", DeviceKind::DiscreteGpu)
        }
    }

    /// Limit, request and maximum of a refusal that names the kernel.
    fn exceeded(kernel: &Kernel, device: &DeviceSnapshot) -> (&'static str, u64, u64) {
        let error = check_kernel(kernel, device).unwrap_err();
        let BackendError::LimitExceeded {
            subject,
            limit,
            requested,
            maximum,
        } = error
        else {
            panic!("{error}")
        };
        assert!(subject.contains(&format!("`{}`", kernel.entry_point())));
        (limit, requested, maximum)
    }

    #[test]
    fn kernel_at_every_limit_is_accepted() {
        assert!(check_kernel(&kernel(5, 3), &snapshot(5, 3, 1)).is_ok());
    }

    #[test]
    fn one_storage_binding_too_many_is_refused() {
        assert_eq!(
            exceeded(&kernel(6, 0), &snapshot(5, 8, 4)),
            ("maxPerStageDescriptorStorageBuffers", 6, 5)
        );
    }

    #[test]
    fn one_uniform_binding_too_many_is_refused() {
        assert_eq!(
            exceeded(&kernel(1, 4), &snapshot(8, 3, 4)),
            ("maxPerStageDescriptorUniformBuffers", 4, 3)
        );
    }

    #[test]
    fn empty_group_before_one_in_use_counts() {
        let kernel = Kernel::from_wgsl(
            "@group(2) @binding(0) var<storage, read_write> y: u32;
             @compute @workgroup_size(1) fn far() { y = 1; }",
        );
        assert_eq!(
            exceeded(&kernel.unwrap(), &snapshot(8, 8, 2)),
            ("maxBoundDescriptorSets", 3, 2)
        );
    }

    #[test]
    fn missing_capability_is_named_with_kernel_and_device() {
        let kernel = Kernel::from_wgsl(
            "enable f16;
             @group(0) @binding(0) var<storage, read_write> y: f16;
             @compute @workgroup_size(1) fn half() { y = 1h; }",
        )
        .unwrap();
        let mut device = device("old gpu", DeviceKind::DiscreteGpu);
        let error = check_kernel(&kernel, &device).unwrap_err();
        let BackendError::MissingCapability {
            kernel: name,
            capability,
            device: on,
        } = error
        else {
            panic!("{error}")
        };
        assert_eq!(
            (name.as_str(), capability, on.as_str()),
            ("half", Capability::Float16, "old gpu")
        );
        device.info.capabilities.push(Capability::Float16);
        assert!(check_kernel(&kernel, &device).is_ok());
    }
}
