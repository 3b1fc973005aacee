use hypocenter_plan::{Fault, SiteKind};
use hypocenter_results::cascaded::CascadeKind::{Delay, Exception, Negation};

use super::*;
use crate::reader::Spot;
use crate::testing::{TWO_STAGES, doses, lab, model, normal, run, spot, spots, ways, weakness};

const TEST: usize = 4;

fn once(after: bool) -> Dose {
    Dose::Once { after }
}

fn repeated(after: bool) -> Dose {
    Dose::Repeated { after, frames: run().frames }
}

/// Carries out an experiment with fault 0, each run of which is what `of` says of its dose and number.
fn done(lab: &Lab<'_>, normal: &Normal<'_>, of: impl Fn(&Dose, usize) -> Run) -> Experiment {
    let mut it = Experiment::new(lab, (0, TEST), 2);
    loop {
        match it.go_on(lab, normal) {
            Need::Over => return it,
            Need::Runs(runs) => {
                let variant = it.current();
                for _ in 0..runs {
                    let number = it.ask();
                    let run = of(&it.variants[variant].dose, number);
                    it.tell(variant, number, run);
                }
            }
            need => panic!("{need:?} with all runs told"),
        }
    }
}

/// The doses of an experiment, each with its runs.
fn told(it: &Experiment) -> Vec<(Dose, usize)> {
    it.variants.iter().map(|it| (it.dose.clone(), it.told().count())).collect()
}

/// Checks the doses, each with its runs. Runs without the fault reach the faults 1 and 2.
#[track_caller]
fn check(lab: &Lab<'_>, of: impl Fn(&Dose, usize) -> Run, expect: &[(Dose, usize)]) {
    let without = run().normal().reaches(&[1, 2]);
    let it = done(lab, &normal(&without), |dose, number| {
        let run = of(dose, number);
        // What reaches nothing in particular reaches what runs without the fault reach.
        if run.digest.reached.is_empty() { run.reaches(&[1, 2]) } else { run }
    });
    assert_eq!(told(&it), expect);
    assert_eq!(it.standing, Standing::Over);
}

fn delay(ms: u64) -> Dose {
    Dose::Delay { ms }
}

#[test]
fn shorter_delays_are_tried_only_if_a_longer_one_cuts_the_test_short() {
    let (model, doses) = (model(&[Delay]), doses(&[10, 20, 40]));
    let lab = lab(&model, &doses);
    check(&lab, |_, _| run(), &[(delay(40), 3)]);
    let all = [(delay(40), 3), (delay(20), 3), (delay(10), 3)];
    check(&lab, |_, _| run().reaches(&[1]), &all);
    check(&lab, |dose, _| if *dose == delay(40) { run().reaches(&[2, 3]) } else { run() }, &all[..2]);
    let late = |dose: &Dose, number| Run { has_timed_out: *dose != delay(10) && number == 2, ..run() };
    check(&lab, late, &all);
    // More than without the fault is not less.
    check(&lab, |_, _| run().reaches(&[1, 2, 3]), &all[..1]);
}

#[test]
fn all_lengths_of_a_delay_are_tried_where_that_is_asked_for() {
    let model = model(&[Delay]);
    let doses = Doses { all_lengths: true, ..doses(&[10, 20, 40]) };
    check(&lab(&model, &doses), |_, _| run(), &[(delay(40), 3), (delay(20), 3), (delay(10), 3)]);
}

#[test]
fn a_test_is_cut_short_only_of_what_all_runs_without_the_fault_reach() {
    let (model, doses) = (model(&[Delay]), doses(&[10, 40]));
    let lab = lab(&model, &doses);
    let mut without = vec![run().normal().reaches(&[1, 2]); 5];
    without[3] = run().normal().reaches(&[1]);
    let normal = Normal { first: without.iter().collect(), fresh: None };
    assert_eq!(told(&done(&lab, &normal, |_, _| run().reaches(&[1]))), [(delay(40), 3)]);
    assert_eq!(told(&done(&lab, &normal, |_, _| run().reaches(&[2]))), [(delay(40), 3), (delay(10), 3)]);
}

