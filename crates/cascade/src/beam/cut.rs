//! The cut of a level to its best chains, without holding the level.
//!
//! A chain has a key of 64 bits. The key of the last chain to keep is estimated from a sample. One pass then keeps the chains well
//! below it, holds those near it together with their keys, and drops the rest. If the counts show that the last chain
//! is among those held, a selection finishes the cut.
//!
//! A small level, or one whose sample was misleading, is counted instead: a pass over all chains counts them by the upper 16 bits of
//! their keys, which shows in which range of keys the last chain to keep lies. If too many chains lie in it, another pass
//! counts these by the next 16 bits, and so on. Both ways keep the same chains.

use std::ops::Range;
use std::sync::atomic::{AtomicU64, Ordering};
use std::sync::{Mutex, PoisonError};

use super::Level;
use super::chains::{Chain, Extensions, Visit};
use super::cycles::Best;
use super::graph::Graph;

/// Bits of the key that a counting pass looks at.
const DIGIT: u32 = 16;
/// Number of chains in the last range that are held, besides a share of the beam.
const HELD_MIN: u64 = 64;
const HELD_SHARE: u64 = 8;
/// Approximate number of chains in a sample.
const SAMPLE: u64 = 1 << 18;
/// Levels of which a sample would be a larger share than one in so many are counted.
const SAMPLE_EVERY_MIN: u64 = 4;
/// Number of chains that are kept or held after a sample, besides the beam and a quarter of it.
const KEPT_MIN: u64 = 1 << 16;

/// Finds the cycles among the extensions, and the best of the others, sorted by their parents.
pub(super) fn next_level(of: &Extensions<'_>, beam: usize, best: &mut Best) -> (Level, Vec<Chain>) {
    let every = of.joined() / SAMPLE;
    if every >= SAMPLE_EVERY_MIN {
        let near = estimate(of, beam as u64, every);
        if let Some(level) = by_estimate(of, beam as u64, near, best) {
            return level;
        }
    }
    by_counts(of, beam as u64, best)
}

/// Range of keys in which the last chain to keep probably lies.
fn estimate(of: &Extensions<'_>, beam: u64, every: u64) -> Range<u64> {
    let mut sample = Sample::default();
    of.sample(every as usize, &mut sample);
    let mut keys = sample.keys;
    keys.sort_unstable();
    let at = beam / every;
    // Chains with the same parent resemble each other, so the sample is worth less than its number: allow several deviations.
    let margin = at / 8 + 8 * at.isqrt() + 16;
    let key = |at: u64| keys.get(at as usize).copied().unwrap_or(u64::MAX);
    at.checked_sub(margin).map_or(0, key)..key(at + margin)
}

#[derive(Debug, Default)]
struct Sample {
    keys: Vec<u64>,
}

impl Visit for Sample {
    fn open(&mut self, key: u64, _chain: Chain) {
        self.keys.push(key);
    }
}

/// One pass, if the estimate holds.
fn by_estimate(
    of: &Extensions<'_>,
    beam: u64,
    near: Range<u64>,
    best: &mut Best,
) -> Option<(Level, Vec<Chain>)> {
    let max = beam.saturating_add(beam / 4).saturating_add(KEPT_MIN);
    let all_kept = AtomicU64::new(0);
    let all_found = Mutex::new(best.part());
    let new = || {
        // Too many: whatever else there is, the estimate does not hold.
        let room = max.saturating_sub(all_kept.load(Ordering::Relaxed));
        Keeping { near: near.clone(), room, found: Some((of.graph, best.part())), ..Keeping::default() }
    };
    let blocks = of.blocks(new, |mut block| {
        all_kept.fetch_add(block.kept.len() as u64, Ordering::Relaxed);
        if let Some((_, found)) = block.found.take() {
            all_found.lock().unwrap_or_else(PoisonError::into_inner).merge(found);
        }
        block
    });
    let kept: u64 = blocks.iter().map(|it| it.kept.len() as u64).sum();
    let held: u64 = blocks.iter().map(|it| it.held.len() as u64).sum();
    let chains = blocks.iter().map(|it| it.chains).sum();
    let total = beam.min(chains);
    if kept >= max || !(kept - held..=kept).contains(&total) {
        return None;
    }
    let found = all_found.into_inner().unwrap_or_else(PoisonError::into_inner);
    let level = Level { chains, kept: total, cycles: found.found() };
    best.merge(found);
    Some((level, select(blocks, total as usize)))
}

