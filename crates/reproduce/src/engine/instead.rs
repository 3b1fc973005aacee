//! In place of a delay, an exception of the same call at the same moment.
//!
//! What a call does not get done is not done, whether it hangs or fails, so a delay may bring the failure where an exception was the
//! cause. Each exception is one more round, and far fewer than a proof: so they are tried first, and the delay is proved where none
//! of them brings the failure. Where a thread falls silent in the failure, a delay of any call before that has the same result: then
//! what the other calls can throw that it makes there is tried too.

use hypocenter_plan::Fault;

use super::{Asked, Claimed, Found, Pick, Reproduce};
use crate::policy;
use crate::space::{Choice, Instance};

/// A delay that brought the failure, and what is tried in its place.
#[derive(Debug)]
pub(super) struct Instead {
    pub delay: Found,
    left: Vec<Pick>,
}

impl Reproduce {
    /// A fault has brought the failure: whether something is tried in its place first.
    pub(super) fn tries_instead(&mut self, found: &Found) -> bool {
        let left = self.in_place_of(found).filter(|it| !it.is_empty() && self.has(&policy::INSTEAD));
        let Some(left) = left.filter(|_| self.instead.is_none()) else { return false };
        self.instead = Some(Instead { delay: found.clone(), left });
        true
    }

    /// What the call of a delay can throw and has not thrown at this moment, and then the others of a thread that falls silent there.
    fn in_place_of(&self, found: &Found) -> Option<Vec<Pick>> {
        let ([fault], Some(level)) = (&found.faults[..], self.levels.first()) else { return None };
        let site = self.case.catalogue().find(&fault.site).filter(|_| is_delay(found))?;
        let instance = level.executions.find(site, &fault.guard)?;
        let space = level.search.space();
        let struck = space.instances[site as usize][instance as usize];
        // Between the last line of the thread and the first that is not there.
        let windows = space.observables.iter().filter_map(|it| it.between);
        let window = windows.into_iter().find(|(from, to)| (*from..*to).contains(&struck.order));
        let moment = |choice: &Choice| {
            let mut instances = (0..).zip(&space.instances[choice.site as usize]);
            let (from, to) = window?;
            let is_there = |it: &Instance| it.thread.is_like(struck.thread) && (from..to).contains(&it.order);
            instances.find(|it| is_there(it.1)).map(|it| (it.1.order.abs_diff(struck.order), it.0))
        };
        let choices = (0..).zip(space.choices.iter().zip(&level.faults));
        let exceptions = choices.filter(|(_, (_, fault))| matches!(fault, Fault::Exception { .. }));
        let picks = exceptions.filter_map(|(choice, (of, _))| match of.site == site {
            true => Some((0, Pick { choice, instance })),
            false => moment(of).map(|(far, instance)| (far.max(1), Pick { choice, instance })),
        });
        let mut picks: Vec<(u32, Pick)> = picks.filter(|it| !level.search.was_tried(it.1)).collect();
        picks.sort_unstable();
        picks.truncate(policy::INSTEAD.weight as usize);
        // The last comes first.
        Some(picks.into_iter().rev().map(|it| it.1).collect())
    }

    /// The next that is tried in place of a delay.
    pub(super) fn next_instead(&mut self) -> Option<Pick> {
        self.instead.as_mut()?.left.pop()
    }

    /// The delay is proved if everything was tried in its place and nothing did it, at no earlier moment either.
    pub(super) fn proves_delay(&mut self) {
        let is_open = |it: &Asked| matches!(it, Asked::Round(it) if it.again.is_some());
        let is_over = |it: &mut Instead| it.left.is_empty();
        if self.claimed.is_none()
            && self.earlier.is_empty()
            && !self.open.values().any(is_open)
            && !self.repeated.iter().any(|it| it.round.again.is_some())
            && let Some(Instead { delay, .. }) = self.instead.take_if(is_over)
        {
            self.claimed = Some(Claimed { found: delay, whole: None });
        }
    }
}

/// Whether nothing but a delay was found.
pub(super) fn is_delay(found: &Found) -> bool {
    matches!(&found.faults[..], [it] if matches!(it.fault, Fault::Delay { .. }))
}
