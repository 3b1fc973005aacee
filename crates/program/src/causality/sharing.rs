//! A graph of many lines while it is built, level by level, for all lines at once.

use std::hash::{Hash, Hasher};

use rustc_hash::FxHasher;

use crate::causality::causal::{Context, GraphOptions, Node};
use crate::causality::gates::Gates;
use crate::causality::graphs::{Graphs, asks, leads_back};
use crate::causality::shared::{Block, Edge, LINES_MAX, Out, SharedGraph, Walk, at};
use crate::dataflow::exceptions::Exception;
use crate::facts::CallId;
use crate::loading::world::MethodId;

/// Nodes after which a shared graph grows no further. All lines are followed level by level, so the farthest nodes are left out. A
/// line that has reached fewer than its share of the nodes goes on all the same. The bound is looked at between two steps, so the
/// graph gets larger by what the last step has found.
///
/// It trades time and memory for faults. On HDFS 3.2.0 with 76 lines, a graph for each line, cut at a million nodes, had 29,126
/// distances of faults. Of these this bound loses 26 %, one of 1 million 79 %, one of 4 million 15 %; each finds others instead.
const NODES_MAX: usize = 2_000_000;

/// See the module.
pub(crate) struct Sharing<'g, 'p> {
    graphs: &'g Graphs<'p>,
    contexts: Vec<Context>,
    numbers: Numbers,
    graph: SharedGraph,
}

/// A search from the lines of a block while the graph grows.
struct Growth {
    block: Block,
    walk: Walk,
    /// The lines that have not reached their share of the nodes, and how many each has reached.
    poor: u64,
    counts: Vec<usize>,
}

impl<'g, 'p> Sharing<'g, 'p> {
    /// The beginning of a graph: lines, each with its locations.
    pub fn of(graphs: &'g Graphs<'p>, lines: &[Vec<(MethodId, u16)>]) -> Sharing<'g, 'p> {
        let graph = SharedGraph {
            nodes: Vec::new(),
            outs: Vec::new(),
            edges: Vec::new(),
            gates: Gates::default(),
            blocks: Vec::new(),
            is_complete: true,
        };
        let mut it = Sharing { graphs, contexts: Vec::new(), numbers: Numbers::default(), graph };
        for (block, of_block) in lines.chunks(LINES_MAX).enumerate() {
            let mut number =
                |&(method, at): &(MethodId, u16)| it.number(Node::Location(method, at), Context::Any);
            let starts = of_block.iter().map(|it| it.iter().map(&mut number).collect()).collect();
            let first = block * LINES_MAX;
            let (expanded, asked) = (Vec::new(), Vec::new());
            it.graph.blocks.push(Block { lines: first..first + of_block.len(), starts, expanded, asked });
        }
        it
    }

    fn number(&mut self, node: Node, context: Context) -> u32 {
        let next = self.graph.nodes.len() as u32;
        let (nodes, contexts) = (&self.graph.nodes, &self.contexts);
        let at = |number: u32| (nodes[number as usize], contexts[number as usize]);
        let number = self.numbers.of(node, context, next, at);
        if number == next {
            let out = leads_back(node, context).map_or(Out::Unknown, |call| {
                let (gate, group) = self.graph.gates.wait(next, node, call);
                Out::Back { gate, group }
            });
            self.graph.nodes.push(node);
            self.graph.outs.push(out);
            self.contexts.push(context);
        }
        number
    }

    /// The graph, as far as it may get. `takes` says which faults count.
    pub fn grown(
        mut self,
        options: GraphOptions,
        takes: &(impl Fn(CallId, Exception) -> bool + Sync),
    ) -> SharedGraph {
        let mut blocks: Vec<Growth> =
            std::mem::take(&mut self.graph.blocks).into_iter().map(Growth::of).collect();
        let lines: usize = blocks.iter().map(|it| it.counts.len()).sum();
        let share = NODES_MAX / lines.max(1);
        for _ in 0..options.distance_max {
            while blocks.iter().any(|it| !it.walk.here.is_empty()) {
                let waves: Vec<Vec<(u32, u64)>> = blocks.iter_mut().map(|it| it.walk.here.take()).collect();
                let is_full = self.graph.nodes.len() > NODES_MAX;
                let mut new = Vec::new();
                for (wave, of_block) in waves.iter().zip(&mut blocks) {
                    of_block.count(wave, share);
                    let unknown = wave.iter().filter(|it| self.graph.outs[it.0 as usize] == Out::Unknown);
                    let may = unknown.filter(|it| !is_full || it.1 & of_block.poor != 0);
                    new.extend(may.map(|it| it.0));
                }
                self.look(new, takes);
                for (wave, of_block) in waves.into_iter().zip(&mut blocks) {
                    wave.into_iter().for_each(|(node, lines)| self.follow(node, lines, of_block));
                }
            }
            blocks.iter_mut().for_each(|it| it.walk.go_further());
        }
        SharedGraph { blocks: blocks.into_iter().map(|it| it.block).collect(), ..self.graph }
    }

