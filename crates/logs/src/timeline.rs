//! When something of a normal run would have happened in the run that failed.
//!
//! Times of different runs cannot be compared, so time is counted in entries of the failure's log (ANDURIL 5.2.3). Entries
//! that both runs have tie the two together; between two of them, moments are spread evenly.

use std::borrow::Borrow;
use std::sync::OnceLock;

use crate::comparison::{Comparison, Position};
use crate::diff::growing;
use crate::marks::{Marks, Steps};
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
    /// For each node of the normal run the places between so many of its entries and the next: the first and the last.
    behind: Vec<Vec<(Place, Place)>>,
    /// The times of the normal run's entries, in order, and their places. No times if it has no clock.
    times_ms: Vec<f64>,
    places: Vec<Place>,
    /// To find places by time, for who does.
    by_time: OnceLock<ByTime>,
    /// For each node of the failure and each of its entries, which one it is of all.
    failure_order: Vec<Vec<u32>>,
    /// How many entries the failure has.
    length: usize,
    /// How many entries tie the two runs together.
    ties: usize,
}

/// Finds places by time.
#[derive(Clone, Debug)]
struct ByTime {
    /// What to count from at which time: one more than the normal run has entries. Empty if it has no clock.
    parts: Vec<Part>,
    /// To find a part by its time.
    steps: Steps,
}

/// An instance that seems to come after what it should have caused may still have come before: moments are spread evenly,
/// and runs differ. So it is taken for a candidate, but counts as this much further away. The paper does not say how
/// much; three is what its authors used.
pub(crate) const AFTER_FACTOR: f64 = 3.0;

impl Timeline {
    /// Lays a normal run along the failure. The comparison is that of the failure with this run.
    ///
    /// The pairs of the comparison stand in order within each thread. Over all threads some cross, because threads run freely;
    /// the longest run of pairs that do not is what ties the two logs together.
    pub fn of(
        failure: &[impl Borrow<Tied>],
        normal: &[impl Borrow<Tied>],
        comparison: &Comparison,
    ) -> Timeline {
        Timeline::along(&Order::of(failure), normal, comparison)
    }

    /// As above, along a failure whose order is known.
    pub fn along(failure: &Order, normal: &[impl Borrow<Tied>], comparison: &Comparison) -> Timeline {
        let failure_order = failure.places.clone();
        let Order { places: order, times_ms } = Order::of(normal);
        let length = failure_order.iter().map(Vec::len).sum();
        let entries = order.iter().map(Vec::len).sum();
        let of = |order: &[Vec<u32>], it: Position| order[it.node as usize][it.entry as usize];
        // In the order of the normal run, of which no entry has two partners.
        const NONE: u32 = u32::MAX;
        let mut partners = vec![NONE; entries];
        for (it, partner) in comparison.pairs() {
            partners[of(&order, partner) as usize] = of(&failure_order, it);
        }
        let pairs: Vec<(u32, u32)> = (0..).zip(partners).filter(|it| it.1 != NONE).collect();
        let pairs = growing(&pairs);
        let places = places(&pairs, entries, length);
        let behind = order.iter().map(|it| behind(it, &places)).collect();
        Timeline {
            behind,
            times_ms,
            places,
            by_time: OnceLock::new(),
            failure_order,
            length,
            ties: pairs.len(),
        }
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

    /// The places of entries of the failure's log, such as those of an observable.
    pub fn marks(&self, entries: &[Position]) -> Marks {
        Marks::of(entries.iter().map(|it| self.place(*it)).collect())
    }

    /// Whether times of the normal run have a place: its log has a clock.
    pub fn has_times(&self) -> bool {
        !self.times_ms.is_empty()
    }

    /// Finds places. It is fastest for times that mostly grow.
    pub fn finder(&self) -> Finder<'_> {
        Finder { timeline: self, by_time: self.by_time.get(), near: 0 }
    }

    fn by_time(&self) -> &ByTime {
        self.by_time.get_or_init(|| ByTime {
            parts: parts(&self.times_ms, &self.places),
            steps: Steps::of(self.times_ms.iter().copied()),
        })
    }
}

/// Finds the places of moments.
#[derive(Clone, Debug)]
pub struct Finder<'t> {
    timeline: &'t Timeline,
    by_time: Option<&'t ByTime>,
    /// Where the last time was found.
    near: usize,
}

