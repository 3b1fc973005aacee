//! What a campaign came to, as a document: what the engine says, and what the evidence of a few trials adds to it.

use std::collections::{BTreeMap, BTreeSet};
use std::path::Path;
use std::time::Duration;

use hypocenter_engine::{Evidence, JobId};
use hypocenter_explore::{Catalogue, Suspect, Verdict};
use hypocenter_lab::{evidence_of, finished, trial_directory};
use hypocenter_plan::{
    CandidateResult, Outcome, Role, SiteKind, TaskMethod, Workload, first_states, states_by_task,
};
use hypocenter_results::explored::{
    EXPLORATION_VERSION, Exploration, Finding, Saw, SiteCounts, Standing, Task, TaskState, Way,
};
use hypocenter_results::{Proof, Rate};
use hypocenter_trace::SiteId;

use super::wrong::together;
use crate::failure::Failure;
use crate::request::{ExploreRequest, Request};
use crate::store::Called;

/// Where a state begins, and what makes it begin.
pub type StatePlace = (Option<u32>, Option<&'static str>);

/// A campaign that is over.
pub struct Ended<'e> {
    pub verdict: &'e Verdict,
    pub request: &'e Request,
    pub what: &'e ExploreRequest,
    pub catalogue: &'e Catalogue,
    pub tasks: &'e [TaskMethod],
    /// For each task where its states begin.
    pub places: &'e [Vec<StatePlace>],
    pub directory: &'e Path,
    pub took: Duration,
    /// Whether there would have been more to do.
    pub cut_short: bool,
}

/// Steps of a task from state to state, as numbers, and how often.
type Ways = BTreeMap<(Option<u32>, Option<u32>), u64>;

