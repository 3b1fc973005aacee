//! Origins and destinations of exceptions: for every method those that can leave it, for every handler those that can reach
//! it, across methods.
//!
//! The analysis knows exceptions by class. What a `throw new` makes is exactly of its class; what a library declares,
//! or a field or a parameter holds, may be of any class below the one that is known, so a handler for a class below
//! takes a part of it and the rest goes on. Exceptions that the JVM itself makes (a null pointer, an index) are not
//! followed.

use hypocenter_classfile::descriptor;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dataflow::settle::{Settled, Settling, system_methods};
use crate::facts::calls::CallGraph;
use crate::facts::known;
use crate::facts::{CallId, CallKind, Carrier, Facts, HandlerId, Kept, Task, Thrown};
use crate::lists::Lists;
use crate::loading::world::{FieldId, MethodId, Origin, RefId, TypeId, World};

/// An exception as the analysis knows it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exception(u32);

/// The bit of an exception that is only part of what was thrown.
const PART: u32 = 1 << 31;

impl Exception {
    /// Of exactly this class.
    pub fn exactly(class: TypeId) -> Exception {
        Exception(class.0 << 1 | 1)
    }

    /// Of this class or any below it.
    pub fn below(class: TypeId) -> Exception {
        Exception(class.0 << 1)
    }

    /// The class.
    pub fn class(self) -> TypeId {
        TypeId((self.0 & !PART) >> 1)
    }

    /// This, where it is what a handler takes of something more general.
    pub(crate) fn as_part(self) -> Exception {
        Exception(self.0 | PART)
    }

    /// This, wherever it comes from.
    pub(crate) fn whole(self) -> Exception {
        Exception(self.0 & !PART)
    }

    /// Tests whether it was only part of what was thrown.
    pub(crate) fn is_part(self) -> bool {
        self.0 & PART != 0
    }

    /// Tests whether something known as this can be the other: it is that, or the other's class is below this one's.
    pub fn may_be(self, other: Exception, world: &World) -> bool {
        self == other || (!self.is_exact() && world.is_subtype(other.class(), self.class()))
    }

    /// Tests whether it is of no class below.
    pub fn is_exact(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::fmt::Debug for Exception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.is_exact() { "=" } else { "<=" }, self.class().0)
    }
}

/// Throwing methods.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Source {
    /// A call.
    Call(CallId),
    /// A `throw`, by its number in [`Facts::throwers`] of the method.
    Throw(u32),
}

/// One way of an exception through a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub struct Way {
    /// Its origin.
    pub source: Source,
    /// Next item.
    pub thrown: Exception,
    /// Its destination: a handler, or out of the method.
    pub to: Option<HandlerId>,
    /// As what it arrives: a handler of a class below takes only that part.
    pub arrives: Exception,
}

/// A parameter of a method, by number.
pub(crate) type Parameter = (MethodId, u16);

/// Origins and destinations of exceptions.
#[derive(Debug, Default)]
pub struct Exceptions {
    /// Sets of exceptions, each sorted. Many methods have the same.
    sets: Lists<Exception>,
    /// Exceptions that leave each method: the number of a set.
    escapes: Vec<u32>,
    /// Exceptions that leave calls of each reference, likewise.
    of_refs: Vec<u32>,
    /// Exceptions that reach each handler, likewise.
    reaches: Vec<u32>,
    /// The exceptions that methods return, that fields hold and that parameters are, likewise.
    returned: FxHashMap<MethodId, u32>,
    held: FxHashMap<FieldId, u32>,
    given: FxHashMap<Parameter, u32>,
    /// Declared exceptions of library calls for each reference, sorted.
    declared: Lists<Exception>,
    /// Exceptions that each method creates itself, sorted.
    created: Lists<Exception>,
    /// For each parameter that matters, the methods that give it something and the numbers of their carriers.
    givers: FxHashMap<Parameter, Vec<(MethodId, u32)>>,
    /// The parameters that an operand of a call becomes.
    becomes: FxHashMap<(CallId, u16), Vec<Parameter>>,
    /// Calls that run what they are handed before they return, with the methods that they run.
    runs: FxHashMap<CallId, Vec<MethodId>>,
}

