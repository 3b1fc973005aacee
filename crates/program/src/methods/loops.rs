//! The loops of a method: natural loops, found by dominators.
//!
//! A loop is made by an edge that goes back to a block that dominates its start, over all edges. Only jumps and
//! falling through make loops: the handler of a `synchronized` block covers itself, so an exception edge leads
//! from it to itself, and nobody would call that a loop. The body is collected along all edges, so that a retry
//! through a `catch` belongs to it.

use crate::lists::Lists;
use crate::methods::dominance::{Dominance, Edges, NONE, STEPS_MAX, Tangled};
use crate::methods::flow::{Flow, Way};

/// A natural loop.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Loop {
    /// The block that every iteration begins with.
    pub header: u32,
    /// All its blocks, sorted, the header included.
    pub body: Vec<u32>,
}

impl Loop {
    /// Tests whether a block belongs to the loop.
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
        let Ok(dominance) = Dominance::of(flow, Edges::All) else {
            return Loops { loops: Vec::new(), irreducible: 1 };
        };
        let mut irreducible = 0;
        let mut back_edges = Vec::new();
        for edge in flow.edges().iter().filter(|edge| edge.way != Way::Throw) {
            let (from, to) = (dominance.place(edge.from), dominance.place(edge.to));
            if from == NONE || to > from {
                continue;
            }
            if dominance.dominates(edge.to, edge.from) {
                back_edges.push((edge.to, edge.from));
            } else {
                irreducible += 1;
            }
        }
        back_edges.sort_unstable();
        let mut loops = Vec::new();
        let mut bodies = Bodies::of(flow);
        for group in back_edges.chunk_by(|a, b| a.0 == b.0) {
            let header = group[0].0;
            match bodies.body(header, group.iter().map(|edge| edge.1)) {
                Ok(body) => loops.push(Loop { header, body }),
                Err(Tangled) => {
                    irreducible += 1;
                    break;
                }
            }
        }
        Loops { loops, irreducible }
    }
}

/// Collects the blocks of loops. A method that needs too many steps keeps the loops found so far and counts as
/// tangled.
struct Bodies {
    /// The starts of edges into each block, unreachable ones left out.
    preds: Lists<u32>,
    /// The header of the loop that a block was last put into.
    mark: Vec<u32>,
    steps: u64,
}

impl Bodies {
    fn of(flow: &Flow<'_>) -> Bodies {
        let edges = flow.edges().iter().filter(|edge| flow.reachable[edge.from as usize]);
        let preds = Lists::of(flow.blocks.len(), edges.map(|edge| (edge.to, edge.from)));
        Bodies { preds, mark: vec![NONE; flow.blocks.len()], steps: 0 }
    }

    fn body(&mut self, header: u32, ends: impl Iterator<Item = u32>) -> Result<Vec<u32>, Tangled> {
        let mut body = vec![header];
        self.mark[header as usize] = header;
        let mut pending: Vec<u32> = ends.collect();
        while let Some(block) = pending.pop() {
            if std::mem::replace(&mut self.mark[block as usize], header) == header {
                continue;
            }
            body.push(block);
            let preds = self.preds.get(block);
            pending.extend_from_slice(preds);
            self.steps += 1 + preds.len() as u64;
            if self.steps > STEPS_MAX {
                return Err(Tangled);
            }
        }
        body.sort_unstable();
        Ok(body)
    }
}
