//! The engine: runs without a fault, then rounds, then the proof.
//!
//! 1. A few *normal* runs, without a fault, record every execution of every site. What the failure log has and they do not
//!    are the observables; where their executions lie in the failure log says when a fault may have happened.
//! 2. *Rounds* under a plan of the search's best faults, of which the first that is reached happens, until the oracle
//!    says that the failure happened, or nothing is left, or the budget is used up.
//! 3. The fault that did it is *replayed* alone, and the workload is run without any fault until it ran so as often, so that
//!    a failure that comes by itself is not taken for a success.
//!
//! When one fault does not do it, the one that showed most where the failure log has it is *kept*: its run takes the place of the
//! normal one, and a second fault is searched for behind it. After a few rounds the next best is kept, and so on; the search for
//! one fault goes on in every other round.
//!
//! Where what was found leaves a warning unexplained that other faults bring, or may, the search [goes on for a while](doubt).

mod doubt;
mod earlier;
mod instead;
mod level;
mod pool;
mod proof;
mod second;
mod verdict;

use std::collections::BTreeMap;
use std::sync::Arc;

use hypocenter_engine::{Engine, Job, JobId, Next, Purpose, Work};
use hypocenter_plan::{Candidate, CandidateResult, Guard, Outcome, Plan, Problem, Repeat};
use hypocenter_results::Injected;
use hypocenter_results::reproduced::{AS_LIKELY_MAX, Again, Found, Missing, Round, Standing};
use rustc_hash::FxHashSet;

use crate::case::{Case, Digest, Reader};
use crate::catalogue::Kinds;
use crate::executions::{ByThread, Executions};
use crate::naming::Naming;
use crate::search::{Pick, SearchOptions};
use crate::silence::{self, Silent};
use crate::space::Choice;
use crate::traces::Seen;

use self::instead::Instead;
use self::level::{Level, Start};
use self::proof::{Proof, Proved};
pub use self::verdict::Verdict;

/// How much of the ranking of a round is kept.
const RANKING_MAX: usize = 4_000;

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
    /// Rounds after which a second fault is searched for too; never, if it is the greatest number.
    pub patience: u64,
    /// The most rounds that follow where what was found does not bring a warning of the failure log that other faults do.
    pub doubt: u64,
    /// Go on after a success, until nothing is left or the budget is used up.
    pub keep_going: bool,
}

/// The engine. See the module.
#[derive(Debug)]
pub struct Reproduce {
    case: Arc<Case>,
    settings: Settings,
    next_id: u64,
    open: BTreeMap<JobId, Asked>,
    /// What normal runs gave, in the order of their end.
    normal: Vec<Digest>,
    /// How plans name the threads of what they executed.
    naming: Naming,
    /// The classes with sites.
    classes: FxHashSet<String>,
    /// Those of which they executed none.
    idle: FxHashSet<String>,
    normal_asked: u64,
    normal_runs: u64,
    normal_failed: u64,
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
    proof: Option<Proof>,
    /// Until how many rounds something is searched for that explains more than what was found.
    until: Option<u64>,
    /// A delay that brought the failure, until what its call can throw was tried in its place.
    instead: Option<Instead>,
    /// What was proved by the name of a thread, while it is proved by that of its pool.
    by_name: Option<Box<(Found, Proved)>>,
    /// Earlier moments of what could not be proved, the next to try last.
    earlier: Vec<Pick>,
    /// Trials of which the oracle could not say anything, and why of the last.
    unjudged: u64,
    why_unjudged: Option<String>,
    found: Vec<Found>,
    doubtful: Vec<Found>,
    ended: Option<Standing>,
}

