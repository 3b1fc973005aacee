//! The loops of the system: how often they may go round, what they do, and how they are nested, also through calls.

use hypocenter_classfile::{ClassFile, op};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::calls::CallGraph;
use crate::facts::{CallId, Facts};
use crate::lists::Lists;
use crate::loading::world::{MethodId, NONE, RefId, SystemClass, World};
use crate::methods::bodies::{each_body, flowing_from};
use crate::methods::dominance::{Dominance, Edges};
use crate::methods::flow::Way;
use crate::methods::loops::{Loop, Loops};
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;
use crate::shapes::effects::{Effect, EffectMap, Effects, Followed};
use crate::shapes::waits::number_of;

/// The most methods that are followed to find how much code a loop can reach; a loop that reaches more counts those.
pub const REACHED_METHODS_MAX: usize = 4096;
/// Maximum number of exits of a loop that are checked for its bound, and maximum number of back edges.
const GUARDS_MAX: usize = 256;
/// Through how many methods a calling loop is looked for.
const CALLERS_DEPTH_MAX: usize = 8;

/// A loop of the system, in the order of methods and code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct LoopId(pub u32);

/// Number of iterations of a loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub enum Bound {
    /// At most as often as a constant says: every round compares a counter with it.
    Constant,
    /// Once for each element of an array or a collection.
    Container,
    /// Nobody can say.
    Open,
}

/// A loop.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct LoopFact {
    /// In which method.
    pub method: MethodId,
    /// Index in the method, as its sites count.
    pub ordinal: u16,
    /// The first instruction of its header.
    pub header: u16,
    /// The line of that, 0 if there is none.
    pub line: u16,
    /// Number of iterations.
    pub bound: Bound,
    /// Effects of its body.
    pub effects: Effects,
    /// True if the time decides when it ends: a value computed from the clock is in the condition of a way out.
    pub is_timed: bool,
    /// Number of instructions of its body.
    pub size: u32,
    /// Number of instructions of the methods that its calls can reach, see [`REACHED_METHODS_MAX`].
    pub reaches: u32,
    /// The loop around it in the same method.
    pub parent: Option<LoopId>,
    /// Of a loop with no loop around it: the one loop from inside which its method is called.
    /// Methods that call each other can make a ring of these.
    pub called_from: Option<LoopId>,
}

/// The loops of the system.
#[derive(Debug, Default)]
pub struct LoopFacts {
    loops: Vec<LoopFact>,
    /// For each loop the calls in its body that are in no loop within it.
    calls: Lists<CallId>,
    /// For each loop those directly within it, in its method or called.
    children: Lists<LoopId>,
    /// Regions that go round and have no single way in, so that no loop is named for them.
    irreducible: u32,
}

/// A loop as its own method shows it.
struct Found {
    fact: LoopFact,
    /// The loop around it, counted from the first of the class.
    parent: Option<u32>,
    calls: Vec<CallId>,
}

impl LoopFacts {
    /// Finds all loops.
    pub fn of(world: &World, facts: &Facts, calls: &CallGraph) -> LoopFacts {
        let followed = Followed::of(world, calls);
        let effects = EffectMap::of(world, facts, &followed);
        let parts: Vec<Part> = world
            .system_classes()
            .par_iter()
            .map(|system| {
                let mut part = Part::default();
                let round = part.sizes(world, system);
                each_body(
                    world,
                    system,
                    |it| round.binary_search(&it).is_ok(),
                    |view| {
                        part.method(&view, facts, &effects);
                    },
                );
                part
            })
            .collect();
        let mut sizes = vec![0u32; world.method_count()];
        let mut it = LoopFacts::default();
        let mut loop_of = vec![NONE; facts.calls().len()];
        for part in parts {
            let first = it.loops.len() as u32;
            it.irreducible += part.irreducible;
            for (method, size) in part.sizes {
                sizes[method.index()] = size;
            }
            for found in part.loops {
                for call in &found.calls {
                    loop_of[call.0 as usize] = it.loops.len() as u32;
                }
                it.calls.add(found.calls);
                let parent = found.parent.map(|it| LoopId(it + first));
                it.loops.push(LoopFact { parent, ..found.fact });
            }
        }
        it.nest(world, facts, calls, &loop_of);
        it.reach(world, facts, &followed, &sizes);
        it
    }

