use hypocenter_results::cascaded::CascadeKind::{Delay, Exception, Negation};

use super::*;
use crate::compare::Run;
use crate::experiment::{Caused, Standing};
use crate::reader::Spot;
use crate::testing::{doses, effect, lab, model, run, spot, ways};

const STRICT: Fit = Fit { callers: true, ways: true };

/// An experiment with runs of its fault and what they showed.
fn experiment(model: &Model, fault: u32, test: usize, runs: Vec<Run>, caused: Caused) -> Experiment {
    let doses = doses(&[10]);
    let mut it = Experiment::new(&lab(model, &doses), (fault, test), 1);
    for run in runs {
        let number = it.ask();
        it.tell(0, number, run);
    }
    it.variants[0].caused = Some(caused);
    it.standing = Standing::Over;
    it
}

fn error(spot: Spot, by: &[u32]) -> Caused {
    Caused { errors: vec![effect(spot, by, None)], growth: Vec::new() }
}

fn growth(spot: Spot, by: &[u32]) -> Caused {
    Caused { errors: Vec::new(), growth: vec![effect(spot, by, Some(0.0))] }
}

/// The steps in short: cause, kind, effect.
fn in_short(steps: &[Shown]) -> Vec<(u32, &'static str, u32)> {
    steps.iter().map(|it| (it.cause, it.kind.name(), it.effect)).collect()
}

/// Cycles of experiments as the causes of their steps, all faults in clusters of their own.
fn cycles(steps: &[Shown], fit: Fit) -> Vec<Vec<u32>> {
    let limits = Limits { beam: 1000, ..Limits::default() };
    let (all, _) = rings(steps, &BTreeMap::new(), &|it| it as usize, fit, &limits).expect("a search");
    all.iter().map(|it| it.steps.iter().map(|&it| steps[it].cause).collect()).collect()
}

/// A place of an exception or of a negated value.
#[derive(Clone, Copy)]
struct At {
    callers: Callers,
    value: u32,
    by: &'static [u32],
}

const HERE: At = At { callers: [1, 2], value: 0, by: &[7] };

/// Tests whether two steps make a cycle: a delay of loop 0 leads to error 1 at one place, and error 1, injected at another, lets the
/// loop grow.
fn closes(seen: At, injected: At, fit: Fit) -> bool {
    let model = model(&[Delay, Exception]);
    let looped = Spot(0, [5, 6], 0);
    let delayed = run().loops_at(looped, 3, &[1]);
    let thrown = run().injected_at(injected.callers, injected.value, injected.by).loops_at(looped, 9, &[1]);
    let all = [
        experiment(&model, 0, 0, vec![delayed; 5], error(Spot(1, seen.callers, seen.value), seen.by)),
        experiment(&model, 1, 1, vec![thrown; 5], growth(looped, &[1])),
    ];
    let steps = steps(&model, &all);
    assert_eq!(in_short(&steps), [(0, "E(D)", 1), (1, "S+(I)", 0)]);
    match &cycles(&steps, fit)[..] {
        [] => false,
        [it] => it == &[0, 1],
        more => panic!("{more:?}"),
    }
}

#[test]
fn a_step_follows_another_if_the_place_fits() {
    let by_others = At { callers: [1, 3], ..HERE };
    let opposite = At { value: 1, ..HERE };
    let other_way = At { by: &[8], ..HERE };
    let both_ways = At { by: &[8, 7], ..HERE };
    let unknown = At { by: &[], ..HERE };
    let elsewhere = At { callers: [1, 3], by: &[8], ..HERE };
    let [loose_callers, loose_ways] = [Fit { callers: false, ..STRICT }, Fit { ways: false, ..STRICT }];
    let loose = Fit { callers: false, ways: false };
    for (seen, injected, [strict, callers_off, ways_off, both_off]) in [
        (HERE, HERE, [true; 4]),
        (HERE, by_others, [false, true, false, true]),
        (HERE, other_way, [false, false, true, true]),
        (HERE, both_ways, [true; 4]),
        // Where no way is known, nothing speaks against it.
        (HERE, unknown, [true; 4]),
        (unknown, HERE, [true; 4]),
        (HERE, elsewhere, [false, false, false, true]),
        // A value is part of the fault itself.
        (HERE, opposite, [false; 4]),
        (opposite, opposite, [true; 4]),
    ] {
        assert_eq!(closes(seen, injected, STRICT), strict);
        assert_eq!(closes(seen, injected, loose_callers), callers_off);
        assert_eq!(closes(seen, injected, loose_ways), ways_off);
        assert_eq!(closes(seen, injected, loose), both_off);
    }
}