impl Exceptions {
    /// Follows all exceptions of the system.
    pub fn of(world: &World, facts: &Facts, calls: &CallGraph) -> Exceptions {
        let refs = (0..world.ref_count()).into_par_iter().map(|at| RefId(at as u32));
        let library: Vec<Box<[Exception]>> = refs.map(|it| of_library(world, it)).collect();
        let mut it = Exceptions { runs: runs(world, facts), ..Exceptions::default() };
        for (at, own) in library.iter().enumerate() {
            // A method reference to a library method throws where it is called through its interface.
            let named = calls.library_targets_of_ref(RefId(at as u32));
            if named.is_empty() {
                it.declared.add(own.iter().copied());
            } else {
                let all = named.iter().flat_map(|it| &library[it.index()]).chain(own).copied();
                it.declared.add(sorted(all.collect()));
            }
        }
        it.find_parameters(world, facts, calls);
        let settled = Settling::of(world, facts, calls, &it);
        let Settled { sets, escapes, refs, reaches, returned, held, given } = settled;
        let mut it = Exceptions { sets, escapes, of_refs: refs, reaches, returned, held, given, ..it };
        it.find_created(world, facts, calls);
        it
    }

    /// Exceptions that can leave a method, sorted.
    pub fn escapes(&self, id: MethodId) -> &[Exception] {
        self.sets.get(self.escapes[id.index()])
    }

    /// Exceptions that can reach a handler, sorted.
    pub fn reaches(&self, id: HandlerId) -> &[Exception] {
        self.sets.get(self.reaches[id.0 as usize])
    }

    /// Exceptions that can leave calls that name a method.
    pub fn of_ref(&self, id: RefId) -> &[Exception] {
        self.sets.get(self.of_refs[id.index()])
    }

    /// Exceptions that can leave a call, sorted.
    pub fn of_call(&self, facts: &Facts, id: CallId) -> Vec<Exception> {
        let call = facts.call(id);
        let mut all = call.callee.map_or_else(Vec::new, |it| self.of_ref(it).to_vec());
        if let Some(run) = self.runs.get(&id) {
            all.extend(run.iter().flat_map(|&it| self.escapes(it)));
        }
        all.sort_unstable();
        all.dedup();
        all
    }

    /// Tests whether a method itself makes an exception that leaves it, other than to pass on one that it caught.
    pub fn creates(&self, id: MethodId, exception: Exception) -> bool {
        self.created(id).binary_search(&exception).is_ok()
    }

    /// The exceptions that a method itself makes and that leave it, other than to pass on what it caught: sorted.
    pub fn created(&self, id: MethodId) -> &[Exception] {
        self.created.get(id.0)
    }

    fn find_created(&mut self, world: &World, facts: &Facts, calls: &CallGraph) {
        let mut created = Lists::default();
        let mut types = Vec::new();
        for id in (0..world.method_count() as u32).map(MethodId) {
            let mut made = Vec::new();
            for it in facts.throwers(id) {
                types.clear();
                self.types(world, facts, calls, id, it.thrown, &mut types);
                for &exception in &types {
                    if self.is_made(world, facts, id, it.thrown, exception, 0) {
                        self.fall(world, facts, it.chain, exception, |to, _| {
                            made.extend(to.is_none().then_some(exception));
                        });
                    }
                }
            }
            created.add(sorted(made));
        }
        self.created = created;
    }

    /// Tests whether what is thrown may be an object that was made to be thrown there, and is the exception.
    fn is_made(
        &self,
        world: &World,
        facts: &Facts,
        id: MethodId,
        thrown: Thrown,
        exception: Exception,
        depth: usize,
    ) -> bool {
        /// Through how many fields and parameters an object is followed.
        const DEPTH_MAX: usize = 4;
        let of = |(method, carrier): (MethodId, &Carrier)| {
            self.is_made(world, facts, method, carrier.thrown, exception, depth + 1)
        };
        match thrown {
            Thrown::New(class, None) => Exception::exactly(class) == exception,
            Thrown::Returned(call, None) => {
                let callee = facts.call(call).callee.and_then(|it| world.method_ref(it).method);
                callee.is_some_and(|it| self.returned(it).binary_search(&exception).is_ok())
            }
            Thrown::Supplied(method) => self.returned(method).binary_search(&exception).is_ok(),
            Thrown::Field(field) if depth < DEPTH_MAX => facts.kept_in(field).any(of),
            Thrown::Parameter(number) if depth < DEPTH_MAX => self.givers(facts, (id, number)).any(of),
            _ => false,
        }
    }

