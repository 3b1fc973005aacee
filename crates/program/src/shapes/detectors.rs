//! Error detectors: methods whose truth value says whether something is wrong (CSNAKE 4.1 and 7).
//!
//! Every method of the system that returns a `boolean` is listed with what its result is computed from. Those that
//! hardly detect errors have the [`Reason`] why; which reasons count is for the engine to say.

use hypocenter_classfile::op;
use rayon::prelude::*;
use rustc_hash::FxHashSet;

use crate::facts::calls::CallGraph;
use crate::facts::{CallId, Facts};
use crate::loading::world::{FieldId, MethodId, Origin, World, access};
use crate::methods::bodies::each_body;
use crate::methods::body::Body;
use crate::methods::dependence::ControlDependence;
use crate::methods::dominance::{Dominance, Edges};
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;
use crate::shapes::effects::is_clock;
use crate::shapes::test_methods::Tests;

/// Why a method is hardly an error detector.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Reason {
    /// It is test code.
    Test,
    /// The compiler made it: the body of a lambda, a bridge.
    Synthetic,
    /// It implements what a library asks of any class: `equals`, `contains`, `hasNext`.
    General,
    /// Its result does not depend on anything.
    Constant,
    /// Its result depends on final fields only: on how the system is configured.
    Final,
    /// Its result is computed from numbers that it is given.
    Primitive,
    /// Its result comes from reflection or from security checks only.
    Reflection,
    /// Nobody calls it, or nobody looks at the result.
    Unused,
    /// Only tests call it.
    TestOnly,
}

/// Sources that a result is computed from, or decided by.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Feeds {
    /// Fields, sorted.
    pub fields: Vec<FieldId>,
    /// Calls, sorted; also those that a handler covers, if an exception decides.
    pub calls: Vec<CallId>,
    /// Parameters by number, as in [`Value::Parameter`], sorted; `this` is none.
    pub parameters: Vec<u16>,
    /// True if the clock is asked.
    pub clock: bool,
    /// True if an exception that was caught decides.
    pub caught: bool,
    /// True if constants are among it; most results are `true` or `false` in the end.
    pub constants: bool,
}

/// A method that returns a truth value.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Detector {
    /// The method.
    pub method: MethodId,
    /// Sources of its result.
    pub feeds: Feeds,
    /// True if somebody looks at the result: a call that does more than drop it, or a library.
    pub is_used: bool,
    /// Why it is hardly a detector; none if it may be one.
    pub reason: Option<Reason>,
}

/// The methods of the system that return truth values.
#[derive(Debug, Default)]
pub struct Detectors {
    all: Vec<Detector>,
}

impl Detectors {
    /// Finds them.
    pub fn of(world: &World, facts: &Facts, calls: &CallGraph, tests: &Tests) -> Detectors {
        let classes = world.system_classes();
        let dropped: FxHashSet<CallId> = classes
            .par_iter()
            .flat_map_iter(|system| {
                let mut found = Vec::new();
                let asks = |id: MethodId| facts.calls_in(id).any(|it| is_asked(world, calls, facts, it));
                each_body(world, system, asks, |view| {
                    for call in facts.calls_in(view.id).filter(|&it| is_asked(world, calls, facts, it)) {
                        let result = view.body.result(facts.call(call).instruction.into());
                        let is_used = |it: ValueId| {
                            !view.body.uses(it).is_empty() || !view.body.phi_uses(it).is_empty()
                        };
                        if result.is_some_and(|it| !is_used(it)) {
                            found.push(call);
                        }
                    }
                });
                found
            })
            .collect();
        // What a method reference names is called by whoever gets it.
        let handed: FxHashSet<MethodId> = facts.lambdas().iter().filter_map(|it| it.implementation).collect();
        let is_boolean = |id: MethodId| world.method_descriptor(id).ends_with(b")Z");
        let all = classes
            .par_iter()
            .flat_map_iter(|system| {
                let mut found = Vec::new();
                each_body(world, system, is_boolean, |view| {
                    let feeds = Slice::of(view, facts).feeds;
                    let is_open = world.is_callback(view.id)
                        || handed.contains(&view.id)
                        || implements_general(world, view.id);
                    let is_used = is_open || calls.callers(view.id).any(|it| !dropped.contains(&it));
                    let mut reason = reason(world, facts, tests, view.id, &feeds);
                    if reason.is_none() && !is_used {
                        reason = Some(Reason::Unused);
                    }
                    let in_test = |it| tests.is_test_code(world.method(facts.call(it).method).owner);
                    if reason.is_none() && !is_open && calls.callers(view.id).all(in_test) {
                        reason = Some(Reason::TestOnly);
                    }
                    found.push(Detector { method: view.id, feeds, is_used, reason });
                });
                found
            })
            .collect();
        Detectors { all }
    }

