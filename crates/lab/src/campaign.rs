//! Many trials under one engine: asked for, carried out by an executor, journaled, told.
//!
//! The journal is written before the world changes: a job is in it before it starts, a result before the engine hears
//! of it. So whatever kills the tool, a resumed campaign replays the journal into a fresh engine, must get the same jobs,
//! and does again what was in flight.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::path::Path;
use std::time::{Duration, Instant};

use hypocenter_engine::{DigestOf, Engine, Job, JobId, Next, Purpose, Work};
use hypocenter_plan::Outcome;
use hypocenter_results::Event as Learnt;

use crate::executor::{Executor, Given, Happened};
use crate::journal::{Entry, Head, Journal};
use crate::lock::Lock;
use crate::{Kept, LabError, disk};

/// Sees a campaign while it runs.
pub trait Progress: Sync {
    /// The journal was read: this many jobs were told before; whether its last line had been cut.
    fn resumed(&self, _told: u64, _cut: bool) {}
    /// Called before a result is reported, or reported again from the journal: the campaign has taken so long, over all its
    /// sittings.
    fn under_way(&self, _elapsed: Duration) {}
    /// A job was started.
    fn started(&self, _job: &Job) {}
    /// A trial was ended from outside, and is run again.
    fn again(&self, _job: &Job, _why: &str) {}
    /// Called when a job is over, before it is reported.
    fn ended(&self, _job: &Job, _outcome: Option<&Outcome>) {}
    /// Events of the engine for a job, or for its entry in the journal.
    fn learnt(&self, _job: &Job, _outcome: Option<&Outcome>, _events: &[Learnt]) {}
}

/// A campaign in its directory.
#[derive(Debug)]
pub struct Campaign<'a> {
    /// The directory.
    pub directory: &'a Path,
    /// Lock against others.
    pub lock: &'a Lock,
    /// Required head of its journal.
    pub head: Head,
    /// When this sitting began.
    pub begun: Instant,
    /// True if traces stay once they are digested, also where the engine no longer needs them.
    pub keep_traces: bool,
    /// Whether only the runs without a fault are carried out, and what would follow is said: it is not in the journal, so the campaign
    /// goes on from there.
    pub is_dry: bool,
}

/// Reason for the end of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Stopped {
    /// The engine is done.
    Done,
    /// The user asked; the journal has everything so far.
    Interrupted,
    /// A dry run has come to the first job that has a fault.
    Planned,
}

/// The end of one sitting of a campaign.
#[derive(Debug)]
pub struct Sitting {
    /// The reason.
    pub stopped: Stopped,
    /// The partial outcome of a trial that the user ended.
    pub ended_early: Option<Box<Outcome>>,
    /// The jobs that a dry run would have done next, some of them.
    pub planned: Vec<Job>,
}

/// The jobs of a dry run that are said.
const PLANNED_MAX: usize = 20;
/// Time between two looks for an interrupt by the user.
const LOOK_EVERY: Duration = Duration::from_millis(50);

impl Campaign<'_> {
    /// Runs the campaign, or resumes it. `interrupted` is asked now and then; true stops the campaign, which can be resumed.
    pub fn run<E: Engine>(
        &self,
        engine: &mut E,
        executor: &mut dyn Executor<DigestOf<E>>,
        progress: &dyn Progress,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Sitting, LabError> {
        let mut open: BTreeMap<JobId, Job> = BTreeMap::new();
        let (mut told, mut before) = (0, Duration::ZERO);
        let mut held: BTreeSet<JobId> = BTreeSet::new();
        let path = Journal::path_in(self.directory);
        let (journal, cut) = Journal::open(&path, &self.head, |entry| {
            if let Entry::Told { id, after_ms, .. } = &entry {
                told += 1;
                held.insert(*id);
                before = Duration::from_millis(*after_ms);
                progress.under_way(before);
            }
            replay(engine, entry, &mut open, self.directory, progress)
        })?;
        self.drop_traces(engine, &mut held)?;
        if told > 0 || !open.is_empty() || cut {
            progress.resumed(told, cut);
        }
        let waiting = open.into_values().collect();
        let mut course = Course {
            campaign: self,
            engine,
            progress,
            journal,
            before,
            held,
            waiting,
            running: BTreeMap::new(),
            stop: None,
            ended_early: None,
            planned: Vec::new(),
        };
        let stopped = course.run(executor, interrupted);
        if stopped.is_err() {
            // Nobody hears of what still runs.
            executor.cancel();
        }
        Ok(Sitting { stopped: stopped?, ended_early: course.ended_early, planned: course.planned })
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
}

/// A campaign while it runs.
struct Course<'c, E: Engine> {
    campaign: &'c Campaign<'c>,
    engine: &'c mut E,
    progress: &'c dyn Progress,
    journal: Journal,
    /// Time that earlier sittings took.
    before: Duration,
    /// The trials that were told and whose traces are there.
    held: BTreeSet<JobId>,
    /// Jobs that were asked for and wait for room.
    waiting: VecDeque<Job>,
    running: BTreeMap<JobId, Job>,
    /// The end of the campaign, once it is decided; running jobs end first.
    stop: Option<Result<Stopped, LabError>>,
    ended_early: Option<Box<Outcome>>,
    planned: Vec<Job>,
}

