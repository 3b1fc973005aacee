//! Facts: what the code of the system does, method by method. All later questions start from them.
//! [`calls`] and [`tasks`] join the methods into a call graph; [`known`] adds what class files of libraries do not say.
//!
//! Every method is looked at once, in parallel; what is found is put together in the order of the methods, so that
//! numbers do not depend on the number of threads. Bodies are not kept: a question about one method makes its body
//! again ([`World::look`]), which takes microseconds.

pub mod calls;
mod contents;
mod gather;
pub mod known;
mod sorts;
pub mod tasks;

use hypocenter_plan::Problem;
use rayon::prelude::*;

use crate::facts::gather::Part;
use crate::facts::sorts::Sorts;
use crate::lists::Lists;
use crate::loading::world::{FieldId, MethodId, RefId, SignatureId, TypeId, World};

/// A call in the code of the system, in the order of methods and instructions.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct CallId(pub u32);

/// A place where an exception is caught, in the order of methods and code.
#[derive(Debug, Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct HandlerId(pub u32);

/// Resolution of calls to the methods they run.
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
    /// Its target; none for `invokedynamic`.
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
    /// Its interfaces.
    pub interface: Option<TypeId>,
    /// The method of the interface.
    pub signature: Option<SignatureId>,
    /// Code to run, if it is a method of the system.
    pub implementation: Option<MethodId>,
    /// Code to run, by its name.
    pub named: Option<RefId>,
    /// Number of values that it takes from its place of creation: they are the first parameters of the code that runs.
    pub captured: u16,
}

/// Values written to a field, as far as they can be seen at the write.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub enum Given {
    /// A number, character or truth value.
    Number(i32),
    /// No object.
    Null,
    /// Some object.
    Object,
    /// Value of this static final field.
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

/// Code that runs when a library receives an object: a task of an executor, a thread, a callback.
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
    /// Passed-on values.
    pub task: Task,
    /// As what the library takes it; none if that is not seen, or says nothing of how it is called.
    pub taken_as: Option<TypeId>,
}

/// Exception thrown at an instruction.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub enum Thrown {
    /// A new object of exactly this class, and the handler whose exception it passes on.
    New(TypeId, Option<HandlerId>),
    /// An object of this class or one below it, from somewhere.
    Typed(TypeId),
    /// Exception caught by a handler.
    Again(HandlerId),
    /// Value that a call returned, and the handler whose exception went into that call.
    Returned(CallId, Option<HandlerId>),
    /// Values put into a field, or into the object that it holds.
    Field(FieldId),
    /// Argument of the method, by the number of the parameter.
    Parameter(u16),
    /// Exception that this method returns to a library, which throws it: `orElseThrow`.
    Supplied(MethodId),
}

/// A `throw`, once for each thing that it may throw.
#[derive(Debug, Clone, Copy, Default)]
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

/// Flow of an exception without being thrown.
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
    /// Its destination.
    pub to: Kept,
    /// At which instruction.
    pub instruction: u16,
    /// Its kind.
    pub thrown: Thrown,
    /// To what it was cast before.
    pub cast: Option<TypeId>,
}

/// Way in which one exception carries another.
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
    /// Content.
    pub carried: Thrown,
    /// To what that was cast before.
    pub cast: Option<TypeId>,
    /// How.
    pub how: Carries,
}

/// Destination of a future, or of an object that holds futures.
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

/// Origin of a future.
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
    /// Its destination.
    pub handler: HandlerId,
    /// Types that it accepts; none for all.
    pub class: Option<TypeId>,
}

/// Places that catch an exception.
#[derive(Debug, Clone, Copy)]
pub struct Handler {
    /// In which method.
    pub method: MethodId,
    /// Its first instruction.
    pub instruction: u16,
    /// The line of that, 0 if there is none.
    pub line: u16,
}

/// Effects of the code of the system.
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
        let (mut writes, mut reads, mut field_calls) = (Vec::new(), Vec::new(), Vec::new());
        let (mut throwers, mut carriers, mut wraps) = (Vec::new(), Vec::new(), Vec::new());
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

    /// Number of instructions that were checked.
    pub fn instructions(&self) -> u64 {
        self.instructions
    }

    /// Number of methods with code.
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

    /// The reads of a field in the system: methods and instructions.
    pub fn reads(&self, id: FieldId) -> &[(MethodId, u16)] {
        self.reads.get(id.0)
    }

    /// The writes of a field in the system.
    pub fn writes(&self, id: FieldId) -> &[Write] {
        self.writes.get(id.0)
    }

    /// The calls on the object that a field holds.
    pub fn calls_on(&self, id: FieldId) -> &[CallId] {
        self.field_calls.get(id.0)
    }

    /// Arguments of libraries that are run, in the order of the calls.
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

    /// Destinations and origins of futures.
    pub fn futures(&self) -> &[(FutureTo, FutureFrom)] {
        &self.futures
    }
}

impl Default for Write {
    fn default() -> Self {
        Write { method: MethodId(0), instruction: 0, given: Given::Unknown }
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
            Thrown::Typed(_) | Thrown::Field(_) | Thrown::Parameter(_) | Thrown::Supplied(_) => self,
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
