//! The engine: runs without a fault, then trials, then replays of what was found.
//!
//! What is left to chance in a trial is left to its plan: the candidates have the chance with which each of their requests
//! is taken, drawn in the JVM from the trial's seed. So the choice holds also where a trial does not go as those before it
//! went, and no process asks another anything while the trial runs. A call has one candidate in a trial, since two would
//! double its chance; which of its faults that is follows from the seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use hypocenter_engine::{Engine, Job, JobId, Next, Purpose, Work};
use hypocenter_logs::role;
use hypocenter_plan::{Candidate, Fault, Guard, Outcome, Plan, Repeat, Site, StackGuard, glob_matches};
use hypocenter_results::Injected;
use hypocenter_results::explored::{Standing, Symptom, Tried};
use hypocenter_trace::hash;

use crate::catalogue::Catalogue;
use crate::checks::{self, ClientOf, Normal, Struck};
use crate::few::{FEW_MAX, Few};
use crate::findings::{self, Findings, Suspect};
use crate::fresh::Fresh;
use crate::known::Known;
use crate::ledger::{Group, KeyKind, Ledger};
use crate::moments::Moments;
use crate::neighbours::{Near, Surroundings};
use crate::policy::Policy;
use crate::reader::{Digest, Reader};
use crate::round_robin::{RoundRobin, chance};
use crate::threads::ThreadAtEnd;

/// How many candidates a plan has at most: calls that were seen first come first.
const CANDIDATES_MAX: usize = 1 << 12;

/// What can be set.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The workload's name.
    pub workload: String,
    /// The clients of the workload.
    pub clients: Vec<ClientOf>,
    /// What every trial has: what it records, its nodes, when it is armed, the seed of the first.
    pub plan: Plan,
    /// How the fault of a trial is chosen.
    pub policy: Policy,
    /// What requests are grouped by.
    pub key: KeyKind,
    /// How many injections a key gets before all get them anew.
    pub budget: u32,
    /// The chance that a trial passes over all requests of its key.
    pub epsilon: f64,
    /// The most trials with a fault.
    pub trials: u64,
    /// Runs without a fault before the first trial.
    pub normal_runs: u64,
    /// Replays of each suspicious finding.
    pub replays: u64,
    /// How many findings are replayed, the worst first.
    pub replayed_findings: usize,
    /// How many trials each finding that repeats is compared with: so many of the same call, so many at the
    /// same place, so many in the same state.
    pub neighbours: u64,
    /// What is not reported again.
    pub known: Vec<Known>,
    /// No further trial is begun once a suspicious finding has this method on its stack; `*` stands for any text.
    pub until: Option<String>,
}

/// What came of the campaign so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// How it stands.
    pub standing: Standing,
    /// The trials, by their numbers.
    pub trials: Vec<Tried>,
    /// How many of them had their fault.
    pub injected: u64,
    /// The abstract states that threads came to.
    pub states: Vec<String>,
    /// How many keys there are.
    pub keys: usize,
    /// How often all budgets were given anew.
    pub resets: u64,
    /// The findings, the worst first.
    pub findings: Vec<Suspect>,
    /// Runs without a fault.
    pub normal_runs: u64,
    /// Candidates that could not be injected.
    pub refused: u64,
    /// What the lab has to say of the runs without a fault, such as that no JVM loaded the agent.
    pub problems: Vec<String>,
}

impl Verdict {
    /// In how many of the trials in which no fault happened the workload failed all the same, and how many those are.
    pub fn failed_alone(&self) -> (usize, usize) {
        let without = || self.trials.iter().filter(|it| it.injected.is_none());
        (without().filter(|it| it.failed_alone.is_some()).count(), without().count())
    }
}

/// A state nearly all of whose requests are made by one call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Crowded<'e> {
    /// The node and the state, in words.
    pub key: String,
    /// The call.
    pub site: &'e Site,
    /// How many requests it makes.
    pub made: u64,
    /// Of how many.
    pub requests: u64,
    /// How many other calls make the rest.
    pub others: usize,
}

