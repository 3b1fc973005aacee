//! What the code of the system does, method by method: the facts that all later questions start from.
//!
//! Every method is looked at once, in parallel; what is found is put together in the order of the methods, so that
//! numbers do not depend on the number of threads. Bodies are not kept: a question about one method makes its body
//! again ([`World::view`]), which takes microseconds.

use hypocenter_classfile::{ClassFile, Constant, Member, op};
use hypocenter_plan::Problem;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::body::Body;
use crate::dominance::{Dominance, Edges};
use crate::lists::Lists;
use crate::values::{Const, Value, ValueId};
use crate::view::MethodView;
use crate::world::{FieldId, MethodId, RefId, SignatureId, TypeId, World};

/// A call in the code of the system, in the order of methods and instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u32);

/// A place where an exception is caught, in the order of methods and code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandlerId(pub u32);

/// How a call finds what it runs.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum CallKind {
    /// It is a method of the class.
    Static,
    /// It is exactly the named method: constructors, private methods, `super`.
    Special,
    /// By the class of the object.
    Virtual,
    /// Likewise, named in an interface.
    Interface,
    /// `invokedynamic`.
    Dynamic,
}

/// A call.
#[derive(Debug, Clone, Copy)]
pub struct Call {
    /// In which method.
    pub method: MethodId,
    /// At which instruction, by its number.
    pub instruction: u16,
    /// On which line, 0 if there is none.
    pub line: u16,
    /// How.
    pub kind: CallKind,
    /// What it names; none for `invokedynamic`.
    pub callee: Option<RefId>,
    /// The handlers around it: a list of [`Facts::chain`].
    pub chain: u32,
}

/// A `new`.
#[derive(Debug, Clone, Copy)]
pub struct Allocation {
    /// Of this class.
    pub class: TypeId,
    /// In which method.
    pub method: MethodId,
    /// At which instruction.
    pub instruction: u16,
}

/// A lambda or method reference where it is made.
#[derive(Debug, Clone, Copy)]
pub struct Lambda {
    /// In which method.
    pub method: MethodId,
    /// At which instruction.
    pub instruction: u16,
    /// What it implements.
    pub interface: Option<TypeId>,
    /// The method of the interface.
    pub signature: Option<SignatureId>,
    /// What runs, if it is a method of the system.
    pub implementation: Option<MethodId>,
}

/// What is written to a field, as far as it can be seen at the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// A number, character or truth value.
    Number(i32),
    /// No object.
    Null,
    /// Some object.
    Object,
    /// What this static final field holds.
    Static(FieldId),
    /// It cannot be seen.
    Unknown,
}

/// A write of a field.
#[derive(Debug, Clone, Copy)]
pub struct Write {
    /// In which method.
    pub method: MethodId,
    /// At which instruction.
    pub instruction: u16,
    /// What.
    pub given: Given,
}

/// What runs when a library is handed an object: a task of an executor, a thread, a callback.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Task {
    /// The methods by which this class implements what libraries call.
    Class(TypeId),
    /// A lambda's body.
    Lambda(MethodId),
}

/// A call of a library that hands it something to run.
#[derive(Debug, Clone, Copy)]
pub struct Handover {
    /// The call.
    pub call: CallId,
    /// What it hands over.
    pub task: Task,
}

/// What is thrown at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Thrown {
    /// A new object of exactly this class, and the handler whose exception it passes on.
    New(TypeId, Option<HandlerId>),
    /// An object of this class or one below it, from somewhere.
    Typed(TypeId),
    /// What a handler caught.
    Again(HandlerId),
    /// What a call returned, and the handler whose exception went into that call.
    Returned(CallId, Option<HandlerId>),
}

/// A `throw`, once for each thing that it may throw.
#[derive(Debug, Clone, Copy)]
pub struct Thrower {
    /// At which instruction.
    pub instruction: u16,
    /// Its handlers: a list of [`Facts::chain`].
    pub chain: u32,
    /// What.
    pub thrown: Thrown,
}

