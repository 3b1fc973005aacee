//! In place of a delay, an exception of the same call at the same moment.
//!
//! What a call does not get done is not done, whether it hangs or fails, so a delay may bring the failure where an exception was the
//! cause. That is one more round for each exception, and where it brings the failure too, it is the likelier answer.

use hypocenter_plan::{Fault, Guard};

use super::{Found, Pick, Reproduce};

impl Reproduce {
    /// Something was found: if it is a delay, what its call can throw is tried next.
    pub(super) fn put_in_place(&mut self, found: &Found) {
        let ([fault], Some(level)) = (&found.faults[..], self.levels.first()) else { return };
        let Some(site) = self.case.catalogue().find(&fault.site).filter(|_| is_delay(found)) else { return };
        let space = level.search.space();
        let Some(instance) = level.executions.find(site, &fault.guard) else { return };
        let choices = space.choices.iter().zip(&level.faults).zip(0..);
        let of_call = choices
            .filter(|((choice, fault), _)| choice.site == site && matches!(fault, Fault::Exception { .. }));
        let picks = of_call.map(|(_, choice)| Pick { choice, instance });
        self.instead = picks.filter(|it| !level.search.was_tried(*it)).collect();
    }

    /// Whether it came of what was tried in place of a delay that was found.
    pub(super) fn is_instead(&self, found: &Found) -> bool {
        let [fault] = &found.faults[..] else { return false };
        let at = |it: &Guard| (it.node.clone(), it.thread.clone(), it.occurrence);
        let is_of = |other: &Found| {
            let faults = other.faults.iter();
            is_delay(other)
                && faults.into_iter().any(|it| it.site == fault.site && at(&it.guard) == at(&fault.guard))
        };
        !is_delay(found) && self.found.iter().any(is_of)
    }
}

/// Whether nothing but a delay was found.
pub(super) fn is_delay(found: &Found) -> bool {
    matches!(&found.faults[..], [it] if matches!(it.fault, Fault::Delay { .. }))
}