#[test]
fn a_fault_is_repeated_if_once_has_an_effect_and_lets_no_loop_grow() {
    for kind in [Exception, Negation] {
        let (model, doses) = (model(&[kind, Negation, Delay]), doses(&[10]));
        let lab = lab(&model, &doses);
        check(&lab, |_, _| run(), &[(once(false), 3)]);
        check(&lab, |_, _| run().error(1), &[(once(false), 5), (repeated(false), 5)]);
        let grows = |_: &Dose, _| run().error(1).loops(2, 7);
        // Five fresh runs show the growth again.
        check(&lab, grows, &[(once(false), 10)]);
        let only_once = |dose: &Dose, _| if *dose == once(false) { run().error(1) } else { run() };
        check(&lab, only_once, &[(once(false), 5), (repeated(false), 3)]);
    }
}

#[test]
fn a_repeated_fault_is_injected_in_calls_like_the_first_that_was_injected() {
    let (model, doses) = (model(&[Exception]), doses(&[10]));
    let frames = |it: &str| vec![it.to_owned()];
    let of = |_: &Dose, number: usize| match number {
        0 => run().normal().error(1),
        1 => Run { frames: frames("own.First.run"), ..run().error(1) },
        _ => Run { frames: frames("own.Later.run"), ..run().error(1) },
    };
    let without = run().normal();
    let lab = lab(&model, &doses);
    let it = done(&lab, &normal(&without), of);
    assert_eq!(it.variants[1].dose, Dose::Repeated { after: false, frames: frames("own.First.run") });
    let (candidates, limit) = it.candidates(&lab, 1);
    assert_eq!((candidates.len(), limit), (1, 1));
    assert_eq!(candidates[0].repeat, Repeat::ForMs(500));
    assert_eq!(candidates[0].when.stack, Some(StackGuard::Suffix(frames("own.First.run"))));
    // Without a stack it is injected at every hit.
    let bare = done(&lab, &normal(&without), |_, _| Run { frames: Vec::new(), ..run().error(1) });
    assert_eq!(bare.variants[1].dose, Dose::Repeated { after: false, frames: Vec::new() });
    assert_eq!(bare.candidates(&lab, 1).0[0].when.stack, None);
}

#[test]
fn a_fault_is_never_repeated_for_no_time() {
    let model = model(&[Exception]);
    let doses = Doses { for_ms: 0, ..doses(&[10]) };
    check(&lab(&model, &doses), |_, _| run().error(1), &[(once(false), 5)]);
}

#[test]
fn the_exception_of_a_library_comes_after_the_call_too_if_it_had_an_effect_before() {
    let model = Model::with(vec![
        Weakness { is_of_library: true, ..weakness(0, Exception) },
        weakness(1, Negation),
        weakness(2, Delay),
    ]);
    let doses = doses(&[10]);
    let lab = lab(&model, &doses);
    check(&lab, |_, _| run(), &[(once(false), 3)]);
    let all = [(once(false), 5), (repeated(false), 5), (once(true), 5), (repeated(true), 5)];
    check(&lab, |_, _| run().error(1), &all);
    check(&lab, |_, _| run().loops(2, 7), &[(once(false), 10), (once(true), 10)]);
    let not_after = |dose: &Dose, _| if *dose == once(true) { run() } else { run().error(1) };
    check(&lab, not_after, &[(once(false), 5), (repeated(false), 5), (once(true), 3)]);
    let it = done(&lab, &normal(&run().normal()), |_, _| run().error(1));
    let kinds: Vec<SiteKind> = (0..4).map(|at| it.candidates(&lab, at).0[0].site.kind).collect();
    let (before, after) = (weakness(0, Exception).inject[0].kind, SiteKind::CallReturn);
    assert_eq!(kinds, [before, before, after, after]);
}

