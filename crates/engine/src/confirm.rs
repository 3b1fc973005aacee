//! Confirmation of an engine's claims: a claim is replayed, beside runs of the workload without a fault, and a claim that holds is
//! compared with similar trials.
//!
//! An engine that [`Claims`] says what is to be confirmed, makes the jobs and reads their results. [`Confirmed`] around it decides what is
//! run again, how often, and when a claim is settled; while one is open, the engine is asked for nothing new.

use std::collections::{BTreeMap, VecDeque};

use hypocenter_plan::Outcome;
use hypocenter_results::{Event, Rate};

use crate::{DigestOf, Engine, Job, JobId, Look, Next, stats};

/// Maximum number of replays as a multiple of the requested ones, to tell a rare effect of the fault from chance.
const LONGER_MAX: u64 = 4;

/// An engine whose claims can be confirmed.
pub trait Claims: Engine {
    /// Claims to confirm before the search continues, the most urgent first.
    fn claims(&self) -> Vec<Claim>;

    /// A job that tries the claim of a trial again.
    fn again(&mut self, of: JobId, way: Retry) -> Job;

    /// Result of such a job.
    fn shows(&mut self, of: JobId, run: (JobId, Retry), outcome: &Outcome, digest: DigestOf<Self>) -> Shows;

    /// The replays of a claim so far.
    fn counted(&mut self, of: JobId, tally: Tries);

    /// A claim is settled.
    fn settled(&mut self, of: JobId, settled: Settled) -> Vec<Event>;

    /// The runs without a fault so far, and those of them that showed what is claimed.
    fn without_fault(&self) -> Rate {
        Rate::default()
    }

    /// Comparisons of the claims that hold, once all are settled: for each run the claim that it is compared with.
    fn near(&mut self, _holds: &[JobId]) -> Vec<JobId> {
        Vec::new()
    }
}

/// Something that a trial showed, and that is to be confirmed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Claim {
    /// The trial.
    pub of: JobId,
    /// Number of its replays.
    pub replays: u64,
    /// True if runs without a fault are made beside the replays, and more of both while chance may have done it.
    pub until_sure: bool,
}

/// Repeated attempts of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Retry {
    /// The same fault alone.
    Replay,
    /// No fault.
    Control,
    /// Similar trial: its index in [`Claims::near`].
    Near(usize),
}

/// Evidence of a run for a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Shows {
    /// It happened again.
    Yes,
    /// It did not.
    No,
    /// The fault did not happen, or not as it did, so the run says nothing.
    Missed,
}

/// The replays of a claim.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Tries {
    /// Those that showed it.
    pub hits: u64,
    /// All that say something.
    pub runs: u64,
    /// Those that say nothing.
    pub missed: u64,
    /// The first that showed it.
    pub shown: Option<JobId>,
}

/// State of a claim.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Settled {
    /// The fault makes it happen.
    Holds,
    /// It may have happened by chance.
    Doubtful,
    /// It never happened again.
    Refuted,
}

/// An engine, and what confirms its claims. See the module.
#[derive(Debug)]
pub struct Confirmed<E> {
    engine: E,
    /// The claims that are open.
    open: Vec<Proof>,
    /// Those that hold, until they are compared with what is near.
    holds: Vec<JobId>,
    /// Remaining comparison, by its number.
    near: VecDeque<(usize, JobId)>,
    /// The runs that were asked for here and are not over.
    runs: BTreeMap<JobId, (JobId, Retry)>,
}

impl<E: Claims> Confirmed<E> {
    /// Confirms the claims of an engine.
    pub fn new(engine: E) -> Confirmed<E> {
        Confirmed {
            engine,
            open: Vec::new(),
            holds: Vec::new(),
            near: VecDeque::new(),
            runs: BTreeMap::new(),
        }
    }

    /// The engine.
    pub fn engine(&self) -> &E {
        &self.engine
    }

    /// The next run for an open claim, in turns, so that each has the same weather.
    fn one(&mut self) -> Option<Job> {
        let open = self.open.iter_mut().filter(|it| it.has_more()).min_by_key(|it| it.asked());
        let (of, way) = match open.map(|it| (it.of, it.next())) {
            Some((of, way)) => (of, way?),
            None if !self.open.is_empty() => return None,
            None => {
                let (number, of) = self.near.pop_front()?;
                (of, Retry::Near(number))
            }
        };
        let job = self.engine.again(of, way);
        self.runs.insert(job.id, (of, way));
        Some(job)
    }

