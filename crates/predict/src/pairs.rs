//! Pairs of a write before the crash and a read of the recovery on the same file (FCatch 4.3), and what leaves them out.

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_plan::Candidate;
use hypocenter_program::Program;
use hypocenter_results::predicted::{Access, CrashSide, Impact, LeftOutPair, PruneRule, Pruned};

use crate::impact::{Follows, Impacts};
use crate::reader::{OperationReader, RunOperations};
use crate::run::Seen;

/// The most pairs that are kept of those that a rule left out.
const LEFT_OUT_KEPT: usize = 500;

/// Runs of which pairs are made.
pub(crate) struct Runs<'r> {
    pub program: &'r Program,
    pub reader: &'r OperationReader,
    /// The run without a fault.
    pub normal: &'r RunOperations,
    /// The rules that are not applied.
    pub without: &'r BTreeSet<PruneRule>,
}

/// What a node leaves behind and its recovery finds.
#[derive(Debug, Default)]
pub(crate) struct Pairs {
    /// Writes of which a pair is left.
    pub writes: Vec<Write>,
    pub reports: Vec<Pair>,
    pub all: u64,
    pub pruned: Pruned,
    pub left_out: Vec<LeftOutPair>,
    pub unmatched: u64,
}

/// A write, of which there may be several alike.
#[derive(Debug)]
pub(crate) struct Write {
    /// When the node is to be crashed for it.
    pub moments: Vec<Moment>,
}

/// A crash beside a write.
#[derive(Debug, Clone)]
pub(crate) struct Moment {
    pub access: Access,
    pub side: CrashSide,
    pub candidate: Candidate,
    /// The place of the write in the order of the run without a fault.
    pub order: u64,
}

/// A pair that no rule left out.
#[derive(Debug)]
pub(crate) struct Pair {
    /// By its number among the writes.
    pub write: usize,
    pub read: Access,
    /// The same calls in every run.
    pub calls: String,
    pub impact: Option<Impact>,
}

/// A read of a recovery, in each run that has it.
struct Read<'r> {
    in_runs: Vec<Seen<'r>>,
    calls: String,
}

/// Numbers in a name as one sign: files of a series are alike.
fn masked(name: &str) -> String {
    let mut masked = String::with_capacity(name.len());
    for it in name.chars() {
        match it.is_ascii_digit() {
            true if masked.ends_with('#') => {}
            true => masked.push('#'),
            false => masked.push(it),
        }
    }
    masked
}

