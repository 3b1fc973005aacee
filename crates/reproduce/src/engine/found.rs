//! A fault, or several, that brought the failure.

use hypocenter_plan::{Candidate, Plan};
use hypocenter_results::Injected;

/// What brought the failure in a round.
#[derive(Debug, Clone, PartialEq)]
pub struct Found {
    /// The round.
    pub round: u64,
    /// The trial.
    pub trial: u64,
    /// The faults.
    pub faults: Vec<Injected>,
    /// The plan that has nothing but them.
    pub plan: Plan,
    /// What the oracle saw.
    pub why: String,
    /// Replays in which the failure happened.
    pub hits: u64,
    /// Replays in which the faults happened.
    pub runs: u64,
    /// Replays in which they were not all reached, which say nothing of them.
    pub missed: u64,
    /// The first replay in which it happened.
    pub replayed: Option<u64>,
    /// What was no less likely when it was found, and was not tried.
    pub as_likely: Vec<Candidate>,
    /// What the failure log has, normal runs never, and the trial neither, each by its place among what is missing.
    pub lacks: Vec<u32>,
}
