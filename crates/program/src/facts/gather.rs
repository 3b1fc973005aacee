//! Effects of one class: its methods are analyzed one after the other, each once.

use std::cell::OnceCell;

use hypocenter_classfile::{ClassFile, Constant, Member, descriptor, op};
use hypocenter_plan::Problem;
use rustc_hash::FxHashMap;

use crate::facts::contents::contents;
use crate::facts::known;
use crate::facts::sorts::Sorts;
use crate::facts::{
    Allocation, Call, CallId, CallKind, Carrier, Carries, Catch, FutureFrom, FutureTo, Handler, HandlerId,
    Handover, Kept, Lambda, Task, Thrower, Thrown, Wrap, Write,
};
use crate::lists::Lists;
use crate::loading::world::{FieldId, MethodId, RefId, TypeId, World};
use crate::methods::body::Body;
use crate::methods::dominance::{Dominance, Edges};
use crate::methods::values::{Const, Value, ValueId};
use crate::methods::view::MethodView;

/// The facts of one class; calls, handlers and lists of handlers are numbered from 0.
#[derive(Default)]
pub(crate) struct Part {
    pub instructions: u64,
    pub bodies: u32,
    pub calls: Vec<Call>,
    pub allocations: Vec<Allocation>,
    pub named_classes: Vec<TypeId>,
    pub lambdas: Vec<Lambda>,
    pub writes: Vec<(FieldId, Write)>,
    pub reads: Vec<(FieldId, (MethodId, u16))>,
    pub field_calls: Vec<(FieldId, CallId)>,
    pub handovers: Vec<Handover>,
    pub throwers: Vec<(MethodId, Thrower)>,
    pub carriers: Vec<(MethodId, Carrier)>,
    pub wraps: Vec<(MethodId, Wrap)>,
    pub futures: Vec<(FutureTo, FutureFrom)>,
    pub chains: Lists<Catch>,
    pub handlers: Vec<Handler>,
    pub problems: Vec<Problem>,
}

impl Part {
    pub fn of(world: &World, sorts: &Sorts, at: usize) -> Part {
        let mut part = Part::default();
        part.chains.close();
        let system = &world.system_classes()[at];
        let class = ClassFile::parse(&system.bytes).expect("was read before");
        part.names(world, &class, &system.pool);
        let bootstraps = class.bootstrap_methods().unwrap_or_default();
        // A class that has to do with futures names one.
        let classes =
            (1..class.pool.len()).filter(|&it| matches!(class.pool.get(it), Ok(Constant::Class { .. })));
        let mut classes =
            classes.map(|it| system.pool[usize::from(it)]).filter(|&it| it != crate::loading::world::NONE);
        let has_futures = classes.any(|it| sorts.is_future(TypeId(it)));
        for (member, id) in class.methods().iter().zip(world.methods_of(system.id)) {
            let body = match Body::of_method(&class, member) {
                Ok(Some(body)) => body,
                Ok(None) => continue,
                Err(what) => {
                    part.problems.push(Problem {
                        place: world.show_method(id),
                        what: format!("{what}; the method is left out"),
                    });
                    continue;
                }
            };
            part.bodies += 1;
            part.instructions += body.flow.instructions.len() as u64;
            let view = MethodView { world, id, class: &class, member, body: &body, pool: &system.pool };
            let lambdas = part.lambdas.len();
            part.lambdas.extend(view.lambdas(&bootstraps));
            let invokes = (0..).zip(&body.flow.instructions).filter(|(_, it)| it.is_invoke()).map(|it| it.0);
            let looking = Looking {
                view,
                sorts,
                has_futures,
                handlers: part.handlers.len() as u32,
                lambdas,
                first_call: part.calls.len() as u32,
                invokes: invokes.collect(),
                chains: FxHashMap::default(),
                dominance: OnceCell::new(),
                part: &mut part,
            };
            looking.run();
        }
        part
    }

