//! What the trace of a run says of the executions of fault sites, with their places in the failure log.

use std::collections::VecDeque;

use hypocenter_logs::{Moment, ShownNames, StatementId, Tied, Timeline};
use hypocenter_plan::{Plan, Record, SiteKind, Watch, WatchLevel};
use hypocenter_program::EMITTING;
use hypocenter_trace::{Map, StackFrame, Trace};
use rustc_hash::FxHashMap;

use crate::case::{Case, SiteRole};
use crate::emission::{ByStatement, Emissions};
use crate::executions::ByThread;
use crate::silence::Silent;

/// Records of every trial: each execution of a call, and of a log statement of these classes, and the entries that the level filter let
/// through.
pub fn common_plan(classes: &[String], needs_stacks: bool) -> Plan {
    let level = if needs_stacks { WatchLevel::Stack } else { WatchLevel::Event };
    let own = Watch {
        kinds: vec![SiteKind::Call, SiteKind::Log],
        classes: classes.to_vec(),
        methods: Vec::new(),
        level,
    };
    let emitting = EMITTING.map(|(class, method)| Watch {
        kinds: vec![SiteKind::Entry],
        classes: vec![class.to_owned()],
        methods: vec![method.to_owned()],
        level: WatchLevel::Event,
    });
    let watch = std::iter::once(own).chain(emitting).collect();
    Plan {
        // What is stuck at the end is taken to be stuck for good.
        outlast: true,
        record: Record { watch, lossless: true, ..Record::default() },
        ..Plan::default()
    }
}

/// An execution of a fault site.
#[derive(Debug, Clone, Copy, Default)]
struct Hit {
    ticks: u64,
    /// When its thread did the next thing.
    end: u64,
    site: u32,
    /// The thread.
    group: u32,
    stack: u64,
    /// How many entries of the failure log come before it, and before its end.
    place: (u32, u32),
}

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Recording {
    /// The executions of fault sites, with their places in the failure log.
    pub executions: Vec<ByThread>,
    /// For each stack, by its number from 1, those of the failure log that it fits.
    pub stacks: Vec<Vec<u32>>,
}

impl Recording {
    pub(crate) fn of(
        case: &Case,
        logs: &[Tied],
        timeline: &Timeline,
        map: &Map<'_>,
        trace: &Trace<'_>,
        silent: &mut [Silent],
    ) -> Recording {
        let mut stacks = Stacks::default();
        let executions = executions(case, logs, timeline, (map, trace), &mut stacks, silent);
        let fits = |stack: &Vec<StackFrame>| {
            let logged = case.logged().iter().enumerate();
            logged.filter(|(_, it)| it.fits(stack)).map(|(number, _)| number as u32).collect()
        };
        Recording { executions, stacks: stacks.all.iter().map(fits).collect() }
    }
}

/// The stacks of all JVMs, each once, numbered from 1.
#[derive(Debug, Default)]
struct Stacks {
    all: Vec<Vec<StackFrame>>,
    numbers: FxHashMap<Vec<StackFrame>, u64>,
}

impl Stacks {
    fn number(&mut self, stack: Vec<StackFrame>) -> u64 {
        *self.numbers.entry(stack).or_insert_with_key(|stack| {
            self.all.push(stack.clone());
            self.all.len() as u64
        })
    }
}

