//! Runs trials, and campaigns of them: processes with the agent inside, a fresh directory each, nothing left behind.
//!
//! A [`Trial`] names the workload, the plan and the map. [`Trial::run`] lays out the directory, has a [`keeper`] start
//! the processes (in a sandbox where the kernel allows it), and the `stage` lead them from ready to the end; what they
//! left is read into an [`Outcome`](hypocenter_plan::Outcome), and an [`oracle`] says whether the failure happened. A
//! [`Campaign`] runs the trials that an engine asks for and keeps the [`journal`](Journal).
//!
//! **Architecture Invariant:** the lab never touches a process that it did not start, prints nothing and reads no
//! environment variable; what processes write is kept in files and handed to an [`Observer`].

mod agent_file;
mod arm;
mod campaign;
mod command;
mod digests;
pub mod disk;
mod error;
pub mod files;
mod follow;
mod journal;
mod junit;
pub mod keeper;
mod lock;
mod log_files;
mod observer;
pub mod oracle;
mod outcome;
mod output;
mod prepared;
mod stage;
mod trial;

pub use agent_file::AgentFile;
pub use arm::{ArmError, arm};
pub use campaign::{Campaign, Executor, Progress, Stopped, finished, put_aside, trial_directory};
pub use command::{AgentOption, with_agent};
pub use digests::Kept;
pub use error::LabError;
pub use journal::{Entry, Head, JOURNAL_VERSION, Journal};
pub use lock::Lock;
pub use log_files::written as log_files_of;
pub use observer::{Observer, Silent};
pub use output::Output;
pub use prepared::Prepared;
pub use stage::check_conditions;
pub use trial::{Surroundings, Trial, TrialFiles, evidence_of};
