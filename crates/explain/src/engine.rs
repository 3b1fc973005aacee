//! The engine: the failure and its neighbours run again under a recording, a study compares them, replays prove the answer.

use std::collections::BTreeMap;
use std::sync::Arc;

use hypocenter_engine::{DigestOf, Engine, Job, JobId, Look, Next, Purpose, Work};
use hypocenter_plan::{Outcome, Plan, Record, WatchLevel, WatchSites};
use hypocenter_results::event::{Effect, RoundEnded};
use hypocenter_results::explained::{
    Explanation, FailingRun, Inflection, NeighbourRow, SliceSize, Unanswered,
};
use hypocenter_results::{Event, Finding, Proof, Rate};
use serde::{Deserialize, Serialize};

use crate::model::SliceModel;
use crate::reader::{ExplainDigest, ExplainReader};
use crate::shown;
use crate::study::Parts;

/// Runs in which the failure is looked for before the engine gives up.
const FAILING_TRIES: usize = 3;
/// Engine parts that can be left out.
const PARTS: [&str; 5] = ["objects", "map-loops", "repair", "work-list", "merge"];

/// Request of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct ExplainSettings {
    /// Workload of the failing run.
    pub workload: String,
    /// Its plan: the faults, and no recording.
    pub plan: Plan,
    /// Runs that are expected not to fail, the nearest first.
    pub neighbours: Vec<NeighbourSpec>,
    /// Largest distance of what is recorded from the symptom.
    pub distance: u32,
    /// Replays of the failing run, and of the nearest one, that prove the answer.
    pub replays: u64,
    /// Parts that are left out, to measure what they are worth: `objects`, `map-loops`, `repair`, `work-list`, `merge`.
    pub without: Vec<String>,
}

/// A run that is expected not to fail.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct NeighbourSpec {
    /// Its difference from the failing run, in words.
    pub name: String,
    /// Its workload.
    pub workload: String,
    /// Its plan.
    pub plan: Plan,
}

impl ExplainSettings {
    /// Checks the names of parts.
    pub fn check(without: &[String]) -> Result<(), String> {
        match without.iter().find(|it| !PARTS.contains(&it.as_str())) {
            Some(unknown) => Err(format!("without: unknown part `{unknown}`, use {}", PARTS.join(", "))),
            None => Ok(()),
        }
    }

    fn parts(&self) -> Parts {
        let has = |part: &str| !self.without.iter().any(|it| it == part);
        let [objects, map_loops, repair, work_list, merge] = PARTS.map(has);
        Parts { objects, map_loops, repair, work_list, merge }
    }
}

/// Purpose of a job that is not over.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Asked {
    Failing,
    Neighbour(usize),
    Study,
    ReplayFailing,
    ReplayNearest,
}

/// A neighbour.
#[derive(Debug, Clone, Default)]
struct Neighbour {
    trial: Option<JobId>,
    left_out: Option<String>,
    is_told: bool,
}

/// See the module.
#[derive(Debug)]
pub struct Explain {
    model: Arc<SliceModel>,
    what: ExplainSettings,
    asked: u64,
    open: BTreeMap<JobId, Asked>,
    failing_tries: usize,
    failing: Option<FailingRun>,
    /// True if the failure happened, with or without its symptom.
    has_failed: bool,
    neighbours: Vec<Neighbour>,
    /// The neighbours of the study, in its order.
    studied: Vec<usize>,
    is_studied: bool,
    inflection: Option<Inflection>,
    /// The neighbour that is replayed.
    nearest: Option<usize>,
    replays: (Rate, u64),
    nearest_replays: (Rate, u64),
    unanswered: Option<Unanswered>,
    problems: Vec<String>,
    rounds: u64,
}

