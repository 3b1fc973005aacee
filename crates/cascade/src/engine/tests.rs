mod recorded;

use hypocenter_engine::{Played, Recording};
use hypocenter_plan::{CandidateOutcome, Frame, Injection, Problem, Steering};
use hypocenter_results::cascaded::CascadeKind::{Delay, Exception, Negation};
use hypocenter_results::cascaded::CascadeStep;
use hypocenter_results::event::Effect as EventEffect;
use hypocenter_results::{Detail, Proof};

use super::*;
use crate::random::Random;
use crate::reader::Spot;
use crate::testing::{TWO_STAGES, model, run};

const CLONE: &str = "w@own.CloneTest#clones";
const LOSS: &str = "w@own.LossTest#loses";
const FAVORED: &str = "w@own.FavoredTest#favors";
const TESTS: [&str; 3] = [CLONE, LOSS, FAVORED];

/// A delay of loop 0 leads to exception 1, that to negation 2, and that to growth of loop 0, each in another test. Exception 3 leads to
/// nothing, exception 4 is never injected although its place is reached, and loop 5 has other counts in each run.
fn system() -> Model {
    model(&[Delay, Exception, Negation, Exception, Exception, Delay])
}

fn settings() -> CascadeSettings {
    CascadeSettings {
        tests: TESTS.map(str::to_owned).to_vec(),
        plan: Plan::default(),
        repeats: 5,
        delays_ms: vec![40, 10],
        delay_total_ms: 100,
        for_ms: 50,
        all_lengths: false,
        judging: TWO_STAGES,
        budget: 4.0,
        is_random: false,
        seed: 1,
        path_depth: 3,
        spare_tests: 2,
        fit: Fit { callers: true, ways: true },
        beam: 1000,
        delays_in_cycle: 1,
        runs_again: true,
        time_ms: None,
        known: Vec::new(),
    }
}

/// The system while it is run.
struct World {
    model: Arc<Model>,
    /// Number of runs of the same work.
    runs: BTreeMap<String, u64>,
    /// Changes what comes of the n-th run of a plan in a test, with or without a fault.
    change: fn(test: &str, fault: Option<u32>, nth: u64, Run) -> Run,
    end: End,
}

impl World {
    fn new(model: &Arc<Model>) -> World {
        World {
            model: model.clone(),
            runs: BTreeMap::new(),
            change: |_, _, _, run| run,
            end: End::Exited { status: 0 },
        }
    }

    /// The faults of a plan.
    fn faults(&self, plan: &Plan) -> Vec<u32> {
        let number = |it: &Candidate| {
            let of = self.model.faults().iter().position(|fault| fault.inject.contains(&it.site));
            of.expect("a site of the model") as u32
        };
        plan.candidates.iter().map(number).collect()
    }

    fn carry_out(&mut self, job: &Job) -> (Outcome, RunDigest) {
        let Work::Trial { workload: test, plan, .. } = &job.work else { panic!("{job:?}") };
        let nth = self.runs.entry(serde_json::to_string(&job.work).expect("JSON")).or_default();
        let number = *nth;
        *nth += 1;
        let faults = self.faults(plan);
        let counts_only = plan.candidates.iter().all(|it| it.when.occurrence == Some(u64::MAX));
        let injected = if counts_only { None } else { faults.first().copied().filter(|it| *it != 4) };
        let mut run = run().loops(5, 3 + number % 2).reaches(&[0, 1, 2, 3, 4, 5]);
        let growth = if (injected, &test[..]) == (Some(2), FAVORED) { 12 } else { 0 };
        run = run.loops_at(Spot(0, [1, 0], 0), 12 + growth, &[1]);
        run = match (injected, &test[..]) {
            (Some(0), CLONE) => run.error_at(Spot(1, [2, 0], 0), &[5]),
            (Some(1), LOSS) => run.error_at(Spot(2, [3, 0], 1), &[6]),
            _ => run,
        };
        run = match injected {
            Some(1) => run.injected_at([2, 0], 0, &[5]),
            Some(2) => run.injected_at([3, 0], 1, &[6]),
            Some(_) => run.injected_at([0, 0], 0, &[]),
            None => run,
        };
        run.digest.is_armed = true;
        run.digest.sites = 9;
        let run = (self.change)(test, if counts_only { None } else { faults.first().copied() }, number, run);
        (outcome(plan, injected.is_some(), self.end), run.digest)
    }
}

