//! The causal graph while it is built, level by level, backward from the points that are asked about.

use std::sync::{Arc, Mutex};

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::causality::body_cache::BodyCache;
use crate::causality::causal::{CausalGraph, Causes, Context, EdgeKind, GraphOptions, LAST, Node, Priors};
use crate::causality::need::Need;
use crate::causality::priors::{Looking, given_by};
use crate::causality::receivers::{Callers, Class};
use crate::dataflow::exceptions::Exception;
use crate::facts::known;
use crate::facts::{CallId, CallKind, Write};
use crate::loading::world::{FieldId, MethodId, RefId, TypeId, access};
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;

/// The most nodes of a graph; when they are reached the graph is given as it is, and says so.
const NODES_MAX: usize = 1_000_000;

/// Causal graphs of one program: what one of them has found out about methods and fields, the next knows.
#[derive(Debug)]
pub struct Graphs<'p> {
    pub(crate) causes: Causes<'p>,
    pub(crate) bodies: BodyCache<'p>,
    /// The class `Object`.
    pub(crate) object: Option<TypeId>,
    /// Of each reference that was asked for, which of its calls may run which method.
    pub(crate) calls_of: Mutex<FxHashMap<RefId, Arc<Callers>>>,
    /// Of which classes is what a field holds, and what a method returns.
    pub(crate) held: Mutex<FxHashMap<FieldId, Option<Arc<[Class]>>>>,
    pub(crate) returned: Mutex<FxHashMap<MethodId, Option<Arc<[Class]>>>>,
    /// Whether a method can return what is needed, looked at so many calls deep.
    pub(crate) answers: Mutex<FxHashMap<(MethodId, Need, u8), bool>>,
    /// Whether only libraries run a lambda.
    pub(crate) handed_only: Mutex<FxHashMap<MethodId, bool>>,
}

/// A graph that grows.
#[derive(Default)]
struct Growing {
    nodes: Vec<Node>,
    contexts: Vec<Context>,
    numbers: FxHashMap<(Node, Context), u32>,
    edges: Vec<(u32, (u32, u8))>,
    /// What is to be looked at of this distance, and of the next.
    here: Vec<u32>,
    further: Vec<u32>,
    /// For each call by which a method is looked at, the contexts in which that call stands.
    askers: FxHashMap<CallId, Vec<Context>>,
    /// For each of them the nodes that lead back to it.
    waiting: FxHashMap<CallId, Vec<u32>>,
}

impl Growing {
    fn number(&mut self, node: Node, context: Context) -> u32 {
        *self.numbers.entry((node, context)).or_insert_with(|| {
            self.nodes.push(node);
            self.contexts.push(context);
            self.nodes.len() as u32 - 1
        })
    }

    fn add(&mut self, from: u32, node: Node, context: Context, kind: EdgeKind) {
        let known = self.nodes.len();
        let to = self.number(node, context);
        self.edges.push((from, (to, kind as u8)));
        if self.nodes.len() > known {
            if node.is_event() { self.further.push(to) } else { self.here.push(to) }
        }
    }
}