/// The engine. See the module.
#[derive(Debug)]
pub struct Explore {
    catalogue: Arc<Catalogue>,
    settings: Settings,
    reader: Reader,
    next_id: u64,
    open: BTreeMap<JobId, Asked>,
    normal: Normal,
    normal_asked: u64,
    ledger: Ledger,
    chooser: Chooser,
    trials_asked: u64,
    trials: Vec<Tried>,
    states: Vec<String>,
    findings: Findings,
    /// What is replayed, once the trials are over: the numbers of findings, each as often as it is replayed.
    replays: Option<Vec<usize>>,
    replays_asked: usize,
    surroundings: Surroundings,
    /// What findings are compared with, once the replays are over.
    neighbours: Option<Vec<(usize, Near, Candidate)>>,
    neighbours_asked: usize,
    refused: u64,
    ended: Option<Standing>,
}

/// What a job is for.
#[derive(Debug, Clone)]
enum Asked {
    Normal,
    Trial { number: u64, focus: Option<String>, chosen: Chosen, plan: Box<Plan> },
    Replay { finding: usize, plan: Box<Plan> },
    Neighbour { finding: usize, near: Near, plan: Box<Plan> },
}

/// The keys that a trial is for.
#[derive(Debug, Clone)]
enum Chosen {
    Key(u32),
    /// Any of these; and for each candidate which.
    AnyOf(Vec<u32>, Vec<u32>),
    Nothing,
}

/// What a policy keeps.
#[derive(Debug)]
enum Chooser {
    RoundRobin(RoundRobin, Few, Moments),
    Fresh(Fresh),
    /// All requests of all trials, and how many trials those were.
    Chance {
        requests: u64,
        trials: u64,
    },
    /// The instances of a run without a fault: node, call, the how-manieth there, fault.
    Sequence {
        instances: Vec<(String, u32, u64, u32)>,
        next: usize,
    },
}

impl Chooser {
    fn of(settings: &Settings) -> Chooser {
        match settings.policy {
            Policy::Bsrr => {
                Chooser::RoundRobin(RoundRobin::new(settings.budget), Few::default(), Moments::default())
            }
            Policy::NewState | Policy::Fate => Chooser::Fresh(Fresh::default()),
            Policy::Random => Chooser::Chance { requests: 0, trials: 0 },
            Policy::Exhaustive => Chooser::Sequence { instances: Vec::new(), next: 0 },
        }
    }
}

impl Explore {
    /// A campaign that has not begun.
    pub fn new(catalogue: Arc<Catalogue>, mut settings: Settings) -> Explore {
        settings.plan.never_below = catalogue.in_memory().cloned().collect();
        Explore {
            reader: Reader::new(catalogue.clone()),
            catalogue,
            next_id: 0,
            open: BTreeMap::new(),
            normal: Normal::default(),
            normal_asked: 0,
            ledger: Ledger::new(settings.policy.key(settings.key)),
            chooser: Chooser::of(&settings),
            trials_asked: 0,
            trials: Vec::new(),
            states: Vec::new(),
            findings: Findings::new(settings.known.clone()),
            replays: None,
            replays_asked: 0,
            surroundings: Surroundings::default(),
            neighbours: None,
            neighbours_asked: 0,
            refused: 0,
            ended: None,
            settings,
        }
    }

    /// The trial with this number in the campaign, if it had a fault to inject and is over.
    pub fn trial_of(&self, id: JobId) -> Option<&Tried> {
        self.trials.iter().find(|it| it.trial == id.0)
    }

