//! Engines on outcomes that are known: a campaign that was killed goes on as if nothing had been, and a game on a recording
//! needs as many rounds as a campaign.
//!
//! The program is real, its runs are not: two threads execute every site in turns, of what may happen in a trial that happens
//! which is reached first, and what comes of it is said by [`World::trial`].

mod support;

use std::collections::BTreeSet;
use std::sync::{Arc, OnceLock};

use hypocenter_engine::{Confirmed, Digester, Engine, Job, Next, Work};
use hypocenter_plan::{
    Candidate, CandidateOutcome, CandidateResult, End, FORMAT_VERSION, Fault, Injection, OracleOutcome,
    Outcome, Plan, Record, SiteKind, Steering, Watch, WatchLevel,
};
use hypocenter_reproduce::{
    ByThread, Case, Comparison, Digest, Kinds, Recorded, Reproduce, SearchOptions, Settings, Strategy,
};
use hypocenter_results::Finding;
use hypocenter_results::Injected;
use hypocenter_results::reproduced::{Again, Explained, Reproduction, Round, Standing};

/// How often each thread executes each site.
const TIMES: u32 = 7;
const THREADS: [&str; 2] = ["main", "flusher"];
/// When edits are lost by a pool: in which turn, whichever thread has it.
const POOL_MOMENT: u32 = 9;
/// From which of them on a fault may come too late to show.
const LATE: u64 = 3;
const FAILURE: &str = "\
2026-01-01 10:00:00,000 INFO  [main] store.Store: loaded
2026-01-01 10:00:01,000 INFO  [main] store.Store: saved
2026-01-01 10:00:02,000 INFO  [flusher] store.Store: saved
2026-01-01 10:00:03,000 WARN  [flusher] store.Store: cannot save
java.io.IOException: no space
\tat java.base/java.io.FileOutputStream.write(FileOutputStream.java:354)
\tat store.Store.save(Store.java:28)
2026-01-01 10:00:04,000 ERROR [main] store.Store: edits are lost
";

fn case() -> Arc<Case> {
    static CASE: OnceLock<Arc<Case>> = OnceLock::new();
    CASE.get_or_init(|| Arc::new(support::case_of("store", "Store", FAILURE, "edits are lost"))).clone()
}

fn settings(strategy: Strategy, window: usize) -> Settings {
    let watch = Watch {
        kinds: vec![SiteKind::Call],
        classes: vec!["store.*".to_owned()],
        methods: Vec::new(),
        level: WatchLevel::Stack,
    };
    Settings {
        workload: "w".to_owned(),
        plan: Plan { record: Record { watch: vec![watch], ..Record::default() }, ..Plan::default() },
        search: SearchOptions { strategy, window, step: 1, seed: 3 },
        kinds: Kinds { exceptions: true, delay_ms: Some(1000) },
        budget: 60,
        normal_runs: 1,
        replays: 2,
        repeats: 1,
        patience: 12,
        doubt: 0,
        keep_going: false,
        without: Default::default(),
        about: Default::default(),
    }
}

/// Every site in turns, first by the one thread and then by the other.
fn executions(case: &Case) -> Vec<ByThread> {
    let sites = case.catalogue().sites().len() as u32;
    let of = |site: u32, thread: u32| {
        let orders: Vec<u32> = (0..TIMES).map(|it| (it * 2 + thread) * sites + site).collect();
        let places: Vec<u32> = orders.iter().map(|it| it * 5 / (2 * TIMES * sites)).collect();
        ByThread {
            site,
            node: "n".to_owned(),
            thread: THREADS[thread as usize].to_owned(),
            ends: places.clone(),
            positions: places,
            // Each thread comes on a way of its own.
            stacks: vec![u64::from(thread) + 1; orders.len()],
            orders,
        }
    };
    (0..sites).flat_map(|site| [of(site, 0), of(site, 1)]).collect()
}

/// What happens.
struct World {
    case: Arc<Case>,
    executions: Vec<ByThread>,
    /// Whether what a fault makes it log stands elsewhere than in the failure log.
    is_out_of_order: bool,
    /// Whether edits are lost, too, where closing fails by the flusher.
    loses_on_close: bool,
    /// Whether edits are lost, too, where loading fails by the main thread, from which no way is known; saving then loses them earlier.
    loses_on_load: bool,
    /// Whether the threads are two of a pool, which take each other's place in every other run; one moment of both loses edits.
    is_pool: bool,
    /// Whether every other run takes long.
    is_busy: bool,
    /// Whether every run fails.
    always_fails: bool,
    /// One in so many runs fails by itself; none if it is 0.
    fails_by_itself: u64,
    /// Whether a fault shows in every other run alone.
    shows_seldom: bool,
    /// How often normal runs save, in turns.
    saves: &'static [u32],
    /// Whether what is lost by the flusher takes a while to show: if late, only in runs that record nothing, which end later.
    takes_its_time: bool,
}