fn executions(
    case: &Case,
    logs: &[Tied],
    timeline: &Timeline,
    (map, trace): (&Map<'_>, &Trace<'_>),
    stacks: &mut Stacks,
    silent: &mut [Silent],
) -> Vec<ByThread> {
    let roles = case.roles(map);
    let mut hits: Vec<Hit> = Vec::new();
    let mut fell_silent: Vec<Option<(u64, u64)>> = vec![None; silent.len()];
    let mut groups: Vec<(String, String)> = Vec::new();
    for jvm in trace.jvms() {
        let dictionary = trace.dictionary(&jvm);
        let mut of_thread: FxHashMap<u32, u32> = FxHashMap::default();
        let mut emissions = Emissions::default();
        let mut own: Vec<Hit> = Vec::new();
        let mut last: FxHashMap<u32, usize> = FxHashMap::default();
        let mut known: FxHashMap<u32, u64> = FxHashMap::default();
        for event in trace.events(&jvm) {
            // What a thread did before is over when it does something else.
            if let Some(before) = last.remove(&event.thread) {
                own[before].end = event.ticks;
            }
            match roles.get(event.site.0 as usize) {
                Some(SiteRole::Fault(site)) => {
                    let group = *of_thread.entry(event.thread).or_insert_with(|| {
                        groups.push((jvm.node.clone(), dictionary.thread_name(event.thread).to_owned()));
                        groups.len() as u32 - 1
                    });
                    last.insert(event.thread, own.len());
                    let stack = match event.stack {
                        0 => 0,
                        it => *known.entry(it).or_insert_with(|| stacks.number(dictionary.stack(it))),
                    };
                    let ticks = event.ticks;
                    own.push(Hit { ticks, end: u64::MAX, site: *site, group, stack, ..Hit::default() });
                }
                Some(role) => emissions.see(*role, event.thread, event.ticks),
                None => {}
            }
        }
        let Some(node) = logs.iter().position(|it| it.node() == jvm.node).or((!logs.is_empty()).then_some(0))
        else {
            continue;
        };
        let stamps =
            stamps(&logs[node], emissions.written(), |thread| dictionary.thread_name(thread).to_owned());
        for (it, ticks) in silent.iter().zip(&mut fell_silent).filter(|it| it.0.node == logs[node].node()) {
            let written = |entry: u32| stamps.get(stamps.partition_point(|it| it.1 < entry)).map(|it| it.0);
            *ticks = written(it.between.0).zip(written(it.between.1)).or(*ticks);
        }
        let mut finder = timeline.finder();
        let mut span = |ticks: u64| {
            let before = stamps.partition_point(|it| it.0 <= ticks);
            let entries = before.checked_sub(1).map_or(0, |it| stamps[it].1 + 1);
            finder.span(Moment::After { node: node as u32, entries }).unwrap_or_default()
        };
        own.iter_mut().for_each(|it| it.place = (span(it.ticks).0 as u32, span(it.end).1 as u32));
        hits.extend(own);
    }
    let mut order: Vec<u32> = (0..hits.len() as u32).collect();
    order.sort_unstable_by_key(|&it| hits[it as usize].ticks);
    for (it, ticks) in silent.iter_mut().zip(fell_silent) {
        let before = |ticks: u64| order.partition_point(|&hit| hits[hit as usize].ticks < ticks) as u32;
        it.orders = ticks.map(|(last, first)| (before(last), before(first)));
    }
    let mut found: FxHashMap<(u32, u32), ByThread> = FxHashMap::default();
    for (place, &hit) in order.iter().enumerate() {
        let Hit { site, group, stack, place: (from, to), .. } = hits[hit as usize];
        let it = found.entry((site, group)).or_insert_with(|| {
            let (node, thread) = groups[group as usize].clone();
            ByThread { site, node, thread, ..ByThread::default() }
        });
        it.orders.push(place as u32);
        it.positions.push(from);
        it.ends.push(to);
        it.stacks.push(stack);
    }
    let mut found: Vec<ByThread> = found.into_values().collect();
    if hits.iter().all(|it| it.stack == 0) {
        found.iter_mut().for_each(|it| it.stacks.clear());
    }
    found.sort_unstable_by(|a, b| (a.site, &a.node, &a.thread).cmp(&(b.site, &b.node, &b.thread)));
    found
}

/// When entries were written, in the order of time: of each thread and statement the first entry at the first execution,
/// and so on; where the log does not say which thread wrote what, of each statement. An entry whose text fits several statements is
/// one of their executions that no other entry was, between those of the entries around it.
pub(crate) fn stamps(tied: &Tied, said: ByStatement, name: impl Fn(u32) -> String) -> Vec<(u64, u32)> {
    let named = || tied.threads().iter().filter(|it| it.is_named);
    let has_nameless = tied.threads().iter().any(|it| !it.is_named);
    let mut by_name: FxHashMap<(String, u32), Vec<u64>> = FxHashMap::default();
    let shown = ShownNames::of(named().map(|it| &*it.name));
    for ((thread, statement), ticks) in said {
        if has_nameless {
            by_name.entry((String::new(), statement)).or_default().extend(&ticks);
        }
        if named().next().is_some() {
            let thread = shown.of_name(&name(thread)).to_owned();
            by_name.entry((thread, statement)).or_default().extend(ticks);
        }
    }
    by_name.values_mut().for_each(|it| it.sort_unstable());
    let mut of_thread: FxHashMap<&str, Vec<u32>> = FxHashMap::default();
    for (at, entry) in (0..).zip(tied.entries()) {
        let thread = &tied.threads()[entry.thread as usize];
        let thread = if thread.is_named { &*thread.name } else { "" };
        of_thread.entry(thread).or_default().push(at);
    }
    let mut stamps: Vec<(u64, u32)> = of_thread
        .into_iter()
        .flat_map(|(thread, entries)| stamps_of(thread, &entries, tied, &by_name))
        .collect();
    stamps.sort_unstable();
    // Both grow together, or a moment would lie before an earlier one.
    let mut last = 0;
    for (_, entry) in &mut stamps {
        last = last.max(*entry);
        *entry = last;
    }
    stamps
}

