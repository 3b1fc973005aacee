//! One causal graph for many lines of a log, and how far everything is from each of them.
//!
//! The graphs of two lines of one program have most of their nodes in common, so each node is looked at once. A line alone reaches
//! less than all lines together: a method that was looked at as called by one call leads back to that call and, in the graph of one
//! line, only to those contexts of the call that this line has asked from. So it is kept for each line which nodes it
//! reaches and how it asks, and the result is that of a graph for each line.
//!
//! Lines are searched from in blocks: each line of a block is a bit.

use std::ops::Range;

use rayon::prelude::*;

use crate::causality::causal::{GraphOptions, Node};
use crate::causality::distances::Border;
use crate::causality::gates::Gates;
use crate::causality::graphs::Graphs;
use crate::causality::sharing::Sharing;
use crate::dataflow::exceptions::Exception;
use crate::facts::CallId;
use crate::loading::world::MethodId;

/// The most lines of a block, which are the bits of a word.
pub(crate) const LINES_MAX: usize = u64::BITS as usize;

/// The causal graph of several lines.
#[derive(Debug)]
pub struct SharedGraph {
    pub(crate) nodes: Vec<Node>,
    /// For each node where it leads.
    pub(crate) outs: Vec<Out>,
    pub(crate) edges: Vec<Edge>,
    pub(crate) gates: Gates,
    pub(crate) blocks: Vec<Block>,
    pub(crate) is_complete: bool,
}

/// Where a node leads.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Out {
    /// Nobody has looked yet.
    Unknown,
    /// Along some edges.
    Edges { from: u32, to: u32 },
    /// Back to the call by which its method is looked at.
    Back { gate: u32, group: u32 },
}

/// A way from one node to another.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Edge {
    pub to: u32,
    /// The number of the asking, if it leads into a method as called by one call; [`Edge::NO_ASKING`] otherwise.
    pub asking: u32,
}

impl Edge {
    pub const NO_ASKING: u32 = u32::MAX;
}

/// What some lines reach.
#[derive(Debug)]
pub(crate) struct Block {
    /// The lines, by their numbers.
    pub lines: Range<usize>,
    /// For each line the nodes that it starts from.
    pub starts: Vec<Vec<u32>>,
    /// For each node the lines that are near enough to go on from there.
    pub expanded: Vec<u64>,
    /// For each asking the lines that ask so.
    pub asked: Vec<u64>,
}

impl Graphs<'_> {
    /// Builds one graph backward from lines, each with its locations. `takes` says which faults count.
    pub fn share(
        &self,
        lines: &[Vec<(MethodId, u16)>],
        options: GraphOptions,
        takes: impl Fn(CallId, Exception) -> bool + Sync,
    ) -> SharedGraph {
        Sharing::of(self, lines).grown(options, &takes)
    }
}

impl SharedGraph {
    /// The nodes.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// Whether nothing was left out for the size of the graph.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// Tells how far each node is from each line that it can lead to: the events on the shortest way. Lines are told in blocks, each
    /// with what `begin` makes for it, and of several at the same distance together, as the bits of a word: bit 0 is the
    /// first line of the block. For each line the nearest nodes are told first. Gives what came of each block, in order.
    pub fn each_distance<T: Send>(
        &self,
        begin: impl Fn(Range<usize>) -> T + Sync,
        found: impl Fn(&mut T, u32, u64, u32) + Sync,
    ) -> Vec<T> {
        let of_block = |block: &Block| {
            let mut told = begin(block.lines.clone());
            self.measure(block, |node, lines, distance| found(&mut told, node, lines, distance));
            told
        };
        self.blocks.par_iter().map(of_block).collect()
    }

    /// Measures the shortest ways through what a block of lines has reached. They can be shorter than those by which it was
    /// reached: an asking may have come late, and the way back is there from the start.
    fn measure(&self, block: &Block, mut found: impl FnMut(u32, u64, u32)) {
        let mut walk = Walk::from(&block.starts, &mut found);
        while !walk.here.is_empty() {
            while let Some((node, lines)) = walk.here.pop() {
                let lines = lines & block.expanded.get(node as usize).copied().unwrap_or(0);
                match self.outs[node as usize] {
                    Out::Edges { from, to } if lines != 0 => {
                        for edge in &self.edges[from as usize..to as usize] {
                            walk.reach(&self.nodes, edge.to, lines, &mut found);
                        }
                    }
                    Out::Back { gate, group } if lines != 0 => {
                        for (asking, to) in self.gates.ways_back(gate, group) {
                            let asked = block.asked.get(asking as usize).copied().unwrap_or(0);
                            walk.reach(&self.nodes, to, lines & asked, &mut found);
                        }
                    }
                    _ => {}
                }
            }
            walk.go_further();
        }
    }
}

/// A search from the lines of a block, distance by distance. Whoever is told what is found gets nodes, each with the lines that
/// get there, and the distance.
pub(crate) struct Walk {
    reached: Vec<u64>,
    /// From where it goes on at this distance, and at the next.
    pub here: Border,
    further: Border,
    distance: u32,
}

impl Walk {
    /// Begins at the nodes that each line starts from.
    pub fn from(starts: &[Vec<u32>], mut found: impl FnMut(u32, u64, u32)) -> Walk {
        let (here, further) = (Border::default(), Border::default());
        let mut walk = Walk { reached: Vec::new(), here, further, distance: 0 };
        for (bit, starts) in starts.iter().enumerate() {
            for &start in starts {
                let new = walk.new_at(start, 1 << bit);
                walk.here.add(start, new);
                found(start, new, 0);
            }
        }
        walk
    }

    /// Lines get to a node from one at the distance of the search.
    pub fn reach(&mut self, nodes: &[Node], to: u32, lines: u64, mut found: impl FnMut(u32, u64, u32)) {
        let new = self.new_at(to, lines);
        if new == 0 {
            return;
        }
        // Steps of slicing take no distance.
        if nodes[to as usize].is_event() {
            self.further.add(to, new);
            found(to, new, self.distance + 1);
        } else {
            self.here.add(to, new);
            found(to, new, self.distance);
        }
    }

    /// Those of some lines that have not been at a node, which they now have.
    fn new_at(&mut self, node: u32, lines: u64) -> u64 {
        let reached = at(&mut self.reached, node);
        let new = lines & !*reached;
        *reached |= new;
        new
    }

    /// Goes on to the next distance.
    pub fn go_further(&mut self) {
        std::mem::swap(&mut self.here, &mut self.further);
        self.distance += 1;
    }
}

/// The lines of a node or an asking, in a list that grows as it must.
pub(crate) fn at(lines: &mut Vec<u64>, number: u32) -> &mut u64 {
    let number = number as usize;
    if number >= lines.len() {
        lines.resize(number + 1, 0);
    }
    &mut lines[number]
}
