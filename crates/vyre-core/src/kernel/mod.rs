//! `Kernel`: one WGSL compute entry point, parsed, validated and reflected once.
//!
//! The way of the source, one module per step, put together in `builder`: `directive` (accept
//! `enable subgroups`) → naga's front end and validator → `entry_point` → `overrides` →
//! `capability`, `uniformity`, `reflect` and `workgroup`.

mod builder;
mod capability;
mod directive;
mod entry_point;
mod error;
mod isolate;
mod location;
mod overrides;
mod reflect;
mod uniformity;
mod workgroup;
#[cfg(test)]
mod tests;

use std::fmt;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::sync::Arc;

pub use builder::KernelBuilder;
pub use capability::Capability;
pub use error::KernelError;
#[doc(hidden)]
pub use isolate::{IsolationError, isolated};
pub use location::SourceLocation;
pub use reflect::{Access, BindingKind, KernelBinding, UnusedBinding};

/// A WGSL compute entry point that is known to be valid, with everything a program or a backend
/// asks about it.
///
/// Clones share one allocation. Two kernels are equal when source, entry point and override
/// values are, whether or not they were built together.
///
/// ```
/// use vyre_core::kernel::{Access, Kernel};
///
/// let kernel = Kernel::builder(
///     "override WIDTH: u32;
///      @group(0) @binding(0) var<storage, read_write> values: array<f32>;
///
///      @compute @workgroup_size(WIDTH)
///      fn double(@builtin(global_invocation_id) id: vec3<u32>) {
///          values[id.x] *= 2.0;
///      }",
/// )
/// .override_constant("WIDTH", 64.0)
/// .build()?;
///
/// assert_eq!(kernel.entry_point(), "double");
/// assert_eq!(kernel.workgroup_size(), [64, 1, 1]);
/// assert_eq!(kernel.bindings()[0].name, "values");
/// assert_eq!(kernel.bindings()[0].access, Access::ReadWrite);
/// # Ok::<(), vyre_core::kernel::KernelError>(())
/// ```
#[derive(Clone)]
pub struct Kernel(Arc<Inner>);

struct Inner {
    /// Of (source, entry point, overrides), so that maps keyed by kernels don't hash the source.
    hash: u64,
    source: String,
    entry_point: String,
    overrides: Vec<(String, f64)>,
    module: naga::Module,
    module_info: naga::valid::ModuleInfo,
    bindings: Vec<KernelBinding>,
    unused_bindings: Vec<UnusedBinding>,
    workgroup_size: [u32; 3],
    workgroup_memory_bytes: u32,
    uses_barriers: bool,
    capabilities: Vec<Capability>,
}

impl Kernel {
    /// Builds a kernel from a source with exactly one compute entry point and no override that
    /// needs a value.
    ///
    /// # Errors
    ///
    /// See [`KernelBuilder::build`].
    pub fn from_wgsl(source: &str) -> Result<Self, KernelError> {
        Self::builder(source).build()
    }

    /// Starts a kernel whose entry point or override values are chosen.
    pub fn builder(source: &str) -> KernelBuilder<'_> {
        KernelBuilder::new(source)
    }

    /// The name of the entry point.
    pub fn entry_point(&self) -> &str {
        &self.0.entry_point
    }

    /// Every storage and uniform variable the entry point statically uses, itself or through the
    /// functions it calls, sorted by (group, binding).
    pub fn bindings(&self) -> &[KernelBinding] {
        &self.0.bindings
    }

    /// The storage and uniform variables that the source declares and this entry point doesn't
    /// use, in declaration order. Binding them is allowed and has no effect.
    pub fn unused_bindings(&self) -> &[UnusedBinding] {
        &self.0.unused_bindings
    }

    /// Invocations of one workgroup along x, y and z; none is zero.
    pub fn workgroup_size(&self) -> [u32; 3] {
        self.0.workgroup_size
    }

    /// Bytes of workgroup memory the entry point uses, with the padding that alignment asks for.
    pub fn workgroup_memory_bytes(&self) -> u32 {
        self.0.workgroup_memory_bytes
    }

    /// Whether a barrier, or a `workgroupUniformLoad`, can be reached from the entry point.
    pub fn uses_barriers(&self) -> bool {
        self.0.uses_barriers
    }

    /// What a device must offer to run this kernel, sorted and without repetition.
    pub fn capabilities(&self) -> &[Capability] {
        &self.0.capabilities
    }

    /// The override values as set, sorted by name.
    pub fn overrides(&self) -> &[(String, f64)] {
        &self.0.overrides
    }

    /// The source as given.
    pub fn source(&self) -> &str {
        &self.0.source
    }

    /// The intermediate representation, reduced to the entry point and what it uses, with every
    /// override replaced by its value.
    pub fn module(&self) -> &naga::Module {
        &self.0.module
    }

    /// What naga's validator found out about [`module`](Self::module).
    pub fn module_info(&self) -> &naga::valid::ModuleInfo {
        &self.0.module_info
    }

    /// Where the entry point is in the list of [`module`](Self::module).
    pub fn entry_point_index(&self) -> usize {
        0
    }
}

impl Inner {
    fn content(&self) -> (&str, &str, impl Iterator<Item = (&str, u64)>) {
        let overrides = self.overrides.iter();
        let overrides = overrides.map(|(name, value)| (name.as_str(), value.to_bits()));
        (&self.source, &self.entry_point, overrides)
    }

    fn content_hash(&self) -> u64 {
        let mut hasher = DefaultHasher::new();
        let (source, entry_point, overrides) = self.content();
        (source, entry_point).hash(&mut hasher);
        overrides.for_each(|item| item.hash(&mut hasher));
        hasher.finish()
    }
}

impl PartialEq for Inner {
    fn eq(&self, other: &Self) -> bool {
        let (source, entry_point, overrides) = self.content();
        let (other_source, other_entry_point, other_overrides) = other.content();
        self.hash == other.hash
            && entry_point == other_entry_point
            && overrides.eq(other_overrides)
            && source == other_source
    }
}

impl PartialEq for Kernel {
    fn eq(&self, other: &Self) -> bool {
        Arc::ptr_eq(&self.0, &other.0) || *self.0 == *other.0
    }
}

impl Eq for Kernel {}

impl Hash for Kernel {
    fn hash<H: Hasher>(&self, state: &mut H) {
        state.write_u64(self.0.hash);
    }
}

impl fmt::Debug for Kernel {
    fn fmt(&self, formatter: &mut fmt::Formatter<'_>) -> fmt::Result {
        let bindings = self.bindings().iter().map(|binding| &binding.name);
        formatter
            .debug_struct("Kernel")
            .field("entry_point", &self.0.entry_point)
            .field("workgroup_size", &self.0.workgroup_size)
            .field("bindings", &bindings.collect::<Vec<_>>())
            .field("overrides", &self.0.overrides)
            .finish_non_exhaustive()
    }
}