impl<'p> Graphs<'p> {
    /// Graphs of a program.
    pub fn of(causes: Causes<'p>) -> Graphs<'p> {
        Graphs {
            causes,
            bodies: BodyCache::of(causes.world),
            object: causes.world.find_type(b"java/lang/Object"),
            calls_of: Mutex::default(),
            held: Mutex::default(),
            returned: Mutex::default(),
            answers: Mutex::default(),
            handed_only: Mutex::default(),
        }
    }

    /// Builds a graph backward from locations, each a method and an instruction. `takes` says which faults count.
    pub fn build(
        &self,
        starts: &[(MethodId, u16)],
        options: GraphOptions,
        takes: impl Fn(CallId, Exception) -> bool + Sync,
    ) -> CausalGraph {
        let mut growing = Growing::default();
        let mut numbers = Vec::new();
        for &(method, at) in starts {
            let number = growing.number(Node::Location(method, at), Context::Any);
            numbers.push(number);
        }
        growing.here = (0..growing.nodes.len() as u32).collect();
        let mut is_complete = true;
        let mut distance = 0;
        while !growing.here.is_empty() {
            if distance >= options.distance_max || growing.nodes.len() > NODES_MAX {
                is_complete = false;
                break;
            }
            // Steps that take no distance lead to others of the same distance.
            while !growing.here.is_empty() && growing.nodes.len() <= NODES_MAX {
                self.grow(&mut growing, &takes);
            }
            std::mem::swap(&mut growing.here, &mut growing.further);
            distance += 1;
        }
        is_complete &= growing.nodes.len() <= NODES_MAX;
        CausalGraph::new(growing.nodes, numbers, &growing.edges, is_complete)
    }

    fn grow(&self, growing: &mut Growing, takes: &(impl Fn(CallId, Exception) -> bool + Sync)) {
        let mut level = std::mem::take(&mut growing.here);
        // Back to the call by which the method is looked at.
        level.retain(|&it| {
            let Some(call) = leads_back(growing.nodes[it as usize], growing.contexts[it as usize]) else {
                return true;
            };
            growing.waiting.entry(call).or_default().push(it);
            for context in growing.askers.get(&call).cloned().unwrap_or_default() {
                self.lead_back(growing, it, call, context);
            }
            false
        });
        for (from, priors) in self.expand(&growing.nodes, &growing.contexts, level, takes) {
            for (node, context, kind) in priors {
                growing.add(from, node, context, kind);
                let Some(call) = asks(node, context) else { continue };
                let asking = growing.contexts[from as usize];
                let askers = growing.askers.entry(call).or_default();
                if !askers.contains(&asking) {
                    askers.push(asking);
                    for it in growing.waiting.get(&call).cloned().unwrap_or_default() {
                        self.lead_back(growing, it, call, asking);
                    }
                }
            }
        }
    }

    /// Adds what a node needs of the call by which its method is looked at.
    fn lead_back(&self, growing: &mut Growing, from: u32, call: CallId, context: Context) {
        let node = growing.nodes[from as usize];
        let kind = if let Node::Parameter(..) = node { EdgeKind::Argument } else { EdgeKind::Call };
        growing.add(from, self.in_call(node, call), context, kind);
    }

    /// What a node needs of the call by which its method is looked at.
    pub(crate) fn in_call(&self, node: Node, call: CallId) -> Node {
        let it = self.causes.facts.call(call);
        match node {
            Node::Parameter(_, number, need) => Node::Operand(it.method, it.instruction, number, need),
            _ => self.causes.location(call),
        }
    }

    /// What each node of a level needs, in their order. `takes` says which faults count.
    pub(crate) fn expand(
        &self,
        nodes: &[Node],
        contexts: &[Context],
        level: Vec<u32>,
        takes: &(impl Fn(CallId, Exception) -> bool + Sync),
    ) -> Vec<(u32, Priors)> {
        let at = |it: u32| (nodes[it as usize], contexts[it as usize]);
        let counts = |node: Node| match node {
            Node::External(call, it) | Node::New(call, it) => takes(call, it),
            _ => true,
        };
        // Nodes of one method share its body.
        let mut keyed: Vec<(Option<MethodId>, u32)> =
            level.iter().map(|&it| (at(it).0.method(self.causes.facts), it)).collect();
        keyed.sort_unstable();
        let groups: Vec<&[(Option<MethodId>, u32)]> = keyed.chunk_by(|a, b| a.0 == b.0).collect();
        let mut found: Vec<(u32, Priors)> = groups
            .par_iter()
            .flat_map_iter(|group| {
                let ids = || group.iter().map(|it| it.1);
                let Some(method) = group[0].0 else {
                    let found = ids().collect::<Vec<_>>().into_par_iter().map(|it| {
                        let (node, context) = at(it);
                        (it, self.without_body(node, context))
                    });
                    return found.collect();
                };
                let Some(cached) = self.bodies.get(method) else { return Vec::new() };
                let mut looking = Looking::new(self, &cached);
                let found = ids().map(|it| {
                    let (node, context) = at(it);
                    let mut priors = looking.priors(node, context);
                    priors.retain(|it| counts(it.0));
                    (it, priors)
                });
                found.collect()
            })
            .collect();
        found.sort_by_key(|it| it.0);
        found
    }

    fn without_body(&self, node: Node, context: Context) -> Priors {
        match node {
            Node::Invocation(method) => self.entered(method, context),
            Node::Field(field, need) => {
                let writes = self.causes.facts.writes(field).iter().filter(|it| need.allows(it.given));
                let operand = |it: &Write| Node::Operand(it.method, it.instruction, LAST, need);
                writes.map(|it| (operand(it), Context::Any, EdgeKind::Write)).collect()
            }
            Node::Parameter(method, number, need) => self.passed(method, number, need),
            _ => Vec::new(),
        }
    }

    /// The calls that enter a method; if a parameter must be what is needed, those that may pass it.
    fn entered(&self, method: MethodId, context: Context) -> Priors {
        let facts = self.causes.facts;
        let mut priors = Vec::new();
        // What the compiler put between a caller and a method is not worth a node.
        let mut seen = vec![(method, context)];
        let mut done = 0;
        while let Some(&(method, context)) = seen.get(done) {
            done += 1;
            for call in self.callers(method) {
                let caller = facts.call(call).method;
                let Some(context) = self.passing(call, method, context) else { continue };
                if !self.is_passage(caller) {
                    priors.push((self.causes.location(call), context, EdgeKind::Call));
                } else if !seen.contains(&(caller, context)) {
                    seen.push((caller, context));
                }
            }
            self.handed(method, &mut priors);
        }
        priors.sort_unstable();
        priors.dedup();
        priors
    }

    /// The context of a call that enters a method; none if it does not pass what is needed.
    fn passing(&self, call: CallId, method: MethodId, context: Context) -> Option<Context> {
        let it = self.causes.facts.call(call);
        let Some(cached) = self.bodies.get(it.method) else { return Some(Context::Any) };
        let view = cached.view();
        let operand =
            |number: u16| view.body.operands(it.instruction.into()).get(usize::from(number)).copied();
        match context {
            Context::Given(number, need) => {
                let Some(value) = operand(number) else { return Some(Context::Any) };
                let mut origins = view.body.origins_through_casts(value).into_iter();
                let is_passed = origins.any(|it| need.allows(view.given(it)));
                is_passed.then(|| given_by(&view, value, need))
            }
            Context::Runs(number, runs) => {
                let Some(value) = operand(number) else { return Some(Context::Any) };
                self.may_run(&view, value, runs).then(|| passed_on(&view, value, runs))
            }
            _ => {
                // Whoever gave the object that this call is made on has chosen the method.
                let dispatches = matches!(it.kind, CallKind::Virtual | CallKind::Interface)
                    && self.causes.calls.targets(it).len() > 1;
                let receiver = operand(0).filter(|_| dispatches && !self.is_other(call, method));
                Some(receiver.map_or(Context::Any, |it| passed_on(&view, it, method)))
            }
        }
    }

    /// Whether a method only leads to another: a bridge, or the way to a private member of another class.
    fn is_passage(&self, method: MethodId) -> bool {
        let world = self.causes.world;
        let is_synthetic = world.method(method).access & access::SYNTHETIC != 0;
        is_synthetic && !world.method_name(method).starts_with(b"lambda$")
    }

    /// The calls after which a library runs a method.
    fn handed(&self, method: MethodId, priors: &mut Priors) {
        let Causes { world, facts, tasks, .. } = self.causes;
        let handed = tasks.handed(method);
        for &call in handed {
            let callee = facts.call(call).callee.map(|it| world.method_ref(it));
            let declared = callee.and_then(|it| it.method).map(|it| world.method(it).owner);
            if let (Some(callee), Some(owner)) = (callee, declared)
                && known::runs_nothing(world.type_name(owner), world.signature(callee.signature).0)
            {
                continue;
            }
            priors.push((self.causes.location(call), Context::Any, EdgeKind::Task));
            if callee.is_some_and(|it| known::runs_after_failure(world.signature(it.signature).0)) {
                priors.push((Node::Carried(call), Context::Any, EdgeKind::Carried));
            }
        }
        if !handed.is_empty() {
            return;
        }
        // Nobody is seen handing it over; then it must at least have been made.
        let task = |method: MethodId, at: u16| (Node::Location(method, at), Context::Any, EdgeKind::Task);
        let lambdas = tasks.lambdas(method).iter().map(|&it| &facts.lambdas()[it as usize]);
        priors.extend(lambdas.map(|it| task(it.method, it.instruction)));
        if priors.is_empty() && world.is_callback(method) {
            let made = facts.made_at(world.method(method).owner);
            priors.extend(made.map(|it| task(it.method, it.instruction)));
        }
    }

    fn passed(&self, method: MethodId, number: u16, need: Need) -> Priors {
        let mut priors: Priors = Vec::new();
        for call in self.callers(method) {
            let it = self.causes.facts.call(call);
            let node = Node::Operand(it.method, it.instruction, number, need);
            priors.push((node, Context::Any, EdgeKind::Argument));
        }
        priors.sort_unstable();
        priors.dedup();
        priors
    }
}

/// The context of what happens before a method is chosen by the class of a value.
fn passed_on(view: &MethodView<'_>, value: ValueId, runs: MethodId) -> Context {
    let origins = view.body.origins_through_casts(value);
    match origins[..] {
        [origin] => match view.body.value(origin) {
            Value::Parameter(number) => Context::Runs(number, runs),
            _ => Context::Any,
        },
        _ => Context::Any,
    }
}

/// The call by which the method of a node is looked at, if the node needs something of that call.
pub(crate) fn leads_back(node: Node, context: Context) -> Option<CallId> {
    match (node, context) {
        (Node::Parameter(..) | Node::Invocation(_), Context::Call(call)) => Some(call),
        _ => None,
    }
}

/// The call whose contexts a node asks for, if it is what a method gives to one call.
pub(crate) fn asks(node: Node, context: Context) -> Option<CallId> {
    match (node, context) {
        (Node::Return(..) | Node::Escape(..), Context::Call(call)) => Some(call),
        _ => None,
    }
}
