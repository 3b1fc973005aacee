//! The engine: runs without a fault, then trials, then replays of what was found.
//!
//! Random choices of a trial are left to its plan: the candidates have the probability with which each of their requests
//! is taken, drawn in the JVM from the trial's seed. So the choice holds also where a trial does not go as those before it
//! went, and no process asks another anything while the trial runs. A call has one candidate in a trial, since two would
//! double its chance; which of its faults that is follows from the seed.

use std::collections::BTreeMap;
use std::sync::Arc;

use hypocenter_engine::{
    Claim, Claims, Engine, Job, JobId, Look, Next, Purpose, Retry, Settled, Shows, Tries, Work,
};
use hypocenter_logs::role;
use hypocenter_plan::{
    Candidate, CandidateResult, Fault, Guard, Outcome, Plan, Repeat, StackGuard, glob_matches,
};
use hypocenter_results::Injected;
use hypocenter_results::event::{Effect, Event, Learned, RoundEnded};
use hypocenter_results::explored::{Exploration, Standing, Symptom, Tried};
use hypocenter_trace::hash;

use crate::catalogue::Catalogue;
use crate::checks::{self, ClientOf, Normal, Struck};
use crate::document::StatePlace;
use crate::few::{FEW_MAX, Few};
use crate::findings::{self, Findings, Suspect};
use crate::fresh::Fresh;
use crate::known::Known;
use crate::ledger::{Group, KeyKind, Ledger};
use crate::moments::Moments;
use crate::neighbours::{Near, Surroundings};
use crate::policy::Policy;
use crate::reader::{Reader, TrialDigest};
use crate::round_robin::{RoundRobin, chance};
use crate::threads::ThreadAtEnd;

/// Maximum number of candidates of a plan; calls that were already seen come first.
const CANDIDATES_MAX: usize = 1 << 12;

/// Settings.
#[derive(Debug, Clone, PartialEq)]
pub struct Settings {
    /// The workload's name.
    pub workload: String,
    /// The clients of the workload.
    pub clients: Vec<ClientOf>,
    /// True if there are several nodes, so that a fault alone does not say on which it is.
    pub several_nodes: bool,
    /// True if clients, or an oracle, say what is wrong.
    pub is_judged: bool,
    /// For each task that is followed where its states begin.
    pub places: Vec<Vec<StatePlace>>,
    /// Common plan of all trials: its records, its nodes, the time of arming, the seed of the first.
    pub plan: Plan,
    /// Policy that chooses the fault of a trial.
    pub policy: Policy,
    /// Grouping of requests.
    pub key: KeyKind,
    /// Number of injections of a key before the budgets of all keys restart.
    pub budget: u32,
    /// The chance that a trial passes over all requests of its key.
    pub epsilon: f64,
    /// The most trials with a fault.
    pub trials: u64,
    /// Runs without a fault before the first trial.
    pub normal_runs: u64,
    /// Replays of each suspicious finding.
    pub replays: u64,
    /// Maximum number of findings that are replayed, worst first.
    pub replayed_findings: usize,
    /// Number of trials that each repeated finding is compared with: so many of the same call, so many at the
    /// same place, so many in the same state.
    pub neighbours: u64,
    /// Known findings.
    pub known: Vec<Known>,
    /// No further trial is begun once a suspicious finding has this method on its stack; `*` stands for any text.
    pub until: Option<String>,
}

/// Results of the campaign so far.
#[derive(Debug, Clone, PartialEq)]
pub struct Verdict {
    /// Its state.
    pub standing: Standing,
    /// The trials, by their numbers.
    pub trials: Vec<Tried>,
    /// Number of them with their fault.
    pub injected: u64,
    /// The abstract states that threads came to.
    pub states: Vec<String>,
    /// Number of keys.
    pub keys: usize,
    /// Number of restarts of all budgets.
    pub resets: u64,
    /// The findings, the worst first.
    pub findings: Vec<Suspect>,
    /// Runs without a fault.
    pub normal_runs: u64,
    /// Candidates that could not be injected.
    pub refused: u64,
    /// Notes of the lab about the runs without a fault, such as that no JVM loaded the agent.
    pub problems: Vec<String>,
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
    /// True if the policy has nothing left to inject.
    is_used_up: bool,
    confirming: Confirming,
    surroundings: Surroundings,
    refused: u64,
    ended: Option<Standing>,
}

/// Purpose of a job.
#[derive(Debug, Clone)]
enum Asked {
    Normal,
    Trial { number: u64, focus: Option<String>, chosen: Chosen, plan: Box<Plan> },
}

