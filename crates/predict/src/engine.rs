//! The engine: runs without a fault, runs with a crash to see the recovery, the pairs of both, and a crash for each.

use std::collections::{BTreeMap, BTreeSet, VecDeque};
use std::sync::Arc;

use hypocenter_engine::{
    Claim, Claims, Engine, Job, JobId, Look, Next, Purpose, Retry, Settled, Shows, Tries, Work,
};
use hypocenter_plan::{Candidate, CandidateResult, Outcome, Plan};
use hypocenter_program::Program;
use hypocenter_results::event::{Effect, Event, Learned, RoundEnded};
use hypocenter_results::explored::Severity;
use hypocenter_results::predicted::{
    Access, CrashCame, CrashRun, CrashSide, CrashedNode, PruneRule, Triggered,
};
use hypocenter_results::{Injected, Rate};
use hypocenter_trace::hash;
use serde::{Deserialize, Serialize};

use crate::judge::NormalEnds;
use crate::pairs::{Moment, Pairs, Runs};
use crate::reader::{MARKS, Mark, OperationReader, RunOperations};
use crate::run::Seen;

/// Settings of a campaign.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub struct PredictSettings {
    /// The workload's name.
    pub workload: String,
    /// The nodes, and for each that cannot be crashed the reason.
    pub nodes: Vec<(String, Option<String>)>,
    /// The packages of the system.
    pub packages: Vec<String>,
    /// Common plan of all trials.
    pub plan: Plan,
    /// Runs without a fault.
    pub normal_runs: u64,
    /// Runs with a crash of each node.
    pub crashes: usize,
    /// True if the reports are tried.
    pub triggers: bool,
    /// The most triggers.
    pub triggers_max: usize,
    /// Replays of each finding.
    pub replays: u64,
    /// Rules that leave out nothing.
    pub without: BTreeSet<PruneRule>,
}

/// See the module.
#[derive(Debug)]
pub struct Predict {
    program: Arc<Program>,
    pub(crate) what: PredictSettings,
    pub(crate) reader: OperationReader,
    asked: u64,
    open: BTreeMap<JobId, Task>,
    queue: VecDeque<Task>,
    phase: Phase,
    pub(crate) normal: Vec<RunOperations>,
    normal_ends: NormalEnds,
    /// What correct runs complain of.
    usual: BTreeSet<(String, String)>,
    pub(crate) nodes: Vec<NodeRuns>,
    pub(crate) pairs: Pairs,
    pub(crate) triggers: Vec<Trigger>,
    pub(crate) normal_asked: u64,
    /// Why there is no verdict.
    pub(crate) ended: Option<Ended>,
    pub(crate) problems: BTreeSet<String>,
}

/// Why a campaign has no verdict.
#[derive(Debug, Clone)]
pub(crate) enum Ended {
    NormalFails(String),
    Incomplete(String),
}

/// Phases of a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum Phase {
    Normal,
    Crashes,
    Triggers,
    Over,
}

/// Purpose of a job.
#[derive(Debug, Clone)]
enum Task {
    Normal,
    /// By the node and the number of its run.
    Crash(usize, usize),
    Trigger(usize),
    /// Another run of a trigger.
    Again,
}

/// A node and its runs with a crash.
#[derive(Debug, Default)]
pub(crate) struct NodeRuns {
    pub told: CrashedNode,
    candidates: Vec<Candidate>,
    /// Of each run its operations, if it was correct.
    pub correct: Vec<Option<RunOperations>>,
    /// Moments that were not tried.
    spare: Vec<Mark>,
}

/// A crash that is tried, beside a write or where a run with a crash has failed.
#[derive(Debug)]
pub(crate) struct Trigger {
    /// By its number, for the crash of a pair.
    pub write: Option<usize>,
    pub moment: Moment,
    pub trial: Option<u64>,
    pub came: Option<Triggered>,
    /// What it leaves, if it failed.
    pub run: Option<RunOperations>,
    pub injected: Option<Injected>,
    pub why: String,
    pub tries: Tries,
    pub settled: Option<Settled>,
}

impl Predict {
    /// A campaign that has not begun.
    pub fn new(program: Arc<Program>, what: PredictSettings) -> Predict {
        let mut engine = Predict {
            program,
            reader: OperationReader::new(&what.packages),
            asked: 0,
            open: BTreeMap::new(),
            queue: VecDeque::new(),
            phase: Phase::Normal,
            normal: Vec::new(),
            normal_ends: NormalEnds::default(),
            usual: BTreeSet::new(),
            nodes: Vec::new(),
            pairs: Pairs::default(),
            triggers: Vec::new(),
            normal_asked: what.normal_runs.max(1),
            ended: None,
            problems: BTreeSet::new(),
            what,
        };
        engine.queue.extend((0..engine.normal_asked).map(|_| Task::Normal));
        engine
    }

