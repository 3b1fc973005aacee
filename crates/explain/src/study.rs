//! The failing run beside all of its neighbours: the work list over threads and steps, and the inflection point (Kairux 4.2, Algorithm 1).

use std::collections::{BTreeMap, VecDeque};

use crate::model::SliceModel;
use crate::prefix::{Comparing, Prefix};
use crate::recorded_run::{Node, RecordedRun};
use crate::slicing::{DynamicSlice, Slicer};
use crate::written::Written;

/// Maximum number of rounds in which a slice is completed by what did not happen.
const REPAIRS_MAX: usize = 10;

/// Parts of the engine that can be switched off, to measure what they are worth.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct Parts {
    /// Data flow by object.
    pub objects: bool,
    pub map_loops: bool,
    pub repair: bool,
    pub work_list: bool,
    pub merge: bool,
}

/// A run with its writes.
#[derive(Debug)]
pub(crate) struct Subject {
    pub run: RecordedRun,
    pub written: Written,
}

impl Subject {
    /// A run; without its objects where these are left out.
    pub fn of(model: &SliceModel, mut run: RecordedRun, parts: Parts) -> Subject {
        if !parts.objects {
            run.forget_objects();
        }
        let written = Written::of(model, &run);
        Subject { run, written }
    }
}

/// Comparison of what one outermost frame of the failing run does: a thread, or a step of the workload.
#[derive(Debug)]
pub(crate) struct ThreadFound {
    pub root: u32,
    /// Index of the neighbour with the longest prefix.
    pub neighbour: usize,
    pub prefix: Prefix,
    /// Number of instructions that were compared.
    pub of: usize,
}

/// The failing run where it leaves the right path.
#[derive(Debug)]
pub(crate) struct Answer {
    /// The first instruction that differs; none if no thread differs.
    pub point: Option<Node>,
    /// The write of another thread that it reads, if that is the difference.
    pub cause: Option<Node>,
    /// Reads of other threads' writes that no neighbour has, the inflection point left out.
    pub others: Vec<Node>,
    pub threads: Vec<ThreadFound>,
    pub slice: DynamicSlice,
    pub symptom: Node,
}

/// A failing run and its neighbours.
pub(crate) struct Inquiry<'i> {
    pub model: &'i SliceModel,
    pub failing: &'i Subject,
    pub neighbours: &'i [Subject],
    pub parts: Parts,
}

