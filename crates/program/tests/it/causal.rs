//! The causal graph of small programs.

use std::collections::BTreeSet;

use hypocenter_program::{
    CallGraph, CausalGraph, Causes, EdgeKind, Exceptions, Facts, GraphOptions, Label, MethodId, Node, Scope,
    Tasks, Thrown, World, flow, load,
};

use crate::shared::{compare, every_line};
use crate::table::check_table;
use crate::tools::java_home;

struct Graph<'p> {
    world: &'p World,
    facts: &'p Facts,
    graph: CausalGraph,
}

impl Graph<'_> {
    fn line(&self, method: MethodId, instruction: u16) -> Option<u32> {
        self.world.look(method, |view| view.body.line(instruction.into()))?
    }

    /// The line of a node that stands somewhere.
    fn place(&self, node: Node) -> Option<u32> {
        match node {
            Node::Location(method, at) | Node::Condition(method, at, _) | Node::Operand(method, at, ..) => {
                self.line(method, at)
            }
            Node::Handler(it) => Some(self.facts.handler(it).line.into()),
            Node::Internal(call, _) | Node::New(call, _) | Node::External(call, _) | Node::Carried(call) => {
                Some(self.facts.call(call).line.into())
            }
            _ => None,
        }
    }

    fn outcome(&self, node: Node) -> Option<Vec<String>> {
        let Node::Condition(method, at, successor) = node else { return None };
        let line = self.line(method, at)?;
        self.world.look(method, |view| {
            let block = view.body.block_of(at.into());
            let edge = view.body.flow.out_of(block)[usize::from(successor)];
            let instruction = view.instruction(at.into());
            if !matches!(instruction.opcode, 170 | 171) {
                return vec![format!("condition @{line} is {}", edge.way == flow::Way::Fall)];
            }
            let labels = view.labels(at.into(), edge.to).into_iter().map(|it| match it {
                Label::Number(it) => it.to_string(),
                Label::Constant(it) => String::from_utf8_lossy(self.world.field_name(it)).into_owned(),
                Label::Text(it) => it,
                Label::Default => "default".into(),
            });
            labels.map(|it| format!("case {it} of @{line}")).collect()
        })
    }

    /// The facts of one node.
    fn facts_of(&self, number: u32, out: &mut BTreeSet<String>) {
        let Some(here) = self.place(self.graph.nodes()[number as usize]) else { return };
        // Over steps that stand nowhere to those that do.
        let mut pending: Vec<(u32, Option<EdgeKind>)> = vec![(number, None)];
        let mut seen = BTreeSet::new();
        while let Some((from, kind)) = pending.pop() {
            for (to, edge) in self.graph.priors(from) {
                let node = self.graph.nodes()[to as usize];
                let kind = match edge {
                    EdgeKind::Data => kind.unwrap_or(edge),
                    _ => edge,
                };
                match (self.place(node), node) {
                    (None, _) => {
                        if seen.insert(to) {
                            pending.push((to, Some(kind)));
                        }
                    }
                    (Some(_), Node::Condition(..)) => {
                        out.extend(
                            self.outcome(node).into_iter().flatten().map(|it| format!("@{here} needs {it}")),
                        );
                    }
                    (Some(line), Node::Handler(_)) => {
                        out.insert(format!("@{here} needs handler @{line}"));
                    }
                    (Some(line), Node::Internal(_, it) | Node::New(_, it) | Node::External(_, it)) => {
                        let name = self.world.show_type(it.class());
                        let name = name.rsplit(['.', '$']).next().unwrap_or_default();
                        out.insert(format!("@{here} needs exception {name} at @{line}"));
                    }
                    // An operand that cannot be what is needed leads nowhere.
                    (Some(_), Node::Operand(..)) if self.graph.priors(to).next().is_none() => {}
                    (Some(line), _) => {
                        let what = match kind {
                            EdgeKind::Call | EdgeKind::Task => format!("call @{line}"),
                            EdgeKind::Write => format!("write @{line}"),
                            EdgeKind::Return => format!("return @{line}"),
                            EdgeKind::Argument => format!("argument at @{line}"),
                            EdgeKind::Throw => {
                                format!("exception {} at @{line}", self.thrown(from, node))
                            }
                            _ => continue,
                        };
                        out.insert(format!("@{here} needs {what}"));
                    }
                }
            }
        }
    }

    /// Exception of a `throw` that a node needs.
    fn thrown(&self, from: u32, at: Node) -> String {
        let class = match (self.graph.nodes()[from as usize], at) {
            (Node::Escape(_, it), _) => Some(it.class()),
            (_, Node::Location(method, at)) => {
                let here = self.facts.throwers(method).iter().filter(|it| it.instruction == at);
                here.filter_map(|it| if let Thrown::New(class, _) = it.thrown { Some(class) } else { None })
                    .next()
            }
            _ => None,
        };
        let name = class.map(|it| self.world.show_type(it)).unwrap_or_default();
        name.rsplit(['.', '$']).next().unwrap_or_default().to_owned()
    }
}

