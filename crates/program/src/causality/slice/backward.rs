//! Backward: what matters for a step.

use hypocenter_classfile::op;
use rustc_hash::FxHashSet;

use super::{EVERY, Holder, Looking, Step};
use crate::causality::causal::Causes;
use crate::causality::decisions::{Decider, Decision};
use crate::dataflow::exceptions::{Exception, Way};
use crate::facts::HandlerId;
use crate::methods::dominance::Edges;
use crate::methods::values::{Value, ValueId};

impl Causes<'_> {
    pub(super) fn backward_without_body(&self, step: Step, next: &mut Vec<Step>) {
        match step {
            Step::Field(field) => {
                let writes = self.facts.writes(field).iter();
                next.extend(writes.map(|it| Step::Value(it.method, it.instruction)));
            }
            Step::Parameter(method, number) => {
                let passed = self.arguments(method, number).into_iter();
                next.extend(passed.map(|(method, at, operand)| Step::Operand(method, at, operand)));
                // What a library passes on comes from what it was given.
                let handed = self.tasks.handed(method).iter().map(|&it| self.facts.call(it));
                next.extend(handed.map(|it| Step::Operand(it.method, it.instruction, EVERY)));
            }
            Step::Entered(method) => {
                for (method, at, call) in self.entries(method) {
                    next.push(Step::Runs(method, at));
                    if call.is_some_and(|it| self.is_open(self.facts.call(it))) {
                        next.push(Step::Operand(method, at, 0));
                    }
                }
            }
            _ => {}
        }
    }
}

