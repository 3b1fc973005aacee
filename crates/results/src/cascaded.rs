//! Results of a campaign of `cascade`.

use std::fmt;

use hypocenter_plan::{ExitCode, Fault};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Detail, Finding};

/// Results of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cascade {
    /// The faults of the system, by kind.
    pub faults: FaultCounts,
    /// The tests.
    pub tests: Vec<TestRow>,
    /// Experiments: each is one fault in one test.
    pub experiments: ExperimentCounts,
    /// Runs of tests, with and without faults.
    pub runs: u64,
    /// Allocation of faults to tests.
    pub allocation: String,
    /// Share of the loops that seem to grow where nothing differs, from runs without a fault compared with each other.
    pub false_growth: Share,
    /// Steps: which fault caused which other.
    pub steps: Vec<CascadeStep>,
    /// Clusters of faults with like consequences.
    pub clusters: Vec<FaultCluster>,
    /// Cycles: each is a fault that brings itself about. The first of each cluster of like cycles.
    pub cycles: Vec<Finding<Cycle>>,
    /// Cycles one of whose steps was not run again, or did not show again.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub unconfirmed: Vec<Finding<Cycle>>,
    /// Cycles that were accepted before, by name, and their number.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub accepted: Vec<(String, u64)>,
    /// True if the campaign is not over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_going: bool,
    /// Problems of the lab in the runs without a fault.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
}

/// Number of faults by kind.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCounts {
    /// Loops that can be delayed.
    pub delays: u64,
    /// Exceptions.
    pub exceptions: u64,
    /// Methods whose truth value can be turned round.
    pub negations: u64,
    /// Those that no test reaches.
    pub unreached: u64,
}

/// A test.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct TestRow {
    /// `CLASS#METHOD`
    pub name: String,
    /// Mean run time without a fault.
    pub seconds: f64,
    /// Faults that it reaches.
    pub reached: u64,
    /// Why it takes no part.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// Number of experiments.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct ExperimentCounts {
    /// Those that the budget allows.
    pub budget: u64,
    /// Those that were made.
    pub made: u64,
    /// Those whose fault was never injected; the budget got them back.
    pub void: u64,
}

/// Part of a whole.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Share {
    /// The part.
    pub part: u64,
    /// The whole.
    pub of: u64,
}

/// Kind of a fault that can be part of a cascade.
#[derive(
    Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema,
)]
#[serde(rename_all = "snake_case")]
pub enum CascadeKind {
    /// The iterations of a loop take longer, or are more.
    #[default]
    Delay,
    /// An exception.
    Exception,
    /// A truth value that a normal run does not give.
    Negation,
}

/// A fault of the system.
#[derive(Debug, Clone, Default, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize, JsonSchema)]
pub struct CascadeFault {
    /// Its kind.
    pub kind: CascadeKind,
    /// `package.Class.method`
    pub method: String,
    /// Its line.
    pub line: Option<u32>,
    /// The class of the exception.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub exception: Option<String>,
    /// Of a loop: its index among those of the method.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub ordinal: Option<u32>,
}

impl fmt::Display for CascadeFault {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        let CascadeFault { kind, method, line, exception, ordinal } = self;
        match kind {
            CascadeKind::Delay => match ordinal {
                Some(number @ 1..) => write!(f, "loop {number} in {method}")?,
                _ => write!(f, "loop in {method}")?,
            },
            CascadeKind::Negation => write!(f, "negated result of {method}")?,
            CascadeKind::Exception => {
                let class = exception.as_deref().unwrap_or("exception");
                let simple = class.rsplit(['.', '$']).next().unwrap_or(class);
                write!(f, "{simple} in {method}")?;
            }
        }
        match line {
            Some(line) => write!(f, ":{line}"),
            None => Ok(()),
        }
    }
}

/// Kind of a step from a fault to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
pub enum StepKind {
    /// A delay was followed by an exception or a truth value that runs without it do not have.
    #[serde(rename = "E(D)")]
    ErrorOfDelay,
    /// An exception or a negation was followed by another.
    #[serde(rename = "E(I)")]
    ErrorOfInjection,
    /// A delay let a loop run more often.
    #[serde(rename = "S+(D)")]
    GrowthOfDelay,
    /// An exception or a negation let a loop run more often.
    #[serde(rename = "S+(I)")]
    GrowthOfInjection,
    /// A loop that runs more often delays the one around it.
    #[serde(rename = "ICFG")]
    Outer,
    /// A loop that takes longer delays those that run beside it.
    #[serde(rename = "CFG")]
    Beside,
}