/// The outcome of a trial, all of whose sites are hit.
fn outcome(plan: &Plan, is_injected: bool, end: End) -> Outcome {
    let injection = Injection {
        jvm: 0,
        node: "main".to_owned(),
        thread: "main".to_owned(),
        occurrence: 1,
        at_ms: 1.0,
        times: 2,
        threw: None,
        state: None,
        stack_hash: 0,
        stack: (0..5).map(|it| Frame { method: format!("own.Caller.m{it}"), at: None }).collect(),
    };
    let result = match is_injected {
        true => CandidateResult::Injected(injection),
        false => CandidateResult::NotReached { why: "its instance never came".to_owned() },
    };
    let fate = |it: &Candidate| CandidateOutcome {
        site: it.site.clone(),
        fault: it.fault.clone(),
        hits: 1,
        result: result.clone(),
    };
    Outcome {
        version: 1,
        end,
        wall_ms: 1000,
        disk_full: false,
        failure: None,
        processes: Vec::new(),
        candidates: plan.candidates.iter().map(fate).collect(),
        steering: Steering::default(),
        jvms: Vec::new(),
        problems: Vec::new(),
    }
}

/// Call of an engine.
#[derive(Debug, Clone)]
enum Entry {
    Asked(usize, Vec<Job>),
    Told(JobId, Box<Outcome>, RunDigest),
}

/// Results of a campaign, and the calls that led to them.
struct Campaign {
    entries: Vec<Entry>,
    events: Vec<Event>,
    results: Results,
    again: Vec<JobId>,
}

/// Lets so many workers do what an engine asks for. The jobs of a batch are carried out in order and end in an order that follows from a
/// number; 0 is the order in which they began.
fn play<E: Engine<Digester = RunReader, Results = Results>>(
    engine: &mut E,
    carry_out: &mut dyn FnMut(&Job) -> (Outcome, RunDigest),
    workers: usize,
    order: u64,
) -> Campaign {
    let mut random = Random::new(order);
    let (mut open, mut entries, mut events): (VecDeque<_>, Vec<Entry>, Vec<Event>) = Default::default();
    let mut again = Vec::new();
    loop {
        let room = workers - open.len();
        let next = if room == 0 { Next::Wait } else { engine.next(room) };
        match next {
            Next::Start(jobs) => {
                assert!((1..=room).contains(&jobs.len()));
                entries.push(Entry::Asked(room, jobs.clone()));
                again.extend(
                    jobs.iter().filter(|it| matches!(it.purpose, Purpose::Replay(_))).map(|it| it.id),
                );
                open.extend(jobs.iter().map(|it| (it.id, carry_out(it))));
                continue;
            }
            Next::Wait => assert!(!open.is_empty(), "nothing is under way, and the engine waits"),
            Next::Done => {
                assert!(open.is_empty(), "the campaign is over, and something is under way");
                return Campaign { entries, events, results: engine.results(&|_| None), again };
            }
        }
        let at = if order == 0 { 0 } else { random.below(open.len()) };
        let (id, (outcome, digest)) = open.remove(at).expect("it is below the length");
        events.extend(engine.tell(id, Some(&outcome), digest.clone()));
        entries.push(Entry::Told(id, Box::new(outcome), digest));
    }
}

fn engine(what: &CascadeSettings) -> (Cascade, World) {
    let model = Arc::new(system());
    (Cascade::new(model.clone(), what.clone()), World::new(&model))
}

/// A campaign of the system, by one worker.
fn campaign(what: &CascadeSettings, mut change: impl FnMut(&mut World)) -> Campaign {
    let (mut engine, mut world) = engine(what);
    change(&mut world);
    play(&mut engine, &mut |it| world.carry_out(it), 1, 0)
}

/// Results without the numbers of trials, which follow the order in which jobs end.
fn unnumbered(mut it: Results) -> Results {
    let steps = |of: &mut [CascadeStep]| of.iter_mut().for_each(|it| it.trial = 0);
    steps(&mut it.steps);
    for cycle in &mut it.cycles {
        cycle.trial = 0;
        steps(&mut cycle.detail.steps);
        cycle.detail.alike.iter_mut().for_each(|it| steps(it));
    }
    it
}

