//! The cut of a level to its best chains, without holding the level.
//!
//! A chain has a key of 64 bits. A pass over all chains counts them by the upper 16 bits of their keys, which shows in which
//! range of keys the last chain to keep lies. If too many chains lie in it, another pass counts these by the next 16 bits. The
//! last pass keeps the chains below this range, and selects from the few in it.

use super::Level;
use super::chains::{Chain, Extensions, Visit};
use super::cycles::Best;
use super::graph::Graph;

/// Bits of the key that a pass looks at.
const DIGIT: u32 = 16;
/// Number of chains in the last range that are held, besides a share of the beam.
const HELD_MIN: u64 = 64;
const HELD_SHARE: u64 = 8;

/// Finds the cycles among the extensions, and the best of the others, sorted by their parents.
pub(super) fn next_level(of: &Extensions<'_>, beam: usize, best: &mut Best) -> (Level, Vec<Chain>) {
    let beam = beam as u64;
    let new =
        || Counting { graph: of.graph, best: Some(best.part()), range: Range::ALL, counts: Counts::new() };
    let first = of.merged(new, Counting::merge);
    let chains = first.counts.total();
    let mut level = Level { chains, kept: chains.min(beam), cycles: 0 };
    let mut counts = first.counts;
    if let Some(found) = first.best {
        level.cycles = found.found();
        best.merge(found);
    }
    let mut range = Range::ALL;
    let (mut inside, mut need) = (chains, level.kept);
    // A range that is kept whole, or whose chains are few, needs no closer look.
    while inside > need && inside > HELD_MIN.max(beam / HELD_SHARE) && range.shift > 0 {
        if range.shift < u64::BITS {
            let new = || Counting { graph: of.graph, best: None, range, counts: Counts::new() };
            counts = of.merged(new, Counting::merge).counts;
        }
        let (digit, below) = counts.digit_of(need);
        range = range.within(digit);
        need -= below;
        inside = counts.0[digit];
    }
    let selected = (inside > need).then_some(need as usize);
    (level, keep(of, range, selected, level.kept as usize))
}

/// Keys with the same upper bits.
#[derive(Debug, Clone, Copy)]
struct Range {
    upper: u64,
    /// Number of the lower bits, which differ.
    shift: u32,
}

impl Range {
    const ALL: Range = Range { upper: 0, shift: u64::BITS };

    fn within(self, digit: usize) -> Range {
        Range { upper: self.upper.unbounded_shl(DIGIT) | digit as u64, shift: self.shift - DIGIT }
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

/// Counts the chains of a range.
struct Counting<'a> {
    graph: &'a Graph,
    /// Cycles, which are collected in the first pass only.
    best: Option<Best>,
    range: Range,
    counts: Counts,
}

impl Counting<'_> {
    fn merge(mut self, other: Self) -> Self {
        self.counts.0.iter_mut().zip(&other.counts.0).for_each(|(a, b)| *a += b);
        if let (Some(own), Some(more)) = (&mut self.best, other.best) {
            own.merge(more);
        }
        self
    }
}

impl Visit for Counting<'_> {
    fn open(&mut self, key: u64, _chain: Chain) {
        if key.unbounded_shr(self.range.shift) == self.range.upper {
            let digit = key >> (self.range.shift - DIGIT);
            self.counts.0[digit as usize & ((1 << DIGIT) - 1)] += 1;
        }
    }

    fn close(&mut self, steps: &mut dyn Iterator<Item = u32>, sum: u64, injected: u32) {
        if let Some(best) = &mut self.best {
            best.add(self.graph, steps, sum, injected);
        }
    }
}

/// Keeps the chains of a block below a range, and for now those in it.
struct Keeping {
    range: Range,
    kept: Vec<Chain>,
    selects: bool,
    /// Keys of the chains in the range, and their positions among the kept ones, if there is a selection.
    inside: Vec<(u64, u32)>,
}

impl Visit for Keeping {
    fn open(&mut self, key: u64, chain: Chain) {
        let upper = key.unbounded_shr(self.range.shift);
        if upper > self.range.upper {
            return;
        }
        if self.selects && upper == self.range.upper {
            self.inside.push((key, self.kept.len() as u32));
        }
        self.kept.push(chain);
    }
}

/// Chains below a range, and from it all or the best ones, if so many are selected: `total` in all.
fn keep(of: &Extensions<'_>, range: Range, selected: Option<usize>, total: usize) -> Vec<Chain> {
    let selects = selected.is_some();
    let blocks = of.blocks(|| Keeping { range, kept: Vec::new(), selects, inside: Vec::new() });
    // The position decides between equal keys, so the selection does not depend on threads.
    let mut inside: Vec<(u64, usize, u32)> = Vec::new();
    for (at, block) in blocks.iter().enumerate() {
        inside.extend(block.inside.iter().map(|(key, position)| (*key, at, *position)));
    }
    let mut dropped = Vec::new();
    if let Some(selected) = selected {
        inside.select_nth_unstable(selected);
        dropped = inside.split_off(selected);
    }
    dropped.sort_unstable_by_key(|(_, block, position)| (*block, *position));
    let mut dropped = dropped.into_iter().peekable();
    let mut kept = Vec::with_capacity(total);
    for (at, block) in blocks.into_iter().enumerate() {
        for (position, chain) in (0..).zip(block.kept) {
            if dropped.next_if(|it| (it.1, it.2) == (at, position)).is_none() {
                kept.push(chain);
            }
        }
    }
    assert_eq!(kept.len(), total, "both passes see the same chains");
    kept
}
