//! The causal graph: which faults can bring a program to given points.
//!
//! Built backward from a set of program points, level by level (ANDURIL 4.1, Algorithm 1). A *location* needs the
//! branches that decide about it, or the handler or the method it is in. A *condition* needs what its block needs, and
//! values that make it so: writes of a field that can give such a value, returns of a called method, arguments of a
//! caller; fields are followed by jumping to their writes wherever they are, as Pensieve does. A *handler* needs the
//! exceptions that reach it: those of libraries and those that the system makes itself are the faults, at which the
//! search ends; those that only pass through a method lead on into it. An exception that another thread left in a
//! future leads on into that thread's task.
//!
//! The methods of a level are looked at in parallel and what they lead to is numbered in their order, so the graph does
//! not depend on the number of threads.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::calls::CallGraph;
use crate::exceptions::{Exception, Exceptions};
use crate::facts::{CallId, Facts, HandlerId, Write};
use crate::known;
use crate::lists::Lists;
use crate::need::Need;
use crate::priors::Looking;
use crate::tasks::Tasks;
use crate::world::{FieldId, MethodId, World, access};

/// The most nodes of a graph; when they are reached the graph is given as it is, and says so.
const NODES_MAX: usize = 4_000_000;
/// The last operand of an instruction: of a write what is written.
pub(crate) const LAST: u16 = u16::MAX;

/// A node of the graph: something that has to happen.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Node {
    /// An instruction runs.
    Location(MethodId, u16),
    /// A branch goes one way, given as the number of the edge out of its block.
    Condition(MethodId, u16, u16),
    /// A method is entered.
    Invocation(MethodId),
    /// A handler is entered.
    Handler(HandlerId),
    /// A call lets an exception through that comes from within the system.
    Internal(CallId, Exception),
    /// A fault: an exception that a call throws because the called method makes it.
    New(CallId, Exception),
    /// A fault: an exception that a library throws.
    External(CallId, Exception),
    /// An exception leaves a method of the system. This and those below are steps on the way, not events of their own:
    /// they take no distance.
    Escape(MethodId, Exception),
    /// The future that a call is made on ends with an exception.
    Carried(CallId),
    /// A field holds what is needed.
    Field(FieldId, Need),
    /// A method returns what is needed.
    Return(MethodId, Need),
    /// A parameter, by number, is what is needed.
    Parameter(MethodId, u16, Need),
    /// An operand of an instruction, by number, is what is needed.
    Operand(MethodId, u16, u16, Need),
}

impl Node {
    /// Whether the node is a fault, at which the search ends.
    pub fn is_fault(self) -> bool {
        matches!(self, Node::New(..) | Node::External(..))
    }

    /// Whether the node is something that happens, rather than a step on the way.
    pub fn is_event(self) -> bool {
        !matches!(
            self,
            Node::Escape(..)
                | Node::Carried(..)
                | Node::Field(..)
                | Node::Return(..)
                | Node::Parameter(..)
                | Node::Operand(..)
        )
    }

    /// The method whose body is needed to go on, if any.
    fn method(self, facts: &Facts) -> Option<MethodId> {
        match self {
            Node::Location(it, _)
            | Node::Condition(it, ..)
            | Node::Escape(it, _)
            | Node::Return(it, _)
            | Node::Operand(it, ..) => Some(it),
            Node::Handler(it) => Some(facts.handler(it).method),
            Node::Carried(it) => Some(facts.call(it).method),
            _ => None,
        }
    }
}

/// Why one node needs another.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
#[repr(u8)]
pub enum EdgeKind {
    /// A branch decides.
    Control,
    /// The method must be entered.
    Entry,
    /// The handler must be entered.
    Caught,
    /// A call enters the method.
    Call,
    /// A library runs the method because it was handed over.
    Task,
    /// A field must be written.
    Write,
    /// A method must return.
    Return,
    /// A caller must pass it.
    Argument,
    /// A value comes from others.
    Data,
    /// A `throw` must run.
    Throw,
    /// The exception comes out of a method of the system.
    Internal,
    /// The exception comes out of a library.
    External,
    /// The exception is made in the called method.
    New,
    /// The exception comes from another thread, through a future.
    Carried,
}

