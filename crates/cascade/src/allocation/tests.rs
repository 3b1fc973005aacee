use super::*;
use proptest::prelude::*;

/// Faults, and the outcome of each experiment: its consequences, or none if the fault is not injected.
struct World<F> {
    faults: Vec<Fault>,
    outcome: F,
}

type Outcome = Option<Vec<Token>>;

impl<F: Fn(FaultNo, TestNo) -> Outcome> World<F> {
    fn allocation(&self, total: usize, mode: Mode, seed: u64) -> Allocation {
        Allocation::new(&self.faults, Budget::new(total), mode, seed).expect("there are few")
    }

    /// Runs up to so many experiments side by side, which end in random order, until the allocation is done. Gives them in the
    /// order in which they were asked.
    fn run(&self, it: &mut Allocation, room: usize, order: u64) -> Vec<(FaultNo, TestNo)> {
        let mut order = Random::new(order);
        let (mut asked, mut under_way) = (Vec::new(), Vec::new());
        let total = it.budget().total();
        loop {
            let next = if under_way.len() < room { it.next() } else { Next::Wait };
            match next {
                Next::Experiment(fault, test) => {
                    asked.push((fault, test));
                    under_way.push((fault, test));
                    assert!(it.spent() <= total, "{} of {total}", it.spent());
                }
                Next::Wait => {
                    let (fault, test) = under_way.swap_remove(order.below(under_way.len()));
                    match (self.outcome)(fault, test) {
                        Some(consequences) => it.told(fault, test, consequences),
                        None => it.void(fault, test),
                    }
                }
                Next::Done => {
                    assert_eq!(under_way, [], "an allocation is not done while an outcome may be void");
                    return asked;
                }
            }
        }
    }

    /// Runs one experiment after the other.
    fn done(&self, total: usize, mode: Mode, seed: u64) -> Allocation {
        let mut it = self.allocation(total, mode, seed);
        self.run(&mut it, 1, 0);
        it
    }
}

/// Faults that are reached by so many tests each, numbered from 0, all of which cover as much.
fn faults(tests: &[u32]) -> Vec<Fault> {
    tests.iter().map(|&count| Fault { tests: (0..count).map(|test| (test, 1)).collect() }).collect()
}

fn in_phase(it: &Allocation, phase: AllocationPhase) -> Vec<(FaultNo, TestNo)> {
    it.asked().filter(|it| it.phase == phase).map(|it| (it.fault, it.test)).collect()
}

/// Experiments of a phase with each fault.
fn counts(it: &Allocation, phase: AllocationPhase) -> Vec<usize> {
    let mut counts = vec![0; it.faults.len()];
    in_phase(it, phase).iter().for_each(|it| counts[it.0 as usize] += 1);
    counts
}

fn pairs(faults: &[Fault]) -> BTreeSet<(FaultNo, TestNo)> {
    let numbered = (0..).zip(faults);
    numbered.flat_map(|(at, fault)| fault.tests.iter().map(move |it| (at, it.0))).collect()
}

#[test]
fn phase_one_takes_the_test_that_covers_most() {
    let tests =
        [vec![(7, 1), (3, 5), (2, 5), (9, 4)], vec![], vec![(4, 0)], vec![(6, 2), (1, 1), (6, 9), (5, 3)]];
    let world = World {
        faults: tests.into_iter().map(|tests| Fault { tests }).collect(),
        outcome: |_, _| Some(vec![]),
    };
    let it = world.done(12, Mode::ThreePhase, 1);
    assert_eq!(in_phase(&it, AllocationPhase::One), [(0, 2), (2, 4), (3, 6)]);
    assert_eq!(it.unreached(), [1]);
    assert!(it.never_injected().is_empty());
    assert_eq!(it.experiments().len(), 8, "all pairs, each once");
}

