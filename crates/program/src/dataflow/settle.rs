//! The fixpoint of the exceptions: what leaves every method, until nothing new leaves any.
//!
//! Methods are looked at after those that they call, as far as calls have no cycles, and again whenever something that
//! they depend on has grown. Sets only grow, so the result does not depend on the order.

use rustc_hash::FxHashMap;

use crate::dataflow::exceptions::{Exception, Exceptions, Parameter, constant};
use crate::dataflow::universe::{Universe, insert, join};
use crate::facts::calls::CallGraph;
use crate::facts::{Facts, HandlerId, Kept, Thrower, Thrown};
use crate::lists::Lists;
use crate::loading::world::{FieldId, MethodId, NONE, RefId, World};

/// Number of passes over the methods. Each pass carries exceptions around cycles of calls.
const ROUNDS_MAX: usize = 10_000;

/// Sets of exceptions, each once.
#[derive(Debug, Default)]
pub(crate) struct Sets {
    lists: Lists<Exception>,
    numbers: FxHashMap<Box<[u64]>, u32>,
}

impl Sets {
    fn number(&mut self, universe: &Universe, set: &[u64]) -> u32 {
        if let Some(&known) = self.numbers.get(set) {
            return known;
        }
        let number = self.lists.len() as u32;
        self.lists.add(universe.list(set));
        self.numbers.insert(set.into(), number);
        number
    }
}

/// Result of the fixpoint: the sets, and for each item the number of its set.
pub(crate) struct Settled {
    pub sets: Lists<Exception>,
    pub escapes: Vec<u32>,
    pub refs: Vec<u32>,
    pub reaches: Vec<u32>,
    pub returned: FxHashMap<MethodId, u32>,
    pub held: FxHashMap<FieldId, u32>,
    pub given: FxHashMap<Parameter, u32>,
}

/// Sets of the exceptions that leave calls of a reference.
#[derive(Clone, Copy)]
enum OfRef {
    Nothing,
    /// Exceptions that leave the one method that it may run.
    Method(MethodId),
    /// A set of its own.
    Own(u32),
}

pub(crate) struct Settling<'p> {
    world: &'p World,
    facts: &'p Facts,
    calls: &'p CallGraph,
    exceptions: &'p Exceptions,
    universe: Universe,
    words: usize,
    escapes: Vec<u64>,
    refs: Vec<OfRef>,
    own: Vec<u64>,
    returned: FxHashMap<MethodId, Vec<u64>>,
    held: FxHashMap<FieldId, Vec<u64>>,
    given: FxHashMap<Parameter, Vec<u64>>,
    dirty: Vec<bool>,
}

/// Effects of one method, while it is analyzed.
#[derive(Default)]
struct Scratch {
    leaving: Vec<u64>,
    /// Exceptions that reach each handler of the method.
    reached: Vec<u64>,
    first_handler: u32,
    rest: Vec<u64>,
    set: Vec<u64>,
}

impl<'p> Settling<'p> {
    pub fn of(
        world: &'p World,
        facts: &'p Facts,
        calls: &'p CallGraph,
        exceptions: &'p Exceptions,
    ) -> Settled {
        let universe = collect(world, facts, calls, exceptions);
        let words = universe.words();
        let mut settling = Settling {
            world,
            facts,
            calls,
            exceptions,
            universe,
            words,
            escapes: vec![0; world.method_count() * words],
            refs: Vec::with_capacity(world.ref_count()),
            own: Vec::new(),
            returned: FxHashMap::default(),
            held: FxHashMap::default(),
            given: FxHashMap::default(),
            dirty: vec![false; world.method_count()],
        };
        settling.prepare_refs();
        settling.run();
        settling.finish()
    }

    fn prepare_refs(&mut self) {
        for at in 0..self.world.ref_count() as u32 {
            let declared = self.exceptions.declared(RefId(at));
            let of_ref = match (self.calls.targets_of_ref(RefId(at)), declared) {
                ([], []) => OfRef::Nothing,
                (&[target], []) => OfRef::Method(target),
                _ => {
                    let start = self.own.len();
                    self.own.resize(start + self.words, 0);
                    for &it in declared {
                        insert(&mut self.own[start..], self.universe.number(it));
                    }
                    OfRef::Own((start / self.words) as u32)
                }
            };
            self.refs.push(of_ref);
        }
    }

