//! The directory of a trial in its campaign: its place, and the outcome that it may have already.

use std::fs;
use std::io::ErrorKind;
use std::path::{Path, PathBuf};

use hypocenter_engine::JobId;
use hypocenter_plan::Outcome;

use crate::LabError;
use crate::lock::Lock;
use crate::trial::TrialFiles;

/// The directory of a trial.
pub fn trial_directory(campaign: &Path, id: JobId) -> PathBuf {
    campaign.join("trials").join(format!("{:03}", id.0))
}

/// Outcome of a finished trial, whoever ran it. The files of an interrupted one are put aside, so that the
/// trial can be run again.
pub fn finished(directory: &Path) -> Result<Option<Outcome>, LabError> {
    if let Some(outcome) = outcome_of(directory)? {
        return Ok(Some(outcome));
    }
    if !directory.exists() {
        return Ok(None);
    }
    // Whoever carries it out right now keeps its place, and may have ended just before the lock was free.
    let _nobody = Lock::of_trial(directory)?;
    if let Some(outcome) = outcome_of(directory)? {
        return Ok(Some(outcome));
    }
    put_aside(directory)?;
    Ok(None)
}

/// Makes room for a trial that is run again; nothing that was recorded is lost.
pub fn put_aside(directory: &Path) -> Result<(), LabError> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = (1..)
        .map(|number| directory.with_file_name(format!("{name}.cut-{number}")))
        .find(|it| !it.exists())
        .expect("there is always another number");
    match fs::rename(directory, &aside) {
        Err(error) if error.kind() != ErrorKind::NotFound => {
            Err(LabError::File { path: directory.display().to_string(), source: error })
        }
        _ => Ok(()),
    }
}

/// The outcome of a trial, if it has one.
pub(crate) fn outcome_of(directory: &Path) -> Result<Option<Outcome>, LabError> {
    let path = TrialFiles::of(directory).outcome;
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|why| LabError::Journal {
            path: path.display().to_string(),
            why: format!("{why}; the file was changed"),
        }),
        Err(error) if error.kind() == ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LabError::File { path: path.display().to_string(), source: error }),
    }
}