    /// All loops.
    pub fn all(&self) -> &[LoopFact] {
        &self.loops
    }

    /// A loop.
    pub fn get(&self, id: LoopId) -> &LoopFact {
        &self.loops[id.0 as usize]
    }

    /// The loops of a method.
    pub fn of_method(&self, id: MethodId) -> impl Iterator<Item = LoopId> + use<> {
        let start = self.loops.partition_point(|it| it.method < id) as u32;
        let end = self.loops.partition_point(|it| it.method <= id) as u32;
        (start..end).map(LoopId)
    }

    /// The calls in the body of a loop that are in no loop within it.
    pub fn calls(&self, id: LoopId) -> &[CallId] {
        self.calls.get(id.0)
    }

    /// The loops directly within a loop: in its body, or in methods that are called from there only.
    pub fn children(&self, id: LoopId) -> &[LoopId] {
        self.children.get(id.0)
    }

    /// The loops that run one after the other with this one: with the same loop around them, or if there is none, in
    /// the same method.
    pub fn siblings(&self, id: LoopId) -> Vec<LoopId> {
        let it = self.get(id);
        let mut all: Vec<LoopId> = match it.parent.or(it.called_from) {
            Some(parent) => self.children(parent).to_vec(),
            None => self.of_method(it.method).filter(|&it| self.get(it).parent.is_none()).collect(),
        };
        all.retain(|&it| it != id);
        all
    }

    /// Number of cyclic regions that are no loop, see [`Loops::irreducible`].
    pub fn irreducible(&self) -> u32 {
        self.irreducible
    }

    /// Finds the loops that call the methods of outermost loops.
    fn nest(&mut self, world: &World, facts: &Facts, calls: &CallGraph, loop_of: &[u32]) {
        let mut known: FxHashMap<MethodId, Option<LoopId>> = FxHashMap::default();
        for at in 0..self.loops.len() {
            let it = self.loops[at];
            if it.parent.is_none() {
                let from = *known
                    .entry(it.method)
                    .or_insert_with(|| self.calling_loop(world, facts, calls, loop_of, it.method));
                // A method that calls itself from its own loop is not within that loop.
                self.loops[at].called_from = from.filter(|&it| self.get(it).method != self.loops[at].method);
            }
        }
        let pairs = self
            .loops
            .iter()
            .enumerate()
            .filter_map(|(at, it)| Some((it.parent.or(it.called_from)?.0, LoopId(at as u32))));
        self.children = Lists::of(self.loops.len(), pairs);
    }

    /// The innermost loop that all calls of a method are in.
    fn calling_loop(
        &self,
        world: &World,
        facts: &Facts,
        calls: &CallGraph,
        loop_of: &[u32],
        method: MethodId,
    ) -> Option<LoopId> {
        let mut method = method;
        for _ in 0..CALLERS_DEPTH_MAX {
            if world.is_callback(method) {
                return None;
            }
            let mut callers = calls.callers(method);
            let first = callers.next()?;
            let caller = facts.call(first).method;
            let mut common = Some(loop_of[first.0 as usize]).filter(|&it| it != NONE).map(LoopId);
            for call in callers {
                if facts.call(call).method != caller {
                    return None;
                }
                let other = Some(loop_of[call.0 as usize]).filter(|&it| it != NONE).map(LoopId);
                common = self.common(common, other);
            }
            if common.is_some() || caller == method {
                return common;
            }
            method = caller;
        }
        None
    }

    /// The innermost loop around two loops of a method.
    fn common(&self, a: Option<LoopId>, b: Option<LoopId>) -> Option<LoopId> {
        let above = |id: Option<LoopId>| std::iter::successors(id, |&it| self.get(it).parent);
        above(a).find(|&it| above(b).any(|other| other == it))
    }

