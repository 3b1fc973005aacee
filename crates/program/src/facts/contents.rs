//! Possible class or content of an object, as far as one method shows it: a future that comes out of a list was put into it.

use hypocenter_classfile::op;
use rustc_hash::FxHashSet;

use crate::facts::known;
use crate::facts::sorts::Sorts;
use crate::methods::values::{Value, ValueId};
use crate::methods::view::MethodView;

/// The most values that are looked at for one question.
const VALUES_MAX: usize = 64;

/// The values that a value may be or hold, sorted: through casts, arrays and calls of libraries, with what objects made
/// here were told. It ends at fields, parameters, lambdas, methods of the system, and calls that make a future.
pub(crate) fn contents(view: &MethodView<'_>, sorts: &Sorts, value: ValueId) -> Vec<ValueId> {
    let mut looking = Looking { view, found: Vec::new(), pending: vec![value] };
    let mut seen: FxHashSet<ValueId> = FxHashSet::default();
    while let Some(value) = looking.pending.pop() {
        for origin in view.body.origins_through_casts(value) {
            if seen.len() < VALUES_MAX && seen.insert(origin) {
                looking.value(sorts, origin);
            }
        }
    }
    looking.found.sort_unstable();
    looking.found
}

struct Looking<'p, 'v> {
    view: &'p MethodView<'v>,
    found: Vec<ValueId>,
    pending: Vec<ValueId>,
}

impl Looking<'_, '_> {
    fn value(&mut self, sorts: &Sorts, value: ValueId) {
        let body = self.view.body;
        let Value::Result(number) = body.value(value) else {
            self.found.push(value);
            return;
        };
        match self.view.instruction(number).opcode {
            op::NEW => {
                self.found.push(value);
                self.told(value);
            }
            op::ANEWARRAY => {
                let stores =
                    body.uses(value).iter().filter(|&&it| self.view.instruction(it).opcode == op::AASTORE);
                let stored = stores.filter_map(|&it| match body.operands(it) {
                    &[array, _, item] if array == value => Some(item),
                    _ => None,
                });
                self.pending.extend(stored);
            }
            op::AALOAD => self.pending.extend(body.operands(number).first()),
            op::INVOKEVIRTUAL..=op::INVOKEINTERFACE => {
                let Some(callee) = self.view.callee_at(number) else { return };
                let world = self.view.world;
                let reference = world.method_ref(callee);
                let is_system = reference.method.is_some_and(|it| world.is_system_method(it));
                let runs_all = known::takes_tasks_in_lists(world.signature(reference.signature).0);
                if is_system || runs_all || sorts.returns_future(callee) {
                    self.found.push(value);
                } else {
                    self.pending.extend_from_slice(body.operands(number));
                    self.told(value);
                }
            }
            op::GETFIELD | op::GETSTATIC | op::INVOKEDYNAMIC => self.found.push(value),
            _ => {}
        }
    }

    /// Arguments of calls on an object.
    fn told(&mut self, value: ValueId) {
        let body = self.view.body;
        for &it in body.uses(value) {
            let is_on_object = matches!(
                self.view.instruction(it).opcode,
                op::INVOKEVIRTUAL | op::INVOKESPECIAL | op::INVOKEINTERFACE
            );
            let [first, rest @ ..] = body.operands(it) else { continue };
            if is_on_object && *first == value {
                self.pending.extend_from_slice(rest);
            }
        }
    }
}
