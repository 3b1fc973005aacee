//! Results of a campaign of `predict`.

use std::fmt;

use hypocenter_plan::{ExitCode, Frame, OperationKind};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::proof::is_zero;
use crate::{Detail, Finding};

/// Results of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Prediction {
    /// Its state.
    pub standing: Forecasting,
    /// The nodes that were crashed, and those that could not be.
    pub nodes: Vec<CrashedNode>,
    /// Runs without a fault, correct runs with a crash, and triggers.
    pub runs: RunCounts,
    /// Operations of the runs without a fault, and of the correct runs with a crash.
    pub operations: u64,
    /// Pairs of a write before the crash and a read of the recovery.
    pub pairs: u64,
    /// Pairs that were left out, by rule.
    pub pruned: Pruned,
    /// Those pairs, as far as they are kept.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub left_out: Vec<LeftOutPair>,
    /// Writes before the crash to what no recovery works on.
    #[serde(default)]
    pub unmatched: u64,
    /// Reports: the pairs that no rule left out, with their verdicts.
    pub reports: Vec<PairReport>,
    /// Crashes that are not survived, confirmed by replays.
    pub findings: Vec<Finding<Conflict>>,
    /// Those that no replay has confirmed.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<Finding<Conflict>>,
    /// Problems of the lab and of the evidence.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// State of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "state", rename_all = "snake_case")]
pub enum Forecasting {
    /// It is not over.
    #[default]
    Going,
    /// All is done.
    Done,
    /// No verdict: what the runs left is not complete.
    Incomplete {
        /// Why.
        why: String,
    },
    /// The runs without a fault go wrong already.
    NormalFails {
        /// Why.
        why: String,
    },
}

/// Number of runs by purpose.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunCounts {
    /// Without a fault.
    pub normal: u64,
    /// With a crash, to see the recovery.
    pub crashed: u64,
    /// Those of them that were correct.
    pub correct: u64,
    /// With the crash of a report.
    pub triggers: u64,
}

/// A node.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashedNode {
    /// Its name.
    pub name: String,
    /// Its operations on files in a run without a fault.
    pub operations: u64,
    /// Runs with a crash of it.
    pub crashes: Vec<CrashRun>,
    /// Why it takes no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// A run with a crash, to see the recovery.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CrashRun {
    /// Its trial.
    pub trial: u64,
    /// The operation before which the node crashes, by its number on the node.
    pub at: u64,
    /// The operation.
    pub before: Access,
    /// What came of it; absent while it is not over.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub came: Option<CrashCame>,
    /// Starts of the node, the first included.
    pub starts: u64,
    /// Operations of the recovery.
    pub recovery: u64,
}

/// Result of a run with a crash.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "came", rename_all = "snake_case")]
pub enum CrashCame {
    /// It was survived.
    Correct,
    /// It was not.
    Failed {
        /// What is wrong.
        why: String,
    },
    /// It did not happen.
    NotReached {
        /// Why.
        why: String,
    },
}

/// Number of pairs that each rule left out.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Pruned {
    /// The wait has a limit.
    pub wait_timeout: u64,
    /// A clock ends the loop.
    pub loop_timeout: u64,
    /// A check of the same resource decides over the read.
    pub control: u64,
    /// The recovery writes the resource anew before it reads it.
    pub reset: u64,
    /// Nothing comes of the read that could be harmful.
    pub impact: u64,
}

/// Rule by which a pair is left out.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum PruneRule {
    /// A check of the same resource decides over the read.
    Control,
    /// The recovery writes the resource anew before it reads it.
    Reset,
    /// Nothing comes of the read that could be harmful.
    Impact,
}

impl PruneRule {
    /// Every rule, in the order in which they are applied.
    pub const ALL: [PruneRule; 3] = [PruneRule::Control, PruneRule::Reset, PruneRule::Impact];

    /// The name in settings and documents.
    pub fn name(self) -> &'static str {
        match self {
            PruneRule::Control => "control",
            PruneRule::Reset => "reset",
            PruneRule::Impact => "impact",
        }
    }
}

impl Pruned {
    /// Counts a pair.
    pub fn add(&mut self, rule: PruneRule) {
        match rule {
            PruneRule::Control => self.control += 1,
            PruneRule::Reset => self.reset += 1,
            PruneRule::Impact => self.impact += 1,
        }
    }

    /// All together.
    pub fn all(&self) -> u64 {
        self.wait_timeout + self.loop_timeout + self.control + self.reset + self.impact
    }
}

/// An operation, by where it is in the code.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Access {
    /// What is done.
    pub operation: OperationKind,
    /// The file, from the directory of the trial on.
    pub resource: String,
    /// The other, such as the new name of a file.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub other: Option<String>,
    /// The node.
    pub node: String,
    /// The thread.
    pub thread: String,
    /// The nearest method of the system, as `package.Class.method`.
    pub method: String,
    /// The line there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The methods of the system that led there, innermost first.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stack: Vec<Frame>,
}