impl EdgeKind {
    /// All of them.
    pub const ALL: [EdgeKind; 14] = [
        EdgeKind::Control,
        EdgeKind::Entry,
        EdgeKind::Caught,
        EdgeKind::Call,
        EdgeKind::Task,
        EdgeKind::Write,
        EdgeKind::Return,
        EdgeKind::Argument,
        EdgeKind::Data,
        EdgeKind::Throw,
        EdgeKind::Internal,
        EdgeKind::External,
        EdgeKind::New,
        EdgeKind::Carried,
    ];
}

/// What the graph is built from.
#[derive(Debug, Clone, Copy)]
pub struct Causes<'p> {
    /// The names.
    pub world: &'p World,
    /// The facts.
    pub facts: &'p Facts,
    /// Who calls whom.
    pub calls: &'p CallGraph,
    /// What libraries run.
    pub tasks: &'p Tasks,
    /// Where exceptions go.
    pub exceptions: &'p Exceptions,
}

/// How far a graph goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct GraphOptions {
    /// How many events back the search goes. In the end everything in a server depends on everything else; what is
    /// far away is rarely a cause that a person would accept, and a graph of everything ranks nothing.
    pub distance_max: u32,
    /// A kind of edge that is left out, to see what it adds.
    pub without: Option<EdgeKind>,
}

impl Default for GraphOptions {
    fn default() -> Self {
        GraphOptions { distance_max: 14, without: None }
    }
}

/// The causal graph of some points.
#[derive(Debug)]
pub struct CausalGraph {
    nodes: Vec<Node>,
    /// Of each node, from the nearest start.
    distances: Vec<u32>,
    starts: Vec<u32>,
    /// For each node what it needs, and why.
    priors: Lists<(u32, u8)>,
    is_complete: bool,
}

impl CausalGraph {
    /// Builds the graph backward from locations, each a method and an instruction. `takes` says which faults count.
    pub fn of(
        causes: Causes<'_>,
        starts: &[(MethodId, u16)],
        options: GraphOptions,
        takes: impl Fn(CallId, Exception) -> bool + Sync,
    ) -> CausalGraph {
        let mut graph = CausalGraph {
            nodes: Vec::new(),
            distances: Vec::new(),
            starts: Vec::new(),
            priors: Lists::default(),
            is_complete: true,
        };
        let mut numbers: FxHashMap<Node, u32> = FxHashMap::default();
        let mut edges: Vec<(u32, (u32, u8))> = Vec::new();
        for &(method, at) in starts {
            let number = graph.number(&mut numbers, Node::Location(method, at), 0);
            graph.starts.push(number);
        }
        // What is to be looked at of this distance, and of the next.
        let (mut here, mut further) = (graph.starts.clone(), Vec::new());
        here.dedup();
        let mut distance = 0;
        while !here.is_empty() {
            if distance >= options.distance_max || graph.nodes.len() > NODES_MAX {
                graph.is_complete = false;
                break;
            }
            // Steps that take no distance lead to others of the same distance.
            while !here.is_empty() {
                let found = causes.expand(&graph.nodes, std::mem::take(&mut here));
                for (from, priors) in found {
                    for (node, kind) in priors {
                        let is_left_out = match node {
                            Node::External(call, it) | Node::New(call, it) => !takes(call, it),
                            _ => false,
                        };
                        if is_left_out || Some(kind) == options.without {
                            continue;
                        }
                        let known = graph.nodes.len();
                        let there = distance + u32::from(node.is_event());
                        let to = graph.number(&mut numbers, node, there);
                        edges.push((from, (to, kind as u8)));
                        if graph.nodes.len() > known {
                            if node.is_event() { further.push(to) } else { here.push(to) }
                        }
                    }
                }
            }
            std::mem::swap(&mut here, &mut further);
            distance += 1;
        }
        graph.priors = Lists::of(graph.nodes.len(), edges.iter().copied());
        graph
    }

