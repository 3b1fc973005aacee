//! What replays did not prove, at earlier moments.
//!
//! What a fault leaves undone may take a while to show. Near the end of a workload it brings the failure only where the rest happens
//! to be slow enough, and its replays look like chance; earlier the same fault brings it every time. Going back by halves takes few
//! rounds, and the first moment of all, from which there is most time, is among them.

use super::{Again, Found, Pick, Reproduce};
use crate::policy;
use crate::space::Instance;

impl Reproduce {
    /// A fault alone brought the failure and could not be proved: the moments before it are tried next.
    pub(super) fn tries_earlier(&mut self, found: &Found) {
        // Of a fault that is at an earlier moment already the others are tried anyway.
        let is_earlier = self.numbered(found.round).is_some_and(|it| it.again == Some(Again::Earlier));
        if self.has(&policy::EARLIER) && self.earlier.is_empty() && !is_earlier && found.faults.len() == 1 {
            self.earlier = self.picked.get(&found.round).map_or_else(Vec::new, |&it| self.before(it));
        }
    }

    /// The moments of a fault before one of them, in the same thread; the one that is tried first is the last.
    fn before(&self, pick: Pick) -> Vec<Pick> {
        let Some(search) = self.levels.first().map(|it| &it.search) else { return Vec::new() };
        let instances = search.space().instances_of(pick.choice);
        let struck = instances[pick.instance as usize];
        let is_before = |it: &Instance| it.order < struck.order && it.thread.is_like(struck.thread);
        let all = (0..).zip(instances).filter(|it| is_before(it.1));
        let mut before: Vec<(u32, u32)> = all.map(|(instance, it)| (it.order, instance)).collect();
        before.sort_unstable();
        let halves = std::iter::successors(Some(before.len()), |&it| (it > 0).then_some(it / 2)).skip(1);
        let picks = halves.map(|it| Pick { instance: before[it].1, ..pick });
        let mut picks: Vec<Pick> = picks.filter(|&it| !search.was_tried(it)).collect();
        // The first moment of all stays among them.
        let most = policy::EARLIER.weight as usize;
        if picks.len() > most {
            picks.drain(most - 1..picks.len() - 1);
        }
        picks.reverse();
        picks
    }

    /// The next earlier moment.
    pub(super) fn next_earlier(&mut self) -> Option<Pick> {
        self.earlier.pop()
    }
}
