//! What keeps an oracle from saying anything.

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// A text or pattern of the oracle cannot be meant.
    #[error("{what} `{pattern}`: {why}")]
    Pattern {
        /// What it is: a `log`, a `stack` and so on.
        what: &'static str,
        /// The text.
        pattern: String,
        /// What is wrong, and what to do.
        why: String,
    },
    /// A log of the trial cannot be read.
    #[error(
        "the log {path} cannot be read: {source}; whether the oracle's line was written is unknown, run the trial again"
    )]
    Log {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that the oracle names is there and cannot be read.
    #[error("the oracle's file {path} cannot be read: {source}; name a regular file that you may read")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is no test report of this trial.
    #[error("no test report fits `{pattern}`: {why}")]
    NoReport {
        /// Where reports were to be, as the oracle has it.
        pattern: String,
        /// What was found instead, and what to do.
        why: String,
    },
    /// A test report cannot be read.
    #[error("the test report {path} cannot be read: {why}")]
    Report {
        /// Which.
        path: String,
        /// Why, and what to do.
        why: String,
    },
    /// A command of the oracle could not be run.
    #[error(
        "the oracle's command `{command}` could not be run at the end of the trial; give it as on a shell, with a \
         program that is on the PATH"
    )]
    Command {
        /// Which.
        command: String,
    },
}
