use std::collections::BTreeSet;

use proptest::collection::vec;
use proptest::prelude::*;
use rayon::ThreadPoolBuilder;

use super::*;

fn step(cause: u32, effect: u32, injects: Injects, score: f32) -> Step {
    Step { cause, effect, injects, score }
}

/// A step that injects an exception.
fn other(cause: u32, effect: u32, score: f32) -> Step {
    step(cause, effect, Injects::Other, score)
}

fn all(steps: &[Step]) -> Joins {
    Joins::matching(steps, |_, _| true)
}

fn limits(beam: usize, delays: usize, length: usize, cycles: usize) -> Limits {
    Limits { beam, delays, length, cycles }
}

const WIDE: Limits = Limits { beam: 1_000_000, delays: 1, length: 8, cycles: 1_000_000 };

/// Cycles of steps that may all follow each other, with their scores.
fn check(steps: &[Step], limits: &Limits, expect: &[(f32, &[u32])]) {
    let found = search(steps, &all(steps), limits).expect("the input is good");
    let cycles: Vec<(f32, &[u32])> = found.cycles.iter().map(|it| (it.score, &it.steps[..])).collect();
    assert_eq!(cycles, expect);
}

#[test]
fn a_cycle_is_found_once_and_starts_with_its_lowest_step() {
    let triangle = [other(7, 8, 0.75), other(9, 7, 0.25), other(8, 9, 0.5)];
    check(&triangle, &WIDE, &[(0.5, &[0, 2, 1])]);
    check(&triangle[..2], &WIDE, &[]);
    check(&[], &WIDE, &[]);
}

#[test]
fn cycles_are_sorted_by_score_and_then_by_steps() {
    let steps = [
        other(0, 1, 0.5),
        other(1, 0, 0.5),
        other(1, 0, 0.0),
        other(1, 2, 0.5),
        other(2, 0, 0.5),
        other(5, 6, 1.0),
        other(6, 5, 0.0),
    ];
    let expect: [(f32, &[u32]); 4] = [(0.25, &[0, 2]), (0.5, &[0, 1]), (0.5, &[0, 3, 4]), (0.5, &[5, 6])];
    check(&steps, &WIDE, &expect);
    check(&steps, &limits(100, 1, 2, 100), &[expect[0], expect[1], expect[3]]);
    check(&steps, &limits(100, 1, 8, 2), &expect[..2]);
}

#[test]
fn a_self_edge_is_a_cycle_of_one_if_it_may_follow_itself() {
    let steps = [other(3, 3, 0.5), step(4, 4, Injects::Nothing, 0.0), step(5, 5, Injects::Delay, 1.0)];
    check(&steps, &WIDE, &[(0.5, &[0]), (1.0, &[2])]);
    check(&steps, &limits(1, 0, 1, 1), &[(0.5, &[0])]);
    let joins = Joins::from_pairs(3, [(2, 2)]).expect("the step exists");
    let found = search(&steps, &joins, &WIDE).expect("the input is good");
    assert_eq!(found.cycles, [Cycle { score: 1.0, steps: vec![2] }]);
}

#[test]
fn a_self_edge_is_no_part_of_a_longer_cycle() {
    let steps = [other(0, 1, 0.5), other(1, 1, 0.0), other(1, 0, 0.5)];
    check(&steps, &WIDE, &[(0.0, &[1]), (0.5, &[0, 2])]);
}

#[test]
fn the_last_step_has_to_be_one_that_the_first_may_follow() {
    let steps = [other(0, 1, 0.0), other(1, 0, 0.0)];
    for (pairs, cycles) in [(vec![(0, 1)], 0), (vec![(1, 0)], 0), (vec![(0, 1), (1, 0)], 1)] {
        let joins = Joins::from_pairs(2, pairs).expect("both steps exist");
        assert_eq!(search(&steps, &joins, &WIDE).expect("the input is good").cycles.len(), cycles);
    }
}

