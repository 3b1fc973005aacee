//! The search: what is tried next, and what is learnt from what came of it.
//!
//! With the names of the paper (ANDURIL, section 5.2): the priority `I` of an observable rises with every round that shows it, so
//! that what no round has shown yet comes first; the priority of a choice is `F = min (L + I)` over the observables that it leads
//! to, `L` being its distance in the causal graph; of its instances the one comes first that is nearest, in the log, to the
//! observable that gave the minimum. Smaller is better throughout. The first ones, as many as the window is wide, are tried
//! together: whichever is reached first happens. A round in which nothing happened doubles the window and changes no priority; what
//! was not reached in several of them is given up.
//!
//! What goes past the paper is in [`policy`](crate::policy), with all weights.

mod aim;

use std::cell::RefCell;
use std::collections::BinaryHeap;
use std::sync::Arc;

use hypocenter_trace::hash;
use rustc_hash::{FxHashMap, FxHashSet};

use crate::policy;
use crate::space::{Instance, Observable, Space};
use crate::strategy::Strategy;

pub use self::aim::Aim;

/// How many instances before and behind an entry are looked at to see how near a site is executed.
const BESIDE: usize = 64;
/// How many instances of a site are kept in order for an observable at first; when they are used up, more are.
const NEAREST_KEPT: usize = 32;
/// How many instances of a site the strategies with a limit try.
const INSTANCES_LIMIT: usize = 3;

/// A fault at an instance.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash, PartialOrd, Ord)]
pub struct Pick {
    /// The choice, as an index into [`Space::choices`].
    pub choice: u32,
    /// The instance, as an index into those of its site.
    pub instance: u32,
}

/// What can be set.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct SearchOptions {
    /// How it chooses.
    pub strategy: Strategy,
    /// How many faults are tried together at first.
    pub window: usize,
    /// What an observable that was shown loses, in steps of the causal graph.
    pub step: u32,
    /// All chance follows from this.
    pub seed: u64,
}

/// See the module.
#[derive(Debug)]
pub struct Search {
    space: Arc<Space>,
    options: SearchOptions,
    /// `I` of each observable.
    shown: Vec<u32>,
    /// How much of that is of rounds that did not show it although their fault was the nearest.
    unmoved: Vec<u32>,
    /// For each site and observable how near the site is executed to it, in bits of entries.
    near: Vec<Vec<u32>>,
    /// For each site how often it was tried without success.
    failed: Vec<u32>,
    /// For each choice whether it can be done at all.
    possible: Vec<bool>,
    tried: FxHashSet<Pick>,
    /// For each choice how often it was tried.
    tried_of: FxHashMap<u32, usize>,
    /// In how many rounds without any fault a pick was not reached.
    missed: FxHashMap<Pick, u32>,
    /// Stacks with which a choice was tried.
    tried_stacks: FxHashSet<(u32, u64)>,
    window: usize,
    /// For sites and observables, as far as they were asked for, the instances that are nearest, in order. They follow from the
    /// space alone, and there may be a million of them: what is known is not found out again in every round.
    nearest: RefCell<FxHashMap<(u32, u32), Vec<Near>>>,
    /// `F` of choices with the observable that gives it, as far as it was asked for since the last feedback.
    priorities: RefCell<Vec<Option<Priority>>>,
}

/// `F` of a choice, and the observable that gives it; nothing if it leads to none.
type Priority = Option<(u32, u32)>;

/// An instance with its temporal distance to an observable, and its order.
type Near = ((u32, u32), u32, u32);

/// A choice with its priority.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
struct Ranked {
    priority: u64,
    nearness: (u32, u32),
    order: u32,
    pick: Pick,
}

impl Search {
    /// A search that has tried nothing yet.
    pub fn new(space: Arc<Space>, options: SearchOptions) -> Search {
        let is_full = options.strategy == Strategy::Full;
        Search {
            shown: space.observables.iter().map(|it| if is_full { it.remote } else { 0 }).collect(),
            unmoved: vec![0; space.observables.len()],
            near: if is_full { nearest_of_sites(&space) } else { Vec::new() },
            failed: vec![0; space.instances.len()],
            possible: vec![true; space.choices.len()],
            tried: FxHashSet::default(),
            tried_of: FxHashMap::default(),
            missed: FxHashMap::default(),
            tried_stacks: FxHashSet::default(),
            window: options.window.max(1),
            nearest: RefCell::default(),
            priorities: RefCell::new(vec![None; space.choices.len()]),
            options,
            space,
        }
    }

