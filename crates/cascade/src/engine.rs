//! The engine: runs of the tests without a fault, experiments as the budget allows, the search for cycles, and a last look at each step of them.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hypocenter_engine::{Engine, Job, JobId, Look, Next, Purpose, Work};
use hypocenter_plan::{
    Arm, Candidate, CandidateResult, End, Guard, Outcome, Plan, Repeat, Site, SiteKind, Trails, WatchLevel,
    WatchSites, glob_matches,
};
use hypocenter_results::Event;
use hypocenter_results::cascaded::{Cascade as Results, CascadeKind, StepKind};
use hypocenter_results::event::Learned;
use serde::{Deserialize, Serialize};

use crate::allocation::{self, Allocation, Budget, Mode};
use crate::beam::{BeamError, Limits, Reached};
use crate::compare::{Judging, Run, growth};
use crate::experiment::{Doses, Experiment, Lab, Need, Normal, Standing};
use crate::model::Model;
use crate::reader::{RunDigest, RunReader};
use crate::stitch::{self, Fit, Ring, Shown};

/// So many jobs are kept ready.
const QUEUE_MIN: usize = 8;
/// The steps of so many cycles are run once more.
const RINGS_RUN_AGAIN: usize = 10;
/// Sets of runs without a fault that are compared with each other: two stages of two sides.
const SETS: usize = 4;
/// Runs of an experiment, before it is known what they are.
const RUNS_OF_EXPERIMENT: f64 = 6.0;
/// From so many experiments on it is known.
const SAMPLE_MIN: usize = 5;

/// Settings of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct CascadeSettings {
    /// The tests: names of workloads.
    pub tests: Vec<String>,
    /// The plan of a run without a fault, as far as the system does not decide it.
    pub plan: Plan,
    /// Runs of a test with a fault, and without.
    pub repeats: usize,
    /// Lengths of delays, the shortest first.
    pub delays_ms: Vec<u64>,
    /// Maximum time of all delays of a run together.
    pub delay_total_ms: u64,
    /// For how long a repeated fault is injected.
    pub for_ms: u64,
    /// True if each length is run, whatever a longer one showed.
    pub all_lengths: bool,
    /// Tests of growth.
    pub judging: Judging,
    /// Experiments for each fault.
    pub budget: f64,
    /// True if faults and tests are paired at random.
    pub is_random: bool,
    /// The seed of all choices.
    pub seed: u64,
    /// Through how many calls branches belong to the iteration around them.
    pub path_depth: u32,
    /// The most tests whose runs without a fault are compared with each other.
    pub spare_tests: usize,
    /// Checks that a step passes to follow another.
    pub fit: Fit,
    /// The most chains of a length.
    pub beam: usize,
    /// The most delays in a cycle.
    pub delays_in_cycle: usize,
    /// True if each step of a cycle is run once more.
    pub runs_again: bool,
    /// The time that all runs may take, each alone, in milliseconds; the budget is made to fit.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub time_ms: Option<u64>,
    /// Cycles that are known and not reported.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub known: Vec<KnownCycle>,
}

/// A cycle that somebody knows.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct KnownCycle {
    /// Patterns of the methods of its faults.
    pub methods: Vec<String>,
    /// Why it is accepted.
    pub why: String,
}

/// See the module.
#[derive(Debug)]
pub struct Cascade {
    pub(crate) model: Arc<Model>,
    pub(crate) what: CascadeSettings,
    doses: Doses,
    pub(crate) tests: Vec<TestRuns>,
    pub(crate) experiments: Vec<Experiment>,
    pub(crate) allocation: Option<Allocation>,
    reader: RunReader,
    queue: VecDeque<Task>,
    open: BTreeMap<JobId, Task>,
    pub(crate) asked: u64,
    phase: Phase,
    pub(crate) shown: Vec<Shown>,
    pub(crate) rings: Vec<Ring>,
    /// The known cycles that were found, by their number in the settings, and how many of each.
    pub(crate) accepted: BTreeMap<usize, u64>,
    /// Seconds of all runs.
    spent: f64,
    /// By step: whether its last run showed it again, and that run.
    pub(crate) again: BTreeMap<usize, (JobId, Option<bool>)>,
    pub(crate) problems: BTreeSet<String>,
}

