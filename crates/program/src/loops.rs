//! The loops of a method: natural loops, found by dominators.
//!
//! Dominators are computed as Cooper, Harvey and Kennedy do it ("A Simple, Fast Dominance Algorithm"), over all
//! edges. A loop is made by an edge that goes back to a block that dominates its start. Only jumps and falling
//! through make loops: the handler of a `synchronized` block covers itself, so an exception edge leads from it
//! to itself, and nobody would call that a loop. The body is collected along all edges, so that a retry through
//! a `catch` belongs to it.

use crate::flow::{Flow, Way};

/// The most steps that are spent on one method; a method that needs more keeps the loops found so far and counts
/// as tangled.
const STEPS_MAX: u64 = 1 << 24;
const NONE: u32 = u32::MAX;

/// A natural loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The block that every iteration begins with.
    pub header: u32,
    /// All its blocks, sorted, the header included.
    pub body: Vec<u32>,
}

impl Loop {
    /// Whether a block belongs to the loop.
    pub fn contains(&self, block: u32) -> bool {
        self.body.binary_search(&block).is_ok()
    }
}

/// The loops of a method.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Loops {
    /// In the order of their headers in the code. Loops that share a header are one.
    pub loops: Vec<Loop>,
    /// Edges that go back to a block that does not dominate their start: the way into such a region is not
    /// unique, and no loop is named for it. Also 1 for a method that was given up: with `jsr`, or over the bound.
    pub irreducible: u32,
}

impl Loops {
    /// Finds the loops of a method.
    pub fn of(flow: &Flow<'_>) -> Loops {
        let backwards = flow.edges().iter().any(|edge| edge.to <= edge.from);
        if !backwards {
            // A cycle needs an edge backwards in the code; without one there is nothing to find.
            return Loops::default();
        }
        if flow.has_subroutines {
            return Loops { loops: Vec::new(), irreducible: 1 };
        }
        Search::new(flow).run()
    }
}

struct Search<'f, 'a> {
    flow: &'f Flow<'a>,
    /// For each block its place in reverse postorder, or NONE.
    place: Vec<u32>,
    /// The blocks in reverse postorder.
    order: Vec<u32>,
    /// The starts of edges into each block, unreachable ones left out: `preds[pred_start[b]..pred_start[b + 1]]`.
    preds: Vec<u32>,
    pred_start: Vec<u32>,
    steps: u64,
}

/// The steps are used up.
struct Tangled;

impl<'f, 'a> Search<'f, 'a> {
    fn new(flow: &'f Flow<'a>) -> Self {
        let count = flow.blocks.len();
        let order = reverse_postorder(flow);
        let mut place = vec![NONE; count];
        for (at, &block) in order.iter().enumerate() {
            place[block as usize] = at as u32;
        }
        let mut pred_start = vec![0; count + 1];
        let edges = || flow.edges().iter().filter(|edge| flow.reachable[edge.from as usize]);
        edges().for_each(|edge| pred_start[edge.to as usize + 1] += 1);
        for block in 0..count {
            pred_start[block + 1] += pred_start[block];
        }
        let mut preds = vec![0; pred_start[count] as usize];
        let mut next = pred_start.clone();
        for edge in edges() {
            let slot = &mut next[edge.to as usize];
            preds[*slot as usize] = edge.from;
            *slot += 1;
        }
        Search { flow, place, order, preds, pred_start, steps: 0 }
    }

    fn preds(&self, block: u32) -> &[u32] {
        let at = block as usize;
        &self.preds[self.pred_start[at] as usize..self.pred_start[at + 1] as usize]
    }

    fn step(&mut self, steps: usize) -> Result<(), Tangled> {
        self.steps += steps as u64;
        if self.steps > STEPS_MAX { Err(Tangled) } else { Ok(()) }
    }

