//! Where threads are when they come to a site: calling contexts, loops and iterations, and the branches of each.

mod support;

use std::collections::BTreeSet;

use hypocenter_engine::Evidence;
use hypocenter_lab::{evidence_of, finished};
use hypocenter_trace::{Dictionary, Event, LoopRun, LoopTally, SiteId, TracedPath};
use serde_json::{Value, json};
use support::{Done, Jdk, Tool, each, jdks};

/// The methods of `probe.Trails` that are followed.
const METHODS: [(&str, &str); 9] = [
    ("main", "([Ljava/lang/String;)V"),
    ("leaf", "()V"),
    ("loop", "(I)V"),
    ("left", "()V"),
    ("right", "()V"),
    ("fail", "()V"),
    ("thrown", "()V"),
    ("caught", "()V"),
    ("deep", "(I)V"),
];

fn methods() -> Vec<Value> {
    METHODS
        .iter()
        .map(|(name, descriptor)| json!({"class": "probe.Trails", "method": name, "descriptor": descriptor}))
        .collect()
}

fn site(method: &str, kind: &str) -> Value {
    let descriptor = METHODS.iter().find(|it| it.0 == method).expect("a method of the program").1;
    json!({"class": "probe.Trails", "method": method, "descriptor": descriptor, "kind": kind, "ordinal": 0})
}

/// A plan that follows everything and records the entries of `leaf`.
fn plan(candidates: Value) -> Value {
    json!({
        "version": 1,
        "candidates": candidates,
        "record": {
            "lossless": true,
            "watch_sites": [{"sites": [site("leaf", "entry")], "level": "event"}],
            "trails": {"methods": methods(), "loops": true, "path_depth": 2},
        },
    })
}

/// What a run of the program gave.
struct Seen {
    evidence: Evidence,
    dictionary: Dictionary,
    events: Vec<Event>,
    loops: Vec<LoopRun>,
}

impl Seen {
    fn of(done: &Done) -> Seen {
        let evidence = evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap();
        let trace = evidence.trace().unwrap();
        let jvms = trace.jvms();
        let [jvm] = jvms.as_slice() else { panic!("one JVM is expected") };
        let (dictionary, events) = (trace.dictionary(jvm), trace.events(jvm).collect());
        let loops = trace.loop_runs(jvm).collect();
        Seen { dictionary, events, loops, evidence }
    }

    fn method(&self, site: SiteId) -> String {
        self.evidence.map().unwrap().site(site).expect("a site of the map").method
    }

    /// The methods around a context, innermost first.
    fn callers(&self, context: u32) -> String {
        let callers = self.dictionary.callers(context);
        callers.iter().map(|&it| self.method(it)).collect::<Vec<_>>().join("<")
    }

    /// Each loop that was left, with its callers and iterations.
    fn loop_texts(&self) -> Vec<String> {
        self.loops.iter().map(|it| format!("{} {}", self.callers(it.context), it.iterations)).collect()
    }
}

fn run(jdk: &Jdk, program: &str, plan: &Value) -> Done {
    let tool = Tool::on(jdk, "run").args("--json").plan(plan);
    tool.java_with("-XX:+UseSerialGC -Xverify:all -Xss256m", &format!("probe.Trails {program}"))
}

fn on_each_jdk(check: impl Fn(&Jdk) + Sync) {
    each(jdks(), |jdk| format!("Java {}", jdk.feature), check);
}

#[test]
fn an_event_names_its_callers_and_a_loop_its_iterations() {
    on_each_jdk(|jdk| {
        let seen = Seen::of(&run(jdk, "calls", &plan(json!([]))).exits(0));
        let leaves: Vec<String> = seen.events.iter().map(|it| seen.callers(it.context)).collect();
        let (left, right) = ("leaf<loop<left<main", "leaf<loop<right<main");
        assert_eq!(leaves, [left, left, right, right, right, left, left]);
        assert_eq!(seen.loop_texts(), ["loop<left<main 3", "loop<right<main 5", "loop<left<main 3"]);
    });
}

#[test]
fn each_path_is_spelled_out_once_for_each_context() {
    on_each_jdk(|jdk| {
        let seen = Seen::of(&run(jdk, "calls", &plan(json!([]))).exits(0));
        let of_loop = |caller: &str| {
            let all = seen.dictionary.paths.iter().filter(|it| seen.callers(it.context) == caller);
            let values = all.map(|it| it.branches.iter().map(|it| it.1.to_string()).collect::<String>());
            values.collect::<Vec<_>>()
        };
        // Whether the remainder is not zero, then whether the loop is left: even and on, odd and on, even and out.
        assert_eq!(of_loop("loop<left<main"), ["00", "10", "01"]);
        assert_eq!(of_loop("loop<right<main"), ["00", "10", "01"]);
        // The switch over the text, in whichever way the compiler has it.
        assert_eq!(of_loop("main").len(), 1);
        let hashes: BTreeSet<u64> = seen.dictionary.paths.iter().map(|it| it.hash).collect();
        assert_eq!(hashes.len(), 4, "the same branches have the same hash");
    });
}