#[test]
fn a_cycle_has_no_more_delays_than_the_limit() {
    let steps = [
        step(0, 1, Injects::Delay, 0.0),
        step(1, 0, Injects::Delay, 0.0),
        other(1, 0, 1.0),
        other(0, 1, 1.0),
    ];
    check(&steps, &limits(100, 0, 4, 100), &[(1.0, &[2, 3])]);
    check(&steps, &limits(100, 1, 4, 100), &[(0.5, &[0, 2]), (0.5, &[1, 3]), (1.0, &[2, 3])]);
    check(&steps, &limits(100, 2, 4, 1), &[(0.0, &[0, 1])]);
}

#[test]
fn static_steps_do_not_score_and_are_no_cycle_alone() {
    let nothing = |cause, effect| step(cause, effect, Injects::Nothing, f32::NAN);
    check(&[nothing(0, 1), nothing(1, 0)], &WIDE, &[]);
    let steps = [nothing(0, 1), nothing(1, 2), other(2, 3, 0.25), other(3, 0, 0.75)];
    check(&steps, &WIDE, &[(0.5, &[0, 1, 2, 3])]);
}

#[test]
fn with_a_beam_of_one_the_best_chain_survives() {
    // The start is the same, and the worse step comes first.
    let steps = [
        other(0, 1, 0.0),
        other(1, 2, 0.9),
        other(1, 3, 0.5),
        other(2, 4, 0.9),
        other(3, 4, 0.5),
        other(4, 0, 0.5),
    ];
    let found = search(&steps, &all(&steps), &limits(1, 1, 8, 8)).expect("the input is good");
    assert_eq!(found.cycles, [Cycle { score: 0.375, steps: vec![0, 2, 4, 5] }]);
    assert!(found.reached.beam);
    let kept: Vec<u64> = found.levels.iter().map(|it| it.kept).collect();
    assert_eq!(kept, [1, 1, 1, 0]);
}

#[test]
fn a_cycle_whose_lowest_step_is_its_worst_survives_a_narrow_beam() {
    let mut steps = vec![other(0, 1, 1.0), other(1, 2, 0.0), other(2, 0, 0.0)];
    for fault in (10..400).step_by(3) {
        let triangle = [(fault, fault + 1), (fault + 1, fault + 2), (fault + 2, fault)];
        steps.extend(triangle.map(|(cause, effect)| other(cause, effect, 0.75)));
    }
    let found = search(&steps, &all(&steps), &limits(2, 1, 8, 8)).expect("the input is good");
    assert_eq!(found.cycles[0].steps, [0, 1, 2]);
}

#[test]
fn steps_that_are_on_no_cycle_take_no_room_in_the_beam() {
    let mut steps = vec![other(0, 1, 1.0), other(1, 0, 1.0)];
    steps.extend((2..100).map(|it| other(it, it + 1, 0.0)));
    let found = search(&steps, &all(&steps), &limits(1, 1, 200, 8)).expect("the input is good");
    assert_eq!(found.cycles, [Cycle { score: 1.0, steps: vec![0, 1] }]);
    assert_eq!(found.levels[0], Level { chains: 2, kept: 1, cycles: 0 });
}

#[test]
fn limits_that_left_something_out_are_named() {
    let complete: Vec<Step> = pairs(5).map(|(cause, effect)| other(cause, effect, 0.5)).collect();
    let reached = |limits: &Limits| search(&complete, &all(&complete), limits).map(|it| it.reached);
    let (wide, none) = (limits(1000, 1, 100, 1000), Reached::default());
    assert_eq!(reached(&wide), Ok(none));
    assert_eq!(reached(&Limits { beam: 3, ..wide }), Ok(Reached { beam: true, ..none }));
    assert_eq!(reached(&Limits { length: 3, ..wide }), Ok(Reached { length: true, ..none }));
    // Five faults have 10 + 20 + 30 + 24 cycles.
    assert_eq!(reached(&Limits { cycles: 84, ..wide }), Ok(none));
    assert_eq!(reached(&Limits { cycles: 83, ..wide }), Ok(Reached { cycles: true, ..none }));
}

#[test]
fn fewer_reported_cycles_are_the_first_of_all() {
    // All scores tie, so the steps decide. Long cycles, which are found late, may come before short ones.
    let steps: Vec<Step> = pairs(5).map(|(cause, effect)| other(cause, effect, 0.5)).collect();
    let of =
        |cycles| search(&steps, &all(&steps), &limits(1000, 1, 5, cycles)).expect("the input is good").cycles;
    let every = of(1000);
    assert_eq!(every.len(), 84);
    (1..84).for_each(|it| assert_eq!(of(it), every[..it]));
}

