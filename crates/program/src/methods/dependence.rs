//! Control dependence: which branches decide whether a block is run.
//!
//! A block depends on a branch if one of the ways out of the branch always leads to the block and another need not
//! (Ferrante, Ottenstein and Warren, "The Program Dependence Graph and Its Use in Optimization", 3.1).

use crate::lists::Lists;
use crate::methods::dominance::{Dominance, Edges, Tangled};
use crate::methods::flow::Flow;

/// The most dependences of a method. Deep nesting gives many; compilers stay far below.
const DEPENDENCES_MAX: usize = 1 << 20;

/// A branch that decides about a block.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord)]
pub struct Dependence {
    /// The block that ends with the branch.
    pub branch: u32,
    /// The way out of it that leads to the block, as a position in [`Flow::out_of`].
    pub successor: u32,
}

/// The control dependences of a method.
#[derive(Debug)]
pub struct ControlDependence {
    lists: Lists<Dependence>,
}

impl ControlDependence {
    /// Finds the branches that decide about each block. With [`Edges::Normal`] those of the source code; with
    /// [`Edges::All`] also whether something was thrown.
    pub fn of(flow: &Flow<'_>, edges: Edges) -> Result<ControlDependence, Tangled> {
        let post = Dominance::post(flow, edges)?;
        let mut pairs = Vec::new();
        for branch in (0..flow.blocks.len() as u32).filter(|&it| flow.reachable[it as usize]) {
            let out = flow.out_of(branch);
            // A block that was made an end of the method, because it is stuck in a loop, has two ways on for the
            // post-dominators, but decides nothing.
            if out.iter().filter(|edge| edges.has(edge)).count() < 2 {
                continue;
            }
            let certain = post.immediate(branch);
            for (successor, edge) in out.iter().enumerate().filter(|(_, edge)| edges.has(edge)) {
                let mut block = Some(edge.to);
                while block != certain {
                    let Some(depends) = block else { break };
                    if pairs.len() == DEPENDENCES_MAX {
                        return Err(Tangled);
                    }
                    pairs.push((depends, Dependence { branch, successor: successor as u32 }));
                    block = post.immediate(depends);
                }
            }
        }
        Ok(ControlDependence { lists: Lists::of(flow.blocks.len(), pairs.iter().copied()) })
    }

    /// The branches that decide about a block, sorted. The head of a loop depends on itself.
    pub fn of_block(&self, block: u32) -> &[Dependence] {
        self.lists.get(block)
    }
}