impl<'r> Runs<'r> {
    /// The pairs of a node with the recoveries of its correct runs with a crash.
    pub(crate) fn pairs(&self, node: &str, crashed: &[&'r RunOperations], pairs: &mut Pairs) {
        let sends = crashed.iter().chain([&self.normal]).flat_map(|it| it.sends());
        let impacts = Impacts::of(self.program, sends);
        let had: BTreeSet<String> =
            crashed.iter().flat_map(|it| it.before(node)).map(|it| it.key(self.reader)).collect();
        let writes = self.writes(node);
        let mut alike = self.alike(&writes, &had);
        let mut seen: BTreeSet<(String, String)> = BTreeSet::new();
        let mut matched: BTreeSet<String> = BTreeSet::new();
        for (resource, reads) in self.reads(node, crashed) {
            let Some(writes) = writes.get(resource) else { continue };
            for read in reads.values() {
                let mut judged = None;
                for write in writes {
                    let key = masked(&write.key(self.reader));
                    matched.insert(key.clone());
                    if !seen.insert((key.clone(), format!("{} {}", masked(resource), read.calls))) {
                        continue;
                    }
                    pairs.all += 1;
                    let judged = judged.get_or_insert_with(|| self.judge(node, resource, read, &impacts));
                    match judged {
                        Err((rule, why)) => {
                            let (w, r) = (write.access(self.reader), read.access(self.reader));
                            pairs.leave_out(LeftOutPair { w, r, rule: *rule, why: why.clone() });
                        }
                        Ok(impact) => {
                            let Some(moments) = alike.get_mut(&key) else { continue };
                            let write = moments.number(&mut pairs.writes);
                            let (read, calls) = (read.access(self.reader), read.calls.clone());
                            pairs.reports.push(Pair { write, read, calls, impact: impact.clone() });
                        }
                    }
                }
            }
        }
        pairs.unmatched += alike.keys().filter(|it| !matched.contains(*it)).count() as u64;
    }

    /// The writes that are alike, by their names.
    fn alike(
        &self,
        writes: &BTreeMap<&'r str, Vec<Seen<'r>>>,
        had: &BTreeSet<String>,
    ) -> BTreeMap<String, Alike> {
        let mut all: BTreeMap<String, Alike> = BTreeMap::new();
        for &write in writes.values().flatten() {
            let alike = all.entry(masked(&write.key(self.reader))).or_default();
            alike.moments.extend(self.moments(write, had));
        }
        all.values_mut().for_each(Alike::settle);
        all
    }

    /// The writes of a node in the run without a fault, by file, in order.
    fn writes(&self, node: &str) -> BTreeMap<&'r str, Vec<Seen<'r>>> {
        let mut all: BTreeMap<&str, Vec<Seen<'r>>> = BTreeMap::new();
        for it in self.normal.before(node) {
            for touch in it.touches().iter().filter(|it| it.writes) {
                let writes = all.entry(touch.resource).or_default();
                if !writes.iter().any(|other| std::ptr::eq(other.group, it.group)) {
                    writes.push(it);
                }
            }
        }
        all
    }

    /// The reads of its recoveries, by file and calls.
    fn reads(
        &self,
        node: &str,
        crashed: &[&'r RunOperations],
    ) -> BTreeMap<&'r str, BTreeMap<String, Read<'r>>> {
        let mut all: BTreeMap<&str, BTreeMap<String, Read<'r>>> = BTreeMap::new();
        for it in crashed.iter().flat_map(|run| run.recovery(node)) {
            for touch in it.touches().iter().filter(|it| it.reads) {
                let calls = it.calls(self.reader);
                let of_resource = all.entry(touch.resource).or_default();
                let read = of_resource.entry(calls.clone()).or_insert(Read { in_runs: Vec::new(), calls });
                read.add(it);
            }
        }
        all
    }

    /// The first and the last crash beside a write.
    fn moments(&self, write: Seen<'_>, had: &BTreeSet<String>) -> Vec<Moment> {
        let side = if had.contains(&write.key(self.reader)) { CrashSide::Before } else { CrashSide::After };
        let group = write.group;
        let moment = |occurrence, order| Moment {
            access: write.access(self.reader),
            side,
            candidate: write.crash(self.reader, side, occurrence),
            order,
        };
        let mut moments = vec![moment(group.occurrence, group.first.0)];
        if group.last_occurrence != group.occurrence {
            moments.push(moment(group.last_occurrence, group.last));
        }
        moments
    }

    /// The harm that a read can do, or the rule that leaves out its pairs: one that holds in every run that has the read.
    fn judge(
        &self,
        node: &str,
        resource: &str,
        read: &Read<'r>,
        impacts: &Impacts<'_>,
    ) -> Result<Option<Impact>, (PruneRule, String)> {
        let applies = |rule| !self.without.contains(&rule);
        let everywhere = |why: &dyn Fn(Seen<'r>) -> Option<String>| {
            let whys: Option<Vec<String>> = read.in_runs.iter().map(|&it| why(it)).collect();
            whys.and_then(|it| it.into_iter().next())
        };
        if applies(PruneRule::Control)
            && let Some(why) = everywhere(&|it| self.checked(node, resource, it))
        {
            return Err((PruneRule::Control, why));
        }
        if applies(PruneRule::Reset)
            && let Some(why) = everywhere(&|it| self.reset(node, resource, it))
        {
            return Err((PruneRule::Reset, why));
        }
        let first = read.in_runs[0];
        match impacts.follows(&first.frames(), first.group.kind) {
            Follows::Harm(impact) => Ok(Some(impact)),
            Follows::Nothing if applies(PruneRule::Impact) => {
                let why = "it leads to no exception, error, message, task, thread or end of the process";
                Err((PruneRule::Impact, why.to_owned()))
            }
            Follows::Nothing | Follows::Unknown => Ok(None),
        }
    }

    /// A check of the same file that decides over a read: an earlier read by the same thread (FCatch 4.3.2).
    fn checked(&self, node: &str, resource: &str, read: Seen<'r>) -> Option<String> {
        let calls = read.calls(self.reader);
        let decided = read.frames();
        let is_read = |it: &Seen<'_>| it.touches().iter().any(|it| it.reads && it.resource == resource);
        let earlier = read.run.recovery(node).filter(|it| {
            std::ptr::eq(it.jvm, read.jvm)
                && it.group.first.1 <= read.group.first.0
                && it.thread() == read.thread()
        });
        let mut checks = earlier.filter(is_read).filter(|it| it.calls(self.reader) != calls);
        checks.find_map(|check| {
            let (method, line) = self.program.causes().deciding(&check.frames(), &decided)?;
            let line = line.map_or_else(String::new, |it| format!(":{it}"));
            let place = self.program.world.show_method(method);
            Some(format!("{} decides over it at {place}{line}", check.access(self.reader)))
        })
    }

    /// A write of the recovery before a read that leaves nothing of the file as the crash left it.
    fn reset(&self, node: &str, resource: &str, read: Seen<'r>) -> Option<String> {
        let is_reset = |it: &Seen<'_>| {
            it.group.first.1 < read.group.first.0
                && !std::ptr::eq(it.group, read.group)
                && it.touches().iter().any(|it| it.writes && it.is_whole && it.resource == resource)
        };
        let reset = read.run.recovery(node).find(is_reset)?;
        Some(format!("{} comes before it", reset.access(self.reader)))
    }
}

impl<'r> Read<'r> {
    /// One of each run: the first.
    fn add(&mut self, it: Seen<'r>) {
        match self.in_runs.iter_mut().find(|other| std::ptr::eq(other.run, it.run)) {
            Some(other) if it.group.first.0 < other.group.first.0 => *other = it,
            Some(_) => {}
            None => self.in_runs.push(it),
        }
    }