#[test]
fn a_void_experiment_is_replaced_by_the_next_best_test() {
    let world = World {
        faults: vec![
            Fault { tests: vec![(0, 9), (1, 8), (2, 7), (3, 6), (4, 5)] },
            Fault { tests: vec![(0, 1), (1, 2), (2, 3), (3, 4), (4, 5)] },
        ],
        outcome: |fault, test| (fault == 0 || test == 2).then(Vec::new),
    };
    let it = world.done(8, Mode::ThreePhase, 1);
    assert_eq!(in_phase(&it, AllocationPhase::One), [(0, 0), (1, 2), (1, 3), (1, 4)]);
    let progress: Vec<Progress> = it.asked().filter(|it| it.fault == 1).map(|it| it.progress).collect();
    assert_eq!(progress[..3].iter().filter(|it| **it == Progress::Told).count(), 1);
    assert!(it.spent() <= 8 && it.never_injected().is_empty());
}

#[test]
fn a_fault_that_is_never_injected_is_given_up() {
    let world = World { faults: faults(&[50, 50]), outcome: |fault, _| (fault == 0).then(Vec::new) };
    let it = world.done(8, Mode::ThreePhase, 1);
    assert_eq!(counts(&it, AllocationPhase::One), [1, VOIDS_MAX]);
    assert_eq!(it.never_injected(), [1]);
    assert_eq!((it.spent(), it.experiments().len()), (8, 8), "the other fault has the budget");
    // Without phases each pair is as likely, so there is nothing to give up.
    let it = world.done(60, Mode::Random, 1);
    assert_eq!((it.experiments().len(), it.asked().count()), (50, 100));
}

#[test]
fn clusters_take_turns_in_phase_two() {
    // Three faults with one consequence and one with another: two clusters.
    let world =
        World { faults: faults(&[20, 20, 20, 20]), outcome: |fault, _| Some(vec![u32::from(fault == 3)]) };
    let mut it = world.allocation(16, Mode::ThreePhase, 1);
    let asked = world.run(&mut it, 1, 0);
    let two = &asked[4..12];
    let members: Vec<Vec<FaultNo>> = it
        .clusters_of(AllocationPhase::Two)
        .expect("it was planned")
        .list()
        .iter()
        .map(|it| it.faults.clone())
        .collect();
    assert_eq!(members, [vec![0, 1, 2], vec![3]]);
    assert!(
        it.clusters_of(AllocationPhase::One).is_none() && it.clusters_of(AllocationPhase::Random).is_none()
    );
    assert_eq!(two.iter().filter(|it| it.0 == 3).count(), 4);
    assert!(two.windows(2).all(|it| (it[0].0 == 3) != (it[1].0 == 3)), "they alternate: {two:?}");
    // Members and tests are drawn at random.
    let drawn: BTreeSet<(FaultNo, TestNo)> = (0..50)
        .flat_map(|seed| in_phase(&world.done(16, Mode::ThreePhase, seed), AllocationPhase::Two))
        .collect();
    let of_small = drawn.iter().filter(|it| it.0 == 3).count();
    assert!(
        of_small == 19 && drawn.len() - of_small > 45,
        "{of_small} of 19, {} of 57",
        drawn.len() - of_small
    );
}

#[test]
fn a_quota_that_a_cluster_cannot_use_goes_to_a_larger_one() {
    // Clusters of 1, 2 and 3 faults. The first has one test left, the second enough for all.
    let world = World {
        faults: faults(&[2, 50, 50, 20, 20, 20]),
        outcome: |fault, _| Some(vec![[0, 1, 1, 2, 2, 2][fault as usize]]),
    };
    for seed in 0..20 {
        let it = world.done(72, Mode::ThreePhase, seed);
        assert_eq!(it.budget().phases(), [18 - 12, 36 + 12, 18]);
        let counts = counts(&it, AllocationPhase::Two);
        let by_cluster = [counts[0], counts[1..3].iter().sum(), counts[3..].iter().sum()];
        assert_eq!((by_cluster[0], by_cluster.iter().sum::<usize>()), (1, 48));
        assert!(by_cluster[1] > 16 && by_cluster[2] > 16, "15 are moved at random: {by_cluster:?}");
    }
}