/// Cycles in short: cause and kind of each step, and where it was shown.
fn cycles(it: &Results) -> Vec<Vec<(Option<u32>, &'static str, &str)>> {
    let step = |it: &'_ CascadeStep| (it.cause.line, it.kind.name(), it.test.clone());
    let known = |test: Option<String>| TESTS.into_iter().find(|it| test.as_deref() == Some(it)).unwrap_or("");
    let ring = |of: &[CascadeStep]| of.iter().map(step).map(|it| (it.0, it.1, known(it.2))).collect();
    it.cycles.iter().map(|it| ring(&it.detail.steps)).collect()
}

#[test]
fn a_cycle_of_three_tests_is_found() {
    let found = campaign(&settings(), |_| ()).results;
    assert_eq!(
        cycles(&found),
        [[(Some(0), "E(D)", CLONE), (Some(1), "E(I)", LOSS), (Some(2), "S+(I)", FAVORED)]]
    );
    let cycle = &found.cycles[0];
    assert_eq!((cycle.proof, cycle.detail.in_one_test), (Proof::Confirmed, false));
    // Exception 1 has its effect injected once, and at every hit.
    assert_eq!((found.steps.len(), cycle.detail.alike_count), (4, 1), "{:#?}", found.steps);
    let growth = found.steps.iter().find(|it| it.kind == StepKind::GrowthOfInjection).expect("a step");
    assert_eq!((&growth.with, &growth.without), (&vec![24; 5], &vec![12; 5]));
    assert!(found.problems.is_empty() && !found.is_going);
    // Each pair of a fault and a test was tried, in all of which exception 4 is void.
    assert_eq!((found.experiments.made, found.experiments.void), (15, 3));
    assert_eq!(found.faults.unreached, 0);
}

#[test]
fn results_do_not_depend_on_the_order_in_which_jobs_end() {
    for is_random in [false, true] {
        // A budget that does not try everything, so that it matters what is chosen.
        let what = CascadeSettings { is_random, budget: 2.0, ..settings() };
        let expect = unnumbered(campaign(&what, |_| ()).results);
        for (workers, order) in [(1, 0), (2, 1), (3, 2), (5, 3), (8, 4), (40, 5), (400, 6)] {
            let (mut engine, mut world) = engine(&what);
            let found = play(&mut engine, &mut |it| world.carry_out(it), workers, order);
            assert_eq!(unnumbered(found.results), expect, "{workers} workers, order {order}");
        }
    }
}

#[test]
fn asking_again_after_wait_or_done_changes_nothing() {
    let (mut engine, mut world) = engine(&settings());
    let mut open: VecDeque<(JobId, (Outcome, RunDigest))> = VecDeque::new();
    let (mut jobs, mut waits) = (Vec::new(), 0);
    // More workers than there ever are jobs, so that each tell is followed by a question that may have no answer.
    const WORKERS: usize = 1000;
    loop {
        match engine.next(WORKERS) {
            Next::Start(more) => {
                open.extend(more.iter().map(|it| (it.id, world.carry_out(it))));
                jobs.extend(more);
                continue;
            }
            Next::Wait => {
                waits += 1;
                for room in [1, 7, WORKERS] {
                    assert_eq!(engine.next(room), Next::Wait);
                }
            }
            Next::Done => break,
        }
        let (id, (outcome, digest)) = open.pop_front().expect("something is under way");
        engine.tell(id, Some(&outcome), digest);
    }
    let results = engine.results(&|_| None);
    for room in [1, 7, WORKERS] {
        assert_eq!(engine.next(room), Next::Done);
    }
    assert_eq!(engine.results(&|_| None), results);
    assert!(waits > 10, "{waits}");
    // One that is only asked where it has something to say gets the same.
    let (mut quiet, mut world) = self::engine(&settings());
    let found = play(&mut quiet, &mut |it| world.carry_out(it), WORKERS, 0);
    assert_eq!(found.results, results);
}

