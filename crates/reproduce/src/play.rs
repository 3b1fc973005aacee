//! Every strategy on the same trials: how many rounds would each have needed?
//!
//! A few normal runs are recorded, and each fault at each instance that some strategy asks for is run alone, once. A *game* is one
//! strategy with one seed. It is led by the engine itself; only the trials are not run again:
//! - Its normal runs are those of the recording, beginning with another one for each seed, so that the instances and their
//!   order are those of that run.
//! - Of the faults that a round may inject, that one happens which is reached first in a normal run that seed and round pick, as
//!   the order of executions differs from run to run. What comes in no such run is not reached.
//! - What it shows, and whether the failure happens, is what was recorded of that fault at that instance.
//!
//! What is found is not replayed, and a second fault is not searched for. A game that asks for what nobody has recorded waits
//! until it is. Where every instance is asked for, each fault is run at each of them before the games begin.

use std::collections::BTreeMap;
use std::sync::Arc;

use hypocenter_engine::{Confirmed, Engine, Job, JobId, Look, Next, Purpose, Work};
use hypocenter_plan::{Candidate, CandidateOutcome, CandidateResult, Outcome, Plan};
use hypocenter_results::Event;
use hypocenter_results::compared::{Compared, Played, StrategyRow};
use hypocenter_results::reproduced::Standing;
use hypocenter_trace::hash;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::case::{Case, Digest, Reader};
use crate::engine::{Reproduce, Settings};
use crate::executions::Orders;
use crate::search::SearchOptions;
use crate::strategy::Strategy;

/// How many games are under way at once: each has all instances of its own.
const GAMES_MAX: usize = 4;

/// What a trial gave.
#[derive(Debug, Clone)]
pub struct Ended {
    outcome: Outcome,
    digest: Digest,
}

/// Trials without a fault, and with one fault at one instance.
#[derive(Debug, Default)]
pub struct Recorded {
    normal: Vec<Ended>,
    faults: FxHashMap<FaultAt, Ended>,
}

/// A fault at an instance, as a key.
#[derive(Debug, Clone, PartialEq, Eq, Hash)]
struct FaultAt {
    site: u32,
    fault: String,
    node: Option<String>,
    thread: Option<String>,
    occurrence: Option<u64>,
}

impl FaultAt {
    fn of(case: &Case, it: &Candidate) -> Option<FaultAt> {
        Some(FaultAt {
            site: case.catalogue().find(&it.site)?,
            fault: it.fault.to_string(),
            node: it.when.node.clone(),
            thread: it.when.thread.clone(),
            occurrence: it.when.occurrence,
        })
    }
}

impl Recorded {
    /// Adds a trial of any campaign on the same case. Of use are those without a fault that recorded, and those that had one fault;
    /// the first of its kind counts.
    pub fn add(&mut self, case: &Case, plan: &Plan, outcome: &Outcome, digest: Digest) {
        let ended = Ended { outcome: outcome.clone(), digest };
        match &plan.candidates[..] {
            [] if ended.digest.recorded.is_some() => self.normal.push(ended),
            [one] => {
                if let Some(key) = FaultAt::of(case, one) {
                    self.faults.entry(key).or_insert(ended);
                }
            }
            _ => {}
        }
    }

    /// How many faults at instances it has.
    pub fn faults(&self) -> usize {
        self.faults.len()
    }
}

/// What the paper compares with and this does not.
const LEFT_OUT: &str = "CrashTuner is left out: it injects beside accesses of meta-information, and which variables hold that has \
                        to be annotated for each system";

/// The engine that plays. See the module.
#[derive(Debug)]
pub struct Comparison {
    case: Arc<Case>,
    settings: Settings,
    recorded: Recorded,
    orders: Vec<Orders>,
    /// Asks for every fault at every instance until all is recorded: it plays as `exhaustive` does, and a success does not end it.
    recorder: Option<Game>,
    /// The games that are over, or not begun.
    games: Vec<Played>,
    /// Those under way, by their numbers.
    going: BTreeMap<usize, Game>,
    /// Games of each strategy.
    seeds: u64,
    is_every_instance: bool,
    /// How many trials it may ask for.
    trials: u64,
    next_id: u64,
    open: BTreeMap<JobId, Plan>,
}

