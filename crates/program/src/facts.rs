//! What the code of the system does, method by method: the facts that all later questions start from.
//!
//! Every method is looked at once, in parallel; what is found is put together in the order of the methods, so that
//! numbers do not depend on the number of threads. Bodies are not kept: a question about one method makes its body
//! again ([`World::view`]), which takes microseconds.

use std::cell::OnceCell;

use hypocenter_classfile::{ClassFile, Constant, Member, descriptor, op};
use hypocenter_plan::Problem;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::body::Body;
use crate::contents::contents;
use crate::dominance::{Dominance, Edges};
use crate::known;
use crate::lists::Lists;
use crate::sorts::Sorts;
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
    /// What runs, as it is named.
    pub named: Option<RefId>,
    /// How many values it takes from where it is made: they are the first parameters of what runs.
    pub captured: u16,
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
    /// As what the library takes it; none if that is not seen, or says nothing of how it is called.
    pub taken_as: Option<TypeId>,
}

/// What is thrown at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thrown {
    /// A new object of exactly this class, and the handler whose exception it passes on.
    New(TypeId, Option<HandlerId>),
    /// An object of this class or one below it, from somewhere.
    Typed(TypeId),
    /// What a handler caught.
    Again(HandlerId),
    /// What a call returned, and the handler whose exception went into that call.
    Returned(CallId, Option<HandlerId>),
    /// What was put into a field, or into the object that it holds.
    Field(FieldId),
    /// What the method was given, by the number of the parameter.
    Parameter(u16),
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
    /// To what it was cast before.
    pub cast: Option<TypeId>,
}

/// Where an exception goes without being thrown.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq)]
pub enum Kept {
    /// To the caller.
    #[default]
    Returned,
    /// Into a field, or into the object that it holds.
    Field(FieldId),
    /// Into a call, by the number of the operand.
    Argument(CallId, u16),
}

/// An exception that is returned, stored or passed, once for each thing that it may be.
#[derive(Debug, Clone, Copy, Default)]
pub struct Carrier {
    /// Where it goes.
    pub to: Kept,
    /// At which instruction.
    pub instruction: u16,
    /// What it is.
    pub thrown: Thrown,
    /// To what it was cast before.
    pub cast: Option<TypeId>,
}

/// How one exception carries another.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Carries {
    /// As its cause.
    #[default]
    Cause,
    /// As one that was suppressed.
    Suppressed,
}

/// A new exception that carries another one.
#[derive(Debug, Clone, Copy, Default)]
pub struct Wrap {
    /// The instruction that throws, returns, stores or passes the new one.
    pub instruction: u16,
    /// The class of the new one.
    pub class: TypeId,
    /// What it carries.
    pub carried: Thrown,
    /// To what that was cast before.
    pub cast: Option<TypeId>,
    /// How.
    pub how: Carries,
}

/// Where a future, or something that holds futures, goes.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FutureTo {
    /// Into a call of a library, which asks it, completes it or makes another one of it.
    Call(CallId),
    /// To the callers of a method.
    Returned(MethodId),
    /// Into a field, or into the object that it holds.
    Field(FieldId),
    /// Into a method of the system, by the number of the operand.
    Argument(CallId, u16),
}

/// Where a future comes from.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum FutureFrom {
    /// A call of a library, or of a constructor, makes it.
    Made(CallId),
    /// A method of the system returns it.
    Result(CallId),
    /// It is in a field, or in the object that it holds.
    Field(FieldId),
    /// The method is given it.
    Parameter(MethodId, u16),
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
    carriers: Lists<Carrier>,
    /// For each field the carriers that go into it: a method and a number in its list.
    kept: Lists<(MethodId, u32)>,
    wraps: Lists<Wrap>,
    futures: Vec<(FutureTo, FutureFrom)>,
    problems: Vec<Problem>,
}

