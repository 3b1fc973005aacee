//! `hypocenter trial` is what a scheduler runs: it must give what the pool of a campaign gives, and say by its exit code
//! whether to try again.

mod support;

use std::fs;
use std::path::{Path, PathBuf};

use serde_json::{Value, json};
use support::spool::{Place, SCRIPT, SEARCH};
use support::{Said, spool_classes};

/// A place for the program whose library only declares an abstract exception.
fn shelf() -> Place {
    let place = Place::new();
    let config = format!(
        "[target]\nclasspath = ['{}']\npackages = ['shelf']\n\n\
         [[workload]]\nname = 'own'\ncommand = 'sh own.sh {{dir}}'\ntimeout = '100s'\n\n\
         [failure]\nworkload = 'own'\noracle = {{ log = 'box [0-9]+ is lost' }}\n",
        spool_classes().display()
    );
    place.file("hypocenter.toml", config);
    place.file("own.sh", SCRIPT.replace("spool.Main", "shelf.Shelf"));
    place
}

fn document(path: &Path) -> Value {
    serde_json::from_slice(&fs::read(path).expect("the file is there")).expect("it is JSON")
}

/// Each candidate with how it ended, without what differs from run to run.
fn candidates(outcome: &Value) -> Vec<Value> {
    let candidates = outcome["candidates"].as_array().expect("a list");
    let ended = |it: &Value| {
        let result = &it["result"];
        json!([it["site"], it["fault"], result["end"], result["occurrence"], result["why"], result["class"]])
    };
    candidates.iter().map(ended).collect()
}

/// Runs every trial of the latest campaign again as a scheduler would, and compares what became of the candidates.
fn assert_same(place: &Place, what: &str) -> usize {
    let trials = place.path("hypocenter-out/latest/trials");
    let mut compared = 0;
    let mut paths: Vec<PathBuf> =
        fs::read_dir(&trials).expect("trials").flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        let by_pool = document(&path.join("outcome.json"));
        let number: u64 =
            path.file_name().and_then(|it| it.to_str()).expect("a name").parse().expect("a number");
        fs::rename(&path, place.path(&format!("pool-{number}"))).expect("the trial can be put aside");
        let said = place.tool(&format!("trial --index {number} --quiet --json")).exits(0);
        assert_eq!(candidates(&said.json()), candidates(&by_pool), "{what}, trial {number}: {}", said.stderr);
        fs::remove_dir_all(place.path(&format!("pool-{number}"))).expect("it can be removed");
        compared += candidates(&by_pool).len();
    }
    compared
}

#[test]
fn a_trial_elsewhere_injects_what_the_pool_injects_for_every_kind_of_fault() {
    let faults = [
        "Shelf.main->Rack.put --throw shelflib.Rack$RackException --at 3",
        "Shelf.main->Rack.put --throw java.lang.IllegalStateException --at 2",
        "Shelf.main->Rack.put --sleep 1ms --at 2",
        "Shelf.main->Rack.put --crash --at 4",
        "Shelf.isTidy --negate",
        // One that is never due, and one that is refused.
        "Shelf.main->Rack.put --sleep 1ms --at 99",
    ];
    for fault in faults {
        let place = shelf();
        place.tool(&format!("inject {fault} --workload own --quiet"));
        assert!(assert_same(&place, fault) > 0, "{fault}");
    }
}

#[test]
fn a_trial_elsewhere_throws_for_an_abstract_exception_what_the_search_throws() {
    let place = shelf();
    let fault =
        "inject Shelf.main->Rack.put --throw shelflib.Rack$RackException --at 3 --workload own --json";
    let said = place.tool(fault).exits(0);
    assert_eq!(said.json()["failure"]["happened"], true, "{:#}", said.json());
    let log = place.path("hypocenter-out/latest/trials/000/logs/main.stderr.log");
    fs::copy(log, place.path("failure.log")).expect("the program's log");
    let said = place.tool(&format!("reproduce --log failure.log {SEARCH}")).exits(0);
    assert_eq!(said.json()["fault"]["exception"], "shelflib.Rack$RackException");
    assert!(assert_same(&place, "reproduce") > 0);
}

#[test]
fn a_trial_in_which_the_failure_happens_is_no_failed_trial() {
    let place = Place::new();
    place.reproduce("").exits(0);
    // It ends with 0 whatever its outcome says, also where it was carried out before.
    let rerun = |number: u64| -> Said {
        let trial = place.path(&format!("hypocenter-out/latest/trials/{number:03}"));
        fs::remove_dir_all(trial).expect("it can be removed");
        place.tool(&format!("trial --index {number} --quiet")).exits(0);
        place.tool(&format!("trial --index {number} --quiet")).exits(0)
    };
    let summary = document(&place.path("hypocenter-out/latest/summary.json"));
    let found = summary["found"][0]["trial"].as_u64().expect("a number");
    let said = rerun(found).says("message 5 is lost");
    // Nothing of the program's own output is passed on.
    assert_eq!(said.stdout, "");
    rerun(0);
    place.tool("trial --index 999").exits(1);
    // What a trial needs is kept; without it nothing is guessed.
    let map = fs::read_dir(place.path("hypocenter-out/latest/maps")).expect("maps").flatten().next();
    let map = map.expect("there is a map").path();
    let bytes = fs::read(&map).expect("it can be read");
    fs::remove_file(&map).expect("it can be removed");
    let name = map.file_name().expect("a name").to_string_lossy().into_owned();
    let said = place.tool("trial --index 0").exits(1).says(&format!("maps/{name}: it does not exist"));
    said.says("resume the campaign to write it again");
    // As it says.
    place.tool("reproduce --resume --json").exits(0);
    assert_eq!(fs::read(&map).expect("it is there again"), bytes);
    fs::remove_file(place.path("hypocenter-out/latest/prepared.json")).expect("it can be removed");
    place.tool("trial --index 0").exits(1).says("prepared.json: it");
}

#[test]
fn a_trial_in_which_the_agent_did_not_load_ends_the_search_and_is_not_told() {
    let place = Place::new();
    // The runs without a fault have it, and what follows runs something else.
    place.file(
        "spool.sh",
        SCRIPT.replace("exec", "[ \"${n}\" -ge 2 ] && exec echo started without java\nexec"),
    );
    let said = place.reproduce("").exits(1);
    let said = said.says("trials/002: no JVM loaded the agent and a class with hooks");
    let told = fs::read_to_string(place.path("hypocenter-out/latest/results.jsonl")).expect("a journal");
    assert_eq!(told.lines().filter(|it| it.starts_with("{\"told\"")).count(), 2, "{}", said.stderr);
    // It is run again once that is put right.
    place.file("spool.sh", SCRIPT);
    place.tool("reproduce --resume --json").exits(0);
}