#[test]
fn what_exceptions_leave_is_left() {
    on_each_jdk(|jdk| {
        let seen = Seen::of(&run(jdk, "exceptions", &plan(json!([]))).exits(0));
        let runs = seen.loop_texts();
        let count = |text: &str| runs.iter().filter(|it| *it == text).count();
        assert_eq!((count("thrown<main 3"), count("caught<main 4"), runs.len()), (1000, 1000, 2001));
        assert_eq!(runs.last().map(String::as_str), Some("main 1000"));
        let last = seen.events.last().expect("the last leaf");
        assert_eq!(seen.callers(last.context), "leaf<main");
        let before = seen.events[seen.events.len() - 2];
        assert_eq!(seen.callers(before.context), "leaf<caught<main");

        let seen = Seen::of(&run(jdk, "deep 2000", &plan(json!([]))).exits(0));
        assert_eq!(seen.events.iter().map(|it| seen.callers(it.context)).collect::<Vec<_>>(), ["leaf<main"]);
    });
}

#[test]
fn contexts_paths_and_tallies_are_right_after_a_thousand_loops_and_ten_thousand_frames_unwound() {
    on_each_jdk(|jdk| {
        let mut plan = plan(json!([]));
        plan["record"]["trails"]["loop_counts"] = json!(true);
        let plain = Seen::of(&run(jdk, "calls", &plan).exits(0));
        let seen = Seen::of(&run(jdk, "after 10000", &plan).exits(0));
        let frames = seen.dictionary.contexts.values().filter(|it| seen.method(it.1) == "deep").count();
        assert_eq!(frames, 10_001, "each call of deep has a context of its own");
        let leaves = |of: &Seen| of.events.iter().map(|it| of.callers(it.context)).collect::<Vec<_>>();
        assert_eq!((leaves(&plain).len(), leaves(&seen).len()), (7, 1007));
        assert_eq!(leaves(&seen)[1000..], leaves(&plain));
        // The loop of main ends before the calls.
        let runs = seen.loop_texts();
        assert_eq!(runs.len(), 2001 + 3);
        assert_eq!(runs[2000], "main 1000");
        assert_eq!(runs[2001..], plain.loop_texts());
        let of_calls = |of: &Seen| {
            // Those of deep have long stacks.
            let paths = of.dictionary.paths.iter().filter(|it| of.method(it.around) == "loop");
            let values = |path: &TracedPath| path.branches.iter().map(|it| it.1).collect::<Vec<_>>();
            paths.map(|it| format!("{} {:?}", of.callers(it.context), values(it))).collect::<Vec<_>>()
        };
        assert_eq!(of_calls(&plain).len(), 6);
        assert_eq!(of_calls(&seen), of_calls(&plain));
        let tallies = |of: &Seen| {
            let name = |it: &LoopTally| {
                let around = it.around.map_or("none".to_owned(), |it| of.method(it));
                format!("{} around {around} {}", of.callers(it.context), it.iterations)
            };
            of.dictionary.tallies.iter().map(name).collect::<BTreeSet<_>>()
        };
        let calls = ["loop<left<main around none 6", "loop<right<main around none 5"];
        assert_eq!(tallies(&plain), calls.map(str::to_owned).into());
        let exceptions =
            ["main around none 1000", "thrown<main around main 3000", "caught<main around main 4000"];
        assert_eq!(tallies(&seen), calls.iter().chain(&exceptions).map(|&it| it.to_owned()).collect());
    });
}

#[test]
fn a_guard_waits_for_a_loop_around_the_site() {
    on_each_jdk(|jdk| {
        let candidate = |within: &str| {
            json!([{
                "site": site("leaf", "entry"),
                "fault": {"kind": "exception", "class": "java.lang.IllegalArgumentException"},
                "when": {"loop": site(within, "loop_body")},
            }])
        };
        let done = run(jdk, "guard", &plan(candidate("loop"))).exits(0);
        assert_eq!(done.program(), "in the loop\ndone\n");
        assert_eq!(done.outcome()["candidates"][0]["hits"], 1);
        let done = run(jdk, "guard", &plan(candidate("caught"))).exits(2);
        assert_eq!(done.program(), "done\n");
    });
}

#[test]
fn a_loop_that_nobody_follows_is_refused() {
    let mut plan = plan(json!([{
        "site": site("leaf", "entry"),
        "fault": {"kind": "crash"},
        "when": {"loop": site("loop", "loop_body")},
    }]));
    plan["record"]["trails"]["methods"] = json!([]);
    let done = run(support::default_jdk(), "guard", &plan).exits(1);
    done.says("nobody follows the loops of probe.Trails.loop");
}

#[test]
fn what_comes_out_of_a_call_is_seen_and_goes_where_it_would() {
    on_each_jdk(|jdk| {
        let tool = Tool::on(jdk, "run")
            .args("--hook call_throw,throw --record count --packages probe.Trails --json");
        let done = tool.java_with("-XX:+UseSerialGC -Xverify:all", "probe.Trails exceptions").exits(0);
        assert_eq!(done.program(), "done\n");
        assert_eq!(done.outcome()["jvms"][0]["hooks"]["refused"], 0);
        let seen = Seen::of(&done);
        let map = seen.evidence.map().unwrap();
        let trace = seen.evidence.trace().unwrap();
        let counts = trace.counts(&trace.jvms()[0]);
        let reached = (0..).zip(counts).filter(|(_, count)| *count > 0);
        let mut reached: Vec<(String, u64)> = reached
            .map(|(id, count)| (map.site(SiteId(id)).unwrap(), count))
            .map(|(site, count)| (format!("{} {}", site.kind.name(), site.method), count))
            .collect();
        reached.sort();
        let expected = [
            ("call_throw caught", 1000),
            ("call_throw expect", 1000),
            ("call_throw thrown", 1000),
            ("throw fail", 2000),
        ];
        assert_eq!(reached, expected.map(|(site, count)| (site.to_owned(), count)));
    });
}
