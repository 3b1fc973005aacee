//! Campaigns on a small space: recorded requests in, plans out.

use hypocenter_engine::Confirmed;
use hypocenter_plan::{
    CandidateOutcome, CandidateResult, End, FORMAT_VERSION, Fault, Injection, MethodLine, Pause,
    ProcessOutcome, Role, Site, SiteKind, Steering,
};

use hypocenter_results::explored::Severity;

use super::*;
use crate::catalogue::SiteFaults;
use crate::reader::{Requested, Situation};
use crate::threads::{ThreadAtEnd, Waits};

fn site(number: u32) -> Site {
    Site {
        class: "a.Store".into(),
        method: format!("step{number}"),
        descriptor: "()V".into(),
        kind: SiteKind::Call,
        callee: Some(format!("java.io.OutputStream.write{}()V", number % 2)),
        ordinal: 0,
        line: None,
    }
}

fn exception(class: &str) -> Fault {
    Fault::Exception { class: class.into(), message: None }
}

/// Three calls; the first can fail in two ways.
fn catalogue() -> Arc<Catalogue> {
    let faults = |classes: &[&str]| classes.iter().map(|it| exception(it)).collect();
    let sites = [&["a.One", "a.Two"][..], &["a.One"], &["a.One"]];
    let sites = sites.iter().enumerate();
    Arc::new(Catalogue::new(
        sites.map(|(it, classes)| SiteFaults { site: site(it as u32), faults: faults(classes) }).collect(),
    ))
}

/// The engine as campaigns have it.
fn explore(catalogue: Arc<Catalogue>, settings: Settings) -> Confirmed<Explore> {
    Confirmed::new(Explore::new(catalogue, settings))
}

fn settings(policy: Policy) -> Settings {
    let client = |name: &str, node: &str| ClientOf {
        name: name.into(),
        node: Some(node.into()),
        kind: None,
        phase: 1,
    };
    Settings {
        workload: "w".into(),
        several_nodes: true,
        is_judged: true,
        places: Vec::new(),
        clients: vec![client("c1", "n1"), client("c2", "n2")],
        plan: Plan { seed: 100, ..Plan::default() },
        policy,
        key: KeyKind::State,
        budget: 2,
        epsilon: 0.01,
        trials: 8,
        normal_runs: 2,
        replays: 2,
        replayed_findings: 5,
        neighbours: 0,
        known: Vec::new(),
        until: None,
    }
}

/// Requests as (node, state, call, times), in their order.
fn digest(requests: &[(&str, &str, u32, u64)]) -> TrialDigest {
    let mut digest = TrialDigest::default();
    for &(node, state, site, times) in requests {
        let thread = (state == "none").then(|| "main".to_owned());
        let situation = Situation { node: node.into(), state: state.into(), thread };
        let number = digest.situations.iter().position(|it| *it == situation).unwrap_or_else(|| {
            digest.situations.push(situation);
            digest.situations.len() - 1
        });
        digest.requested.push(Requested { situation: number as u32, site, stack: 0, times });
        digest.sequence.extend(std::iter::repeat_n((number as u32, site), times as usize));
        if state != "none" && !digest.states.iter().any(|it| it == state) {
            digest.states.push(state.into());
        }
    }
    digest
}

fn normal() -> TrialDigest {
    digest(&[("n1", "a.A.run#0", 0, 9), ("n1", "a.A.run#1", 1, 1), ("n2", "none", 2, 3)])
}

fn client(name: &str, well: bool) -> ProcessOutcome {
    ProcessOutcome {
        name: name.into(),
        role: Role::Client,
        incarnation: 1,
        started_ms: 0,
        ready_ms: None,
        ended_ms: None,
        end: Some(End::Exited { status: i32::from(!well) }),
        progress: None,
        steps: None,
        alive: None,
        logs: Vec::new(),
    }
}