    fn run(mut self) -> Loops {
        let Ok(dominators) = self.dominators() else { return Loops { loops: Vec::new(), irreducible: 1 } };
        let mut irreducible = 0;
        let mut back_edges = Vec::new();
        for edge in self.flow.edges().iter().filter(|edge| edge.way != Way::Throw) {
            let (from, to) = (self.place[edge.from as usize], self.place[edge.to as usize]);
            if from == NONE || to > from {
                continue;
            }
            match self.dominates(&dominators, to, from) {
                Ok(true) => back_edges.push((edge.to, edge.from)),
                Ok(false) => irreducible += 1,
                Err(Tangled) => return Loops { loops: Vec::new(), irreducible: irreducible + 1 },
            }
        }
        back_edges.sort_unstable();
        let mut loops = Vec::new();
        let mut mark = vec![NONE; self.flow.blocks.len()];
        for group in back_edges.chunk_by(|a, b| a.0 == b.0) {
            let header = group[0].0;
            match self.body(header, group.iter().map(|edge| edge.1), &mut mark) {
                Ok(body) => loops.push(Loop { header, body }),
                Err(Tangled) => {
                    irreducible += 1;
                    break;
                }
            }
        }
        Loops { loops, irreducible }
    }

    /// The immediate dominator of each block, both as places in reverse postorder.
    fn dominators(&mut self) -> Result<Vec<u32>, Tangled> {
        let mut dominators = vec![NONE; self.order.len()];
        dominators[0] = 0;
        loop {
            let mut changed = false;
            for at in 1..self.order.len() {
                let mut new = NONE;
                self.step(1 + self.preds(self.order[at]).len())?;
                for i in 0..self.preds(self.order[at]).len() {
                    let pred = self.place[self.preds(self.order[at])[i] as usize];
                    if dominators[pred as usize] == NONE {
                        continue;
                    }
                    new = if new == NONE { pred } else { self.common(&dominators, new, pred)? };
                }
                if dominators[at] != new {
                    dominators[at] = new;
                    changed = true;
                }
            }
            if !changed {
                return Ok(dominators);
            }
        }
    }

    fn common(&mut self, dominators: &[u32], mut a: u32, mut b: u32) -> Result<u32, Tangled> {
        while a != b {
            self.step(1)?;
            if a > b {
                a = dominators[a as usize];
            } else {
                b = dominators[b as usize];
            }
        }
        Ok(a)
    }

    fn dominates(&mut self, dominators: &[u32], above: u32, mut below: u32) -> Result<bool, Tangled> {
        while below > above {
            self.step(1)?;
            below = dominators[below as usize];
        }
        Ok(below == above)
    }

    fn body(
        &mut self,
        header: u32,
        ends: impl Iterator<Item = u32>,
        mark: &mut [u32],
    ) -> Result<Vec<u32>, Tangled> {
        let mut body = vec![header];
        mark[header as usize] = header;
        let mut pending: Vec<u32> = ends.collect();
        while let Some(block) = pending.pop() {
            if std::mem::replace(&mut mark[block as usize], header) == header {
                continue;
            }
            body.push(block);
            let preds = self.preds(block);
            pending.extend_from_slice(preds);
            let count = preds.len();
            self.step(1 + count)?;
        }
        body.sort_unstable();
        Ok(body)
    }
}

fn reverse_postorder(flow: &Flow<'_>) -> Vec<u32> {
    let mut order = Vec::with_capacity(flow.blocks.len());
    let mut seen = vec![false; flow.blocks.len()];
    seen[0] = true;
    // Each block on the way down, and how many of its edges were taken.
    let mut stack = vec![(0, 0)];
    while let Some((block, taken)) = stack.last_mut() {
        match flow.out_of(*block).get(*taken) {
            Some(edge) => {
                *taken += 1;
                if !std::mem::replace(&mut seen[edge.to as usize], true) {
                    stack.push((edge.to, 0));
                }
            }
            None => {
                order.push(*block);
                stack.pop();
            }
        }
    }
    order.reverse();
    order
}
