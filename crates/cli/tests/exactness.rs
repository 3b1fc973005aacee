//! Counts and limits are exact: under many threads, and among many JVMs.

mod support;

use std::fs;

use serde_json::{Value, json};
use support::{Done, Jdk, Tool, each, jdks, number_after, repeats};

const THREADS: u64 = 8;
const HITS: u64 = 1_000_000;

#[test]
fn one_hit_of_eight_million_is_the_one() {
    let runs: Vec<(&Jdk, usize)> =
        jdks().iter().flat_map(|jdk| (0..repeats(1)).map(move |run| (jdk, run))).collect();
    // One after the other: the eight threads are to meet each other and not another run.
    for (jdk, run) in runs {
        let tool = Tool::on(jdk, "inject").arg("Threads.hit -> Threads.nothing");
        let tool = tool.args("--throw java.lang.IllegalStateException --at 5000000 --json");
        let done = tool.java(&format!("hits.Threads {THREADS} {HITS}")).exits(0);
        let outcome = done.outcome();
        assert_eq!(done.program(), "exceptions 1\n", "run {run} on Java {}", jdk.feature);
        let candidate = &outcome["candidates"][0];
        assert_eq!(candidate["hits"], THREADS * HITS, "run {run} on Java {}", jdk.feature);
        assert_eq!(candidate["result"]["occurrence"], 5_000_000);
        assert_eq!(candidate["result"]["times"], 1);
    }
}

#[test]
fn a_guarded_count_is_exact_too() {
    let tool = Tool::new("inject").arg("Threads.hit").args("--thread hitter-* --always --at 399001");
    let done =
        tool.args("--throw java.lang.IllegalStateException --json").java("hits.Threads 8 50000").exits(0);
    let outcome = done.outcome();
    assert_eq!(done.program(), "exceptions 1000\n");
    assert_eq!(outcome["candidates"][0]["hits"], 400_000, "{outcome:#}");
    assert_eq!(outcome["candidates"][0]["result"]["times"], 1000, "{outcome:#}");
}

/// A candidate at each of the ten sites of `hits.Ten`.
fn plan(limit: u32, repeat: &str) -> Value {
    let candidate = |site: usize| {
        json!({
            "site": {"class": "hits.Ten", "method": format!("s{site}"), "descriptor": "()V", "kind": "entry", "ordinal": 0},
            "fault": {"kind": "exception", "class": "java.lang.IllegalStateException"},
            "repeat": repeat,
        })
    };
    json!({"version": 1, "limit": limit, "candidates": (0..10).map(candidate).collect::<Vec<_>>()})
}

const JVMS: usize = 3;
const ROUNDS: usize = 200;

/// Three JVMs at once, as three nodes; what each says goes into a file of its own.
fn three_jvms(jdk: &Jdk, plan: &Value) -> Done {
    let script = format!(
        "for node in n1 n2 n3; do
             HYPOCENTER_NODE=$node \"$JAVA\" -XX:+UseSerialGC -cp \"$CLASSES\" hits.Ten . {JVMS} {ROUNDS} > $node.txt &
         done
         wait"
    );
    Tool::on(jdk, "run").args("--json").plan(plan).script("hits", &script).exits(0)
}

/// Number of exceptions that each JVM saw.
fn seen(done: &Done) -> Vec<u64> {
    let said =
        |node| fs::read_to_string(done.directory().join(format!("{node}.txt"))).expect("the node wrote");
    ["n1", "n2", "n3"].map(|node| number_after(&said(node), "exceptions")).into()
}

fn ends<'a>(outcome: &'a Value, end: &str) -> Vec<&'a Value> {
    let results = outcome["candidates"].as_array().unwrap().iter().map(|it| &it["result"]);
    results.filter(|it| it["end"] == end).collect()
}

#[test]
fn the_limit_holds_for_all_jvms_together() {
    for run in 0..repeats(3) {
        let jdk = &jdks()[run % jdks().len()];
        let done = three_jvms(jdk, &plan(1, "once"));
        let outcome = done.outcome();
        assert_eq!(outcome["jvms"].as_array().unwrap().len(), JVMS, "{outcome:#}");
        assert_eq!(ends(&outcome, "injected").len(), 1, "{outcome:#}");
        assert_eq!(ends(&outcome, "not_needed").len(), 9, "{outcome:#}");
        let seen = seen(&done);
        assert_eq!(seen.iter().sum::<u64>(), 1, "{seen:?}");
        let injection = ends(&outcome, "injected")[0];
        let node = 1 + seen.iter().position(|it| *it == 1).unwrap();
        assert_eq!(injection["node"], format!("n{node}"), "{outcome:#}");
        assert_eq!(outcome["jvms"][injection["jvm"].as_u64().unwrap() as usize]["node"], injection["node"]);
        let hits: Vec<u64> =
            outcome["candidates"].as_array().unwrap().iter().map(|it| it["hits"].as_u64().unwrap()).collect();
        assert_eq!(hits, [(JVMS * ROUNDS) as u64; 10]);
    }
}

#[test]
fn a_limit_of_two_takes_two_and_always_takes_it_once() {
    // The limit, how often, and how many candidates are injected.
    let rows = [(2, "once"), (1, "always"), (2, "always"), (20, "once")];
    each(
        &rows,
        |row| format!("{row:?}"),
        |&(limit, repeat)| {
            let done = three_jvms(support::default_jdk(), &plan(limit, repeat));
            let outcome = done.outcome();
            let injected = ends(&outcome, "injected");
            assert_eq!(injected.len(), (limit as usize).min(10), "{outcome:#}");
            assert_eq!(ends(&outcome, "not_needed").len(), 10 - injected.len(), "{outcome:#}");
            let times: u64 = injected.iter().map(|it| it["times"].as_u64().unwrap()).sum();
            assert_eq!(times, seen(&done).iter().sum::<u64>(), "{outcome:#}");
            match repeat {
                "once" => assert_eq!(times, injected.len() as u64),
                // At least one JVM goes on hitting it for a while.
                _ => assert!(times > injected.len() as u64, "{outcome:#}"),
            }
        },
    );
}
