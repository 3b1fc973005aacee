//! What a campaign has come to: its rounds, what was missing, and what was found.

use hypocenter_plan::{Candidate, Fault, Guard, Injection, Plan, Site};
use serde::Serialize;

use crate::silence::Silent;

/// How many faults are kept that were as likely as one that was found.
pub const AS_LIKELY_MAX: usize = 100;

/// How the campaign stands.
#[derive(Debug, Clone, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is not over.
    Going,
    /// A fault was found that makes the failure happen.
    Reproduced,
    /// Everything was tried.
    Exhausted,
    /// The budget is used up.
    Budget,
    /// The failure happens without a fault.
    AlreadyFails {
        /// In how many runs.
        failed: u64,
        /// Of how many.
        runs: u64,
    },
    /// The failure log shows nothing that a normal run does not.
    NothingMissing,
    /// Nothing that was reached can lead to what the failure log shows.
    NothingToTry,
    /// A normal run gave nothing to go on.
    Unreadable {
        /// What is wrong.
        why: String,
    },
    /// The oracle could not say anything of normal runs.
    Unjudged {
        /// Why.
        why: String,
    },
}

/// A round.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Round {
    /// Its number, from 1, in the order of start.
    pub number: u64,
    /// The trial.
    pub trial: u64,
    /// How many faults it was given to choose from.
    pub window: usize,
    /// The fault that happened, if any.
    pub fault: Option<Injected>,
    /// Where the site of its fault stood among those that were left when the round was asked for, from 1.
    pub rank: Option<usize>,
    /// Where the site of what was found in the end stood then (ANDURIL, Figure 6); of two faults the second's.
    pub found_rank: Option<usize>,
    /// How many sites were left.
    pub left: usize,
    /// The faults that were kept from an earlier round and happened again.
    pub kept: Vec<Injected>,
    /// Why it looks like a round before it.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
    /// The observables that it showed, by their numbers.
    pub shown: Vec<u32>,
    /// Whether the failure happened.
    pub happened: bool,
}

/// Why a round has a fault alone that another may have had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize)]
#[serde(rename_all = "snake_case")]
pub enum Again {
    /// It is to be kept: a run with nothing else is recorded, and a second fault is searched for behind it.
    ForSecond,
    /// It was to be a second fault, and the one that is kept did not happen this time.
    WithoutKept,
    /// A delay was found, and this is an exception of the same call at the same moment.
    Instead,
    /// Its replays did not prove it at a later moment, and what it leads to may take its time.
    Earlier,
}

/// A fault that happened.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Injected {
    /// Where.
    pub site: Site,
    /// What.
    pub fault: Fault,
    /// When, as the plan asked for it.
    pub guard: Guard,
    /// When it happened, and by whom.
    pub at: Injection,
}

/// A fault, or several, that make the failure happen.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Found {
    /// The round.
    pub round: u64,
    /// The trial: its plan and its evidence.
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
    #[serde(skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// The first replay in which it happened.
    pub replayed: Option<u64>,
    /// What was no less likely when it was found, and was not tried: at most [`AS_LIKELY_MAX`]. Where the fault can lead to a line
    /// that says that the failure happened, as far as is known, what cannot is not among it.
    pub as_likely: Vec<Candidate>,
    /// What the failure log has, normal runs never, and the trial neither, by its place in [`Verdict::missing`]: another fault
    /// may be meant. It is not known of a fault that others were kept beside.
    #[serde(skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<u32>,
}

fn is_zero(number: &u64) -> bool {
    *number == 0
}

/// Something that the failure log shows and normal runs do not.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Missing {
    /// What stands for it in the case.
    #[serde(skip)]
    pub key: u32,
    /// The node whose log has it first.
    pub node: String,
    /// Its first entry in the failure log.
    pub entry: u32,
    /// The line there.
    pub line: u32,
    /// What it says.
    pub message: String,
    /// How often it is missing.
    pub times: u32,
    /// How often normal runs have it all the same.
    pub normal: u32,
    /// How many sites lead to it.
    pub sites: usize,
    /// The method that writes it, where no run without a fault did anything in its class: the workload may not run it at all.
    #[serde(skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// In how many rounds it was shown.
    pub shown: u64,
}

/// What came of the campaign so far.
#[derive(Debug, Clone, PartialEq, Serialize)]
pub struct Verdict {
    /// How it stands.
    pub standing: Standing,
    /// What was found.
    pub found: Vec<Found>,
    /// What is being proved.
    #[serde(skip)]
    pub proving: Option<Found>,
    /// What brought the failure once, and then so seldom that it may have come by itself.
    pub doubtful: Vec<Found>,
    /// All rounds that are over, by their numbers.
    pub rounds: Vec<Round>,
    /// What was missing at the start.
    pub missing: Vec<Missing>,
    /// The threads that are silent in the failure log and not in normal runs.
    #[serde(skip)]
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
    /// Trials of which the oracle could not say anything.
    pub unjudged: u64,
    /// Faults that could not be injected, as far as they were tried.
    pub refused: usize,
}