    /// All methods that return a truth value and have a body, in the order of the methods.
    pub fn all(&self) -> &[Detector] {
        &self.all
    }

    /// Those that may detect errors.
    pub fn kept(&self) -> impl Iterator<Item = &Detector> {
        self.all.iter().filter(|it| it.reason.is_none())
    }
}

/// Tests whether a call gets a truth value from a method of the system.
fn is_asked(world: &World, calls: &CallGraph, facts: &Facts, id: CallId) -> bool {
    let call = facts.call(id);
    let is_boolean = |it| world.signature(world.method_ref(it).signature).1.ends_with(b")Z");
    call.callee.is_some_and(is_boolean) && !calls.targets(call).is_empty()
}

/// Why a method is hardly a detector, from what it is itself.
fn reason(world: &World, facts: &Facts, tests: &Tests, id: MethodId, feeds: &Feeds) -> Option<Reason> {
    let method = world.method(id);
    if tests.is_test_code(method.owner) {
        return Some(Reason::Test);
    }
    if method.access & access::SYNTHETIC != 0 {
        return Some(Reason::Synthetic);
    }
    if is_general(world, id) {
        return Some(Reason::General);
    }
    let active = !feeds.calls.is_empty() || feeds.clock || feeds.caught;
    if !active && feeds.fields.is_empty() && feeds.parameters.is_empty() {
        return Some(Reason::Constant);
    }
    let is_final = |it: &FieldId| world.field(*it).access & access::FINAL != 0;
    if !active && feeds.parameters.is_empty() && feeds.fields.iter().all(is_final) {
        return Some(Reason::Final);
    }
    let skipped = u16::from(!method.is_static());
    let parameters: Vec<&[u8]> = world.parameter_types(id).collect();
    let is_number = |it: &u16| {
        let of = it.checked_sub(skipped).and_then(|it| parameters.get(usize::from(it)));
        of.is_some_and(|it| it.len() == 1)
    };
    if !active && feeds.fields.is_empty() && feeds.parameters.iter().all(is_number) {
        return Some(Reason::Primitive);
    }
    let reflects = |it: &CallId| {
        let callee = facts.call(*it).callee.map(|it| world.type_name(world.method_ref(it).owner));
        callee.is_some_and(|it| {
            let packages: [&[u8]; 4] =
                [b"java/lang/reflect/", b"java/security/", b"javax/security/", b"java/lang/Class"];
            packages.iter().any(|package| it.starts_with(package))
        })
    };
    if !feeds.calls.is_empty() && feeds.fields.is_empty() && feeds.calls.iter().all(reflects) {
        return Some(Reason::Reflection);
    }
    None
}

/// Tests whether a method does what any class may do for a library, by its name or by what it implements.
fn is_general(world: &World, id: MethodId) -> bool {
    let names: [&[u8]; 6] = [b"equals", b"contains", b"hasNext", b"hasMore", b"hasPrevious", b"isEmpty"];
    names.iter().any(|it| world.method_name(id).starts_with(it)) || implements_general(world, id)
}

/// Tests whether a method implements one of `Object` or of the collections and functions of the JDK.
fn implements_general(world: &World, id: MethodId) -> bool {
    let method = world.method(id);
    world.ancestors(method.owner).iter().any(|&it| {
        let name = world.type_name(it);
        world.get(it).origin == Origin::Jdk
            && (name.starts_with(b"java/util/") || name == b"java/lang/Object")
            && world.declared(it, method.signature).is_some()
    })
}

/// Goes back from the result of a method to what it comes from.
struct Slice<'v> {
    view: MethodView<'v>,
    facts: &'v Facts,
    feeds: Feeds,
    seen: Vec<bool>,
    seen_blocks: Vec<bool>,
    seen_handlers: Vec<u32>,
    values: Vec<ValueId>,
    blocks: Vec<u32>,
}

