//! The engine: runs without a fault, then rounds, then the proof.
//!
//! 1. A few *normal* runs, without a fault, record every execution of every site. What the failure log has and they do not
//!    are the observables; where their executions lie in the failure log says when a fault may have happened.
//! 2. *Rounds* under a plan of the search's best faults, of which the first that is reached happens, until the oracle
//!    says that the failure happened, or nothing is left, or the budget is used up.
//! 3. The fault that did it is *replayed* alone, and the workload is run without any fault until it ran so as often, so that
//!    a failure that comes by itself is not taken for a success.
//!
//! A round that [nearly does it](near_miss) is followed by others about its fault.
//!
//! When one fault does not do it, the one that showed most where the failure log has it is *kept*: its run takes the place of the
//! normal one, and a second fault is searched for behind it. After a few rounds the next best is kept, and so on; the search for
//! one fault goes on in every other round.
//!
//! Where what was found leaves a warning unexplained that other faults bring, or may, the search [goes on for a while](doubt).

mod doubt;
mod earlier;
mod events;
mod evidence;
mod found;
mod instead;
mod level;
mod near_miss;
mod pool;
mod rates;
mod repeated;
mod rounds;
mod second;
mod verdict;

use std::collections::{BTreeMap, BTreeSet};
use std::sync::Arc;

use hypocenter_engine::{
    Claim, Claims, Engine, Job, JobId, Look, Next, Purpose, Retry, Settled, Shows, Tries, Work,
};
use hypocenter_plan::{Candidate, Outcome, Plan, Problem, Repeat};
use hypocenter_results::reproduced::{Again, Missing, NormalFailure, Reproduction, Round, Standing};
use hypocenter_results::{Event, Injected, Rate, Rule};
use rustc_hash::FxHashSet;

use crate::case::{Case, Digest, Reader};
use crate::catalogue::Kinds;
use crate::executions::{ByThread, Executions};
use crate::naming::Naming;
use crate::policy;
use crate::search::{Aim, Pick, SearchOptions};
use crate::silence::{self, Silent};
use crate::summary::About;
use crate::traces::Seen;

use self::events::Told;
pub use self::found::Found;
use self::instead::Instead;
use self::level::{Level, Start};
use self::near_miss::NearMiss;
use self::repeated::Repeated;
pub use self::verdict::Verdict;

/// How much of the ranking of a round is kept.
const RANKING_MAX: usize = 4_000;
/// For how many faults of a round the reasons are kept, the likeliest.
const AIMS_MAX: usize = 100;

/// What can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The workload's name.
    pub workload: String,
    /// What every trial has: what it records, its nodes, when it is armed, the seed of the first.
    pub plan: Plan,
    /// How the search chooses.
    pub search: SearchOptions,
    /// Which faults are tried.
    pub kinds: Kinds,
    /// The most rounds.
    pub budget: u64,
    /// Runs without a fault before the first round.
    pub normal_runs: u64,
    /// Replays of what was found, and runs without a fault beside them.
    pub replays: u64,
    /// How often each round is run; its logs count as one.
    pub repeats: u64,
    /// Rounds after which a second fault is searched for too; never, if it is the greatest number.
    pub patience: u64,
    /// The most rounds that follow where what was found does not bring a warning of the failure log that other faults do.
    pub doubt: u64,
    /// Go on after a success, until nothing is left or the budget is used up.
    pub keep_going: bool,
    /// Names of rules that the search goes without, of those that [`without`](crate::without) knows.
    pub without: BTreeSet<String>,
    /// What is known of the failure beside its logs.
    pub about: About,
}

