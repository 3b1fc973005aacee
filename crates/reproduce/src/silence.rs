//! Threads that fall silent.
//!
//! A thread that hangs writes nothing, so a delay leaves no line of its own in the failure log: it shows by what is not there.
//! A thread of a normal run that goes on to write where the failure log has nothing more from it, although the log itself goes
//! on, is *silent* from there. The lines behind the failure itself do not count: a thread that hangs may still say goodbye when its
//! process is ended.

use std::borrow::{Borrow, Cow};
use std::collections::BTreeMap;

use hypocenter_logs::{Comparison, Moment, Position, Tied, Timeline, role};
use serde::{Deserialize, Serialize};

use crate::policy;

/// A thread that writes more in a run than in the failure log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silent {
    /// The node.
    pub node: String,
    /// The thread's name.
    pub thread: String,
    /// Whether all threads of its role fall silent, as one.
    #[serde(default, skip_serializing_if = "std::ops::Not::not")]
    pub is_pool: bool,
    /// How many entries of the failure log come before the first that it does not have.
    pub place: u32,
    /// How many it does not have.
    pub entries: u32,
    /// The last entry of the run's log that it has, and the first that it does not have.
    pub between: (u32, u32),
    /// How many executions came before each of these in the run, if it was recorded: what makes the thread fall silent lies between.
    #[serde(default, skip_serializing_if = "Option::is_none")]
    pub orders: Option<(u32, u32)>,
}

impl Silent {
    /// Whether it lacks enough to be worth a word.
    pub fn is_long(&self) -> bool {
        self.entries >= policy::LONG_SILENCE.weight
    }

    /// The same thread among others, or one of its kind.
    pub fn find<'s>(&self, others: &'s [Silent]) -> Option<&'s Silent> {
        let mut of_node = others.iter().filter(|it| it.node == self.node);
        let same = of_node.clone().find(|it| it.thread == self.thread);
        same.or_else(|| of_node.find(|it| role(&it.thread) == role(&self.thread)))
    }
}