impl Looking<'_> {
    pub(super) fn backward(&self, step: Step, next: &mut Vec<Step>) {
        let method = self.view.id;
        match step {
            Step::Runs(_, at) => self.reached(at.into(), next),
            Step::Value(_, at) => {
                next.push(Step::Runs(method, at));
                self.made(at.into(), next);
            }
            Step::All(_, at) => {
                next.push(Step::Value(method, at));
                self.follow_all(at.into(), next);
                self.throws(self.decisions.ways_at(at.into()).iter(), next);
            }
            Step::Operand(_, at, number) => {
                next.push(Step::Runs(method, at));
                if number == EVERY {
                    self.follow_all(at.into(), next);
                }
                if let Some(&value) = self.view.body.operands(at.into()).get(usize::from(number)) {
                    self.follow(value, next);
                }
            }
            Step::Thrown(_, at, exception) => self.thrown(at.into(), exception, next),
            Step::Returned(_) => {
                let instructions = self.view.body.flow.instructions.iter().enumerate();
                let returns = instructions.filter(|(_, it)| it.is_return() && it.opcode != op::RETURN);
                next.extend(returns.map(|(at, _)| Step::Value(method, at as u16)));
            }
            Step::Escapes(_, exception) => {
                let out = |it: &&(u32, Way)| it.1.to.is_none() && it.1.arrives == exception;
                self.throws(self.decisions.ways().iter().filter(out), next);
            }
            Step::Handler(handler) => self.caught(handler, next),
            Step::Content(holder) => self.content(holder, next),
            Step::Shared(holder) => {
                self.shared(holder, next, |at, operand, next| self.told(at, operand, next))
            }
            Step::Field(_) | Step::Parameter(..) | Step::Entered(_) => {}
        }
    }

    /// What must have happened for an instruction to be reached.
    fn reached(&self, instruction: u32, next: &mut Vec<Step>) {
        for &decider in self.decisions.of_instruction(instruction) {
            self.decided(decider, next);
        }
        if self.decisions.is_open(&self.view, instruction) {
            next.push(match self.decisions.region(&self.view, instruction) {
                Some(handler) => Step::Handler(handler),
                None => Step::Entered(self.view.id),
            });
        }
    }

    fn decided(&self, decider: Decider, next: &mut Vec<Step>) {
        let here = self.decisions.ways_at(decider.instruction).iter();
        match decider.by {
            Decision::Branch => next.push(Step::Value(self.view.id, decider.instruction as u16)),
            Decision::Returned => self.throws(here, next),
            Decision::Caught(handler) => self.throws(here.filter(|it| it.1.to == Some(handler)), next),
        }
    }

    fn throws<'w>(&self, ways: impl Iterator<Item = &'w (u32, Way)>, next: &mut Vec<Step>) {
        next.extend(ways.map(|&(at, way)| Step::Thrown(self.view.id, at as u16, way.thrown)));
    }

    /// What makes an instruction throw.
    fn thrown(&self, instruction: u32, exception: Exception, next: &mut Vec<Step>) {
        let Causes { calls, exceptions, .. } = self.causes;
        let (method, at) = (self.view.id, instruction as u16);
        let Some((id, call)) = self.call(instruction) else {
            next.push(Step::Value(method, at));
            return;
        };
        next.push(Step::Runs(method, at));
        for &target in calls.targets(&call).iter().chain(exceptions.run_by(id)) {
            if exceptions.escapes(target).binary_search(&exception).is_ok() {
                next.push(Step::Escapes(target, exception));
            }
        }
        if self.causes.is_library(&call) {
            self.follow_all(instruction, next);
        } else if self.causes.is_open(&call) {
            next.push(Step::Operand(method, at, 0));
        }
    }

    /// What leads to a handler.
    fn caught(&self, handler: HandlerId, next: &mut Vec<Step>) {
        self.throws(self.decisions.ways().iter().filter(|it| it.1.to == Some(handler)), next);
        let instructions = 0..self.view.body.flow.instructions.len() as u32;
        let supposed = instructions.filter(|&it| self.is_supposed(it, handler));
        next.extend(supposed.map(|it| Step::Runs(self.view.id, it as u16)));
    }

    /// What gives an instruction its result, or its effect.
    fn made(&self, instruction: u32, next: &mut Vec<Step>) {
        match self.opcode(instruction) {
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => return self.called(instruction, next),
            op::GETFIELD | op::GETSTATIC => next.extend(self.view.field_at(instruction).map(Step::Field)),
            _ => {}
        }
        self.follow_all(instruction, next);
        self.contents(instruction, next);
    }

    /// What is in the objects that an instruction takes, where that matters to it.
    fn contents(&self, instruction: u32, next: &mut Vec<Step>) {
        for (number, &operand) in (0..).zip(self.view.body.operands(instruction)) {
            if self.asks(instruction, number) {
                next.push(Step::Content(Holder::Local(self.view.id, operand)));
            }
        }
    }

    /// What makes a call return what it returns.
    fn called(&self, instruction: u32, next: &mut Vec<Step>) {
        let Causes { calls, exceptions, tasks, .. } = self.causes;
        let Some((id, call)) = self.call(instruction) else { return };
        next.extend(calls.targets(&call).iter().map(|&it| Step::Returned(it)));
        for task in tasks.run_by(id) {
            next.push(Step::Returned(task));
            if self.causes.makes_future(&call) {
                next.extend(exceptions.escapes(task).iter().map(|&it| Step::Escapes(task, it)));
            }
        }
        if !self.causes.is_library(&call) {
            if self.causes.is_open(&call) {
                next.push(Step::Operand(self.view.id, instruction as u16, 0));
            }
            return;
        }
        self.follow_all(instruction, next);
        self.contents(instruction, next);
    }

    /// Notes an instruction that changes an object given to it as this operand.
    fn told(&self, instruction: u32, operand: u16, next: &mut Vec<Step>) {
        let is_told = match self.opcode(instruction) {
            op::IASTORE..=op::SASTORE => operand == 0,
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => self.tells(instruction, operand),
            _ => false,
        };
        if is_told {
            next.push(Step::Value(self.view.id, instruction as u16));
        }
    }

    fn follow_all(&self, instruction: u32, next: &mut Vec<Step>) {
        for &operand in self.view.body.operands(instruction) {
            self.follow(operand, next);
        }
    }

    /// What a value comes from; where several meet, also what decides which of them it is.
    fn follow(&self, value: ValueId, next: &mut Vec<Step>) {
        let (body, method) = (self.view.body, self.view.id);
        let mut seen: FxHashSet<ValueId> = FxHashSet::default();
        let mut pending = vec![value];
        while let Some(value) = pending.pop() {
            if !seen.insert(value) {
                continue;
            }
            match body.value(value) {
                Value::Unknown => {}
                Value::Parameter(number) => next.push(Step::Parameter(method, number)),
                Value::Caught(block) => {
                    next.extend(self.decisions.handler(&self.view, block).map(Step::Handler));
                }
                Value::Result(at) => next.push(Step::Value(method, at as u16)),
                Value::Phi(block) => {
                    pending.extend_from_slice(body.inputs(value));
                    self.chosen(block, next);
                }
            }
        }
    }

    /// What decides from where a block is entered.
    fn chosen(&self, block: u32, next: &mut Vec<Step>) {
        let flow = &self.view.body.flow;
        next.extend(self.decisions.handler(&self.view, block).map(Step::Handler));
        let into = flow.edges().iter().filter(|it| it.to == block && Edges::Normal.has(it));
        for edge in into.filter(|it| flow.reachable[it.from as usize]) {
            let last = flow.blocks[edge.from as usize].end - 1;
            if flow.out_of(edge.from).iter().filter(|it| Edges::Normal.has(it)).count() > 1 {
                next.push(Step::Value(self.view.id, last as u16));
            }
            for &decider in self.decisions.of_instruction(last) {
                // That nothing was thrown before does not tell from where.
                if decider.by != Decision::Returned {
                    self.decided(decider, next);
                }
            }
            if let Some(handler) = self.decisions.region(&self.view, last) {
                next.push(Step::Handler(handler));
            }
        }
    }
}
