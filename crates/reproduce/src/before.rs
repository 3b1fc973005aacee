//! What comes before an observable, by the causal graph.

use hypocenter_program::{CallId, GraphOptions, Graphs, MethodId, Node, Program, TypeId};
use rustc_hash::FxHashMap;

use crate::catalogue::Wanted;
use crate::statements::copies;

/// How many graphs are made at once: of more observables, some share one.
const GRAPHS_MAX: usize = 256;

/// See the module.
#[derive(Debug, Default)]
pub(crate) struct Before {
    /// The faults that can lead to it, each with how far it is: call, what is to be thrown there, and the distance.
    pub faults: FxHashMap<(CallId, TypeId), u32>,
    /// The methods in which something leads to it, and how far that is.
    pub methods: FxHashMap<MethodId, u32>,
    /// Whether it is written where an exception was caught.
    pub is_caught: bool,
}

impl Before {
    /// Of some observables. Each has a graph of its own as long as there are not too many: in one of several, the calls of one are
    /// taken for those of another.
    pub(crate) fn of_all(program: &Program, observables: &[&Wanted]) -> Vec<Before> {
        let graphs = Graphs::of(program.causes());
        let sharing = observables.len().div_ceil(GRAPHS_MAX).max(1);
        observables.chunks(sharing).flat_map(|it| Before::of_graph(program, &graphs, it)).collect()
    }

    /// Of those that share a graph.
    fn of_graph(program: &Program, graphs: &Graphs<'_>, observables: &[&Wanted]) -> Vec<Before> {
        let (world, faults) = (&program.world, &program.faults);
        let mut starts: Vec<(MethodId, u16)> = Vec::new();
        let mut owners: Vec<usize> = Vec::new();
        for (owner, wanted) in observables.iter().enumerate() {
            starts.extend(self::starts(program, wanted));
            owners.resize(starts.len(), owner);
        }
        let takes = |call, exception| faults.thrown(world, call, exception).is_some();
        let graph = graphs.build(&starts, GraphOptions::default(), takes);
        let mut found: Vec<Before> = observables.iter().map(|_| Before::default()).collect();
        graph.each_distance(|start, node, distance| {
            let before = &mut found[owners[start]];
            let node = graph.nodes()[node as usize];
            let method = match node {
                Node::New(call, it) | Node::External(call, it) => {
                    if let Some(class) = faults.thrown(world, call, it) {
                        nearer(before.faults.entry((call, class)).or_insert(distance), distance);
                    }
                    return;
                }
                Node::Location(method, _) | Node::Condition(method, ..) | Node::Invocation(method) => method,
                Node::Handler(handler) => program.facts.handler(handler).method,
                Node::Internal(call, _) => program.facts.call(call).method,
                _ => return,
            };
            before.is_caught |= matches!(node, Node::Handler(_)) && distance == 1;
            nearer(before.methods.entry(method).or_insert(distance), distance);
        });
        found
    }
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

fn nearer(nearest: &mut u32, distance: u32) {
    *nearest = distance.min(*nearest);
}
