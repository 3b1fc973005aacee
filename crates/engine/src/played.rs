//! An engine that plays on trials that are recorded, and asks only for those that are missing.

use std::collections::{BTreeMap, VecDeque};

use hypocenter_plan::Outcome;
use hypocenter_results::Event;
use rustc_hash::FxHashMap;

use crate::{DigestOf, Engine, Job, JobId, Look, Next, Work};

/// Trials by what was asked for: the n-th time that an engine asks for the same, it is given the n-th.
pub struct Recording<D>(FxHashMap<String, VecDeque<(Outcome, D)>>);

impl<D> Default for Recording<D> {
    fn default() -> Recording<D> {
        Recording(FxHashMap::default())
    }
}

impl<D> Recording<D> {
    /// Adds a trial behind those of the same work.
    pub fn add(&mut self, work: &Work, outcome: Outcome, digest: D) {
        self.0.entry(key(work)).or_default().push_back((outcome, digest));
    }

    /// Number of trials.
    pub fn len(&self) -> usize {
        self.0.values().map(VecDeque::len).sum()
    }

    /// Tests whether there is none.
    pub fn is_empty(&self) -> bool {
        self.0.is_empty()
    }

    fn take(&mut self, work: &Work) -> Option<(Outcome, D)> {
        if self.is_empty() { None } else { self.0.get_mut(&key(work))?.pop_front() }
    }
}

fn key(work: &Work) -> String {
    serde_json::to_string(work).expect("work is always JSON")
}

/// See the module. Without a recording it is the engine itself. Where there is one, the trials that the results name are numbered as the
/// engine asked for them.
pub struct Played<E: Engine> {
    engine: E,
    recording: Option<Recording<DigestOf<E>>>,
    /// Jobs that nothing is recorded for, in the order in which they were asked for.
    missing: VecDeque<Job>,
    /// True if the engine said so when it was asked last.
    is_done: bool,
    /// Jobs that were given out, by their numbers outside, with those that the engine knows.
    given: BTreeMap<JobId, JobId>,
}

impl<E: Engine> Played<E> {
    /// Lets an engine play on a recording.
    pub fn new(engine: E, recording: Recording<DigestOf<E>>) -> Played<E> {
        let recording = (!recording.is_empty()).then_some(recording);
        let (missing, given) = (VecDeque::new(), BTreeMap::new());
        let mut it = Played { engine, recording, missing, is_done: false, given };
        it.play();
        it
    }

    /// Plays as far as what is recorded goes. It depends on nothing but what was told, so a campaign that goes on plays the same.
    fn play(&mut self) {
        let Some(recording) = &mut self.recording else { return };
        loop {
            let jobs = match self.engine.next(usize::MAX) {
                Next::Start(jobs) => jobs,
                other => {
                    self.is_done = other == Next::Done;
                    return;
                }
            };
            for job in jobs {
                match recording.take(&job.work) {
                    Some((outcome, digest)) => drop(self.engine.tell(job.id, Some(&outcome), digest)),
                    None => self.missing.push_back(job),
                }
            }
        }
    }

    /// A job by the number that it has outside.
    fn give(&mut self, job: Job) -> Job {
        let id = JobId(self.given.len() as u64);
        self.given.insert(id, job.id);
        Job { id, ..job }
    }
}

impl<E: Engine> Engine for Played<E> {
    type Digester = E::Digester;
    type Results = E::Results;

    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn next(&mut self, room: usize) -> Next {
        let jobs: Vec<Job> = match &self.recording {
            None => match self.engine.next(room) {
                Next::Start(jobs) => jobs,
                other => return other,
            },
            Some(_) => self.missing.drain(..room.min(self.missing.len())).collect(),
        };
        match jobs.is_empty() {
            true if self.is_done => Next::Done,
            true => Next::Wait,
            false => Next::Start(jobs.into_iter().map(|it| self.give(it)).collect()),
        }
    }

    fn digester(&self) -> E::Digester {
        self.engine.digester()
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: DigestOf<E>) -> Vec<Event> {
        let Some(&id) = self.given.get(&id) else { return Vec::new() };
        let events = self.engine.tell(id, outcome, digest);
        self.play();
        events
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        self.given.get(&id).is_some_and(|&it| self.engine.keeps_trace(it))
    }

    fn results(&self, look: &Look<'_>) -> E::Results {
        let outside: BTreeMap<JobId, JobId> = self.given.iter().map(|(&given, &own)| (own, given)).collect();
        self.engine.results(&|id| look(*outside.get(&id)?))
    }
}