impl Inquiry<'_> {
    /// The answer; none if the failing run did not come to the symptom.
    pub fn answer(&self) -> Option<Answer> {
        let run = &self.failing.run;
        let symptom = run.first_at(self.model, self.model.symptom())?;
        let mut slice = self.slicer(self.failing).backward(symptom);
        let mut found: BTreeMap<u32, ThreadFound> = BTreeMap::new();
        let mut queue = VecDeque::from([(run.root_of(symptom), symptom)]);
        while let Some((root, upto)) = queue.pop_front() {
            if found.contains_key(&root) {
                continue;
            }
            let Some((it, more)) = self.thread(root, upto, &slice) else { continue };
            slice.add(more);
            found.insert(root, it);
            if self.parts.work_list {
                queue.extend(self.feeding(&slice, root));
            }
        }
        let unkept = if self.parts.merge { self.unkept(&slice, &found) } else { Vec::new() };
        let symptoms_end = found.get(&run.root_of(symptom)).and_then(|it| it.prefix.deviation);
        let last =
            unkept.iter().rfind(|it| symptoms_end.is_none_or(|end| self.time(it.0) <= self.time(end.0)));
        let deviations = found.values().filter_map(|it| it.prefix.deviation).map(|it| (it.0, None));
        let all = deviations.chain(last.map(|it| (it.0, Some(it.1))));
        let first = all.min_by_key(|it| (self.time(it.0), it.1.is_none()));
        Some(Answer {
            point: first.map(|it| it.0),
            cause: first.and_then(|it| it.1),
            others: unkept
                .iter()
                .map(|it| it.0)
                .filter(|&it| first.is_none_or(|first| first.0 != it))
                .collect(),
            threads: found.into_values().collect(),
            slice,
            symptom,
        })
    }

    fn slicer<'a>(&'a self, subject: &'a Subject) -> Slicer<'a> {
        Slicer { model: self.model, run: &subject.run, written: &subject.written }
    }

    fn time(&self, node: Node) -> (u64, u32, (u32, u32, u32)) {
        let run = &self.failing.run;
        (run.ticks(node), run.thread_of(node), run.order(node))
    }

    /// The outermost frames whose writes one reads, each up to the last of these writes.
    fn feeding(&self, slice: &DynamicSlice, root: u32) -> Vec<(u32, Node)> {
        let run = &self.failing.run;
        let mut last: BTreeMap<u32, Node> = BTreeMap::new();
        for &(read, write) in slice.feeds() {
            if run.root_of(read) == root {
                let upto = last.entry(run.root_of(write)).or_insert(write);
                if run.order(*upto) < run.order(write) {
                    *upto = write;
                }
            }
        }
        last.into_iter().collect()
    }

    /// Compares a thread with all neighbours: the one that goes along for longest, and what its slice lacked.
    fn thread(&self, root: u32, upto: Node, slice: &DynamicSlice) -> Option<(ThreadFound, DynamicSlice)> {
        let run = &self.failing.run;
        let nodes: Vec<Node> =
            slice.below(run, root).into_iter().filter(|&it| run.order(it) <= run.order(upto)).collect();
        let mut best: Option<(ThreadFound, DynamicSlice)> = None;
        for (neighbour, other) in self.neighbours.iter().enumerate() {
            let (prefix, of, more) = self.compare(root, nodes.clone(), other);
            let is_longer =
                best.as_ref().is_none_or(|(best, _)| self.length(&prefix) > self.length(&best.prefix));
            if is_longer {
                best = Some((ThreadFound { root, neighbour, prefix, of }, more));
            }
        }
        best
    }

    /// Length of a prefix, as the place of the first difference: what a slice was completed with does not count.
    fn length(&self, prefix: &Prefix) -> (bool, (u32, u32, u32), bool) {
        match prefix.deviation {
            None => (true, (0, 0, 0), true),
            Some((node, there)) => (false, self.failing.run.order(node), there.is_some()),
        }
    }

    /// The prefix with one neighbour. What did not happen is in no slice of the failing run (line 22 of Figure 2): it is taken from the slice
    /// of the neighbour at the place where they part, until the prefix rests.
    fn compare(&self, root: u32, mut nodes: Vec<Node>, other: &Subject) -> (Prefix, usize, DynamicSlice) {
        let run = &self.failing.run;
        let there = Comparing { model: self.model, of: run, other: &other.run };
        let back = Comparing { model: self.model, of: &other.run, other: run };
        let mut more = DynamicSlice::default();
        let mut prefix = there.prefix(root, &nodes);
        for _ in 0..REPAIRS_MAX {
            let Some((deviation, partner)) = prefix.deviation.filter(|_| self.parts.repair) else { break };
            let Some(from) = partner.or_else(|| prefix.same.last().map(|it| it.1)) else { break };
            let theirs = self.slicer(other).backward(from);
            let their_root = other.run.root_of(from);
            let common = back.prefix(their_root, &theirs.below(&other.run, their_root));
            let ends = common.deviation.and_then(|it| it.1);
            let missed: Vec<Node> = common
                .same
                .iter()
                .map(|it| it.1)
                .chain(ends)
                .filter(|&it| run.root_of(it) == root && run.order(it) < run.order(deviation))
                .filter(|it| nodes.binary_search_by_key(&run.order(*it), |&it| run.order(it)).is_err())
                .collect();
            if missed.is_empty() {
                break;
            }
            for it in missed {
                more.add(self.slicer(self.failing).backward(it));
            }
            nodes.extend(more.below(run, root));
            nodes.sort_by_key(|&it| run.order(it));
            nodes.dedup();
            prefix = there.prefix(root, &nodes);
        }
        (prefix, nodes.len(), more)
    }

    /// Reads of other threads' writes that come before the difference of their thread and that its neighbour does not read from the same
    /// place, in the order of time. Enforcing them all makes the run fail, so the last of them is turned round (Kairux 4.2, merge).
    fn unkept(&self, slice: &DynamicSlice, found: &BTreeMap<u32, ThreadFound>) -> Vec<(Node, Node)> {
        let run = &self.failing.run;
        let is_unkept = |&&(read, write): &&(Node, Node)| {
            // Only what a neighbour does too can be in another order there.
            let partner = |node| {
                let it = found.get(&run.root_of(node))?;
                Some((&self.neighbours[it.neighbour], it.prefix.partner(node)?))
            };
            if run.thread_of(read) == run.thread_of(write) || partner(write).is_none() {
                return false;
            }
            let Some((other, there)) = partner(read) else { return false };
            let theirs = other.written.before(self.model, &other.run, there);
            theirs.is_none_or(|theirs| other.run.place(theirs) != run.place(write))
                && !run.is_same_value(read, &other.run, there)
        };
        let mut unkept: Vec<(Node, Node)> = slice.feeds().iter().filter(is_unkept).copied().collect();
        unkept.sort_by_key(|it| self.time(it.0));
        unkept
    }
}

#[cfg(test)]
mod tests;
