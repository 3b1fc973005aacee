//! Faults that last, and faults that wait for another site.

mod support;

use hypocenter_lab::{evidence_of, finished};
use serde_json::{Value, json};
use support::{Done, Jdk, Tool, each, jdks, jdks_with_virtual_threads, on_every_jdk};

const THROW: &str = "--throw java.lang.IllegalStateException --json";

#[test]
fn a_fault_lasts_as_long_as_asked() {
    let rows =
        [("--times 3", 3), ("--at 4 --times 2", 2), ("--at 4 --always", 7), ("--for 10m", 10), ("", 1)];
    let name = |(jdk, (flags, _)): &(&Jdk, &(&str, usize))| format!("{flags} on Java {}", jdk.feature);
    each(&on_every_jdk(&rows), name, |(jdk, (flags, times))| {
        let tool = Tool::on(jdk, "inject").arg("Guards.hit").args(THROW).args(flags);
        let done = tool.java("probe.Guards many 10").exits(0);
        let said = done.program();
        assert_eq!(
            said.lines().filter(|line| line.contains("IllegalStateException")).count(),
            *times,
            "{said}"
        );
        assert_eq!(done.outcome()["candidates"][0]["result"]["times"], *times);
    });
}

#[test]
fn a_fault_that_lasts_for_a_time_ends() {
    // A hit every 20 ms for two seconds: some of them in the first 300 ms.
    let tool = Tool::new("inject").arg("Ticks.tick").args(THROW).args("--for 300ms");
    let done = tool.java("probe.Ticks 100 20").exits(0);
    let times = done.outcome()["candidates"][0]["result"]["times"].as_u64().unwrap();
    assert!((1..60).contains(&times), "{times} times");
    assert_eq!(done.program(), format!("thrown {times}\n"));
}

#[test]
fn delays_are_spent_up_to_their_total() {
    let plan = json!({
        "version": 1,
        "candidates": [{
            "site": tick("tick", "entry"),
            "fault": {"kind": "delay", "delay_ms": 30},
            "repeat": {"total_ms": 100},
        }],
    });
    let done = Tool::new("run").args("--json").plan(&plan).java("probe.Ticks 20 1").exits(0);
    // 30, 60 and 90 ms are below the total, and the fourth is the last that begins there.
    assert_eq!(done.outcome()["candidates"][0]["result"]["times"], 4);
}

fn tick(method: &str, kind: &str) -> Value {
    json!({"class": "probe.Ticks", "method": method, "descriptor": "()V", "kind": kind, "ordinal": 0})
}

fn calls(jdk: &Jdk, flags: &str) -> Done {
    let tool = Tool::on(jdk, "inject").arg("Trails.loop").args(THROW).args(flags);
    tool.java("probe.Trails calls")
}

#[test]
fn a_fault_waits_for_another_site() {
    each(
        jdks(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            // Injected: the program ends by the exception.
            let outcome = calls(jdk, "--after-site Trails.right").exits(0).outcome();
            let result = &outcome["candidates"][0]["result"];
            assert_eq!(result["stack"][1]["method"], "probe.Trails.right", "{outcome:#}");
            let outcome = calls(jdk, "--after-site Trails.deep").exits(2).outcome();
            let why = outcome["candidates"][0]["result"]["why"].as_str().unwrap().to_owned();
            assert!(why.contains("was never reached, and all faults wait for that"), "{why}");
        },
    );
    calls(support::default_jdk(), "--after-site Trails.nothing").exits(1).says("--after-site: no site fits");
}

#[test]
fn a_guard_has_a_least_and_a_most_time_since_another_site() {
    // The loop is called by left, right and left. What the window lets through, and who calls then.
    let rows = [
        (json!({"at_most_ms": 600_000}), Some("right")),
        (json!({"at_least_ms": 600_000}), None),
        (json!({"at_least_ms": 0, "at_most_ms": 600_000}), Some("right")),
    ];
    for (mut window, caller) in rows {
        let site = |method: &str, descriptor: &str| json!({"class": "probe.Trails", "method": method, "descriptor": descriptor, "kind": "entry", "ordinal": 0});
        window["site"] = site("right", "()V");
        let plan = json!({
            "version": 1,
            "candidates": [{
                "site": site("loop", "(I)V"),
                "fault": {"kind": "exception", "class": "java.lang.IllegalStateException"},
                "when": {"since": window},
            }],
        });
        let done = Tool::new("run").args("--json").plan(&plan).java("probe.Trails calls");
        let outcome = done.exits(if caller.is_some() { 0 } else { 2 }).outcome();
        let result = &outcome["candidates"][0]["result"];
        match caller {
            Some(it) => assert_eq!(result["stack"][1]["method"], format!("probe.Trails.{it}"), "{outcome:#}"),
            None => assert_eq!(result["end"], "not_reached", "{outcome:#}"),
        }
    }
}

#[test]
fn a_site_that_is_not_in_the_target_is_reported() {
    let plan = json!({
        "version": 1,
        "record": {"watch_sites": [{"sites": [tick("tick", "entry"), tick("tock", "entry")], "level": "count"}]},
    });
    let done = Tool::new("run").args("--json").plan(&plan).java("probe.Ticks 3 1").exits(0);
    assert_eq!(done.outcome()["jvms"][0]["hits"], 3);
    done.says("it is not watched: the class has no method tock()V");
}

#[test]
fn hits_and_events_are_exact_under_virtual_threads() {
    const THREADS: u64 = 40;
    const HITS: u64 = 5000;
    each(
        &jdks_with_virtual_threads(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            let tool = Tool::on(jdk, "run").args("--hook entry --record events --lossless --json");
            let tool = tool.args("--packages hits.Virtual");
            let done = tool.java(&format!("hits.Virtual {THREADS} {HITS}")).exits(0);
            let jvm = done.outcome()["jvms"][0].clone();
            // Every thread enters its lambda once; the main thread enters main.
            let hits = THREADS * (HITS + 1) + 1;
            assert_eq!((jvm["hits"].as_u64(), jvm["events"].as_u64()), (Some(hits), Some(hits)), "{jvm:#}");
            let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
            let trace = evidence.trace().unwrap();
            let jvm = &trace.jvms()[0];
            let dictionary = trace.dictionary(jvm);
            for thread in 0..THREADS {
                let name = format!("virtual-{thread}");
                let own = trace.events(jvm).filter(|it| dictionary.thread_name(it.thread) == name);
                assert_eq!(own.count() as u64, HITS + 1, "{name}");
            }
        },
    );
}