    /// The state in which one call hides most others, if there is one and faults are drawn from its requests.
    pub fn crowded(&self) -> Option<Crowded<'_>> {
        let is_drawn = matches!(self.chooser, Chooser::RoundRobin(..));
        let groups = self.ledger.groups().iter().filter(|it| is_drawn && it.requests() > FEW_MAX);
        let crowded = groups.filter_map(|it| Some((it, it.crowding()?)));
        let (group, call) = crowded.max_by_key(|(it, _)| it.calls.len())?;
        Some(Crowded {
            key: in_words(group.key.state.as_deref(), &group.key),
            site: &self.catalogue.sites()[call.site as usize].site,
            made: call.least,
            requests: group.requests(),
            others: group.calls.len() - 1,
        })
    }

    /// The seed of the next trial: two campaigns whose seeds are neighbours have nothing in common.
    fn seed(&self) -> u64 {
        hash::word(self.next_id, self.settings.plan.seed)
    }

    fn plan(&self, candidates: Vec<Candidate>) -> Plan {
        Plan { seed: self.seed(), limit: 1, candidates, ..self.settings.plan.clone() }
    }

    fn job(&mut self, asked: Asked, plan: Plan) -> Job {
        let id = JobId(self.next_id);
        self.next_id += 1;
        let of = |finding: usize| JobId(self.findings.all()[finding].worst_trial);
        let purpose = match &asked {
            Asked::Normal => Purpose::Normal,
            Asked::Trial { .. } => Purpose::Probe,
            Asked::Replay { finding, .. } => Purpose::Replay(of(*finding)),
            Asked::Neighbour { finding, .. } => Purpose::Near(of(*finding)),
        };
        self.open.insert(id, asked);
        Job { id, purpose, work: Work::Trial { workload: self.settings.workload.clone(), plan } }
    }

    /// The next job, if there is one now.
    fn one(&mut self) -> Option<Job> {
        if self.ended.is_some() {
            return None;
        }
        let normal_runs = self.settings.normal_runs.max(1);
        if self.normal_asked < normal_runs {
            self.normal_asked += 1;
            let plan = self.plan(Vec::new());
            return Some(self.job(Asked::Normal, plan));
        }
        if self.normal.runs < normal_runs {
            return None;
        }
        if self.trials_asked < self.settings.trials && self.replays.is_none() && !self.is_found() {
            return self.trial();
        }
        self.replay().or_else(|| self.neighbour())
    }

    /// Whether what was looked for is found.
    fn is_found(&self) -> bool {
        let Some(until) = &self.settings.until else { return false };
        let mut suspicious = self.findings.all().iter().filter(|it| it.is_suspicious());
        suspicious.any(|it| it.stack.iter().any(|method| glob_matches(until, method)))
    }

    fn trial(&mut self) -> Option<Job> {
        let (candidates, chosen, focus) = self.choose()?;
        self.trials_asked += 1;
        let plan = self.plan(candidates);
        let asked = Asked::Trial { number: self.trials_asked, focus, chosen, plan: Box::new(plan.clone()) };
        Some(self.job(asked, plan))
    }

    /// What the next trial may inject. None changes nothing.
    fn choose(&mut self) -> Option<(Vec<Candidate>, Chosen, Option<String>)> {
        let (ledger, catalogue) = (&self.ledger, &*self.catalogue);
        let draw = Draw { catalogue, seed: self.seed() };
        match &mut self.chooser {
            Chooser::RoundRobin(keys, few, moments) => {
                let key = keys.next()?;
                let group = &ledger.groups()[key as usize];
                let request = moments.next(key, group).or_else(|| few.next(key, group, draw.seed));
                let candidates = match request {
                    Some((call, request)) => {
                        let guard = Guard { occurrence: Some(request), ..guard_of(group) };
                        vec![draw.candidate(call.site, call.fault, guard)]
                    }
                    None => draw.group(group, Some(keys.chance(key, self.settings.epsilon))),
                };
                Some((candidates, Chosen::Key(key), Some(in_words(group.key.state.as_deref(), &group.key))))
            }
            Chooser::Fresh(keys) => {
                let waited = keys.next();
                if waited.is_empty() {
                    return None;
                }
                let (mut candidates, mut owners) = (Vec::new(), Vec::new());
                for &key in &waited {
                    let of_key = draw.group(&ledger.groups()[key as usize], None);
                    owners.extend(std::iter::repeat_n(key, of_key.len()));
                    candidates.extend(of_key);
                }
                candidates.truncate(CANDIDATES_MAX);
                owners.truncate(CANDIDATES_MAX);
                Some((candidates, Chosen::AnyOf(waited, owners), None))
            }
            Chooser::Chance { requests, trials } => {
                let probability = chance(*requests as f64 / (*trials).max(1) as f64, self.settings.epsilon);
                let mut calls: Vec<u32> =
                    ledger.groups().iter().flat_map(|it| it.calls.iter().map(|it| it.site)).collect();
                calls.sort_unstable();
                calls.dedup();
                let guard = Guard { probability: Some(probability), ..Guard::default() };
                let candidates = calls.into_iter().take(CANDIDATES_MAX);
                let candidates: Vec<Candidate> =
                    candidates.map(|it| draw.candidate(it, None, guard.clone())).collect();
                (!candidates.is_empty()).then_some((candidates, Chosen::Nothing, None))
            }
            Chooser::Sequence { instances, next } => {
                let (node, site, occurrence, fault) = instances.get(*next)?.clone();
                *next += 1;
                let guard = Guard { node: Some(node), occurrence: Some(occurrence), ..Guard::default() };
                Some((vec![draw.candidate(site, Some(fault), guard)], Chosen::Nothing, None))
            }
        }
    }

    /// Replays begin when every trial is over.
    fn replay(&mut self) -> Option<Job> {
        if self.replays.is_none() {
            if self.open.values().any(|it| matches!(it, Asked::Trial { .. })) {
                return None;
            }
            self.replays = Some(self.to_replay());
        }
        let finding = *self.replays.as_ref()?.get(self.replays_asked)?;
        self.replays_asked += 1;
        let plan = self.plan_of_one(self.findings.all()[finding].injected.candidate());
        let asked = Asked::Replay { finding, plan: Box::new(plan.clone()) };
        Some(self.job(asked, plan))
    }

    /// Nothing is learnt from its requests, and without them it runs as it does for whoever replays it.
    fn plan_of_one(&self, candidate: Candidate) -> Plan {
        let mut plan = self.plan(vec![candidate]);
        plan.record.watch.clear();
        plan
    }

    /// Findings are compared when every replay is over.
    fn neighbour(&mut self) -> Option<Job> {
        if self.neighbours.is_none() {
            if self.replays.is_none() || !self.open.is_empty() {
                return None;
            }
            self.neighbours = Some(self.compare());
        }
        let (finding, near, candidate) = self.neighbours.as_ref()?.get(self.neighbours_asked)?.clone();
        self.neighbours_asked += 1;
        let plan = self.plan_of_one(candidate);
        let asked = Asked::Neighbour { finding, near, plan: Box::new(plan.clone()) };
        Some(self.job(asked, plan))
    }

    /// What the findings that repeat are compared with, beside what the trials have tried already.
    fn compare(&mut self) -> Vec<(usize, Near, Candidate)> {
        let mut replayed: Vec<usize> = self.replays.iter().flatten().copied().collect();
        replayed.sort_unstable();
        replayed.dedup();
        let mut wanted = Vec::new();
        for number in replayed {
            if self.findings.all()[number].rate.0 == 0 {
                continue;
            }
            let injected = self.findings.all()[number].injected.clone();
            for trial in &self.trials {
                let Some(other) = &trial.injected else { continue };
                let as_far = || self.surroundings.are_as_far(&injected, other, &self.catalogue);
                if let Some(near) = self.surroundings.near(&injected, other)
                    && (near == Near::Site || as_far())
                {
                    self.findings.compared(number, near, &trial.symptoms);
                }
            }
            for near in Near::ALL {
                let known = self.findings.all()[number].neighbours.runs(near);
                let missing = self.settings.neighbours.saturating_sub(known) as usize;
                let found = self.surroundings.of(&injected, &self.catalogue, near, missing);
                wanted.extend(found.into_iter().map(|it| (number, near, it)));
            }
        }
        wanted
    }

    /// The suspicious findings, the worst first, all of them once before any twice.
    fn to_replay(&self) -> Vec<usize> {
        let all = self.findings.all();
        let mut worst: Vec<usize> = (0..all.len()).filter(|&it| all[it].is_suspicious()).collect();
        worst.sort_by_key(|&it| (std::cmp::Reverse(all[it].severity), all[it].first_trial));
        worst.truncate(self.settings.replayed_findings);
        (0..self.settings.replays).flat_map(|_| worst.iter().copied()).collect()
    }

    /// All runs without a fault are told.
    fn begin(&mut self) {
        let wrong = self.normal.wrong();
        if !wrong.is_empty() {
            self.ended = Some(Standing::NormalFails { wrong, runs: self.normal.runs });
        } else if self.ledger.groups().is_empty() {
            self.ended = Some(Standing::NothingToInject);
        }
    }

    /// Takes the requests of a trial down: what it found can be injected from the next trial on.
    fn take_down(&mut self, digest: &Digest) -> usize {
        let counts = self.ledger.take_down(&self.catalogue, digest);
        match &mut self.chooser {
            Chooser::RoundRobin(keys, ..) => {
                let state = |key: u32| self.ledger.groups()[key as usize].anywhere;
                let is_whole = !digest.is_cut;
                counts.iter().for_each(|&(key, times)| keys.seen(key, state(key), times, is_whole));
            }
            Chooser::Fresh(keys) => counts.iter().for_each(|&(key, _)| keys.seen(key)),
            Chooser::Chance { requests, trials } if !digest.is_cut => {
                (*requests, *trials) = (*requests + digest.requests(), *trials + 1);
            }
            Chooser::Chance { .. } => {}
            Chooser::Sequence { instances, .. } if instances.is_empty() => {
                *instances = instances_of(&self.catalogue, digest);
            }
            Chooser::Sequence { .. } => {}
        }
        let before = self.states.len();
        for state in &digest.states {
            if !self.states.contains(state) {
                self.states.push(state.clone());
            }
        }
        self.states.len() - before
    }

    fn symptoms(&self, injected: &Injected, outcome: &Outcome, digest: &Digest) -> Vec<Symptom> {
        let is_delay = matches!(injected.fault, Fault::Delay { .. });
        let struck = Struck { node: &injected.at.node, process: injected.process(), is_delay };
        checks::symptoms(outcome, digest, struck, &self.settings.clients, &self.normal)
    }

    fn told_trial(&mut self, id: JobId, asked: Asked, outcome: &Outcome, digest: &Digest) {
        let Asked::Trial { number, focus, chosen, plan } = asked else { return };
        let injected = findings::injected(&plan, outcome);
        let refused = |it: &&hypocenter_plan::CandidateOutcome| {
            matches!(it.result, hypocenter_plan::CandidateResult::Refused { .. })
        };
        self.refused += outcome.candidates.iter().filter(refused).count() as u64;
        match (&mut self.chooser, &chosen) {
            (Chooser::RoundRobin(keys, _, moments), Chosen::Key(key)) => {
                let held = injected.as_ref().map(|it| &it.1).filter(|it| holds_up(it, digest));
                keys.told(*key, injected.is_some(), held.is_some());
                if let Some(it) = held
                    && let Some(site) = self.catalogue.find(&it.site)
                {
                    moments.held(*key, site, it.at.occurrence);
                }
            }
            (Chooser::Fresh(keys), Chosen::AnyOf(waited, owners)) => {
                let key = injected.as_ref().and_then(|(at, _)| owners.get(*at).copied());
                keys.told(waited, key);
            }
            _ => {}
        }
        let new_states = self.take_down(digest);
        let injected = injected.map(|it| it.1);
        let symptoms = injected.as_ref().map(|it| self.symptoms(it, outcome, digest)).unwrap_or_default();
        let failed_alone = (injected.is_none() && !outcome.end.is_well()).then_some(outcome.end);
        if let Some(injected) = &injected {
            self.findings.take_down(id.0, number, injected, &symptoms);
        }
        let record = Tried {
            number,
            trial: id.0,
            focus,
            injected,
            symptoms,
            new_states: new_states as u64,
            requests: digest.requests(),
            failed_alone,
        };
        let place = self.trials.partition_point(|it| it.number < number);
        self.trials.insert(place, record);
    }

    /// One whose fault was not reached, or went in somewhere else, says nothing.
    fn told_neighbour(
        &mut self,
        finding: usize,
        near: Near,
        plan: &Plan,
        outcome: &Outcome,
        digest: &Digest,
    ) {
        let of = &self.findings.all()[finding].injected;
        if let Some((_, injected)) = findings::injected(plan, outcome)
            && self.surroundings.near(of, &injected) == Some(near)
        {
            let symptoms = self.symptoms(&injected, outcome, digest);
            self.findings.compared(finding, near, &symptoms);
        }
    }

    fn told_replay(&mut self, id: JobId, finding: usize, plan: &Plan, outcome: &Outcome, digest: &Digest) {
        let injected = findings::injected(plan, outcome);
        let symptoms = injected.map(|(_, injected)| self.symptoms(&injected, outcome, digest));
        self.findings.replayed(finding, id.0, symptoms.as_deref());
    }

    fn standing(&self) -> Standing {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let replayed = self.neighbours.as_ref().is_some_and(|it| self.neighbours_asked >= it.len());
        match (self.open.is_empty(), replayed) {
            (true, true) if self.trials_asked < self.settings.trials && !self.is_found() => {
                Standing::NothingLeft
            }
            (true, true) => Standing::Done,
            _ => Standing::Going,
        }
    }
}

