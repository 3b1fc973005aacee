//! Work that one run does in a thread of another name.
//!
//! What `main` does from its start to its end in one version, another gives to `main` and then to a thread with a name of its own. All
//! entries of such a thread would count as new. So a role that only one run has is compared with what the roles of both have left
//! over, if it says mostly that; several may be parts of one. A role that both runs have is not: what it says beyond its like is new.

use std::cmp::Reverse;

use rustc_hash::{FxHashMap, FxHashSet};

use super::{ALONE_MAX, Comparison, Differ, Position, Role, SAME_MIN};

/// What a role has left over: entries without a partner, in the order of their logs.
struct Left {
    role: usize,
    entries: Vec<(Position, u32)>,
    said: FxHashSet<u32>,
}

impl Left {
    /// Those roles that say enough to be compared, those first that say most.
    fn of(roles: &[Role<'_>], side: usize, is_left: impl Fn(&Position) -> bool) -> Vec<Left> {
        let left = |(role, it): (usize, &Role<'_>)| {
            let entries = it.entries(side).into_iter().filter(|it| is_left(&it.0)).collect();
            Left::with(role, entries)
        };
        let mut all: Vec<Left> = roles.iter().enumerate().map(left).collect();
        all.retain(|it| it.said.len() >= SAME_MIN);
        all.sort_by_key(|it| (Reverse(it.said.len()), it.role));
        all.truncate(ALONE_MAX);
        all
    }

    fn with(role: usize, entries: Vec<(Position, u32)>) -> Left {
        let said = entries.iter().map(|it| it.1).collect();
        Left { role, entries, said }
    }

    fn numbers(&self) -> Vec<u32> {
        self.entries.iter().map(|it| it.1).collect()
    }

    /// The same without some entries, by their places.
    fn without(&self, is_used: &[bool]) -> Left {
        let entries = self.entries.iter().zip(is_used).filter(|it| !it.1).map(|it| *it.0);
        Left::with(self.role, entries.collect())
    }
}

impl Comparison {
    /// Finds partners in other roles for what roles have left over.
    pub(super) fn split(&mut self, roles: &[Role<'_>], differ: &mut Differ) {
        for side in [0, 1] {
            let taken: FxHashSet<Position> = self.pairs().map(|it| it.1).collect();
            let is_left = |side: usize, it: &Position| match side {
                0 => self.partner(*it).is_none(),
                _ => !taken.contains(it),
            };
            let mut open = Left::of(roles, side, |it| is_left(side, it));
            let is_alone = |it: &Left| roles[it.role].written.iter().any(Vec::is_empty);
            open.retain(is_alone);
            let mut hosts = match open.is_empty() {
                true => Vec::new(),
                false => Left::of(roles, 1 - side, |it| is_left(1 - side, it)),
            };
            hosts.retain(|it| !is_alone(it));
            // Each time one is taken from those that are open.
            while let Some((own, host)) = best(&open, &hosts) {
                let own = open.remove(own);
                hosts[host] = self.join(&own, &hosts[host], side, differ);
            }
        }
        let partners = &self.partners;
        self.elsewhere.retain(|it| partners[it.node as usize][it.entry as usize].is_none());
    }

    /// Pairs what is left of a role with what is left of another, and gives what is left of that.
    fn join(&mut self, own: &Left, host: &Left, side: usize, differ: &mut Differ) -> Left {
        let pairs = differ.pairs(&own.numbers(), &host.numbers());
        self.is_cut |= differ.is_cut;
        let (mut is_paired, mut is_used) = (vec![false; own.entries.len()], vec![false; host.entries.len()]);
        for (x, y) in pairs {
            let both = [own.entries[x as usize].0, host.entries[y as usize].0];
            let (it, partner) = (both[side], both[1 - side]);
            self.partners[it.node as usize][it.entry as usize] = Some(partner);
            (is_paired[x as usize], is_used[y as usize]) = (true, true);
        }
        let (own, host) = (own.without(&is_paired), host.without(&is_used));
        let [run, other] = if side == 0 { [&own, &host] } else { [&host, &own] };
        let mut free: FxHashMap<u32, u32> = FxHashMap::default();
        other.entries.iter().for_each(|it| *free.entry(it.1).or_default() += 1);
        for (position, number) in &run.entries {
            if let Some(free) = free.get_mut(number).filter(|it| **it > 0) {
                *free -= 1;
                self.elsewhere.push(*position);
            }
        }
        host
    }
}

impl Role<'_> {
    /// The entries of a side, in the order of their logs, with the numbers of what they say.
    fn entries(&self, side: usize) -> Vec<(Position, u32)> {
        let threads = self.places[side].iter().zip(&self.written[side]);
        let entries = threads.flat_map(|(place, written)| {
            let position = |&entry: &u32| Position { node: place.node, entry };
            place.entries.iter().map(position).zip(written.numbers.iter().copied())
        });
        let mut all: Vec<(Position, u32)> = entries.collect();
        all.sort_unstable();
        all
    }
}

/// Of what is open that which has most in common with another role, if that is most of what it says; and the other.
fn best(open: &[Left], hosts: &[Left]) -> Option<(usize, usize)> {
    let mut best: Option<(Reverse<usize>, usize, usize)> = None;
    for (at, own) in open.iter().enumerate() {
        for (there, host) in hosts.iter().enumerate() {
            let common = own.said.intersection(&host.said).count();
            if common >= SAME_MIN && 2 * common >= own.said.len() {
                let it = (Reverse(common), at, there);
                best = Some(best.map_or(it, |best| best.min(it)));
            }
        }
    }
    best.map(|it| (it.1, it.2))
}
