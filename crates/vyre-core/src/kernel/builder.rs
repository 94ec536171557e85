//! `KernelBuilder`: the steps from a WGSL source to a `Kernel`.

use std::collections::BTreeMap;
use std::sync::Arc;

use naga::Module;
use naga::compact::{KeepUnused, compact};
use naga::proc::Layouter;
use naga::valid::{
    Capabilities, EntryPointError, ModuleInfo, ValidationError, ValidationFlags, Validator,
};

use super::capability::{self, Found};
use super::{
    Inner, Kernel, KernelError, directive, entry_point, isolated, overrides, reflect, uniformity,
    workgroup,
};

/// Builds a [`Kernel`] from a WGSL source; see [`Kernel::builder`].
#[derive(Clone, Debug)]
#[must_use = "a builder does nothing until `build` is called"]
pub struct KernelBuilder<'a> {
    source: &'a str,
    entry_point: Option<&'a str>,
    overrides: BTreeMap<String, f64>,
}

impl<'a> KernelBuilder<'a> {
    pub(super) fn new(source: &'a str) -> Self {
        Self {
            source,
            entry_point: None,
            overrides: BTreeMap::new(),
        }
    }

    /// Chooses the entry point by its name; a source with one compute entry point needs no choice.
    pub fn entry_point(mut self, name: &'a str) -> Self {
        self.entry_point = Some(name);
        self
    }

    /// Sets the override declared as `name`; the last value set counts.
    ///
    /// Integers must be whole and in range, booleans are 0 or 1, floats are rounded to the
    /// override's type.
    pub fn override_constant(mut self, name: impl Into<String>, value: f64) -> Self {
        self.overrides.insert(name.into(), value);
        self
    }

    /// Parses, validates and reflects the source.
    ///
    /// # Errors
    ///
    /// A [`KernelError`] when the source is not valid WGSL, when the entry point can't be told,
    /// is not a compute one or uses something kernels don't offer, when an override value is
    /// unknown, missing or unfit, and when a barrier is in non-uniform control flow.
    pub fn build(self) -> Result<Kernel, KernelError> {
        let inner = isolated(self.source.len(), || self.build_inner())??;
        Ok(Kernel(Arc::new(inner)))
    }

    fn build_inner(self) -> Result<Inner, KernelError> {
        let source = self.source;
        let mut module = parse(source)?;
        // naga promises not to panic on modules that passed with every capability. What kernels
        // may use is checked once the module is down to the entry point.
        validate(&module, Capabilities::all(), source)?;
        let entry_point = entry_point::choose(&module, self.entry_point)?;
        overrides::check(&module, &self.overrides)?;
        let declared = reflect::declared_bindings(&module);

        reduce(&mut module, &entry_point);
        reflect::check_variables(&module)?;
        let module = overrides::resolve(module, &self.overrides, source)?;
        let (module_info, found) = check_features(&module, source)?;
        if found.barriers {
            uniformity::check(&module, &module_info, source)?;
        }

        let mut layouter = Layouter::default();
        // The validator did the same without an error.
        let _ = layouter.update(module.to_ctx());
        let bindings = reflect::bindings(&module, &module_info, &layouter);
        let mut inner = Inner {
            hash: 0,
            source: source.to_owned(),
            entry_point,
            overrides: self.overrides.into_iter().collect(),
            unused_bindings: reflect::unused(declared, &bindings),
            bindings,
            workgroup_size: workgroup::size(&module)?,
            workgroup_memory_bytes: workgroup::memory_bytes(&module, &layouter)?,
            uses_barriers: found.barriers,
            capabilities: found.capabilities.into_iter().collect(),
            module,
            module_info,
        };
        inner.hash = inner.content_hash();
        Ok(inner)
    }
}

/// Validates what the entry point uses against what kernels may use.
fn check_features(module: &Module, source: &str) -> Result<(ModuleInfo, Found), KernelError> {
    match validate(module, capability::SUPPORTED, source) {
        Ok(info) => {
            let found = capability::scan(module, &info)?;
            Ok((info, found))
        }
        Err(error) => {
            // naga names a capability of its own; the scan names the feature.
            let info = validate(module, Capabilities::all(), source)?;
            capability::scan(module, &info).and(Err(error))
        }
    }
}

/// Leaves the entry point and what it uses.
fn reduce(module: &mut Module, entry_point: &str) {
    module
        .entry_points
        .retain(|entry| entry.name == entry_point);
    // naga keeps every named constant, and with it types that ask for capabilities.
    for (_, constant) in module.constants.iter_mut() {
        constant.name = None;
    }
    compact(module, KeepUnused::No);
}

fn parse(source: &str) -> Result<Module, KernelError> {
    // naga counts positions in 32 bits.
    if u32::try_from(source.len()).is_err() {
        return Err(KernelError::SourceTooLong {
            bytes: source.len(),
        });
    }
    let text = directive::blank_subgroups(source);
    naga::front::wgsl::parse_str(&text).map_err(|error| KernelError::parse(error, source))
}

fn validate(
    module: &Module,
    capabilities: Capabilities,
    source: &str,
) -> Result<ModuleInfo, KernelError> {
    Validator::new(ValidationFlags::all(), capabilities)
        .validate(module)
        .map_err(|error| {
            typed(module, error.as_inner()).unwrap_or_else(|| KernelError::validate(error, source))
        })
}

/// The errors of naga's validator that have a variant of their own.
fn typed(module: &Module, error: &ValidationError) -> Option<KernelError> {
    let ValidationError::EntryPoint { name, source, .. } = error else {
        return None;
    };
    match *source {
        EntryPointError::BindingCollision(variable) => {
            let shared = module.global_variables[variable].binding?;
            let variables = module.global_variables.iter().map(|(_, variable)| variable);
            let sharing = variables.filter(|variable| variable.binding == Some(shared));
            Some(KernelError::DuplicateBinding {
                group: shared.group,
                binding: shared.binding,
                names: sharing.map(reflect::name).collect(),
            })
        }
        EntryPointError::OutOfRangeWorkgroupSize => {
            let mut entry_points = module.entry_points.iter();
            let entry = entry_points.find(|entry| entry.name == *name)?;
            let size = entry.workgroup_size;
            Some(KernelError::WorkgroupSize { size })
        }
        _ => None,
    }
}
