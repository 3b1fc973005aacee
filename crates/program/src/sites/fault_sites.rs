//! Fault sites: the calls of the system that can fail.
//!
//! - *External*: a library is called that declares exceptions, or is known to throw one. An `IOException`, or one below
//!   it, is none where what is read or written lives in memory ([`Memory`]).
//! - *New*: a method of the system is called that itself creates an exception and lets it out. The `throw` is not
//!   reached in a normal run, the call is. What passes another exception on creates none, so that a fault goes in as
//!   deep as possible (LEGOLAS, section 3; the new-exception nodes of ANDURIL, section 4.1).
//! - *Delay*: a call that waits for a disk or a network.
//! - *Crash*: one that changes what others can see; before it the JVM may halt.

use hypocenter_classfile::ClassFile;
use hypocenter_plan::{Site, SiteKind};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::dataflow::exceptions::{Exception, Exceptions, Source, Way};
use crate::dataflow::memory::{InMemory, Memory};
use crate::facts::calls::CallGraph;
use crate::facts::known;
use crate::facts::{Call, CallId, Facts, HandlerId, Thrown};
use crate::loading::world::{MethodId, Origin, RefId, TypeId, World};
use crate::sites::kinds::KindSet;
use crate::sites::sites_of_method;

/// A call that can fail.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct FaultSite {
    /// The call.
    pub call: CallId,
    /// Errors.
    pub kind: FaultKind,
}

/// Possible faults of a call.
#[derive(Debug, Clone, PartialEq, Eq)]
pub enum FaultKind {
    /// A library throws one of these, or one below it.
    External {
        /// Declared or known exceptions, sorted.
        exceptions: Box<[TypeId]>,
    },
    /// A method of the system makes and throws one of these.
    New {
        /// The classes, sorted.
        exceptions: Box<[TypeId]>,
        /// The methods that make them, sorted.
        creators: Box<[MethodId]>,
    },
    /// It takes very long.
    Delay,
    /// The process ends just before it.
    Crash,
}

impl FaultKind {
    /// The kind in one word.
    pub fn name(&self) -> &'static str {
        match self {
            FaultKind::External { .. } => "external",
            FaultKind::New { .. } => "new",
            FaultKind::Delay => "delay",
            FaultKind::Crash => "crash",
        }
    }

    /// Exceptions that may be thrown.
    pub fn exceptions(&self) -> &[TypeId] {
        match self {
            FaultKind::External { exceptions } | FaultKind::New { exceptions, .. } => exceptions,
            FaultKind::Delay | FaultKind::Crash => &[],
        }
    }
}

/// A call that throws nothing of the kind, since what it works on lives in memory.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Dropped {
    /// The call; [`Memory::why`] has the reason.
    pub call: CallId,
    /// Declared exceptions that remain.
    pub exceptions: Box<[TypeId]>,
}

/// All calls of the system that can fail.
#[derive(Debug, Default)]
pub struct FaultSites {
    sites: Vec<FaultSite>,
    dropped: Vec<Dropped>,
}

/// Number of sites.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct FaultSummary {
    /// Calls of libraries that throw.
    pub external: usize,
    /// Calls of methods that create exceptions.
    pub new: usize,
    /// Calls that can be delayed.
    pub delay: usize,
    /// Calls before which a crash matters.
    pub crash: usize,
    /// Calls that were left out for one exception or more because they work in memory.
    pub in_memory: usize,
    /// Number of times that each exception can be thrown at an external or new site, most frequent first.
    pub by_exception: Vec<(TypeId, usize)>,
    /// Number of external and new sites of each class, largest first.
    pub by_class: Vec<(TypeId, usize)>,
}

impl FaultSites {
    /// Finds all sites.
    pub fn of(
        world: &World,
        facts: &Facts,
        calls: &CallGraph,
        exceptions: &Exceptions,
        memory: &Memory,
    ) -> FaultSites {
        let io_exception = world.find_type(b"java/io/IOException");
        let is_io = |it: TypeId| io_exception.is_some_and(|io| world.is_subtype(it, io));
        let creators = creators(world, facts, calls, exceptions);
        let mut found = FaultSites::default();
        for (at, call) in facts.calls().iter().enumerate() {
            let id = CallId(at as u32);
            let Some(callee) = call.callee else { continue };
            let declared = declared(world, callee);
            let in_memory = memory.verdict(id) == Some(InMemory::Always);
            let (kept, dropped): (Vec<TypeId>, Vec<TypeId>) =
                declared.iter().partition(|&&it| !(in_memory && is_io(it)));
            let mut add = |kind: FaultKind| found.sites.push(FaultSite { call: id, kind });
            if !kept.is_empty() {
                add(FaultKind::External { exceptions: kept.into() });
            }
            if let Some(kind) = new_at(calls, call, &creators) {
                add(kind);
            }
            if !in_memory && is_delay(world, callee, declared.iter().any(|&it| is_io(it))) {
                add(FaultKind::Delay);
                let reference = world.method_ref(callee);
                if known::changes_outside(
                    world.type_name(reference.owner),
                    world.signature(reference.signature).0,
                ) {
                    add(FaultKind::Crash);
                }
            }
            if !dropped.is_empty() {
                found.dropped.push(Dropped { call: id, exceptions: dropped.into() });
            }
        }
        found
    }

