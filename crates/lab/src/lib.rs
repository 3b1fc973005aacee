//! Runs trials: a command with the agent in its JVMs, a fresh directory, and an outcome from what was left behind.
//!
//! A [`Trial`] names the command, the plan and the map. [`Trial::run`] lays out the directory, starts the command,
//! waits for it or ends it, and reads the trace into an [`Outcome`](hypocenter_plan::Outcome). The lab never touches
//! a process that it did not start.
//!
//! **Architecture Invariant:** the lab prints nothing and reads no environment variable; what the command writes is
//! kept in files and handed to an [`Observer`].

mod arm;
mod command;
mod error;
mod outcome;
mod process;
mod trial;

pub use arm::{ArmError, arm};
pub use command::{AgentOption, with_agent};
pub use error::LabError;
pub use process::{Observer, Output, Silent};
pub use trial::{Evidence, Trial, TrialFiles};