impl World {
    fn new() -> World {
        World::of(case())
    }

    fn of(case: Arc<Case>) -> World {
        World {
            executions: executions(&case),
            case,
            is_out_of_order: false,
            loses_on_close: false,
            loses_on_load: false,
            is_pool: false,
            is_busy: false,
            always_fails: false,
            fails_by_itself: 0,
            shows_seldom: false,
            saves: &[2],
            takes_its_time: false,
        }
    }

    fn key(&self, message: &str) -> usize {
        let keys = self.case.keys();
        keys.iter()
            .position(|it| it.message.contains(message))
            .unwrap_or_else(|| panic!("{message}: {keys:?}"))
    }

    /// The same, of a pool.
    fn of_pool() -> World {
        let mut world = World { is_pool: true, ..World::new() };
        for it in &mut world.executions {
            it.thread = if it.thread == THREADS[0] { "w-1" } else { "w-2" }.to_owned();
        }
        world
    }

    /// When an instance comes that is asked for of a pool.
    fn place_in_pool(&self, it: &Candidate, seed: u64) -> Option<u32> {
        let site = self.case.catalogue().find(&it.site)?;
        let asked = it.when.thread.as_deref()?;
        let is_asked = |thread: &str| match (asked, seed % 2) {
            ("w-*", _) => true,
            (name, 0) => thread == name,
            (name, _) => thread != name,
        };
        let own = self.executions.iter().filter(|by| by.site == site && is_asked(&by.thread));
        let mut orders: Vec<u32> = own.flat_map(|by| by.orders.iter().copied()).collect();
        orders.sort_unstable();
        orders.get(it.when.occurrence? as usize - 1).copied()
    }

    /// When an instance comes.
    fn place(&self, it: &Candidate) -> Option<u32> {
        let site = self.case.catalogue().find(&it.site)?;
        let number = it.when.occurrence? as usize - 1;
        let own = self
            .executions
            .iter()
            .find(|by| by.site == site && Some(&by.thread) == it.when.thread.as_ref())?;
        own.orders.get(number).copied()
    }

    fn trial(&self, plan: &Plan) -> (Outcome, Digest) {
        let place = |it: &Candidate| match self.is_pool {
            true => self.place_in_pool(it, plan.seed),
            false => self.place(it),
        };
        let mut reached: Vec<(u32, usize)> =
            plan.candidates.iter().enumerate().filter_map(|(at, it)| Some((place(it)?, at))).collect();
        reached.sort_unstable();
        reached.truncate(plan.limit as usize);
        let happens = |at: usize| reached.iter().any(|it| it.1 == at);
        let mut matched = vec![0; self.case.keys().len()];
        matched[self.key("loaded")] = 1;
        matched[self.key("saved")] = self.saves[plan.seed as usize % self.saves.len()];
        let mut failed = false;
        for (order, at) in &reached {
            let it = &plan.candidates[*at];
            let is_exception = it.fault.to_string().contains("Exception");
            let is_flusher = it.when.thread.as_deref() == Some("flusher");
            failed |= self.loses_on_load && it.site.method == "load" && is_exception && !is_flusher;
            failed |= self.loses_on_close && it.site.method == "close" && is_exception && is_flusher;
            if it.site.method == "save" && is_exception {
                matched[self.key("cannot save")] = 1;
                // What is lost is lost only once, at one call.
                let is_moment = match (self.takes_its_time, it.when.occurrence) {
                    (true, Some(LATE..)) => plan.record.watch.is_empty(),
                    (true, _) => true,
                    (false, occurrence) => occurrence == Some(if self.loses_on_load { 3 } else { 5 }),
                };
                let is_it = match self.is_pool {
                    true => *order / self.case.catalogue().sites().len() as u32 == POOL_MOMENT,
                    false => is_moment && is_flusher,
                };
                failed |= it.site.callee.as_deref().is_some_and(|it| it.contains(".write(")) && is_it;
            }
        }
        if self.shows_seldom && plan.seed.is_multiple_of(2) {
            failed = false;
            matched[self.key("cannot save")] = 0;
        }
        failed |= self.always_fails;
        failed |= self.fails_by_itself > 0 && plan.seed % self.fails_by_itself == 1;
        matched[self.key("edits are lost")] = u32::from(failed);
        let result = |at: usize| match happens(at) {
            true => CandidateResult::Injected(Injection {
                jvm: 0,
                node: "n".to_owned(),
                thread: plan.candidates[at].when.thread.clone().unwrap_or_default(),
                state: None,
                occurrence: plan.candidates[at].when.occurrence.unwrap_or(1),
                at_ms: 1.0,
                times: 1,
                threw: None,
                stack_hash: 0,
                stack: Vec::new(),
            }),
            false => CandidateResult::NotNeeded,
        };
        let candidate = |(at, it): (usize, &Candidate)| CandidateOutcome {
            site: it.site.clone(),
            fault: it.fault.clone(),
            hits: 1,
            result: result(at),
        };
        let outcome = Outcome {
            version: FORMAT_VERSION,
            end: End::Exited { status: 0 },
            wall_ms: if self.is_busy && plan.seed.is_multiple_of(2) { 4_000 } else { 1_000 },
            disk_full: false,
            failure: Some(OracleOutcome { happened: failed, why: "the world says so".to_owned() }),
            processes: Vec::new(),
            candidates: plan.candidates.iter().enumerate().map(candidate).collect(),
            steering: Steering::default(),
            jvms: Vec::new(),
            problems: Vec::new(),
        };
        let cannot_save = self.key("cannot save");
        let mut elsewhere = Vec::new();
        if self.is_out_of_order && std::mem::take(&mut matched[cannot_save]) > 0 {
            elsewhere.push(cannot_save as u32);
        }
        let mut digest = Digest { matched, elsewhere, ..Digest::default() };
        if !plan.record.watch.is_empty() {
            digest.missing = vec![3, 4];
            digest.recorded = Some(self.executions.clone());
            // The flusher's stack is the one of the failure log.
            let all = (0..self.case.logged().len() as u32).collect();
            digest.stacks = vec![Vec::new(), all];
        }
        (outcome, digest)
    }
}