/// As many passes as it takes to find the range of the last chain, and one more.
fn by_counts(of: &Extensions<'_>, beam: u64, best: &mut Best) -> (Level, Vec<Chain>) {
    let first = count(of, Digits::NONE, Some(best.part()));
    let mut counts = first.counts;
    let chains = counts.total();
    let mut level = Level { chains, kept: chains.min(beam), cycles: 0 };
    if let Some((_, found)) = first.found {
        level.cycles = found.found();
        best.merge(found);
    }
    let mut range = Digits::NONE;
    let (mut inside, mut need) = (chains, level.kept);
    // A range that is kept whole, or whose chains are few, needs no closer look.
    while inside > need && inside > HELD_MIN.max(beam / HELD_SHARE) && range.open > 0 {
        if range.open < u64::BITS {
            counts = count(of, range, None).counts;
        }
        let (digit, below) = counts.digit_of(need);
        range = range.with(digit);
        need -= below;
        inside = counts.0[digit];
    }
    // Nothing is selected from a range that is kept whole, so it need not be held.
    let keys = range.keys();
    let near = if inside > need { keys } else { keys.end..keys.end };
    let new = || Keeping { near: near.clone(), room: u64::MAX, ..Keeping::default() };
    (level, select(of.blocks(new, |it| it), level.kept as usize))
}

/// Counts the chains with these upper digits, and collects the cycles if there is something to collect them in.
fn count<'a>(of: &Extensions<'a>, range: Digits, found: Option<Best>) -> Counting<'a> {
    let part = || found.as_ref().map(|it| (of.graph, it.part()));
    let new = || Counting { found: part(), range, counts: Counts::new() };
    of.merged(new, Counting::merge)
}

/// Upper digits of a key, which some chains have in common.
#[derive(Debug, Clone, Copy)]
struct Digits {
    upper: u64,
    /// Number of the lower bits, which differ.
    open: u32,
}

impl Digits {
    const NONE: Digits = Digits { upper: 0, open: u64::BITS };

    fn with(self, digit: usize) -> Digits {
        Digits { upper: self.upper.unbounded_shl(DIGIT) | digit as u64, open: self.open - DIGIT }
    }

    /// Keys with these digits. No key is the highest number.
    fn keys(self) -> Range<u64> {
        let low = self.upper.unbounded_shl(self.open);
        low..low.saturating_add(1_u64.checked_shl(self.open).unwrap_or(u64::MAX))
    }
}

/// Number of chains by the next digit of their keys.
#[derive(Debug)]
struct Counts(Vec<u64>);

impl Counts {
    fn new() -> Counts {
        Counts(vec![0; 1 << DIGIT])
    }

    fn total(&self) -> u64 {
        self.0.iter().sum()
    }

    /// Digit in which the chain of this position lies, from 1, and the number of chains before this digit.
    fn digit_of(&self, position: u64) -> (usize, u64) {
        let mut below = 0;
        for (digit, count) in self.0.iter().enumerate() {
            if below + count >= position {
                return (digit, below);
            }
            below += count;
        }
        unreachable!("there are more chains than are kept")
    }
}

/// Counts the chains that have some upper digits.
struct Counting<'a> {
    /// Cycles, which are collected in the first pass only.
    found: Option<(&'a Graph, Best)>,
    range: Digits,
    counts: Counts,
}

impl Counting<'_> {
    fn merge(mut self, other: Self) -> Self {
        self.counts.0.iter_mut().zip(&other.counts.0).for_each(|(a, b)| *a += b);
        if let (Some((_, own)), Some((_, more))) = (&mut self.found, other.found) {
            own.merge(more);
        }
        self
    }
}

impl Visit for Counting<'_> {
    fn open(&mut self, key: u64, _chain: Chain) {
        if key.unbounded_shr(self.range.open) == self.range.upper {
            let digit = key >> (self.range.open - DIGIT);
            self.counts.0[digit as usize & ((1 << DIGIT) - 1)] += 1;
        }
    }

    fn close(&mut self, steps: &mut dyn Iterator<Item = u32>, sum: u64, injected: u32) {
        if let Some((graph, found)) = &mut self.found {
            found.add(graph, steps, sum, injected);
        }
    }
}

/// Keeps the chains of a block up to a range of keys, and holds those in it for a selection.
#[derive(Debug)]
struct Keeping<'a> {
    near: Range<u64>,
    /// Maximum number of chains. One that keeps as many has no complete result.
    room: u64,
    kept: Vec<Chain>,
    /// Keys of the chains in the range, and their positions among the kept ones.
    held: Vec<(u64, u32)>,
    /// Number of all chains.
    chains: u64,
    /// Cycles, unless another pass has collected them.
    found: Option<(&'a Graph, Best)>,
}