impl Explain {
    /// An engine for a symptom.
    pub fn new(model: Arc<SliceModel>, what: ExplainSettings) -> Explain {
        let neighbours = vec![Neighbour::default(); what.neighbours.len()];
        Explain {
            model,
            what,
            asked: 0,
            open: BTreeMap::new(),
            failing_tries: 0,
            failing: None,
            has_failed: false,
            neighbours,
            studied: Vec::new(),
            is_studied: false,
            inflection: None,
            nearest: None,
            replays: (Rate::default(), 0),
            nearest_replays: (Rate::default(), 0),
            unanswered: None,
            problems: Vec::new(),
            rounds: 0,
        }
    }

    /// The plan that says which sites get hooks: all faults, and everything that is recorded.
    pub fn hooks(&self) -> Plan {
        let neighbours = self.what.neighbours.iter().flat_map(|it| it.plan.candidates.iter());
        let candidates = self.what.plan.candidates.iter().chain(neighbours).cloned().collect();
        Plan { candidates, ..self.recorded(&self.what.plan, false) }
    }

    /// A plan with the recording. Trials share what the hooks of the campaign record.
    fn recorded(&self, plan: &Plan, common: bool) -> Plan {
        let listed =
            |level, has_values| WatchSites { sites: self.model.sites(has_values).cloned().collect(), level };
        let listed = || vec![listed(WatchLevel::Event, false), listed(WatchLevel::Value, true)];
        let record = Record {
            watch_sites: if common { Vec::new() } else { listed() },
            common,
            lossless: true,
            ..plan.record.clone()
        };
        Plan { record, ..plan.clone() }
    }

    fn job(&mut self, purpose: Purpose, work: Work, asked: Asked) -> Job {
        let id = JobId(self.asked);
        self.asked += 1;
        self.open.insert(id, asked);
        Job { id, purpose, work }
    }

    fn failing_work(&self) -> Work {
        Work::trial(self.what.workload.clone(), self.recorded(&self.what.plan, true))
    }

    fn neighbour_work(&self, number: usize) -> Work {
        let it = &self.what.neighbours[number];
        Work::trial(it.workload.clone(), self.recorded(&it.plan, true))
    }

    /// The next job, if there is one now.
    fn one(&mut self) -> Option<Job> {
        if self.unanswered.is_some() {
            return None;
        }
        let Some(failing) = &self.failing else {
            if self.failing_tries == FAILING_TRIES || self.open.values().any(|it| *it == Asked::Failing) {
                return None;
            }
            self.failing_tries += 1;
            let work = self.failing_work();
            return Some(self.job(Purpose::Base, work, Asked::Failing));
        };
        let trial = JobId(failing.trial);
        if let Some(number) = self.neighbours.iter().position(|it| it.trial.is_none()) {
            let work = self.neighbour_work(number);
            let job = self.job(Purpose::Near(trial), work, Asked::Neighbour(number));
            self.neighbours[number].trial = Some(job.id);
            return Some(job);
        }
        if !self.is_studied {
            let is_ready = self.neighbours.iter().all(|it| it.is_told) && self.studied.is_empty();
            return if is_ready { self.study(trial) } else { None };
        }
        self.proof(trial)
    }

    fn study(&mut self, failing: JobId) -> Option<Job> {
        let counts = |it: &usize| self.neighbours[*it].left_out.is_none();
        self.studied = (0..self.neighbours.len()).filter(counts).collect();
        let trials = self.studied.iter().filter_map(|&it| self.neighbours[it].trial);
        let trials = std::iter::once(failing).chain(trials).map(Into::into).collect();
        Some(self.job(Purpose::Base, Work::Study { trials }, Asked::Study))
    }

    /// Replays of both runs in turns, so that they have the same conditions.
    fn proof(&mut self, trial: JobId) -> Option<Job> {
        let nearest = self.nearest?;
        let (mine, theirs) = (self.replays.1, self.nearest_replays.1);
        if mine < self.what.replays && mine <= theirs {
            self.replays.1 += 1;
            let work = self.failing_work();
            return Some(self.job(Purpose::Replay(trial), work, Asked::ReplayFailing));
        }
        if theirs < self.what.replays {
            self.nearest_replays.1 += 1;
            let work = self.neighbour_work(nearest);
            return Some(self.job(Purpose::Control(trial), work, Asked::ReplayNearest));
        }
        None
    }

