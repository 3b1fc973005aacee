//! Other campaigns whose trials a campaign reads.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hypocenter_trace::hash;
use serde::{Deserialize, Serialize};

use crate::journal::Journal;
use crate::{LabError, Setting};

/// A campaign by its directory, and what stood in its journal when this one was begun.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Input {
    /// Its directory.
    pub path: PathBuf,
    /// The digest of its journal.
    pub digest: String,
}

impl Input {
    /// The campaign in a directory as it is now.
    pub fn of(campaign: &Path) -> Result<Input, LabError> {
        let path = fs::canonicalize(campaign).map_err(|error| refused(campaign, &error.to_string()))?;
        let digest = digest(&path)?;
        Ok(Input { path, digest })
    }

    /// Refuses a campaign that is gone, or that has gone on meanwhile.
    pub fn check(&self) -> Result<(), LabError> {
        match digest(&self.path)? == self.digest {
            true => Ok(()),
            false => Err(refused(&self.path, "its journal has changed since this campaign was started")),
        }
    }
}

fn digest(campaign: &Path) -> Result<String, LabError> {
    let missing = |what: &str| refused(campaign, &format!("it has no {what}, so it is not a campaign"));
    let journal = fs::read(Journal::path_in(campaign)).map_err(|error| match error.kind() {
        ErrorKind::NotFound if campaign.is_dir() => missing("results.jsonl"),
        ErrorKind::NotFound => refused(campaign, "it does not exist"),
        _ => refused(campaign, &error.to_string()),
    })?;
    if !Setting::path(campaign).is_file() {
        return Err(missing("campaign.json"));
    }
    Ok(format!("{:016x}", hash::bytes(&journal, 0)))
}

fn refused(campaign: &Path, why: &str) -> LabError {
    LabError::Input { campaign: campaign.display().to_string(), why: why.to_owned() }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_input_that_is_not_what_it_was_is_refused() {
        let directory = tempfile::tempdir().unwrap();
        let campaign = directory.path().join("c");
        let check = |result: Result<(), LabError>, expected: &str| {
            let why = result.unwrap_err().to_string();
            assert!(why.contains(expected) && why.contains("start a new campaign"), "{why}");
        };
        check(Input::of(&campaign).map(drop), "No such file");
        fs::create_dir(&campaign).unwrap();
        check(Input::of(&campaign).map(drop), "no results.jsonl");
        fs::write(campaign.join("results.jsonl"), "{}\n").unwrap();
        check(Input::of(&campaign).map(drop), "no campaign.json");
        fs::write(campaign.join("campaign.json"), "{}").unwrap();
        let input = Input::of(&campaign).unwrap();
        input.check().unwrap();
        fs::write(campaign.join("results.jsonl"), "{}\n{}\n").unwrap();
        check(input.check(), "its journal has changed");
        fs::remove_dir_all(&campaign).unwrap();
        check(input.check(), "it does not exist");
    }
}