impl Default for Keeping<'_> {
    fn default() -> Self {
        Keeping { near: 0..0, room: 0, kept: Vec::new(), held: Vec::new(), chains: 0, found: None }
    }
}

impl Visit for Keeping<'_> {
    fn open(&mut self, key: u64, chain: Chain) {
        self.chains += 1;
        if key >= self.near.end || self.kept.len() as u64 >= self.room {
            return;
        }
        if key >= self.near.start {
            self.held.push((key, self.kept.len() as u32));
        }
        self.kept.push(chain);
    }

    fn close(&mut self, steps: &mut dyn Iterator<Item = u32>, sum: u64, injected: u32) {
        if let Some((graph, found)) = &mut self.found {
            found.add(graph, steps, sum, injected);
        }
    }
}

/// The best chains of the blocks, so many in all, in the order of the blocks. Only those held can be dropped.
fn select(blocks: Vec<Keeping<'_>>, total: usize) -> Vec<Chain> {
    // The position decides between equal keys, so the selection does not depend on threads.
    let mut held: Vec<(u64, u32, u32)> = Vec::new();
    for (at, block) in (0..).zip(&blocks) {
        held.extend(block.held.iter().map(|(key, position)| (*key, at, *position)));
    }
    let kept: usize = blocks.iter().map(|it| it.kept.len()).sum();
    let stay = held.len() - (kept - total);
    if stay < held.len() {
        held.select_nth_unstable(stay);
    }
    let mut dropped = held.split_off(stay);
    dropped.sort_unstable_by_key(|(_, block, position)| (*block, *position));
    let mut dropped = dropped.into_iter().peekable();
    let mut chains = Vec::with_capacity(total);
    for (at, block) in (0..).zip(blocks) {
        for (position, chain) in (0..).zip(block.kept) {
            if dropped.next_if(|it| (it.1, it.2) == (at, position)).is_none() {
                chains.push(chain);
            }
        }
    }
    assert_eq!(chains.len(), total, "the passes see the same chains");
    chains
}

#[cfg(test)]
mod tests {
    use super::super::chains::Chains;
    use super::super::tests::complete_graph;
    use super::super::{Graph, Joins};
    use super::*;

    const CYCLES: usize = 100;

    /// Level after one that has many blocks, by each way of the cut.
    fn check(
        beam: u64,
        cut: impl Fn(&Extensions<'_>, u64, &mut Best) -> Option<(Level, Vec<Chain>)>,
    ) -> bool {
        let steps = complete_graph();
        let graph = Graph::new(&steps, &Joins::matching(&steps, |_, _| true));
        let (mut chains, mut best) = (Chains::default(), Best::new(CYCLES));
        for _ in 0..4 {
            let of = Extensions { graph: &graph, chains: &chains, delays: 1 };
            let (_, level) = by_counts(&of, 40_000, &mut best);
            chains.push(level);
        }
        let of = Extensions { graph: &graph, chains: &chains, delays: 1 };
        assert!(of.joined() / SAMPLE >= SAMPLE_EVERY_MIN, "the level is large enough for a sample");
        let (mut own, mut counted) = (Best::new(CYCLES), Best::new(CYCLES));
        let level = cut(&of, beam, &mut own);
        let expect = by_counts(&of, beam, &mut counted);
        let is_cut = level.is_some();
        if let Some(level) = level {
            assert_eq!(level, expect);
            assert_eq!((own.found(), own.into_sorted()), (counted.found(), counted.into_sorted()));
        }
        is_cut
    }

    #[test]
    fn an_estimate_and_counts_keep_the_same_chains() {
        for beam in [1, 500, 40_000, 10_000_000] {
            let by_sample = |of: &Extensions<'_>, beam, best: &mut Best| {
                let near = estimate(of, beam, of.joined() / SAMPLE);
                by_estimate(of, beam, near, best)
            };
            assert!(check(beam, by_sample), "the estimate for a beam of {beam} holds");
            check(beam, |of, beam, best| Some(next_level(of, beam as usize, best)));
        }
    }

    #[test]
    fn a_misleading_estimate_is_not_used() {
        for near in [0..0, 0..1, u64::MAX..u64::MAX, 0..u64::MAX] {
            assert!(!check(40_000, |of, beam, best| by_estimate(of, beam, near.clone(), best)), "{near:?}");
        }
    }
}
