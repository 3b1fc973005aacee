//! What counts as evidence where the failure was logged by another version: threads have other names and other parts of the work.
//!
//! The logs come from a small generator: a server starts by steps, scans volumes and ends. A *version* says which thread has a step.

use hypocenter_logs::{Comparison, Fields, Log, Statements, Tied};

/// Steps that start and stop the server, in their order.
const STEPS: [&str; 10] = [
    "reading configuration",
    "loading image",
    "replaying edits",
    "binding port 8020",
    "registering node 7",
    "opening volumes",
    "joining pool",
    "serving clients",
    "draining clients",
    "closing volumes",
];

/// Names of the threads for a version: of a step, and of the scanner of a volume.
struct Version {
    step: fn(usize) -> &'static str,
    scanner: fn(usize) -> String,
}

/// Everything in one thread; numbered scanners.
const OLD: Version = Version { step: |_| "main", scanner: |volume| format!("VolumeScanner-{volume}") };
/// A listener takes over when the port is bound.
const NEW: Version = Version {
    step: |at| if at < 3 { "main" } else { "Listener at localhost/34265" },
    scanner: |volume| format!("VolumeScanner(/srv/a{volume}/data)"),
};
/// Two threads take over, one after the other.
const NEWEST: Version = Version {
    step: |at| match at {
        0..3 => "main",
        3..7 => "Listener at localhost/4711",
        _ => "Service 550e8400-e29b-41d4-a716-446655440000",
    },
    scanner: |volume| format!("VolumeScanner(/tmp/t{volume}/x/data-{volume})"),
};

/// A run of a version, with other entries behind some steps: the step, the thread, what it says.
fn run(version: &Version, more: &[(usize, &str, &str)]) -> [Tied; 1] {
    let mut lines: Vec<(String, String)> = Vec::new();
    for (at, step) in STEPS.iter().enumerate() {
        lines.push(((version.step)(at).to_owned(), (*step).to_owned()));
        if at == 5 {
            for volume in 0..3 {
                for what in ["scan begins", "found 12 blocks", "scan ends"] {
                    lines.push(((version.scanner)(volume), what.to_owned()));
                }
            }
        }
        let behind = more.iter().filter(|it| it.0 == at);
        lines.extend(behind.map(|(_, thread, what)| ((*thread).to_owned(), (*what).to_owned())));
    }
    let line = |(at, (thread, what)): (usize, &(String, String))| {
        format!("2024-01-01 00:00:{at:02},000 INFO  [{thread}] a.Server: {what}\n")
    };
    let text: String = lines.iter().enumerate().map(line).collect();
    let log = Log::read(text.as_bytes()).expect("a log");
    [Tied::of("n", &log, &Statements::new(Vec::new()), Fields::of(log.layout()))]
}

/// Which entries of one run the other lacks, each by its thread and its place there.
fn own(run: &[Tied], other: &[Tied]) -> Vec<(String, u32)> {
    let name = |entry: u32| {
        let it = &run[0].entries()[entry as usize];
        (run[0].threads()[it.thread as usize].name.clone(), it.line)
    };
    Comparison::of(run, other).own().map(|it| name(it.entry)).collect()
}

#[test]
fn a_thread_that_another_version_calls_by_several_names_is_no_evidence() {
    for (one, other) in [(&OLD, &NEW), (&NEW, &OLD), (&OLD, &NEWEST), (&NEWEST, &OLD)] {
        assert_eq!(own(&run(one, &[]), &run(other, &[])), []);
    }
}

#[test]
fn what_the_failure_adds_stays_evidence_under_any_name() {
    let listener = "Listener at localhost/34265";
    let failed = [(5, listener, "cannot open volume 2"), (7, "Reaper", "gives up"), (7, "Reaper", "ends")];
    let added: Vec<&str> = failed.iter().map(|it| it.1).collect();
    let of = |normal: &Version| -> Vec<String> {
        own(&run(&NEW, &failed), &run(normal, &[])).into_iter().map(|it| it.0).collect()
    };
    assert_eq!(of(&NEW), added);
    assert_eq!(of(&OLD), added);
    // More of what the thread says anyway is evidence too: the step is taken once more.
    let twice = own(&run(&NEW, &[(6, listener, STEPS[6])]), &run(&OLD, &[]));
    assert_eq!(twice.len(), 1, "{twice:?}");
}

#[test]
fn a_new_thread_that_says_little_of_what_is_left_over_counts_whole() {
    // Normal runs end with something more, of which the new thread says a part and else its own.
    let tail: Vec<(usize, &str, &str)> =
        ["flush", "sync", "rename"].iter().map(|it| (9, "main", *it)).collect();
    let normal = run(&OLD, &tail);
    let alone = |said: &[&str]| {
        let said: Vec<(usize, &str, &str)> = said.iter().map(|it| (9, "Recovery", *it)).collect();
        own(&run(&OLD, &said), &normal).len()
    };
    assert_eq!(alone(&["flush", "sync", "rename"]), 0);
    assert_eq!(alone(&["flush", "sync", "rename", "recovered"]), 1);
    assert_eq!(alone(&["flush", "sync"]), 2);
    assert_eq!(alone(&["flush", "sync", "rename", "a", "b", "c", "d"]), 7);
}