/// An entry of the exception table, as one instruction sees it.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Catch {
    /// Where it goes.
    pub handler: HandlerId,
    /// What it takes; none for everything.
    pub class: Option<TypeId>,
}

/// Where an exception is caught.
#[derive(Debug, Clone, Copy)]
pub struct Handler {
    /// In which method.
    pub method: MethodId,
    /// Its first instruction.
    pub instruction: u16,
    /// The line of that, 0 if there is none.
    pub line: u16,
}

/// What the code of the system does.
#[derive(Debug, Default)]
pub struct Facts {
    instructions: u64,
    bodies: u32,
    calls: Vec<Call>,
    /// The first call of each method, and one more.
    call_starts: Vec<u32>,
    allocations: Vec<Allocation>,
    /// For each type its allocations.
    allocations_of: Lists<u32>,
    named_classes: Vec<TypeId>,
    lambdas: Vec<Lambda>,
    writes: Lists<Write>,
    reads: Lists<(MethodId, u16)>,
    field_calls: Lists<CallId>,
    handovers: Vec<Handover>,
    throwers: Lists<Thrower>,
    chains: Lists<Catch>,
    handlers: Vec<Handler>,
    made: Lists<Thrown>,
    problems: Vec<Problem>,
}

impl Facts {
    /// Looks at every method of the system.
    pub fn of(world: &World) -> Facts {
        let parts: Vec<Part> = (0..world.system_classes().len()).into_par_iter().map(|at| Part::of(world, at)).collect();
        let mut facts = Facts { chains: Lists::default(), ..Facts::default() };
        facts.chains.close();
        let mut call_counts = vec![0u32; world.method_count() + 1];
        let (mut writes, mut field_calls) = (Vec::new(), Vec::new());
        let (mut throwers, mut made) = (Vec::new(), Vec::new());
        let mut reads = Vec::new();
        for mut part in parts {
            let calls = facts.calls.len() as u32;
            let handlers = facts.handlers.len() as u32;
            // Number 0 is the empty list for everybody.
            let chains = facts.chains.len() as u32 - 1;
            let chain = |it: u32| if it == 0 { 0 } else { it + chains };
            let thrown = |it: Thrown| it.moved(calls, handlers);
            facts.instructions += part.instructions;
            facts.bodies += part.bodies;
            for call in &mut part.calls {
                call.chain = chain(call.chain);
                call_counts[call.method.index() + 1] += 1;
            }
            facts.calls.append(&mut part.calls);
            facts.allocations.append(&mut part.allocations);
            facts.named_classes.append(&mut part.named_classes);
            facts.lambdas.append(&mut part.lambdas);
            writes.extend(part.writes.into_iter().map(|(field, it)| (field.0, it)));
            reads.extend(part.reads.into_iter().map(|(field, it)| (field.0, it)));
            field_calls.extend(part.field_calls.into_iter().map(|(field, it)| (field.0, CallId(it.0 + calls))));
            let handed = part.handovers.into_iter();
            facts.handovers.extend(handed.map(|it| Handover { call: CallId(it.call.0 + calls), ..it }));
            let thrown_there = part.throwers.into_iter();
            throwers.extend(thrown_there.map(|(method, it)| {
                (method.0, Thrower { chain: chain(it.chain), thrown: thrown(it.thrown), ..it })
            }));
            made.extend(part.made.into_iter().map(|(method, it)| (method.0, thrown(it))));
            for list in part.chains.iter().skip(1) {
                let list = list.iter().map(|it| Catch { handler: HandlerId(it.handler.0 + handlers), ..*it });
                facts.chains.add(list);
            }
            facts.handlers.append(&mut part.handlers);
            facts.problems.append(&mut part.problems);
        }
        for at in 1..call_counts.len() {
            call_counts[at] += call_counts[at - 1];
        }
        facts.call_starts = call_counts;
        facts.named_classes.sort_unstable();
        facts.named_classes.dedup();
        let made_of = facts.allocations.iter().enumerate().map(|(at, it)| (it.class.0, at as u32));
        facts.allocations_of = Lists::of(world.types().len(), made_of);
        facts.writes = Lists::of(world.field_count(), writes.iter().copied());
        facts.reads = Lists::of(world.field_count(), reads.iter().copied());
        facts.field_calls = Lists::of(world.field_count(), field_calls.iter().copied());
        facts.throwers = Lists::of(world.method_count(), throwers.iter().copied());
        facts.made = Lists::of(world.method_count(), made.iter().copied());
        facts
    }

