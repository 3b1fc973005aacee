//! An error as a person gets it.

use hypocenter_plan::ExitCode;

/// Error, advice, and exit code.
#[derive(Debug, Clone, thiserror::Error)]
#[error("{what}")]
pub struct Failure {
    /// Error and its place.
    pub what: String,
    /// Advice.
    pub hint: Option<String>,
    /// Exit codes of the command.
    pub code: ExitCode,
}

impl Failure {
    /// Something that the user gave is wrong.
    pub fn usage(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), hint: None, code: ExitCode::Usage }
    }

    /// Adds what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }

    /// Something that we did is wrong.
    pub fn bug() -> Failure {
        Failure {
            what: "internal error".into(),
            hint: Some("please report it with the command and the output above".into()),
            code: ExitCode::Bug,
        }
    }
}

/// Errors of the libraries say what to do in their own text.
macro_rules! from_library {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::usage(error.to_string())
            }
        })*
    };
}

from_library!(
    hypocenter_lab::LabError,
    hypocenter_lab::ArmError,
    hypocenter_program::Error,
    hypocenter_program::PatternError,
    hypocenter_plan::PlanError,
    hypocenter_trace::MapError,
    hypocenter_trace::TraceError
);
