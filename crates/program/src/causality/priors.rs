//! What a node of the causal graph needs, as far as the body of its method says it.

use hypocenter_classfile::op;
use rustc_hash::FxHashSet;

use crate::causality::answers::returned;
use crate::causality::body_cache::CachedBody;
use crate::causality::causal::{Causes, Context, EdgeKind, LAST, Node, Priors};
use crate::causality::graphs::Graphs;
use crate::causality::need::{Need, needs};
use crate::dataflow::exceptions::{Exception, Source, Way};
use crate::facts::known;
use crate::facts::{CallId, HandlerId, Thrown};
use crate::loading::world::{FieldId, MethodId};
use crate::methods::flow;
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;

/// How many operands of operands are followed within one method.
const OPERANDS_MAX: usize = 64;

/// The body of a method while the nodes in it are looked at.
pub(crate) struct Looking<'v, 'p> {
    graphs: &'v Graphs<'p>,
    causes: Causes<'p>,
    cached: &'v CachedBody<'p>,
    view: MethodView<'v>,
    /// The number of the first handler of this method.
    handlers: u32,
    /// Of the node that is being looked at.
    context: Context,
}

impl<'v, 'p> Looking<'v, 'p> {
    pub fn new(graphs: &'v Graphs<'p>, cached: &'v CachedBody<'p>) -> Looking<'v, 'p> {
        let (view, causes) = (cached.view(), graphs.causes);
        let handlers = causes.facts.handlers().partition_point(|it| it.method < view.id) as u32;
        Looking { graphs, causes, cached, view, handlers, context: Context::Any }
    }

    pub fn priors(&mut self, node: Node, context: Context) -> Priors {
        self.context = context;
        let mut priors = Vec::new();
        match node {
            Node::Location(_, at) => {
                self.reached(at.into(), context, &mut priors);
                self.thrown_here(at.into(), &mut priors);
            }
            Node::Condition(_, at, successor) => self.decided(at.into(), successor.into(), &mut priors),
            Node::Handler(handler) => {
                for way in self.ways_to(Some(handler)) {
                    let is_whole = way.thrown == way.arrives;
                    let arrives = if is_whole { way.arrives } else { way.arrives.as_part() };
                    self.comes(way, arrives, &mut priors);
                }
            }
            Node::Escape(_, exception) => {
                for way in self.ways_to(None).filter(|it| self.is_one(it.arrives, exception)) {
                    let is_all = way.arrives == exception.whole();
                    self.comes(way, if is_all { way.arrives } else { exception }, &mut priors);
                }
            }
            Node::Internal(call, exception) => self.let_through(call, exception, &mut priors),
            Node::Carried(call) => self.carried(call, &mut priors),
            Node::Return(_, need) => self.returns(need, &mut priors),
            Node::Operand(_, at, number, need) => self.operand(at.into(), number, need, &mut priors),
            _ => {}
        }
        priors.sort_unstable();
        priors.dedup();
        priors
    }

    fn ways_to(&self, to: Option<HandlerId>) -> impl Iterator<Item = Way> + use<'v, 'p> {
        let Causes { world, facts, calls, exceptions, .. } = self.causes;
        let id = self.view.id;
        let ways = self.cached.ways(|| exceptions.ways(world, facts, calls, id));
        ways.iter().filter(move |it| it.to == to).copied()
    }

    fn location(&self, instruction: u32) -> Node {
        Node::Location(self.view.id, instruction as u16)
    }

    fn handler(&self, block: u32) -> Option<HandlerId> {
        let at = self.view.body.flow.handlers.binary_search(&block).ok()?;
        Some(HandlerId(self.handlers + at as u32))
    }

    /// What a branch needs to be reached and to go one way.
    fn decided(&self, branch: u32, successor: usize, priors: &mut Priors) {
        let body = self.view.body;
        let block = body.block_of(branch);
        let needs = body.flow.out_of(block).get(successor).map_or_else(Vec::new, |edge| {
            let is_taken = edge.way == flow::Way::Jump;
            needs(&self.view, branch, is_taken, body.flow.first(edge.to).pc)
        });
        // Only who passes what is needed has called.
        let context = match needs[..] {
            [(value, need)] => self.given_by(value, need),
            _ => self.context,
        };
        self.reached(branch, context, priors);
        for (value, need) in needs {
            self.follow(value, need, priors);
        }
    }

