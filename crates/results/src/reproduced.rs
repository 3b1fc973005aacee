//! Results of a campaign of `reproduce`.

use std::collections::BTreeSet;

use hypocenter_plan::{Candidate, ExitCode, Fault, Plan};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::proof::is_zero;
use crate::runs::Beside;
use crate::{Detail, Finding, Injected, Rate, Rule, Score};

/// Maximum number of equally likely faults that are kept with one that was found.
pub const AS_LIKELY_MAX: usize = 100;

/// Leads of a cause whose steps are shown; of the others only where they lead.
pub const WAYS_SHOWN: usize = 3;

/// Weight of a line that counts in full.
pub const WEIGHT_MAX: u32 = 10;

/// Number of noise entries that are kept.
pub const NOISE_MAX: usize = 200;

/// Number of nearest rounds that are kept.
pub const CLOSEST_MAX: usize = 10;

/// Results of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Reproduction {
    /// Packages of the system; everything else is a library.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub packages: Vec<String>,
    /// The flags that say which target is meant, for commands that are suggested.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub flags: String,
    /// Faults can be on one of several nodes, so their node is named.
    #[serde(default)]
    pub several_nodes: bool,
    /// Entries come from the logs of several nodes, so lines are named with their node.
    #[serde(default)]
    pub several_logs: bool,
    /// The logs of the failure, each with the name of its node.
    pub logs: Vec<(String, String)>,
    /// Maximum number of rounds.
    pub budget: u64,
    /// By which strategy faults were chosen.
    pub strategy: String,
    /// True if a fault was found that makes the failure happen.
    pub reproduced: bool,
    /// The round in which it was found, or how many there were.
    pub rounds: u64,
    /// Number of replays that showed the failure.
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
    /// Entries of the failure log that normal runs lack.
    pub observables: u64,
    /// Runs without a fault.
    pub normal_runs: u64,
    /// Those in which the failure happened all the same.
    pub normal_failures: u64,
    /// How long the shortest and the longest normal run took, in milliseconds, where they differ so much that the machine must have
    /// been busy.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub busy_ms: Option<(u64, u64)>,
    /// The first run without a fault in which the failure happened, where the campaign ended because of it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub normal_failure: Option<NormalFailure>,
    /// Trials that the oracle could not judge.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub unjudged: u64,
    /// Faults that could not be injected.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub refused: u64,
    /// End of the campaign.
    pub standing: Standing,
    /// Conditions of the oracle that the failure log does not meet, one sentence each.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unmet: Vec<String>,
    /// Faults that cause the failure, the one that explains most first.
    pub found: Vec<Finding<Explained>>,
    /// Fault that caused the failure once, and then so rarely that it may have happened by itself.
    #[serde(default)]
    pub doubtful: Vec<Finding<Explained>>,
    /// Entries of the failure log that normal runs lack.
    pub missing: Vec<Missing>,
    /// What it shows more often than normal runs, by no more than they differ from each other; at most [`NOISE_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub noise: Vec<Noise>,
    /// The threads that say no more in the failure log where normal runs go on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<Silent>,
    /// The rounds.
    pub tried: Vec<Round>,
    /// Rules that the scores of the rounds name.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub rules: Vec<Rule>,
    /// Rounds that show most of the failure log, if nothing was found, the best first; for each fault at each site the best
    /// round, at most [`CLOSEST_MAX`].
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub closest: Vec<Closest>,
    /// Suggestions if nothing was found, the most promising first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub suggestions: Vec<Suggestion>,
}

impl Detail for Reproduction {
    const VERSION: u32 = 2;
    type Finding = Explained;

    fn findings(&self) -> &[Finding<Explained>] {
        &self.found
    }

    fn name_replays(&mut self, command: &dyn Fn(u64) -> String) {
        self.found.iter_mut().chain(&mut self.doubtful).for_each(|it| it.replay = command(it.trial));
        self.replay = self.found.first().map(|it| it.replay.clone());
    }

    fn found_in(&self) -> Option<u64> {
        self.found.first().map(|it| it.detail.round)
    }

    fn exit_code(&self) -> ExitCode {
        self.standing.exit_code()
    }
}

impl Reproduction {
    /// Tests whether faults or logs are of several nodes, so that a fault alone does not say on which it is.
    pub fn has_several_nodes(&self) -> bool {
        if self.several_nodes {
            return true;
        }
        // Documents of before do not say it.
        let of_logs: BTreeSet<&str> = self.logs.iter().map(|it| it.0.as_str()).collect();
        let faults = self.tried.iter().flat_map(|it| it.kept.iter().chain(&it.fault));
        let of_faults: BTreeSet<&str> = faults.map(|it| it.at.node.as_str()).collect();
        of_logs.len() > 1 || of_faults.len() > 1
    }

