//! Threads that fall silent.
//!
//! A thread that hangs writes nothing, so a delay leaves no line of its own in the failure log: it shows by what is not there.
//! A thread of a normal run that goes on to write where the failure log has nothing more from it, although the log itself goes
//! on, is *silent* from there.

use hypocenter_logs::{Comparison, Moment, Tied, Timeline, role};
use serde::{Deserialize, Serialize};

/// A thread that writes more in a run than in the failure log.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct Silent {
    /// The node.
    pub node: String,
    /// The thread's name.
    pub thread: String,
    /// How many entries of the failure log come before the first that it does not have.
    pub place: u32,
    /// How many it does not have.
    pub entries: u32,
}

impl Silent {
    /// The same thread among others, or one of its kind.
    pub fn find<'s>(&self, others: &'s [Silent]) -> Option<&'s Silent> {
        let mut of_node = others.iter().filter(|it| it.node == self.node);
        let same = of_node.clone().find(|it| it.thread == self.thread);
        same.or_else(|| of_node.find(|it| role(&it.thread) == role(&self.thread)))
    }
}

/// The threads that are silent in the failure log from some place on and not in a run. The comparison is that of the failure
/// with the run.
pub fn silent(run: &[Tied], comparison: &Comparison, timeline: &Timeline) -> Vec<Silent> {
    let mut has_partner: Vec<Vec<bool>> = run.iter().map(|it| vec![false; it.entries().len()]).collect();
    for (_, it) in comparison.pairs() {
        has_partner[it.node as usize][it.entry as usize] = true;
    }
    let mut finder = timeline.finder();
    let mut found = Vec::new();
    for (node, tied) in run.iter().enumerate() {
        // For each thread the first entry behind the last that the failure log has as well, and how many there are.
        let mut behind: Vec<Option<(u32, u32)>> = vec![None; tied.threads().len()];
        let mut is_known = vec![false; tied.threads().len()];
        for (at, entry) in tied.entries().iter().enumerate() {
            let thread = entry.thread as usize;
            if has_partner[node][at] {
                (is_known[thread], behind[thread]) = (true, None);
            } else {
                behind[thread].get_or_insert((at as u32, 0)).1 += 1;
            }
        }
        for (thread, behind) in behind.into_iter().enumerate() {
            // A thread of which the failure log has nothing at all may have been there under another name.
            let Some((first, entries)) = behind.filter(|_| is_known[thread]) else { continue };
            let place = finder.place(Moment::After { node: node as u32, entries: first }).unwrap_or(0.0);
            // Where the failure log ends, everybody is silent.
            if place < timeline.length() as f64 {
                found.push(Silent {
                    node: tied.node().to_owned(),
                    thread: tied.threads()[thread].name.clone(),
                    place: place.ceil() as u32,
                    entries,
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
        let (failure, run) = ([tied(failure)], [tied(run)]);
        let comparison = Comparison::of(&failure, &run);
        let timeline = Timeline::of(&failure, &run, &comparison);
        let found = silent(&run, &comparison, &timeline);
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
    fn what_falls_silent_compared_with_one_run_alone_does_not_count() {
        let of = |thread: &str, entries| Silent {
            node: "n".to_owned(),
            thread: thread.to_owned(),
            place: 7,
            entries,
        };
        let first = [of("beat-1", 5), of("noise", 2), of("pool-3", 1)];
        let second = [of("pool-9", 4), of("beat-1", 3)];
        assert_eq!(of_all(&[&first, &second]), [of("beat-1", 3), of("pool-3", 1)]);
        assert_eq!(of_all(&[&first]), first);
        assert_eq!(of_all(&[]), []);
    }
}