impl Comparison {
    /// Each of some strategies with each of some seeds. `settings` says all but these, with the most rounds of a game as its budget;
    /// no more than `trials` are asked for beyond what is recorded.
    pub fn new(
        case: Arc<Case>,
        settings: Settings,
        strategies: &[Strategy],
        seeds: u64,
        recorded: Recorded,
        trials: u64,
    ) -> Comparison {
        let settings =
            Settings { replays: 0, repeats: 1, patience: u64::MAX, doubt: 0, keep_going: false, ..settings };
        let first = settings.search.seed;
        let of = |strategy: &Strategy| {
            let name = strategy.to_string();
            (0..seeds).map(move |it| Played {
                strategy: name.clone(),
                seed: first.wrapping_add(it),
                rounds: 0,
                standing: Standing::Going,
            })
        };
        Comparison {
            games: strategies.iter().flat_map(of).collect(),
            case,
            settings,
            recorded,
            orders: Vec::new(),
            recorder: None,
            going: BTreeMap::new(),
            seeds,
            is_every_instance: false,
            trials,
            next_id: 0,
            open: BTreeMap::new(),
        }
    }

    /// Every fault is run at every instance of a normal run before the games begin.
    pub fn with_every_instance(mut self) -> Comparison {
        let settings = Settings { budget: u64::MAX, keep_going: true, ..self.settings.clone() };
        let seed = settings.search.seed;
        self.recorder = Some(Game::new(self.case.clone(), &settings, Strategy::Exhaustive, seed));
        self.is_every_instance = true;
        self
    }

    fn job(&mut self, candidates: Vec<Candidate>) -> Job {
        let id = JobId(self.next_id);
        self.next_id += 1;
        let mut plan = Plan {
            seed: self.settings.plan.seed.wrapping_add(id.0),
            limit: 1,
            candidates,
            ..self.settings.plan.clone()
        };
        let purpose = if plan.candidates.is_empty() { Purpose::Normal } else { Purpose::Probe };
        if purpose == Purpose::Probe {
            plan.record.watch.clear();
        }
        self.open.insert(id, plan.clone());
        Job { id, purpose, work: Work::trial(self.settings.workload.clone(), plan) }
    }

    /// How many normal runs there have to be.
    fn normal_runs(&self) -> usize {
        self.settings.normal_runs.max(1) as usize
    }

    /// Plays every game as far as the recording goes, however many there are.
    fn play_all(&mut self) {
        if self.recorded.normal.len() < self.normal_runs() {
            return;
        }
        self.learn_orders();
        for number in 0..self.games.len() {
            if self.games[number].standing == Standing::Going {
                self.step(number);
                self.going.remove(&number);
            }
        }
    }

    fn learn_orders(&mut self) {
        let count = self.normal_runs();
        if self.orders.is_empty() {
            let runs = || self.recorded.normal.iter().take(count);
            let of = |it: &Ended| it.digest.recorded.clone().unwrap_or_default();
            let recorded: Vec<_> = runs().map(of).collect();
            self.orders = recorded.iter().map(|it| Orders::of(it)).collect();
        }
    }

    /// Goes on with a game. Gives what it wants, and what it may want next; nothing if it is over.
    fn step(&mut self, number: usize) -> Vec<(FaultAt, Candidate)> {
        let game = self.going.entry(number).or_insert_with(|| {
            let strategy = self.games[number].strategy.parse().expect("it was made from one");
            Game::new(self.case.clone(), &self.settings, strategy, self.games[number].seed)
        });
        let normal = &self.recorded.normal[..self.orders.len()];
        let wants = game.play(&self.case, normal, &self.recorded.faults, &self.orders);
        let verdict = game.engine.engine().verdict();
        self.games[number].rounds = verdict.rounds.len() as u64;
        if wants.is_empty() {
            self.games[number].standing = verdict.standing;
            self.going.remove(&number);
        }
        wants
    }

