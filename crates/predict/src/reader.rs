//! Digest of a run: the operations of each JVM on files, alike ones together, and what its processes complain of.

use std::collections::BTreeSet;

use hypocenter_engine::{Digester, Evidence, Job, LogBytes};
use hypocenter_logs::{Level, Log, role};
use hypocenter_plan::{OperationKind, Site, SiteKind};
use hypocenter_trace::{Dictionary, Jvm, Map, SiteId, Trace, TracedOperation};
use rustc_hash::FxHashMap;
use serde::{Deserialize, Serialize};

use crate::series::series;

/// Moments of a JVM at which it may be crashed, evenly over its time.
pub(crate) const MARKS: usize = 60;
/// The most sets of like operations of a JVM.
const GROUPS_MAX: usize = 1 << 18;
/// The most frames by which a plan names an operation, and those of the system among them.
const NAMED_FRAMES_MAX: usize = 24;
const OWN_FRAMES_NAMED: usize = 2;
/// The most complaints that are kept, and their length.
const COMPLAINTS_MAX: usize = 1 << 10;
const COMPLAINT_CHARS_MAX: usize = 200;

/// Operations of a run on files. Texts are numbered.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub struct RunOperations {
    pub(crate) strings: Vec<String>,
    /// The sites at which operations begin.
    pub(crate) sites: Vec<Site>,
    /// Frames, innermost first, each with its method and its place.
    pub(crate) stacks: Vec<Vec<(u32, u32)>>,
    pub(crate) jvms: Vec<JvmOperations>,
    /// Stacks of the system, as numbers of `stacks`, from which bytes are sent over a connection.
    #[serde(default, skip_serializing_if = "BTreeSet::is_empty")]
    pub(crate) sends: BTreeSet<u32>,
    /// Warnings and exceptions in the logs, with numbers masked, by process.
    pub(crate) complaints: BTreeSet<(String, String)>,
    /// Records that were lost.
    #[serde(default)]
    pub(crate) lost: u64,
    /// Why the run says less than it could.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub(crate) unreadable: Option<String>,
}

/// Operations of a JVM.
#[derive(Debug, Clone, Default, PartialEq, Serialize, Deserialize)]
pub(crate) struct JvmOperations {
    pub node: String,
    /// Its number among the JVMs of its node, from 1.
    pub incarnation: u32,
    /// Number of all.
    pub count: u64,
    /// Those that are alike, by the first of each.
    pub groups: Vec<Group>,
    pub marks: Vec<Mark>,
    /// Operations beyond the most sets.
    #[serde(default)]
    pub crowded: u64,
}

/// Like operations: of one kind on one file, by the same calls.
#[derive(Debug, Clone, PartialEq, Serialize, Deserialize)]
pub(crate) struct Group {
    pub site: u32,
    pub kind: OperationKind,
    pub resource: u32,
    pub other: u32,
    pub stack: u32,
    /// Of the first.
    pub thread: u32,
    /// False if it failed, or answered that it did nothing.
    pub is_done: bool,
    pub times: u64,
    /// Places of the first in the order of all operations, when it began and ended, and the place where the last ended.
    pub first: (u64, u64),
    pub last: u64,
    /// The first and the last, by their numbers among those that a plan cannot tell from them.
    pub occurrence: u64,
    pub last_occurrence: u64,
    /// When the first ended.
    pub at_ms: f64,
}

/// A moment at which a JVM may be crashed: before an operation.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Serialize, Deserialize)]
pub(crate) struct Mark {
    /// The operation, by its number in the JVM, from 1.
    pub number: u64,
    pub group: u32,
    /// Its number among those of its site on files of its series.
    pub occurrence: u64,
    /// Its place in the order of all operations.
    pub begun: u64,
}

/// Reads the evidence of runs.
#[derive(Debug, Clone)]
pub struct OperationReader {
    /// Beginnings of the names of the system's classes, each with a dot at its end.
    packages: Vec<String>,
}

impl OperationReader {
    /// A reader that knows these packages as those of the system.
    pub(crate) fn new(packages: &[String]) -> OperationReader {
        OperationReader {
            packages: packages.iter().map(|it| format!("{}.", it.trim_end_matches('.'))).collect(),
        }
    }

    /// Tests whether a method belongs to the system.
    pub(crate) fn is_own(&self, method: &str) -> bool {
        self.packages.iter().any(|it| method.starts_with(it.as_str()))
    }

