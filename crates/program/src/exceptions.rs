//! Where exceptions come from and where they go: for every method what can leave it, for every handler what can reach
//! it, across methods.
//!
//! The analysis knows exceptions by class. What a `throw new` makes is exactly of its class; what a library declares,
//! or a field or a parameter holds, may be of any class below the one that is known, so a handler for a class below
//! takes a part of it and the rest goes on. Exceptions that the JVM itself makes (a null pointer, an index) are not
//! followed.

use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::calls::CallGraph;
use crate::facts::{CallId, Facts, HandlerId, Task, Thrown};
use crate::known;
use crate::lists::Lists;
use crate::world::{MethodId, Origin, RefId, TypeId, World};

/// How often the methods whose callees changed are looked at again. Each round carries exceptions one call further.
const ROUNDS_MAX: usize = 10_000;

/// An exception as the analysis knows it.
#[derive(Clone, Copy, Default, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Exception(u32);

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
        TypeId(self.0 >> 1)
    }

    /// Whether something known as this can be the other: it is that, or the other's class is below this one's.
    pub fn may_be(self, other: Exception, world: &World) -> bool {
        self == other || (!self.is_exact() && world.is_subtype(other.class(), self.class()))
    }

    /// Whether it is of no class below.
    pub fn is_exact(self) -> bool {
        self.0 & 1 == 1
    }
}

impl std::fmt::Debug for Exception {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{}{}", if self.is_exact() { "=" } else { "<=" }, self.class().0)
    }
}

/// What throws.
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
    /// Where it comes from.
    pub source: Source,
    /// What comes.
    pub thrown: Exception,
    /// Where it goes: a handler, or out of the method.
    pub to: Option<HandlerId>,
    /// As what it arrives: a handler of a class below takes only that part.
    pub arrives: Exception,
}

/// Where exceptions come from and where they go.
#[derive(Debug, Default)]
pub struct Exceptions {
    /// What leaves each method, sorted.
    escapes: Vec<Box<[Exception]>>,
    /// What comes out of calls of each reference, sorted.
    of_refs: Vec<Box<[Exception]>>,
    /// What reaches each handler, sorted.
    reaches: Vec<Box<[Exception]>>,
    /// Calls that run what they are handed before they return, with the methods that they run.
    runs: FxHashMap<CallId, Vec<MethodId>>,
    /// The class of an exception that is more general than all others.
    throwable: Option<TypeId>,
}

impl Exceptions {
    /// Follows all exceptions of the system.
    pub fn of(world: &World, facts: &Facts, calls: &CallGraph) -> Exceptions {
        let mut it = Exceptions {
            escapes: vec![Box::default(); world.method_count()],
            of_refs: (0..world.ref_count()).map(|at| of_library(world, RefId(at as u32))).collect(),
            reaches: vec![Box::default(); facts.handlers().len()],
            runs: runs(world, facts),
            throwable: world.find_type(b"java/lang/Throwable"),
        };
        it.settle(world, facts, calls);
        it.reach(world, facts);
        it
    }

    /// What can leave a method, sorted.
    pub fn escapes(&self, id: MethodId) -> &[Exception] {
        &self.escapes[id.index()]
    }

    /// What can reach a handler, sorted.
    pub fn reaches(&self, id: HandlerId) -> &[Exception] {
        &self.reaches[id.0 as usize]
    }

    /// What can come out of calls that name a method.
    pub fn of_ref(&self, id: RefId) -> &[Exception] {
        &self.of_refs[id.index()]
    }

    /// What can come out of a call, sorted.
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

    /// Whether a method itself makes an exception that leaves it, other than to pass on one that it caught.
    pub fn creates(&self, world: &World, facts: &Facts, id: MethodId, exception: Exception) -> bool {
        let makes = |thrown: Thrown| match thrown {
            Thrown::New(class, None) => Exception::exactly(class) == exception,
            Thrown::Returned(_, None) => self.thrown(world, facts, thrown, 0).contains(&exception),
            _ => false,
        };
        facts.throwers(id).iter().any(|it| {
            makes(it.thrown) && {
                let mut leaves = false;
                self.fall(world, facts, it.chain, exception, |to, _| leaves |= to.is_none());
                leaves
            }
        })
    }

    /// Whether a library says that its method throws an exception.
    pub fn is_declared(&self, world: &World, id: RefId, exception: Exception) -> bool {
        of_library(world, id).binary_search(&exception).is_ok()
    }

    /// The methods that a call of a library runs before it returns.
    pub fn run_by(&self, id: CallId) -> &[MethodId] {
        self.runs.get(&id).map_or(&[], |it| it)
    }

    /// Every way of every exception through a method.
    pub fn ways(&self, world: &World, facts: &Facts, id: MethodId) -> Vec<Way> {
        let mut ways = Vec::new();
        self.walk(world, facts, id, |way| ways.push(way));
        ways.sort_unstable();
        ways.dedup();
        ways
    }

