//! The stack traces of the failure log: which of them no other run logs, and how far a fault came the way that one of them shows.
//!
//! They are evidence and no more: a log may be of another version, with other lines, or its exceptions may have been made
//! elsewhere than where they were thrown.

use std::collections::BTreeSet;
use std::hash::{Hash, Hasher};

use hypocenter_logs::{Entry, Relation, Trace};
use hypocenter_plan::Frame;
use rustc_hash::{FxHashMap, FxHasher};
use serde::{Deserialize, Serialize};

/// How many different stack traces are told apart.
const TRACES_MAX: usize = 4_096;
/// How many frames of each are kept, the nearest.
const FRAMES_MAX: usize = 64;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Traces {
    all: Vec<LoggedTrace>,
    by_lines: FxHashMap<u64, u32>,
    /// Those that are the same but for their lines.
    by_methods: FxHashMap<u64, Vec<u32>>,
}

/// A stack trace: that of the exception at the root of what was logged.
#[derive(Debug)]
struct LoggedTrace {
    /// `package.Class.method` and the line, innermost first.
    frames: Vec<(String, Option<u32>)>,
    /// The keys of the entries that have it, and where they stand in the order of time.
    entries: Vec<(u32, u32)>,
}

/// The stack traces of the failure log that other runs log too, by their numbers.
#[derive(Debug, Clone, Default, PartialEq, Eq, Serialize, Deserialize)]
pub struct Seen {
    /// With the same lines.
    same: BTreeSet<u32>,
    /// With these lines or others.
    alike: BTreeSet<u32>,
}

impl Traces {
    /// Adds an entry of the failure log, which has this key and stands at this place.
    pub fn add(&mut self, entry: &Entry<'_>, key: u32, place: u32) {
        let trace = entry.trace();
        let Some(frames) = root_frames(&trace) else { return };
        let [by_lines, by_methods] = hashes(&frames);
        let number = match self.by_lines.get(&by_lines) {
            Some(&number) => number,
            None if self.all.len() == TRACES_MAX => return,
            None => {
                let number = self.all.len() as u32;
                self.by_lines.insert(by_lines, number);
                self.by_methods.entry(by_methods).or_default().push(number);
                let owned = frames.iter().map(|(class, method, line)| (format!("{class}.{method}"), *line));
                self.all.push(LoggedTrace { frames: owned.collect(), entries: Vec::new() });
                number
            }
        };
        self.all[number as usize].entries.push((key, place));
    }

    /// Which of these a run has, by its entries.
    pub fn of_run<'t>(&self, entries: impl Iterator<Item = Entry<'t>>) -> Seen {
        let mut seen = Seen::default();
        if self.all.is_empty() {
            return seen;
        }
        for entry in entries {
            let trace = entry.trace();
            let Some(frames) = root_frames(&trace) else { continue };
            let [by_lines, by_methods] = hashes(&frames);
            seen.same.extend(self.by_lines.get(&by_lines));
            seen.alike.extend(self.by_methods.get(&by_methods).into_iter().flatten());
        }
        seen
    }

    /// For each key the places of its entries with a stack trace that no other run has; none if nobody looked.
    pub fn only_here(&self, seen: Option<&Seen>) -> FxHashMap<u32, Vec<u32>> {
        let mut found: FxHashMap<u32, Vec<u32>> = FxHashMap::default();
        for &(key, place) in self.new_ones(seen).flat_map(|it| &it.entries) {
            found.entry(key).or_default().push(place);
        }
        found.values_mut().for_each(|it| it.sort_unstable());
        found
    }

    /// How much of a stack trace of a key that no other run has is in the stack of a fault, at most: the frames that follow one
    /// another in both. All of it if the key has none, or if nobody looked.
    pub fn shared(&self, key: u32, seen: Option<&Seen>, stack: &[Frame]) -> f64 {
        let of_key = self.new_ones(seen).filter(|it| it.entries.iter().any(|it| it.0 == key));
        let share = |it: &LoggedTrace| common_run(&it.frames, stack) as f64 / it.frames.len() as f64;
        of_key.map(share).reduce(f64::max).unwrap_or(1.0)
    }

    fn new_ones<'s>(&'s self, seen: Option<&'s Seen>) -> impl Iterator<Item = &'s LoggedTrace> {
        // If all that other runs log has other lines, the log is of another version.
        let known = seen.map(|it| if it.same.is_empty() { &it.alike } else { &it.same });
        let is_new = move |number: &u32| known.is_some_and(|it| !it.contains(number));
        (0..).zip(&self.all).filter(move |it| is_new(&it.0)).map(|it| it.1)
    }
}

impl Seen {
    /// What several runs have; nothing if that is not known of one of them.
    pub fn of_all<'s>(runs: impl IntoIterator<Item = Option<&'s Seen>>) -> Option<Seen> {
        let mut all = Seen::default();
        for it in runs {
            all.same.extend(&it?.same);
            all.alike.extend(&it?.alike);
        }
        Some(all)
    }
}

/// A frame: class, method, line.
type Named<'t> = (&'t str, &'t str, Option<u32>);

/// The frames of the exception at the root of a trace.
fn root_frames<'t>(trace: &Trace<'t>) -> Option<Vec<Named<'t>>> {
    let all = &trace.exceptions;
    let has_cause = |at: usize| all.iter().any(|it| it.relation == Relation::Cause && it.parent == Some(at));
    let root = (0..all.len()).find(|&at| all[at].relation != Relation::Suppressed && !has_cause(at))?;
    let frames = all[root].frames.iter().take(FRAMES_MAX);
    let frames: Vec<Named<'t>> = frames.map(|it| (it.class, it.method, it.line)).collect();
    (!frames.is_empty()).then_some(frames)
}

