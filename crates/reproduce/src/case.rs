//! What a campaign is about: the program, the failure log, and how a trial is compared with it.

use std::fmt;
use std::sync::{Arc, Mutex, OnceLock, PoisonError};

use hypocenter_engine::{Digester, Evidence, Job, Purpose};
use hypocenter_logs::{
    Comparison, Entry, Fields, Key, Level, Log, Memo, Order, Position, ShownNames, Statements, Tied, Ties,
    Timeline,
};
use hypocenter_plan::{Fault, SiteKind};
use hypocenter_program::{EMITTING, Program};
use hypocenter_results::Score;
use hypocenter_trace::{Map, SiteId};
use rustc_hash::{FxHashMap, FxHashSet};
use serde::{Deserialize, Serialize};

use crate::before::Before;
use crate::catalogue::{Catalogue, Choices, Kinds, NamedFrame, Wanted};
use crate::executions::{ByThread, Threads};
use crate::logged::Logged;
use crate::mentioned::mentioned;
use crate::policy;
use crate::reading::{Alike, Reading, TrialLog};
use crate::recording::Recording;
use crate::silence::{self, Silent};
use crate::space::Thread;
use crate::traces::{Seen, Traces};

/// How much of a message is kept for people.
const MESSAGE_CHARS_MAX: usize = 300;

/// See the module. It is the same for all trials, and nothing in it changes but what it need not find out twice.
#[derive(Debug)]
pub struct Case {
    program: Program,
    catalogue: Catalogue,
    statements: Statements,
    /// The log of each node, or of all.
    pub(crate) failure: Vec<FailureLog>,
    keys: Vec<FailureKey>,
    /// For each log, for each entry, its key and its place among all entries in the order of time.
    pub(crate) places: Vec<Vec<(u32, u32)>>,
    /// For each entry, in the order of time, who wrote it.
    threads: Vec<Thread>,
    /// The threads by their names.
    names: Threads,
    /// Where the lines stand that say that the failure happened, among all entries in the order of time.
    symptoms: Vec<u32>,
    /// The stacks of its exceptions that name a fault.
    logged: Vec<Logged>,
    /// The stack traces of its entries.
    traces: Traces,
    /// Which sites of the map are which, found out at the first trial: all have the same map.
    roles: OnceLock<Vec<SiteRole>>,
    /// The logs of the failure, tied by other fields than they have: trials may say less.
    tied: Mutex<Vec<(u32, Arc<Tied>)>>,
    /// The order of its entries, by its own fields.
    order: OnceLock<Order>,
    /// What is known of the entries of trials, for as many as are read at once.
    memos: Mutex<Vec<Memo>>,
    /// What comes before keys, as far as somebody asked.
    before: Mutex<FxHashMap<u32, Arc<Before>>>,
    is_symptom: IsSymptom,
}

/// Knows the lines that say that the failure happened.
struct IsSymptom(Box<dyn Fn(&str) -> bool + Send + Sync>);

impl fmt::Debug for IsSymptom {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str("IsSymptom")
    }
}

impl IsSymptom {
    /// Whether an entry has such a line.
    fn is_in(&self, it: &Entry<'_>) -> bool {
        it.message.lines().chain(it.rest.lines()).any(&self.0)
    }
}

/// A log of the failure.
#[derive(Debug)]
pub(crate) struct FailureLog {
    pub log: Log,
    pub tied: Arc<Tied>,
}

/// Entries of the failure log that say the same.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FailureKey {
    /// Where they stand, among all entries in the order of time.
    pub entries: Vec<u32>,
    /// What is known of how they came about.
    pub wanted: Wanted,
    /// How much less they count from the start, since they are not serious.
    pub mild: u32,
    /// The log of the first, by its number.
    pub log: u32,
    /// The line of the first in its log.
    pub line: u32,
    /// What the first says.
    pub message: String,
}

impl FailureKey {
    /// Whether it is a warning or worse.
    pub fn is_serious(&self) -> bool {
        self.mild <= policy::WARNING.weight
    }
}

