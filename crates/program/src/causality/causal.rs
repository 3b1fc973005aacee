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
//! Only what can happen is followed. A node stands in the context of whoever called its method: what a method returns
//! or throws to one call leads back to that call alone, and a method that must be given a value, or an object that
//! chooses it, to callers that pass such a one. What a call runs is narrowed by what is known of its object.
//!
//! The methods of a level are looked at in parallel and what they lead to is numbered in their order, so the graph does
//! not depend on the number of threads.

use crate::causality::distances::{self, FaultDistances, Ways};
use crate::causality::graphs::Graphs;
use crate::causality::need::Need;
use crate::dataflow::exceptions::{Exception, Exceptions};
use crate::facts::calls::CallGraph;
use crate::facts::tasks::Tasks;
use crate::facts::{CallId, Facts, HandlerId};
use crate::lists::Lists;
use crate::loading::world::{FieldId, MethodId, World};

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
    pub(crate) fn method(self, facts: &Facts) -> Option<MethodId> {
        match self {
            Node::Location(it, _)
            | Node::Condition(it, ..)
            | Node::Escape(it, _)
            | Node::Return(it, _)
            | Node::Operand(it, ..) => Some(it),
            Node::Handler(it) => Some(facts.handler(it).method),
            Node::Internal(it, _) | Node::Carried(it) => Some(facts.call(it).method),
            _ => None,
        }
    }
}

/// By whom the method of a node is looked at as called. What a method returns or throws to one call says nothing of
/// its other callers.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Context {
    /// By anybody.
    Any,
    /// By somebody who gives a parameter, by number, what is needed.
    Given(u16, Need),
    /// By somebody who gives as a parameter, by number, an object that runs this method when it is called by its name.
    Runs(u16, MethodId),
    /// By this call.
    Call(CallId),
}

impl Context {
    /// The context of a parameter that must be something else than what is given already.
    pub fn of_call(self) -> Context {
        match self {
            Context::Call(_) => self,
            _ => Context::Any,
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
}

impl Default for GraphOptions {
    fn default() -> Self {
        GraphOptions { distance_max: 14 }
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
    /// For more than one graph of a program [`Graphs`] is faster.
    pub fn of(
        causes: Causes<'_>,
        starts: &[(MethodId, u16)],
        options: GraphOptions,
        takes: impl Fn(CallId, Exception) -> bool + Sync,
    ) -> CausalGraph {
        Graphs::of(causes).build(starts, options, takes)
    }

    pub(crate) fn new(
        nodes: Vec<Node>,
        starts: Vec<u32>,
        edges: &[(u32, (u32, u8))],
        is_complete: bool,
    ) -> CausalGraph {
        let priors = Lists::of(nodes.len(), edges.iter().copied());
        let mut it = CausalGraph { nodes, distances: Vec::new(), starts, priors, is_complete };
        it.distances = Ways::from(&it, &it.starts, |_, _| true, u32::MAX).distances().to_vec();
        it
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

    /// The shortest ways from a given point, by its number among them.
    pub fn ways(&self, start: usize) -> Ways {
        self.ways_through(start, |_| true)
    }

    /// The shortest ways from a given point, by its number among them, through nodes that may be gone through.
    pub fn ways_through(&self, start: usize, may: impl Fn(&Node) -> bool) -> Ways {
        let start = self.starts.get(start).map_or(&[][..], std::slice::from_ref);
        Ways::from(self, start, |node, _| may(node), u32::MAX)
    }

    /// Tells how far each node is from each of the given points that lead to it: the point, by its number among them, the node,
    /// and the events on the shortest way.
    pub fn each_distance(&self, found: impl FnMut(usize, u32, u32)) {
        distances::each(self, found);
    }

    /// The shortest way from a given point to a node: the nodes, the point first, each with why it is needed.
    pub fn path(&self, start: usize, to: u32) -> Vec<(u32, Option<EdgeKind>)> {
        self.ways(start).path(to)
    }

    /// How far every call at which a fault goes in is from every given point.
    pub fn distances_to_faults(&self) -> FaultDistances {
        FaultDistances::of(self)
    }

    /// The nodes that are still there without a kind of edge, within a distance.
    pub fn without(&self, kind: EdgeKind, distance_max: u32) -> impl Iterator<Item = Node> + '_ {
        let ways = Ways::from(self, &self.starts, |_, it| it != kind, distance_max);
        let nodes = self.nodes.iter().enumerate();
        nodes.filter(move |(at, _)| ways.distance(*at as u32).is_some()).map(|it| *it.1)
    }
}

pub(crate) type Priors = Vec<(Node, Context, EdgeKind)>;

impl Causes<'_> {
    pub(crate) fn location(&self, call: CallId) -> Node {
        let it = self.facts.call(call);
        Node::Location(it.method, it.instruction)
    }
}
