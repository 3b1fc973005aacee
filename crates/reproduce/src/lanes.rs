//! Runs above one another, each as lanes of who wrote something when: without a fault, the failure, and a trial.
//!
//! Clocks of different runs cannot be compared, so all times are from the moment of the fault: in the trial where it went in, in
//! the other two where that lies by the entries that they have in common. Data only: whoever draws it finds the form.

use std::borrow::Cow;
use std::collections::BTreeMap;

use hypocenter_engine::Evidence;
use hypocenter_logs::{Level, Memo, Moment, Position, Tied};
use hypocenter_results::runs::{Interest, Lane, Lanes, Mark, Run, RunOf, Sign};
use rustc_hash::FxHashSet;

use crate::beside::{NAME_CHARS_MAX, orders};
use crate::case::{Case, Compared, in_order};
use crate::reading::{Reading, TrialLog};
use crate::struck::{InFailure, struck};
use crate::times::Times;

/// The most lanes; what the other threads of a node wrote stands in one lane for all of them.
const LANES_MAX: usize = 16;
/// Into how many pieces the time is cut. What a lane has in one of them is drawn as one.
const PIECES: i64 = 400;
/// How much of the time before and behind the trial is kept of the other runs, as a share of its time.
const MARGIN: i64 = 8;

/// An entry, before it has a lane.
struct Written<'a> {
    node: &'a str,
    role: &'a str,
    time_ms: i64,
    sign: Sign,
}

/// The entries of a run, in the order of their time, and the moment from which time is counted.
struct Told<'a> {
    of: RunOf,
    entries: Vec<Written<'a>>,
    zero_ms: i64,
    /// The faults, each with its moment on the run's own clock.
    faults: Vec<(u32, i64)>,
}

/// A trial, read and compared.
struct Looked {
    compared: Compared,
    /// For each process, for each entry, whether it is serious.
    serious: Vec<Vec<bool>>,
    times: Times,
}

/// A fault that went in.
struct Placed {
    /// Its number in the plan.
    candidate: u32,
    /// When, on the trial's clock.
    time_ms: i64,
    /// Where it lies in the failure.
    there: InFailure,
}

impl Case {
    /// The runs above one another. `keys` are the keys of the case of which normal runs do not show all entries, `threads` has for
    /// each fault of the trial's plan its node and thread. Nothing if no log has times.
    pub fn lanes(
        &self,
        normal: Option<&Evidence>,
        trial: Option<&Evidence>,
        keys: &[u32],
        threads: &[(&str, &str)],
    ) -> Option<Lanes> {
        let keys: FxHashSet<u32> = keys.iter().copied().collect();
        let shown = self.names().shown();
        let threads: Vec<(&str, &str)> = threads.iter().map(|it| (it.0, shown.of_name(it.1))).collect();
        let look = |it: &Evidence| self.look(it);
        let (normal, looked) = (normal.and_then(look), trial.and_then(look));
        let times = Times::of(self.failure.iter().map(|it| &*it.tied), &self.orders());
        let faults = match (trial, &looked) {
            (Some(evidence), Some(it)) => self.faults_of(evidence, it, &times),
            _ => Vec::new(),
        };
        let place = faults.iter().map(|it| it.there.place).min();
        let is_coarse = |it: &Looked| it.times.is_coarse;
        let whole_seconds = times.is_coarse
            || normal.as_ref().is_some_and(is_coarse)
            || looked.as_ref().is_some_and(is_coarse);
        let told = [
            normal.as_ref().and_then(|it| told_of_normal(it, &self.orders(), place)),
            self.told_of_failure(&times, &keys, &faults),
            looked.as_ref().and_then(|it| self.told_of_trial(it, &keys, &faults)),
        ];
        let mut told: Vec<Told<'_>> = told.into_iter().flatten().collect();
        // Where every run has one node, it is the same, however its log is called.
        let is_one = |it: &Told<'_>| it.entries.iter().all(|entry| entry.node == it.entries[0].node);
        if told.iter().all(is_one) {
            told.iter_mut().flat_map(|it| &mut it.entries).for_each(|it| it.node = "");
            let threads: Vec<(&str, &str)> = threads.iter().map(|it| ("", it.1)).collect();
            return Some(Lanes { whole_seconds, ..laid_out(&told, &threads, place.is_some())? });
        }
        Some(Lanes { whole_seconds, ..laid_out(&told, &threads, place.is_some())? })
    }