/// What is kept of a trial.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Digest {
    /// For each key of the failure log how many of its entries have a partner in the trial's log.
    pub matched: Vec<u32>,
    /// The keys of the failure log of which the trial's log has an entry at another place than the failure's, sorted; as often as it has.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub elsewhere: Vec<u32>,
    /// Entries of the trial's log without a partner in the failure log.
    pub own: u32,
    /// The threads that write more than in the failure log from some place on.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub silent: Vec<Silent>,
    /// The entries of the failure log without a partner, of a run that a search starts from: their places in the order of
    /// time.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub missing: Vec<u32>,
    /// The executions of sites, of a run that a search starts from.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub recorded: Option<Vec<ByThread>>,
    /// For each stack of those, by its number from 1, the stacks of the failure log that it fits.
    #[serde(default, skip_serializing_if = "Vec::is_empty")]
    pub stacks: Vec<Vec<u32>>,
    /// The stack traces of the failure log that such a run logs as well.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub traces: Option<Seen>,
    /// Why the trial says nothing.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub unreadable: Option<String>,
}

impl Digest {
    /// Whether the trial's log has an entry of this key, wherever.
    pub(crate) fn has(&self, key: u32) -> bool {
        self.matched.get(key as usize).is_some_and(|&it| it > 0) || self.elsewhere.binary_search(&key).is_ok()
    }
}

/// What a site of the map is to a campaign.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum SiteRole {
    Fault(u32),
    /// A log statement, by its number in the program.
    Log(u32),
    /// One that prints: nothing filters it.
    Print(u32),
    /// Where a framework has let a message through.
    Emission,
    Nothing,
}

/// Reads the evidence of trials.
#[derive(Debug, Clone)]
pub struct Reader(pub(crate) Arc<Case>);

impl Case {
    /// What can lead to some keys, and to some threads being silent, which have the numbers behind. Beyond what is known to lead
    /// there are exceptions that may all the same.
    pub fn choices(&self, keys: &[u32], silent: usize, kinds: Kinds, beyond: bool) -> Choices {
        let mut known = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let new: Vec<u32> = keys.iter().copied().filter(|it| !known.contains_key(it)).collect();
        let wanted: Vec<&Wanted> = new.iter().map(|&it| &self.keys[it as usize].wanted).collect();
        let found = Before::of_all(&self.program, &wanted);
        known.extend(new.into_iter().zip(found.into_iter().map(Arc::new)));
        let of_key = |&key: &u32| (&self.keys[key as usize].wanted, known[&key].clone());
        let observables: Vec<(&Wanted, Arc<Before>)> = keys.iter().map(of_key).collect();
        drop(known);
        self.catalogue.choices(&self.program, &observables, silent, kinds, beyond)
    }

    /// The rules that make up the distance of a fault from a key, or from a silent thread where there is none.
    pub(crate) fn why(&self, key: Option<u32>, of: (u32, &Fault), distance: u32) -> Score {
        let known = self.before.lock().unwrap_or_else(PoisonError::into_inner);
        let before = key.and_then(|it| Some((it, known.get(&it)?.clone())));
        drop(known);
        let observable = before.as_ref().map(|(key, it)| (&self.keys[*key as usize].wanted, &**it));
        self.catalogue.why(&self.program, observable, of, distance)
    }

