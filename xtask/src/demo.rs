//! `cargo xtask demo`: the blake3 example, with the user's arguments and its exit status.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::{process, setup};

/// The arguments of the cargo command, up to the example's own.
pub(crate) const EXAMPLE: &str = "run --release --package vyre-driver --example blake3 --";

pub(crate) fn run(install: bool, args: Vec<OsString>) -> Result<ExitCode, Error> {
    if install {
        setup::run(install)?;
    }
    // It runs in the user's folder, so that their paths hold.
    let mut command = Command::new("cargo");
    let status = process::status(command.args(EXAMPLE.split(' ')).args(args))?;
    match status.code() {
        Some(code) => Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)),
        None => Err(process::failure(&command, status)), // a signal ended it
    }
}