    /// Entries of the failure log that a finding does not show.
    pub fn lacking<'s>(&'s self, found: &'s Finding<Explained>) -> impl Iterator<Item = &'s Missing> {
        found.detail.lacks.iter().filter_map(|&it| self.missing.get(it as usize))
    }

    /// Entries of the failure log that no round showed.
    pub fn never_shown(&self) -> impl Iterator<Item = &Missing> {
        self.missing.iter().filter(|it| it.shown == 0)
    }

    /// A round by its number.
    pub fn round(&self, number: u64) -> Option<&Round> {
        self.tried.iter().find(|it| it.number == number)
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
    /// Exception.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// Duration of the delay.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub delay_ms: Option<u64>,
    /// Called method.
    pub callee: Option<String>,
    /// Index of the occurrence, counted on the thread.
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

/// End of a campaign.
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
        /// Error.
        why: String,
    },
    /// The oracle could not say anything of normal runs.
    Unjudged {
        /// Why.
        why: String,
    },
}

impl Standing {
    /// The exit code of the command.
    pub fn exit_code(&self) -> ExitCode {
        match self {
            Standing::Reproduced => ExitCode::Done,
            Standing::Exhausted | Standing::NothingMissing | Standing::NothingToTry => ExitCode::Findings,
            Standing::Budget | Standing::Going => ExitCode::Budget,
            Standing::AlreadyFails { .. } => ExitCode::AlreadyFails,
            Standing::Unreadable { .. } | Standing::Unjudged { .. } => ExitCode::Usage,
        }
    }
}

/// A run without a fault in which the failure happened.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NormalFailure {
    /// The trial.
    pub trial: u64,
    /// Evidence of the oracle.
    pub why: String,
}

/// A round that came near to the failure.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Closest {
    /// Its number.
    pub round: u64,
    /// Entries of the failure log that it shows, each by its index in `missing`, from 0.
    pub shows: Vec<u32>,
    /// Entries that it does not show, likewise.
    pub lacks: Vec<u32>,
}

/// Something to try after a search that found nothing. Entries of the failure log are named by their place in `missing`, from 0.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Suggestion {
    /// A longer workload: the failure logged something far more often than normal runs, and no round as often.
    LongerWorkload {
        /// The entry.
        missing: u32,
    },
    /// The faults that can lead to the first entry that no round showed.
    AskWhy {
        /// The entry.
        missing: u32,
    },
    /// A steadier workload: a round brought the failure, and its replays seldom did.
    SteadierReplays {
        /// The round.
        round: u64,
        /// Replays in which the failure happened.
        hits: u64,
        /// Replays.
        runs: u64,
    },
    /// Another workload: this one reaches few of the calls that lead to what is missing.
    OtherWorkload {
        /// Calls that it reaches.
        reached: u64,
        /// Calls that lead to what is missing.
        inferred: u64,
    },
    /// A steadier workload: many rounds did not reach a fault that normal runs reach.
    SteadierWorkload {
        /// Rounds without a fault.
        unreached: u64,
        /// Rounds.
        rounds: u64,
    },
    /// Two faults: rounds together show more than the best of them.
    TwoFaults {
        /// Number of entries that the best round shows.
        best: u64,
        /// Number of entries that all rounds show together.
        together: u64,
        /// Rounds after which a second fault is searched for.
        patience: u64,
    },
    /// More than two faults.
    MoreFaults {
        /// Number of entries that the best round shows.
        best: u64,
    },
    /// Delays, which were left out.
    Delays,
    /// A longer delay.
    LongerDelay {
        /// Durations of those that were tried.
        delay_ms: u64,
        /// In how many rounds.
        tried: u64,
    },
    /// Packages and class path: no known fault leads to anything that never came.
    CheckPackages,
    /// The oracle: it does not hold where a round shows all that is missing.
    CheckOracle,
    /// More rounds.
    MoreRounds {
        /// Calls with moments that were not tried.
        calls: u64,
    },
}

/// Data of `reproduce` about a finding.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explained {
    /// The round that showed it first.
    pub round: u64,
    /// The trial that was this round.
    pub seen_in: u64,
    /// The plan that has nothing but its faults.
    pub plan: Plan,
    /// Faults that were no less likely when it was found, and were not tried. If the fault can lead to a line
    /// that says that the failure happened, as far as is known, what cannot is not among it.
    #[serde(default)]
    pub as_likely: Vec<Candidate>,
    /// Entries of the failure log that normal runs never have, and the trial lacks, each by its index in `missing`, from 0.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub lacks: Vec<u32>,
}