/// Phases of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    /// The tests are run without a fault.
    Normal,
    /// Faults are injected.
    Experiments,
    /// Runs without a fault are compared with each other.
    Spare,
    /// The steps of cycles are run once more.
    Again,
    Over,
}

/// Purpose of a job.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Task {
    /// A run without a fault that counts which faults could be injected once the system is up.
    Reach {
        test: usize,
    },
    Normal {
        test: usize,
        number: usize,
    },
    Injected {
        experiment: usize,
        variant: usize,
        number: usize,
    },
    Again {
        step: usize,
    },
}

/// A test, and its runs without a fault.
#[derive(Debug, Default)]
pub(crate) struct TestRuns {
    pub runs: Vec<Option<Run>>,
    /// The faults that it reaches once the system is up.
    pub reached: BTreeSet<u32>,
    pub left_out: Option<String>,
}

impl TestRuns {
    /// The runs of a set, if they are all there.
    fn set(&self, number: usize, size: usize) -> Option<Vec<&Run>> {
        self.runs.get(number * size..(number + 1) * size)?.iter().map(Option::as_ref).collect()
    }

    pub(crate) fn told(&self) -> Vec<&Run> {
        self.runs.iter().flatten().collect()
    }

    fn normal(&self, size: usize) -> Normal<'_> {
        Normal { first: self.set(0, size).unwrap_or_default(), fresh: self.set(1, size) }
    }
}

impl Cascade {
    /// Begins a campaign.
    pub fn new(model: Arc<Model>, what: CascadeSettings) -> Cascade {
        let mut delays_ms = what.delays_ms.clone();
        delays_ms.sort_unstable();
        delays_ms.dedup();
        let CascadeSettings { delay_total_ms, for_ms, all_lengths, .. } = what;
        let mut engine = Cascade {
            reader: RunReader::new(model.clone()),
            doses: Doses { delays_ms, delay_total_ms, for_ms, all_lengths },
            tests: what.tests.iter().map(|_| TestRuns::default()).collect(),
            experiments: Vec::new(),
            allocation: None,
            queue: VecDeque::new(),
            open: BTreeMap::new(),
            asked: 0,
            phase: Phase::Normal,
            shown: Vec::new(),
            rings: Vec::new(),
            accepted: BTreeMap::new(),
            spent: 0.0,
            again: BTreeMap::new(),
            problems: BTreeSet::new(),
            model,
            what,
        };
        for test in 0..engine.tests.len() {
            engine.queue.push_back(Task::Reach { test });
            engine.want(test, engine.what.repeats);
        }
        engine
    }

    /// Asks for runs of a test without a fault until there are so many.
    fn want(&mut self, test: usize, runs: usize) {
        while self.tests[test].runs.len() < runs {
            let number = self.tests[test].runs.len();
            self.tests[test].runs.push(None);
            self.queue.push_back(Task::Normal { test, number });
        }
    }

