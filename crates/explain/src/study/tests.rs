//! Figures of the Kairux paper, as small programs and runs.

use hypocenter_program::{Act, Outline, OutlineLoop, OutlineValue};

use crate::model::SliceModel;
use crate::study::Parts;
use crate::testing::{ALL, calls, inflection, method, model, reads, step, writes};

/// Figure 5: `f` calls `g` twice, and fails if the second call returns something else than 0.
fn figure_5() -> SliceModel {
    let f = method(
        "f",
        &[(0, 3), (3, 4), (4, 5)],
        vec![
            step(calls(1), &[], &[]),
            step(calls(1), &[], &[]),
            step(Act::Branches, &[1], &[]),
            step(Act::Throws, &[], &[2]),
            step(Act::Returns, &[], &[2]),
        ],
        &[],
        &[],
    );
    model(vec![f, g(0)], (0, 3))
}

/// Adds up elements in a loop whose sum is in a field.
fn g(sum: u32) -> Outline {
    let meets = OutlineValue::Meets(1, vec![0, 5]);
    method(
        "g",
        &[(0, 1), (1, 2), (2, 6), (6, 8), (8, 10), (10, 12)],
        vec![
            step(Act::Constant("0".to_owned()), &[], &[]),
            step(Act::Branches, &[12], &[1]),
            step(reads(sum), &[], &[1]),
            step(Act::Computes, &[2], &[1]),
            step(writes(sum), &[3], &[1]),
            step(Act::Computes, &[12], &[1]),
            step(reads(sum), &[], &[]),
            step(Act::Branches, &[6], &[]),
            step(Act::Constant("-1".to_owned()), &[], &[7]),
            step(Act::Returns, &[8], &[7]),
            step(Act::Constant("0".to_owned()), &[], &[7]),
            step(Act::Returns, &[10], &[7]),
        ],
        &[meets],
        &[OutlineLoop { header: 1, body: vec![1, 2], is_map: false }],
    )
}

#[test]
fn a_loop_that_carries_something_is_compared_round_by_round() {
    let failing = [("main", "f( 0 g( 0 1 2 1 3 4 ) g( 0 1 2 1 3 4 ) 1 !")];
    let other: &[(&str, &str)] = &[("main", "f( 0 g( 0 1 2 1 3 4 ) g( 0 1 2 1 2 1 3 5 ) 2 )")];
    assert_eq!(inflection(&figure_5(), &failing, &[other], ALL), "branch g:1 in round 2");
    let same: &[(&str, &str)] = &[("main", "f( 0 g( 0 1 2 1 3 4 ) g( 0 1 2 1 3 4 ) 2 )")];
    assert_eq!(inflection(&figure_5(), &failing, &[same], ALL), "branch f:2", "only the last branch differs");
    assert_eq!(inflection(&figure_5(), &[("main", "f( 0")], &[other], ALL), "no symptom");
}

/// Figure 1: a thread fails if a field is not 0, which another thread may write. The read is in a loop over items that share nothing.
fn figure_1() -> SliceModel {
    let t0 = method(
        "t0",
        &[(0, 1), (1, 3), (3, 4), (4, 5), (5, 6)],
        vec![
            step(Act::Branches, &[], &[0]),
            step(reads(7), &[], &[0]),
            step(Act::Branches, &[1], &[0]),
            step(Act::Throws, &[], &[2]),
            step(Act::Moves, &[], &[2]),
            step(Act::Returns, &[], &[]),
        ],
        &[],
        &[OutlineLoop { header: 0, body: vec![0, 1, 3], is_map: true }],
    );
    let t1 = method(
        "t1",
        &[(0, 3)],
        vec![
            step(Act::Constant("-1".to_owned()), &[], &[]),
            step(writes(7), &[0], &[]),
            step(Act::Returns, &[], &[]),
        ],
        &[],
        &[],
    );
    model(vec![t0, t1], (0, 3))
}

const RACE: [(&str, &str); 4] =
    [("a", "t0( 0 1 @1=5:0 3"), ("b", "t1( 0 @1=5:-1 )"), ("a", "0 1 @1=5:-1"), ("a", "2 !")];