    /// A case. Each log of the failure has the name of the node that wrote it; one log of all has any name. `is_symptom` knows
    /// the lines that say that the failure happened.
    pub fn new(
        program: Program,
        failure: Vec<(String, Log)>,
        is_symptom: impl Fn(&str) -> bool + Send + Sync + 'static,
    ) -> Case {
        let is_symptom = IsSymptom(Box::new(is_symptom));
        let statements = hypocenter_ties::index(&program);
        let catalogue = Catalogue::of(&program);
        let tie = |(node, log): (String, Log)| {
            let fields = Fields::of(log.layout());
            let tied = Tied::of(&node, &log, &statements, fields);
            FailureLog { log, tied: Arc::new(tied) }
        };
        let failure: Vec<FailureLog> = failure.into_iter().map(tie).collect();
        let (keys, places) = keys_of(&program, &failure);
        let logged = logged_in(&program, &catalogue, &failure);
        let shown = failure.iter().filter(|it| it.tied.fields().thread).flat_map(|it| it.tied.threads());
        let shown = ShownNames::of(shown.map(|it| &*it.name));
        let mut names = Threads::of_nodes(failure.iter().map(|it| it.tied.node()), shown);
        let mut threads = vec![Thread::default(); places.iter().map(Vec::len).sum()];
        for (log, places) in failure.iter().zip(&places) {
            for (entry, &(_, place)) in log.tied.entries().iter().zip(places) {
                threads[place as usize] =
                    names.number(log.tied.node(), &log.tied.threads()[entry.thread as usize].name);
            }
        }
        let mut symptoms = Vec::new();
        let mut traces = Traces::default();
        for (log, places) in failure.iter().zip(&places) {
            for (entry, &(key, place)) in log.log.entries().zip(places) {
                traces.add(&entry, key, place);
            }
            let entries = log.log.entries().zip(places).filter(|(it, _)| is_symptom.is_in(it));
            symptoms.extend(entries.map(|(_, &(_, place))| place));
        }
        symptoms.sort_unstable();
        let roles = OnceLock::new();
        Case {
            program,
            catalogue,
            statements,
            failure,
            keys,
            places,
            threads,
            names,
            symptoms,
            logged,
            traces,
            roles,
            tied: Mutex::default(),
            order: OnceLock::new(),
            memos: Mutex::default(),
            before: Mutex::default(),
            is_symptom,
        }
    }

    /// The program.
    pub fn program(&self) -> &Program {
        &self.program
    }

    /// Its faults.
    pub fn catalogue(&self) -> &Catalogue {
        &self.catalogue
    }

    /// What the failure log says, each once.
    pub fn keys(&self) -> &[FailureKey] {
        &self.keys
    }

    /// How many logs the failure left: one a node, or one.
    pub fn logs(&self) -> usize {
        self.failure.len()
    }

    /// The node that a log of the failure is of.
    pub fn node(&self, log: u32) -> &str {
        self.failure[log as usize].tied.node()
    }

    /// For each entry of the failure log, in the order of time, who wrote it.
    pub fn threads(&self) -> &[Thread] {
        &self.threads
    }

    /// The threads of the failure log by their names, to number those of a run in the same way.
    pub(crate) fn names(&self) -> Threads {
        self.names.clone()
    }

    /// Where the lines stand that say that the failure happened.
    pub fn symptoms(&self) -> &[u32] {
        &self.symptoms
    }

    /// Whether an entry of a key says that the failure happened.
    pub(crate) fn says_symptom(&self, key: &FailureKey) -> bool {
        key.entries.iter().any(|it| self.symptoms.binary_search(it).is_ok())
    }

    /// The stacks of the exceptions in the failure log that name a fault.
    pub fn logged(&self) -> &[Logged] {
        &self.logged
    }

    /// The logs of a trial that is over, of which some may have been read.
    pub(crate) fn logs_of(&self, trial: &Evidence, reading: &mut Reading) -> (Vec<TrialLog>, Vec<String>) {
        reading.finish(trial.logs(), self.failure.iter().map(|it| it.log.layout()))
    }

    /// The stack traces of the failure log.
    pub(crate) fn traces(&self) -> &Traces {
        &self.traces
    }

    /// How the entries of the failure log were tied to statements of the program.
    pub fn ties(&self) -> Ties {
        self.failure.iter().map(|it| it.tied.ties()).fold(Ties::default(), |sum, it| Ties {
            by_line: sum.by_line + it.by_line,
            by_text: sum.by_text + it.by_text,
            moved: sum.moved + it.moved,
            none: sum.none + it.none,
        })
    }