impl Facts {
    /// Looks at every method of the system.
    pub fn of(world: &World) -> Facts {
        let sorts = Sorts::of(world);
        let classes = (0..world.system_classes().len()).into_par_iter();
        let parts: Vec<Part> = classes.map(|at| Part::of(world, &sorts, at)).collect();
        let mut facts = Facts { chains: Lists::default(), ..Facts::default() };
        facts.chains.close();
        let mut call_counts = vec![0u32; world.method_count() + 1];
        let (mut writes, mut field_calls) = (Vec::new(), Vec::new());
        let (mut throwers, mut carriers, mut wraps) = (Vec::new(), Vec::new(), Vec::new());
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
            field_calls
                .extend(part.field_calls.into_iter().map(|(field, it)| (field.0, CallId(it.0 + calls))));
            let handed = part.handovers.into_iter();
            facts.handovers.extend(handed.map(|it| Handover { call: CallId(it.call.0 + calls), ..it }));
            let thrown_there = part.throwers.into_iter();
            throwers.extend(thrown_there.map(|(method, it)| {
                (method.0, Thrower { chain: chain(it.chain), thrown: thrown(it.thrown), ..it })
            }));
            carriers.extend(part.carriers.into_iter().map(|(method, it)| {
                (method.0, Carrier { to: it.to.moved(calls), thrown: thrown(it.thrown), ..it })
            }));
            let wrapped = part.wraps.into_iter();
            wraps.extend(wrapped.map(|(method, it)| (method.0, Wrap { carried: thrown(it.carried), ..it })));
            facts
                .futures
                .extend(part.futures.into_iter().map(|(to, from)| (to.moved(calls), from.moved(calls))));
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
        facts.carriers = Lists::of(world.method_count(), carriers.iter().copied());
        facts.wraps = Lists::of(world.method_count(), wraps.iter().copied());
        let numbered = facts.carriers.iter().enumerate().flat_map(|(method, list)| {
            list.iter().enumerate().filter_map(move |(at, it)| match it.to {
                Kept::Field(field) => Some((field.0, (MethodId(method as u32), at as u32))),
                _ => None,
            })
        });
        facts.kept = Lists::of(world.field_count(), numbered);
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
    pub fn calls_in(
        &self,
        id: MethodId,
    ) -> impl DoubleEndedIterator<Item = CallId> + ExactSizeIterator + use<> {
        (self.call_starts[id.index()]..self.call_starts[id.index() + 1]).map(CallId)
    }

    /// The call at an instruction.
    pub fn call_at(&self, method: MethodId, instruction: u32) -> Option<CallId> {
        let range = self.call_starts[method.index()] as usize..self.call_starts[method.index() + 1] as usize;
        let at =
            self.calls[range.clone()].binary_search_by_key(&instruction, |it| it.instruction.into()).ok()?;
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

    /// The lambda that is made at an instruction.
    pub fn lambda_at(&self, method: MethodId, instruction: u16) -> Option<&Lambda> {
        let at = self
            .lambdas
            .binary_search_by_key(&(method, instruction), |it| (it.method, it.instruction))
            .ok()?;
        Some(&self.lambdas[at])
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

    /// All lists of handlers.
    pub(crate) fn chains(&self) -> &Lists<Catch> {
        &self.chains
    }

    /// The numbers of the handlers of a method.
    pub(crate) fn handlers_in(&self, id: MethodId) -> std::ops::Range<u32> {
        let start = self.handlers.partition_point(|it| it.method < id);
        let count = self.handlers[start..].iter().take_while(|it| it.method == id).count();
        start as u32..(start + count) as u32
    }

    /// The exceptions that a method returns, stores or passes.
    pub fn carriers(&self, id: MethodId) -> &[Carrier] {
        self.carriers.get(id.0)
    }

    /// The exceptions that are put into a field, or into the object that it holds.
    pub fn kept_in(&self, id: FieldId) -> impl Iterator<Item = (MethodId, &Carrier)> {
        let list = self.kept.get(id.0).iter();
        list.map(|&(method, at)| (method, &self.carriers(method)[at as usize]))
    }

    /// The new exceptions of a method that carry others.
    pub fn wraps(&self, id: MethodId) -> &[Wrap] {
        self.wraps.get(id.0)
    }

    /// Where futures go, and where they come from.
    pub fn futures(&self) -> &[(FutureTo, FutureFrom)] {
        &self.futures
    }
}

impl Default for Write {
    fn default() -> Self {
        Write { method: MethodId(0), instruction: 0, given: Given::Unknown }
    }
}

impl Default for Thrower {
    fn default() -> Self {
        Thrower { instruction: 0, chain: 0, thrown: Thrown::default(), cast: None }
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
            Thrown::Typed(_) | Thrown::Field(_) | Thrown::Parameter(_) => self,
            Thrown::Again(it) => Thrown::Again(handler(it)),
            Thrown::Returned(call, because) => Thrown::Returned(CallId(call.0 + calls), because.map(handler)),
        }
    }
}

impl Kept {
    fn moved(self, calls: u32) -> Kept {
        match self {
            Kept::Argument(call, number) => Kept::Argument(CallId(call.0 + calls), number),
            other => other,
        }
    }
}

impl FutureTo {
    fn moved(self, calls: u32) -> FutureTo {
        match self {
            FutureTo::Call(call) => FutureTo::Call(CallId(call.0 + calls)),
            FutureTo::Argument(call, number) => FutureTo::Argument(CallId(call.0 + calls), number),
            other => other,
        }
    }
}

impl FutureFrom {
    fn moved(self, calls: u32) -> FutureFrom {
        match self {
            FutureFrom::Made(call) => FutureFrom::Made(CallId(call.0 + calls)),
            FutureFrom::Result(call) => FutureFrom::Result(CallId(call.0 + calls)),
            other => other,
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
    carriers: Vec<(MethodId, Carrier)>,
    wraps: Vec<(MethodId, Wrap)>,
    futures: Vec<(FutureTo, FutureFrom)>,
    chains: Lists<Catch>,
    handlers: Vec<Handler>,
    problems: Vec<Problem>,
}

impl Part {
    fn of(world: &World, sorts: &Sorts, at: usize) -> Part {
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
            classes.map(|it| system.pool[usize::from(it)]).filter(|&it| it != crate::world::NONE);
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
    sorts: &'p Sorts,
    /// Whether the class has to do with futures.
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
            let values = match in_lists && !is_receiver {
                true => contents(&view, self.sorts, operand),
                false => view.body.origins_through_casts(operand),
            };
            let taken_as = || if is_receiver { Some(reference.owner) } else { world.find_descriptor(text) };
            for value in values {
                if let Some(task) = self.task(value) {
                    self.part.handovers.push(Handover { call: id, task, taken_as: taken_as() });
                }
            }
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

    /// Where the values that may be an exception come from, each with the class that it is cast to on the way.
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

    /// Whether a call returns the exception that it is on, as `initCause` does.
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