    /// Looks at what some nodes need, each once.
    fn look(&mut self, mut new: Vec<u32>, takes: &(impl Fn(CallId, Exception) -> bool + Sync)) {
        new.sort_unstable();
        new.dedup();
        for &it in &new {
            self.graph.outs[it as usize] = Out::Edges { from: 0, to: 0 };
        }
        for (node, priors) in self.graphs.expand(&self.graph.nodes, &self.contexts, new, takes) {
            let from = self.graph.edges.len() as u32;
            for (prior, context, _) in priors {
                let to = self.number(prior, context);
                let asking = asks(prior, context).map_or(Edge::NO_ASKING, |call| {
                    self.graph.gates.asking(call, self.contexts[node as usize])
                });
                self.graph.edges.push(Edge { to, asking });
            }
            self.graph.outs[node as usize] = Out::Edges { from, to: self.graph.edges.len() as u32 };
        }
    }

    /// Goes on from a node with lines that have got there.
    fn follow(&mut self, node: u32, lines: u64, it: &mut Growth) {
        *at(&mut it.block.expanded, node) |= lines;
        match self.graph.outs[node as usize] {
            Out::Unknown => self.graph.is_complete = false,
            Out::Edges { from, to } => {
                for edge in from..to {
                    let Edge { to, asking } = self.graph.edges[edge as usize];
                    it.walk.reach(&self.graph.nodes, to, lines, ignore);
                    if asking != Edge::NO_ASKING {
                        self.ask(asking, lines, it);
                    }
                }
            }
            Out::Back { gate, group } => {
                for place in 0..self.graph.gates.askings(gate).len() {
                    let asking = self.graph.gates.askings(gate)[place];
                    let may = lines & *at(&mut it.block.asked, asking);
                    self.go_back((node, group), asking, may, &mut it.walk);
                }
            }
        }
    }

    /// Lines ask: from now on they can go back from the nodes that lead there.
    fn ask(&mut self, asking: u32, lines: u64, it: &mut Growth) {
        let asked = at(&mut it.block.asked, asking);
        let new = lines & !*asked;
        *asked |= new;
        let waiting = if new == 0 { 0 } else { self.graph.gates.waiting(asking).len() };
        for place in 0..waiting {
            let (node, group) = self.graph.gates.waiting(asking)[place];
            let may = new & *at(&mut it.block.expanded, node);
            self.go_back((node, group), asking, may, &mut it.walk);
        }
    }

    /// Lines go from a node, which is of a group, back to the call by which its method is looked at.
    fn go_back(&mut self, (node, group): (u32, u32), asking: u32, lines: u64, walk: &mut Walk) {
        if lines == 0 {
            return;
        }
        let to = match self.graph.gates.to(group, asking) {
            Some(to) => to,
            None => {
                let Out::Back { gate, .. } = self.graph.outs[node as usize] else { return };
                let call = self.graph.gates.call(gate);
                let there = self.graphs.in_call(self.graph.nodes[node as usize], call);
                let to = self.number(there, self.graph.gates.context(asking));
                self.graph.gates.lead(group, asking, to);
                to
            }
        };
        walk.reach(&self.graph.nodes, to, lines, ignore);
    }
}

impl Growth {
    fn of(block: Block) -> Growth {
        let walk = Walk::from(&block.starts, ignore);
        let counts = vec![0; block.lines.len()];
        Growth { block, walk, poor: u64::MAX, counts }
    }

    /// Counts what lines have reached, as long as they are below their share.
    fn count(&mut self, wave: &[(u32, u64)], share: usize) {
        for (_, lines) in wave {
            let mut counted = lines & self.poor;
            while counted != 0 {
                let line = counted.trailing_zeros() as usize;
                counted &= counted - 1;
                self.counts[line] += 1;
                if self.counts[line] > share {
                    self.poor &= !(1 << line);
                }
            }
        }
    }
}

/// While a graph grows nobody is told what is found.
fn ignore(_: u32, _: u64, _: u32) {}

/// The numbers of nodes in their contexts: a table of the numbers alone, since what they stand for is kept elsewhere.
#[derive(Default)]
struct Numbers {
    /// The numbers, each at the first free place from that of its hash on.
    table: Vec<u32>,
    count: usize,
}

impl Numbers {
    const FREE: u32 = u32::MAX;
    const PLACES_MIN: usize = 1 << 10;

    /// The number of a node; the next one, if it has none yet. `at` gives what a number stands for.
    fn of(&mut self, node: Node, context: Context, next: u32, at: impl Fn(u32) -> (Node, Context)) -> u32 {
        // At least every other place is free.
        if 2 * (self.count + 1) > self.table.len() {
            self.widen(&at);
        }
        let mask = self.table.len() - 1;
        let mut place = hash(node, context) & mask;
        loop {
            match self.table[place] {
                Numbers::FREE => break,
                number if at(number) == (node, context) => return number,
                _ => place = (place + 1) & mask,
            }
        }
        self.table[place] = next;
        self.count += 1;
        next
    }

    fn widen(&mut self, at: impl Fn(u32) -> (Node, Context)) {
        let places = (2 * self.table.len()).max(Numbers::PLACES_MIN);
        let before = std::mem::replace(&mut self.table, vec![Numbers::FREE; places]);
        for number in before.into_iter().filter(|&it| it != Numbers::FREE) {
            let (node, context) = at(number);
            let mut place = hash(node, context) & (places - 1);
            while self.table[place] != Numbers::FREE {
                place = (place + 1) & (places - 1);
            }
            self.table[place] = number;
        }
    }
}

fn hash(node: Node, context: Context) -> usize {
    let mut hasher = FxHasher::default();
    (node, context).hash(&mut hasher);
    hasher.finish() as usize
}
