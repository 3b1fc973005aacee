//! Result of a campaign as a document: the result of the engine, and additions from the evidence of a few trials.

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_engine::{Evidence, JobId, Look};
use hypocenter_plan::{
    CandidateResult, Outcome, ProcessOutcome, Role, SiteKind, TaskMethod, first_states, states_by_task,
};
use hypocenter_program::{Program, State, StateKind};
use hypocenter_results::explored::{
    Exploration, Saw, SiteCounts, Standing, StateChange, Suspicion, Task, TaskState,
};
use hypocenter_results::{Finding, Proof, Rate};
use hypocenter_trace::SiteId;

use crate::checks::ClientOf;
use crate::engine::{Explore, Verdict};
use crate::findings::Suspect;
use crate::wrong::together;

/// Start of a state, and its cause.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct StatePlace {
    /// The line, if it is known.
    pub line: Option<u32>,
    /// Cause of its start, in one word.
    pub begins: Option<&'static str>,
}

/// Starts of the states of a task. They are numbered in the order of its code.
pub fn state_places(program: &Program, task: &TaskMethod) -> Vec<StatePlace> {
    let world = &program.world;
    let is_here = |it: &&State| {
        world.method_name(it.method) == task.method.as_bytes()
            && world.method_descriptor(it.method) == task.descriptor.as_bytes()
            && world.show_type(world.method(it.method).owner) == task.class
    };
    let mut states: Vec<&State> = program.states.states().iter().filter(is_here).collect();
    states.sort_by_key(|it| it.instruction);
    states.dedup_by_key(|it| it.instruction);
    // Of a lambda, and of code that could not be followed, nothing is known.
    if states.len() != task.states.len() {
        return Vec::new();
    }
    let begins = |it: StateKind| match it {
        StateKind::Start => "start",
        StateKind::Branch => "branch",
        StateKind::Handler => "caught exception",
        StateKind::Helper => "helper method",
    };
    let place = |it: &&State| StatePlace {
        line: (it.line > 0).then_some(it.line.into()),
        begins: Some(begins(it.kind)),
    };
    states.iter().map(place).collect()
}

/// Steps of a task from state to state, as numbers, and how often.
type Ways = BTreeMap<(Option<u32>, Option<u32>), u64>;

