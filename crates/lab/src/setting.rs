//! The part of `campaign.json` that trials need: any host can run a trial from it and from what the campaign has kept.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hypocenter_plan::{Oracle, Plan, Span, Workload};
use serde::Deserialize;

use crate::{Input, LabError};

/// The version of `campaign.json`.
pub const CAMPAIGN_VERSION: u32 = 2;

/// See the module. Whoever began the campaign keeps more in the same document.
#[derive(Debug, Clone, PartialEq, Deserialize)]
pub struct Setting {
    /// The directory that relative paths begin at.
    pub base: PathBuf,
    /// The node that the workload's one command is.
    pub main: String,
    /// The workloads, by name.
    pub workloads: BTreeMap<String, Workload>,
    /// The oracle of the failure.
    #[serde(default)]
    pub oracle: Option<Oracle>,
    /// The time limit of a trial, in place of the workload's own.
    #[serde(default)]
    pub timeout: Option<Span>,
    /// Other campaigns whose trials it reads.
    #[serde(default)]
    pub inputs: Vec<Input>,
    /// The plan that the hooks were placed by, unless `hooks` is there.
    #[serde(default)]
    pub plan: Plan,
    /// The plan that they were placed by, if it is another.
    #[serde(default)]
    pub hooks: Option<Box<Plan>>,
}

#[derive(Deserialize)]
struct Versioned {
    version: u32,
}

impl Setting {
    /// The document of a campaign.
    pub fn path(campaign: &Path) -> PathBuf {
        campaign.join("campaign.json")
    }

    /// Reads the setting of a campaign.
    pub fn read(campaign: &Path) -> Result<Setting, LabError> {
        let path = Setting::path(campaign);
        let bytes =
            fs::read(&path).map_err(|source| LabError::File { path: path.display().to_string(), source })?;
        let broken = |why: String| LabError::Journal { path: path.display().to_string(), why };
        let changed = |error: serde_json::Error| broken(format!("{error}; the file was changed"));
        let Versioned { version } = serde_json::from_slice(&bytes).map_err(changed)?;
        if version != CAMPAIGN_VERSION {
            return Err(broken(format!(
                "format version {version}, this tool supports version {CAMPAIGN_VERSION}; use the version of the tool that wrote it, or start a new campaign"
            )));
        }
        serde_json::from_slice(&bytes).map_err(changed)
    }

    /// The plan that the hooks were placed by.
    pub(crate) fn placed_by(&self) -> &Plan {
        self.hooks.as_deref().unwrap_or(&self.plan)
    }

    /// A workload of the campaign.
    pub fn workload(&self, name: &str) -> Result<&Workload, LabError> {
        self.workloads.get(name).ok_or_else(|| {
            let known: Vec<&str> = self.workloads.keys().take(NAMED).map(String::as_str).collect();
            let more = if self.workloads.len() > NAMED { ", ..." } else { "" };
            let known = known.join(", ") + more;
            LabError::Workload(format!("unknown workload `{name}`; the campaign has {known}"))
        })
    }
}

/// The most workloads that a message names in place of an unknown one.
const NAMED: usize = 5;
