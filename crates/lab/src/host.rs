//! A host that runs trials of a campaign: everything it needs to know of them is in files of the campaign.

use std::os::fd::OwnedFd;
use std::path::{Path, PathBuf};

use hypocenter_engine::{Evidence, Job, JobId, TrialRef, Work};
use hypocenter_plan::Outcome;

use crate::directory::{outcome_of, trial_directory};
use crate::log_files;
use crate::setting::Setting;
use crate::trial::{Surroundings, Trial, evidence_of};
use crate::{Input, LabError, Observer, Prepared};

/// See the module.
#[derive(Debug)]
pub struct Host {
    campaign: PathBuf,
    setting: Setting,
    prepared: Prepared,
    surroundings: Surroundings,
    stdin: Option<OwnedFd>,
}

impl Host {
    /// Reads what a campaign has kept for its trials. An input that has changed is refused.
    pub fn open(campaign: &Path, surroundings: Surroundings) -> Result<Host, LabError> {
        let (setting, prepared) = (Setting::read(campaign)?, Prepared::read(campaign)?);
        prepared.map(prepared.hooks())?;
        setting.inputs.iter().try_for_each(Input::check)?;
        Ok(Host { campaign: campaign.to_owned(), setting, prepared, surroundings, stdin: None })
    }

    /// The same, whose trials read from a file: many cannot share one.
    #[must_use]
    pub fn with_stdin(self, stdin: Option<OwnedFd>) -> Host {
        Host { stdin, ..self }
    }

    /// The directory of a trial.
    pub fn directory(&self, id: JobId) -> PathBuf {
        trial_directory(&self.campaign, id)
    }

    /// Runs the trial of a job in its place in the campaign, and leaves the outcome there.
    pub fn trial(&self, job: &Job, observer: &dyn Observer) -> Result<Outcome, LabError> {
        let Work::Trial { workload, plan, hooks, restarts, edits } = &job.work else {
            return Err(LabError::Workload(format!("job {} is a study, not a trial", job.id)));
        };
        let workload = self.setting.workload(workload)?;
        let workload = workload.restarted(restarts).and_then(|it| it.edited(edits));
        let trial = Trial {
            number: job.id.0,
            plan,
            common: self.setting.placed_by(),
            workload: &workload.map_err(LabError::Workload)?,
            base: &self.setting.base,
            main: &self.setting.main,
            prepared: &self.prepared,
            hooks: hooks.unwrap_or(self.prepared.hooks()),
            oracle: self.setting.oracle.as_ref(),
            timeout: self.setting.timeout.map(|it| it.0),
            surroundings: &self.surroundings,
            stdin: self.stdin.as_ref(),
            directory: &self.directory(job.id),
        };
        let _under_way = UnderWay::new(observer);
        trial.run(observer)
    }

    /// The log files that a trial's processes have written so far, beside what they print.
    pub(crate) fn log_files(&self, workload: &str, directory: &Path) -> Vec<PathBuf> {
        let workload = self.setting.workload(workload);
        workload.map_or_else(|_| Vec::new(), |it| log_files::written(it, directory))
    }

    /// The evidence of a trial that is over, of this campaign or of an input. Nothing is changed there.
    pub(crate) fn evidence(&self, trial: TrialRef) -> Result<Evidence, LabError> {
        let campaign = match trial.input {
            None => &self.campaign,
            Some(number) => match self.setting.inputs.get(number) {
                Some(input) => &input.path,
                None => {
                    let all = self.setting.inputs.len();
                    let why =
                        format!("a study names input {number}, and the campaign has {all}, numbered from 0");
                    return Err(LabError::Journal { path: self.campaign.display().to_string(), why });
                }
            },
        };
        let directory = trial_directory(campaign, trial.id);
        let outcome = outcome_of(&directory)?.ok_or_else(|| LabError::Journal {
            path: directory.display().to_string(),
            why: "the outcome of the trial is missing; run its campaign again".to_owned(),
        })?;
        evidence_of(&directory, &outcome)
    }
}

/// Tells an observer when a trial begins, and that it is over however it ends.
struct UnderWay<'a>(&'a dyn Observer);

impl<'a> UnderWay<'a> {
    fn new(observer: &'a dyn Observer) -> UnderWay<'a> {
        observer.began();
        UnderWay(observer)
    }
}

impl Drop for UnderWay<'_> {
    fn drop(&mut self) {
        self.0.ended();
    }
}
