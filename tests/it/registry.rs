//! Which backend the facade opens. The environment is read once in a process, so each case is a
//! process of its own: this binary again, with that one test.

use std::process::Command;
use std::sync::Arc;

use vyre_driver::backend::{DeviceInfo, DeviceKind, OutputBuffers};
use vyre_driver::{BackendError, DispatchConfig, OpenConfig, Program, Registry, VyreBackend, open};

use crate::facade::{expected, neighbours};

/// Set in the processes that the tests start.
const AGAIN: &str = "VYRE_TESTS_AGAIN";

/// No Vulkan driver is found: the file is no manifest.
const NO_DRIVER: (&str, &str) = ("VK_DRIVER_FILES", "/dev/null");

/// Whether this is the process that looks. If not, starts it, with `variables` and without others
/// that choose, and fails unless `count` tests of the name `test` pass there.
fn looks(test: &str, count: usize, variables: &[(&str, &str)]) -> bool {
    if std::env::var_os(AGAIN).is_some() {
        return true;
    }
    let mut command = Command::new(std::env::current_exe().unwrap());
    for chosen_by in ["VYRE_BACKEND", "VYRE_DEVICE", "VYRE_VALIDATION"] {
        command.env_remove(chosen_by);
    }
    let variables = variables.iter().copied().chain([(AGAIN, "")]);
    let output = command.arg(test).envs(variables).output().unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(
        said.contains(&format!("{count} passed; 0 failed")),
        "{said}"
    );
    false
}

fn refusal() -> BackendError {
    open().map(|backend| backend.id().to_owned()).unwrap_err()
}

/// Runs a program, so that the backend does what it is opened for.
fn assert_runs(backend: &dyn VyreBackend) {
    let inputs: [&[u8]; 1] = [&[1, 0, 0, 0, 2, 0, 0, 0, 3, 0, 0, 0]];
    let outputs = backend.dispatch(&neighbours(3), &inputs, &DispatchConfig::default());
    assert_eq!(outputs.unwrap(), [expected(&[1, 2, 3])]);
}

fn assert_fell_back(reason: &str) {
    let backend = open().unwrap();
    let info = backend.device_info();
    assert_eq!((backend.id(), info.kind), ("reference", DeviceKind::Cpu));
    assert!(info.name.contains("reference (CPU)"), "{}", info.name);
    let fallback = info.fallback.as_deref().unwrap_or_default();
    assert!(fallback.starts_with(reason), "{fallback}");
    assert_runs(&*backend);
}

#[test]
fn without_a_driver_the_reference_does_the_work() {
    let test = "without_a_driver_the_reference_does_the_work";
    if looks(test, 1, &[NO_DRIVER]) {
        assert_fell_back("vulkan: no device for Vulkan compute; the loader found no driver");
    }
}

#[test]
fn everything_of_the_facade_works_without_a_driver() {
    looks("facade::", 3, &[NO_DRIVER]);
}

#[cfg(target_os = "linux")]
#[test]
fn without_a_loader_the_reference_does_the_work() {
    let test = "without_a_loader_the_reference_does_the_work";
    let folder = std::env::temp_dir().join(format!("vyre-no-loader-{}", std::process::id()));
    std::fs::create_dir_all(&folder).unwrap();
    // The dynamic linker stops at the first file of the name, and this one is no library.
    std::fs::write(folder.join("libvulkan.so.1"), "").unwrap();
    if looks(test, 1, &[("LD_LIBRARY_PATH", folder.to_str().unwrap())]) {
        assert_fell_back("vulkan: no Vulkan loader on this machine");
    }
    std::fs::remove_dir_all(folder).unwrap();
}

#[test]
fn variable_chooses_the_backend() {
    if looks(
        "variable_chooses_the_backend",
        1,
        &[("VYRE_BACKEND", " reference ")],
    ) {
        let backend = open().unwrap();
        assert_eq!(backend.id(), "reference");
        assert_eq!(backend.device_info().fallback, None);
        assert_runs(&*backend);
    }
}

#[test]
fn backend_of_the_variable_is_never_replaced() {
    let variables = [("VYRE_BACKEND", "vulkan"), NO_DRIVER];
    if looks("backend_of_the_variable_is_never_replaced", 1, &variables) {
        let error = refusal();
        assert!(matches!(error, BackendError::NoDevice { .. }), "{error}");
    }
}

#[test]
fn unknown_backend_is_refused_with_the_known_ones() {
    let variables = [("VYRE_BACKEND", "abacus")];
    if looks(
        "unknown_backend_is_refused_with_the_known_ones",
        1,
        &variables,
    ) {
        assert_eq!(
            refusal().to_string(),
            "there is no backend `abacus`; choose one of: vulkan, reference"
        );
    }
}

#[test]
fn named_device_is_never_replaced() {
    let variables = [("VYRE_DEVICE", "abacus of bronze"), NO_DRIVER];
    if looks("named_device_is_never_replaced", 1, &variables) {
        let error = refusal();
        assert!(matches!(error, BackendError::NoDevice { .. }), "{error}");
    }
}

#[test]
fn validation_is_never_dropped() {
    let variables = [("VYRE_VALIDATION", "true"), NO_DRIVER];
    if looks("validation_is_never_dropped", 1, &variables) {
        let error = refusal();
        assert!(matches!(error, BackendError::NoDevice { .. }), "{error}");
    }
}

#[test]
fn unclear_switch_is_refused() {
    if looks(
        "unclear_switch_is_refused",
        1,
        &[("VYRE_VALIDATION", "perhaps")],
    ) {
        let error = refusal();
        assert!(matches!(error, BackendError::InvalidSwitch(_)), "{error}");
    }
}

/// A backend of another crate: hands its work to the reference.
struct Handed {
    info: DeviceInfo,
    to: Arc<dyn VyreBackend>,
}

impl VyreBackend for Handed {
    fn id(&self) -> &str {
        "handed"
    }

    fn device_info(&self) -> &DeviceInfo {
        &self.info
    }

    fn dispatch(
        &self,
        program: &Program,
        inputs: &[&[u8]],
        config: &DispatchConfig,
    ) -> Result<OutputBuffers, BackendError> {
        self.to.dispatch(program, inputs, config)
    }
}

#[test]
fn variable_chooses_a_backend_of_another_crate() {
    let test = "variable_chooses_a_backend_of_another_crate";
    if looks(test, 1, &[("VYRE_BACKEND", "handed")]) {
        let mut registry = Registry::default();
        registry.register("handed", |config| {
            let to = Registry::default().open(&config.clone().with_backend("reference"))?;
            let info = DeviceInfo::new("by hand", DeviceKind::Other);
            Ok(Arc::new(Handed { info, to }))
        });
        let backend = registry.open(&OpenConfig::from_env()).unwrap();
        assert_eq!(backend.id(), "handed");
        assert_runs(&*backend);
    }
}
