//! Everything that can be tried, as numbers: what is missing, what may bring it, and when.

use hypocenter_results::{Rule, Score};

use crate::policy;

/// So near to the failure's own lines, in entries, everything counts the same.
const REMOTE_ENTRIES: u32 = 4;

/// What is farther still counts no less: what is audited at the end went wrong long before.
const REMOTE_MAX: u32 = 4;

/// How many entries of an observable are looked at that an instance lies beside or about: of more, one is as near as the next.
const MARKS_MAX: usize = 64;

/// Something that the failure log has and the runs without the fault do not.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Observable {
    /// Where it stands in the failure log: numbers of entries, ascending.
    pub entries: Vec<u32>,
    /// Who wrote each of these entries.
    pub threads: Vec<Thread>,
    /// How much less it counts from the start, in steps of the causal graph: what stands far from the failure's own lines is
    /// less likely to have to do with it.
    pub remote: u32,
    /// The last of the failure's own lines; the greatest number where it has none.
    pub until: u32,
    /// Between which executions of the run what leads to it must lie, where it is known when it would have shown there.
    pub between: Option<(u32, u32)>,
}

/// A fault at a site.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Choice {
    /// The site, as an index into [`Space::instances`].
    pub site: u32,
    /// How far it is from each observable that it can lead to: (observable, distance), by observable.
    pub distances: Vec<(u32, u32)>,
}

/// One execution of a site in the run that the search starts from.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Instance {
    /// How many entries of the failure log come before it, at the least.
    pub position: u32,
    /// How many come before it is over, at the most: a call that waits can fail at any moment of it.
    pub end: u32,
    /// Its place among all executions of the run.
    pub order: u32,
    /// Who executed it.
    pub thread: Thread,
    /// Stands for its stack, where stacks were recorded.
    pub stack: u64,
}

/// Stands for a thread.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub struct Thread {
    /// For its node; 0 where that is not known.
    pub node: u32,
    /// For its name.
    pub name: u32,
    /// For its name without what numbers it.
    pub role: u32,
}

impl Thread {
    /// Whether both do the same, on the same node as far as is known.
    pub fn is_like(self, other: Thread) -> bool {
        self.role == other.role && (self.node == other.node || self.node == 0 || other.node == 0)
    }

    /// The rule that counts against a fault in this thread if something was logged by that one.
    fn apart(self, other: Thread) -> Option<&'static Rule> {
        let is_elsewhere = self.node != other.node && self.node != 0 && other.node != 0;
        match (self.name == other.name, self.role == other.role) {
            (true, _) if !is_elsewhere => None,
            (_, true) if !is_elsewhere => Some(&policy::SAME_ROLE),
            // What leads from a fault to a line does so within a process.
            (_, true) => Some(&policy::PEER_NODE),
            _ if is_elsewhere => Some(&policy::OTHER_NODE),
            _ => Some(&policy::OTHER_THREAD),
        }
    }
}

/// How far an instance is from an observable, by the logs.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Apart {
    /// Entries between, by their logarithm.
    entries: u32,
    thread: Option<&'static Rule>,
    is_behind: bool,
}

impl Apart {
    /// The sum.
    pub fn total(self) -> u32 {
        self.entries
            + self.thread.map_or(0, |it| it.weight)
            + if self.is_behind { policy::BEHIND.weight } else { 0 }
    }

    /// Adds the rules that apply.
    pub fn score(self, score: &mut Score) {
        score.add(&policy::ENTRIES, self.entries);
        self.thread.into_iter().for_each(|it| score.add(it, it.weight));
        score.add(&policy::BEHIND, if self.is_behind { policy::BEHIND.weight } else { 0 });
    }
}

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Space {
    /// What is missing.
    pub observables: Vec<Observable>,
    /// What may bring it.
    pub choices: Vec<Choice>,
    /// For each site its executions, in their order.
    pub instances: Vec<Vec<Instance>>,
    /// For each choice the stacks that the failure log has of it, sorted; empty where nobody asks.
    pub logged: Vec<Vec<u64>>,
    /// For each choice whether little is known of the moment at which it matters: of its instances, each that is tried is farther by
    /// as many as were between before. Empty if that is so of none.
    pub roams: Vec<bool>,
}