    pub(crate) fn roles(&self, map: &Map<'_>) -> &[SiteRole] {
        self.roles.get_or_init(|| {
            let mut by_place: FxHashMap<(String, String, u32), u32> = FxHashMap::default();
            let world = &self.program.world;
            for (number, it) in self.program.statements.statements().iter().enumerate() {
                let class = world.show_type(world.method(it.method).owner);
                let method = String::from_utf8_lossy(world.method_name(it.method)).into_owned();
                by_place.entry((class, method, it.line.into())).or_insert(number as u32);
            }
            let role = |number: u32| match map.kind(SiteId(number)) {
                Some(SiteKind::Call) => {
                    let site = map.site(SiteId(number));
                    site.and_then(|it| self.catalogue.find(&it)).map_or(SiteRole::Nothing, SiteRole::Fault)
                }
                Some(SiteKind::Log) => map
                    .site(SiteId(number))
                    .and_then(|it| by_place.get(&(it.class, it.method, it.line.unwrap_or(0))).copied())
                    .map_or(SiteRole::Nothing, |it| {
                        let is_print = self.program.statements.statements()[it as usize].level
                            == hypocenter_program::Level::Print;
                        if is_print { SiteRole::Print(it) } else { SiteRole::Log(it) }
                    }),
                Some(SiteKind::Entry) => map
                    .site(SiteId(number))
                    .filter(|it| EMITTING.contains(&(it.class.as_str(), it.method.as_str())))
                    .map_or(SiteRole::Nothing, |_| SiteRole::Emission),
                _ => SiteRole::Nothing,
            };
            (0..map.site_count() as u32).map(role).collect()
        })
    }

    /// Fields by which a log of a trial is tied while it is written. They are a guess: the other logs, which may say less, are not
    /// known before the trial is over.
    fn alike(&self, path: &str) -> Alike {
        let name = path.rsplit('/').next().unwrap_or(path);
        let is_of =
            |it: &&FailureLog| name.strip_prefix(it.tied.node()).is_some_and(|it| it.starts_with('.'));
        let log = self.failure.iter().find(is_of).or(self.failure.first());
        Alike { fields: log.map_or(Fields::ALL, |it| it.tied.fields()), names: self.names.shown() }
    }

    /// Fields by which the logs of the failure and those of a trial are tied. Logs that are compared with each other are tied by
    /// what all of them say, or the same statement would be two keys. A thread is another matter: each log keeps the threads
    /// that it names, as long as there are such on both sides.
    fn fields(&self, logs: &[TrialLog]) -> (Vec<Fields>, Vec<Fields>) {
        let mut of_failure: Vec<Fields> = self.failure.iter().map(|it| it.tied.fields()).collect();
        let mut of_trial: Vec<Fields> = logs.iter().map(|it| Fields::of(it.log.layout())).collect();
        let nodes: Vec<&str> = self.failure.iter().map(|it| it.tied.node()).collect();
        let mut processes: Vec<&str> = logs.iter().map(|it| &*it.process).collect();
        processes.dedup();
        let mut groups = Comparison::groups(&nodes, &processes);
        // The logs of a process are one, also where they are compared with nothing.
        let is_alone = |it: &usize| !groups.iter().any(|group| group.1.contains(it));
        let alone: Vec<usize> = (0..processes.len()).filter(is_alone).collect();
        groups.extend(alone.into_iter().map(|it| (Vec::new(), vec![it])));
        for (failure, of_group) in groups {
            let is_of_group = |at: &usize| of_group.iter().any(|&it| processes[it] == logs[*at].process);
            let trial: Vec<usize> = (0..logs.len()).filter(is_of_group).collect();
            let said_there = || failure.iter().map(|&it| of_failure[it]);
            let said_here = || trial.iter().map(|&it| of_trial[it]);
            let keys = said_there().chain(said_here()).fold(Fields::ALL, |all, it| all & it.of_keys());
            let has_names = failure.is_empty()
                || trial.is_empty()
                || (said_there().any(|it| it.thread) && said_here().any(|it| it.thread));
            let of_one = |it: Fields| Fields { thread: it.thread && has_names, ..keys };
            failure.iter().for_each(|&it| of_failure[it] = of_one(of_failure[it]));
            trial.iter().for_each(|&it| of_trial[it] = of_one(of_trial[it]));
        }
        (of_failure, of_trial)
    }

