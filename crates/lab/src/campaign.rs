//! Many trials under one engine: asked for, carried out by a pool, journaled, told.
//!
//! The journal is written before the world changes: a job is in it before it starts, a result before the engine hears
//! of it. So whatever kills the tool, a resumed campaign replays the journal into a fresh engine, must get the same jobs,
//! and does again what was in flight.

use std::collections::{BTreeMap, BTreeSet};
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::{Mutex, mpsc};
use std::time::{Duration, Instant};

use hypocenter_engine::{Digester, Engine, Evidence, Job, JobId, Next, Work};
use hypocenter_plan::{End, Outcome, Plan};

use crate::journal::{Entry, Head, Journal};
use crate::lock::Lock;
use crate::trial::{TrialFiles, evidence_of};
use crate::{Kept, LabError, disk, follow};

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
    /// A result is about to be told, or told again from the journal: the campaign has been under way for so long, over all its
    /// sittings.
    fn under_way(&self, _elapsed: Duration) {}
    /// A job was started.
    fn started(&self, _job: &Job) {}
    /// A trial was ended from outside, and is run again.
    fn again(&self, _job: &Job, _why: &str) {}
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
    /// When this sitting began.
    pub begun: Instant,
    /// Whether traces stay once they are digested, also where the engine no longer needs them.
    pub keep_traces: bool,
}

/// How often a trial is run whose keeper was ended from outside.
const ATTEMPTS_MAX: u32 = 3;

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
        let (mut told, mut before) = (0, Duration::ZERO);
        // The trials that were told and whose traces are there.
        let mut held: BTreeSet<JobId> = BTreeSet::new();
        let path = Journal::path_in(self.directory);
        let (mut journal, cut) = Journal::open(&path, &self.head, |entry| {
            if let Entry::Told { id, after_ms, .. } = &entry {
                told += 1;
                held.insert(*id);
                before = Duration::from_millis(*after_ms);
                progress.under_way(before);
            }
            replay(engine, entry, &mut open, self.directory)
        })?;
        self.drop_traces(engine, &mut held)?;
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
                        let result = self.carry_out(&job, executor, progress, digester);
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
                    match asked(engine, room) {
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
                self.drop_traces(engine, &mut held)?;
                if open.is_empty() {
                    return stop.unwrap_or(Err(LabError::Stuck));
                }
                // The workers hold senders, and there is a job open.
                let Ok((job, result)) = inbox.recv() else { return Err(LabError::Stuck) };
                open.remove(&job.id);
                match result {
                    Ok(None) => stop = Some(Ok(Stopped::Interrupted)),
                    Ok(Some((outcome, digest))) => {
                        let kept = Kept::new(self.directory, job.id, &digest)?;
                        let elapsed = before + self.begun.elapsed();
                        let after_ms = elapsed.as_millis() as u64;
                        let outcome = outcome.map(Box::new);
                        let entry = Entry::Told { id: job.id, outcome, digest: kept, after_ms };
                        journal.note(&entry)?;
                        progress.under_way(elapsed);
                        let Entry::Told { outcome, .. } = entry else { unreachable!("made above") };
                        progress.ended(&job, outcome.as_deref());
                        engine.tell(job.id, outcome.as_deref(), digest);
                        held.insert(job.id);
                    }
                    // The others may end first; what they give is not lost.
                    Err(error) => {
                        stop.get_or_insert(Err(error));
                    }
                }
            }
        })
    }

    /// Drops the traces of trials that are in the journal for good and that the engine does not need any more.
    fn drop_traces<E: Engine>(&self, engine: &E, held: &mut BTreeSet<JobId>) -> Result<(), LabError> {
        if self.keep_traces {
            return Ok(());
        }
        for id in held.extract_if(.., |id| !engine.keeps_trace(*id)) {
            disk::drop_trace(self.directory, id)?;
        }
        Ok(())
    }

    fn carry_out<D: Digester>(
        &self,
        job: &Job,
        executor: &dyn Executor,
        progress: &dyn Progress,
        digester: &D,
    ) -> Given<D> {
        match &job.work {
            Work::Trial { workload, plan } => {
                let directory = trial_directory(self.directory, job.id);
                let usable = Usable { needs_all: D::NEEDS_ALL, has_fault: !plan.candidates.is_empty() };
                let (outcome, reading) = match usable.known(&directory)? {
                    Some(outcome) => (outcome, D::Reading::default()),
                    None => self.run_trial(job, (workload, plan), executor, progress, digester)?,
                };
                usable.check(&outcome, &directory)?;
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

    /// Runs a trial, and again where its keeper is ended from outside.
    fn run_trial<D: Digester>(
        &self,
        job: &Job,
        (workload, plan): (&str, &Plan),
        executor: &dyn Executor,
        progress: &dyn Progress,
        digester: &D,
    ) -> Result<(Outcome, D::Reading), LabError> {
        let directory = trial_directory(self.directory, job.id);
        let mut attempts = 0;
        loop {
            let mut reading = D::Reading::default();
            let trial = || executor.trial(job.id, workload, plan, &directory);
            attempts += 1;
            let tried = if D::READS_EARLY {
                let mut see = |path: &str, at, bytes: &[u8]| digester.read(&mut reading, path, at, bytes);
                follow::beside(&directory, &|it| executor.log_files(it), &mut see, trial)
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
            if executor.interrupted() {
                return Err(error);
            }
            progress.again(job, &why);
            if let Some(outcome) = finished(&directory)? {
                return Ok((outcome, D::Reading::default()));
            }
        }
    }
}

/// Which outcomes say something to an engine.
struct Usable {
    /// Whether it needs all that a trial records.
    needs_all: bool,
    /// Whether a fault was planned. Of a run without one the engine itself says that no JVM had hooks.
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

/// Asks the engine for work. An answer that is not in the journal must change nothing, or a resumed campaign would differ from one
/// that was not cut: where that is checked, the engine is asked twice.
fn asked<E: Engine>(engine: &mut E, room: usize) -> Next {
    let next = engine.next(room);
    if cfg!(debug_assertions) && !matches!(next, Next::Start(_)) {
        assert_eq!(engine.next(room), next, "`{}` changes when it is asked and has no work", engine.name());
    }
    next
}

/// Does to the engine what the journal says was done.
fn replay<E: Engine>(
    engine: &mut E,
    entry: Entry,
    open: &mut BTreeMap<JobId, Job>,
    campaign: &Path,
) -> Result<(), String> {
    match entry {
        Entry::Asked { room, jobs } => {
            if engine.next(room) != Next::Start(jobs.clone()) {
                return Err("the engine asks for other trials than it did".to_owned());
            }
            open.extend(jobs.into_iter().map(|job| (job.id, job)));
            Ok(())
        }
        Entry::Told { id, outcome, digest, .. } => {
            open.remove(&id).ok_or_else(|| format!("trial {id} was told and not asked for, or twice"))?;
            let digest = digest.read(campaign, id)?;
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
pub fn put_aside(directory: &Path) -> Result<(), LabError> {
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