/// The engine. See the module.
#[derive(Debug)]
pub struct Reproduce {
    case: Arc<Case>,
    settings: Settings,
    next_id: u64,
    open: BTreeMap<JobId, Asked>,
    /// What normal runs gave in which the failure did not happen, in the order of their end.
    normal: Vec<Digest>,
    /// The first of them.
    normal_first: Option<JobId>,
    /// How long normal runs took, in milliseconds: the shortest and the longest.
    normal_ms: Option<(u64, u64)>,
    /// How plans name the threads of what they executed.
    naming: Naming,
    /// The classes with sites.
    classes: FxHashSet<String>,
    /// Those of which they executed none.
    idle: FxHashSet<String>,
    normal_asked: u64,
    normal_runs: u64,
    normal_failed: u64,
    normal_failure: Option<NormalFailure>,
    levels: Vec<Level>,
    rounds: Vec<Round>,
    rounds_asked: u64,
    /// For each round of the search for one fault, by its number, what happened in it.
    picked: BTreeMap<u64, Pick>,
    /// The faults that were chosen to be kept, and how often a run with nothing else was asked for.
    kept: Vec<(Injected, u32)>,
    /// Those that did not happen again.
    unkept: Vec<Injected>,
    /// For each round that was asked for the sites that were left, best first, and how many there were.
    rankings: Vec<(Vec<u32>, usize)>,
    /// What has brought the failure and is being confirmed.
    claimed: Option<Claimed>,
    /// Until how many rounds something is searched for that explains more than what was found.
    until: Option<u64>,
    /// A delay that brought the failure, until what its call can throw was tried in its place.
    instead: Option<Instead>,
    /// What was proved by the name of a thread, while it is proved by that of its pool.
    by_name: Option<Box<(Found, Settled)>>,
    /// Earlier moments of what could not be proved, the next to try last.
    earlier: Vec<Pick>,
    /// What is tried about a round that showed far more than others.
    near_miss: NearMiss,
    /// Rounds of which not all runs are over.
    repeated: Vec<Repeated>,
    /// Trials of which the oracle could not say anything, and why of the last.
    unjudged: u64,
    why_unjudged: Option<String>,
    found: Vec<Found>,
    doubtful: Vec<Found>,
    ended: Option<Standing>,
    told: Told,
}

/// What has brought the failure and is being confirmed.
#[derive(Debug)]
struct Claimed {
    found: Found,
    /// What it is a part of, if it is: that is confirmed where the part alone does not do it.
    whole: Option<Box<Found>>,
}

/// Purpose of a job.
#[derive(Debug, Clone)]
enum Asked {
    Normal,
    Round(Box<AskedRound>),
    /// One more run of a round.
    Repeat {
        number: u64,
    },
    Base {
        number: u64,
        kept: Box<Candidate>,
    },
}

/// A round that is asked for.
#[derive(Debug, Clone)]
struct AskedRound {
    number: u64,
    level: usize,
    picks: Vec<Pick>,
    /// Why each was picked, as it stood then; nothing for strategies that go by no points.
    aims: Vec<Option<Aim>>,
    again: Option<Again>,
    /// How many faults it was given to choose from.
    window: usize,
    /// Its runs, if there are several, and those in which the failure happened.
    runs: Option<Rate>,
}

impl Reproduce {
    /// A campaign that has not begun.
    pub fn new(case: Arc<Case>, settings: Settings) -> Reproduce {
        Reproduce {
            case,
            settings,
            next_id: 0,
            open: BTreeMap::new(),
            normal: Vec::new(),
            normal_first: None,
            normal_ms: None,
            naming: Naming::default(),
            classes: FxHashSet::default(),
            idle: FxHashSet::default(),
            normal_asked: 0,
            normal_runs: 0,
            normal_failed: 0,
            normal_failure: None,
            levels: Vec::new(),
            rounds: Vec::new(),
            rounds_asked: 0,
            kept: Vec::new(),
            picked: BTreeMap::new(),
            unkept: Vec::new(),
            rankings: Vec::new(),
            unjudged: 0,
            why_unjudged: None,
            claimed: None,
            until: None,
            instead: None,
            by_name: None,
            earlier: Vec::new(),
            near_miss: NearMiss::default(),
            repeated: Vec::new(),
            found: Vec::new(),
            doubtful: Vec::new(),
            ended: None,
            told: Told::default(),
        }
    }