    /// Classes that are named where reflection could use the name.
    fn names(&mut self, world: &World, class: &ClassFile<'_>, pool: &[u32]) {
        let mut by_load = Vec::new();
        for index in 1..class.pool.len() {
            match class.pool.get(index) {
                Ok(Constant::String { .. }) => {
                    let Ok(text) = class.pool.string(index) else { continue };
                    let is_name = |b: &u8| b.is_ascii_alphanumeric() || matches!(b, b'.' | b'$' | b'_');
                    if text.contains(&b'.') && text.len() < 300 && text.iter().all(is_name) {
                        let name: Vec<u8> = text.iter().map(|&b| if b == b'.' { b'/' } else { b }).collect();
                        self.named_classes.extend(world.find_type(&name));
                    }
                }
                Ok(Constant::Class { .. }) if pool[usize::from(index)] != crate::loading::world::NONE => {
                    by_load.push(index);
                }
                _ => {}
            }
        }
        // A class constant is used by many instructions; only loading it makes an object that reflection can use.
        let loads = |method: &Member<'_>| -> Vec<u16> {
            let Ok(Some(code)) = method.code() else { return Vec::new() };
            let loads = code.instructions().flatten().filter(|it| matches!(it.opcode, op::LDC | op::LDC_W));
            loads.filter_map(|it| it.pool_index()).collect()
        };
        if !by_load.is_empty() {
            let mut loaded: Vec<u16> = class.methods().iter().flat_map(loads).collect();
            loaded.sort_unstable();
            by_load.retain(|it| loaded.binary_search(it).is_ok());
            self.named_classes.extend(by_load.into_iter().map(|it| TypeId(pool[usize::from(it)])));
        }
    }
}

/// One method being looked at.
struct Looking<'p, 'v> {
    view: MethodView<'v>,
    sorts: &'p Sorts,
    /// True if the class has to do with futures.
    has_futures: bool,
    part: &'p mut Part,
    /// The number of the first handler of this method.
    handlers: u32,
    /// The number of its first lambda.
    lambdas: usize,
    /// The number of its first call, and the instructions of all.
    first_call: u32,
    invokes: Vec<u32>,
    chains: FxHashMap<Vec<Catch>, u32>,
    dominance: OnceCell<Option<Dominance>>,
}