    /// Measures the code that each loop can reach.
    fn reach(&mut self, world: &World, facts: &Facts, followed: &Followed<'_>, sizes: &[u32]) {
        // Loops within a loop are part of its body, so what they call is too.
        let mut named: Vec<Vec<RefId>> = Vec::with_capacity(self.loops.len());
        for at in 0..self.loops.len() {
            let own = self.calls.get(at as u32).iter().filter_map(|&it| facts.call(it).callee);
            named.push(own.filter(|&it| !followed.by_ref(it).is_empty()).collect());
        }
        // A loop has more instructions than one within it, so this goes from the inner to the outer.
        let mut order: Vec<usize> = (0..self.loops.len()).collect();
        order.sort_by_key(|&at| self.loops[at].size);
        for at in order {
            if let Some(parent) = self.loops[at].parent {
                let inner = named[at].clone();
                named[parent.0 as usize].extend(inner);
            }
        }
        for it in &mut named {
            it.sort_unstable();
            it.dedup();
        }
        let mut distinct: Vec<&[RefId]> =
            named.iter().map(|it| &it[..]).filter(|it| !it.is_empty()).collect();
        distinct.sort_unstable();
        distinct.dedup();
        let next = followed.by_method(world, facts);
        let reached: Vec<u32> = distinct
            .par_iter()
            .map_init(|| Reaching::of(followed, &next, sizes), |it, from| it.from(from))
            .collect();
        for (it, from) in self.loops.iter_mut().zip(&named) {
            if let Ok(at) = distinct.binary_search(&&from[..]) {
                it.reaches = reached[at];
            }
        }
    }
}

/// Follows calls from a start.
struct Reaching<'r> {
    followed: &'r Followed<'r>,
    /// For each method what it calls.
    next: &'r Lists<MethodId>,
    sizes: &'r [u32],
    /// The round in which a method was last seen.
    seen: Vec<u32>,
    round: u32,
}

impl<'r> Reaching<'r> {
    fn of(followed: &'r Followed<'r>, next: &'r Lists<MethodId>, sizes: &'r [u32]) -> Self {
        Reaching { followed, next, sizes, seen: vec![0; sizes.len()], round: 0 }
    }

    fn from(&mut self, refs: &[RefId]) -> u32 {
        self.round += 1;
        let mut reached: Vec<MethodId> = Vec::new();
        for &it in refs {
            self.enter(self.followed.by_ref(it), &mut reached);
        }
        let mut at = 0;
        while at < reached.len() && reached.len() < REACHED_METHODS_MAX {
            self.enter(self.next.get(reached[at].0), &mut reached);
            at += 1;
        }
        reached.truncate(REACHED_METHODS_MAX);
        reached.iter().fold(0, |sum, it| sum.saturating_add(self.sizes[it.index()]))
    }

    fn enter(&mut self, targets: &[MethodId], reached: &mut Vec<MethodId>) {
        for target in targets {
            if std::mem::replace(&mut self.seen[target.index()], self.round) != self.round {
                reached.push(*target);
            }
        }
    }
}

/// The loops of a class.
#[derive(Default)]
struct Part {
    loops: Vec<Found>,
    sizes: Vec<(MethodId, u32)>,
    irreducible: u32,
}

impl Part {
    /// Measures all methods, and gives those that jump back in their code: only they can have loops.
    fn sizes(&mut self, world: &World, system: &SystemClass) -> Vec<MethodId> {
        let class = ClassFile::parse(&system.bytes).expect("was read before");
        let mut back = Vec::new();
        for (member, id) in class.methods().iter().zip(world.methods_of(system.id)) {
            let Ok(Some(code)) = member.code() else { continue };
            let (mut size, mut jumps_back) = (0, false);
            for it in code.instructions().map_while(Result::ok) {
                size += 1;
                jumps_back |= it.targets().any(|target| target <= it.pc);
            }
            self.sizes.push((id, size));
            if jumps_back {
                back.push(id);
            }
        }
        back
    }

