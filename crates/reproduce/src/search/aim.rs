//! The points by which a search tries something, rule by rule.

use hypocenter_results::Score;

use super::{Pick, Search};
use crate::policy;
use crate::space::Choice;
use crate::strategy::Strategy;

/// The points of a choice at an instance, as far as a search knows them.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Aim {
    /// The choice and the instance.
    pub pick: Pick,
    /// The observable that the choice was nearest to.
    pub observable: u32,
    /// How far it is from that, by the code. What the observable costs from the start comes on top.
    pub distance: u32,
    /// Everything else.
    pub rest: Score,
}

impl Search {
    /// The points of a choice at an instance now, as far as the search knows them; nothing for strategies that go by no points.
    pub fn aim(&self, pick: Pick) -> Option<Aim> {
        let (has_feedback, has_nearness) = match self.options.strategy {
            Strategy::Full | Strategy::TwoLevel => (true, true),
            Strategy::SiteFeedback => (true, false),
            Strategy::Distance | Strategy::DistanceLimit => (false, false),
            _ => return None,
        };
        let (_, observable) = self.priority(pick.choice, has_feedback)?;
        let Choice { site, distances } = &self.space.choices[pick.choice as usize];
        let at = observable as usize;
        let place = distances.binary_search_by_key(&observable, |it| it.0).ok()?;
        let mut rest = Score::default();
        if has_feedback {
            let start = if self.is_full() { self.space.observables[at].remote } else { 0 };
            rest.add(&policy::SHOWN, self.shown[at] - start - self.unmoved[at]);
            rest.add(&policy::UNMOVED, self.unmoved[at]);
        }
        if has_nearness {
            if self.is_full() {
                let instance = &self.space.instances[*site as usize][pick.instance as usize];
                let apart = self.space.observables[at].apart_by_rules(instance);
                apart.score(&mut rest);
                // Of a site with many executions only some were looked at.
                let near = self.near[*site as usize][at];
                rest.add(&policy::ENTRIES, near.saturating_sub(apart.total()));
            }
            rest.add(&policy::FAILED, u32::try_from(self.failed_points(*site)).unwrap_or(u32::MAX));
        }
        Some(Aim { pick, observable, distance: distances[place].1, rest })
    }
}
