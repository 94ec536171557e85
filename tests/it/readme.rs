//! What the README says is what the tree holds.

use crate::tidy::read;

#[test]
fn the_quickstart_is_the_example() {
    let example = read("crates/vyre-driver/examples/saxpy.rs");
    assert!(read("README.md").contains(&format!("```rust\n{example}```\n")));
}

#[test]
fn the_checks_are_run_as_ci_does() {
    let script = read(".ci/run");
    let command = script.lines().last().unwrap();
    assert_eq!(command, "cargo xtask ci --install");
    assert!(read("README.md").lines().any(|line| line == command));
}
