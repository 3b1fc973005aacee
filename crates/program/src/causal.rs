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

use hypocenter_classfile::op;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::CallGraph;
use crate::dependence::ControlDependence;
use crate::dominance::{Dominance, Edges};
use crate::exceptions::{Exception, Exceptions, Source, Way};
use crate::facts::{CallId, Facts, HandlerId, Thrown, Write};
use crate::flow;
use crate::known;
use crate::lists::Lists;
use crate::need::{Need, needs};
use crate::tasks::Tasks;
use crate::values::{Value, ValueId};
use crate::view::MethodView;
use crate::world::{FieldId, MethodId, World, access};

/// The most nodes of a graph; when they are reached the graph is given as it is, and says so.
const NODES_MAX: usize = 4_000_000;
/// How many operands of operands are followed within one method.
const OPERANDS_MAX: usize = 64;
/// The last operand of an instruction: of a write what is written.
const LAST: u16 = u16::MAX;

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

type Priors = Vec<(Node, EdgeKind)>;

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

    fn location(&self, call: CallId) -> Node {
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

/// The body of a method while the nodes in it are looked at.
struct Looking<'v> {
    causes: Causes<'v>,
    view: MethodView<'v>,
    dependence: Option<ControlDependence>,
    dominance: Option<Dominance>,
    /// The number of the first handler of this method.
    handlers: u32,
    ways: Option<Vec<Way>>,
}

