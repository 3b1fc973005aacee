//! Many trials under one engine: asked for, carried out by a pool, journaled, told.
//!
//! The journal is written before the world changes: a job is in it before it starts, a result before the engine hears
//! of it. So whatever kills the tool, a resumed campaign replays the journal into a fresh engine, must get the same jobs,
//! and does again what was in flight.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};

use hypocenter_engine::{Digester, Engine, Evidence, Job, JobId, Next, Work};
use hypocenter_plan::{End, Outcome, Plan};

use crate::journal::{Entry, Head, Journal};
use crate::lock::Lock;
use crate::trial::{TrialFiles, evidence_of};
use crate::{LabError, follow};

/// Carries out one trial: a local process here, a scheduler elsewhere.
pub trait Executor: Sync {
    /// Runs a trial in a directory, which it makes, and leaves its outcome there.
    fn trial(&self, id: JobId, workload: &str, plan: &Plan, directory: &Path) -> Result<Outcome, LabError>;

    /// The log files that the processes of a trial in this directory have written so far, beside what they print. Those that are
    /// known are read while the trial runs, the others when it is over.
    fn log_files(&self, _directory: &Path) -> Vec<PathBuf> {
        Vec::new()
    }

    /// Asked now and then; true stops the campaign, which can be resumed.
    fn interrupted(&self) -> bool {
        false
    }
}

/// Sees a campaign while it runs.
pub trait Progress: Sync {
    /// The journal was read: this many jobs were told before; whether its last line had been cut.
    fn resumed(&self, _told: u64, _cut: bool) {}
    /// A job was started.
    fn started(&self, _job: &Job) {}
    /// A job is over.
    fn ended(&self, _job: &Job, _outcome: Option<&Outcome>) {}
}

/// A campaign in its directory.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// What keeps others out of it.
    pub lock: &'a Lock,
    /// What its journal must say.
    pub head: Head,
    /// How many trials run at once.
    pub jobs: usize,
}

/// How a campaign stopped.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The engine is done.
    Done,
    /// The user asked; the journal has everything so far.
    Interrupted,
}

/// The directory of a trial.
pub fn trial_directory(campaign: &Path, id: JobId) -> PathBuf {
    campaign.join("trials").join(format!("{:03}", id.0))
}

/// The result of a job. Nothing if the trial was interrupted.
type Given<D> = Result<Option<(Option<Outcome>, <D as Digester>::Digest)>, LabError>;
type Ended<E> = (Job, Given<<E as Engine>::Digester>);

impl Campaign<'_> {
    /// Runs the campaign, or goes on with it.
    pub fn run<E: Engine>(
        &self,
        engine: &mut E,
        executor: &dyn Executor,
        progress: &dyn Progress,
    ) -> Result<Stopped, LabError> {
        let mut open: BTreeMap<JobId, Job> = BTreeMap::new();
        let mut told = 0;
        let path = Journal::path_in(self.directory);
        let (mut journal, cut) = Journal::open(&path, &self.head, |entry| {
            told += u64::from(matches!(entry, Entry::Told { .. }));
            replay(engine, entry, &mut open)
        })?;
        if told > 0 || !open.is_empty() || cut {
            progress.resumed(told, cut);
        }
        let digester = engine.digester();
        let (jobs, queue) = mpsc::channel::<Job>();
        let queue = Mutex::new(queue);
        let (results, inbox) = mpsc::channel::<Ended<E>>();
        std::thread::scope(|scope| {
            // Dropped when the scope's body ends, so the workers end with it.
            let jobs = jobs;
            for _ in 0..self.jobs.max(1) {
                let (queue, results, digester) = (&queue, results.clone(), &digester);
                scope.spawn(move || {
                    loop {
                        let job = queue.lock().unwrap_or_else(|poison| poison.into_inner()).recv();
                        let Ok(job) = job else { return };
                        let result = self.carry_out(&job, executor, digester);
                        if results.send((job, result)).is_err() {
                            return;
                        }
                    }
                });
            }
            let start = |job: &Job| {
                progress.started(job);
                // The workers live as long as this sender.
                let _ = jobs.send(job.clone());
            };
            open.values().for_each(start);
            let mut stop: Option<Result<Stopped, LabError>> = None;
            loop {
                let room = self.jobs.max(1).saturating_sub(open.len());
                if stop.is_none() && executor.interrupted() {
                    stop = Some(Ok(Stopped::Interrupted));
                }
                if stop.is_none() && room > 0 {
                    match engine.next(room) {
                        Next::Start(new) => {
                            journal.append(&Entry::Asked { room, jobs: new.clone() })?;
                            new.iter().for_each(start);
                            open.extend(new.into_iter().map(|job| (job.id, job)));
                            continue;
                        }
                        Next::Wait => {}
                        Next::Done => stop = Some(Ok(Stopped::Done)),
                    }
                }
                // A request brings what was told before to the disk with it; where there is none, this does. Were a result lost
                // in between, the trial's own outcome would give it again.
                journal.sync()?;
                if open.is_empty() {
                    return stop.unwrap_or(Err(LabError::Stuck));
                }
                // The workers hold senders, and there is a job open.
                let Ok((job, result)) = inbox.recv() else { return Err(LabError::Stuck) };
                open.remove(&job.id);
                match result {
                    Ok(None) => stop = Some(Ok(Stopped::Interrupted)),
                    Ok(Some((outcome, digest))) => {
                        let value = serde_json::to_value(&digest).map_err(|error| LabError::Journal {
                            path: path.display().to_string(),
                            why: format!("a digest is no JSON: {error}"),
                        })?;
                        let entry = Entry::Told { id: job.id, outcome: outcome.map(Box::new), digest: value };
                        journal.note(&entry)?;
                        let Entry::Told { outcome, .. } = entry else { unreachable!("made above") };
                        progress.ended(&job, outcome.as_deref());
                        engine.tell(job.id, outcome.as_deref(), digest);
                    }
                    // The others may end first; what they give is not lost.
                    Err(error) => {
                        stop.get_or_insert(Err(error));
                    }
                }
            }
        })
    }

    fn carry_out<D: Digester>(&self, job: &Job, executor: &dyn Executor, digester: &D) -> Given<D> {
        match &job.work {
            Work::Trial { workload, plan } => {
                let directory = trial_directory(self.directory, job.id);
                let mut reading = D::Reading::default();
                let is_usable = |it: &Outcome| !(D::NEEDS_ALL && it.disk_full);
                let known = finished(&directory)?;
                if known.as_ref().is_some_and(|it| !is_usable(it)) {
                    put_aside(&directory)?;
                }
                let outcome = match known.filter(is_usable) {
                    Some(outcome) => outcome,
                    None if !D::READS_EARLY => executor.trial(job.id, workload, plan, &directory)?,
                    None => {
                        let trial = || executor.trial(job.id, workload, plan, &directory);
                        let mut see =
                            |path: &str, at, bytes: &[u8]| digester.read(&mut reading, path, at, bytes);
                        follow::beside(&directory, &|it| executor.log_files(it), &mut see, trial)?
                    }
                };
                if !is_usable(&outcome) {
                    return Err(LabError::DiskFull { trial: directory.display().to_string() });
                }
                if outcome.end == End::Interrupted {
                    return Ok(None);
                }
                let evidence = [evidence_of(&directory, &outcome)?];
                Ok(Some((Some(outcome), digester.digest(job, &evidence, reading))))
            }
            Work::Study { trials } => {
                let evidence = trials
                    .iter()
                    .map(|&id| {
                        let directory = trial_directory(self.directory, id);
                        let outcome = finished(&directory)?.ok_or_else(|| LabError::Journal {
                            path: directory.display().to_string(),
                            why: "the trial has no outcome any more; run the campaign anew".to_owned(),
                        })?;
                        evidence_of(&directory, &outcome)
                    })
                    .collect::<Result<Vec<Evidence>, LabError>>()?;
                Ok(Some((None, digester.digest(job, &evidence, D::Reading::default()))))
            }
        }
    }
}

