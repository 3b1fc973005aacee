//! Chains of all lengths, and their extensions by one step.

use hypocenter_trace::hash;
use rayon::prelude::*;

use super::Level;
use super::cycles::Best;
use super::graph::{Graph, RANK_STATIC};

/// Chains that one task extends. They share most of their steps, so it looks these up once.
const BLOCK: usize = 1024;
/// Number of parts for each thread if each part has a visitor of its own, which may be large.
const PARTS: usize = 8;

/// A chain: a step behind a chain that is one step shorter.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(super) struct Chain {
    pub step: u32,
    /// Index among the chains that are one step shorter, or 0 for a chain of one step.
    pub parent: u32,
}

/// Chains by their length, those of one step first. The chains of each length are sorted by their parents.
#[derive(Debug, Default)]
pub(super) struct Chains {
    levels: Vec<Vec<Chain>>,
}

impl Chains {
    /// Adds the chains that are one step longer, and drops chains that have no extension.
    pub(super) fn push(&mut self, level: Vec<Chain>) {
        self.levels.push(level);
        for at in (1..self.levels.len()).rev() {
            let (before, after) = self.levels.split_at_mut(at);
            if !drop_childless(&mut before[at - 1], &mut after[0]) {
                break;
            }
        }
    }

    fn longest(&self) -> &[Chain] {
        self.levels.last().map_or(&[], Vec::as_slice)
    }
}

/// Drops the parents without a child. Says if there were any.
fn drop_childless(parents: &mut Vec<Chain>, children: &mut [Chain]) -> bool {
    let mut kept = 0;
    let mut last = None;
    for child in children {
        if last != Some(child.parent) {
            last = Some(child.parent);
            parents[kept] = parents[child.parent as usize];
            kept += 1;
        }
        child.parent = kept as u32 - 1;
    }
    let dropped = kept < parents.len();
    parents.truncate(kept);
    parents.shrink_to_fit();
    dropped
}

/// Extensions of the longest chains by one step. They are computed anew whenever they are visited.
#[derive(Debug, Clone, Copy)]
pub(super) struct Extensions<'a> {
    pub graph: &'a Graph,
    pub chains: &'a Chains,
    /// Maximum number of delays in a chain.
    pub delays: u32,
}

/// Receives extensions.
pub(super) trait Visit {
    /// A chain that does not close, with its key: the mean score of its injected steps, and a hash for ties.
    fn open(&mut self, key: u64, chain: Chain);

    /// A chain that closes, as its steps, the sum of the scores and the number of injected steps.
    fn close(&mut self, _steps: &mut dyn Iterator<Item = u32>, _sum: u64, _injected: u32) {}
}

impl Extensions<'_> {
    /// Visits all extensions in blocks, in parallel, each block by a new visitor. Returns what is made of them, in the order of
    /// the blocks.
    pub(super) fn blocks<V: Visit, T: Send>(
        &self,
        new: impl Fn() -> V + Sync + Send,
        finish: impl Fn(V) -> T + Sync + Send,
    ) -> Vec<T> {
        if self.chains.levels.is_empty() {
            let mut visitor = new();
            self.start(&mut visitor);
            return vec![finish(visitor)];
        }
        let blocks = self.chains.longest().len().div_ceil(BLOCK);
        let visit = |cursor: &mut Cursor<'_>, block: usize| {
            let mut visitor = new();
            cursor.block(block, &mut visitor);
            finish(visitor)
        };
        (0..blocks).into_par_iter().map_init(|| Cursor::new(*self), visit).collect()
    }

    /// Number of steps that the joins allow behind the longest chains, whether or not a chain has room for them.
    pub(super) fn joined(&self) -> u64 {
        let longest = self.chains.longest().par_iter();
        longest.map(|it| self.graph.joins().following(it.step).len() as u64).sum()
    }

    /// Visits the extensions of every so many chains.
    pub(super) fn sample(&self, every: usize, visitor: &mut impl Visit) {
        let mut cursor = Cursor::new(*self);
        for index in (0..self.chains.longest().len()).step_by(every) {
            cursor.move_to(index as u32);
            cursor.extend(index as u32, visitor);
        }
    }

    /// Visits all extensions in parallel, each by one of few visitors. Returns all of them merged.
    pub(super) fn merged<V: Visit + Send>(
        &self,
        new: impl Fn() -> V + Sync + Send,
        merge: impl Fn(V, V) -> V + Sync + Send,
    ) -> V {
        if self.chains.levels.is_empty() {
            let mut visitor = new();
            self.start(&mut visitor);
            return visitor;
        }
        let blocks = self.chains.longest().len().div_ceil(BLOCK);
        let parts = blocks.min(rayon::current_num_threads() * PARTS);
        let visit = |part: usize| {
            let (mut cursor, mut visitor) = (Cursor::new(*self), new());
            (part * blocks / parts..(part + 1) * blocks / parts)
                .for_each(|it| cursor.block(it, &mut visitor));
            visitor
        };
        (0..parts).into_par_iter().with_max_len(1).map(visit).reduce(&new, merge)
    }

    /// Finds the cycles of the maximum length, from which nothing goes on.
    pub(super) fn close(&self, best: &mut Best) -> Level {
        let new = || Closing { graph: self.graph, best: best.part(), open: 0 };
        let closing = self.merged(new, |mut a, b| {
            a.best.merge(b.best);
            a.open += b.open;
            a
        });
        let level = Level { chains: closing.open, kept: 0, cycles: closing.best.found() };
        best.merge(closing.best);
        level
    }

    /// Visits the chains of one step.
    fn start(&self, visitor: &mut impl Visit) {
        for step in self.graph.starts() {
            let node = self.graph.node(step);
            if node.is_delay && self.delays == 0 {
                continue;
            }
            if node.effect != self.graph.cause(step) {
                visitor.open(key(u64::from(node.units), 1, 0, step), Chain { step, parent: 0 });
            } else if self.graph.joins().may_follow(step, step) {
                visitor.close(&mut std::iter::once(step), u64::from(node.units), 1);
            }
        }
    }
}