    fn plan(&self, candidate: Option<Candidate>) -> Plan {
        let seed = hash::word(self.asked, self.what.plan.seed);
        Plan { seed, limit: 1, candidates: candidate.into_iter().collect(), ..self.what.plan.clone() }
    }

    fn job(&mut self, task: Task) -> Job {
        let (purpose, candidate) = match &task {
            Task::Normal => (Purpose::Normal, None),
            Task::Crash(node, number) => {
                (Purpose::Probe, Some(self.nodes[*node].candidates[*number].clone()))
            }
            Task::Trigger(number) => (Purpose::Probe, Some(self.triggers[*number].moment.candidate.clone())),
            Task::Again => (Purpose::Probe, None),
        };
        self.ask(task, purpose, candidate)
    }

    fn ask(&mut self, task: Task, purpose: Purpose, candidate: Option<Candidate>) -> Job {
        let plan = self.plan(candidate);
        let id = JobId(self.asked);
        self.asked += 1;
        match task {
            Task::Crash(node, number) => self.nodes[node].told.crashes[number].trial = id.0,
            Task::Trigger(number) => self.triggers[number].trial = Some(id.0),
            Task::Normal | Task::Again => {}
        }
        self.open.insert(id, task);
        Job { id, purpose, work: Work::trial(self.what.workload.clone(), plan) }
    }

    fn is_idle(&self) -> bool {
        self.queue.is_empty() && self.open.is_empty()
    }

    /// Goes on as far as possible without another outcome.
    fn advance(&mut self) -> Vec<Event> {
        let mut events = Vec::new();
        while self.is_idle() && self.phase != Phase::Over {
            self.phase = match (self.phase, &self.ended) {
                (_, Some(_)) => Phase::Over,
                (Phase::Normal, _) => {
                    self.choose_crashes();
                    Phase::Crashes
                }
                (Phase::Crashes, _) => {
                    self.analyse();
                    Phase::Triggers
                }
                (Phase::Triggers | Phase::Over, _) => {
                    let claims = self.failed().count() as u64;
                    if claims > 0 && self.what.replays > 0 {
                        let replays = self.what.replays;
                        events.push(Event::Learned(Learned::Confirming { claims, replays, near: 0 }));
                    }
                    Phase::Over
                }
            };
        }
        events
    }

    /// Moments at which each node is crashed to see its recovery: early, late, and evenly between.
    fn choose_crashes(&mut self) {
        let Some(normal) = self.normal.first() else { return };
        for (name, left_out) in self.what.nodes.clone() {
            let mut told = CrashedNode { name: name.clone(), left_out, ..CrashedNode::default() };
            let jvm = normal.first_start(&name);
            told.operations = jvm.map_or(0, |it| it.count);
            let marks = jvm.map_or(&[][..], |it| &it.marks);
            if told.left_out.is_none() && marks.is_empty() {
                told.left_out =
                    Some("it does nothing with files below the directory of the trial".to_owned());
            }
            let mut node = NodeRuns { told, ..NodeRuns::default() };
            if node.told.left_out.is_none() {
                let wanted: Vec<usize> = chosen(marks.len(), self.what.crashes);
                node.spare =
                    marks.iter().enumerate().filter(|it| !wanted.contains(&it.0)).map(|it| *it.1).collect();
                for number in wanted {
                    node.add(normal, marks[number], &self.reader);
                }
            }
            let number = self.nodes.len();
            self.queue.extend((0..node.candidates.len()).map(|it| Task::Crash(number, it)));
            self.nodes.push(node);
        }
    }

