//! What an engine asks for.

use std::fmt;

use hypocenter_plan::Plan;
use serde::{Deserialize, Serialize};

/// The number of a job in its campaign, from 0, in the order in which jobs were asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize)]
#[serde(transparent)]
pub struct JobId(pub u64);

impl fmt::Display for JobId {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{}", self.0)
    }
}

/// A piece of work.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Job {
    /// Its number.
    pub id: JobId,
    /// What it is for.
    pub purpose: Purpose,
    /// What is to be done.
    pub work: Work,
}

/// What a job is for: digesters, narration and reports go by it, and guess nothing from a plan.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Purpose {
    /// A run without a fault, to know what is normal.
    Normal,
    /// A try of something new.
    Probe,
    /// A run with what is known to matter and nothing else, from which a search goes on.
    Base,
    /// A trial again, to see whether it shows the same.
    Replay(JobId),
    /// A run without a fault beside the replays of a trial.
    Control(JobId),
    /// Something near a trial, to see what of it matters.
    Near(JobId),
}

/// What is to be done.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Work {
    /// One run of a workload under a plan.
    Trial {
        /// The workload's name.
        workload: String,
        /// The plan.
        plan: Plan,
    },
    /// A pass over the kept evidence of earlier trials.
    Study {
        /// Which.
        trials: Vec<JobId>,
    },
}

/// The answer to a request for work.
#[derive(Debug, Clone, PartialEq)]
pub enum Next {
    /// Do these; no more of them than there was room for.
    Start(Vec<Job>),
    /// Nothing until something that was started has ended.
    Wait,
    /// The campaign is over.
    Done,
}