impl Explore {
    /// Result of the campaign.
    pub(crate) fn document(&self, look: &Look<'_>) -> Exploration {
        let verdict = &self.verdict();
        // The first trial of a campaign has no fault.
        let normal = look(JobId(0));
        let (ways, reached) = normal.as_ref().map_or((Vec::new(), None), |it| self.normal(&it.1));
        let struck: BTreeSet<u32> = verdict
            .trials
            .iter()
            .filter_map(|it| self.catalogue().find(&it.injected.as_ref()?.site))
            .collect();
        let (suspicious, other): (Vec<_>, Vec<_>) =
            verdict.findings.iter().partition(|it| it.is_suspicious());
        let (known, expected): (Vec<_>, Vec<_>) =
            other.into_iter().partition(|it| it.severity.is_suspicious());
        let (confirmed, unconfirmed): (Vec<_>, Vec<_>) =
            suspicious.into_iter().partition(|it| proof(it) == Proof::Confirmed);
        let findings = |all: Vec<&Suspect>, look: Option<&Look<'_>>| {
            let all = all.into_iter().filter(|it| !it.symptoms.is_empty());
            all.map(|it| self.finding(it, look)).collect()
        };
        Exploration {
            policy: self.settings().policy.to_string(),
            key: self.settings().key.name().to_owned(),
            several_nodes: self.settings().several_nodes,
            is_judged: self.settings().is_judged,
            trials: verdict.trials.len() as u64,
            injected: verdict.injected,
            states: verdict.states.len() as u64,
            keys: verdict.keys as u64,
            resets: verdict.resets,
            normal_runs: verdict.normal_runs,
            refused: verdict.refused,
            standing: standing(&verdict.standing),
            problems: verdict.problems.clone(),
            findings: findings(confirmed, Some(look)),
            unconfirmed: findings(unconfirmed, None),
            known: findings(known, None),
            expected: findings(expected, None),
            sites: SiteCounts {
                total: self.catalogue().sites().len() as u64,
                reached,
                injected: struck.len() as u64,
            },
            tasks: self.tasks(verdict, ways),
            tried: verdict.trials.clone(),
        }
    }

    /// Course of the tasks in a run without a fault, and number of calls that it made.
    fn normal(&self, evidence: &Evidence) -> (Vec<Ways>, Option<u64>) {
        let ways = self.ways(evidence, None);
        let (Ok(map), Ok(trace)) = (evidence.map(), evidence.trace()) else { return (ways, None) };
        let jvms = trace.jvms();
        let hit: BTreeSet<SiteId> = jvms.iter().flat_map(|it| trace.events(it)).map(|it| it.site).collect();
        let calls = hit.into_iter().filter_map(|it| map.site(it)).filter(|it| it.kind == SiteKind::Call);
        let reached: BTreeSet<u32> = calls.filter_map(|it| self.catalogue().find(&it)).collect();
        (ways, Some(reached.len() as u64))
    }

    /// Transitions of each task, in the JVMs of a node or in all.
    fn ways(&self, evidence: &Evidence, node: Option<&str>) -> Vec<Ways> {
        let firsts = first_states(self.followed());
        let mut ways = vec![Ways::new(); self.followed().len()];
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

    fn tasks(&self, verdict: &Verdict, ways: Vec<Ways>) -> Vec<Task> {
        let reached: BTreeSet<&str> = verdict.states.iter().map(String::as_str).collect();
        let mut injected: BTreeMap<&str, u64> = BTreeMap::new();
        for it in verdict.trials.iter().filter_map(|it| it.injected.as_ref()?.at.state.as_deref()) {
            *injected.entry(it).or_default() += 1;
        }
        let mut ways = ways.into_iter();
        let names = states_by_task(self.followed());
        let task = |(number, task): (usize, &TaskMethod)| {
            let names = &names[number];
            let places = self.settings().places.get(number).map_or(&[][..], Vec::as_slice);
            let state = |number: usize| {
                let name = names[number].clone();
                let StatePlace { line, begins } = places.get(number).copied().unwrap_or_default();
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
        self.followed().iter().enumerate().map(task).collect()
    }

    /// The tasks that are followed.
    fn followed(&self) -> &[TaskMethod] {
        &self.settings().plan.record.tasks
    }

    /// A finding; where its evidence is looked at, with what became of all processes, and how its task went.
    fn finding(&self, it: &Suspect, look: Option<&Look<'_>>) -> Finding<Suspicion> {
        let worst = &it.symptoms[0];
        let site = &it.injected.site;
        let trial = it.replayed.unwrap_or(it.worst_trial);
        let seen = look.and_then(|look| look(JobId(trial)));
        let processes = seen.as_ref().map_or_else(Vec::new, |(outcome, _)| {
            outcome.processes.iter().map(|it| saw(it, &self.settings().clients)).collect()
        });
        let ways = seen.as_ref().and_then(|(outcome, evidence)| self.ways_of(it, outcome, evidence));
        Finding {
            faults: vec![it.injected.clone()],
            why: worst.why.clone(),
            proof: proof(it),
            rate: rate(it.rate),
            missed: it.missed,
            trial,
            story: None,
            replay: String::new(),
            detail: Suspicion {
                class: site.class.clone(),
                method: site.method.clone(),
                line: site.line,
                callee: site.callee.clone(),
                fault: it.injected.fault.to_string(),
                kind: worst.kind,
                severity: it.severity,
                symptoms: it.symptoms.clone(),
                stack: it.stack.clone(),
                node: it.injected.at.node.clone(),
                state: it.injected.at.state.clone(),
                first_trial: it.first_trial,
                trials: it.trials.len() as u64,
                known: it.known.clone(),
                same_site: rate(it.neighbours.same_site),
                same_place: Some(rate(it.neighbours.same_place)),
                same_state: rate(it.neighbours.same_state),
                matters: it.neighbours.what_matters(),
                processes,
                ways: ways.map_or_else(Vec::new, list),
            },
        }
    }

    /// Course of the task of a finding in a trial, in the JVM with the fault.
    fn ways_of(&self, it: &Suspect, outcome: &Outcome, evidence: &Evidence) -> Option<Ways> {
        let state = it.injected.at.state.as_deref()?;
        let task = states_by_task(self.followed()).iter().position(|it| it.iter().any(|it| it == state))?;
        let jvm = outcome.candidates.iter().find_map(|it| match &it.result {
            CandidateResult::Injected(at) => outcome.jvms.get(at.jvm),
            _ => None,
        })?;
        self.ways(evidence, Some(&jvm.node)).into_iter().nth(task)
    }
}

fn list(ways: Ways) -> Vec<StateChange> {
    ways.into_iter().map(|((from, to), times)| StateChange { from, to, times }).collect()
}

fn saw(it: &ProcessOutcome, clients: &[ClientOf]) -> Saw {
    let client = clients.iter().find(|client| it.role == Role::Client && client.name == it.name);
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
fn proof(it: &Suspect) -> Proof {
    Proof::of(rate(it.rate))
}

fn rate((hits, runs): (u64, u64)) -> Rate {
    Rate { hits, runs }
}