    /// Pairs of all nodes, and the crashes for them.
    fn analyse(&mut self) {
        let Some(normal) = self.normal.first() else { return };
        let runs = Runs { program: &self.program, reader: &self.reader, normal, without: &self.what.without };
        let mut pairs = Pairs::default();
        for node in &self.nodes {
            let crashed: Vec<&RunOperations> = node.correct.iter().flatten().collect();
            if node.told.left_out.is_none() && !crashed.is_empty() {
                runs.pairs(&node.told.name, &crashed, &mut pairs);
            }
        }
        self.pairs = pairs;
        if !self.what.triggers {
            return;
        }
        // The nearest harm first.
        let mut nearest: BTreeMap<usize, u32> = BTreeMap::new();
        for it in &self.pairs.reports {
            let distance = it.impact.as_ref().map_or(u32::MAX, |it| it.distance);
            nearest.entry(it.write).and_modify(|known| *known = distance.min(*known)).or_insert(distance);
        }
        let mut order: Vec<(u32, usize)> = nearest.into_iter().map(|(write, it)| (it, write)).collect();
        order.sort_unstable();
        let first = self.triggers.len();
        for (_, write) in order {
            let moments = self.pairs.writes[write].moments.clone();
            self.triggers.extend(moments.into_iter().map(|it| Trigger::of(Some(write), it)));
        }
        let last = self.triggers.len().min(first + self.what.triggers_max);
        self.queue.extend((first..last).map(Task::Trigger));
    }

    fn told_normal(&mut self, outcome: &Outcome, digest: RunOperations) {
        if let Some(why) = self.normal_ends.take_down(outcome) {
            self.ended.get_or_insert(Ended::NormalFails(why));
        }
        if let Some(why) = digest.gap().or(outcome.disk_full.then(|| "the disk is full".to_owned())) {
            self.ended.get_or_insert(Ended::Incomplete(why));
        }
        self.problems.extend(outcome.problems.iter().map(|it| format!("{}: {}", it.place, it.what)));
        self.usual.extend(digest.complaints.iter().cloned());
        self.normal.push(digest);
    }

    fn told_crash(
        &mut self,
        (node, number): (usize, usize),
        outcome: &Outcome,
        digest: RunOperations,
    ) -> Effect {
        let name = self.nodes[node].told.name.clone();
        let wrong = self.normal_ends.wrong(outcome);
        let starts = outcome.processes.iter().filter(|it| it.name == name).count() as u64;
        let recovery = digest.jvms.iter().filter(|it| it.node == name && it.incarnation > 1);
        let recovery = recovery.map(|it| it.count).sum();
        let came = match (outcome.injected(), wrong, digest.gap()) {
            (0, ..) => CrashCame::NotReached { why: why_not(outcome) },
            (_, Some(why), _) => CrashCame::Failed { why },
            (_, None, Some(why)) => CrashCame::NotReached { why },
            (_, None, None) => CrashCame::Correct,
        };
        let of_node = &mut self.nodes[node];
        let it = &mut of_node.told.crashes[number];
        (it.came, it.starts, it.recovery) = (Some(came.clone()), starts, recovery);
        let effect = match &came {
            CrashCame::Correct => Effect::Fine,
            CrashCame::Failed { why } => Effect::Symptom { severity: Severity::Critical, why: why.clone() },
            CrashCame::NotReached { why } => Effect::NoFault { why: why.clone(), is_bad: false },
        };
        match came {
            CrashCame::Correct => {
                self.usual.extend(digest.complaints.iter().cloned());
                of_node.correct[number] = Some(digest);
            }
            CrashCame::Failed { why } => {
                let (access, trial) = (it.before.clone(), it.trial);
                let candidate = of_node.candidates[number].clone();
                let moment = Moment { access, side: CrashSide::Before, candidate, order: it.at };
                let mut trigger = Trigger::of(None, moment);
                trigger.trial = Some(trial);
                trigger.failed(why, outcome, &self.what.plan, digest);
                self.triggers.push(trigger);
                self.crash_elsewhere(node);
            }
            CrashCame::NotReached { .. } => self.crash_elsewhere(node),
        }
        effect
    }

    /// Another moment in the place of one that gave no correct run.
    fn crash_elsewhere(&mut self, node: usize) {
        let of_node = &mut self.nodes[node];
        let is_enough = of_node.candidates.len() >= 2 * self.what.crashes;
        let (Some(normal), false, false) = (self.normal.first(), of_node.spare.is_empty(), is_enough) else {
            return;
        };
        let last = of_node.told.crashes.last().map_or(0, |it| it.at);
        // As far from the others as can be: half way round.
        let at = of_node.spare.iter().position(|it| it.number > last / 2).unwrap_or(0);
        let mark = of_node.spare.remove(at);
        of_node.add(normal, mark, &self.reader);
        self.queue.push_back(Task::Crash(node, of_node.candidates.len() - 1));
    }