/// The engine as campaigns have it.
fn reproduce(case: Arc<Case>, settings: Settings) -> Confirmed<Reproduce> {
    Confirmed::new(Reproduce::new(case, settings))
}

/// A line of a journal, as JSON.
enum Line {
    Asked(usize, String),
    Told(String, String, String),
}

/// Leads an engine to its end, from a journal that was cut and with what was in flight then, and gives the whole journal.
fn lead<E>(engine: &mut E, world: &World, room: usize, before: &[Line]) -> (E::Results, Vec<Line>)
where
    E: Engine,
    E::Digester: Digester<Digest = Digest>,
{
    let mut open: Vec<Job> = Vec::new();
    // As a campaign that is resumed does it.
    for line in before {
        match line {
            Line::Asked(room, jobs) => {
                let jobs: Vec<Job> = serde_json::from_str(jobs).unwrap();
                assert_eq!(engine.next(*room), Next::Start(jobs.clone()));
                open.extend(jobs);
            }
            Line::Told(id, outcome, digest) => {
                let id = serde_json::from_str(id).unwrap();
                open.retain(|it| it.id != id);
                let outcome: Outcome = serde_json::from_str(outcome).unwrap();
                engine.tell(id, Some(&outcome), serde_json::from_str(digest).unwrap());
            }
        }
    }
    let mut journal = Vec::new();
    loop {
        let free = room - open.len();
        if free > 0 {
            match engine.next(free) {
                Next::Start(jobs) => {
                    journal.push(Line::Asked(free, serde_json::to_string(&jobs).unwrap()));
                    open.extend(jobs);
                    continue;
                }
                Next::Done => {
                    assert!(open.is_empty());
                    return (engine.results(&|_| None), journal);
                }
                Next::Wait => assert!(!open.is_empty(), "it waits for nothing"),
            }
        }
        // Jobs end in any order, which follows here from which are open.
        open.sort_unstable_by_key(|it| it.id);
        let ends = if open[0].id.0 % 3 == 1 { open.len() - 1 } else { 0 };
        let job = open.remove(ends);
        let Work::Trial { plan, .. } = &job.work else { panic!("a study was asked for") };
        let (outcome, digest) = world.trial(plan);
        let told =
            (serde_json::to_string(&job.id), serde_json::to_string(&outcome), serde_json::to_string(&digest));
        journal.push(Line::Told(told.0.unwrap(), told.1.unwrap(), told.2.unwrap()));
        engine.tell(job.id, Some(&outcome), digest);
    }
}

