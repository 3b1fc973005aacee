//! Errors that keep a trial or a campaign from running.

use hypocenter_trace::{MapError, TraceError};

/// See the module.
#[derive(Debug, thiserror::Error)]
pub enum LabError {
    /// A file of the trial cannot be written or read.
    #[error("{path}: {source}; the trial needs its own writable directory on a disk with free space")]
    File {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// The agent's file cannot be trusted.
    #[error("the agent's file {path}: {source}; set XDG_CACHE_HOME to a directory of your own")]
    Agent {
        /// Which.
        path: String,
        /// Why.
        source: std::io::Error,
    },
    /// A trial under an engine in which no JVM had hooks: it says nothing.
    #[error(
        "{trial}: no JVM loaded the agent and a class with hooks, although the workload {end}; check that the command starts java itself or keeps JAVA_TOOL_OPTIONS (`hypocenter doctor` tests the agent)"
    )]
    NoAgent {
        /// Its directory.
        trial: String,
        /// Its end.
        end: String,
    },
    /// The process that owns the trial's processes.
    #[error(transparent)]
    Keeper(#[from] crate::keeper::KeeperError),
    /// The trial's processes are gone, because their owner is.
    #[error("the trial was ended from outside: {0}; run it again")]
    KeeperGone(String),
    /// The owner of a trial's processes does not live long enough, however often the trial is run.
    #[error(
        "{trial}: it was ended from outside {attempts} times, and is not tried again: {why}; find out what ends processes here (the kernel does if memory is short), and resume the campaign"
    )]
    KeeperLost {
        /// The directory of the trial.
        trial: String,
        /// Number of its runs.
        attempts: u32,
        /// Fate of the last owner.
        why: String,
    },
    /// The trial's file.
    #[error(transparent)]
    Trace(#[from] TraceError),
    /// The map.
    #[error(transparent)]
    Map(#[from] MapError),
    /// A file of the trial is not what the tool and its agents wrote.
    #[error("{path}: {why}")]
    Unreadable {
        /// Which.
        path: String,
        /// Its error.
        why: String,
    },
    /// The plan.
    #[error(transparent)]
    Arm(#[from] crate::ArmError),
    /// The workload.
    #[error("{0}")]
    Workload(String),
    /// The oracle.
    #[error(transparent)]
    Oracle(#[from] crate::oracle::OracleError),
    /// The journal of a campaign.
    #[error("{path}: {why}")]
    Journal {
        /// Which.
        path: String,
        /// Error and advice.
        why: String,
    },
    /// A campaign whose trials this one reads.
    #[error("the campaign reads trials of {campaign}, and {why}; restore it, or start a new campaign")]
    Input {
        /// Its directory.
        campaign: String,
        /// Its error.
        why: String,
    },
    /// Somebody else works in the directory.
    #[error(
        "{campaign} is in use by process {holder}: two campaigns cannot share a directory; wait for it, or give another \
         with --campaign"
    )]
    Busy {
        /// The directory.
        campaign: String,
        /// The process.
        holder: String,
    },
    /// Somebody else carries out the trial.
    #[error("{trial} is run by another process; wait for it")]
    TrialBusy {
        /// Its directory.
        trial: String,
    },
    /// Record of a trial is incomplete, so that it cannot be judged.
    #[error(
        "{trial}: the disk was full, and the record of the trial is incomplete; free some space, and resume the campaign"
    )]
    DiskFull {
        /// Its directory.
        trial: String,
    },
    /// The engine neither works nor ends.
    #[error("the engine waits for nothing: internal error; please report it")]
    Stuck,
}

impl LabError {
    /// Fate of the process that owned the trial's processes, if it is the reason for a missing outcome: the trial itself is not to
    /// blame then, and can be run again.
    pub fn lost_keeper(&self) -> Option<&str> {
        match self {
            LabError::KeeperGone(why) | LabError::Keeper(crate::keeper::KeeperError::Gone { why }) => {
                Some(why)
            }
            _ => None,
        }
    }
}