    fn tell_trial(&mut self, id: JobId, asked: Asked, outcome: &Outcome, digest: &ExplainDigest) {
        let failed = outcome.failure.as_ref().map_or(digest.reached, |it| it.happened);
        if digest.lost > 0 {
            self.problems.push(format!("trial {id}: {} records were lost", digest.lost));
        }
        if let Some(why) = &digest.unreadable {
            self.problems.push(format!("trial {id}: {why}"));
        }
        match asked {
            Asked::Failing if failed && digest.reached => {
                self.failing = Some(FailingRun {
                    trial: id.0,
                    workload: self.what.workload.clone(),
                    events: digest.events,
                    threads: digest.threads,
                });
                if self.what.neighbours.is_empty() {
                    self.unanswered = Some(Unanswered::NoNeighbour);
                }
            }
            Asked::Failing => {
                self.has_failed |= failed;
                if self.failing_tries == FAILING_TRIES {
                    let tries = FAILING_TRIES as u64;
                    self.unanswered = Some(match self.has_failed {
                        true => Unanswered::NoSymptom,
                        false => Unanswered::NoFailure(tries),
                    });
                }
            }
            Asked::Neighbour(number) => {
                let it = &mut self.neighbours[number];
                it.is_told = true;
                it.left_out = left_out(failed, outcome, digest);
                let all = self.neighbours.iter().all(|it| it.left_out.is_some());
                if all && self.neighbours.iter().all(|it| it.is_told) {
                    self.unanswered = Some(Unanswered::NoNeighbour);
                }
            }
            Asked::ReplayFailing => count(&mut self.replays.0, failed && digest.reached),
            Asked::ReplayNearest => count(&mut self.nearest_replays.0, failed || digest.reached),
            Asked::Study => {}
        }
    }

    fn tell_study(&mut self, digest: ExplainDigest) {
        self.is_studied = true;
        if let Some(why) = digest.unreadable {
            self.unanswered = Some(Unanswered::Unreadable(why));
            return;
        }
        let Some(mut inflection) = digest.inflection else {
            self.unanswered = Some(Unanswered::NoDeviation);
            return;
        };
        let number = |it: &str| it.parse().ok().and_then(|it: usize| self.studied.get(it).copied());
        self.nearest = number(&inflection.neighbour);
        for it in &mut inflection.nearest {
            if let Some(number) = number(&it.neighbour) {
                it.neighbour.clone_from(&self.what.neighbours[number].name);
            }
        }
        if let Some(number) = self.nearest {
            inflection.neighbour.clone_from(&self.what.neighbours[number].name);
        }
        self.inflection = Some(inflection);
    }

    /// What is said of a run that is over.
    fn round(&mut self, id: JobId, asked: Asked, outcome: &Outcome, digest: &ExplainDigest) -> Option<Event> {
        let failed = outcome.failure.as_ref().map_or(digest.reached, |it| it.happened);
        let meant = match asked {
            Asked::Failing => "the failing run".to_owned(),
            Asked::Neighbour(number) => self.what.neighbours[number].name.clone(),
            Asked::ReplayFailing => "the failing run again".to_owned(),
            // The console says itself what a run without a fault came to.
            Asked::ReplayNearest | Asked::Study => return None,
        };
        self.rounds += 1;
        let events = format!("{} events in {} threads", digest.events, digest.threads);
        let fails = failed.then(|| "it fails".to_owned());
        let effect = Effect::Caused { what: fails.into_iter().chain([events]).collect() };
        Some(Event::Round(Box::new(RoundEnded {
            number: self.rounds,
            trial: id.0,
            meant: Some(meant),
            effect,
            record: format!("{{\"run\":{},\"trial\":{id}}}", self.rounds),
            ..RoundEnded::default()
        })))
    }

