//! Runs trials, and campaigns of them: processes with the agent inside, a fresh directory each, nothing left behind.
//!
//! A [`Trial`] names the workload, the plan and the map. [`Trial::run`] lays out the directory, has a [`keeper`] start
//! the processes (in a sandbox where the kernel allows it), and the `stage` lead them from ready to the end; what they
//! left is read into an [`Outcome`](hypocenter_plan::Outcome), and an [`oracle`] says whether the failure happened. A
//! [`Campaign`] has an [`executor`] carry out what an engine asks for, and keeps the [`journal`](Journal). A [`Host`] runs any
//! of its trials from the files of the campaign.
//!
//! **Architecture Invariant:** the lab never touches a process that it did not start, prints nothing and reads no
//! environment variable; what processes write is kept in files and handed to an [`Observer`].

mod agent_file;
mod arm;
mod campaign;
mod command;
mod digests;
mod directory;
pub mod disk;
mod error;
pub mod executor;
pub mod files;
mod follow;
mod host;
mod input;
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
mod setting;
mod stage;
mod ticker;
mod trial;
pub mod xml;

pub use agent_file::AgentFile;
pub use arm::{ArmError, arm};
pub use campaign::{Campaign, Progress, Sitting, Stopped};
pub use command::AgentOption;
pub use digests::Kept;
pub use directory::{finished, put_aside, trial_directory};
pub use error::LabError;
pub use executor::Executor;
pub use host::Host;
pub use input::Input;
pub use journal::{Entry, Head, JOURNAL_VERSION, Journal};
pub use lock::Lock;
pub use observer::{Observer, Unobserved};
pub use output::Output;
pub use prepared::Prepared;
pub use setting::{CAMPAIGN_VERSION, Setting};
pub use stage::check_conditions;
pub use trial::{Surroundings, Trial, TrialFiles, evidence_of};