    fn settle(&mut self, world: &World, facts: &Facts, calls: &CallGraph) {
        // Who must be looked at again when calls of a reference throw something new.
        let mut dirty: Vec<MethodId> = world
            .system_classes()
            .iter()
            .flat_map(|class| world.methods_of(class.id))
            .filter(|&it| facts.calls_in(it).len() > 0 || !facts.throwers(it).is_empty())
            .collect();
        let run_in: FxHashMap<MethodId, Vec<MethodId>> = {
            let mut map: FxHashMap<MethodId, Vec<MethodId>> = FxHashMap::default();
            for (&call, run) in &self.runs {
                for &it in run {
                    map.entry(it).or_default().push(facts.call(call).method);
                }
            }
            map
        };
        for _ in 0..ROUNDS_MAX {
            if dirty.is_empty() {
                break;
            }
            let escapes: Vec<Box<[Exception]>> =
                dirty.par_iter().map(|&it| self.leaving(world, facts, it)).collect();
            let mut next = Vec::new();
            for (&method, escapes) in dirty.iter().zip(escapes) {
                if self.escapes[method.index()] == escapes {
                    continue;
                }
                for &reference in calls.refs_to(method) {
                    let of_ref = &mut self.of_refs[reference.index()];
                    if escapes.iter().all(|it| of_ref.binary_search(it).is_ok()) {
                        continue;
                    }
                    let mut all = of_ref.to_vec();
                    all.extend(&*escapes);
                    all.sort_unstable();
                    all.dedup();
                    *of_ref = all.into();
                    next.extend(calls.calls_of_ref(reference).iter().map(|&it| facts.call(it).method));
                }
                next.extend(run_in.get(&method).into_iter().flatten());
                self.escapes[method.index()] = escapes;
            }
            next.sort_unstable();
            next.dedup();
            dirty = next;
        }
    }

    fn leaving(&self, world: &World, facts: &Facts, id: MethodId) -> Box<[Exception]> {
        let mut out = Vec::new();
        self.walk(world, facts, id, |way| {
            if way.to.is_none() {
                out.push(way.arrives);
            }
        });
        out.sort_unstable();
        out.dedup();
        out.into()
    }

    fn reach(&mut self, world: &World, facts: &Facts) {
        let mut methods: Vec<MethodId> = facts.handlers().iter().map(|it| it.method).collect();
        methods.dedup();
        let found: Vec<Vec<(HandlerId, Exception)>> = methods
            .par_iter()
            .map(|&it| {
                let mut pairs = Vec::new();
                self.walk(world, facts, it, |way| pairs.extend(way.to.map(|to| (to, way.arrives))));
                pairs.sort_unstable();
                pairs.dedup();
                pairs
            })
            .collect();
        let pairs = found.iter().flatten().map(|&(handler, it)| (handler.0, it));
        let lists = Lists::of(facts.handlers().len(), pairs);
        self.reaches = lists.iter().map(Into::into).collect();
    }

    /// Shows every way of every exception through a method, some more than once.
    fn walk(&self, world: &World, facts: &Facts, id: MethodId, mut see: impl FnMut(Way)) {
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
        for (at, thrower) in throwers.iter().enumerate() {
            if !matches!(thrower.thrown, Thrown::Again(_)) {
                for thrown in self.thrown(world, facts, thrower.thrown, 0) {
                    go(Source::Throw(at as u32), thrower.chain, thrown, &mut reached);
                }
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
                go(Source::Throw(at as u32), thrower.chain, exception, &mut reached);
            }
        }
    }

    /// What a `throw` throws, other than what a handler of its own method caught.
    fn thrown(&self, world: &World, facts: &Facts, thrown: Thrown, depth: usize) -> Vec<Exception> {
        /// How many methods that return exceptions may call each other.
        const DEPTH_MAX: usize = 4;
        match thrown {
            Thrown::New(class, _) => vec![Exception::exactly(class)],
            Thrown::Typed(class) => vec![Exception::below(class)],
            Thrown::Again(_) => self.throwable.map(Exception::below).into_iter().collect(),
            Thrown::Returned(call, _) => {
                let Some(callee) = facts.call(call).callee else { return Vec::new() };
                let callee = world.method_ref(callee);
                let made: &[Thrown] = callee.method.map_or(&[], |it| facts.made(it));
                if made.is_empty() || depth == DEPTH_MAX {
                    let result =
                        hypocenter_classfile::descriptor::return_type(world.signature(callee.signature).1);
                    return world.find_descriptor(result).map(Exception::below).into_iter().collect();
                }
                let mut all: Vec<Exception> =
                    made.iter().flat_map(|&it| self.thrown(world, facts, it, depth + 1)).collect();
                all.sort_unstable();
                all.dedup();
                all
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

/// What a library says that its method throws.
fn of_library(world: &World, id: RefId) -> Box<[Exception]> {
    let reference = world.method_ref(id);
    let Some(method) = reference.method.filter(|&it| !world.is_system_method(it)) else {
        return Box::default();
    };
    let declared = world.throws(method).iter().copied();
    let (name, descriptor) = world.signature(reference.signature);
    let known = known::throws(world.type_name(world.method(method).owner), name, descriptor);
    let known = known.iter().filter_map(|it| world.find_type(it));
    let mut all: Vec<Exception> = declared.chain(known).map(Exception::below).collect();
    all.sort_unstable();
    all.dedup();
    all.into()
}

/// The calls of libraries that run what they are handed before they return.
fn runs(world: &World, facts: &Facts) -> FxHashMap<CallId, Vec<MethodId>> {
    let mut runs: FxHashMap<CallId, Vec<MethodId>> = FxHashMap::default();
    for it in facts.handovers() {
        let call = facts.call(it.call);
        let Some(method) = call.callee.and_then(|it| world.method_ref(it).method) else { continue };
        if !known::runs_at_once(world.type_name(world.method(method).owner), world.method_name(method)) {
            continue;
        }
        let methods = match it.task {
            Task::Lambda(method) => vec![method],
            Task::Class(class) => world.callbacks_of(class),
        };
        runs.entry(it.call).or_default().extend(methods);
    }
    for list in runs.values_mut() {
        list.sort_unstable();
        list.dedup();
    }
    runs
}
