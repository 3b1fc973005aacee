//! One job from its start to its digest, on the host that runs it.

use std::path::Path;

use hypocenter_engine::{Digester, Evidence, Job, Work};
use hypocenter_plan::{End, Outcome};

use super::Given;
use crate::directory::{finished, put_aside};
use crate::trial::{TrialFiles, evidence_of};
use crate::{Host, LabError, Observer, follow};

/// The most attempts at a trial whose keeper is ended from outside.
const ATTEMPTS_MAX: u32 = 3;

/// A job, and all that takes part in it.
pub(super) struct Carry<'a, D> {
    pub host: &'a Host,
    pub job: &'a Job,
    pub digester: &'a D,
    pub observer: &'a dyn Observer,
    /// Hears why a trial is run again.
    pub again: &'a dyn Fn(&str),
}

impl<D: Digester> Carry<'_, D> {
    /// Carries the job out, unless its trial was carried out before.
    pub fn out(&self) -> Result<Given<D::Digest>, LabError> {
        let (workload, plan) = match &self.job.work {
            Work::Trial { workload, plan, .. } => (workload, plan),
            Work::Study { trials } => {
                let evidence = trials.iter().map(|&it| self.host.evidence(it));
                let evidence = evidence.collect::<Result<Vec<Evidence>, LabError>>()?;
                let digest = self.digester.digest(self.job, &evidence, D::Reading::default());
                return Ok(Given::Result { outcome: None, digest });
            }
        };
        let directory = self.host.directory(self.job.id);
        let usable = Usable { needs_all: D::NEEDS_ALL, has_fault: !plan.candidates.is_empty() };
        let (outcome, reading) = match usable.known(&directory)? {
            Some(outcome) => (outcome, D::Reading::default()),
            None => self.trial(workload, &directory)?,
        };
        usable.check(&outcome, &directory)?;
        if outcome.end == End::Interrupted {
            return Ok(Given::Interrupted { outcome: Some(Box::new(outcome)) });
        }
        let evidence = [evidence_of(&directory, &outcome)?];
        let digest = self.digester.digest(self.job, &evidence, reading);
        Ok(Given::Result { outcome: Some(Box::new(outcome)), digest })
    }

    /// Runs a trial, and again where its keeper is ended from outside.
    fn trial(&self, workload: &str, directory: &Path) -> Result<(Outcome, D::Reading), LabError> {
        let mut attempts = 0;
        loop {
            let mut reading = D::Reading::default();
            let trial = || self.host.trial(self.job, self.observer);
            attempts += 1;
            let tried = if D::READS_EARLY {
                let mut see =
                    |path: &str, at, bytes: &[u8]| self.digester.read(&mut reading, path, at, bytes);
                follow::beside(directory, &|it| self.host.log_files(workload, it), &mut see, trial)
            } else {
                trial()
            };
            let error = match tried {
                Ok(outcome) => return Ok((outcome, reading)),
                Err(error) => error,
            };
            let Some(why) = error.lost_keeper().map(str::to_owned) else { return Err(error) };
            if attempts == ATTEMPTS_MAX {
                let trial = directory.display().to_string();
                return Err(LabError::KeeperLost { trial, attempts, why });
            }
            if self.observer.interrupted() {
                return Err(error);
            }
            (self.again)(&why);
            if let Some(outcome) = finished(directory)? {
                return Ok((outcome, D::Reading::default()));
            }
        }
    }
}

/// The outcomes that an engine can use.
struct Usable {
    /// True if the engine needs all that a trial records.
    needs_all: bool,
    /// True if a fault was planned. Of a run without one the engine itself says that no JVM had hooks.
    has_fault: bool,
}

impl Usable {
    /// The outcome of a trial that was carried out before, by whomever. One that cannot be used, or that has to be digested and
    /// has no trace any more, is put aside.
    fn known(&self, directory: &Path) -> Result<Option<Outcome>, LabError> {
        let Some(outcome) = finished(directory)? else { return Ok(None) };
        if self.check(&outcome, directory).is_ok() && TrialFiles::of(directory).trace.exists() {
            return Ok(Some(outcome));
        }
        put_aside(directory)?;
        Ok(None)
    }

    fn check(&self, outcome: &Outcome, directory: &Path) -> Result<(), LabError> {
        let trial = || directory.display().to_string();
        if !self.needs_all || outcome.end == End::Interrupted {
            return Ok(());
        }
        if outcome.disk_full {
            return Err(LabError::DiskFull { trial: trial() });
        }
        if outcome.jvms.is_empty() && self.has_fault {
            return Err(LabError::NoAgent { trial: trial(), end: outcome.end.to_string() });
        }
        Ok(())
    }
}