#[test]
fn a_campaign_that_was_killed_anywhere_ends_as_one_left_alone() {
    let mut rounds = 0;
    for strategy in Strategy::ALL {
        // This one finds what explains less, and goes on.
        let loses_on_close = strategy == Strategy::Exhaustive;
        let world = World { loses_on_close, ..World::new() };
        // Two at once end in any order; that one at a time does as well is seen by one strategy as by all.
        for room in if strategy == Strategy::Full { 1..=2 } else { 2..=2 } {
            let settings = Settings { budget: 30, doubt: 4, ..settings(strategy, 2) };
            let new = || reproduce(case(), settings.clone());
            let (alone, journal) = lead(&mut new(), &world, room, &[]);
            rounds = rounds.max(alone.tried.len());
            for cut in 0..journal.len() {
                let (resumed, _) = lead(&mut new(), &world, room, &journal[..cut]);
                assert_eq!(resumed, alone, "{strategy}, {room} at once, killed after {cut} lines");
            }
        }
    }
    assert!(rounds > 20, "no campaign was long enough to tell anything: {rounds} rounds");
}

#[test]
fn a_game_on_a_recording_needs_as_many_rounds_as_a_campaign() {
    let world = World::new();
    let mut reproduced = 0;
    for strategy in Strategy::ALL {
        let settings = Settings { replays: 0, patience: u64::MAX, ..settings(strategy, 3) };
        let (alone, _) = lead(&mut reproduce(case(), settings.clone()), &world, 1, &[]);
        let compare = |recorded: Recorded, trials: u64| {
            let mut engine = Comparison::new(case(), settings.clone(), &[strategy], 1, recorded, trials);
            let (_, journal) = lead(&mut engine, &world, 2, &[]);
            (engine.results(&|_| None), journal)
        };
        let (games, journal) = compare(Recorded::default(), u64::MAX);
        let told = (games.games[0].rounds as usize, &games.games[0].standing);
        assert_eq!(told, (alone.tried.len(), &alone.standing), "{strategy}");
        reproduced += usize::from(alone.standing == Standing::Reproduced);
        // What was recorded is enough to play again, and nothing was run twice.
        let mut recorded = Recorded::default();
        let mut plans = Vec::new();
        for line in &journal {
            match line {
                Line::Asked(_, jobs) => {
                    for job in serde_json::from_str::<Vec<Job>>(jobs).unwrap() {
                        let Work::Trial { plan, .. } = job.work else { panic!("a study was asked for") };
                        assert!(plan.candidates.len() <= 1);
                        plans.push((serde_json::to_string(&job.id).unwrap(), plan));
                    }
                }
                Line::Told(id, outcome, digest) => {
                    let plan = &plans.iter().find(|it| it.0 == *id).expect("it was asked for").1;
                    let outcome: Outcome = serde_json::from_str(outcome).unwrap();
                    recorded.add(&case(), plan, &outcome, serde_json::from_str(digest).unwrap());
                }
            }
        }
        assert_eq!(recorded.faults(), plans.iter().filter(|it| !it.1.candidates.is_empty()).count());
        let (again, journal) = compare(recorded, 0);
        assert_eq!(again, games);
        assert!(journal.is_empty());
        // And without any of it there is nothing to play on.
        let (nothing, _) = compare(Recorded::default(), 1);
        assert_eq!((nothing.games[0].rounds, &nothing.games[0].standing), (0, &Standing::Going));
    }
    assert!(reproduced >= 3, "{reproduced} strategies got there");
}

#[test]
fn every_round_says_by_which_rules_its_fault_was_tried() {
    let settings = Settings { budget: 1_000, keep_going: true, ..settings(Strategy::Full, 1) };
    let (verdict, _) = lead(&mut reproduce(case(), settings), &World::new(), 1, &[]);
    let mut named = BTreeSet::new();
    for round in verdict.tried.iter().filter(|it| it.again.is_none() && it.fault.is_some()) {
        let score = round.score.as_ref().unwrap_or_else(|| panic!("{round:?}"));
        let has = |rule: &str| score.points.iter().any(|it| it.rule == rule);
        let is_delay = matches!(round.fault.as_ref().unwrap().fault, Fault::Delay { .. });
        assert_eq!(is_delay, has("delay") || has("delay-on-path"), "{round:?}");
        assert!(score.total() > 0 && score.aimed.is_some(), "{round:?}");
        named.extend(score.points.iter().map(|it| it.rule.clone()));
    }
    for rule in ["causal-step", "stack-frame", "no-path", "already-shown", "not-shown", "site-failed"] {
        assert!(named.contains(rule), "{rule}: {named:?}");
    }
    // Whoever reads a score finds its rules beside it.
    assert!(named.iter().all(|it| verdict.rules.iter().any(|rule| rule.name == *it)), "{:?}", verdict.rules);
}

