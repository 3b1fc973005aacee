//! How far everything in a causal graph is from the points that it was built from.

use rustc_hash::FxHashMap;

use crate::causality::causal::{CausalGraph, EdgeKind, Node};
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
    /// Searches from some nodes along those edges that are to be followed, by the node that they lead to and their kind, and no
    /// further than a bound.
    pub(crate) fn from(
        graph: &CausalGraph,
        starts: &[u32],
        follows: impl Fn(&Node, EdgeKind) -> bool,
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
                    let next = &graph.nodes()[to as usize];
                    let is_event = next.is_event();
                    let there = distance + u32::from(is_event);
                    if there >= it.distances[to as usize] || !follows(next, kind) {
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

/// Tells how far each node is from each of the points that lead to it: the point, by its number, the node and the distance. It
/// searches from many points at once, each of which is a bit.
pub(crate) fn each(graph: &CausalGraph, mut found: impl FnMut(usize, u32, u32)) {
    let count = graph.nodes().len();
    let mut reached = vec![0_u64; count];
    let [mut here, mut further] = [(); 2].map(|()| Border::default());
    for (block, starts) in graph.starts().chunks(64).enumerate() {
        reached.fill(0);
        let mut reach = |node: u32, points: u64, distance: u32, border: &mut Border| {
            let mut new = points & !reached[node as usize];
            reached[node as usize] |= new;
            border.add(node, new);
            while new != 0 {
                found(64 * block + new.trailing_zeros() as usize, node, distance);
                new &= new - 1;
            }
        };
        for (at, &start) in starts.iter().enumerate() {
            reach(start, 1 << at, 0, &mut here);
        }
        let mut distance = 0;
        while !here.nodes.is_empty() {
            // Steps of slicing take no distance.
            while let Some((node, points)) = here.pop() {
                for (to, _) in graph.priors(node) {
                    if graph.nodes()[to as usize].is_event() {
                        reach(to, points, distance + 1, &mut further);
                    } else {
                        reach(to, points, distance, &mut here);
                    }
                }
            }
            std::mem::swap(&mut here, &mut further);
            distance += 1;
        }
    }
}

/// Nodes from which it goes on, and the points that lead there and were not followed further.
#[derive(Debug, Default)]
pub(crate) struct Border {
    nodes: Vec<u32>,
    points: Vec<u64>,
}

impl Border {
    pub fn is_empty(&self) -> bool {
        self.nodes.is_empty()
    }

    pub fn add(&mut self, node: u32, points: u64) {
        if node as usize >= self.points.len() {
            self.points.resize(node as usize + 1, 0);
        }
        if points != 0 && self.points[node as usize] == 0 {
            self.nodes.push(node);
        }
        self.points[node as usize] |= points;
    }

    pub fn pop(&mut self) -> Option<(u32, u64)> {
        let node = self.nodes.pop()?;
        Some((node, std::mem::take(&mut self.points[node as usize])))
    }

    /// All nodes, each with its points; none are left.
    pub fn take(&mut self) -> Vec<(u32, u64)> {
        let nodes = std::mem::take(&mut self.nodes);
        nodes.into_iter().map(|it| (it, std::mem::take(&mut self.points[it as usize]))).collect()
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
        let mut calls: Vec<CallId> = faults.iter().map(|it| it.0).collect();
        calls.dedup();
        let row = |call: &CallId| calls.binary_search(call).unwrap_or_else(|it| it);
        let rows: FxHashMap<u32, usize> = faults.iter().map(|(call, node)| (*node, row(call))).collect();
        let starts = graph.starts().len();
        let mut nearest = vec![(NEVER, NEVER); calls.len() * starts];
        each(graph, |start, node, distance| {
            if let Some(row) = rows.get(&node) {
                let nearest = &mut nearest[row * starts + start];
                *nearest = (distance, node).min(*nearest);
            }
        });
        let (distances, nodes) = nearest.into_iter().unzip();
        FaultDistances { calls, starts, distances, nodes }
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