#[test]
fn bad_input_is_an_error() {
    let steps = [other(0, 1, 0.5), other(1, 0, 0.5)];
    let joins = all(&steps);
    for limit in ["beam", "length", "cycles"] {
        let mut zero = WIDE;
        match limit {
            "beam" => zero.beam = 0,
            "length" => zero.length = 0,
            _ => zero.cycles = 0,
        }
        assert_eq!(search(&steps, &joins, &zero), Err(BeamError::NoRoom { limit }));
    }
    for score in [-0.25, 1.25, f32::INFINITY, f32::NAN] {
        let result = search(&[steps[0], other(1, 0, score)], &joins, &WIDE);
        assert!(matches!(result, Err(BeamError::Score { step: 1, .. })), "{score}: {result:?}");
    }
    assert_eq!(search(&steps[..1], &joins, &WIDE), Err(BeamError::OtherSteps { steps: 1, joined: 2 }));
    let apart = Joins::from_pairs(2, [(0, 1), (0, 0)]).expect("both steps exist");
    assert_eq!(search(&steps, &apart, &WIDE), Err(BeamError::Apart { last: 0, next: 0 }));
    for pair in [(2, 0), (0, 2)] {
        assert_eq!(Joins::from_pairs(2, [pair]), Err(BeamError::NoSuchStep { step: 2, steps: 2 }));
    }
}

#[test]
fn limits_without_a_bound_are_no_overflow() {
    let steps = [other(u32::MAX, 0, 1.0), other(0, u32::MAX, 0.0)];
    check(&steps, &limits(usize::MAX, usize::MAX, usize::MAX, usize::MAX), &[(0.5, &[0, 1])]);
}

#[test]
fn joins_are_sorted_without_repetition() {
    let joins = Joins::from_pairs(3, [(2, 1), (0, 2), (0, 1), (0, 2)]).expect("all steps exist");
    let rows: Vec<&[u32]> = (0..4).map(|it| joins.following(it)).collect();
    assert_eq!(rows, [&[1, 2][..], &[], &[1], &[]]);
    assert_eq!((joins.steps(), joins.may_follow(2, 1), joins.may_follow(1, 2)), (3, true, false));
}

#[test]
fn the_number_of_threads_changes_nothing() {
    let steps = complete_graph();
    let joins = all(&steps);
    // Levels of many blocks, some cut by a sample and some by counts.
    for limits in [limits(30_000, 1, 6, 500), limits(1_000, 2, 9, 50), limits(100_000, 0, 5, 5)] {
        let of = |threads| {
            let pool = ThreadPoolBuilder::new().num_threads(threads).build().expect("threads can be started");
            pool.install(|| search(&steps, &joins, &limits)).expect("the input is good")
        };
        let one = of(1);
        assert_eq!(one.cycles.len(), limits.cycles);
        assert!(one.levels.iter().any(|it| it.kept as usize == limits.beam), "{:?}", one.levels);
        assert!([2, 4].iter().all(|threads| of(*threads) == one));
    }
}

#[test]
fn the_cut_keeps_exactly_the_beam() {
    let steps = complete_graph();
    for beam in [63, 64, 65, 1000, 4097] {
        let found = search(&steps, &all(&steps), &limits(beam, 1, 5, 10)).expect("the input is good");
        let cut = found.levels.iter().filter(|it| it.kept > 0);
        assert!(cut.clone().count() >= 3);
        cut.for_each(|it| assert_eq!(it.kept, it.chains.min(beam as u64), "beam {beam}"));
    }
}

fn pairs(faults: u32) -> impl Iterator<Item = (u32, u32)> {
    let others = move |cause| (0..faults).filter(move |it| *it != cause).map(move |it| (cause, it));
    (0..faults).flat_map(others)
}

/// Faults that all lead to each other. The scores of half of them tie.
pub(super) fn complete_graph() -> Vec<Step> {
    let of = |(at, (cause, effect)): (u32, (u32, u32))| {
        let injects = if at % 3 == 0 { Injects::Delay } else { Injects::Other };
        step(cause, effect, injects, if cause < 20 { 0.25 } else { at as f32 / 2000.0 })
    };
    (0..).zip(pairs(40)).map(of).collect()
}

