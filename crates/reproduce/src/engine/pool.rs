//! A fault in one of several equal threads, by the name of that thread and by what all of them have.
//!
//! Which of them does what differs from run to run, so the twelfth time of one of them is another moment in each, and a replay may meet
//! another way to the same call. Where replays of a fault are not all alike, it is proved once more with its moment counted over all
//! threads of the pool, and the name that holds in more runs is the answer. Runs without a fault may have looked as if there were no
//! such choice: two are few.

use hypocenter_engine::Settled;
use hypocenter_plan::{CandidateResult, Frame, Outcome};

use super::{Claimed, Found, Reproduce};

impl Reproduce {
    /// What a proof has come to; nothing while the same fault is proved by its other name.
    pub(super) fn by_either_name(&mut self, found: Found, proved: Settled) -> Option<(Found, Settled)> {
        if let Some(named) = self.by_name.take() {
            let is_better = proved == Settled::Holds && rate(&found) > rate(&named.0);
            return Some(if is_better { (found, proved) } else { *named });
        }
        let is_steady = found.hits == found.runs && found.missed == 0;
        let other = if is_steady || self.normal_failed > 0 { None } else { self.of_pool(&found) };
        let Some(other) = other else { return Some((found, proved)) };
        self.by_name = Some(Box::new((found, proved)));
        self.claimed = Some(Claimed { found: other, whole: None });
        None
    }

    /// The same fault, counted over all threads of its pool, if it is in one.
    fn of_pool(&self, found: &Found) -> Option<Found> {
        let ([fault], [candidate]) = (&found.faults[..], &found.plan.candidates[..]) else { return None };
        let site = self.case.catalogue().find(&fault.site)?;
        let guard = self.levels.first()?.executions.by_role(site, &fault.guard)?;
        let mut other = Found { hits: 0, runs: 0, missed: 0, replayed: None, ..found.clone() };
        other.faults[0].guard = guard.clone();
        other.plan.candidates = vec![hypocenter_plan::Candidate { when: guard, ..candidate.clone() }];
        Some(other)
    }

    /// The threads over which the moment of a fault is counted, while that is proved instead of one of them.
    pub(super) fn asks_pool(&self) -> Option<&str> {
        let claimed = self.claimed.as_ref().filter(|_| self.by_name.is_some())?;
        claimed.found.faults.first()?.guard.thread.as_deref()
    }

    /// Whether a replay says something of what is being proved: all faults went in, and came to their calls by the same way; or the
    /// failure happened all the same.
    pub(super) fn is_replayed_by(&self, outcome: &Outcome) -> bool {
        let happened = outcome.failure.as_ref().is_some_and(|it| it.happened);
        let all = outcome.injected() == outcome.candidates.len();
        all && (happened || self.came_by_same_way(outcome))
    }

    fn came_by_same_way(&self, outcome: &Outcome) -> bool {
        let Some(claimed) = &self.claimed else { return true };
        let own = |stack: &[Frame]| -> Vec<String> {
            let is_own =
                |it: &&Frame| it.method.rsplit_once('.').is_some_and(|it| self.classes.contains(it.0));
            stack.iter().filter(is_own).map(|it| it.method.clone()).collect()
        };
        let now = outcome.candidates.iter().filter_map(|it| match &it.result {
            CandidateResult::Injected(at) => Some(own(&at.stack)),
            _ => None,
        });
        now.eq(claimed.found.faults.iter().map(|it| own(&it.at.stack)))
    }
}

/// Takes down how something found went in by its new name, the first time that it brings the failure.
pub(super) fn struck_in(found: &mut Found, outcome: &Outcome) {
    if found.replayed.is_some() {
        return;
    }
    for (it, now) in found.faults.iter_mut().zip(&outcome.candidates) {
        if let CandidateResult::Injected(at) = &now.result {
            it.at = at.clone();
        }
    }
}

/// In which part of its replays the failure happened, those among them that did not come to the fault.
fn rate(found: &Found) -> f64 {
    found.hits as f64 / (found.runs + found.missed).max(1) as f64
}
