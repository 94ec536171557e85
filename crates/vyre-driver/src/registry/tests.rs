//! Which backend is opened, over backends that only have a name.

use std::fmt::{Debug, Write};
use std::sync::{Arc, Mutex};

use tracing::field::{Field, Visit};
use tracing::span::{Attributes, Id, Record};
use tracing::{Event, Level, Metadata, Subscriber};
use vyre_core::backend::{DeviceInfo, DeviceKind, DispatchConfig, OutputBuffers, VyreBackend};
use vyre_core::error::BackendError;
use vyre_core::program::Program;

use crate::{OpenConfig, Registry};

/// A backend that was opened.
struct Opened(DeviceInfo);

impl VyreBackend for Opened {
    fn id(&self) -> &str {
        &self.0.name
    }

    fn device_info(&self) -> &DeviceInfo {
        &self.0
    }

    fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        _config: &DispatchConfig,
    ) -> Result<OutputBuffers, BackendError> {
        program.check_inputs(inputs)?;
        Ok(OutputBuffers::new())
    }
}

fn absent(name: &str) -> BackendError {
    BackendError::NoDevice {
        wanted: name.to_owned(),
        found: "found none".to_owned(),
        remedy: "buy one",
    }
}

fn no_loader() -> BackendError {
    let source = "libaway.so: cannot open".into();
    BackendError::NoLoader { source }
}

/// Adds a backend that opens, and keeps what it was passed over for.
fn present(registry: &mut Registry, name: &'static str) {
    registry.register(name, move |config| {
        let mut info = DeviceInfo::new(name, DeviceKind::Other);
        info.fallback = config.fallback().map(str::to_owned);
        Ok(Arc::new(Opened(info)))
    });
}

/// `gone` and `away` have no device, `here` and `late` have.
fn registry() -> Registry {
    let mut registry = Registry::empty();
    registry
        .register("gone", |_| Err(absent("gone")))
        .register("away", |_| Err(no_loader()));
    present(&mut registry, "here");
    present(&mut registry, "late");
    registry
}

fn opened(registry: &Registry, config: &OpenConfig) -> String {
    registry.open(config).map(|it| it.id().to_owned()).unwrap()
}

fn refusal(registry: &Registry, config: &OpenConfig) -> BackendError {
    registry
        .open(config)
        .map(|it| it.id().to_owned())
        .unwrap_err()
}

#[test]
fn names_keep_their_order_and_a_known_name_its_place() {
    let mut registry = registry();
    present(&mut registry, "gone");
    assert!(registry.names().eq(["gone", "away", "here", "late"]));
    assert_eq!(opened(&registry, &OpenConfig::default()), "gone");
}

#[test]
fn default_holds_the_backends_of_the_build() {
    let vulkan = cfg!(feature = "vulkan").then_some("vulkan");
    let reference = cfg!(feature = "reference").then_some("reference");
    let names = vulkan.into_iter().chain(reference);
    assert!(Registry::default().names().eq(names));
}

#[test]
fn named_backend_is_opened_and_no_other() {
    let late = OpenConfig::default().with_backend("late");
    assert_eq!(opened(&registry(), &late), "late");
    let gone = OpenConfig::default().with_backend("gone");
    let error = refusal(&registry(), &gone);
    assert!(matches!(error, BackendError::NoDevice { .. }), "{error}");
}

#[test]
fn unknown_name_is_refused_with_the_known_ones() {
    let config = OpenConfig::default().with_backend("Here");
    assert_eq!(
        refusal(&registry(), &config).to_string(),
        "there is no backend `Here`; choose one of: gone, away, here, late"
    );
}

#[test]
fn fallback_says_what_was_passed_over_and_why() {
    let backend = registry().open(&OpenConfig::default()).unwrap();
    let lines = [("gone", absent("gone")), ("away", no_loader())];
    let lines = lines.map(|(name, error)| format!("{name}: {error}"));
    assert_eq!(backend.id(), "here");
    assert_eq!(backend.device_info().fallback, Some(lines.join("\n")));
    let late = registry().open(&OpenConfig::default().with_backend("late"));
    assert_eq!(late.unwrap().device_info().fallback, None);
}

#[test]
fn fault_of_a_preferred_backend_is_not_hidden() {
    let mut registry = registry();
    registry.register("away", |_| {
        let source = "the cause".into();
        let call = "vkCreateDevice";
        Err(BackendError::DeviceLost { call, source })
    });
    let error = refusal(&registry, &OpenConfig::default());
    assert!(matches!(error, BackendError::DeviceLost { .. }), "{error}");
}

#[cfg(feature = "vulkan")]
#[test]
fn what_only_some_backends_have_is_not_given_up() {
    let [mut named, mut validated] = [OpenConfig::default(), OpenConfig::default()];
    named.vulkan.device = vyre_vulkan::DeviceSelector::Index(0);
    validated.vulkan.validation = vyre_vulkan::Validation::On;
    for config in [named, validated] {
        let error = refusal(&registry(), &config);
        assert!(matches!(error, BackendError::NoDevice { .. }), "{error}");
    }
}

#[test]
fn without_any_device_the_error_is_that_of_the_first_backend() {
    let mut registry = registry();
    for name in ["here", "late"] {
        registry.register(name, move |_| Err(absent(name)));
    }
    let error = refusal(&registry, &OpenConfig::default());
    assert_eq!(error.to_string(), absent("gone").to_string());
}

#[test]
fn empty_registry_says_how_to_get_a_backend() {
    for config in [
        OpenConfig::default(),
        OpenConfig::default().with_backend("here"),
    ] {
        let error = refusal(&Registry::empty(), &config).to_string();
        assert!(error.ends_with("or register a backend"), "{error}");
    }
}

/// Keeps the text of every warning.
#[derive(Clone, Default)]
struct Warnings(Arc<Mutex<String>>);

impl Visit for Warnings {
    fn record_debug(&mut self, _field: &Field, value: &dyn Debug) {
        writeln!(self.0.lock().unwrap(), "{value:?}").unwrap();
    }
}

impl Subscriber for Warnings {
    fn enabled(&self, metadata: &Metadata<'_>) -> bool {
        *metadata.level() == Level::WARN
    }

    fn event(&self, event: &Event<'_>) {
        event.record(&mut self.clone());
    }

    fn new_span(&self, _span: &Attributes<'_>) -> Id {
        Id::from_u64(1)
    }

    fn record(&self, _span: &Id, _values: &Record<'_>) {}

    fn record_follows_from(&self, _span: &Id, _follows: &Id) {}

    fn enter(&self, _span: &Id) {}

    fn exit(&self, _span: &Id) {}
}

#[test]
fn fallback_is_warned_of() {
    // Makes the event known before there is a subscriber. A test beside this one that did so at the
    // same moment would have tracing take the event for one that nobody wants.
    registry().open(&OpenConfig::default()).map(drop).unwrap();
    let warnings = Warnings::default();
    tracing::subscriber::with_default(warnings.clone(), || {
        tracing::callsite::rebuild_interest_cache();
        registry().open(&OpenConfig::default()).map(drop).unwrap();
    });
    let expected = [("gone", absent("gone")), ("away", no_loader())]
        .map(|(name, error)| format!("`here` is used instead of backend `{name}`: {error}\n"));
    assert_eq!(*warnings.0.lock().unwrap(), expected.concat());
}