    /// The sites, in the order of methods and instructions; several at one call in the order of [`FaultKind`].
    pub fn sites(&self) -> &[FaultSite] {
        &self.sites
    }

    /// The calls that are none, or throw less, since they work in memory; in the same order.
    pub fn dropped(&self) -> &[Dropped] {
        &self.dropped
    }

    /// The sites at a call.
    pub fn at(&self, call: CallId) -> &[FaultSite] {
        let from = self.sites.partition_point(|it| it.call < call);
        let count = self.sites[from..].partition_point(|it| it.call == call);
        &self.sites[from..from + count]
    }

    /// Exception to throw at a call so that this exception leaves it, if it is one of its faults. An exception that a handler
    /// takes of what is declared is part of it, and what is declared may be part of what was followed.
    pub fn thrown(&self, world: &World, call: CallId, exception: Exception) -> Option<TypeId> {
        let declared = self.at(call).iter().flat_map(|it| it.kind.exceptions());
        let fits = |&it: &TypeId| {
            if world.is_subtype(exception.class(), it) {
                Some(exception.class())
            } else {
                (!exception.is_exact() && world.is_subtype(it, exception.class())).then_some(it)
            }
        };
        declared.filter_map(fits).min()
    }

    /// Number of them.
    pub fn summary(&self, world: &World, facts: &Facts) -> FaultSummary {
        let mut summary = FaultSummary { in_memory: self.dropped.len(), ..FaultSummary::default() };
        let mut by_exception: FxHashMap<TypeId, usize> = FxHashMap::default();
        let mut by_class: FxHashMap<TypeId, usize> = FxHashMap::default();
        for site in &self.sites {
            match site.kind {
                FaultKind::External { .. } => summary.external += 1,
                FaultKind::New { .. } => summary.new += 1,
                FaultKind::Delay => summary.delay += 1,
                FaultKind::Crash => summary.crash += 1,
            }
            for &it in site.kind.exceptions() {
                *by_exception.entry(it).or_default() += 1;
            }
            if !site.kind.exceptions().is_empty() {
                *by_class.entry(world.method(facts.call(site.call).method).owner).or_default() += 1;
            }
        }
        let sorted = |it: FxHashMap<TypeId, usize>| {
            let mut list: Vec<(TypeId, usize)> = it.into_iter().collect();
            list.sort_unstable_by_key(|&(id, count)| (std::cmp::Reverse(count), id));
            list
        };
        (summary.by_exception, summary.by_class) = (sorted(by_exception), sorted(by_class));
        summary
    }
}

/// Calls as sites by their names, in the order in which they are given: exactly what a plan names and an instrumentation
/// map finds. A call in a method that cannot be read has none.
pub fn name_calls(world: &World, facts: &Facts, calls: &[CallId]) -> Vec<Option<Site>> {
    let owner = |id: CallId| world.method(facts.call(id).method).owner;
    let mut order: Vec<(TypeId, CallId, usize)> =
        calls.iter().enumerate().map(|(at, &id)| (owner(id), id, at)).collect();
    order.par_sort_unstable();
    let groups: Vec<&[(TypeId, CallId, usize)]> = order.chunk_by(|a, b| a.0 == b.0).collect();
    let named: Vec<Vec<(usize, Site)>> =
        groups.par_iter().map(|it| name_in_class(world, facts, it)).collect();
    let mut sites = vec![None; calls.len()];
    for (at, site) in named.into_iter().flatten() {
        sites[at] = Some(site);
    }
    sites
}

fn name_in_class(world: &World, facts: &Facts, calls: &[(TypeId, CallId, usize)]) -> Vec<(usize, Site)> {
    let Some(system) = calls.first().and_then(|it| world.system_class(it.0)) else { return Vec::new() };
    let class = ClassFile::parse(&system.bytes).expect("was read before");
    let class_name = world.show_type(system.id);
    let mut named = Vec::with_capacity(calls.len());
    for group in calls.chunk_by(|a, b| facts.call(a.1).method == facts.call(b.1).method) {
        let method = world.method(facts.call(group[0].1).method);
        let Some(member) = class.methods().get(usize::from(method.member)) else { continue };
        let Ok(found) = sites_of_method(&class, member, KindSet::of(&[SiteKind::Call])) else { continue };
        let (name, descriptor) =
            (String::from_utf8_lossy(member.name), String::from_utf8_lossy(member.descriptor));
        for &(_, id, at) in group {
            let wanted = facts.call(id).instruction;
            let site = found.sites.iter().find(|it| it.hooks.iter().any(|hook| hook.instruction == wanted));
            named.extend(site.map(|it| (at, it.named(&class_name, &name, &descriptor))));
        }
    }
    named
}

