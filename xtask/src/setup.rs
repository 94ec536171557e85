//! `cargo xtask setup`: says which parts of Vulkan are here, and installs those that are not.

use crate::apt;
use crate::error::Error;
use crate::vulkan::{self, Part};

pub(crate) fn run(install: bool) -> Result<(), Error> {
    let missing = report();
    if missing.is_empty() {
        return Ok(());
    }
    if !install {
        return Err(Error::Missing {
            missing: names(&missing),
        });
    }
    let packages: Vec<_> = missing.iter().map(|part| part.package).collect();
    apt::install(&packages)?;
    let missing = report();
    if missing.is_empty() {
        return Ok(());
    }
    Err(Error::StillMissing {
        missing: names(&missing),
        packages,
    })
}

/// Prints where each part was found and returns those that were not.
pub(crate) fn report() -> Vec<Part> {
    let parts = vulkan::parts(|name| std::env::var_os(name)).into_iter();
    parts
        .filter(|part| match part.find() {
            Some(path) => {
                eprintln!("{:<26}{}", part.name, path.display());
                false
            }
            None => {
                eprintln!("{:<26}missing (Debian package {})", part.name, part.package);
                true
            }
        })
        .collect()
}

fn names(parts: &[Part]) -> Vec<&'static str> {
    parts.iter().map(|part| part.name).collect()
}
