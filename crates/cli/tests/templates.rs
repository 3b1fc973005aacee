//! A workload that is a template over tests is one workload for each test that the target has.

mod support;

use std::collections::BTreeSet;
use std::fs;
use std::path::PathBuf;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::Value;
use support::spool::Place;
use support::{Said, jdks};

const SOURCES: [(&str, &str); 5] = [
    ("TestCase", "package junit.framework; public class TestCase { }"),
    (
        "AlphaTest",
        "package own; public class AlphaTest extends junit.framework.TestCase {
            public void testOne() { System.out.println(\"one ran\"); }
            public void testTwo() { throw new IllegalStateException(\"two fails\"); }
            public void helper() { }
            public static class Inner extends junit.framework.TestCase {
                public void testThree() { System.out.println(\"three ran\"); }
            }
        }",
    ),
    (
        "Store",
        "package own; public class Store {
            void put(int bytes) {
                if (bytes < 0) { throw new IllegalStateException(\"no bytes\"); }
            }
        }",
    ),
    (
        "Runner",
        "package own; public class Runner {
            public static void main(String[] args) throws Exception {
                Class<?> type = Class.forName(args[0]);
                type.getMethod(args[1]).invoke(type.getConstructor().newInstance());
            }
        }",
    ),
    ("Lone", "package lone; public class Lone { public void testNothing() { } }"),
];

/// The compiled sources.
fn classes() -> &'static PathBuf {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| {
        let directory = PathBuf::from(env!("CARGO_TARGET_TMPDIR")).join("template-classes");
        fs::create_dir_all(&directory).expect("cargo's directory can be written");
        let javac = jdks().iter().map(|it| it.home.join("bin/javac")).find(|it| it.is_file());
        let mut command = Command::new(javac.expect("one of the JDKs compiles"));
        command.arg("-d").arg(&directory).args(["--release", "11"]);
        for (name, text) in SOURCES {
            let path = directory.join(format!("{name}.java"));
            fs::write(&path, text).expect("it can be written");
            command.arg(path);
        }
        assert!(command.status().expect("javac can be run").success());
        directory
    })
}

fn place(package: &str) -> Place {
    let place = Place::new();
    let config = format!(
        "[target]\nclasspath = ['{}']\npackages = ['{package}']\n\n\
         [[workload]]\nname = 'unit'\ncommand = 'sh test.sh {{test.class}} {{test.method}}'\ntimeout = '100s'\n\n\
         [[workload]]\nname = 'plain'\ncommand = 'sh test.sh own.AlphaTest testOne'\ntimeout = '100s'\n",
        classes().display()
    );
    place.file("hypocenter.toml", config);
    let jvm = "-XX:+UseSerialGC -XX:TieredStopAtLevel=1";
    place.file("test.sh", format!("exec \"$JAVA\" {jvm} -cp '{}' own.Runner \"$@\"\n", classes().display()));
    place
}

fn request(place: &Place, campaign: &str) -> Value {
    let path = place.path("hypocenter-out").join(campaign).join("campaign.json");
    serde_json::from_slice(&fs::read(path).expect("a request")).expect("it is JSON")
}

fn workloads(place: &Place, campaign: &str) -> Vec<String> {
    let request = request(place, campaign);
    request["workloads"].as_object().expect("a table").keys().cloned().collect()
}

fn output(place: &Place, trial: &str) -> String {
    let logs = place.path("hypocenter-out").join(trial).join("logs");
    fs::read_to_string(logs.join("main.stdout.log")).expect("a log")
}

#[test]
fn one_test_of_a_template_is_run_like_any_workload() {
    let place = place("own");
    let said = place.tool("run unit --test AlphaTest#testOne --hook entry --json --quiet").exits(0);
    assert_eq!(said.json()["jvms"].as_array().expect("a list").len(), 1, "{}", said.stderr);
    assert_eq!(workloads(&place, "run-0001"), ["unit@own.AlphaTest#testOne"]);
    assert_eq!(output(&place, "run-0001/trials/000"), "one ran\n");
    // A nested class has a name that a shell would read otherwise.
    place.tool("run unit --test own.AlphaTest$Inner#testThree --hook entry --quiet").exits(0);
    assert_eq!(output(&place, "run-0002/trials/000"), "three ran\n");
    let inject = "inject AlphaTest.testTwo --sleep 1ms --workload unit --quiet --test";
    place.tool(&format!("{inject} AlphaTest#testTwo")).exits(0);
    assert_eq!(workloads(&place, "inject-0001"), ["unit@own.AlphaTest#testTwo"]);
    let said = place.tool(&format!("{inject} *")).exits(1);
    said.says("--test *: it matches 3 tests, and only `run` accepts several");
}

#[test]
fn every_test_of_a_template_is_a_workload_of_the_campaign() {
    let place = place("own");
    let said = place.tool("run unit --test * --repeat 2 --jobs 2 --hook entry --json").exits(4);
    let document = said.json();
    assert_eq!((&document["trials"], &document["well"]), (&6.into(), &4.into()), "{document:#}");
    assert_eq!(document["workload"], "unit");
    let said = said.says("3 tests of unit").says("unit@own.AlphaTest#testTwo");
    assert!(!said.stderr.contains("#testOne"), "only what went badly is named: {}", said.stderr);
    let names: BTreeSet<String> = workloads(&place, "run-0001").into_iter().collect();
    assert_eq!(names.len(), 3);
    let journal = fs::read_to_string(place.path("hypocenter-out/run-0001/results.jsonl")).expect("a journal");
    let entries =
        journal.lines().skip(1).map(|it| serde_json::from_str::<Value>(it).expect("a line is JSON"));
    let jobs: Vec<Value> =
        entries.flat_map(|it| it["asked"]["jobs"].as_array().cloned().unwrap_or_default()).collect();
    let asked: Vec<&str> =
        jobs.iter().map(|it| it["work"]["trial"]["workload"].as_str().expect("a name")).collect();
    assert_eq!(asked.len(), 6);
    assert_eq!(asked.iter().map(|&it| it.to_owned()).collect::<BTreeSet<_>>(), names);
    // Each is run as itself wherever it is run.
    let three = asked.iter().position(|it| it.ends_with("Inner#testThree")).expect("it was asked for");
    fs::remove_dir_all(place.path(&format!("hypocenter-out/run-0001/trials/{three:03}"))).expect("a trial");
    place.tool(&format!("trial --campaign run-0001 --index {three} --quiet")).exits(0);
    assert_eq!(output(&place, &format!("run-0001/trials/{three:03}")), "three ran\n");
    let replay = |index: usize| -> Said { place.tool(&format!("replay run-0001/{index} --quiet")) };
    replay(three).exits(0).says("the same in 1 of 1");
    assert_eq!(workloads(&place, "replay-0001"), ["unit@own.AlphaTest$Inner#testThree"]);
    assert_eq!(output(&place, "replay-0001/trials/000"), "three ran\n");
    place.tool("run --resume run-0001 --json").exits(4).says("6 trials are done");
}

#[test]
fn a_template_without_a_test_says_what_to_do() {
    let place = place("own");
    let said = place
        .tool("run unit")
        .exits(1)
        .says("workload `unit` is a template over tests, and no test was given");
    said.says("--test 'own.AlphaTest#testOne'").says("`hypocenter scan --tests` lists all 3 tests");
    let said =
        place.tool("run unit --test own.AlphaTest#testOnne").exits(1).says("no test of the target matches");
    said.says("did you mean `own.AlphaTest#testOne`?");
    place.tool("run unit --test nothing").exits(1).says("write CLASS#METHOD");
    let said = place.tool("run plain --test AlphaTest#testOne").exits(1);
    said.says("workload `plain` is not a template over tests").says("{test.class}");
    place.tool("run --resume --test x").exits(1);
    assert!(place.campaigns().is_empty(), "nothing was begun");
    let listed = place.tool("scan --tests").exits(0);
    assert_eq!(
        listed.stdout.lines().filter(|it| it.contains("own.AlphaTest")).count(),
        3,
        "{}",
        listed.stdout
    );
    // By its name alone a method is no test.
    let lone = self::place("lone");
    let said = lone.tool("run unit --test *").exits(1);
    said.says("workload `unit` is a template over tests, and lone has none").says("hypocenter scan --tests");
}

#[test]
fn all_workloads_are_tests_of_cascade_unless_some_are_named() {
    let place = place("own");
    let quick = "--budget 0 --repeats 1 --set cascade.spare_tests=0 --json";
    let check = |args: &str, number: usize, name: &str, tests: &[&str]| {
        let said = place.tool(&format!("cascade {args} {quick}")).exits(0);
        let document = said.json();
        assert_eq!((&document["workload"], &document["cycles"]), (&name.into(), &Value::Array(Vec::new())));
        assert_eq!(workloads(&place, &format!("cascade-000{number}")), tests, "{args}");
    };
    let all =
        ["unit@own.AlphaTest#testOne", "unit@own.AlphaTest#testTwo", "unit@own.AlphaTest$Inner#testThree"];
    check("", 1, "plain, unit", &[&["plain"][..], &all].concat());
    check("unit", 2, "unit", &all);
    check("plain", 3, "plain", &["plain"]);
    check("--workload plain", 4, "plain", &["plain"]);
    check("--test AlphaTest#testOne", 5, all[0], &all[..1]);
    place.tool("cascade --test nothing").exits(1).says("--test nothing");
    place.tool("cascade --resume cascade-0001 --json").exits(0);
}

#[test]
fn workloads_of_different_targets_are_no_tests_of_one_campaign() {
    let place = place("own");
    let workload = |name: &str| {
        let at = classes().display();
        format!(
            "[[workload]]\nname = '{name}'\ncommand = 'java -cp {at}:lib-{name} own.Runner own.AlphaTest testOne'\n"
        )
    };
    place.file("hypocenter.toml", format!("{}\n{}", workload("north"), workload("south")));
    let said = place.tool("cascade").exits(1);
    said.says("workloads `north` and `south` have different class paths or packages").says("[target]");
    let said = place.tool("cascade --test *").exits(1);
    said.says("no workload of the configuration is a template over tests");
    assert!(place.campaigns().is_empty(), "nothing was begun");
}
