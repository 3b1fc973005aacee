//! What is in arrays and in objects of libraries: where the same object is held.
//!
//! The object is followed to where it comes from, and from each place on the way to where it goes. Objects that are put
//! into collections are not followed there: the collection is told, and whoever asks it depends on that.

use hypocenter_classfile::{descriptor, op};

use super::{Holder, Looking, Step};
use crate::causality::causal::Causes;
use crate::facts::known;
use crate::loading::world::{RefId, TypeId};
use crate::logging::logger;
use crate::methods::values::{Value, ValueId};

/// Classes of the JDK whose objects never change, so that what they were told does not matter.
fn is_immutable(class: &[u8]) -> bool {
    matches!(
        class,
        b"java/lang/Boolean"
            | b"java/lang/Byte"
            | b"java/lang/Character"
            | b"java/lang/Class"
            | b"java/lang/Double"
            | b"java/lang/Enum"
            | b"java/lang/Float"
            | b"java/lang/Integer"
            | b"java/lang/Long"
            | b"java/lang/Object"
            | b"java/lang/Short"
            | b"java/lang/String"
            | b"java/math/BigDecimal"
            | b"java/math/BigInteger"
            | b"java/net/InetAddress"
            | b"java/net/InetSocketAddress"
            | b"java/net/URI"
            | b"java/nio/file/Path"
            | b"java/util/Optional"
            | b"java/util/UUID"
    ) || class.starts_with(b"java/time/")
}

impl Causes<'_> {
    /// Whether objects of a class can change, as far as is known.
    fn has_state(&self, class: TypeId) -> bool {
        let name = self.world.type_name(class);
        !is_immutable(name) && !logger::is_logger(name)
    }

    pub(super) fn content_without_body(&self, holder: Holder, next: &mut Vec<Step>) {
        match holder {
            Holder::Field(field) => {
                let writes = self.facts.writes(field).iter();
                let operand = |it: &crate::facts::Write| Holder::Operand(it.method, it.instruction, u16::MAX);
                next.extend(writes.map(|it| Step::Content(operand(it))));
                next.push(Step::Shared(holder));
            }
            Holder::Parameter(method, number) => {
                let passed = self.arguments(method, number).into_iter();
                next.extend(passed.map(|(method, at, it)| Step::Content(Holder::Operand(method, at, it))));
            }
            _ => {}
        }
    }

    pub(super) fn shared_without_body(&self, holder: Holder, next: &mut Vec<Step>) {
        match holder {
            Holder::Field(field) => {
                let reads = self.facts.reads(field).iter();
                next.extend(reads.map(|&(method, at)| Step::Shared(Holder::Result(method, at))));
            }
            Holder::Returned(method) => {
                let callers = self.calls.callers(method).map(|it| self.facts.call(it));
                next.extend(callers.map(|it| Step::Shared(Holder::Result(it.method, it.instruction))));
            }
            _ => {}
        }
    }
}

