//! Where a fault that went in lies: in the logs of its own trial, and by what it led to there, in the failure's.

use hypocenter_logs::{Comparison, Position, Tied, role};
use hypocenter_trace::{Map, Trace};

use crate::case::{Case, Compared};
use crate::emission::Emissions;
use crate::recording::stamps;
use crate::times::Times;

/// A fault that went in, and how many entries of which log were written before it.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Struck {
    /// Which candidate of the plan.
    pub candidate: u32,
    /// Which log.
    pub node: u32,
    /// How many entries come before.
    pub entries: u32,
    /// How long after the last of them it was.
    pub after_ms: i64,
    /// Whether it threw: only then is what the thread writes next as far away in the failure. How long something hung there, nobody
    /// knows.
    pub threw: bool,
    /// The thread that it struck, as logs show it.
    pub thread: String,
}

/// What the thread of a fault says of where it lies among the entries of the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
struct Between {
    /// Behind what it wrote before, and not behind what it wrote then.
    places: (u32, u32),
    /// What it wrote next, in the failure and in the trial.
    next: Option<(Position, Position)>,
}

/// A moment of the failure.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) struct InFailure {
    /// How many of its entries come before.
    pub place: u32,
    /// When, on its clock, where that is known better than by those.
    pub time_ms: Option<i64>,
}

impl Struck {
    /// When it went in, on the clock of its trial.
    pub fn time_ms(&self, times: &Times) -> Option<i64> {
        let (before, behind) = times.of[self.node as usize].split_at(self.entries as usize);
        let next = behind.iter().find_map(|it| *it);
        let Some(last) = before.iter().rev().find_map(|it| *it) else { return next };
        let after_ms = if times.is_coarse { 0 } else { self.after_ms };
        let exact = last.saturating_add(after_ms);
        Some(next.map_or(exact, |it| exact.min(it)).max(last))
    }

    /// Where it lies in the failure. What its thread wrote next came as long behind it as in the trial; where that is not known, it
    /// is at `otherwise`, as far as what the thread wrote allows it. Threads run freely, so what others wrote says less.
    pub fn in_failure(
        &self,
        case: &Case,
        compared: &Compared,
        (comparison, by_role): (&Comparison, bool),
        (failure, trial): (&Times, &Times),
        otherwise: u32,
    ) -> InFailure {
        let Between { places: (from, to), next } = self.between(case, compared, comparison, by_role);
        let time = |times: &Times, it: Position| times.of[it.node as usize][it.entry as usize];
        let is_coarse = failure.is_coarse || trial.is_coarse;
        let anchored = next.filter(|_| self.threw && !is_coarse).and_then(|(there, here)| {
            let later_ms = time(trial, here)?.saturating_sub(self.time_ms(trial)?).max(0);
            Some(time(failure, there)?.saturating_sub(later_ms))
        });
        let Some(time_ms) = anchored else {
            return InFailure { place: otherwise.max(from).min(to), time_ms: None };
        };
        let of_log = |(places, times): (&Vec<(u32, u32)>, &Vec<Option<i64>>)| {
            let entries = places.iter().zip(times).filter_map(|(at, time)| Some((at.1, (*time)?)));
            entries.collect::<Vec<_>>()
        };
        let entries = case.places.iter().zip(&failure.of).flat_map(of_log);
        let place = place_at(entries, time_ms, (from, to));
        InFailure { place, time_ms: Some(time_ms) }
    }

