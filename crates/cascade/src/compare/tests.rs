use hypocenter_results::cascaded::CascadeKind::{Delay, Exception};

use super::*;
use crate::testing::{TWO_STAGES, model, run, spot, spots, ways, weakness};

fn refs(of: &[Run]) -> Vec<&Run> {
    of.iter().collect()
}

/// Runs of a second in which loop 0 goes round so often.
fn counted(counts: &[u64]) -> Vec<Run> {
    counts.iter().map(|&it| run().loops(0, it)).collect()
}

/// The same, each with its seconds.
fn timed(counts: &[(u64, f64)]) -> Vec<Run> {
    counts.iter().map(|&(count, seconds)| run().loops(0, count).seconds(seconds)).collect()
}

/// The loops that grow.
fn grown(model: &Model, judging: Judging, with: &[Run], without: &[Run]) -> Vec<Spot> {
    spots(&growth(model, &judging, &refs(with), &refs(without)).0)
}

#[track_caller]
fn check_growth(with: &[u64], without: &[u64], expect: bool) {
    let found = grown(&model(&[Delay]), TWO_STAGES, &counted(with), &counted(without));
    assert_eq!(found == [spot(0)], expect, "{with:?} {without:?}: {found:?}");
}

/// The errors that a fault causes.
#[track_caller]
fn check_errors(with: &[Run], without: &[Run], expect: &[Spot]) {
    assert_eq!(spots(&errors(&refs(with), &refs(without))), expect, "{with:?} {without:?}");
}

fn normal(runs: usize) -> Vec<Run> {
    vec![run().normal(); runs]
}

#[test]
fn an_error_counts_if_it_comes_in_every_run_with_the_fault_and_in_none_without() {
    let came = || run().error(1);
    check_errors(&vec![came(); 5], &normal(5), &[spot(1)]);
    check_errors(&vec![came(); 4], &normal(5), &[spot(1)]);
    check_errors(&vec![came(); 3], &normal(5), &[]);
    let but_one = [vec![came(); 4], vec![run()]].concat();
    check_errors(&but_one, &normal(5), &[]);
    let mut without = normal(5);
    without[3] = run().normal().error(1);
    check_errors(&vec![came(); 5], &without, &[]);
}

#[test]
fn runs_in_which_the_fault_was_not_injected_say_nothing_of_errors() {
    let came = || run().error(1);
    check_errors(&[vec![came(); 4], normal(1)].concat(), &normal(5), &[spot(1)]);
    check_errors(&[vec![came(); 3], normal(2)].concat(), &normal(5), &[]);
    check_errors(&[vec![came(); 3], vec![came().normal(); 2]].concat(), &normal(5), &[]);
    // One that it did not bring about there is not always there with it.
    check_errors(&[vec![run(); 4], vec![came().normal(); 4]].concat(), &normal(5), &[]);
}

#[test]
fn the_injected_event_is_no_effect_and_a_further_one_at_its_place_is() {
    let injected = || run().injected_at([3, 4], 0, &[7]);
    check_errors(&vec![injected(); 5], &normal(5), &[]);
    let at = Spot(1, [3, 4], 0);
    check_errors(&vec![injected().error_at(at, &[7]); 5], &normal(5), &[at]);
}

#[test]
fn errors_are_told_apart_by_callers_and_by_value() {
    let (one, by_others, opposite) = (Spot(1, [1, 2], 0), Spot(1, [1, 3], 0), Spot(1, [1, 2], 1));
    let without = vec![run().normal().error_at(one, &[]); 5];
    for other in [by_others, opposite] {
        let with = vec![run().error_at(one, &[]).error_at(other, &[]); 5];
        check_errors(&with, &without, &[other]);
    }
    // Half of the runs by one caller and half by the other is neither always.
    let by_turns: Vec<Run> =
        (0..6).map(|it| run().error_at(if it % 2 == 0 { one } else { by_others }, &[])).collect();
    check_errors(&by_turns, &normal(5), &[]);
}