impl Ended<'_> {
    /// The name of the campaign.
    pub fn name(&self) -> String {
        self.directory.file_name().unwrap_or_default().to_string_lossy().into_owned()
    }

    pub fn document(&self) -> Result<Exploration, Failure> {
        let Ended { verdict, request, what, .. } = self;
        // The first trial of a campaign has no fault.
        let normal = self.look(0)?;
        let (ways, reached) = normal.as_ref().map_or((Vec::new(), None), |it| self.normal(&it.1));
        let struck: BTreeSet<u32> =
            verdict.trials.iter().filter_map(|it| self.catalogue.find(&it.injected.as_ref()?.site)).collect();
        let (suspicious, other): (Vec<_>, Vec<_>) =
            verdict.findings.iter().partition(|it| it.is_suspicious());
        let (known, expected): (Vec<_>, Vec<_>) =
            other.into_iter().partition(|it| it.severity.is_suspicious());
        let (confirmed, unconfirmed): (Vec<_>, Vec<_>) =
            suspicious.into_iter().partition(|it| proof(it) == Proof::Confirmed);
        let findings = |all: Vec<&Suspect>, with_story: bool| -> Result<Vec<Finding>, Failure> {
            let all = all.into_iter().filter(|it| !it.symptoms.is_empty());
            all.map(|it| self.finding(it, with_story)).collect()
        };
        Ok(Exploration {
            version: EXPLORATION_VERSION,
            tool: env!("CARGO_PKG_VERSION").to_owned(),
            verb: request.verb.clone(),
            campaign: self.name(),
            directory: Some(Called::of(self.directory).from.display().to_string()),
            workload: request.workload.name.clone(),
            policy: what.policy.clone(),
            seed: request.seed,
            trials: verdict.trials.len() as u64,
            injected: verdict.injected,
            states: verdict.states.len() as u64,
            keys: verdict.keys as u64,
            resets: verdict.resets,
            normal_runs: verdict.normal_runs,
            refused: verdict.refused,
            standing: standing(&verdict.standing),
            findings: findings(confirmed, true)?,
            unconfirmed: findings(unconfirmed, false)?,
            known: findings(known, false)?,
            expected: findings(expected, false)?,
            seconds: self.took.as_secs_f64(),
            sites: SiteCounts {
                total: self.catalogue.sites().len() as u64,
                reached,
                injected: struck.len() as u64,
            },
            tasks: self.tasks(ways),
            tried: verdict.trials.clone(),
        })
    }

    /// A trial that is over, with its evidence.
    fn look(&self, trial: u64) -> Result<Option<(Outcome, Evidence)>, Failure> {
        let directory = trial_directory(self.directory, JobId(trial));
        let Some(outcome) = finished(&directory)? else { return Ok(None) };
        // Who has thrown its files away has the rest.
        Ok(evidence_of(&directory, &outcome).ok().map(|it| (outcome, it)))
    }

    /// How the tasks went in a run without a fault, and how many of the calls it made.
    fn normal(&self, evidence: &Evidence) -> (Vec<Ways>, Option<u64>) {
        let ways = self.ways(evidence, None);
        let (Ok(map), Ok(trace)) = (evidence.map(), evidence.trace()) else { return (ways, None) };
        let jvms = trace.jvms();
        let hit: BTreeSet<SiteId> = jvms.iter().flat_map(|it| trace.events(it)).map(|it| it.site).collect();
        let calls = hit.into_iter().filter_map(|it| map.site(it)).filter(|it| it.kind == SiteKind::Call);
        let reached: BTreeSet<u32> = calls.filter_map(|it| self.catalogue.find(&it)).collect();
        (ways, Some(reached.len() as u64))
    }

    /// How each task went, in the JVMs of a node or in all.
    fn ways(&self, evidence: &Evidence, node: Option<&str>) -> Vec<Ways> {
        let firsts = first_states(self.tasks);
        let mut ways = vec![Ways::new(); self.tasks.len()];
        let Ok(trace) = evidence.trace() else { return ways };
        // The task that a state is of, and its number there.
        let of = |state: u32| {
            let task = firsts.partition_point(|&first| first <= state).checked_sub(1)?;
            (state < *firsts.last()?).then(|| (task, state - firsts[task]))
        };
        for jvm in trace.jvms().iter().filter(|it| node.is_none_or(|node| it.node == node)) {
            for it in trace.transitions(jvm) {
                let (from, to) = (of(it.from.0), of(it.to.0));
                match (from, to) {
                    (_, Some((task, state))) if it.enters => {
                        *ways[task].entry((None, Some(state))).or_default() += 1;
                    }
                    (Some((task, state)), _) if it.leaves => {
                        *ways[task].entry((Some(state), None)).or_default() += 1;
                    }
                    (Some((task, a)), Some((other, b))) if task == other => {
                        *ways[task].entry((Some(a), Some(b))).or_default() += 1;
                    }
                    _ => {}
                }
            }
        }
        ways
    }

    fn tasks(&self, ways: Vec<Ways>) -> Vec<Task> {
        let reached: BTreeSet<&str> = self.verdict.states.iter().map(String::as_str).collect();
        let mut injected: BTreeMap<&str, u64> = BTreeMap::new();
        for it in self.verdict.trials.iter().filter_map(|it| it.injected.as_ref()?.at.state.as_deref()) {
            *injected.entry(it).or_default() += 1;
        }
        let mut ways = ways.into_iter();
        let names = states_by_task(self.tasks);
        let task = |(number, task): (usize, &TaskMethod)| {
            let names = &names[number];
            let places = self.places.get(number).map_or(&[][..], Vec::as_slice);
            let state = |number: usize| {
                let name = names[number].clone();
                let (line, begins) = places.get(number).copied().unwrap_or_default();
                TaskState {
                    is_reached: reached.contains(name.as_str()),
                    injected: injected.get(name.as_str()).copied().unwrap_or(0),
                    line,
                    begins: begins.map(str::to_owned),
                    name,
                }
            };
            Task {
                name: format!("{}.{}", task.class, task.method),
                states: (0..task.states.len()).map(state).collect(),
                ways: list(ways.next().unwrap_or_default()),
            }
        };
        self.tasks.iter().enumerate().map(task).collect()
    }

    /// A finding; with its story, what became of all processes, and how its task went.
    fn finding(&self, it: &Suspect, with_story: bool) -> Result<Finding, Failure> {
        let worst = &it.symptoms[0];
        let site = &it.injected.site;
        let trial = it.replayed.unwrap_or(it.worst_trial);
        let seen = if with_story { self.look(trial)? } else { None };
        let processes = seen.as_ref().map_or_else(Vec::new, |(outcome, _)| {
            outcome.processes.iter().map(|it| saw(it, &self.request.workload)).collect()
        });
        let ways = seen.as_ref().and_then(|(outcome, evidence)| self.ways_of(it, outcome, evidence));
        Ok(Finding {
            class: site.class.clone(),
            method: site.method.clone(),
            line: site.line,
            callee: site.callee.clone(),
            fault: it.injected.fault.to_string(),
            kind: worst.kind,
            severity: it.severity,
            why: worst.why.clone(),
            symptoms: it.symptoms.clone(),
            stack: it.stack.clone(),
            node: it.injected.at.node.clone(),
            state: it.injected.at.state.clone(),
            first_trial: it.first_trial,
            trials: it.trials.len() as u64,
            rate: rate(it.rate),
            missed: it.missed,
            proof: proof(it),
            known: it.known.clone(),
            same_site: rate(it.neighbours.same_site),
            same_place: Some(rate(it.neighbours.same_place)),
            same_state: rate(it.neighbours.same_state),
            matters: it.neighbours.what_matters(),
            replay: Called::of(self.directory).replay(trial),
            injected: it.injected.clone(),
            trial,
            processes,
            ways: ways.map_or_else(Vec::new, list),
        })
    }

    /// How the task of a finding went in a trial, in the JVM that got the fault.
    fn ways_of(&self, it: &Suspect, outcome: &Outcome, evidence: &Evidence) -> Option<Ways> {
        let state = it.injected.at.state.as_deref()?;
        let task = states_by_task(self.tasks).iter().position(|it| it.iter().any(|it| it == state))?;
        let jvm = outcome.candidates.iter().find_map(|it| match &it.result {
            CandidateResult::Injected(at) => outcome.jvms.get(at.jvm),
            _ => None,
        })?;
        self.ways(evidence, Some(&jvm.node)).into_iter().nth(task)
    }
}

