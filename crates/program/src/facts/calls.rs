//! The call graph: who can run what.
//!
//! Class hierarchy analysis narrowed by what is ever instantiated (CHA, RTA): a virtual call may run what the classes
//! below the named one that somebody makes objects of would run. Calls are grouped by the method that they name
//! ([`RefId`]), so that the thousands of calls of one interface method share one list of targets.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::facts::{Call, CallId, CallKind, Facts, Lambda};
use crate::lists::Lists;
use crate::loading::world::{MethodId, RefId, SignatureId, TypeId, World, access};

/// Tasks and their runners.
#[derive(Debug, Default)]
pub struct CallGraph {
    /// For each type whether somebody makes objects of it.
    instantiated: Vec<bool>,
    /// For each reference what a virtual call of it may run, in the system: sorted.
    targets: Lists<MethodId>,
    /// For each reference the methods of libraries that a virtual call of it may run by a method reference.
    library_targets: Lists<RefId>,
    /// For each method the references whose virtual calls may run it.
    refs_to: Lists<RefId>,
    /// For each reference the calls that name it.
    calls_of: Lists<CallId>,
}

impl CallGraph {
    /// Builds the graph.
    pub fn of(world: &World, facts: &Facts) -> CallGraph {
        let instantiated = instantiated(world, facts);
        let mut lambdas: Lambdas<'_> = FxHashMap::default();
        for it in facts.lambdas() {
            if let (Some(interface), Some(signature)) = (it.interface, it.signature) {
                lambdas.entry(signature).or_default().push((interface, it));
            }
        }
        let virtual_refs = virtual_refs(world, facts);
        let targets: Vec<Vec<MethodId>> = (0..world.ref_count())
            .into_par_iter()
            .map(|at| {
                let id = RefId(at as u32);
                if virtual_refs[at] { targets(world, &instantiated, &lambdas, id) } else { exact(world, id) }
            })
            .collect();
        let mut lists = Lists::default();
        targets.into_iter().for_each(|it| lists.add(it));
        let mut library_targets = Lists::default();
        for (at, &is_virtual) in virtual_refs.iter().enumerate() {
            if is_virtual {
                let fitting = fitting(world, &lambdas, RefId(at as u32));
                let mut named: Vec<RefId> =
                    fitting.filter(|it| it.implementation.is_none()).filter_map(|it| it.named).collect();
                named.sort_unstable();
                named.dedup();
                library_targets.add(named);
            } else {
                library_targets.close();
            }
        }
        let pairs = lists
            .iter()
            .enumerate()
            .flat_map(|(at, targets)| targets.iter().map(move |it| (it.0, RefId(at as u32))));
        let refs_to = Lists::of(world.method_count(), pairs);
        let named = facts
            .calls()
            .iter()
            .enumerate()
            .filter_map(|(at, call)| Some((call.callee?.0, CallId(at as u32))));
        let calls_of = Lists::of(world.ref_count(), named);
        CallGraph { instantiated, targets: lists, library_targets, refs_to, calls_of }
    }

    /// Tests whether somebody makes objects of a type.
    pub fn is_instantiated(&self, id: TypeId) -> bool {
        self.instantiated[id.index()]
    }

    /// The methods of the system that a call may run. A library method that it may run as well is not among them.
    pub fn targets<'a>(&'a self, call: &Call) -> &'a [MethodId] {
        call.callee.map_or(&[], |it| self.targets.get(it.0))
    }

    /// The methods of the system that calls of a reference may run.
    pub fn targets_of_ref(&self, id: RefId) -> &[MethodId] {
        self.targets.get(id.0)
    }

    /// The methods of libraries that calls of a reference may run because a method reference names them.
    pub fn library_targets_of_ref(&self, id: RefId) -> &[RefId] {
        self.library_targets.get(id.0)
    }

    /// The references whose calls may run a method.
    pub fn refs_to(&self, id: MethodId) -> &[RefId] {
        self.refs_to.get(id.0)
    }

    /// The calls that name a reference.
    pub fn calls_of_ref(&self, id: RefId) -> &[CallId] {
        self.calls_of.get(id.0)
    }

    /// The calls in the system that may run a method.
    pub fn callers(&self, id: MethodId) -> impl Iterator<Item = CallId> + '_ {
        self.refs_to(id).iter().flat_map(|&it| self.calls_of_ref(it)).copied()
    }
}

/// The lambdas and method references by the method that they implement, with its interface.
type Lambdas<'f> = FxHashMap<SignatureId, Vec<(TypeId, &'f Lambda)>>;

/// The lambdas that a virtual call of a reference may run.
fn fitting<'f>(world: &World, lambdas: &Lambdas<'f>, id: RefId) -> impl Iterator<Item = &'f Lambda> {
    let reference = world.method_ref(id);
    let found = lambdas.get(&reference.signature).into_iter().flatten();
    found.filter(move |it| world.is_subtype(it.0, reference.owner)).map(|it| it.1)
}

/// Instantiated classes: by `new`, or by a name or class constant that reflection may use.
fn instantiated(world: &World, facts: &Facts) -> Vec<bool> {
    let mut made = vec![false; world.types().len()];
    for it in facts.allocations() {
        made[it.class.index()] = true;
    }
    for &it in facts.named_classes() {
        made[it.index()] = true;
    }
    made
}

/// The references that some call dispatches on the object.
fn virtual_refs(world: &World, facts: &Facts) -> Vec<bool> {
    let mut is_virtual = vec![false; world.ref_count()];
    for call in facts.calls() {
        let dispatches = matches!(call.kind, CallKind::Virtual | CallKind::Interface);
        if let Some(it) = call.callee.filter(|_| dispatches) {
            is_virtual[it.index()] = true;
        }
    }
    is_virtual
}

/// The one method that a call which does not dispatch runs.
fn exact(world: &World, id: RefId) -> Vec<MethodId> {
    let method = world.method_ref(id).method;
    method.filter(|&it| world.is_system_method(it) && !world.method(it).is_abstract()).into_iter().collect()
}

fn targets(world: &World, instantiated: &[bool], lambdas: &Lambdas<'_>, id: RefId) -> Vec<MethodId> {
    let reference = world.method_ref(id);
    let is_fixed =
        |it: MethodId| world.method(it).access & (access::PRIVATE | access::STATIC | access::FINAL) != 0;
    if reference.method.is_some_and(is_fixed) {
        return exact(world, id);
    }
    let below = || std::iter::once(&reference.owner).chain(world.descendants(reference.owner));
    let runs = |&it: &TypeId| {
        let found = world.dispatch(it, reference.signature)?;
        world.is_system_method(found).then_some(found)
    };
    let is_class = |it: &&TypeId| world.get(**it).access & (access::ABSTRACT | access::INTERFACE) == 0;
    let mut found: Vec<MethodId> =
        below().filter(is_class).filter(|it| instantiated[it.index()]).filter_map(runs).collect();
    let mut is_lambda = false;
    for lambda in fitting(world, lambdas, id) {
        is_lambda = true;
        found.extend(lambda.implementation);
    }
    if found.is_empty() && !is_lambda {
        // Nobody makes such objects as far as can be seen, so configuration or a framework does: any class will do.
        found = below().filter(is_class).filter_map(runs).collect();
    }
    found.sort_unstable();
    found.dedup();
    found
}
