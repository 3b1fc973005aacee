//! The document that every campaign ends with: a header, findings, and what the engine has to say beside them.

use hypocenter_plan::ExitCode;
use schemars::JsonSchema;
use serde::de::DeserializeOwned;
use serde::{Deserialize, Serialize};

use crate::proof::is_zero;
use crate::{Injected, Proof, Rate, Story};

/// Results of a campaign: its `summary.json`, and the output of `--json`.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Document<D> {
    /// Its campaign.
    #[serde(flatten)]
    pub header: Header,
    /// Findings of the engine.
    #[serde(flatten)]
    pub detail: D,
}

/// Campaign of a document.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Header {
    /// The version of the document's format.
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
    /// Stands for the target and all that is asked of it.
    pub target: String,
    /// The seed.
    pub seed: u64,
    /// Duration of the campaign.
    pub seconds: f64,
    /// True if there would have been more to do.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub cut_short: bool,
    /// After how many seconds what comes first among the findings was seen; what came then are replays.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub found_seconds: Option<f64>,
    /// Cost of the campaign beside the workload.
    #[serde(flatten)]
    pub measured: Measured,
}

/// Costs of a campaign beside the workload itself: medians over the rounds that were run, absent if there were none.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Measured {
    /// Injection requests of a run: hits of sites that had something armed, so that it was to be decided whether it is due.
    #[serde(default)]
    pub requests: Option<u64>,
    /// Duration of such a decision.
    #[serde(default)]
    pub decision_ns: Option<f64>,
    /// From when the last process of a trial was gone until the plan of the next was written.
    #[serde(default)]
    pub between_rounds_ms: Option<f64>,
    /// Run time of the workload.
    #[serde(default)]
    pub workload_s: Option<f64>,
}

/// Something that was found.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize, JsonSchema)]
pub struct Finding<D> {
    /// The faults that show it, each alone or together; of two the second was searched for behind the first.
    pub faults: Vec<Injected>,
    /// Evidence in words.
    pub why: String,
    /// Its proof.
    pub proof: Proof,
    /// Number of replays that showed it.
    pub rate: Rate,
    /// Replays that did not come to the fault, and say nothing of it.
    #[serde(default, skip_serializing_if = "is_zero")]
    pub missed: u64,
    /// The trial that shows it: one with its faults and nothing else, where one was replayed.
    pub trial: u64,
    /// Causal story of the fault, if the evidence existed.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub story: Option<Story>,
    /// The command that shows it again.
    #[serde(default)]
    pub replay: String,
    /// Additional data of the engine.
    #[serde(flatten)]
    pub detail: D,
}

/// Results of an engine's campaigns, beside the header.
pub trait Detail: Serialize + DeserializeOwned + JsonSchema {
    /// The version of the document. It is raised when a field changes its meaning or goes away; new optional fields do not raise it.
    const VERSION: u32;
    /// True if a finding names the faults that were injected for it. Those of a cycle are in its steps.
    const NAMES_FAULTS: bool = true;
    /// Data of the engine about a finding.
    type Finding;

    /// The confirmed findings, the worst first: only these count.
    fn findings(&self) -> &[Finding<Self::Finding>];

    /// Gives everything that was found the command that shows it again, by the number of its trial.
    fn name_replays(&mut self, command: &dyn Fn(u64) -> String);

    /// The round in which what comes first was seen.
    fn found_in(&self) -> Option<u64> {
        None
    }

    /// The exit code of the command.
    fn exit_code(&self) -> ExitCode {
        if self.findings().is_empty() { ExitCode::Done } else { ExitCode::Findings }
    }
}