#[test]
fn a_round_that_shows_far_more_is_followed_by_others_about_its_fault() {
    // Here what saving shows is half of all.
    let failure = FAILURE.replace("WARN ", "ERROR");
    let case = Arc::new(support::case_of("store", "Store", &failure, "edits are lost"));
    let tried = |without: &[&str]| {
        let without = without.iter().map(|it| (*it).to_owned()).collect();
        let settings = Settings { without, budget: 200, ..settings(Strategy::Full, 1) };
        let world = World { loses_on_load: true, ..World::of(case.clone()) };
        let new = || reproduce(case.clone(), settings.clone());
        let (verdict, journal) = lead(&mut new(), &world, 1, &[]);
        for cut in (0..journal.len()).step_by(2) {
            let (resumed, _) = lead(&mut new(), &world, 1, &journal[..cut]);
            assert_eq!(resumed, verdict, "killed after {cut} lines");
        }
        assert_eq!(verdict.standing, Standing::Reproduced);
        verdict.tried
    };
    // A budget that ends among them ends the search.
    for budget in 1..=8 {
        let settings = Settings { budget, ..settings(Strategy::Full, 1) };
        let world = World { loses_on_load: true, ..World::of(case.clone()) };
        let (verdict, _) = lead(&mut reproduce(case.clone(), settings), &world, 1, &[]);
        assert_ne!(verdict.standing, Standing::Going, "{budget} rounds");
    }
    let rounds = tried(&[]);
    let moment = |it: &Round| it.fault.as_ref().map(|it| (it.site.clone(), it.guard.occurrence.unwrap()));
    let first = rounds.iter().find(|it| it.shown.len() == 1).expect("a near miss");
    let about = |it: &&Round| it.again == Some(Again::NearMiss);
    let about: Vec<&Round> = rounds.iter().filter(about).collect();
    // They come at once, at the same call, as near as can be.
    assert_eq!(about[0].number, first.number + 1);
    let (site, at) = moment(first).unwrap();
    assert!(about.iter().all(|it| moment(it).is_none_or(|it| it.0 == site)), "{about:#?}");
    assert_eq!(moment(about[0]).unwrap().1.abs_diff(at), 1);
    assert!(about.iter().all(|it| it.score.as_ref().is_some_and(|it| it.points[0].rule == "near-miss")));
    assert!(tried(&["near-miss"]).iter().all(|it| it.again != Some(Again::NearMiss)));
}

#[test]
fn a_workload_that_fails_by_itself_now_and_then_is_searched_all_the_same() {
    let world = World { fails_by_itself: 5, ..World::new() };
    for room in 1..=2 {
        let settings = Settings { normal_runs: 2, replays: 5, budget: 200, ..settings(Strategy::Full, 1) };
        let new = || reproduce(case(), settings.clone());
        let (verdict, journal) = lead(&mut new(), &world, room, &[]);
        let [found] = &verdict.found[..] else { panic!("{:?}", verdict.standing) };
        let fault = &found.faults[0];
        assert_eq!((&*fault.site.method, fault.guard.occurrence), ("save", Some(5)), "{found:#?}");
        // Both rates are known, the one of the workload from ten runs or more before the first round.
        assert_eq!((found.rate.hits, found.rate.runs), (5, 5));
        assert!(verdict.normal_runs >= 10 && verdict.normal_failures >= 2, "{verdict:?}");
        assert!(verdict.normal_failures * 3 < verdict.normal_runs, "{verdict:?}");
        // What failed by itself is not what is normal.
        assert!(verdict.missing.iter().any(|it| it.message == "edits are lost"));
        for cut in (0..journal.len()).step_by(3) {
            let (resumed, _) = lead(&mut new(), &world, room, &journal[..cut]);
            assert_eq!(resumed, verdict, "{room} at once, killed after {cut} lines");
        }
    }
}

#[test]
fn a_round_that_failed_by_itself_is_no_near_miss() {
    let mut by_itself = 0;
    for (every, seed) in (9..=16).flat_map(|every| (1..=3).map(move |seed| (every, seed))) {
        let world = World { fails_by_itself: every, loses_on_load: true, ..World::new() };
        let settings = Settings { normal_runs: 10, replays: 5, budget: 60, ..settings(Strategy::Full, seed) };
        let (verdict, _) = lead(&mut reproduce(case(), settings), &world, 1, &[]);
        let found: Vec<u64> = verdict.found.iter().map(|it| it.detail.round).collect();
        let site = |it: &Round| it.fault.as_ref().map(|it| it.site.clone());
        let (mut failed, mut showed) = (Vec::new(), Vec::new());
        for it in &verdict.tried {
            if it.again == Some(Again::NearMiss) {
                let is_by_itself = failed.contains(&site(it)) && !showed.contains(&site(it));
                assert!(!is_by_itself, "every {every}, seed {seed}: {:#?}", verdict.tried);
            }
            let sites = if it.happened { &mut failed } else { &mut showed };
            sites.push(site(it));
            by_itself += u64::from(it.happened && !found.contains(&it.number));
        }
    }
    assert!(by_itself > 0, "no round failed by itself");
}