    /// The round that a trial was, if it was one and is over.
    fn round_of(&self, id: JobId) -> Option<&Round> {
        self.rounds.iter().find(|it| it.trial == id.0)
    }

    /// A round that is over, by its number.
    fn numbered(&self, number: u64) -> Option<&Round> {
        self.rounds.iter().find(|it| it.number == number)
    }

    /// Whether the search has a rule.
    fn has(&self, rule: &Rule) -> bool {
        !self.settings.without.contains(&*rule.name)
    }

    /// How many observables there are.
    fn observables(&self) -> usize {
        self.levels.first().map_or(0, |it| it.observables.len())
    }

    fn job(&mut self, asked: Asked, candidates: Vec<Candidate>, limit: usize) -> Job {
        let purpose = match asked {
            Asked::Normal => Purpose::Normal,
            Asked::Round(_) | Asked::Repeat { .. } => Purpose::Probe,
            Asked::Base { .. } => Purpose::Base,
        };
        let job = self.job_for(purpose, candidates, limit);
        self.open.insert(job.id, asked);
        job
    }

    fn job_for(&mut self, purpose: Purpose, candidates: Vec<Candidate>, limit: usize) -> Job {
        let id = JobId(self.next_id);
        self.next_id += 1;
        let mut plan = Plan {
            seed: self.settings.plan.seed.wrapping_add(id.0),
            limit: limit.max(1) as u32,
            candidates,
            ..self.settings.plan.clone()
        };
        if matches!(purpose, Purpose::Probe | Purpose::Control(_)) {
            // Only what a search starts from has to be recorded, and what is shown to people.
            plan.record.watch.clear();
        }
        Job { id, purpose, work: Work::trial(self.settings.workload.clone(), plan) }
    }

    /// The next job, if there is one now.
    fn one(&mut self) -> Option<Job> {
        if self.ended.is_some() {
            return None;
        }
        if self.normal_asked < self.normal_wanted() {
            self.normal_asked += 1;
            return Some(self.job(Asked::Normal, Vec::new(), 1));
        }
        if self.levels.is_empty() {
            return None;
        }
        // Also where a trial that was tried in its place was never told.
        self.proves_delay();
        if self.claimed.is_some() {
            return None;
        }
        if let Some(job) = self.next_repeated() {
            return Some(job);
        }
        if let Some(pick) = self.next_instead() {
            return Some(self.round_of_picks(0, vec![pick], Some(Again::Instead)));
        }
        if let Some(pick) = self.next_earlier() {
            return Some(self.round_of_picks(0, vec![pick], Some(Again::Earlier)));
        }
        if self.rounds_asked >= self.until.unwrap_or(self.settings.budget) {
            return None;
        }
        if let Some(pick) = self.next_near_miss() {
            return Some(self.round_of_picks(0, vec![pick], Some(Again::NearMiss)));
        }
        // With a second fault anything can be explained.
        if self.until.is_some() {
            return self.round(0);
        }
        // The search for one fault and those for a second take turns.
        if self.wants_second() && !self.rounds_asked.is_multiple_of(2) {
            self.second().or_else(|| self.round(0))
        } else {
            self.round(0).or_else(|| self.second())
        }
    }

    /// A round of a level.
    fn round(&mut self, number: usize) -> Option<Job> {
        let busy = self.busy(number);
        let picks = match (number, self.until) {
            (0, Some(_)) => self.next_in_doubt(&busy),
            _ => self.levels[number].search.next(&busy),
        };
        let level = &mut self.levels[number];
        if picks.is_empty() {
            level.exhausted = busy.is_empty();
            return None;
        }
        level.rounds += 1;
        Some(self.round_of_picks(number, picks, None))
    }

