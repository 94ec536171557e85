//! SwiftShader, a second CPU driver: taken out of Debian's `chromium-common` without installing the
//! browser.

use std::fs;
use std::path::PathBuf;
use std::process::Command;

use crate::error::Error;
use crate::{apt, process};

const PACKAGE: &str = "chromium-common";
const LIBRARY: &str = "libvk_swiftshader.so";
const MANIFEST: &str = "vk_swiftshader_icd.json";

/// The manifest, for `VK_DRIVER_FILES`; it names the library beside it.
pub(crate) fn manifest() -> PathBuf {
    folder().join(MANIFEST)
}

/// Downloads the driver where it is missing and `install` allows it.
pub(crate) fn fetch(install: bool) -> Result<(), Error> {
    if manifest().is_file() {
        eprintln!("{:<26}{}", "SwiftShader", manifest().display());
        return Ok(());
    }
    if !install {
        return Err(Error::Missing {
            missing: vec!["SwiftShader"],
        });
    }
    let download = folder().join("download");
    let fresh = || {
        // What an earlier download left when it was cut short.
        if download.exists() {
            fs::remove_dir_all(&download)?;
        }
        fs::create_dir_all(&download)
    };
    let unfilled = |source| Error::Folder {
        folder: download.clone(),
        source,
    };
    fresh().map_err(unfilled)?;
    apt::download(PACKAGE, &download)?;
    let archive = "dpkg-deb --extract ./*.deb .";
    process::run(
        Command::new("sh")
            .args(["-c", archive])
            .current_dir(&download),
    )?;
    // The manifest comes last: it says that the driver is complete.
    let moved = [LIBRARY, MANIFEST].into_iter().try_for_each(|file| {
        let from = download.join("usr/lib/chromium").join(file);
        fs::rename(from, folder().join(file))
    });
    let moved = moved.and_then(|()| fs::remove_dir_all(&download));
    moved.map_err(unfilled)
}

fn folder() -> PathBuf {
    process::root().join("target/swiftshader")
}
