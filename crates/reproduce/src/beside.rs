//! The log of the failure beside that of a trial, around the fault and the symptom.
//!
//! What both have stands in one row. The rows are in the order of the failure's log; what only the trial has stands where
//! its moment lies there. Threads run freely, so what one of them wrote may stand before what it came behind in the trial; those of
//! one role are as one. Logs that name no threads have nothing that would tell why, so there both sides are in their own order, and
//! what both have in another order stands in two rows. Data only: whoever shows it finds the form.

use hypocenter_engine::Evidence;
use hypocenter_logs::{Comparison, Entry, Finder, Level, Memo, Moment, Position, Tied, role};
use hypocenter_results::runs::{Beside, Entries, Interest, Line, Row};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::case::{Case, Compared, in_order};
use crate::reading::{Reading, TrialLog};
use crate::struck::{Struck, struck};
use crate::times::Times;

/// The most rows that are picked for a glance.
const ROWS_MAX: usize = 32;
/// The most rows that are picked to be read at length.
const ROWS_LONG_MAX: usize = 4_000;
/// Rows before the fault, and behind it.
const AROUND_FAULT: (usize, usize) = (3, 6);
/// Rows before the symptom, and behind it.
const AROUND_SYMPTOM: (usize, usize) = (3, 2);
/// Rows on both sides of anything else that only the failure has.
const AROUND_SHOWN: (usize, usize) = (1, 1);
/// How much of a message is kept.
const MESSAGE_CHARS_MAX: usize = 300;
/// How much of a name is kept.
pub(crate) const NAME_CHARS_MAX: usize = 200;

/// See the module.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct SideBySide {
    /// The rows that were picked, in order.
    pub beside: Beside,
    /// The observables that the trial shows, as numbers of keys of the case.
    pub matched: Vec<u32>,
    /// When the first fault went in, on the clock of the failure's log and on that of the trial's, where that is known.
    pub zero: [Option<i64>; 2],
    /// How much the thread of the last fault had written by then, where logs name threads.
    pub before: Option<Before>,
}

/// How many entries a thread wrote before a fault.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Before {
    /// Its name, in the trial.
    pub thread: String,
    /// In the failure.
    pub failure: u32,
    /// In the trial.
    pub trial: u32,
}

fn line_of(node: &str, entry: &Entry<'_>) -> Line {
    let name = |it: &str| it.chars().take(NAME_CHARS_MAX).collect();
    Line {
        node: name(node),
        line: entry.line,
        time_ms: entry.time_ms,
        thread: entry.thread.map(name),
        level: entry.level.map(level_name).map(str::to_owned),
        message: entry.first_line().chars().take(MESSAGE_CHARS_MAX).collect(),
        exception: entry.trace().exceptions.first().map(|it| name(it.class)),
    }
}

fn level_name(level: Level) -> &'static str {
    match level {
        Level::Trace => "TRACE",
        Level::Debug => "DEBUG",
        Level::Info => "INFO",
        Level::Warn => "WARN",
        Level::Error => "ERROR",
        Level::Fatal => "FATAL",
    }
}

/// Where a row stands, before its text is made.
#[derive(Debug, Clone, Copy)]
struct Slot {
    /// Among the entries of the failure, in halves: what only the trial has stands between two of them.
    place: u64,
    /// Among the entries of the trial, in halves: a fault stands between two of them.
    order: u64,
    what: What,
    /// The entry of the failure that it is judged by: its own, or a partner that stands in another row.
    said: Option<Position>,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq)]
enum What {
    Entries { failure: Option<Position>, trial: Option<Position> },
    Fault(u32),
}

impl Case {
    /// The failure beside a trial. `normal` has the keys of the case of which normal runs do not show all entries, each with
    /// how many they show. Nothing if the trial left no log.
    pub fn beside(&self, evidence: &Evidence, normal: &[(u32, u32)]) -> Option<SideBySide> {
        self.beside_with(evidence, normal, ROWS_MAX)
    }

    /// The same at length: all that there is, or, of long logs, also what is around everything that only one of them has.
    pub fn beside_at_length(&self, evidence: &Evidence, normal: &[(u32, u32)]) -> Option<SideBySide> {
        self.beside_with(evidence, normal, ROWS_LONG_MAX)
    }

