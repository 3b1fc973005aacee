//! A search that meets a near miss, and a workload that fails by itself now and then.
//!
//! In `targets/relay` the first write to an outbox that fails shows nearly all of the failure log, and the third is
//! the failure. The log does not say when it happened, and other calls are nearer to its last line in the code.

mod support;

use serde_json::{Value, json};
use support::spool::{Place, SCRIPT};
use support::{line_of, spool_classes};

/// The most rounds that the search may take, with any seed.
const ROUNDS_MAX: u64 = 6;
const SEEDS: u64 = 10;
const SEARCH: &str = "--faults exceptions --jobs 1 --sandbox off --json";

/// A place with the failure log.
fn place() -> Place {
    let place = Place::new();
    configure(&place, "");
    place.file("own.sh", SCRIPT.replace("spool.Main", "relay.Relay"));
    let fault = "Relay.put->Files.writeString --throw java.io.IOException --at 3 --workload own --json";
    let said = place.tool(&format!("inject {fault}")).exits(0);
    assert_eq!(said.json()["failure"]["happened"], true, "{:#}", said.json());
    let log = place.path("hypocenter-out/latest/trials/000/logs/main.stderr.log");
    std::fs::copy(log, place.path("failure.log")).expect("the program's log");
    place
}

fn configure(place: &Place, reproduce: &str) {
    place.file(
        "hypocenter.toml",
        format!(
            "[target]\nclasspath = ['{}']\npackages = ['relay']\n\n\
             [[workload]]\nname = 'own'\ncommand = 'sh own.sh {{dir}}'\ntimeout = '100s'\n\n\
             [failure]\nworkload = 'own'\noracle = {{ log = 'batch [0-9]+ is lost' }}\n\n{reproduce}",
            spool_classes().display()
        ),
    );
}

/// The third write to the outbox is what was found.
#[track_caller]
fn assert_true_fault(document: &Value) {
    let fault = &document["fault"];
    let line = line_of("relay/src/relay/Relay.java", "put");
    assert_eq!([&fault["line"], &fault["occurrence"]], [&json!(line), &json!(3)], "{fault:#}");
}

/// The round in which the fault was found.
fn round(place: &Place, seed: u64) -> u64 {
    let said =
        place.tool(&format!("reproduce --log failure.log --seed {seed} {SEARCH} --replays 1")).exits(0);
    let document = said.json();
    assert_true_fault(&document);
    document["rounds"].as_u64().expect("a number of rounds")
}

#[test]
fn a_near_miss_is_followed_by_the_failure() {
    let place = place();
    let with: Vec<u64> = (0..SEEDS).map(|seed| round(&place, seed)).collect();
    configure(&place, "[reproduce]\nwithout = ['near-miss']\n");
    let without = round(&place, 0);
    println!("rounds with the rule: {with:?}; without it: {without}");
    assert!(with.iter().all(|it| *it <= ROUNDS_MAX), "{with:?}");
    assert!(without > ROUNDS_MAX, "the rule is worth nothing here: {without} rounds without it");
    // What cannot be switched off is named.
    configure(&place, "[reproduce]\nwithout = ['warning']\n");
    place.tool("reproduce --log failure.log").exits(1).says("there is no rule `warning`");
}

/// A script for which one in so many runs is unlucky; they are counted in a file.
fn unlucky(every: u64) -> String {
    let count =
        format!("echo run >> runs; [ $(($(wc -l < runs) % {every})) = 0 ] && set -- \"$1\" unlucky\nexec ");
    SCRIPT.replace("spool.Main", "relay.Relay").replace("exec ", &count)
}

#[test]
fn a_fault_is_told_from_what_fails_by_itself_in_two_of_ten_runs() {
    let place = place();
    place.file("own.sh", unlucky(5));
    let said = place
        .tool(&format!("reproduce --log failure.log --normal-runs 10 --replays 5 {SEARCH}"))
        .exits(0)
        .says("flaky     the failure happens without a fault, in 2 of 10 runs");
    let document = said.json();
    assert_true_fault(&document);
    // Both rates are told. The replays are lucky or not, and fail all the same.
    assert_eq!(document["rate"], json!({ "hits": 5, "runs": 5 }));
    let (failed, runs) = (&document["normal_failures"], &document["normal_runs"]);
    let by_itself = failed.as_u64().expect("a number") as f64 / runs.as_u64().expect("a number") as f64;
    assert!((0.1..0.4).contains(&by_itself), "{failed} of {runs}");
    said.says(&format!("5 of 5 replays; {failed} of {runs} runs without the fault"));
    // Where it fails every time, nothing can be told.
    place.file("own.sh", unlucky(1));
    let said = place.tool(&format!("reproduce --log failure.log {SEARCH}")).exits(4);
    assert_eq!(said.json()["standing"], json!({ "already_fails": { "failed": 2, "runs": 2 } }));
}

#[test]
fn each_round_may_be_run_several_times() {
    let place = place();
    let said = place.tool(&format!("reproduce --log failure.log --repeats 2 --replays 1 {SEARCH}")).exits(0);
    let document = said.json();
    assert_true_fault(&document);
    let tried = document["tried"].as_array().expect("rounds");
    let runs = |happened: bool| {
        let rounds = tried.iter().filter(move |it| it["happened"] == json!(happened));
        rounds.map(|it| it["runs"].clone()).collect::<Vec<_>>()
    };
    // One in which it happens at once needs no second.
    assert_eq!(runs(true), [Value::Null], "{tried:#?}");
    assert!(runs(false).iter().all(|it| *it == json!({ "hits": 0, "runs": 2 })), "{tried:#?}");
}
