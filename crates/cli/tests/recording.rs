//! Recorded events are complete and in order, and others are counted: even if the JVM is killed.

mod support;

use std::collections::BTreeMap;

use hypocenter_lab::{evidence_of, finished};
use serde_json::{Value, json};
use support::{Done, Jdk, Tool, each, jdks, on_every_jdk, repeats};

/// A run of `hits.Threads` with hooks on the entries of its methods.
struct Row {
    record: &'static str,
    threads: u64,
    hits: u64,
    /// End of the program: by itself, or `kill`, or `halt`.
    by: &'static str,
    drops: bool,
}

const ROWS: &[Row] = &[
    Row { record: "--record events --lossless", threads: 4, hits: 30_000, by: "", drops: false },
    Row { record: "--record events --ring-kb 8", threads: 4, hits: 30_000, by: "", drops: true },
    Row { record: "--record events", threads: 2, hits: 500, by: "", drops: false },
    Row { record: "--record events --lossless", threads: 4, hits: 30_000, by: "kill", drops: false },
    Row { record: "--record events --lossless", threads: 4, hits: 30_000, by: "halt", drops: false },
    Row { record: "--record events --ring-kb 8", threads: 4, hits: 30_000, by: "kill", drops: true },
    Row { record: "--record stacks --lossless", threads: 2, hits: 300, by: "halt", drops: false },
];

/// The methods whose entries a thread recorded, in order, with their times and stacks.
type Recorded = BTreeMap<String, Vec<(String, u64, Vec<String>)>>;

fn recorded(done: &Done) -> Recorded {
    let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
    let (map, trace) = (evidence.map().unwrap(), evidence.trace().unwrap());
    let mut recorded = Recorded::new();
    for jvm in trace.jvms() {
        let dictionary = trace.dictionary(&jvm);
        for event in trace.events(&jvm) {
            let site = map.site(event.site).expect("an event names a site of the map");
            let stack = dictionary.stack(event.stack).into_iter().map(|(method, _)| method).collect();
            let thread = dictionary.thread_name(event.thread).to_owned();
            recorded.entry(thread).or_default().push((site.method, event.ticks, stack));
        }
    }
    recorded
}

/// Number of entries of each method of the outcome's map, by the counters.
fn counted(done: &Done) -> BTreeMap<String, u64> {
    let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
    let (map, trace) = (evidence.map().unwrap(), evidence.trace().unwrap());
    let jvms = trace.jvms();
    let counts = jvms.iter().flat_map(|jvm| trace.counts(jvm).into_iter().enumerate());
    let mut counted = BTreeMap::new();
    for (at, count) in counts {
        let site = map.site(hypocenter_trace::SiteId(at as u32)).unwrap();
        *counted.entry(site.method).or_default() += count;
    }
    counted
}

fn check(&(jdk, row): &(&Jdk, &Row)) {
    let tool = Tool::on(jdk, "run").args("--hook entry --packages hits.Threads --json").args(row.record);
    let done = tool.java(&format!("hits.Threads {} {} {}", row.threads, row.hits, row.by));
    // A program that ends badly without a fault is an outcome of its own.
    let (end, code) = match row.by {
        "kill" => (json!({"how": "signalled", "signal": 9}), 4),
        "halt" => (json!({"how": "exited", "status": 7}), 4),
        _ => (json!({"how": "exited", "status": 0}), 0),
    };
    let done = done.exits(code);
    let outcome: Value = done.outcome();
    assert_eq!(outcome["end"], end);
    let jvm = &outcome["jvms"][0];
    let number = |name: &str| jvm[name].as_u64().unwrap_or_else(|| panic!("{name}: {outcome:#}"));
    // Every thread enters its lambda once; the main thread enters main.
    let hits = row.threads * (2 * row.hits + 1) + 1;
    assert_eq!(number("hits"), hits, "{outcome:#}");
    assert_eq!(number("events") + number("dropped"), hits, "{outcome:#}");
    assert_eq!(number("dropped") > 0, row.drops, "{outcome:#}");
    let said = outcome["problems"].to_string().contains("events were dropped");
    assert_eq!(said, row.drops, "{outcome:#}");
    let counted = counted(&done);
    assert_eq!((counted["hit"], counted["nothing"]), (row.threads * row.hits, row.threads * row.hits));

    let recorded = recorded(&done);
    for thread in 0..row.threads {
        let events = recorded.get(&format!("hitter-{thread}")).map_or(&[] as &[_], Vec::as_slice);
        assert!(events.is_sorted_by_key(|(_, ticks, _)| *ticks), "thread {thread} is not in order");
        assert_eq!(events.last().map(|it| it.0.as_str()), Some("nothing"), "the newest events are kept");
        let inner = events.iter().filter(|it| !it.0.starts_with("lambda$"));
        let order: Vec<&str> = inner.map(|it| it.0.as_str()).collect();
        for pair in order.rchunks(2) {
            assert!(
                pair == ["hit", "nothing"] || pair == ["nothing"] && row.drops,
                "thread {thread}: {pair:?}"
            );
        }
        if !row.drops {
            assert_eq!(order.len() as u64, 2 * row.hits, "thread {thread}");
        }
        if row.record.contains("stacks") {
            let stack = &events.last().unwrap().2;
            assert_eq!(stack[..2], ["hits.Threads.nothing", "hits.Threads.hit"], "{stack:?}");
        }
    }
}