/// Steps over some faults, pairs that are not compatible, and limits.
fn inputs(max: usize) -> impl Strategy<Value = (Vec<Step>, BTreeSet<(u32, u32)>, usize, usize)> {
    let injects =
        prop_oneof![2 => Just(Injects::Delay), 6 => Just(Injects::Other), 1 => Just(Injects::Nothing)];
    // Few scores give many ties, and their sums are exact.
    let score = prop_oneof![(0_u8..=4).prop_map(|it| f32::from(it) / 4.0), 0.0_f32..=1.0];
    let faults = (max as u32 / 4).max(2)..(max as u32).max(3);
    let steps = faults.prop_flat_map(move |faults| {
        let of = |(cause, effect, injects, score)| step(cause, effect, injects, score);
        vec((0..faults, 0..faults, injects.clone(), score.clone()).prop_map(of), 0..=max)
    });
    let apart = vec((0..max as u32, 0..max as u32), 0..max * 4).prop_map(|it| it.into_iter().collect());
    (steps, apart, 0_usize..4, 1_usize..6)
}

/// All simple cycles with an injected step, by their steps, each with its mean score: every chain from every step.
fn brute_force(steps: &[Step], joins: &Joins, limits: &Limits) -> Vec<(Vec<u32>, f64)> {
    fn extend(
        steps: &[Step],
        joins: &Joins,
        length: usize,
        chain: &mut Vec<u32>,
        found: &mut BTreeSet<Vec<u32>>,
    ) {
        let of = |it: u32| steps[it as usize];
        let (first, last) = (chain[0], chain[chain.len() - 1]);
        if of(last).effect == of(first).cause {
            if joins.following(last).contains(&first) {
                let lowest = (0..chain.len()).min_by_key(|it| chain[*it]).expect("a chain has a step");
                let rotated = chain[lowest..].iter().chain(&chain[..lowest]);
                found.insert(rotated.copied().collect());
            }
            return;
        }
        if chain.len() == length || chain.iter().any(|it| of(*it).cause == of(last).effect) {
            return;
        }
        for next in joins.following(last) {
            chain.push(*next);
            extend(steps, joins, length, chain, found);
            chain.pop();
        }
    }
    let mut found = BTreeSet::new();
    for first in 0..steps.len() as u32 {
        extend(steps, joins, limits.length, &mut vec![first], &mut found);
    }
    let scored = found.into_iter().filter_map(|cycle| {
        let of = |injects| cycle.iter().filter(move |it| steps[**it as usize].injects == injects);
        let injected: Vec<&u32> = of(Injects::Delay).chain(of(Injects::Other)).collect();
        if injected.is_empty() || of(Injects::Delay).count() > limits.delays {
            return None;
        }
        let sum: f64 = injected.iter().map(|it| f64::from(steps[**it as usize].score)).sum();
        let mean = sum / injected.len() as f64;
        Some((cycle, mean))
    });
    scored.collect()
}

proptest! {
    #![proptest_config(ProptestConfig::with_cases(300))]

    #[test]
    fn a_wide_beam_finds_what_brute_force_finds((steps, apart, delays, length) in inputs(200)) {
        let joins = Joins::matching(&steps, |last, next| !apart.contains(&(last, next)));
        let limits = limits(1_000_000, delays, length, 1_000_000);
        let found = search(&steps, &joins, &limits).expect("the input is good");
        let expect = brute_force(&steps, &joins, &limits);
        let mut cycles: Vec<&Cycle> = found.cycles.iter().collect();
        prop_assert!(cycles.is_sorted_by_key(|it| (it.score.to_bits(), &it.steps)));
        prop_assert_eq!(found.levels.iter().map(|it| it.cycles).sum::<u64>(), cycles.len() as u64);
        cycles.sort_unstable_by_key(|it| &it.steps);
        let steps = |it: &[&Cycle]| -> Vec<Vec<u32>> { it.iter().map(|it| it.steps.clone()).collect() };
        prop_assert_eq!(steps(&cycles), expect.iter().map(|it| it.0.clone()).collect::<Vec<_>>());
        for (cycle, (_, mean)) in cycles.iter().zip(&expect) {
            prop_assert!((f64::from(cycle.score) - mean).abs() < 1e-6, "{} and {}", cycle.score, mean);
        }
    }

    #[test]
    fn a_narrow_beam_loses_chains_by_the_cut_only(
        (steps, apart, delays, length) in inputs(60),
        beam in 1_usize..200,
    ) {
        let joins = Joins::matching(&steps, |last, next| !apart.contains(&(last, next)));
        let limits = limits(beam, delays, length, 1_000_000);
        let found = search(&steps, &joins, &limits).expect("the input is good");
        let Some(expect) = whole_levels(&steps, &joins, &limits) else { return Ok(()) };
        let mut cycles: Vec<Vec<u32>> = found.cycles.into_iter().map(|it| it.steps).collect();
        cycles.sort_unstable();
        prop_assert_eq!(cycles, expect.0);
        let mut counts: Vec<u64> = found.levels.iter().map(|it| it.chains).collect();
        counts.resize(limits.length, 0);
        prop_assert_eq!(counts, expect.1);
    }
}

