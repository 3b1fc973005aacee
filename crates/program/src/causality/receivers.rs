//! Of which class the object of a call can be, where more is known of it than the call names.
//!
//! An object that was just made has one class; what a field holds is what somebody puts there; what a method returns is
//! what it returns. An iterator that a library made of its own collection runs no code of the system. Each is followed
//! one step beyond the method that it is in, and a parameter to the call that is being looked at.

use std::sync::Arc;

use hypocenter_classfile::{descriptor, op};
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::causality::causal::{Causes, Context};
use crate::causality::graphs::Graphs;
use crate::facts::known;
use crate::facts::{CallId, CallKind};
use crate::loading::world::{FieldId, MethodId, MethodRef, RefId, TypeId, access};
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;

/// The most writes of a field that are looked at for the class of what it holds.
const WRITES_MAX: usize = 32;

/// Of which class an object can be.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
pub(crate) enum Class {
    /// Exactly this one.
    Exact(TypeId),
    /// This one or one below it.
    Below(TypeId),
    /// One of a library's own.
    Library,
}

/// The classes that an object can have; none if nothing is known.
pub(crate) type Classes = Option<Vec<Class>>;

/// For each method the calls that may run it.
pub(crate) type Callers = FxHashMap<MethodId, Vec<CallId>>;

/// How far a value is followed.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub(crate) enum Reach {
    /// Into fields, called methods and the call of the context.
    Beyond,
    /// Not out of its method.
    Within,
}

impl<'p> Graphs<'p> {
    /// The methods of the system that a call may run, looked at in a context.
    pub(crate) fn targets(&self, view: &MethodView<'_>, call: CallId, context: Context) -> Vec<MethodId> {
        self.targets_within(view, call, context, Reach::Beyond)
    }

    fn targets_within(
        &self,
        view: &MethodView<'_>,
        call: CallId,
        context: Context,
        reach: Reach,
    ) -> Vec<MethodId> {
        let it = self.causes.facts.call(call);
        let all = self.causes.calls.targets(it);
        let is_chosen = !all.is_empty() && self.is_chosen(call);
        let receiver = view.body.operands(it.instruction.into()).first();
        let (true, Some(callee), Some(&receiver)) = (is_chosen, it.callee, receiver) else {
            return all.to_vec();
        };
        let reference = self.causes.world.method_ref(callee);
        let classes = self.classes(view, receiver, context, reach);
        let classes = classes.unwrap_or_else(|| vec![Class::Below(reference.owner)]);
        self.run_by(reference, &self.cast(classes, reference.owner), all)
    }

    /// Those of the targets of a call that objects of these classes run.
    pub(crate) fn run_by(&self, reference: &MethodRef, classes: &[Class], all: &[MethodId]) -> Vec<MethodId> {
        let runs = |target: &&MethodId| classes.iter().any(|&it| self.runs(reference, it, **target));
        all.iter().filter(runs).copied().collect()
    }

    /// The calls that may run a method.
    pub(crate) fn callers(&self, method: MethodId) -> Vec<CallId> {
        let refs = self.causes.calls.refs_to(method).iter();
        refs.flat_map(|&it| self.calls_of(it).get(&method).cloned().unwrap_or_default()).collect()
    }