    /// A log of the failure, tied by these fields.
    fn tied_by(&self, number: u32, fields: Fields) -> Arc<Tied> {
        let own = &self.failure[number as usize];
        if own.tied.fields() == fields {
            return own.tied.clone();
        }
        let mut known = self.tied.lock().unwrap_or_else(PoisonError::into_inner);
        if let Some((_, it)) = known.iter().find(|it| it.0 == number && it.1.fields() == fields) {
            return it.clone();
        }
        let tied = Arc::new(Tied::of(own.tied.node(), &own.log, &self.statements, fields));
        known.push((number, tied.clone()));
        tied
    }

    /// What is known of the entries of trials. It is given back by the one below.
    pub(crate) fn memo(&self) -> Memo {
        self.memos.lock().unwrap_or_else(PoisonError::into_inner).pop().unwrap_or_default()
    }

    pub(crate) fn keep(&self, memo: Memo) {
        self.memos.lock().unwrap_or_else(PoisonError::into_inner).push(memo);
    }

    /// The entries of a trial that are of the same statement as one that says that the failure happened, and do not say so: what it
    /// puts in may be anything, also what our own exception says.
    fn only_alike(&self, comparison: &Comparison, logs: &[TrialLog]) -> FxHashSet<Position> {
        let is_symptom = |it: &Position| {
            let place = self.places[it.node as usize][it.entry as usize].1;
            self.symptoms.binary_search(&place).is_ok()
        };
        let partners = comparison.pairs().filter(|(failure, _)| is_symptom(failure)).map(|it| it.1);
        let mut partners: Vec<Position> = partners.collect();
        partners.sort_unstable();
        let mut found = FxHashSet::default();
        let mut processes = (0..).zip(logs.chunk_by(|a, b| a.process == b.process));
        for of_process in partners.chunk_by(|a, b| a.node == b.node) {
            let Some((_, logs)) = processes.find(|it| it.0 == of_process[0].node) else { break };
            let entries = in_order(logs);
            let says =
                |it: &&Position| entries.get(it.entry as usize).is_some_and(|it| self.is_symptom.is_in(it));
            found.extend(of_process.iter().filter(|it| !says(it)));
        }
        found
    }

    /// Compares the logs of a trial with those of the failure.
    pub(crate) fn compare(&self, logs: &mut [TrialLog], memo: &mut Memo) -> Compared {
        let (of_failure, of_trial) = self.fields(logs);
        let failure: Vec<Arc<Tied>> =
            (0..).zip(of_failure).map(|(log, fields)| self.tied_by(log, fields)).collect();
        let mut of_trial = of_trial.into_iter();
        let of_process = |of_one: &mut [TrialLog]| {
            let tie = |(it, fields): (&mut TrialLog, Fields)| {
                it.tied(&self.statements, &Alike { fields, names: self.names.shown() }, memo)
            };
            let tied = of_one.iter_mut().zip(of_trial.by_ref()).map(tie).collect();
            Tied::merged(&of_one[0].process, tied)
        };
        let trial: Vec<Tied> = logs.chunk_by_mut(|a, b| a.process == b.process).map(of_process).collect();
        let comparison = Comparison::of(&failure, &trial);
        let place = |it: Position| self.places[it.node as usize][it.entry as usize].1;
        let mut missing: Vec<u32> = comparison.own().map(place).collect();
        let mut matched = vec![0; self.keys.len()];
        let mut pairs = 0;
        let others = self.only_alike(&comparison, logs);
        for (it, partner) in comparison.pairs() {
            pairs += 1;
            if others.contains(&partner) {
                missing.push(place(it));
            } else {
                matched[self.places[it.node as usize][it.entry as usize].0 as usize] += 1;
            }
        }
        missing.sort_unstable();
        let key = |it: &Position| self.places[it.node as usize][it.entry as usize].0;
        let is_other =
            |it: &&Position| !others.is_empty() && self.symptoms.binary_search(&place(**it)).is_ok();
        let elsewhere = comparison.elsewhere().iter().filter(|it| !is_other(it));
        let mut elsewhere: Vec<u32> = elsewhere.map(key).collect();
        elsewhere.sort_unstable();
        let entries: usize = trial.iter().map(|it| it.entries().len()).sum();
        let own = || self.order.get_or_init(|| Order::of(&failure));
        let is_own = failure.iter().zip(&self.failure).all(|(it, own)| Arc::ptr_eq(it, &own.tied));
        let timeline = match is_own {
            true => Timeline::along(own(), &trial, &comparison),
            false => Timeline::of(&failure, &trial, &comparison),
        };
        let silent =
            silence::silent(&failure, &trial, &comparison, &timeline, self.symptoms.last().map(|it| it + 1));
        let own = (entries - pairs) as u32;
        let digest = Digest { matched, elsewhere, missing, own, silent, ..Digest::default() };
        Compared { digest, timeline, comparison, failure, trial }
    }
}