    /// Tests whether a library says that a call of this throws an exception.
    pub fn is_declared(&self, id: RefId, exception: Exception) -> bool {
        self.declared(id).binary_search(&exception).is_ok()
    }

    /// Declared exceptions of library calls of this, sorted.
    pub fn declared(&self, id: RefId) -> &[Exception] {
        self.declared.get(id.0)
    }

    /// The exceptions that a method returns, sorted.
    pub fn returned(&self, id: MethodId) -> &[Exception] {
        self.returned.get(&id).map_or(&[], |&it| self.sets.get(it))
    }

    /// The exceptions that are put into a field or into the object that it holds, sorted.
    pub fn held(&self, id: FieldId) -> &[Exception] {
        self.held.get(&id).map_or(&[], |&it| self.sets.get(it))
    }

    /// Argument for a parameter of a method, if the method throws, keeps or wraps it: by which method, and the argument.
    pub(crate) fn givers<'a>(
        &'a self,
        facts: &'a Facts,
        parameter: Parameter,
    ) -> impl Iterator<Item = (MethodId, &'a Carrier)> + use<'a> {
        let list = self.givers.get(&parameter).into_iter().flatten();
        list.map(|&(method, at)| (method, &facts.carriers(method)[at as usize]))
    }

    /// The methods that a call of a library runs before it returns.
    pub fn run_by(&self, id: CallId) -> &[MethodId] {
        self.runs.get(&id).map_or(&[], |it| it)
    }

    /// All calls that run what they are handed before they return, in no order.
    pub(crate) fn runs(&self) -> impl Iterator<Item = (CallId, &[MethodId])> {
        self.runs.iter().map(|(&call, run)| (call, &run[..]))
    }

    /// Every way of every exception through a method.
    pub fn ways(&self, world: &World, facts: &Facts, calls: &CallGraph, id: MethodId) -> Vec<Way> {
        let mut ways = Vec::new();
        self.walk(world, facts, calls, id, |way| ways.push(way));
        ways.sort_unstable();
        ways.dedup();
        ways
    }

    /// The parameters that matter and that an operand of a call becomes.
    pub(crate) fn becomes(&self, call: CallId, operand: u16) -> &[Parameter] {
        self.becomes.get(&(call, operand)).map_or(&[], |it| it)
    }

    /// Finds out which operands of which calls become parameters that matter.
    fn find_parameters(&mut self, world: &World, facts: &Facts, calls: &CallGraph) {
        let mut wanted: FxHashSet<Parameter> = FxHashSet::default();
        for id in system_methods(world) {
            let thrown = facts.throwers(id).iter().map(|it| it.thrown);
            let kept = facts.carriers(id).iter().map(|it| it.thrown);
            let wrapped = facts.wraps(id).iter().map(|it| it.carried);
            for it in thrown.chain(kept).chain(wrapped) {
                if let Thrown::Parameter(number) = it {
                    wanted.insert((id, number));
                }
            }
        }
        let lambdas = lambdas_of(facts);
        for id in system_methods(world) {
            for (at, carrier) in facts.carriers(id).iter().enumerate() {
                let Kept::Argument(call, number) = carrier.to else { continue };
                let mut parameters = parameters(world, facts, calls, &lambdas, call, number);
                parameters.retain(|it| wanted.contains(it));
                for &it in &parameters {
                    self.givers.entry(it).or_default().push((id, at as u32));
                }
                if !parameters.is_empty() {
                    self.becomes.insert((call, number), parameters);
                }
            }
        }
    }

    /// The ways by which one exception arrives at a handler, or leaves a method: those of
    /// [`ways`](Exceptions::ways), without finding all others.
    pub fn ways_to(
        &self,
        world: &World,
        facts: &Facts,
        calls: &CallGraph,
        id: MethodId,
        to: Option<HandlerId>,
        arrives: Exception,
    ) -> Vec<Way> {
        let mut ways = Vec::new();
        let mut go = |source: Source, chain: u32, thrown: Exception| {
            self.fall(world, facts, chain, thrown, |there, what| {
                if there == to && what == arrives {
                    ways.push(Way { source, thrown, to, arrives });
                }
            });
        };
        // What leaves is what was thrown; a handler may take a part of something more general.
        let may = |it: &&Exception| {
            **it == arrives
                || (to.is_some() && !it.is_exact() && world.is_subtype(arrives.class(), it.class()))
        };
        for call in facts.calls_in(id) {
            let it = facts.call(call);
            let thrown = it.callee.map_or(&[][..], |it| self.of_ref(it));
            let run = self.run_by(call).iter().map(|&it| self.escapes(it));
            for list in std::iter::once(thrown).chain(run) {
                if to.is_some() {
                    list.iter().filter(may).for_each(|&thrown| go(Source::Call(call), it.chain, thrown));
                } else if list.binary_search(&arrives).is_ok() {
                    go(Source::Call(call), it.chain, arrives);
                }
            }
        }
        let mut types = Vec::new();
        for (at, thrower) in facts.throwers(id).iter().enumerate() {
            types.clear();
            match thrower.thrown {
                Thrown::Again(handler) => types.extend_from_slice(self.reaches(handler)),
                thrown => self.types(world, facts, calls, id, thrown, &mut types),
            }
            let thrown: Vec<Exception> =
                types.iter().filter_map(|&it| narrow(world, it, thrower.cast)).collect();
            thrown.iter().filter(may).for_each(|&it| go(Source::Throw(at as u32), thrower.chain, it));
        }
        ways.sort_unstable();
        ways.dedup();
        ways
    }

    /// Shows every way of every exception through a method, some more than once.
    fn walk(&self, world: &World, facts: &Facts, calls: &CallGraph, id: MethodId, mut see: impl FnMut(Way)) {
        // What has reached the handlers of this method so far: a rethrow sends it on.
        let mut reached: Vec<(HandlerId, Exception)> = Vec::new();
        let mut go =
            |source: Source, chain: u32, thrown: Exception, reached: &mut Vec<(HandlerId, Exception)>| {
                self.fall(world, facts, chain, thrown, |to, arrives| {
                    if let Some(to) = to.filter(|&to| !reached.contains(&(to, arrives))) {
                        reached.push((to, arrives));
                    }
                    see(Way { source, thrown, to, arrives });
                });
            };
        for call in facts.calls_in(id) {
            let it = facts.call(call);
            if let Some(callee) = it.callee {
                for &thrown in self.of_ref(callee) {
                    go(Source::Call(call), it.chain, thrown, &mut reached);
                }
            }
            for &run in self.run_by(call) {
                for &thrown in self.escapes(run) {
                    go(Source::Call(call), it.chain, thrown, &mut reached);
                }
            }
        }
        let throwers = facts.throwers(id);
        let mut types = Vec::new();
        for (at, thrower) in throwers.iter().enumerate() {
            types.clear();
            self.types(world, facts, calls, id, thrower.thrown, &mut types);
            for thrown in types.iter().filter_map(|&it| narrow(world, it, thrower.cast)) {
                go(Source::Throw(at as u32), thrower.chain, thrown, &mut reached);
            }
        }
        // What is caught and thrown again may be caught again, so this goes on until nothing new is caught.
        let mut done = 0;
        let again = |handler: HandlerId| {
            let is_again = move |it: &crate::facts::Thrower| it.thrown == Thrown::Again(handler);
            throwers.iter().enumerate().filter(move |(_, it)| is_again(it))
        };
        while done < reached.len() {
            let (handler, exception) = reached[done];
            done += 1;
            for (at, thrower) in again(handler) {
                if let Some(thrown) = narrow(world, exception, thrower.cast) {
                    go(Source::Throw(at as u32), thrower.chain, thrown, &mut reached);
                }
            }
        }
    }

    /// Possible classes of an object that is thrown or kept, except those caught by a handler of its own method.
    pub(crate) fn types(
        &self,
        world: &World,
        facts: &Facts,
        calls: &CallGraph,
        id: MethodId,
        thrown: Thrown,
        types: &mut Vec<Exception>,
    ) {
        if let Some(it) = constant(world, facts, calls, self, id, thrown) {
            types.push(it);
            return;
        }
        match thrown {
            Thrown::New(..) | Thrown::Typed(_) | Thrown::Again(_) => {}
            Thrown::Returned(call, _) => {
                let targets = calls.targets(facts.call(call));
                types.extend(targets.iter().flat_map(|&it| self.returned(it)));
                types.sort_unstable();
                types.dedup();
            }
            Thrown::Field(field) => types.extend_from_slice(self.held(field)),
            Thrown::Supplied(method) => types.extend_from_slice(self.returned(method)),
            Thrown::Parameter(number) => {
                let given = self.given.get(&(id, number));
                types.extend_from_slice(given.map_or(&[], |&it| self.sets.get(it)));
            }
        }
    }

    /// Sends an exception through the handlers around an instruction.
    fn fall(
        &self,
        world: &World,
        facts: &Facts,
        chain: u32,
        thrown: Exception,
        mut to: impl FnMut(Option<HandlerId>, Exception),
    ) {
        let class = thrown.class();
        let is_phantom = world.get(class).origin == Origin::Phantom;
        for catch in facts.chain(chain) {
            let Some(caught) = catch.class else {
                return to(Some(catch.handler), thrown);
            };
            if world.is_subtype(class, caught) {
                return to(Some(catch.handler), thrown);
            }
            if is_phantom && known::is_general(world.type_name(caught)) {
                // What extends what is not known, but everything that can be thrown is one of these.
                return to(Some(catch.handler), thrown);
            }
            if !thrown.is_exact() && world.is_subtype(caught, class) {
                to(Some(catch.handler), Exception::below(caught));
            }
        }
        to(None, thrown);
    }
}

