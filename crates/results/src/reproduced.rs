//! What a campaign of `reproduce` came to: `summary.json`, the document that `--json` prints.

use std::collections::BTreeSet;

use hypocenter_plan::{Candidate, Fault, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::proof::is_zero;
use crate::runs::Beside;
use crate::{Injected, Rate};

/// The version of the document. It is raised when a field changes its meaning or goes away; new optional fields do not raise it.
pub const SUMMARY_VERSION: u32 = 1;

/// How many faults that were as likely as one that was found are kept with it.
pub const AS_LIKELY_MAX: usize = 100;

/// What a campaign came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Summary {
    /// The version of this format.
    pub version: u32,
    /// The version of the tool that wrote it.
    pub tool: String,
    /// The verb that began the campaign.
    pub verb: String,
    /// The name of the campaign.
    pub campaign: String,
    /// The directory in which the commands are run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub directory: Option<String>,
    /// The workload.
    pub workload: String,
    /// The logs of the failure, each with the name of its node.
    pub logs: Vec<(String, String)>,
    /// How many rounds there may be.
    pub budget: u64,
    /// By which strategy faults were chosen.
    pub strategy: String,
    /// The seed.
    pub seed: u64,
    /// Whether a fault was found that makes the failure happen.
    pub reproduced: bool,
    /// The round in which it was found, or how many there were.
    pub rounds: u64,
    /// How long the campaign took.
    pub seconds: f64,
    /// After how long the first fault was found; what came then are replays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_seconds: Option<f64>,
    /// How often replays showed the failure.
    pub rate: Option<Rate>,
    /// The fault that was found first; of two, the second.
    pub fault: Option<FaultSummary>,
    /// The command that makes the failure happen again.
    pub replay: Option<String>,
    /// Sites of the program at which a fault can go in.
    pub sites_total: u64,
    /// Sites that lead to what the failure log shows.
    pub sites: u64,
    /// Executions of those that the workload reaches.
    pub instances: u64,
    /// What the failure log shows and normal runs do not.
    pub observables: u64,
    /// Injection requests of a run, the median over rounds.
    pub requests: Option<u64>,
    /// How long a decision took.
    pub decision_ns: Option<f64>,
    /// From the end of a trial until the plan of the next was written.
    pub between_rounds_ms: Option<f64>,
    /// How long the workload ran.
    pub workload_s: Option<f64>,
    /// Runs without a fault.
    pub normal_runs: u64,
    /// Those in which the failure happened all the same.
    pub normal_failures: u64,
    /// How the campaign ended.
    pub standing: Standing,
    /// What the oracle looks for and the failure log does not have, a sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<String>,
    /// The faults that make the failure happen, each alone or with those beside it.
    pub found: Vec<Found>,
    /// For each of these the command that makes the failure happen again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub replays: Vec<String>,
    /// What brought the failure once, and then so seldom that it may have come by itself.
    #[serde(default)]
    pub doubtful: Vec<Found>,
    /// For each of those found how it led to the failure, if its evidence was there.
    pub stories: Vec<Option<Story>>,
    /// What the failure log shows and normal runs do not.
    pub missing: Vec<Missing>,
    /// The threads that say no more in the failure log where normal runs go on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<Silent>,
    /// The rounds.
    pub tried: Vec<Round>,
}

impl Summary {
    /// Whether faults or logs are of several nodes, so that a fault alone does not say on which it is.
    pub fn has_several_nodes(&self) -> bool {
        let of_logs: BTreeSet<&str> = self.logs.iter().map(|it| it.0.as_str()).collect();
        let faults = self.tried.iter().flat_map(|it| it.kept.iter().chain(&it.fault));
        let of_faults: BTreeSet<&str> = faults.map(|it| it.at.node.as_str()).collect();
        of_logs.len() > 1 || of_faults.len() > 1
    }

    /// What the failure log has and something found does not show.
    pub fn lacking<'s>(&'s self, found: &'s Found) -> impl Iterator<Item = &'s Missing> {
        found.lacks.iter().filter_map(|&it| self.missing.get(it as usize))
    }

    /// The command that shows something found again, by its number among all.
    pub fn replay_of(&self, number: usize, found: &Found) -> String {
        // Campaigns of before have the names alone.
        let by_name =
            || format!("hypocenter replay {}/{}", self.campaign, found.replayed.unwrap_or(found.trial));
        self.replays.get(number).cloned().unwrap_or_else(by_name)
    }
}

/// A fault, in short.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultSummary {
    /// The class that makes the call.
    pub class: String,
    /// The method that makes it.
    pub method: String,
    /// Its line.
    pub line: Option<u32>,
    /// What is thrown.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// How long it is delayed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// What is called.
    pub callee: Option<String>,
    /// The how-manieth time, counted in the thread.
    pub occurrence: u64,
    /// The node.
    pub node: String,
    /// The thread.
    pub thread: String,
}