/// The logs of a trial beside those of the failure.
pub(crate) struct Compared {
    pub digest: Digest,
    /// The failure's logs, by the fields that both have.
    pub failure: Vec<Arc<Tied>>,
    /// The trial's logs, one a process.
    pub trial: Vec<Tied>,
    pub comparison: Comparison,
    pub timeline: Timeline,
}

impl Digester for Reader {
    type Digest = Digest;
    type Reading = Reading;
    const READS_EARLY: bool = true;

    fn read(&self, reading: &mut Reading, path: &str, at: u64, bytes: &[u8]) {
        let case = &*self.0;
        reading.memo.get_or_insert_with(|| case.memo());
        if at == 0 {
            reading.forget(path);
        }
        reading.add(path, bytes, &case.statements, &case.alike(path));
    }

    fn digest(&self, job: &Job, evidence: &[Evidence], mut reading: Reading) -> Digest {
        let case = &*self.0;
        let [evidence] = evidence else { return Digest::default() };
        let (mut logs, problems) = case.logs_of(evidence, &mut reading);
        if logs.is_empty() {
            let why = if problems.is_empty() { "it wrote nothing".to_owned() } else { problems.join("; ") };
            return Digest { unreadable: Some(why), matched: vec![0; case.keys.len()], ..Digest::default() };
        }
        let mut memo = reading.memo.take().unwrap_or_else(|| case.memo());
        let compared = case.compare(&mut logs, &mut memo);
        case.keep(memo);
        let mut digest = compared.digest.clone();
        // What a search starts from is recorded; of a replay people are shown the moment.
        let is_base = matches!(job.purpose, Purpose::Normal | Purpose::Base | Purpose::Replay(_));
        if !is_base {
            digest.missing.clear();
        } else {
            digest.traces = Some(case.traces.of_run(logs.iter().flat_map(|it| it.log.entries())));
            match (evidence.map(), evidence.trace()) {
                (Ok(map), Ok(trace)) => {
                    let (logs, timeline) = (&compared.trial, &compared.timeline);
                    let recording = Recording::of(case, logs, timeline, &map, &trace, &mut digest.silent);
                    digest.recorded = Some(recording.executions);
                    digest.stacks = recording.stacks;
                }
                (Err(error), _) => digest.unreadable = Some(error.to_string()),
                (_, Err(error)) => digest.unreadable = Some(error.to_string()),
            }
        }
        digest
    }
}