    /// The context of what happens before a value was what is needed: if the caller gives it, then in that call.
    fn given_by(&self, value: ValueId, need: Need) -> Context {
        match self.context {
            Context::Any => given_by(&self.view, value, need),
            other => other,
        }
    }

    /// What must have happened for an instruction to be reached.
    fn reached(&self, instruction: u32, context: Context, priors: &mut Priors) {
        let body = self.view.body;
        let block = body.block_of(instruction);
        let decided = self.cached.dependence().map_or(&[][..], |it| it.of_block(block));
        let condition = |branch: u32, successor: u32| {
            let branch = body.flow.blocks[branch as usize].end - 1;
            (Node::Condition(self.view.id, branch as u16, successor as u16), context, EdgeKind::Control)
        };
        // The head of a loop depends on its own branch, which says nothing of how it was first reached.
        let decided = || decided.iter().filter(|it| it.branch != block);
        priors.extend(decided().map(|it| condition(it.branch, it.successor)));
        // Neither does a branch that comes only later in the same loop: two ways out of a loop depend on each other.
        let dominates = |branch: u32| self.cached.dominance().is_none_or(|it| it.dominates(branch, block));
        let is_decided = decided().any(|it| dominates(it.branch));
        let mut here = block;
        loop {
            if let Some(handler) = self.handler(here) {
                if !is_decided {
                    priors.push((Node::Handler(handler), context, EdgeKind::Caught));
                }
                return;
            }
            // What stands behind a loop depends on no branch, but is reached only by the one that leaves the loop.
            if let Some((branch, successor)) = self.only_way(here) {
                priors.push(condition(branch, successor));
                return;
            }
            match self.cached.dominance().and_then(|it| it.immediate(here)) {
                Some(above) => here = above,
                None => break,
            }
        }
        if !is_decided {
            priors.push((Node::Invocation(self.view.id), context, EdgeKind::Entry));
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
                    priors.push((Node::Handler(handler), self.context, EdgeKind::Caught));
                }
                _ => {}
            }
        }
    }

    fn operand(&self, instruction: u32, number: u16, need: Need, priors: &mut Priors) {
        let operands = self.view.body.operands(instruction);
        let value = if number == LAST { operands.last() } else { operands.get(usize::from(number)) };
        let Some(&value) = value else { return };
        if !self.graphs.may_be(&self.view, value, need) {
            return;
        }
        priors.push((self.location(instruction), self.given_by(value, need), EdgeKind::Data));
        // A value that only matters is followed to where it was last given, and no further: everything matters in
        // the end, and a graph of everything says nothing.
        if need != Need::Any {
            self.follow(value, need, priors);
        }
    }

    fn returns(&self, need: Need, priors: &mut Priors) {
        for (number, value) in returned(&self.view) {
            if self.graphs.may_be(&self.view, value, need) {
                let node = Node::Operand(self.view.id, number as u16, 0, need);
                priors.push((node, self.context, EdgeKind::Return));
            }
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
                priors.push((Node::Parameter(view.id, it, need), self.context.of_call(), EdgeKind::Argument));
                return;
            }
            Value::Caught(block) => {
                let handler = self.handler(block);
                priors.extend(handler.map(|it| (Node::Handler(it), self.context, EdgeKind::Caught)));
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
                    priors.push((self.location(number), self.context, EdgeKind::Write));
                }
            }
            op::GETFIELD | op::GETSTATIC => {
                if let Some(field) = view.field_at(number) {
                    priors.push((Node::Field(field, need), Context::Any, EdgeKind::Data));
                }
            }
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => self.called(number, need, priors, pending),
            op::IINC => {
                priors.push((self.location(number), self.context, EdgeKind::Write));
                any(pending);
            }
            _ => any(pending),
        }
    }

    /// What makes a call return what is needed.
    fn called(&self, number: u32, need: Need, priors: &mut Priors, pending: &mut Vec<(ValueId, Need)>) {
        let Causes { world, facts, .. } = self.causes;
        let view = &self.view;
        let Some(call) = facts.call_at(view.id, number) else { return };
        let targets = self.graphs.targets(view, call, self.context);
        if !targets.is_empty() {
            if need == Need::Any {
                return;
            }
            let returned = |it: MethodId| (Node::Return(it, need), self.into(call, it), EdgeKind::Return);
            let answering = targets.into_iter().filter(|&it| self.graphs.may_return(it, need));
            priors.extend(answering.map(returned));
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
                priors.push((node, Context::Any, EdgeKind::Write));
            }
        }
        pending.extend(operands.iter().map(|&it| (it, Need::Any)));
    }

    /// The context in which a method is looked at that a call runs.
    fn into(&self, call: CallId, target: MethodId) -> Context {
        let world = self.causes.world;
        let callee = self.causes.facts.call(call).callee.map(|it| world.method_ref(it));
        // The parameters of a lambda are not those of the call.
        let is_same = callee.is_some_and(|it| it.signature == world.method(target).signature);
        if is_same { Context::Call(call) } else { Context::Any }
    }

    /// Where an exception comes from.
    fn comes(&self, way: Way, exception: Exception, priors: &mut Priors) {
        let Causes { world, facts, exceptions, .. } = self.causes;
        let call = match way.source {
            Source::Throw(at) => {
                if let Some(it) = facts.throwers(self.view.id).get(at as usize) {
                    let node = Node::Location(self.view.id, it.instruction);
                    priors.push((node, self.context, EdgeKind::Throw));
                }
                return;
            }
            Source::Call(call) => call,
        };
        let own = self.graphs.targets(&self.view, call, self.context);
        let targets = || own.iter().chain(exceptions.run_by(call));
        if targets().any(|&it| self.passes(it, exception)) {
            priors.push((Node::Internal(call, exception), self.context, EdgeKind::Internal));
            let made = exception.whole();
            if targets().any(|&target| exceptions.creates(target, made)) {
                priors.push((Node::New(call, made), Context::Any, EdgeKind::New));
            }
        }
        let is_library = |it| world.method_ref(it).method.is_some_and(|it| !world.is_system_method(it));
        if let Some(callee) = facts.call(call).callee.filter(|&it| is_library(it)) {
            if exceptions.is_declared(callee, way.thrown) {
                priors.push((Node::External(call, exception.whole()), Context::Any, EdgeKind::External));
            }
            let reference = world.method_ref(callee);
            if known::carries(world.type_name(reference.owner), world.signature(reference.signature).0) {
                priors.push((Node::Carried(call), Context::Any, EdgeKind::Carried));
            }
        }
    }

    fn passes(&self, target: MethodId, exception: Exception) -> bool {
        self.causes.exceptions.escapes(target).iter().any(|&it| self.is_one(it, exception))
    }

    /// Whether what is thrown is the exception that is followed, or may be where that was part of something more
    /// general.
    fn is_one(&self, thrown: Exception, exception: Exception) -> bool {
        let may_be = |whole: Exception| thrown.may_be(whole, self.causes.world);
        thrown == exception || exception.is_part() && may_be(exception.whole())
    }

    /// The methods of the system out of which a call lets an exception.
    fn let_through(&self, call: CallId, exception: Exception, priors: &mut Priors) {
        let own = self.graphs.targets(&self.view, call, self.context);
        let own = own.into_iter().map(|it| (it, self.into(call, it)));
        let run = self.causes.exceptions.run_by(call).iter().map(|&it| (it, Context::Any));
        let through = own.chain(run).filter(|it| self.passes(it.0, exception));
        priors
            .extend(through.map(|(it, context)| (Node::Escape(it, exception), context, EdgeKind::Internal)));
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
                priors.push((Node::Escape(method, exception), Context::Any, EdgeKind::Carried));
            }
        }
        for &maker in &makers {
            let callee = facts.call(maker).callee.map(|it| world.method_ref(it));
            if callee.is_some_and(|it| world.signature(it.signature).0 == b"completeExceptionally") {
                priors.push((self.causes.location(maker), Context::Any, EdgeKind::Carried));
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

/// The context of what happens before a value was what is needed: if it can only be what the caller gives as one
/// parameter, then in a call that gives it.
pub(crate) fn given_by(view: &MethodView<'_>, value: ValueId, need: Need) -> Context {
    if need == Need::Any {
        return Context::Any;
    }
    let origins = view.body.origins_through_casts(value).into_iter();
    let mut allowed = origins.filter(|&it| need.allows(view.given(it)));
    match (allowed.next().map(|it| view.body.value(it)), allowed.next()) {
        (Some(Value::Parameter(number)), None) if number > 0 || view.is_static() => {
            Context::Given(number, need)
        }
        _ => Context::Any,
    }
}

/// The outermost class that a class is nested in, by name.
fn outer(name: &[u8]) -> &[u8] {
    let simple = name.iter().rposition(|&b| b == b'/').map_or(0, |at| at + 1);
    let end = name[simple..].iter().skip(1).position(|&b| b == b'$').map_or(name.len(), |at| simple + 1 + at);
    &name[..end]
}
