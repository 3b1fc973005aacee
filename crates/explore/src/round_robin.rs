//! Budgeted round robin over states (LEGOLAS 4.3, Algorithm 2). It knows numbers only.
//!
//! A key is a state on a node, and has a budget of injections; when every key has used up its own, all get it anew. A trial whose
//! key was not reached costs no budget, so a key that is never reached again would be tried for ever: after some misses in a row
//! it waits for the next time that budgets are given.
//!
//! Each trial is for the state at the front, which then goes to the back. The paper leaves open what becomes of states that
//! several nodes have. The nodes of a cluster run the same code, so the state takes its turn as one, each time on the next of
//! its nodes: else what only a leader does would wait until all that everybody does was tried on everybody. A state that was never
//! tried goes before those that were. And a key may be worth another look at once; who says so is not known here.

use std::collections::VecDeque;

/// Maximum number of successive trials that a key may miss before it waits.
const MISSES_MAX: u32 = 3;

/// Knowledge about a key.
#[derive(Debug, Clone, Default)]
struct Info {
    /// Its state, by number.
    state: u32,
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

/// A state, and its keys: that of the node whose turn it is comes first.
#[derive(Debug, Clone, Default)]
struct State {
    keys: VecDeque<u32>,
    /// True if it ever had a turn.
    is_tried: bool,
}

/// See the module.
#[derive(Debug, Clone)]
pub(crate) struct RoundRobin {
    budget: u32,
    /// The states, by their numbers, in the order of their turns.
    list: VecDeque<u32>,
    states: Vec<State>,
    keys: Vec<Info>,
    resets: u64,
}

impl RoundRobin {
    pub(crate) fn new(budget: u32) -> RoundRobin {
        let (list, states, keys) = (VecDeque::new(), Vec::new(), Vec::new());
        RoundRobin { budget: budget.max(1), list, states, keys, resets: 0 }
    }

    /// A trial had requests with this key, which is of this state. Both are numbered from 0, in the order in which they are first
    /// said here. The trial is whole if it had no fault, and so all requests count.
    pub(crate) fn seen(&mut self, key: u32, state: u32, requests: u64, is_whole: bool) {
        if self.states.len() <= state as usize {
            assert_eq!(
                self.states.len(),
                state as usize,
                "states are numbered in the order in which they come"
            );
            let is_tried = |&it: &u32| self.states[it as usize].is_tried;
            let at = self.list.iter().position(is_tried).unwrap_or(self.list.len());
            self.list.insert(at, state);
            self.states.push(State::default());
        }
        if self.keys.len() <= key as usize {
            assert_eq!(self.keys.len(), key as usize, "keys are numbered in the order in which they come");
            // Before those that had their turn, which are at the back.
            self.states[state as usize].keys.push_front(key);
            self.keys.push(Info { state, budget: self.budget, ..Info::default() });
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
                (info.budget, info.misses) = (self.budget, 0);
            }
        }
        let (at, turn) = self.list.iter().enumerate().find_map(|(at, &state)| {
            let keys = &self.states[state as usize].keys;
            Some((at, keys.iter().position(|&it| self.keys[it as usize].has_room())?))
        })?;
        let state = self.list.remove(at).expect("it was just found there");
        self.list.push_back(state);
        let state = &mut self.states[state as usize];
        state.is_tried = true;
        let key = state.keys.remove(turn).expect("it was just found there");
        state.keys.push_back(key);
        self.keys[key as usize].open += 1;
        Some(key)
    }

    /// The trial for a key is over. One that is worth another look is next, until its budget is used up.
    pub(crate) fn told(&mut self, key: u32, injected: bool, again: bool) {
        let info = &mut self.keys[key as usize];
        info.open = info.open.saturating_sub(1);
        if injected {
            info.budget = info.budget.saturating_sub(1);
            info.misses = 0;
        } else {
            info.misses += 1;
        }
        if again && !info.is_used_up() {
            let state = info.state;
            to_front(&mut self.states[state as usize].keys, key);
            to_front(&mut self.list, state);
        }
    }

    /// The chance of each request of a key, so that all of them are passed over with a chance of `epsilon` only.
    pub(crate) fn chance(&self, key: u32, epsilon: f64) -> f64 {
        let info = &self.keys[key as usize];
        chance(info.requests as f64 / info.trials.max(1) as f64, epsilon)
    }

    /// Number of restarts of all budgets.
    pub(crate) fn resets(&self) -> u64 {
        self.resets
    }
}

fn to_front(list: &mut VecDeque<u32>, number: u32) {
    if let Some(it) = list.iter().position(|&it| it == number).and_then(|at| list.remove(at)) {
        list.push_front(it);
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

    /// So many states, each on one node.
    fn with_states(budget: u32, states: u32) -> RoundRobin {
        let mut it = RoundRobin::new(budget);
        (0..states).for_each(|key| it.seen(key, key, 10, true));
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
    fn each_trial_is_for_another_state_until_budgets_are_used_up_and_given_anew() {
        let mut it = with_states(2, 3);
        assert_eq!(trials(&mut it, 6, |_| true), [0, 1, 2, 0, 1, 2]);
        assert_eq!(it.resets(), 0);
        assert_eq!(trials(&mut it, 4, |_| true), [0, 1, 2, 0]);
        assert_eq!(it.resets(), 1);
    }

    #[test]
    fn what_was_never_tried_goes_first() {
        let mut it = with_states(5, 3);
        assert_eq!(trials(&mut it, 1, |_| true), [0]);
        it.seen(3, 3, 1, true);
        assert_eq!(trials(&mut it, 5, |_| true), [1, 2, 3, 0, 1]);
    }

    #[test]
    fn a_state_of_several_nodes_takes_its_turn_as_one_each_time_on_another() {
        let mut it = RoundRobin::new(2);
        // One state on three nodes, and one on the first of them.
        for (key, state) in [0, 1, 0, 0].into_iter().enumerate() {
            it.seen(key as u32, state, 10, true);
        }
        assert_eq!(trials(&mut it, 6, |_| true), [3, 1, 2, 1, 0, 3]);
        assert_eq!(trials(&mut it, 2, |_| true), [2, 0], "the other state has used its budget up");
        assert_eq!(it.resets(), 0);
        it.seen(4, 0, 10, true);
        assert_eq!(trials(&mut it, 1, |_| true), [4], "another node, before those that had their turn");
    }

    #[test]
    fn a_key_that_is_not_reached_any_more_does_not_stop_the_others() {
        let mut it = with_states(1, 2);
        // 0 is never reached: it has its turns, and then everybody gets a budget again.
        assert_eq!(trials(&mut it, 6, |key| key != 0), [0, 1, 0, 0, 1, 0]);
        assert_eq!(it.resets(), 1);
    }

    #[test]
    fn trials_side_by_side_do_not_overdraw_a_budget() {
        let mut it = with_states(1, 2);
        assert_eq!((it.next(), it.next()), (Some(0), Some(1)));
        assert_eq!(it.next(), None);
        it.told(0, false, false);
        assert_eq!(it.next(), Some(0), "a trial without an injection cost nothing");
    }

    #[test]
    fn what_is_worth_another_look_is_next_until_its_budget_is_used_up() {
        let mut it = with_states(3, 3);
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
    fn another_look_is_on_the_same_node() {
        let mut it = RoundRobin::new(3);
        (0..2).for_each(|key| it.seen(key, 0, 10, true));
        let first = it.next().unwrap();
        it.told(first, true, true);
        assert_eq!(it.next(), Some(first));
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
