//! What a device allows at most.

/// The largest grid, workgroup and binding sizes.
///
/// [`Limits::default`] holds what desktop Vulkan drivers have in common; a program is built against
/// it unless told otherwise, and a backend checks a program again against its own device.
#[derive(Clone, Copy, Debug, Eq, PartialEq)]
#[non_exhaustive]
pub struct Limits {
    /// Workgroups of one op along x, y and z (`maxComputeWorkGroupCount`).
    pub max_grid: [u32; 3],
    /// Invocations of one workgroup along x, y and z (`maxComputeWorkGroupSize`).
    pub max_workgroup_size: [u32; 3],
    /// Invocations of one workgroup in all (`maxComputeWorkGroupInvocations`).
    pub max_workgroup_invocations: u32,
    /// Bytes of workgroup memory (`maxComputeSharedMemorySize`).
    pub max_workgroup_memory: u32,
    /// Bytes that one storage binding spans (`maxStorageBufferRange`).
    pub max_storage_range: u64,
    /// Bytes that one uniform binding spans (`maxUniformBufferRange`).
    pub max_uniform_range: u64,
}

impl Default for Limits {
    fn default() -> Self {
        Self {
            max_grid: [65_535; 3],
            max_workgroup_size: [1024, 1024, 64],
            max_workgroup_invocations: 1024,
            max_workgroup_memory: 32 << 10,
            max_storage_range: u64::from(u32::MAX),
            max_uniform_range: 64 << 10,
        }
    }
}
