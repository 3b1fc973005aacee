//! Results of a campaign of `explore`.

use hypocenter_plan::{End, ExitCode, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Detail, Finding, Injected, Rate};

/// Results of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exploration {
    /// By which policy faults were chosen.
    pub policy: String,
    /// Grouping of requests.
    pub key: String,
    /// True if there are several nodes, so that a fault alone does not say on which it is.
    #[serde(default)]
    pub several_nodes: bool,
    /// True if clients, or an oracle, say what is wrong; without them a failure of the whole workload says little.
    #[serde(default)]
    pub is_judged: bool,
    /// Trials.
    pub trials: u64,
    /// Those in which a fault happened.
    pub injected: u64,
    /// Abstract states that threads came to.
    pub states: u64,
    /// Number of groups that the policy chose among.
    pub keys: u64,
    /// Number of restarts of all budgets.
    pub resets: u64,
    /// Runs without a fault.
    pub normal_runs: u64,
    /// Faults that could not be injected.
    pub refused: u64,
    /// End of the campaign.
    pub standing: Standing,
    /// Notes of the lab about the runs without a fault, such as that no JVM loaded the agent.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// Suspicious findings that a replay confirmed, the worst first: only these count.
    pub findings: Vec<Finding<Suspicion>>,
    /// Suspicious trials that no replay has confirmed: seen once, or refuted by their replays.
    pub unconfirmed: Vec<Finding<Suspicion>>,
    /// Findings that would count, and are known.
    pub known: Vec<Finding<Suspicion>>,
    /// Effects that the fault explains, or that are minor.
    pub expected: Vec<Finding<Suspicion>>,
    /// The calls that can fail.
    pub sites: SiteCounts,
    /// The tasks, with their states.
    pub tasks: Vec<Task>,
    /// The trials.
    pub tried: Vec<Tried>,
}

impl Detail for Exploration {
    const VERSION: u32 = 3;
    type Finding = Suspicion;

    fn findings(&self) -> &[Finding<Suspicion>] {
        &self.findings
    }

    fn name_replays(&mut self, command: &dyn Fn(u64) -> String) {
        let Exploration { findings, unconfirmed, known, expected, .. } = self;
        let all = findings.iter_mut().chain(unconfirmed).chain(known).chain(expected);
        all.for_each(|it| it.replay = command(it.trial));
    }

    fn found_in(&self) -> Option<u64> {
        self.findings.first().map(|it| it.detail.first_trial)
    }

    fn exit_code(&self) -> ExitCode {
        match self.standing {
            Standing::NormalFails { .. } => ExitCode::AlreadyFails,
            Standing::NothingToInject => ExitCode::Budget,
            _ if self.findings.is_empty() => ExitCode::Done,
            _ => ExitCode::Findings,
        }
    }
}

impl Exploration {
    /// In how many of the trials in which no fault happened the workload failed all the same, and how many those are.
    pub fn failed_alone(&self) -> (usize, usize) {
        let without = || self.tried.iter().filter(|it| it.injected.is_none());
        (without().filter(|it| it.failed_alone.is_some()).count(), without().count())
    }

    /// Tests whether a fault alone does not say on which node it is.
    pub fn has_several_nodes(&self) -> bool {
        if self.several_nodes {
            return true;
        }
        let mut nodes = self.tried.iter().filter_map(|it| it.injected.as_ref()).map(|it| &it.at.node);
        let first = nodes.next();
        nodes.any(|it| Some(it) != first)
    }
}

/// End of a campaign.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is not over.
    Going,
    /// All trials were run.
    Done,
    /// The policy has nothing left to inject.
    NothingLeft,
    /// The runs without a fault made no request that can fail.
    NothingToInject,
    /// The runs without a fault go wrong already.
    NormalFails {
        /// Symptoms, and the number of runs with each.
        wrong: Vec<(String, u64)>,
        /// Number of them.
        runs: u64,
    },
}

/// Severity.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The fault explains it.
    Expected,
    /// Worth a look where nothing else is found.
    Minor,
    /// A part of the service is broken.
    Major,
    /// Part of the service is broken, although it reports healthy or the fault was elsewhere.
    Critical,
}

impl Severity {
    /// Tests whether somebody should look at it.
    pub fn is_suspicious(self) -> bool {
        self >= Severity::Major
    }

    /// In a word.
    pub fn name(self) -> &'static str {
        match self {
            Severity::Expected => "expected",
            Severity::Minor => "minor",
            Severity::Major => "major",
            Severity::Critical => "critical",
        }
    }
}

