//! Steps and joins in the form in which they are searched.

use super::components::components;
use super::{Injects, Joins, Step};

/// Highest value of [`Node::units`], for a score of 1.
pub(super) const UNITS_MAX: u32 = 1 << 31;
/// Rank of a step that injects nothing: no chain starts with it, and it may be anywhere behind the start.
pub(super) const RANK_STATIC: u32 = u32::MAX;

/// A step of the graph.
#[derive(Debug, Clone, Copy)]
pub(super) struct Node {
    pub effect: u32,
    /// Position among the injected steps by score and index, or [`RANK_STATIC`].
    pub rank: u32,
    /// Score as a whole number, so that sums do not depend on their order.
    pub units: u32,
    pub is_delay: bool,
}

/// Steps ordered by cause, so that those that may follow a step lie together, and faults numbered without gaps.
#[derive(Debug)]
pub(super) struct Graph {
    nodes: Vec<Node>,
    causes: Vec<u32>,
    /// Index of each step in the input.
    given: Vec<u32>,
    /// Joins within a strongly connected component. A cycle has no others.
    joins: Joins,
    faults: usize,
}

impl Graph {
    pub(super) fn new(steps: &[Step], joins: &Joins) -> Graph {
        let mut faults: Vec<u32> = steps.iter().flat_map(|it| [it.cause, it.effect]).collect();
        faults.sort_unstable();
        faults.dedup();
        let number = |fault: u32| faults.partition_point(|it| *it < fault) as u32;

        let mut given: Vec<u32> = (0..steps.len() as u32).collect();
        given.sort_unstable_by_key(|it| (steps[*it as usize].cause, *it));
        let mut own = vec![0; steps.len()];
        (0..).zip(&given).for_each(|(at, it)| own[*it as usize] = at);

        let step = |it: u32| &steps[it as usize];
        let mut nodes: Vec<Node> = given.iter().map(|it| node(step(*it), number(step(*it).effect))).collect();
        let mut ranked: Vec<u32> = (0..nodes.len() as u32).collect();
        ranked.retain(|it| step(given[*it as usize]).injects != Injects::Nothing);
        ranked.sort_unstable_by_key(|it| (nodes[*it as usize].units, given[*it as usize]));
        (0..).zip(&ranked).for_each(|(rank, it)| nodes[*it as usize].rank = rank);

        let renumbered = Joins::from_rows(nodes.len(), |at, row| {
            row.extend(joins.following(given[at]).iter().map(|it| own[*it as usize]));
            row.sort_unstable();
        });
        let component = components(&renumbered);
        let joins = Joins::from_rows(nodes.len(), |at, row| {
            let inside = |it: &u32| component[*it as usize] == component[at];
            row.extend(renumbered.following(at as u32).iter().copied().filter(inside));
        });
        let causes = given.iter().map(|it| number(step(*it).cause)).collect();
        Graph { nodes, causes, given, joins, faults: faults.len() }
    }

    pub(super) fn node(&self, step: u32) -> &Node {
        &self.nodes[step as usize]
    }

    pub(super) fn cause(&self, step: u32) -> u32 {
        self.causes[step as usize]
    }

    /// Index of a step in the input.
    pub(super) fn given(&self, step: u32) -> u32 {
        self.given[step as usize]
    }

    pub(super) fn joins(&self) -> &Joins {
        &self.joins
    }

    /// Number of faults. They are numbered from 0.
    pub(super) fn faults(&self) -> usize {
        self.faults
    }

    /// Steps from which a chain may start, sorted.
    ///
    /// A chain starts with the best injected step of its cycle, by score and then by index, and no injected step in it ranks
    /// before its start. So a cycle is found in one of its rotations only, and the beam is not spent on the others. This start is
    /// chosen because of the cut. The start scores no worse than the mean of its cycle, and the lower a chain scores, the
    /// more steps it may take: the front of the beam is the least restricted. With an arbitrary start, such as the lowest index,
    /// a cycle could have to begin with its worst step and be cut at once, while chains that may take hardly any step
    /// fill the beam. A cycle is lost only if, at one of its lengths, the beam is full of chains as good as its own.
    pub(super) fn starts(&self) -> impl Iterator<Item = u32> + '_ {
        let is_start = |it: &u32| self.node(*it).rank != RANK_STATIC && !self.joins.following(*it).is_empty();
        (0..self.nodes.len() as u32).filter(is_start)
    }
}

/// A step without its rank.
fn node(step: &Step, effect: u32) -> Node {
    let score = match step.injects {
        Injects::Nothing => 0.0,
        Injects::Delay | Injects::Other => f64::from(step.score),
    };
    let units = (score * f64::from(UNITS_MAX)).round() as u32;
    Node { effect, rank: RANK_STATIC, units, is_delay: step.injects == Injects::Delay }
}