/// The outcome of a plan whose candidate of this number happened.
fn outcome(plan: &Plan, injected: Option<usize>, well: bool) -> Outcome {
    let result = |number: usize, when: &Guard| match injected {
        Some(it) if it == number => CandidateResult::Injected(Injection {
            jvm: 0,
            node: when.node.clone().unwrap_or("n1".into()),
            thread: "t".into(),
            occurrence: 4,
            at_ms: 1.0,
            times: 1,
            threw: None,
            state: when.state.clone().filter(|it| it != "none"),
            stack_hash: 1,
            stack: Vec::new(),
        }),
        Some(_) => CandidateResult::NotNeeded,
        None => CandidateResult::NotReached { why: "no".into() },
    };
    let candidates = plan.candidates.iter().enumerate().map(|(number, it)| CandidateOutcome {
        site: it.site.clone(),
        fault: it.fault.clone(),
        hits: 1,
        result: result(number, &it.when),
    });
    Outcome {
        version: FORMAT_VERSION,
        end: if well { End::Exited { status: 0 } } else { End::Unfinished },
        wall_ms: 1,
        disk_full: false,
        failure: None,
        processes: vec![client("c1", true), client("c2", well)],
        candidates: candidates.collect(),
        steering: Steering::default(),
        jvms: Vec::new(),
        problems: Vec::new(),
    }
}

fn plan_of(job: &Job) -> &Plan {
    let Work::Trial { plan, .. } = &job.work else { panic!("explore asks for trials") };
    plan
}

/// Runs a campaign, one job after the other; `react` says what each plan gives.
fn campaign(
    engine: &mut Confirmed<Explore>,
    mut react: impl FnMut(&Plan) -> (Outcome, TrialDigest),
) -> Vec<(Job, Outcome, TrialDigest)> {
    let mut story = Vec::new();
    while let Next::Start(jobs) = engine.next(1) {
        let [job] = jobs.as_slice() else { panic!("one was asked for") };
        let (outcome, digest) = react(plan_of(job));
        engine.tell(job.id, Some(&outcome), digest.clone());
        story.push((job.clone(), outcome, digest));
        assert!(story.len() < 1000, "it goes on for ever");
    }
    story
}

/// The first candidate always happens, and nothing breaks.
fn harmless(plan: &Plan) -> (Outcome, TrialDigest) {
    (outcome(plan, (!plan.candidates.is_empty()).then_some(0), true), normal())
}

#[test]
fn bsrr_is_for_one_state_in_each_trial_and_turns_to_the_next() {
    let mut engine = explore(catalogue(), settings(Policy::Bsrr));
    let story = campaign(&mut engine, harmless);
    assert!(story[..2].iter().all(|(job, ..)| plan_of(job).candidates.is_empty()));
    let verdict = engine.engine().verdict();
    assert_eq!((verdict.standing, verdict.trials.len(), verdict.injected), (Standing::Done, 8, 8));
    let focus: Vec<&str> = verdict.trials.iter().map(|it| it.focus.as_deref().unwrap()).collect();
    let round = ["n1 a.A.run#0", "n1 a.A.run#1", "n2 thread main"];
    assert_eq!(focus, [round, round, round].concat()[..8]);
    assert_eq!((verdict.keys, verdict.resets), (3, 1), "two injections each, then all anew");
    let first = &plan_of(&story[2].0).candidates[0];
    assert_eq!(first.when.node.as_deref(), Some("n1"));
    assert_eq!(first.when.state.as_deref(), Some("a.A.run#0"));
    assert_eq!(first.when.probability, None, "of nine requests one is chosen");
    assert!(first.when.occurrence.is_some_and(|it| (1..=9).contains(&it)));
    let idle = &plan_of(&story[4].0).candidates[0];
    assert_eq!((idle.when.state.as_deref(), idle.when.thread.as_deref()), (Some("none"), Some("main")));
}

