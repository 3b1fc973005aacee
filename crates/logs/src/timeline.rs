//! When something of a normal run would have happened in the run that failed.
//!
//! Times of different runs cannot be compared, so time is counted in entries of the failure's log (ANDURIL 5.2.3). Entries
//! that both runs have tie the two together; between two of them, moments are spread evenly.

use crate::comparison::{Comparison, Position};
use crate::diff::growing;
use crate::tied::Tied;

/// A place among the entries of the failure's log: how many of them come before it.
pub type Place = f64;

/// A moment of a normal run.
#[derive(Clone, Copy, Debug, PartialEq)]
pub enum Moment {
    /// When a node's log had this many entries.
    After {
        /// Which node.
        node: u32,
        /// How many entries.
        entries: u32,
    },
    /// A time on the clock of the logs, in milliseconds.
    AtMs(f64),
}

/// The failure's log as a line on which every moment of a normal run has a place.
#[derive(Clone, Debug)]
pub struct Timeline {
    /// For each entry of the normal run, all nodes together in order of time, its place; and the place of the end.
    places: Vec<Place>,
    /// For each node of the normal run and each of its entries, which one it is of all.
    order: Vec<Vec<u32>>,
    /// The times of the normal run's entries, which grow. Empty if it has none.
    times_ms: Vec<f64>,
    /// For each node of the failure and each of its entries, which one it is of all.
    failure_order: Vec<Vec<u32>>,
    /// How many entries the failure has.
    length: usize,
    /// How many entries tie the two runs together.
    ties: usize,
}

/// An instance that seems to come after what it should have caused may still have come before: moments are spread evenly,
/// and runs differ. So it is taken for a candidate, but counts as this much further away. The paper does not say how
/// much; three is what its authors used.
const AFTER_FACTOR: f64 = 3.0;

impl Timeline {
    /// Lays a normal run along the failure. The comparison is that of the failure with this run.
    ///
    /// The pairs of the comparison stand in order within each thread. Over all threads some cross, because threads run freely;
    /// the longest run of pairs that do not is what ties the two logs together.
    pub fn of(failure: &[Tied], normal: &[Tied], comparison: &Comparison) -> Timeline {
        let (failure_order, _) = order(failure);
        let (order, times_ms) = order(normal);
        let length = failure.iter().map(|it| it.entries().len()).sum();
        let entries = normal.iter().map(|it| it.entries().len()).sum();
        let of = |order: &[Vec<u32>], it: Position| order[it.node as usize][it.entry as usize];
        let mut pairs: Vec<(u32, u32)> =
            comparison.pairs().map(|(it, partner)| (of(&order, partner), of(&failure_order, it))).collect();
        pairs.sort_unstable();
        let pairs = growing(&pairs);
        let places = places(&pairs, entries, length);
        Timeline { places, order, times_ms, failure_order, length, ties: pairs.len() }
    }

    /// How many entries tie the two runs together. With few, places say little.
    pub fn ties(&self) -> usize {
        self.ties
    }

    /// How many entries the failure's log has, all nodes together: the place of its end.
    pub fn length(&self) -> usize {
        self.length
    }

    /// The place of an entry of the failure's log.
    pub fn place(&self, position: Position) -> Place {
        f64::from(self.failure_order[position.node as usize][position.entry as usize])
    }

    /// The places of entries of the failure's log, such as those of an observable, in order.
    pub fn marks(&self, entries: &[Position]) -> Vec<Place> {
        let mut marks: Vec<Place> = entries.iter().map(|it| self.place(*it)).collect();
        marks.sort_unstable_by(f64::total_cmp);
        marks
    }

    /// Whether times of the normal run have a place: its log has a clock.
    pub fn has_times(&self) -> bool {
        !self.times_ms.is_empty()
    }

    /// Finds places. For times that mostly grow it is fast.
    pub fn finder(&self) -> Finder<'_> {
        Finder { timeline: self, near: 0 }
    }

    /// The place of a moment between entry `n - 1` and entry `n` of all, by how far it is from the first of the two.
    fn between(&self, n: usize, share: f64) -> Place {
        // Before the first entry there is nothing to count from.
        let Some(before) = n.checked_sub(1) else { return self.places[0] };
        let (from, to) = (self.after(before), self.places[n]);
        from + (to - from).max(0.0) * share
    }

    /// Right behind an entry.
    fn after(&self, n: usize) -> Place {
        (self.places[n] + 1.0).min(self.places[n + 1])
    }
}

/// Finds the places of moments.
#[derive(Clone, Debug)]
pub struct Finder<'t> {
    timeline: &'t Timeline,
    /// Where the last time was found.
    near: usize,
}