#[test]
fn a_way_belongs_to_its_callers() {
    let model = model(&[Delay, Exception]);
    let (one, other) = ([1, 2], [3, 4]);
    let looped = Spot(0, [0, 0], 0);
    let seen = Caused {
        errors: vec![effect(Spot(1, one, 0), &[7], None), effect(Spot(1, other, 0), &[8], None)],
        growth: Vec::new(),
    };
    let close = |callers, by: &[u32]| {
        let thrown = run().injected_at(callers, 0, by);
        let all = [
            experiment(&model, 0, 0, vec![run().loops_at(looped, 3, &[]); 5], seen.clone()),
            experiment(&model, 1, 0, vec![thrown; 5], growth(looped, &[])),
        ];
        !cycles(&steps(&model, &all), STRICT).is_empty()
    };
    assert!(close(one, &[7]) && close(other, &[8]));
    assert!(!close(one, &[8]) && !close(other, &[7]), "each by the way of the other");
}

#[test]
fn a_step_follows_only_one_that_leads_to_its_fault() {
    let model = model(&[Delay, Exception, Exception]);
    let thrown = |fault| {
        experiment(&model, fault, 0, vec![run().injected_at([0, 0], 0, &[]); 5], growth(spot(0), &[]))
    };
    let delayed = experiment(&model, 0, 0, vec![run().loops(0, 3); 5], error(spot(1), &[]));
    assert_eq!(cycles(&steps(&model, &[delayed, thrown(2)]), STRICT), Vec::<Vec<u32>>::new());
    let delayed = experiment(&model, 0, 0, vec![run().loops(0, 3); 5], error(spot(1), &[]));
    assert_eq!(cycles(&steps(&model, &[delayed, thrown(2), thrown(1)]), STRICT), [[0, 1]]);
}

#[test]
fn a_fault_that_brings_itself_about_is_a_cycle_of_one() {
    let model = model(&[Exception]);
    let at = |callers| {
        let it = experiment(
            &model,
            0,
            0,
            vec![run().injected_at([1, 2], 0, &[7]); 5],
            error(Spot(0, callers, 0), &[7]),
        );
        cycles(&steps(&model, &[it]), STRICT)
    };
    assert_eq!(at([1, 2]), [[0]]);
    assert_eq!(at([1, 3]), Vec::<Vec<u32>>::new());
}

#[test]
fn steps_are_of_the_kind_that_their_cause_and_effect_have() {
    let model = model(&[Delay, Exception, Negation]);
    let caused = || Caused { errors: error(spot(1), &[]).errors, growth: growth(spot(0), &[]).growth };
    let all: Vec<Experiment> = (0..3).map(|it| experiment(&model, it, 0, vec![run(); 5], caused())).collect();
    let expect =
        [(0, "E(D)", 1), (0, "S+(D)", 0), (1, "E(I)", 1), (1, "S+(I)", 0), (2, "E(I)", 1), (2, "S+(I)", 0)];
    assert_eq!(in_short(&steps(&model, &all)), expect);
    let mut open = experiment(&model, 1, 0, vec![run(); 5], caused());
    open.variants[0].caused = None;
    assert!(steps(&model, &[open]).is_empty(), "nothing is known of a dose that is under way");
}

#[test]
fn the_effects_of_a_fault_at_several_places_are_one_step_with_the_strongest() {
    let model = model(&[Exception, Delay]);
    let at = |callers, with: u64| Effect {
        with: vec![with; 5],
        without: vec![5; 5],
        ..effect(Spot(1, callers, 0), &[], Some(0.0))
    };
    let growth = vec![at([1, 0], 7), at([2, 0], 30), at([3, 0], 9)];
    let steps =
        steps(&model, &[experiment(&model, 0, 0, vec![run(); 5], Caused { growth, ..Caused::default() })]);
    assert_eq!(in_short(&steps), [(0, "S+(I)", 1)]);
    assert_eq!(steps[0].strongest.spot, Spot(1, [2, 0], 0));
    assert_eq!(steps[0].ends.keys().map(|it| it.0).collect::<Vec<_>>(), [[1, 0], [2, 0], [3, 0]]);
}

/// Faults 0 to 2: loops; 3 and 4: exceptions.
fn nested() -> Model {
    model(&[Delay, Delay, Delay, Exception, Exception])
}

/// An exception lets loop 0 grow, in runs that may show it in loop 1, and loop 2 beside it.
fn grows(model: &Model, fault: u32, is_nested: bool) -> Experiment {
    let mut one = run().injected_at([0, 0], 0, &[]).loops(0, 9).loops(1, 2).loops(2, 2);
    if is_nested {
        one = one.within(0, 1).within(2, 1);
    }
    experiment(model, fault, 0, vec![one; 5], growth(spot(0), &[]))
}

