//! What a campaign has come to: its rounds, what was missing, and what was found.

use hypocenter_results::reproduced::{Missing, Noise, NormalFailure, Round, Standing};

use super::Found;
use crate::silence::Silent;

/// What came of the campaign so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// How it stands.
    pub standing: Standing,
    /// What was found.
    pub found: Vec<Found>,
    /// What is being proved.
    pub proving: Option<Found>,
    /// What brought the failure once, and then so seldom that it may have come by itself.
    pub doubtful: Vec<Found>,
    /// All rounds that are over, by their numbers.
    pub rounds: Vec<Round>,
    /// What was missing at the start.
    pub missing: Vec<Missing>,
    /// What was taken for noise.
    pub noise: Vec<Noise>,
    /// The threads that are silent in the failure log and not in normal runs.
    pub silent: Vec<Silent>,
    /// Sites of the program.
    pub sites_total: usize,
    /// Sites that lead to what is missing.
    pub sites_inferred: usize,
    /// Sites of them that a normal run reaches.
    pub sites_reached: usize,
    /// Further sites that it reaches: nothing is known to lead from them there, and something may all the same.
    pub sites_beyond: usize,
    /// Executions of both.
    pub instances: usize,
    /// Runs without a fault, and those in which the failure happened all the same.
    pub normal: (u64, u64),
    /// The first run without a fault in which it did not.
    pub normal_first: u64,
    /// How long the shortest and the longest of the normal runs took, if they differ by far.
    pub busy_ms: Option<(u64, u64)>,
    /// The first of those in which it did.
    pub normal_failure: Option<NormalFailure>,
    /// Trials of which the oracle could not say anything.
    pub unjudged: u64,
    /// Faults that could not be injected, as far as they were tried.
    pub refused: usize,
}