    /// A round of a level with these faults to choose from.
    fn round_of_picks(&mut self, number: usize, picks: Vec<Pick>, again: Option<Again>) -> Job {
        let level = &self.levels[number];
        let kept = level.kept.iter().cloned();
        let candidates: Vec<Candidate> =
            kept.chain(picks.iter().map(|it| level.candidate(&self.case, *it))).collect();
        let limit = level.kept.len() + 1;
        self.rounds_asked += 1;
        let mut sites = level.search.sites();
        let left = sites.len();
        sites.truncate(RANKING_MAX);
        self.rankings.push((sites, left));
        let aims = picks.iter().take(AIMS_MAX).map(|it| level.search.aim(*it)).collect();
        let window = picks.len();
        let asked =
            AskedRound { number: self.rounds_asked, level: number, picks, aims, again, window, runs: None };
        self.job(Asked::Round(Box::new(asked)), candidates, limit)
    }

    /// Where a site stood when a round was asked for, from 1.
    fn rank(&self, round: u64, site: u32) -> Option<u64> {
        let (sites, _) = self.rankings.get(usize::try_from(round).ok()?.checked_sub(1)?)?;
        sites.iter().position(|&it| it == site).map(|it| it as u64 + 1)
    }

    /// What the open rounds of a level may inject.
    fn busy(&self, level: usize) -> Vec<Pick> {
        let open = self.open.values().filter_map(|it| match it {
            Asked::Round(it) => Some(&**it),
            _ => None,
        });
        let all = open.chain(self.repeated.iter().map(|it| &it.round));
        let picks = all.filter(|it| it.level == level).map(|it| &it.picks);
        picks.flatten().copied().collect()
    }

    /// All normal runs are told: what is missing, what leads there, and when it may have happened.
    fn begin(&mut self) {
        if self.leaves_no_room() {
            return;
        }
        if let Some(why) = self.normal.iter().find_map(|it| it.unreadable.clone()) {
            self.ended = Some(Standing::Unreadable { why });
            return;
        }
        if let Some(why) = self.why_unjudged.take().filter(|_| self.unjudged == self.normal_runs) {
            self.ended = Some(Standing::Unjudged { why });
            return;
        }
        let keys = self.case.keys().len();
        let said: Vec<Vec<u32>> = self.normal.iter().map(|it| self.said(it)).collect();
        let counts = |key: usize| said.iter().map(move |it| it.get(key).copied().unwrap_or(0));
        let matched: Vec<u32> = (0..keys).map(|key| counts(key).max().unwrap_or(0)).collect();
        let least = |key: usize| counts(key).min().unwrap_or(0);
        let has_spread = self.has(&policy::SPREAD);
        let spread = (0..keys).map(|key| if has_spread { matched[key] - least(key) } else { 0 }).collect();
        let recorded: Vec<&[ByThread]> =
            self.normal.iter().map(|it| it.recorded.as_deref().unwrap_or_default()).collect();
        self.naming = Naming::of(&recorded);
        let sites = self.case.catalogue().sites();
        self.classes = sites.iter().map(|it| it.class.clone()).collect();
        self.idle = self.classes.clone();
        for it in recorded.iter().copied().flatten() {
            self.idle.remove(&sites[it.site as usize].class);
        }
        let executions = self.executions(recorded.first().copied().unwrap_or_default());
        let missing = self.normal.first().map_or(&[][..], |it| &it.missing);
        let silent: Vec<&[Silent]> = self.normal.iter().map(|it| &it.silent[..]).collect();
        let stacks = self.normal.first().map_or(&[][..], |it| &it.stacks);
        let traces = Seen::of_all(self.normal.iter().map(|it| it.traces.as_ref()));
        let silent = self.fell_silent(silence::of_all(&silent));
        let start = Start { matched, spread, missing, silent, stacks, traces, behind: None };
        let level = Level::new(&self.case, &self.settings, Vec::new(), start, executions);
        if level.observables.is_empty() {
            self.ended = Some(Standing::NothingMissing);
        } else if level.search.next(&[]).is_empty() {
            self.ended = Some(Standing::NothingToTry);
        }
        self.levels.push(level);
    }