#[test]
fn an_error_has_the_ways_of_all_runs_and_a_count_for_each() {
    let with: Vec<Run> = (0..4).map(|it| run().error_at(spot(1), &[it / 2, 9])).collect();
    let all = [with, normal(1)].concat();
    let found = errors(&refs(&all), &refs(&normal(5)));
    let expect =
        Effect { spot: spot(1), ways: ways(&[0, 1, 9]), with: vec![1; 4], without: vec![0; 5], p: None };
    assert_eq!(found, [expect]);
}

#[test]
fn a_loop_grows_if_chance_hardly_explains_it() {
    for (with, without, expect) in [
        // Without any spread the means decide.
        (&[5, 5, 5, 5, 5][..], &[4, 4, 4, 4, 4][..], true),
        (&[5, 5], &[4, 4], true),
        (&[5, 5, 5, 5, 5], &[5, 5, 5, 5, 5], false),
        (&[4, 4, 4, 4, 4], &[5, 5, 5, 5, 5], false),
        // p is 0.0010 and 0.9990, 0.071 and 0.104, 0.035 and 0.187.
        (&[12, 13, 11, 12, 12], &[10, 11, 9, 10, 10], true),
        (&[10, 11, 9, 10, 10], &[12, 13, 11, 12, 12], false),
        (&[24, 30, 18, 41, 25], &[12, 20, 15, 33, 14], true),
        (&[7, 7, 8, 7], &[7, 6, 7, 7, 7], false),
        (&[60, 61, 61, 60, 61], &[60, 60, 60, 60, 60], true),
        (&[60, 60, 60, 61, 60], &[60, 60, 60, 60, 60], false),
    ] {
        check_growth(with, without, expect);
    }
}

#[test]
fn a_loop_that_runs_in_all_runs_with_the_fault_and_in_none_without_grows() {
    // By its spread alone it would not: p is 0.19.
    check_growth(&[1, 1, 900, 1, 1], &[0, 0, 0, 0, 0], true);
    check_growth(&[1, 1, 900, 1, 0], &[0, 0, 0, 0, 0], false);
    check_growth(&[1, 1, 900, 1, 1], &[0, 0, 1, 0, 0], false);
    let found = grown(&model(&[Delay]), TWO_STAGES, &counted(&[1, 1, 900, 1, 1]), &normal(5));
    assert_eq!(found, [spot(0)], "a loop that no run without the fault has");
    let found = grown(&model(&[Delay]), TWO_STAGES, &normal(5), &counted(&[9, 9, 9, 9, 9]));
    assert_eq!(found, [], "a loop that no run with the fault has");
}

#[test]
fn one_run_among_several_shows_no_growth() {
    check_growth(&[500], &[5, 5, 5, 5, 5], false);
    check_growth(&[500], &[0, 0, 0, 0, 0], false);
    check_growth(&[500, 500, 500, 500, 500], &[5], false);
    check_growth(&[500, 501, 499, 500, 500], &[], false);
    // A campaign of one run each has nothing better to go by.
    check_growth(&[500], &[5], true);
    check_growth(&[5], &[5], false);
}

#[test]
fn loops_are_judged_by_callers() {
    let of = |one: u64, other: u64| {
        run().loops_at(Spot(0, [1, 0], 0), one, &[]).loops_at(Spot(0, [2, 0], 0), other, &[])
    };
    let (with, without) = (vec![of(9, 5); 5], vec![of(5, 9); 5]);
    let (found, compared) = growth(&model(&[Delay]), &TWO_STAGES, &refs(&with), &refs(&without));
    assert_eq!((spots(&found), compared), (vec![Spot(0, [1, 0], 0)], 2));
    assert_eq!((&found[0].with, &found[0].without), (&vec![9; 5], &vec![5; 5]));
    assert_eq!(found[0].p, Some(0.0));
}

