//! From the calls of frameworks outwards: what is written where, and which methods only hand a message on.
//!
//! It begins with the calls of frameworks. A call whose message contains a parameter of its method makes that method a
//! possible wrapper, and every call of it is looked at in the next round, with what it gives for the parameter. So each
//! call that was looked at ([`Emission`]) stands for one way from a framework up the calls, and in the end it is decided for
//! each of these ways which of its calls is the statement.

use hypocenter_classfile::{ClassFile, op};
use rayon::prelude::*;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::calls::CallGraph;
use crate::facts::{CallId, CallKind, Facts};
use crate::frameworks::{Api, Form, Frameworks, LevelFrom, Named};
use crate::message::{Message, Piece, Slot, substituted};
use crate::values::{Const, Value, ValueId};
use crate::wording::{Reader, Wording, view_in};
use crate::world::{MethodId, RefId, World};

/// How many wrappers deep a message is followed.
const DEPTH_MAX: usize = 5;
/// The most messages that one method hands on to its callers; further ones end there.
const HANDED_MAX: usize = 32;
/// The most calls that are looked at in all. Behind it no further callers are asked, and wrappers are statements.
const EMISSIONS_MAX: usize = 1 << 21;
/// The longest chain of calls by which a fluent logger is configured.
const CHAIN_MAX: usize = 32;

/// Where a level comes from, seen from a method.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum LevelAt {
    Known(Named),
    Parameter(u16),
}

impl LevelAt {
    const UNKNOWN: LevelAt = LevelAt::Known(Named::UNKNOWN);

    pub fn named(self) -> Named {
        match self {
            LevelAt::Known(named) => named,
            LevelAt::Parameter(_) => Named::UNKNOWN,
        }
    }
}

/// A call that writes a message, itself or through wrappers.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) struct Emission {
    pub call: CallId,
    /// What the wrapper that is called does; none for the call of a framework.
    pub parent: Option<u32>,
    /// The call of the framework.
    pub written: CallId,
    pub api: Api,
    pub level: LevelAt,
    pub messages: Vec<Message>,
    pub has_exception: bool,
    /// Whether a part of the message stands here rather than in the wrapper.
    pub has_own_text: bool,
}

impl Emission {
    /// Whether the callers have a part in the message.
    fn is_handing_on(&self) -> bool {
        self.messages.iter().any(|it| it.slots().next().is_some())
    }

    /// Whether all of the message is a parameter.
    fn is_only_handing_on(&self) -> bool {
        self.messages.iter().all(|it| matches!(it.pieces(), [Piece::Parameter(_)]))
    }
}

