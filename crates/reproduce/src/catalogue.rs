//! The faults that can be tried, as a plan names them.

mod why;

use std::sync::Arc;

use hypocenter_plan::{Fault, Pause, Site};
use hypocenter_program::{CallId, FaultKind, MethodId, Program, TypeId, World, may_come_from, name_calls};
use hypocenter_results::Rule;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::before::Before;
use crate::mentioned::Mentioned;
use crate::policy;
use crate::space::Choice;

/// How many calls further in than a stack shows are followed.
const WITHIN_MAX: u32 = 8;

/// What is known of something that is missing.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Wanted {
    /// The log statements that write it, by their numbers in the program.
    pub statements: Vec<u32>,
    /// The frames of the stack traces that were logged with it.
    pub frames: Vec<NamedFrame>,
    /// The exceptions that its message mentions.
    pub mentioned: Vec<Mentioned>,
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

/// Faults, by their sites, and the frames of a stack behind them.
pub(crate) type Named<'f, 't> = (Vec<(u32, Fault)>, &'f [hypocenter_logs::Frame<'t>]);

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
    /// For each whether something in the code is known to lead from it to an observable.
    pub known: Vec<bool>,
    /// How many sites of the program the causal graph of the observables has.
    pub sites_inferred: usize,
}

/// What the exceptions say that were logged with an observable.
#[derive(Debug, Default)]
struct Evidence<'w> {
    /// Those of stack traces.
    exceptions: Vec<TypeId>,
    /// Those of which only the message tells, where there is no stack trace.
    mentioned: Vec<(TypeId, &'w Mentioned)>,
    /// The faults that they lead to, and how far.
    named: FxHashMap<(CallId, TypeId), u32>,
}