    /// What is searched.
    pub fn space(&self) -> &Space {
        &self.space
    }

    /// How many faults are tried together now.
    pub fn window(&self) -> usize {
        self.window
    }

    /// What is to be tried next, best first; empty if all was tried. `busy` is being tried at this time.
    pub fn next(&self, busy: &[Pick]) -> Vec<Pick> {
        self.next_among(busy, &|_| true)
    }

    /// The same, among some choices alone.
    pub fn next_among(&self, busy: &[Pick], is_meant: &dyn Fn(u32) -> bool) -> Vec<Pick> {
        // One by chance out of several would be the one that is reached first.
        let is_alone = self.options.strategy == Strategy::Random;
        let window = if is_alone { self.window / self.options.window.max(1) } else { self.window };
        let mut best: BinaryHeap<Ranked> = BinaryHeap::new();
        self.each_ranked(busy, &mut |it| {
            if !is_meant(it.pick.choice) {
                return;
            }
            if best.len() < window {
                best.push(it);
            } else if let Some(mut worst) = best.peek_mut()
                && it < *worst
            {
                *worst = it;
            }
        });
        let mut ranked = best.into_sorted_vec();
        if let (Strategy::Full, Some(best)) = (self.options.strategy, ranked.first()) {
            let wider = (self.window / self.options.window.max(1)) as u64;
            let worst = best.priority + u64::from(policy::MARGIN.weight) * wider;
            ranked.retain(|it| it.priority <= worst);
            // What is less likely is not to happen instead of the best because it is reached earlier. What was not reached when
            // it was asked for keeps nobody waiting.
            if let Some(best) = ranked.iter().find(|it| !self.missed.contains_key(&it.pick)).copied() {
                let likely = |it: &Ranked| (it.priority, it.nearness.0);
                ranked.retain(|it| it.order > best.order || likely(it) <= likely(&best));
            }
        }
        ranked.into_iter().map(|it| it.pick).collect()
    }

    /// The sites that are left, best first: each stands where the best of its choices does.
    pub fn sites(&self) -> Vec<u32> {
        let mut best: FxHashMap<u32, Ranked> = FxHashMap::default();
        self.each_ranked(&[], &mut |it| {
            let of_site = best.entry(self.space.choices[it.pick.choice as usize].site).or_insert(it);
            *of_site = it.min(*of_site);
        });
        let mut ranked: Vec<(Ranked, u32)> = best.into_iter().map(|(site, it)| (it, site)).collect();
        ranked.sort_unstable();
        ranked.into_iter().map(|it| it.1).collect()
    }

    /// What the strategy holds for no less likely than this one, and has not tried: other choices of no worse priority that were tried at
    /// no instance yet, each at its nearest, and then further instances of this one that are as near to what is missing. If it leads to one of the observables in
    /// `goals`, those that lead to none of them are not meant. No more than `limit`.
    pub fn as_likely(&self, pick: Pick, goals: &[u32], limit: usize) -> Vec<Pick> {
        let has_nearness = matches!(self.options.strategy, Strategy::Full | Strategy::TwoLevel);
        let Some((_, observable)) = self.priority(pick.choice, true).filter(|_| has_nearness) else {
            return Vec::new();
        };
        let mut ranked: Vec<Ranked> = Vec::new();
        self.each_ranked(&[], &mut |it| ranked.push(it));
        let own = ranked.iter().find(|it| it.pick.choice == pick.choice).map(|it| it.priority);
        // What was tried beside it without success is no other explanation.
        let is_new = |choice: u32| choice != pick.choice && !self.tried_of.contains_key(&choice);
        ranked.retain(|it| is_new(it.pick.choice) && own.is_some_and(|own| it.priority <= own));
        let leads = |choice: u32| {
            let distances = &self.space.choices[choice as usize].distances;
            distances.iter().any(|(observable, _)| goals.contains(observable))
        };
        if leads(pick.choice) {
            ranked.retain(|it| leads(it.pick.choice));
        }
        ranked.sort_unstable();
        let instances = self.space.instances_of(pick.choice);
        let near = |it: &Instance| self.nearness(it, &self.space.observables[observable as usize]);
        let as_near =
            instances.iter().zip(0..).filter(|(it, _)| near(it) == near(&instances[pick.instance as usize]));
        let others = as_near.map(|(_, instance)| Pick { instance, ..pick });
        let others = others.filter(|it| *it != pick && !self.tried.contains(it));
        ranked.into_iter().map(|it| it.pick).chain(others).take(limit).collect()
    }