/// Stands for frames with their lines, and without.
fn hashes(frames: &[Named<'_>]) -> [u64; 2] {
    let (mut by_lines, mut by_methods) = (FxHasher::default(), FxHasher::default());
    for (class, method, line) in frames {
        (class, method, line).hash(&mut by_lines);
        (class, method).hash(&mut by_methods);
    }
    [by_lines.finish(), by_methods.finish()]
}

/// The most frames that follow one another in both.
fn common_run(logged: &[(String, Option<u32>)], stack: &[Frame]) -> usize {
    let line = |it: &Frame| it.at.as_deref()?.rsplit_once(':')?.1.parse::<u32>().ok();
    let mut runs = vec![0; stack.len() + 1];
    let mut longest = 0;
    for (method, logged_line) in logged {
        // Backwards, since each follows from the one before it in both.
        for at in (0..stack.len()).rev() {
            let stack_line = line(&stack[at]);
            let same_line = logged_line.is_none() || stack_line.is_none() || *logged_line == stack_line;
            runs[at + 1] = if same_line && *method == stack[at].method { runs[at] + 1 } else { 0 };
            longest = longest.max(runs[at + 1]);
        }
    }
    longest
}

#[cfg(test)]
mod tests {
    use hypocenter_logs::Log;

    use super::*;

    const FAILURE: &str = "\
2024-01-01 00:00:01,000 WARN  [a] x.Clerk: failed
java.io.IOException: no account
\tat x.Client.call(Client.java:59)
\tat x.Clerk.carryOut(Clerk.java:27)
\tat x.Session.run(Session.java:34)
2024-01-01 00:00:02,000 WARN  [a] x.Clerk: failed
java.io.IOException: lost
\tat x.Clerk.carryOut(Clerk.java:28)
\tat x.Session.run(Session.java:34)
2024-01-01 00:00:03,000 INFO  [a] x.Clerk: nothing was thrown
";

    fn traces(text: &str) -> Traces {
        let log = Log::read(text.as_bytes()).expect("a log");
        let mut traces = Traces::default();
        for (place, it) in (0..).zip(log.entries()) {
            traces.add(&it, 7, place);
        }
        traces
    }

    fn seen(traces: &Traces, text: &str) -> Seen {
        let log = Log::read(text.as_bytes()).expect("a log");
        traces.of_run(log.entries())
    }

    fn stack(frames: &[(&str, u32)]) -> Vec<Frame> {
        let frame = |(method, line): &(&str, u32)| Frame {
            method: format!("x.{method}"),
            at: Some(format!("Any.java:{line}")),
        };
        frames.iter().map(frame).collect()
    }

    fn only_here(traces: &Traces, key: u32, seen: Option<&Seen>) -> Vec<u32> {
        traces.only_here(seen).remove(&key).unwrap_or_default()
    }

    #[test]
    fn what_no_other_run_logs_is_told_from_what_all_log() {
        let traces = traces(FAILURE);
        assert_eq!(only_here(&traces, 7, Some(&Seen::default())), [0, 1]);
        // The second entry has a stack trace that only the failure has.
        let normal = FAILURE.replace("Clerk.java:28", "Clerk.java:30");
        assert_eq!(only_here(&traces, 7, Some(&seen(&traces, &normal))), [1]);
        assert_eq!(only_here(&traces, 8, Some(&seen(&traces, &normal))), [0; 0]);
        assert_eq!(only_here(&traces, 7, Some(&seen(&traces, FAILURE))), [0; 0]);
        // If nobody looked for them in one of the runs, none is known to be new.
        let normal = seen(&traces, &normal);
        assert_eq!(Seen::of_all([Some(&normal), Some(&Seen::default())]), Some(normal.clone()));
        assert_eq!(Seen::of_all([Some(&normal), None]), None);
        assert_eq!(only_here(&traces, 7, None), [0; 0]);
        assert_eq!(traces.shared(7, None, &stack(&[("Other.run", 1)])), 1.0);
    }

    #[test]
    fn the_lines_of_another_version_are_not_gone_by() {
        let traces = traces(FAILURE);
        let other = FAILURE.replace(":34)", ":40)");
        let other = other.split("2024-01-01 00:00:02").next().expect("the first entry");
        assert_eq!(only_here(&traces, 7, Some(&seen(&traces, other))), [1]);
    }

    #[test]
    fn a_fault_shares_the_way_on_which_the_exception_came() {
        let traces = traces(FAILURE);
        let normal = FAILURE.replace("Clerk.java:28", "Clerk.java:30");
        let seen = seen(&traces, &normal);
        let shared = |frames: &[(&str, u32)]| traces.shared(7, Some(&seen), &stack(frames));
        // Thrown deeper, by a call in the same line.
        assert_eq!(shared(&[("Client.call", 52), ("Clerk.carryOut", 28), ("Session.run", 34)]), 1.0);
        assert_eq!(shared(&[("Client.call", 52), ("Clerk.carryOut", 27), ("Session.run", 34)]), 0.5);
        assert_eq!(shared(&[("Other.run", 1)]), 0.0);
        // Nothing was thrown with entries of this key.
        assert_eq!(traces.shared(8, Some(&seen), &stack(&[("Other.run", 1)])), 1.0);
    }
}