    pub(crate) fn lab(&self) -> Lab<'_> {
        Lab { model: &self.model, judging: self.what.judging, repeats: self.what.repeats, doses: &self.doses }
    }

    fn job(&mut self, task: Task) -> Job {
        let id = JobId(self.asked);
        self.asked += 1;
        self.open.insert(id, task);
        let (test, plan, purpose) = match task {
            Task::Reach { test } => (test, self.reaching(), Purpose::Normal),
            Task::Normal { test, .. } => (test, self.plan(), Purpose::Normal),
            Task::Injected { experiment, variant, .. } => {
                let test = self.experiments[experiment].test;
                (test, self.injecting(experiment, variant), Purpose::Probe)
            }
            Task::Again { step } => {
                let Shown { experiment, variant, .. } = self.shown[step];
                self.again.insert(step, (id, None));
                let of = Purpose::Replay(JobId(self.first_trial(step)));
                let mut plan = self.injecting(experiment, variant);
                plan.record.watch_sites.extend(self.loops_of(step));
                (self.experiments[experiment].test, plan, of)
            }
        };
        Job { id, purpose, work: Work::trial(self.what.tests[test].clone(), plan) }
    }

    /// The loops of a step, whose iterations are recorded with their time.
    fn loops_of(&self, step: usize) -> Option<WatchSites> {
        let faults =
            [self.shown[step].cause, self.shown[step].effect].map(|it| &self.model.faults()[it as usize]);
        let loops = faults.iter().filter(|it| it.shown.kind == CascadeKind::Delay);
        let sites: Vec<Site> = loops.flat_map(|it| it.observe.iter().cloned()).collect();
        (!sites.is_empty()).then_some(WatchSites { sites, level: WatchLevel::Event })
    }

    /// The plan that has the hooks of all runs, and what they count and follow.
    pub fn hooks(&self) -> Plan {
        let mut plan = self.what.plan.clone();
        let sites = self.model.faults().iter().flat_map(|it| it.inject.iter().chain(&it.observe));
        let counted = WatchSites { sites: sites.cloned().collect(), level: WatchLevel::Count };
        plan.record.watch_sites = vec![counted];
        plan.record.trails = Some(Trails {
            methods: self.model.followed().to_vec(),
            loops: false,
            loop_counts: true,
            path_depth: Some(self.what.path_depth),
            points: self.model.told().cloned().collect(),
        });
        Plan { candidates: self.model.candidates(), ..plan }
    }

    /// The plan of a run without a fault.
    fn plan(&self) -> Plan {
        let mut plan = self.what.plan.clone();
        plan.record.common = true;
        plan
    }

    /// The plan of a run that counts at which faults it comes by: they wait for a hit that never is.
    fn reaching(&self) -> Plan {
        let when = Guard { occurrence: Some(u64::MAX), ..Guard::default() };
        let each = self.model.faults().iter().flat_map(|it| it.candidates(Repeat::Once, 1, false));
        let candidates = each.map(|it| Candidate { when: when.clone(), ..it }).collect();
        Plan { candidates, ..self.plan() }
    }

    /// Takes such a run.
    fn reach_told(&mut self, test: usize, outcome: &Outcome) {
        let mut hits = outcome.candidates.iter().map(|it| it.hits);
        let faults = (0..).zip(self.model.faults());
        let reached = faults.filter(|it| hits.by_ref().take(it.1.inject.len()).fold(0, u64::max) > 0);
        self.tests[test].reached = reached.map(|it| it.0).collect();
    }

    /// The plan of a run with a fault.
    fn injecting(&self, experiment: usize, variant: usize) -> Plan {
        let mut plan = self.plan();
        let (candidates, limit) = self.experiments[experiment].candidates(&self.lab(), variant);
        // The ways of a loop are those of its iterations; what is told in every run is told already.
        let told: Vec<&Site> = self.model.told().collect();
        let is_new = |it: &&Site| it.kind != SiteKind::LoopBody && !told.contains(it);
        let points: Vec<Site> = candidates.iter().map(|it| &it.site).filter(is_new).cloned().collect();
        if !points.is_empty() {
            plan.record.trails = Some(Trails { points, ..Trails::default() });
        }
        plan.limit = limit;
        plan.candidates = candidates;
        plan
    }

    /// The first run that shows a step.
    pub(crate) fn first_trial(&self, step: usize) -> u64 {
        let Shown { experiment, variant, .. } = self.shown[step];
        let runs = self.experiments[experiment].variants[variant].told();
        runs.filter(|it| it.is_injected).map(|it| it.trial).min().unwrap_or(0)
    }

    /// Goes on as far as possible without another outcome.
    fn advance(&mut self) {
        loop {
            match self.phase {
                Phase::Normal if self.is_idle() => self.allocate(),
                Phase::Experiments if self.queue.len() < QUEUE_MIN => {
                    let Some(allocation) = &mut self.allocation else { return };
                    match allocation.next() {
                        allocation::Next::Experiment(fault, test) => self.begin(fault, test as usize),
                        allocation::Next::Wait => return,
                        allocation::Next::Done if self.is_idle() => self.spare(),
                        allocation::Next::Done => return,
                    }
                }
                Phase::Spare if self.is_idle() => self.search(),
                Phase::Again if self.is_idle() => self.phase = Phase::Over,
                _ => return,
            }
        }
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.open.is_empty()
    }

    /// Divides the budget, once it is known which test reaches which fault.
    fn allocate(&mut self) {
        self.phase = Phase::Experiments;
        let mut faults = vec![allocation::Fault::default(); self.model.faults().len()];
        for (test, runs) in (0..).zip(&self.tests).filter(|it| it.1.left_out.is_none()) {
            let Some(runs) = runs.set(0, self.what.repeats) else { continue };
            let blocks = runs.iter().map(|it| it.digest.sites).max().unwrap_or(0);
            for &fault in &self.tests[test as usize].reached {
                faults[fault as usize].tests.push((test, blocks as u32));
            }
        }
        let reached = faults.iter().filter(|it| !it.tests.is_empty()).count();
        let wanted = (reached as f64 * self.what.budget).round() as usize;
        let budget = Budget::new(self.affordable(0).map_or(wanted, |it| it.min(wanted)));
        let mode = if self.what.is_random { Mode::Random } else { Mode::ThreePhase };
        match Allocation::new(&faults, budget, mode, self.what.seed) {
            Ok(it) => self.allocation = Some(it),
            Err(error) => {
                self.problems.insert(error.to_string());
                self.phase = Phase::Over;
            }
        }
    }

    /// The plan, as an event.
    fn planned(&self) -> Event {
        let of = |it: &&TestRuns| it.left_out.is_none();
        let runs = || self.tests.iter().filter(of).flat_map(|it| it.told());
        let faults: BTreeSet<u32> =
            self.tests.iter().filter(of).flat_map(|it| it.reached.iter().copied()).collect();
        Event::Learned(Learned::Experiments {
            faults: faults.len() as u64,
            tests: self.tests.iter().filter(of).count() as u64,
            most: self.allocation.as_ref().map_or(0, |it| it.budget().total()) as u64,
            each_ms: (1e3 * runs().map(|it| it.seconds).sum::<f64>() / runs().count().max(1) as f64) as u64,
        })
    }

    /// Number of experiments that the time allows, of which some are over.
    fn affordable(&self, over: usize) -> Option<usize> {
        let time = self.what.time_ms? as f64 / 1e3;
        let told = self.tests.iter().flat_map(|it| it.told());
        let (runs, seconds) = told.fold((0, 0.0), |(runs, all), it| (runs + 1, all + it.seconds));
        let each = if runs == 0 { 1.0 } else { seconds / f64::from(runs) };
        let spare = self.what.spare_tests.min(self.tests.len()) * (SETS - 1) * self.what.repeats;
        let left = (time - self.spent - spare as f64 * each).max(0.0);
        // What experiments have cost so far; before that, so many runs.
        let normal = seconds;
        let of_one = match over {
            0..SAMPLE_MIN => RUNS_OF_EXPERIMENT * each,
            over => (self.spent - normal).max(0.0) / over as f64,
        };
        Some(over + (left / of_one.max(1e-3)) as usize)
    }

    /// Makes the budget fit the time that is left.
    fn fit_to_time(&mut self) {
        let over = self.experiments.iter().filter(|it| it.standing == Standing::Over).count();
        let Some(affordable) = self.affordable(over) else { return };
        if let Some(allocation) = &mut self.allocation
            && affordable < allocation.budget().total()
        {
            allocation.scale(affordable.max(allocation.spent()));
        }
    }

    fn begin(&mut self, fault: u32, test: usize) {
        let phase = self.allocation.as_ref().and_then(|all| {
            all.asked().find(|it| (it.fault, it.test as usize) == (fault, test)).map(|it| it.phase as u32 + 1)
        });
        let experiment = Experiment::new(&self.lab(), (fault, test), phase.unwrap_or(1));
        self.experiments.push(experiment);
        self.go_on(self.experiments.len() - 1);
    }

    /// Lets an experiment go on with what is there.
    fn go_on(&mut self, number: usize) {
        let lab = Lab {
            model: &self.model,
            judging: self.what.judging,
            repeats: self.what.repeats,
            doses: &self.doses,
        };
        let experiment = &mut self.experiments[number];
        let test = experiment.test;
        match experiment.go_on(&lab, &self.tests[test].normal(self.what.repeats)) {
            Need::Runs(runs) => {
                let variant = experiment.current();
                for _ in 0..runs {
                    let task = Task::Injected { experiment: number, variant, number: experiment.ask() };
                    self.queue.push_back(task);
                }
            }
            Need::Normal => self.want(test, 2 * self.what.repeats),
            Need::Nothing => {}
            Need::Over => self.end(number),
        }
    }

    fn end(&mut self, number: usize) {
        let experiment = &self.experiments[number];
        let (fault, test) = (experiment.fault, experiment.test as u32);
        let Some(allocation) = &mut self.allocation else { return };
        if experiment.standing == Standing::Void {
            return allocation.void(fault, test);
        }
        let caused = experiment.variants.iter().filter_map(|it| it.caused.as_ref());
        let tokens: BTreeSet<u32> = caused
            .flat_map(|it| {
                let errors = it.errors.iter().map(|it| 2 * it.spot.0);
                errors.chain(it.growth.iter().map(|it| 2 * it.spot.0 + 1))
            })
            .collect();
        allocation.told(fault, test, tokens);
    }

    /// Asks for the runs that are compared with each other.
    fn spare(&mut self) {
        self.phase = Phase::Spare;
        let well: Vec<usize> =
            (0..self.tests.len()).filter(|&it| self.tests[it].left_out.is_none()).collect();
        for test in well.into_iter().take(self.what.spare_tests) {
            self.want(test, SETS * self.what.repeats);
        }
    }

    /// The loops that seem to grow where nothing differs, of those that were compared.
    pub(crate) fn false_growth(&self) -> (u64, u64) {
        let (mut grown, mut compared) = (0, 0);
        for runs in self.tests.iter().filter(|it| it.left_out.is_none()) {
            let size = self.what.repeats;
            let sets: Option<Vec<Vec<&Run>>> = (0..SETS).map(|it| runs.set(it, size)).collect();
            let Some(sets) = sets else { continue };
            // Each set stands once for the runs with a fault.
            for (with, without) in [([0, 1], [2, 3]), ([2, 3], [0, 1])] {
                let judged =
                    |at: usize| growth(&self.model, &self.what.judging, &sets[with[at]], &sets[without[at]]);
                let (first, number) = judged(0);
                compared += number;
                let first: BTreeSet<_> = first.into_iter().map(|it| it.spot).collect();
                grown += match self.what.judging.one_stage {
                    true => first.len(),
                    false => judged(1).0.iter().filter(|it| first.contains(&it.spot)).count(),
                } as u64;
            }
        }
        (grown, compared)
    }

    /// Steps as all runs show them: an error that any run without a fault has is none.
    fn search(&mut self) {
        self.phase = Phase::Again;
        let normal: Vec<BTreeSet<_>> = self
            .tests
            .iter()
            .map(|it| it.told().iter().flat_map(|it| it.digest.errors.iter().map(|it| it.0)).collect())
            .collect();
        for experiment in &mut self.experiments {
            let normal = &normal[experiment.test];
            for caused in experiment.variants.iter_mut().filter_map(|it| it.caused.as_mut()) {
                caused.errors.retain(|it| !normal.contains(&it.spot));
            }
        }
        self.shown = stitch::steps(&self.model, &self.experiments);
        match self.found() {
            Ok((rings, reached)) => {
                self.rings = rings;
                if reached.beam || reached.length || reached.cycles {
                    let what = "the search for cycles came to a limit, so some may be missing; raise `beam` under [cascade]";
                    self.problems.insert(what.to_owned());
                }
            }
            Err(error) => drop(self.problems.insert(format!("the search for cycles failed: {error}"))),
        }
        self.leave_out_known();
        if self.what.runs_again {
            let rings = self.rings.iter().take(RINGS_RUN_AGAIN);
            let is_injected =
                |it: &usize| !matches!(self.shown[*it].kind, StepKind::Outer | StepKind::Beside);
            let steps: BTreeSet<usize> =
                rings.flat_map(|it| it.steps.iter().copied()).filter(is_injected).collect();
            self.queue.extend(steps.into_iter().map(|step| Task::Again { step }));
        }
    }

    fn found(&self) -> Result<(Vec<Ring>, Reached), BeamError> {
        let Some(allocation) = &self.allocation else { return Ok(Default::default()) };
        let clusters = allocation.clusters();
        let limits = Limits { beam: self.what.beam, delays: self.what.delays_in_cycle, ..Limits::default() };
        let cluster_of = |fault| clusters.index_of(fault).unwrap_or(usize::MAX);
        stitch::rings(&self.shown, &clusters.scores(), &cluster_of, self.what.fit, &limits)
    }

    /// Cycles all of whose faults, or faults with like consequences, somebody knows are counted and not reported.
    fn leave_out_known(&mut self) {
        let Some(clusters) = self.allocation.as_ref().map(Allocation::clusters) else { return };
        let faults = self.model.faults();
        let fits = |fault: u32, known: &KnownCycle| {
            let method = &faults[fault as usize].shown.method;
            known.methods.iter().any(|it| glob_matches(it, method))
        };
        let is_known = |fault: u32, known: &KnownCycle| {
            let alike = clusters.index_of(fault).map(|it| clusters.list()[it].faults.as_slice());
            fits(fault, known) || alike.into_iter().flatten().any(|&it| fits(it, known))
        };
        let shown = &self.shown;
        let number = |ring: &Ring| {
            let known = self.what.known.iter();
            known.clone().position(|known| ring.steps.iter().all(|&it| is_known(shown[it].cause, known)))
        };
        let mut accepted = BTreeMap::new();
        let reported = self.rings.iter().filter(|ring| match number(ring) {
            Some(known) => {
                *accepted.entry(known).or_default() += 1 + ring.alike_count;
                false
            }
            None => true,
        });
        self.rings = reported.cloned().collect();
        self.accepted = accepted;
    }

    /// Takes a run without a fault.
    fn normal_told(&mut self, test: usize, number: usize, run: Run, outcome: &Outcome) {
        let why = match () {
            () if outcome.end == End::Interrupted => None,
            () if !outcome.end.is_well() => Some(format!("it {} without a fault", outcome.end)),
            () if !run.digest.is_armed && matches!(self.what.plan.arm, Arm::After(_)) => {
                Some("the system in it never became ready".to_owned())
            }
            () => run.digest.unreadable.clone(),
        };
        let is_first = number < self.what.repeats;
        if is_first && self.tests[test].left_out.is_none() {
            self.tests[test].left_out = why;
        }
        self.problems.extend(outcome.problems.iter().map(|it| format!("{}: {}", it.place, it.what)));
        self.tests[test].runs[number] = Some(run);
    }

    /// Lets the experiments go on that wait for fresh runs of a test without a fault, if those are there.
    fn wake(&mut self, test: usize, outcome: &Outcome) -> Vec<Event> {
        let mut events = Vec::new();
        if self.tests[test].set(1, self.what.repeats).is_some() {
            let open = |it: &Experiment| it.test == test && it.standing == Standing::Open;
            let waiting: Vec<usize> =
                (0..self.experiments.len()).filter(|&it| open(&self.experiments[it])).collect();
            for number in waiting {
                self.go_on(number);
                events.extend(self.told_of(number, outcome));
            }
        }
        events
    }

    /// Tests whether a run shows a step again.
    fn shows(&self, step: usize, run: &Run) -> bool {
        let step = &self.shown[step];
        let test = &self.tests[self.experiments[step.experiment].test];
        let spot = step.strongest.spot;
        match step.strongest.p {
            None => run.digest.errors.iter().any(|it| it.0 == spot),
            Some(_) => {
                let count = |run: &Run| -> u64 {
                    run.digest.loops.iter().filter(|it| it.0 == spot).map(|it| it.1).sum()
                };
                test.told().iter().all(|it| count(it) < count(run))
            }
        }
    }
}