    /// Takes up what the engine claims now.
    fn take_up(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        if self.open.is_empty() {
            let normal = self.engine.without_fault().runs;
            self.open = self.engine.claims().iter().map(|it| Proof::new(*it, normal)).collect();
            // Where nothing is to be replayed, a claim is settled as it is.
            events = self.settle();
        }
        if self.open.is_empty() && self.runs.is_empty() && !self.holds.is_empty() {
            let holds = std::mem::take(&mut self.holds);
            self.near.extend(self.engine.near(&holds).into_iter().enumerate());
        }
        events
    }

    /// Settles what is over.
    fn settle(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        let mut number = 0;
        while let Some(proof) = self.open.get_mut(number) {
            let Some(settled) = proof.judge(self.engine.without_fault()) else {
                number += 1;
                continue;
            };
            let of = self.open.remove(number).of;
            if settled == Settled::Holds {
                self.holds.push(of);
            }
            events.extend(self.engine.settled(of, settled));
        }
        events
    }

    /// A run that was asked for here is over.
    fn tell_again(
        &mut self,
        (of, way): (JobId, Retry),
        id: JobId,
        outcome: &Outcome,
        digest: DigestOf<E>,
    ) -> Vec<Event> {
        let ends = outcome.node_ends();
        let is_injected = outcome.injected() > 0;
        let shows = self.engine.shows(of, (id, way), outcome, digest);
        let Some(proof) = self.open.iter_mut().find(|it| it.of == of && !matches!(way, Retry::Near(_)))
        else {
            return vec![Event::Near {
                trial: id.0,
                of: of.0,
                is_injected,
                shows: shows == Shows::Yes,
                ends,
            }];
        };
        proof.told(id, way, shows);
        let tries = proof.tries;
        if way == Retry::Control {
            return self.settle();
        }
        let replays = proof.replays;
        self.engine.counted(of, tries);
        let told = Event::Replayed {
            trial: id.0,
            of: of.0,
            is_injected,
            is_reached: shows != Shows::Missed,
            shows: shows == Shows::Yes,
            rate: Rate { hits: tries.hits, runs: tries.runs },
            replays,
            ends,
        };
        let mut events = vec![told];
        events.extend(self.settle());
        events
    }
}

impl<E: Claims> Engine for Confirmed<E> {
    type Digester = E::Digester;
    type Results = E::Results;

    fn name(&self) -> &'static str {
        self.engine.name()
    }

    fn next(&mut self, room: usize) -> Next {
        self.take_up();
        let jobs: Vec<Job> = std::iter::from_fn(|| self.one()).take(room).collect();
        if !jobs.is_empty() {
            return Next::Start(jobs);
        }
        if !self.open.is_empty() || !self.runs.is_empty() || room == 0 {
            return Next::Wait;
        }
        let next = self.engine.next(room);
        if !matches!(next, Next::Start(_)) {
            // That it has no more work may be what it waited for to make its claims.
            self.take_up();
            if !self.open.is_empty() || !self.near.is_empty() {
                return self.next(room);
            }
        }
        next
    }

    fn digester(&self) -> E::Digester {
        self.engine.digester()
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: DigestOf<E>) -> Vec<Event> {
        let mut events = match (self.runs.remove(&id), outcome) {
            (Some(run), Some(outcome)) => self.tell_again(run, id, outcome, digest),
            _ => self.engine.tell(id, outcome, digest),
        };
        events.extend(self.take_up());
        events
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        self.engine.keeps_trace(id)
    }

    fn results(&self, look: &Look<'_>) -> E::Results {
        self.engine.results(look)
    }
}

/// A claim that is open.
#[derive(Debug)]
struct Proof {
    of: JobId,
    tries: Tries,
    until_sure: bool,
    /// Number of replays that the engine asked for; it is extended by as many.
    step: u64,
    replays: u64,
    /// Number of runs without a fault that are wanted: together with earlier ones, as many as replays.
    controls: u64,
    replays_asked: u64,
    controls_asked: u64,
    /// Runs that are not over.
    running: u64,
    /// Number of its extensions.
    longer: u64,
}

