//! `cargo xtask doctor`: what is installed of Vulkan, then what its drivers say of themselves.

use std::process::Command;

use crate::error::Error;
use crate::{process, setup};

pub(crate) fn run() -> Result<(), Error> {
    setup::report();
    let example = "run --quiet --release --package vyre-driver --example doctor";
    process::run(
        Command::new("cargo")
            .args(example.split(' '))
            .current_dir(process::root()),
    )
}