/// The entries of several logs of a process, in the order of time.
pub(crate) fn in_order(logs: &[TrialLog]) -> Vec<Entry<'_>> {
    let mut entries: Vec<(i64, Entry<'_>)> = Vec::new();
    for it in logs {
        let mut last = i64::MIN;
        for entry in it.log.entries() {
            last = last.max(entry.time_ms.unwrap_or(last));
            entries.push((last, entry));
        }
    }
    entries.sort_by_key(|it| it.0);
    entries.into_iter().map(|(_, entry)| entry).collect()
}

/// What the failure log says, each once, in the order of its first entry; and for each log, for each entry, its key and its
/// place among all in the order of time.
fn keys_of(program: &Program, failure: &[FailureLog]) -> (Vec<FailureKey>, Vec<Vec<(u32, u32)>>) {
    let mut all: Vec<(i64, usize, u32)> = Vec::new();
    for (number, it) in failure.iter().enumerate() {
        let mut last = i64::MIN;
        for (at, entry) in it.tied.entries().iter().enumerate() {
            last = last.max(entry.time_ms.unwrap_or(last));
            all.push((last, number, at as u32));
        }
    }
    all.sort_by_key(|it| it.0);
    let mut numbers: FxHashMap<Key, u32> = FxHashMap::default();
    let mut keys: Vec<FailureKey> = Vec::new();
    let mut places: Vec<Vec<(u32, u32)>> =
        failure.iter().map(|it| vec![(0, 0); it.tied.entries().len()]).collect();
    for (place, &(_, number, at)) in all.iter().enumerate() {
        let log = &failure[number];
        let entry = &log.tied.entries()[at as usize];
        let key = *numbers.entry(entry.key).or_insert_with(|| {
            let entry_text = log.log.entry(at as usize);
            let message = entry_text.as_ref().map_or("", |it| it.first_line());
            let level = entry_text.as_ref().and_then(|it| it.level);
            keys.push(FailureKey {
                entries: Vec::new(),
                wanted: Wanted {
                    statements: log.tied.statements(entry.key).iter().map(|it| it.0).collect(),
                    frames: frames(program, log.tied.evidence(entry.key)),
                    mentioned: mentioned(message),
                },
                mild: match level {
                    Some(level) if level >= Level::Error => 0,
                    Some(Level::Warn) => policy::WARNING.weight,
                    _ => policy::MILD.weight,
                },
                log: number as u32,
                line: entry.line,
                message: message.chars().take(MESSAGE_CHARS_MAX).collect(),
            });
            keys.len() as u32 - 1
        });
        keys[key as usize].entries.push(place as u32);
        places[number][at as usize] = (key, place as u32);
    }
    (keys, places)
}

/// The stacks of the exceptions that name a fault, each once.
fn logged_in(program: &Program, catalogue: &Catalogue, failure: &[FailureLog]) -> Vec<Logged> {
    let mut found: Vec<Logged> = Vec::new();
    for log in failure {
        let mut keys: Vec<Key> = log.tied.entries().iter().map(|it| it.key).collect();
        let mut seen = FxHashSet::default();
        keys.retain(|&it| seen.insert(it));
        for evidence in keys.iter().flat_map(|&it| log.tied.evidence(it)) {
            for logged in Logged::of(program, catalogue, &evidence.trace()) {
                if !found.contains(&logged) {
                    found.push(logged);
                }
            }
        }
    }
    found
}

/// The frames of the system in stack traces.
fn frames(program: &Program, evidence: &[hypocenter_logs::Evidence]) -> Vec<NamedFrame> {
    let world = &program.world;
    let is_system = |class: &str| {
        world.find_type(class.replace('.', "/").as_bytes()).is_some_and(|it| world.is_system(it))
    };
    let mut found = Vec::new();
    for it in evidence {
        for exception in &it.trace().exceptions {
            let own = exception.frames.iter().filter(|it| is_system(it.class));
            found.extend(own.enumerate().map(|(depth, frame)| NamedFrame {
                class: frame.class.to_owned(),
                method: frame.method.to_owned(),
                line: frame.line,
                depth: depth as u32,
                exception: exception.class.to_owned(),
            }));
        }
    }
    found
}