    /// How many instructions were looked at.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// How many methods have code.
    pub fn bodies(&self) -> u32 {
        self.bodies
    }

    /// Methods that could not be looked at, and why.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// All calls.
    pub fn calls(&self) -> &[Call] {
        &self.calls
    }

    /// A call.
    pub fn call(&self, id: CallId) -> &Call {
        &self.calls[id.0 as usize]
    }

    /// The calls in a method, in the order of its code.
    pub fn calls_in(&self, id: MethodId) -> impl DoubleEndedIterator<Item = CallId> + ExactSizeIterator + use<> {
        (self.call_starts[id.index()]..self.call_starts[id.index() + 1]).map(CallId)
    }

    /// The call at an instruction.
    pub fn call_at(&self, method: MethodId, instruction: u32) -> Option<CallId> {
        let range = self.call_starts[method.index()] as usize..self.call_starts[method.index() + 1] as usize;
        let at = self.calls[range.clone()].binary_search_by_key(&instruction, |it| it.instruction.into()).ok()?;
        Some(CallId((range.start + at) as u32))
    }

    /// Every `new`.
    pub fn allocations(&self) -> &[Allocation] {
        &self.allocations
    }

    /// Every `new` of a class.
    pub fn made_at(&self, class: TypeId) -> impl Iterator<Item = &Allocation> {
        let list = self.allocations_of.get(class.0);
        list.iter().map(|&it| &self.allocations[it as usize])
    }

    /// The types that are named as a class constant or in a text, sorted: reflection may make objects of them.
    pub fn named_classes(&self) -> &[TypeId] {
        &self.named_classes
    }

    /// Every lambda and method reference.
    pub fn lambdas(&self) -> &[Lambda] {
        &self.lambdas
    }

    /// The writes of a field in the system.
    pub fn writes(&self, id: FieldId) -> &[Write] {
        self.writes.get(id.0)
    }

    /// The reads of a field in the system: methods and instructions.
    pub fn reads(&self, id: FieldId) -> &[(MethodId, u16)] {
        self.reads.get(id.0)
    }

    /// The calls on the object that a field holds.
    pub fn calls_on(&self, id: FieldId) -> &[CallId] {
        self.field_calls.get(id.0)
    }

    /// What is handed to libraries to be run, in the order of the calls.
    pub fn handovers(&self) -> &[Handover] {
        &self.handovers
    }

    /// Every `throw` of a method.
    pub fn throwers(&self, id: MethodId) -> &[Thrower] {
        self.throwers.get(id.0)
    }

    /// The handlers around an instruction, in the order in which they are asked.
    pub fn chain(&self, number: u32) -> &[Catch] {
        self.chains.get(number)
    }

    /// All handlers.
    pub fn handlers(&self) -> &[Handler] {
        &self.handlers
    }

    /// A handler.
    pub fn handler(&self, id: HandlerId) -> &Handler {
        &self.handlers[id.0 as usize]
    }

    /// The exceptions that a method returns.
    pub fn made(&self, id: MethodId) -> &[Thrown] {
        self.made.get(id.0)
    }
}

impl Default for Write {
    fn default() -> Self {
        Write { method: MethodId(0), instruction: 0, given: Given::Unknown }
    }
}

impl Default for Thrower {
    fn default() -> Self {
        Thrower { instruction: 0, chain: 0, thrown: Thrown::default() }
    }
}