    fn look(&self, evidence: &Evidence) -> Option<Looked> {
        let (mut logs, _) = self.logs_of(evidence, &mut Reading::default());
        if logs.is_empty() {
            return None;
        }
        let compared = self.compare(&mut logs, &mut Memo::default());
        let is_serious = |it: Option<Level>| it.is_some_and(|it| it >= Level::Warn);
        let of_process =
            |it: &[TrialLog]| in_order(it).iter().map(|entry| is_serious(entry.level)).collect::<Vec<bool>>();
        let serious = logs.chunk_by(|a, b| a.process == b.process).map(of_process).collect();
        let times = Times::of(compared.trial.iter(), &orders(&compared));
        Some(Looked { compared, serious, times })
    }

    /// The faults that went in.
    fn faults_of(&self, evidence: &Evidence, looked: &Looked, of_failure: &Times) -> Vec<Placed> {
        let (Ok(map), Ok(trace)) = (evidence.map(), evidence.trace()) else { return Vec::new() };
        let compared = &looked.compared;
        let mut finder = compared.timeline.finder();
        let mut found = Vec::new();
        for it in struck(self, &compared.trial, &map, &trace) {
            // One that came before all that has a time is at the first.
            let anywhere = || looked.times.of.iter().flatten().flatten().min().copied();
            let Some(time_ms) = it.time_ms(&looked.times).or_else(anywhere) else { continue };
            let moment = Moment::After { node: it.node, entries: it.entries };
            let otherwise = finder.place(moment).unwrap_or(0.0) as u32;
            let (by, times) = ((&compared.comparison, false), (of_failure, &looked.times));
            let there = it.in_failure(self, compared, by, times, otherwise);
            found.push(Placed { candidate: it.candidate, time_ms, there });
        }
        found
    }

    /// For each log of the failure, for each entry, its place in the order of time.
    pub(crate) fn orders(&self) -> Vec<Vec<u32>> {
        self.places.iter().map(|it| it.iter().map(|it| it.1).collect()).collect()
    }

    fn told_of_failure(
        &self,
        times_of: &Times,
        keys: &FxHashSet<u32>,
        faults: &[Placed],
    ) -> Option<Told<'_>> {
        let mut entries = Vec::new();
        let mut times: Vec<(u32, i64)> = Vec::new();
        for (node, log) in (0..).zip(&self.failure) {
            for (entry, it) in (0..).zip(log.tied.entries()) {
                let Some(time_ms) = times_of.of[node as usize][entry as usize] else { continue };
                let position = Position { node, entry };
                let level = log.log.entry(entry as usize).and_then(|it| it.level);
                let sign = sign(self.interest_of(position, keys), level.is_some_and(|it| it >= Level::Warn));
                times.push((self.places[node as usize][entry as usize].1, time_ms));
                entries.push(written(&log.tied, it.thread, time_ms, sign));
            }
        }
        times.sort_unstable();
        let before = |place: u32| {
            let at = times.partition_point(|it| it.0 < place);
            times.get(at.saturating_sub(1)).map(|it| it.1)
        };
        let time = |it: &Placed| it.there.time_ms.or_else(|| before(it.there.place));
        let faults: Vec<(u32, i64)> =
            faults.iter().filter_map(|it| Some((it.candidate, time(it)?))).collect();
        told(RunOf::Failure, entries, faults.iter().map(|it| it.1).min(), faults)
    }

    fn told_of_trial<'a>(
        &self,
        looked: &'a Looked,
        keys: &FxHashSet<u32>,
        faults: &[Placed],
    ) -> Option<Told<'a>> {
        let mut interest: BTreeMap<Position, Interest> = BTreeMap::new();
        for (failure, trial) in looked.compared.comparison.pairs() {
            interest.insert(trial, self.interest_of(failure, keys));
        }
        let of = |position| interest.get(&position).copied().unwrap_or(Interest::Around);
        let faults: Vec<(u32, i64)> = faults.iter().map(|it| (it.candidate, it.time_ms)).collect();
        told(RunOf::Trial, entries_of(looked, of), faults.iter().map(|it| it.1).min(), faults)
    }
}