impl Engine for Explore {
    type Digester = Reader;
    type Verdict = Verdict;

    fn name(&self) -> &'static str {
        "explore"
    }

    fn next(&mut self, room: usize) -> Next {
        let mut jobs = Vec::new();
        while jobs.len() < room {
            match self.one() {
                Some(job) => jobs.push(job),
                None => break,
            }
        }
        if !jobs.is_empty() {
            return Next::Start(jobs);
        }
        if !self.open.is_empty() || room == 0 {
            return Next::Wait;
        }
        // Nothing is open and nothing comes: a policy that has nothing left goes on to the replays.
        if self.ended.is_none() && self.replays.is_none() && self.normal.runs > 0 {
            self.replays = Some(self.to_replay());
            return self.next(room);
        }
        Next::Done
    }

    fn digester(&self) -> Reader {
        self.reader.clone()
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        // The first run without a fault is what the others are shown beside.
        let is_of = |it: &Suspect| it.is_suspicious() && it.replayed.unwrap_or(it.worst_trial) == id.0;
        id.0 == 0 || self.findings.all().iter().any(is_of)
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: Digest) {
        let (Some(asked), Some(outcome)) = (self.open.remove(&id), outcome) else { return };
        match asked {
            Asked::Normal => {
                self.normal.take_down(outcome, &digest);
                self.surroundings.take_down(&digest);
                self.take_down(&digest);
                if self.normal.runs >= self.settings.normal_runs.max(1) {
                    self.begin();
                }
            }
            asked @ Asked::Trial { .. } => self.told_trial(id, asked, outcome, &digest),
            Asked::Replay { finding, plan } => self.told_replay(id, finding, &plan, outcome, &digest),
            Asked::Neighbour { finding, near, plan } => {
                self.told_neighbour(finding, near, &plan, outcome, &digest)
            }
        }
    }

    fn verdict(&self) -> Verdict {
        Verdict {
            standing: self.standing(),
            trials: self.trials.clone(),
            injected: self.trials.iter().filter(|it| it.injected.is_some()).count() as u64,
            states: self.states.clone(),
            keys: self.ledger.groups().len(),
            resets: match &self.chooser {
                Chooser::RoundRobin(keys, ..) => keys.resets(),
                _ => 0,
            },
            findings: self.findings.ranked(),
            normal_runs: self.normal.runs,
            refused: self.refused,
            problems: self.normal.problems.iter().cloned().collect(),
        }
    }
}