impl Finder<'_> {
    /// The place of a moment. Before the first entry that ties the runs together, and behind the last, entries count one for
    /// one, as far as the failure's log goes. None for a time if the log has no clock, and for a node it does not have.
    #[inline]
    pub fn place(&mut self, moment: Moment) -> Option<Place> {
        match moment {
            Moment::After { .. } => self.span(moment).map(|(from, to)| from + (to - from) / 2.0),
            Moment::AtMs(ms) => self.at(ms),
        }
    }

    /// The first and the last place that a moment may have. Between two entries of which nothing ties the runs together, the failure
    /// may have written any number of others: a moment there is as near to the first of them as to the last.
    #[inline]
    pub fn span(&mut self, moment: Moment) -> Option<(Place, Place)> {
        match moment {
            Moment::After { node, entries } => {
                let behind = self.timeline.behind.get(node as usize)?;
                behind.get(entries as usize).or(behind.last()).copied()
            }
            Moment::AtMs(ms) => self.at(ms).map(|it| (it, it)),
        }
    }

    #[inline]
    fn at(&mut self, ms: f64) -> Option<Place> {
        let timeline = self.timeline;
        let ByTime { parts, steps } = *self.by_time.get_or_insert_with(|| timeline.by_time());
        let is_here = |n: usize| parts[n].from_ms < ms && parts.get(n + 1).is_none_or(|it| ms <= it.from_ms);
        if parts.is_empty() || ms.is_nan() {
            return None;
        }
        let ms = ms.clamp(-MS_MAX, MS_MAX);
        if !is_here(self.near) {
            // Part `n` begins with entry `n - 1`.
            let (low, high) = steps.around(ms);
            self.near = low + parts[low + 1..=high].partition_point(|it| it.from_ms < ms);
        }
        let part = &parts[self.near];
        Some(part.place + (ms - part.from_ms) * part.per_ms)
    }
}

/// The time from one entry to the next.
#[derive(Clone, Copy, Debug)]
struct Part {
    from_ms: f64,
    place: Place,
    per_ms: f64,
}

/// No clock goes further.
const MS_MAX: f64 = 1e18;

/// What to count from before the first entry and behind each, if entries have times.
fn parts(times_ms: &[f64], places: &[Place]) -> Vec<Part> {
    if times_ms.is_empty() {
        return Vec::new();
    }
    let mut parts = Vec::with_capacity(times_ms.len() + 1);
    // Before the first entry there is nothing to count from.
    parts.push(Part { from_ms: -2.0 * MS_MAX, place: places[0], per_ms: 0.0 });
    for (n, it) in times_ms.iter().enumerate() {
        let place = after(places, n);
        let per_ms = times_ms.get(n + 1).map_or(0.0, |next| (places[n + 1] - place).max(0.0) / (next - it));
        parts.push(Part { from_ms: *it, place, per_ms });
    }
    parts
}

/// All entries of a run in one order.
///
/// Within a thread the order is that of the log, across threads and nodes that of the clock, and where that does not tell,
/// that of the log again. Nodes without a clock run side by side, each at its own even pace.
#[derive(Clone, Debug)]
pub struct Order {
    /// For each node and entry its number in the order.
    places: Vec<Vec<u32>>,
    /// The times in that order, if the logs have a clock. Entries of one millisecond are spread evenly over it.
    times_ms: Vec<f64>,
}

impl Order {
    /// That of a run.
    pub fn of(run: &[impl Borrow<Tied>]) -> Order {
        let run: Vec<&Tied> = run.iter().map(Borrow::borrow).collect();
        let has_times = run
            .iter()
            .all(|it| it.entries().iter().any(|it| it.time_ms.is_some()) || it.entries().is_empty())
            && run.iter().any(|it| !it.entries().is_empty());
        let mut all: Vec<(i64, u32, u32)> = Vec::new();
        for (node, log) in (0_u32..).zip(&run) {
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
        // Logs are mostly in order, of which this sort makes use.
        all.sort();
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
        Order { places: order, times_ms: times }
    }
}

/// Right behind an entry.
#[inline]
fn after(places: &[Place], n: usize) -> Place {
    (places[n] + 1.0).min(places[n + 1])
}

/// The places behind none, one and more of a node's entries: from there to its next entry, whatever other nodes do meanwhile.
fn behind(order: &[u32], places: &[Place]) -> Vec<(Place, Place)> {
    let mut behind = Vec::with_capacity(order.len() + 1);
    let first = places[order.first().map_or(0, |it| *it as usize)];
    behind.push((first, first));
    for (n, it) in order.iter().enumerate() {
        let from = after(places, *it as usize);
        let to = order.get(n + 1).map_or(from, |it| places[*it as usize]);
        behind.push((from, to.max(from)));
    }
    behind
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