/// See [`stamps`], for the entries of one thread.
fn stamps_of(
    thread: &str,
    entries: &[u32],
    tied: &Tied,
    by_name: &FxHashMap<(String, u32), Vec<u64>>,
) -> Vec<(u64, u32)> {
    let statements = |at: u32| tied.statements(tied.entries()[at as usize].key);
    let mut unused: FxHashMap<u32, VecDeque<u64>> = FxHashMap::default();
    for statement in entries.iter().flat_map(|&it| statements(it)) {
        unused.entry(statement.0).or_insert_with(|| {
            by_name.get(&(thread.to_owned(), statement.0)).map_or_else(VecDeque::new, |it| it.clone().into())
        });
    }
    let mut known: Vec<Option<u64>> = vec![None; entries.len()];
    for (known, &at) in known.iter_mut().zip(entries) {
        if let [statement] = statements(at) {
            *known = unused.get_mut(&statement.0).and_then(VecDeque::pop_front);
        }
    }
    // When the next of those that are known was written, from the last on.
    let mut next = u64::MAX;
    let behind: Vec<u64> = known
        .iter()
        .rev()
        .map(|it| {
            next = it.unwrap_or(next);
            next
        })
        .collect();
    let mut before = 0;
    for ((known, &at), &behind) in known.iter_mut().zip(entries).zip(behind.iter().rev()) {
        if known.is_none() {
            let first = |it: &StatementId| {
                let ticks = unused.get(&it.0)?;
                let place = ticks.partition_point(|it| *it < before);
                Some((*ticks.get(place).filter(|it| **it <= behind)?, it.0, place))
            };
            if let Some((ticks, statement, place)) = statements(at).iter().filter_map(first).min() {
                unused.get_mut(&statement).and_then(|it| it.remove(place));
                *known = Some(ticks);
            }
        }
        before = known.unwrap_or(before);
    }
    known.iter().zip(entries).filter_map(|(ticks, &at)| Some(((*ticks)?, at))).collect()
}

#[cfg(test)]
mod tests {
    use hypocenter_logs::{Fields, Level, Log, Statement, Statements, Template};

    use super::*;

    /// The stamps of a log, given the texts of its statements, numbered from 1, and when they were executed by which thread.
    fn check(texts: &[&str], said: &[((u32, u32), &[u64])], log: &str, expected: &[(u64, u32)]) {
        let statement = |(id, text): (u32, &&str)| Statement {
            id: StatementId(id),
            class: "a.Store".into(),
            method: "put".into(),
            line: None,
            level: Some(Level::Info),
            template: Template::parse(text),
            has_exception: false,
        };
        let statements = Statements::new((1..).zip(texts).map(statement).collect());
        let log = Log::read(log.as_bytes()).expect("a log");
        let tied = Tied::of("n", &log, &statements, Fields::of(log.layout()));
        let said: ByStatement = said.iter().map(|(by, ticks)| (*by, ticks.to_vec())).collect();
        assert_eq!(stamps(&tied, said, |it| format!("writer-{it}")), expected);
    }

    /// A log, of which each entry has a thread and a message; one without the threads follows.
    fn logs(entries: &[(&str, &str)]) -> [String; 2] {
        let text = |line: &dyn Fn(usize, &str, &str) -> String| -> String {
            entries.iter().enumerate().map(|(at, (thread, message))| line(at, thread, message)).collect()
        };
        [
            text(&|at, thread, message| {
                format!("2026-11-17 09:58:1{at},000 [{thread}] INFO a.Store - {message}\n")
            }),
            text(&|at, _, message| format!("2026-11-17 09:58:1{at}.000 INFO a.Store: {message}\n")),
        ]
    }

    #[test]
    fn entries_are_found_in_the_trace_whether_or_not_the_log_names_threads() {
        // Thread 7 wrote the first and the last, thread 8 those between; each has its ticks by statement.
        let said: [((u32, u32), &[u64]); 3] = [((7, 1), &[10, 40]), ((8, 1), &[30]), ((8, 2), &[20])];
        let entries = [
            ("writer-7", "sealed 1"),
            ("writer-8", "merged 2"),
            ("writer-8", "sealed 3"),
            ("writer-7", "sealed 4"),
        ];
        for log in logs(&entries) {
            check(&["sealed {}", "merged {}"], &said, &log, &[(10, 0), (20, 1), (30, 2), (40, 3)]);
        }
    }

    #[test]
    fn an_entry_of_several_statements_is_an_execution_that_is_left_between_those_around_it() {
        // The second and the fourth may be of either of the first two statements; the third is of its own.
        let texts = ["closed {}", "closed {}", "opened {}"];
        let said: [((u32, u32), &[u64]); 3] = [((7, 1), &[5, 40]), ((7, 2), &[20]), ((7, 3), &[10, 30])];
        let entries = [
            ("writer-7", "opened 1"),
            ("writer-7", "closed 1"),
            ("writer-7", "opened 2"),
            ("writer-7", "closed 2"),
        ];
        for log in logs(&entries) {
            check(&texts, &said, &log, &[(10, 0), (20, 1), (30, 2), (40, 3)]);
        }
        // None of them was executed there.
        let said: [((u32, u32), &[u64]); 2] = [((7, 1), &[50]), ((7, 3), &[10, 30])];
        check(&texts, &said, &logs(&entries)[0], &[(10, 0), (30, 2), (50, 3)]);
    }
}
