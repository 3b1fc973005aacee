//! Budgeted round robin over keys (LEGOLAS 4.3, Algorithm 2). It knows numbers only.
//!
//! Each trial is for the key at the front, which then goes to the back. A key has a budget of injections; when every key
//! has used up its own, all get it anew. A trial whose key was not reached costs no budget, so a key that is never
//! reached again would be tried for ever: after some misses in a row it waits for the next time that budgets are given.
//!
//! The paper leaves open in which order keys come that are seen in the same runs. The nodes of a cluster run the same code, so a state
//! that was tried on one of them tells less on the next than a state that was tried nowhere: those go first. And a key may be worth
//! another look at once; who says so is not known here.

use std::collections::VecDeque;

/// How many trials in a row a key may miss before it waits.
const MISSES_MAX: u32 = 3;

/// What is known of a key.
#[derive(Debug, Clone, Default)]
struct Info {
    /// How many keys that were seen before it are the same on another node.
    twins: u32,
    /// Whether it had a turn since budgets were given.
    is_tried: bool,
    /// Injections that are left.
    budget: u32,
    /// Trials that are for it and not over.
    open: u32,
    misses: u32,
    /// Trials in which it was seen, and requests in all of them: those without a fault as soon as there is one.
    trials: u64,
    requests: u64,
    is_whole: bool,
}

impl Info {
    fn is_used_up(&self) -> bool {
        self.budget == 0 || self.misses >= MISSES_MAX
    }

    fn has_room(&self) -> bool {
        !self.is_used_up() && self.budget > self.open
    }
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct RoundRobin {
    budget: u32,
    list: VecDeque<u32>,
    keys: Vec<Info>,
    resets: u64,
}

impl RoundRobin {
    pub(crate) fn new(budget: u32) -> RoundRobin {
        RoundRobin { budget: budget.max(1), list: VecDeque::new(), keys: Vec::new(), resets: 0 }
    }

    /// A trial had requests with this key, of which there are so many twins on other nodes. One that is new is at the end of the
    /// list, or before those that nobody has tried and that have more twins. Keys are numbered from 0. The trial is whole if it had no
    /// fault, and so all requests count.
    pub(crate) fn seen(&mut self, key: u32, twins: u32, requests: u64, is_whole: bool) {
        while self.keys.len() <= key as usize {
            let waits = |&it: &u32| {
                let info = &self.keys[it as usize];
                !info.is_tried && info.twins > twins
            };
            let at = self.list.iter().position(waits).unwrap_or(self.list.len());
            self.list.insert(at, self.keys.len() as u32);
            self.keys.push(Info { budget: self.budget, twins, ..Info::default() });
        }
        let info = &mut self.keys[key as usize];
        if info.is_whole && !is_whole {
            return;
        }
        if is_whole && !info.is_whole {
            (info.is_whole, info.trials, info.requests) = (true, 0, 0);
        }
        info.trials += 1;
        info.requests += requests;
    }

    /// The key that the next trial is for. None changes nothing: there is no key, or all that is left is being tried.
    pub(crate) fn next(&mut self) -> Option<u32> {
        let used_up = self.keys.iter().all(|it| it.is_used_up() && it.open == 0);
        if used_up && !self.keys.is_empty() {
            self.resets += 1;
            for info in &mut self.keys {
                (info.budget, info.misses, info.is_tried) = (self.budget, 0, false);
            }
            let mut list: Vec<u32> = (0..self.keys.len() as u32).collect();
            list.sort_by_key(|&it| self.keys[it as usize].twins);
            self.list = list.into();
        }
        let at = self.list.iter().position(|&it| self.keys[it as usize].has_room())?;
        // What lies before it has used up its budget, or would by what is open.
        for _ in 0..at {
            let passed = self.list.pop_front().expect("it was just found behind this one");
            if !self.keys[passed as usize].is_used_up() {
                self.list.push_back(passed);
            }
        }
        let key = self.list.pop_front().expect("it was just found");
        self.list.push_back(key);
        let info = &mut self.keys[key as usize];
        (info.open, info.is_tried) = (info.open + 1, true);
        Some(key)
    }

    /// The trial for a key is over. One that is worth another look goes to the front, until its budget is used up.
    pub(crate) fn told(&mut self, key: u32, injected: bool, again: bool) {
        let info = &mut self.keys[key as usize];
        info.open = info.open.saturating_sub(1);
        if injected {
            info.budget = info.budget.saturating_sub(1);
            info.misses = 0;
        } else {
            info.misses += 1;
        }
        let at = self.list.iter().position(|&it| it == key).filter(|_| again && !info.is_used_up());
        if let Some(key) = at.and_then(|at| self.list.remove(at)) {
            self.list.push_front(key);
        }
    }

    /// The chance of each request of a key, so that all of them are passed over with a chance of `epsilon` only.
    pub(crate) fn chance(&self, key: u32, epsilon: f64) -> f64 {
        let info = &self.keys[key as usize];
        chance(info.requests as f64 / info.trials.max(1) as f64, epsilon)
    }