    fn finding(&self, inflection: &Inflection) -> Finding<Inflection> {
        let (rate, nearest_rate) = (self.replays.0, self.nearest_replays.0);
        let is_over = rate.runs == self.what.replays && nearest_rate.runs == self.what.replays;
        let proof = match (is_over && rate.runs > 0, rate.hits == rate.runs, nearest_rate.hits) {
            (false, ..) => Proof::SeenOnce,
            (true, true, 0) => Proof::Confirmed,
            _ => Proof::Refuted,
        };
        Finding {
            proof,
            rate,
            trial: self.failing.as_ref().map_or(0, |it| it.trial),
            why: format!(
                "{}{} is the first instruction that the nearest run does not share",
                inflection.point.method,
                inflection.point.line.map_or_else(String::new, |it| format!(":{it}"))
            ),
            faults: Vec::new(),
            missed: 0,
            story: None,
            replay: String::new(),
            detail: Inflection { nearest_rate, ..inflection.clone() },
        }
    }

    fn is_over(&self) -> bool {
        let is_proven = self.is_studied
            && (self.nearest.is_none()
                || self.replays.0.runs == self.what.replays
                    && self.nearest_replays.0.runs == self.what.replays);
        self.unanswered.is_some() || is_proven
    }
}

/// Why a run is no neighbour, if it is none.
fn left_out(failed: bool, outcome: &Outcome, digest: &ExplainDigest) -> Option<String> {
    if let Some(why) = &digest.unreadable {
        return Some(format!("its recording cannot be read: {why}"));
    }
    match (failed, digest.reached) {
        (true, _) => Some("it fails too".to_owned()),
        (false, true) => Some("it reaches the symptom".to_owned()),
        _ if !outcome.end.is_well() => Some(format!("it does not end well: it {}", outcome.end)),
        _ => None,
    }
}

fn count(rate: &mut Rate, hit: bool) {
    rate.runs += 1;
    rate.hits += u64::from(hit);
}

impl Engine for Explain {
    type Digester = ExplainReader;
    type Results = Explanation;

    fn name(&self) -> &'static str {
        "explain"
    }

    fn next(&mut self, room: usize) -> Next {
        let jobs: Vec<Job> = std::iter::from_fn(|| self.one()).take(room).collect();
        match jobs.is_empty() {
            false => Next::Start(jobs),
            true if self.open.is_empty() && self.is_over() => Next::Done,
            true => Next::Wait,
        }
    }

    fn digester(&self) -> ExplainReader {
        ExplainReader::new(self.model.clone(), self.what.parts())
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: DigestOf<Explain>) -> Vec<Event> {
        let Some(asked) = self.open.remove(&id) else { return Vec::new() };
        let Some(outcome) = outcome else {
            if asked == Asked::Study {
                self.tell_study(digest);
            }
            return Vec::new();
        };
        let event = self.round(id, asked, outcome, &digest);
        self.tell_trial(id, asked, outcome, &digest);
        event.into_iter().collect()
    }

    fn results(&self, _: &Look<'_>) -> Explanation {
        let row = |(spec, it): (&NeighbourSpec, &Neighbour)| NeighbourRow {
            name: spec.name.clone(),
            trial: it.trial.map(|it| it.0),
            left_out: it.left_out.clone(),
        };
        let symptom = self.model.symptom().first();
        Explanation {
            symptom: symptom.map(|&it| shown::place(&self.model, it)).unwrap_or_default(),
            slice: SliceSize {
                points: self.model.points(),
                methods: self.model.methods().len() as u64,
                distance: self.what.distance,
                is_complete: self.model.is_complete(),
            },
            failing: self.failing.clone(),
            neighbours: self.what.neighbours.iter().zip(&self.neighbours).map(row).collect(),
            findings: self.inflection.iter().map(|it| self.finding(it)).collect(),
            unanswered: self.unanswered.clone(),
            problems: self.problems.clone(),
            is_going: !self.is_over(),
        }
    }
}

#[cfg(test)]
mod tests;