impl Evidence<'_> {
    /// What speaks against a fault at a call, which may be at a site.
    fn against(
        &self,
        world: &World,
        call: CallId,
        site: Option<&Site>,
        class: TypeId,
    ) -> Option<&'static Rule> {
        if !self.mentioned.is_empty() {
            if !self.mentioned.iter().any(|it| are_kin(world, it.0, class)) {
                return Some(&policy::OTHER_EXCEPTION);
            }
            let callee = site.and_then(|it| it.callee.as_deref()).and_then(owner_and_name);
            let is_source = self.mentioned.iter().any(|&(it, mentioned)| {
                let comes = |(owner, name)| may_come_from(&mentioned.class, &mentioned.says, owner, name);
                are_kin(world, it, class) && callee.is_none_or(comes)
            });
            return (!is_source).then_some(&policy::OTHER_SOURCE);
        }
        if self.exceptions.is_empty() || self.named.contains_key(&(call, class)) {
            None
        } else if self.exceptions.iter().any(|&it| are_kin(world, it, class)) {
            Some(&policy::OTHER_STACK)
        } else {
            Some(&policy::OTHER_EXCEPTION)
        }
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

    /// The call of a site.
    pub(crate) fn call(&self, number: u32) -> CallId {
        self.calls[number as usize]
    }

    /// The frame of the stack traces that were logged with an observable that names a fault best.
    pub(crate) fn frame_of(
        &self,
        program: &Program,
        wanted: &Wanted,
        call: CallId,
        class: TypeId,
    ) -> Option<NamedFrame> {
        let distance = |frame: &NamedFrame| {
            let named = self.named(program, frame).into_iter();
            named.filter(|it| (it.0, it.1) == (call, class)).map(|it| it.2).min()
        };
        let named = wanted.frames.iter().filter_map(|it| Some((distance(it)?, it)));
        named.min_by_key(|it| it.0).map(|it| it.1.clone())
    }

    fn number(&self, call: CallId) -> Option<u32> {
        self.calls.binary_search(&call).ok().map(|it| it as u32)
    }

    /// What can lead to some observables, and to some threads being silent, which have the numbers behind. Beyond what is known to
    /// lead there are exceptions that may all the same.
    pub(crate) fn choices(
        &self,
        program: &Program,
        observables: &[(&Wanted, Arc<Before>)],
        silent: usize,
        kinds: Kinds,
        beyond: bool,
    ) -> Choices {
        let mut found = Choices::default();
        if kinds.exceptions {
            let silent = beyond.then_some(silent);
            self.exceptions(program, observables, silent, &mut found);
        }
        if let Some(delay_ms) = kinds.delay_ms {
            let fault = Fault::Delay { delay_ms, pause: Pause::Sleep };
            let delays = program.faults.sites().iter().filter(|it| it.kind == FaultKind::Delay);
            for (call, site) in delays.filter_map(|it| Some((it.call, self.number(it.call)?))) {
                let method = program.facts.call(call).method;
                let distance = |(number, (it, before)): (usize, &(&Wanted, Arc<Before>))| {
                    let late = before
                        .method(method)
                        .map_or(policy::DELAY.weight, |it| it + policy::LATE_METHOD.weight);
                    (number as u32, late.min(policy::DELAY.weight) + weight(against_delay(it, before)))
                };
                let silent = (0..silent).map(|it| ((observables.len() + it) as u32, policy::SILENCE.weight));
                let distances = observables.iter().enumerate().map(distance).chain(silent).collect();
                found.choices.push(Choice { site, distances });
                found.faults.push(fault.clone());
                found.known.push(false);
            }
        }
        found
    }

    /// Every call to a library with everything that it declares, whatever it leads to.
    pub fn every(&self, program: &Program) -> Choices {
        let mut found = Choices::default();
        let external =
            program.faults.sites().iter().filter(|it| matches!(it.kind, FaultKind::External { .. }));
        for it in external {
            let Some(site) = self.number(it.call) else { continue };
            found.sites_inferred += 1;
            for &class in it.kind.exceptions() {
                found.choices.push(Choice { site, distances: Vec::new() });
                found.faults.push(Fault::Exception { class: program.world.show_type(class), message: None });
                found.known.push(true);
            }
        }
        found
    }

    /// The faults that the stack of an exception names, and the frames behind their site. The first frame of the system is that of
    /// a call to a library, or of the method that made the exception: then its site is the call of that method. Where nothing
    /// of a library is further in, the first frame may be the site of either kind as well, since a stack need not be whole.
    pub(crate) fn of_stack<'f, 't>(
        &self,
        program: &Program,
        exception: &str,
        frames: &'f [hypocenter_logs::Frame<'t>],
    ) -> Vec<Named<'f, 't>> {
        let world = &program.world;
        let find = |class: &str| world.find_type(class.replace('.', "/").as_bytes());
        let is_system = |at: usize| {
            let frame = frames.get(at).and_then(|it| find(it.class));
            frame.is_some_and(|it| world.is_system(it))
        };
        let (Some(logged), Some(first)) = (find(exception), (0..frames.len()).find(|&it| is_system(it)))
        else {
            return Vec::new();
        };
        let mut found = Vec::new();
        let mut add = |at: usize, callee: Option<&str>| {
            let faults = self.faults_at(program, logged, &frames[at], callee);
            if !faults.is_empty() {
                found.push((faults, &frames[at + 1..]));
            }
        };
        add(first, first.checked_sub(1).map(|it| frames[it].method));
        if first == 0 && is_system(1) {
            add(1, Some(frames[0].method));
        }
        found
    }

    /// The faults in the line of a frame that can have thrown an exception; at the calls of a method of this name, if there are any.
    fn faults_at(
        &self,
        program: &Program,
        logged: TypeId,
        frame: &hypocenter_logs::Frame<'_>,
        callee: Option<&str>,
    ) -> Vec<(u32, Fault)> {
        let (world, facts) = (&program.world, &program.facts);
        let Some(class) = world.find_type(frame.class.replace('.', "/").as_bytes()) else {
            return Vec::new();
        };
        let methods = world.methods_of(class).filter(|&it| world.method_name(it) == frame.method.as_bytes());
        let mut found: Vec<(bool, u32, TypeId)> = Vec::new();
        for call in methods.flat_map(|it| facts.calls_in(it)) {
            let of_line = frame.line.is_none_or(|it| it == u32::from(facts.call(call).line));
            let Some(site) = self.number(call).filter(|_| of_line) else { continue };
            let called = self.sites[site as usize].callee.as_deref();
            let name = called.and_then(|it| it.split('(').next()?.rsplit('.').next());
            let is_named = callee.is_some() && name == callee;
            let declared = program.faults.at(call).iter().flat_map(|it| it.kind.exceptions());
            for &declared in declared.filter(|&&it| are_kin(world, it, logged)) {
                let thrown = if world.is_subtype(logged, declared) { logged } else { declared };
                found.push((is_named, site, thrown));
            }
        }
        let any_named = found.iter().any(|it| it.0);
        found.retain(|it| it.0 == any_named);
        found.sort_unstable();
        found.dedup();
        let fault = |class: TypeId| Fault::Exception { class: world.show_type(class), message: None };
        found.into_iter().map(|(_, site, class)| (site, fault(class))).collect()
    }

    /// Exceptions; all of them where it is said how many threads are silent.
    fn exceptions(
        &self,
        program: &Program,
        observables: &[(&Wanted, Arc<Before>)],
        silent: Option<usize>,
        found: &mut Choices,
    ) {
        let (world, faults) = (&program.world, &program.faults);
        let evidence: Vec<Evidence> = observables.iter().map(|it| self.evidence(program, it.0)).collect();
        let io_exception = world.find_type(b"java/io/IOException");
        let mut nearest: FxHashMap<(CallId, TypeId), FxHashMap<u32, u32>> = FxHashMap::default();
        let no_io = |class: TypeId| {
            let is_io = io_exception.is_some_and(|it| world.is_subtype(class, it));
            if is_io { 0 } else { policy::NO_IO.weight }
        };
        let mut add = |observable: u32, call: CallId, class: TypeId, distance: u32| {
            let distance = distance + no_io(class);
            let nearest = nearest.entry((call, class)).or_default().entry(observable).or_insert(distance);
            *nearest = distance.min(*nearest);
        };
        for (observable, ((_, before), evidence)) in (0..).zip(observables.iter().zip(&evidence)) {
            for &(call, class, distance) in &before.faults {
                let is_declared = faults.at(call).iter().any(|it| it.kind.exceptions().contains(&class));
                let extra = if is_declared { 0 } else { policy::SUBTYPE.weight };
                let site = self.number(call).map(|it| &self.sites[it as usize]);
                let against = weight(evidence.against(world, call, site, class));
                add(observable, call, class, distance + extra + against);
            }
        }
        for (observable, evidence) in evidence.iter().enumerate() {
            for (&(call, class), &distance) in &evidence.named {
                add(observable as u32, call, class, distance);
            }
        }
        let known: FxHashSet<(CallId, TypeId)> = nearest.keys().copied().collect();
        found.sites_inferred = known.iter().map(|it| it.0).collect::<FxHashSet<_>>().len();
        if let Some(silent) = silent {
            // Any call can fail to reach a disk or a peer; what else it may throw has a reason in the program.
            let is_io = |class: &TypeId| no_io(*class) == 0;
            let sites = faults.sites().iter();
            let all = sites.flat_map(|it| it.kind.exceptions().iter().map(|&class| (it.call, class)));
            for (call, class) in all.filter(|it| is_io(&it.1)) {
                let distances = nearest.entry((call, class)).or_default();
                if !known.contains(&(call, class)) {
                    let site = self.number(call).map(|it| &self.sites[it as usize]);
                    let far =
                        |it: &Evidence| policy::NO_PATH.weight + weight(it.against(world, call, site, class));
                    distances.extend((0..).zip(evidence.iter().map(far)));
                }
                let silent = (0..silent).map(|it| (observables.len() + it) as u32);
                distances.extend(silent.map(|it| (it, policy::DEATH.weight)));
            }
        }
        let mut sorted: Vec<_> = nearest.into_iter().collect();
        sorted.sort_unstable_by_key(|it| it.0);
        for ((call, class), distances) in sorted {
            let Some(site) = self.number(call) else { continue };
            let mut distances: Vec<(u32, u32)> = distances.into_iter().collect();
            distances.sort_unstable();
            found.choices.push(Choice { site, distances });
            found.faults.push(Fault::Exception { class: world.show_type(class), message: None });
            found.known.push(known.contains(&(call, class)));
        }
    }

    fn evidence<'w>(&self, program: &Program, wanted: &'w Wanted) -> Evidence<'w> {
        let mut found = Evidence::default();
        let find = |class: &str| program.world.find_type(class.replace('.', "/").as_bytes());
        if wanted.frames.is_empty() {
            found.mentioned = wanted.mentioned.iter().filter_map(|it| Some((find(&it.class)?, it))).collect();
        }
        for frame in &wanted.frames {
            let exception = find(&frame.exception);
            found.exceptions.extend(exception.filter(|it| !found.exceptions.contains(it)));
            for (call, class, distance) in self.named(program, frame) {
                let nearest = found.named.entry((call, class)).or_insert(distance);
                *nearest = distance.min(*nearest);
            }
        }
        found
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
        let throws = |id: &CallId| {
            let thrown = program.exceptions.of_call(facts, *id);
            thrown.iter().any(|it| are_kin(world, it.class(), logged))
        };
        let calls: Vec<CallId> = named.flat_map(|it| facts.calls_in(it)).filter(throws).collect();
        let of_line = |id: &CallId| frame.line.is_none_or(|it| it == u32::from(facts.call(*id).line));
        // The lines may be of another build.
        let extra = u32::from(!calls.iter().any(of_line));
        let mut found = Vec::new();
        let mut within: Vec<MethodId> = Vec::new();
        for &id in &calls {
            let is_here = extra > 0 || of_line(&id);
            let distance = 1 + frame.depth + if of_line(&id) { 0 } else { policy::OTHER_LINE.weight };
            self.thrown(program, id, logged, distance, &mut found);
            // Further in than the innermost frame is only what the stack does not show.
            if is_here && frame.line.is_some() && frame.depth == 0 {
                within.extend(program.calls.targets(facts.call(id)));
            }
        }
        let mut seen: FxHashSet<MethodId> = FxHashSet::default();
        for depth in 0..WITHIN_MAX {
            within.retain(|&it| {
                let lets_out =
                    || program.exceptions.escapes(it).iter().any(|it| are_kin(world, it.class(), logged));
                seen.insert(it) && lets_out()
            });
            let mut next = Vec::new();
            for id in within.iter().flat_map(|&it| facts.calls_in(it)) {
                self.thrown(program, id, logged, 2 + depth + extra, &mut found);
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

/// What speaks against a delay: it explains no exception that was logged, or caught and told in other words.
fn against_delay(it: &Wanted, before: &Before) -> Option<&'static Rule> {
    (before.is_caught || !it.frames.is_empty()).then_some(&policy::OTHER_EXCEPTION)
}

fn weight(rule: Option<&'static Rule>) -> u32 {
    rule.map_or(0, |it| it.weight)
}

/// The class and the method of a callee, `java.nio.file.Files.move(...)...`.
fn owner_and_name(callee: &str) -> Option<(&str, &str)> {
    callee.split('(').next()?.rsplit_once('.')
}

/// Whether one of two classes is below the other: what is declared as the one can be the other.
fn are_kin(world: &World, one: TypeId, other: TypeId) -> bool {
    world.is_subtype(one, other) || world.is_subtype(other, one)
}