/// Orders chains by the mean score of their injected steps. Ties are decided by a hash, so that the cut takes from all chains that
/// tie, not only from the first ones.
fn key(sum: u64, injected: u32, parent: u32, step: u32) -> u64 {
    // The quotient is rounded once, so equal means have equal keys. It is at most `UNITS_MAX`.
    let mean = (sum as f64 / f64::from(injected)) as u64;
    mean << 32 | hash::word(u64::from(parent) << 32 | u64::from(step), 0) >> 32
}

/// Counts what does not close.
struct Closing<'a> {
    graph: &'a Graph,
    best: Best,
    open: u64,
}

impl Visit for Closing<'_> {
    fn open(&mut self, _key: u64, _chain: Chain) {
        self.open += 1;
    }

    fn close(&mut self, steps: &mut dyn Iterator<Item = u32>, sum: u64, injected: u32) {
        self.best.add(self.graph, steps, sum, injected);
    }
}

/// One of the longest chains with its steps, moved from chain to chain.
#[derive(Debug)]
struct Cursor<'a> {
    of: Extensions<'a>,
    /// The chain's ancestors by their length, the chain itself last.
    path: Vec<Place>,
    /// Tests whether the chain has this fault as an effect.
    has: Vec<bool>,
}

/// A chain on the path, and sums over its steps.
#[derive(Debug, Clone, Copy)]
struct Place {
    index: u32,
    step: u32,
    sum: u64,
    injected: u32,
    delays: u32,
}

impl<'a> Cursor<'a> {
    fn new(of: Extensions<'a>) -> Cursor<'a> {
        let path = Vec::with_capacity(of.chains.levels.len());
        Cursor { of, path, has: vec![false; of.graph.faults()] }
    }

    fn block(&mut self, block: usize, visitor: &mut impl Visit) {
        let end = self.of.chains.longest().len().min((block + 1) * BLOCK);
        for index in block * BLOCK..end {
            self.move_to(index as u32);
            self.extend(index as u32, visitor);
        }
    }

    /// Moves to one of the longest chains. Neighbours share most ancestors, which are kept.
    fn move_to(&mut self, index: u32) {
        let levels = &self.of.chains.levels;
        let (mut shared, mut ancestor) = (levels.len(), index);
        while shared > 0 && self.path.get(shared - 1).is_none_or(|it| it.index != ancestor) {
            shared -= 1;
            ancestor = levels[shared][ancestor as usize].parent;
        }
        let graph = self.of.graph;
        for place in self.path.drain(shared..) {
            self.has[graph.node(place.step).effect as usize] = false;
        }
        // From the chain back to the shared ancestor, then the sums forward.
        let none = Place { index: 0, step: 0, sum: 0, injected: 0, delays: 0 };
        self.path.resize(levels.len(), none);
        let mut ancestor = index;
        for at in (shared..levels.len()).rev() {
            let chain = levels[at][ancestor as usize];
            (self.path[at].index, self.path[at].step) = (ancestor, chain.step);
            ancestor = chain.parent;
        }
        for at in shared..levels.len() {
            let before = if at == 0 { none } else { self.path[at - 1] };
            let place = &mut self.path[at];
            let node = graph.node(place.step);
            place.sum = before.sum + u64::from(node.units);
            place.injected = before.injected + u32::from(node.rank != RANK_STATIC);
            place.delays = before.delays + u32::from(node.is_delay);
            self.has[node.effect as usize] = true;
        }
    }

    fn extend(&self, index: u32, visitor: &mut impl Visit) {
        let graph = self.of.graph;
        let (Some(first), Some(last)) = (self.path.first(), self.path.last()) else { return };
        let (home, rank) = (graph.cause(first.step), graph.node(first.step).rank);
        for &step in graph.joins().following(last.step) {
            let node = graph.node(step);
            // A cycle is found from its best injected step: see `Graph::starts`.
            if node.rank <= rank || node.is_delay && last.delays >= self.of.delays {
                continue;
            }
            let sum = last.sum + u64::from(node.units);
            let injected = last.injected + u32::from(node.rank != RANK_STATIC);
            if node.effect == home {
                if graph.joins().may_follow(step, first.step) {
                    let before = self.path.iter().map(|it| it.step);
                    visitor.close(&mut before.chain([step]), sum, injected);
                }
            } else if !self.has[node.effect as usize] {
                visitor.open(key(sum, injected, index, step), Chain { step, parent: index });
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn chains_without_an_extension_are_dropped_at_all_lengths() {
        let chain = |(step, parent)| Chain { step, parent };
        let mut chains = Chains::default();
        for level in
            [&[(0, 0), (1, 0), (2, 0)][..], &[(3, 0), (4, 1), (5, 1), (6, 2)], &[(7, 2), (8, 2), (9, 3)]]
        {
            chains.push(level.iter().copied().map(chain).collect());
        }
        let expect = [vec![(1, 0), (2, 0)], vec![(5, 0), (6, 1)], vec![(7, 0), (8, 0), (9, 1)]];
        assert_eq!(chains.levels, expect.map(|it| it.into_iter().map(chain).collect::<Vec<_>>()));
    }
}