impl Default for Thrown {
    fn default() -> Self {
        Thrown::Typed(TypeId(0))
    }
}

impl Thrown {
    fn moved(self, calls: u32, handlers: u32) -> Thrown {
        let handler = |it: HandlerId| HandlerId(it.0 + handlers);
        match self {
            Thrown::New(class, because) => Thrown::New(class, because.map(handler)),
            Thrown::Typed(class) => Thrown::Typed(class),
            Thrown::Again(it) => Thrown::Again(handler(it)),
            Thrown::Returned(call, because) => Thrown::Returned(CallId(call.0 + calls), because.map(handler)),
        }
    }
}

/// The facts of one class; calls, handlers and lists of handlers are numbered from 0.
#[derive(Default)]
struct Part {
    instructions: u64,
    bodies: u32,
    calls: Vec<Call>,
    allocations: Vec<Allocation>,
    named_classes: Vec<TypeId>,
    lambdas: Vec<Lambda>,
    writes: Vec<(FieldId, Write)>,
    reads: Vec<(FieldId, (MethodId, u16))>,
    field_calls: Vec<(FieldId, CallId)>,
    handovers: Vec<Handover>,
    throwers: Vec<(MethodId, Thrower)>,
    made: Vec<(MethodId, Thrown)>,
    chains: Lists<Catch>,
    handlers: Vec<Handler>,
    problems: Vec<Problem>,
}

