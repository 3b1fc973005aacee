//! Forward: what a step affects.

use hypocenter_classfile::op;
use rustc_hash::FxHashSet;

use super::{Holder, Looking, Step};
use crate::causality::causal::Causes;
use crate::causality::decisions::{Decider, Decision};
use crate::dataflow::exceptions::Exception;
use crate::methods::values::{Value, ValueId};

impl Causes<'_> {
    pub(super) fn forward_without_body(&self, step: Step, next: &mut Vec<Step>) {
        match step {
            Step::Field(field) => {
                let reads = self.facts.reads(field).iter();
                next.extend(reads.map(|&(method, at)| Step::Value(method, at)));
            }
            Step::Returned(method) => {
                let callers = self.calls.callers(method).chain(self.tasks.handed(method).iter().copied());
                let callers = callers.map(|it| self.facts.call(it));
                next.extend(callers.map(|it| Step::Value(it.method, it.instruction)));
            }
            Step::Escapes(method, exception) => {
                let callers = self.calls.callers(method).map(|it| self.facts.call(it));
                next.extend(callers.map(|it| Step::Thrown(it.method, it.instruction, exception)));
                for &id in self.tasks.handed(method) {
                    let call = self.facts.call(id);
                    if self.exceptions.run_by(id).contains(&method) {
                        next.push(Step::Thrown(call.method, call.instruction, exception));
                    }
                    if self.makes_future(call) {
                        next.push(Step::Value(call.method, call.instruction));
                    }
                }
            }
            _ => {}
        }
    }
}

