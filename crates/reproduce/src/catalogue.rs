//! The faults that can be tried, as a plan names them.

use hypocenter_plan::{Fault, Pause, Site};
use hypocenter_program::{
    CallId, CausalGraph, FaultKind, GraphOptions, MethodId, Node, Program, Source, TypeId, World, name_calls,
};
use rustc_hash::{FxHashMap, FxHashSet};

use crate::space::Choice;
use crate::statements::copies;

/// How far a delay is taken to be from anything: time is seen by everybody, and an exception that leads to an observable
/// explains more than a delay that may.
const DELAY_DISTANCE: u32 = 8;

/// What it costs to throw another class than a call declares: a handler on the way names it, and the declared one does as
/// well where that makes no difference.
const SUBTYPE_DISTANCE: u32 = 1;
/// What it costs that a stack trace has the method of a site and another line of it: lines of another build are off, and
/// what was logged may have passed through.
const OTHER_LINE_DISTANCE: u32 = 2;

/// What it costs that the log has an exception with an observable and the fault is none of its kind: it may have been turned
/// into another on the way.
const OTHER_EXCEPTION_DISTANCE: u32 = 3;

/// How many calls further in than a stack shows are followed.
const WITHIN_MAX: u32 = 8;

/// What is known of something that is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The log statements that write it, by their numbers in the program.
    pub statements: Vec<u32>,
    /// The frames of the stack traces that were logged with it.
    pub frames: Vec<NamedFrame>,
}

/// A frame of the system in a stack trace.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct NamedFrame {
    /// The class, with dots.
    pub class: String,
    /// The method.
    pub method: String,
    /// The line, where it is known.
    pub line: Option<u32>,
    /// How many frames of the system are within it.
    pub depth: u32,
    /// The class of the exception.
    pub exception: String,
}

/// Every call at which something can go wrong, and what.
#[derive(Debug)]
pub struct Catalogue {
    sites: Vec<Site>,
    /// The calls of the sites, ascending.
    calls: Vec<CallId>,
    numbers: FxHashMap<Point, u32>,
}

/// What a site is known by, apart from its line.
#[derive(Debug, PartialEq, Eq, Hash)]
struct Point {
    class: String,
    method: String,
    descriptor: String,
    callee: Option<String>,
    ordinal: u32,
}

impl Point {
    fn of(site: &Site) -> Point {
        Point {
            class: site.class.clone(),
            method: site.method.clone(),
            descriptor: site.descriptor.clone(),
            callee: site.callee.clone(),
            ordinal: site.ordinal,
        }
    }
}

/// Which faults are tried.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Kinds {
    /// Exceptions.
    pub exceptions: bool,
    /// Delays, of this many milliseconds.
    pub delay_ms: Option<u64>,
}

/// The choices for some observables.
#[derive(Debug, Default)]
pub struct Choices {
    /// As the search sees them.
    pub choices: Vec<Choice>,
    /// What each does.
    pub faults: Vec<Fault>,
    /// How many sites of the program the causal graph of the observables has.
    pub sites_inferred: usize,
}

impl Wanted {
    /// The exceptions that were logged with it.
    fn exceptions(&self, program: &Program) -> Vec<TypeId> {
        let world = &program.world;
        let mut all: Vec<TypeId> = self
            .frames
            .iter()
            .filter_map(|it| world.find_type(it.exception.replace('.', "/").as_bytes()))
            .collect();
        all.sort_unstable();
        all.dedup();
        all
    }
}

impl Catalogue {
    /// All faults of a program.
    pub fn of(program: &Program) -> Catalogue {
        let mut calls: Vec<CallId> = program.faults.sites().iter().map(|it| it.call).collect();
        calls.dedup();
        let named = name_calls(&program.world, &program.facts, &calls);
        // A call in a method that cannot be read has no name, and no hook can be put there.
        let (calls, sites): (Vec<CallId>, Vec<Site>) =
            calls.into_iter().zip(named).filter_map(|(call, site)| Some((call, site?))).unzip();
        let numbers = sites.iter().enumerate().map(|(at, it)| (Point::of(it), at as u32)).collect();
        Catalogue { sites, calls, numbers }
    }

    /// The sites, by their numbers.
    pub fn sites(&self) -> &[Site] {
        &self.sites
    }

    /// The number of a site.
    pub fn find(&self, site: &Site) -> Option<u32> {
        self.numbers.get(&Point::of(site)).copied()
    }

    fn number(&self, call: CallId) -> Option<u32> {
        self.calls.binary_search(&call).ok().map(|it| it as u32)
    }

    /// What can lead to some observables.
    pub fn choices(&self, program: &Program, observables: &[Wanted], kinds: Kinds) -> Choices {
        let mut found = Choices::default();
        if kinds.exceptions {
            self.exceptions(program, observables, &mut found);
        }
        if let Some(delay_ms) = kinds.delay_ms {
            let fault = Fault::Delay { delay_ms, pause: Pause::Sleep };
            let distances: Vec<(u32, u32)> =
                (0..observables.len() as u32).map(|observable| (observable, DELAY_DISTANCE)).collect();
            let delays = program.faults.sites().iter().filter(|it| it.kind == FaultKind::Delay);
            for site in delays.filter_map(|it| self.number(it.call)) {
                found.choices.push(Choice { site, distances: distances.clone() });
                found.faults.push(fault.clone());
            }
        }
        found
    }