impl Proof {
    /// So many replays, and with the runs that were made as many without a fault.
    fn new(claim: Claim, normal_runs: u64) -> Proof {
        let Claim { of, replays, until_sure } = claim;
        Proof {
            of,
            tries: Tries::default(),
            until_sure,
            step: replays,
            replays,
            controls: if until_sure { replays.saturating_sub(normal_runs) } else { 0 },
            replays_asked: 0,
            controls_asked: 0,
            running: 0,
            longer: 0,
        }
    }

    /// Number of requested runs.
    fn asked(&self) -> u64 {
        self.replays_asked + self.controls_asked
    }

    fn has_more(&self) -> bool {
        self.replays_asked < self.replays || self.controls_asked < self.controls
    }

    /// Next run. Both sides take turns, so that they have the same conditions.
    fn next(&mut self) -> Option<Retry> {
        let first = self.replays_asked <= self.controls_asked || self.controls_asked >= self.controls;
        let way = if first && self.replays_asked < self.replays {
            self.replays_asked += 1;
            Retry::Replay
        } else if self.controls_asked < self.controls {
            self.controls_asked += 1;
            Retry::Control
        } else {
            return None;
        };
        self.running += 1;
        Some(way)
    }

    /// A run is over.
    fn told(&mut self, id: JobId, way: Retry, shows: Shows) {
        self.running -= 1;
        match (way, shows) {
            (Retry::Replay, Shows::Missed) => self.told_missed(),
            (Retry::Replay, _) => {
                self.tries.runs += 1;
                if shows == Shows::Yes {
                    self.tries.hits += 1;
                    self.tries.shown.get_or_insert(id);
                }
            }
            _ => {}
        }
    }

    /// A replay that did not reach the fault says nothing, and another takes its place; but not for ever.
    fn told_missed(&mut self) {
        self.tries.missed += 1;
        if !self.until_sure {
            return;
        }
        if self.tries.missed <= LONGER_MAX * self.step {
            self.replays_asked -= 1;
        } else {
            self.replays -= 1;
        }
    }