    fn run(&mut self) {
        let order = callees_first(self.world, self.facts, self.calls);
        let mut run_in: FxHashMap<MethodId, Vec<MethodId>> = FxHashMap::default();
        for (call, run) in self.exceptions.runs() {
            for &it in run {
                run_in.entry(it).or_default().push(self.facts.call(call).method);
            }
        }
        let readers = readers(self.world, self.facts);
        order.iter().for_each(|it| self.dirty[it.index()] = true);
        let mut scratch = Scratch::default();
        for _ in 0..ROUNDS_MAX {
            let mut has_changed = false;
            for &method in &order {
                if !std::mem::take(&mut self.dirty[method.index()]) {
                    continue;
                }
                has_changed = true;
                self.look(method, &mut scratch);
                self.keep(method, &mut scratch, &readers);
                let range = self.range(method);
                if join(&mut self.escapes[range], &scratch.leaving) {
                    self.has_grown(method);
                    for it in run_in.get(&method).into_iter().flatten() {
                        self.dirty[it.index()] = true;
                    }
                }
            }
            if !has_changed {
                break;
            }
        }
    }

    fn range(&self, method: MethodId) -> std::ops::Range<usize> {
        let start = method.index() * self.words;
        start..start + self.words
    }

    fn of_ref(&self, id: RefId) -> &[u64] {
        match self.refs[id.index()] {
            OfRef::Nothing => &[],
            OfRef::Method(method) => &self.escapes[self.range(method)],
            OfRef::Own(at) => {
                let start = at as usize * self.words;
                &self.own[start..start + self.words]
            }
        }
    }

    fn has_grown(&mut self, method: MethodId) {
        let calls = self.calls;
        for &reference in calls.refs_to(method) {
            let is_new = match self.refs[reference.index()] {
                OfRef::Nothing => false,
                OfRef::Method(_) => true,
                OfRef::Own(at) => {
                    let start = at as usize * self.words;
                    let range = self.range(method);
                    join(&mut self.own[start..start + self.words], &self.escapes[range])
                }
            };
            if is_new {
                self.mark_callers(reference);
            }
        }
    }

    fn mark_callers(&mut self, reference: RefId) {
        for &call in self.calls.calls_of_ref(reference) {
            self.dirty[self.facts.call(call).method.index()] = true;
        }
    }

    /// Finds what leaves a method and what reaches its handlers.
    fn look(&self, id: MethodId, scratch: &mut Scratch) {
        let facts = self.facts;
        let handlers = facts.handlers_in(id);
        scratch.first_handler = handlers.start;
        let clear = |set: &mut Vec<u64>, words: usize| {
            set.clear();
            set.resize(words, 0);
        };
        clear(&mut scratch.leaving, self.words);
        clear(&mut scratch.reached, handlers.len() * self.words);
        clear(&mut scratch.rest, self.words);
        clear(&mut scratch.set, self.words);
        for call in facts.calls_in(id) {
            let it = facts.call(call);
            if let Some(callee) = it.callee {
                self.send(self.of_ref(callee), it.chain, scratch);
            }
            for &run in self.exceptions.run_by(call) {
                self.send(&self.escapes[self.range(run)], it.chain, scratch);
            }
        }
        let mut has_again = false;
        for thrower in facts.throwers(id) {
            if matches!(thrower.thrown, Thrown::Again(_)) {
                has_again = true;
            } else {
                self.throw(id, thrower, scratch);
            }
        }
        // What is caught and thrown again may be caught again, so this goes on until nothing new is caught.
        while has_again {
            has_again = false;
            for thrower in facts.throwers(id).iter().filter(|it| matches!(it.thrown, Thrown::Again(_))) {
                has_again |= self.throw(id, thrower, scratch);
            }
        }
    }

    fn throw(&self, id: MethodId, thrower: &Thrower, scratch: &mut Scratch) -> bool {
        let mut set = std::mem::take(&mut scratch.set);
        self.object(id, thrower.thrown, scratch, &mut set);
        self.universe.narrow(&mut set, thrower.cast);
        let is_new = self.send(&set, thrower.chain, scratch);
        scratch.set = set;
        is_new
    }