#[test]
fn a_call_that_crowds_others_out_is_known_before_the_first_trial() {
    let crowd = |policy: Policy, key: KeyKind, requests: &[(&str, &str, u32, u64)]| {
        let settings = Settings { key, normal_runs: 1, trials: 0, ..settings(policy) };
        let mut engine = explore(catalogue(), settings);
        campaign(&mut engine, |plan| (outcome(plan, None, true), digest(requests)));
        match engine.engine().crowded() {
            Some(Learned::Crowded { site, made, requests, others, .. }) => {
                Some((site.method, made, requests, others))
            }
            _ => None,
        }
    };
    let busy = [("n1", "s", 0, 990), ("n1", "s", 1, 8), ("n1", "s", 2, 2), ("n2", "s", 1, 500)];
    assert_eq!(crowd(Policy::Bsrr, KeyKind::State, &busy), Some(("step0".to_owned(), 990, 1000, 2)));
    // Each call has turns of its own, or all are tried.
    assert_eq!(crowd(Policy::Bsrr, KeyKind::Operation, &[busy[0], busy[1]]), None);
    assert_eq!(crowd(Policy::Exhaustive, KeyKind::State, &busy), None);
    // Shared, alone, or so few that each is tried.
    assert_eq!(crowd(Policy::Bsrr, KeyKind::State, &[("n1", "s", 0, 500), ("n1", "s", 1, 400)]), None);
    assert_eq!(crowd(Policy::Bsrr, KeyKind::State, &[("n1", "s", 0, 500), ("n1", "t", 1, 4)]), None);
    assert_eq!(crowd(Policy::Bsrr, KeyKind::State, &[("n1", "s", 0, 60), ("n1", "s", 1, 2)]), None);
}

/// The moments that the first four trials of a state with 100 requests take, where a delay does or does not hold a lock.
fn moments(holds: bool) -> Vec<Option<u64>> {
    let delay = vec![Fault::Delay { delay_ms: 60_000, pause: Pause::Sleep }];
    let catalogue = Catalogue::new(vec![SiteFaults { site: site(0), faults: delay }]);
    let settings = Settings { budget: 5, trials: 4, normal_runs: 1, ..settings(Policy::Bsrr) };
    let mut engine = explore(Arc::new(catalogue), settings);
    let sleeper =
        ThreadAtEnd { node: "n1".into(), thread: "t".into(), at: None, waits: Waits::default(), holds };
    let react = |plan: &Plan| {
        let digest = TrialDigest {
            threads: vec![sleeper.clone()],
            ..digest(&[("n1", "a.A.run#0", 0, 100), ("n1", "a.A.run#1", 0, 100)])
        };
        (outcome(plan, (!plan.candidates.is_empty()).then_some(0), true), digest)
    };
    let story = campaign(&mut engine, react);
    story[1..5].iter().map(|(job, ..)| plan_of(job).candidates[0].when.occurrence).collect()
}

#[test]
fn a_call_that_is_held_up_with_a_lock_is_looked_at_from_its_first_moment_on() {
    // The first trial is left to chance, and its fault was the fourth request.
    assert_eq!(moments(true), [None, Some(1), Some(2), Some(5)]);
    assert_eq!(moments(false), [None; 4]);
}

#[test]
fn a_state_that_a_trial_finds_is_injectable_from_the_next() {
    let mut engine = explore(catalogue(), Settings { trials: 4, ..settings(Policy::Bsrr) });
    let mut trials = 0;
    let story = campaign(&mut engine, |plan| {
        trials += u64::from(!plan.candidates.is_empty());
        let more: &[(&str, &str, u32, u64)] = if trials > 0 { &[("n1", "a.A.run#2", 2, 1)] } else { &[] };
        let mut found = normal();
        if !more.is_empty() {
            found = digest(&[
                ("n1", "a.A.run#0", 0, 9),
                ("n1", "a.A.run#1", 1, 1),
                ("n2", "none", 2, 3),
                more[0],
            ]);
        }
        (outcome(plan, (!plan.candidates.is_empty()).then_some(0), true), found)
    });
    assert_eq!(story.len(), 6);
    let verdict = engine.engine().verdict();
    assert_eq!(verdict.trials[0].new_states, 1);
    assert_eq!(
        verdict.trials[3].focus.as_deref(),
        Some("n1 a.A.run#2"),
        "the new one goes before those that were tried"
    );
    assert_eq!(verdict.keys, 4);
}