    fn exceptions(&self, program: &Program, observables: &[Wanted], found: &mut Choices) {
        let (world, faults) = (&program.world, &program.faults);
        let mut starts: Vec<(MethodId, u16)> = Vec::new();
        let mut owners: Vec<u32> = Vec::new();
        for (observable, wanted) in observables.iter().enumerate() {
            for it in wanted.statements.iter().flat_map(|&number| copies(program, number)) {
                // What a wrapper writes depends on its caller, and on how the wrapper comes to write it.
                let written = it.via.map(|_| (it.written.method, it.written.instruction));
                let places = std::iter::once((it.method, it.instruction)).chain(written);
                for place in places {
                    starts.push(place);
                    owners.push(observable as u32);
                }
            }
        }
        let takes = |call, exception| faults.thrown(world, call, exception).is_some();
        let graph = CausalGraph::of(program.causes(), &starts, GraphOptions::default(), takes);
        let nodes: Vec<(u32, CallId, TypeId)> = graph
            .nodes()
            .iter()
            .enumerate()
            .filter_map(|(number, node)| match node {
                Node::New(call, it) | Node::External(call, it) => {
                    Some((number as u32, *call, faults.thrown(world, *call, *it)?))
                }
                _ => None,
            })
            .collect();
        let logged: Vec<Vec<TypeId>> = observables.iter().map(|it| it.exceptions(program)).collect();
        let mut nearest: FxHashMap<(CallId, TypeId), FxHashMap<u32, u32>> = FxHashMap::default();
        for (start, &observable) in owners.iter().enumerate() {
            let distances = graph.distances(start);
            for &(node, call, class) in &nodes {
                let distance = distances[node as usize];
                if distance == u32::MAX {
                    continue;
                }
                let is_declared = faults.at(call).iter().any(|it| it.kind.exceptions().contains(&class));
                let logged = &logged[observable as usize];
                let is_logged = logged.is_empty() || logged.iter().any(|&it| are_kin(world, it, class));
                let distance = distance
                    + if is_declared { 0 } else { SUBTYPE_DISTANCE }
                    + if is_logged { 0 } else { OTHER_EXCEPTION_DISTANCE };
                let nearest = nearest.entry((call, class)).or_default().entry(observable).or_insert(distance);
                *nearest = distance.min(*nearest);
            }
        }
        for (observable, wanted) in observables.iter().enumerate() {
            for (call, class, distance) in wanted.frames.iter().flat_map(|it| self.named(program, it)) {
                let nearest = nearest.entry((call, class)).or_default();
                let nearest = nearest.entry(observable as u32).or_insert(distance);
                *nearest = distance.min(*nearest);
            }
        }
        let mut sorted: Vec<_> = nearest.into_iter().collect();
        sorted.sort_unstable_by_key(|it| it.0);
        let mut sites: Vec<CallId> = sorted.iter().map(|it| it.0.0).collect();
        sites.dedup();
        found.sites_inferred = sites.len();
        for ((call, class), distances) in sorted {
            let Some(site) = self.number(call) else { continue };
            let mut distances: Vec<(u32, u32)> = distances.into_iter().collect();
            distances.sort_unstable();
            found.choices.push(Choice { site, distances });
            found.faults.push(Fault::Exception { class: world.show_type(class), message: None });
        }
    }

    /// The faults in the method of a frame that can have thrown its exception, and those further in from which it can have
    /// come to the frame: a stack need not be whole. Call, class and distance.
    fn named(&self, program: &Program, frame: &NamedFrame) -> Vec<(CallId, TypeId, u32)> {
        let (world, facts) = (&program.world, &program.facts);
        let class = world.find_type(frame.class.replace('.', "/").as_bytes());
        let logged = world.find_type(frame.exception.replace('.', "/").as_bytes());
        let (Some(class), Some(logged)) = (class, logged) else { return Vec::new() };
        let methods = world.methods_of(class);
        let named = methods.filter(|&it| world.method_name(it) == frame.method.as_bytes());
        let mut found = Vec::new();
        let mut within: Vec<MethodId> = Vec::new();
        for id in named.flat_map(|it| facts.calls_in(it)) {
            let call = facts.call(id);
            let of_line = frame.line.is_none_or(|it| it == u32::from(call.line));
            let distance = 1 + frame.depth + if of_line { 0 } else { OTHER_LINE_DISTANCE };
            self.thrown(program, id, logged, distance, &mut found);
            // Further in than the innermost frame is only what the stack does not show.
            if of_line && frame.line.is_some() && frame.depth == 0 {
                within.extend(program.calls.targets(call));
            }
        }
        let mut seen: FxHashSet<MethodId> = FxHashSet::default();
        for depth in 0..WITHIN_MAX {
            let mut next = Vec::new();
            within.retain(|&it| seen.insert(it));
            for way in within.iter().flat_map(|&it| program.exceptions.ways(world, facts, &program.calls, it))
            {
                let Source::Call(id) = way.source else { continue };
                if way.to.is_some() || !are_kin(world, way.thrown.class(), logged) {
                    continue;
                }
                self.thrown(program, id, logged, 2 + depth, &mut found);
                next.extend(program.calls.targets(facts.call(id)));
            }
            within = next;
        }
        found
    }

    fn thrown(
        &self,
        program: &Program,
        call: CallId,
        logged: TypeId,
        distance: u32,
        found: &mut Vec<(CallId, TypeId, u32)>,
    ) {
        let declared = program.faults.at(call).iter().flat_map(|it| it.kind.exceptions());
        let fits = |it: &&TypeId| are_kin(&program.world, **it, logged);
        found.extend(declared.filter(fits).map(|&class| (call, class, distance)));
    }
}

/// Whether one of two classes is below the other: what is declared as the one can be the other.
fn are_kin(world: &World, one: TypeId, other: TypeId) -> bool {
    world.is_subtype(one, other) || world.is_subtype(other, one)
}
