//! Common statements of all campaign documents about findings, for any engine.

use std::fs;
use std::path::Path;

use hypocenter_results::Rate;
use serde::Deserialize;
use serde::de::IgnoredAny;

use crate::commands::report::SUMMARY;

/// Facts of the document for others.
#[derive(Debug, Deserialize)]
pub struct Summary {
    /// The findings, the worst first.
    #[serde(default, alias = "findings")]
    found: Vec<Found>,
    /// The rounds, or the trials with something to inject.
    #[serde(default)]
    tried: Vec<Tried>,
}

#[derive(Debug, Deserialize)]
struct Tried {
    trial: u64,
    /// The fault that happened.
    #[serde(default, alias = "injected")]
    fault: Option<IgnoredAny>,
}

#[derive(Debug, Deserialize)]
struct Found {
    trial: u64,
    /// The trial that showed it first, where another is replayed.
    #[serde(default)]
    seen_in: Option<u64>,
    rate: Rate,
    #[serde(default)]
    missed: u64,
}

impl Summary {
    /// The summary of a campaign, if it has one.
    pub fn read(campaign: &Path) -> Option<Summary> {
        serde_json::from_slice(&fs::read(campaign.join(SUMMARY)).ok()?).ok()
    }

    /// The trial that shows the first finding.
    pub fn first_found(&self) -> Option<u64> {
        self.found.first().map(|it| it.trial)
    }

    /// The trials that show what was found, the worst first.
    pub fn trials_found(&self) -> Vec<u64> {
        self.found.iter().map(|it| it.trial).collect()
    }

    /// The trials in which a fault happened.
    pub fn trials_with_fault(&self) -> Vec<u64> {
        self.tried.iter().filter(|it| it.fault.is_some()).map(|it| it.trial).collect()
    }

    /// In how many replays of how many the failure happened, for a trial that showed it. Those count that did not come to the fault:
    /// whoever runs it again does not come to it more often.
    pub fn rate_of(&self, trial: u64) -> Option<(u64, u64)> {
        let found = self.found.iter().find(|it| it.trial == trial || it.seen_in == Some(trial))?;
        Some((found.rate.hits, found.rate.runs + found.missed))
    }
}