    /// What is wanted next, as much as there is room for.
    fn wanted(&mut self, room: usize) -> Vec<Candidate> {
        self.learn_orders();
        let asked = self.open.values().flat_map(|it| &it.candidates);
        let open: FxHashSet<FaultAt> = asked.filter_map(|it| FaultAt::of(&self.case, it)).collect();
        if let Some(recorder) = &mut self.recorder {
            let normal = &self.recorded.normal[..self.orders.len()];
            let wants = recorder.play(&self.case, normal, &self.recorded.faults, &self.orders);
            if !wants.is_empty() {
                let new = wants.into_iter().filter(|it| !open.contains(&it.0));
                return new.map(|it| it.1).take(room).collect();
            }
            self.recorder = None;
        }
        let mut wanted: Vec<(FaultAt, Candidate)> = Vec::new();
        let mut later: Vec<(FaultAt, Candidate)> = Vec::new();
        let mut going = 0;
        for number in 0..self.games.len() {
            if self.games[number].standing != Standing::Going {
                continue;
            }
            if going == GAMES_MAX || wanted.len() == room {
                break;
            }
            let wants = self.step(number);
            // One that is over makes room for the next.
            going += usize::from(!wants.is_empty());
            let mut wants = wants.into_iter();
            let is_new = |it: &(FaultAt, Candidate), known: &[(FaultAt, Candidate)]| {
                !open.contains(&it.0) && !known.iter().any(|other| other.0 == it.0)
            };
            if let Some(first) = wants.next().filter(|it| is_new(it, &wanted)) {
                wanted.push(first);
            }
            for it in wants {
                if is_new(&it, &later) {
                    later.push(it);
                }
            }
        }
        // Rather than that somebody is idle: what did not come first in this round may do so in the next.
        for it in later {
            if wanted.len() < room && !wanted.iter().any(|other| other.0 == it.0) {
                wanted.push(it);
            }
        }
        wanted.into_iter().map(|it| it.1).collect()
    }
}

impl Engine for Comparison {
    type Digester = Reader;
    type Results = Compared;

    fn name(&self) -> &'static str {
        "compare"
    }

    fn next(&mut self, room: usize) -> Next {
        let missing = self.normal_runs().saturating_sub(self.recorded.normal.len());
        if missing > 0 {
            let wanted = missing.saturating_sub(self.open.len()).min(room);
            let jobs: Vec<Job> = (0..wanted).map(|_| self.job(Vec::new())).collect();
            return if jobs.is_empty() { Next::Wait } else { Next::Start(jobs) };
        }
        let left = self.trials.saturating_sub(self.next_id) as usize;
        let wanted = if left > 0 { self.wanted(room.min(left)) } else { Vec::new() };
        let jobs: Vec<Job> = wanted.into_iter().map(|it| self.job(vec![it])).collect();
        match jobs.is_empty() {
            false => Next::Start(jobs),
            true if self.open.is_empty() => {
                self.play_all();
                Next::Done
            }
            true => Next::Wait,
        }
    }

    fn digester(&self) -> Reader {
        Reader(self.case.clone())
    }

    fn keeps_trace(&self, _: JobId) -> bool {
        false
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: Digest) -> Vec<Event> {
        if let (Some(plan), Some(outcome)) = (self.open.remove(&id), outcome) {
            self.recorded.add(&self.case, &plan, outcome, digest);
        }
        Vec::new()
    }

    fn results(&self, _: &Look<'_>) -> Compared {
        let mut strategies: Vec<&str> = self.games.iter().map(|it| it.strategy.as_str()).collect();
        strategies.dedup();
        let faults = match self.settings.kinds.delay_ms {
            Some(_) => "exceptions and delays",
            None => "exceptions only",
        };
        Compared {
            rounds_max: self.settings.budget,
            faults: faults.to_owned(),
            seeds: self.seeds,
            recorded: self.recorded.faults() as u64,
            every_instance: self.is_every_instance && self.recorder.is_none(),
            strategies: strategies.into_iter().map(|it| StrategyRow::of(it, &self.games)).collect(),
            games: self.games.clone(),
            left_out: LEFT_OUT.to_owned(),
        }
    }
}

/// One strategy with one seed.
#[derive(Debug)]
struct Game {
    engine: Confirmed<Reproduce>,
    seed: u64,
    normal_told: usize,
    /// What the engine has asked for and was not told.
    asked: Option<Job>,
}