impl StepKind {
    /// Its name in the paper.
    pub fn name(self) -> &'static str {
        match self {
            StepKind::ErrorOfDelay => "E(D)",
            StepKind::ErrorOfInjection => "E(I)",
            StepKind::GrowthOfDelay => "S+(D)",
            StepKind::GrowthOfInjection => "S+(I)",
            StepKind::Outer => "ICFG",
            StepKind::Beside => "CFG",
        }
    }
}

/// A step: a fault that caused another in a test.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct CascadeStep {
    /// The fault that was injected.
    pub cause: CascadeFault,
    /// The fault that it caused.
    pub effect: CascadeFault,
    /// How.
    pub kind: StepKind,
    /// The test; absent for a step that is seen in the code.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub test: Option<String>,
    /// The injected fault.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub injected: Option<Fault>,
    /// Iterations of the loop in runs with the fault, or the runs in which the error came, each 0 or 1.
    pub with: Vec<u64>,
    /// The same in runs without it.
    pub without: Vec<u64>,
    /// The probability of such a growth by chance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub p: Option<f64>,
    /// The phase of the allocation that found it.
    pub phase: u32,
    /// The first run that shows it.
    pub trial: u64,
    /// The command that shows it again.
    #[serde(default)]
    pub replay: String,
    /// Further conditions of the runs, such as that the delays came to their limit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub note: Option<String>,
    /// True if a last run with this fault showed the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub shown_again: Option<bool>,
    /// Iterations of the loop over the time of that run, for a step from or to a loop.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub rate: Option<LoopRate>,
}

/// Iterations of a loop over the time of a run.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct LoopRate {
    /// The loop.
    pub of: CascadeFault,
    /// Length of a span of time.
    pub span_ms: f64,
    /// Iterations in each.
    pub counts: Vec<u64>,
    /// When the fault was injected first.
    pub fault_ms: f64,
}

/// Faults with like consequences.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct FaultCluster {
    /// The faults.
    pub faults: Vec<CascadeFault>,
    /// Likeness of the consequences of its experiments, from 0 to 1.
    pub alike: f64,
}

/// Data of `cascade` about a cycle.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Cycle {
    /// Its steps; the last one leads to the cause of the first.
    pub steps: Vec<CascadeStep>,
    /// Its score: the lower, the more depends on conditions.
    pub score: f64,
    /// The last phase of the allocation that it needs.
    pub phase: u32,
    /// The probability that a random choice of as many experiments has all of its own.
    pub by_chance: f64,
    /// True if one test shows it all, so that a single fault in it is enough.
    pub in_one_test: bool,
    /// Further cycles by the same faults, or by faults with like consequences: some of them.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub alike: Vec<Vec<CascadeStep>>,
    /// Number of those.
    #[serde(default)]
    pub alike_count: u64,
}

impl Detail for Cascade {
    const VERSION: u32 = 1;
    const NAMES_FAULTS: bool = false;
    type Finding = Cycle;

    fn findings(&self) -> &[Finding<Cycle>] {
        &self.cycles
    }

    fn name_replays(&mut self, command: &dyn Fn(u64) -> String) {
        for cycle in self.cycles.iter_mut().chain(&mut self.unconfirmed) {
            cycle.replay = command(cycle.trial);
            let steps = cycle.detail.steps.iter_mut().chain(cycle.detail.alike.iter_mut().flatten());
            steps.filter(|it| it.test.is_some()).for_each(|it| it.replay = command(it.trial));
        }
        let steps = self.steps.iter_mut().filter(|it| it.test.is_some());
        steps.for_each(|it| it.replay = command(it.trial));
    }

    fn exit_code(&self) -> ExitCode {
        match self.cycles.is_empty() {
            false => ExitCode::Findings,
            true if !self.tests.is_empty() && self.tests.iter().all(|it| it.left_out.is_some()) => {
                ExitCode::AlreadyFails
            }
            true => ExitCode::Done,
        }
    }
}