#[test]
fn a_busy_machine_is_told_by_normal_runs_that_differ_in_their_time() {
    let busy = |is_busy: bool| {
        let world = World { is_busy, ..World::new() };
        let settings = Settings { normal_runs: 3, ..settings(Strategy::Full, 1) };
        lead(&mut reproduce(case(), settings), &world, 1, &[]).0.busy_ms
    };
    assert_eq!([busy(true), busy(false)], [Some((1_000, 4_000)), None]);
}

#[test]
fn a_workload_that_always_fails_ends_the_search() {
    let world = World { fails_by_itself: 2, ..World::new() };
    let ended = |normal_runs: u64, world: &World| {
        let settings = Settings { normal_runs, ..settings(Strategy::Full, 1) };
        let (verdict, _) = lead(&mut reproduce(case(), settings), world, 1, &[]);
        (verdict.standing, verdict.tried.len())
    };
    // Half of the runs leave room for a fault; all of them do not.
    assert!(!matches!(ended(2, &world), (Standing::AlreadyFails { .. }, _)));
    let always = World { always_fails: true, ..World::new() };
    assert_eq!(ended(2, &always), (Standing::AlreadyFails { failed: 2, runs: 2 }, 0));
    assert_eq!(ended(1, &always), (Standing::AlreadyFails { failed: 2, runs: 2 }, 0));
}

#[test]
fn a_round_of_several_runs_shows_what_any_of_them_shows() {
    let world = World { shows_seldom: true, ..World::new() };
    let tried = |repeats: u64, room: usize| {
        let settings = Settings { repeats, replays: 4, patience: u64::MAX, ..settings(Strategy::Full, 1) };
        let new = || reproduce(case(), settings.clone());
        let (verdict, journal) = lead(&mut new(), &world, room, &[]);
        for cut in (0..journal.len()).step_by(3) {
            let (resumed, _) = lead(&mut new(), &world, room, &journal[..cut]);
            assert_eq!(resumed, verdict, "{room} at once, killed after {cut} lines");
        }
        verdict
    };
    for room in 1..=2 {
        let verdict = tried(3, room);
        assert_eq!(verdict.found[0].faults[0].guard.occurrence, Some(5), "{:?}", verdict.standing);
        let saves = verdict.tried.iter().filter(|it| {
            let fault = it.fault.as_ref().filter(|it| it.site.method == "save");
            fault.is_some_and(|it| it.fault.to_string().contains("Exception"))
        });
        let saves: Vec<&Round> = saves.filter(|it| !it.happened).collect();
        // No exception of a save goes unseen.
        assert!(!saves.is_empty() && saves.iter().all(|it| !it.shown.is_empty()), "{saves:#?}");
        assert!(saves.iter().all(|it| it.runs.is_some_and(|it| it.runs == 3)), "{saves:#?}");
    }
    assert!(tried(1, 1).tried.iter().all(|it| it.runs.is_none()));
}

#[test]
fn a_line_that_comes_more_often_counts_beyond_the_spread_of_normal_runs() {
    let missing = |saves: &'static [u32]| {
        let world = World { saves, ..World::new() };
        let settings = Settings { normal_runs: 2, ..settings(Strategy::Full, 1) };
        let (verdict, _) = lead(&mut reproduce(case(), settings), &world, 1, &[]);
        let told: Vec<_> =
            verdict.missing.iter().map(|it| (it.message.clone(), it.weight, it.why.clone())).collect();
        let noise: Vec<_> =
            verdict.noise.iter().map(|it| (it.message.clone(), it.times, it.normal)).collect();
        (told, noise)
    };
    let of = |message: &str, weight, why: &str| (message.to_owned(), weight, why.to_owned());
    let always = [
        of("cannot save", 8, "warning, in no normal run, near the failure"),
        of("edits are lost", 10, "error, in no normal run, near the failure"),
    ];
    // The failure log has it twice.
    assert_eq!(missing(&[2]), (always.to_vec(), vec![]));
    assert_eq!(missing(&[1, 0]), (always.to_vec(), vec![("saved".to_owned(), 2, (0, 1))]));
    let (steady, noise) = missing(&[1]);
    let why = "no warning, once in normal runs, near the failure, no fault is known to lead to it";
    let once_more = of("saved", 1, why);
    assert_eq!((&steady[..1], &steady[1..], noise), (&[once_more][..], &always[..], vec![]));
}

