//! Whether a value can be what is needed, where that is seen only in the methods that give it.

use crate::causality::causal::Context;
use crate::causality::graphs::Graphs;
use crate::causality::need::Need;
use crate::loading::world::MethodId;
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;

/// How many calls, one in another, a value is followed into.
const CALLS_MAX: u8 = 4;

impl Graphs<'_> {
    /// Whether a value of a method can be what is needed.
    pub(crate) fn may_be(&self, view: &MethodView<'_>, value: ValueId, need: Need) -> bool {
        need == Need::Any || self.may_be_within(view, value, need, CALLS_MAX)
    }

    /// Whether a method can return what is needed.
    pub(crate) fn may_return(&self, method: MethodId, need: Need) -> bool {
        need == Need::Any || self.may_return_within(method, need, CALLS_MAX)
    }

    fn may_be_within(&self, view: &MethodView<'_>, value: ValueId, need: Need, calls: u8) -> bool {
        let origins = view.body.origins_through_casts(value);
        let may_be = |&it: &ValueId| need.allows(view.given(it)) && self.may_answer(view, it, need, calls);
        origins.is_empty() || origins.iter().any(may_be)
    }

    /// Whether a value, if it is the result of a call, can be what is needed.
    fn may_answer(&self, view: &MethodView<'_>, value: ValueId, need: Need, calls: u8) -> bool {
        let (Value::Result(number), Some(calls)) = (view.body.value(value), calls.checked_sub(1)) else {
            return true;
        };
        let Some(call) = self.causes.facts.call_at(view.id, number) else { return true };
        // What a library answers is not known.
        if self.causes.is_library(self.causes.facts.call(call)) {
            return true;
        }
        let targets = self.targets(view, call, Context::Any);
        targets.is_empty() || targets.into_iter().any(|it| self.may_return_within(it, need, calls))
    }

    fn may_return_within(&self, method: MethodId, need: Need, calls: u8) -> bool {
        let key = (method, need, calls);
        if let Some(&known) = self.answers.lock().expect("nobody panics with it").get(&key) {
            return known;
        }
        let found = self.bodies.get(method).is_none_or(|cached| {
            let view = cached.view();
            let returned = returned(&view);
            returned.map(|it| it.1).any(|it| self.may_be_within(&view, it, need, calls))
        });
        self.answers.lock().expect("nobody panics with it").insert(key, found);
        found
    }
}

/// The instructions by which a method returns something, and what.
pub(crate) fn returned<'v>(view: &MethodView<'v>) -> impl Iterator<Item = (u32, ValueId)> + use<'v> {
    let body = view.body;
    body.flow.instructions.iter().enumerate().filter_map(|(number, it)| {
        let value = body.operands(number as u32).first().filter(|_| it.is_return())?;
        Some((number as u32, *value))
    })
}