    fn number(&mut self, numbers: &mut FxHashMap<Node, u32>, node: Node, distance: u32) -> u32 {
        *numbers.entry(node).or_insert_with(|| {
            self.nodes.push(node);
            self.distances.push(distance);
            self.nodes.len() as u32 - 1
        })
    }

    /// How far a node is from the nearest of the given points: the events on the shortest way.
    pub fn distance(&self, node: u32) -> u32 {
        self.distances[node as usize]
    }

    /// The nodes; those of the given points first.
    pub fn nodes(&self) -> &[Node] {
        &self.nodes
    }

    /// The numbers of the nodes of the given points, in their order.
    pub fn starts(&self) -> &[u32] {
        &self.starts
    }

    /// What a node needs, and why.
    pub fn priors(&self, node: u32) -> impl Iterator<Item = (u32, EdgeKind)> + '_ {
        self.priors.get(node).iter().map(|&(to, kind)| (to, EdgeKind::ALL[usize::from(kind)]))
    }

    /// How many edges there are.
    pub fn edge_count(&self) -> usize {
        self.priors.items().len()
    }

    /// Whether nothing was left out for its distance or for the size of the graph.
    pub fn is_complete(&self) -> bool {
        self.is_complete
    }

    /// The distance of every node from a given point, by its number among them: the events on the shortest way;
    /// `u32::MAX` for those that it does not lead to.
    pub fn distances(&self, start: usize) -> Vec<u32> {
        self.search(start).0
    }

    /// The shortest way from a given point to a node: the nodes, the point first, each with why it is needed.
    pub fn path(&self, start: usize, to: u32) -> Vec<(u32, Option<EdgeKind>)> {
        let (distances, before) = self.search(start);
        if distances.get(to as usize).is_none_or(|&it| it == u32::MAX) {
            return Vec::new();
        }
        let mut path = Vec::new();
        let mut node = to;
        loop {
            let (previous, kind) = before[node as usize];
            let is_start = previous == u32::MAX;
            path.push((node, (!is_start).then(|| EdgeKind::ALL[usize::from(kind)])));
            if is_start {
                break;
            }
            node = previous;
        }
        path.reverse();
        path
    }

    fn search(&self, start: usize) -> (Vec<u32>, Vec<(u32, u8)>) {
        let mut distances = vec![u32::MAX; self.nodes.len()];
        let mut before = vec![(u32::MAX, 0u8); self.nodes.len()];
        let Some(&start) = self.starts.get(start) else { return (distances, before) };
        distances[start as usize] = 0;
        // Steps of slicing take no distance, so they go to the front.
        let mut pending = std::collections::VecDeque::from([start]);
        let mut settled = vec![false; self.nodes.len()];
        while let Some(node) = pending.pop_front() {
            if std::mem::replace(&mut settled[node as usize], true) {
                continue;
            }
            let here = distances[node as usize];
            for &(to, kind) in self.priors.get(node) {
                let is_event = self.nodes[to as usize].is_event();
                let there = here + u32::from(is_event);
                if there < distances[to as usize] {
                    distances[to as usize] = there;
                    before[to as usize] = (node, kind);
                    if is_event {
                        pending.push_back(to);
                    } else {
                        pending.push_front(to);
                    }
                }
            }
        }
        (distances, before)
    }
}

pub(crate) type Priors = Vec<(Node, EdgeKind)>;