impl<'v> Looking<'v> {
    fn new(causes: Causes<'v>, view: MethodView<'v>) -> Looking<'v> {
        let flow = &view.body.flow;
        let handlers = causes.facts.handlers().partition_point(|it| it.method < view.id) as u32;
        Looking {
            causes,
            view,
            dependence: ControlDependence::of(flow, Edges::Normal).ok(),
            dominance: Dominance::of(flow, Edges::All).ok(),
            handlers,
            ways: None,
        }
    }

    fn priors(&mut self, node: Node) -> Priors {
        let mut priors = Vec::new();
        match node {
            Node::Location(_, at) => {
                self.reached(at.into(), &mut priors);
                self.thrown_here(at.into(), &mut priors);
            }
            Node::Condition(_, at, successor) => {
                self.reached(at.into(), &mut priors);
                self.satisfied(at.into(), successor.into(), &mut priors);
            }
            Node::Handler(handler) => {
                for way in self.ways_to(Some(handler)) {
                    self.comes(way, way.arrives, &mut priors);
                }
            }
            Node::Escape(_, exception) => {
                for way in self.ways_to(None) {
                    if way.arrives.may_be(exception, self.causes.world) {
                        self.comes(way, exception, &mut priors);
                    }
                }
            }
            Node::Carried(call) => self.carried(call, &mut priors),
            Node::Return(_, need) => self.returns(need, &mut priors),
            Node::Operand(_, at, number, need) => self.operand(at.into(), number, need, &mut priors),
            _ => {}
        }
        priors.sort_unstable();
        priors.dedup();
        priors
    }

    fn ways_to(&mut self, to: Option<HandlerId>) -> Vec<Way> {
        let Causes { world, facts, calls, exceptions, .. } = self.causes;
        let ways = self.ways.get_or_insert_with(|| exceptions.ways(world, facts, calls, self.view.id));
        ways.iter().filter(|it| it.to == to).copied().collect()
    }

    fn location(&self, instruction: u32) -> Node {
        Node::Location(self.view.id, instruction as u16)
    }

    fn handler(&self, block: u32) -> Option<HandlerId> {
        let at = self.view.body.flow.handlers.binary_search(&block).ok()?;
        Some(HandlerId(self.handlers + at as u32))
    }

    /// What must have happened for an instruction to be reached.
    fn reached(&self, instruction: u32, priors: &mut Priors) {
        let body = self.view.body;
        let block = body.block_of(instruction);
        let decided = self.dependence.as_ref().map_or(&[][..], |it| it.of_block(block));
        let condition = |branch: u32, successor: u32| {
            let branch = body.flow.blocks[branch as usize].end - 1;
            (Node::Condition(self.view.id, branch as u16, successor as u16), EdgeKind::Control)
        };
        // The head of a loop depends on its own branch, which says nothing of how it was first reached.
        let decided = || decided.iter().filter(|it| it.branch != block);
        priors.extend(decided().map(|it| condition(it.branch, it.successor)));
        // Neither does a branch that comes only later in the same loop: two ways out of a loop depend on each other.
        let dominates = |branch: u32| self.dominance.as_ref().is_none_or(|it| it.dominates(branch, block));
        let is_decided = decided().any(|it| dominates(it.branch));
        let mut here = block;
        loop {
            if let Some(handler) = self.handler(here) {
                if !is_decided {
                    priors.push((Node::Handler(handler), EdgeKind::Caught));
                }
                return;
            }
            // What stands behind a loop depends on no branch, but is reached only by the one that leaves the loop.
            if let Some((branch, successor)) = self.only_way(here) {
                priors.push(condition(branch, successor));
                return;
            }
            match self.dominance.as_ref().and_then(|it| it.immediate(here)) {
                Some(above) => here = above,
                None => break,
            }
        }
        if !is_decided {
            priors.push((Node::Invocation(self.view.id), EdgeKind::Entry));
        }
    }

    /// The branch that is the only way into a block, with the number of the edge.
    fn only_way(&self, block: u32) -> Option<(u32, u32)> {
        let flow = &self.view.body.flow;
        let mut edges = flow.edges().iter().filter(|it| it.to == block && flow.reachable[it.from as usize]);
        let (edge, None) = (edges.next()?, edges.next()) else { return None };
        let out = flow.out_of(edge.from);
        let is_branch = out.iter().filter(|it| it.way != flow::Way::Throw).count() > 1;
        if edge.way == flow::Way::Throw || !is_branch {
            return None;
        }
        let successor = out.iter().position(|it| it == edge)?;
        Some((edge.from, successor as u32))
    }

    /// A `throw` that passes an exception on needs the handler that caught it, wherever it is.
    fn thrown_here(&self, instruction: u32, priors: &mut Priors) {
        if self.view.instruction(instruction).opcode != op::ATHROW {
            return;
        }
        for it in self.causes.facts.throwers(self.view.id) {
            if u32::from(it.instruction) != instruction {
                continue;
            }
            match it.thrown {
                Thrown::New(_, Some(handler))
                | Thrown::Returned(_, Some(handler))
                | Thrown::Again(handler) => {
                    priors.push((Node::Handler(handler), EdgeKind::Caught));
                }
                _ => {}
            }
        }
    }

    /// What makes a branch go one way.
    fn satisfied(&self, branch: u32, successor: usize, priors: &mut Priors) {
        let body = self.view.body;
        let block = body.block_of(branch);
        let Some(edge) = body.flow.out_of(block).get(successor) else { return };
        let is_taken = edge.way == flow::Way::Jump;
        let target = body.flow.first(edge.to).pc;
        for (value, need) in needs(&self.view, branch, is_taken, target) {
            self.follow(value, need, priors);
        }
    }

    fn operand(&self, instruction: u32, number: u16, need: Need, priors: &mut Priors) {
        let operands = self.view.body.operands(instruction);
        let value = if number == LAST { operands.last() } else { operands.get(usize::from(number)) };
        let Some(&value) = value else { return };
        if !need.allows(self.view.given(value)) {
            return;
        }
        priors.push((self.location(instruction), EdgeKind::Data));
        // A value that only matters is followed to where it was last given, and no further: everything matters in
        // the end, and a graph of everything says nothing.
        if need != Need::Any {
            self.follow(value, need, priors);
        }
    }

    fn returns(&self, need: Need, priors: &mut Priors) {
        for (number, instruction) in self.view.body.flow.instructions.iter().enumerate() {
            let number = number as u32;
            let operands = self.view.body.operands(number);
            let (true, Some(&value)) = (instruction.is_return(), operands.first()) else { continue };
            if !need.allows(self.view.given(value)) {
                continue;
            }
            priors.push((Node::Operand(self.view.id, number as u16, 0, need), EdgeKind::Return));
        }
    }

    /// What gives a value that is needed.
    fn follow(&self, value: ValueId, need: Need, priors: &mut Priors) {
        let mut seen: FxHashSet<(ValueId, Need)> = FxHashSet::default();
        let mut pending = vec![(value, need)];
        while let Some((value, need)) = pending.pop() {
            if seen.len() >= OPERANDS_MAX || !seen.insert((value, need)) {
                continue;
            }
            let origins = self.view.body.origins_through_casts(value);
            let is_choice = origins.len() > 1;
            for origin in origins {
                if need.allows(self.view.given(origin)) {
                    self.origin(origin, need, is_choice, priors, &mut pending);
                }
            }
        }
    }

    fn origin(
        &self,
        origin: ValueId,
        need: Need,
        is_choice: bool,
        priors: &mut Priors,
        pending: &mut Vec<(ValueId, Need)>,
    ) {
        let view = &self.view;
        let number = match view.body.value(origin) {
            Value::Result(number) => number,
            Value::Parameter(0) if !view.is_static() => return,
            // Whoever calls gives some argument, and whatever is called returns something: that a value only matters
            // says nothing of who is to blame.
            Value::Parameter(_) if need == Need::Any => return,
            Value::Parameter(it) => {
                priors.push((Node::Parameter(view.id, it, need), EdgeKind::Argument));
                return;
            }
            Value::Caught(block) => {
                priors.extend(self.handler(block).map(|it| (Node::Handler(it), EdgeKind::Caught)));
                return;
            }
            Value::Phi(_) | Value::Unknown => return,
        };
        let opcode = view.instruction(number).opcode;
        let any = |pending: &mut Vec<(ValueId, Need)>| {
            pending.extend(view.body.operands(number).iter().map(|&it| (it, Need::Any)));
        };
        match opcode {
            op::ACONST_NULL..=op::LDC2_W | op::NEW | op::NEWARRAY..=op::ANEWARRAY | op::MULTIANEWARRAY => {
                // A constant is a cause where it was chosen among others: then the choice must have been made.
                if is_choice {
                    priors.push((self.location(number), EdgeKind::Write));
                }
            }
            op::GETFIELD | op::GETSTATIC => {
                if let Some(field) = view.field_at(number) {
                    priors.push((Node::Field(field, need), EdgeKind::Data));
                }
            }
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => self.called(number, need, priors, pending),
            op::IINC => {
                priors.push((self.location(number), EdgeKind::Write));
                any(pending);
            }
            _ => any(pending),
        }
    }

    /// What makes a call return what is needed.
    fn called(&self, number: u32, need: Need, priors: &mut Priors, pending: &mut Vec<(ValueId, Need)>) {
        let Causes { world, facts, calls, .. } = self.causes;
        let view = &self.view;
        let Some(call) = facts.call_at(view.id, number) else { return };
        let targets = calls.targets(facts.call(call));
        if !targets.is_empty() {
            if need == Need::Any {
                return;
            }
            priors.extend(targets.iter().map(|&it| (Node::Return(it, need), EdgeKind::Return)));
            return;
        }
        let operands = view.body.operands(number);
        let Some(callee) = view.callee_at(number).map(|it| world.method_ref(it)) else { return };
        let name = world.signature(callee.signature).0;
        let owner = world.type_name(callee.owner);
        if known::is_box(owner, name) {
            pending.extend(operands.iter().map(|&it| (it, need)));
            return;
        }
        // What a library object answers depends on what it was told before: on the calls on the same field.
        let field = operands
            .first()
            .and_then(|&it| view.field_of(it))
            .filter(|_| view.instruction(number).opcode != op::INVOKESTATIC);
        if let Some(field) = field {
            for &other in facts.calls_on(field) {
                let it = facts.call(other);
                let Some(told) = it.callee.map(|it| world.method_ref(it)) else { continue };
                if other == call || known::only_asks(world.signature(told.signature).0) {
                    continue;
                }
                let sets = known::is_cell(owner) && known::sets_cell(world.signature(told.signature).0);
                let node = if sets {
                    Node::Operand(it.method, it.instruction, LAST, need)
                } else {
                    Node::Location(it.method, it.instruction)
                };
                priors.push((node, EdgeKind::Write));
            }
        }
        pending.extend(operands.iter().map(|&it| (it, Need::Any)));
    }

    /// Where an exception comes from.
    fn comes(&self, way: Way, exception: Exception, priors: &mut Priors) {
        let Causes { world, facts, calls, exceptions, .. } = self.causes;
        let call = match way.source {
            Source::Throw(at) => {
                if let Some(it) = facts.throwers(self.view.id).get(at as usize) {
                    priors.push((Node::Location(self.view.id, it.instruction), EdgeKind::Throw));
                }
                return;
            }
            Source::Call(call) => call,
        };
        let it = facts.call(call);
        let targets = || calls.targets(it).iter().chain(exceptions.run_by(call));
        let passes =
            |target: &MethodId| exceptions.escapes(*target).iter().any(|&all| all.may_be(exception, world));
        if targets().any(passes) {
            priors.push((Node::Internal(call, exception), EdgeKind::Internal));
            if targets().any(|&target| exceptions.creates(target, exception)) {
                priors.push((Node::New(call, exception), EdgeKind::New));
            }
        }
        let is_library = |it| world.method_ref(it).method.is_some_and(|it| !world.is_system_method(it));
        if let Some(callee) = it.callee.filter(|&it| is_library(it)) {
            if exceptions.is_declared(callee, way.thrown) {
                priors.push((Node::External(call, exception), EdgeKind::External));
            }
            let reference = world.method_ref(callee);
            if known::carries(world.type_name(reference.owner), world.signature(reference.signature).0) {
                priors.push((Node::Carried(call), EdgeKind::Carried));
            }
        }
    }

    /// The tasks whose exceptions a future gives to whoever asks it.
    fn carried(&self, call: CallId, priors: &mut Priors) {
        let Causes { world, facts, tasks, exceptions, .. } = self.causes;
        let it = facts.call(call);
        let Some(&receiver) = self.view.body.operands(it.instruction.into()).first() else { return };
        let mut makers: Vec<CallId> = Vec::new();
        let mut fields: Vec<FieldId> = Vec::new();
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut pending = vec![receiver];
        while let Some(value) = pending.pop() {
            for origin in self.view.body.origins_through_casts(value) {
                if !seen.insert(origin) || seen.len() > OPERANDS_MAX {
                    continue;
                }
                fields.extend(self.view.field_of(origin));
                if let Value::Result(number) = self.view.body.value(origin) {
                    makers.extend(facts.call_at(self.view.id, number));
                    pending.extend(self.view.body.operands(number));
                }
            }
        }
        for field in fields {
            makers.extend(facts.calls_on(field));
            for write in facts.writes(field) {
                makers.extend(
                    facts
                        .calls_in(write.method)
                        .filter(|&it| facts.call(it).instruction <= write.instruction),
                );
            }
        }
        let mut run: Vec<MethodId> = makers.iter().flat_map(|&it| tasks.run_by(it)).collect();
        if run.is_empty() {
            // It was kept somewhere that is not followed: what the methods of this class hand over may be behind it.
            let owner = self.world_outer(self.view.id);
            let classes = world.system_classes().iter().filter(|it| outer(world.type_name(it.id)) == owner);
            let methods = classes.flat_map(|it| world.methods_of(it.id));
            let handing = methods.flat_map(|it| facts.calls_in(it)).filter(|&it| self.makes_future(it));
            run = handing.flat_map(|it| tasks.run_by(it)).collect();
        }
        run.sort_unstable();
        run.dedup();
        for method in run {
            for &exception in exceptions.escapes(method) {
                priors.push((Node::Escape(method, exception), EdgeKind::Carried));
            }
        }
        for &maker in &makers {
            let callee = facts.call(maker).callee.map(|it| world.method_ref(it));
            if callee.is_some_and(|it| world.signature(it.signature).0 == b"completeExceptionally") {
                priors.push((self.causes.location(maker), EdgeKind::Carried));
            }
        }
    }

    fn world_outer(&self, method: MethodId) -> &[u8] {
        let world = self.causes.world;
        outer(world.type_name(world.method(method).owner))
    }

    fn makes_future(&self, call: CallId) -> bool {
        let world = self.causes.world;
        let Some(callee) = self.causes.facts.call(call).callee.map(|it| world.method_ref(it)) else {
            return false;
        };
        known::makes_future(world.signature(callee.signature).1)
    }
}

/// The outermost class that a class is nested in, by name.
fn outer(name: &[u8]) -> &[u8] {
    let simple = name.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    let end = name[simple..].iter().skip(1).position(|&b| b == b'$').map_or(name.len(), |at| simple + 1 + at);
    &name[..end]
}