impl Looking<'_> {
    pub(super) fn forward(&self, step: Step, next: &mut Vec<Step>) {
        let (body, method) = (self.view.body, self.view.id);
        match step {
            Step::Runs(_, at) | Step::All(_, at) => self.affected(at.into(), next),
            Step::Value(_, at) => self.computed(at.into(), next),
            Step::Operand(_, at, number) => self.given(at.into(), number, next),
            Step::Thrown(_, at, exception) => self.goes(at.into(), Some(exception), next),
            Step::Parameter(_, number) => {
                let parameter = body.value_ids().find(|&it| body.value(it) == Value::Parameter(number));
                parameter.into_iter().for_each(|it| self.used(it, next));
            }
            Step::Entered(_) | Step::Handler(_) => {
                let inside = if let Step::Handler(it) = step { Some(it) } else { None };
                let block = inside.and_then(|it| self.decisions.block(&self.view, it));
                let caught = body
                    .value_ids()
                    .find(|&it| block.is_some_and(|block| body.value(it) == Value::Caught(block)));
                caught.into_iter().for_each(|it| self.used(it, next));
                for at in 0..body.flow.instructions.len() as u32 {
                    if self.decisions.region(&self.view, at) == inside
                        && self.decisions.is_open(&self.view, at)
                    {
                        next.push(Step::Runs(method, at as u16));
                    }
                }
            }
            Step::Content(holder) => self.content(holder, next),
            Step::Shared(holder) => {
                self.shared(holder, next, |at, operand, next| self.asked(at, operand, next))
            }
            Step::Field(_) | Step::Returned(_) | Step::Escapes(..) => {}
        }
    }

    /// It is affected whether an instruction runs, or everything about it.
    fn affected(&self, instruction: u32, next: &mut Vec<Step>) {
        next.push(Step::Value(self.view.id, instruction as u16));
        next.extend(self.causes.begun(self.view.id, instruction as u16).into_iter().map(Step::Entered));
        let covering = self.view.body.covering(instruction);
        let handlers = covering.filter_map(|it| self.decisions.handler(&self.view, it.handler));
        next.extend(handlers.filter(|&it| self.is_supposed(instruction, it)).map(Step::Handler));
        let Some((id, call)) = self.call(instruction) else { return };
        let Causes { calls, tasks, exceptions, .. } = self.causes;
        next.extend(calls.targets(&call).iter().map(|&it| Step::Entered(it)));
        next.extend(tasks.run_by(id).chain(exceptions.run_by(id).iter().copied()).map(Step::Entered));
        if call.callee.is_none() || self.causes.is_library(&call) {
            let operands = self.view.body.operands(instruction).len() as u16;
            next.extend((0..operands).map(|it| Step::Operand(self.view.id, instruction as u16, it)));
        }
        self.goes(instruction, None, next);
    }

    /// The result or the effect of an instruction is affected.
    fn computed(&self, instruction: u32, next: &mut Vec<Step>) {
        let (body, method) = (self.view.body, self.view.id);
        let operands = body.operands(instruction);
        body.result(instruction).into_iter().for_each(|it| self.used(it, next));
        match self.opcode(instruction) {
            op::PUTFIELD | op::PUTSTATIC => next.extend(self.view.field_at(instruction).map(Step::Field)),
            op::IASTORE..=op::SASTORE => {
                next.extend(operands.first().map(|&it| Step::Content(Holder::Local(method, it))));
            }
            op::IRETURN..=op::ARETURN => next.push(Step::Returned(method)),
            op::ATHROW => self.goes(instruction, None, next),
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                for (number, &operand) in (0..).zip(operands) {
                    if self.tells(instruction, number) {
                        next.push(Step::Content(Holder::Local(method, operand)));
                    }
                }
            }
            op::IFEQ..=op::IF_ACMPNE | op::IFNULL | op::IFNONNULL | op::TABLESWITCH | op::LOOKUPSWITCH => {
                self.decides(instruction, Decision::Branch, next);
                self.chooses(instruction, next);
            }
            _ => {}
        }
    }

    /// An operand of an instruction is affected. Of a call of the system that is a parameter of what it runs.
    fn given(&self, instruction: u32, number: u16, next: &mut Vec<Step>) {
        let (method, at) = (self.view.id, instruction as u16);
        let Some((id, call)) = self.call(instruction) else {
            next.push(Step::Value(method, at));
            return;
        };
        let taken = self.causes.parameters(method, at, number).into_iter();
        next.extend(taken.map(|(target, it)| Step::Parameter(target, it)));
        if number == 0 && self.causes.is_open(&call) {
            next.push(Step::Runs(method, at));
        }
        if !self.causes.is_library(&call) {
            return;
        }
        next.push(Step::Value(method, at));
        self.goes(instruction, None, next);
        for target in self.causes.tasks.run_by(id) {
            let parameters = self.causes.world.parameter_types(target).count() as u16 + 1;
            next.extend((0..parameters).map(|it| Step::Parameter(target, it)));
        }
    }

    /// Notes an instruction that answers from what is in an object given to it as this operand.
    fn asked(&self, instruction: u32, operand: u16, next: &mut Vec<Step>) {
        let (method, at) = (self.view.id, instruction as u16);
        if self.asks(instruction, operand) {
            next.push(Step::Value(method, at));
        }
    }

    /// What takes a value.
    fn used(&self, value: ValueId, next: &mut Vec<Step>) {
        let (body, method) = (self.view.body, self.view.id);
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if !seen.insert(value) {
                continue;
            }
            pending.extend_from_slice(body.phi_uses(value));
            for &at in body.uses(value) {
                let numbers = (0..).zip(body.operands(at)).filter(|(_, it)| **it == value);
                next.extend(numbers.map(|(number, _)| Step::Operand(method, at as u16, number)));
            }
        }
    }

    /// What a decision is about.
    fn decides(&self, instruction: u32, by: Decision, next: &mut Vec<Step>) {
        let count = self.view.body.flow.instructions.len() as u32;
        for range in self.decisions.decided_by(Decider { instruction, by }, count) {
            next.extend(range.map(|it| Step::Runs(self.view.id, it as u16)));
        }
    }

    /// The values of which a branch decides which of several they are.
    fn chooses(&self, branch: u32, next: &mut Vec<Step>) {
        let body = self.view.body;
        let block = body.block_of(branch);
        let is_decided = |from: u32| {
            let last = body.flow.blocks[from as usize].end - 1;
            from == block || self.decisions.of_instruction(last).iter().any(|it| it.instruction == branch)
        };
        let edges = body.flow.edges().iter();
        let entered: FxHashSet<u32> = edges.filter(|it| is_decided(it.from)).map(|it| it.to).collect();
        for value in body.value_ids() {
            if matches!(body.value(value), Value::Phi(at) if entered.contains(&at)) {
                self.used(value, next);
            }
        }
    }

    /// It is affected whether an instruction throws, and what.
    fn goes(&self, instruction: u32, exception: Option<Exception>, next: &mut Vec<Step>) {
        let ways = self.decisions.ways_at(instruction);
        for (_, way) in ways.iter().filter(|it| exception.is_none_or(|exception| it.1.thrown == exception)) {
            self.decides(instruction, Decision::Returned, next);
            match way.to {
                Some(handler) => {
                    self.decides(instruction, Decision::Caught(handler), next);
                    next.push(Step::Handler(handler));
                }
                None => next.push(Step::Escapes(self.view.id, way.arrives)),
            }
        }
    }
}