    /// A fault happened and the failure did not: these observables were shown.
    pub fn failed(&mut self, pick: Pick, shown: impl IntoIterator<Item = u32>) {
        self.used(pick);
        let aimed = self.priority(pick.choice, true).map(|(_, observable)| observable);
        self.failed[self.space.choices[pick.choice as usize].site as usize] += 1;
        let mut shown: Vec<u32> = shown.into_iter().collect();
        if self.options.strategy == Strategy::Full {
            // What does not come even from the fault that is nearest to it may have another reason than a fault.
            let unmoved = aimed.filter(|it| !shown.contains(it));
            unmoved.into_iter().for_each(|it| self.unmoved[it as usize] += self.options.step);
            shown.extend(unmoved);
        }
        for &observable in &shown {
            self.shown[observable as usize] += self.options.step;
        }
        // The others stay the least for what they are the least for: none has become less.
        let shown: FxHashSet<u32> = shown.into_iter().collect();
        for known in self.priorities.get_mut() {
            if known.flatten().is_some_and(|(_, observable)| shown.contains(&observable)) {
                *known = None;
            }
        }
    }

    /// A fault happened, whatever came of it: it is not tried again.
    pub fn used(&mut self, pick: Pick) {
        *self.tried_of.entry(pick.choice).or_default() += usize::from(self.tried.insert(pick));
        let stack = self.space.instances_of(pick.choice)[pick.instance as usize].stack;
        self.tried_stacks.insert((pick.choice, stack));
    }

    /// Whether a fault has happened.
    pub fn was_tried(&self, pick: Pick) -> bool {
        self.tried.contains(&pick)
    }

    /// Nothing happened in a round, although any of these might have.
    pub fn missed(&mut self, picks: &[Pick]) {
        self.window = self.window.saturating_mul(policy::WIDER.weight as usize);
        for &pick in picks {
            let times = self.missed.entry(pick).or_default();
            *times += 1;
            if *times == policy::GIVEN_UP.weight {
                self.tried.insert(pick);
            }
        }
    }

    /// How many choices turned out to be impossible.
    pub fn refused(&self) -> usize {
        self.possible.iter().filter(|it| !**it).count()
    }

    /// A choice cannot be done.
    pub fn impossible(&mut self, choice: u32) {
        self.possible[choice as usize] = false;
    }

    /// Everything that is left, in no order.
    fn each_ranked(&self, busy: &[Pick], found: &mut dyn FnMut(Ranked)) {
        let choices = 0..self.space.choices.len() as u32;
        let open = choices.filter(|&choice| self.possible[choice as usize]);
        let is_open = |pick: &Pick| !self.tried.contains(pick) && !busy.contains(pick);
        let stack = |pick: &Pick| self.space.instances_of(pick.choice)[pick.instance as usize].stack;
        match self.options.strategy {
            Strategy::Full | Strategy::TwoLevel => {
                open.filter_map(|it| self.nearest(it, &is_open)).for_each(found);
            }
            Strategy::Distance => {
                open.filter_map(|it| self.first(it, usize::MAX, false, &is_open)).for_each(found);
            }
            Strategy::DistanceLimit => {
                open.filter_map(|it| self.first(it, INSTANCES_LIMIT, false, &is_open)).for_each(found);
            }
            Strategy::SiteFeedback => {
                open.filter_map(|it| self.first(it, INSTANCES_LIMIT, true, &is_open)).for_each(found);
            }
            Strategy::Exhaustive => {
                self.each(open, &is_open, |_, instance| u64::from(instance.order)).for_each(found);
            }
            Strategy::Multiply => {
                self.each(open, &is_open, |choice, instance| self.product(choice, instance)).for_each(found);
            }
            Strategy::Random => {
                let seed = self.options.seed ^ self.tried.len() as u64;
                let chance = |choice: u32, instance: &Instance| {
                    hash::word(u64::from(instance.order), hash::word(u64::from(choice), seed))
                };
                self.each(open, &is_open, chance).for_each(found);
            }
            Strategy::Stacktrace => {
                let logged = |pick: &Pick| {
                    let stacks = self.space.logged.get(pick.choice as usize);
                    stacks.is_some_and(|it| it.binary_search(&stack(pick)).is_ok()) && is_open(pick)
                };
                self.each(open, &logged, |_, instance| u64::from(instance.order)).for_each(found);
            }
            Strategy::Fate => {
                let new =
                    |pick: &Pick| !self.tried_stacks.contains(&(pick.choice, stack(pick))) && is_open(pick);
                self.each(open, &new, |_, instance| u64::from(instance.order)).for_each(found);
            }
        }
    }