impl FaultSummary {
    /// In short what happened.
    pub fn of(it: &Injected) -> FaultSummary {
        FaultSummary {
            class: it.site.class.clone(),
            method: it.site.method.clone(),
            line: it.site.line,
            exception: match &it.fault {
                Fault::Exception { class, .. } => Some(class.clone()),
                _ => None,
            },
            delay_ms: match &it.fault {
                Fault::Delay { delay_ms, .. } => Some(*delay_ms),
                _ => None,
            },
            callee: it.site.callee.clone(),
            occurrence: it.at.occurrence,
            node: it.at.node.clone(),
            thread: it.at.thread.clone(),
        }
    }
}

/// How a campaign ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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

/// A fault, or several, that make the failure happen.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
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
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// The first replay in which it happened.
    pub replayed: Option<u64>,
    /// What was no less likely when it was found, and was not tried. Where the fault can lead to a line
    /// that says that the failure happened, as far as is known, what cannot is not among it.
    #[serde(default)]
    pub as_likely: Vec<Candidate>,
    /// What the failure log has, normal runs never, and the trial neither, each by its place in `missing`, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<u32>,
}

/// How faults led to the failure.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Story {
    /// The trial that the log is of.
    pub trial: u64,
    /// For each fault how it leads to lines of the failure log.
    pub causes: Vec<Cause>,
    /// Both logs side by side, around the fault and the symptom.
    pub beside: Option<Beside>,
    /// How the line that says that the failure happened differs in the trial, if its numbers do: it may be another moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<Moment>,
    /// How many entries the thread of the fault had written by then, where that differs by far: it may be another moment.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sooner: Option<Sooner>,
}

/// How many entries a thread had written by the moment of a fault.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Sooner {
    /// The thread.
    pub thread: String,
    /// In the failure.
    pub failure: u32,
    /// In the trial.
    pub trial: u32,
}

/// A line that says that the failure happened, as both logs have it.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Moment {
    /// In the failure log.
    pub failure: String,
    /// In the log of the trial.
    pub trial: String,
}

/// How a fault leads to lines of the failure log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The fault, in a line.
    pub fault: String,
    /// Whether it is a delay, which leads anywhere by the time that it takes.
    pub is_delay: bool,
    /// The lines that it leads to and that the trial shows too, the nearest first.
    pub leads_to: Vec<Lead>,
    /// The frames by which stack traces of the failure log name it.
    pub named_by: Vec<NamedBy>,
    /// The thread that it struck, where such a thread falls silent in the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent: Option<String>,
}

/// A thread that falls silent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Silent {
    /// The node.
    pub node: String,
    /// The thread's name.
    pub thread: String,
    /// How many entries of a normal run it does not have.
    pub entries: u32,
}

/// A line of the failure log, and the way to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lead {
    /// The node whose log has it.
    pub node: String,
    /// The line there.
    pub line: u32,
    /// What it says.
    pub message: String,
    /// Whether it says that the failure happened.
    pub is_symptom: bool,
    /// How many events the way has.
    pub distance: u32,
    /// The way in words, the fault first.
    pub steps: Vec<String>,
    /// For each step where it is in the program, if it is anywhere.
    pub places: Vec<Option<Place>>,
}

/// A place in the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Place {
    /// The class, with dots.
    pub class: String,
    /// The method.
    pub method: String,
    /// The line.
    pub line: Option<u32>,
}

/// A frame of a stack trace in the failure log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NamedBy {
    /// The node whose log has it.
    pub node: String,
    /// The line there.
    pub line: u32,
    /// The frame.
    pub frame: String,
    /// The exception.
    pub exception: String,
}

/// Something that the failure log shows and normal runs do not.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Missing {
    /// Its number, by which rounds name it.
    #[serde(default)]
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
    #[serde(default)]
    pub normal: u32,
    /// How many sites lead to it.
    pub sites: u64,
    /// The method that writes it, where no run without a fault did anything in its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// In how many rounds it was shown.
    pub shown: u64,
}

/// A round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Its number, from 1, in the order of start.
    pub number: u64,
    /// The trial.
    pub trial: u64,
    /// How many faults it was given to choose from.
    pub window: u64,
    /// The fault that happened, if any.
    pub fault: Option<Injected>,
    /// Where the site of its fault stood among those that were left, from 1.
    pub rank: Option<u64>,
    /// Where the site of what was found in the end stood then.
    pub found_rank: Option<u64>,
    /// How many sites were left.
    pub left: u64,
    /// The faults that were kept from an earlier round and happened again.
    pub kept: Vec<Injected>,
    /// Why it looks like a round before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
    /// The observables that it showed, by their numbers.
    pub shown: Vec<u32>,
    /// Whether the failure happened.
    pub happened: bool,
}

/// Why a round has a fault alone that another may have had before.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
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