#[test]
fn phase_three_prefers_clusters_whose_experiments_differ() {
    // The first fault has another consequence in each test, the second always the same, the third none.
    let outcome = |fault, test| Some([vec![10 + test], vec![0], vec![]][fault as usize].clone());
    let world = World { faults: faults(&[300, 300, 300]), outcome };
    let it = world.done(400, Mode::ThreePhase, 1);
    let clusters = it.clusters_of(AllocationPhase::Three).expect("it was planned");
    assert_eq!(clusters.list().iter().map(|it| it.score).collect::<Vec<_>>(), [0.0, 1.0, 1.0]);
    assert_eq!(clusters.list().iter().map(|it| it.has_effect).collect::<Vec<_>>(), [true, true, false]);
    let three = counts(&it, AllocationPhase::Three);
    assert_eq!(three.iter().sum::<usize>(), 100);
    assert!(three[0] > 90, "the weights are 1, 0.01 and 0.01: {three:?}");
    assert!(counts(&it, AllocationPhase::Two).iter().all(|it| *it > 60), "in phase two all are equal");
    assert_eq!(it.scores(), it.clusters().scores());
    // They are drawn one after the other: the others come at any time.
    let places = (0..10).flat_map(|seed| {
        let asked = world.run(&mut world.allocation(400, Mode::ThreePhase, seed), 1, 0);
        asked[300..].iter().enumerate().filter(|it| it.1.0 != 0).map(|it| it.0).collect::<Vec<_>>()
    });
    assert!(places.max() > Some(50));
    // Where it has no tests left, the others have the rest.
    let world = World { faults: faults(&[70, 300, 300]), ..world };
    let it = world.done(400, Mode::ThreePhase, 1);
    assert_eq!(counts(&it, AllocationPhase::One)[0] + counts(&it, AllocationPhase::Two)[0], 70);
    assert_eq!(counts(&it, AllocationPhase::Three).iter().sum::<usize>(), 100);
}

#[test]
fn a_quota_of_phase_three_goes_to_a_smaller_weight() {
    // The weights are 1, about 0.5 and 0.01. The second cluster has no test left after phase two.
    let outcome = |fault, test| Some([vec![10 + test], vec![test % 2], vec![2]][fault as usize].clone());
    let world = World { faults: faults(&[300, 100, 300]), outcome };
    let it = world.done(400, Mode::ThreePhase, 1);
    assert_eq!(
        (counts(&it, AllocationPhase::One), counts(&it, AllocationPhase::Two)),
        (vec![1; 3], vec![99; 3])
    );
    let three = counts(&it, AllocationPhase::Three);
    assert!(
        three[0] > 50 && three[1] == 0 && three[2] > 20 && three.iter().sum::<usize>() == 100,
        "{three:?}"
    );
}

#[test]
fn a_small_budget_leaves_faults_to_the_later_phases() {
    let world = World { faults: faults(&[9; 40]), outcome: |fault, _| Some(vec![fault % 2]) };
    let it = world.done(40, Mode::ThreePhase, 3);
    assert_eq!(counts(&it, AllocationPhase::One).iter().sum::<usize>(), 10);
    let one = in_phase(&it, AllocationPhase::One);
    assert!(one.iter().any(|it| it.0 >= 20) && one.iter().any(|it| it.0 < 20), "not the first ones: {one:?}");
    // Two clusters and the faults that were not tried take turns.
    let tried: BTreeSet<FaultNo> = one.iter().map(|it| it.0).collect();
    let untried = in_phase(&it, AllocationPhase::Two).iter().filter(|it| !tried.contains(&it.0)).count();
    assert!((6..=7).contains(&untried), "{untried} of 20");
    assert_eq!(it.spent(), 40);
}

#[test]
fn a_new_total_holds_for_the_phases_that_have_not_begun() {
    let world = World { faults: faults(&[99; 10]), outcome: |fault, _| Some(vec![fault]) };
    for (before, total, expected) in
        [(0, 20, [5, 10, 5]), (3, 22, [10, 8, 4]), (15, 200, [10, 20, 170]), (15, 5, [10, 20, 0])]
    {
        let mut it = world.allocation(40, Mode::ThreePhase, 1);
        for _ in 0..before {
            let Next::Experiment(fault, test) = it.next() else { panic!("there is a budget") };
            it.told(fault, test, [fault]);
        }
        it.scale(total);
        world.run(&mut it, 1, 0);
        let phases = [AllocationPhase::One, AllocationPhase::Two, AllocationPhase::Three]
            .map(|phase| in_phase(&it, phase).len());
        assert_eq!(phases, expected, "{before} {total}");
    }
    let mut it = world.allocation(40, Mode::Random, 1);
    it.scale(7);
    assert_eq!(world.run(&mut it, 3, 1).len(), 7);
}

