//! What the trace of a run says of the executions of fault sites, with their places in the failure log.

use hypocenter_logs::{Moment, Tied, Timeline};
use hypocenter_trace::{Map, StackFrame, Trace};
use rustc_hash::FxHashMap;

use crate::case::{Case, SiteRole};
use crate::emission::{ByStatement, Emissions};
use crate::executions::ByThread;

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
    ) -> Recording {
        let mut stacks = Stacks::default();
        let executions = executions(case, logs, timeline, map, trace, &mut stacks);
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
    map: &Map<'_>,
    trace: &Trace<'_>,
    stacks: &mut Stacks,
) -> Vec<ByThread> {
    let roles = case.roles(map);
    let mut hits: Vec<Hit> = Vec::new();
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

/// A fault that went in, and how many entries of which log were written before it.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Struck {
    /// Which candidate of the plan.
    pub candidate: u32,
    /// Which log.
    pub node: u32,
    /// How many entries come before.
    pub entries: u32,
}

/// Where the faults of a run lie in its own logs. Nothing of those that went in where no log statement was recorded before.
pub(crate) fn struck(case: &Case, logs: &[Tied], map: &Map<'_>, trace: &Trace<'_>) -> Vec<Struck> {
    let roles = case.roles(map);
    let mut found = Vec::new();
    for jvm in trace.jvms() {
        let dictionary = trace.dictionary(&jvm);
        let Some(node) = logs.iter().position(|it| it.node() == jvm.node) else { continue };
        if dictionary.injections.is_empty() {
            continue;
        }
        let mut emissions = Emissions::default();
        for event in trace.events(&jvm) {
            if let Some(role) = roles.get(event.site.0 as usize) {
                emissions.see(*role, event.thread, event.ticks);
            }
        }
        let stamps =
            stamps(&logs[node], emissions.written(), |thread| dictionary.thread_name(thread).to_owned());
        for it in &dictionary.injections {
            let before = stamps.partition_point(|stamp| stamp.0 <= it.ticks);
            if let Some(last) = before.checked_sub(1) {
                let entries = stamps[last].1 + 1;
                found.push(Struck { candidate: it.candidate, node: node as u32, entries });
            }
        }
    }
    found
}

/// When entries were written, in the order of time: of each thread and statement the first entry at the first execution,
/// and so on; where the log does not say which thread wrote what, of each statement.
fn stamps(tied: &Tied, said: ByStatement, name: impl Fn(u32) -> String) -> Vec<(u64, u32)> {
    let has_threads = tied.fields().thread;
    let mut by_name: FxHashMap<(String, u32), Vec<u64>> = FxHashMap::default();
    for ((thread, statement), ticks) in said {
        let thread = if has_threads { name(thread) } else { String::new() };
        by_name.entry((thread, statement)).or_default().extend(ticks);
    }
    by_name.values_mut().for_each(|it| it.sort_unstable());
    let mut next: FxHashMap<(String, u32), usize> = FxHashMap::default();
    let mut stamps = Vec::new();
    for (at, entry) in tied.entries().iter().enumerate() {
        let [statement] = tied.statements(entry.key) else { continue };
        let thread = &tied.threads()[entry.thread as usize].name;
        let key = (if has_threads { thread.clone() } else { String::new() }, statement.0);
        let Some(ticks) = by_name.get(&key) else { continue };
        let next = next.entry(key).or_default();
        if let Some(&ticks) = ticks.get(*next) {
            stamps.push((ticks, at as u32));
        }
        *next += 1;
    }
    stamps.sort_unstable();
    // Both grow together, or a moment would lie before an earlier one.
    let mut last = 0;
    for (_, entry) in &mut stamps {
        last = last.max(*entry);
        *entry = last;
    }
    stamps
}

#[cfg(test)]
mod tests {
    use hypocenter_logs::{Fields, Level, Log, Statement, StatementId, Statements, Template};

    use super::*;

    #[test]
    fn entries_are_found_in_the_trace_whether_or_not_the_log_names_threads() {
        let statement = |id, template| Statement {
            id: StatementId(id),
            class: "a.Store".into(),
            method: "put".into(),
            line: None,
            level: Some(Level::Info),
            template: Template::parse(template),
            has_exception: false,
        };
        let statements = Statements::new(vec![statement(1, "sealed {}"), statement(2, "merged {}")]);
        // Thread 7 wrote the first and the last, thread 8 those between; each has its ticks by statement.
        let said = || {
            let said = [((7, 1), vec![10, 40]), ((8, 1), vec![30]), ((8, 2), vec![20])];
            said.into_iter().collect::<ByStatement>()
        };
        let of = |text: &str| {
            let log = Log::read(text.as_bytes()).expect("a log");
            let tied = Tied::of("n", &log, &statements, Fields::of(log.layout()));
            stamps(&tied, said(), |it| format!("writer-{it}"))
        };
        let lines = [
            ("writer-7", "sealed 1"),
            ("writer-8", "merged 2"),
            ("writer-8", "sealed 3"),
            ("writer-7", "sealed 4"),
        ];
        let text = |line: &dyn Fn(usize, &str, &str) -> String| -> String {
            lines.iter().enumerate().map(|(at, (thread, message))| line(at, thread, message)).collect()
        };
        let named = text(&|at, thread, message| {
            format!("2026-11-17 09:58:1{at},000 [{thread}] INFO a.Store - {message}\n")
        });
        let nameless =
            text(&|at, _, message| format!("2026-11-17 09:58:1{at}.000 INFO a.Store: {message}\n"));
        let expected = [(10, 0), (20, 1), (30, 2), (40, 3)];
        assert_eq!(of(&named), expected);
        assert_eq!(of(&nameless), expected);
    }
}
