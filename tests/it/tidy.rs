//! The rules of the tree, as tests over its files.

use std::fs;
use std::path::{Path, PathBuf};

const MAX_LINES: usize = 400;

/// The crates of this workspace that each crate may depend on.
const ARROWS: [(&str, &[&str]); 9] = [
    ("crates/vyre-core", &[]),
    ("crates/vyre-vulkan", &["vyre-core"]),
    ("crates/vyre-reference", &["vyre-core"]),
    ("crates/vyre-conformance", &["vyre-core"]),
    (
        "crates/vyre-driver",
        &[
            "vyre-core",
            "vyre-vulkan",
            "vyre-reference",
            "vyre-conformance",
        ],
    ),
    ("xtask", &[]),
    ("tests", &["vyre-driver"]),
    ("tests/backend-minimal", &["vyre-driver"]),
    ("tests/backend-wgpu", &["vyre-driver"]),
];

fn root() -> &'static Path {
    Path::new(env!("CARGO_MANIFEST_DIR")).parent().unwrap()
}

/// The text of a file, by its path from the root.
pub(crate) fn read(path: &str) -> String {
    fs::read_to_string(root().join(path)).unwrap()
}

/// Every Rust file of the workspace: its path from the root and its text.
fn sources() -> Vec<(String, String)> {
    let mut folders: Vec<PathBuf> = ["crates", "xtask", "tests"]
        .map(|it| root().join(it))
        .into();
    let mut sources = Vec::new();
    while let Some(folder) = folders.pop() {
        for entry in fs::read_dir(folder).unwrap() {
            let path = entry.unwrap().path();
            if path.is_dir() {
                folders.push(path);
            } else if path.extension().is_some_and(|extension| extension == "rs") {
                let name = path
                    .strip_prefix(root())
                    .unwrap()
                    .to_str()
                    .unwrap()
                    .to_owned();
                sources.push((name, fs::read_to_string(path).unwrap()));
            }
        }
    }
    assert!(
        sources.len() > 10,
        "the walk found only {} files",
        sources.len()
    );
    sources
}

/// The Rust files that break a rule.
fn offenders(breaks: impl Fn(&str, &str) -> bool) -> Vec<String> {
    let broken = sources()
        .into_iter()
        .filter(|(path, text)| breaks(path, text));
    broken.map(|(path, _)| path).collect()
}

/// The lines of a manifest that name a crate of this workspace, without those of dev-dependencies.
fn arrows(manifest: &str) -> Vec<&str> {
    let mut counted = false;
    let mut arrows = Vec::new();
    for line in manifest.lines() {
        if line.starts_with('[') {
            counted = line.ends_with("dependencies]") && !line.ends_with("dev-dependencies]");
        } else if counted && line.starts_with("vyre-") {
            arrows.push(line.split(['.', ' ', '=']).next().unwrap());
        }
    }
    arrows
}

#[test]
fn every_file_says_first_what_it_owns() {
    let silent = offenders(|_, text| !text.starts_with("//! "));
    assert!(silent.is_empty(), "first line is not `//! …`: {silent:?}");
}

#[test]
fn no_file_is_long() {
    let long = offenders(|_, text| text.lines().count() > MAX_LINES);
    assert!(long.is_empty(), "over {MAX_LINES} lines: {long:?}");
}

#[test]
fn only_the_vulkan_crate_may_contain_unsafe_code() {
    let roots = ["src/lib.rs", "src/main.rs", "tests/it/main.rs"];
    let lax = offenders(|path, text| {
        roots.iter().any(|root| path.ends_with(root))
            && !path.starts_with("crates/vyre-vulkan/")
            && !text.contains("#![forbid(unsafe_code)]")
    });
    assert!(lax.is_empty(), "without `#![forbid(unsafe_code)]`: {lax:?}");
}

#[test]
fn nothing_is_left_undone_or_untested() {
    // Put together here, so that this file doesn't contain them.
    let words =
        [("tod", "o!("), ("unimplemented", "!("), ("#[igno", "re")].map(|(a, b)| [a, b].concat());
    let undone = offenders(|_, text| words.iter().any(|word| text.contains(word)));
    assert!(undone.is_empty(), "one of {words:?} is in {undone:?}");
}

#[test]
fn dependencies_point_one_way() {
    for entry in fs::read_dir(root().join("crates")).unwrap() {
        let path = format!("crates/{}", entry.unwrap().file_name().display());
        let known = ARROWS.iter().any(|(known, _)| *known == path);
        assert!(known, "ARROWS says nothing about {path}");
    }
    for (path, allowed) in ARROWS {
        // Crates that the design names and that are yet to come have no manifest.
        let manifest = fs::read_to_string(root().join(path).join("Cargo.toml")).unwrap_or_default();
        for name in arrows(&manifest) {
            assert!(allowed.contains(&name), "{path} may not depend on {name}");
        }
    }
}