/// Exceptions that a call of a library declares or is known to throw, sorted; none for a method of the system.
fn declared(world: &World, callee: RefId) -> Vec<TypeId> {
    let reference = world.method_ref(callee);
    let Some(method) = reference.method.filter(|&it| !world.is_system_method(it)) else { return Vec::new() };
    let name = world.signature(reference.signature).0;
    let known = known::throws(world.type_name(world.method(method).owner), name);
    let known = known.iter().filter_map(|it| world.find_type(it));
    let mut all: Vec<TypeId> = world.throws(method).iter().copied().chain(known).collect();
    all.sort_unstable();
    all.dedup();
    all
}

fn is_delay(world: &World, callee: RefId, declares: bool) -> bool {
    let reference = world.method_ref(callee);
    let Some(method) = reference.method.filter(|&it| !world.is_system_method(it)) else { return false };
    let owner = world.method(method).owner;
    let name = world.signature(reference.signature).0;
    let is_jdk = world.get(owner).origin == Origin::Jdk;
    // A method may be declared above the class that does the input or output (`close`, `append`).
    [owner, reference.owner].iter().any(|&it| known::does_io(world.type_name(it), name, is_jdk, declares))
}

fn new_at(calls: &CallGraph, call: &Call, creators: &FxHashMap<MethodId, Vec<TypeId>>) -> Option<FaultKind> {
    let found: Vec<MethodId> =
        calls.targets(call).iter().copied().filter(|it| creators.contains_key(it)).collect();
    if found.is_empty() {
        return None;
    }
    let mut exceptions: Vec<TypeId> = found.iter().flat_map(|it| &creators[it]).copied().collect();
    exceptions.sort_unstable();
    exceptions.dedup();
    Some(FaultKind::New { exceptions: exceptions.into(), creators: found.into() })
}

/// The methods of the system that create exceptions and let them out, with their classes.
fn creators(
    world: &World,
    facts: &Facts,
    calls: &CallGraph,
    exceptions: &Exceptions,
) -> FxHashMap<MethodId, Vec<TypeId>> {
    let methods: Vec<MethodId> = world
        .system_classes()
        .iter()
        .flat_map(|class| world.methods_of(class.id))
        .filter(|&it| facts.throwers(it).iter().any(|it| is_created(world, facts, it.thrown)))
        .collect();
    let created = methods.par_iter().map(|&it| (it, created(world, facts, calls, exceptions, it)));
    created.filter(|it| !it.1.is_empty()).collect()
}

/// Tests whether something is thrown that passes nothing on: made at the `throw`, or by a method of the system that is called
/// for it.
fn is_created(world: &World, facts: &Facts, thrown: Thrown) -> bool {
    match thrown {
        Thrown::New(_, because) => because.is_none(),
        Thrown::Returned(call, None) => {
            let maker = facts.call(call).callee.and_then(|it| world.method_ref(it).method);
            maker.is_some_and(|it| world.is_system_method(it))
        }
        _ => false,
    }
}

/// The exceptions that a method creates and that leave it, at once or through handlers that throw them again.
fn created(
    world: &World,
    facts: &Facts,
    calls: &CallGraph,
    exceptions: &Exceptions,
    id: MethodId,
) -> Vec<TypeId> {
    let throwers = facts.throwers(id);
    let ways = exceptions.ways(world, facts, calls, id);
    let thrown_at = |way: &Way| match way.source {
        Source::Throw(at) => throwers.get(at as usize).map(|it| it.thrown),
        Source::Call(_) => None,
    };
    let mut found = Vec::new();
    let is_created = |it: Thrown| is_created(world, facts, it);
    let mut pending: Vec<&Way> = ways.iter().filter(|it| thrown_at(it).is_some_and(is_created)).collect();
    let mut seen: FxHashSet<(HandlerId, Exception)> = FxHashSet::default();
    while let Some(way) = pending.pop() {
        match way.to {
            None => found.push(way.arrives.class()),
            Some(handler) => {
                if seen.insert((handler, way.arrives)) {
                    let is_again =
                        |it: &&Way| thrown_at(it) == Some(Thrown::Again(handler)) && it.thrown == way.arrives;
                    pending.extend(ways.iter().filter(is_again));
                }
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found
}