#[test]
fn an_experiment_ends_after_three_runs_that_do_not_differ() {
    let (model, doses) = (model(&[Exception]), doses(&[10]));
    let lab = lab(&model, &doses);
    let late = |_: &Dose, number| if number < 3 { run() } else { run().error(1) };
    check(&lab, late, &[(once(false), 3)]);
    // One that differs is followed by the rest, and comes to nothing.
    let early = |_: &Dose, number| if number == 2 { run().error(1) } else { run() };
    check(&lab, early, &[(once(false), 5)]);
    check(&Lab { repeats: 2, ..lab }, |_, _| run(), &[(once(false), 2)]);
    // A difference without the fault is none of its.
    let elsewhere = |_: &Dose, number| if number == 0 { run() } else { run().normal() };
    check(&Lab { repeats: 4, ..lab }, elsewhere, &[(once(false), 3)]);
}

#[test]
fn an_experiment_is_void_if_its_fault_was_never_injected() {
    for (kind, dose) in [(Delay, delay(40)), (Exception, once(false)), (Negation, once(false))] {
        let (model, doses) = (model(&[kind]), doses(&[10, 40]));
        let lab = lab(&model, &doses);
        let without = run().normal();
        // What happens in such a run has another reason.
        let it = done(&lab, &normal(&without), |_, _| run().normal().error(1).loops(2, 9));
        assert_eq!((told(&it), it.standing), (vec![(dose.clone(), 3)], Standing::Void));
        let it = done(&lab, &normal(&without), |_, number| if number == 1 { run() } else { run().normal() });
        assert_eq!((told(&it), it.standing), (vec![(dose, 3)], Standing::Over));
    }
}

#[test]
fn growth_needs_fresh_runs_of_both_sides() {
    let (model, doses) = (model(&[Exception, Delay]), doses(&[10]));
    let lab = lab(&model, &doses);
    let without = run().normal().loops(1, 2);
    let first_only = Normal { first: vec![&without; 5], fresh: None };
    let mut it = Experiment::new(&lab, (0, TEST), 1);
    assert_eq!(it.go_on(&lab, &first_only), Need::Runs(3));
    let tell = |it: &mut Experiment, runs: usize, count: u64| {
        for _ in 0..runs {
            let number = it.ask();
            it.tell(0, number, run().loops(1, count));
        }
    };
    tell(&mut it, 3, 7);
    assert_eq!(it.go_on(&lab, &first_only), Need::Runs(2));
    let number = it.ask();
    assert_eq!(it.go_on(&lab, &first_only), Need::Nothing, "a run is under way");
    it.tell(0, number, run().loops(1, 7));
    tell(&mut it, 1, 7);
    assert_eq!(it.go_on(&lab, &first_only), Need::Runs(5));
    tell(&mut it, 5, 9);
    assert_eq!(it.go_on(&lab, &first_only), Need::Normal);
    assert_eq!(it.go_on(&lab, &first_only), Need::Normal, "asking again changes nothing");
    assert_eq!(it.standing, Standing::Open);
    let fresh = run().normal().loops(1, 3);
    assert_eq!(it.go_on(&lab, &Normal { fresh: Some(vec![&fresh; 5]), ..first_only }), Need::Over);
    let growth = &it.variants[0].caused.as_ref().expect("it is over").growth;
    assert_eq!(spots(growth), [spot(1)]);
    // The first runs were chosen for being different, so the counts are those of the fresh ones.
    assert_eq!((&growth[0].with, &growth[0].without), (&vec![9; 5], &vec![3; 5]));
}

/// The loops that grow, and the number of runs, where the runs count so much in the first stage and in the second.
fn stages(judging: Judging, with: [u64; 2], without: [u64; 2]) -> (Vec<Spot>, usize) {
    let model = model(&[Exception, Delay]);
    // Nothing is repeated, so there is one dose.
    let doses = Doses { for_ms: 0, ..doses(&[10]) };
    let lab = Lab { judging, ..lab(&model, &doses) };
    let [first, fresh] = without.map(|it| run().normal().loops(1, it));
    let normal = Normal { first: vec![&first; 5], fresh: Some(vec![&fresh; 5]) };
    let it = done(&lab, &normal, |_, number| run().loops(1, with[number / 5]));
    (spots(&it.variants[0].caused.as_ref().expect("it is over").growth), it.variants[0].told().count())
}