    /// Sends exceptions through the handlers around an instruction, and says whether any arrive that had not.
    fn send(&self, set: &[u64], chain: u32, scratch: &mut Scratch) -> bool {
        if set.iter().all(|&it| it == 0) {
            return false;
        }
        if chain == 0 {
            return join(&mut scratch.leaving, set);
        }
        let mut is_new = false;
        scratch.rest.copy_from_slice(set);
        for catch in self.facts.chain(chain) {
            let start = (catch.handler.0 - scratch.first_handler) as usize * self.words;
            let reached = &mut scratch.reached[start..start + self.words];
            let Some(class) = catch.class else {
                return join(reached, &scratch.rest) | is_new;
            };
            let sieve = self.universe.catch(class);
            let mut has_part = false;
            for (at, word) in scratch.rest.iter_mut().enumerate() {
                let taken = *word & sieve.whole[at];
                is_new |= taken & !reached[at] != 0;
                reached[at] |= taken;
                *word &= !sieve.whole[at];
                has_part |= *word & sieve.part[at] != 0;
            }
            if has_part {
                let (word, bit) = (sieve.itself as usize / 64, 1 << (sieve.itself % 64));
                is_new |= reached[word] & bit == 0;
                reached[word] |= bit;
            }
        }
        join(&mut scratch.leaving, &scratch.rest) | is_new
    }

    /// Possible classes of an object that is thrown or kept.
    fn object(&self, id: MethodId, thrown: Thrown, scratch: &Scratch, set: &mut [u64]) {
        set.fill(0);
        if let Some(it) = constant(self.world, self.facts, self.calls, self.exceptions, id, thrown) {
            insert(set, self.universe.number(it));
            return;
        }
        let mut add = |other: Option<&Vec<u64>>| {
            if let Some(other) = other {
                join(set, other);
            }
        };
        match thrown {
            Thrown::New(..) | Thrown::Typed(_) => {}
            Thrown::Again(HandlerId(handler)) => {
                let start = (handler - scratch.first_handler) as usize * self.words;
                set.copy_from_slice(&scratch.reached[start..start + self.words]);
            }
            Thrown::Returned(call, _) => {
                let targets = self.calls.targets(self.facts.call(call));
                targets.iter().for_each(|it| add(self.returned.get(it)));
            }
            Thrown::Field(field) => add(self.held.get(&field)),
            Thrown::Supplied(method) => add(self.returned.get(&method)),
            Thrown::Parameter(number) => add(self.given.get(&(id, number))),
        }
    }

    /// Notes what a method returns, stores and passes.
    fn keep(&mut self, id: MethodId, scratch: &mut Scratch, readers: &Readers) {
        let facts = self.facts;
        let Readers { of_fields, of_methods } = readers;
        let mut set = std::mem::take(&mut scratch.set);
        for carrier in facts.carriers(id) {
            let into: &[Parameter] = match carrier.to {
                Kept::Argument(call, number) => self.exceptions.becomes(call, number),
                _ => &[],
            };
            if into.is_empty() && matches!(carrier.to, Kept::Argument(..)) {
                continue;
            }
            self.object(id, carrier.thrown, scratch, &mut set);
            self.universe.narrow(&mut set, carrier.cast);
            let empty = || vec![0; self.words];
            match carrier.to {
                Kept::Returned => {
                    if join(self.returned.entry(id).or_insert_with(empty), &set) {
                        for it in of_methods.get(&id).into_iter().flatten() {
                            self.dirty[it.index()] = true;
                        }
                        self.calls.refs_to(id).iter().for_each(|&it| self.mark_callers(it));
                    }
                }
                Kept::Field(field) => {
                    if join(self.held.entry(field).or_insert_with(empty), &set) {
                        for it in of_fields.get(&field).into_iter().flatten() {
                            self.dirty[it.index()] = true;
                        }
                    }
                }
                Kept::Argument(..) => {
                    for &parameter in into {
                        if join(self.given.entry(parameter).or_insert_with(|| vec![0; self.words]), &set) {
                            self.dirty[parameter.0.index()] = true;
                        }
                    }
                }
            }
        }
        scratch.set = set;
    }