/// A run without a fault, whose zero is the last entry that it shares with the failure before the fault's place there.
fn told_of_normal<'a>(looked: &'a Looked, orders: &[Vec<u32>], place: Option<u32>) -> Option<Told<'a>> {
    let before = looked.compared.comparison.pairs().filter_map(|(failure, own)| {
        let at = orders[failure.node as usize][failure.entry as usize];
        let time_ms = looked.times.of[own.node as usize][own.entry as usize]?;
        (at < place?).then_some((at, time_ms))
    });
    let zero_ms = before.max().map(|it| it.1);
    told(RunOf::Normal, entries_of(looked, |_| Interest::Around), zero_ms, Vec::new())
}

fn entries_of(looked: &Looked, interest: impl Fn(Position) -> Interest) -> Vec<Written<'_>> {
    let mut entries = Vec::new();
    for ((node, it), serious) in (0..).zip(&looked.compared.trial).zip(&looked.serious) {
        for ((entry, tied), &is_serious) in (0..).zip(it.entries()).zip(serious) {
            let Some(time_ms) = looked.times.of[node as usize][entry as usize] else { continue };
            let sign = sign(interest(Position { node, entry }), is_serious);
            entries.push(written(it, tied.thread, time_ms, sign));
        }
    }
    entries
}

fn written(tied: &Tied, thread: u32, time_ms: i64, sign: Sign) -> Written<'_> {
    Written { node: tied.node(), role: &tied.threads()[thread as usize].role, time_ms, sign }
}

fn sign(interest: Interest, is_serious: bool) -> Sign {
    match interest {
        Interest::Symptom => Sign::Symptom,
        Interest::Observable => Sign::Observable,
        Interest::Around if is_serious => Sign::Serious,
        Interest::Around => Sign::Plain,
    }
}

/// A run in the order of time. Without a moment to count from it counts from its start.
fn told<'a>(
    of: RunOf,
    mut entries: Vec<Written<'a>>,
    zero_ms: Option<i64>,
    faults: Vec<(u32, i64)>,
) -> Option<Told<'a>> {
    entries.sort_by_key(|it| it.time_ms);
    let zero_ms = zero_ms.or(entries.first().map(|it| it.time_ms))?;
    Some(Told { of, entries, zero_ms, faults })
}