fn list(ways: Ways) -> Vec<Way> {
    ways.into_iter().map(|((from, to), times)| Way { from, to, times }).collect()
}

fn saw(it: &hypocenter_plan::ProcessOutcome, workload: &Workload) -> Saw {
    let client = workload.client.iter().find(|client| it.role == Role::Client && client.name == it.name);
    let is_well = match it.role {
        Role::Node => it.end.is_none() && it.alive != Some(false),
        Role::Client => it.is_well(),
        Role::Command => it.end.is_some_and(|it| it.is_well()),
    };
    Saw {
        name: if it.incarnation > 1 {
            format!("{}, start {}", it.name, it.incarnation)
        } else {
            it.name.clone()
        },
        role: it.role,
        node: client.and_then(|it| it.node.clone()),
        phase: client.map(|it| it.phase),
        progress: it.progress,
        steps: it.steps,
        end: it.end.map(|it| it.to_string()),
        alive: it.alive,
        is_well,
    }
}

/// The end of the campaign; failures that runs without a fault have in common are reported once.
fn standing(it: &Standing) -> Standing {
    match it {
        Standing::NormalFails { wrong, runs } => {
            Standing::NormalFails { wrong: together(wrong, *runs), runs: *runs }
        }
        other => other.clone(),
    }
}

/// The proof that replays give of a finding.
pub fn proof(it: &Suspect) -> Proof {
    Proof::of(rate(it.rate))
}

fn rate((hits, runs): (u64, u64)) -> Rate {
    Rate { hits, runs }
}