impl Finder<'_> {
    /// The place of a moment. Before the first entry that ties the runs together, and behind the last, entries count one for
    /// one, as far as the failure's log goes. None for a time if the log has no clock, and for a node it does not have.
    pub fn place(&mut self, moment: Moment) -> Option<Place> {
        match moment {
            Moment::After { node, entries } => self.after(node, entries),
            Moment::AtMs(ms) => self.at(ms),
        }
    }

    fn after(&self, node: u32, entries: u32) -> Option<Place> {
        let order = self.timeline.order.get(node as usize)?;
        let Some(last) = (entries as usize).min(order.len()).checked_sub(1) else {
            return Some(self.timeline.places[order.first().map_or(0, |it| *it as usize)]);
        };
        // Halfway to the node's next entry, whatever the other nodes do meanwhile.
        let from = self.timeline.after(order[last] as usize);
        let to = order.get(last + 1).map_or(from, |it| self.timeline.places[*it as usize]);
        Some(from + (to - from).max(0.0) / 2.0)
    }

    fn at(&mut self, ms: f64) -> Option<Place> {
        let times = &self.timeline.times_ms;
        if times.is_empty() || ms.is_nan() {
            return None;
        }
        let n = self.first_from(ms);
        self.near = n;
        let share = match (n.checked_sub(1), times.get(n)) {
            (Some(before), Some(to)) => (ms - times[before]) / (to - times[before]),
            _ => 0.0,
        };
        Some(self.timeline.between(n, share))
    }

    /// The first entry that is not before a time, looked for from where the last was found, in growing steps.
    fn first_from(&self, ms: f64) -> usize {
        let times = &self.timeline.times_ms;
        let is_before = |n: usize| times[n] < ms;
        let (mut low, mut high) = (self.near, self.near);
        let mut step = 1;
        while high < times.len() && is_before(high) {
            low = high + 1;
            high = (high + step).min(times.len());
            step *= 2;
        }
        step = 1;
        while low > 0 && !is_before(low - 1) {
            high = low - 1;
            low = low.saturating_sub(step);
            step *= 2;
        }
        low + times[low..high].partition_point(|it| *it < ms)
    }
}

/// How many entries of the failure's log lie between an instance of a fault and the nearest of the `marks`, which are in
/// order: the temporal distance of ANDURIL 5.2.3. An instance that comes after a mark counts three times as far from it. With
/// no mark it is infinite.
pub fn distance(place: Place, marks: &[Place]) -> f64 {
    let next = marks.partition_point(|it| *it < place);
    let forward = marks.get(next).map_or(f64::INFINITY, |it| it - place);
    // The mark itself is not between.
    let back = next.checked_sub(1).map_or(f64::INFINITY, |it| (place - marks[it] - 1.0).max(0.0));
    forward.min(AFTER_FACTOR * back)
}

/// All entries of a run in one order, for each node and entry its number in it; and the times in that order, if the logs
/// have a clock. Entries of one millisecond are spread evenly over it.
///
/// Within a thread the order is that of the log, across threads and nodes that of the clock, and where that does not tell,
/// that of the log again. Nodes without a clock run side by side, each at its own even pace.
fn order(run: &[Tied]) -> (Vec<Vec<u32>>, Vec<f64>) {
    let has_times =
        run.iter().all(|it| it.entries().iter().any(|it| it.time_ms.is_some()) || it.entries().is_empty())
            && run.iter().any(|it| !it.entries().is_empty());
    let mut all: Vec<(i64, u32, u32)> = Vec::new();
    for (node, log) in (0_u32..).zip(run) {
        let entries = log.entries();
        let mut latest = vec![i64::MIN; log.threads().len()];
        let mut last = entries.iter().find_map(|it| it.time_ms).unwrap_or(0);
        for (n, it) in (0_u32..).zip(entries) {
            let time = if has_times {
                last = it.time_ms.unwrap_or(last);
                let thread = &mut latest[it.thread as usize];
                *thread = last.max(*thread);
                *thread
            } else {
                (i64::from(n) << 32) / entries.len() as i64
            };
            all.push((time, node, n));
        }
    }
    all.sort_unstable();
    let mut order: Vec<Vec<u32>> = run.iter().map(|it| vec![0; it.entries().len()]).collect();
    for (n, (_, node, entry)) in (0_u32..).zip(&all) {
        order[*node as usize][*entry as usize] = n;
    }
    let mut times = Vec::new();
    if has_times {
        for same in all.chunk_by(|a, b| a.0 == b.0) {
            let spread = |n: usize| same[0].0 as f64 + (n as f64 + 0.5) / same.len() as f64;
            times.extend((0..same.len()).map(spread));
        }
    }
    (order, times)
}

/// The place of each of `entries` entries and of the end, given those that are tied.
fn places(pairs: &[(u32, u32)], entries: usize, length: usize) -> Vec<Place> {
    let end = length as f64;
    let mut places = Vec::with_capacity(entries + 1);
    let mut pairs = pairs.iter().map(|(n, m)| (f64::from(*n), f64::from(*m))).peekable();
    let mut before: Option<(f64, f64)> = None;
    for n in 0..=entries {
        let n = n as f64;
        while let Some(it) = pairs.next_if(|(at, _)| *at <= n) {
            before = Some(it);
        }
        let place = match (before, pairs.peek()) {
            (Some((n0, m0)), Some((n1, m1))) => m0 + (n - n0) * (m1 - m0) / (n1 - n0),
            (Some((n0, m0)), None) => m0 + (n - n0),
            (None, Some((n1, m1))) => m1 - (n1 - n),
            // Nothing ties them: both are taken to go on evenly.
            (None, None) if entries > 0 => n * end / entries as f64,
            (None, None) => 0.0,
        };
        places.push(place.clamp(0.0, end));
    }
    places
}