impl Space {
    /// The executions of a choice's site.
    pub fn instances_of(&self, choice: u32) -> &[Instance] {
        &self.instances[self.choices[choice as usize].site as usize]
    }
}

impl Observable {
    /// One that is missing at some entries of a failure log whose own lines, those of the oracle, are at others. `mild` is how
    /// much less it counts anyhow.
    pub fn new(entries: Vec<(u32, Thread)>, symptoms: &[u32], mild: u32) -> Observable {
        debug_assert!(symptoms.is_sorted(), "symptoms are in the order of time");
        let (entries, threads): (Vec<u32>, Vec<Thread>) = entries.into_iter().unzip();
        let gap = |&entry: &u32| between(symptoms, entry, entry);
        let nearest = if symptoms.is_empty() { 0 } else { entries.iter().map(gap).min().unwrap_or(0) };
        let remote = (policy::REMOTE.weight * bits(nearest / REMOTE_ENTRIES)).min(REMOTE_MAX);
        let until = symptoms.last().copied().unwrap_or(u32::MAX);
        Observable { remote: mild + remote, entries, threads, until, between: None }
    }

    /// One more place at which it may have come.
    pub fn add(&mut self, place: u32, thread: Thread) {
        let at = self.entries.partition_point(|&it| it <= place);
        self.entries.insert(at, place);
        self.threads.insert(at, thread);
    }

    /// How far an instance is in all: the entries between, by their logarithm, and whether the same thread logged it. In steps
    /// of the causal graph.
    pub fn apart(&self, instance: &Instance) -> u32 {
        self.apart_by_rules(instance).total()
    }

    /// The same by rules.
    pub(crate) fn apart_by_rules(&self, instance: &Instance) -> Apart {
        let first = self.entries.partition_point(|&entry| entry < instance.position);
        let last = self.entries.partition_point(|&entry| entry <= instance.end).max(first);
        let beside = (first.saturating_sub(1)..=last).filter(|&at| at < self.entries.len()).take(MARKS_MAX);
        let is_behind =
            instance.position > self.until || self.between.is_some_and(|(_, to)| instance.order >= to);
        let is_between = self.between.is_some_and(|(from, to)| (from..to).contains(&instance.order));
        let apart = |at: usize| {
            let entries = between(&self.entries[at..=at], instance.position, instance.end);
            let entries = if is_between { 0 } else { bits(entries / 2) };
            Apart { entries, thread: self.threads[at].apart(instance.thread), is_behind }
        };
        let nowhere = Apart { entries: u32::BITS, thread: None, is_behind };
        beside.map(apart).min_by_key(|it| it.total()).unwrap_or(nowhere)
    }

    /// The temporal distance: how many entries of the failure log lie between a instance and the observable.
    pub fn distance(&self, instance: &Instance) -> u32 {
        between(&self.entries, instance.position, instance.end)
    }
}

/// How many entries lie between a span and the nearest of some marks: those behind it count, and those before it as well,
/// though more.
fn between(marks: &[u32], from: u32, to: u32) -> u32 {
    let to = to.max(from);
    let next = marks.partition_point(|&mark| mark < from);
    let ahead = marks.get(next).map(|mark| mark.saturating_sub(to));
    let behind = next.checked_sub(1).map(|at| (from - marks[at]).saturating_mul(policy::LATE.weight));
    ahead.into_iter().chain(behind).min().unwrap_or(u32::MAX)
}