    /// Those of some threads that are silent of which that says something: one of a pool that shares its work may have got none.
    fn fell_silent(&self, mut silent: Vec<Silent>) -> Vec<Silent> {
        silent.retain(|it| it.is_pool || !self.naming.shares(&it.node, &it.thread));
        silent
    }

    /// How often a normal run says what the failure log has, by the keys. Which of several equal threads does its routine work when is
    /// chance, so that counts wherever it stands; a warning at another place is worth a look.
    fn said(&self, digest: &Digest) -> Vec<u32> {
        let mut said = digest.matched.clone();
        for &key in digest.elsewhere.iter().filter(|&&it| !self.case.keys()[it as usize].is_serious()) {
            said.get_mut(key as usize).into_iter().for_each(|it| *it += 1);
        }
        said
    }

    /// What a run executed, as plans ask for it.
    fn executions(&self, recorded: &[ByThread]) -> Executions {
        let sites = self.case.catalogue().sites().len();
        Executions::of(sites, recorded, &self.naming, &mut self.case.names())
    }

    /// What has brought the failure and is not proved yet.
    fn proving(&self) -> Option<&Found> {
        self.claimed.as_ref().map(|it| &it.found).or(self.instead.as_ref().map(|it| &it.delay))
    }

    /// What no normal run ever says is shown by a trial that says it, also where so much else stands in another order that the two
    /// logs have more in common without it.
    fn credited(&self, mut digest: Digest) -> Digest {
        if !self.has(&policy::ELSEWHERE) {
            return digest;
        }
        for &key in &digest.elsewhere {
            if let Some(matched) = digest.matched.get_mut(key as usize)
                && *matched == 0
                && !self.normal.iter().any(|it| it.has(key))
            {
                *matched = 1;
            }
        }
        digest
    }

    /// The same as it stands now: more may have been tried since it was found.
    fn now(&self, found: &Found, missing: &[Missing]) -> Found {
        let mut found = found.clone();
        let is_it = |it: &Injected, other: &Candidate| {
            (&it.site, &it.fault, &it.guard) == (&other.site, &other.fault, &other.when)
        };
        let tried = || self.rounds.iter().filter_map(|it| it.fault.as_ref());
        found.as_likely.retain(|other| !tried().any(|it| is_it(it, other)));
        if let Some(round) = self.rounds.iter().find(|it| it.number == found.round && it.kept.is_empty()) {
            let lacks = |it: &Missing| {
                it.normal == 0 && it.sites > 0 && it.not_run.is_none() && !round.shown.contains(&it.key)
            };
            found.lacks = (0..).zip(missing).filter(|(_, it)| lacks(it)).map(|(place, _)| place).collect();
        }
        found
    }

    /// Whether there is nothing more to do, and why.
    fn standing(&self) -> Standing {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let is_busy = self.claimed.is_some()
            || self.instead.is_some()
            || !self.earlier.is_empty()
            || !self.repeated.is_empty();
        if self.levels.is_empty() || is_busy || !self.open.is_empty() {
            return Standing::Going;
        }
        let end = |otherwise: Standing| {
            if self.found.is_empty() { otherwise } else { Standing::Reproduced }
        };
        if self.rounds_asked >= self.until.unwrap_or(self.settings.budget) {
            return end(Standing::Budget);
        }
        if self.until.is_some() && self.levels[0].search.next(&[]).is_empty() {
            return Standing::Reproduced;
        }
        if self.levels.iter().all(|it| it.search.next(&[]).is_empty()) {
            return end(Standing::Exhausted);
        }
        Standing::Going
    }
}

/// The fault that happened, asked for at the very instance.
fn candidate_of(injected: &Injected) -> Candidate {
    Candidate {
        site: injected.site.clone(),
        fault: injected.fault.clone(),
        when: injected.guard.clone(),
        repeat: Repeat::Once,
    }
}

