//! The requests of states that have only few, one by one: each is tried before any is tried again.
//!
//! Choice of a request: if a state has thousands of requests, it is best left to chance. If it has ten, chance takes the first
//! again and again, and what matters may be the sixth.

use std::collections::{BTreeMap, BTreeSet};

use hypocenter_trace::hash;

use crate::ledger::{Call, Group};

/// Number of requests that counts as few.
pub(crate) const FEW_MAX: u64 = 64;

/// Tried requests, by the numbers of keys: the call and the index of its request.
#[derive(Debug, Clone, Default)]
pub(crate) struct Few {
    tried: BTreeMap<u32, BTreeSet<(u32, u64)>>,
}

impl Few {
    /// Request of a group with few, if it has few: the call and the index of its request, drawn from the seed.
    pub(crate) fn next(&mut self, key: u32, group: &Group, seed: u64) -> Option<(Call, u64)> {
        let total = group.requests();
        if total == 0 || total > FEW_MAX {
            return None;
        }
        let tried = self.tried.entry(key).or_default();
        let all = || group.calls.iter().flat_map(|call| (1..=call.least).map(|it| (*call, it)));
        let mut left: Vec<(Call, u64)> =
            all().filter(|(call, it)| !tried.contains(&(call.site, *it))).collect();
        if left.is_empty() {
            tried.clear();
            left = all().collect();
        }
        let drawn = hash::word(u64::from(key), seed) % left.len() as u64;
        let (call, request) = left[drawn as usize];
        tried.insert((call.site, request));
        Some((call, request))
    }
}

#[cfg(test)]
pub(crate) mod tests {
    use super::*;
    use crate::ledger::Key;

    /// A group whose calls, numbered from 0, make so many requests.
    pub(crate) fn group(least: &[u64]) -> Group {
        let key = Key {
            node: "n1".into(),
            state: None,
            thread: None,
            callee: None,
            site: None,
            fault: None,
            stack: None,
        };
        let calls =
            least.iter().enumerate().map(|(site, &least)| Call { site: site as u32, fault: None, least });
        Group { key, calls: calls.collect(), anywhere: 0 }
    }

    #[test]
    fn every_request_is_tried_once_before_any_is_tried_again() {
        let (mut few, group) = (Few::default(), group(&[3, 0, 1]));
        let mut drawn: Vec<(u32, u64)> = (0..8)
            .map(|seed| few.next(0, &group, seed).expect("there are four"))
            .map(|(call, it)| (call.site, it))
            .collect();
        drawn[..4].sort_unstable();
        drawn[4..].sort_unstable();
        let all = [(0, 1), (0, 2), (0, 3), (2, 1)];
        assert_eq!((&drawn[..4], &drawn[4..]), (&all[..], &all[..]));
    }

    #[test]
    fn many_requests_or_unknown_ones_are_left_to_chance() {
        let mut few = Few::default();
        assert_eq!(few.next(0, &group(&[FEW_MAX, 1]), 1), None);
        assert_eq!(few.next(0, &group(&[0]), 1), None);
        assert_eq!(few.next(0, &group(&[]), 1), None);
    }
}