impl<'v> Slice<'v> {
    fn of(view: MethodView<'v>, facts: &'v Facts) -> Self {
        let flow = &view.body.flow;
        let mut it = Slice {
            view,
            facts,
            feeds: Feeds::default(),
            seen: vec![false; view.body.value_count() as usize],
            seen_blocks: vec![false; flow.blocks.len()],
            seen_handlers: Vec::new(),
            values: Vec::new(),
            blocks: Vec::new(),
        };
        for (block, bounds) in flow.blocks.iter().enumerate() {
            if flow.reachable[block] && flow.last(block as u32).opcode == op::IRETURN {
                it.values.extend_from_slice(view.body.operands(bounds.end - 1));
                it.blocks.push(block as u32);
            }
        }
        it.run();
        let feeds = &mut it.feeds;
        feeds.fields.sort_unstable();
        feeds.fields.dedup();
        feeds.calls.sort_unstable();
        feeds.calls.dedup();
        feeds.parameters.sort_unstable();
        it
    }

    fn run(&mut self) {
        let body = self.view.body;
        let dependence = ControlDependence::of(&body.flow, Edges::Normal).ok();
        let handlers = handlers_before(body);
        loop {
            if let Some(value) = self.values.pop() {
                if !std::mem::replace(&mut self.seen[value.number() as usize], true) {
                    self.value(value);
                }
            } else if let Some(block) = self.blocks.pop() {
                if std::mem::replace(&mut self.seen_blocks[block as usize], true) {
                    continue;
                }
                for it in dependence.iter().flat_map(|it| it.of_block(block)) {
                    let last = body.flow.blocks[it.branch as usize].end - 1;
                    self.values.extend_from_slice(body.operands(last));
                    self.blocks.push(it.branch);
                }
                if let Some(Some(handler)) = handlers.get(block as usize) {
                    self.caught(*handler);
                }
            } else {
                break;
            }
        }
    }

    /// Entry of a handler is a matter of the calls that it covers.
    fn caught(&mut self, handler: u32) {
        self.feeds.caught = true;
        if !self.seen_handlers.contains(&handler) {
            self.seen_handlers.push(handler);
            let body = self.view.body;
            let covers = |it: &CallId| {
                let number = self.facts.call(*it).instruction.into();
                body.covering(number).any(|it| it.handler == handler)
            };
            self.feeds.calls.extend(self.facts.calls_in(self.view.id).filter(covers));
        }
    }

    fn value(&mut self, value: ValueId) {
        let body = self.view.body;
        match body.value(value) {
            Value::Unknown => {}
            Value::Parameter(0) if !self.view.is_static() => {}
            Value::Parameter(number) => self.feeds.parameters.push(number),
            Value::Caught(handler) => self.caught(handler),
            Value::Phi(block) => {
                self.values.extend_from_slice(body.inputs(value));
                self.blocks.push(block);
            }
            Value::Result(number) => {
                self.values.extend_from_slice(body.operands(number));
                let opcode = self.view.instruction(number).opcode;
                if body.constant(value).is_some() {
                    // Which constant it is, was decided where it stands.
                    self.feeds.constants = true;
                    self.blocks.push(body.block_of(number));
                } else if matches!(opcode, op::GETSTATIC | op::GETFIELD) {
                    self.feeds.fields.extend(self.view.field_at(number));
                } else if matches!(opcode, op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC) {
                    self.feeds.calls.extend(self.facts.call_at(self.view.id, number));
                    self.feeds.clock |= self.view.callee_at(number).is_some_and(|it| {
                        let it = self.view.world.method_ref(it);
                        let name = self.view.world.signature(it.signature).0;
                        is_clock(self.view.world.type_name(it.owner), name)
                    });
                }
            }
        }
    }
}

/// For each block the nearest handler that must have been entered before it; empty if there are no handlers.
fn handlers_before(body: &Body<'_>) -> Vec<Option<u32>> {
    let flow = &body.flow;
    if flow.handlers.is_empty() {
        return Vec::new();
    }
    let Ok(over) = Dominance::of(flow, Edges::All) else { return Vec::new() };
    let mut known: Vec<Option<Option<u32>>> = vec![None; flow.blocks.len()];
    for &handler in &flow.handlers {
        known[handler as usize] = Some(Some(handler));
    }
    let mut way = Vec::new();
    for block in 0..flow.blocks.len() as u32 {
        let mut at = Some(block);
        let answer = loop {
            match at.map(|it| known[it as usize]) {
                None => break None,
                Some(Some(answer)) => break answer,
                Some(None) => {
                    way.extend(at);
                    at = at.and_then(|it| over.immediate(it));
                }
            }
        };
        for it in way.drain(..) {
            known[it as usize] = Some(answer);
        }
    }
    known.into_iter().map(Option::flatten).collect()
}