impl Looking<'_> {
    /// Where an object comes from.
    pub(super) fn content(&self, holder: Holder, next: &mut Vec<Step>) {
        if let Holder::Returned(_) = holder {
            for (at, instruction) in (0..).zip(&self.view.body.flow.instructions) {
                if instruction.opcode == op::ARETURN {
                    let value = self.view.body.operands(at).first();
                    next.extend(value.map(|&it| Step::Content(Holder::Local(self.view.id, it))));
                }
            }
            return;
        }
        let Some(value) = self.held(holder) else { return };
        let local = |it: ValueId| Step::Content(Holder::Local(self.view.id, it));
        next.push(Step::Shared(Holder::Local(self.view.id, value)));
        match self.view.body.value(value) {
            Value::Phi(_) => next.extend(self.view.body.inputs(value).iter().map(|&it| local(it))),
            Value::Parameter(number) => {
                next.push(Step::Content(Holder::Parameter(self.view.id, number)));
            }
            Value::Result(at) => match self.opcode(at) {
                op::CHECKCAST | op::AALOAD => {
                    next.extend(self.view.body.operands(at).first().map(|&it| local(it)));
                }
                op::GETFIELD | op::GETSTATIC => {
                    next.extend(self.view.field_at(at).map(|it| Step::Content(Holder::Field(it))));
                }
                op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                    if let Some((_, call)) = self.call(at) {
                        let targets = self.causes.calls.targets(&call).iter();
                        next.extend(targets.map(|&it| Step::Content(Holder::Returned(it))));
                    }
                }
                _ => {}
            },
            Value::Caught(_) | Value::Unknown => {}
        }
    }

    /// Where an object goes. Every instruction that takes it is shown, with the number of the operand.
    pub(super) fn shared(
        &self,
        holder: Holder,
        next: &mut Vec<Step>,
        see: impl Fn(u32, u16, &mut Vec<Step>),
    ) {
        let (body, method) = (self.view.body, self.view.id);
        let Some(value) = self.held(holder) else { return };
        let local = |it: ValueId| Step::Shared(Holder::Local(method, it));
        next.extend(body.phi_uses(value).iter().map(|&it| local(it)));
        for &at in body.uses(value) {
            for (number, _) in (0..).zip(body.operands(at)).filter(|(_, it)| **it == value) {
                see(at, number, next);
                match self.opcode(at) {
                    op::CHECKCAST | op::AALOAD => next.extend(body.result(at).map(local)),
                    op::PUTSTATIC => {
                        next.extend(self.view.field_at(at).map(|it| Step::Shared(Holder::Field(it))))
                    }
                    op::PUTFIELD if number == 1 => {
                        next.extend(self.view.field_at(at).map(|it| Step::Shared(Holder::Field(it))));
                    }
                    op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => {
                        let taken = self.causes.parameters(method, at as u16, number).into_iter();
                        next.extend(taken.map(|(target, it)| Step::Shared(Holder::Parameter(target, it))));
                    }
                    op::ARETURN => next.push(Step::Shared(Holder::Returned(method))),
                    _ => {}
                }
            }
        }
    }

    fn held(&self, holder: Holder) -> Option<ValueId> {
        let body = self.view.body;
        match holder {
            Holder::Local(_, value) => Some(value),
            Holder::Operand(_, at, u16::MAX) => body.operands(at.into()).last().copied(),
            Holder::Operand(_, at, number) => body.operands(at.into()).get(usize::from(number)).copied(),
            Holder::Result(_, at) => body.result(at.into()),
            Holder::Parameter(_, number) => {
                body.value_ids().find(|&it| body.value(it) == Value::Parameter(number))
            }
            Holder::Field(_) | Holder::Returned(_) => None,
        }
        .filter(|&it| it != ValueId::UNKNOWN)
    }

    /// Whether it matters to an instruction what is in the object that is this operand.
    pub(super) fn asks(&self, instruction: u32, number: u16) -> bool {
        let Some(&operand) = self.view.body.operands(instruction).get(usize::from(number)) else {
            return false;
        };
        match self.opcode(instruction) {
            op::IALOAD..=op::SALOAD => number == 0,
            op::ATHROW => true,
            op::ARETURN => self.can_change(operand),
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                let callee = self.library_callee(instruction);
                callee.is_some_and(|callee| {
                    if self.is_receiver(instruction, number) {
                        self.causes.has_state(self.causes.world.method_ref(callee).owner)
                    } else {
                        self.can_change(operand)
                    }
                })
            }
            _ => false,
        }
    }

    /// Whether a call of a library may change the object that is this operand: its own object, or an array.
    pub(super) fn tells(&self, instruction: u32, number: u16) -> bool {
        let Some(&operand) = self.view.body.operands(instruction).get(usize::from(number)) else {
            return false;
        };
        let Some(callee) = self.library_callee(instruction) else { return false };
        if !self.is_receiver(instruction, number) {
            return self.is_array(operand);
        }
        let callee = self.causes.world.method_ref(callee);
        let name = self.causes.world.signature(callee.signature).0;
        self.causes.has_state(callee.owner) && !known::only_asks(name)
    }

    fn library_callee(&self, instruction: u32) -> Option<RefId> {
        let (_, call) = self.call(instruction)?;
        call.callee.filter(|_| self.causes.is_library(&call))
    }

    fn is_receiver(&self, instruction: u32, number: u16) -> bool {
        number == 0 && self.opcode(instruction) != op::INVOKESTATIC
    }

    /// Whether a value is an array or an object of a library that can change, as far as its types tell.
    fn can_change(&self, value: ValueId) -> bool {
        let has_state = |it: ValueId| {
            let class = self.view.class_of(it).map(|it| it.class);
            class.is_some_and(|it| !self.causes.world.is_system(it) && self.causes.has_state(it))
        };
        self.is_array(value) || self.view.body.origins(value).into_iter().any(has_state)
    }

    fn is_array(&self, value: ValueId) -> bool {
        let world = self.causes.world;
        let is_array = |it: ValueId| match self.view.body.value(it) {
            Value::Parameter(number) => self.view.parameter(number).is_some_and(|it| it.starts_with(b"[")),
            Value::Result(at) => match self.opcode(at) {
                op::NEWARRAY | op::ANEWARRAY | op::MULTIANEWARRAY => true,
                op::GETFIELD | op::GETSTATIC => self
                    .view
                    .field_at(at)
                    .is_some_and(|it| world.signature(world.field(it).signature).1.starts_with(b"[")),
                op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => self.view.callee_at(at).is_some_and(|it| {
                    let descriptor = world.signature(world.method_ref(it).signature).1;
                    descriptor::return_type(descriptor).starts_with(b"[")
                }),
                _ => false,
            },
            _ => false,
        };
        self.view.body.origins_through_casts(value).into_iter().any(is_array)
    }
}
