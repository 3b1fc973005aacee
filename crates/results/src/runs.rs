//! Drawings of a campaign: `runs.json`. The file is separate from the summary, which stays short.

use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

/// The version of the document.
pub const RUNS_VERSION: u32 = 2;

/// See the module.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct Runs {
    /// The version of this format.
    pub version: u32,
    /// The run without a fault.
    pub normal: Option<u64>,
    /// The trial that showed the failure, or came nearest.
    pub trial: Option<u64>,
    /// The logs of failure and trial side by side, at length.
    pub beside: Option<Beside>,
    /// The runs above one another.
    pub lanes: Option<Lanes>,
}

/// Two logs side by side.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Beside {
    /// The rows, in order.
    pub rows: Vec<Row>,
    /// True if the logs are of more than one node.
    pub several_nodes: bool,
    /// Stored length of a message.
    #[serde(default)]
    pub message_chars_max: usize,
}

/// A row.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Row {
    /// An entry of the failure, of the trial, or one that both have.
    Entries(Box<Entries>),
    /// The fault, by its number in the plan.
    Fault(u32),
    /// So many rows were left out.
    Gap(u64),
}

/// An entry of the failure, of the trial, or one that both have.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Entries {
    /// The failure's.
    pub failure: Option<Line>,
    /// The trial's.
    pub trial: Option<Line>,
    /// Why it is of interest.
    pub is: Interest,
}

/// Why a row is of interest.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Interest {
    /// It stands around something that is.
    Around,
    /// Normal runs do not show it.
    Observable,
    /// It says that the failure happened.
    Symptom,
}

/// An entry, as far as it is shown.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct Line {
    /// The node.
    pub node: String,
    /// Its line in the log.
    pub line: u32,
    /// When, on the clock of its log.
    pub time_ms: Option<i64>,
    /// The thread.
    pub thread: Option<String>,
    /// Its severity.
    pub level: Option<String>,
    /// Its text.
    pub message: String,
    /// The exception that was logged with it.
    pub exception: Option<String>,
}

/// Runs above one another.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Lanes {
    /// The lanes, the same for all runs.
    pub lanes: Vec<Lane>,
    /// The runs, from the top.
    pub runs: Vec<Run>,
    /// From when to when.
    pub span_ms: (i64, i64),
    /// True if times are from the fault; else they are from the start of each run.
    pub from_fault: bool,
    /// True if a log has whole seconds alone, so that within one its entries are spread in their order.
    #[serde(default)]
    pub whole_seconds: bool,
}

/// Writing thread.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
pub struct Lane {
    /// The node; nothing if there is one alone.
    pub node: String,
    /// The thread; nothing for all that have no lane of their own.
    pub thread: Option<String>,
}

/// Number of the run.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum RunOf {
    /// One without a fault.
    Normal,
    /// The one that failed.
    Failure,
    /// A trial.
    Trial,
}

/// A run.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Run {
    /// Which.
    pub of: RunOf,
    /// Written data.
    pub marks: Vec<Mark>,
    /// The faults: number in the plan, lane and moment.
    pub faults: Vec<(u32, u32, i64)>,
    /// Number of entries before the span, and after it.
    pub outside: (u32, u32),
    /// The moment from which time is counted, on the run's own clock.
    pub zero_ms: i64,
}

/// Entries of a lane that are drawn as one. There are many, so that a document has them as lists.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
#[serde(from = "(u32, i64, u32, Sign)", into = "(u32, i64, u32, Sign)")]
pub struct Mark {
    /// The lane.
    pub lane: u32,
    /// When the first was written.
    pub at_ms: i64,
    /// Number of entries.
    pub count: u32,
    /// Kind of the most severe of them.
    pub sign: Sign,
}

impl From<(u32, i64, u32, Sign)> for Mark {
    fn from((lane, at_ms, count, sign): (u32, i64, u32, Sign)) -> Mark {
        Mark { lane, at_ms, count, sign }
    }
}

impl From<Mark> for (u32, i64, u32, Sign) {
    fn from(Mark { lane, at_ms, count, sign }: Mark) -> (u32, i64, u32, Sign) {
        (lane, at_ms, count, sign)
    }
}

/// Kind of an entry, the most severe last.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Serialize, Deserialize)]
#[serde(rename_all = "snake_case")]
pub enum Sign {
    /// Nothing in particular.
    Plain,
    /// A warning or worse.
    Serious,
    /// Normal runs do not show it.
    Observable,
    /// It says that the failure happened.
    Symptom,
}
