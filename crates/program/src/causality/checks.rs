//! Checks: calls whose result decides whether another call is made, along the stacks that a run has of both.
//!
//! A stack says which call of each method was being made. Where two stacks part is the method that made both calls. What the first call
//! found reaches that method by the results of the methods between, and decides there by a branch, or by an exception that is caught
//! (FCatch 4.3.2). Only values inside a method and results count: a field that another method reads decides nothing here.

use hypocenter_classfile::op;
use hypocenter_plan::Frame;
use rustc_hash::FxHashSet;

use crate::causality::causal::Causes;
use crate::causality::decisions::{Decider, Decision, Decisions};
use crate::loading::world::{FieldId, MethodId};
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;

/// Classes whose objects do not change by what is called on them.
const UNCHANGED: [&[u8]; 4] =
    [b"java/io/File", b"java/lang/String", b"java/nio/file/Path", b"java/util/concurrent/locks/Lock"];

impl Causes<'_> {
    /// The calls that the innermost frame of the system may be making, by its line and by what is called; none if it is not known.
    pub fn calls_of(self, stack: &[Frame]) -> Vec<(MethodId, u16)> {
        let calls = (0..stack.len()).map(|at| self.calls_at(stack, at));
        calls.into_iter().find(|it| !it.is_empty()).unwrap_or_default()
    }

    /// Finds the branch by which the call of one stack decides about that of another, both innermost frame first, of one thread: as a
    /// method and its line.
    pub fn deciding(self, check: &[Frame], decided: &[Frame]) -> Option<(MethodId, Option<u32>)> {
        let (at, other_at) = parting(check, decided)?;
        for inner in (0..at).filter(|&it| self.is_system(&check[it])) {
            if !self.calls_at(check, inner).into_iter().any(|it| self.gives_back(it)) {
                return None;
            }
        }
        let calls = self.calls_at(check, at);
        let others = self.calls_at(decided, other_at);
        let pairs = calls.iter().flat_map(|call| others.iter().map(move |other| (call, other)));
        pairs.filter(|it| it.0.0 == it.1.0).find_map(|(&(method, call), &(_, other))| {
            let line = self.decides(method, call, other)?;
            Some((method, line))
        })
    }

    fn is_system(self, frame: &Frame) -> bool {
        !self.methods_of(frame).is_empty()
    }

    /// The methods of the system that a frame may be in: it has no descriptor.
    fn methods_of(self, frame: &Frame) -> Vec<MethodId> {
        let Some((class, name)) = frame.method.rsplit_once('.') else { return Vec::new() };
        let class = class.replace('.', "/");
        let Some(class) = self.world.find_type(class.as_bytes()) else { return Vec::new() };
        let methods = self.world.methods_of(class);
        methods
            .filter(|&it| self.world.is_system_method(it) && self.world.method_name(it) == name.as_bytes())
            .collect()
    }

    /// The calls that a frame may be making. Of those on its line, the ones of what the next frame runs, if there are such.
    pub(crate) fn calls_at(self, stack: &[Frame], at: usize) -> Vec<(MethodId, u16)> {
        let line: Option<u16> = stack[at].at.as_ref().and_then(|it| it.rsplit_once(':')?.1.parse().ok());
        let called = at.checked_sub(1).and_then(|it| Some(stack[it].method.rsplit_once('.')?.1.as_bytes()));
        let on_line = |&method: &MethodId| {
            let calls = self.facts.calls_in(method).map(|it| self.facts.call(it));
            calls.filter(|it| Some(it.line) == line).collect::<Vec<_>>()
        };
        let calls: Vec<_> = self.methods_of(&stack[at]).iter().flat_map(on_line).collect();
        let is_called = |it: &&crate::facts::Call| {
            let name = it.callee.map(|it| self.world.signature(self.world.method_ref(it).signature).0);
            name.is_some_and(|it| Some(it) == called)
        };
        let named: Vec<_> = calls.iter().copied().filter(is_called).collect();
        let found = if named.is_empty() { calls } else { named };
        found.iter().map(|it| (it.method, it.instruction)).collect()
    }

    /// Tests whether what a call gives changes the result of its method.
    fn gives_back(self, (method, call): (MethodId, u16)) -> bool {
        if self.world.method_descriptor(method).ends_with(b")V") {
            return false;
        }
        let looked = self.world.look(method, |view| {
            let affected = Affected::by(self, &view, call.into());
            affected.instructions.iter().any(|&it| view.instruction(it).is_return())
        });
        looked.unwrap_or(false)
    }

    /// Tests whether a call decides about another of its method, by a branch at a line.
    fn decides(self, method: MethodId, call: u16, other: u16) -> Option<Option<u32>> {
        let looked = self.world.look(method, |view| {
            let affected = Affected::by(self, &view, call.into());
            let deciders = affected.decisions.of_instruction(other.into());
            let is_it = |it: &&Decider| match it.by {
                Decision::Branch => affected.instructions.contains(&it.instruction),
                Decision::Caught(_) => it.instruction == u32::from(call),
                Decision::Returned => false,
            };
            deciders.iter().find(is_it).map(|it| view.body.line(it.instruction))
        });
        looked.flatten()
    }
}

