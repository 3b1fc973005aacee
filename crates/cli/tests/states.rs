//! The abstract states of tasks at run time: every hit is in the right one, and a candidate may wait for one.

mod support;

use std::collections::BTreeMap;
use std::sync::OnceLock;

use hypocenter_engine::Evidence;
use hypocenter_lab::{evidence_of, finished};
use hypocenter_plan::{SiteKind, TaskMethod, first_states};
use hypocenter_program::{ClassPath, Program, Scope, StateOptions, task_methods};
use hypocenter_trace::Map;
use serde_json::{Value, json};
use support::{
    Done, Jdk, Tool, classes, default_jdk, each, jdks_with_virtual_threads, line_of, on_every_jdk,
};

/// The states that are marked in the source.
const MARKS: [&str; 12] = [
    "start", "next", "read", "write", "nest", "fail", "recover", "give up", "nested", "failing", "give",
    "take",
];

/// The tasks of the program, as a scan finds them.
fn tasks() -> &'static [TaskMethod] {
    static TASKS: OnceLock<Vec<TaskMethod>> = OnceLock::new();
    TASKS.get_or_init(|| {
        let jdk = default_jdk();
        let path = ClassPath::from_paths(vec![classes().to_owned()]).with_jdk(&jdk.home);
        let opened = path.open(jdk.feature as u16);
        let scope = Scope::of(&["probe.States".to_owned()]);
        task_methods(&Program::of(&opened, &scope, &StateOptions::default(), |_| {}))
    })
}

/// The mark of the line where each state begins, by the number of the state; a lambda is called so.
fn marks(map: &Map<'_>) -> Vec<String> {
    let lines: BTreeMap<u32, &str> =
        MARKS.iter().map(|it| (line_of("probe/States.java", it) as u32, *it)).collect();
    let mut marks = vec!["none".to_owned()];
    for task in tasks() {
        let class = map.class(task.class.replace('.', "/").as_bytes()).expect("a task is in the map");
        let sites = class.methods().filter(|it| it.name() == task.method.as_bytes());
        let sites: Vec<_> = sites.flat_map(|it| it.hooks()).filter_map(|it| map.site(it.site)).collect();
        for &block in &task.states {
            let (kind, ordinal) = if block == 0 { (SiteKind::Entry, 0) } else { (SiteKind::Block, block) };
            let site = sites.iter().find(|it| it.kind == kind && it.ordinal == ordinal);
            let line = site.and_then(|it| it.line).expect("a state has a site with a line");
            let lambda = task.method.starts_with("lambda$");
            marks.push(match lines.get(&line) {
                _ if lambda => "lambda".to_owned(),
                Some(mark) => mark.to_string(),
                None => format!("line {line}"),
            });
        }
    }
    assert_eq!(marks.len(), *first_states(tasks()).last().unwrap() as usize);
    marks
}

/// The name of a state, by its mark.
fn state_named(mark: &str) -> String {
    let done = run(default_jdk(), json!([]), "worker r").exits(0);
    let evidence = evidence(&done);
    let marks = marks(&evidence.map().unwrap());
    let number = marks.iter().position(|it| it == mark).unwrap_or_else(|| panic!("{mark}: {marks:?}"));
    hypocenter_plan::state_names(tasks())[number].clone()
}

fn plan(candidates: Value) -> Value {
    let watch = json!([{"kinds": ["call"], "classes": ["probe.States"], "level": "event"}]);
    json!({"version": 1, "candidates": candidates, "record": {"watch": watch, "tasks": tasks()}})
}

fn run(jdk: &Jdk, candidates: Value, program: &str) -> Done {
    let tool = Tool::on(jdk, "run").args("--json").plan(&plan(candidates));
    tool.java(&format!("probe.States {program}"))
}

fn evidence(done: &Done) -> Evidence {
    evidence_of(&done.trial(), &finished(&done.trial()).unwrap().unwrap()).unwrap()
}

/// The states in which each thread hit the site, in order.
fn hits(done: &Done) -> BTreeMap<String, Vec<String>> {
    let evidence = evidence(done);
    let (map, trace) = (evidence.map().unwrap(), evidence.trace().unwrap());
    let marks = marks(&map);
    let mut found: BTreeMap<String, Vec<String>> = BTreeMap::new();
    for jvm in trace.jvms() {
        let dictionary = trace.dictionary(&jvm);
        let mut events: Vec<_> = trace.events(&jvm).collect();
        events.sort_by_key(|it| it.ticks);
        for event in events {
            if map.site(event.site).is_some_and(|it| it.method == "hit" && it.kind == SiteKind::Call) {
                let thread = dictionary.thread_name(event.thread).to_owned();
                found.entry(thread).or_default().push(marks[event.state.0 as usize].clone());
            }
        }
    }
    found
}

