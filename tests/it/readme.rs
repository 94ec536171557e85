//! What the documents say is what the tree holds.

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

/// The code of a document that is Rust or TOML, block by block.
fn code(document: &str) -> Vec<String> {
    let mut blocks = document.split("```").skip(1).step_by(2);
    let languages = ["rust\n", "toml\n"];
    let code = blocks.by_ref().filter_map(|block| {
        let mut languages = languages.iter();
        languages.find_map(|language| block.strip_prefix(language))
    });
    code.map(str::to_owned).collect()
}

#[test]
fn the_code_of_the_guide_to_backends_is_that_of_the_minimal_one() {
    let files = [
        "Cargo.toml",
        "src/lib.rs",
        "src/interpreter.rs",
        "tests/choice.rs",
        "tests/conformance.rs",
    ];
    let files = files.map(|file| read(&format!("tests/backend-minimal/{file}")));
    let blocks = code(&read("docs/writing-a-backend.md"));
    assert!(blocks.len() >= 5, "the guide has {} blocks", blocks.len());
    for block in blocks {
        let known = files.iter().any(|file| file.contains(&block));
        assert!(known, "not in tests/backend-minimal:\n{block}");
    }
}

#[test]
fn the_minimal_backend_is_short() {
    let lines = read("tests/backend-minimal/src/lib.rs").lines().count();
    assert!(lines < 60, "{lines} lines");
}