impl Cascade {
    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over
    }
}

impl Engine for Cascade {
    type Digester = RunReader;
    type Results = Results;

    fn name(&self) -> &'static str {
        "cascade"
    }

    fn next(&mut self, room: usize) -> Next {
        self.advance();
        let tasks: Vec<Task> = self.queue.drain(..room.min(self.queue.len())).collect();
        match tasks.is_empty() {
            false => Next::Start(tasks.into_iter().map(|it| self.job(it)).collect()),
            true if self.phase == Phase::Over && self.open.is_empty() => Next::Done,
            true => Next::Wait,
        }
    }

    fn digester(&self) -> RunReader {
        self.reader.clone()
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: RunDigest) -> Vec<Event> {
        let (Some(task), Some(outcome)) = (self.open.remove(&id), outcome) else { return Vec::new() };
        let run = run_of(id, outcome, digest);
        self.spent += run.seconds;
        if let Some(why) = &run.digest.unreadable {
            self.problems.insert(format!("trial {id}: its trace cannot be read: {why}"));
        }
        if run.digest.lost > 0 {
            let lost = run.digest.lost;
            self.problems
                .insert(format!("trial {id}: {lost} records were lost, so it may show less than happened"));
        }
        match task {
            Task::Reach { test } => {
                self.reach_told(test, outcome);
                Vec::new()
            }
            Task::Normal { test, number } => {
                self.normal_told(test, number, run, outcome);
                let mut events = self.wake(test, outcome);
                if self.phase == Phase::Normal && self.is_idle() {
                    self.allocate();
                    events.push(self.planned());
                }
                events
            }
            Task::Injected { experiment, variant, number } => {
                self.experiments[experiment].tell(variant, number, run);
                self.go_on(experiment);
                self.fit_to_time();
                self.told_of(experiment, outcome).into_iter().collect()
            }
            Task::Again { step } => {
                let shows = run.is_injected.then(|| self.shows(step, &run));
                self.again.insert(step, (id, shows));
                Vec::new()
            }
        }
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        self.again.values().any(|it| it.0 == id)
    }

    fn results(&self, look: &Look<'_>) -> Results {
        self.document(look)
    }
}

fn run_of(id: JobId, outcome: &Outcome, digest: RunDigest) -> Run {
    let injection = outcome.candidates.iter().find_map(|it| match &it.result {
        CandidateResult::Injected(it) => Some(it),
        _ => None,
    });
    let frames = injection.map_or(&[][..], |it| &it.stack[..it.stack.len().min(1 + crate::model::CALLERS)]);
    Run {
        trial: id.0,
        seconds: outcome.wall_ms as f64 / 1e3,
        is_injected: injection.is_some(),
        times: injection.map_or(0, |it| it.times),
        has_timed_out: outcome.end == End::TimedOut,
        frames: frames.iter().map(|it| it.method.clone()).collect(),
        digest,
    }
}

#[cfg(test)]
mod tests;