    /// Where the comparison is one `by_role`, equal threads are as one.
    fn between(&self, case: &Case, compared: &Compared, comparison: &Comparison, by_role: bool) -> Between {
        let tied = &compared.trial[self.node as usize];
        let name =
            |it: &Tied, entry: u32| it.threads()[it.entries()[entry as usize].thread as usize].name.clone();
        let is_like = |one: &str, other: &str| one == other || (by_role && role(one) == role(other));
        let is_named = |entry: u32| tied.threads()[tied.entries()[entry as usize].thread as usize].is_named;
        let is_own = |entry: u32| is_named(entry) && is_like(&name(tied, entry), &self.thread);
        let place = |it: Position| case.places[it.node as usize][it.entry as usize].1;
        let own = || comparison.pairs().filter(|(_, own)| own.node == self.node && is_own(own.entry));
        let before = own().filter(|(_, own)| own.entry < self.entries).map(|(failure, _)| place(failure) + 1);
        let mut from = before.max().unwrap_or(0);
        let behind = own().filter(|(_, own)| own.entry >= self.entries);
        let Some((failure, next)) = behind.min_by_key(|(_, own)| own.entry) else {
            return Between { places: (from, u32::MAX), next: None };
        };
        let to = place(failure);
        // Where nothing else of the thread lies between the fault and that, all that it wrote before in the failure, also what the
        // trial does not have, came before the fault.
        let is_next = !(self.entries..next.entry).any(is_own);
        if is_next {
            let log = &case.failure[failure.node as usize].tied;
            let thread = name(log, failure.entry);
            let places = (0..log.entries().len() as u32).zip(&case.places[failure.node as usize]);
            let of_thread = places.filter(|it| is_like(&name(log, it.0), &thread)).map(|(_, at)| at.1);
            from = from.max(of_thread.filter(|it| *it < to).max().map_or(0, |it| it + 1));
        }
        // Where the thread wrote the same in another order nothing is known.
        if from > to {
            return Between { places: (0, u32::MAX), next: None };
        }
        Between { places: (from, to), next: is_next.then_some((failure, next)) }
    }
}

/// The place of a time among entries, each with its place and time, between two places.
fn place_at(entries: impl Iterator<Item = (u32, i64)>, time_ms: i64, (from, to): (u32, u32)) -> u32 {
    let before = entries.filter(|&(place, time)| time <= time_ms && place < to).map(|it| it.0);
    before.max().map_or(0, |it| it + 1).max(from).min(to)
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
                let after_ms = trace.ms_since_start(it.ticks) - trace.ms_since_start(stamps[last].0);
                let thread = case.names().shown().of_name(dictionary.thread_name(it.thread)).to_owned();
                found.push(Struck {
                    candidate: it.candidate,
                    node: node as u32,
                    entries,
                    after_ms: after_ms as i64,
                    threw: it.threw != 0,
                    thread,
                });
            }
        }
    }
    found
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_fault_is_as_long_behind_the_last_entry_as_the_trace_says_and_not_behind_the_next() {
        let check = |times: &[i64], entries: u32, after_ms: i64, expected: Option<i64>| {
            let of = vec![times.iter().copied().map(Some).collect()];
            let struck =
                Struck { candidate: 0, node: 0, entries, after_ms, threw: true, thread: "t".to_owned() };
            let found = struck.time_ms(&Times { of, is_coarse: false });
            assert_eq!(found, expected, "{times:?}, {entries}, {after_ms}");
        };
        check(&[100, 200], 1, 30, Some(130));
        check(&[100, 200], 1, 130, Some(200));
        check(&[100, 200], 2, 30, Some(230));
        check(&[100, 200], 0, 30, Some(100));
        // Threads write past each other.
        check(&[100, 90], 1, 30, Some(100));
        check(&[], 0, 30, None);
    }

    #[test]
    fn a_time_lies_behind_what_was_written_by_then_and_between_what_the_thread_wrote() {
        let entries = [(0, 100), (1, 200), (2, 200), (3, 300), (4, 900)];
        let check = |time_ms: i64, between: (u32, u32), expected: u32| {
            let found = place_at(entries.into_iter(), time_ms, between);
            assert_eq!(found, expected, "{time_ms} between {between:?}");
        };
        check(50, (0, 9), 0);
        check(250, (0, 9), 3);
        check(200, (0, 9), 3);
        check(999, (0, 4), 4);
        check(50, (2, 4), 2);
    }
}