/// What a job is for.
#[derive(Debug, Clone)]
enum Asked {
    Normal,
    Round { number: u64, level: usize, picks: Vec<Pick>, again: Option<Again> },
    Base { number: u64, kept: Box<Candidate> },
    Replay,
    Control,
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
            naming: Naming::default(),
            classes: FxHashSet::default(),
            idle: FxHashSet::default(),
            normal_asked: 0,
            normal_runs: 0,
            normal_failed: 0,
            levels: Vec::new(),
            rounds: Vec::new(),
            rounds_asked: 0,
            kept: Vec::new(),
            picked: BTreeMap::new(),
            unkept: Vec::new(),
            rankings: Vec::new(),
            unjudged: 0,
            why_unjudged: None,
            proof: None,
            until: None,
            instead: None,
            by_name: None,
            earlier: Vec::new(),
            found: Vec::new(),
            doubtful: Vec::new(),
            ended: None,
        }
    }

    /// The round that a trial was, if it was one and is over.
    pub fn round_of(&self, id: JobId) -> Option<&Round> {
        self.rounds.iter().find(|it| it.trial == id.0)
    }

    /// Returns true for a trial that was asked for as a round and is not over.
    pub fn is_open_round(&self, id: JobId) -> bool {
        matches!(self.open.get(&id), Some(Asked::Round { .. }))
    }

    /// A round that is over, by its number.
    pub fn numbered(&self, number: u64) -> Option<&Round> {
        self.rounds.iter().find(|it| it.number == number)
    }

    /// How many observables there are.
    pub fn observables(&self) -> usize {
        self.levels.first().map_or(0, |it| it.observables.len())
    }

    fn job(&mut self, asked: Asked, candidates: Vec<Candidate>, limit: usize) -> Job {
        let id = JobId(self.next_id);
        self.next_id += 1;
        let is_round = matches!(asked, Asked::Round { .. } | Asked::Control);
        // Whatever is replayed is what is being proved.
        let proved = JobId(self.proof.as_ref().map_or(id.0, |it| it.found.trial));
        let purpose = match asked {
            Asked::Normal => Purpose::Normal,
            Asked::Round { .. } => Purpose::Probe,
            Asked::Base { .. } => Purpose::Base,
            Asked::Replay => Purpose::Replay(proved),
            Asked::Control => Purpose::Control(proved),
        };
        self.open.insert(id, asked);
        let mut plan = Plan {
            seed: self.settings.plan.seed.wrapping_add(id.0),
            limit: limit.max(1) as u32,
            candidates,
            ..self.settings.plan.clone()
        };
        if is_round {
            // Only what a search starts from has to be recorded, and what is shown to people.
            plan.record.watch.clear();
        }
        Job { id, purpose, work: Work::Trial { workload: self.settings.workload.clone(), plan } }
    }

    /// The next job, if there is one now.
    fn one(&mut self) -> Option<Job> {
        if self.ended.is_some() {
            return None;
        }
        if self.normal_asked < self.settings.normal_runs.max(1) {
            self.normal_asked += 1;
            return Some(self.job(Asked::Normal, Vec::new(), 1));
        }
        if self.levels.is_empty() {
            return None;
        }
        // Also where a trial that was tried in its place was never told.
        self.proves_delay();
        if let Some(proof) = &mut self.proof {
            let (faults, limit) = (proof.found.plan.candidates.clone(), proof.found.faults.len());
            return match proof.next()? {
                Asked::Control => Some(self.job(Asked::Control, Vec::new(), 1)),
                replay => Some(self.job(replay, faults, limit)),
            };
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
        let asked = Asked::Round { number: self.rounds_asked, level: number, picks, again };
        self.job(asked, candidates, limit)
    }

    /// Where a site stood when a round was asked for, from 1.
    fn rank(&self, round: u64, site: u32) -> Option<u64> {
        let (sites, _) = self.rankings.get(usize::try_from(round).ok()?.checked_sub(1)?)?;
        sites.iter().position(|&it| it == site).map(|it| it as u64 + 1)
    }

    /// What the open rounds of a level may inject.
    fn busy(&self, level: usize) -> Vec<Pick> {
        let picks = self.open.values().filter_map(|it| match it {
            Asked::Round { level: of, picks, .. } if *of == level => Some(picks),
            _ => None,
        });
        picks.flatten().copied().collect()
    }

    /// All normal runs are told: what is missing, what leads there, and when it may have happened.
    fn begin(&mut self) {
        if self.normal_failed > 0 {
            self.ended = Some(Standing::AlreadyFails { failed: self.normal_failed, runs: self.normal_runs });
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
        let most = |key: usize| said.iter().map(|it| it.get(key).copied().unwrap_or(0)).max();
        let matched: Vec<u32> = (0..keys).map(|key| most(key).unwrap_or(0)).collect();
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
        let start = Start { matched, missing, silent, stacks, traces, behind: None };
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

    fn told_round(
        &mut self,
        id: JobId,
        asked: (u64, usize, Vec<Pick>),
        again: Option<Again>,
        outcome: &Outcome,
        digest: &Digest,
    ) {
        let (number, at, picks) = asked;
        let level = &mut self.levels[at];
        let kept = level.kept.len();
        let guards: Vec<Guard> = level
            .kept
            .iter()
            .map(|it| it.when.clone())
            .chain(picks.iter().map(|it| {
                let site = level.search.space().choices[it.choice as usize].site;
                level.executions.guard(site, it.instance)
            }))
            .collect();
        let injected = |at: usize| {
            let it = outcome.candidates.get(at)?;
            let CandidateResult::Injected(injection) = &it.result else { return None };
            let (site, fault, guard) = (it.site.clone(), it.fault.clone(), guards[at].clone());
            Some(Injected { site, fault, guard, at: injection.clone(), process: None })
        };
        for (pick, it) in picks.iter().zip(outcome.candidates.iter().skip(kept)) {
            if matches!(it.result, CandidateResult::Refused { .. }) {
                level.search.impossible(pick.choice);
            }
        }
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        let hit = (0..picks.len()).find_map(|it| Some((picks[it], injected(kept + it)?)));
        let shown = level.shown(digest);
        let kept_now: Vec<Injected> = (0..kept).filter_map(injected).collect();
        let site = hit.as_ref().map(|(pick, _)| level.search.space().choices[pick.choice as usize].site);
        let window = picks.len();
        let mut as_likely = Vec::new();
        match &hit {
            Some((pick, _)) if happened => {
                let picks = level.search.as_likely(*pick, &level.symptoms(&self.case), AS_LIKELY_MAX);
                as_likely = picks.into_iter().map(|it| level.candidate(&self.case, it)).collect();
                level.search.used(*pick);
            }
            // Without what was kept, the second fault has not been tried.
            Some(_) if kept_now.len() < kept => {}
            Some((pick, _)) => level.search.failed(*pick, shown.iter().copied()),
            None => level.search.missed(&picks),
        }
        // The search learns what a second fault adds; what the run shows is more than that.
        let shown = self.shown_of(digest);
        if let (0, Some((pick, _))) = (at, &hit) {
            self.picked.insert(number, *pick);
        }
        let fault = hit.map(|(_, it)| it);
        let without_kept = (fault.is_some() && kept_now.len() < kept).then_some(Again::WithoutKept);
        let again = again.or(without_kept);
        let round = Round {
            number,
            trial: id.0,
            window: window as u64,
            rank: site.and_then(|it| self.rank(number, it)),
            found_rank: None,
            left: self.rankings.get(number as usize - 1).map_or(0, |it| it.1 as u64),
            kept: kept_now,
            again,
            shown,
            happened,
            fault,
        };
        self.settle(round, outcome, as_likely);
    }

    /// What a run shows that normal runs do not, by the keys.
    fn shown_of(&self, digest: &Digest) -> Vec<u32> {
        let Some(level) = self.levels.first() else { return Vec::new() };
        let shown = level.shown(digest);
        shown.iter().filter_map(|&it| level.observables.get(it as usize)).copied().collect()
    }

    /// A round is over: it is noted, and proved if the failure happened in it.
    fn settle(&mut self, round: Round, outcome: &Outcome, as_likely: Vec<Candidate>) {
        let faults: Vec<Injected> = round.kept.iter().chain(&round.fault).cloned().collect();
        let (number, trial, happened, again) = (round.number, round.trial, round.happened, round.again);
        let place = self.rounds.partition_point(|it| it.number < number);
        self.rounds.insert(place, round);
        if !happened {
            return;
        }
        if faults.is_empty() {
            // It came by itself.
            self.normal_failed += 1;
            self.normal_runs += 1;
            return;
        }
        let is_instead = again == Some(Again::Instead);
        let is_next = is_instead || again == Some(Again::Earlier);
        if self.proof.is_some() || (self.instead.is_some() && !is_next) {
            // Another one is being proved; this one can be found again.
            return;
        }
        let why = outcome.failure.as_ref().map(|it| outcome.after_node_ends(&it.why)).unwrap_or_default();
        let plan = self.settings.plan.clone();
        let found = |faults: &[Injected]| Found {
            round: number,
            trial,
            faults: faults.to_vec(),
            plan: Plan {
                candidates: faults.iter().map(candidate_of).collect(),
                limit: faults.len() as u32,
                ..plan.clone()
            },
            why: why.clone(),
            hits: 0,
            runs: 0,
            missed: 0,
            replayed: None,
            as_likely: as_likely.clone(),
            lacks: Vec::new(),
        };
        let whole = found(&faults);
        // Another that leaves as much unexplained is no better answer.
        if self.until.is_some() && !is_instead && !self.explains_more(&whole) {
            return;
        }
        if self.tries_instead(&whole) {
            return;
        }
        let (replays, runs) = (self.settings.replays, self.normal_runs);
        self.proof = Some(match &faults[..] {
            // What was kept may have nothing to do with it.
            [_, .., last] if replays > 0 => {
                Proof::of_part(found(std::slice::from_ref(last)), whole, replays, runs)
            }
            _ => Proof::new(whole, replays, runs),
        });
        self.judge();
    }

    /// The proof is over when everything that it asked for was told.
    fn judge(&mut self) {
        let proved = self.proof.as_mut().and_then(|it| it.judge(self.normal_runs, self.normal_failed));
        let (Some(proved), Some(Proof { found, whole, .. })) =
            (proved, self.proof.take_if(|_| proved.is_some()))
        else {
            return;
        };
        if let Some(whole) = whole.filter(|_| proved != Proved::Yes && self.normal_failed == 0) {
            self.proof = Some(Proof::new(*whole, self.settings.replays, self.normal_runs));
            return;
        }
        if self.normal_failed > 0 {
            self.ended = Some(Standing::AlreadyFails { failed: self.normal_failed, runs: self.normal_runs });
        }
        let Some((found, proved)) = self.by_either_name(found, proved) else { return };
        match proved {
            Proved::Yes if self.normal_failed == 0 => {
                self.instead = None;
                self.earlier.clear();
                self.found.push(found);
                if !self.settings.keep_going && self.ended.is_none() && !self.doubts() {
                    self.ended = Some(Standing::Reproduced);
                }
            }
            Proved::Yes | Proved::Doubtful => {
                self.tries_earlier(&found);
                self.doubtful.push(found);
            }
            Proved::No => self.tries_earlier(&found),
        }
        self.proves_delay();
    }

    /// What has brought the failure and is not proved yet.
    fn proving(&self) -> Option<&Found> {
        self.proof.as_ref().map(|it| &it.found).or(self.instead.as_ref().map(|it| &it.delay))
    }

    /// What no normal run ever says is shown by a trial that says it, also where so much else stands in another order that the two
    /// logs have more in common without it.
    fn credited(&self, mut digest: Digest) -> Digest {
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

    /// The method that writes something, if no normal run did anything in its class.
    fn not_run(&self, key: u32, matched: u32) -> Option<String> {
        let program = self.case.program();
        let statements = &self.case.keys()[key as usize].wanted.statements;
        let classes: Vec<String> = statements
            .iter()
            .map(|&it| {
                let method = program.statements.statements()[it as usize].method;
                program.world.show_type(program.world.method(method).owner)
            })
            .collect();
        let is_idle = matched == 0 && classes.iter().all(|it| self.idle.contains(it));
        let method = program.statements.statements()[*statements.first()? as usize].method;
        is_idle.then(|| program.world.show_method(method))
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
        let is_busy = self.proof.is_some() || self.instead.is_some() || !self.earlier.is_empty();
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
    type Verdict = Verdict;

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
        let proving = self.proof.iter().flat_map(|it| [Some(&it.found), it.whole.as_deref()]).flatten();
        let by_name = self.by_name.iter().map(|it| &it.0);
        let mut found = self.found.iter().chain(&self.doubtful).chain(proving).chain(by_name);
        // The first run without a fault is what the others are shown beside; where nothing is found, the nearest round is shown.
        let nearest = self.rounds.iter().max_by_key(|it| (it.shown.len(), std::cmp::Reverse(it.number)));
        id.0 == 0
            || found.any(|it| it.trial == id.0 || it.replayed == Some(id.0))
            || nearest.is_some_and(|it| it.trial == id.0)
            || self.round_of(id).is_some_and(|it| it.happened)
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: Digest) {
        let (Some(asked), Some(outcome)) = (self.open.remove(&id), outcome) else { return };
        let digest = if matches!(asked, Asked::Normal) { digest } else { self.credited(digest) };
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        self.unjudged += u64::from(outcome.failure.is_none());
        let of_oracle = outcome.problems.iter().find(|it| it.place == Problem::ORACLE);
        self.why_unjudged = of_oracle.map(|it| it.what.clone());
        match asked {
            Asked::Normal => {
                self.normal_runs += 1;
                self.normal_failed += u64::from(happened);
                self.normal.push(digest);
                if self.normal_runs == self.settings.normal_runs.max(1) {
                    self.begin();
                }
            }
            Asked::Round { number, level, picks, again } => {
                self.told_round(id, (number, level, picks), again, outcome, &digest);
                if again.is_some() {
                    self.proves_delay();
                }
            }
            Asked::Base { number, kept } => self.told_base(id, (number, *kept), outcome, digest),
            Asked::Replay => {
                let is_replayed = self.is_replayed_by(outcome);
                if outcome.injected() == 0 {
                    // It ran as without a fault.
                    self.normal_runs += 1;
                    self.normal_failed += u64::from(happened);
                }
                if let Some(proof) = &mut self.proof {
                    if is_replayed {
                        if happened && self.by_name.is_some() {
                            pool::struck_in(&mut proof.found, outcome);
                        }
                        proof.told_replay(id.0, happened);
                    } else {
                        proof.told_missed();
                    }
                }
                self.judge();
            }
            Asked::Control => {
                self.normal_runs += 1;
                self.normal_failed += u64::from(happened);
                if let Some(proof) = &mut self.proof {
                    proof.told_control();
                }
                self.judge();
            }
        }
    }

    fn verdict(&self) -> Verdict {
        let keys = self.case.keys();
        let first = self.levels.first();
        let missing = first.map_or_else(Vec::new, |level| {
            let of = |(number, &key): (usize, &u32)| {
                let it = &keys[key as usize];
                // What may lead anywhere says nothing where exceptions are tried.
                let leads = |(choice, known): &(&Choice, &bool)| {
                    let mut led_to = choice.distances.iter();
                    (**known || !self.settings.kinds.exceptions)
                        && led_to.any(|&(observable, _)| observable == number as u32)
                };
                Missing {
                    key,
                    node: self.case.node(it.log).to_owned(),
                    entry: it.entries.first().copied().unwrap_or(0),
                    line: it.line,
                    message: it.message.clone(),
                    times: it.entries.len() as u32 - level.matched[key as usize],
                    normal: level.matched[key as usize],
                    not_run: self.not_run(key, level.matched[key as usize]),
                    sites: level.search.space().choices.iter().zip(&level.known).filter(leads).count() as u64,
                    shown: self.rounds.iter().filter(|it| it.shown.contains(&key)).count() as u64,
                }
            };
            level.observables.iter().enumerate().map(of).collect()
        });
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
            silent: first.map_or_else(Vec::new, |it| it.silent.clone()),
            sites_total: self.case.catalogue().sites().len(),
            sites_inferred: first.map_or(0, |it| it.sites_inferred),
            sites_reached,
            sites_beyond,
            instances,
            normal: (self.normal_runs, self.normal_failed),
            unjudged: self.unjudged,
            refused: self.levels.iter().map(|it| it.search.refused()).sum(),
        }
    }
}
