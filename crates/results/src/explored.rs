//! What a campaign of `explore` came to: its `summary.json`, the document that `--json` prints.

use hypocenter_plan::{End, Role};
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::proof::is_zero;
use crate::{Injected, Proof, Rate};

/// The version of the document. It is raised when a field changes its meaning or goes away; new optional fields do not raise it.
pub const EXPLORATION_VERSION: u32 = 2;

/// What a campaign came to.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Exploration {
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
    /// By which policy faults were chosen.
    pub policy: String,
    /// The seed.
    pub seed: u64,
    /// Trials.
    pub trials: u64,
    /// Those in which a fault happened.
    pub injected: u64,
    /// Abstract states that threads came to.
    pub states: u64,
    /// What the policy chose among.
    pub keys: u64,
    /// How often all budgets were given anew.
    pub resets: u64,
    /// Runs without a fault.
    pub normal_runs: u64,
    /// Faults that could not be injected.
    pub refused: u64,
    /// How the campaign ended.
    pub standing: Standing,
    /// Suspicious findings that a replay confirmed, the worst first: only these count.
    pub findings: Vec<Finding>,
    /// Suspicious trials that no replay has confirmed: seen once, or refuted by their replays.
    pub unconfirmed: Vec<Finding>,
    /// What would be, and is known.
    pub known: Vec<Finding>,
    /// What the fault explains, or does not say much.
    pub expected: Vec<Finding>,
    /// How long the campaign took.
    pub seconds: f64,
    /// The calls at which something can go wrong.
    pub sites: SiteCounts,
    /// The tasks, with their states.
    pub tasks: Vec<Task>,
    /// The trials.
    pub tried: Vec<Tried>,
}

impl Exploration {
    /// Whether faults went into several nodes, so that a fault alone does not say into which.
    pub fn has_several_nodes(&self) -> bool {
        let mut nodes = self.tried.iter().filter_map(|it| it.injected.as_ref()).map(|it| &it.at.node);
        let first = nodes.next();
        nodes.any(|it| Some(it) != first)
    }
}

/// How a campaign ended.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Standing {
    /// It is not over.
    Going,
    /// All trials were run.
    Done,
    /// The policy has nothing left to inject.
    NothingLeft,
    /// The runs without a fault made no request at which something can go wrong.
    NothingToInject,
    /// The runs without a fault go wrong already.
    NormalFails {
        /// What is wrong, and in how many of them.
        wrong: Vec<(String, u64)>,
        /// How many there were.
        runs: u64,
    },
}

/// How much something matters.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Severity {
    /// The fault explains it.
    Expected,
    /// Worth a look where nothing else is found.
    Minor,
    /// A part of the service is broken.
    Major,
    /// A part of the service is broken, and what should tell says that it is well, or that somebody else is not.
    Critical,
}

impl Severity {
    /// Whether somebody should look at it.
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

/// Which check found a symptom.
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
    /// What the user's oracle says.
    Command,
}

/// Something that is wrong with a trial.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Symptom {
    /// Which check found it.
    pub kind: SymptomKind,
    /// How much it matters.
    pub severity: Severity,
    /// Why, in words.
    pub why: String,
}

/// Trials whose faults went in at one place, and that look bad.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding {
    /// The class that makes the call.
    pub class: String,
    /// The method that makes it.
    pub method: String,
    /// Its line.
    pub line: Option<u32>,
    /// What is called.
    pub callee: Option<String>,
    /// What went wrong there, in words.
    pub fault: String,
    /// Which check found the worst symptom.
    pub kind: SymptomKind,
    /// How much it matters.
    pub severity: Severity,
    /// The worst symptom, in words.
    pub why: String,
    /// What was wrong with the worst of its trials, the worst first.
    pub symptoms: Vec<Symptom>,
    /// The methods of the system that led there, innermost first.
    pub stack: Vec<String>,
    /// The node that got the fault.
    pub node: String,
    /// The abstract state of the thread that got it.
    pub state: Option<String>,
    /// The first trial that shows it, by its number among those with a fault.
    pub first_trial: u64,
    /// How many trials show it.
    pub trials: u64,
    /// How often replays showed it.
    pub rate: Rate,
    /// Replays that did not come to the fault, and say nothing of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// How well that proves it.
    pub proof: Proof,
    /// What is known of it already.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub known: Option<String>,
    /// How often the same call by the same way showed the same, at other moments or on other nodes.
    pub same_site: Rate,
    /// How often other calls of the same method did.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub same_place: Option<Rate>,
    /// How often calls somewhere else in the same state did.
    pub same_state: Rate,
    /// What matters, as far as those tell.
    pub matters: Option<String>,
    /// The command that shows it again.
    pub replay: String,
    /// The fault.
    pub injected: Injected,
    /// The trial of which the rest tells.
    pub trial: u64,
    /// What became of nodes and clients there.
    pub processes: Vec<Saw>,
    /// How the task of the state went there, in the process that got the fault.
    pub ways: Vec<Way>,
}

/// What became of a process.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Saw {
    /// The node or client.
    pub name: String,
    /// What it was for.
    pub role: Role,
    /// The node that a client talks to.
    pub node: Option<String>,
    /// The phase of a client.
    pub phase: Option<u32>,
    /// The last step that a client made.
    pub progress: Option<u64>,
    /// How many steps it was to make.
    pub steps: Option<u64>,
    /// How it ended, in words; absent if it was there to the end of the trial.
    pub end: Option<String>,
    /// What the system itself said of a node at the end, where that was asked.
    pub alive: Option<bool>,
    /// Whether it did what it should: a client all its steps, a node to be there.
    pub is_well: bool,
}

/// The calls at which something can go wrong.
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
    /// How it went in a run without a fault.
    pub ways: Vec<Way>,
}

/// An abstract state.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct TaskState {
    /// Its name: `package.Class.method#2`.
    pub name: String,
    /// The line at which it begins.
    pub line: Option<u32>,
    /// What makes it begin: the task itself, a branch, a caught exception.
    pub begins: Option<String>,
    /// Whether a thread came to it.
    pub is_reached: bool,
    /// In how many trials a fault happened in it.
    pub injected: u64,
}

/// A step of a task from one state to another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Way {
    /// From which state, by its number in the task; absent where the task begins.
    pub from: Option<u32>,
    /// To which; absent where it ends.
    pub to: Option<u32>,
    /// How often.
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
    /// What was wrong with it, the worst first.
    pub symptoms: Vec<Symptom>,
    /// States that no trial before it had come to.
    pub new_states: u64,
    /// Requests made.
    pub requests: u64,
    /// How it ended, if no fault happened and it failed all the same.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failed_alone: Option<End>,
}

impl Tried {
    /// The worst of what was wrong.
    pub fn severity(&self) -> Option<Severity> {
        self.symptoms.iter().map(|it| it.severity).max()
    }
}
