//! `explain` on a small system, `targets/replicate`, with real JVMs: a race between the replication of a block and its deletion.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::OnceLock;

use serde_json::{Value, json};
use support::spool::Place;
use support::{Said, default_jdk, jdks};

const SYMPTOM: &str = "ReplicationMonitor.chooseRandom:70";
const INJECT: &str =
    "inject Deleter.deleteBlock->Queue.remove --sleep 1s --workload race --sandbox off --quiet";

fn target() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/replicate")
}

/// The classes of the system and of its fixed twin.
fn compiled() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("replicate-classes");
        let javac = jdks().iter().map(|it| it.home.join("bin/javac")).find(|it| it.is_file());
        let javac = javac.expect("one of the JDKs compiles");
        let compile = |into: &str, path: &[&Path], sources: &Path| {
            let into = directory.join(into);
            fs::create_dir_all(&into).expect("cargo's directory can be written");
            let mut command = Command::new(&javac);
            command.args(["-g", "--release", "17", "-d"]).arg(&into);
            command.arg("-cp").arg(std::env::join_paths(path).expect("a class path"));
            let files = fs::read_dir(sources).expect("the target is in the checkout").flatten();
            command.args(files.map(|it| it.path()));
            assert!(command.status().expect("javac can be run").success());
            into
        };
        let classes = compile("classes", &[&directory], &target().join("src/replicate"));
        compile("fixed", &[&classes], &target().join("fixed/replicate"));
        directory
    })
}

/// A place with the system, its twin, and the system beside threads that write other blocks.
fn place() -> Place {
    let place = Place::new();
    let config = fs::read_to_string(target().join("hypocenter.toml")).expect("its configuration");
    let classes = compiled().join("classes").display().to_string();
    for (name, own) in [("hypocenter.toml", "classes"), ("noise.toml", "classes"), ("fixed.toml", "fixed")] {
        // The twin has one class of its own.
        let own = compiled().join(own).display().to_string();
        let mut text = config.replace("\"build/classes\"", &format!("\"{own}\", \"{classes}\""));
        text = text.replace("build/classes", &format!("{own}:{classes}"));
        text = text.replace("command = \"java ", &format!("command = \"{} ", default_jdk().java()));
        if name == "noise.toml" {
            for test in ["race", "changeFactor", "replicate", "remove"] {
                text = text.replace(&format!("Case {test}\""), &format!("Case {test} --noise 50\""));
            }
        }
        place.file(name, text);
    }
    place
}

fn explain(place: &Place, args: &str) -> Said {
    place.tool(&format!("explain --symptom {SYMPTOM} --sandbox off --json {args}"))
}

fn lost_race(config: &str) -> Place {
    let place = place();
    place.tool(&format!("{INJECT} --config {config}")).exits(0).says("not enough replicas were chosen");
    place
}

fn line(point: &Value) -> String {
    let method = point["method"].as_str().expect("a method").trim_start_matches("replicate.");
    format!("{method}:{}", point["line"])
}

fn found(document: &Value) -> &Value {
    let found = document["findings"].as_array().expect("a list").first();
    found.unwrap_or_else(|| panic!("nothing was found: {document:#}"))
}