/// A program, one of its threads, and the states in which that hits the site.
const ROWS: &[(&str, &str, &[&str])] = &[
    ("worker rw", "worker-1", &["start", "read", "write"]),
    ("worker rrw", "main", &["none", "none"]),
    ("worker wnr", "worker-1", &["start", "write", "nested", "nest", "read"]),
    // The task that throws is over, and the one that called it goes on in its handler.
    ("worker xr", "worker-1", &["start", "failing", "recover", "read"]),
    // An exception leaves the worker, and the thread is what it was before.
    ("lambda wz", "lambda-1", &["lambda", "start", "write", "give up", "lambda", "lambda"]),
];

#[test]
fn every_hit_is_in_the_state_of_the_innermost_task() {
    let name = |(jdk, (program, thread, _)): &(&Jdk, &(&str, &str, &[&str]))| {
        format!("{thread} of {program} on Java {}", jdk.feature)
    };
    each(&on_every_jdk(ROWS), name, |(jdk, (program, thread, expected))| {
        assert_eq!(hits(&run(jdk, json!([]), program).exits(0))[*thread], *expected);
    });
}

#[test]
fn a_virtual_thread_keeps_its_state_while_others_run_on_its_carrier() {
    each(
        &jdks_with_virtual_threads(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            let tool = Tool::on(jdk, "run").args("--json").plan(&plan(json!([])));
            // One carrier for both: whoever waits must not take the other's state.
            let options =
                "-Djdk.virtualThreadScheduler.parallelism=1 -Djdk.virtualThreadScheduler.maxPoolSize=1";
            let hits = hits(&tool.java_with(options, "probe.States virtual").exits(0));
            assert_eq!(hits["virtual-0"][1..], ["give"; 6]);
            assert_eq!(hits["virtual-1"][1..], ["take"; 6]);
        },
    );
}

#[test]
fn the_trace_has_how_a_thread_came_from_state_to_state() {
    let done = run(default_jdk(), json!([]), "worker rxw").exits(0);
    let evidence = evidence(&done);
    let (map, trace) = (evidence.map().unwrap(), evidence.trace().unwrap());
    let marks = marks(&map);
    let jvm = &trace.jvms()[0];
    let dictionary = trace.dictionary(jvm);
    let mark = |state: hypocenter_plan::StateId| marks[state.0 as usize].as_str();
    let of_worker = trace.transitions(jvm).filter(|it| dictionary.thread_name(it.thread) == "worker-1");
    let story: Vec<String> = of_worker
        .map(|it| {
            let how = if it.enters {
                "enters"
            } else if it.leaves {
                "leaves for"
            } else {
                "comes to"
            };
            format!("{} {how} {}", mark(it.from), mark(it.to))
        })
        .filter(|it| !it.contains("next"))
        .collect();
    // Between two of the script's letters the worker is in the state that looks at the next one.
    let expected = [
        "none enters start",
        "fail enters failing",
        "failing leaves for fail",
        "fail comes to recover",
        "write leaves for none",
    ];
    assert_eq!(story, expected);
}

#[test]
fn a_guard_by_state_lets_only_hits_in_that_state_through() {
    // The state, the guard beside it, the program, what is hit, and how many hits fit.
    let rows = [
        ("write", json!({}), "worker rwrw", "worker-1 writes", 2),
        ("write", json!({"occurrence": 2}), "worker rwrwr", "worker-1 writes", 2),
        ("nested", json!({}), "worker rnw", "worker-1 is nested", 1),
        ("nest", json!({}), "worker rnw", "worker-1 goes on", 1),
        ("recover", json!({}), "worker xx", "worker-1 recovers", 2),
        ("lambda", json!({"occurrence": 2}), "lambda z", "lambda-1 is left", 3),
        ("none", json!({"occurrence": 2, "thread": "m*n"}), "worker r", "main ends", 2),
    ];
    each(
        &rows,
        |(mark, ..)| mark.to_string(),
        |(mark, guard, program, hit, hits)| {
            let mut when = guard.clone();
            when["state"] = json!(if *mark == "none" { "none".to_owned() } else { state_named(mark) });
            let site = json!({"class": "probe.States", "method": "hit", "descriptor": "()V", "kind": "call",
                "callee": "probe.States.nothing()V", "ordinal": 0});
            let fault = json!({"kind": "exception", "class": "java.io.IOException"});
            let candidates = json!([{"site": site, "fault": fault, "when": when}]);
            let done = run(default_jdk(), candidates, program).exits(0);
            let program = done.program();
            let lines = program.lines().filter(|it| it.contains("java.io.IOException"));
            let struck: Vec<&str> = lines.map(|it| it.split(':').next().unwrap()).collect();
            assert_eq!(struck, [*hit], "{program}");
            let outcome = done.outcome();
            let candidate = &outcome["candidates"][0];
            assert_eq!(candidate["hits"], *hits, "{outcome:#}");
            let state = if *mark == "none" { json!(null) } else { when["state"].clone() };
            assert_eq!(candidate["result"]["state"], state, "{outcome:#}");
        },
    );
}