    /// `F` of a choice. It is asked for again and again between two rounds, and there are many observables.
    fn priority(&self, choice: u32, feedback: bool) -> Priority {
        if !feedback {
            return self.priority_now(choice, false);
        }
        let known = self.priorities.borrow()[choice as usize];
        known.unwrap_or_else(|| {
            let found = self.priority_now(choice, true);
            self.priorities.borrow_mut()[choice as usize] = Some(found);
            found
        })
    }

    fn priority_now(&self, choice: u32, feedback: bool) -> Priority {
        let shown = |observable: u32| if feedback { self.shown[observable as usize] } else { 0 };
        let near = self.near.get(self.space.choices[choice as usize].site as usize);
        let near = |observable: u32| near.map_or(0, |it| it[observable as usize]);
        let distances = &self.space.choices[choice as usize].distances;
        distances
            .iter()
            .map(|&(observable, distance)| {
                (distance.saturating_add(shown(observable)).saturating_add(near(observable)), observable)
            })
            .min()
    }

    /// A choice at the instance that is nearest to its observable.
    fn nearest(&self, choice: u32, is_open: &impl Fn(&Pick) -> bool) -> Option<Ranked> {
        let (priority, observable) = self.priority(choice, true)?;
        let site = self.space.choices[choice as usize].site;
        let open = |&(nearness, order, instance): &Near| {
            let pick = Pick { choice, instance };
            is_open(&pick).then_some((nearness, order, pick))
        };
        let mut known = self.nearest.borrow_mut();
        let nearest = known.entry((site, observable)).or_default();
        let roams = self.space.roams.get(choice as usize).is_some_and(|it| *it);
        let skipped = if roams { (1_usize << self.times(choice).min(20)) - 1 } else { 0 };
        let (nearness, order, pick) = loop {
            let beyond = nearest.iter().skip(skipped).find_map(open);
            let instances = self.space.instances_of(choice);
            let is_all = nearest.len() == instances.len();
            if let Some(found) =
                beyond.or_else(|| nearest.iter().find_map(open).filter(|_| skipped == 0 || is_all))
            {
                break found;
            }
            if is_all {
                return None;
            }
            let count = NEAREST_KEPT.max(8 * nearest.len());
            *nearest = self.nearest_instances(instances, observable, count);
        };
        // Of the site it counts how near it is executed at all; of what is left of it, how near that is.
        let near = self.near.get(site as usize).map_or(0, |it| it[observable as usize]);
        let farther = nearness.0.saturating_sub(near);
        let priority = u64::from(priority) + u64::from(farther) + self.failed_points(site);
        Some(Ranked { priority, nearness, order, pick })
    }

    /// What failed rounds cost a site.
    fn failed_points(&self, site: u32) -> u64 {
        let failed = u64::from(self.failed[site as usize]);
        let failed = match self.options.strategy {
            // The more often it failed, the less the next moment is likely to do it.
            Strategy::Full => failed * (failed + 1) / 2,
            _ => failed,
        };
        failed * u64::from(self.options.step)
    }

    /// Whether it goes by all rules.
    pub(crate) fn is_full(&self) -> bool {
        self.options.strategy == Strategy::Full
    }

    /// How often a choice was tried.
    fn times(&self, choice: u32) -> usize {
        self.tried_of.get(&choice).copied().unwrap_or(0)
    }

    /// The instances that are nearest to an observable, in order.
    fn nearest_instances(&self, instances: &[Instance], observable: u32, count: usize) -> Vec<Near> {
        let observable = &self.space.observables[observable as usize];
        let near = |(at, it): (usize, &Instance)| (self.nearness(it, observable), it.order, at as u32);
        let mut all: Vec<Near> = instances.iter().enumerate().map(near).collect();
        if count < all.len() {
            all.select_nth_unstable(count);
            all.truncate(count);
            all.shrink_to_fit();
        }
        all.sort_unstable();
        all
    }

