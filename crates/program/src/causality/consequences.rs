//! Consequences of what a call finds: the code that uses its result, and the code that runs if it throws.

use hypocenter_plan::Frame;

use crate::causality::causal::Causes;
use crate::causality::decisions::{Decider, Decision, Decisions};
use crate::loading::world::{MethodId, TypeId};
use crate::methods::view::MethodView;

/// Where the consequences of a call begin.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct Consequences {
    /// Instructions that take its result.
    pub uses: Vec<(MethodId, u16)>,
    /// Instructions that run only if it throws.
    pub handlers: Vec<(MethodId, u16)>,
    /// True if what it throws is caught by no method of the stack.
    pub escapes: bool,
}

impl Causes<'_> {
    /// The consequences of the call that the innermost frame of the system is making, if it can throw an exception of this class: along
    /// the stack, innermost frame first. None if the call is not found.
    pub fn consequences(self, stack: &[Frame], thrown: &str) -> Option<Consequences> {
        let frames: Vec<Vec<(MethodId, u16)>> =
            (0..stack.len()).map(|at| self.calls_at(stack, at)).filter(|it| !it.is_empty()).collect();
        let mut found = Consequences::default();
        for &(method, call) in frames.first()? {
            self.world
                .look(method, |view| found.uses.extend(uses(&view, call.into()).map(|it| (method, it))));
        }
        let thrown = self.world.find_type(thrown.replace('.', "/").as_bytes());
        let can_throw = frames[0].iter().any(|it| self.throws(*it));
        let Some(thrown) = thrown.filter(|_| can_throw) else { return Some(found) };
        found.escapes = true;
        for &(method, call) in frames.iter().flatten() {
            let handled = self.world.look(method, |view| self.handled(&view, call, thrown)).flatten();
            if let Some(handled) = handled {
                found.handlers = handled;
                found.escapes = false;
                break;
            }
        }
        Some(found)
    }

    /// Tests whether an exception comes out of a call.
    fn throws(self, (method, call): (MethodId, u16)) -> bool {
        let looked =
            self.world.look(method, |view| !Decisions::of(self, &view, true).ways_at(call.into()).is_empty());
        looked.unwrap_or(false)
    }

    /// The instructions that run only if a call throws this, where its method catches it. A `finally` catches nothing.
    fn handled(self, view: &MethodView<'_>, call: u16, thrown: TypeId) -> Option<Vec<(MethodId, u16)>> {
        let catches = |it: &crate::methods::body::Catch| {
            let class = view.class_constant(it.catch_type).filter(|_| it.catch_type != 0);
            class.is_some_and(|it| self.world.is_subtype(thrown, it))
        };
        let caught = view.body.covering(call.into()).find(catches)?;
        let decisions = Decisions::of(self, view, true);
        let by = Decision::Caught(decisions.handler(view, caught.handler)?);
        let count = view.body.flow.instructions.len() as u32;
        let block = &view.body.flow.blocks[caught.handler as usize];
        let mut run: Vec<u32> = (block.start..block.end).collect();
        run.extend(decisions.decided_by(Decider { instruction: call.into(), by }, count).flatten());
        run.sort_unstable();
        run.dedup();
        Some(run.into_iter().map(|it| (view.id, it as u16)).collect())
    }
}

/// The instructions that take the result of a call.
fn uses(view: &MethodView<'_>, call: u32) -> impl Iterator<Item = u16> {
    let mut open: Vec<_> = view.body.result(call).into_iter().collect();
    let (mut seen, mut found) = (open.clone(), Vec::new());
    while let Some(value) = open.pop() {
        found.extend(view.body.uses(value).iter().map(|&it| it as u16));
        for &phi in view.body.phi_uses(value) {
            if !seen.contains(&phi) {
                seen.push(phi);
                open.push(phi);
            }
        }
    }
    found.sort_unstable();
    found.dedup();
    found.into_iter()
}