/// A delay in a loop leads to an exception.
fn slows(model: &Model, fault: u32, to: u32) -> Experiment {
    experiment(model, fault, 1, vec![run().loops(fault, 3); 5], error(spot(to), &[]))
}

#[test]
fn growth_delays_the_loop_around_and_those_beside_where_the_runs_show_them() {
    let model = nested();
    let nesting = [(0, "ICFG", 1), (1, "CFG", 2), (3, "S+(I)", 0)];
    let shown = |it| {
        let mut all = in_short(&steps(&model, &[it]));
        all.sort_unstable();
        all
    };
    assert_eq!(shown(grows(&model, 3, true)), nesting);
    assert_eq!(shown(grows(&model, 3, false)), nesting[2..]);
    // An error in a loop is no growth of it.
    let one = run().loops(0, 9).within(0, 1);
    assert_eq!(shown(experiment(&model, 3, 0, vec![one; 5], error(spot(4), &[]))), [(3, "E(I)", 4)]);
    // A loop in itself, as recursion shows it, delays none around it.
    let own = run().loops(0, 9).within(0, 0);
    assert_eq!(shown(experiment(&model, 3, 0, vec![own; 5], growth(spot(0), &[]))), nesting[2..]);
}

#[test]
fn a_cycle_leads_through_the_loop_around_and_the_one_beside() {
    let model = nested();
    for (slowed, expect) in [(0, vec![0, 3]), (1, vec![0, 1, 3]), (2, vec![0, 1, 2, 3])] {
        let steps = steps(&model, &[grows(&model, 3, true), slows(&model, slowed, 3)]);
        let mut found = cycles(&steps, STRICT);
        assert_eq!(found.len(), 1, "{slowed}: {found:?}");
        found[0].sort_unstable();
        assert_eq!(found[0], expect);
    }
}

#[test]
fn nesting_holds_only_in_the_runs_that_show_it() {
    let model = nested();
    // Exception 3 lets the loop grow where no loop is around it. Where one is, exception 4 lets it grow.
    let all = [grows(&model, 3, false), grows(&model, 4, true), slows(&model, 1, 3)];
    let all = steps(&model, &all);
    assert_eq!(cycles(&all, STRICT), Vec::<Vec<u32>>::new(), "{:?}", in_short(&all));
    let all = [grows(&model, 3, false), grows(&model, 4, true), slows(&model, 1, 4)];
    assert_eq!(cycles(&steps(&model, &all), STRICT).len(), 1);
    // Exception 3 shows only the loop around, and exception 4 the one beside it too.
    let one = run().injected_at([0, 0], 0, &[]).loops(0, 9).loops(1, 2).within(0, 1);
    let outer_only = || experiment(&model, 3, 0, vec![one.clone(); 5], growth(spot(0), &[]));
    assert_eq!(cycles(&steps(&model, &[outer_only(), slows(&model, 1, 3)]), STRICT).len(), 1);
    let all = [outer_only(), grows(&model, 4, true), slows(&model, 2, 3)];
    assert_eq!(cycles(&steps(&model, &all), STRICT), Vec::<Vec<u32>>::new(), "beside in other runs");
    // The same in two doses of one experiment.
    let doses = doses(&[10]);
    let mut it = grows(&model, 3, false);
    it.variants.extend(grows(&model, 3, true).variants);
    assert_eq!(cycles(&steps(&model, &[it, slows(&model, 1, 3)]), STRICT).len(), 1);
    let mut it = Experiment::new(&lab(&model, &doses), (3, 0), 1);
    it.variants = grows(&model, 3, false).variants;
    let mut nested_only = grows(&model, 3, true).variants;
    nested_only[0].caused = Some(Caused::default());
    it.variants.extend(nested_only);
    assert!(
        cycles(&steps(&model, &[it, slows(&model, 1, 3)]), STRICT).is_empty(),
        "a dose that lets nothing grow"
    );
}

#[test]
fn the_loop_around_delays_by_the_callers_that_the_runs_show() {
    let model = nested();
    let outer = |callers| {
        let one =
            run().injected_at([0, 0], 0, &[]).loops(0, 9).loops_at(Spot(1, callers, 0), 2, &[4]).within(0, 1);
        experiment(&model, 3, 0, vec![one; 5], growth(spot(0), &[]))
    };
    let slow = |by| {
        let one = run().loops_at(Spot(1, [8, 9], 0), 3, by);
        experiment(&model, 1, 1, vec![one; 5], error(spot(3), &[]))
    };
    let close = |callers, by| !cycles(&steps(&model, &[outer(callers), slow(by)]), STRICT).is_empty();
    assert!(close([8, 9], &[4]));
    assert!(!close([8, 7], &[4]));
    assert!(!close([8, 9], &[5]));
}