    fn method(&mut self, view: &MethodView<'_>, facts: &Facts, effects: &EffectMap) {
        let (body, flow) = (view.body, &view.body.flow);
        let Loops { loops, irreducible } = Loops::of(flow);
        self.irreducible += irreducible;
        if loops.is_empty() {
            return;
        }
        let first = self.loops.len() as u32;
        let nesting = Nesting::of(&loops, flow.blocks.len());
        let mut calls: Vec<Vec<CallId>> = vec![Vec::new(); loops.len()];
        let mut done = vec![Effects::default(); loops.len()];
        for call in facts.calls_in(view.id) {
            let it = facts.call(call);
            let around = nesting.innermost[body.block_of(it.instruction.into()) as usize];
            if around != NONE {
                calls[around as usize].push(call);
                done[around as usize].take(&effects.of_call(it), 0);
            }
        }
        // The inner before the outer.
        for &at in nesting.order.iter().rev() {
            if let Some(parent) = nesting.parents[at as usize] {
                let inner = done[at as usize];
                done[parent as usize].take(&inner, 0);
            }
        }
        let clock = clock_values(view, facts, effects);
        let dominance = Dominance::of(flow, Edges::All).ok();
        for (at, (it, calls)) in loops.iter().zip(calls).enumerate() {
            let header = flow.blocks[it.header as usize].start;
            let size = |block: &u32| flow.blocks[*block as usize].end - flow.blocks[*block as usize].start;
            let exits: Vec<u32> = exits(view, it).collect();
            let in_condition = |exit: &u32| {
                let operands = body.operands(flow.blocks[*exit as usize].end - 1);
                operands.iter().any(|it| clock[it.number() as usize])
            };
            let fact = LoopFact {
                method: view.id,
                ordinal: at as u16,
                header: header as u16,
                line: body.line(header).unwrap_or(0) as u16,
                bound: dominance.as_ref().map_or(Bound::Open, |over| bound(view, it, &exits, over)),
                effects: done[at],
                is_timed: exits.iter().any(in_condition),
                size: it.body.iter().map(size).sum(),
                reaches: 0,
                parent: None,
                called_from: None,
            };
            self.loops.push(Found { fact, parent: nesting.parents[at].map(|it| first + it), calls });
        }
    }
}

/// Nesting of the loops of a method.
struct Nesting {
    /// The loops, the outer before the inner.
    order: Vec<u32>,
    parents: Vec<Option<u32>>,
    /// For each block the innermost loop, or `NONE`.
    innermost: Vec<u32>,
}

impl Nesting {
    fn of(loops: &[Loop], blocks: usize) -> Nesting {
        let mut order: Vec<u32> = (0..loops.len() as u32).collect();
        order.sort_by_key(|&it| std::cmp::Reverse(loops[it as usize].body.len()));
        let mut innermost = vec![NONE; blocks];
        let mut parents = vec![None; loops.len()];
        for &at in &order {
            let it = &loops[at as usize];
            // Loops are nested or have nothing in common: what was put here before is around this one.
            parents[at as usize] = Some(innermost[it.header as usize]).filter(|&it| it != NONE);
            for &block in &it.body {
                innermost[block as usize] = at;
            }
        }
        Nesting { order, parents, innermost }
    }
}

/// The blocks of a loop that decide whether it is left.
fn exits<'l>(view: &MethodView<'l>, it: &'l Loop) -> impl Iterator<Item = u32> + 'l {
    let flow = &view.body.flow;
    it.body.iter().copied().filter(move |&block| {
        let mut ways = flow.out_of(block).iter().filter(|edge| edge.way != Way::Throw);
        ways.clone().count() > 1 && ways.any(|edge| !it.contains(edge.to))
    })
}