impl fmt::Display for Access {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        write!(f, "{} {}", self.operation, self.resource)?;
        if let Some(other) = &self.other {
            write!(f, " to {other}")?;
        }
        write!(f, " in {}", self.method)?;
        self.line.map_or(Ok(()), |line| write!(f, ":{line}"))
    }
}

/// A pair that a rule left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct LeftOutPair {
    /// The write before the crash.
    pub w: Access,
    /// The read of the recovery.
    pub r: Access,
    /// The rule.
    pub rule: PruneRule,
    /// Why, in words.
    pub why: String,
}

/// Side of the write on which the node crashes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum CrashSide {
    /// Right before it: a correct run with a crash had it.
    Before,
    /// Right after it: only the run without a fault had it.
    After,
}

impl fmt::Display for CrashSide {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(match self {
            CrashSide::Before => "right before",
            CrashSide::After => "right after",
        })
    }
}

/// Result of a trigger.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(tag = "verdict", rename_all = "snake_case")]
pub enum Triggered {
    /// The crash was not made, or its run is not over.
    Untried,
    /// The crash is not survived, and replays confirm it.
    Confirmed,
    /// The crash was not survived once, and no replay confirms it.
    Unconfirmed {
        /// What was wrong.
        why: String,
    },
    /// It is survived, with complaints that correct runs do not have.
    Handled {
        /// What is logged.
        why: String,
    },
    /// It is survived.
    Benign,
    /// It did not happen.
    NotReached {
        /// Why.
        why: String,
    },
}

impl Triggered {
    /// In a word or two.
    pub fn name(&self) -> &'static str {
        match self {
            Triggered::Untried => "not tried",
            Triggered::Confirmed => "confirmed",
            Triggered::Unconfirmed { .. } => "not confirmed",
            Triggered::Handled { .. } => "handled",
            Triggered::Benign => "benign",
            Triggered::NotReached { .. } => "not reached",
        }
    }
}

/// A pair that no rule left out.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct PairReport {
    /// The write before the crash.
    pub w: Access,
    /// The read of the recovery.
    pub r: Access,
    /// How far what the read gives is from what could be harmful: so many steps in the code, and what that is.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub impact: Option<Impact>,
    /// Side of the write on which the node is crashed.
    pub side: CrashSide,
    /// Its trial, if it was tried.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u64>,
    /// What came of it.
    #[serde(flatten)]
    pub triggered: Triggered,
}

/// Something harmful that a read can lead to.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Impact {
    /// What, in words.
    pub what: String,
    /// Where, as `package.Class.method:line`.
    pub at: String,
    /// Steps in the code from the read to it.
    pub distance: u32,
}

/// Data of `predict` about a crash that is not survived.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Conflict {
    /// The write at which the node crashes.
    pub w: Access,
    /// The read of the recovery that comes last before the failure; absent where a crash was made without a pair.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub r: Option<Access>,
    /// Side of the write on which it crashes.
    pub side: CrashSide,
    /// All reads that conflict with the write.
    pub reads: Vec<Access>,
    /// The runs, one above the other.
    pub runs: Vec<DrawnRun>,
    /// Number of runs without a fault, or with another crash, that show nothing of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub without: u64,
    /// Neighbours of the crash.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub window: Option<Window>,
}

/// Operations of the node on which a crash is not survived, between those on which it is.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Window {
    /// The last operation before which a crash was survived.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survived_before: Option<Access>,
    /// The first operation behind it before which a crash is survived again.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub survived_again: Option<Access>,
    /// Number of operations of the node between them.
    pub operations: u64,
}

/// Operations of a run on the resource of a pair, in order.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DrawnRun {
    /// Its trial.
    pub trial: u64,
    /// What it is, in words.
    pub title: String,
    /// Its operations.
    pub operations: Vec<DrawnOperation>,
    /// When the node crashed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub crash_ms: Option<f64>,
}

/// An operation of a drawing.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct DrawnOperation {
    /// The node.
    pub node: String,
    /// Its start, from 1.
    pub incarnation: u32,
    /// When, since the start of the trial.
    pub at_ms: f64,
    /// The operation in words.
    pub what: String,
    /// Its part in the pair: `W`, `R` or nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub part: Option<String>,
}

impl Detail for Prediction {
    const VERSION: u32 = 1;
    type Finding = Conflict;

    fn findings(&self) -> &[Finding<Conflict>] {
        &self.findings
    }

    fn name_replays(&mut self, command: &dyn Fn(u64) -> String) {
        for it in self.findings.iter_mut().chain(&mut self.unconfirmed) {
            it.replay = command(it.trial);
        }
    }

    fn exit_code(&self) -> ExitCode {
        match &self.standing {
            Forecasting::NormalFails { .. } => ExitCode::AlreadyFails,
            Forecasting::Incomplete { .. } => ExitCode::Budget,
            _ if self.findings.is_empty() => ExitCode::Done,
            _ => ExitCode::Findings,
        }
    }
}