#[test]
fn the_read_that_loses_the_race_is_named_with_its_cause_and_its_consequence() {
    let place = lost_race("hypocenter.toml");
    let said = explain(&place, "--replays 1").exits(2);
    let document = said.json();
    let it = found(&document);
    assert_eq!(line(&it["point"]), "ReplicationMonitor.replicateBlocks:30", "{it:#}");
    assert_eq!((&it["kind"], &it["point"]["subject"]), (&json!("order"), &json!("Block.size")));
    assert_eq!(line(&it["cause"]), "Deleter.deleteBlock:19");
    assert_eq!(it["cause"]["value"], "9223372036854775807");
    assert_eq!(line(&it["consequence"]), "ReplicationMonitor.chooseRandom:63");
    assert_eq!(it["neighbour"], "workload changeFactor");
    assert_eq!((&it["proof"], &it["rate"]["hits"]), (&json!("confirmed"), &json!(1)));
    assert_eq!(it["nearest_rate"], json!({ "hits": 0, "runs": 1 }));
    assert_eq!(it["replay"], "hypocenter replay explain-0001/0");
    said.says(
        "ReplicationMonitor.replicateBlocks:30 reads Block.size after Deleter.deleteBlock:19 has set it to",
    );
    let campaign = place.path("hypocenter-out/explain-0001");
    let page = fs::read_to_string(campaign.join("report.html")).expect("a page");
    assert!(page.contains("Both runs") && page.contains("replicateBlocks:30"));
    let sarif = fs::read_to_string(campaign.join("findings.sarif")).expect("SARIF");
    let sarif: Value = serde_json::from_str(&sarif).expect("SARIF is JSON");
    let place_of = |it: &Value| it["locations"][0]["physicalLocation"]["region"]["startLine"].clone();
    assert_eq!(place_of(&sarif["runs"][0]["results"][0]), 30);
}

#[test]
fn two_tests_together_are_neighbours_enough_and_each_part_of_the_comparison_is_needed() {
    let place = lost_race("hypocenter.toml");
    let with = |args: &str| {
        let document = explain(&place, &format!("--neighbours tests --replays 0 {args}")).exits(2).json();
        let it = found(&document);
        assert_eq!(it["proof"], "seen_once", "nothing was replayed");
        line(&it["point"])
    };
    assert_eq!(with(""), "ReplicationMonitor.replicateBlocks:30");
    assert_eq!(with("--set explain.without=['work-list']"), "ReplicationMonitor.chooseRandom:63");
    assert_eq!(with("--set explain.without=['repair']"), "ReplicationMonitor.chooseRandom:69");
    // How often the monitor looks before there is something to do is chance.
    assert_ne!(with("--set explain.without=['map-loops']"), "ReplicationMonitor.replicateBlocks:30");
}

#[test]
fn writes_of_other_objects_are_told_apart() {
    let place = lost_race("noise.toml");
    let with = |args: &str| {
        let args = format!("--config noise.toml --replays 0 {args}");
        let document = explain(&place, &args).exits(2).json();
        (line(&found(&document)["point"]), found(&document)["slice"].as_u64().expect("a number"))
    };
    let (with_objects, slice) = with("");
    assert_eq!(with_objects, "ReplicationMonitor.replicateBlocks:30");
    assert!(slice < 100, "{slice}: 50 other threads are in no slice");
    let (without, _) = with("--set explain.without=['objects']");
    assert_ne!(without, with_objects, "the last write of the field is mostly that of another block");
}

#[test]
fn the_fixed_twin_does_not_fail() {
    let place = lost_race("hypocenter.toml");
    let plan = place.path("hypocenter-out/inject-0001/trials/000/plan.json");
    let args = format!("--config fixed.toml --workload race --plan {}", plan.display());
    let said = explain(&place, &args).exits(0);
    assert_eq!(said.json()["unanswered"], json!({ "no_failure": 3 }));
    said.says("The failure did not happen in 3 runs.");
}

#[test]
fn what_cannot_be_explained_is_refused_with_what_there_is() {
    let place = place();
    let refused = |args: &str| place.tool(&format!("explain --sandbox off {args}")).exits(1);
    refused("--symptom ReplicationMonitor.chooseRandom:70").says("no campaign exists");
    refused("--symptom chooseRandom --workload race").says("give a line of a method, as `Class.method:70`");
    refused("--symptom Monitor.chooseRandom:70 --workload race").says("the target has no class `Monitor`");
    refused("--symptom ReplicationMonitor.chooseRandom:7 --workload race")
        .says("the method has code at lines 56 to 72");
    refused("--symptom Case.check:110 --workload race").says("whose methods are not compared");
    place.tool("run remove --sandbox off --quiet").exits(0);
}