/// The values that are computed from the time.
fn clock_values(view: &MethodView<'_>, facts: &Facts, effects: &EffectMap) -> Vec<bool> {
    // A method that tells the time itself is often the system's own: one or two calls away from the clock.
    const NEAR: u8 = 2;
    let tells = |id: CallId| {
        let call = facts.call(id);
        let descriptor = view.world.signature(view.world.method_ref(call.callee?).signature).1;
        let is_number = descriptor.ends_with(b")J") || descriptor.ends_with(b"Instant;");
        let near = effects.of_call(call).depth(Effect::Clock).is_some_and(|it| it <= NEAR);
        view.body.result(call.instruction.into()).filter(|_| is_number && near)
    };
    // An object that was waited for until a time is no time itself.
    let passed = |number: u32| {
        view.callee_at(number).is_none_or(|it| {
            let descriptor = view.world.signature(view.world.method_ref(it).signature).1;
            !descriptor.ends_with(b";") || descriptor.ends_with(b"Instant;")
        })
    };
    flowing_from(view.body, facts.calls_in(view.id).filter_map(tells), passed)
}

fn bound(view: &MethodView<'_>, it: &Loop, exits: &[u32], over: &Dominance) -> Bound {
    let flow = &view.body.flow;
    let goes_back =
        |block: &&u32| flow.out_of(**block).iter().any(|edge| edge.to == it.header && edge.way != Way::Throw);
    let ends: Vec<u32> = it.body.iter().filter(goes_back).copied().collect();
    if exits.len() > GUARDS_MAX || ends.len() > GUARDS_MAX {
        return Bound::Open;
    }
    // Only what every round comes by bounds them.
    let guards = exits.iter().filter(|&&exit| ends.iter().all(|&end| over.dominates(exit, end)));
    guards.map(|&guard| of_guard(view, it, guard)).min().unwrap_or(Bound::Open)
}

fn of_guard(view: &MethodView<'_>, it: &Loop, guard: u32) -> Bound {
    let body = view.body;
    let number = body.flow.blocks[guard as usize].end - 1;
    let operands = body.operands(number);
    match (view.instruction(number).opcode, operands) {
        (op::IF_ICMPEQ..=op::IF_ICMPLE, &[a, b]) => of_comparison(view, it, a, Some(b)),
        (op::IFEQ..=op::IFLE, &[value]) => match body.value(value) {
            Value::Result(at) if view.instruction(at).opcode == op::LCMP => match body.operands(at) {
                &[a, b] => of_comparison(view, it, a, Some(b)),
                _ => Bound::Open,
            },
            Value::Result(at) if asks_for_next(view, at) => Bound::Container,
            _ => of_comparison(view, it, value, None),
        },
        _ => Bound::Open,
    }
}

/// Tests whether a call asks whether there is a next element.
fn asks_for_next(view: &MethodView<'_>, number: u32) -> bool {
    let Some(callee) = view.callee_at(number) else { return false };
    let name = view.world.signature(view.world.method_ref(callee).signature).0;
    matches!(name, b"hasNext" | b"hasMoreElements" | b"hasPrevious" | b"hasMoreTokens")
}

/// The bound by a comparison of two values; the second is 0 if it is none.
fn of_comparison(view: &MethodView<'_>, it: &Loop, a: ValueId, b: Option<ValueId>) -> Bound {
    if let Some(counter) = Counter::of(view, it, a) {
        return counter.bound(view, b);
    }
    match b.and_then(|b| Counter::of(view, it, b)) {
        Some(counter) => counter.bound(view, Some(a)),
        None => Bound::Open,
    }
}

/// A value that every round makes larger, or smaller, by the same amount.
struct Counter {
    /// The values that it may begin with.
    starts: Vec<ValueId>,
    /// True if it gets larger.
    rises: bool,
}

impl Counter {
    /// The counter that a value is, or is one step behind.
    fn of(view: &MethodView<'_>, it: &Loop, value: ValueId) -> Option<Counter> {
        if let Value::Result(number) = view.body.value(value) {
            // Of what is compared after it was counted, or as another type.
            let inner = *view.body.operands(number).first()?;
            let opcode = view.instruction(number).opcode;
            let counts = step(view, number).is_some() || opcode == op::I2L;
            return if counts { Counter::of_phi(view, it, inner) } else { None };
        }
        Counter::of_phi(view, it, value)
    }