/// Confirmation of the findings, once the trials are over.
#[derive(Debug, Default)]
struct Confirming {
    /// Number of settled findings.
    settled: usize,
    /// Comparisons of those that hold: the number of the finding, the kind of similarity, and the trial.
    near: Option<Vec<(usize, Near, Candidate)>>,
    /// Number of those that are over.
    compared: usize,
    /// The plans of the runs that are not over.
    plans: BTreeMap<JobId, Plan>,
}

/// The keys that a trial is for.
#[derive(Debug, Clone)]
enum Chosen {
    Key(u32),
    /// Any of these; and for each candidate which.
    AnyOf(Vec<u32>, Vec<u32>),
    Nothing,
}

/// State of a policy.
#[derive(Debug)]
enum Chooser {
    RoundRobin(RoundRobin, Few, Moments),
    Fresh(Fresh),
    /// All requests of all trials, and how many trials those were.
    Chance {
        requests: u64,
        trials: u64,
    },
    /// Instances of a run without a fault: node, call, index there, fault.
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
            is_used_up: false,
            confirming: Confirming::default(),
            surroundings: Surroundings::default(),
            refused: 0,
            ended: None,
            settings,
        }
    }

    /// The state in which one call hides most others, if there is one and faults are drawn from its requests.
    fn crowded(&self) -> Option<Learned> {
        let is_drawn = matches!(self.chooser, Chooser::RoundRobin(..));
        let groups = self.ledger.groups().iter().filter(|it| is_drawn && it.requests() > FEW_MAX);
        let crowded = groups.filter_map(|it| Some((it, it.crowding()?)));
        let (group, call) = crowded.max_by_key(|(it, _)| it.calls.len())?;
        Some(Learned::Crowded {
            key: in_words(group.key.state.as_deref(), &group.key),
            site: self.catalogue.sites()[call.site as usize].site.clone(),
            made: call.least,
            requests: group.requests(),
            others: group.calls.len() as u64 - 1,
        })
    }

    /// The seed of the next trial: two campaigns whose seeds are neighbours have nothing in common.
    fn seed(&self) -> u64 {
        hash::word(self.next_id, self.settings.plan.seed)
    }

    fn plan(&self, candidates: Vec<Candidate>) -> Plan {
        Plan { seed: self.seed(), limit: 1, candidates, ..self.settings.plan.clone() }
    }

    fn job(&mut self, purpose: Purpose, plan: Plan) -> Job {
        let id = JobId(self.next_id);
        self.next_id += 1;
        Job { id, purpose, work: Work::trial(self.settings.workload.clone(), plan) }
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
            let job = self.job(Purpose::Normal, plan);
            self.open.insert(job.id, Asked::Normal);
            return Some(job);
        }
        if self.normal.runs < normal_runs || !self.wants_trials() {
            return None;
        }
        self.trial()
    }

    /// Tests whether there may be more trials.
    fn wants_trials(&self) -> bool {
        self.trials_asked < self.settings.trials && !self.is_used_up && !self.is_found()
    }

    /// Tests whether all trials are over.
    fn has_tried(&self) -> bool {
        let is_begun = self.ended.is_none() && self.normal.runs >= self.settings.normal_runs.max(1);
        is_begun && !self.wants_trials() && self.open.is_empty()
    }

    /// Tests whether what was looked for is found.
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
        let job = self.job(Purpose::Probe, plan);
        self.open.insert(job.id, asked);
        Some(job)
    }

    /// Injections that the next trial may make. None changes nothing.
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

    /// Nothing is learnt from its requests, and without them it runs as it does for whoever replays it.
    fn plan_of_one(&self, candidate: Option<Candidate>) -> Plan {
        let mut plan = self.plan(candidate.into_iter().collect());
        plan.record.watch.clear();
        plan
    }

    /// Comparisons of the repeated findings, beside the trials that were already made.
    fn compare(&mut self, mut holds: Vec<usize>) -> Vec<(usize, Near, Candidate)> {
        holds.sort_unstable();
        let mut wanted = Vec::new();
        for number in holds {
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

    /// The suspicious findings, the worst first.
    fn suspicious(&self) -> Vec<usize> {
        let all = self.findings.all();
        let mut worst: Vec<usize> = (0..all.len()).filter(|&it| all[it].is_suspicious()).collect();
        worst.sort_by_key(|&it| (std::cmp::Reverse(all[it].severity), all[it].first_trial));
        worst.truncate(self.settings.replayed_findings);
        worst
    }

    /// The finding whose worst trial this is.
    fn finding_of(&self, trial: JobId) -> usize {
        let found = self.findings.all().iter().position(|it| it.worst_trial == trial.0);
        found.expect("only the worst trial of a finding is confirmed")
    }

    /// Begins the trials, once all runs without a fault are reported.
    fn begin(&mut self) {
        let wrong = self.normal.wrong();
        if !wrong.is_empty() {
            self.ended = Some(Standing::NormalFails { wrong, runs: self.normal.runs });
        } else if self.ledger.groups().is_empty() {
            self.ended = Some(Standing::NothingToInject);
        }
    }

    /// Takes the requests of a trial down: what it found can be injected from the next trial on.
    fn take_down(&mut self, digest: &TrialDigest) -> usize {
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

    fn symptoms(&self, injected: &Injected, outcome: &Outcome, digest: &TrialDigest) -> Vec<Symptom> {
        let is_delay = matches!(injected.fault, Fault::Delay { .. });
        let struck = Struck { node: &injected.at.node, process: injected.process(), is_delay };
        checks::symptoms(outcome, digest, struck, &self.settings.clients, &self.normal)
    }

    fn told_trial(&mut self, id: JobId, asked: Asked, outcome: &Outcome, digest: &TrialDigest) -> RoundEnded {
        let Asked::Trial { number, focus, chosen, plan } = asked else {
            unreachable!("only trials are reported here")
        };
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
        let ended = self.ended_round(&record, outcome);
        let place = self.trials.partition_point(|it| it.number < number);
        self.trials.insert(place, record);
        ended
    }

    /// A trial that is over, for those who watch.
    fn ended_round(&self, it: &Tried, outcome: &Outcome) -> RoundEnded {
        let effect = match (it.symptoms.first(), it.failed_alone, &it.injected) {
            (Some(it), ..) => Effect::Symptom { severity: it.severity, why: it.why.clone() },
            (None, Some(end), _) => {
                let why = format!("the workload {end}, and no fault happened");
                Effect::NoFault { why, is_bad: true }
            }
            (None, None, None) => Effect::NoFault { why: why_not(outcome), is_bad: false },
            (None, None, Some(_)) => Effect::Fine,
        };
        RoundEnded {
            number: it.number,
            trial: it.trial,
            faults: it.injected.iter().cloned().collect(),
            meant: it.focus.clone(),
            given: Vec::new(),
            effect,
            again: None,
            runs: None,
            new_states: it.new_states,
            tried: None,
            ends: outcome.node_ends(),
            left: self.settings.trials.saturating_sub(it.number),
            record: serde_json::to_string(it).expect("a record is always JSON"),
        }
    }

    /// Result of a comparison. A comparison whose fault was not reached, or was injected elsewhere, proves nothing.
    fn told_near(&mut self, number: usize, plan: &Plan, outcome: &Outcome, digest: &TrialDigest) -> Shows {
        self.confirming.compared += 1;
        let Some((finding, near, _)) = self.confirming.near.as_ref().and_then(|it| it.get(number)) else {
            return Shows::Missed;
        };
        let (finding, near) = (*finding, *near);
        let of = &self.findings.all()[finding].injected;
        match findings::injected(plan, outcome) {
            Some((_, injected)) if self.surroundings.near(of, &injected) == Some(near) => {
                let symptoms = self.symptoms(&injected, outcome, digest);
                shows(self.findings.compared(finding, near, &symptoms))
            }
            _ => Shows::Missed,
        }
    }

    fn standing(&self) -> Standing {
        if let Some(ended) = &self.ended {
            return ended.clone();
        }
        let is_compared = match &self.confirming.near {
            Some(near) => self.confirming.compared == near.len(),
            // Nothing that holds, so there is nothing to compare.
            None => self.has_tried() && self.claims().is_empty() && self.confirming.plans.is_empty(),
        };
        match is_compared && self.open.is_empty() {
            true if self.is_used_up => Standing::NothingLeft,
            true => Standing::Done,
            false => Standing::Going,
        }
    }
}

/// Evidence of a run.
fn shows(it: bool) -> Shows {
    if it { Shows::Yes } else { Shows::No }
}

impl Claims for Explore {
    fn claims(&self) -> Vec<Claim> {
        let suspicious = self.suspicious();
        if !self.has_tried() || self.settings.replays == 0 || self.confirming.settled == suspicious.len() {
            return Vec::new();
        }
        let claim = |it: usize| Claim {
            of: JobId(self.findings.all()[it].worst_trial),
            replays: self.settings.replays,
            until_sure: false,
        };
        suspicious.into_iter().map(claim).collect()
    }

    fn again(&mut self, of: JobId, way: Retry) -> Job {
        let (purpose, candidate) = match way {
            Retry::Near(number) => {
                let near = self.confirming.near.as_ref().and_then(|it| it.get(number));
                (Purpose::Near(of), near.map(|it| it.2.clone()))
            }
            Retry::Replay | Retry::Control => {
                let finding = &self.findings.all()[self.finding_of(of)];
                (Purpose::Replay(of), Some(finding.injected.candidate()))
            }
        };
        let plan = self.plan_of_one(candidate);
        let job = self.job(purpose, plan.clone());
        self.confirming.plans.insert(job.id, plan);
        job
    }

    fn shows(&mut self, of: JobId, run: (JobId, Retry), outcome: &Outcome, digest: TrialDigest) -> Shows {
        let (id, way) = run;
        let plan = self.confirming.plans.remove(&id).unwrap_or_default();
        if let Retry::Near(number) = way {
            return self.told_near(number, &plan, outcome, &digest);
        }
        let finding = self.finding_of(of);
        match findings::injected(&plan, outcome) {
            Some((_, injected)) => {
                let symptoms = self.symptoms(&injected, outcome, &digest);
                shows(self.findings.replayed(finding, id.0, &symptoms))
            }
            None => Shows::Missed,
        }
    }

    fn counted(&mut self, of: JobId, tries: Tries) {
        let finding = self.finding_of(of);
        self.findings.counted(finding, tries);
    }

    fn settled(&mut self, _: JobId, _: Settled) -> Vec<Event> {
        self.confirming.settled += 1;
        Vec::new()
    }

    fn near(&mut self, holds: &[JobId]) -> Vec<JobId> {
        let near = self.compare(holds.iter().map(|it| self.finding_of(*it)).collect());
        let of = near.iter().map(|it| JobId(self.findings.all()[it.0].worst_trial)).collect();
        self.confirming.near = Some(near);
        of
    }
}

impl Engine for Explore {
    type Digester = Reader;
    type Results = Exploration;

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
        // Nothing is open and nothing comes.
        self.is_used_up |= self.ended.is_none() && self.normal.runs > 0 && self.wants_trials();
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

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: TrialDigest) -> Vec<Event> {
        let (Some(asked), Some(outcome)) = (self.open.remove(&id), outcome) else { return Vec::new() };
        let mut events = Vec::new();
        if let Some(why) = &digest.unreadable {
            events.push(Event::Learned(Learned::Unreadable { trial: id.0, why: why.clone() }));
        }
        match asked {
            Asked::Normal => {
                self.normal.take_down(outcome, &digest);
                self.surroundings.take_down(&digest);
                self.take_down(&digest);
                if self.normal.runs >= self.settings.normal_runs.max(1) {
                    self.begin();
                    let is_by_state = self.settings.key == KeyKind::State && self.ended.is_none();
                    events.extend(self.crowded().filter(|_| is_by_state).map(Event::Learned));
                }
            }
            asked @ Asked::Trial { .. } => {
                let round = self.told_trial(id, asked, outcome, &digest);
                events.push(Event::Round(Box::new(round)));
                let claims = self.claims().len() as u64;
                if claims > 0 {
                    let near = self.settings.neighbours.saturating_mul(Near::ALL.len() as u64);
                    let replays = self.settings.replays;
                    events.push(Event::Learned(Learned::Confirming { claims, replays, near }));
                }
            }
        }
        events
    }

    fn results(&self, look: &Look<'_>) -> Exploration {
        self.document(look)
    }
}

impl Explore {
    pub(crate) fn settings(&self) -> &Settings {
        &self.settings
    }

    pub(crate) fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// Current results.
    pub fn verdict(&self) -> Verdict {
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

/// Tests whether a delay stopped a thread with a lock in its hands. Whether others need that lock is a matter of the moment, so other
/// moments of the same state are worth a look.
fn holds_up(injected: &Injected, digest: &TrialDigest) -> bool {
    let here = |it: &&ThreadAtEnd| it.node == injected.process() && it.thread == role(&injected.at.thread);
    matches!(injected.fault, Fault::Delay { .. }) && digest.threads.iter().filter(here).any(|it| it.holds)
}

/// Why no fault happened, as far as the outcome knows.
fn why_not(outcome: &Outcome) -> String {
    let whys = outcome.candidates.iter().filter_map(|it| match &it.result {
        CandidateResult::NotReached { why } | CandidateResult::Refused { why } => Some(why),
        CandidateResult::Injected(_) | CandidateResult::NotNeeded => None,
    });
    let whys: Vec<&String> = whys.collect();
    let hits: u64 = outcome.candidates.iter().map(|it| it.hits).sum();
    match (whys.as_slice(), hits) {
        ([], _) => "nothing was reached".to_owned(),
        ([why], _) => (*why).clone(),
        (several, 0) => format!("none of its {} calls was reached in that state", several.len()),
        (several, hits) => format!(
            "its {} calls were reached {hits} times in that state and skipped: at random, or because they only work in memory",
            several.len(),
        ),
    }
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
fn instances_of(catalogue: &Catalogue, digest: &TrialDigest) -> Vec<(String, u32, u64, u32)> {
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

/// Common properties of the requests of a group, as a guard of a plan.
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
