//! What can keep a trial from being run.

use hypocenter_trace::{MapError, TraceError};

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file of the trial cannot be written or read.
    #[error(
        "{path}: {source}; the trial needs a directory of its own that can be written, with room on its disk"
    )]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The command cannot be started.
    #[error(
        "cannot start `{program}`: {source}; give the command as on a shell, with a program that is on the PATH"
    )]
    Start {
        /// What was to be started.
        program: String,
        /// Why.
        source: std::io::Error,
    },
    /// The trial's file.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The map.
    #[error(transparent)]
    Map(#[from] MapError),
    /// The plan.
    #[error(transparent)]
    Arm(#[from] crate::ArmError),
    /// The command waits for its input or its output could not be read.
    #[error("the output of `{program}` could not be read: {source}")]
    Output {
        /// What was running.
        program: String,
        /// Why.
        source: std::io::Error,
    },
}