    /// How far an instance is from an observable.
    fn nearness(&self, instance: &Instance, observable: &Observable) -> (u32, u32) {
        (if self.is_full() { observable.apart(instance) } else { 0 }, observable.distance(instance))
    }

    /// A choice at the first instance that is open.
    fn first(
        &self,
        choice: u32,
        limit: usize,
        feedback: bool,
        is_open: &impl Fn(&Pick) -> bool,
    ) -> Option<Ranked> {
        let (priority, _) = self.priority(choice, feedback)?;
        let instances = self.space.instances_of(choice).iter().enumerate().take(limit);
        let picks = instances.map(|(at, it)| (it.order, Pick { choice, instance: at as u32 }));
        let (order, pick) = picks.into_iter().find(|(_, pick)| is_open(pick))?;
        Some(Ranked { priority: priority.into(), nearness: (0, 0), order, pick })
    }

    /// Every choice at every instance.
    fn each<'a>(
        &'a self,
        choices: impl Iterator<Item = u32> + 'a,
        is_open: &'a impl Fn(&Pick) -> bool,
        priority: impl Fn(u32, &Instance) -> u64 + 'a,
    ) -> impl Iterator<Item = Ranked> + 'a {
        let of_choice = |choice: u32| {
            let instances = self.space.instances_of(choice).iter().enumerate();
            instances.map(move |(at, it)| (it, Pick { choice, instance: at as u32 }))
        };
        choices.flat_map(of_choice).filter(|(_, pick)| is_open(pick)).map(move |(it, pick)| Ranked {
            priority: priority(pick.choice, it),
            nearness: (0, 0),
            order: it.order,
            pick,
        })
    }

    fn product(&self, choice: u32, instance: &Instance) -> u64 {
        let of_observable = |&(observable, distance): &(u32, u32)| {
            let site = u64::from(distance) + u64::from(self.shown[observable as usize]);
            site * u64::from(self.space.observables[observable as usize].distance(instance)).max(1)
        };
        self.space.choices[choice as usize].distances.iter().map(of_observable).min().unwrap_or(u64::MAX)
    }
}

