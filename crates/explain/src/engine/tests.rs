//! The engine on recorded outcomes.

use hypocenter_plan::{End, FORMAT_VERSION, OracleOutcome, Steering};
use hypocenter_program::Act;
use hypocenter_results::explained::RunPoint;

use super::*;
use crate::testing::{method, model, step};

fn engine(neighbours: &[&str]) -> Explain {
    let throws = method("t", &[(0, 1)], vec![step(Act::Throws, &[], &[])], &[], &[]);
    let spec = |name: &&str| NeighbourSpec {
        name: (*name).to_owned(),
        workload: (*name).to_owned(),
        plan: Plan::default(),
    };
    let what = ExplainSettings {
        workload: "w".to_owned(),
        plan: Plan::default(),
        neighbours: neighbours.iter().map(spec).collect(),
        distance: 10,
        replays: 2,
        without: Vec::new(),
    };
    Explain::new(Arc::new(model(vec![throws], (0, 0))), what)
}

fn outcome(failed: bool, status: i32) -> Outcome {
    Outcome {
        version: FORMAT_VERSION,
        end: End::Exited { status },
        wall_ms: 1,
        disk_full: false,
        failure: Some(OracleOutcome { happened: failed, why: String::new() }),
        processes: Vec::new(),
        candidates: Vec::new(),
        steering: Steering::default(),
        jvms: Vec::new(),
        problems: Vec::new(),
    }
}

fn digest(reached: bool) -> ExplainDigest {
    ExplainDigest { reached, events: 1, threads: 1, ..ExplainDigest::default() }
}

/// A study that names the neighbour of this number in it.
fn studied(neighbour: &str) -> ExplainDigest {
    let point = RunPoint { method: "T.t".to_owned(), ..RunPoint::default() };
    let inflection = Inflection { neighbour: neighbour.to_owned(), point, ..Inflection::default() };
    ExplainDigest { reached: true, inflection: Some(inflection), ..ExplainDigest::default() }
}

/// Answers each job until there are no more, and gives what was asked for.
fn drive(
    engine: &mut Explain,
    answer: impl Fn(u64, &Job) -> (Option<Outcome>, ExplainDigest),
) -> Vec<String> {
    let mut asked = Vec::new();
    loop {
        let jobs = match engine.next(1) {
            Next::Start(jobs) => jobs,
            Next::Wait => panic!("it waits for nothing"),
            Next::Done => return asked,
        };
        for job in jobs {
            asked.push(match &job.work {
                Work::Trial { workload, .. } => workload.clone(),
                Work::Study { trials } => {
                    format!("study {:?}", trials.iter().map(|it| it.id.0).collect::<Vec<_>>())
                }
            });
            let (outcome, digest) = answer(job.id.0, &job);
            engine.tell(job.id, outcome.as_ref(), digest);
        }
    }
}

fn results(engine: &Explain) -> Explanation {
    engine.results(&|_| None)
}

#[test]
fn only_runs_that_end_well_and_do_not_come_to_the_symptom_are_compared() {
    let mut engine = engine(&["fails", "reaches", "exits", "good"]);
    let asked = drive(&mut engine, |_, job| match &job.work {
        Work::Study { .. } => (None, studied("0")),
        Work::Trial { workload, .. } => match workload.as_str() {
            "w" => (Some(outcome(true, 0)), digest(true)),
            "fails" => (Some(outcome(true, 0)), digest(false)),
            "reaches" => (Some(outcome(false, 0)), digest(true)),
            "exits" => (Some(outcome(false, 1)), digest(false)),
            _ => (Some(outcome(false, 0)), digest(false)),
        },
    });
    let expected = ["w", "fails", "reaches", "exits", "good", "study [0, 4]", "w", "good", "w", "good"];
    assert_eq!(asked, expected);
    let results = results(&engine);
    let why: Vec<Option<&str>> = results.neighbours.iter().map(|it| it.left_out.as_deref()).collect();
    let exits = "it does not end well: it exited with status 1";
    assert_eq!(why, [Some("it fails too"), Some("it reaches the symptom"), Some(exits), None]);
    let found = &results.findings[0];
    assert_eq!((found.proof, found.rate), (Proof::Confirmed, Rate { hits: 2, runs: 2 }));
    assert_eq!(found.detail.nearest_rate, Rate { hits: 0, runs: 2 });
    assert_eq!(found.detail.neighbour, "good", "the number in the study is that of the fourth");
}

#[test]
fn an_answer_is_refuted_by_a_nearest_run_that_fails_when_it_is_replayed() {
    let mut engine = engine(&["good"]);
    drive(&mut engine, |id, job| match &job.work {
        Work::Study { .. } => (None, studied("0")),
        Work::Trial { workload, .. } if workload == "w" => (Some(outcome(true, 0)), digest(true)),
        Work::Trial { .. } => (Some(outcome(id > 2, 0)), digest(id > 2)),
    });
    assert_eq!(results(&engine).findings[0].proof, Proof::Refuted);
}

#[test]
fn without_a_failure_a_symptom_or_a_neighbour_there_is_no_answer() {
    let check = |neighbours: &[&str], failing: (bool, bool), expected: (Unanswered, usize)| {
        let mut engine = engine(neighbours);
        let asked = drive(&mut engine, |_, job| match &job.work {
            Work::Study { .. } => (None, digest(true)),
            Work::Trial { workload, .. } if workload == "w" => {
                (Some(outcome(failing.0, 0)), digest(failing.1))
            }
            Work::Trial { workload, .. } => (Some(outcome(workload == "bad", 0)), digest(false)),
        });
        assert_eq!((results(&engine).unanswered, asked.len()), (Some(expected.0), expected.1));
        assert!(results(&engine).findings.is_empty());
    };
    check(&["good"], (false, false), (Unanswered::NoFailure(3), 3));
    check(&["good"], (true, false), (Unanswered::NoSymptom, 3));
    check(&[], (true, true), (Unanswered::NoNeighbour, 1));
    check(&["bad"], (true, true), (Unanswered::NoNeighbour, 2));
    check(&["good"], (true, true), (Unanswered::NoDeviation, 3));
}

#[test]
fn asking_while_all_wait_changes_nothing() {
    let mut engine = engine(&["good"]);
    let Next::Start(jobs) = engine.next(4) else { panic!("there is work") };
    assert_eq!(jobs.len(), 1, "neighbours are run once it is known that the failure happens");
    let before = format!("{engine:?}");
    assert_eq!(engine.next(4), Next::Wait);
    assert_eq!(format!("{engine:?}"), before);
}