    fn beside_with(&self, evidence: &Evidence, normal: &[(u32, u32)], rows_max: usize) -> Option<SideBySide> {
        let (mut logs, _) = self.logs_of(evidence, &mut Reading::default());
        if logs.is_empty() {
            return None;
        }
        let compared = self.compare(&mut logs, &mut Memo::default());
        let shown = |&&(key, matched): &&(u32, u32)| compared.digest.matched[key as usize] > matched;
        let matched: Vec<u32> = normal.iter().filter(shown).map(|it| it.0).collect();
        let faults = match (evidence.map(), evidence.trace()) {
            (Ok(map), Ok(trace)) => struck(self, &compared.trial, &map, &trace),
            _ => Vec::new(),
        };
        let rows = Comparison::as_read(&compared.failure, &compared.trial);
        let mut slots = self.slots(&compared, &rows);
        let orders = orders(&compared);
        let mut places = Places::of(self, &compared, &rows);
        let (mut zero, mut before) = (None, None);
        let of_failure = Times::of(self.failure.iter().map(|it| &*it.tied), &self.orders());
        let of_trial = Times::of(compared.trial.iter(), &orders);
        for it in &faults {
            let otherwise = places.behind(it.node, it.entries);
            let (by, times) = ((&rows, true), (&of_failure, &of_trial));
            let there = it.in_failure(self, &compared, by, times, (otherwise / 2) as u32);
            let place = 2 * u64::from(there.place);
            before = self.before(&compared, it, there.place);
            zero = zero.or_else(|| {
                let [before, last] = self.zero(&compared, it, place);
                let exact = it.time_ms(&of_trial).filter(|_| !of_trial.is_coarse);
                Some([there.time_ms.or(before), exact.or(last)])
            });
            let last = it.entries.checked_sub(1).and_then(|at| orders[it.node as usize].get(at as usize));
            let order = last.map_or(0, |&it| 2 * u64::from(it) + 1);
            // What only the trial has stands on its side of the fault.
            for slot in &mut slots {
                let What::Entries { failure: None, trial: Some(trial) } = slot.what else { continue };
                if trial.node == it.node {
                    let place =
                        if slot.order < order { slot.place.min(place) } else { slot.place.max(place) };
                    slot.place = place;
                }
            }
            slots.push(Slot { place, order, what: What::Fault(it.candidate), said: None });
        }
        slots.sort_by_key(|it| (it.place, it.order));
        let keys: FxHashSet<u32> = normal.iter().map(|it| it.0).collect();
        let interest: Vec<Interest> = slots.iter().map(|it| self.interest(it, &keys)).collect();
        let picked = picked(&slots, &interest, rows_max);
        let rows = self.rows(&slots, &interest, &picked, &logs);
        let several_nodes = self.failure.len() > 1 || compared.trial.len() > 1;
        let beside = Beside { rows, several_nodes, message_chars_max: MESSAGE_CHARS_MAX };
        Some(SideBySide { beside, matched, zero: zero.unwrap_or_default(), before })
    }

    /// When a fault went in, on the clock of the failure's log and on that of the trial's, where nothing is known but the last entry
    /// before it.
    fn zero(&self, compared: &Compared, it: &Struck, place: u64) -> [Option<i64>; 2] {
        let of_failure = (0..).zip(&self.places).flat_map(|(node, places)| {
            let entries = self.failure[node].tied.entries();
            entries.iter().zip(places).filter_map(|(entry, &(_, at))| Some((at, entry.time_ms?)))
        });
        let before = of_failure.filter(|it| 2 * u64::from(it.0) < place).max();
        let of_trial = &compared.trial[it.node as usize].entries()[..it.entries as usize];
        [before.map(|it| it.1), of_trial.iter().rev().find_map(|it| it.time_ms)]
    }