/// For each site and observable the temporal distance of the nearest instance, in bits.
fn nearest_of_sites(space: &Space) -> Vec<Vec<u32>> {
    let of_site = |instances: &Vec<Instance>| {
        let mut sorted: Vec<Instance> = instances.clone();
        sorted.sort_unstable_by_key(|it| it.position);
        let nearest = |observable: &Observable| {
            // Beside each entry the last instances before it and the first behind are the nearest; a few more, since they
            // may be of other threads. Entries that are near to one another have the same ones beside them.
            let mut done = 0;
            let beside = observable.entries.iter().flat_map(|&entry| {
                let behind = sorted.partition_point(|it| it.position <= entry);
                let from = behind.saturating_sub(BESIDE);
                let to = (from + 2 * BESIDE).min(sorted.len());
                &sorted[from.max(std::mem::replace(&mut done, to))..to]
            });
            beside.map(|it| observable.apart(it)).min().unwrap_or(u32::BITS)
        };
        space.observables.iter().map(nearest).collect()
    };
    space.instances.iter().map(of_site).collect()
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::space::{Choice, Thread};

    fn instance(order: u32, position: u32) -> Instance {
        Instance { position, order, stack: u64::from(position), ..Instance::default() }
    }

    /// Two observables, at entries 10 and 50. Choice 0 is near the first, choice 1 near the second, choice 2 leads to both from
    /// afar, choice 3 to none.
    fn space() -> Arc<Space> {
        Arc::new(Space {
            observables: vec![
                Observable::new(vec![(10, Thread::default())], &[], 0),
                Observable::new(vec![(50, Thread::default())], &[], 0),
            ],
            choices: vec![
                Choice { site: 0, distances: vec![(0, 1)] },
                Choice { site: 1, distances: vec![(1, 2)] },
                Choice { site: 2, distances: vec![(0, 5), (1, 6)] },
                Choice { site: 3, distances: vec![] },
            ],
            instances: vec![
                vec![instance(0, 0), instance(2, 9), instance(5, 30)],
                vec![instance(1, 5), instance(6, 49)],
                vec![instance(3, 9), instance(7, 48)],
                vec![instance(4, 10)],
            ],
            // The failure log has choice 1 as it was reached at entry 49.
            logged: vec![vec![], vec![49], vec![], vec![]],
            roams: Vec::new(),
        })
    }

    fn search(strategy: Strategy, window: usize) -> Search {
        Search::new(space(), SearchOptions { strategy, window, step: 1, seed: 7 })
    }

    fn rank(search: &Search, choice: u32) -> Option<usize> {
        let site = search.space().choices[choice as usize].site;
        search.sites().iter().position(|&it| it == site).map(|it| it + 1)
    }

    fn pairs(picks: &[Pick]) -> Vec<(u32, u32)> {
        picks.iter().map(|it| (it.choice, it.instance)).collect()
    }

    #[test]
    fn the_points_of_everything_that_is_left_add_up_to_its_priority() {
        for strategy in Strategy::ALL {
            let mut search = search(strategy, 4);
            let mut seen = 0;
            while let Some(&pick) = search.next(&[]).first() {
                search.each_ranked(&[], &mut |it| {
                    let Some(aim) = search.aim(it.pick) else { return };
                    let less = if strategy == Strategy::Full {
                        search.space.observables[aim.observable as usize].remote
                    } else {
                        0
                    };
                    let sum = u64::from(aim.distance) + u64::from(less) + aim.rest.total();
                    assert_eq!(sum, it.priority, "{strategy}: {aim:?}");
                    seen += 1;
                });
                search.failed(pick, (pick.choice == 2).then_some(0));
            }
            let has_points = search.aim(Pick { choice: 0, instance: 0 }).is_some();
            assert_eq!(has_points, seen > 0, "{strategy}");
        }
    }

    #[test]
    fn the_nearest_site_comes_first_at_its_nearest_moment() {
        let paper = search(Strategy::TwoLevel, 10);
        assert_eq!(pairs(&paper.next(&[])), [(0, 1), (1, 1), (2, 0)]);
        let busy = [Pick { choice: 0, instance: 1 }];
        assert_eq!(pairs(&paper.next(&busy)), [(0, 0), (1, 1), (2, 0)]);
        // The third is much farther than the first, so it has to wait until nothing nearer is reached.
        let mut full = search(Strategy::Full, 10);
        assert_eq!(pairs(&full.next(&[])), [(0, 1), (1, 1)]);
        full.missed(&[]);
        assert_eq!(pairs(&full.next(&[])), [(0, 1), (1, 1), (2, 0)]);
    }

    #[test]
    fn a_site_with_many_instances_gives_them_all_the_nearest_first() {
        let count = 10 * NEAREST_KEPT as u32;
        let space = Space {
            observables: vec![Observable::new(vec![(count / 3, Thread::default())], &[], 0)],
            choices: vec![
                Choice { site: 0, distances: vec![(0, 1)] },
                Choice { site: 0, distances: vec![(0, 2)] },
            ],
            instances: vec![(0..count).map(|it| instance(it, it)).collect()],
            ..Space::default()
        };
        let space = Arc::new(space);
        let options = SearchOptions { strategy: Strategy::TwoLevel, window: 1, step: 0, seed: 0 };
        let mut search = Search::new(space.clone(), options);
        for choice in 0..2 {
            let mut distances = Vec::new();
            for _ in 0..count {
                let [pick] = search.next(&[])[..] else { panic!("something is left") };
                assert_eq!((pick.choice, rank(&search, choice)), (choice, Some(1)));
                distances.push(space.observables[0].distance(&space.instances[0][pick.instance as usize]));
                search.failed(pick, []);
            }
            assert!(distances.is_sorted(), "{distances:?}");
        }
        assert_eq!(search.next(&[]), []);
    }

    #[test]
    fn a_fault_of_which_the_moment_is_not_known_goes_farther_and_farther() {
        let space = Space {
            observables: vec![Observable::new(vec![(100, Thread::default())], &[], 0)],
            choices: vec![Choice { site: 0, distances: vec![(0, 1)] }],
            instances: vec![(0..10).map(|it| instance(it, 10 * it)).collect()],
            roams: vec![true],
            ..Space::default()
        };
        let options = SearchOptions { strategy: Strategy::Full, window: 1, step: 1, seed: 0 };
        let mut search = Search::new(Arc::new(space), options);
        let mut tried = Vec::new();
        while let [pick] = search.next(&[])[..] {
            tried.push(pick.instance);
            search.failed(pick, []);
        }
        // And then what was passed over.
        assert_eq!(tried, [9, 8, 6, 2, 7, 5, 4, 3, 1, 0]);
    }

    #[test]
    fn what_is_as_likely_is_told_while_it_is_not_tried() {
        let pick = |choice, instance| Pick { choice, instance };
        let mut paper = search(Strategy::TwoLevel, 10);
        // Nothing comes before the best, and before the third come both others.
        assert_eq!(paper.as_likely(pick(0, 1), &[], 9), []);
        assert_eq!(pairs(&paper.as_likely(pick(2, 0), &[], 9)), [(0, 1), (1, 1)]);
        assert_eq!(pairs(&paper.as_likely(pick(2, 0), &[], 1)), [(0, 1)]);
        // What leads elsewhere is no other explanation, unless that is so of the one that is to be explained too.
        assert_eq!(pairs(&paper.as_likely(pick(2, 0), &[1], 9)), [(1, 1)]);
        assert_eq!(pairs(&paper.as_likely(pick(2, 0), &[0, 1], 9)), [(0, 1), (1, 1)]);
        assert_eq!(pairs(&paper.as_likely(pick(1, 1), &[0], 9)), [(0, 1)]);
        assert_eq!(paper.as_likely(pick(1, 1), &[1], 9), []);
        for instance in 0..3 {
            paper.used(pick(0, instance));
        }
        assert_eq!(pairs(&paper.as_likely(pick(2, 0), &[], 9)), [(1, 1)]);
        // One by chance is as likely as any; that is not worth a word.
        assert_eq!(search(Strategy::Random, 10).as_likely(pick(2, 0), &[], 9), []);
        // Two moments between the same lines of the log cannot be told apart, nor can two faults that lead there alike.
        let space = Space {
            observables: vec![Observable::new(vec![(10, Thread::default())], &[], 0)],
            choices: vec![
                Choice { site: 0, distances: vec![(0, 1)] },
                Choice { site: 1, distances: vec![(0, 1)] },
            ],
            instances: vec![vec![instance(0, 9), instance(1, 9), instance(2, 2)], vec![instance(3, 9)]],
            ..Space::default()
        };
        let options = SearchOptions { strategy: Strategy::Full, window: 1, step: 1, seed: 0 };
        let mut full = Search::new(Arc::new(space), options);
        assert_eq!(pairs(&full.as_likely(pick(0, 0), &[], 9)), [(1, 0), (0, 1)]);
        full.used(pick(0, 1));
        assert_eq!(pairs(&full.as_likely(pick(0, 0), &[], 9)), [(1, 0)]);
    }

    #[test]
    fn what_was_shown_matters_less() {
        let mut search = search(Strategy::Full, 1);
        // The first observable was shown by a fault that led nowhere: now the second comes first, for all that leads to it.
        search.failed(Pick { choice: 0, instance: 1 }, [0]);
        search.failed(Pick { choice: 0, instance: 0 }, [0]);
        assert_eq!(pairs(&search.next(&[])), [(1, 1)]);
        // What is left of the first site is far from what it leads to.
        assert_eq!(rank(&search, 2), Some(2));
        assert_eq!(rank(&search, 0), Some(3));
        search.failed(Pick { choice: 1, instance: 1 }, [1]);
        assert_eq!(pairs(&search.next(&[])), [(2, 0)]);
    }

    #[test]
    fn another_site_comes_before_moments_of_the_best_that_are_far() {
        let space = Space {
            observables: vec![Observable::new(vec![(20, Thread::default())], &[], 0)],
            choices: vec![
                Choice { site: 0, distances: vec![(0, 1)] },
                Choice { site: 1, distances: vec![(0, 3)] },
            ],
            instances: vec![vec![instance(0, 0), instance(1, 18), instance(2, 20)], vec![instance(3, 20)]],
            ..Space::default()
        };
        let options = SearchOptions { strategy: Strategy::Full, window: 1, step: 1, seed: 0 };
        let mut search = Search::new(Arc::new(space), options);
        let mut tried = Vec::new();
        while let [pick] = search.next(&[])[..] {
            tried.push((pick.choice, pick.instance));
            search.failed(pick, []);
        }
        assert_eq!(tried, [(0, 2), (1, 0), (0, 1), (0, 0)]);
    }

    #[test]
    fn what_is_less_likely_does_not_come_before_the_best_unless_that_is_not_reached() {
        let space = Space {
            observables: vec![Observable::new(vec![(10, Thread::default())], &[], 0)],
            choices: (0..4).map(|site| Choice { site, distances: vec![(0, 1 + site.min(1))] }).collect(),
            // The second is reached before the first, the third behind it; the last is as the second, and behind.
            instances: [(2, 9), (1, 9), (3, 9), (4, 9)].map(|(order, at)| vec![instance(order, at)]).into(),
            ..Space::default()
        };
        let options = SearchOptions { strategy: Strategy::Full, window: 10, step: 1, seed: 0 };
        let mut search = Search::new(Arc::new(space), options);
        let picks = search.next(&[]);
        assert_eq!(pairs(&picks), [(0, 0), (2, 0), (3, 0)]);
        search.missed(&picks[..1]);
        assert_eq!(pairs(&search.next(&[])), [(0, 0), (1, 0), (2, 0), (3, 0)]);
    }

    #[test]
    fn a_round_without_a_fault_doubles_the_window_and_teaches_nothing() {
        let mut search = search(Strategy::Full, 1);
        let before = search.next(&[]);
        search.missed(&[]);
        assert_eq!(search.window(), 2);
        assert_eq!(search.next(&[])[..1], before[..]);
        assert_eq!(search.next(&[]).len(), 2);
    }

    #[test]
    fn what_cannot_be_done_is_not_chosen_again() {
        let mut search = search(Strategy::Full, 1);
        search.impossible(0);
        assert_eq!(pairs(&search.next(&[])), [(1, 1)]);
    }

    #[test]
    fn the_other_strategies() {
        // By distance in the graph, first instances first.
        assert_eq!(pairs(&search(Strategy::Distance, 3).next(&[])), [(0, 0), (1, 0), (2, 0)]);
        // In the order of the run; choice 3 leads nowhere and still counts as a instance that was reached.
        let all = search(Strategy::Exhaustive, 100).next(&[]);
        assert_eq!(pairs(&all)[..4], [(0, 0), (1, 0), (0, 1), (2, 0)]);
        assert_eq!(all.len(), 8);
        // The third instance of choice 0 is the last one that a limit leaves.
        let mut limited = search(Strategy::DistanceLimit, 1);
        for instance in 0..3 {
            assert_eq!(pairs(&limited.next(&[])), [(0, instance)]);
            limited.failed(Pick { choice: 0, instance }, []);
        }
        assert_eq!(pairs(&limited.next(&[])), [(1, 0)]);
        // The product: 1 entry and 1 edge.
        assert_eq!(pairs(&search(Strategy::Multiply, 1).next(&[])), [(0, 1)]);
        // What the log has, and nothing else.
        let mut logged = search(Strategy::Stacktrace, 10);
        assert_eq!(pairs(&logged.next(&[])), [(1, 1)]);
        logged.failed(Pick { choice: 1, instance: 1 }, []);
        assert_eq!(logged.next(&[]), []);
        // Each stack once.
        let mut fate = search(Strategy::Fate, 1);
        let mut count = 0;
        while let [pick] = fate.next(&[])[..] {
            fate.failed(pick, []);
            count += 1;
        }
        assert_eq!(count, 8);
        // By chance, and the same again.
        let by_chance = search(Strategy::Random, 3).next(&[]);
        assert_eq!(by_chance.len(), 1);
        assert_eq!(by_chance, search(Strategy::Random, 3).next(&[]));
    }

    #[test]
    fn everything_is_tried_once_and_then_nothing_is_left() {
        for strategy in Strategy::ALL {
            let mut search = search(strategy, 4);
            let mut seen = FxHashSet::default();
            while let Some(&pick) = search.next(&[]).first() {
                assert!(seen.insert(pick), "{strategy}: {pick:?} twice");
                search.failed(pick, [0]);
            }
            let least = if strategy == Strategy::Stacktrace { 1 } else { 7 - 2 };
            assert!(seen.len() >= least, "{strategy}: {}", seen.len());
        }
    }

    #[test]
    fn what_is_never_reached_does_not_use_up_the_budget() {
        for strategy in Strategy::ALL {
            let mut search = search(strategy, 1);
            let all = (0..).take_while(|_| {
                let picks = search.next(&[]);
                search.missed(&picks);
                !picks.is_empty()
            });
            assert!((4..100).contains(&all.count()), "{strategy}");
            assert_eq!(search.next(&[]), []);
        }
    }
}