/// What is to be looked at: a call, and what the method that it runs does with it.
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

    /// Whether a method is on the way of an emission already.
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
                        let emission = match task {
                            Task::Framework(form) => self.written(&mut reader, call, &self.forms[&form]),
                            Task::Wrapper(parent) => Some(self.handed(&mut reader, call, parent)),
                        };
                        // Many classes that forward to one method make the same of a call.
                        let is_new = |it: &Emission| {
                            !found[first..].iter().any(|old: &Emission| {
                                (old.written, old.level, &old.messages)
                                    == (it.written, it.level, &it.messages)
                            })
                        };
                        if let Some(emission) = emission.filter(is_new) {
                            found.push(emission);
                        }
                    }
                }
            });
        }
        found
    }

    /// What a call of a framework writes.
    fn written(&self, reader: &mut Reader<'_, '_>, call: CallId, form: &Form) -> Option<Emission> {
        let view = reader.view;
        let number = u32::from(self.facts.call(call).instruction);
        let operands = view.body.operands(number);
        if form.api == Api::Print && !operands.first().is_some_and(|&it| is_standard_stream(reader, it)) {
            return None;
        }
        let chain = Chain::of(reader, operands.first().copied());
        let (message, arguments) = match form.message {
            Some(at) => (operands.get(usize::from(at)).copied(), operands.get(usize::from(form.arguments)..)),
            None => (None, None),
        };
        let arguments = self.spread(reader, arguments.unwrap_or_default(), number);
        let mut has_exception = chain.has_exception
            || form.exception.is_some_and(|at| {
                let operand = operands.get(usize::from(at)).copied();
                let is_null = |it: ValueId| view.body.constant(it) == Some(Const::Null);
                operand.is_some_and(|it| !view.body.origins_through_casts(it).into_iter().all(is_null))
            });
        has_exception |= arguments.last().is_some_and(|&it| self.is_exception(reader, it));
        let mut messages = match message {
            Some(it) if form.is_asked => reader.asked(it),
            Some(it) => {
                let reference = view.world.method_ref(view.callee_at(number)?);
                let descriptor = view.world.signature(reference.signature).1;
                let place = usize::from(form.message.unwrap_or(1)) - 1;
                let parameter = hypocenter_classfile::descriptor::parameters(descriptor).nth(place);
                reader.printed(it, parameter.unwrap_or(b"L"), number)
            }
            None => match chain.message {
                Some((message, at)) => reader.text(message, at),
                None if matches!(form.api, Api::Print | Api::StackTrace) => vec![Message::default()],
                None => vec![Message::hole()],
            },
        };
        if let Some(style) = form.style {
            let arguments = reader.arguments(&arguments, number);
            messages = messages.iter().map(|it| it.formatted(style, &arguments)).collect();
        }
        let level = match form.level {
            LevelFrom::Known(named) => LevelAt::Known(named),
            LevelFrom::Operand(at) => {
                operands.get(usize::from(at)).map_or(LevelAt::UNKNOWN, |&it| level_of(reader, it))
            }
            LevelFrom::Receiver => chain.level.map_or(LevelAt::UNKNOWN, LevelAt::Known),
        };
        let has_own_text = messages.iter().any(Message::has_text);
        Some(Emission {
            call,
            parent: None,
            written: call,
            api: form.api,
            level,
            messages,
            has_exception,
            has_own_text,
        })
    }

    /// What a call of a wrapper makes of the wrapper's message.
    fn handed(&self, reader: &mut Reader<'_, '_>, call: CallId, parent: u32) -> Emission {
        let number = u32::from(self.facts.call(call).instruction);
        let above = &self.emissions[parent as usize];
        let operands: Vec<ValueId> = reader.view.body.operands(number).to_vec();
        let mut has_own_text = false;
        let messages = substituted(&above.messages, &mut |slot: &Slot| {
            let said = reader.said(slot, &operands, number);
            has_own_text |= said.iter().all(Message::has_text);
            said
        });
        let level = match above.level {
            LevelAt::Parameter(at) => {
                operands.get(usize::from(at)).map_or(LevelAt::UNKNOWN, |&it| level_of(reader, it))
            }
            level => level,
        };
        Emission { call, parent: Some(parent), level, messages, has_own_text, ..above.clone() }
    }

    /// The arguments behind a message, with the elements of an array that is made for them in its place.
    fn spread(&self, reader: &Reader<'_, '_>, arguments: &[ValueId], at: u32) -> Vec<ValueId> {
        match arguments {
            [array] | [array, _] if !reader.elements(*array, at).is_empty() => reader.elements(*array, at),
            _ => arguments.to_vec(),
        }
    }

    fn is_exception(&self, reader: &Reader<'_, '_>, value: ValueId) -> bool {
        reader.view.body.origins_through_casts(value).into_iter().any(|it| match reader.view.body.value(it) {
            Value::Caught(_) => true,
            _ => reader.view.class_of(it).is_some_and(|it| self.frameworks.is_throwable(it.class)),
        })
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

/// What the calls say that made a fluent logger: `atInfo().setCause(e).log("..")`.
#[derive(Default)]
struct Chain {
    level: Option<Named>,
    message: Option<(ValueId, u32)>,
    has_exception: bool,
}

impl Chain {
    fn of(reader: &Reader<'_, '_>, receiver: Option<ValueId>) -> Chain {
        let view = reader.view;
        let mut chain = Chain::default();
        let mut next = receiver;
        for _ in 0..CHAIN_MAX {
            let Some(Value::Result(number)) = next.map(|it| view.body.value(it)) else { break };
            let Some(callee) = view.callee_at(number) else { break };
            let name = view.world.signature(view.world.method_ref(callee).signature).0;
            let operands = view.body.operands(number);
            match name {
                b"setCause" | b"withCause" | b"withThrowable" => chain.has_exception = true,
                b"setMessage" => chain.message = operands.get(1).map(|&it| (it, number)),
                _ => {
                    if let Some(level) = name.strip_prefix(b"at").and_then(Named::of) {
                        chain.level = Some(level);
                        break;
                    }
                }
            }
            next = operands.first().copied();
        }
        chain
    }
}

fn level_of(reader: &Reader<'_, '_>, value: ValueId) -> LevelAt {
    let view = reader.view;
    if let Some(Const::Int(number)) = view.body.constant(value) {
        return Named::of_number(number).map_or(LevelAt::UNKNOWN, LevelAt::Known);
    }
    match view.body.value(value) {
        Value::Parameter(number) => LevelAt::Parameter(number),
        Value::Result(number) if view.instruction(number).opcode == op::GETSTATIC => {
            let field = view.field_at(number).map(|it| view.world.field_name(it));
            field.and_then(Named::of).map_or(LevelAt::UNKNOWN, LevelAt::Known)
        }
        _ => LevelAt::UNKNOWN,
    }
}

/// Whether a value is `System.out` or `System.err`.
fn is_standard_stream(reader: &Reader<'_, '_>, value: ValueId) -> bool {
    let view = reader.view;
    view.field_of(value).is_some_and(|it| {
        view.world.type_name(view.world.field(it).owner) == b"java/lang/System"
            && matches!(view.world.field_name(it), b"out" | b"err")
    })
}