impl Engine for Reproduce {
    type Digester = Reader;
    type Results = Reproduction;

    fn name(&self) -> &'static str {
        "reproduce"
    }

    fn next(&mut self, room: usize) -> Next {
        let jobs: Vec<Job> = std::iter::from_fn(|| self.one()).take(room).collect();
        if !jobs.is_empty() {
            return Next::Start(jobs);
        }
        match self.standing() {
            Standing::Going => Next::Wait,
            _ if !self.open.is_empty() => Next::Wait,
            _ => Next::Done,
        }
    }

    fn digester(&self) -> Reader {
        Reader(self.case.clone())
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        let proving = self.claimed.iter().flat_map(|it| [Some(&it.found), it.whole.as_deref()]).flatten();
        let by_name = self.by_name.iter().map(|it| &it.0);
        let mut found = self.found.iter().chain(&self.doubtful).chain(proving).chain(by_name);
        // The first run without a fault is what the others are shown beside; where nothing is found, the nearest round is shown.
        let nearest = self.rounds.iter().max_by_key(|it| (it.shown.len(), std::cmp::Reverse(it.number)));
        Some(id) == self.normal_first
            || (id.0 == 0 && self.normal_first.is_none())
            || found.any(|it| it.trial == id.0 || it.replayed == Some(id.0))
            || nearest.is_some_and(|it| it.trial == id.0)
            || self.round_of(id).is_some_and(|it| it.happened)
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: Digest) -> Vec<Event> {
        let Some(asked) = self.open.remove(&id) else { return Vec::new() };
        let Some(outcome) = outcome else {
            return match asked {
                Asked::Repeat { number } => self.told_repeat(number, None),
                _ => Vec::new(),
            };
        };
        let digest = if matches!(asked, Asked::Normal) { digest } else { self.credited(digest) };
        self.judged(outcome);
        match asked {
            Asked::Normal => {
                return self.told_normal(id, outcome, digest);
            }
            Asked::Round(asked) => {
                let (round, digest) = match self.repeats(id, *asked, outcome, digest) {
                    Some(it) => it,
                    None => return Vec::new(),
                };
                self.told_round(id, round, outcome, &digest);
                self.proves_delay();
            }
            Asked::Repeat { number } => return self.told_repeat(number, Some((id, outcome, digest))),
            Asked::Base { number, kept } => self.told_base(id, (number, *kept), outcome, digest),
        }
        self.told_ended(id, outcome).into_iter().collect()
    }

    fn results(&self, look: &Look<'_>) -> Reproduction {
        let mut verdict = self.verdict();
        if verdict.standing == Standing::Going {
            // It is known to have brought the failure, though not yet how often it does.
            verdict.found.extend(verdict.proving.take().filter(|it| it.hits > 0 || it.runs == 0));
        }
        verdict.document(&self.case, &self.settings, look)
    }
}

impl Claims for Reproduce {
    fn claims(&self) -> Vec<Claim> {
        let claim = |it: &Claimed| Claim {
            of: JobId(it.found.trial),
            replays: self.settings.replays,
            until_sure: true,
        };
        self.claimed.iter().filter(|_| self.ended.is_none()).map(claim).collect()
    }

    fn again(&mut self, of: JobId, way: Retry) -> Job {
        match (&self.claimed, way) {
            (Some(it), Retry::Replay) => {
                let (faults, limit) = (it.found.plan.candidates.clone(), it.found.faults.len());
                self.job_for(Purpose::Replay(of), faults, limit)
            }
            _ => self.job_for(Purpose::Control(of), Vec::new(), 1),
        }
    }

