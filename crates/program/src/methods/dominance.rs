//! Dominance between the blocks of a method, forwards and backwards.
//!
//! Computed as Cooper, Harvey and Kennedy do it ("A Simple, Fast Dominance Algorithm"), on demand: nothing of it is
//! kept in the flow graph, as most questions do without.

use crate::lists::Lists;
use crate::methods::flow::{Edge, Flow, Way};

/// The most steps that are spent on one method.
pub(crate) const STEPS_MAX: u64 = 1 << 24;
pub(crate) const NONE: u32 = u32::MAX;

/// Edges of the flow graph that count.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Edges {
    /// All.
    All,
    /// All but those of exceptions. Otherwise every call within a `try` is a branch.
    Normal,
}

impl Edges {
    pub(crate) fn has(self, edge: &Edge) -> bool {
        self == Edges::All || edge.way != Way::Throw
    }
}

/// A method was given up.
#[derive(Debug, Clone, Copy, PartialEq, Eq, thiserror::Error)]
#[error("the control flow is too tangled, or has subroutines (jsr)")]
pub struct Tangled;

/// Dominators of blocks: on every path from the start to a block lie its dominators, on every path from a block
/// to the end of the method its post-dominators. A block dominates itself.
#[derive(Debug)]
pub struct Dominance {
    tree: Tree,
    /// The number of blocks; the tree of post-dominance has the end of the method as one more.
    count: u32,
}

impl Dominance {
    /// The dominators, from the start of the method.
    pub fn of(flow: &Flow<'_>, edges: Edges) -> Result<Dominance, Tangled> {
        if flow.has_subroutines {
            return Err(Tangled);
        }
        let count = flow.blocks.len();
        let pairs = || flow.edges().iter().filter(|edge| edges.has(edge));
        let out = Lists::of(count, pairs().map(|edge| (edge.from, edge.to)));
        let back = Lists::of(count, pairs().map(|edge| (edge.to, edge.from)));
        Ok(Dominance { tree: Tree::of(0, count, &out, &back)?, count: count as u32 })
    }

    /// The post-dominators. The method ends behind every block that no edge leads out of: those that return, and
    /// those that throw, unless the exception stays in the method and exceptions count.
    ///
    /// A block that never gets to an end, as in `while (true)`, would have no post-dominators at all. Of such
    /// blocks the last in the code counts as an end too, then the last of those that do not even get there, and so
    /// on; that is mostly the jump back of the loop.
    pub fn post(flow: &Flow<'_>, edges: Edges) -> Result<Dominance, Tangled> {
        if flow.has_subroutines {
            return Err(Tangled);
        }
        let edges = flow.edges().iter().filter(|edge| edges.has(edge) && flow.reachable[edge.from as usize]);
        let pairs: Vec<(u32, u32)> = edges.map(|edge| (edge.from, edge.to)).collect();
        Dominance::post_of(&flow.reachable, &pairs)
    }

    /// The post-dominators in a graph of any other nodes, of which only those marked count; the number behind the
    /// last is the end.
    pub(crate) fn post_of(counts: &[bool], edges: &[(u32, u32)]) -> Result<Dominance, Tangled> {
        let count = counts.len();
        let end = count as u32;
        let inner = || edges.iter().filter(|edge| edge.1 != end);
        let back = Lists::of(count, inner().map(|&(from, to)| (to, from)));
        let mut leads_on = vec![false; count];
        inner().for_each(|edge| leads_on[edge.0 as usize] = true);
        let outer = edges.iter().filter(|edge| edge.1 == end).map(|edge| edge.0);
        let mut ends: Vec<u32> =
            (0..end).filter(|&it| counts[it as usize] && !leads_on[it as usize]).chain(outer).collect();
        ends.sort_unstable();
        ends.dedup();
        let mut gets_there = vec![false; count];
        let mut pending = ends.clone();
        let mut next = end;
        loop {
            while let Some(block) = pending.pop() {
                if !std::mem::replace(&mut gets_there[block as usize], true) {
                    pending.extend_from_slice(back.get(block));
                }
            }
            let is_stuck = |it: &u32| counts[*it as usize] && !gets_there[*it as usize];
            let Some(stuck) = (0..next).rev().find(is_stuck) else { break };
            ends.push(stuck);
            pending.push(stuck);
            next = stuck;
        }
        let pairs = || inner().copied().chain(ends.iter().map(|&block| (block, end)));
        let out = Lists::of(count + 1, pairs().map(|(from, to)| (to, from)));
        let back = Lists::of(count + 1, pairs());
        Ok(Dominance { tree: Tree::of(end, count + 1, &out, &back)?, count: end })
    }

