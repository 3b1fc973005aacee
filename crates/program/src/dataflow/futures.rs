//! Futures: which tasks are behind a call that asks one.
//!
//! A future is known by the call that makes it. Where it goes from there is followed through variables, fields,
//! collections, arguments and results, without regard to which object a field belongs to, so that the answer is what
//! *may* be behind a call.

use rustc_hash::{FxHashMap, FxHashSet};

use crate::dataflow::exceptions::{lambdas_of, parameters};
use crate::facts::calls::CallGraph;
use crate::facts::known;
use crate::facts::tasks::Tasks;
use crate::facts::{CallId, Facts, FutureFrom, FutureTo};
use crate::loading::world::{FieldId, MethodId, World};

/// The most places that are visited to find out where one future comes from.
const PLACES_MAX: usize = 10_000;

/// Exceptions that may end a future.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Behind {
    /// A method that a library runs for it.
    Task(MethodId),
    /// A call that ends it with an exception: `completeExceptionally`.
    Completed(CallId),
}

/// A place where a future can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
enum Place {
    Call(CallId),
    Returned(MethodId),
    Field(FieldId),
    Parameter(MethodId, u16),
}

/// Origins of futures.
#[derive(Debug)]
pub struct Futures<'p> {
    world: &'p World,
    facts: &'p Facts,
    calls: &'p CallGraph,
    tasks: &'p Tasks,
    into: FxHashMap<Place, Vec<FutureFrom>>,
    /// For each call that makes a future, the calls that end it with an exception.
    completed: FxHashMap<CallId, Vec<CallId>>,
}

impl<'p> Futures<'p> {
    /// Follows the futures of the system.
    pub fn of(world: &'p World, facts: &'p Facts, calls: &'p CallGraph, tasks: &'p Tasks) -> Futures<'p> {
        let mut into: FxHashMap<Place, Vec<FutureFrom>> = FxHashMap::default();
        let lambdas = lambdas_of(facts);
        for &(to, from) in facts.futures() {
            match to {
                FutureTo::Call(call) => into.entry(Place::Call(call)).or_default().push(from),
                FutureTo::Returned(method) => into.entry(Place::Returned(method)).or_default().push(from),
                FutureTo::Field(field) => into.entry(Place::Field(field)).or_default().push(from),
                FutureTo::Argument(call, number) => {
                    for (method, number) in parameters(world, facts, calls, &lambdas, call, number) {
                        into.entry(Place::Parameter(method, number)).or_default().push(from);
                    }
                }
            }
        }
        let mut futures = Futures { world, facts, calls, tasks, into, completed: FxHashMap::default() };
        let completing =
            (0..facts.calls().len() as u32).map(CallId).filter(|&it| known::completes(futures.name(it)));
        let makers: Vec<(CallId, Vec<CallId>)> =
            completing.map(|it| (it, futures.makers(Place::Call(it)))).collect();
        for (call, makers) in makers {
            for maker in makers {
                futures.completed.entry(maker).or_default().push(call);
            }
        }
        futures
    }

    fn name(&self, call: CallId) -> &'p [u8] {
        let world = self.world;
        let callee = self.facts.call(call).callee.map(|it| world.method_ref(it));
        callee.map_or(&[], |it| world.signature(it.signature).0)
    }

    /// Tests whether a call gives the exception of a task to its caller.
    pub fn is_asked(&self, call: CallId) -> bool {
        let world = self.world;
        let callee = self.facts.call(call).callee.map(|it| world.method_ref(it));
        callee.is_some_and(|it| known::carries(world.type_name(it.owner), world.signature(it.signature).0))
    }

    /// Possible contents of the future that a call asks, sorted.
    pub fn behind(&self, call: CallId) -> Vec<Behind> {
        let mut found = self.before(call);
        if known::takes_tasks_in_lists(self.name(call)) {
            found.extend(self.tasks.run_by(call).map(Behind::Task));
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// Possible contents of the futures that a call takes, sorted.
    pub fn before(&self, call: CallId) -> Vec<Behind> {
        let mut found = Vec::new();
        let mut seen: FxHashSet<CallId> = FxHashSet::default();
        let mut pending = self.makers(Place::Call(call));
        while let Some(maker) = pending.pop() {
            if !seen.insert(maker) {
                continue;
            }
            for task in self.tasks.run_by(maker) {
                found.push(Behind::Task(task));
                // A task may itself return the future that counts: `thenCompose`.
                pending.extend(self.makers(Place::Returned(task)));
            }
            found.extend(self.completed.get(&maker).into_iter().flatten().map(|&it| Behind::Completed(it)));
            if !known::recovers(self.name(maker)) {
                pending.extend(self.makers(Place::Call(maker)));
            }
        }
        found.sort_unstable();
        found.dedup();
        found
    }

    /// The calls that make the futures which may be at a place.
    fn makers(&self, place: Place) -> Vec<CallId> {
        let mut makers = Vec::new();
        let mut seen: FxHashSet<Place> = FxHashSet::default();
        let mut pending = vec![place];
        while let Some(place) = pending.pop() {
            if seen.len() >= PLACES_MAX || !seen.insert(place) {
                continue;
            }
            for &from in self.into.get(&place).into_iter().flatten() {
                match from {
                    FutureFrom::Made(call) => makers.push(call),
                    FutureFrom::Result(call) => {
                        let targets = self.calls.targets(self.facts.call(call));
                        pending.extend(targets.iter().map(|&it| Place::Returned(it)));
                    }
                    FutureFrom::Field(field) => pending.push(Place::Field(field)),
                    FutureFrom::Parameter(method, number) => pending.push(Place::Parameter(method, number)),
                }
            }
        }
        makers
    }
}
