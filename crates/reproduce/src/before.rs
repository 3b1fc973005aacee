//! What comes before an observable, by the causal graph.

use std::ops::Range;

use hypocenter_program::{CallId, GraphOptions, Graphs, MethodId, Node, Program, SharedGraph, TypeId};
use hypocenter_ties::copies;

use crate::catalogue::Wanted;

/// No way leads there.
const NEVER: u32 = u32::MAX;

/// See the module.
#[derive(Debug, Default, PartialEq, Eq)]
pub(crate) struct Before {
    /// The faults that can lead to it, sorted: call, what is to be thrown there, and how far it is.
    pub faults: Vec<(CallId, TypeId, u32)>,
    /// The methods in which something leads to it, sorted, and how far that is.
    methods: Vec<(MethodId, u32)>,
    /// Whether it is written where an exception was caught.
    pub is_caught: bool,
}

impl Before {
    /// Of some observables.
    pub(crate) fn of_all(program: &Program, observables: &[&Wanted]) -> Vec<Before> {
        let lines: Vec<Vec<(MethodId, u16)>> = observables.iter().map(|it| starts(program, it)).collect();
        let (world, faults) = (&program.world, &program.faults);
        let takes = |call, exception| faults.thrown(world, call, exception).is_some();
        let graph = Graphs::of(program.causes()).share(&lines, GraphOptions::default(), takes);
        Places::of(program, &graph).before(&graph)
    }

    /// How far a fault is, if it can lead there.
    pub(crate) fn fault(&self, call: CallId, class: TypeId) -> Option<u32> {
        let at = self.faults.binary_search_by_key(&(call, class), |it| (it.0, it.1)).ok()?;
        Some(self.faults[at].2)
    }

    /// How far the nearest event of a method is, if it has one.
    pub(crate) fn method(&self, method: MethodId) -> Option<u32> {
        let at = self.methods.binary_search_by_key(&method, |it| it.0).ok()?;
        Some(self.methods[at].1)
    }
}

/// What is asked about: nodes that are the same fault, or in the same method.
struct Places {
    faults: Vec<(CallId, TypeId)>,
    methods: Vec<MethodId>,
    /// For each node its fault, or the method of its event, the numbers of which follow those of the faults.
    of_nodes: Vec<u32>,
}

/// What is known of a block of lines.
struct Block {
    /// For each place the lines that were there before.
    reached: Vec<u64>,
    /// For each line how far the places are.
    distances: Vec<Vec<u32>>,
    /// The lines that are written where an exception was caught.
    caught: u64,
}

impl Places {
    fn of(program: &Program, graph: &SharedGraph) -> Places {
        let fault = |node: Node| match node {
            Node::New(call, it) | Node::External(call, it) => {
                Some((call, program.faults.thrown(&program.world, call, it)?))
            }
            _ => None,
        };
        let method = |node: Node| match node {
            Node::Location(method, _) | Node::Condition(method, ..) | Node::Invocation(method) => {
                Some(method)
            }
            Node::Handler(handler) => Some(program.facts.handler(handler).method),
            Node::Internal(call, _) => Some(program.facts.call(call).method),
            _ => None,
        };
        let faults = sorted(graph.nodes().iter().filter_map(|&it| fault(it)));
        let methods = sorted(graph.nodes().iter().filter_map(|&it| method(it)));
        let number = |node: &Node| {
            let of_fault = || faults.binary_search(&fault(*node)?).ok();
            let of_method = || Some(faults.len() + methods.binary_search(&method(*node)?).ok()?);
            of_fault().or_else(of_method).map_or(NEVER, |it| it as u32)
        };
        Places { of_nodes: graph.nodes().iter().map(number).collect(), faults, methods }
    }

    fn before(&self, graph: &SharedGraph) -> Vec<Before> {
        let places = self.faults.len() + self.methods.len();
        let begin = |lines: Range<usize>| Block {
            reached: vec![0; places],
            distances: vec![vec![NEVER; places]; lines.len()],
            caught: 0,
        };
        let found = |block: &mut Block, node: u32, lines: u64, distance: u32| {
            if distance == 1 && matches!(graph.nodes()[node as usize], Node::Handler(_)) {
                block.caught |= lines;
            }
            let Some(reached) = block.reached.get_mut(self.of_nodes[node as usize] as usize) else { return };
            let mut new = lines & !*reached;
            *reached |= new;
            while new != 0 {
                let line = new.trailing_zeros() as usize;
                block.distances[line][self.of_nodes[node as usize] as usize] = distance;
                new &= new - 1;
            }
        };
        graph.each_distance(begin, found).iter().flat_map(|it| self.of_block(it)).collect()
    }

    fn of_block(&self, block: &Block) -> impl Iterator<Item = Before> {
        let is_caught = |bit: usize| block.caught >> bit & 1 == 1;
        block.distances.iter().enumerate().map(move |(bit, it)| self.of_line(it, is_caught(bit)))
    }

    fn of_line(&self, distances: &[u32], is_caught: bool) -> Before {
        let (of_faults, of_methods) = distances.split_at(self.faults.len());
        let faults = self.faults.iter().zip(of_faults).filter(|it| *it.1 != NEVER);
        let methods = self.methods.iter().zip(of_methods).filter(|it| *it.1 != NEVER);
        Before {
            faults: faults.map(|(&(call, class), &distance)| (call, class, distance)).collect(),
            methods: methods.map(|(&method, &distance)| (method, distance)).collect(),
            is_caught,
        }
    }
}

fn sorted<T: Ord>(all: impl Iterator<Item = T>) -> Vec<T> {
    let mut all: Vec<T> = all.collect();
    all.sort_unstable();
    all.dedup();
    all
}

/// From where one goes back from an observable.
pub(crate) fn starts(program: &Program, wanted: &Wanted) -> Vec<(MethodId, u16)> {
    let statements = wanted.statements.iter().flat_map(|&number| copies(program, number));
    let places = statements.flat_map(|it| {
        // What a wrapper writes depends on its caller, and on how the wrapper comes to write it.
        let written = it.via.map(|_| (it.written.method, it.written.instruction));
        std::iter::once((it.method, it.instruction)).chain(written)
    });
    places.collect()
}