#[test]
fn a_call_with_several_faults_has_one_candidate_and_each_fault_comes_up() {
    let mut engine = explore(catalogue(), Settings { trials: 60, ..settings(Policy::Bsrr) });
    let story = campaign(&mut engine, harmless);
    let of_first = story.iter().flat_map(|(job, ..)| &plan_of(job).candidates);
    let drawn: Vec<&Fault> = of_first.filter(|it| it.site == site(0)).map(|it| &it.fault).collect();
    assert_eq!(drawn.len(), 20, "a third of the trials is for its state");
    assert!(["a.One", "a.Two"].iter().all(|it| drawn.contains(&&exception(it))), "{drawn:?}");
}

#[test]
fn every_plan_says_below_which_calls_nothing_can_fail() {
    let said = [MethodLine { method: "a.Store.step7".into(), line: 5 }];
    let catalogue = Arc::new((*catalogue()).clone().with_memory(said.clone()));
    let mut engine = explore(catalogue, settings(Policy::Bsrr));
    let story = campaign(&mut engine, harmless);
    assert!(story.iter().all(|(job, ..)| plan_of(job).never_below == said), "{story:?}");
}

#[test]
fn the_finer_key_is_for_one_fault_of_one_callee() {
    let settings = Settings { key: KeyKind::Operation, trials: 4, ..settings(Policy::Bsrr) };
    let mut engine = explore(catalogue(), settings);
    let story = campaign(&mut engine, harmless);
    let faults: Vec<(Site, Fault)> = story[2..]
        .iter()
        .flat_map(|(job, ..)| plan_of(job).candidates.iter().map(|it| (it.site.clone(), it.fault.clone())))
        .collect();
    let expected = [(0, "a.One"), (0, "a.Two"), (1, "a.One"), (2, "a.One")]
        .map(|(it, class)| (site(it), exception(class)));
    assert_eq!(faults, expected);
    assert_eq!(engine.engine().verdict().keys, 4);
}

#[test]
fn new_state_takes_whichever_state_is_reached_first_and_each_once() {
    let mut engine = explore(catalogue(), settings(Policy::NewState));
    // The last candidate of each plan is reached first.
    let story =
        campaign(&mut engine, |plan| (outcome(plan, plan.candidates.len().checked_sub(1), true), normal()));
    let sizes: Vec<usize> = story.iter().map(|(job, ..)| plan_of(job).candidates.len()).collect();
    assert_eq!(sizes, [0, 0, 3, 2, 1], "nothing is left then");
    assert!(
        story.iter().all(|(job, ..)| plan_of(job).candidates.iter().all(|it| it.when.probability.is_none()))
    );
    assert_eq!(engine.engine().verdict().standing, Standing::NothingLeft);
}

#[test]
fn random_may_take_any_call_whatever_the_state() {
    let mut engine = explore(catalogue(), settings(Policy::Random));
    let story = campaign(&mut engine, harmless);
    assert_eq!(story.len(), 10);
    let plan = plan_of(&story[2].0);
    assert_eq!(plan.candidates.len(), 3);
    assert!(plan.candidates.iter().all(|it| it.when.state.is_none() && it.when.node.is_none()));
    assert_eq!(plan.candidates[0].when.probability, Some(chance(13.0, 0.01)));
}

#[test]
fn exhaustive_takes_every_request_of_a_run_in_its_order() {
    let mut engine = explore(catalogue(), Settings { trials: 100, ..settings(Policy::Exhaustive) });
    let story = campaign(&mut engine, harmless);
    // Nine requests of a call with two faults, and four of calls with one.
    assert_eq!(story.len(), 2 + 9 * 2 + 1 + 3);
    let when = |at: usize| plan_of(&story[at].0).candidates[0].when.clone();
    assert_eq!((when(2).occurrence, when(4).occurrence), (Some(1), Some(2)));
    assert_eq!((when(23).node.as_deref(), when(23).occurrence), (Some("n2"), Some(3)));
    assert_eq!(engine.engine().verdict().standing, Standing::NothingLeft);
}

