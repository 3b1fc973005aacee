//! Errors of a keeper.

use std::io;
use std::path::PathBuf;

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum KeeperError {
    /// There is no keeper.
    #[error("cannot start the keeper process of a trial, `{program}`: {source}")]
    NoKeeper {
        /// The tool's own binary.
        program: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The machine does not allow sandboxes.
    #[error(
        "no sandbox: {reason}; run with --sandbox off, then trials with fixed ports cannot run in parallel"
    )]
    NoSandbox {
        /// Why, in words.
        reason: String,
    },
    /// A path of the setup cannot be used.
    #[error("{path}: {source}; the trial needs this path")]
    Path {
        /// Which.
        path: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// The program cannot be started.
    #[error("cannot start `{program}`: {source}; give the command as in a shell, with a program on the PATH")]
    Start {
        /// Program to start.
        program: String,
        /// Why.
        source: io::Error,
    },
    /// The directory for a program cannot be entered.
    #[error(
        "cannot start `{program}` in {directory}: {source}; give a directory that is visible in the trial"
    )]
    Directory {
        /// Program to start.
        program: String,
        /// Where.
        directory: PathBuf,
        /// Why.
        source: io::Error,
    },
    /// A signal cannot be sent.
    #[error("cannot send signal {signal}: {source}")]
    Signal {
        /// Its number.
        signal: i32,
        /// Why.
        source: io::Error,
    },
    /// A request cannot be sent.
    #[error("the keeper process of the trial does not answer: {source}")]
    Request {
        /// Why.
        source: io::Error,
    },
    /// The keeper is dead.
    #[error("the keeper process of the trial has ended: {why}; run the trial again")]
    Gone {
        /// Why.
        why: String,
    },
    /// Something of the trial lives on.
    #[error("processes of the trial cannot be ended: {}; end them manually", .processes.join(", "))]
    Survivors {
        /// Each with its number, its name and the reason.
        processes: Vec<String>,
    },
}