/// Does to the engine what the journal says was done.
fn replay<E: Engine>(engine: &mut E, entry: Entry, open: &mut BTreeMap<JobId, Job>) -> Result<(), String> {
    match entry {
        Entry::Asked { room, jobs } => {
            if engine.next(room) != Next::Start(jobs.clone()) {
                return Err("the engine asks for other trials than it did".to_owned());
            }
            open.extend(jobs.into_iter().map(|job| (job.id, job)));
            Ok(())
        }
        Entry::Told { id, outcome, digest } => {
            open.remove(&id).ok_or_else(|| format!("trial {id} was told and not asked for, or twice"))?;
            let digest = serde_json::from_value(digest).map_err(|error| format!("trial {id}: {error}"))?;
            engine.tell(id, outcome.as_deref(), digest);
            Ok(())
        }
    }
}

/// The outcome of a trial that is over, whoever ran it. What is left of one that was cut short is put aside, so that the
/// trial can be run again.
pub fn finished(directory: &Path) -> Result<Option<Outcome>, LabError> {
    if let Some(outcome) = read_outcome(directory)? {
        return Ok(Some(outcome));
    }
    if !directory.exists() {
        return Ok(None);
    }
    // Whoever carries it out right now keeps its place, and may have ended just before the lock was free.
    let _nobody = Lock::of_trial(directory)?;
    if let Some(outcome) = read_outcome(directory)? {
        return Ok(Some(outcome));
    }
    put_aside(directory)?;
    Ok(None)
}

/// Makes room for a trial that is run again; nothing that was recorded is lost.
fn put_aside(directory: &Path) -> Result<(), LabError> {
    let name = directory.file_name().unwrap_or_default().to_string_lossy().into_owned();
    let aside = (1..)
        .map(|number| directory.with_file_name(format!("{name}.cut-{number}")))
        .find(|it| !it.exists())
        .expect("there is always another number");
    match fs::rename(directory, &aside) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            Err(LabError::File { path: directory.display().to_string(), source: error })
        }
        _ => Ok(()),
    }
}

fn read_outcome(directory: &Path) -> Result<Option<Outcome>, LabError> {
    let path = TrialFiles::of(directory).outcome;
    match fs::read(&path) {
        Ok(bytes) => serde_json::from_slice(&bytes).map(Some).map_err(|why| LabError::Journal {
            path: path.display().to_string(),
            why: format!("{why}; the file was changed"),
        }),
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => Ok(None),
        Err(error) => Err(LabError::File { path: path.display().to_string(), source: error }),
    }
}
