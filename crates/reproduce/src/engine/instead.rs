//! In place of a delay, an exception of the same call at the same moment.
//!
//! What a call does not get done is not done, whether it hangs or fails, so a delay may bring the failure where an exception was the
//! cause. Each exception is one more round, and far fewer than a proof: so they are tried first, and the delay is proved where none
//! of them brings the failure.

use hypocenter_plan::Fault;

use super::{Asked, Found, Pick, Proof, Reproduce};

/// A delay that brought the failure, and what is tried in its place.
#[derive(Debug)]
pub(super) struct Instead {
    pub delay: Found,
    left: Vec<Pick>,
}

impl Reproduce {
    /// A fault has brought the failure: whether something is tried in its place first.
    pub(super) fn tries_instead(&mut self, found: &Found) -> bool {
        let left = self.in_place_of(found).filter(|it| !it.is_empty());
        let Some(left) = left.filter(|_| self.instead.is_none()) else { return false };
        self.instead = Some(Instead { delay: found.clone(), left });
        true
    }

    /// What the call of a delay can throw and has not thrown at this moment.
    fn in_place_of(&self, found: &Found) -> Option<Vec<Pick>> {
        let ([fault], Some(level)) = (&found.faults[..], self.levels.first()) else { return None };
        let site = self.case.catalogue().find(&fault.site).filter(|_| is_delay(found))?;
        let instance = level.executions.find(site, &fault.guard)?;
        let choices = level.search.space().choices.iter().zip(&level.faults).zip(0..);
        let of_call = choices
            .filter(|((choice, fault), _)| choice.site == site && matches!(fault, Fault::Exception { .. }));
        let picks = of_call.map(|(_, choice)| Pick { choice, instance });
        Some(picks.filter(|it| !level.search.was_tried(*it)).collect())
    }

    /// The next that is tried in place of a delay.
    pub(super) fn next_instead(&mut self) -> Option<Pick> {
        self.instead.as_mut()?.left.pop()
    }

    /// The delay is proved if everything was tried in its place and nothing did it.
    pub(super) fn proves_delay(&mut self) {
        let is_open = |it: &Asked| matches!(it, Asked::Round { again: Some(_), .. });
        let is_over = |it: &mut Instead| it.left.is_empty();
        if self.proof.is_none()
            && !self.open.values().any(is_open)
            && let Some(Instead { delay, .. }) = self.instead.take_if(is_over)
        {
            self.proof = Some(Proof::new(delay, self.settings.replays, self.normal_runs));
            self.judge();
        }
    }
}

/// Whether nothing but a delay was found.
pub(super) fn is_delay(found: &Found) -> bool {
    matches!(&found.faults[..], [it] if matches!(it.fault, Fault::Delay { .. }))
}