#[test]
fn fate_takes_each_stack_once() {
    let stacks = || {
        let mut digest = normal();
        digest.stacks =
            vec![vec!["a.Store.step0".into()], vec!["a.Store.step0".into(), "a.Other.run".into()]];
        digest.requested[0].stack = 1;
        digest.requested.insert(1, Requested { stack: 2, ..digest.requested[0] });
        digest
    };
    let mut engine = explore(catalogue(), settings(Policy::Fate));
    let story = campaign(&mut engine, |plan| {
        (outcome(plan, (!plan.candidates.is_empty()).then_some(0), true), stacks())
    });
    // Two stacks with two faults each, and two calls without a stack.
    assert_eq!(plan_of(&story[2].0).candidates.len(), 6);
    assert_eq!(story.len(), 2 + 6);
    let second = plan_of(&story[4].0).candidates[0].when.stack.clone();
    assert_eq!(second, Some(StackGuard::Suffix(vec!["a.Store.step0".into(), "a.Other.run".into()])));
}

#[test]
fn what_breaks_other_clients_is_found_replayed_and_told_with_its_rate() {
    let settings = Settings { trials: 6, ..settings(Policy::Bsrr) };
    let mut engine = explore(catalogue(), settings);
    let mut trials = 0;
    // A fault in the second state of n1 breaks the client of n2; the second replay does not show it.
    let story = campaign(&mut engine, |plan| {
        let Some(first) = plan.candidates.first() else { return (outcome(plan, None, true), normal()) };
        let is_bad = first.when.state.as_deref() == Some("a.A.run#1");
        trials += 1;
        (outcome(plan, Some(0), !is_bad || trials == 6 + 2), normal())
    });
    let verdict = engine.engine().verdict();
    let [finding] = verdict.findings.as_slice() else { panic!("one: {:#?}", verdict.findings) };
    assert_eq!(finding.severity, Severity::Critical);
    assert!(finding.symptoms[0].why.contains("only clients of other nodes fail: c2"), "{finding:#?}");
    assert_eq!((finding.first_trial, finding.trials.len(), finding.rate), (2, 2, (1, 2)));
    let replay = plan_of(&story[8].0);
    assert_eq!(finding.replayed, Some(8));
    let when = &replay.candidates[0].when;
    assert_eq!((when.occurrence, when.probability, replay.candidates.len()), (Some(4), None, 1));
    assert_eq!((when.node.as_deref(), when.state.as_deref()), (Some("n1"), Some("a.A.run#1")));
    assert_eq!(verdict.standing, Standing::Done);
}

/// The fault matters in the second state of n1 whichever of its two calls fails, at the first moment alone.
#[test]
fn a_finding_that_repeats_is_compared_with_the_same_call_and_the_same_state() {
    let both = || digest(&[("n1", "a.A.run#0", 0, 9), ("n1", "a.A.run#1", 1, 9), ("n1", "a.A.run#1", 2, 1)]);
    let settings = Settings { trials: 2, neighbours: 2, replays: 1, ..settings(Policy::Bsrr) };
    let mut engine = explore(catalogue(), settings);
    let (mut trials, mut compared) = (0, Vec::new());
    campaign(&mut engine, |plan| {
        let Some(first) = plan.candidates.first() else { return (outcome(plan, None, true), both()) };
        let when = &first.when;
        trials += 1;
        let is_late = trials > 2 && matches!(when.occurrence, Some(2 | 5));
        let is_bad = when.state.as_deref() == Some("a.A.run#1") && !is_late;
        if trials > 2 {
            compared.push((first.site.method.clone(), when.occurrence.unwrap_or(0)));
        }
        let mut outcome = outcome(plan, Some(0), !is_bad);
        if trials > 2
            && let CandidateResult::Injected(at) = &mut outcome.candidates[0].result
        {
            at.occurrence = when.occurrence.unwrap_or(0);
        }
        (outcome, both())
    });
    let of = |method: &str, occurrence| (method.to_owned(), occurrence);
    assert_eq!(compared, [of("step1", 4), of("step1", 5), of("step1", 2), of("step2", 1)]);
    let verdict = engine.engine().verdict();
    let [finding] = verdict.findings.as_slice() else { panic!("one: {:#?}", verdict.findings) };
    assert_eq!((finding.neighbours.same_site, finding.neighbours.same_state), ((0, 2), (1, 1)));
    assert_eq!(verdict.standing, Standing::Done);
}