/// Gives every entry its lane and its piece of the time.
fn laid_out(told: &[Told<'_>], threads: &[(&str, &str)], from_fault: bool) -> Option<Lanes> {
    let span_ms = span(told)?;
    let lanes = lanes_of(told, threads);
    let number = |node: &str, role: &str| {
        let own = lanes.iter().position(|it| it.node == node && it.thread.as_deref() == Some(role));
        own.or_else(|| lanes.iter().position(|it| it.node == node && it.thread.is_none()))
    };
    // A log that does not say who wrote what has one lane for all.
    let nameless =
        |node: &str| lanes.iter().position(|it| it.node == node && it.thread.as_deref() == Some(""));
    let mut runs = Vec::new();
    let piece_ms = span_ms.1.saturating_sub(span_ms.0) / PIECES + 1;
    for run in told {
        let mut known: BTreeMap<(&str, &str), Option<usize>> = BTreeMap::new();
        let mut pieces: BTreeMap<(u32, i64), Mark> = BTreeMap::new();
        let mut outside = (0, 0);
        for it in &run.entries {
            let at_ms = it.time_ms.saturating_sub(run.zero_ms);
            if at_ms < span_ms.0 || at_ms > span_ms.1 {
                let side = if at_ms < span_ms.0 { &mut outside.0 } else { &mut outside.1 };
                *side += 1;
                continue;
            }
            let lane = *known.entry((it.node, it.role)).or_insert_with(|| number(it.node, it.role));
            let Some(lane) = lane.map(|it| it as u32) else { continue };
            let mark = pieces.entry((lane, at_ms.saturating_sub(span_ms.0) / piece_ms)).or_insert(Mark {
                lane,
                at_ms,
                count: 0,
                sign: Sign::Plain,
            });
            mark.count += 1;
            mark.sign = mark.sign.max(it.sign);
        }
        let faults = run.faults.iter().filter_map(|&(fault, time_ms)| {
            let (node, thread) = threads.get(fault as usize)?;
            let lane = number(node, &hypocenter_logs::role(thread)).or_else(|| nameless(node))?;
            Some((fault, lane as u32, time_ms.saturating_sub(run.zero_ms)))
        });
        let faults = faults.collect();
        let marks = pieces.into_values().collect();
        runs.push(Run { of: run.of, marks, faults, outside, zero_ms: run.zero_ms });
    }
    let name = |it: String| it.chars().take(NAME_CHARS_MAX).collect::<String>();
    let shown = lanes.into_iter().map(|it| Lane { node: name(it.node), thread: it.thread.map(name) });
    Some(Lanes { lanes: shown.collect(), runs, span_ms, from_fault, whole_seconds: false })
}

/// The time of the trial and a little more, or, without a trial, that of all runs.
fn span(told: &[Told<'_>]) -> Option<(i64, i64)> {
    let of = |it: &Told<'_>| {
        let (first, last) = (it.entries.first()?.time_ms, it.entries.last()?.time_ms);
        Some((first.saturating_sub(it.zero_ms), last.saturating_sub(it.zero_ms)))
    };
    let around = |all: (i64, i64), it: (i64, i64)| (all.0.min(it.0), all.1.max(it.1));
    let all = told.iter().filter_map(of).reduce(around)?;
    let Some(trial) = told.iter().find(|it| it.of == RunOf::Trial).and_then(of) else { return Some(all) };
    let margin = trial.1.saturating_sub(trial.0) / MARGIN + 1;
    Some((all.0.max(trial.0.saturating_sub(margin)), all.1.min(trial.1.saturating_add(margin))))
}

/// The lanes: where a fault went in, then those with the gravest entries and the most; a node's other threads share one.
fn lanes_of(told: &[Told<'_>], threads: &[(&str, &str)]) -> Vec<Lane> {
    let mut weights: BTreeMap<(&str, &str), (bool, Sign, usize)> = BTreeMap::new();
    let roles: Vec<(&str, Cow<'_, str>)> =
        threads.iter().map(|it| (it.0, hypocenter_logs::role(it.1))).collect();
    let strikes = |node: &str, role: &str| roles.iter().any(|it| it.0 == node && it.1.as_ref() == role);
    for it in told.iter().flat_map(|it| &it.entries) {
        let weight =
            weights.entry((it.node, it.role)).or_insert_with(|| (strikes(it.node, it.role), Sign::Plain, 0));
        weight.1 = weight.1.max(it.sign);
        weight.2 += 1;
    }
    // A thread that never logs anything may be the one in which it happened.
    for (node, role) in &roles {
        if !weights.contains_key(&(node, "")) {
            weights.entry((node, role)).or_insert((true, Sign::Plain, 0));
        }
    }
    let mut all: Vec<_> = weights.into_iter().collect();
    all.sort_by_key(|&(name, weight)| (std::cmp::Reverse(weight), name));
    let mut nodes: Vec<&str> = all.iter().map(|it| it.0.0).collect();
    nodes.sort_unstable();
    nodes.dedup();
    let room = LANES_MAX.saturating_sub(nodes.len()).max(1);
    let own = if all.len() <= LANES_MAX { all.len() } else { room };
    let (with, without) = all.split_at(own);
    let mut lanes: Vec<Lane> =
        with.iter().map(|it| Lane { node: it.0.0.to_owned(), thread: Some(it.0.1.to_owned()) }).collect();
    let mut others: Vec<Lane> =
        without.iter().map(|it| Lane { node: it.0.0.to_owned(), thread: None }).collect();
    others.sort();
    others.dedup();
    others.truncate(LANES_MAX);
    lanes.extend(others);
    lanes.sort_by(|a, b| {
        (&a.node, a.thread.is_none(), &a.thread).cmp(&(&b.node, b.thread.is_none(), &b.thread))
    });
    lanes
}

#[cfg(test)]
mod tests {
    use super::*;

    fn run<'a>(of: RunOf, zero_ms: i64, entries: &[(&'a str, &'a str, i64, Sign)]) -> Told<'a> {
        let entries = entries
            .iter()
            .map(|&(node, role, time_ms, sign)| Written { node, role, time_ms, sign })
            .collect();
        told(of, entries, Some(zero_ms), vec![(0, zero_ms)]).expect("entries")
    }

    #[test]
    fn runs_are_counted_from_the_fault_and_cut_to_the_time_of_the_trial() {
        let failure = run(
            RunOf::Failure,
            50_000,
            &[
                ("n", "main", 0, Sign::Plain),
                ("n", "main", 50_010, Sign::Symptom),
                ("n", "x", 99_000, Sign::Plain),
            ],
        );
        let trial = run(
            RunOf::Trial,
            1_000,
            &[
                ("n", "main", 900, Sign::Plain),
                ("n", "main", 1_010, Sign::Symptom),
                ("n", "x", 1_700, Sign::Serious),
            ],
        );
        let lanes = laid_out(&[failure, trial], &[("n", "main")], true).expect("lanes");
        // 800 ms and an eighth of it before and behind.
        assert_eq!(lanes.span_ms, (-201, 801));
        assert_eq!(lanes.runs[0].outside, (1, 1));
        assert_eq!(lanes.runs[0].marks, [Mark { lane: 0, at_ms: 10, count: 1, sign: Sign::Symptom }]);
        assert_eq!(lanes.runs[1].faults, [(0, 0, 0)]);
        assert_eq!(lanes.runs[1].marks.len(), 3);
    }

    #[test]
    fn a_fault_is_shown_whether_or_not_its_thread_logs_anything() {
        let struck_at = |entries: &[(&str, &str, i64, Sign)]| {
            let run = run(RunOf::Trial, 5, entries);
            let lanes = laid_out(&[run], &[("n", "writer-1")], true).expect("lanes");
            let lane = lanes.runs[0].faults.first().map(|it| lanes.lanes[it.1 as usize].clone());
            (lanes.lanes.len(), lane.expect("the fault").thread)
        };
        // A log without threads has one lane for everything.
        let check = |entries, expected: (usize, &str)| {
            assert_eq!(struck_at(entries), (expected.0, Some(expected.1.to_owned())));
        };
        check(&[("n", "", 0, Sign::Plain), ("n", "", 9, Sign::Plain)], (1, ""));
        check(&[("n", "main", 0, Sign::Plain)], (2, "writer-#"));
        check(&[("n", "main", 0, Sign::Plain), ("n", "writer-#", 1, Sign::Plain)], (2, "writer-#"));
    }

    #[test]
    fn many_entries_and_many_threads_stay_few_marks() {
        let names: Vec<String> = (0..100)
            .map(|it| format!("t{}", char::from(b'a' + it % 26)) + &"x".repeat(it as usize))
            .collect();
        let entries: Vec<_> = (0..50_000i64)
            .map(|it| ("n", names[it as usize % names.len()].as_str(), it, Sign::Plain))
            .collect();
        let lanes = laid_out(&[run(RunOf::Trial, 0, &entries)], &[("n", &names[99])], true).expect("lanes");
        assert_eq!(lanes.lanes.len(), LANES_MAX);
        // The thread of the fault has a lane of its own, whatever else there is.
        assert!(lanes.lanes.iter().any(|it| it.thread.as_deref() == Some(&names[99])), "{:?}", lanes.lanes);
        let marks = &lanes.runs[0].marks;
        assert!(marks.len() <= LANES_MAX * (PIECES as usize + 1), "{}", marks.len());
        assert_eq!(marks.iter().map(|it| it.count as usize).sum::<usize>(), entries.len());
    }
}