/// Causal story of the faults.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Story {
    /// The trial that the log is of.
    pub trial: u64,
    /// For each fault how it leads to lines of the failure log.
    pub causes: Vec<Cause>,
    /// Both logs side by side, around the fault and the symptom.
    pub beside: Option<Beside>,
    /// Difference between the line of the failure in both logs, if its numbers differ: possibly another occurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub moment: Option<Moment>,
    /// Number of entries that the thread of the fault had written by then, if the two differ by far: possibly another occurrence.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub sooner: Option<Sooner>,
    /// When the first fault happened, on the clock of the failure log and on that of the trial's.
    #[serde(default)]
    pub zero_ms: [Option<i64>; 2],
    /// True if the oracle looks for a line of the log, and no known causal path leads from the faults to it.
    #[serde(default)]
    pub symptom_unexplained: bool,
}

/// Number of entries that a thread had written by the time of a fault.
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

/// Causal paths from a fault to lines of the failure log.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cause {
    /// The fault, in a line.
    pub fault: String,
    /// True if it is a delay, which leads anywhere by the time that it takes.
    pub is_delay: bool,
    /// The lines that it leads to and that the trial shows too, the nearest first.
    pub leads_to: Vec<Lead>,
    /// The frames by which stack traces of the failure log name it.
    pub named_by: Vec<NamedBy>,
    /// The thread that it struck, where such a thread falls silent in the failure.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub silent: Option<String>,
}

impl Cause {
    /// Tests whether there is no path to show: a delay leads by its time alone, and of some faults none is known.
    pub fn has_no_path(&self) -> bool {
        self.is_delay || (self.leads_to.is_empty() && self.named_by.is_empty())
    }
}

/// A thread that falls silent.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Silent {
    /// The node.
    pub node: String,
    /// The thread's name.
    pub thread: String,
    /// Number of entries of a normal run that it lacks.
    pub entries: u32,
}

/// A line of the failure log, and the way to it.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Lead {
    /// The node whose log has it.
    pub node: String,
    /// The line there.
    pub line: u32,
    /// Its text.
    pub message: String,
    /// True if it says that the failure happened.
    pub is_symptom: bool,
    /// Number of events of the path.
    pub distance: u32,
    /// The way in words, the fault first.
    pub steps: Vec<String>,
    /// For each step where it is in the program, if it is anywhere.
    pub places: Vec<Option<LinePlace>>,
}

/// A place in the program.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LinePlace {
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
    /// Its text.
    pub message: String,
    /// Number of times that it is missing.
    pub times: u32,
    /// Number of times that normal runs have it anyway, at most.
    #[serde(default)]
    pub normal: u32,
    /// Number of times that the normal run with the fewest has it.
    #[serde(default, skip_serializing_if = "is_none")]
    pub normal_least: u32,
    /// Weight as evidence, from 1 to [`WEIGHT_MAX`].
    #[serde(default, skip_serializing_if = "is_none")]
    pub weight: u32,
    /// Reasons for its weight.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub why: String,
    /// Number of sites that lead to it.
    pub sites: u64,
    /// The method that writes it, where no run without a fault did anything in its class.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub not_run: Option<String>,
    /// In how many rounds it was shown.
    pub shown: u64,
}

impl Missing {
    /// Tests whether the failure did it so much more often than the workload that it must have run for longer. Once more is what a
    /// failure does.
    pub fn is_longer(&self) -> bool {
        self.normal > 0 && self.times >= 2 * self.normal
    }
}

/// Something that the failure log shows more often than normal runs, and that is taken for noise all the same.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Noise {
    /// The node whose log has it first.
    pub node: String,
    /// The line there.
    pub line: u32,
    /// What it says.
    pub message: String,
    /// How often the failure log has it.
    pub times: u32,
    /// How often normal runs have it, at the least and at most.
    pub normal: (u32, u32),
}

fn is_none(number: &u32) -> bool {
    *number == 0
}

/// A round.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Round {
    /// Its number, from 1, in the order of start.
    pub number: u64,
    /// The trial.
    pub trial: u64,
    /// Number of faults that it could choose from.
    pub window: u64,
    /// The fault that happened, if any.
    pub fault: Option<Injected>,
    /// Rank of the site of its fault among the remaining sites, from 1.
    pub rank: Option<u64>,
    /// Rank of the site of the final fault at that time.
    pub found_rank: Option<u64>,
    /// Number of remaining sites.
    pub left: u64,
    /// The faults that were kept from an earlier round and happened again.
    pub kept: Vec<Injected>,
    /// Why it looks like a round before it.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub again: Option<Again>,
    /// Its runs with the fault, if there were several, and those in which the failure happened. They count as one.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub runs: Option<Rate>,
    /// Why its fault was tried before others; where none was reached, the first that it was given.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub score: Option<Score>,
    /// The observables that it showed, by their numbers.
    pub shown: Vec<u32>,
    /// True if the failure happened.
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
    /// A round with its fault showed far more of the failure log than any other: another moment of the call, or the same once more.
    NearMiss,
}