#[test]
fn what_no_normal_run_says_is_shown_wherever_it_stands() {
    let shown = |is_out_of_order| {
        let world = World { is_out_of_order, ..World::new() };
        let (verdict, _) = lead(&mut reproduce(case(), settings(Strategy::Full, 3)), &world, 1, &[]);
        verdict.tried.into_iter().map(|it| it.shown).collect::<Vec<_>>()
    };
    let in_order = shown(false);
    assert!(in_order.iter().any(|it| !it.is_empty()), "{in_order:?}");
    assert_eq!(shown(true), in_order);
}

#[test]
fn every_instance_is_run_before_the_games_and_no_game_of_that_space_asks_for_more() {
    let world = World::new();
    let settings = Settings { replays: 0, patience: u64::MAX, normal_runs: 1, ..settings(Strategy::Full, 3) };
    let alone = |strategy| {
        let search = SearchOptions { strategy, ..settings.search };
        let settings = Settings { search, budget: u64::MAX, keep_going: true, ..settings.clone() };
        lead(&mut reproduce(case(), settings), &world, 1, &[]).0
    };
    let tried = alone(Strategy::Exhaustive).tried.len();
    // More games than are played at once, so that those that are over must make room.
    let strategies = [Strategy::Exhaustive, Strategy::Random];
    let new = || Comparison::new(case(), settings.clone(), &strategies, 4, Recorded::default(), u64::MAX);
    let mut engine = new().with_every_instance();
    let (games, journal) = lead(&mut engine, &world, 2, &[]);
    assert!(games.every_instance);
    assert!(games.games.iter().all(|it| it.standing != Standing::Going), "{games:?}");
    // Some are in the space and cannot be reached: a round of the search shows that, and so does a trial here.
    assert!(
        (games.recorded as usize) > 0 && (games.recorded as usize) <= tried,
        "{} of {tried}",
        games.recorded
    );
    let asked = |journal: &[Line]| {
        let jobs = journal.iter().filter_map(|it| match it {
            Line::Asked(_, jobs) => Some(serde_json::from_str::<Vec<Job>>(jobs).unwrap().len()),
            Line::Told(..) => None,
        });
        jobs.sum::<usize>()
    };
    // One run without a fault, and each fault once.
    assert_eq!(asked(&journal), 1 + (games.recorded as usize));
    // The same games without it are played on fewer trials and end alike.
    let mut as_asked = new();
    let (others, journal) = lead(&mut as_asked, &world, 2, &[]);
    assert_eq!((&others.games, &others.strategies), (&games.games, &games.strategies));
    assert!(asked(&journal) < 1 + (games.recorded as usize));
}

#[test]
fn what_cannot_lead_to_the_line_of_the_oracle_is_not_named_as_likely() {
    let likely = |oracle: &str| {
        let world = World::of(Arc::new(support::case_of("store", "Store", FAILURE, oracle)));
        let kinds = Kinds { exceptions: true, delay_ms: None };
        let settings = Settings { kinds, patience: u64::MAX, ..settings(Strategy::TwoLevel, 1) };
        let (verdict, _) = lead(&mut reproduce(world.case.clone(), settings), &world, 1, &[]);
        let [found] = &verdict.found[..] else { panic!("{:?}", verdict.standing) };
        assert_eq!((&*found.faults[0].site.method, &found.detail.lacks[..]), ("save", &[][..]));
        let mut methods: Vec<String> =
            found.detail.as_likely.iter().map(|it| it.site.method.clone()).collect();
        methods.sort_unstable();
        methods.dedup();
        methods
    };
    // What fails while the store is closed loses edits too, and has nothing to do with saving.
    assert_eq!(likely("edits are lost"), ["close", "save"]);
    assert_eq!(likely("cannot save"), ["save"]);
}