    fn access(&self, reader: &OperationReader) -> Access {
        self.in_runs[0].access(reader)
    }
}

/// Writes that are alike.
#[derive(Debug, Default)]
struct Alike {
    moments: Vec<Moment>,
    /// Their number, once a pair of them is reported.
    number: Option<usize>,
}

impl Alike {
    /// Keeps the first moment and the last.
    fn settle(&mut self) {
        self.moments.sort_by_key(|it| it.order);
        self.moments.dedup_by(|a, b| a.candidate == b.candidate);
        if self.moments.len() > 2 {
            self.moments.drain(1..self.moments.len() - 1);
        }
    }

    fn number(&mut self, writes: &mut Vec<Write>) -> usize {
        *self.number.get_or_insert_with(|| {
            writes.push(Write { moments: self.moments.clone() });
            writes.len() - 1
        })
    }
}

impl Pairs {
    fn leave_out(&mut self, it: LeftOutPair) {
        self.pruned.add(it.rule);
        if self.left_out.len() < LEFT_OUT_KEPT {
            self.left_out.push(it);
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn files_of_a_series_are_alike() {
        assert_eq!(masked("s1/snapshot.100000016"), masked("s2/snapshot.2"));
        assert_ne!(masked("s/currentEpoch"), masked("s/acceptedEpoch"));
    }
}