#[test]
fn every_hit_is_an_event_in_order_or_counted_as_dropped() {
    let name = |(jdk, row): &(&Jdk, &Row)| {
        format!("{} {} by {} on Java {}", row.record, row.hits, row.by, jdk.feature)
    };
    each(&on_every_jdk(ROWS), name, check);
}

#[test]
fn an_injection_is_known_after_the_jvm_was_killed() {
    // The fault comes first, and the program kills its JVM afterwards.
    for by in ["kill", "halt"] {
        let tool =
            Tool::new("inject").arg("Threads.hit").args("--throw java.lang.IllegalStateException --at 700");
        let done = tool.args("--json").java(&format!("hits.Threads 2 500 {by}")).exits(0);
        let outcome = done.outcome();
        assert_eq!(outcome["candidates"][0]["result"]["occurrence"], 700, "{outcome:#}");
        assert_eq!(outcome["candidates"][0]["hits"], 1000, "{outcome:#}");
        assert_eq!(done.program(), "exceptions 1\n");
    }
}

#[test]
fn hooks_that_are_off_count_nothing_and_every_kind_of_hook_can_be_placed() {
    let rows = [("--record off", false), ("--record count", true), ("--record stacks", true)];
    each(
        &rows,
        |(record, _)| record.to_string(),
        |(record, counts)| {
            let tool = Tool::new("run").args("--hook every --json").args(record);
            let done = tool.java("probe.Kinds loop 3").exits(0);
            let outcome = done.outcome();
            let jvm = &outcome["jvms"][0];
            assert!(jvm["hooks"]["placed"].as_u64().unwrap() > 100, "{outcome:#}");
            assert_eq!(jvm["hooks"]["refused"], 0, "{outcome:#}");
            assert_eq!(jvm["hits"].as_u64().unwrap() > 0, *counts, "{outcome:#}");
            assert_eq!(
                done.program(),
                "round 1: 6, steps 3\nround 2: 6, steps 3\nround 3: 6, steps 3\nbye\n"
            );
        },
    );
}

#[test]
fn a_jvm_killed_in_the_middle_of_its_work_loses_at_most_the_hit_at_hand() {
    const THREADS: u64 = 4;
    let rows = ["--record events --lossless", "--record events --ring-kb 16"];
    each(
        &on_every_jdk(&rows),
        |(jdk, record)| format!("{record} on Java {}", jdk.feature),
        |(jdk, record)| {
            let tool = Tool::on(jdk, "run").args("--hook entry --packages hits.Threads --json").args(record);
            let done = tool.java(&format!("hits.Threads {THREADS} 2000 kill-busy")).exits(4);
            let outcome = done.outcome();
            assert_eq!(outcome["end"], json!({"how": "signalled", "signal": 9}));
            let number = |name: &str| outcome["jvms"][0][name].as_u64().unwrap();
            let (hits, kept) = (number("hits"), number("events") + number("dropped"));
            assert!(hits >= THREADS * 2 * 2000, "{outcome:#}");
            // A hit is counted before its event is written.
            let lost = hits.checked_sub(kept).unwrap_or_else(|| panic!("more events than hits: {outcome:#}"));
            assert!(lost <= THREADS, "{outcome:#}");
            for (thread, events) in recorded(&done) {
                assert!(events.is_sorted_by_key(|(_, ticks, _)| *ticks), "thread {thread} is not in order");
            }
        },
    );
}

#[test]
fn a_jvm_that_is_killed_at_any_instant_leaves_whole_records() {
    const THREADS: usize = 8;
    let runs: Vec<usize> = (0..repeats(3)).collect();
    each(
        &runs,
        |run| format!("run {run}"),
        |run| {
            let jdk = &jdks()[run % jdks().len()];
            // Eight threads record as fast as they can, in rings that are used again and again, until the JVM kills itself. How much
            // they have recorded then is another in every run.
            let hits = 5_000 + run * 7_919 % 60_000;
            let tool = Tool::on(jdk, "run").args("--hook entry --record events --ring-kb 64 --json");
            let tool = tool.args("--packages hits.Threads");
            let done = tool.java(&format!("hits.Threads {THREADS} {hits} kill-busy")).exits(4);
            assert_eq!(done.outcome()["end"], json!({"how": "signalled", "signal": 9}));
            let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
            let trace = evidence.trace().unwrap();
            assert_eq!(trace.jvms().len(), 1);
            for jvm in trace.jvms() {
                assert!(!jvm.ended);
                let counted: u64 = trace.counts(&jvm).iter().sum();
                let kept = trace.events(&jvm).count() as u64;
                // A hit is counted first, and a chunk that was begun anew has not been counted as dropped yet by its records.
                assert!(kept + jvm.dropped <= counted, "{kept} + {} of {counted}", jvm.dropped);
            }
            for (thread, events) in recorded(&done) {
                let order: Vec<&str> = events.iter().map(|it| it.0.as_str()).collect();
                let inner: Vec<&str> =
                    order.into_iter().filter(|it| matches!(*it, "hit" | "nothing")).collect();
                assert!(inner.windows(2).all(|pair| pair[0] != pair[1]), "{thread} lacks an event");
                assert!(events.is_sorted_by_key(|(_, ticks, _)| *ticks), "{thread} is not in order");
            }
        },
    );
}