/// Check that found a symptom.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum SymptomKind {
    /// A node ended that should not.
    Crash,
    /// Clients were not served.
    Client,
    /// Something new was logged.
    Log,
    /// Threads wait for each other or for ever, or are gone.
    Hang,
    /// Verdict of the user's oracle.
    Command,
}

/// Something that is wrong with a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Symptom {
    /// Check that found it.
    pub kind: SymptomKind,
    /// Its weight.
    pub severity: Severity,
    /// Why, in words.
    pub why: String,
}

/// Data of `explore` about a finding: trials whose faults were injected at one place, and that look bad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Suspicion {
    /// The class that makes the call.
    pub class: String,
    /// The method that makes it.
    pub method: String,
    /// Its line.
    pub line: Option<u32>,
    /// Called method.
    pub callee: Option<String>,
    /// Error there, in words.
    pub fault: String,
    /// Check that found the worst symptom.
    pub kind: SymptomKind,
    /// Its weight.
    pub severity: Severity,
    /// Symptoms of the worst of its trials, worst first.
    pub symptoms: Vec<Symptom>,
    /// The methods of the system that led there, innermost first.
    pub stack: Vec<String>,
    /// The node that got the fault.
    pub node: String,
    /// The abstract state of the thread that got it.
    pub state: Option<String>,
    /// The first trial that shows it, by its number among those with a fault.
    pub first_trial: u64,
    /// Number of trials that show it.
    pub trials: u64,
    /// Facts known in advance.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// Rate at which the same call on the same path showed the same, at other occurrences or on other nodes.
    pub same_site: Rate,
    /// Rate at which other calls of the same method did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_place: Option<Rate>,
    /// Rate at which calls elsewhere in the same state did.
    pub same_state: Rate,
    /// Relevant property, as far as those show.
    pub matters: Option<String>,
    /// Results of nodes and clients in the trial that shows it.
    pub processes: Vec<Saw>,
    /// Course of the task of the state, in the process with the fault.
    pub ways: Vec<StateChange>,
}

impl Finding<Suspicion> {
    /// The fault.
    pub fn injected(&self) -> &Injected {
        &self.faults[0]
    }
}

/// Fate of a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saw {
    /// The node or client.
    pub name: String,
    /// Its purpose.
    pub role: Role,
    /// The node that a client talks to.
    pub node: Option<String>,
    /// The phase of a client.
    pub phase: Option<u32>,
    /// The last step that a client made.
    pub progress: Option<u64>,
    /// Expected number of its steps.
    pub steps: Option<u64>,
    /// Its end in words; absent if it was alive at the end of the trial.
    pub end: Option<String>,
    /// Health report of a node at the end, if it was asked.
    pub alive: Option<bool>,
    /// True if it did what it should: a client all its steps, a node to be there.
    pub is_well: bool,
}

/// The calls that can fail.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SiteCounts {
    /// In the program.
    pub total: u64,
    /// Made in a run without a fault, if its trace could be read.
    pub reached: Option<u64>,
    /// At which a fault happened in some trial.
    pub injected: u64,
}

/// A task: what a thread works on.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Task {
    /// `package.Class.method`
    pub name: String,
    /// Its abstract states, in the order of its code.
    pub states: Vec<TaskState>,
    /// Its course in a run without a fault.
    pub ways: Vec<StateChange>,
}

/// An abstract state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskState {
    /// Its name: `package.Class.method#2`.
    pub name: String,
    /// The line at which it begins.
    pub line: Option<u32>,
    /// Cause of its start: the task itself, a branch, a caught exception.
    pub begins: Option<String>,
    /// True if a thread came to it.
    pub is_reached: bool,
    /// In how many trials a fault happened in it.
    pub injected: u64,
}

/// A step of a task from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct StateChange {
    /// From which state, by its number in the task; absent where the task begins.
    pub from: Option<u32>,
    /// To which; absent where it ends.
    pub to: Option<u32>,
    /// Count.
    pub times: u64,
}

/// A trial.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Tried {
    /// Its number among the trials with a fault, from 1, in the order of start.
    pub number: u64,
    /// Its number in the campaign.
    pub trial: u64,
    /// The state that it was for, where the policy chose one.
    pub focus: Option<String>,
    /// The fault that happened.
    pub injected: Option<Injected>,
    /// Its symptoms, worst first.
    pub symptoms: Vec<Symptom>,
    /// States that no trial before it had come to.
    pub new_states: u64,
    /// Requests made.
    pub requests: u64,
    /// Its end, if no fault was injected and it failed anyway.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_alone: Option<End>,
}

impl Tried {
    /// The worst of what was wrong.
    pub fn severity(&self) -> Option<Severity> {
        self.symptoms.iter().map(|it| it.severity).max()
    }
}