    fn told_trigger(&mut self, number: usize, outcome: &Outcome, digest: RunOperations) -> Effect {
        let wrong = self.normal_ends.wrong(outcome);
        let complaint =
            digest.complaints.difference(&self.usual).next().map(|it| format!("{}: {}", it.0, it.1));
        let plan = &self.what.plan;
        let trigger = &mut self.triggers[number];
        match (outcome.injected(), wrong) {
            (0, _) => {
                let why = why_not(outcome);
                trigger.came = Some(Triggered::NotReached { why: why.clone() });
                Effect::NoFault { why, is_bad: false }
            }
            (_, Some(why)) => {
                trigger.failed(why.clone(), outcome, plan, digest);
                Effect::Symptom { severity: Severity::Critical, why }
            }
            (_, None) => {
                trigger.injected =
                    Injected::all(&plan_of(plan, &trigger.moment), outcome).next().map(|it| it.1);
                let (came, effect) = match complaint {
                    Some(why) => {
                        let effect = Effect::Symptom { severity: Severity::Expected, why: why.clone() };
                        (Triggered::Handled { why }, effect)
                    }
                    None => (Triggered::Benign, Effect::Fine),
                };
                trigger.came = Some(came);
                effect
            }
        }
    }

    /// Triggers that failed.
    pub(crate) fn failed(&self) -> impl Iterator<Item = &Trigger> {
        self.triggers.iter().filter(|it| it.run.is_some())
    }

    fn trigger_of(&mut self, trial: JobId) -> Option<&mut Trigger> {
        self.triggers.iter_mut().find(|it| it.trial == Some(trial.0))
    }

    /// Runs that are correct whatever the crash: those without one, and those with a crash elsewhere.
    fn correct_runs(&self) -> u64 {
        let crashed = self.nodes.iter().flat_map(|it| &it.correct).flatten().count();
        (self.normal.len() + crashed) as u64
    }

    pub(crate) fn is_over(&self) -> bool {
        self.phase == Phase::Over && (self.what.replays == 0 || self.failed().all(|it| it.settled.is_some()))
    }

    fn round(&self, id: JobId, task: &Task, outcome: &Outcome, effect: Effect) -> Event {
        let (candidate, meant) = match task {
            Task::Crash(node, number) => {
                let node = &self.nodes[*node];
                let it = &node.told.crashes[*number];
                (
                    &node.candidates[*number],
                    format!("crash of {} at operation {} of {}", node.told.name, it.at, node.told.operations),
                )
            }
            Task::Trigger(number) => {
                let Moment { access, side, candidate, .. } = &self.triggers[*number].moment;
                (candidate, format!("crash of {} {side} {access}", access.node))
            }
            Task::Normal | Task::Again => unreachable!("only crashes are reported here"),
        };
        let plan = Plan { candidates: vec![candidate.clone()], ..Plan::default() };
        let faults = Injected::all(&plan, outcome).map(|it| it.1).collect();
        let record = serde_json::json!({ "trial": id.0, "meant": meant });
        Event::Round(Box::new(RoundEnded {
            number: id.0,
            trial: id.0,
            faults,
            meant: Some(meant),
            effect,
            ends: outcome.node_ends(),
            left: self.queue.len() as u64,
            record: record.to_string(),
            ..RoundEnded::default()
        }))
    }
}

/// A plan with the crash of a moment alone.
fn plan_of(plan: &Plan, moment: &Moment) -> Plan {
    Plan { candidates: vec![moment.candidate.clone()], ..plan.clone() }
}

/// So many of some moments, evenly spread.
fn chosen(marks: usize, crashes: usize) -> Vec<usize> {
    let mut all: Vec<usize> =
        (0..crashes.min(MARKS)).map(|it| marks * (2 * it + 1) / (2 * crashes)).collect();
    all.dedup();
    all
}

/// Why a crash did not happen.
fn why_not(outcome: &Outcome) -> String {
    let why = outcome.candidates.iter().find_map(|it| match &it.result {
        CandidateResult::NotReached { why } | CandidateResult::Refused { why } => Some(why.clone()),
        CandidateResult::Injected(_) | CandidateResult::NotNeeded => None,
    });
    why.unwrap_or_else(|| "the operation was not reached".to_owned())
}

impl NodeRuns {
    /// Adds a run with a crash before an operation.
    fn add(&mut self, normal: &RunOperations, mark: Mark, reader: &OperationReader) {
        let Some(jvm) = normal.first_start(&self.told.name) else { return };
        let Some(group) = jvm.groups.get(mark.group as usize) else { return };
        let seen = Seen { run: normal, jvm, group };
        let before: Access = seen.access(reader);
        self.candidates.push(seen.crash(reader, CrashSide::Before, mark.occurrence));
        self.told.crashes.push(CrashRun {
            trial: 0,
            at: mark.number,
            before,
            came: None,
            starts: 0,
            recovery: 0,
        });
        self.correct.push(None);
    }
}