#[test]
fn a_trial_that_fails_although_no_fault_happened_says_so() {
    let mut engine = explore(catalogue(), settings(Policy::Bsrr));
    campaign(&mut engine, |plan| (outcome(plan, None, plan.candidates.is_empty()), normal()));
    let verdict = engine.engine().verdict();
    assert_eq!((verdict.injected, engine.results(&|_| None).failed_alone()), (0, (8, 8)));
    assert!(verdict.findings.is_empty());
    let mut engine = explore(catalogue(), settings(Policy::Bsrr));
    campaign(&mut engine, harmless);
    assert_eq!(engine.results(&|_| None).failed_alone(), (0, 0));
}

#[test]
fn campaigns_whose_seeds_are_neighbours_have_no_seed_of_a_trial_in_common() {
    let seeds = |seed: u64| -> Vec<u64> {
        let plan = Plan { seed, ..Plan::default() };
        let mut engine = explore(catalogue(), Settings { plan, ..settings(Policy::Random) });
        campaign(&mut engine, harmless).iter().map(|(job, ..)| plan_of(job).seed).collect()
    };
    let (one, two) = (seeds(1), seeds(2));
    assert!(one.len() > 8 && one.iter().all(|it| !two.contains(it)), "{one:?} {two:?}");
}

#[test]
fn what_is_known_is_told_as_such_and_not_replayed() {
    let known = Known { site: None, stack: None, fault: None, why: "ACME-7".into() };
    let settings = Settings { trials: 3, known: vec![known], ..settings(Policy::Bsrr) };
    let mut engine = explore(catalogue(), settings);
    let story = campaign(&mut engine, |plan| (outcome(plan, Some(0), plan.candidates.is_empty()), normal()));
    assert_eq!(story.len(), 2 + 3, "no replays");
    let verdict = engine.engine().verdict();
    assert!(verdict.findings.iter().any(|it| it.severity.is_suspicious()), "{:#?}", verdict.findings);
    assert!(verdict.findings.iter().all(|it| it.known.as_deref() == Some("ACME-7") && !it.is_suspicious()));
}

/// The stack of a fault in these tests is empty, so it is given one.
#[test]
fn no_trial_is_begun_once_what_was_looked_for_is_found() {
    let settings = |until: &str| Settings { until: Some(until.into()), replays: 1, ..settings(Policy::Bsrr) };
    let ran = |until: &str| {
        let mut engine = explore(catalogue(), settings(until));
        campaign(&mut engine, |plan| {
            let mut outcome = outcome(plan, Some(0), plan.candidates.is_empty());
            for it in &mut outcome.candidates {
                if let CandidateResult::Injected(at) = &mut it.result {
                    at.stack = vec![hypocenter_plan::Frame { method: "a.Store.append".into(), at: None }];
                }
            }
            (outcome, normal())
        });
        let verdict = engine.engine().verdict();
        assert_eq!(verdict.standing, Standing::Done);
        (verdict.trials.len(), verdict.findings[0].first_trial)
    };
    assert_eq!(ran("*.Store.append"), (1, 1));
    assert_eq!(ran("*.Store.read").0, 8);
}

#[test]
fn runs_without_a_fault_that_go_wrong_end_the_campaign_before_it_begins() {
    let mut engine = explore(catalogue(), settings(Policy::Bsrr));
    let mut runs = 0;
    let story = campaign(&mut engine, |plan| {
        runs += 1;
        (outcome(plan, None, runs > 1), normal())
    });
    assert_eq!(story.len(), 2);
    let wrong = vec![("the workload ended before all its steps".to_owned(), 1)];
    assert_eq!(engine.engine().verdict().standing, Standing::NormalFails { wrong, runs: 2 });

    // So does a question that says of a node that works that it does not: it would explain away whatever a fault does.
    let mut engine = explore(catalogue(), settings(Policy::Bsrr));
    let story = campaign(&mut engine, |plan| {
        let mut outcome = outcome(plan, None, true);
        outcome.processes[1].alive = Some(false);
        (outcome, normal())
    });
    assert_eq!(story.len(), 2);
    let wrong = vec![("c2 reports unhealthy: check its `alive`".to_owned(), 2)];
    assert_eq!(engine.engine().verdict().standing, Standing::NormalFails { wrong, runs: 2 });
}

