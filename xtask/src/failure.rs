//! An error as a person gets it: what happened, where, and what to do.

use std::fmt;
use std::path::Path;

/// Ends a task.
#[derive(Debug)]
pub struct Failure {
    what: String,
    hint: Option<String>,
}

/// Most common return value of this program.
pub type Result<T> = std::result::Result<T, Failure>;

impl Failure {
    pub fn new(what: impl Into<String>) -> Failure {
        Failure { what: what.into(), hint: None }
    }

    /// A file or directory that cannot be used.
    pub fn file(path: &Path) -> impl FnOnce(std::io::Error) -> Failure {
        move |error| Failure::new(format!("{}: {error}", path.display()))
    }

    /// Adds what to do.
    pub fn hint(mut self, hint: impl Into<String>) -> Failure {
        self.hint = Some(hint.into());
        self
    }
}

impl fmt::Display for Failure {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "error: {}", self.what)?;
        match &self.hint {
            Some(hint) => write!(f, "\n  try: {hint}"),
            None => Ok(()),
        }
    }
}

macro_rules! from_library {
    ($($error:ty),*) => {
        $(impl From<$error> for Failure {
            fn from(error: $error) -> Failure {
                Failure::new(error.to_string())
            }
        })*
    };
}

from_library!(hypocenter_lab::LabError);