#[test]
fn what_leaves_a_warning_unexplained_that_other_faults_bring_is_not_the_last_word() {
    let found = |doubt: u64| {
        let world = World { loses_on_close: true, ..World::new() };
        let settings = Settings { doubt, budget: 1_000, ..settings(Strategy::Exhaustive, 1) };
        let (verdict, _) = lead(&mut reproduce(case(), settings), &world, 1, &[]);
        assert_eq!(verdict.standing, Standing::Reproduced);
        let of = |it: &Finding<Explained>| (it.faults[0].site.method.clone(), it.detail.lacks.len());
        (verdict.found.iter().map(of).collect::<Vec<_>>(), verdict.tried.len())
    };
    let (at_once, rounds) = found(0);
    assert_eq!(at_once, [("close".to_owned(), 1)]);
    // Nothing better comes in a few rounds.
    assert_eq!(found(5), (at_once.clone(), rounds + 5));
    let (all, more) = found(500);
    assert_eq!(all[..2], [("save".to_owned(), 0), at_once[0].clone()]);
    assert!(more < rounds + 500, "it ends with what explains all: {more}");
}

#[test]
fn what_no_way_is_known_from_is_not_the_last_word_where_others_lead_to_a_warning_of_any_thread() {
    let world = World { loses_on_load: true, ..World::new() };
    // What nearly does it would be followed first.
    let without = BTreeSet::from(["near-miss".to_owned()]);
    let base = Settings { patience: u64::MAX, without, ..settings(Strategy::Full, 1) };
    let settings = |doubt: u64| Settings { doubt, ..base.clone() };
    let new = |doubt: u64| reproduce(case(), settings(doubt));
    let (verdict, _) = lead(&mut new(0), &world, 1, &[]);
    let methods = |it: &Reproduction| -> Vec<String> {
        it.found.iter().map(|it| it.faults[0].site.method.clone()).collect()
    };
    assert_eq!(methods(&verdict), ["load"]);
    let rounds = verdict.tried.len();
    // The warning is one of the flusher, which has to do with neither the fault nor the symptom.
    let (verdict, journal) = lead(&mut new(15), &world, 1, &[]);
    assert_eq!(methods(&verdict), ["save", "load"]);
    // What leads nowhere is not tried meanwhile.
    let later = verdict.tried.iter().filter(|it| it.number as usize > rounds);
    assert!(later.flat_map(|it| &it.fault).all(|it| it.site.method == "save"), "{:?}", verdict.tried);
    for cut in 0..journal.len() {
        let (resumed, _) = lead(&mut new(15), &world, 1, &journal[..cut]);
        assert_eq!(resumed, verdict, "killed after {cut} lines");
    }
}

#[test]
fn a_fault_that_came_too_late_to_be_proved_is_tried_at_earlier_moments() {
    let world = World { takes_its_time: true, ..World::new() };
    for room in 1..=2 {
        let settings = settings(Strategy::Full, 1);
        let new = || reproduce(case(), settings.clone());
        let (verdict, journal) = lead(&mut new(), &world, room, &[]);
        let [found] = &verdict.found[..] else { panic!("{:?}", verdict.tried) };
        let moment = |fault: &Injected| fault.guard.occurrence.unwrap();
        assert!(moment(&found.faults[0]) < LATE, "{found:?}");
        assert_eq!((found.rate.hits, found.rate.runs), (2, 2));
        let of = |it: &&Round| it.number == found.detail.round;
        assert_eq!(verdict.tried.iter().find(of).unwrap().again, Some(Again::Earlier));
        // It had been there before, too late.
        let first = verdict.tried.iter().find(|it| it.happened).unwrap();
        assert!(first.number < found.detail.round && moment(first.fault.as_ref().unwrap()) >= LATE);
        for cut in 0..journal.len() {
            let (resumed, _) = lead(&mut new(), &world, room, &journal[..cut]);
            assert_eq!(resumed, verdict, "{room} at once, killed after {cut} lines");
        }
    }
}

#[test]
fn a_moment_of_a_pool_is_counted_over_all_its_threads_where_replays_differ() {
    let world = World::of_pool();
    for room in 1..=2 {
        let without = BTreeSet::from(["near-miss".to_owned()]);
        let settings = Settings { budget: 200, replays: 4, without, ..settings(Strategy::Full, 1) };
        let new = || reproduce(case(), settings.clone());
        let (verdict, journal) = lead(&mut new(), &world, room, &[]);
        let [found] = &verdict.found[..] else { panic!("{:?}", verdict.standing) };
        assert_eq!(found.faults[0].guard.thread.as_deref(), Some("w-*"), "{found:#?}");
        assert_eq!((found.rate.hits, found.rate.runs, found.missed), (4, 4, 0));
        assert_eq!(found.detail.plan.candidates[0].when, found.faults[0].guard);
        for cut in (0..journal.len()).step_by(5) {
            let (resumed, _) = lead(&mut new(), &world, room, &journal[..cut]);
            assert_eq!(resumed, verdict, "{room} at once, killed after {cut} lines");
        }
    }
}