/// Whether a delay stopped a thread with a lock in its hands. Whether others need that lock is a matter of the moment, so other
/// moments of the same state are worth a look.
fn holds_up(injected: &Injected, digest: &Digest) -> bool {
    let here = |it: &&ThreadAtEnd| it.node == injected.process() && it.thread == role(&injected.at.thread);
    matches!(injected.fault, Fault::Delay { .. }) && digest.threads.iter().filter(here).any(|it| it.holds)
}

/// A key for people.
fn in_words(state: Option<&str>, key: &crate::ledger::Key) -> String {
    let at = key.thread.as_deref().map(|it| format!("thread {it}")).or(state.map(str::to_owned));
    let mut words = format!("{} {}", key.node, at.unwrap_or_default());
    if let (Some(fault), Some(callee)) = (&key.fault, &key.callee) {
        words += &format!(", {fault} at {}", callee.split('(').next().unwrap_or(callee));
    }
    words
}

/// Every request of a run, one for each of its faults, as far as the run's requests are kept.
fn instances_of(catalogue: &Catalogue, digest: &Digest) -> Vec<(String, u32, u64, u32)> {
    let mut counts: BTreeMap<(&str, u32), u64> = BTreeMap::new();
    let mut instances = Vec::new();
    for &(situation, site) in &digest.sequence {
        let Some(situation) = digest.situations.get(situation as usize) else { continue };
        let Some(call) = catalogue.sites().get(site as usize) else { continue };
        let count = counts.entry((&situation.node, site)).or_default();
        *count += 1;
        for fault in 0..call.faults.len() as u32 {
            instances.push((situation.node.clone(), site, *count, fault));
        }
    }
    instances
}

