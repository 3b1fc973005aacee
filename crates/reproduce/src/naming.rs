//! How a plan names the thread of an execution, so that other runs have it too.
//!
//! A thread that every run has is asked for by its name, any other by its role. Equal threads of a pool are all there in every run, and
//! which of them gets what is chance: where they work at the same time and differ from run to run in how often each executed a site,
//! more than all of them together do, an execution that its own thread may not come to is asked for by the role.

use hypocenter_logs::role;
use hypocenter_plan::glob_matches;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::executions::ByThread;

/// What several runs have in common.
#[derive(Debug, Default)]
pub struct Naming {
    /// The threads, by node and name, that all of them have.
    lasting: FxHashSet<(String, String)>,
    /// What equal threads share, by site, node and role.
    shared: FxHashMap<(u32, String, String), Shared>,
}

/// A site that equal threads execute, each of them more or less often.
#[derive(Debug)]
struct Shared {
    /// How often each of them does in every run, with room for what runs differ by.
    sure: FxHashMap<String, u32>,
    /// How often all of them together do at the least.
    together: u32,
}

impl Naming {
    /// Of what some runs recorded.
    pub fn of(runs: &[&[ByThread]]) -> Naming {
        let mut lasting: FxHashMap<(&str, &str), FxHashSet<usize>> = FxHashMap::default();
        let mut roles: FxHashMap<(u32, &str, String), Role<'_>> = FxHashMap::default();
        for (number, run) in runs.iter().enumerate() {
            for it in *run {
                lasting.entry((&it.node, &it.thread)).or_default().insert(number);
                let of_role = roles.entry((it.site, &it.node, role(&it.thread).into_owned())).or_default();
                let counts = of_role.counts.entry(&it.thread).or_insert_with(|| vec![0; runs.len()]);
                counts[number] += it.orders.len() as u32;
                if let (Some(&first), Some(&last)) = (it.orders.first(), it.orders.last()) {
                    of_role.spans.push((number, first, last));
                }
            }
        }
        let shared = roles.into_iter().filter_map(|((site, node, role), mut of)| {
            let shared = Shared::of(&of.counts, runs.len()).filter(|_| of.are_at_once())?;
            Some(((site, node.to_owned(), role), shared))
        });
        Naming {
            shared: shared.collect(),
            lasting: lasting
                .into_iter()
                .filter(|(_, seen)| seen.len() == runs.len())
                .map(|((node, thread), _)| (node.to_owned(), thread.to_owned()))
                .collect(),
        }
    }

    /// Whether a thread is one of several that share some work: which of them does it is chance, and which does not as well.
    pub fn shares(&self, node: &str, thread: &str) -> bool {
        let role = role(thread);
        self.shared.keys().any(|(_, of, name)| of == node && *name == role)
    }

    /// How far a thread comes at a site in any run.
    pub fn sure(&self, site: u32, node: &str, thread: &str) -> Sure {
        if !self.lasting.contains(&(node.to_owned(), thread.to_owned())) {
            return Sure { own: 0, of_role: u32::MAX };
        }
        let shared = self.shared.get(&(site, node.to_owned(), role(thread).into_owned()));
        let sure =
            |it: &Shared| Sure { own: it.sure.get(thread).copied().unwrap_or(0), of_role: it.together };
        shared.map_or(Sure { own: u32::MAX, of_role: u32::MAX }, sure)
    }
}

/// How many executions of a site every run has.
#[derive(Debug, Clone, Copy)]
pub struct Sure {
    /// Of the thread itself.
    own: u32,
    /// Of all threads that have its role.
    of_role: u32,
}

impl Sure {
    /// Whether an execution is asked for by the role: the `own`-th of its thread, the `of_role`-th of all that have its role.
    pub fn is_by_role(self, own: u32, of_role: u32) -> bool {
        own > self.own && of_role <= self.of_role
    }
}

/// What the threads of one role did at a site.
#[derive(Default)]
struct Role<'r> {
    /// For each thread how often it executed the site in each run.
    counts: FxHashMap<&'r str, Vec<u32>>,
    /// For each run and thread the run, the first execution and the last.
    spans: Vec<(usize, u32, u32)>,
}

impl Role<'_> {
    /// Whether they did it at the same time, rather than one after the other.
    fn are_at_once(&mut self) -> bool {
        self.spans.sort_unstable();
        let pairs = || self.spans.windows(2).filter(|it| it[0].0 == it[1].0);
        let at_once = pairs().filter(|it| it[1].1 < it[0].2).count();
        2 * at_once > pairs().count()
    }
}

impl Shared {
    /// Of the threads of one role, each with how often it executed a site in each run; nothing where they do not share the work.
    fn of(threads: &FxHashMap<&str, Vec<u32>>, runs: usize) -> Option<Shared> {
        let spread = |counts: &[u32]| {
            let least = counts.iter().min().copied().unwrap_or(0);
            (least, counts.iter().max().map_or(0, |it| it - least))
        };
        let sums: Vec<u32> = (0..runs).map(|run| threads.values().map(|it| it[run]).sum()).collect();
        let (together, differ) = spread(&sums);
        let room = threads.values().map(|it| spread(it).1).max()?;
        if threads.len() < 2 || differ >= room {
            return None;
        }
        let sure =
            |(name, counts): (&&str, &Vec<u32>)| ((*name).to_owned(), spread(counts).0.saturating_sub(room));
        Some(Shared { sure: threads.iter().map(sure).collect(), together })
    }
}