#[test]
fn a_run_without_requests_leaves_nothing_to_inject() {
    let mut engine = explore(catalogue(), settings(Policy::Bsrr));
    campaign(&mut engine, |plan| (outcome(plan, None, true), TrialDigest::default()));
    assert_eq!(engine.engine().verdict().standing, Standing::NothingToInject);
}

/// Requests and reports of a campaign, from its journal: text.
#[derive(Default)]
struct Recorded {
    lines: Vec<Line>,
}

enum Line {
    Asked(usize, String),
    Told(JobId, String, String),
}

impl Recorded {
    fn asked(&mut self, room: usize, jobs: &[Job]) {
        self.lines.push(Line::Asked(room, serde_json::to_string(jobs).unwrap()));
    }

    fn told(&mut self, id: JobId, outcome: &Outcome, digest: &TrialDigest) {
        let (outcome, digest) =
            (serde_json::to_string(outcome).unwrap(), serde_json::to_string(digest).unwrap());
        self.lines.push(Line::Told(id, outcome, digest));
    }

    /// Plays the first lines into a fresh engine, which must ask for the same; what is in flight then.
    fn play(&self, engine: &mut Confirmed<Explore>, until: usize) -> Vec<Job> {
        let mut open: Vec<Job> = Vec::new();
        for line in &self.lines[..until] {
            match line {
                Line::Asked(room, jobs) => {
                    let jobs: Vec<Job> = serde_json::from_str(jobs).unwrap();
                    assert_eq!(engine.next(*room), Next::Start(jobs.clone()));
                    open.extend(jobs);
                }
                Line::Told(id, outcome, digest) => {
                    open.retain(|it| it.id != *id);
                    let outcome: Outcome = serde_json::from_str(outcome).unwrap();
                    engine.tell(*id, Some(&outcome), serde_json::from_str(digest).unwrap());
                }
            }
        }
        open
    }
}

/// Two trials at a time; what comes of a job, and which of two ends first, follows from the job alone.
fn two_at_a_time(engine: &mut Confirmed<Explore>, mut open: Vec<Job>, recorded: &mut Recorded) {
    for _ in 0..1000 {
        let room = 2 - open.len();
        if room > 0 {
            match engine.next(room) {
                Next::Start(jobs) => {
                    recorded.asked(room, &jobs);
                    open.extend(jobs);
                    continue;
                }
                Next::Done => return,
                Next::Wait => {}
            }
        }
        open.sort_by_key(|it| hash::word(it.id.0, 7));
        let job = open.remove(0);
        let drawn = hash::word(job.id.0, 1);
        let plan = plan_of(&job);
        let hit = (!plan.candidates.is_empty() && !drawn.is_multiple_of(5)).then_some(0);
        let outcome = outcome(plan, hit, !drawn.is_multiple_of(2) || plan.candidates.is_empty());
        recorded.told(job.id, &outcome, &normal());
        engine.tell(job.id, Some(&outcome), normal());
    }
    panic!("it goes on for ever");
}

/// Wherever a campaign is cut, one that is resumed from what was recorded ends as one that was left alone.
#[test]
fn a_campaign_that_is_cut_anywhere_and_resumed_comes_to_the_same() {
    for policy in Policy::ALL {
        let fresh = || explore(catalogue(), Settings { neighbours: 1, trials: 12, ..settings(policy) });
        let mut alone = fresh();
        let mut recorded = Recorded::default();
        two_at_a_time(&mut alone, Vec::new(), &mut recorded);
        let verdict = alone.engine().verdict();
        assert_ne!(verdict.standing, Standing::Going, "{policy}");
        assert!(verdict.findings.iter().any(Suspect::is_suspicious), "{policy}");
        for cut in 0..=recorded.lines.len() {
            let mut resumed = fresh();
            let open = recorded.play(&mut resumed, cut);
            two_at_a_time(&mut resumed, open, &mut Recorded::default());
            assert_eq!(resumed.engine().verdict(), verdict, "{policy}, cut after line {cut}");
        }
    }
}