impl Game {
    fn new(case: Arc<Case>, settings: &Settings, strategy: Strategy, seed: u64) -> Game {
        let search = SearchOptions { strategy, seed, ..settings.search };
        let engine = Confirmed::new(Reproduce::new(case, Settings { search, ..settings.clone() }));
        Game { engine, seed, normal_told: 0, asked: None }
    }

    /// Goes on until it is over, or wants what is not recorded.
    fn play(
        &mut self,
        case: &Case,
        normal: &[Ended],
        faults: &FxHashMap<FaultAt, Ended>,
        orders: &[Orders],
    ) -> Vec<(FaultAt, Candidate)> {
        loop {
            let job = match self.asked.take() {
                Some(job) => job,
                None => match self.engine.next(1) {
                    Next::Start(jobs) => jobs.into_iter().next().expect("a start has jobs"),
                    Next::Wait | Next::Done => return Vec::new(),
                },
            };
            let Work::Trial { plan, .. } = &job.work else { unreachable!("it asks for trials alone") };
            if plan.candidates.is_empty() {
                let first = self.seed as usize % normal.len();
                let it = &normal[(first + self.normal_told) % normal.len()];
                self.normal_told += 1;
                self.engine.tell(job.id, Some(&it.outcome), it.digest.clone());
                continue;
            }
            let run = hash::word(job.id.0, self.seed) as usize % orders.len();
            match round(case, plan, faults, &normal[run], &orders[run]) {
                Ok(ended) => {
                    self.engine.tell(job.id, Some(&ended.outcome), ended.digest);
                }
                Err(wanted) => {
                    self.asked = Some(job);
                    return wanted;
                }
            }
        }
    }
}

/// What a round under this plan gives if sites are executed in this order; or what is not known for that, and what comes behind it.
fn round(
    case: &Case,
    plan: &Plan,
    faults: &FxHashMap<FaultAt, Ended>,
    normal: &Ended,
    orders: &Orders,
) -> Result<Ended, Vec<(FaultAt, Candidate)>> {
    let not_reached = || CandidateResult::NotReached { why: "it did not come".to_owned() };
    let mut results = vec![not_reached(); plan.candidates.len()];
    let mut reached: Vec<(u32, usize, FaultAt)> = Vec::new();
    for (at, it) in plan.candidates.iter().enumerate() {
        let Some(key) = FaultAt::of(case, it) else { continue };
        if let Some(place) = orders.place(key.site, &it.when) {
            reached.push((place, at, key));
        }
    }
    reached.sort_by_key(|it| (it.0, it.1));
    let mut happened: Option<&Ended> = None;
    for (number, (_, at, key)) in reached.iter().enumerate() {
        if happened.is_some() {
            results[*at] = CandidateResult::NotNeeded;
            continue;
        }
        let Some(ended) = faults.get(key) else {
            let unknown = reached[number..].iter().filter(|it| !faults.contains_key(&it.2));
            return Err(unknown.map(|(_, at, key)| (key.clone(), plan.candidates[*at].clone())).collect());
        };
        let Some(alone) = ended.outcome.candidates.first() else { continue };
        results[*at] = alone.result.clone();
        if matches!(alone.result, CandidateResult::Injected(_)) {
            happened = Some(ended);
        }
    }
    // Where nothing happens it is one more normal run.
    let as_seen = happened.unwrap_or(normal);
    let mut outcome = as_seen.outcome.clone();
    let with_result = |(it, result): (&Candidate, CandidateResult)| CandidateOutcome {
        site: it.site.clone(),
        fault: it.fault.clone(),
        hits: 0,
        result,
    };
    outcome.candidates = plan.candidates.iter().zip(results).map(with_result).collect();
    let Digest { matched, elsewhere, own, silent, unreadable, .. } = &as_seen.digest;
    let digest = Digest {
        matched: matched.clone(),
        elsewhere: elsewhere.clone(),
        own: *own,
        silent: silent.clone(),
        unreadable: unreadable.clone(),
        ..Digest::default()
    };
    Ok(Ended { outcome, digest })
}