#[test]
fn a_loop_that_time_paces_grows_by_the_second_too() {
    let paced = Model::with(vec![crate::model::Weakness { is_paced: true, ..weakness(0, Delay) }]);
    let free = model(&[Delay]);
    let unchecked = Judging { paced: false, ..TWO_STAGES };
    // Without the fault 10 rounds in a second.
    let without = timed(&[(10, 1.0); 5]);
    let [longer, denser, shorter] = [timed(&[(20, 2.0); 5]), timed(&[(40, 2.0); 5]), timed(&[(9, 0.5); 5])];
    assert_eq!(grown(&paced, TWO_STAGES, &longer, &without), [], "twice as often in twice the time");
    assert_eq!(grown(&paced, unchecked, &longer, &without), [spot(0)]);
    assert_eq!(grown(&free, TWO_STAGES, &longer, &without), [spot(0)]);
    assert_eq!(
        grown(&paced, TWO_STAGES, &denser, &without),
        [spot(0)],
        "four times as often in twice the time"
    );
    assert_eq!(grown(&paced, TWO_STAGES, &shorter, &without), [], "more by the second and less in all");
}

#[test]
fn a_loop_that_follows_the_length_of_runs_is_one_that_time_paces() {
    let model = model(&[Delay]);
    let with = timed(&[(60, 6.0), (70, 7.0), (80, 8.0), (90, 9.0), (100, 10.0)]);
    let following = timed(&[(10, 1.0), (20, 2.0), (31, 3.0), (40, 4.0), (50, 5.0)]);
    assert_eq!(grown(&model, TWO_STAGES, &with, &following), []);
    assert_eq!(grown(&model, Judging { paced: false, ..TWO_STAGES }, &with, &following), [spot(0)]);
    // The same counts in runs whose lengths have nothing to do with them.
    let mixed = timed(&[(10, 3.0), (20, 1.0), (31, 5.0), (40, 2.0), (50, 4.0)]);
    assert_eq!(grown(&model, TWO_STAGES, &with, &mixed), [spot(0)]);
    // Equal counts follow nothing, whatever the lengths are.
    let equal = timed(&[(10, 1.0), (10, 2.0), (10, 3.0), (10, 4.0), (10, 5.0)]);
    assert_eq!(grown(&model, TWO_STAGES, &with, &equal), [spot(0)]);
}

#[test]
fn a_false_rate_among_many_loops_takes_fewer_of_them() {
    let model = model(&[Delay; 10]);
    let noise = [[20, 21, 19, 22, 18], [21, 19, 20, 18, 22]];
    let runs = |sure: u64, likely: [u64; 5], noise: [u64; 5]| -> Vec<Run> {
        let one = |it: usize| {
            (2..10).fold(run().loops(0, sure).loops(1, likely[it]), |run, fault| run.loops(fault, noise[it]))
        };
        (0..5).map(one).collect()
    };
    // Of loop 1 p is 0.071.
    let with = runs(9, [24, 30, 18, 41, 25], noise[0]);
    let without = runs(5, [12, 20, 15, 33, 14], noise[1]);
    let by = |fdr| grown(&model, Judging { fdr, ..TWO_STAGES }, &with, &without);
    assert_eq!(by(None), [spot(0), spot(1)]);
    assert_eq!(by(Some(0.1)), [spot(0)]);
    assert_eq!(by(Some(0.4)), [spot(0), spot(1)]);
    let (_, compared) = growth(&model, &TWO_STAGES, &refs(&with), &refs(&without));
    assert_eq!(compared, 10);
}

#[test]
fn runs_differ_by_a_new_error_or_by_a_count_above_all_without_the_fault() {
    let without = vec![run().loops(0, 3), run().loops(0, 5).error(1), run()];
    let check = |with: Run, expect: bool| {
        let found = differ(&[&run(), &with], &refs(&without));
        assert_eq!(found, expect, "{with:?}");
    };
    check(run(), false);
    check(run().loops(0, 5).error(1), false);
    check(run().loops(0, 6), true);
    check(run().loops(2, 1), true);
    check(run().loops(2, 0), false);
    check(run().error(2), true);
    check(run().error_at(Spot(1, [1, 0], 0), &[]), true);
    check(run().loops_at(Spot(0, [1, 0], 0), 4, &[]), true);
}

#[test]
fn exceptions_and_loops_are_judged_side_by_side() {
    let model = model(&[Delay, Exception]);
    let (with, without) = (vec![run().loops(0, 9).error(1); 5], vec![run().normal().loops(0, 5); 5]);
    assert_eq!(grown(&model, TWO_STAGES, &with, &without), [spot(0)]);
    check_errors(&with, &without, &[spot(1)]);
}