impl Part {
    fn of(world: &World, at: usize) -> Part {
        let mut part = Part::default();
        part.chains.close();
        let system = &world.system_classes()[at];
        let class = ClassFile::parse(&system.bytes).expect("was read before");
        part.names(world, &class, &system.pool);
        let bootstraps = class.bootstrap_methods().unwrap_or_default();
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
            Looking { view, handlers: part.handlers.len() as u32, lambdas, chains: FxHashMap::default(), part: &mut part }
                .run();
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
                Ok(Constant::Class { .. }) if pool[usize::from(index)] != crate::world::NONE => {
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
    part: &'p mut Part,
    /// The number of the first handler of this method.
    handlers: u32,
    /// The number of its first lambda.
    lambdas: usize,
    chains: FxHashMap<Vec<Catch>, u32>,
}

impl Looking<'_, '_> {
    fn run(&mut self) {
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
                op::PUTFIELD | op::PUTSTATIC => {
                    if let Some(field) = self.view.field_at(number) {
                        let given = body.operands(number).last().map_or(Given::Unknown, |&it| self.view.given(it));
                        let write = Write { method: self.view.id, instruction: number as u16, given };
                        self.part.writes.push((field, write));
                    }
                }
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

    fn chain(&mut self, instruction: u32) -> u32 {
        if self.view.body.flow.handlers.is_empty() {
            return 0;
        }
        let mut list = Vec::new();
        for crate::body::Catch { handler, catch_type } in self.view.body.covering(instruction) {
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
        let call =
            Call { method: view.id, instruction: number as u16, line: self.line(number), kind, callee, chain };
        self.part.calls.push(call);
        let Some(callee) = callee else { return };
        let operands = view.body.operands(number);
        if matches!(kind, CallKind::Virtual | CallKind::Interface) {
            let field = operands.first().and_then(|&it| view.field_of(it));
            self.part.field_calls.extend(field.map(|it| (it, id)));
        }
        let callee = view.world.method_ref(callee);
        if callee.method.is_none_or(|it| !view.world.is_system_method(it)) {
            for &operand in operands {
                self.hand_over(id, operand);
            }
        }
    }

    /// Notes an object of the system that is handed to a library.
    fn hand_over(&mut self, call: CallId, operand: ValueId) {
        let view = self.view;
        for origin in view.body.origins_through_casts(operand) {
            let task = match view.body.value(origin) {
                Value::Result(number) if view.instruction(number).opcode == op::INVOKEDYNAMIC => {
                    let lambdas = &self.part.lambdas[self.lambdas..];
                    let found = lambdas.iter().find(|it| u32::from(it.instruction) == number);
                    found.and_then(|it| it.implementation).map(Task::Lambda)
                }
                _ => {
                    let class = view.class_of(origin).map(|it| it.class);
                    class.filter(|&it| view.world.is_callback_class(it)).map(Task::Class)
                }
            };
            if let Some(task) = task {
                self.part.handovers.push(Handover { call, task });
            }
        }
    }

    fn throw(&mut self, number: u32) {
        let chain = self.chain(number);
        let Some(&operand) = self.view.body.operands(number).first() else { return };
        for thrown in self.thrown(operand, number) {
            let thrower = Thrower { instruction: number as u16, chain, thrown };
            self.part.throwers.push((self.view.id, thrower));
        }
    }

    /// Notes the exceptions that a method returns: its callers may throw them.
    fn returned(&mut self, number: u32) {
        let world = self.view.world;
        let result = hypocenter_classfile::descriptor::return_type(self.view.member.descriptor);
        let (Some(result), Some(throwable)) = (world.find_descriptor(result), world.find_type(b"java/lang/Throwable"))
        else {
            return;
        };
        let Some(&operand) = self.view.body.operands(number).first() else { return };
        if world.is_subtype(result, throwable) {
            let made = self.thrown(operand, number);
            self.part.made.extend(made.into_iter().map(|it| (self.view.id, it)));
        }
    }

    fn thrown(&self, operand: ValueId, number: u32) -> Vec<Thrown> {
        let view = self.view;
        let mut list = Vec::new();
        for origin in view.body.origins_through_casts(operand) {
            let thrown = match view.body.value(origin) {
                Value::Caught(block) => self.handler(block).map(Thrown::Again),
                Value::Result(at) if view.instruction(at).opcode == op::NEW => {
                    let because = self.because(origin, number);
                    view.class_at(at).map(|class| Thrown::New(class, because))
                }
                Value::Result(at) if view.callee_at(at).is_some() => {
                    let because = self.caught_in(view.body.operands(at)).or_else(|| self.around(number));
                    let call = self.part.calls.iter().rposition(|it| {
                        it.method == view.id && u32::from(it.instruction) == at
                    });
                    call.map(|it| Thrown::Returned(CallId(it as u32), because))
                }
                _ if view.body.constant(origin) == Some(Const::Null) => None,
                _ => {
                    let class = view.class_of(origin).map(|it| it.class);
                    class.or_else(|| view.world.find_type(b"java/lang/Throwable")).map(Thrown::Typed)
                }
            };
            list.extend(thrown.filter(|it| !list.contains(it)));
        }
        list
    }

    /// The handler whose exception a new one passes on: it is given to the constructor, to `initCause` or to
    /// `addSuppressed`, or the new one is thrown only after the handler was entered.
    fn because(&self, new: ValueId, number: u32) -> Option<HandlerId> {
        let view = self.view;
        let of_new = view.body.uses(new).iter().filter(|&&it| {
            view.instruction(it).is_invoke() && view.body.operands(it).first() == Some(&new)
        });
        let given = of_new.filter_map(|&it| self.caught_in(&view.body.operands(it)[1..])).next();
        given.or_else(|| self.around(number))
    }

    /// The first handler whose exception is among some values, or was asked for one of them (`e.getCause()`).
    fn caught_in(&self, values: &[ValueId]) -> Option<HandlerId> {
        let body = self.view.body;
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
        values.iter().flat_map(|&it| body.origins_through_casts(it)).find_map(|it| direct(it).or_else(|| asked(it)))
    }

    /// The innermost handler that must have been entered before an instruction runs.
    fn around(&self, number: u32) -> Option<HandlerId> {
        let body = self.view.body;
        if body.flow.handlers.is_empty() {
            return None;
        }
        let dominance = Dominance::of(&body.flow, Edges::All).ok()?;
        let above = std::iter::successors(Some(body.block_of(number)), |&it| dominance.immediate(it));
        above.into_iter().find_map(|block| self.handler(block))
    }
}
