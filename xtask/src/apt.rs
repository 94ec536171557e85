//! Installs Debian packages.

use std::path::Path;
use std::process::{Command, Stdio};

use crate::error::Error;
use crate::process;

/// Installs `packages` after refreshing the package lists, through sudo unless root.
pub(crate) fn install(packages: &[&str]) -> Result<(), Error> {
    update()?;
    process::run(
        apt_get()
            .args(["install", "--yes", "--no-install-recommends"])
            .args(packages),
    )
}

/// Downloads `package` into `folder` after refreshing the package lists, without installing it.
pub(crate) fn download(package: &str, folder: &Path) -> Result<(), Error> {
    update()?;
    process::run(apt_get().args(["download", package]).current_dir(folder))
}

/// Refreshes the package lists.
fn update() -> Result<(), Error> {
    if !process::is_on_path("apt-get") {
        return Err(Error::NoApt);
    }
    process::run(apt_get().arg("update"))
}

/// `apt-get` that asks nothing, and leaves standard output to the task's own result.
fn apt_get() -> Command {
    let mut command = if !is_root() && process::is_on_path("sudo") {
        let mut sudo = Command::new("sudo");
        sudo.arg("env");
        sudo
    } else {
        Command::new("env")
    };
    command.args(["DEBIAN_FRONTEND=noninteractive", "apt-get", "--quiet"]);
    command.stdin(Stdio::null()).stdout(std::io::stderr());
    command
}

fn is_root() -> bool {
    Command::new("id")
        .arg("-u")
        .output()
        .is_ok_and(|output| output.stdout.trim_ascii() == b"0")
}