#[test]
fn a_campaign_goes_on_from_its_journal() {
    let (mut first, mut world) = engine(&settings());
    let whole = play(&mut first, &mut |it| world.carry_out(it), 3, 7);
    let all = whole.entries.len();
    for cut in [0, 1, all / 4, all / 2, 3 * all / 4, all - 1, all] {
        let mut engine = engine(&settings()).0;
        let mut open = Vec::new();
        for entry in &whole.entries[..cut] {
            match entry.clone() {
                Entry::Asked(room, jobs) => {
                    assert_eq!(engine.next(room), Next::Start(jobs.clone()), "cut at {cut} of {all}");
                    open.extend(jobs.iter().map(|it| it.id));
                }
                Entry::Told(id, outcome, digest) => {
                    open.retain(|it| *it != id);
                    engine.tell(id, Some(&outcome), digest);
                }
            }
        }
        // What was under way when it was cut is done again, and the rest as before.
        let told: BTreeMap<JobId, (Box<Outcome>, RunDigest)> = whole
            .entries
            .iter()
            .filter_map(|it| match it {
                Entry::Told(id, outcome, digest) => Some((*id, (outcome.clone(), digest.clone()))),
                Entry::Asked(..) => None,
            })
            .collect();
        for id in open {
            let (outcome, digest) = told[&id].clone();
            engine.tell(id, Some(&outcome), digest);
        }
        let mut world = World { runs: runs_of(&whole.entries[..cut]), ..World::new(&Arc::new(system())) };
        let rest = play(&mut engine, &mut |it| world.carry_out(it), 3, 8);
        assert_eq!(unnumbered(rest.results), unnumbered(whole.results.clone()), "cut at {cut} of {all}");
    }
}

/// Number of requests for each work.
fn runs_of(entries: &[Entry]) -> BTreeMap<String, u64> {
    let mut runs = BTreeMap::new();
    for entry in entries {
        if let Entry::Asked(_, jobs) = entry {
            for job in jobs {
                *runs.entry(serde_json::to_string(&job.work).expect("JSON")).or_default() += 1;
            }
        }
    }
    runs
}

/// The trials of a campaign by what was asked for, except for some.
fn recording(of: &Campaign, keeps: impl Fn(JobId) -> bool) -> Recording<RunDigest> {
    let mut recording = Recording::default();
    let mut works = BTreeMap::new();
    let mut told = BTreeMap::new();
    for entry in &of.entries {
        match entry {
            Entry::Asked(_, jobs) => works.extend(jobs.iter().map(|it| (it.id, it.work.clone()))),
            Entry::Told(id, outcome, digest) => drop(told.insert(*id, (outcome, digest))),
        }
    }
    for (id, work) in works.iter().filter(|it| keeps(*it.0)) {
        let (outcome, digest) = told[id];
        recording.add(work, Outcome::clone(outcome), digest.clone());
    }
    recording
}

#[test]
fn a_campaign_that_plays_on_a_recording_has_the_same_results() {
    let (mut first, mut world) = engine(&settings());
    let whole = play(&mut first, &mut |it| world.carry_out(it), 4, 3);
    let play_on = |recording, what: &CascadeSettings| {
        let (engine, mut world) = engine(what);
        play(&mut Played::new(engine, recording), &mut |it| world.carry_out(it), 2, 5)
    };
    let nothing = play_on(Recording::default(), &settings());
    assert_eq!(unnumbered(nothing.results), unnumbered(whole.results.clone()));
    let all = play_on(recording(&whole, |_| true), &settings());
    assert!(all.entries.is_empty(), "nothing is run again");
    assert_eq!(unnumbered(all.results), unnumbered(whole.results.clone()));
    // The first trials of each test and plan are there. Those that are missing are run; here they are the same.
    let runs = whole.entries.iter().filter(|it| matches!(it, Entry::Told(..))).count();
    let half = recording(&whole, |it| it.0 < runs as u64 / 2);
    let (engine, mut world) = engine(&settings());
    let counts = half.len();
    let part = play(&mut Played::new(engine, half), &mut |it| world.carry_out(it), 2, 5);
    let run = part.entries.iter().filter(|it| matches!(it, Entry::Told(..))).count();
    assert_eq!(run + counts, runs);
    assert_eq!(cycles(&part.results), cycles(&whole.results));
}