#[test]
fn nothing_to_do_is_done() {
    for mode in [Mode::ThreePhase, Mode::Random] {
        for (tests, total) in [(&[][..], 9), (&[0, 0], 9), (&[3, 3], 0)] {
            let world = World { faults: faults(tests), outcome: |_, _| Some(vec![]) };
            let mut it = world.allocation(total, mode, 1);
            assert_eq!((it.next(), it.next()), (Next::Done, Next::Done), "{mode:?} {tests:?} {total}");
            assert_eq!(it.clusters(), Clusters::default());
        }
    }
}

#[test]
fn seeds_make_a_difference() {
    let world = World { faults: faults(&[30; 5]), outcome: |fault, _| Some(vec![fault]) };
    for mode in [Mode::ThreePhase, Mode::Random] {
        let asked = |seed| world.run(&mut world.allocation(20, mode, seed), 1, 0);
        assert_ne!(asked(1), asked(2), "{mode:?}");
    }
}

#[test]
fn random_pairs_are_equally_likely() {
    let world = World { faults: faults(&[2, 8]), outcome: |_, _| Some(vec![]) };
    let drawn: Vec<(FaultNo, TestNo)> = (0..1000)
        .flat_map(|seed| in_phase(&world.done(1, Mode::Random, seed), AllocationPhase::Random))
        .collect();
    for pair in pairs(&world.faults) {
        // 100 are expected; the limit is four standard deviations.
        let count = drawn.iter().filter(|it| **it == pair).count();
        assert!(count.abs_diff(100) < 38, "{pair:?}: {count}");
    }
}

#[test]
#[should_panic(expected = "an outcome is of an experiment that is under way")]
fn an_outcome_is_not_told_twice() {
    let mut it = Allocation::new(&faults(&[1]), Budget::new(4), Mode::ThreePhase, 1).expect("it is one");
    assert_eq!(it.next(), Next::Experiment(0, 0));
    it.told(0, 0, []);
    it.told(0, 0, []);
}

#[test]
fn too_many_faults_are_refused_at_the_beginning() {
    let mut tests = vec![1; FAULTS_MAX + 1];
    let new = |tests: &[u32]| Allocation::new(&faults(tests), Budget::new(4), Mode::ThreePhase, 1);
    assert_eq!(new(&tests).err(), Some(TooManyFaults { faults: FAULTS_MAX + 1 }));
    tests[0] = 0;
    assert!(new(&tests).is_ok(), "a fault that no test reaches does not count");
}

/// For each fault its tests, with the blocks and the outcome.
type Table = Vec<BTreeMap<TestNo, (u32, Outcome)>>;

fn any_table(void: u32) -> impl Strategy<Value = Table> {
    let outcome = prop_oneof![
        void => Just(None),
        3 => prop::collection::vec(0_u32..6, 0..4).prop_map(Some),
    ];
    prop::collection::vec(prop::collection::btree_map(0_u32..8, (0_u32..4, outcome), 0..6), 0..12)
}

fn world(table: &Table) -> World<impl Fn(FaultNo, TestNo) -> Outcome + '_> {
    let fault = |it: &BTreeMap<TestNo, (u32, Outcome)>| Fault {
        tests: it.iter().map(|(test, it)| (*test, it.0)).collect(),
    };
    World {
        faults: table.iter().map(fault).collect(),
        outcome: |fault, test| table[fault as usize][&test].1.clone(),
    }
}