impl<E: Engine> Course<'_, E> {
    fn run(
        &mut self,
        executor: &mut dyn Executor<DigestOf<E>>,
        interrupted: &dyn Fn() -> bool,
    ) -> Result<Stopped, LabError> {
        loop {
            self.look(executor, interrupted);
            if self.stop.is_none() && self.start(executor)? {
                continue;
            }
            // A request brings what was told before to the disk with it; where there is none, this does. Were a result lost
            // in between, the trial's own outcome would give it again.
            self.journal.sync()?;
            self.campaign.drop_traces(self.engine, &mut self.held)?;
            if self.running.is_empty() {
                return self.stop.take().unwrap_or(Err(LabError::Stuck));
            }
            let mut events = executor.poll(LOOK_EVERY);
            while events.is_empty() {
                self.look(executor, interrupted);
                events = executor.poll(LOOK_EVERY);
            }
            events.into_iter().try_for_each(|it| self.take(it))?;
        }
    }

    /// Ends what runs if the user asks for it.
    fn look(&mut self, executor: &mut dyn Executor<DigestOf<E>>, interrupted: &dyn Fn() -> bool) {
        if interrupted() {
            self.stop.get_or_insert(Ok(Stopped::Interrupted));
            executor.cancel();
        }
    }

    /// Gives the executor what it has room for, and says whether the engine had something new.
    fn start(&mut self, executor: &mut dyn Executor<DigestOf<E>>) -> Result<bool, LabError> {
        while executor.room() > 0
            && let Some(job) = self.waiting.pop_front()
        {
            self.progress.started(&job);
            self.running.insert(job.id, job.clone());
            executor.submit(job);
        }
        let room = executor.room();
        if room == 0 {
            return Ok(false);
        }
        match asked(self.engine, room) {
            Next::Start(jobs) if self.campaign.is_dry && jobs.iter().any(has_fault) => {
                self.planned = jobs;
                if let Next::Start(more) = self.engine.next(PLANNED_MAX) {
                    self.planned.extend(more);
                }
                self.planned.truncate(PLANNED_MAX);
                self.stop = Some(Ok(Stopped::Planned));
                Ok(false)
            }
            Next::Start(jobs) => {
                self.journal.append(&Entry::Asked { room, jobs: jobs.clone() })?;
                self.waiting.extend(jobs);
                Ok(true)
            }
            Next::Wait => Ok(false),
            Next::Done => {
                self.stop = Some(Ok(Stopped::Done));
                Ok(false)
            }
        }
    }

    fn take(&mut self, event: Happened<DigestOf<E>>) -> Result<(), LabError> {
        let (id, result) = match event {
            Happened::Again { id, why } => {
                let job = self.running.get(&id).expect("only what runs is run again");
                self.progress.again(job, &why);
                return Ok(());
            }
            Happened::Ended { id, result } => (id, result),
        };
        let job = self.running.remove(&id).expect("only what was submitted ends, and once");
        match result {
            Ok(Given::Result { outcome, digest }) => self.tell(&job, outcome, digest)?,
            Ok(Given::Interrupted { outcome }) => {
                self.stop = Some(Ok(Stopped::Interrupted));
                self.ended_early = outcome.or(self.ended_early.take());
            }
            // The others may end first; what they give is not lost.
            Err(error) => {
                self.stop.get_or_insert(Err(error));
            }
        }
        Ok(())
    }

    /// Tells the engine a result, once the journal has it.
    fn tell(
        &mut self,
        job: &Job,
        outcome: Option<Box<Outcome>>,
        digest: DigestOf<E>,
    ) -> Result<(), LabError> {
        let kept = Kept::new(self.campaign.directory, job.id, &digest)?;
        let elapsed = self.before + self.campaign.begun.elapsed();
        let after_ms = elapsed.as_millis() as u64;
        let entry = Entry::Told { id: job.id, outcome, digest: kept, after_ms };
        self.journal.note(&entry)?;
        // As a resumed campaign will read it.
        self.progress.under_way(Duration::from_millis(after_ms));
        let Entry::Told { outcome, .. } = entry else { unreachable!("made above") };
        self.progress.ended(job, outcome.as_deref());
        let events = self.engine.tell(job.id, outcome.as_deref(), digest);
        self.progress.learnt(job, outcome.as_deref(), &events);
        self.held.insert(job.id);
        Ok(())
    }
}

/// Whether a job injects something. Candidates of a run without a fault are only counted.
fn has_fault(job: &Job) -> bool {
    job.purpose != Purpose::Normal
        && matches!(&job.work, Work::Trial { plan, .. } if !plan.candidates.is_empty())
}

/// Asks the engine for work. An answer that is not in the journal must change nothing, or a resumed campaign would differ from one
/// that was not cut: where that is checked, the engine is asked twice.
fn asked<E: Engine>(engine: &mut E, room: usize) -> Next {
    let next = engine.next(room);
    if cfg!(debug_assertions) && !matches!(next, Next::Start(_)) {
        assert_eq!(
            engine.next(room),
            next,
            "`{}` changes its state when asked, although it has no work",
            engine.name()
        );
    }
    next
}

