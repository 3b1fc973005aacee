//! Other moments of a call that was held up with a lock in its hands.
//!
//! A loop takes a lock for each thing that it works on, and who needs which is not known. Its first moments leave most of the run
//! behind them to be harmed, and what is special mostly stands near the start: a root, a header, the first page. So a call with thousands
//! of requests is looked at in its first, its second, the first of the next two, that of the next four, and so on: each magnitude
//! once, the smallest first.

use std::collections::BTreeMap;

use crate::ledger::{Call, Group};

/// Tried requests, by the numbers of keys.
#[derive(Debug, Clone, Default)]
pub(crate) struct Moments {
    /// The call that is worth another look.
    wanted: BTreeMap<u32, u32>,
    /// The magnitudes that were tried, of each call of a key, as bits.
    tried: BTreeMap<(u32, u32), u64>,
}

impl Moments {
    /// Records that a request of a call, by its index, held a lock: the next trial of the key is for another one.
    pub(crate) fn held(&mut self, key: u32, site: u32, request: u64) {
        self.wanted.insert(key, site);
        *self.tried.entry((key, site)).or_default() |= 1 << magnitude(request);
    }

    /// Next request, if the last trial of this key was worth it and there is a magnitude left: the call and the index of its
    /// request.
    pub(crate) fn next(&mut self, key: u32, group: &Group) -> Option<(Call, u64)> {
        let site = self.wanted.remove(&key)?;
        let call = group.calls.iter().find(|it| it.site == site)?;
        let tried = self.tried.entry((key, site)).or_default();
        let left = |it: &u32| *tried & (1 << it) == 0;
        let magnitude = (0..=magnitude(call.least)).find(left).filter(|&it| smallest(it) <= call.least)?;
        *tried |= 1 << magnitude;
        Some((*call, smallest(magnitude)))
    }
}

/// 1, 2, 3 to 4, 5 to 8, and so on, counted from 0.
fn magnitude(request: u64) -> u32 {
    // At most 63, so that it is a bit.
    (u64::BITS - request.saturating_sub(1).leading_zeros()).min(u64::BITS - 1)
}

/// The first request of a magnitude.
fn smallest(magnitude: u32) -> u64 {
    if magnitude == 0 { 1 } else { (1 << (magnitude - 1)) + 1 }
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::few::tests::group;

    fn looks(least: u64, first: u64) -> Vec<u64> {
        let (mut moments, group) = (Moments::default(), group(&[7, least]));
        moments.held(0, 1, first);
        let mut all = Vec::new();
        while let Some((call, request)) = moments.next(0, &group) {
            assert_eq!(call.site, 1);
            all.push(request);
            moments.held(0, 1, request);
        }
        all
    }

    #[test]
    fn each_magnitude_is_looked_at_once_the_smallest_first() {
        assert_eq!(looks(40, 12), [1, 2, 3, 5, 17, 33]);
        assert_eq!(looks(1, 1), [0; 0]);
        assert_eq!(looks(4, 1), [2, 3]);
        // More than a run without a fault makes.
        assert_eq!(looks(2, 900), [1, 2]);
        assert_eq!(looks(0, 900), [0; 0]);
        assert_eq!(looks(u64::MAX, u64::MAX).len(), 63);
    }

    #[test]
    fn only_what_held_a_lock_in_the_trial_before_is_looked_at_again() {
        let (mut moments, group) = (Moments::default(), group(&[9]));
        assert_eq!(moments.next(0, &group), None);
        moments.held(0, 0, 3);
        assert_eq!(moments.next(1, &group), None, "another key");
        assert_eq!(moments.next(0, &group).map(|it| it.1), Some(1));
        assert_eq!(moments.next(0, &group), None, "the look did not say that it is worth another");
        moments.held(0, 4, 3);
        assert_eq!(moments.next(0, &group), None, "a call that the group does not have");
    }
}
