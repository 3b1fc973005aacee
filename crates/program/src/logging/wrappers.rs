//! From the calls of frameworks outwards: what is written where, and which methods only hand a message on.
//!
//! It begins with the calls of frameworks. A call whose message contains a parameter of its method makes that method a
//! possible wrapper, and every call of it is looked at in the next round, with what it gives for the parameter. So each
//! call that was looked at ([`Emission`]) stands for one way from a framework up the calls, and in the end it is decided for
//! each of these ways which of its calls is the statement.

use hypocenter_classfile::ClassFile;
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::facts::calls::CallGraph;
use crate::facts::{CallId, CallKind, Facts};
use crate::loading::world::{MethodId, RefId, World};
use crate::logging::emission::{Calling, Emission};
use crate::logging::frameworks::{Form, Frameworks};
use crate::logging::wording::{Reader, Wording, view_in};

/// Maximum depth of wrappers through which a message is followed.
const DEPTH_MAX: usize = 5;
/// The most messages that one method hands on to its callers; further ones end there.
const HANDED_MAX: usize = 32;
/// The most calls that are looked at in all. Behind it no further callers are asked, and wrappers are statements.
const EMISSIONS_MAX: usize = 1 << 21;

/// Work item: a call, and the effect of the method that it runs on it.
type Work = (CallId, Task);

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Task {
    /// It calls a framework.
    Framework(RefId),
    /// It calls a wrapper, which does this.
    Wrapper(u32),
}

/// All calls that write, and the ways between them.
pub(crate) struct Wrappers<'w> {
    world: &'w World,
    facts: &'w Facts,
    calls: &'w CallGraph,
    frameworks: Frameworks<'w>,
    forms: FxHashMap<RefId, Form>,
    pub emissions: Vec<Emission>,
    /// The emissions of methods that call themselves, by however many others: what they say the second time is not
    /// followed.
    repeated: FxHashSet<u32>,
}

impl<'w> Wrappers<'w> {
    pub fn of(world: &'w World, facts: &'w Facts, calls: &'w CallGraph) -> Wrappers<'w> {
        let frameworks = Frameworks::of(world);
        let form = |at: usize| {
            let id = RefId(at as u32);
            Some((id, frameworks.form(world.method_ref(id))?))
        };
        let forms: FxHashMap<RefId, Form> = (0..world.ref_count()).filter_map(form).collect();
        let (emissions, repeated) = Default::default();
        let mut it = Wrappers { world, facts, calls, frameworks, forms, emissions, repeated };
        it.run();
        it
    }

    fn run(&mut self) {
        let wording = Wording::of(self.world, self.facts, self.calls);
        let roots = self.forms.keys().flat_map(|&form| {
            self.calls.calls_of_ref(form).iter().map(move |&call| (call, Task::Framework(form)))
        });
        let mut work: Vec<Work> = roots.collect();
        for depth in 0..=DEPTH_MAX {
            work.sort_unstable();
            work.dedup();
            let first = self.emissions.len();
            let found = self.look(&wording, &work);
            self.emissions.extend(found);
            if depth == DEPTH_MAX {
                break;
            }
            work = self.next(first);
            if work.is_empty() || self.emissions.len() + work.len() > EMISSIONS_MAX {
                break;
            }
        }
    }

    fn method(&self, call: CallId) -> MethodId {
        self.facts.call(call).method
    }

    /// The calls of the methods in which the last emissions hand something on.
    fn next(&mut self, first: usize) -> Vec<Work> {
        let mut work = Vec::new();
        let mut repeated = Vec::new();
        let mut handed: FxHashMap<MethodId, usize> = FxHashMap::default();
        for (at, emission) in self.emissions.iter().enumerate().skip(first) {
            if !emission.is_handing_on() {
                continue;
            }
            let method = self.method(emission.call);
            let count = handed.entry(method).or_default();
            *count += 1;
            if *count > HANDED_MAX {
                continue;
            }
            let signature = self.world.method(method).signature;
            // The call of an interface that runs a lambda has other parameters than the lambda's body.
            let refs = self.calls.refs_to(method).iter();
            for &named in refs.filter(|it| self.world.method_ref(**it).signature == signature) {
                let is_exact = self.world.method_ref(named).method == Some(method);
                for &call in self.calls.calls_of_ref(named) {
                    let kind = self.facts.call(call).kind;
                    let may_run = is_exact || matches!(kind, CallKind::Virtual | CallKind::Interface);
                    if may_run && self.is_within(self.method(call), at) {
                        repeated.push(at as u32);
                    } else if may_run {
                        work.push((call, Task::Wrapper(at as u32)));
                    }
                }
            }
        }
        self.repeated.extend(repeated);
        work
    }

    /// Tests whether a method is on the way of an emission already.
    fn is_within(&self, method: MethodId, emission: usize) -> bool {
        self.way(emission as u32).any(|it| self.method(self.emissions[it as usize].call) == method)
    }

    /// An emission and what it is made by, down to the framework.
    pub fn way(&self, emission: u32) -> impl Iterator<Item = u32> + '_ {
        std::iter::successors(Some(emission), |&it| self.emissions[it as usize].parent)
    }

