//! A graph of many lines says of each what a graph of its own says.

use std::collections::BTreeMap;

use hypocenter_program::{
    CallGraph, CallId, Causes, ClassPath, Exceptions, Facts, GraphOptions, Graphs, MethodId, Node, Scope,
    Tasks, load,
};

use crate::tools::java_home;

/// A line by the locations that write it.
pub type Line = Vec<(MethodId, u16)>;

/// For each line how far each node is.
type Distances = Vec<BTreeMap<Node, u32>>;

fn nearer(found: &mut BTreeMap<Node, u32>, node: Node, distance: u32) {
    let nearest = found.entry(node).or_insert(distance);
    *nearest = distance.min(*nearest);
}

fn together(graphs: &Graphs<'_>, lines: &[Line], options: GraphOptions) -> Distances {
    let graph = graphs.share(lines, options, takes);
    assert!(graph.is_complete(), "the bound is far away");
    let found = graph.each_distance(
        |lines| vec![BTreeMap::new(); lines.len()],
        |block: &mut Distances, node, lines, distance| {
            for (bit, found) in block.iter_mut().enumerate() {
                if lines >> bit & 1 == 1 {
                    nearer(found, graph.nodes()[node as usize], distance);
                }
            }
        },
    );
    found.into_iter().flatten().collect()
}

fn one_by_one(graphs: &Graphs<'_>, lines: &[Line], options: GraphOptions) -> Distances {
    let of_line = |line: &Line| {
        let graph = graphs.build(line, options, takes);
        let mut found = BTreeMap::new();
        graph.each_distance(|_, node, distance| nearer(&mut found, graph.nodes()[node as usize], distance));
        found
    };
    lines.iter().map(of_line).collect()
}

/// Some faults do not count.
fn takes(call: CallId, _: hypocenter_program::Exception) -> bool {
    call.0 % 7 != 3
}

/// Every call as a line, some lines at two calls, and one that nothing writes.
pub fn every_line(facts: &Facts) -> Vec<Line> {
    let mut lines: Vec<Line> = facts.calls().iter().map(|it| vec![(it.method, it.instruction)]).collect();
    let pairs: Vec<Line> = lines.chunks(2).map(<[Line]>::concat).collect();
    lines.extend(pairs);
    lines.push(Vec::new());
    lines
}

/// Compares the two, and says how many distances of faults they have.
#[track_caller]
pub fn compare(causes: Causes<'_>, lines: &[Line]) -> usize {
    let graphs = Graphs::of(causes);
    let mut faults = 0;
    for distance_max in [3, GraphOptions::default().distance_max] {
        let options = GraphOptions { distance_max };
        let (shared, own) = (together(&graphs, lines, options), one_by_one(&graphs, lines, options));
        assert_eq!(shared.len(), own.len());
        for (number, (shared, own)) in shared.iter().zip(&own).enumerate() {
            assert!(shared == own, "line {number} at most {distance_max} events back");
        }
        faults += own.iter().flat_map(BTreeMap::keys).filter(|it| it.is_fault()).count();
    }
    faults
}

#[test]
fn lines_of_the_http_clients_of_the_jdk_are_as_far_as_in_a_graph_of_their_own() {
    let classes = ClassPath::default().with_jdk(&java_home()).open(17);
    let (world, _) = load(&classes, &Scope::of(&["sun.net".into(), "java.net".into()]));
    let facts = Facts::of(&world);
    let calls = CallGraph::of(&world, &facts);
    let tasks = Tasks::of(&world, &facts);
    let exceptions = Exceptions::of(&world, &facts, &calls);
    let causes =
        Causes { world: &world, facts: &facts, calls: &calls, tasks: &tasks, exceptions: &exceptions };
    // More than fit into one block.
    let step = facts.calls().len() / 70;
    let lines: Vec<Line> =
        facts.calls().iter().step_by(step).map(|it| vec![(it.method, it.instruction)]).collect();
    let faults = compare(causes, &lines);
    assert!(lines.len() > 64 && faults > 1_000, "{} lines, {faults} faults", lines.len());
}
