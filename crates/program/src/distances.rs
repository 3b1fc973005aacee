//! How far everything in a causal graph is from the points that it was built from.

use rayon::prelude::*;

use crate::causal::{CausalGraph, EdgeKind, Node};
use crate::facts::CallId;

/// No way leads there.
const NEVER: u32 = u32::MAX;

/// The shortest ways from one point to everything that it needs.
#[derive(Debug)]
pub struct Ways {
    distances: Vec<u32>,
    /// For each node the one before it, and the kind of edge.
    before: Vec<(u32, u8)>,
}

impl Ways {
    /// Searches from some nodes. Edges of one kind may be left out, and what is further than a bound.
    pub(crate) fn from(
        graph: &CausalGraph,
        starts: &[u32],
        without: Option<EdgeKind>,
        distance_max: u32,
    ) -> Ways {
        let count = graph.nodes().len();
        let mut it = Ways { distances: vec![NEVER; count], before: vec![(NEVER, 0); count] };
        let (mut here, mut further) = (starts.to_vec(), Vec::new());
        here.iter().for_each(|&start| it.distances[start as usize] = 0);
        let mut distance = 0;
        while !here.is_empty() && distance < distance_max {
            // Steps of slicing take no distance.
            while let Some(node) = here.pop() {
                if it.distances[node as usize] < distance {
                    continue;
                }
                for (to, kind) in graph.priors(node) {
                    let is_event = graph.nodes()[to as usize].is_event();
                    let there = distance + u32::from(is_event);
                    if Some(kind) == without || there >= it.distances[to as usize] {
                        continue;
                    }
                    it.distances[to as usize] = there;
                    it.before[to as usize] = (node, kind as u8);
                    if is_event { further.push(to) } else { here.push(to) }
                }
            }
            std::mem::swap(&mut here, &mut further);
            here.reverse();
            distance += 1;
        }
        it
    }

    /// How far a node is: the events on the shortest way.
    pub fn distance(&self, node: u32) -> Option<u32> {
        self.distances.get(node as usize).copied().filter(|&it| it != NEVER)
    }

    /// The distances of all nodes; `u32::MAX` where no way leads.
    pub fn distances(&self) -> &[u32] {
        &self.distances
    }

    /// The shortest way to a node: the nodes, the point first, each with why it is needed. Empty if there is none.
    pub fn path(&self, to: u32) -> Vec<(u32, Option<EdgeKind>)> {
        let mut path = Vec::new();
        let mut next = self.distance(to).map(|_| to);
        while let Some(node) = next {
            let (before, kind) = self.before[node as usize];
            let is_start = before == NEVER;
            path.push((node, (!is_start).then(|| EdgeKind::ALL[usize::from(kind)])));
            next = (!is_start).then_some(before);
        }
        path.reverse();
        path
    }
}

/// For every call at which a fault of the graph goes in, and every point that the graph was built from, how far they
/// are apart.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultDistances {
    calls: Vec<CallId>,
    starts: usize,
    /// A row for each call, with a distance and the node of the nearest fault for each start.
    distances: Vec<u32>,
    nodes: Vec<u32>,
}

impl FaultDistances {
    pub(crate) fn of(graph: &CausalGraph) -> FaultDistances {
        let mut faults: Vec<(CallId, u32)> = Vec::new();
        for (number, &node) in graph.nodes().iter().enumerate() {
            if let Node::New(call, _) | Node::External(call, _) = node {
                faults.push((call, number as u32));
            }
        }
        faults.sort_unstable();
        let rows: Vec<&[(CallId, u32)]> = faults.chunk_by(|a, b| a.0 == b.0).collect();
        let starts = graph.starts().len();
        let columns: Vec<Vec<(u32, u32)>> = (0..starts)
            .into_par_iter()
            .map(|start| {
                let ways = graph.ways(start);
                let nearest = |row: &&[(CallId, u32)]| {
                    let nodes = row.iter().map(|&(_, node)| (ways.distances[node as usize], node));
                    nodes.min().unwrap_or((NEVER, NEVER))
                };
                rows.iter().map(nearest).collect()
            })
            .collect();
        let mut it = FaultDistances {
            calls: rows.iter().map(|row| row[0].0).collect(),
            starts,
            distances: Vec::with_capacity(rows.len() * starts),
            nodes: Vec::with_capacity(rows.len() * starts),
        };
        for row in 0..rows.len() {
            it.distances.extend(columns.iter().map(|column| column[row].0));
            it.nodes.extend(columns.iter().map(|column| column[row].1));
        }
        it
    }

    /// The calls, sorted; a call is meant by its position here.
    pub fn calls(&self) -> &[CallId] {
        &self.calls
    }

    /// The position of a call.
    pub fn find(&self, call: CallId) -> Option<usize> {
        self.calls.binary_search(&call).ok()
    }

    /// How far a call is from a start, both by their positions.
    pub fn get(&self, call: usize, start: usize) -> Option<u32> {
        self.of_call(call).get(start).copied().filter(|&it| it != NEVER)
    }

    /// How far a call is from each start; `u32::MAX` where it leads nowhere.
    pub fn of_call(&self, call: usize) -> &[u32] {
        &self.distances[call * self.starts..(call + 1) * self.starts]
    }

    /// The fault at a call that is nearest to a start, as a node of the graph.
    pub fn nearest(&self, call: usize, start: usize) -> Option<u32> {
        self.get(call, start).map(|_| self.nodes[call * self.starts + start])
    }
}