    /// For each method that calls of a reference may run, those calls.
    fn calls_of(&self, reference: RefId) -> Arc<Callers> {
        if let Some(found) = self.calls_of.lock().expect("nobody panics with it").get(&reference) {
            return found.clone();
        }
        let facts = self.causes.facts;
        let calls = self.causes.calls.calls_of_ref(reference);
        let groups: Vec<&[CallId]> =
            calls.chunk_by(|&a, &b| facts.call(a).method == facts.call(b).method).collect();
        let runs: Vec<Vec<(CallId, Vec<MethodId>)>> = groups
            .into_par_iter()
            .map(|group| {
                let is_plain = |&it: &CallId| !self.is_chosen(it);
                let all = |&it: &CallId| (it, self.causes.calls.targets(facts.call(it)).to_vec());
                if group.iter().all(is_plain) {
                    return group.iter().map(all).collect();
                }
                let Some(cached) = self.bodies.get(facts.call(group[0]).method) else {
                    return group.iter().map(all).collect();
                };
                let view = cached.view();
                group.iter().map(|&it| (it, self.targets(&view, it, Context::Any))).collect()
            })
            .collect();
        let mut found = Callers::default();
        for (call, targets) in runs.into_iter().flatten() {
            targets.into_iter().for_each(|it| found.entry(it).or_default().push(call));
        }
        let found = Arc::new(found);
        self.calls_of.lock().expect("nobody panics with it").insert(reference, found.clone());
        found
    }

    /// Whether it depends on the object what a call runs: there are several methods, or those of libraries as well.
    fn is_chosen(&self, call: CallId) -> bool {
        let it = self.causes.facts.call(call);
        let world = self.causes.world;
        let named = it.callee.and_then(|it| world.method_ref(it).method);
        matches!(it.kind, CallKind::Virtual | CallKind::Interface)
            && (self.causes.calls.targets(it).len() > 1 || named.is_none_or(|it| !world.is_system_method(it)))
    }

    /// Whether a call on an object of a class may run a method.
    fn runs(&self, reference: &MethodRef, class: Class, target: MethodId) -> bool {
        let world = self.causes.world;
        let method = world.method(target);
        if method.access & access::PRIVATE != 0 && method.signature == reference.signature {
            return true;
        }
        let is_lambda = method.signature != reference.signature;
        match class {
            Class::Library => false,
            // No class that has a name of its own is a lambda.
            Class::Exact(it) => !is_lambda && world.dispatch(it, reference.signature) == Some(target),
            Class::Below(_) if is_lambda => !self.is_handed_only(target),
            // Everything has the methods of `Object`; where nothing is known of an object, neither is what they do.
            Class::Below(it) if Some(it) == self.object => false,
            Class::Below(it) if world.is_subtype(reference.owner, it) => true,
            Class::Below(it) => self.is_run_below(it, target),
        }
    }

    /// Whether objects of a class or one below it run a method when it is called by its name.
    fn is_run_below(&self, class: TypeId, method: MethodId) -> bool {
        let world = self.causes.world;
        let signature = world.method(method).signature;
        let dispatches = |it: TypeId| world.dispatch(it, signature) == Some(method);
        dispatches(class) || world.descendants(class).iter().any(|&it| dispatches(it))
    }

    /// Whether a call that may run a method does so by a lambda, which has another name.
    pub(crate) fn is_other(&self, call: CallId, method: MethodId) -> bool {
        let world = self.causes.world;
        let callee = self.causes.facts.call(call).callee.map(|it| world.method_ref(it));
        callee.is_none_or(|it| it.signature != world.method(method).signature)
    }

    /// Whether a value may be an object that runs a method when it is called by its name.
    pub(crate) fn may_run(&self, view: &MethodView<'_>, value: ValueId, method: MethodId) -> bool {
        let world = self.causes.world;
        let Some(classes) = self.classes(view, value, Context::Any, Reach::Beyond) else { return true };
        classes.iter().any(|&it| match it {
            Class::Library => false,
            Class::Exact(it) => world.dispatch(it, world.method(method).signature) == Some(method),
            Class::Below(it) => {
                world.is_subtype(world.method(method).owner, it) || self.is_run_below(it, method)
            }
        })
    }