#[test]
fn a_test_that_fails_without_a_fault_takes_no_part_and_is_named() {
    for failing in 0..5 {
        let (mut engine, mut world) = engine(&settings());
        let mut runs = 0;
        let mut carry_out = |it: &Job| {
            let (mut outcome, digest) = world.carry_out(it);
            let Work::Trial { workload, plan, .. } = &it.work else { panic!("{it:?}") };
            if workload == LOSS && plan.candidates.is_empty() {
                outcome.end = if runs == failing { End::TimedOut } else { outcome.end };
                runs += 1;
            }
            (outcome, digest)
        };
        let found = play(&mut engine, &mut carry_out, 1, 0).results;
        let left_out: Vec<Option<&str>> = found.tests.iter().map(|it| it.left_out.as_deref()).collect();
        assert_eq!(left_out, [None, Some("it timed out without a fault"), None], "run {failing}");
        assert!(found.cycles.is_empty());
        assert!(found.steps.iter().all(|it| it.test.as_deref() != Some(LOSS)));
        assert_eq!(found.exit_code(), hypocenter_plan::ExitCode::Done);
    }
}

#[test]
fn a_campaign_whose_tests_all_fail_without_a_fault_makes_no_experiment() {
    let found = campaign(&settings(), |world| world.end = End::Exited { status: 1 }).results;
    assert_eq!((found.experiments.made, found.experiments.void, found.runs), (0, 0, 3 * 6));
    assert!(
        found
            .tests
            .iter()
            .all(|it| it.left_out.as_deref() == Some("it exited with status 1 without a fault"))
    );
    assert_eq!(found.exit_code(), hypocenter_plan::ExitCode::AlreadyFails);
    assert!(!found.is_going);
}

#[test]
fn a_test_whose_system_never_becomes_ready_takes_no_part() {
    let never = |test: &str, fault: Option<u32>, _: u64, mut run: Run| {
        run.digest.is_armed = fault.is_some() || test != CLONE;
        run
    };
    let site = system().faults()[0].inject[0].clone();
    let arm = Arm::After(Box::new(site));
    let what = CascadeSettings { plan: Plan { arm, ..Plan::default() }, ..settings() };
    let found = campaign(&what, |world| world.change = never).results;
    let left_out: Vec<Option<&str>> = found.tests.iter().map(|it| it.left_out.as_deref()).collect();
    assert_eq!(left_out, [Some("the system in it never became ready"), None, None]);
    // Where faults may happen from the start there is nothing to become ready.
    let found = campaign(&settings(), |world| world.change = never).results;
    assert!(found.tests.iter().all(|it| it.left_out.is_none()));
}

#[test]
fn a_test_whose_evidence_cannot_be_read_takes_no_part() {
    let found = campaign(&settings(), |world| {
        world.change = |test, fault, nth, mut run| {
            let is_bad = fault.is_none() && test == CLONE && nth == 2;
            run.digest.unreadable = is_bad.then(|| "trace: it is cut".to_owned());
            run
        };
    });
    assert_eq!(found.results.tests[0].left_out.as_deref(), Some("trace: it is cut"));
}

#[test]
fn every_experiment_is_reported_once_with_what_it_caused() {
    let found = campaign(&settings(), |_| ());
    let rounds: Vec<_> = found
        .events
        .iter()
        .filter_map(|it| match it {
            Event::Round(it) => Some(it),
            Event::Learned(Learned::Experiments { .. }) => None,
            other => panic!("{other:?}"),
        })
        .collect();
    let all = found.results.experiments.made + found.results.experiments.void;
    assert_eq!(rounds.iter().map(|it| it.number).collect::<Vec<_>>(), (1..=all).collect::<Vec<_>>());
    let meant: BTreeSet<_> = rounds.iter().filter_map(|it| it.meant.clone()).collect();
    assert_eq!(meant.len() as u64, all, "each is another");
    let caused: Vec<(&str, &[String])> = rounds
        .iter()
        .filter_map(|it| match &it.effect {
            EventEffect::Caused { what } if !what.is_empty() => Some((it.meant.as_deref()?, &what[..])),
            _ => None,
        })
        .collect();
    let growth = ("negated result of own.Place.m2:2 in FavoredTest#favors", "S+(I) loop in own.Place.m0:0");
    // It ends with a run without the fault, for which it waits.
    assert!(caused.iter().any(|it| (it.0, &it.1[0][..]) == growth), "{caused:?}");
    assert_eq!(caused.len(), 3);
    let void: Vec<_> = rounds.iter().filter(|it| matches!(it.effect, EventEffect::NoFault { .. })).collect();
    assert_eq!(void.len(), 3);
    let why = EventEffect::NoFault { why: "its instance never came".to_owned(), is_bad: false };
    assert!(void.iter().all(|it| it.effect == why));
    // The trial that is named is one of the experiment.
    let asked = found.entries.iter().filter_map(|it| match it {
        Entry::Asked(_, jobs) => Some(jobs),
        Entry::Told(..) => None,
    });
    let probes: BTreeSet<u64> =
        asked.flatten().filter(|it| it.purpose == Purpose::Probe).map(|it| it.id.0).collect();
    assert!(rounds.iter().all(|it| probes.contains(&it.trial)));
}

