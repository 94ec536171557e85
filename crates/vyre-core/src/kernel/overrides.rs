//! Gives overrides their values and leaves a module without any.

use std::collections::BTreeMap;

use naga::back::PipelineConstants;
use naga::back::pipeline_constants::process_overrides;
use naga::proc::IndexableLength;
use naga::valid::{Capabilities, ValidationFlags, Validator};
use naga::{Arena, ArraySize, Module, Override, Scalar, Type, TypeInner};

use super::KernelError;

/// Checks the values against the overrides the whole source declares; those that the entry point
/// doesn't use may be set, too.
pub(super) fn check(module: &Module, values: &BTreeMap<String, f64>) -> Result<(), KernelError> {
    for (name, &value) in values {
        let mut overrides = module.overrides.iter().map(|(_, item)| item);
        let Some(found) = overrides.find(|item| item.name.as_ref() == Some(name)) else {
            let overrides = module.overrides.iter();
            return Err(KernelError::UnknownOverride {
                name: name.clone(),
                available: overrides
                    .filter_map(|(_, item)| item.name.clone())
                    .collect(),
            });
        };
        if let Some(type_name) = unfit_type(&module.types[found.ty].inner, value) {
            return Err(KernelError::OverrideValue {
                name: name.clone(),
                value,
                type_name,
            });
        }
    }
    Ok(())
}

/// The name of the type, if it can't hold `value`.
fn unfit_type(inner: &TypeInner, value: f64) -> Option<&'static str> {
    let whole_in = |low: f64, high: f64| value.fract() == 0.0 && (low..=high).contains(&value);
    let &TypeInner::Scalar(scalar) = inner else {
        return None;
    };
    let (type_name, fits) = match scalar {
        Scalar::BOOL => ("bool", value == 0.0 || value == 1.0),
        Scalar::I32 => ("i32", whole_in(f64::from(i32::MIN), f64::from(i32::MAX))),
        Scalar::U32 => ("u32", whole_in(0.0, f64::from(u32::MAX))),
        // Half a unit over the largest value is where rounding begins to give infinity.
        Scalar::F16 => ("f16", value.abs() < 65_520.0),
        Scalar::F32 => ("f32", value.abs() < f64::from(f32::MAX) + 2f64.powi(103)),
        _ => return None,
    };
    (!fits).then_some(type_name)
}

/// Replaces every override of `module`, which holds the entry point and what it uses, by its value.
pub(super) fn resolve(
    mut module: Module,
    values: &BTreeMap<String, f64>,
    source: &str,
) -> Result<Module, KernelError> {
    if module.overrides.is_empty() {
        return Ok(module);
    }
    let constants = constants(&module, values)?;
    name_anonymous(&mut module);
    let failed = |error| KernelError::overrides(error, values, source);
    let info = Validator::new(ValidationFlags::all(), Capabilities::all())
        .validate(&module)
        .map_err(|error| failed(error.into()))?;
    let (resolved, _) = process_overrides(&module, &info, None, &constants).map_err(failed)?;
    let mut resolved = resolved.into_owned();
    fix_array_sizes(&mut resolved);
    resolved.overrides = Arena::new();
    Ok(resolved)
}

/// The values under the keys naga wants: the number of `@id`, or the name.
fn constants(
    module: &Module,
    values: &BTreeMap<String, f64>,
) -> Result<PipelineConstants, KernelError> {
    let mut constants = PipelineConstants::default();
    let mut missing = Vec::new();
    for (_, item) in module.overrides.iter() {
        let Some(name) = &item.name else { continue };
        match (values.get(name), item.init) {
            (Some(&value), _) => {
                constants.insert(key(item, name), value);
            }
            (None, None) => missing.push(name.clone()),
            (None, Some(_)) => {}
        }
    }
    if missing.is_empty() {
        Ok(constants)
    } else {
        Err(KernelError::MissingOverride { names: missing })
    }
}

fn key(item: &Override, name: &str) -> String {
    item.id.map_or_else(|| name.to_owned(), |id| id.to_string())
}

/// naga makes an anonymous override of an array size such as `2 * N`, and panics when a named
/// override follows one.
fn name_anonymous(module: &mut Module) {
    for (handle, item) in module.overrides.iter_mut() {
        if item.name.is_none() && item.id.is_none() {
            // A space can't be in a name of the source.
            item.name = Some(format!("array size {}", handle.index()));
        }
    }
}

/// Makes array sizes that naga leaves as references to resolved overrides constant.
fn fix_array_sizes(module: &mut Module) {
    let types = module.types.iter();
    let sized = types.filter_map(|(handle, item)| match item.inner {
        TypeInner::Array {
            base,
            size: size @ ArraySize::Pending(_),
            stride,
        } => {
            let Ok(IndexableLength::Known(length)) = size.resolve(module.to_ctx()) else {
                return None;
            };
            let size = ArraySize::Constant(std::num::NonZeroU32::new(length)?);
            // The name keeps the type apart from an equal one of the source: types are unique.
            let name = Some(format!("array_of_override_{}", handle.index()));
            let inner = TypeInner::Array { base, size, stride };
            Some((handle, Type { name, inner }))
        }
        _ => None,
    });
    for (handle, item) in sized.collect::<Vec<_>>() {
        module.types.replace(handle, item);
    }
}
