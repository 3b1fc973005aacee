//! Errors that keep an oracle from judging.

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum OracleError {
    /// A text or pattern of the oracle cannot be meant.
    #[error("{what} `{pattern}`: {why}")]
    Pattern {
        /// Its kind: a `log`, a `stack` and so on.
        what: &'static str,
        /// The text.
        pattern: String,
        /// Error and advice.
        why: String,
    },
    /// A log of the trial cannot be read.
    #[error(
        "the log {path} cannot be read: {source}; it may have the line of the oracle, so run the trial again"
    )]
    Log {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A file that the oracle names is there and cannot be read.
    #[error("the oracle's file {path} cannot be read: {source}; name a regular, readable file")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// There is no test report of this trial.
    #[error("no test report matches `{pattern}`: {why}")]
    NoReport {
        /// Pattern of expected reports, from the oracle.
        pattern: String,
        /// Alternatives and advice.
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
        "the oracle's command `{command}` could not be run at the end of the trial; give it as in a shell, with a program on the PATH"
    )]
    Command {
        /// Which.
        command: String,
    },
}