#[test]
fn an_error_that_any_run_without_a_fault_has_is_no_effect() {
    // It comes in a run of the spare sets, after the experiments are over.
    let rare = |test: &str, fault: Option<u32>, nth: u64, run: Run| match fault {
        None if test == CLONE && nth == 17 => run.error_at(Spot(1, [2, 0], 0), &[]),
        _ => run,
    };
    let found = campaign(&settings(), |world| world.change = rare).results;
    assert_eq!(found.steps.len(), 3, "{:#?}", found.steps);
    assert!(found.cycles.is_empty());
    // The same at another place is another.
    let elsewhere = |test: &str, fault: Option<u32>, nth: u64, run: Run| match fault {
        None if test == CLONE && nth == 17 => run.error_at(Spot(1, [9, 0], 0), &[]),
        _ => run,
    };
    let found = campaign(&settings(), |world| world.change = elsewhere).results;
    assert_eq!((found.steps.len(), found.cycles.len()), (4, 1));
}

#[test]
fn the_last_run_of_a_step_confirms_its_cycle_or_refutes_it() {
    // An exception in LOSS has its effect in ten runs, five for each dose, and not in the last.
    let once_less = |test: &str, fault: Option<u32>, nth: u64, mut run: Run| {
        if (test, fault, nth) == (LOSS, Some(1), 5) {
            run.digest.errors.clear();
        }
        run
    };
    let found = campaign(&settings(), |world| world.change = once_less);
    let cycle = &found.results.unconfirmed[0];
    assert_eq!((cycle.proof, cycle.rate.hits, cycle.rate.runs), (Proof::Refuted, 2, 3));
    let shown: Vec<Option<bool>> = cycle.detail.steps.iter().map(|it| it.shown_again).collect();
    assert_eq!(shown, [Some(true), Some(false), Some(true)]);
    let what = CascadeSettings { runs_again: false, ..settings() };
    let found = campaign(&what, |_| ());
    let cycle = &found.results.unconfirmed[0];
    assert_eq!((cycle.proof, cycle.rate.hits), (Proof::SeenOnce, 0));
    assert!(found.again.is_empty() && found.results.cycles.is_empty());
}

#[test]
fn only_the_traces_of_last_runs_are_kept() {
    let (mut engine, mut world) = engine(&settings());
    let found = play(&mut engine, &mut |it| world.carry_out(it), 2, 1);
    assert_eq!(found.again.len(), 3);
    let kept: Vec<JobId> = (0..found.results.runs).map(JobId).filter(|&it| engine.keeps_trace(it)).collect();
    assert_eq!(kept, found.again);
    let named: BTreeSet<u64> = found.results.cycles[0].detail.steps.iter().map(|it| it.trial).collect();
    assert_eq!(named, found.again.iter().map(|it| it.0).collect());
}

#[test]
fn growth_where_nothing_differs_is_counted_over_the_tests_that_are_compared() {
    let found = campaign(&settings(), |_| ()).results;
    // Two loops in two tests, each set once for the runs with a fault.
    assert_eq!((found.false_growth.part, found.false_growth.of), (0, 8));
    // Loop 5 runs more often in the third and fourth set of five runs.
    let late = |test: &str, fault: Option<u32>, nth: u64, run: Run| match fault {
        None if test == CLONE && nth >= 10 => run.loops(5, 100),
        _ => run,
    };
    let found = campaign(&settings(), |world| world.change = late).results;
    assert_eq!((found.false_growth.part, found.false_growth.of), (1, 8));
    let none = CascadeSettings { spare_tests: 0, ..settings() };
    let found = campaign(&none, |_| ()).results;
    assert_eq!((found.false_growth.part, found.false_growth.of), (0, 0));
}