impl Causes<'_> {
    /// What each node of a level needs, in their order.
    fn expand(&self, nodes: &[Node], level: Vec<u32>) -> Vec<(u32, Priors)> {
        // Nodes of one method share its body.
        let mut keyed: Vec<(Option<MethodId>, u32)> =
            level.iter().map(|&it| (nodes[it as usize].method(self.facts), it)).collect();
        keyed.sort_unstable();
        let groups: Vec<&[(Option<MethodId>, u32)]> = keyed.chunk_by(|a, b| a.0 == b.0).collect();
        let mut found: Vec<(u32, Priors)> = groups
            .par_iter()
            .flat_map_iter(|group| {
                let ids = || group.iter().map(|it| it.1);
                match group[0].0 {
                    None => ids().map(|it| (it, self.without_body(nodes[it as usize]))).collect::<Vec<_>>(),
                    Some(method) => {
                        let seen = self.world.look(method, |view| {
                            let mut looking = Looking::new(*self, view);
                            ids().map(|it| (it, looking.priors(nodes[it as usize]))).collect()
                        });
                        seen.unwrap_or_default()
                    }
                }
            })
            .collect();
        found.sort_by_key(|it| it.0);
        found
    }

    fn without_body(&self, node: Node) -> Priors {
        match node {
            Node::Invocation(method) => self.entered(method),
            Node::Field(field, need) => {
                let writes = self.facts.writes(field).iter().filter(|it| need.allows(it.given));
                let operand = |it: &Write| Node::Operand(it.method, it.instruction, LAST, need);
                writes.map(|it| (operand(it), EdgeKind::Write)).collect()
            }
            Node::Internal(call, exception) => self.let_through(call, exception),
            Node::Parameter(method, number, need) => self.passed(method, number, need),
            _ => Vec::new(),
        }
    }

    /// The methods of the system out of which a call lets an exception.
    fn let_through(&self, call: CallId, exception: Exception) -> Priors {
        let targets = self.calls.targets(self.facts.call(call)).iter().chain(self.exceptions.run_by(call));
        let escapes = targets
            .filter(|&&it| self.exceptions.escapes(it).iter().any(|&all| all.may_be(exception, self.world)));
        escapes.map(|&it| (Node::Escape(it, exception), EdgeKind::Internal)).collect()
    }

    pub(crate) fn location(&self, call: CallId) -> Node {
        let it = self.facts.call(call);
        Node::Location(it.method, it.instruction)
    }

    fn entered(&self, method: MethodId) -> Priors {
        let mut priors = Vec::new();
        // What the compiler put between a caller and a method is not worth a node.
        let mut seen = vec![method];
        let mut done = 0;
        while let Some(&method) = seen.get(done) {
            done += 1;
            for call in self.calls.callers(method) {
                let caller = self.facts.call(call).method;
                if !self.is_passage(caller) {
                    priors.push((self.location(call), EdgeKind::Call));
                } else if !seen.contains(&caller) {
                    seen.push(caller);
                }
            }
            self.handed(method, &mut priors);
        }
        priors.sort_unstable();
        priors.dedup();
        priors
    }

    /// Whether a method only leads to another: a bridge, or the way to a private member of another class.
    fn is_passage(&self, method: MethodId) -> bool {
        let is_synthetic = self.world.method(method).access & access::SYNTHETIC != 0;
        is_synthetic && !self.world.method_name(method).starts_with(b"lambda$")
    }

    /// The calls after which a library runs a method.
    fn handed(&self, method: MethodId, priors: &mut Priors) {
        let handed = self.tasks.handed(method);
        for &call in handed {
            priors.push((self.location(call), EdgeKind::Task));
            let callee = self.facts.call(call).callee.map(|it| self.world.method_ref(it));
            if callee.is_some_and(|it| known::runs_after_failure(self.world.signature(it.signature).0)) {
                priors.push((Node::Carried(call), EdgeKind::Carried));
            }
        }
        if !handed.is_empty() {
            return;
        }
        // Nobody is seen handing it over; then it must at least have been made.
        let lambdas = self.tasks.lambdas(method).iter().map(|&it| &self.facts.lambdas()[it as usize]);
        priors.extend(lambdas.map(|it| (Node::Location(it.method, it.instruction), EdgeKind::Task)));
        if priors.is_empty() && self.world.is_callback(method) {
            let made = self.facts.made_at(self.world.method(method).owner);
            priors.extend(made.map(|it| (Node::Location(it.method, it.instruction), EdgeKind::Task)));
        }
    }

    fn passed(&self, method: MethodId, number: u16, need: Need) -> Priors {
        let mut priors: Priors = Vec::new();
        for call in self.calls.callers(method) {
            let it = self.facts.call(call);
            priors.push((Node::Operand(it.method, it.instruction, number, need), EdgeKind::Argument));
        }
        priors.sort_unstable();
        priors.dedup();
        priors
    }
}
