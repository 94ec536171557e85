//! What can go wrong in a task, and the exit status that says so.

use std::error::Error as StdError;
use std::process::{ExitCode, ExitStatus};

#[derive(Debug, thiserror::Error)]
pub(crate) enum Error {
    #[error("{0}")]
    Usage(String),
    #[error("`{command}` could not be started")]
    Start {
        command: String,
        source: std::io::Error,
    },
    #[error("`{command}` failed: {status}")]
    Failed { command: String, status: ExitStatus },
    #[error("step {step} failed")]
    Step {
        step: &'static str,
        source: Box<Error>,
    },
    #[error("missing: {}; run `cargo xtask setup --install` or install by hand", .missing.join(", "))]
    Missing { missing: Vec<&'static str> },
    #[error(
        "still missing after the installation of {}: {}; check the variables VK_DRIVER_FILES, \
         VK_ICD_FILENAMES and VK_LAYER_PATH, which replace the folders that are searched",
        .packages.join(" "), .missing.join(", ")
    )]
    StillMissing {
        missing: Vec<&'static str>,
        packages: Vec<&'static str>,
    },
    #[error(
        "there is no apt-get here: install the Vulkan loader, Mesa's CPU driver (lavapipe) and the \
         Khronos validation layer by this system's package manager, then run `cargo xtask setup`"
    )]
    NoApt,
    #[error("the folder {} could not be filled", .folder.display())]
    Folder {
        folder: std::path::PathBuf,
        source: std::io::Error,
    },
}

impl From<lexopt::Error> for Error {
    fn from(error: lexopt::Error) -> Error {
        Error::Usage(error.to_string())
    }
}

impl Error {
    /// 2 for a wrong command line, as command-line programs use, 1 for the rest.
    pub(crate) fn exit_code(&self) -> ExitCode {
        match self {
            Error::Usage(_) => ExitCode::from(2),
            _ => ExitCode::FAILURE,
        }
    }
}

/// The message of an error followed by those of its causes.
pub(crate) fn with_causes(error: &Error) -> String {
    let mut message = error.to_string();
    let mut cause = error.source();
    while let Some(source) = cause {
        message.push_str(&format!(": {source}"));
        cause = source.source();
    }
    message
}