impl Trigger {
    fn of(write: Option<usize>, moment: Moment) -> Trigger {
        Trigger {
            write,
            moment,
            trial: None,
            came: None,
            run: None,
            injected: None,
            why: String::new(),
            tries: Tries::default(),
            settled: None,
        }
    }

    fn failed(&mut self, why: String, outcome: &Outcome, plan: &Plan, run: RunOperations) {
        self.injected = Injected::all(&plan_of(plan, &self.moment), outcome).next().map(|it| it.1);
        self.came = Some(Triggered::Unconfirmed { why: why.clone() });
        self.why = why;
        self.run = Some(run);
    }
}

impl Claims for Predict {
    fn claims(&self) -> Vec<Claim> {
        if self.phase != Phase::Over || self.what.replays == 0 {
            return Vec::new();
        }
        let open = self.failed().filter(|it| it.settled.is_none());
        let claim = |it: &Trigger| {
            Some(Claim { of: JobId(it.trial?), replays: self.what.replays, until_sure: false })
        };
        open.filter_map(claim).collect()
    }

    fn again(&mut self, of: JobId, way: Retry) -> Job {
        let candidate = self.trigger_of(of).map(|it| it.moment.candidate.clone());
        let candidate = candidate.filter(|_| way != Retry::Control);
        let purpose = if way == Retry::Control { Purpose::Control(of) } else { Purpose::Replay(of) };
        let job = self.ask(Task::Again, purpose, candidate);
        // It is told by what confirms it, and keeps nothing open here.
        self.open.remove(&job.id);
        job
    }

    fn shows(&mut self, _: JobId, _: (JobId, Retry), outcome: &Outcome, _: RunOperations) -> Shows {
        match (outcome.injected(), self.normal_ends.wrong(outcome)) {
            (0, _) => Shows::Missed,
            (_, Some(_)) => Shows::Yes,
            (_, None) => Shows::No,
        }
    }

    fn counted(&mut self, of: JobId, tries: Tries) {
        if let Some(it) = self.trigger_of(of) {
            it.tries = tries;
        }
    }

    fn settled(&mut self, of: JobId, settled: Settled) -> Vec<Event> {
        if let Some(it) = self.trigger_of(of) {
            it.settled = Some(settled);
            if settled == Settled::Holds && it.tries.hits > 0 {
                it.came = Some(Triggered::Confirmed);
            }
        }
        Vec::new()
    }

    fn without_fault(&self) -> Rate {
        Rate { hits: 0, runs: self.correct_runs() }
    }
}

impl Engine for Predict {
    type Digester = OperationReader;
    type Results = hypocenter_results::predicted::Prediction;

    fn name(&self) -> &'static str {
        "predict"
    }

    fn next(&mut self, room: usize) -> Next {
        let mut jobs = Vec::new();
        while jobs.len() < room
            && let Some(task) = self.queue.pop_front()
        {
            jobs.push(self.job(task));
        }
        match jobs.is_empty() {
            false => Next::Start(jobs),
            true if self.phase == Phase::Over && self.open.is_empty() => Next::Done,
            true => Next::Wait,
        }
    }

    fn digester(&self) -> OperationReader {
        self.reader.clone()
    }

    fn tell(&mut self, id: JobId, outcome: Option<&Outcome>, digest: RunOperations) -> Vec<Event> {
        let (Some(task), Some(outcome)) = (self.open.remove(&id), outcome) else { return Vec::new() };
        let mut events = Vec::new();
        if let Some(why) = &digest.unreadable {
            events.push(Event::Learned(Learned::Unreadable { trial: id.0, why: why.clone() }));
        }
        let effect = match &task {
            Task::Normal => {
                self.told_normal(outcome, digest);
                None
            }
            Task::Crash(node, number) => Some(self.told_crash((*node, *number), outcome, digest)),
            Task::Trigger(number) => Some(self.told_trigger(*number, outcome, digest)),
            Task::Again => None,
        };
        if self.ended.is_some() {
            self.queue.clear();
        }
        events.extend(effect.map(|it| self.round(id, &task, outcome, it)));
        events.extend(self.advance());
        events
    }

    fn keeps_trace(&self, id: JobId) -> bool {
        id.0 == 0 || self.failed().any(|it| it.trial == Some(id.0))
    }

    fn results(&self, _: &Look<'_>) -> Self::Results {
        self.document()
    }
}
