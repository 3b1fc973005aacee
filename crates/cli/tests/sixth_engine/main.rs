//! A sixth engine is cheap: with fewer than 120 lines of its own it is resumed, replayed and reported as the built-in ones are, and its
//! rounds are shown while they run.
//!
//! This test binary is the tool with one more verb. Without a verb it is the test, which starts itself as a user would.

mod probe;
#[path = "../support/mod.rs"]
mod support;

use std::fs;
use std::process::ExitCode;

use serde_json::Value;
use support::spool::Place;

/// Lines of the engine, its document and its verb together.
const LINES_MAX: usize = 120;

fn main() -> ExitCode {
    // The test runner gives flags and names of tests; verbs and the keeper's word are of neither kind.
    const TEST: &str = "a_sixth_engine_gets_everything_for_free";
    match std::env::args().nth(1) {
        Some(it) if !it.starts_with("--") && !TEST.contains(&it) => hypocenter::main_with::<probe::Probing>(),
        Some(it) if it == "--list" => ExitCode::SUCCESS,
        _ => {
            a_sixth_engine_gets_everything_for_free();
            println!("1 passed, 0 failed");
            ExitCode::SUCCESS
        }
    }
}

fn a_sixth_engine_gets_everything_for_free() {
    let lines = include_str!("probe.rs").lines().count();
    assert!(lines < LINES_MAX, "{lines} lines");
    let own = std::env::current_exe().expect("this binary has a path");
    let place = Place::new();
    let tool = |args: &str| place.tool_of(&own, args);
    let kept = |name: &str| {
        fs::read_to_string(place.path("hypocenter-out/probe-0001").join(name))
            .unwrap_or_else(|error| panic!("{name}: {error}"))
    };

    // The bug of the target shows at the fifth message alone.
    let said = tool("probe --at 5 --workload spool --json").exits(2).says("  round 1 ").says("  report ");
    let document = said.json();
    let found = document["found"].as_array().expect("findings");
    assert!(!found.is_empty(), "{document:#}");
    let (first, count) = (&found[0], found.len());
    assert_eq!((&document["verb"], &first["proof"]), (&"probe".into(), &"confirmed".into()));

    // Report page, SARIF, JUnit and the record of the rounds.
    let replay = first["replay"].as_str().expect("a command");
    assert!(kept("report.html").contains(replay), "the page has the command `{replay}`");
    let sarif: Value = serde_json::from_str(&kept("findings.sarif")).expect("JSON");
    assert_eq!(sarif["runs"][0]["results"].as_array().map(Vec::len), Some(count));
    assert_eq!(kept("junit.xml").matches("<failure").count(), count);
    let page = kept("report.html");
    fs::remove_file(place.path("hypocenter-out/probe-0001/report.html")).expect("it is there");
    tool("report probe-0001").exits(0);
    assert_eq!(kept("report.html"), page);

    // The replay shows the same.
    let words = replay.strip_prefix("hypocenter ").expect("it begins with the tool's name");
    let again = tool(&format!("{words} --json")).exits(0).json();
    assert_eq!(again["candidates"][0]["result"]["occurrence"], 5, "{again:#}");
    assert_eq!(again["failure"]["happened"], true, "{again:#}");

    // A tool without the verb says so, and so does one that is older than the document.
    place
        .tool("report probe-0001")
        .exits(1)
        .says("the campaign is one of `probe`, which this version does not support");
    let summary = place.path("hypocenter-out/probe-0001/summary.json");
    let newer = kept("summary.json").replacen("\"version\": 1,", "\"version\": 99,", 1);
    fs::write(&summary, newer).expect("it can be written");
    tool("report probe-0001")
        .exits(1)
        .says("format version 99, this tool supports version 1")
        .says("  try: ");

    // Cut anywhere, it goes on, and comes to the same.
    let journal = kept("results.jsonl");
    let half = journal.lines().count() / 2;
    let cut: String = journal.split_inclusive('\n').take(half).collect();
    fs::write(place.path("hypocenter-out/probe-0001/results.jsonl"), cut).expect("it can be written");
    let resumed = tool("probe --resume probe-0001 --json").exits(2).says("trials are done").json();
    assert_eq!(resumed["found"], document["found"]);
}