fn any_mode() -> impl Strategy<Value = Mode> {
    prop_oneof![Just(Mode::ThreePhase), Just(Mode::Random)]
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 256, failure_persistence: None, ..ProptestConfig::default() })]

    // `World::run` checks after each request that the budget is not exceeded.
    #[test]
    fn no_pair_is_asked_twice_and_the_whole_budget_is_used(
        table in any_table(0), total in 0_usize..60, mode in any_mode(), seed: u64, room in 1_usize..5,
    ) {
        let world = world(&table);
        let mut it = world.allocation(total, mode, seed);
        let asked = world.run(&mut it, room, seed);
        let different: BTreeSet<(FaultNo, TestNo)> = asked.iter().copied().collect();
        prop_assert_eq!(different.len(), asked.len());
        let pairs = pairs(&world.faults);
        prop_assert!(different.is_subset(&pairs));
        prop_assert_eq!(asked.len(), total.min(pairs.len()));
    }

    #[test]
    fn every_fault_is_first_asked_once_in_its_best_test(table in any_table(0), more in 0_usize..20, seed: u64) {
        let world = world(&table);
        let reached = world.faults.iter().filter(|it| !it.tests.is_empty()).count();
        let total = Budget::of(&world.faults).total() + more;
        let mut it = world.allocation(total, Mode::ThreePhase, seed);
        let asked = world.run(&mut it, 1, 0);
        let mut one = asked[..reached].to_vec();
        one.sort_unstable();
        let best = |fault: &Fault| fault.tests.iter().min_by_key(|it| (Reverse(it.1), it.0)).map(|it| it.0);
        let expected: Vec<(FaultNo, TestNo)> =
            (0..).zip(&world.faults).filter_map(|(at, fault)| Some((at, best(fault)?))).collect();
        prop_assert_eq!(&one, &expected);
        prop_assert_eq!(in_phase(&it, AllocationPhase::One), expected);
    }

    #[test]
    fn void_experiments_cost_no_budget(
        table in any_table(1), total in 0_usize..60, mode in any_mode(), seed: u64, room in 1_usize..5,
    ) {
        let world = world(&table);
        let mut it = world.allocation(total, mode, seed);
        let asked = world.run(&mut it, room, seed);
        let different: BTreeSet<(FaultNo, TestNo)> = asked.iter().copied().collect();
        prop_assert_eq!(different.len(), asked.len());
        let void = asked.iter().filter(|it| (world.outcome)(it.0, it.1).is_none()).count();
        prop_assert_eq!(it.experiments().len() + void, asked.len());
        let possible = pairs(&world.faults).into_iter().filter(|it| (world.outcome)(it.0, it.1).is_some()).count();
        match mode {
            Mode::Random => prop_assert_eq!(it.experiments().len(), total.min(possible)),
            Mode::ThreePhase => {
                let is_left = it.faults.iter().any(|it| it.room() > 0);
                prop_assert!(it.experiments().len() == total || !is_left);
                prop_assert!(it.experiments().len() <= total);
            }
        }
    }

    #[test]
    fn the_order_of_outcomes_makes_no_difference(
        table in any_table(1), total in 0_usize..60, mode in any_mode(), seed: u64,
        room in 1_usize..9, one: u64, other: u64,
    ) {
        let world = world(&table);
        let run = |room, order| {
            let mut it = world.allocation(total, mode, seed);
            let asked = world.run(&mut it, room, order);
            (it, asked)
        };
        let (first, asked) = run(room, one);
        let (second, asked_again) = run(room, one);
        prop_assert_eq!((&first, &asked), (&second, &asked_again), "one seed, one order");
        for (room, order) in [(room, other), (1, one), (usize::MAX, other)] {
            let (second, asked_too) = run(room, order);
            prop_assert_eq!(&first, &second);
            prop_assert_eq!(&asked, &asked_too);
        }
    }

    #[test]
    fn asking_again_changes_nothing(table in any_table(1), total in 0_usize..60, mode in any_mode(), seed: u64) {
        let world = world(&table);
        let mut it = world.allocation(total, mode, seed);
        let mut under_way = Vec::new();
        loop {
            match it.next() {
                Next::Experiment(fault, test) => under_way.push((fault, test)),
                answer => {
                    let before = it.clone();
                    prop_assert_eq!(it.next(), answer);
                    prop_assert_eq!(&it, &before);
                    let Some((fault, test)) = under_way.pop() else {
                        prop_assert_eq!(answer, Next::Done);
                        break;
                    };
                    prop_assert_eq!(answer, Next::Wait);
                    match (world.outcome)(fault, test) {
                        Some(consequences) => it.told(fault, test, consequences),
                        None => it.void(fault, test),
                    }
                }
            }
        }
    }
}