    fn finish(self) -> Settled {
        let mut sets = Sets::default();
        let universe = &self.universe;
        let empty = sets.number(universe, &universe.empty());
        let escapes: Vec<u32> =
            self.escapes.chunks_exact(self.words).map(|it| sets.number(universe, it)).collect();
        let refs = (0..self.refs.len() as u32).map(|at| match self.refs[at as usize] {
            OfRef::Nothing => empty,
            OfRef::Method(method) => escapes[method.index()],
            OfRef::Own(_) => sets.number(universe, self.of_ref(RefId(at))),
        });
        let refs = refs.collect();
        let mut reaches = Vec::with_capacity(self.facts.handlers().len());
        let mut scratch = Scratch::default();
        for group in self.facts.handlers().chunk_by(|a, b| a.method == b.method) {
            self.look(group[0].method, &mut scratch);
            reaches.extend(scratch.reached.chunks_exact(self.words).map(|it| sets.number(universe, it)));
        }
        let returned = self.returned.iter().map(|(&at, it)| (at, sets.number(universe, it))).collect();
        let held = self.held.iter().map(|(&at, it)| (at, sets.number(universe, it))).collect();
        let given = self.given.iter().map(|(&at, it)| (at, sets.number(universe, it))).collect();
        Settled { sets: sets.lists, escapes, refs, reaches, returned, held, given }
    }
}

/// The methods of the system, in order.
pub(crate) fn system_methods(world: &World) -> impl Iterator<Item = MethodId> + '_ {
    world.system_classes().iter().flat_map(|class| world.methods_of(class.id))
}

/// All exceptions that can be met.
fn collect(world: &World, facts: &Facts, calls: &CallGraph, exceptions: &Exceptions) -> Universe {
    let mut all: Vec<Exception> =
        (0..world.ref_count() as u32).flat_map(|at| exceptions.declared(RefId(at))).copied().collect();
    let mut casts = Vec::new();
    for id in system_methods(world) {
        let thrown = facts.throwers(id).iter().map(|it| (it.thrown, it.cast));
        let kept = facts.carriers(id).iter().map(|it| (it.thrown, it.cast));
        for (thrown, cast) in thrown.chain(kept) {
            all.extend(constant(world, facts, calls, exceptions, id, thrown));
            casts.extend(cast);
        }
    }
    let caught = facts.chains().items().iter().filter_map(|it| it.class).collect();
    Universe::of(world, all, caught, casts)
}

/// Dependents to check again after a change.
#[derive(Default)]
struct Readers {
    /// The methods that throw or keep what is in a field.
    of_fields: FxHashMap<FieldId, Vec<MethodId>>,
    /// The methods in which a library throws what a method returns to it.
    of_methods: FxHashMap<MethodId, Vec<MethodId>>,
}

fn readers(world: &World, facts: &Facts) -> Readers {
    let mut readers = Readers::default();
    for id in system_methods(world) {
        let thrown = facts.throwers(id).iter().map(|it| it.thrown);
        for it in thrown.chain(facts.carriers(id).iter().map(|it| it.thrown)) {
            match it {
                Thrown::Field(field) => readers.of_fields.entry(field).or_default().push(id),
                Thrown::Supplied(method) => readers.of_methods.entry(method).or_default().push(id),
                _ => {}
            }
        }
    }
    readers
}

/// The methods in which something can be thrown or kept, those that are called before those that call them.
fn callees_first(world: &World, facts: &Facts, calls: &CallGraph) -> Vec<MethodId> {
    // Methods and, behind them, references are the nodes, so that calls of one reference share its targets.
    let methods = world.method_count() as u32;
    let mut seen = vec![false; world.method_count() + world.ref_count()];
    let next = |node: u32, at: u32| -> Option<u32> {
        if node < methods {
            let call = facts.calls_in(MethodId(node)).nth(at as usize)?;
            Some(facts.call(call).callee.map_or(NONE, |it| methods + it.0))
        } else {
            calls.targets_of_ref(RefId(node - methods)).get(at as usize).map(|it| it.0)
        }
    };
    let mut order = Vec::new();
    let mut stack: Vec<(u32, u32)> = Vec::new();
    for start in system_methods(world) {
        if !std::mem::replace(&mut seen[start.index()], true) {
            stack.push((start.0, 0));
        }
        while let Some((node, at)) = stack.last_mut() {
            let (from, number) = (*node, *at);
            *at += 1;
            match next(from, number) {
                Some(to) => {
                    if to != NONE && !std::mem::replace(&mut seen[to as usize], true) {
                        stack.push((to, 0));
                    }
                }
                None => {
                    stack.pop();
                    let id = MethodId(from);
                    let has_some = |it: MethodId| {
                        facts.calls_in(it).len() > 0
                            || !facts.throwers(it).is_empty()
                            || !facts.carriers(it).is_empty()
                    };
                    if from < methods && has_some(id) {
                        order.push(id);
                    }
                }
            }
        }
    }
    order
}
