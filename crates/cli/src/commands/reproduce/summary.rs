//! What is kept of a campaign in its directory, for people and other tools: `summary.json`, the document that `--json`
//! prints, `rounds.jsonl`, a line a round, and `runs.json`, what the page draws.

use std::fs;
use std::path::{Path, PathBuf};

use hypocenter_results::reproduced::Round;
use hypocenter_results::runs::Runs;
use serde::de::IgnoredAny;
use serde::{Deserialize, Serialize};

use crate::commands::report::{SUMMARY, keep};
use crate::failure::Failure;

/// What others want to know of the document.
#[derive(Debug, Deserialize)]
pub struct Summary {
    #[serde(default)]
    found: Vec<Rated>,
    /// Of `explore`, the worst first.
    #[serde(default)]
    findings: Vec<Finding>,
    /// The rounds, or the trials of `explore`.
    #[serde(default)]
    tried: Vec<Tried>,
}

#[derive(Debug, Deserialize)]
struct Tried {
    trial: u64,
    /// The fault that happened, as `reproduce` calls it.
    #[serde(default)]
    fault: Option<IgnoredAny>,
    /// As `explore` does.
    #[serde(default)]
    injected: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Finding {
    trial: u64,
}

#[derive(Debug, Deserialize)]
struct Rated {
    trial: u64,
    replayed: Option<u64>,
    hits: u64,
    runs: u64,
    #[serde(default)]
    missed: u64,
}

impl Summary {
    /// The summary of a campaign, if it has one.
    pub fn read(campaign: &Path) -> Option<Summary> {
        let text = fs::read(path(campaign)).ok()?;
        serde_json::from_slice(&text).ok()
    }

    /// The trial that shows the first finding.
    pub fn first_found(&self) -> Option<u64> {
        self.trials_found().first().copied()
    }

    /// The trials that show what was found, the worst first.
    pub fn trials_found(&self) -> Vec<u64> {
        let found = self.found.iter().map(|it| it.replayed.unwrap_or(it.trial));
        found.chain(self.findings.iter().map(|it| it.trial)).collect()
    }

    /// The trials in which a fault happened.
    pub fn trials_with_fault(&self) -> Vec<u64> {
        let struck = self.tried.iter().filter(|it| it.fault.is_some() || it.injected.is_some());
        struck.map(|it| it.trial).collect()
    }

    /// In how many replays of how many the failure happened, for a trial that showed it. Those count that did not come to the fault:
    /// whoever runs it again does not come to it more often.
    pub fn rate_of(&self, trial: u64) -> Option<(u64, u64)> {
        let found = self.found.iter().find(|it| it.trial == trial || it.replayed == Some(trial))?;
        Some((found.hits, found.runs + found.missed))
    }
}

fn path(campaign: &Path) -> PathBuf {
    campaign.join(SUMMARY)
}

/// Keeps the document and the rounds.
pub fn write(campaign: &Path, document: &impl Serialize, rounds: &[Round]) -> Result<(), Failure> {
    let json = |it: serde_json::Result<String>| it.expect("the document is always JSON");
    let lines: String = rounds.iter().map(|it| json(serde_json::to_string(it)) + "\n").collect();
    keep(&path(campaign), &(json(serde_json::to_string_pretty(document)) + "\n"))?;
    keep(&campaign.join("rounds.jsonl"), &lines)
}

/// Keeps what is drawn of a campaign.
pub fn write_runs(campaign: &Path, runs: &Runs) -> Result<(), Failure> {
    keep(
        &campaign.join("runs.json"),
        &(serde_json::to_string(runs).expect("the document is always JSON") + "\n"),
    )
}