    fn of_phi(view: &MethodView<'_>, it: &Loop, phi: ValueId) -> Option<Counter> {
        let body = view.body;
        if body.value(phi) != Value::Phi(it.header) {
            return None;
        }
        let (mut starts, mut rises) = (Vec::new(), None);
        for &input in body.inputs(phi) {
            // Rounds that end differently meet before the header, and a round need not count at all.
            let mut counted = false;
            let only = counts_of(view, it, (phi, input), &mut counted, &mut rises);
            if !only || !counted {
                starts.push(input);
            }
        }
        let inside = |value: &ValueId| match body.value(*value) {
            Value::Result(number) => it.contains(body.block_of(number)),
            Value::Phi(block) => it.contains(block),
            Value::Parameter(_) => false,
            Value::Caught(_) | Value::Unknown => true,
        };
        // What a round sets to something else altogether is no counter.
        if starts.iter().any(inside) {
            return None;
        }
        Some(Counter { starts, rises: rises? })
    }

    fn bound(&self, view: &MethodView<'_>, limit: Option<ValueId>) -> Bound {
        let of = |value: ValueId| {
            if number_of(view, value).is_some() {
                Bound::Constant
            } else if is_size(view, value) {
                Bound::Container
            } else {
                Bound::Open
            }
        };
        if self.rises {
            return limit.map_or(Bound::Open, of);
        }
        // Counting down, the number of rounds is in the start.
        match limit.map_or(Bound::Constant, of) {
            Bound::Constant => self.starts.iter().map(|&it| of(it)).max().unwrap_or(Bound::Open),
            _ => Bound::Open,
        }
    }
}

/// Tests whether all that goes into a merge over an edge back is the counter, counted or as it was; and the direction.
fn counts_of(
    view: &MethodView<'_>,
    it: &Loop,
    (phi, input): (ValueId, ValueId),
    counted: &mut bool,
    rises: &mut Option<bool>,
) -> bool {
    let body = view.body;
    let mut pending = vec![input];
    let mut seen = FxHashSet::from_iter([phi]);
    while let Some(value) = pending.pop() {
        if !seen.insert(value) {
            continue;
        }
        match body.value(value) {
            Value::Phi(block) if it.contains(block) => pending.extend_from_slice(body.inputs(value)),
            Value::Result(number) if it.contains(body.block_of(number)) => {
                let Some(up) = step(view, number) else { return false };
                if rises.is_some_and(|it| it != up) {
                    return false;
                }
                *rises = Some(up);
                *counted = true;
                pending.extend(body.operands(number).first());
            }
            _ => return false,
        }
    }
    true
}

/// Tests whether an instruction adds a constant to its first operand, and then whether a positive one.
fn step(view: &MethodView<'_>, number: u32) -> Option<bool> {
    let instruction = view.instruction(number);
    let by = match instruction.opcode {
        op::IINC => i64::from(instruction.bytes[2] as i8),
        op::WIDE if instruction.bytes[1] == op::IINC => {
            i64::from(i16::from_be_bytes([instruction.bytes[4], instruction.bytes[5]]))
        }
        op::IADD | op::LADD => number_of(view, *view.body.operands(number).get(1)?)?,
        op::ISUB | op::LSUB => -number_of(view, *view.body.operands(number).get(1)?)?,
        _ => return None,
    };
    (by != 0).then_some(by > 0)
}

/// Tests whether a value is the number of elements of something, or a few more or less.
fn is_size(view: &MethodView<'_>, value: ValueId) -> bool {
    let mut value = value;
    while let Value::Result(number) = view.body.value(value) {
        match view.instruction(number).opcode {
            op::ARRAYLENGTH => return true,
            op::ISUB | op::IADD | op::I2L => match view.body.operands(number).first() {
                Some(&it) => value = it,
                None => return false,
            },
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                return view.callee_at(number).is_some_and(|it| {
                    let (name, descriptor) = view.world.signature(view.world.method_ref(it).signature);
                    let counts: [&[u8]; 6] =
                        [b"size", b"length", b"remaining", b"limit", b"getLength", b"readableBytes"];
                    descriptor.starts_with(b"()") && counts.contains(&name)
                });
            }
            _ => return false,
        }
    }
    false
}