/// How many bits a number has: far is far, and farther is not much worse.
pub fn bits(number: u32) -> u32 {
    u32::BITS - number.leading_zeros()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_moment_is_as_far_as_the_entries_between() {
        let observable = Observable::new(vec![(10, Thread::default()), (20, Thread::default())], &[], 0);
        let at = |position| observable.distance(&Instance { position, ..Instance::default() });
        assert_eq!([at(10), at(8), at(0)], [0, 2, 10]);
        // Just behind one, and far before the next.
        assert_eq!([at(11), at(13), at(14)], [3, 7, 6]);
        assert_eq!([at(21), at(30)], [3, 30]);
        // One that lasts is as near as its nearest moment.
        let lasting = |position, end| observable.distance(&Instance { position, end, ..Instance::default() });
        assert_eq!([lasting(2, 8), lasting(2, 15), lasting(12, 18)], [2, 0, 2]);
        assert_eq!(
            Observable::new(vec![], &[], 0).distance(&Instance { position: 3, ..Instance::default() }),
            u32::MAX
        );
    }

    #[test]
    fn what_is_far_from_the_failure_counts_less() {
        let remote = |entry| Observable::new(vec![(entry, Thread::default())], &[100], 0).remote;
        assert_eq!(
            [remote(100), remote(97), remote(96), remote(92), remote(80), remote(0)],
            [0, 0, 2, 4, 4, 4]
        );
        // Behind it, causes are not looked for.
        assert_eq!(remote(110), 4);
        // Where the failure shows no line of its own, nothing is far.
        assert_eq!(Observable::new(vec![(7, Thread::default())], &[], 0).remote, 0);
    }

    #[test]
    fn what_comes_behind_the_failure_is_no_likely_cause() {
        let at = |symptoms: &[u32], position| {
            let observable = Observable::new(vec![(10, Thread::default())], symptoms, 0);
            observable.apart(&Instance { position, end: position, ..Instance::default() })
        };
        assert_eq!([at(&[4, 10], 9), at(&[4, 10], 10)], [at(&[], 9), at(&[], 10)]);
        assert_eq!(at(&[4, 10], 11), at(&[], 11) + policy::BEHIND.weight);
        // Nor is what comes when a thread was silent already, though no line lies between.
        let mut silent = Observable::new(vec![(10, Thread::default())], &[], 0);
        silent.between = Some((5, 7));
        let apart = |position, order| {
            silent.apart(&Instance { position, end: position, order, ..Instance::default() })
        };
        assert_eq!([apart(10, 6), apart(10, 7)], [0, policy::BEHIND.weight]);
        // What lies between is as near as can be, wherever it seems to lie in the failure.
        assert_eq!([apart(2, 4), apart(2, 5), apart(2, 6)], [3, 0, 0]);
    }

    #[test]
    fn the_same_thread_is_nearer() {
        let thread = |name, role| Thread { name, role, ..Thread::default() };
        let observable = Observable::new(vec![(10, thread(1, 1)), (12, thread(2, 1))], &[], 0);
        let apart =
            |position, thread| observable.apart(&Instance { position, thread, ..Instance::default() });
        assert_eq!(apart(10, thread(1, 1)), 0);
        // The next entry is of a thread of that name, two entries on.
        assert_eq!(apart(10, thread(2, 1)), 1);
        assert_eq!(apart(10, thread(3, 1)), 1);
        assert_eq!(apart(10, thread(4, 2)), 3);
        assert_eq!(apart(2, thread(1, 1)), 3);
        let mut more = observable.clone();
        more.add(11, thread(4, 2));
        assert_eq!((more.entries.clone(), more.threads[1]), (vec![10, 11, 12], thread(4, 2)));
        let of_fourth = Instance { position: 11, thread: thread(4, 2), ..Instance::default() };
        assert_eq!(more.apart(&of_fourth), 0);
        // On another node it is another thread, whatever its name.
        let of_node = |node, name, role| Thread { node, name, role };
        let of_first = of_node(1, 1, 1);
        let all = [of_first, of_node(0, 1, 1), of_node(2, 1, 1), of_node(2, 3, 1), of_node(2, 4, 2)];
        let weight = |it: Thread| of_first.apart(it).map_or(0, |it| it.weight);
        assert_eq!(all.map(weight), [0, 0, 5, 5, 6]);
    }
}