    /// Whether a lambda goes nowhere but into calls of libraries, so that no other call runs it.
    fn is_handed_only(&self, method: MethodId) -> bool {
        if let Some(&found) = self.handed_only.lock().expect("nobody panics with it").get(&method) {
            return found;
        }
        let Causes { world, facts, calls, tasks, .. } = self.causes;
        let is_library = |view: &MethodView<'_>, at: u32| {
            let callee = facts.call_at(view.id, at).map(|it| facts.call(it)).filter(|it| it.callee.is_some());
            callee.is_some_and(|it| {
                let named = it.callee.and_then(|it| world.method_ref(it).method);
                calls.targets(it).is_empty() && named.is_some_and(|it| !world.is_system_method(it))
            })
        };
        let stays = |view: &MethodView<'_>, at: u16| {
            view.body.result(at.into()).is_some_and(|value| {
                view.body.phi_uses(value).is_empty()
                    && view.body.uses(value).iter().all(|&it| is_library(view, it))
            })
        };
        let mut lambdas = tasks.lambdas(method).iter().map(|&it| &facts.lambdas()[it as usize]).peekable();
        let found = lambdas.peek().is_some()
            && lambdas.all(|it| {
                self.bodies.get(it.method).is_some_and(|cached| stays(&cached.view(), it.instruction))
            });
        self.handed_only.lock().expect("nobody panics with it").insert(method, found);
        found
    }

    pub(crate) fn classes(
        &self,
        view: &MethodView<'_>,
        value: ValueId,
        context: Context,
        reach: Reach,
    ) -> Classes {
        self.all(view, view.body.origins(value), context, reach)
    }

    fn all(&self, view: &MethodView<'_>, origins: Vec<ValueId>, context: Context, reach: Reach) -> Classes {
        let mut found = Vec::new();
        for origin in origins {
            found.extend(self.origin_classes(view, origin, context, reach)?);
        }
        found.sort_unstable();
        found.dedup();
        Some(found)
    }

    fn origin_classes(
        &self,
        view: &MethodView<'_>,
        value: ValueId,
        context: Context,
        reach: Reach,
    ) -> Classes {
        let declared = || view.class_of(value).map(|it| vec![Class::Below(it.class)]);
        let number = match view.body.value(value) {
            Value::Parameter(number) => {
                let passed = match context {
                    Context::Call(call) if reach == Reach::Beyond => self.passed_classes(call, number),
                    Context::Runs(at, method) if at == number => {
                        Some(vec![Class::Below(self.causes.world.method(method).owner)])
                    }
                    _ => None,
                };
                let own = view.class_of(value).map(|it| it.class);
                return match (passed, own) {
                    (Some(passed), Some(own)) => Some(self.cast(passed, own)),
                    (passed, _) => passed.or_else(declared),
                };
            }
            Value::Result(number) => number,
            _ => return None,
        };
        match view.instruction(number).opcode {
            op::NEW => view.class_at(number).map(|it| vec![Class::Exact(it)]),
            op::ACONST_NULL => Some(Vec::new()),
            op::CHECKCAST => {
                let class = view.class_at(number)?;
                let inner = self.all(view, view.body.origins_through_casts(value), context, reach);
                Some(inner.map_or_else(|| vec![Class::Below(class)], |it| self.cast(it, class)))
            }
            op::GETFIELD | op::GETSTATIC if reach == Reach::Beyond => {
                let held = view.field_at(number).and_then(|it| self.held(it));
                held.map(|it| it.to_vec()).or_else(declared)
            }
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                self.result_classes(view, number, reach).or_else(declared)
            }
            _ => declared(),
        }
    }

    /// What objects are after a cast.
    pub(crate) fn cast(&self, classes: Vec<Class>, to: TypeId) -> Vec<Class> {
        let world = self.causes.world;
        let is_below = |it: TypeId| world.is_subtype(it, to);
        let mut cast = Vec::new();
        for it in classes {
            match it {
                Class::Exact(class) if !is_below(class) => {}
                Class::Below(class) if !is_below(class) => {
                    if world.is_subtype(to, class) {
                        cast.push(Class::Below(to));
                        continue;
                    }
                    // An object that is both.
                    let below = world.descendants(class).iter().copied().filter(|&it| is_below(it));
                    cast.extend(below.map(Class::Below));
                }
                other => cast.push(other),
            }
        }
        cast
    }

    /// What a call passes as an operand.
    pub(crate) fn passed_classes(&self, call: CallId, operand: u16) -> Classes {
        let it = self.causes.facts.call(call);
        let kept = self.bodies.get(it.method)?;
        let view = kept.view();
        let &value = view.body.operands(it.instruction.into()).get(usize::from(operand))?;
        self.classes(&view, value, Context::Any, Reach::Within)
    }

    /// What a field holds.
    fn held(&self, field: FieldId) -> Option<Arc<[Class]>> {
        if let Some(found) = self.held.lock().expect("nobody panics with it").get(&field) {
            return found.clone();
        }
        let writes = self.causes.facts.writes(field);
        let mut classes = Some(Vec::new()).filter(|_| (1..=WRITES_MAX).contains(&writes.len()));
        for write in writes {
            let Some(all) = &mut classes else { break };
            let here = self.bodies.get(write.method).and_then(|kept| {
                let view = kept.view();
                let &value = view.body.operands(write.instruction.into()).last()?;
                self.classes(&view, value, Context::Any, Reach::Within)
            });
            match here {
                Some(here) => all.extend(here),
                None => classes = None,
            }
        }
        let found = self.settled(classes);
        self.held.lock().expect("nobody panics with it").insert(field, found.clone());
        found
    }

    /// What a call returns, if more is known than it declares.
    fn result_classes(&self, view: &MethodView<'_>, number: u32, reach: Reach) -> Classes {
        let world = self.causes.world;
        let call = self.causes.facts.call_at(view.id, number)?;
        let callee = world.method_ref(self.causes.facts.call(call).callee?);
        let is_library = callee.method.is_none_or(|it| !world.is_system_method(it));
        let (name, _) = world.signature(callee.signature);
        if is_library && !known::makes_own(world.type_name(callee.owner), name) {
            return None;
        }
        let targets = if reach == Reach::Beyond {
            self.targets_within(view, call, Context::Any, Reach::Within)
        } else if is_library {
            self.causes.calls.targets(self.causes.facts.call(call)).to_vec()
        } else {
            return None;
        };
        let mut classes = if is_library { vec![Class::Library] } else { Vec::new() };
        for target in targets {
            classes.extend_from_slice(&self.returned(target)?);
        }
        Some(classes)
    }

    /// What a method returns.
    fn returned(&self, method: MethodId) -> Option<Arc<[Class]>> {
        if let Some(found) = self.returned.lock().expect("nobody panics with it").get(&method) {
            return found.clone();
        }
        let found = self.bodies.get(method).and_then(|kept| {
            let view = kept.view();
            // A method that returns what it is declared to return and nobody looks into says no more than that.
            let declared =
                self.causes.world.find_descriptor(descriptor::return_type(view.member.descriptor))?;
            let mut classes = Vec::new();
            for (number, instruction) in view.body.flow.instructions.iter().enumerate() {
                if instruction.is_return() {
                    let &value = view.body.operands(number as u32).first()?;
                    let here = self.local_classes(&view, value);
                    classes.extend(here.unwrap_or_else(|| vec![Class::Below(declared)]));
                }
            }
            self.settled(Some(classes))
        });
        self.returned.lock().expect("nobody panics with it").insert(method, found.clone());
        found
    }

    /// The classes of a value as its own method alone shows them: no call is followed.
    fn local_classes(&self, view: &MethodView<'_>, value: ValueId) -> Classes {
        let mut found = Vec::new();
        for origin in view.body.origins_through_casts(value) {
            let it = view.class_of(origin)?;
            found.push(if it.is_exact { Class::Exact(it.class) } else { Class::Below(it.class) });
        }
        Some(found)
    }

    fn settled(&self, classes: Classes) -> Option<Arc<[Class]>> {
        let mut classes = classes?;
        classes.sort_unstable();
        classes.dedup();
        Some(classes.into())
    }
}