/// Does to the engine what the journal says was done.
fn replay<E: Engine>(
    engine: &mut E,
    entry: Entry,
    open: &mut BTreeMap<JobId, Job>,
    campaign: &Path,
    progress: &dyn Progress,
) -> Result<(), String> {
    match entry {
        Entry::Asked { room, jobs } => {
            if engine.next(room) != Next::Start(jobs.clone()) {
                return Err("the engine asks for other trials than before".to_owned());
            }
            open.extend(jobs.into_iter().map(|job| (job.id, job)));
            Ok(())
        }
        Entry::Told { id, outcome, digest, .. } => {
            let job = open
                .remove(&id)
                .ok_or_else(|| format!("trial {id} was reported without a request, or twice"))?;
            let digest = digest.read(campaign, id)?;
            let digest = serde_json::from_value(digest).map_err(|error| format!("trial {id}: {error}"))?;
            let events = engine.tell(id, outcome.as_deref(), digest);
            progress.learnt(&job, outcome.as_deref(), &events);
            Ok(())
        }
    }
}

#[cfg(test)]
mod tests {
    use std::cell::Cell;

    use hypocenter_engine::{Hits, Plans};
    use hypocenter_plan::{End, FORMAT_VERSION, Plan, Steering};

    use super::*;
    use crate::JOURNAL_VERSION;

    /// Ends one job a poll, the last one first, and never has more than it has room for.
    struct Slow {
        places: usize,
        open: Vec<Job>,
        started: Vec<u64>,
        is_cancelled: bool,
    }

    impl Slow {
        fn with(places: usize) -> Slow {
            Slow { places, open: Vec::new(), started: Vec::new(), is_cancelled: false }
        }
    }

    impl Executor<Hits> for Slow {
        fn room(&self) -> usize {
            self.places - self.open.len()
        }

        fn submit(&mut self, job: Job) {
            assert!(self.room() > 0, "{} has no room", job.id);
            assert!(!self.is_cancelled, "{} comes too late", job.id);
            self.started.push(job.id.0);
            self.open.push(job);
        }

        fn poll(&mut self, _: Duration) -> Vec<Happened<Hits>> {
            let Some(job) = self.open.pop() else { panic!("there is nothing to wait for") };
            let outcome = Box::new(Outcome {
                version: FORMAT_VERSION,
                end: End::Exited { status: 0 },
                wall_ms: 1,
                disk_full: false,
                failure: None,
                processes: Vec::new(),
                candidates: Vec::new(),
                steering: Steering::default(),
                jvms: Vec::new(),
                problems: Vec::new(),
            });
            let given = match self.is_cancelled {
                true => Given::Interrupted { outcome: None },
                false => {
                    let digest = serde_json::from_str("{\"hits\":1}").expect("it is one");
                    Given::Result { outcome: Some(outcome), digest }
                }
            };
            vec![Happened::Ended { id: job.id, result: Ok(given) }]
        }

        fn cancel(&mut self) {
            self.is_cancelled = true;
        }
    }

    #[test]
    fn jobs_wait_for_room_and_an_interrupted_campaign_goes_on_with_less() {
        let directory = tempfile::tempdir().unwrap();
        let lock = Lock::take(directory.path()).unwrap();
        let head = Head {
            journal: JOURNAL_VERSION,
            engine: "plans".into(),
            seed: 1,
            target: "t".into(),
            tool: "1".into(),
        };
        let campaign = Campaign {
            directory: directory.path(),
            lock: &lock,
            head,
            begun: Instant::now(),
            keep_traces: true,
            is_dry: false,
        };
        struct Nobody;
        impl Progress for Nobody {}
        let sit = |executor: &mut Slow, looks: usize| {
            let mut engine = Plans::new("w", vec![Plan::default(); 7]);
            let asked = Cell::new(0);
            let interrupted = || {
                asked.set(asked.get() + 1);
                asked.get() > looks
            };
            let sitting = campaign.run(&mut engine, executor, &Nobody, &interrupted).unwrap();
            (sitting.stopped, engine.results(&|_| None).trials)
        };
        // One ends, another is asked for, and before it starts the user ends the campaign with three under way.
        let mut many = Slow::with(4);
        assert_eq!(sit(&mut many, 3), (Stopped::Interrupted, 1));
        assert_eq!(many.started, [0, 1, 2, 3]);
        // Those that were asked for are submitted one by one before anything new.
        let mut one = Slow::with(1);
        assert_eq!(sit(&mut one, usize::MAX), (Stopped::Done, 7));
        assert_eq!(one.started, [0, 1, 2, 4, 5, 6]);
        assert!(!one.is_cancelled);
        // Nothing is left to do.
        let mut none = Slow::with(2);
        assert_eq!(sit(&mut none, usize::MAX), (Stopped::Done, 7));
        assert!(none.started.is_empty());
    }
}