/// The beam search with levels that are held and sorted: the cycles and the number of chains of each length. `None` if chains that
/// tie are cut, of which the search may take any.
fn whole_levels(steps: &[Step], joins: &Joins, limits: &Limits) -> Option<(Vec<Vec<u32>>, Vec<u64>)> {
    let of = |it: &u32| steps[*it as usize];
    let injected = |it: &&u32| of(it).injects != Injects::Nothing;
    let mean = |chain: &[u32]| {
        let sum: f64 = chain.iter().filter(injected).map(|it| f64::from(of(it).score)).sum();
        sum / chain.iter().filter(injected).count() as f64
    };
    let rank = |it: &u32| (of(it).score.to_bits(), *it);
    let reaches = reachable(joins);
    let on_a_cycle = |last: u32, next: u32| reaches[next as usize].contains(&last);
    let delays = |chain: &[u32]| chain.iter().filter(|it| of(it).injects == Injects::Delay).count();
    let (mut cycles, mut counts) = (Vec::new(), Vec::new());
    let starts = (0..steps.len() as u32).filter(|it| injected(&it) && reaches[*it as usize].contains(it));
    let mut level: Vec<Vec<u32>> = starts.map(|it| vec![it]).collect();
    for length in 1..=limits.length {
        let mut open = Vec::new();
        for chain in level {
            let (first, last) = (chain[0], chain[chain.len() - 1]);
            let effect = of(&last).effect;
            let is_behind = chain[1..].iter().filter(injected).all(|it| rank(it) > rank(&first));
            if delays(&chain) > limits.delays || !is_behind {
                continue;
            }
            if effect == of(&first).cause {
                if joins.may_follow(last, first) {
                    let lowest = (0..chain.len()).min_by_key(|it| chain[*it])?;
                    cycles.push([&chain[lowest..], &chain[..lowest]].concat());
                }
            } else if chain.iter().all(|it| of(it).cause != effect) {
                open.push(chain);
            }
        }
        counts.push(open.len() as u64);
        open.sort_by(|a, b| mean(a).total_cmp(&mean(b)));
        if length < limits.length && open.len() > limits.beam {
            if (mean(&open[limits.beam - 1]) - mean(&open[limits.beam])).abs() < 1e-6 {
                return None;
            }
            open.truncate(limits.beam);
        }
        let extended = open.iter().flat_map(|chain| {
            let last = chain[chain.len() - 1];
            let next = joins.following(last).iter().filter(move |next| on_a_cycle(last, **next));
            next.map(move |next| [&chain[..], &[*next]].concat())
        });
        level = extended.collect();
    }
    cycles.sort_unstable();
    Some((cycles, counts))
}

/// Steps that can be reached from each step by one join or more.
fn reachable(joins: &Joins) -> Vec<BTreeSet<u32>> {
    let of = |step: u32| {
        let (mut reached, mut open) = (BTreeSet::new(), vec![step]);
        while let Some(at) = open.pop() {
            open.extend(joins.following(at).iter().filter(|it| reached.insert(**it)));
        }
        reached
    };
    (0..joins.steps() as u32).map(of).collect()
}