#[test]
fn growth_that_fresh_runs_do_not_show_is_dropped() {
    let one_stage = Judging { one_stage: true, ..TWO_STAGES };
    for (judging, with, without, expect) in [
        (TWO_STAGES, [7, 7], [5, 5], (vec![spot(1)], 10)),
        (TWO_STAGES, [7, 5], [5, 5], (vec![], 10)),
        (TWO_STAGES, [7, 7], [5, 7], (vec![], 10)),
        (TWO_STAGES, [5, 7], [5, 5], (vec![], 3)),
        (one_stage, [7, 5], [5, 7], (vec![spot(1)], 5)),
    ] {
        assert_eq!(stages(judging, with, without), expect, "{judging:?} {with:?} {without:?}");
    }
}

#[test]
fn growth_has_the_ways_of_both_stages() {
    let (model, doses) = (model(&[Exception, Delay]), doses(&[10]));
    let without = run().normal().loops(1, 2);
    let by = |number: usize| if number < 5 { [1, 3] } else { [2, 3] };
    let of = |_: &Dose, number: usize| run().loops_at(spot(1), 7, &by(number));
    let it = done(&lab(&model, &doses), &normal(&without), of);
    assert_eq!(it.variants[0].caused.as_ref().expect("it is over").growth[0].ways, ways(&[1, 2, 3]));
}

#[test]
fn a_delay_is_spent_in_every_iteration_and_an_error_once() {
    let doses = doses(&[10, 400]);
    for (kind, fault, repeat) in [
        // The limit of all delays together has room for one.
        (Delay, Fault::Delay { delay_ms: 400, pause: hypocenter_plan::Pause::Spin }, Repeat::TotalMs(400)),
        (Exception, Fault::Exception { class: "own.Failure".to_owned(), message: None }, Repeat::Once),
        (Negation, Fault::Negate, Repeat::Once),
    ] {
        let weakness = weakness(0, kind);
        let model = Model::with(vec![Weakness { inject: vec![weakness.inject[0].clone(); 2], ..weakness }]);
        let lab = lab(&model, &doses);
        let (candidates, limit) = Experiment::new(&lab, (0, TEST), 1).candidates(&lab, 0);
        assert_eq!(limit, if kind == Delay { 2 } else { 1 }, "{kind:?}");
        assert_eq!(candidates.len(), 2);
        assert!(candidates.iter().all(|it| (&it.fault, it.repeat) == (&fault, repeat)), "{candidates:?}");
    }
}

#[test]
fn a_delay_comes_by_the_ways_of_all_iterations_and_an_error_by_those_of_its_injection() {
    let (callers, others) = ([1, 2], [3, 4]);
    let of = |_: &Dose, number: usize| {
        run()
            .loops_at(Spot(0, callers, 0), 4, &[number as u32, 8])
            .loops_at(Spot(0, others, 0), 0, &[5])
            .loops_at(Spot(1, callers, 0), 4, &[6])
            .injected_at(others, 1, &[7, number as u32])
    };
    let doses = doses(&[10]);
    let causes = |kind| {
        let model = model(&[kind, Delay]);
        let without =
            run().normal().loops_at(Spot(1, callers, 0), 4, &[]).loops_at(Spot(0, callers, 0), 4, &[]);
        done(&lab(&model, &doses), &normal(&without), of).variants[0].causes(0)
    };
    assert_eq!(causes(Delay), BTreeMap::from([((callers, 0), ways(&[0, 1, 2, 8]))]));
    assert_eq!(causes(Exception), BTreeMap::from([((others, 1), ways(&[0, 1, 2, 7]))]));
}