/// The frames of two stacks in the method that makes both calls.
fn parting(one: &[Frame], other: &[Frame]) -> Option<(usize, usize)> {
    let same = one.iter().rev().zip(other.iter().rev()).take_while(|it| it.0 == it.1).count();
    let (one_left, other_left) = (one.len() - same, other.len() - same);
    let (next, other_next) = (one_left.checked_sub(1)?, other_left.checked_sub(1)?);
    if one[next].method == other[other_next].method {
        return Some((next, other_next));
    }
    // One line that makes both calls.
    (same > 0).then_some((one_left, other_left))
}

/// What the result of a call changes in its method.
struct Affected<'v> {
    view: &'v MethodView<'v>,
    decisions: Decisions,
    instructions: FxHashSet<u32>,
    values: FxHashSet<ValueId>,
    fields: FxHashSet<FieldId>,
    pending: Vec<u32>,
}

impl<'v> Affected<'v> {
    fn by(causes: Causes<'_>, view: &'v MethodView<'v>, call: u32) -> Affected<'v> {
        let mut it = Affected {
            view,
            decisions: Decisions::of(causes, view, true),
            instructions: FxHashSet::default(),
            values: FxHashSet::default(),
            fields: FxHashSet::default(),
            pending: vec![call],
        };
        // What it fills is as good as what it returns.
        for &operand in view.body.operands(call) {
            it.changed(operand);
        }
        let ways = it.decisions.ways_at(call);
        let caught: Vec<Decider> = ways
            .iter()
            .filter_map(|(_, way)| Some(Decider { instruction: call, by: Decision::Caught(way.to?) }))
            .collect();
        caught.into_iter().for_each(|decider| it.decided(decider));
        while let Some(instruction) = it.pending.pop() {
            it.instruction(instruction, call);
        }
        it
    }

    fn push(&mut self, instruction: u32) {
        if self.instructions.insert(instruction) {
            self.pending.push(instruction);
        }
    }

    fn instruction(&mut self, number: u32, call: u32) {
        let body = self.view.body;
        if let Some(result) = body.result(number) {
            self.value(result);
        }
        self.decided(Decider { instruction: number, by: Decision::Branch });
        let writes = matches!(self.view.instruction(number).opcode, op::PUTFIELD | op::PUTSTATIC);
        if let Some(field) = self.view.field_at(number).filter(|_| writes) {
            self.field(field);
        }
        if number != call && self.view.instruction(number).is_invoke() {
            // A list that it is added to.
            if let Some(&receiver) = body.operands(number).first() {
                self.changed(receiver);
            }
        }
    }

    /// What a decision is about.
    fn decided(&mut self, decider: Decider) {
        let count = self.view.body.flow.instructions.len() as u32;
        let decided: Vec<u32> = self.decisions.decided_by(decider, count).flatten().collect();
        decided.into_iter().for_each(|it| self.push(it));
    }

    /// An object that may hold something else now.
    fn changed(&mut self, value: ValueId) {
        let is_this = |it: ValueId| !self.view.is_static() && self.view.body.value(it) == Value::Parameter(0);
        let is_unchanged = |it: ValueId| {
            let class = self.view.class_of(it).map(|it| self.view.world.type_name(it.class));
            class.is_some_and(|it| UNCHANGED.contains(&it))
        };
        if value == ValueId::UNKNOWN || is_unchanged(value) {
            return;
        }
        let origins = self.view.body.origins(value);
        let origins: Vec<ValueId> =
            origins.into_iter().filter(|&it| !is_this(it) && !is_unchanged(it)).collect();
        origins.into_iter().for_each(|it| self.value(it));
    }

    /// What a value goes into.
    fn value(&mut self, value: ValueId) {
        let mut open = vec![value];
        while let Some(value) = open.pop() {
            if value == ValueId::UNKNOWN || !self.values.insert(value) {
                continue;
            }
            let body = self.view.body;
            body.uses(value).iter().for_each(|&it| self.push(it));
            open.extend(body.phi_uses(value));
        }
    }

    /// The reads of a field that may have another value now, in the same method.
    fn field(&mut self, field: FieldId) {
        if !self.fields.insert(field) {
            return;
        }
        let count = self.view.body.flow.instructions.len() as u32;
        let reads: Vec<u32> = (0..count).filter(|&it| self.view.field_at(it) == Some(field)).collect();
        reads.into_iter().for_each(|it| self.push(it));
    }
}