    /// What the thread of a fault had written by then. Equal threads are as one.
    fn before(&self, compared: &Compared, it: &Struck, place: u32) -> Option<Before> {
        let trial = &compared.trial[it.node as usize];
        let node =
            self.failure.iter().position(|log| log.tied.node() == trial.node() || self.failure.len() == 1)?;
        let failure = &self.failure[node].tied;
        let is_own = |log: &Tied, thread: u32| log.threads()[thread as usize].role == role(&it.thread);
        let in_failure = failure.entries().iter().zip(&self.places[node]);
        let in_failure =
            in_failure.filter(|(entry, at)| at.1 < place && is_own(failure, entry.thread)).count();
        let in_trial = trial.entries()[..it.entries as usize].iter();
        let in_trial = in_trial.filter(|entry| is_own(trial, entry.thread)).count();
        let are_named = trial.fields().thread && failure.fields().thread;
        are_named.then(|| Before {
            thread: it.thread.clone(),
            failure: in_failure as u32,
            trial: in_trial as u32,
        })
    }

    /// All rows but the faults; what are partners in `rows` stands in one.
    fn slots(&self, compared: &Compared, rows: &Comparison) -> Vec<Slot> {
        let orders = orders(compared);
        let order = |it: Position| 2 * u64::from(orders[it.node as usize][it.entry as usize]);
        let mut slots = Vec::new();
        let mut paired: FxHashSet<Position> = FxHashSet::default();
        for (node, places) in (0..).zip(&self.places) {
            for (entry, &(_, place)) in (0..).zip(places) {
                let position = Position { node, entry };
                let trial = rows.partner(position);
                paired.extend(trial);
                let what = What::Entries { failure: Some(position), trial };
                let order = trial.map_or(0, order);
                slots.push(Slot { place: 2 * u64::from(place) + 1, order, what, said: Some(position) });
            }
        }
        let partners: FxHashMap<Position, Position> =
            compared.comparison.pairs().map(|(it, partner)| (partner, it)).collect();
        let mut places = Places::of(self, compared, rows);
        for (node, it) in (0..).zip(&compared.trial) {
            for entry in 0..it.entries().len() as u32 {
                let position = Position { node, entry };
                if paired.contains(&position) {
                    continue;
                }
                let what = What::Entries { failure: None, trial: Some(position) };
                let (place, said) = (places.behind(node, entry), partners.get(&position).copied());
                slots.push(Slot { place, order: order(position), what, said });
            }
        }
        slots
    }

    fn interest(&self, slot: &Slot, keys: &FxHashSet<u32>) -> Interest {
        slot.said.map_or(Interest::Around, |it| self.interest_of(it, keys))
    }

    /// Why an entry of the failure is of interest. `keys` are those of which normal runs do not show all entries.
    pub(crate) fn interest_of(&self, it: Position, keys: &FxHashSet<u32>) -> Interest {
        let (key, place) = self.places[it.node as usize][it.entry as usize];
        if self.symptoms().binary_search(&place).is_ok() {
            Interest::Symptom
        } else if keys.contains(&key) {
            Interest::Observable
        } else {
            Interest::Around
        }
    }

    fn rows(&self, slots: &[Slot], interest: &[Interest], picked: &[usize], logs: &[TrialLog]) -> Vec<Row> {
        let by_process: Vec<(&str, Vec<Entry<'_>>)> = logs
            .chunk_by(|a, b| a.process == b.process)
            .map(|it| (it[0].process.as_str(), in_order(it)))
            .collect();
        let of_trial = |it: Position| {
            let (process, entries) = by_process.get(it.node as usize)?;
            Some(line_of(process, entries.get(it.entry as usize)?))
        };
        let of_failure = |it: Position| {
            let log = self.failure.get(it.node as usize)?;
            Some(line_of(log.tied.node(), &log.log.entry(it.entry as usize)?))
        };
        let mut rows = Vec::new();
        let mut next = 0;
        for &at in picked {
            if at > next {
                rows.push(Row::Gap((at - next) as u64));
            }
            next = at + 1;
            rows.push(match slots[at].what {
                What::Fault(number) => Row::Fault(number),
                What::Entries { failure, trial } => Row::Entries(Box::new(Entries {
                    failure: failure.and_then(of_failure),
                    trial: trial.and_then(of_trial),
                    is: interest[at],
                })),
            });
        }
        if slots.len() > next && !rows.is_empty() {
            rows.push(Row::Gap((slots.len() - next) as u64));
        }
        rows
    }
}

/// Where moments of a trial stand among the entries of the failure, in halves.
struct Places<'c> {
    finder: Finder<'c>,
    /// Where both sides are to be in their order, for each process of the trial its entries that stand in a row with one of the
    /// failure, ascending, each with the place of that.
    rows: Vec<Vec<(u32, u32)>>,
}