    /// The frames by which a plan names an operation: up to the nearest ones of the system.
    pub(crate) fn named<'f>(&self, methods: impl Iterator<Item = &'f str>) -> usize {
        let mut own = 0;
        for (number, method) in methods.take(NAMED_FRAMES_MAX).enumerate() {
            own += usize::from(self.is_own(method));
            if own == OWN_FRAMES_NAMED {
                return number + 1;
            }
        }
        NAMED_FRAMES_MAX
    }
}

impl Digester for OperationReader {
    type Digest = RunOperations;
    type Reading = ();

    fn digest(&self, _: &Job, evidence: &[Evidence], (): ()) -> RunOperations {
        let [evidence] = evidence else { return RunOperations::default() };
        let unreadable = |why: String| RunOperations { unreadable: Some(why), ..RunOperations::default() };
        match (evidence.map(), evidence.trace()) {
            (Ok(map), Ok(trace)) => {
                let mut reading = Reading::of(self, &map);
                for jvm in trace.jvms() {
                    reading.jvm(&trace, &jvm);
                }
                RunOperations { complaints: complaints(evidence.logs()), ..reading.digest }
            }
            (Err(error), _) => unreadable(error.to_string()),
            (_, Err(error)) => unreadable(error.to_string()),
        }
    }
}

/// What the processes complain of: entries of a log from a warning on, and lines with an exception.
fn complaints(logs: &[LogBytes]) -> BTreeSet<(String, String)> {
    let mut found = BTreeSet::new();
    for it in logs {
        let mut add = |said: &str| {
            if found.len() < COMPLAINTS_MAX {
                let said: String = said.chars().take(COMPLAINT_CHARS_MAX).collect();
                found.insert((it.process.clone(), role(said.trim()).into_owned()));
            }
        };
        if let Ok(log) = Log::read(&it.bytes) {
            let warned = log.entries().filter(|it| it.level.is_some_and(|level| level >= Level::Warn));
            warned.for_each(|it| add(it.first_line()));
        }
        let lines = it.bytes.split(|&byte| byte == b'\n').map(String::from_utf8_lossy);
        let is_thrown = |it: &str| !it.starts_with(char::is_whitespace) && it.contains("Exception");
        lines.filter(|it| is_thrown(it)).for_each(|it| add(&it));
    }
    found
}

/// An operation while it is read.
struct Raw {
    begun: u64,
    ended: u64,
    at_ms: f64,
    key: Alike,
    thread: u32,
}

/// What like operations have in common.
#[derive(Clone, Copy, PartialEq, Eq, Hash)]
struct Alike {
    site: u32,
    kind: OperationKind,
    resource: u32,
    other: u32,
    stack: u32,
    is_done: bool,
}

/// A run while it is read.
struct Reading<'r> {
    reader: &'r OperationReader,
    map: &'r Map<'r>,
    digest: RunOperations,
    strings: FxHashMap<String, u32>,
    sites: FxHashMap<SiteId, Option<u32>>,
    stacks: FxHashMap<Vec<(u32, u32)>, u32>,
    /// For each stack the number of its named frames.
    named: FxHashMap<Vec<u32>, u32>,
    series: FxHashMap<u32, u32>,
}