    /// The nearest other block that dominates this one. None has the first block (of post-dominance: a block behind
    /// which only the end of the method is certain), and what control does not reach.
    pub fn immediate(&self, block: u32) -> Option<u32> {
        let above = self.tree.above(block);
        (above < self.count).then_some(above)
    }

    /// Tests whether one block dominates another.
    pub fn dominates(&self, above: u32, below: u32) -> bool {
        let (above, below) = (self.tree.place[above as usize], self.tree.place[below as usize]);
        if above == NONE || below == NONE {
            return false;
        }
        let spans = &self.tree.spans;
        let (start, end) = spans[above as usize];
        (start..end).contains(&spans[below as usize].0)
    }

    /// The place of a block in reverse postorder, or [`NONE`].
    pub(crate) fn place(&self, block: u32) -> u32 {
        self.tree.place[block as usize]
    }
}

/// A tree of dominators.
#[derive(Debug)]
struct Tree {
    /// For each node its place in reverse postorder, or `NONE`.
    place: Vec<u32>,
    /// The nodes in reverse postorder.
    order: Vec<u32>,
    /// The immediate dominator of each, both as places; that of the root is itself.
    above: Vec<u32>,
    /// By place: the numbers in preorder of all below, the node's own first.
    spans: Vec<(u32, u32)>,
}

impl Tree {
    fn of(root: u32, count: usize, out: &Lists<u32>, back: &Lists<u32>) -> Result<Tree, Tangled> {
        let order = reverse_postorder(root, count, out);
        let mut place = vec![NONE; count];
        for (at, &node) in order.iter().enumerate() {
            place[node as usize] = at as u32;
        }
        let above = dominators(&order, &place, back)?;
        let mut sizes = vec![1; order.len()];
        for at in (1..order.len()).rev() {
            sizes[above[at] as usize] += sizes[at];
        }
        let mut spans = vec![(0, 0); order.len()];
        // Where the next child of each node begins.
        let mut next = vec![1; order.len()];
        spans[0] = (0, sizes[0]);
        for at in 1..order.len() {
            let start = next[above[at] as usize];
            next[above[at] as usize] += sizes[at];
            next[at] = start + 1;
            spans[at] = (start, start + sizes[at]);
        }
        Ok(Tree { place, order, above, spans })
    }

    /// The immediate dominator of a node, or `NONE`.
    fn above(&self, node: u32) -> u32 {
        match self.place[node as usize] {
            NONE | 0 => NONE,
            place => self.order[self.above[place as usize] as usize],
        }
    }
}

fn dominators(order: &[u32], place: &[u32], back: &Lists<u32>) -> Result<Vec<u32>, Tangled> {
    let mut steps = 0;
    let mut above = vec![NONE; order.len()];
    above[0] = 0;
    loop {
        let mut changed = false;
        for at in 1..order.len() {
            let mut new = NONE;
            let from = back.get(order[at]);
            steps += 1 + from.len() as u64;
            for &node in from {
                let node = place[node as usize];
                if node == NONE || above[node as usize] == NONE {
                    continue;
                }
                new = if new == NONE { node } else { common(&above, new, node, &mut steps) };
            }
            if steps > STEPS_MAX {
                return Err(Tangled);
            }
            if above[at] != new {
                above[at] = new;
                changed = true;
            }
        }
        if !changed {
            return Ok(above);
        }
    }
}

fn common(above: &[u32], mut a: u32, mut b: u32, steps: &mut u64) -> u32 {
    while a != b {
        *steps += 1;
        if a > b {
            a = above[a as usize];
        } else {
            b = above[b as usize];
        }
    }
    a
}

fn reverse_postorder(root: u32, count: usize, out: &Lists<u32>) -> Vec<u32> {
    let mut order = Vec::with_capacity(count);
    let mut seen = vec![false; count];
    seen[root as usize] = true;
    // Each node on the way down, and how many of its edges were taken.
    let mut stack = vec![(root, 0)];
    while let Some((node, taken)) = stack.last_mut() {
        match out.get(*node).get(*taken) {
            Some(&to) => {
                *taken += 1;
                if !std::mem::replace(&mut seen[to as usize], true) {
                    stack.push((to, 0));
                }
            }
            None => {
                order.push(*node);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
