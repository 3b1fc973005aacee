//! A round that shows far more of the failure log than any other.
//!
//! Its fault is nearly it: the call is right and the moment is not, or the moment is and the run was not. What a round shows counts
//! less afterwards, so without this the search would go elsewhere. Other executions of the same call are tried first, the nearest in
//! either direction, and then the same once more; where one of them shows more still, those about it.

use std::cmp::Reverse;

use super::{Pick, Reproduce};
use crate::policy;
use crate::space::Instance;
use crate::strategy::Strategy;

/// What is left to try about a round that showed far more than others.
#[derive(Debug, Default)]
pub(super) struct NearMiss {
    /// The next to try last.
    left: Vec<Pick>,
    /// How much it showed.
    worth: u64,
}

impl Reproduce {
    /// A round with one fault is over: whether the one that showed most so far is followed now.
    pub(super) fn follows(&mut self) {
        let is_on = self.settings.search.strategy == Strategy::Full && self.has(&policy::FOLLOW);
        if !is_on || self.until.is_some() {
            return;
        }
        let all = self.picked.iter().map(|(&number, &pick)| (self.worth(number), Reverse(number), pick));
        let Some((worth, _, pick)) = all.max_by_key(|it| (it.0, it.1)) else { return };
        if worth > self.near_miss.worth && self.is_far_more(pick, worth) {
            self.near_miss = NearMiss { left: self.about(pick), worth };
        }
    }

    /// Whether the best round with a fault shows far more than any with another: half of all there is, or a fair part of it after some
    /// others.
    fn is_far_more(&self, pick: Pick, worth: u64) -> bool {
        let others = self.picked.iter().filter(|it| it.1.choice != pick.choice).map(|it| self.worth(*it.0));
        let others: Vec<u64> = others.collect();
        let best = others.iter().max().copied().unwrap_or(0);
        let all: u64 = self.levels[0].worth.iter().map(|it| u64::from(*it)).sum();
        let is_some = others.len() >= policy::FOLLOW_AFTER.weight as usize
            && worth * u64::from(policy::FOLLOW_SHARE.weight) >= all;
        worth >= u64::from(policy::FOLLOW.weight) * best && (2 * worth >= all || is_some)
    }

    /// How much a round shows, by the weights of its lines. Where the failure also happens without a fault, a round with it shows all
    /// of it by chance, unless that was confirmed, and then nothing is followed.
    fn worth(&self, number: u64) -> u64 {
        let Some((round, level)) = self.numbered(number).zip(self.levels.first()) else { return 0 };
        if round.happened && self.normal_failed > 0 {
            return 0;
        }
        let place = |key: &u32| level.observables.binary_search(key).ok();
        round.shown.iter().filter_map(place).map(|it| u64::from(level.worth[it])).sum()
    }

    /// The executions about one, and that itself; the one that is tried first is the last.
    fn about(&self, pick: Pick) -> Vec<Pick> {
        let search = &self.levels[0].search;
        let instances = search.space().instances_of(pick.choice);
        let struck = instances[pick.instance as usize];
        let all = (0..).zip(instances).filter(|it: &(u32, &Instance)| it.1.thread.is_like(struck.thread));
        let mut order: Vec<(u32, u32)> = all.map(|(instance, it)| (it.order, instance)).collect();
        order.sort_unstable();
        let own = order.iter().position(|it| it.1 == pick.instance).unwrap_or(0);
        let most = policy::FOLLOW_TRIES.weight as usize;
        let later = order[own + 1..].iter().map(Some).chain(std::iter::repeat(None));
        let earlier = order[..own].iter().rev().map(Some).chain(std::iter::repeat(None));
        let both = later.zip(earlier).take(most).flat_map(|(later, earlier)| [later, earlier]);
        let picks = both.flatten().map(|it| Pick { instance: it.1, ..pick });
        let mut picks: Vec<Pick> = picks.filter(|it| !search.was_tried(*it)).take(most).collect();
        picks.push(pick);
        picks.reverse();
        picks
    }

    /// The next to try about a round that showed far more than others.
    pub(super) fn next_near_miss(&mut self) -> Option<Pick> {
        self.near_miss.left.pop()
    }
}