    /// Verdict once all requested results are known. While it may be chance, more are requested. If it also comes without a fault,
    /// the rate with the fault must be higher.
    fn judge(&mut self, normal: Rate) -> Option<Settled> {
        if self.running > 0 || self.has_more() {
            return None;
        }
        let Tries { hits, mut runs, missed, .. } = self.tries;
        if normal.hits > 0 {
            // A run that fails by itself may reach the fault only because it failed: it goes on for longer. So all replays count.
            runs += missed;
        }
        if hits == 0 && self.step > 0 {
            return Some(Settled::Refuted);
        }
        // What never comes by itself and always with the fault needs no test, however few replays there were.
        let is_clear = normal.hits == 0 && hits == runs;
        if is_clear || !self.until_sure || stats::exceeds((hits, runs), (normal.hits, normal.runs)) {
            return Some(Settled::Holds);
        }
        self.longer += 1;
        // At this rate, would all the replays that there may be tell it from chance?
        let most = LONGER_MAX * self.step;
        let foretold = |hits: u64, runs: u64, most: u64| (hits.saturating_mul(most) / runs.max(1), most);
        let with = foretold(hits, runs, most);
        let without = foretold(normal.hits, normal.runs, most.max(normal.runs));
        if self.longer >= LONGER_MAX || !stats::exceeds(with, without) {
            return Some(Settled::Doubtful);
        }
        self.replays += self.step;
        self.controls += self.step;
        None
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    /// Runs a proof in which these replays show it; gives what it comes to, and the replays.
    fn prove(shows: impl Fn(u64) -> bool) -> (Settled, u64, u64) {
        prove_reached(|_| true, shows)
    }

    /// The same, where only some of the replays reach the fault.
    fn prove_reached(reaches: impl Fn(u64) -> bool, shows: impl Fn(u64) -> bool) -> (Settled, u64, u64) {
        let (mut normal, mut replays) = (Rate { hits: 0, runs: 2 }, 0);
        let claim = Claim { of: JobId(2), replays: 5, until_sure: true };
        let mut proof = Proof::new(claim, normal.runs);
        loop {
            while let Some(way) = proof.next() {
                let shown = match way {
                    Retry::Replay => {
                        replays += 1;
                        assert!(replays < 100, "it ends");
                        match (reaches(replays), shows(proof.tries.runs + 1)) {
                            (true, true) => Shows::Yes,
                            (true, false) => Shows::No,
                            (false, _) => Shows::Missed,
                        }
                    }
                    _ => {
                        normal.runs += 1;
                        Shows::No
                    }
                };
                proof.told(JobId(replays), way, shown);
            }
            if let Some(settled) = proof.judge(normal) {
                assert!(normal.runs >= proof.tries.runs, "as many without as with");
                return (settled, proof.tries.hits, proof.tries.runs);
            }
        }
    }

    #[test]
    fn what_seldom_shows_is_replayed_until_it_is_no_chance() {
        assert_eq!(prove(|_| true), (Settled::Holds, 5, 5));
        assert_eq!(prove(|it| it != 3), (Settled::Holds, 4, 5));
        assert_eq!(prove(|it| it % 2 == 0), (Settled::Holds, 5, 10));
        assert_eq!(prove(|it| it % 5 == 0), (Settled::Holds, 4, 20));
        assert_eq!(prove(|it| it % 4 == 3), (Settled::Holds, 4, 15));
        // At this rate nothing would be known after twenty either.
        assert_eq!(prove(|it| it == 5 || it == 12), (Settled::Doubtful, 1, 10));
        assert_eq!(prove(|it| it < 3 || it == 19), (Settled::Doubtful, 2, 15));
        assert_eq!(prove(|it| it > 5), (Settled::Refuted, 0, 5));
    }

    #[test]
    fn what_was_not_reached_says_nothing_and_is_not_asked_for_for_ever() {
        assert_eq!(prove_reached(|it| it % 2 == 0, |_| true), (Settled::Holds, 5, 5));
        assert_eq!(prove_reached(|it| it % 2 == 0, |it| it != 3), (Settled::Holds, 4, 5));
        assert_eq!(prove_reached(|it| it > 20, |_| true), (Settled::Holds, 5, 5));
        assert_eq!(prove_reached(|it| it % 12 == 0, |_| true), (Settled::Holds, 1, 1));
        assert_eq!(prove_reached(|it| it == 2 || it == 3, |it| it == 1), (Settled::Holds, 1, 2));
        assert_eq!(prove_reached(|_| false, |_| true), (Settled::Refuted, 0, 0));
    }

    #[test]
    fn what_comes_by_itself_too_must_come_more_often_with_the_fault() {
        // A proof in which every so many runs without a fault show it as well; what it comes to, and the replays.
        let prove = |every: u64, shows: fn(u64) -> bool| {
            let mut normal = Rate { hits: 10 / every, runs: 10 };
            let mut proof = Proof::new(Claim { of: JobId(2), replays: 5, until_sure: true }, normal.runs);
            loop {
                while let Some(way) = proof.next() {
                    let is_replay = way == Retry::Replay;
                    let run = if is_replay { proof.tries.runs + 1 } else { normal.runs + 1 };
                    let is_shown = if is_replay { shows(run) } else { run.is_multiple_of(every) };
                    if !is_replay {
                        normal = Rate { hits: normal.hits + u64::from(is_shown), runs: run };
                    }
                    proof.told(JobId(run), way, if is_shown { Shows::Yes } else { Shows::No });
                }
                if let Some(settled) = proof.judge(normal) {
                    return (settled, proof.tries.runs);
                }
            }
        };
        // 5 of 5 beside 2 of 10.
        assert_eq!(prove(5, |_| true), (Settled::Holds, 5));
        assert_eq!(prove(5, |it| it != 3), (Settled::Holds, 5));
        // It comes with the fault as seldom as without, but all other replays miss the fault.
        let mut proof = Proof::new(Claim { of: JobId(2), replays: 5, until_sure: true }, 10);
        let mut replays = 0;
        while let Some(way) = proof.next() {
            assert_eq!(way, Retry::Replay);
            replays += 1;
            let shows = if replays % 5 == 0 { Shows::Yes } else { Shows::Missed };
            proof.told(JobId(replays), way, shows);
        }
        assert_eq!((replays, proof.tries.hits, proof.tries.runs), (25, 5, 5));
        assert_eq!(proof.judge(Rate { hits: 2, runs: 10 }), Some(Settled::Doubtful));
        // No more often than by itself, and hardly more often.
        assert_eq!(prove(5, |it| it % 5 == 0).0, Settled::Doubtful);
        assert_eq!(prove(2, |it| it % 5 != 0), (Settled::Holds, 15));
        assert_eq!(prove(5, |_| false), (Settled::Refuted, 5));
    }
}
