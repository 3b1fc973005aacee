//! Origins of an exception: the deepest places, followed back through calls, rethrows, variables, fields, results,
//! arguments and futures.
//!
//! An exception starts at the `throw` of a new object, at the call of a library that declares it, or where it is handed
//! to a future. Whoever throws again what was caught, returned or kept is passed over. What comes out of a future is
//! followed into its tasks.

use std::collections::BTreeSet;

use rustc_hash::FxHashSet;

use crate::dataflow::exceptions::{Exception, Exceptions, Source, narrow, returns_known};
use crate::dataflow::futures::{Behind, Futures};
use crate::facts::calls::CallGraph;
use crate::facts::known;
use crate::facts::tasks::Tasks;
use crate::facts::{CallId, Carrier, Carries, Facts, HandlerId, Kept, Thrown, Wrap};
use crate::loading::world::{MethodId, RefId, TypeId, World};

/// The most steps of one search; what lies beyond them is left out.
const STEPS_MAX: usize = 1_000_000;

/// An instruction of a method.
pub type OriginPlace = (MethodId, u16);

/// An exception that carries another one where it is thrown.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Wrapped {
    /// The instruction that throws it.
    pub instruction: u16,
    /// Its class.
    pub into: TypeId,
    /// Content.
    pub carried: Exception,
    /// How.
    pub how: Carries,
}

/// Origins of exceptions.
#[derive(Debug)]
pub struct Origins<'p> {
    world: &'p World,
    facts: &'p Facts,
    calls: &'p CallGraph,
    tasks: &'p Tasks,
    exceptions: &'p Exceptions,
    futures: Futures<'p>,
}

