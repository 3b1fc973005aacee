//! Nodes inside one JVM: told apart by the names of their threads, or by what those carry for their logs.

mod support;

use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::{Value, json};
use support::{Done, Jdk, Tool, classes, default_jdk, each, jdks};
use tempfile::TempDir;

/// Number of times that each thread reaches the site; a node has two.
const COUNT: u64 = 5000;

/// A plan with one fault at the n-th hit of a node.
fn plan(rules: Value, node: &str, occurrence: u64) -> Value {
    json!({
        "version": 1,
        "nodes": rules,
        "candidates": [{
            "site": {
                "class": "probe.Nodes", "method": "hit", "descriptor": "()V", "kind": "entry", "ordinal": 0
            },
            "fault": {"kind": "exception", "class": "java.lang.IllegalStateException"},
            "when": {"node": node, "occurrence": occurrence},
        }],
    })
}

fn by_name() -> Value {
    json!([
        {"name": "zk1", "threads": ["zk1-*"]},
        {"name": "zk2", "threads": ["zk2-io", "zk2-s*"]},
        {"name": "zk3", "threads": ["zk3-*"]},
    ])
}

fn by_context() -> Value {
    let rule = |name: &str| json!({"name": name, "mdc": {"key": "node", "value": name}});
    json!(["zk1", "zk2", "zk3"].map(rule))
}

/// Runs `probe.Nodes` with classes that it may find beside its own.
fn run(jdk: &Jdk, plan: &Value, beside: Option<&Path>, mode: &str) -> Done {
    let mut path = classes().display().to_string();
    if let Some(beside) = beside {
        path += &format!(":{}", beside.display());
    }
    let (java, count) = (jdk.java(), COUNT.to_string());
    let words = [&java, "-XX:+UseSerialGC", "-cp", &path, "probe.Nodes", mode, &count];
    Tool::on(jdk, "run").args("--json").plan(plan).command(&words)
}

/// A logging library's class, compiled for a directory of its own.
fn library() -> (TempDir, PathBuf) {
    let directory = TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).unwrap();
    let javac = jdks().iter().map(|jdk| jdk.home.join("bin/javac")).find(|it| it.is_file()).unwrap();
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/slf4j/MDC.java");
    let mut javac = Command::new(javac);
    let output = javac.args(["--release", "11", "-d"]).arg(directory.path()).arg(source).output().unwrap();
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let path = directory.path().to_owned();
    (directory, path)
}

/// The one fault happened at the n-th hit of zk2, by the program's own count and by the outcome's.
#[track_caller]
fn check(done: &Done, occurrence: u64) {
    let program = done.program();
    let (counted, thread) = program.trim_end().rsplit_once(' ').expect("one line");
    assert_eq!(counted, format!("zk2 {occurrence}"));
    let outcome = done.outcome();
    let candidate = &outcome["candidates"][0];
    assert_eq!(candidate["hits"], 2 * COUNT, "{outcome:#}");
    let result = &candidate["result"];
    assert_eq!(result["node"], "zk2", "{outcome:#}");
    assert_eq!(result["thread"], thread, "{outcome:#}");
    assert_eq!((&result["occurrence"], &result["times"]), (&json!(occurrence), &json!(1)), "{outcome:#}");
    let jvms = outcome["jvms"].as_array().unwrap();
    assert_eq!(jvms.len(), 1, "{outcome:#}");
    assert_eq!((&jvms[0]["node"], &jvms[0]["hits"]), (&json!("main"), &json!(6 * COUNT)), "{outcome:#}");
    assert_eq!(outcome["problems"], json!([]));
}

#[test]
fn the_nth_hit_of_a_node_in_a_jvm_is_exact() {
    let (_kept, library) = library();
    let rows: Vec<(&Jdk, &str, u64)> = jdks()
        .iter()
        .flat_map(|jdk| [1, 7777, 2 * COUNT].map(|at| [(jdk, "names", at), (jdk, "carried", at)]))
        .flatten()
        .collect();
    each(
        &rows,
        |(jdk, mode, at)| format!("{mode} at {at} on Java {}", jdk.feature),
        |&(jdk, mode, at)| {
            let done = match mode {
                "names" => run(jdk, &plan(by_name(), "zk2", at), None, mode),
                _ => run(jdk, &plan(by_context(), "zk2", at), Some(&library), mode),
            };
            check(&done.exits(0), at);
        },
    );
}

#[test]
fn a_rule_may_have_names_and_a_context() {
    let (_kept, library) = library();
    let rules = json!([{"name": "zk2", "threads": ["no-*"], "mdc": {"key": "node", "value": "zk2"}}]);
    check(&run(default_jdk(), &plan(rules, "zk2", 3), Some(&library), "carried").exits(0), 3);
}

#[test]
fn a_node_that_no_thread_has_is_not_reached() {
    // The rules, the node, how the threads show theirs, and why.
    let (_kept, library) = library();
    let absent = json!([{"name": "zk9", "threads": ["zk9-*"]}]);
    let rows = [
        (absent, "zk9", "names", "no thread of node `zk9`"),
        (by_context(), "zk2", "names", "no thread of node `zk2`"),
        (by_name(), "zk9", "names", "no JVM of node `zk9`"),
    ];
    for (rules, node, mode, why) in rows {
        let done = run(default_jdk(), &plan(rules, node, 1), Some(&library), mode).exits(2);
        let outcome = done.outcome();
        let result = &outcome["candidates"][0]["result"];
        assert!(result["why"].as_str().is_some_and(|it| it.contains(why)), "{outcome:#}");
        assert_eq!(outcome["candidates"][0]["hits"], 0, "{outcome:#}");
        assert_eq!(outcome["problems"], json!([]), "{outcome:#}");
    }
}

#[test]
fn a_context_that_cannot_be_asked_for_is_said() {
    let done = run(default_jdk(), &plan(by_context(), "zk2", 1), None, "carried").exits(2);
    let outcome = done.outcome();
    let problems = outcome["problems"].as_array().unwrap();
    assert_eq!(problems.len(), 1, "once: {outcome:#}");
    assert!(problems[0]["what"].as_str().unwrap().contains("finds org.slf4j.MDC"), "{outcome:#}");
}

#[test]
fn a_fault_without_a_node_is_told_by_the_thread_it_happened_on() {
    let mut plan = plan(by_name(), "zk2", 1);
    plan["candidates"][0]["when"] = json!({"thread": "zk3-sync"});
    let done = run(default_jdk(), &plan, None, "names").exits(0);
    let outcome = done.outcome();
    let result = &outcome["candidates"][0]["result"];
    assert_eq!((&result["node"], &result["thread"]), (&json!("zk3"), &json!("zk3-sync")), "{outcome:#}");
    assert_eq!(outcome["candidates"][0]["hits"], COUNT, "{outcome:#}");
}

#[test]
fn a_node_that_starts_again_is_another_incarnation() {
    let script = "for run in 1 2 3; do \"$JAVA\" -XX:+UseSerialGC -cp \"$CLASSES\" probe.Guards many 1; done";
    let done = Tool::new("run").args("--json").script("probe", script).exits(0);
    let outcome = done.outcome();
    let told: Vec<_> = outcome["jvms"]
        .as_array()
        .unwrap()
        .iter()
        .map(|it| (it["incarnation"].as_u64().unwrap(), it["ended"].as_bool().unwrap()))
        .collect();
    assert_eq!(told, [(1, true), (2, true), (3, true)], "{outcome:#}");
}