/// The threads that are silent in the failure log from some place on and not in a run. The comparison is that of the failure
/// with the run; `end` is the place behind the failure itself, if the log tells it. Where all threads of a pool fall silent they do so as one: which of them did what is chance.
pub fn silent(
    failure: &[impl Borrow<Tied>],
    run: &[Tied],
    comparison: &Comparison,
    timeline: &Timeline,
    end: Option<u32>,
) -> Vec<Silent> {
    let end = end.map_or(timeline.length() as f64, f64::from);
    let mut found = by(run, comparison, (timeline, end), |name| name.into());
    // For each role how many threads there are, and how many are silent.
    let mut roles: BTreeMap<(&str, Cow<'_, str>), (usize, usize)> = BTreeMap::new();
    for tied in run {
        for thread in tied.threads() {
            let is_silent = |it: &Silent| it.node == tied.node() && it.thread == *thread.name;
            let of_role = roles.entry((tied.node(), role(&thread.name))).or_default();
            of_role.0 += 1;
            of_role.1 += usize::from(found.iter().any(is_silent));
        }
    }
    roles.retain(|_, (all, silent)| *all > 1 && all == silent);
    if !roles.is_empty() {
        let is_of_one = |it: &Silent| roles.contains_key(&(&*it.node, role(&it.thread)));
        let by_role = by(run, &Comparison::by_role(failure, run), (timeline, end), role);
        let as_one = by_role.into_iter().filter(is_of_one);
        let as_one: Vec<Silent> = as_one.map(|it| Silent { is_pool: true, ..it }).collect();
        let is_told = |it: &Silent| {
            as_one.iter().any(|one| one.node == it.node && role(&one.thread) == role(&it.thread))
        };
        found.retain(|it| !is_told(it));
        found.extend(as_one);
    }
    found
}

/// What a thread wrote in a run.
#[derive(Default)]
struct Written {
    /// The last entry that the failure log has as well, and where.
    last: Option<(u32, Position)>,
    /// The first of those behind it, and how many of them the failure log does not have anywhere.
    behind: Option<(u32, u32)>,
}

/// The same, of the threads that `group` takes for one.
fn by<'r>(
    run: &'r [Tied],
    comparison: &Comparison,
    (timeline, end): (&Timeline, f64),
    group: impl Fn(&'r str) -> Cow<'r, str>,
) -> Vec<Silent> {
    let mut partners: Vec<Vec<Option<Position>>> =
        run.iter().map(|it| vec![None; it.entries().len()]).collect();
    for (failure, it) in comparison.pairs() {
        partners[it.node as usize][it.entry as usize] = Some(failure);
    }
    let mut found = Vec::new();
    let mut finder = timeline.finder();
    for ((node, tied), partners) in (0..).zip(run).zip(&partners) {
        let mut groups: BTreeMap<Cow<'r, str>, Written> = BTreeMap::new();
        for ((at, entry), partner) in (0..).zip(tied.entries()).zip(partners) {
            let of_group = groups.entry(group(&tied.threads()[entry.thread as usize].name)).or_default();
            match partner {
                Some(partner) if timeline.place(*partner) < end => {
                    *of_group = Written { last: Some((at, *partner)), behind: None }
                }
                _ => of_group.behind.get_or_insert((at, 0)).1 += u32::from(partner.is_none()),
            }
        }
        for Written { last, behind } in groups.into_values() {
            // A thread of which the failure log has nothing at all may have been there under another name.
            let (Some((last, partner)), Some((first, entries @ 1..))) = (last, behind) else { continue };
            let place = finder.place(Moment::After { node, entries: first }).unwrap_or(0.0);
            let place = place.max(timeline.place(partner) + 1.0);
            // Where the failure log ends, everybody is silent.
            if place < end {
                found.push(Silent {
                    node: tied.node().to_owned(),
                    thread: tied.threads()[tied.entries()[first as usize].thread as usize].name.to_string(),
                    is_pool: false,
                    place: place.ceil() as u32,
                    entries,
                    between: (last, first),
                    orders: None,
                });
            }
        }
    }
    found
}

/// What is silent compared with every one of some runs, as compared with the first; of each the fewest entries.
pub fn of_all(runs: &[&[Silent]]) -> Vec<Silent> {
    let Some((first, others)) = runs.split_first() else { return Vec::new() };
    let of_all = |it: &Silent| {
        let counts = others.iter().map(|run| it.find(run).map(|it| it.entries));
        let counts: Option<Vec<u32>> = counts.collect();
        let entries = counts?.into_iter().fold(it.entries, u32::min);
        Some(Silent { entries, ..it.clone() })
    };
    first.iter().filter_map(of_all).collect()
}

#[cfg(test)]
mod tests {
    use hypocenter_logs::{Fields, Log, Statements};

    use super::*;

    fn tied(lines: &[&str]) -> Tied {
        let line = |(at, it): (usize, &&str)| {
            let (thread, message) = it.split_once(' ').unwrap();
            format!("2024-01-01 00:00:{at:02},000 INFO  [{thread}] a.B: {message}\n")
        };
        let text: String = lines.iter().enumerate().map(line).collect();
        let log = Log::read(text.as_bytes()).unwrap();
        Tied::of("n", &log, &Statements::new(Vec::new()), Fields::of(log.layout()))
    }

    fn compared(failure: &[&str], run: &[&str]) -> Vec<(String, u32, u32)> {
        compared_until(failure, run, None)
    }

    fn compared_until(failure: &[&str], run: &[&str], end: Option<u32>) -> Vec<(String, u32, u32)> {
        let (failure, run) = ([tied(failure)], [tied(run)]);
        let comparison = Comparison::of(&failure, &run);
        let timeline = Timeline::of(&failure, &run, &comparison);
        let found = silent(&failure, &run, &comparison, &timeline, end);
        found.into_iter().map(|it| (it.thread, it.place, it.entries)).collect()
    }

    #[test]
    fn a_thread_that_says_no_more_while_others_go_on_is_silent() {
        let run = ["beat on", "main one", "beat on", "main two", "beat on", "main three", "beat on"];
        let failure = ["beat on", "main one", "main two", "late end", "main three"];
        assert_eq!(compared(&failure, &run), [("beat".to_owned(), 2, 3)]);
        // Where the log ends everybody is silent, and that says nothing.
        assert_eq!(compared(&run[..4], &run), []);
        assert_eq!(compared(&run, &run), []);
        // One of which there is nothing at all may have another name there.
        assert_eq!(compared(&["main one", "main two", "main three"], &run), []);
    }

    #[test]
    fn a_line_behind_the_failure_does_not_end_a_silence() {
        let run = ["beat on", "main one", "beat on", "main two", "beat on", "beat on"];
        let failure = ["beat on", "main one", "main two", "main gives-up", "beat on"];
        assert_eq!(compared(&failure, &run), []);
        assert_eq!(compared_until(&failure, &run, Some(4)), [("beat".to_owned(), 2, 2)]);
        // One that lacks nothing is only late.
        let late = ["beat on", "main one", "main two", "main gives-up", "beat on", "beat on", "beat on"];
        assert_eq!(compared_until(&late, &run, Some(4)), []);
    }

    #[test]
    fn a_pool_that_falls_silent_does_so_as_one() {
        let run =
            ["w-1 take", "w-1 done", "w-2 take", "w-2 done", "w-1 take", "w-2 take", "w-2 done", "main end"];
        // Each has less to say; the first that nobody said is that the second is done.
        let failure = ["w-1 take", "w-1 done", "w-2 take", "main late", "main end"];
        assert_eq!(compared(&failure, &run), [("w-2".to_owned(), 3, 4)]);
        // One that goes on while another is silent is another matter.
        let failure = ["w-1 take", "w-1 done", "w-2 take", "w-1 take", "main late", "main end"];
        assert_eq!(compared(&failure, &run), [("w-2".to_owned(), 3, 3)]);
    }

    #[test]
    fn what_falls_silent_compared_with_one_run_alone_does_not_count() {
        let of = |thread: &str, entries| Silent {
            node: "n".to_owned(),
            thread: thread.to_owned(),
            is_pool: false,
            place: 7,
            entries,
            between: (2, 3),
            orders: None,
        };
        let first = [of("beat-1", 5), of("noise", 2), of("pool-3", 1)];
        let second = [of("pool-9", 4), of("beat-1", 3)];
        assert_eq!(of_all(&[&first, &second]), [of("beat-1", 3), of("pool-3", 1)]);
        assert_eq!(of_all(&[&first]), first);
        assert_eq!(of_all(&[]), []);
    }
}