impl<'p> Origins<'p> {
    /// Prepares the questions.
    pub fn of(
        world: &'p World,
        facts: &'p Facts,
        calls: &'p CallGraph,
        tasks: &'p Tasks,
        exceptions: &'p Exceptions,
    ) -> Origins<'p> {
        Origins { world, facts, calls, tasks, exceptions, futures: Futures::of(world, facts, calls, tasks) }
    }

    /// Values of the futures.
    pub fn futures(&self) -> &Futures<'p> {
        &self.futures
    }

    /// Origins of an exception that leaves a method, sorted.
    pub fn of_escape(&self, method: MethodId, exception: Exception) -> Vec<OriginPlace> {
        Search::of(self, Step::Leaves(method, exception))
    }

    /// Origins of an exception that reaches a handler, sorted.
    pub fn of_caught(&self, handler: HandlerId, exception: Exception) -> Vec<OriginPlace> {
        Search::of(self, Step::Reaches(handler, exception))
    }

    /// The exceptions that a method throws and that carry others, sorted.
    pub fn wraps(&self, method: MethodId) -> Vec<Wrapped> {
        let mut found = Vec::new();
        for thrower in self.facts.throwers(method) {
            let at = thrower.instruction;
            match thrower.thrown {
                Thrown::New(class, _) => self.wrapped(method, (at, class), at, None, &mut found),
                Thrown::Returned(call, _) => {
                    for &target in self.calls.targets(self.facts.call(call)) {
                        let returned =
                            self.facts.carriers(target).iter().filter(|it| it.to == Kept::Returned);
                        self.kept(returned.map(|it| (target, it)), at, Some((method, call)), &mut found);
                    }
                }
                Thrown::Supplied(target) => {
                    let returned = self.facts.carriers(target).iter().filter(|it| it.to == Kept::Returned);
                    self.kept(returned.map(|it| (target, it)), at, None, &mut found);
                }
                Thrown::Field(field) => self.kept(self.facts.kept_in(field), at, None, &mut found),
                Thrown::Parameter(number) => {
                    self.kept(self.exceptions.givers(self.facts, (method, number)), at, None, &mut found);
                }
                Thrown::Again(_) | Thrown::Typed(_) => {}
            }
        }
        for call in self.facts.calls_in(method).filter(|&it| self.futures.is_asked(it)) {
            let Some(into) = self.wrapper(call) else { continue };
            let instruction = self.facts.call(call).instruction;
            for carried in self.carried(call) {
                found.push(Wrapped { instruction, into, carried, how: Carries::Cause });
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Exceptions that a method throws only because it caught another: the instruction, and the caught exception. Sorted.
    pub fn passes_on(&self, method: MethodId) -> Vec<(u16, Exception)> {
        let mut found = Vec::new();
        for thrower in self.facts.throwers(method) {
            if let Thrown::New(_, Some(handler)) | Thrown::Returned(_, Some(handler)) = thrower.thrown {
                let caught = self.exceptions.reaches(handler).iter();
                found.extend(caught.map(|&it| (thrower.instruction, it)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The exceptions that a call which asks a future may be told of, sorted.
    pub fn carried(&self, call: CallId) -> Vec<Exception> {
        let mut found = Vec::new();
        for behind in self.futures.behind(call) {
            match behind {
                Behind::Task(method) => found.extend_from_slice(self.exceptions.escapes(method)),
                Behind::Completed(call) => {
                    let method = self.facts.call(call).method;
                    for it in self.handed(call) {
                        found.extend(
                            self.types(method, it.thrown).filter_map(|y| narrow(self.world, y, it.cast)),
                        );
                    }
                }
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    fn kept<'a>(
        &self,
        carriers: impl Iterator<Item = (MethodId, &'a Carrier)>,
        thrown_at: u16,
        call: Option<(MethodId, CallId)>,
        found: &mut Vec<Wrapped>,
    ) {
        for (method, carrier) in carriers {
            if let Thrown::New(class, _) = carrier.thrown {
                self.wrapped(method, (carrier.instruction, class), thrown_at, call, found);
            }
        }
    }

    /// Cause of a new exception that is thrown, or kept until it is thrown, at an instruction.
    fn wrapped(
        &self,
        method: MethodId,
        new: (u16, TypeId),
        thrown_at: u16,
        call: Option<(MethodId, CallId)>,
        found: &mut Vec<Wrapped>,
    ) {
        for wrap in self.facts.wraps(method).iter().filter(|it| (it.instruction, it.class) == new) {
            for carried in self.carried_by(method, wrap, call) {
                found.push(Wrapped { instruction: thrown_at, into: wrap.class, carried, how: wrap.how });
            }
        }
    }

    fn carried_by(&self, method: MethodId, wrap: &Wrap, call: Option<(MethodId, CallId)>) -> Vec<Exception> {
        let narrowed = |it: Exception, cast: Option<TypeId>| narrow(self.world, it, cast);
        if let (Thrown::Parameter(number), Some((caller, call))) = (wrap.carried, call) {
            // The caller is known, so only what it passes counts.
            let passed = self.facts.carriers(caller).iter().filter(|it| match it.to {
                Kept::Argument(to, operand) => {
                    to == call && self.exceptions.becomes(call, operand).contains(&(method, number))
                }
                _ => false,
            });
            let types =
                passed.flat_map(|it| self.types(caller, it.thrown).filter_map(|y| narrowed(y, it.cast)));
            return types.filter_map(|it| narrowed(it, wrap.cast)).collect();
        }
        self.types(method, wrap.carried).filter_map(|it| narrowed(it, wrap.cast)).collect()
    }

    /// The exceptions that a call is handed.
    fn handed(&self, call: CallId) -> impl Iterator<Item = &'p Carrier> + use<'p> {
        let carriers = self.facts.carriers(self.facts.call(call).method).iter();
        carriers.filter(move |it| matches!(it.to, Kept::Argument(to, _) if to == call))
    }

    /// Possible classes of an object that is thrown or kept in a method.
    fn types(&self, method: MethodId, thrown: Thrown) -> impl Iterator<Item = Exception> + use<> {
        let mut types = Vec::new();
        if let Thrown::Again(handler) = thrown {
            types.extend_from_slice(self.exceptions.reaches(handler));
        } else {
            self.exceptions.types(self.world, self.facts, self.calls, method, thrown, &mut types);
        }
        types.into_iter()
    }

    /// The class in which a call gives its caller the exception of a task.
    fn wrapper(&self, call: CallId) -> Option<TypeId> {
        let callee = self.world.method_ref(self.facts.call(call).callee?);
        self.world.find_type(known::wrapper(self.world.signature(callee.signature).0))
    }
}

/// Something whose origin is asked for.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Step {
    /// It comes out of a method of the system that calls of a reference may run.
    Called(RefId, Exception),
    /// It leaves a method.
    Leaves(MethodId, Exception),
    /// It reaches a handler.
    Reaches(HandlerId, Exception),
    /// It is this object of a method, and if it was made for that, it starts at the place.
    Object(MethodId, Thrown, Exception, OriginPlace),
}

struct Search<'s, 'p> {
    origins: &'s Origins<'p>,
    seen: FxHashSet<Step>,
    pending: Vec<Step>,
    found: BTreeSet<OriginPlace>,
}

impl Search<'_, '_> {
    fn of(origins: &Origins<'_>, start: Step) -> Vec<OriginPlace> {
        let mut search =
            Search { origins, seen: FxHashSet::default(), pending: vec![start], found: BTreeSet::new() };
        while let Some(step) = search.pending.pop() {
            if search.seen.len() < STEPS_MAX && search.seen.insert(step) {
                search.step(step);
            }
        }
        search.found.into_iter().collect()
    }

    fn step(&mut self, step: Step) {
        match step {
            Step::Called(id, exception) => {
                self.leaves_any(self.origins.calls.targets_of_ref(id), exception);
            }
            Step::Leaves(method, exception) => self.arriving(method, None, exception),
            Step::Reaches(handler, exception) => {
                self.arriving(self.origins.facts.handler(handler).method, Some(handler), exception);
            }
            Step::Object(method, thrown, exception, place) => self.object(method, thrown, exception, place),
        }
    }

    fn arriving(&mut self, method: MethodId, to: Option<HandlerId>, exception: Exception) {
        let Origins { world, facts, calls, exceptions, .. } = *self.origins;
        for way in exceptions.ways_to(world, facts, calls, method, to, exception) {
            match way.source {
                Source::Call(call) => self.call(call, way.thrown),
                Source::Throw(at) => {
                    let Some(thrower) = facts.throwers(method).get(at as usize) else { continue };
                    let place = (method, thrower.instruction);
                    self.one_of(method, (thrower.thrown, thrower.cast), way.thrown, place);
                }
            }
        }
    }

    fn call(&mut self, call: CallId, thrown: Exception) {
        let Origins { facts, exceptions, .. } = *self.origins;
        let it = facts.call(call);
        // Calls of one reference share its targets, which may be many.
        self.pending.extend(it.callee.map(|it| Step::Called(it, thrown)));
        self.leaves_any(exceptions.run_by(call), thrown);
        let is_declared = it.callee.is_some_and(|it| exceptions.is_declared(it, thrown));
        if !is_declared {
            return;
        }
        let is_wrapper =
            self.origins.futures.is_asked(call) && self.origins.wrapper(call) == Some(thrown.class());
        let behind = if is_wrapper { self.origins.futures.behind(call) } else { Vec::new() };
        if !self.behind(&behind) {
            self.found.insert((it.method, it.instruction));
        }
    }

    fn leaves_any(&mut self, methods: &[MethodId], thrown: Exception) {
        let exceptions = self.origins.exceptions;
        let leaves = methods.iter().filter(|&&it| exceptions.escapes(it).binary_search(&thrown).is_ok());
        self.pending.extend(leaves.map(|&it| Step::Leaves(it, thrown)));
    }

    /// Goes on to what ended a future with an exception, and says whether there is anything.
    fn behind(&mut self, behind: &[Behind]) -> bool {
        let Origins { facts, exceptions, .. } = *self.origins;
        let before = self.pending.len();
        for &it in behind {
            match it {
                Behind::Task(method) => {
                    let escapes = exceptions.escapes(method).iter();
                    self.pending.extend(escapes.map(|&it| Step::Leaves(method, it)));
                }
                Behind::Completed(call) => {
                    let it = facts.call(call);
                    let place = (it.method, it.instruction);
                    for carrier in self.origins.handed(call) {
                        let types = self.origins.types(it.method, carrier.thrown);
                        self.pending.extend(types.map(|y| Step::Object(it.method, carrier.thrown, y, place)));
                    }
                }
            }
        }
        self.pending.len() > before
    }

    /// Goes on to an object that arrives as an exception, behind a cast.
    fn one_of(
        &mut self,
        method: MethodId,
        object: (Thrown, Option<TypeId>),
        arrives: Exception,
        place: OriginPlace,
    ) {
        let (thrown, cast) = object;
        for it in self.origins.types(method, thrown) {
            if narrow(self.origins.world, it, cast) == Some(arrives) {
                self.pending.push(Step::Object(method, thrown, it, place));
            }
        }
    }

    fn object(&mut self, method: MethodId, thrown: Thrown, exception: Exception, place: OriginPlace) {
        let Origins { world, facts, calls, exceptions, tasks, .. } = *self.origins;
        match thrown {
            Thrown::New(..) | Thrown::Typed(_) => {
                self.found.insert(place);
            }
            Thrown::Again(handler) => self.pending.push(Step::Reaches(handler, exception)),
            Thrown::Returned(call, because) => {
                let callee = facts.call(call).callee;
                if callee.is_some_and(|it| returns_known(world, facts, calls, it)) {
                    for &target in calls.targets(facts.call(call)) {
                        for it in facts.carriers(target).iter().filter(|it| it.to == Kept::Returned) {
                            self.one_of(target, (it.thrown, it.cast), exception, place);
                        }
                    }
                    return;
                }
                let name = callee.map(|it| world.signature(world.method_ref(it).signature).0);
                match because.filter(|_| name.is_some_and(known::asks_for_cause)) {
                    // What is unwrapped started where that started in which it came.
                    Some(handler) => {
                        let caught = exceptions.reaches(handler).iter();
                        self.pending.extend(caught.map(|&it| Step::Reaches(handler, it)));
                    }
                    None => {
                        self.found.insert(place);
                    }
                }
            }
            Thrown::Supplied(target) => {
                for it in facts.carriers(target).iter().filter(|it| it.to == Kept::Returned) {
                    self.one_of(target, (it.thrown, it.cast), exception, place);
                }
            }
            Thrown::Field(field) => {
                let is_kept = self.kept(facts.kept_in(field), exception, place);
                if !is_kept {
                    self.found.insert(place);
                }
            }
            Thrown::Parameter(number) => {
                if self.kept(exceptions.givers(facts, (method, number)), exception, place) {
                    return;
                }
                // A stage of a future is given the exception of the stages before it.
                let before: Vec<Behind> =
                    tasks.handed(method).iter().flat_map(|&it| self.origins.futures.before(it)).collect();
                if !self.behind(&before) {
                    self.found.insert(place);
                }
            }
        }
    }

    /// Goes on to what is kept somewhere, and says whether anything is.
    fn kept<'a>(
        &mut self,
        carriers: impl Iterator<Item = (MethodId, &'a Carrier)>,
        exception: Exception,
        place: OriginPlace,
    ) -> bool {
        let mut is_kept = false;
        for (method, it) in carriers {
            is_kept = true;
            self.one_of(method, (it.thrown, it.cast), exception, place);
        }
        is_kept
    }
}