/// Everything that is to be seen of a graph.
fn shape(graph: &CausalGraph) -> (Vec<Node>, Vec<Vec<(u32, EdgeKind)>>) {
    let nodes = graph.nodes().to_vec();
    let priors = (0..nodes.len() as u32).map(|it| graph.priors(it).collect()).collect();
    (nodes, priors)
}

/// The distances of faults are those of the nearest node of their call, and there is a way of that length.
fn distances_are_those_of_the_ways(graph: &CausalGraph) {
    let mut all: Vec<(usize, u32, u32)> = Vec::new();
    graph.each_distance(|start, node, distance| all.push((start, node, distance)));
    all.sort_unstable();
    let ways = (0..graph.starts().len()).map(|start| (start, graph.ways(start)));
    let one_by_one = ways.flat_map(|(start, ways)| {
        let nodes = 0..graph.nodes().len() as u32;
        nodes.filter_map(move |node| Some((start, node, ways.distance(node)?)))
    });
    assert!(all.iter().copied().eq(one_by_one), "from all points at once as from each");
    let distances = graph.distances_to_faults();
    let mut seen = 0;
    for start in 0..graph.starts().len() {
        let ways = graph.ways(start);
        for (number, &node) in graph.nodes().iter().enumerate() {
            let (Node::New(call, _) | Node::External(call, _)) = node else { continue };
            let at = distances.find(call).expect("every call with a fault has a row");
            let nearest = distances.get(at, start);
            let here = ways.distance(number as u32);
            let is_nearer = |here: u32| nearest.is_some_and(|it| it <= here);
            assert!(here.is_none_or(is_nearer), "{nearest:?} {here:?}");
            assert_eq!(distances.of_call(at)[start], nearest.unwrap_or(u32::MAX));
            let Some(fault) = distances.nearest(at, start) else { continue };
            let path = ways.path(fault);
            assert_eq!(path.first().map(|it| it.0), Some(graph.starts()[start]));
            assert_eq!(path.last().map(|it| it.0), Some(fault));
            let events = path[1..].iter().filter(|it| graph.nodes()[it.0 as usize].is_event()).count();
            assert_eq!(nearest, Some(events as u32));
            for pair in path.windows(2) {
                let (to, kind) = (pair[1].0, pair[1].1.expect("only the start has none"));
                assert!(graph.priors(pair[0].0).any(|it| it == (to, kind)));
            }
            seen += 1;
        }
    }
    assert_eq!(seen == 0, distances.calls().is_empty());
    let nearest = (0..).zip(graph.nodes()).filter(|it| it.1.is_fault()).map(|it| graph.distance(it.0)).min();
    let rows = (0..distances.calls().len()).flat_map(|it| distances.of_call(it)).copied().min();
    assert_eq!(nearest, rows);
}

#[test]
fn the_prior_nodes_of_every_kind() {
    check_table("causal.txt", |row, compiled| {
        let classes = compiled.class_path(row).with_jdk(&java_home()).open(17);
        let (world, problems) = load(&classes, &Scope::of(&["rows".into()]));
        assert!(problems.is_empty(), "{problems:?}");
        let facts = Facts::of(&world);
        let calls = CallGraph::of(&world, &facts);
        let tasks = Tasks::of(&world, &facts);
        let exceptions = Exceptions::of(&world, &facts, &calls);
        let causes =
            Causes { world: &world, facts: &facts, calls: &calls, tasks: &tasks, exceptions: &exceptions };
        let log = row.markers["log"];
        let starts: Vec<(MethodId, u16)> = facts
            .calls()
            .iter()
            .filter(|it| u32::from(it.line) == log)
            .map(|it| (it.method, it.instruction))
            .collect();
        let build = || CausalGraph::of(causes, &starts, GraphOptions::default(), |_, _| true);
        let graph = build();
        distances_are_those_of_the_ways(&graph);
        let alone = rayon::ThreadPoolBuilder::new().num_threads(1).build().unwrap().install(build);
        assert_eq!(shape(&graph), shape(&alone), "the number of threads does not matter");
        compare(causes, &every_line(&facts));
        let graph = Graph { world: &world, facts: &facts, graph };
        let mut out = BTreeSet::new();
        for number in 0..graph.graph.nodes().len() as u32 {
            graph.facts_of(number, &mut out);
        }
        out.into_iter().collect()
    });
}