    fn look(&self, wording: &Wording<'_>, work: &[Work]) -> Vec<Emission> {
        let owner = |it: &Work| self.world.method(self.method(it.0)).owner;
        let classes: Vec<&[Work]> = work.chunk_by(|a, b| owner(a) == owner(b)).collect();
        let found: Vec<Vec<Emission>> =
            classes.into_par_iter().map(|work| self.look_at_class(wording, work)).collect();
        found.into_iter().flatten().collect()
    }

    fn look_at_class(&self, wording: &Wording<'_>, work: &[Work]) -> Vec<Emission> {
        let mut found = Vec::new();
        let Some(system) = self.world.system_class(self.world.method(self.method(work[0].0)).owner) else {
            return found;
        };
        let Ok(class) = ClassFile::parse(&system.bytes) else { return found };
        let bootstraps = class.bootstrap_methods().unwrap_or_default();
        for work in work.chunk_by(|a, b| self.method(a.0) == self.method(b.0)) {
            view_in(self.world, system, &class, self.method(work[0].0), |view| {
                let mut reader = Reader::new(wording, view, &bootstraps, 0);
                for work in work.chunk_by(|a, b| a.0 == b.0) {
                    let first = found.len();
                    for &(call, task) in work {
                        reader.restart();
                        let number = u32::from(self.facts.call(call).instruction);
                        let mut place =
                            Calling { frameworks: &self.frameworks, reader: &mut reader, call, number };
                        let emission = match task {
                            Task::Framework(form) => place.written(&self.forms[&form]),
                            Task::Wrapper(parent) => {
                                Some(place.handed(parent, &self.emissions[parent as usize]))
                            }
                        };
                        // Many classes that forward to one method make the same of a call.
                        let is_new =
                            |it: &Emission| !found[first..].iter().any(|old: &Emission| old.is_same(it));
                        if let Some(emission) = emission.filter(is_new) {
                            found.push(emission);
                        }
                    }
                }
            });
        }
        found
    }

    /// The emissions that are statements.
    ///
    /// Every way from a framework ends at a call whose message is all there, or in a wrapper that nobody calls. The
    /// statement is the outermost call on it that says something itself; if none does, the innermost that is more than
    /// handing on.
    pub fn statements(&self) -> Vec<u32> {
        let count = self.emissions.len();
        let mut is_asked = vec![false; count];
        for parent in self.emissions.iter().filter_map(|it| it.parent) {
            is_asked[parent as usize] = true;
        }
        let by_lambdas: FxHashSet<MethodId> =
            self.facts.lambdas().iter().filter_map(|it| it.implementation).collect();
        let (mut ends, mut uncalled) = (Vec::new(), Vec::new());
        let mut is_data = vec![false; count];
        for (at, emission) in (0..).zip(&self.emissions) {
            let method = self.method(emission.call);
            let is_handing_on = emission.is_handing_on();
            // Libraries call it too, and what they say is not known.
            let is_open = is_handing_on && (self.world.is_callback(method) || by_lambdas.contains(&method));
            if is_open || !is_handing_on || self.repeated.contains(&at) {
                ends.push(at);
                is_data[at as usize] = is_open && !self.frameworks.is_logger(self.world.method(method).owner);
            } else if !is_asked[at as usize] {
                uncalled.push(at);
            }
        }
        let mut takes_messages = self.takes_messages(&ends);
        // What libraries hand to methods that are not for logging, such as those of a class loader, is data.
        takes_messages.iter_mut().zip(is_data).for_each(|(takes, is_data)| *takes &= !is_data);
        let mut is_statement = vec![false; count];
        let mut is_told = FxHashSet::default();
        for at in ends {
            is_statement[self.statement_on(at, &takes_messages) as usize] = true;
            is_told.insert(self.emissions[at as usize].written);
        }
        for at in uncalled {
            // Code that nobody calls says nothing new if the same call of the framework has other users.
            if !is_told.contains(&self.emissions[at as usize].written) {
                is_statement[self.statement_on(at, &takes_messages) as usize] = true;
            }
        }
        (0..count as u32).filter(|&it| is_statement[it as usize]).collect()
    }

    /// For each emission whether what its callers give is a part of the message rather than data in it, such as the path
    /// in `"closed " + path`: at least half of those who use it say something themselves.
    fn takes_messages(&self, ends: &[u32]) -> Vec<bool> {
        let mut votes = vec![0i32; self.emissions.len()];
        for &end in ends {
            let mut is_said = false;
            for at in self.way(end) {
                if at != end {
                    votes[at as usize] += if is_said { 1 } else { -1 };
                }
                is_said |= self.emissions[at as usize].has_own_text;
            }
        }
        votes.into_iter().map(|it| it >= 0).collect()
    }

    fn statement_on(&self, end: u32, takes_messages: &[bool]) -> u32 {
        let way: Vec<u32> = self.way(end).collect();
        let mut speaking = None;
        for &at in way.iter().rev() {
            if self.emissions[at as usize].has_own_text {
                speaking = Some(at);
                if !takes_messages[at as usize] {
                    break;
                }
            }
        }
        let is_more = |it: &u32| !self.emissions[*it as usize].is_only_handing_on();
        let first = || way.iter().rev().copied().find(is_more);
        speaking.or_else(first).unwrap_or(way[way.len() - 1])
    }
}