impl<'r> Reading<'r> {
    fn of(reader: &'r OperationReader, map: &'r Map<'r>) -> Reading<'r> {
        let mut it = Reading {
            reader,
            map,
            digest: RunOperations::default(),
            strings: FxHashMap::default(),
            sites: FxHashMap::default(),
            stacks: FxHashMap::default(),
            named: FxHashMap::default(),
            series: FxHashMap::default(),
        };
        // No name has the number 0.
        it.string("");
        it
    }

    fn string(&mut self, text: &str) -> u32 {
        if let Some(&known) = self.strings.get(text) {
            return known;
        }
        let number = self.digest.strings.len() as u32;
        self.digest.strings.push(text.to_owned());
        self.strings.insert(text.to_owned(), number);
        number
    }

    /// The beginning of an operation, by its end.
    fn site(&mut self, end: SiteId) -> Option<u32> {
        if let Some(&known) = self.sites.get(&end) {
            return known;
        }
        let site = self.map.site(end).filter(|it| it.kind == SiteKind::OperationEnd).map(|it| {
            self.digest.sites.push(Site { kind: SiteKind::Operation, ..it });
            self.digest.sites.len() as u32 - 1
        });
        self.sites.insert(end, site);
        site
    }

    fn stack(&mut self, dictionary: &Dictionary, id: u32) -> u32 {
        let frames = dictionary.stack(id);
        let frames: Vec<(u32, u32)> =
            frames.iter().map(|(method, at)| (self.string(method), self.string(at))).collect();
        if let Some(&known) = self.stacks.get(&frames) {
            return known;
        }
        let number = self.digest.stacks.len() as u32;
        self.digest.stacks.push(frames.clone());
        self.stacks.insert(frames, number);
        number
    }

    fn jvm(&mut self, trace: &Trace<'_>, jvm: &Jvm) {
        self.digest.lost += jvm.dropped + jvm.no_room;
        let dictionary = trace.dictionary(jvm);
        let (mut strings, mut stacks) = (FxHashMap::default(), FxHashMap::default());
        let mut all: Vec<Raw> = Vec::new();
        for it in trace.operations(jvm) {
            if it.kind == OperationKind::Send {
                let stack = self.stack(&dictionary, it.stack);
                self.digest.sends.insert(stack);
            }
            if it.kind.is_of_connection() {
                continue;
            }
            let Some(site) = self.site(it.site) else { continue };
            let mut string = |id: u32| match strings.get(&id) {
                Some(&known) => known,
                None => *strings.entry(id).or_insert_with(|| self.string(dictionary.string(id))),
            };
            let (resource, other) = (string(it.resource), string(it.other));
            let stack = match stacks.get(&it.stack) {
                Some(&known) => known,
                None => *stacks.entry(it.stack).or_insert(self.stack(&dictionary, it.stack)),
            };
            let is_done = is_done(&self.digest.sites[site as usize], &it);
            let key = Alike { site, kind: it.kind, resource, other, stack, is_done };
            let at_ms = trace.ms_since_start(it.ticks);
            all.push(Raw { begun: it.span.0, ended: it.span.1, at_ms, key, thread: it.thread });
        }
        all.sort_unstable_by_key(|it| it.begun);
        let operations = self.grouped(&dictionary, jvm, &all);
        self.digest.jvms.push(operations);
    }

    fn grouped(&mut self, dictionary: &Dictionary, jvm: &Jvm, all: &[Raw]) -> JvmOperations {
        let before = self.digest.jvms.iter().filter(|it| it.node == jvm.node).count() as u32;
        let count = all.len() as u64;
        let mut jvm = JvmOperations {
            node: jvm.node.clone(),
            incarnation: before + 1,
            count,
            ..JvmOperations::default()
        };
        let mut groups: FxHashMap<Alike, u32> = FxHashMap::default();
        let mut counts: FxHashMap<(u32, u32, u32), u64> = FxHashMap::default();
        let mut counts_anyhow: FxHashMap<(u32, u32), u64> = FxHashMap::default();
        let wanted = marked(all.iter().map(|it| it.at_ms));
        for (number, it) in all.iter().enumerate() {
            let named = self.named(it.key.stack);
            let (occurrence, anyhow) = self.occurrence(it, named, &mut counts, &mut counts_anyhow);
            let group = match groups.get(&it.key) {
                Some(&known) => known,
                None if jvm.groups.len() == GROUPS_MAX => {
                    jvm.crowded += 1;
                    continue;
                }
                None => {
                    let thread = self.string(dictionary.thread_name(it.thread));
                    jvm.groups.push(Group::of(it, thread, occurrence));
                    *groups.entry(it.key).or_insert(jvm.groups.len() as u32 - 1)
                }
            };
            let known = &mut jvm.groups[group as usize];
            known.times += 1;
            known.last = known.last.max(it.ended);
            known.last_occurrence = occurrence;
            if wanted.binary_search(&number).is_ok() {
                jvm.marks.push(Mark {
                    number: number as u64 + 1,
                    group,
                    occurrence: anyhow,
                    begun: it.begun,
                });
            }
        }
        jvm
    }

    /// The number of an operation among those on files of its series that a plan cannot tell from it: by its site and named frames, and by
    /// its site alone. A plan that names one of the two files of an operation means either.
    fn occurrence(
        &mut self,
        it: &Raw,
        named: u32,
        counts: &mut FxHashMap<(u32, u32, u32), u64>,
        counts_anyhow: &mut FxHashMap<(u32, u32), u64>,
    ) -> (u64, u64) {
        let mut names: Vec<u32> = [it.key.resource, it.key.other].into_iter().filter(|&it| it != 0).collect();
        names.iter_mut().for_each(|it| *it = self.series(*it));
        names.dedup();
        let mut occurrence = None;
        for name in names {
            let count = counts.entry((it.key.site, named, name)).or_default();
            let anyhow = counts_anyhow.entry((it.key.site, name)).or_default();
            *count += 1;
            *anyhow += 1;
            occurrence = occurrence.or(Some((*count, *anyhow)));
        }
        occurrence.unwrap_or((1, 1))
    }

    /// The series of a file, as a string.
    fn series(&mut self, name: u32) -> u32 {
        if let Some(&known) = self.series.get(&name) {
            return known;
        }
        let series = series(&self.digest.strings[name as usize]);
        let series = self.string(&series);
        self.series.insert(name, series);
        series
    }

    /// The number of the frames by which a plan names an operation.
    fn named(&mut self, stack: u32) -> u32 {
        let frames = &self.digest.stacks[stack as usize];
        let methods = frames.iter().map(|it| self.digest.strings[it.0 as usize].as_str());
        let named = self.reader.named(methods);
        let frames: Vec<u32> = frames.iter().take(named).map(|it| it.0).collect();
        let next = self.named.len() as u32;
        *self.named.entry(frames).or_insert(next)
    }
}

impl Group {
    fn of(it: &Raw, thread: u32, occurrence: u64) -> Group {
        let Alike { site, kind, resource, other, stack, is_done } = it.key;
        Group {
            site,
            kind,
            resource,
            other,
            stack,
            thread,
            is_done,
            times: 0,
            first: (it.begun, it.ended),
            last: it.ended,
            occurrence,
            last_occurrence: occurrence,
            at_ms: it.at_ms,
        }
    }
}

/// The moments at which a crash is tried, by the times of all operations: the first operation after each of some times, evenly spread. What
/// a node does at a time is mostly nothing, so the operation is mostly the first of several.
fn marked(times: impl Iterator<Item = f64>) -> Vec<usize> {
    let mut latest = f64::MIN;
    let times: Vec<f64> = times
        .map(|it| {
            latest = latest.max(it);
            latest
        })
        .collect();
    let (Some(first), Some(last)) = (times.first(), times.last()) else { return Vec::new() };
    let share = |it: usize| (2 * it + 1) as f64 / (2 * MARKS) as f64;
    let wanted = (0..MARKS).map(|it| first + (last - first) * share(it));
    let mut all: Vec<usize> = wanted.map(|wanted| times.partition_point(|&it| it < wanted)).collect();
    all.retain(|&it| it < times.len());
    all.dedup();
    all
}

/// Tests whether an operation did something. Those that answer with a truth value say so by it.
fn is_done(site: &Site, it: &TracedOperation) -> bool {
    it.failed == 0 && (!site.descriptor.ends_with(")Z") || it.result != 0)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn moments_are_spread_over_time_and_not_over_operations() {
        assert_eq!(marked([].into_iter()), [0; 0]);
        assert_eq!(marked([5.0].into_iter()), [0]);
        // A thousand operations in a millisecond, and two more in the hundred that follow.
        let burst = (0..1000).map(|it| it as f64 / 1000.0);
        let all = marked(burst.chain([50.0, 100.0]));
        assert_eq!(all.len(), 3, "{all:?}");
        assert_eq!(all[1..], [1000, 1001]);
        let even = marked((0..6000).map(f64::from));
        assert_eq!((even.len(), even[0], even[MARKS - 1]), (MARKS, 50, 5950));
    }

    #[test]
    fn a_plan_names_an_operation_up_to_the_nearest_methods_of_the_system() {
        let reader = OperationReader::new(&["app".to_owned()]);
        let check = |frames: &[&str], expected: usize| {
            assert_eq!(reader.named(frames.iter().copied()), expected, "{frames:?}");
        };
        check(&["java.io.File.exists", "app.Store.load", "lib.X.y", "app.Main.main", "app.Other.z"], 4);
        check(&["java.io.File.exists", "apple.Store.load"], NAMED_FRAMES_MAX);
        assert!(reader.is_own("app.Store.load") && !reader.is_own("apple.Store.load"));
    }
}