    /// How often all budgets were given anew.
    pub(crate) fn resets(&self) -> u64 {
        self.resets
    }
}

/// The chance of each of some requests (LEGOLAS 4.3). One more than there are is assumed, so that the first of two or three
/// is not almost certain. In millionths, so that it is the same number when a plan was written down and read again.
pub(crate) fn chance(requests: f64, epsilon: f64) -> f64 {
    const PARTS: f64 = 1e6;
    let exact = 1.0 - (epsilon.ln() / (requests.max(0.0) + 1.0)).exp();
    (exact * PARTS).ceil() / PARTS
}

#[cfg(test)]
mod tests {
    use super::*;

    fn with_keys(budget: u32, keys: u32) -> RoundRobin {
        let mut it = RoundRobin::new(budget);
        (0..keys).for_each(|key| it.seen(key, 0, 10, true));
        it
    }

    /// The keys of so many trials, each of which injects where `injects` says so.
    fn trials(it: &mut RoundRobin, count: usize, injects: impl Fn(u32) -> bool) -> Vec<u32> {
        let trial = |_| {
            let key = it.next().expect("there is a key");
            it.told(key, injects(key), false);
            key
        };
        (0..count).map(trial).collect()
    }

    #[test]
    fn each_trial_is_for_another_key_until_budgets_are_used_up_and_given_anew() {
        let mut it = with_keys(2, 3);
        assert_eq!(trials(&mut it, 6, |_| true), [0, 1, 2, 0, 1, 2]);
        assert_eq!(it.resets(), 0);
        assert_eq!(trials(&mut it, 4, |_| true), [0, 1, 2, 0]);
        assert_eq!(it.resets(), 1);
    }

    #[test]
    fn a_key_that_is_found_later_comes_at_the_end_of_the_list() {
        let mut it = with_keys(5, 2);
        assert_eq!(trials(&mut it, 1, |_| true), [0]);
        it.seen(2, 0, 1, true);
        assert_eq!(trials(&mut it, 4, |_| true), [1, 0, 2, 1]);
    }

    #[test]
    fn what_was_tried_on_no_node_goes_before_its_twins() {
        let mut it = RoundRobin::new(5);
        // Two states on three nodes, then one that is found when a trial is over.
        for (key, twins) in [0, 1, 2, 0, 1, 2].into_iter().enumerate() {
            it.seen(key as u32, twins, 10, true);
        }
        assert_eq!(trials(&mut it, 3, |_| true), [0, 3, 1]);
        it.seen(6, 0, 10, true);
        assert_eq!(trials(&mut it, 8, |_| true), [6, 4, 2, 5, 0, 3, 1, 6]);
        let mut it = RoundRobin::new(1);
        (0..4).for_each(|key| it.seen(key, key % 2, 10, true));
        let twice = [0, 2, 1, 3, 0, 2, 1, 3];
        assert_eq!(trials(&mut it, 8, |_| true), twice);
    }

    #[test]
    fn a_key_that_is_not_reached_any_more_does_not_stop_the_others() {
        let mut it = with_keys(1, 2);
        // 0 is never reached: it has its turns, and then everybody gets a budget again.
        assert_eq!(trials(&mut it, 6, |key| key != 0), [0, 1, 0, 0, 0, 1]);
        assert_eq!(it.resets(), 1);
    }

    #[test]
    fn trials_side_by_side_do_not_overdraw_a_budget() {
        let mut it = with_keys(1, 2);
        assert_eq!((it.next(), it.next()), (Some(0), Some(1)));
        assert_eq!(it.next(), None);
        it.told(0, false, false);
        assert_eq!(it.next(), Some(0), "a trial without an injection cost nothing");
    }

    #[test]
    fn what_is_worth_another_look_is_next_until_its_budget_is_used_up() {
        let mut it = with_keys(3, 3);
        assert_eq!(it.next(), Some(0));
        it.told(0, true, true);
        assert_eq!((it.next(), it.next()), (Some(0), Some(1)));
        it.told(0, true, true);
        it.told(1, true, false);
        assert_eq!(it.next(), Some(0));
        it.told(0, true, true);
        assert_eq!(trials(&mut it, 3, |_| true), [2, 1, 2], "its budget is used up");
    }

    #[test]
    fn nothing_seen_gives_nothing() {
        assert_eq!(RoundRobin::new(5).next(), None);
    }

    #[test]
    fn the_chance_is_that_of_the_paper() {
        // c requests are all passed over with a chance a little above epsilon.
        for (requests, expected) in [(0u64, 0.99), (1, 0.9), (9, 0.369), (99, 0.045), (999, 0.0046)] {
            let mut it = RoundRobin::new(5);
            it.seen(0, 0, requests, true);
            assert!((it.chance(0, 0.01) - expected).abs() < 0.01 * expected, "{requests}");
        }
        let mut it = RoundRobin::new(5);
        it.seen(0, 0, 10, true);
        it.seen(0, 0, 30, true);
        it.seen(0, 0, 5, false);
        assert_eq!(it.chance(0, 0.01), chance(20.0, 0.01), "the mean of the whole trials that had any");
        let mut it = RoundRobin::new(5);
        it.seen(0, 0, 5, false);
        assert_eq!(it.chance(0, 0.01), chance(5.0, 0.01), "what there is");
        it.seen(0, 0, 9, true);
        assert_eq!(it.chance(0, 0.01), chance(9.0, 0.01));
    }
}