/// A ring of so many exceptions for each of some numbers, all of which leave the same.
fn ring_of(model: &Model, faults: &[u32]) -> Vec<Experiment> {
    let next = faults.iter().cycle().skip(1);
    let each = |(&fault, &next): (&u32, &u32)| {
        experiment(model, fault, 0, vec![run().injected_at([0, 0], 0, &[]); 5], error(spot(next), &[]))
    };
    faults.iter().zip(next).map(each).collect()
}

#[test]
fn rotations_of_a_cycle_are_one() {
    let model = model(&[Exception; 3]);
    for faults in [[0, 1, 2], [1, 2, 0], [2, 0, 1]] {
        let steps = steps(&model, &ring_of(&model, &faults));
        let expect: Vec<u32> = faults.to_vec();
        assert_eq!(cycles(&steps, STRICT), [expect]);
    }
}

#[test]
fn cycles_by_the_same_clusters_of_faults_are_one_ring() {
    let model = model(&[Exception; 6]);
    let all: Vec<Experiment> = [[0, 1], [2, 3], [4, 5]].iter().flat_map(|it| ring_of(&model, it)).collect();
    let steps = steps(&model, &all);
    // The middle one depends on most conditions.
    let scores = BTreeMap::from([(0, 0.5), (1, 0.5), (2, 0.25), (3, 0.25), (4, 1.0), (5, 1.0)]);
    let of = |cluster_of: &dyn Fn(u32) -> usize| -> Vec<(Vec<u32>, f64, u64)> {
        let (all, _) = rings(&steps, &scores, cluster_of, STRICT, &Limits::default()).expect("a search");
        let causes = |it: &Ring| it.steps.iter().map(|&it| steps[it].cause).collect();
        assert!(all.iter().all(|it| it.alike.len() as u64 == it.alike_count));
        all.iter().map(|it| (causes(it), it.score, it.alike_count)).collect()
    };
    assert_eq!(of(&|_| 0), [(vec![2, 3], 0.25, 2)]);
    assert_eq!(of(&|it| it as usize % 2), [(vec![2, 3], 0.25, 2)]);
    let apart = [(vec![2, 3], 0.25, 0), (vec![0, 1], 0.5, 0), (vec![4, 5], 1.0, 0)];
    assert_eq!(of(&|it| it as usize), apart);
    let first_two_alike = |it: u32| if it < 4 { 0 } else { 1 };
    assert_eq!(of(&first_two_alike), [(vec![2, 3], 0.25, 1), apart[2].clone()]);
}

#[test]
fn some_of_many_alike_cycles_are_kept_and_all_are_counted() {
    let pairs = ALIKE_MAX as u32 + 6;
    let model = model(&vec![Exception; 2 * pairs as usize]);
    let all: Vec<Experiment> = (0..pairs).flat_map(|it| ring_of(&model, &[2 * it, 2 * it + 1])).collect();
    let (found, _) =
        rings(&steps(&model, &all), &BTreeMap::new(), &|_| 0, STRICT, &Limits::default()).expect("a search");
    assert_eq!(found.len(), 1);
    assert_eq!((found[0].alike.len(), found[0].alike_count), (ALIKE_MAX, u64::from(pairs) - 1));
}

#[test]
fn a_cycle_has_no_more_delays_than_allowed() {
    let model = model(&[Delay, Delay, Exception, Exception]);
    let grows = |fault: u32, to: u32| {
        experiment(
            &model,
            fault,
            0,
            vec![run().injected_at([0, 0], 0, &[]).loops(to, 9); 5],
            growth(spot(to), &[]),
        )
    };
    let all = [slows(&model, 0, 2), grows(2, 1), slows(&model, 1, 3), grows(3, 0)];
    let steps = steps(&model, &all);
    let with = |delays| {
        let limits = Limits { delays, ..Limits::default() };
        rings(&steps, &BTreeMap::new(), &|it| it as usize, STRICT, &limits).expect("a search").0.len()
    };
    assert_eq!([with(1), with(2)], [0, 1]);
}

#[test]
fn places_share_a_way_or_nothing_is_known_of_one() {
    assert!(share(&ways(&[1, 2]), &ways(&[2, 3])));
    assert!(!share(&ways(&[1]), &ways(&[2, 3])));
    assert!(share(&ways(&[]), &ways(&[2])) && share(&ways(&[2]), &ways(&[])));
}
