//! Results of a campaign of `explain`.

use hypocenter_plan::ExitCode;
use schemars::JsonSchema;
use serde::{Deserialize, Serialize};

use crate::{Detail, Finding};

/// Results of a campaign.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Explanation {
    /// Symptom of the failure.
    pub symptom: RunPoint,
    /// The part of the program that can matter to it.
    pub slice: SliceSize,
    /// The failing run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub failing: Option<FailingRun>,
    /// Runs that the failing one was compared with, or could not be.
    pub neighbours: Vec<NeighbourRow>,
    /// Where the failing run left the right path: at most one.
    pub findings: Vec<Finding<Inflection>>,
    /// Why there is no answer.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unanswered: Option<Unanswered>,
    /// Problems of the recording.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub problems: Vec<String>,
    /// True if the campaign is not over.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_going: bool,
}

/// Size of what was looked at before any run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct SliceSize {
    /// Points of the static slice.
    pub points: u64,
    /// Methods that are recorded.
    pub methods: u64,
    /// Largest distance of a point from the symptom.
    pub distance: u32,
    /// True if no point is farther away.
    pub is_complete: bool,
}

/// The failing run.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct FailingRun {
    /// Its trial.
    pub trial: u64,
    /// Its workload.
    pub workload: String,
    /// Events that were recorded.
    pub events: u64,
    /// Threads that were recorded.
    pub threads: u64,
}

/// A run that does not fail.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NeighbourRow {
    /// Its difference from the failing run.
    pub name: String,
    /// Its trial, once it has run.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub trial: Option<u64>,
    /// Why it does not count.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub left_out: Option<String>,
}

/// Why there is no answer.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum Unanswered {
    /// The failure did not happen in so many runs.
    NoFailure(u64),
    /// The failure happened, but its symptom was not reached.
    NoSymptom,
    /// No run counts as a neighbour.
    NoNeighbour,
    /// Both runs take the same path.
    NoDeviation,
    /// The runs cannot be read.
    Unreadable(String),
}

/// An instruction that ran.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct RunPoint {
    /// The method, as `package.Class.method`.
    pub method: String,
    /// Its line.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub line: Option<u32>,
    /// The thread.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub thread: String,
    /// Its act.
    pub act: RunAct,
    /// The field, method or class that it is about.
    #[serde(default, skip_serializing_if = "String::is_empty")]
    pub subject: String,
    /// The value that it read or wrote, if it is known.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub value: Option<String>,
    /// Of a branch: the line to which it went.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub to_line: Option<u32>,
}

/// Act of an instruction that ran.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum RunAct {
    /// Something else.
    #[default]
    Runs,
    /// It reads a field.
    Reads,
    /// It writes a field.
    Writes,
    /// It calls a method.
    Calls,
    /// It goes one way or another.
    Branches,
    /// It throws.
    Throws,
    /// It makes an object.
    Makes,
}

/// Kind of an inflection point.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
#[serde(rename_all = "snake_case")]
pub enum InflectionKind {
    /// It reads what another thread wrote before, and no neighbour reads it from there.
    Order,
    /// A branch goes another way.
    #[default]
    Branch,
    /// No neighbour runs it here.
    Absent,
}

/// Where a failing run left the right path (Kairux 3.1).
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Inflection {
    /// Its kind.
    pub kind: InflectionKind,
    /// The nearest run that does not fail, of its thread or step.
    pub neighbour: String,
    /// The instruction.
    pub point: RunPoint,
    /// The write that it reads from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub cause: Option<RunPoint>,
    /// The same in the nearest run that does not fail: the write that is read there, or the branch with its way.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub instead: Option<RunPoint>,
    /// The first difference of the symptom's own thread.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub consequence: Option<RunPoint>,
    /// The neighbours that have the longest prefix, for each thread.
    pub nearest: Vec<NearestRun>,
    /// Instructions of the dynamic slice.
    pub slice: u64,
    /// Those of them before the inflection point.
    pub prefix: u64,
    /// Both runs side by side, from shortly before the inflection point up to the symptom.
    pub beside: Vec<BesideRow>,
    /// Other reads of other threads' writes that no neighbour has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub others: Vec<RunPoint>,
    /// Replays of the nearest run, and those of them that failed.
    pub nearest_rate: crate::Rate,
}

/// The nearest run of a thread.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct NearestRun {
    /// The thread of the failing run.
    pub thread: String,
    /// The method that it runs, or the step of the workload.
    pub step: String,
    /// The neighbour.
    pub neighbour: String,
    /// Instructions that both have.
    pub same: u64,
    /// Instructions of the failing run that are compared.
    pub of: u64,
}

/// The failing run beside the nearest one.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize, JsonSchema)]
pub struct BesideRow {
    /// Instruction of the failing run.
    pub failing: RunPoint,
    /// The same in the nearest run, if it runs there.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub nearest: Option<RunPoint>,
    /// True for the inflection point.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_inflection: bool,
}

impl Detail for Explanation {
    const VERSION: u32 = 1;
    const NAMES_FAULTS: bool = false;
    type Finding = Inflection;

    fn findings(&self) -> &[Finding<Inflection>] {
        &self.findings
    }

    fn name_replays(&mut self, command: &dyn Fn(u64) -> String) {
        for it in &mut self.findings {
            it.replay = command(it.trial);
        }
    }

    fn exit_code(&self) -> ExitCode {
        match &self.unanswered {
            _ if !self.findings.is_empty() => ExitCode::Findings,
            Some(Unanswered::NoDeviation) => ExitCode::Findings,
            _ => ExitCode::Done,
        }
    }
}
