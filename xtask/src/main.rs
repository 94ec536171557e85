//! Workspace automation, run as `cargo xtask COMMAND`: `cargo xtask --help` lists the commands.

#![forbid(unsafe_code)]
#![expect(
    clippy::print_stdout,
    clippy::print_stderr,
    reason = "a command-line program talks through its output"
)]

mod args;
mod ci;
mod demo;
mod conformance;
mod setup;
mod doctor;
mod vulkan;
mod swiftshader;
mod apt;
mod process;
mod error;

use std::process::ExitCode;

use args::Task;
use error::Error;

fn main() -> ExitCode {
    match args::parse(lexopt::Parser::from_env()).and_then(run) {
        Ok(status) => status,
        Err(error) => {
            eprintln!("error: {}", error::with_causes(&error));
            if let Error::Usage(_) = error {
                eprint!("\n{}", args::USAGE);
            }
            error.exit_code()
        }
    }
}

fn run(task: Task) -> Result<ExitCode, Error> {
    match task {
        Task::Help => print!("{}", args::USAGE),
        Task::Setup { install } => {
            setup::run(install)?;
            swiftshader::fetch(install)?;
        }
        Task::Doctor => doctor::run()?,
        Task::Ci { install } => ci::run(install)?,
        Task::Conformance { args } => return conformance::run(args),
        Task::Demo { install, args } => return demo::run(install, args),
    }
    Ok(ExitCode::SUCCESS)
}