impl<'c> Places<'c> {
    fn of(case: &Case, compared: &'c Compared, read: &Comparison) -> Places<'c> {
        let mut rows = vec![Vec::new(); compared.trial.len()];
        // Where threads are named they tell why pairs cross.
        let is_nameless = |it: &Position| !compared.trial[it.node as usize].fields().thread;
        for (it, partner) in read.pairs().filter(|(_, partner)| is_nameless(partner)) {
            let place = case.places[it.node as usize][it.entry as usize].1;
            rows[partner.node as usize].push((partner.entry, place));
        }
        rows.iter_mut().for_each(|it| it.sort_unstable());
        Places { finder: compared.timeline.finder(), rows }
    }

    /// The place behind so many entries of a process: where the timeline has it, and between the rows that it is between.
    fn behind(&mut self, node: u32, entries: u32) -> u64 {
        let place = 2 * self.finder.place(Moment::After { node, entries }).unwrap_or(0.0) as u64;
        let rows = &self.rows[node as usize];
        let next = rows.partition_point(|it| it.0 < entries);
        let from = next.checked_sub(1).map_or(0, |it| 2 * u64::from(rows[it].1) + 2);
        let to = rows.get(next).map_or(u64::MAX, |it| 2 * u64::from(it.1));
        place.max(from).min(to)
    }
}

/// For each process of a trial, for each entry, its place among all in the order of time.
pub(crate) fn orders(compared: &Compared) -> Vec<Vec<u32>> {
    let mut all: Vec<(i64, usize, usize)> = Vec::new();
    for (node, it) in compared.trial.iter().enumerate() {
        let mut last = i64::MIN;
        for (at, entry) in it.entries().iter().enumerate() {
            last = last.max(entry.time_ms.unwrap_or(last));
            all.push((last, node, at));
        }
    }
    all.sort_by_key(|it| it.0);
    let mut orders: Vec<Vec<u32>> = compared.trial.iter().map(|it| vec![0; it.entries().len()]).collect();
    for (order, &(_, node, at)) in (0..).zip(&all) {
        orders[node][at] = order;
    }
    orders
}

/// The rows that are shown, ascending: around the faults, around the first and the last symptom that both logs have, and then around what
/// else normal runs do not show, as long as there is room; with room for reading at length, also around what only one has.
fn picked(slots: &[Slot], interest: &[Interest], rows_max: usize) -> Vec<usize> {
    let is_long = rows_max > ROWS_MAX;
    if is_long && slots.len() <= rows_max {
        return (0..slots.len()).collect();
    }
    let is_fault = |&at: &usize| matches!(slots[at].what, What::Fault(_));
    let has_both = |&at: &usize| matches!(slots[at].what, What::Entries { failure: Some(_), trial: Some(_) });
    let all = || 0..slots.len();
    let symptom = |at: &usize| interest[*at] == Interest::Symptom;
    let observable = |at: &usize| interest[*at] == Interest::Observable;
    let mut wanted: Vec<(usize, (usize, usize))> = Vec::new();
    wanted.extend(all().filter(is_fault).map(|at| (at, AROUND_FAULT)));
    // The first, and the one that the others come to.
    let both = || all().filter(symptom).filter(has_both);
    match both().next() {
        Some(at) => {
            wanted.extend([Some(at), both().next_back()].into_iter().flatten().map(|at| (at, AROUND_SYMPTOM)))
        }
        // In another order, it may stand in two.
        None => {
            let first = |is: &dyn Fn(&What) -> bool| all().filter(symptom).find(|&at| is(&slots[at].what));
            let of_failure = first(&|it| matches!(it, What::Entries { failure: Some(_), .. }));
            let of_trial = first(&|it| matches!(it, What::Entries { failure: None, .. }));
            wanted.extend([of_failure, of_trial].into_iter().flatten().map(|at| (at, AROUND_SYMPTOM)));
        }
    }
    wanted.extend(all().filter(observable).filter(has_both).map(|at| (at, AROUND_SHOWN)));
    wanted.extend(all().filter(observable).map(|at| (at, AROUND_SHOWN)));
    if is_long {
        wanted.extend(all().filter(|at| !has_both(at)).map(|at| (at, AROUND_SHOWN)));
    }
    let mut picked: FxHashSet<usize> = FxHashSet::default();
    for (at, (before, behind)) in wanted {
        let range = at.saturating_sub(before)..(at + behind + 1).min(slots.len());
        let new = range.clone().filter(|it| !picked.contains(it)).count();
        if new > 0 && picked.len() + new <= rows_max {
            picked.extend(range);
        }
    }
    let mut picked: Vec<usize> = picked.into_iter().collect();
    picked.sort_unstable();
    picked
}

#[cfg(test)]
mod tests {
    use super::*;