#[test]
fn a_read_that_comes_too_late_is_found_behind_the_branch_that_it_leads_to() {
    // Nobody writes before the other reads.
    let apart: &[(&str, &str)] = &[("a", "t0( 0 1 @1=5:0 3 0 4 )"), ("b", "t1( 0 @1=5:-1 )")];
    assert_eq!(inflection(&figure_1(), &RACE, &[apart], ALL), "order t0:1 after t1:1");
    // The thread that writes is in one neighbour, the thread that reads in another.
    let reader: &[(&str, &str)] = &[("x", "t0( 0 1 @1=5:0 3 0 4 )")];
    let writer: &[(&str, &str)] = &[("y", "t1( 0 @1=5:-1 )")];
    assert_eq!(inflection(&figure_1(), &RACE, &[reader, writer], ALL), "order t0:1 after t1:1");
    let without = |part: fn(&mut Parts)| {
        let mut parts = ALL;
        part(&mut parts);
        inflection(&figure_1(), &RACE, &[reader, writer], parts)
    };
    assert_eq!(without(|it| it.merge = false), "branch t0:2");
    assert_eq!(without(|it| it.work_list = false), "branch t0:2");
    // Without the writer nothing can be in another order: it is what no neighbour has.
    assert_eq!(inflection(&figure_1(), &RACE, &[reader], ALL), "absent t1:1");
}

#[test]
fn writes_of_other_objects_do_not_matter() {
    let noise = ("c", "t1( 0 @1=9:3 )");
    let noisy = [RACE[0], RACE[1], noise, RACE[2], RACE[3]];
    let apart: &[(&str, &str)] = &[("a", "t0( 0 1 @1=5:0 3 0 4 )"), ("b", "t1( 0 @1=5:-1 )")];
    assert_eq!(inflection(&figure_1(), &noisy, &[apart], ALL), "order t0:1 after t1:1");
    let model = figure_1();
    let of = |parts| {
        let subject = super::Subject::of(&model, crate::testing::run(&model, &noisy), parts);
        let inquiry = super::Inquiry { model: &model, failing: &subject, neighbours: &[], parts };
        let feeds = inquiry.answer().expect("the symptom is reached").slice.feeds().to_vec();
        feeds.iter().map(|it| subject.run.threads[subject.run.thread_of(it.1) as usize].clone()).collect()
    };
    let fed: Vec<String> = of(ALL);
    assert_eq!(fed, ["b"]);
    let fed: Vec<String> = of(Parts { objects: false, ..ALL });
    assert_eq!(fed, ["c"], "without objects the last write of the field counts, whosever it is");
}

/// Lines 19 to 28 of Figure 2: the symptom depends on a counter that the failing run never changes, so the branch before that change is in
/// no slice of that run.
fn figure_2() -> SliceModel {
    let meets = OutlineValue::Meets(1, vec![0, 4]);
    let choose = method(
        "choose",
        &[(0, 1), (1, 2), (2, 4), (4, 5), (5, 6), (6, 7), (7, 8)],
        vec![
            step(Act::Computes, &[], &[]),
            step(Act::Branches, &[8], &[1]),
            step(reads(3), &[], &[1]),
            step(Act::Branches, &[2], &[1]),
            step(Act::Computes, &[8], &[3]),
            step(Act::Branches, &[8], &[]),
            step(Act::Throws, &[], &[5]),
            step(Act::Returns, &[], &[5]),
        ],
        &[meets],
        &[OutlineLoop { header: 1, body: vec![1, 2, 3], is_map: false }],
    );
    model(vec![choose], (0, 6))
}

#[test]
fn what_did_not_happen_is_taken_from_the_slice_of_the_neighbour() {
    let failing = [("m", "choose( 0 1 2 4 5 !")];
    let other: &[(&str, &str)] = &[("m", "choose( 0 1 2 3 1 4 6 )")];
    assert_eq!(inflection(&figure_2(), &failing, &[other], ALL), "branch choose:3 in round 1");
    let without = Parts { repair: false, ..ALL };
    assert_eq!(inflection(&figure_2(), &failing, &[other], without), "branch choose:5");
}