    fn shows(&mut self, _: JobId, (id, way): (JobId, Retry), outcome: &Outcome, _: Digest) -> Shows {
        self.judged(outcome);
        // A replay that misses its fault runs as without one. Where runs also fail by themselves, those that miss it may be those
        // that do not fail, so they would lower the rate.
        let is_without = outcome.injected() == 0 && self.normal_failed == 0;
        if way != Retry::Replay || is_without {
            self.ran_without(id, outcome);
        }
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        match (way == Retry::Replay && !self.is_replayed_by(outcome), happened) {
            (true, _) => Shows::Missed,
            (false, true) => {
                if let Some(it) = self.claimed.as_mut().filter(|_| self.by_name.is_some()) {
                    pool::struck_in(&mut it.found, outcome);
                }
                Shows::Yes
            }
            (false, false) => Shows::No,
        }
    }

    fn counted(&mut self, _: JobId, tries: Tries) {
        if let Some(Claimed { found, .. }) = &mut self.claimed {
            (found.hits, found.runs, found.missed) = (tries.hits, tries.runs, tries.missed);
            found.replayed = tries.shown.map(|it| it.0);
        }
    }

    fn settled(&mut self, _: JobId, settled: Settled) -> Vec<Event> {
        self.settle_claim(settled)
    }

    fn without_fault(&self) -> Rate {
        Rate { hits: self.normal_failed, runs: self.normal_runs }
    }
}

impl Reproduce {
    /// The oracle has judged a run, or could not.
    fn judged(&mut self, outcome: &Outcome) {
        self.unjudged += u64::from(outcome.failure.is_none());
        let of_oracle = outcome.problems.iter().find(|it| it.place == Problem::ORACLE);
        self.why_unjudged = of_oracle.map(|it| it.what.clone());
    }

    /// What is known so far.
    pub fn verdict(&self) -> Verdict {
        let first = self.levels.first();
        let missing = self.missing();
        let reached = |level: &Level| {
            let space = level.search.space();
            // For each site whether something is known to lead from it there.
            let mut sites: BTreeMap<u32, bool> = BTreeMap::new();
            for (choice, known) in space.choices.iter().zip(&level.known) {
                *sites.entry(choice.site).or_insert(false) |= known;
            }
            sites.retain(|&it, _| !space.instances[it as usize].is_empty());
            let instances = sites.keys().map(|&it| space.instances[it as usize].len()).sum();
            let known = sites.values().filter(|it| **it).count();
            (known, sites.len() - known, instances)
        };
        let (sites_reached, sites_beyond, instances) = first.map_or((0, 0, 0), reached);
        // What explains most comes first, and of what explains as much an exception, and then what was found first.
        let mut all: Vec<&Found> = self.found.iter().collect();
        all.sort_by_key(|it| (self.unexplained(it).len(), instead::is_delay(it)));
        let found = all.first().and_then(|it| it.faults.last());
        let root = found.and_then(|it| self.case.catalogue().find(&it.site));
        Verdict {
            standing: self.standing(),
            found: all.into_iter().map(|it| self.now(it, &missing)).collect(),
            proving: self.proving().map(|it| self.now(it, &missing)),
            doubtful: self.doubtful.iter().map(|it| self.now(it, &missing)).collect(),
            rounds: self
                .rounds
                .iter()
                .map(|it| Round {
                    found_rank: root.and_then(|site| self.rank(it.number, site)),
                    ..it.clone()
                })
                .collect(),
            missing,
            noise: self.noise(),
            silent: first.map_or_else(Vec::new, |it| it.silent.clone()),
            sites_total: self.case.catalogue().sites().len(),
            sites_inferred: first.map_or(0, |it| it.sites_inferred),
            sites_reached,
            sites_beyond,
            instances,
            normal: (self.normal_runs, self.normal_failed),
            normal_first: self.normal_first.map_or(0, |it| it.0),
            busy_ms: self.busy_ms(),
            normal_failure: self.normal_failure.clone(),
            unjudged: self.unjudged,
            refused: self.levels.iter().map(|it| it.search.refused()).sum(),
        }
    }
}