    /// A row for each letter: `b` both logs have, `l` the left one, `F` is the fault, `o` an observable and `s` a symptom that both have,
    /// `x` one that the left has and `y` one that the right has.
    fn picked_of(rows: &str) -> Vec<usize> {
        picked_with(rows, ROWS_MAX)
    }

    fn picked_with(rows: &str, rows_max: usize) -> Vec<usize> {
        let position = Some(Position { node: 0, entry: 0 });
        let what = |it: char| match it {
            'F' => What::Fault(0),
            'l' | 'x' => What::Entries { failure: position, trial: None },
            'y' => What::Entries { failure: None, trial: position },
            _ => What::Entries { failure: position, trial: position },
        };
        let interest = |it: char| match it {
            'o' => Interest::Observable,
            's' | 'x' | 'y' => Interest::Symptom,
            _ => Interest::Around,
        };
        let slots: Vec<Slot> =
            rows.chars().map(|it| Slot { place: 0, order: 0, what: what(it), said: None }).collect();
        picked(&slots, &rows.chars().map(interest).collect::<Vec<_>>(), rows_max)
    }

    #[test]
    fn the_rows_around_the_fault_and_the_symptom_are_picked() {
        let check = |rows: &str, expected: &[usize]| assert_eq!(picked_of(rows), expected, "{rows}");
        check("", &[]);
        check("bbbb", &[]);
        check("bbbbbFbbbbbbbbbb", &[2, 3, 4, 5, 6, 7, 8, 9, 10, 11]);
        check("bbbbbbsbbbb", &[3, 4, 5, 6, 7, 8]);
        check("obbbbbbbsb", &[0, 1, 5, 6, 7, 8, 9]);
        // One that stands in two rows is picked in both, and in one if it is in one as well.
        check("bbbbbyybbbbbbbbxxbbb", &[2, 3, 4, 5, 6, 7, 12, 13, 14, 15, 16, 17]);
        check("bbbbbybbbbbbbbbsbbb", &[12, 13, 14, 15, 16, 17]);
    }

    #[test]
    fn there_are_never_more_rows_than_can_be_read() {
        let picked = picked_of(&("bbob".repeat(1000) + "F" + &"ob".repeat(1000) + "s"));
        assert!(picked.len() <= ROWS_MAX, "{}", picked.len());
        // The fault and the symptom are there however much else is of interest.
        assert!(picked.contains(&4000) && picked.contains(&6001), "{picked:?}");
    }

    #[test]
    fn at_length_there_is_all_or_what_is_near_a_difference() {
        assert_eq!(picked_with("bblbb", ROWS_LONG_MAX), [0, 1, 2, 3, 4]);
        let long = "b".repeat(3 * ROWS_LONG_MAX) + "l" + &"b".repeat(50) + "F" + &"b".repeat(50);
        let picked = picked_with(&long, ROWS_LONG_MAX);
        assert_eq!(picked.len(), AROUND_SHOWN.0 + AROUND_SHOWN.1 + 1 + AROUND_FAULT.0 + AROUND_FAULT.1 + 1);
        let different = picked_with(&"bl".repeat(3 * ROWS_LONG_MAX), ROWS_LONG_MAX);
        assert!(
            different.len() <= ROWS_LONG_MAX && different.len() > ROWS_LONG_MAX - 4,
            "{}",
            different.len()
        );
    }
}
