//! Disk space: traces that nobody needs are dropped, journals stay small, and `clean` leaves what replays need.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::spool::{Place, assert_true_fault};

/// The trials of a campaign that have a file.
fn with(campaign: &Path, file: &str) -> Vec<u64> {
    let trials = fs::read_dir(campaign.join("trials")).expect("trials").flatten().map(|it| it.path());
    let those = trials.filter(|it| it.join(file).exists());
    let mut numbers: Vec<u64> =
        those.filter_map(|it| it.file_name().and_then(|it| it.to_str())?.parse().ok()).collect();
    numbers.sort_unstable();
    numbers
}

fn summary(campaign: &Path) -> Value {
    serde_json::from_slice(&fs::read(campaign.join("summary.json")).expect("a summary")).expect("JSON")
}

#[test]
fn a_search_keeps_the_traces_of_what_it_found_and_no_others() {
    let place = Place::new();
    let said = place.reproduce("").exits(0).says("kept in   hypocenter-out/reproduce-0001, ").says("B\n");
    let campaign = place.path("hypocenter-out/reproduce-0001");
    let found = &summary(&campaign)["found"][0];
    let (first, again) = (found["seen_in"].as_u64().unwrap(), found["trial"].as_u64().unwrap());
    let (all, traced) = (with(&campaign, "outcome.json"), with(&campaign, "trace"));
    assert!([0, first, again].iter().all(|it| traced.contains(it)), "{traced:?}, {}", said.stderr);
    // Both normal runs, at least one round that showed nothing, and the second replay were recorded.
    assert!(traced.len() + 3 <= all.len(), "{traced:?} of {all:?}");
    // What a long digest is kept as is small too; no line of the journal is long.
    let journal = fs::read(campaign.join("results.jsonl")).expect("a journal");
    let told = journal.split(|it| *it == b'\n').filter(|it| it.starts_with(b"{\"told\""));
    assert!(told.map(<[u8]>::len).max().is_some_and(|it| it < 100_000));
    place.tool("reproduce --resume --json").exits(0);
    assert_eq!(with(&campaign, "trace"), traced);

    let place = Place::new();
    place.reproduce("--keep traces").exits(0);
    let campaign = place.path("hypocenter-out/reproduce-0001");
    assert_eq!(with(&campaign, "trace"), with(&campaign, "outcome.json"));
}

#[test]
fn what_clean_leaves_can_be_replayed_and_resumed() {
    let place = Place::new();
    place.reproduce("--keep traces").exits(0);
    let campaign = place.path("hypocenter-out/reproduce-0001");
    let before = summary(&campaign);
    let said = place.tool("clean --json").exits(0).says("hypocenter-out/reproduce-0001: freed ");
    let freed = &said.json()[0];
    assert!(freed["freed_bytes"].as_u64().is_some_and(|it| it > 0), "{freed:#}");
    assert!(with(&campaign, "dir").is_empty() && with(&campaign, "tmp").is_empty());
    let again = before["found"][0]["trial"].as_u64().expect("a trial");
    assert_eq!(with(&campaign, "trace"), [again]);
    assert_eq!(with(&campaign, "plan.json"), with(&campaign, "outcome.json"));
    // Nothing is run again for the same answer.
    fs::remove_file(place.path("started")).expect("trials were started");
    let said = place.tool("reproduce --resume --json").exits(0);
    assert_true_fault(&said.json()["fault"]);
    assert!(place.started().is_empty());
    let said = place.tool(&format!("replay reproduce-0001/{again} --quiet")).exits(0);
    said.says("1 of 1");
    // A directory that is no campaign is left alone.
    fs::create_dir_all(place.path("hypocenter-out/mine/trials/000/dir")).expect("a directory");
    place.tool("clean").exits(0);
    place.tool("clean mine").exits(1);
    assert!(place.path("hypocenter-out/mine/trials/000/dir").exists());
}