/// The pattern by which a plan asks for all threads of a role: what numbers them may be anything.
pub fn pattern(thread: &str) -> String {
    role(thread).replace('#', "*")
}

/// All names and patterns by which plans may ask for the threads of a run, and which threads each fits.
#[derive(Debug, Default)]
pub struct Patterns {
    /// By node.
    by_node: FxHashMap<String, FxHashSet<String>>,
}

impl Patterns {
    /// Of the threads of a run.
    pub fn of(recorded: &[ByThread]) -> Patterns {
        let mut by_node: FxHashMap<String, FxHashSet<String>> = FxHashMap::default();
        for it in recorded {
            by_node.entry(it.node.clone()).or_default().insert(pattern(&it.thread));
        }
        Patterns { by_node }
    }

    /// Those that fit a thread, its name among them: an execution counts for each of them, as the agent counts.
    pub fn fitting(&self, node: &str, thread: &str) -> Vec<String> {
        let all = self.by_node.get(node).into_iter().flatten();
        let mut found: Vec<String> =
            all.filter(|it| *it != thread && glob_matches(it, thread)).cloned().collect();
        found.push(thread.to_owned());
        found
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run(of: &[(&str, u32)]) -> Vec<ByThread> {
        let recorded = |(thread, times): &(&str, u32)| ByThread {
            node: "n".to_owned(),
            thread: (*thread).to_owned(),
            orders: (0..*times).collect(),
            positions: vec![0; *times as usize],
            ..ByThread::default()
        };
        of.iter().map(recorded).collect()
    }

    /// For executions of a thread, each with its number there and in the role: which are asked for by the role.
    fn check(runs: &[&[(&str, u32)]], thread: &str, asked: &[(u32, u32)], by_role: &[bool]) {
        let runs: Vec<Vec<ByThread>> = runs.iter().map(|it| run(it)).collect();
        let naming = Naming::of(&runs.iter().map(Vec::as_slice).collect::<Vec<_>>());
        let found = asked.iter().map(|&(own, of_role)| naming.sure(0, "n", thread).is_by_role(own, of_role));
        assert_eq!(found.collect::<Vec<_>>(), by_role, "{thread}: {asked:?}");
    }

    #[test]
    fn a_thread_is_asked_for_by_its_name_unless_equal_ones_may_take_its_work() {
        let pool: [&[(&str, u32)]; 2] = [&[("w-1", 7), ("w-2", 3)], &[("w-1", 5), ("w-2", 5)]];
        // It comes to three in any case: five at the least, and two are what the runs differ by.
        check(&pool, "w-1", &[(3, 4), (4, 6), (7, 10)], &[false, true, true]);
        check(&pool, "w-2", &[(1, 1), (2, 3)], &[false, true]);
        // Behind the last that all runs have, the name is as good.
        check(&pool, "w-1", &[(8, 11)], &[false]);
    }

    #[test]
    fn threads_that_share_nothing_keep_their_names() {
        // Always the same.
        let same: &[(&str, u32)] = &[("s-1", 4), ("s-2", 9)];
        check(&[same, same], "s-1", &[(4, 9)], &[false]);
        // Each differs by itself: all together differ more than any of them.
        let servers: [&[(&str, u32)]; 2] = [&[("s-1", 4), ("s-2", 9)], &[("s-1", 6), ("s-2", 10)]];
        check(&servers, "s-1", &[(4, 13)], &[false]);
        // Nobody else can take the work of one that is alone.
        check(&[&[("main", 4)], &[("main", 6)]], "main", &[(4, 4)], &[false]);
        // Each follows another.
        let run = |first: u32, second: u32| {
            let mut run = run(&[("log-1", first), ("log-2", second)]);
            run[1].orders.iter_mut().for_each(|it| *it += first);
            run
        };
        let (one, other) = (run(7, 3), run(5, 5));
        assert!(!Naming::of(&[&one, &other]).sure(0, "n", "log-1").is_by_role(7, 7));
        // One run says nothing.
        check(&[&[("w-1", 7), ("w-2", 3)]], "w-1", &[(7, 10)], &[false]);
    }

    #[test]
    fn threads_share_their_work_where_runs_differ_in_who_does_it() {
        let shares = |first: &[(&str, u32)], second: &[(&str, u32)], thread: &str| {
            Naming::of(&[&run(first), &run(second)]).shares("n", thread)
        };
        let pool: [&[(&str, u32)]; 2] = [&[("w-1", 7), ("w-2", 3)], &[("w-1", 5), ("w-2", 5)]];
        assert!(shares(pool[0], pool[1], "w-1") && shares(pool[0], pool[1], "w-2"));
        assert!(!shares(pool[0], pool[1], "main") && !shares(pool[0], pool[0], "w-1"));
    }

    #[test]
    fn a_thread_that_a_run_has_not_is_asked_for_by_its_role() {
        check(&[&[("t-17", 1)], &[("t-18", 1)]], "t-17", &[(1, 1)], &[true]);
    }

    #[test]
    fn an_execution_counts_for_every_pattern_that_its_thread_fits() {
        let patterns = Patterns::of(&run(&[("w-1", 1), ("w-2-io", 1), ("w-clean", 1), ("x", 1)]));
        let fitting = |thread| {
            let mut found = patterns.fitting("n", thread);
            found.sort();
            found
        };
        assert_eq!(fitting("w-2-io"), ["w-*", "w-*-io", "w-2-io"]);
        assert_eq!(fitting("w-clean"), ["w-*", "w-clean"]);
        assert_eq!(fitting("x"), ["x"]);
    }
}
