//! `cargo xtask conformance`: the conformance example, with the user's arguments and its exit status.

use std::ffi::OsString;
use std::process::{Command, ExitCode};

use crate::error::Error;
use crate::process;

const EXAMPLE: &str = "run --release --package vyre-driver --example conformance --";

pub(crate) fn run(args: Vec<OsString>) -> Result<ExitCode, Error> {
    let mut command = Command::new("cargo");
    let status = process::status(command.args(EXAMPLE.split(' ')).args(args))?;
    match status.code() {
        Some(code) => Ok(u8::try_from(code).map_or(ExitCode::FAILURE, ExitCode::from)),
        None => Err(process::failure(&command, status)), // a signal ended it
    }
}