#[test]
fn problems_of_the_lab_without_a_fault_are_reported_once() {
    let (mut engine, mut world) = engine(&settings());
    let mut carry_out = |it: &Job| {
        let (mut outcome, digest) = world.carry_out(it);
        outcome
            .problems
            .push(Problem { place: "own.Place".to_owned(), what: "a hook is left out".to_owned() });
        (outcome, digest)
    };
    let found = play(&mut engine, &mut carry_out, 1, 0).results;
    assert_eq!(found.problems, ["own.Place: a hook is left out"]);
}

#[test]
fn a_plan_has_the_fault_and_the_guard_of_its_dose() {
    let found = campaign(&settings(), |_| ());
    let jobs = found.entries.iter().filter_map(|it| match it {
        Entry::Asked(_, jobs) => Some(jobs),
        Entry::Told(..) => None,
    });
    let plans: Vec<(Purpose, Plan)> = jobs
        .flatten()
        .map(|it| match &it.work {
            Work::Trial { plan, .. } => (it.purpose, plan.clone()),
            other => panic!("{other:?}"),
        })
        .collect();
    for (purpose, plan) in &plans {
        let never = plan.candidates.iter().all(|it| it.when.occurrence == Some(u64::MAX));
        assert_eq!(*purpose == Purpose::Normal, never, "{plan:#?}");
        assert!(plan.record.common, "all plans record the same");
    }
    let repeats: BTreeSet<String> =
        plans.iter().flat_map(|it| &it.1.candidates).map(|it| format!("{:?}", it.repeat)).collect();
    let expect = ["ForMs(50)", "Once", "TotalMs(100)"].map(str::to_owned);
    assert_eq!(repeats, BTreeSet::from(expect));
    // The longest delay is tried first although it is not given last, and alone.
    let delays: BTreeSet<u64> = plans
        .iter()
        .filter(|it| it.0 == Purpose::Probe)
        .flat_map(|it| &it.1.candidates)
        .filter_map(|it| match it.fault {
            hypocenter_plan::Fault::Delay { delay_ms, .. } => Some(delay_ms),
            _ => None,
        })
        .collect();
    assert_eq!(delays, BTreeSet::from([40]));
}

#[test]
fn a_known_cycle_is_counted_and_not_reported() {
    let known = |methods: &[&str]| {
        let methods = methods.iter().map(|it| (*it).to_owned()).collect();
        let known = vec![KnownCycle { methods, why: "two queues share a disk".to_owned() }];
        campaign(&CascadeSettings { known, ..settings() }, |_| ()).results
    };
    let all = campaign(&settings(), |_| ()).results;
    let count = 1 + all.cycles[0].detail.alike_count;
    let found = known(&["*"]);
    assert!(found.cycles.is_empty());
    assert_eq!(found.accepted, [("two queues share a disk".to_owned(), count)]);
    // One fault of it that nobody knows makes it another.
    let one = all.cycles[0].detail.steps[0].cause.method.clone();
    for methods in [&[] as &[&str], &["none.of.them"], &[&one]] {
        let found = known(methods);
        assert_eq!((found.cycles.len(), found.accepted.len()), (1, 0), "{methods:?}");
    }
}

#[test]
fn the_budget_fits_the_time() {
    let within = |time_ms| campaign(&CascadeSettings { time_ms, ..settings() }, |_| ());
    let seconds = |it: &Campaign| -> f64 {
        let told = it.entries.iter().filter_map(|it| match it {
            Entry::Told(_, outcome, _) => Some(outcome.wall_ms as f64 / 1e3),
            Entry::Asked(..) => None,
        });
        told.sum()
    };
    let whole = within(None);
    let (all, made) = (seconds(&whole), whole.results.experiments.made);
    for share in [0.6, 0.8] {
        let cut = within(Some((all * share * 1e3) as u64));
        let (took, made) = (seconds(&cut), (cut.results.experiments.made, made));
        assert!((1..made.1).contains(&made.0), "{made:?} in {took} of {all} s");
        // Each experiment that is under way when the time is up is finished.
        assert!(took <= all * (share + 0.1), "{took} of {all} s with {share}");
    }
    assert_eq!(within(Some((2.0 * all * 1e3) as u64)).results.experiments.made, made);
}