impl<'v> Looking<'_, 'v> {
    fn run(mut self) {
        let body = self.view.body;
        for &block in &body.flow.handlers {
            let instruction = body.flow.blocks[block as usize].start;
            self.part.handlers.push(Handler {
                method: self.view.id,
                instruction: instruction as u16,
                line: self.line(instruction),
            });
        }
        for number in 0..body.flow.instructions.len() as u32 {
            let instruction = self.view.instruction(number);
            match instruction.opcode {
                op::NEW => {
                    if let Some(class) = self.view.class_at(number) {
                        let (method, instruction) = (self.view.id, number as u16);
                        self.part.allocations.push(Allocation { class, method, instruction });
                    }
                }
                op::PUTFIELD | op::PUTSTATIC => self.write(number),
                op::GETFIELD | op::GETSTATIC => {
                    let here = (self.view.id, number as u16);
                    self.part.reads.extend(self.view.field_at(number).map(|field| (field, here)));
                }
                op::ATHROW => self.throw(number),
                op::ARETURN => self.returned(number),
                op::INVOKEVIRTUAL..=op::INVOKEDYNAMIC => self.call(number),
                _ => {}
            }
        }
    }

    fn line(&self, instruction: u32) -> u16 {
        self.view.body.line(instruction).unwrap_or(0) as u16
    }

    /// The handler that begins at a block.
    fn handler(&self, block: u32) -> Option<HandlerId> {
        let at = self.view.body.flow.handlers.binary_search(&block).ok()?;
        Some(HandlerId(self.handlers + at as u32))
    }

    /// The call at an instruction.
    fn call_at(&self, instruction: u32) -> Option<CallId> {
        let at = self.invokes.binary_search(&instruction).ok()?;
        Some(CallId(self.first_call + at as u32))
    }

    fn is_system(&self, callee: RefId) -> bool {
        let world = self.view.world;
        world.method_ref(callee).method.is_some_and(|it| world.is_system_method(it))
    }

    fn field_type(&self, field: FieldId) -> &'v [u8] {
        let world = self.view.world;
        world.signature(world.field(field).signature).1
    }

    fn chain(&mut self, instruction: u32) -> u32 {
        if self.view.body.flow.handlers.is_empty() {
            return 0;
        }
        let mut list = Vec::new();
        for crate::methods::body::Catch { handler, catch_type } in self.view.body.covering(instruction) {
            let Some(handler) = self.handler(handler) else { continue };
            // A class that is not known catches what nobody can say; a phantom has a number, so this is a broken file.
            let class = if catch_type == 0 { None } else { self.view.class_constant(catch_type) };
            list.push(Catch { handler, class });
            if catch_type == 0 {
                break;
            }
        }
        if list.is_empty() {
            return 0;
        }
        let chains = &mut self.part.chains;
        *self.chains.entry(list).or_insert_with_key(|list| {
            chains.add(list.iter().copied());
            chains.len() as u32 - 1
        })
    }

    fn write(&mut self, number: u32) {
        let (view, sorts) = (self.view, self.sorts);
        let Some(field) = view.field_at(number) else { return };
        let Some(&value) = view.body.operands(number).last() else { return };
        let write = Write { method: view.id, instruction: number as u16, given: view.given(value) };
        self.part.writes.push((field, write));
        let text = self.field_type(field);
        if sorts.throwable(view.world, text) {
            self.keep(Kept::Field(field), value, number);
        }
        if self.has_futures && sorts.holds_future(view.world, text) {
            self.future(FutureTo::Field(field), value);
        }
    }

    fn call(&mut self, number: u32) {
        let view = self.view;
        let id = CallId(self.part.calls.len() as u32);
        let kind = match view.instruction(number).opcode {
            op::INVOKESTATIC => CallKind::Static,
            op::INVOKESPECIAL => CallKind::Special,
            op::INVOKEVIRTUAL => CallKind::Virtual,
            op::INVOKEINTERFACE => CallKind::Interface,
            _ => CallKind::Dynamic,
        };
        let callee = view.callee_at(number);
        let chain = self.chain(number);
        let call = Call {
            method: view.id,
            instruction: number as u16,
            line: self.line(number),
            kind,
            callee,
            chain,
        };
        self.part.calls.push(call);
        let Some(callee) = callee else {
            if kind == CallKind::Dynamic {
                self.captured(id, number);
            }
            return;
        };
        let operands = view.body.operands(number);
        let on_object = matches!(kind, CallKind::Virtual | CallKind::Interface);
        let field = operands.first().filter(|_| on_object).and_then(|&it| view.field_of(it));
        self.part.field_calls.extend(field.map(|it| (it, id)));
        self.pass(id, callee, number);
        if self.is_system(callee) {
            return;
        }
        let (name, text) = view.world.signature(view.world.method_ref(callee).signature);
        if known::throws_supplied(name, text) {
            self.supplied(number, chain);
        }
        self.tell(field, number);
        self.hand_over(id, callee, kind, number);
        let is_first_of_new = || operands.first().is_some_and(|&it| self.is_new_future(it));
        if self.has_futures
            && (self.sorts.is_future(view.world.method_ref(callee).owner)
                || self.sorts.returns_future(callee)
                || (kind == CallKind::Special && is_first_of_new()))
        {
            for &operand in operands {
                self.future(FutureTo::Call(id), operand);
            }
        }
    }

    fn is_new_future(&self, value: ValueId) -> bool {
        match self.view.body.value(value) {
            Value::Result(at) if self.view.instruction(at).opcode == op::NEW => {
                self.view.class_at(at).is_some_and(|it| self.sorts.is_future(it))
            }
            _ => false,
        }
    }

    /// Notes exceptions and futures that a lambda takes along.
    fn captured(&mut self, id: CallId, number: u32) {
        let (view, sorts) = (self.view, self.sorts);
        let Some(index) = view.instruction(number).pool_index() else { return };
        let Ok(site) = view.class.pool.invoke_dynamic(index) else { return };
        for (at, (text, &operand)) in
            descriptor::parameters(site.descriptor).zip(view.body.operands(number)).enumerate()
        {
            if sorts.throwable(view.world, text) {
                self.keep(Kept::Argument(id, at as u16), operand, number);
            }
            if self.has_futures && sorts.holds_future(view.world, text) {
                self.future(FutureTo::Argument(id, at as u16), operand);
            }
        }
    }

    /// Notes exceptions and futures that are arguments.
    fn pass(&mut self, id: CallId, callee: RefId, number: u32) {
        let (view, sorts) = (self.view, self.sorts);
        let futures = self.has_futures && sorts.takes_future(callee) && self.is_system(callee);
        if !futures && !sorts.takes_throwable(callee) {
            return;
        }
        let text = view.world.signature(view.world.method_ref(callee).signature).1;
        let operands = view.body.operands(number);
        let receiver = usize::from(view.instruction(number).opcode != op::INVOKESTATIC);
        for (at, text) in descriptor::parameters(text).enumerate() {
            let at = at + receiver;
            let Some(&operand) = operands.get(at) else { break };
            if sorts.throwable(view.world, text) {
                self.keep(Kept::Argument(id, at as u16), operand, number);
            }
            if futures && sorts.holds_future(view.world, text) {
                self.future(FutureTo::Argument(id, at as u16), operand);
            }
        }
    }

    /// Notes exceptions and futures that are put into the object which a field holds.
    fn tell(&mut self, field: Option<FieldId>, number: u32) {
        let (view, sorts) = (self.view, self.sorts);
        let Some(field) = field.filter(|&it| sorts.is_holder(view.world, self.field_type(it))) else {
            return;
        };
        for &operand in view.body.operands(number).iter().skip(1) {
            let is_throwable = |origin: ValueId| match view.body.value(origin) {
                Value::Caught(_) => true,
                _ => view.class_of(origin).is_some_and(|it| sorts.is_throwable(it.class)),
            };
            if view.body.origins_through_casts(operand).into_iter().any(is_throwable) {
                self.keep(Kept::Field(field), operand, number);
            }
            if self.has_futures {
                self.future(FutureTo::Field(field), operand);
            }
        }
    }

    /// Notes the objects of the system that a call hands to a library.
    fn hand_over(&mut self, id: CallId, callee: RefId, kind: CallKind, number: u32) {
        self.hand_over_operands(id, callee, kind, number);
        // A library object is told to run what it was given when it was made: `new Thread(task).start()`.
        let view = self.view;
        let Some(&receiver) = view.body.operands(number).first() else { return };
        let Value::Result(new) = view.body.value(receiver) else { return };
        if kind == CallKind::Special || view.instruction(new).opcode != op::NEW {
            return;
        }
        for &at in view.body.uses(receiver) {
            let made = view.callee_at(at).filter(|_| view.instruction(at).opcode == op::INVOKESPECIAL);
            if let Some(constructor) = made.filter(|&it| !self.is_system(it)) {
                self.hand_over_operands(id, constructor, CallKind::Special, at);
            }
        }
    }

    /// Notes what the operands of a call hand over to a library with another call.
    fn hand_over_operands(&mut self, id: CallId, callee: RefId, kind: CallKind, number: u32) {
        let view = self.view;
        let world = view.world;
        let reference = world.method_ref(callee);
        let (name, text) = world.signature(reference.signature);
        let operands = view.body.operands(number);
        let in_lists = known::takes_tasks_in_lists(name);
        let mut types = descriptor::parameters(text);
        for (at, &operand) in operands.iter().enumerate() {
            let is_receiver = at == 0 && kind != CallKind::Static;
            let text = if is_receiver { &[][..] } else { types.next().unwrap_or_default() };
            // Numbers, texts and the like are most of what is passed.
            let is_plain = !is_receiver && (!text.starts_with(b"L") || text == b"Ljava/lang/String;");
            if is_plain {
                continue;
            }
            let taken_as = || if is_receiver { Some(reference.owner) } else { world.find_descriptor(text) };
            let hand = |value: ValueId, looking: &mut Self| {
                if let Some(task) = looking.task(value) {
                    looking.part.handovers.push(Handover { call: id, task, taken_as: taken_as() });
                }
            };
            if in_lists && !is_receiver {
                contents(&view, self.sorts, operand).into_iter().for_each(|it| hand(it, self));
            } else if self.is_plain(operand) {
                hand(operand, self);
            } else {
                view.body.origins_through_casts(operand).into_iter().for_each(|it| hand(it, self));
            }
        }
    }

    /// Notes what a call throws because a function that it is handed returns it.
    fn supplied(&mut self, number: u32, chain: u32) {
        let view = self.view;
        let Some(&operand) = view.body.operands(number).last() else { return };
        for origin in view.body.origins_through_casts(operand) {
            let lambdas = &self.part.lambdas[self.lambdas..];
            let lambda = match view.body.value(origin) {
                Value::Result(at) => lambdas.iter().find(|it| u32::from(it.instruction) == at),
                _ => None,
            };
            let named = lambda.and_then(|it| it.named).map(|it| view.world.method_ref(it));
            let thrown = match (named, lambda.and_then(|it| it.implementation)) {
                (Some(named), _) if view.world.signature(named.signature).0 == b"<init>" => {
                    Some(Thrown::New(named.owner, self.around(number)))
                }
                (_, Some(method)) => Some(Thrown::Supplied(method)),
                _ => view.world.find_type(b"java/lang/Throwable").map(Thrown::Typed),
            };
            let thrower = |thrown| Thrower { instruction: number as u16, chain, thrown, cast: None };
            self.part.throwers.extend(thrown.map(|it| (view.id, thrower(it))));
        }
    }

    /// Tests whether a value is its own only origin, as most are: no merge and no cast.
    fn is_plain(&self, value: ValueId) -> bool {
        match self.view.body.value(value) {
            Value::Phi(_) => false,
            Value::Result(at) => self.view.instruction(at).opcode != op::CHECKCAST,
            _ => true,
        }
    }

    fn task(&self, value: ValueId) -> Option<Task> {
        let view = self.view;
        match view.body.value(value) {
            Value::Result(number) if view.instruction(number).opcode == op::INVOKEDYNAMIC => {
                let lambdas = &self.part.lambdas[self.lambdas..];
                let found = lambdas.iter().find(|it| u32::from(it.instruction) == number);
                found.and_then(|it| it.implementation).map(Task::Lambda)
            }
            _ => {
                let class = view.class_of(value).map(|it| it.class);
                class.filter(|&it| view.world.is_callback_class(it)).map(Task::Class)
            }
        }
    }

    fn throw(&mut self, number: u32) {
        let chain = self.chain(number);
        let Some(&operand) = self.view.body.operands(number).first() else { return };
        for (thrown, cast) in self.thrown(operand, number) {
            let thrower = Thrower { instruction: number as u16, chain, thrown, cast };
            self.part.throwers.push((self.view.id, thrower));
        }
    }

    /// Notes the exceptions and futures that a method returns.
    fn returned(&mut self, number: u32) {
        let (view, sorts) = (self.view, self.sorts);
        let text = descriptor::return_type(view.member.descriptor);
        let Some(&operand) = view.body.operands(number).first() else { return };
        if sorts.throwable(view.world, text) {
            self.keep(Kept::Returned, operand, number);
        }
        if self.has_futures && sorts.holds_future(view.world, text) {
            self.future(FutureTo::Returned(view.id), operand);
        }
    }

    fn keep(&mut self, to: Kept, value: ValueId, number: u32) {
        for (thrown, cast) in self.thrown(value, number) {
            let carrier = Carrier { to, instruction: number as u16, thrown, cast };
            self.part.carriers.push((self.view.id, carrier));
        }
    }

    /// Notes where a future, or something that holds futures, comes from.
    fn future(&mut self, to: FutureTo, value: ValueId) {
        let view = self.view;
        let (world, sorts) = (view.world, self.sorts);
        for value in contents(&view, sorts, value) {
            let from = match view.body.value(value) {
                Value::Parameter(number) => {
                    let holds = view.parameter(number).is_some_and(|it| sorts.holds_future(world, it));
                    holds.then_some(FutureFrom::Parameter(view.id, number))
                }
                Value::Result(at) => match view.instruction(at).opcode {
                    op::NEW if self.is_new_future(value) => {
                        let mut calls = view.body.uses(value).iter().filter(|&&it| {
                            view.instruction(it).opcode == op::INVOKESPECIAL
                                && view.body.operands(it).first() == Some(&value)
                        });
                        calls.next().and_then(|&it| self.call_at(it)).map(FutureFrom::Made)
                    }
                    op::GETFIELD | op::GETSTATIC => {
                        let field = view.field_at(at);
                        let field = field.filter(|&it| sorts.holds_future(world, self.field_type(it)));
                        field.map(FutureFrom::Field)
                    }
                    op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                        let is_system = view.callee_at(at).is_some_and(|it| self.is_system(it));
                        let call = self.call_at(at);
                        call.map(|it| if is_system { FutureFrom::Result(it) } else { FutureFrom::Made(it) })
                    }
                    _ => None,
                },
                _ => None,
            };
            if let Some(from) = from {
                self.part.futures.push((to, from));
            }
        }
    }

    /// Origins of the values that may be an exception, each with the class that it is cast to on the way.
    fn sources(&self, operand: ValueId) -> Vec<(ValueId, Option<TypeId>)> {
        let view = self.view;
        let mut found: Vec<(ValueId, Option<TypeId>)> = Vec::new();
        let mut seen: Vec<ValueId> = Vec::new();
        let mut pending = vec![(operand, None)];
        while let Some((value, cast)) = pending.pop() {
            for origin in view.body.origins(value) {
                if seen.contains(&origin) {
                    continue;
                }
                seen.push(origin);
                let Value::Result(at) = view.body.value(origin) else {
                    found.push((origin, cast));
                    continue;
                };
                let before = view.body.operands(at).first();
                if let (op::CHECKCAST, Some(&before)) = (view.instruction(at).opcode, before) {
                    // The last cast is the narrowest one that compilers write.
                    pending.push((before, cast.or_else(|| view.class_at(at))));
                } else if let (true, Some(&before)) = (self.returns_itself(at), before) {
                    pending.push((before, cast));
                } else {
                    found.push((origin, cast));
                }
            }
        }
        found.sort_unstable();
        found
    }

    /// Tests whether a call returns the exception that it is on, as `initCause` does.
    fn returns_itself(&self, instruction: u32) -> bool {
        let world = self.view.world;
        let callee = self.view.callee_at(instruction).map(|it| world.method_ref(it));
        callee.is_some_and(|it| known::returns_itself(world.signature(it.signature).0))
    }

    fn thrown(&mut self, operand: ValueId, number: u32) -> Vec<(Thrown, Option<TypeId>)> {
        let mut list = Vec::new();
        for (origin, cast) in self.sources(operand) {
            let thrown = self.one_thrown(origin, number);
            if let Some(Thrown::New(class, _)) = thrown {
                self.wrapped(origin, class, number);
            }
            list.extend(thrown.map(|it| (it, cast)).filter(|it| !list.contains(it)));
        }
        list
    }

    fn one_thrown(&self, origin: ValueId, number: u32) -> Option<Thrown> {
        let view = self.view;
        let at = match view.body.value(origin) {
            Value::Caught(block) => return self.handler(block).map(Thrown::Again),
            Value::Parameter(0) if !view.is_static() => {
                return Some(Thrown::Typed(view.world.method(view.id).owner));
            }
            Value::Parameter(number) => return Some(Thrown::Parameter(number)),
            Value::Result(at) => at,
            _ => return self.typed(origin),
        };
        match view.instruction(at).opcode {
            op::NEW => {
                let because = self.because(origin, number);
                view.class_at(at).map(|class| Thrown::New(class, because))
            }
            op::GETFIELD | op::GETSTATIC => view.field_at(at).map(Thrown::Field),
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                let operands = view.body.operands(at);
                let is_system = view.callee_at(at).is_some_and(|it| self.is_system(it));
                let on = operands.first().filter(|_| !is_system).and_then(|&it| view.field_of(it));
                if let Some(field) = on.filter(|&it| self.sorts.is_holder(view.world, self.field_type(it))) {
                    return Some(Thrown::Field(field));
                }
                let because = self.caught_in(operands).or_else(|| self.around(number));
                self.call_at(at).map(|it| Thrown::Returned(it, because))
            }
            _ if view.body.constant(origin) == Some(Const::Null) => None,
            _ => self.typed(origin),
        }
    }

    fn typed(&self, origin: ValueId) -> Option<Thrown> {
        let class = self.view.class_of(origin).map(|it| it.class);
        class.or_else(|| self.view.world.find_type(b"java/lang/Throwable")).map(Thrown::Typed)
    }

    /// Notes what a new exception carries.
    fn wrapped(&mut self, new: ValueId, class: TypeId, number: u32) {
        let view = self.view;
        for &at in view.body.uses(new) {
            let [first, rest @ ..] = view.body.operands(at) else { continue };
            let Some(callee) = view.callee_at(at).filter(|_| *first == new) else { continue };
            let (name, text) = view.world.signature(view.world.method_ref(callee).signature);
            let how = match name {
                b"<init>" | b"initCause" => Carries::Cause,
                b"addSuppressed" => Carries::Suppressed,
                _ => continue,
            };
            if !self.sorts.takes_throwable(callee) {
                continue;
            }
            for (&value, text) in rest.iter().zip(descriptor::parameters(text)) {
                if !self.sorts.throwable(view.world, text) {
                    continue;
                }
                for (origin, cast) in self.sources(value) {
                    if let Some(carried) = self.one_thrown(origin, at) {
                        let wrap = Wrap { instruction: number as u16, class, carried, cast, how };
                        self.part.wraps.push((view.id, wrap));
                    }
                }
            }
        }
    }

    /// The handler whose exception a new one passes on: it is given to the constructor, to `initCause` or to
    /// `addSuppressed`, or the new one is thrown only after the handler was entered.
    fn because(&self, new: ValueId, number: u32) -> Option<HandlerId> {
        let view = self.view;
        let of_new =
            view.body.uses(new).iter().filter(|&&it| {
                view.instruction(it).is_invoke() && view.body.operands(it).first() == Some(&new)
            });
        let given = of_new.filter_map(|&it| self.caught_in(&view.body.operands(it)[1..])).next();
        given.or_else(|| self.around(number))
    }

    /// The first handler whose exception is among some values, or was asked for one of them (`e.getCause()`).
    fn caught_in(&self, values: &[ValueId]) -> Option<HandlerId> {
        let body = self.view.body;
        if body.flow.handlers.is_empty() {
            return None;
        }
        let direct = |it: ValueId| match body.value(it) {
            Value::Caught(block) => self.handler(block),
            _ => None,
        };
        let asked = |it: ValueId| match body.value(it) {
            Value::Result(at) if self.view.instruction(at).is_invoke() => {
                body.operands(at).iter().flat_map(|&it| body.origins_through_casts(it)).find_map(direct)
            }
            _ => None,
        };
        values
            .iter()
            .flat_map(|&it| body.origins_through_casts(it))
            .find_map(|it| direct(it).or_else(|| asked(it)))
    }

    /// The innermost handler that must have been entered before an instruction runs.
    fn around(&self, number: u32) -> Option<HandlerId> {
        let body = self.view.body;
        if body.flow.handlers.is_empty() {
            return None;
        }
        let dominance = self.dominance.get_or_init(|| Dominance::of(&body.flow, Edges::All).ok()).as_ref()?;
        let above = std::iter::successors(Some(body.block_of(number)), |&it| dominance.immediate(it));
        above.into_iter().find_map(|block| self.handler(block))
    }
}