/// What the requests of a group have in common, as a plan says it.
fn guard_of(group: &Group) -> Guard {
    Guard {
        node: Some(group.key.node.clone()),
        state: group.key.state.clone(),
        thread: group.key.thread.clone(),
        stack: group.key.stack.clone().filter(|it| !it.is_empty()).map(StackGuard::Suffix),
        ..Guard::default()
    }
}

/// Makes the candidates of a trial.
struct Draw<'a> {
    catalogue: &'a Catalogue,
    seed: u64,
}

impl Draw<'_> {
    /// The candidates for the requests of a group.
    fn group(&self, group: &Group, probability: Option<f64>) -> Vec<Candidate> {
        let guard = Guard { probability, ..guard_of(group) };
        let calls = group.calls.iter().take(CANDIDATES_MAX);
        calls.map(|it| self.candidate(it.site, it.fault, guard.clone())).collect()
    }

    /// A fault at a call: this one, or one of those that it can have.
    fn candidate(&self, site: u32, fault: Option<u32>, when: Guard) -> Candidate {
        let call = &self.catalogue.sites()[site as usize];
        let drawn = hash::word(u64::from(site), self.seed) % call.faults.len().max(1) as u64;
        let fault = call.faults[fault.map_or(drawn as usize, |it| it as usize)].clone();
        Candidate { site: call.site.clone(), fault, when, repeat: Repeat::Once }
    }
}

#[cfg(test)]
mod tests;