/// Exceptions that a library declares for its method.
fn of_library(world: &World, id: RefId) -> Box<[Exception]> {
    let reference = world.method_ref(id);
    let Some(method) = reference.method.filter(|&it| !world.is_system_method(it)) else {
        return Box::default();
    };
    let (name, text) = world.signature(reference.signature);
    // It declares the bound of a type parameter; what it throws stands where it is called.
    let is_open = known::throws_supplied(name, text);
    let declared = world.throws(method).iter().copied().filter(|_| !is_open);
    let known = known::throws(world.type_name(world.method(method).owner), name);
    let known = known.iter().filter_map(|it| world.find_type(it));
    let mut all: Vec<Exception> = declared.chain(known).map(Exception::below).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// The calls of libraries that run what they are handed before they return.
fn runs(world: &World, facts: &Facts) -> FxHashMap<CallId, Vec<MethodId>> {
    let object = world.find_type(b"java/lang/Object");
    let mut runs: FxHashMap<CallId, Vec<MethodId>> = FxHashMap::default();
    for it in facts.handovers() {
        let call = facts.call(it.call);
        let Some(method) = call.callee.and_then(|it| world.method_ref(it).method) else { continue };
        if !known::runs_at_once(world.type_name(world.method(method).owner), world.method_name(method)) {
            continue;
        }
        match it.task {
            Task::Lambda(method) if it.taken_as.is_none() || it.taken_as != object => {
                runs.entry(it.call).or_default().push(method);
            }
            Task::Class(class) => {
                // What is taken as an `Object` is stored and not called.
                let Some(taken_as) = it.taken_as else { continue };
                let is_called = |method: &MethodId| {
                    let mut above = std::iter::once(&taken_as).chain(world.ancestors(taken_as));
                    above.any(|&it| {
                        Some(it) != object && world.declared(it, world.method(*method).signature).is_some()
                    })
                };
                let called: Vec<MethodId> = world.callbacks_of(class).into_iter().filter(is_called).collect();
                if !called.is_empty() {
                    runs.entry(it.call).or_default().extend(called);
                }
            }
            Task::Lambda(_) => {}
        }
    }
    for list in runs.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    runs
}

/// For each method the lambdas and method references that stand for it, by their numbers.
pub(crate) fn lambdas_of(facts: &Facts) -> FxHashMap<MethodId, Vec<u32>> {
    let mut lambdas: FxHashMap<MethodId, Vec<u32>> = FxHashMap::default();
    for (at, it) in facts.lambdas().iter().enumerate() {
        if let Some(method) = it.implementation {
            lambdas.entry(method).or_default().push(at as u32);
        }
    }
    lambdas
}

/// The parameters that an operand of a call becomes.
pub(crate) fn parameters(
    world: &World,
    facts: &Facts,
    calls: &CallGraph,
    lambdas: &FxHashMap<MethodId, Vec<u32>>,
    call: CallId,
    number: u16,
) -> Vec<Parameter> {
    let it = facts.call(call);
    let Some(callee) = it.callee else {
        let lambda = facts.lambda_at(it.method, it.instruction);
        return lambda.and_then(|it| it.implementation).map(|it| (it, number)).into_iter().collect();
    };
    let reference = world.method_ref(callee);
    let mut found = Vec::new();
    for &target in calls.targets(it) {
        if it.kind == CallKind::Static || !world.method(target).is_static() {
            found.push((target, number));
        }
        let by_lambda = lambdas.get(&target).into_iter().flatten().map(|&it| &facts.lambdas()[it as usize]);
        for lambda in by_lambda.filter(|it| it.signature == Some(reference.signature) && number > 0) {
            // The new object comes before the arguments of a constructor.
            let skipped = u16::from(world.method_name(target) == b"<init>");
            found.push((target, lambda.captured + number - 1 + skipped));
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}

/// Tests whether all that calls of a reference return is seen.
pub(crate) fn returns_known(world: &World, facts: &Facts, calls: &CallGraph, callee: RefId) -> bool {
    let targets = calls.targets_of_ref(callee);
    let is_system = world.method_ref(callee).method.is_some_and(|it| world.is_system_method(it));
    let returns = |it: &MethodId| facts.carriers(*it).iter().any(|it| it.to == Kept::Returned);
    !targets.is_empty() && (is_system || targets.iter().any(returns))
}

/// Class of an object that is thrown or kept, if it does not depend on results of the analysis.
pub(crate) fn constant(
    world: &World,
    facts: &Facts,
    calls: &CallGraph,
    exceptions: &Exceptions,
    id: MethodId,
    thrown: Thrown,
) -> Option<Exception> {
    match thrown {
        Thrown::New(class, _) => Some(Exception::exactly(class)),
        Thrown::Typed(class) => Some(Exception::below(class)),
        Thrown::Again(_) | Thrown::Supplied(_) => None,
        Thrown::Returned(call, _) => {
            let callee = facts.call(call).callee?;
            if returns_known(world, facts, calls, callee) {
                return None;
            }
            let signature = world.method_ref(callee).signature;
            throwable(world, descriptor::return_type(world.signature(signature).1))
        }
        Thrown::Field(field) => {
            let is_kept = facts.kept_in(field).next().is_some();
            (!is_kept).then(|| throwable(world, world.signature(world.field(field).signature).1))?
        }
        Thrown::Parameter(number) => {
            if exceptions.givers.contains_key(&(id, number)) {
                return None;
            }
            let skipped = usize::from(!world.method(id).is_static());
            let at = usize::from(number).checked_sub(skipped)?;
            throwable(world, world.parameter_types(id).nth(at)?)
        }
    }
}

/// An exception of the class of a descriptor; of any if that is no class of exceptions, or a type parameter.
fn throwable(world: &World, text: &[u8]) -> Option<Exception> {
    let throwable = world.find_type(b"java/lang/Throwable")?;
    let class = world.find_descriptor(text).filter(|&it| world.is_subtype(it, throwable));
    Some(Exception::below(class.unwrap_or(throwable)))
}

/// The part of an exception that passes a cast.
pub(crate) fn narrow(world: &World, exception: Exception, cast: Option<TypeId>) -> Option<Exception> {
    let Some(cast) = cast else { return Some(exception) };
    let class = exception.class();
    if world.is_subtype(class, cast) {
        return Some(exception);
    }
    if !exception.is_exact() && world.is_subtype(cast, class) {
        return Some(Exception::below(cast));
    }
    // Where the hierarchy is not known, the cast is believed.
    let is_phantom = |it: TypeId| world.get(it).origin == Origin::Phantom;
    let is_open =
        is_phantom(cast) || is_phantom(class) || world.ancestors(class).iter().any(|&it| is_phantom(it));
    is_open.then_some(exception)
}

fn sorted(mut all: Vec<Exception>) -> Vec<Exception> {
    all.sort_unstable();
    all.dedup();
    all
}
