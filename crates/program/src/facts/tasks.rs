//! Code run by others: threads, executors, timers, futures and callbacks, as edges of the call graph.

use crate::facts::{CallId, Facts, Task};
use crate::lists::Lists;
use crate::loading::world::{MethodId, TypeId, World};

/// For every method of the system that libraries run, the calls that hand it over.
#[derive(Debug, Default)]
pub struct Tasks {
    /// For each method the calls after which a library may run it.
    handed: Lists<CallId>,
    /// For each method the lambdas that stand for it, by their numbers in [`Facts::lambdas`].
    lambdas: Lists<u32>,
    /// The methods that each call hands over, in the order of the calls.
    runs: Vec<(CallId, MethodId)>,
}

impl Tasks {
    /// Finds the edges.
    pub fn of(world: &World, facts: &Facts) -> Tasks {
        let mut runs: Vec<(CallId, MethodId)> = Vec::new();
        for it in facts.handovers() {
            match it.task {
                Task::Lambda(method) => runs.push((it.call, method)),
                Task::Class(class) => {
                    runs.extend(entries(world, class).into_iter().map(|method| (it.call, method)))
                }
            }
        }
        runs.sort_unstable();
        runs.dedup();
        let handed = Lists::of(world.method_count(), runs.iter().map(|&(call, method)| (method.0, call)));
        let lambdas = facts.lambdas().iter().enumerate();
        let lambdas = lambdas.filter_map(|(at, it)| Some((it.implementation?.0, at as u32)));
        Tasks { handed, lambdas: Lists::of(world.method_count(), lambdas), runs }
    }

    /// The calls after which a library may run a method.
    pub fn handed(&self, id: MethodId) -> &[CallId] {
        self.handed.get(id.0)
    }

    /// The lambdas and method references that stand for a method.
    pub fn lambdas(&self, id: MethodId) -> &[u32] {
        self.lambdas.get(id.0)
    }

    /// The methods that a call hands over.
    pub fn run_by(&self, id: CallId) -> impl Iterator<Item = MethodId> + '_ {
        let from = self.runs.partition_point(|it| it.0 < id);
        self.runs[from..].iter().take_while(move |it| it.0 == id).map(|it| it.1)
    }
}

/// The methods by which libraries can call objects that are known to be of a class or one below it.
fn entries(world: &World, class: TypeId) -> Vec<MethodId> {
    let mut methods = world.callbacks_of(class);
    for &below in world.descendants(class) {
        methods.extend(world.methods_of(below).filter(|&it| world.is_callback(it)));
    }
    methods.sort_unstable();
    methods.dedup();
    methods
}
