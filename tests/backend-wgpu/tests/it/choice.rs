//! The backend is chosen by its name, as those of the build are.

use std::process::Command;

use vyre_driver::{BackendError, OpenConfig, Registry};

use super::open;

/// Set in the process that looks; the environment of this one stays as it is.
const AGAIN: &str = "BACKEND_WGPU_TESTS_AGAIN";

fn registry() -> Registry {
    let mut registry = Registry::default();
    backend_wgpu::register(&mut registry);
    registry
}

/// Runs the test again in a process with `variable` set.
fn again(test: &str, variable: (&str, &str)) {
    let mut command = Command::new(std::env::current_exe().unwrap());
    let output = command
        .arg(test)
        .envs([variable, (AGAIN, "")])
        .output()
        .unwrap();
    let said = String::from_utf8_lossy(&output.stdout);
    assert!(said.contains("1 passed; 0 failed"), "{said}");
}

#[test]
fn variable_chooses_it() {
    if std::env::var_os(AGAIN).is_none() {
        if open().is_some() {
            again("variable_chooses_it", ("VYRE_BACKEND", "wgpu"));
        }
        return;
    }
    let backend = registry().open(&OpenConfig::from_env()).unwrap();
    assert_eq!(backend.id(), "wgpu");
}

#[test]
fn without_a_driver_there_is_no_device() {
    if std::env::var_os(AGAIN).is_none() {
        let test = "without_a_driver_there_is_no_device";
        return again(test, ("VK_DRIVER_FILES", "/dev/null"));
    }
    let refused = registry().open(&OpenConfig::default().with_backend("wgpu"));
    let error = refused.map(|backend| backend.id().to_owned()).unwrap_err();
    assert!(matches!(error, BackendError::NoDevice { .. }), "{error}");
}
