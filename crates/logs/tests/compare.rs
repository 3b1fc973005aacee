//! Runs side by side: partners, observables and the timeline.

use hypocenter_logs::{
    Comparison, Fields, Level, Log, Moment, Observables, Part, Position, Statement, StatementId, Statements,
    Template, Tied, Timeline,
};
use proptest::prelude::*;

fn statement(id: u32, class: &str, line: u32, level: Level, template: &str) -> Statement {
    Statement {
        id: StatementId(id),
        class: class.into(),
        method: "run".into(),
        line: Some(line),
        level: Some(level),
        template: Template::parse(template),
        has_exception: false,
    }
}

fn program() -> Statements {
    Statements::new(vec![
        statement(1, "a.Server", 10, Level::Info, "Accepted {}"),
        statement(2, "a.Server", 20, Level::Warn, "Closing {}"),
        statement(3, "a.Sync", 30, Level::Info, "Synced {} bytes"),
        statement(4, "a.Sync", 40, Level::Error, "Severe unrecoverable error, from thread {}"),
        statement(5, "a.Client", 50, Level::Info, "Accepted {}"),
        statement(6, "a.Client", 60, Level::Info, "Started"),
    ])
}

/// Lines of `thread|class@line|level|message` with a time that goes on by ten milliseconds a line. What begins with a tab
/// belongs to the line before.
fn text(lines: &[&str]) -> String {
    let mut text = String::new();
    for (n, it) in lines.iter().enumerate() {
        match it.splitn(4, '|').collect::<Vec<_>>()[..] {
            [thread, place, level, message] => {
                let (seconds, ms) = (n / 100, n % 100 * 10);
                text += &format!(
                    "2021-07-28 13:31:{seconds:02},{ms:03} [myid:] - {level:5} [{thread}:{place}] - {message}\n"
                );
            }
            _ => text += &format!("{it}\n"),
        }
    }
    text
}

fn tied(node: &str, lines: &[&str]) -> Tied {
    let log = Log::read(text(lines).as_bytes()).expect("a log");
    Tied::of(node, &log, &program(), Fields::of(log.layout()))
}

/// The same, of a log that names no thread.
fn nameless(node: &str, lines: &[&str]) -> Tied {
    let log = Log::read(text(lines).as_bytes()).expect("a log");
    Tied::of(node, &log, &program(), Fields { thread: false, ..Fields::of(log.layout()) })
}

#[test]
fn a_log_without_threads_leaves_those_of_another_alone() {
    let (accepted, closing) = ("t-1|Server@10|INFO|Accepted a", "t-1|Server@20|WARN|Closing a");
    let (started, synced) = ("t-2|Client@60|INFO|Started", "t-2|Sync@30|INFO|Synced 1 bytes");
    let pairs = |run: &[Tied], other: &[Tied]| {
        let comparison = Comparison::of(run, other);
        let place = |it: Position| (it.node, it.entry);
        comparison.pairs().map(|(it, partner)| (place(it), place(partner))).collect::<Vec<_>>()
    };
    // One log of all that names threads, and two logs of which one does not.
    let all = [tied("all", &[accepted, started, closing, synced])];
    let two = [tied("one", &[closing, accepted]), nameless("two", &[synced, started])];
    // The order of a named thread counts; that of one without a name does not.
    assert_eq!(pairs(&all, &two).len(), 3);
    assert_eq!(pairs(&two, &all).len(), 3);
    assert!(pairs(&all, &two).contains(&((0, 1), (1, 1))), "a thread of no name has its partners");
    let partners = |it: &[Tied], other: &[Tied]| {
        let comparison = Comparison::as_read(it, other);
        comparison.pairs().map(|(it, partner)| (it.entry, partner.entry)).collect::<Vec<_>>()
    };
    // For who reads, no two pairs of what names no thread cross.
    assert_eq!(partners(&all[..1], &[two[0].clone(), two[1].clone()]).len(), 2);
    // Several files of one process keep what each of them says.
    let merged = Tied::merged("n", vec![tied("", &[accepted]), nameless("", &[started])]);
    let named: Vec<(&str, bool)> = merged.threads().iter().map(|it| (&*it.name, it.is_named)).collect();
    assert_eq!(named, [("t-1", true), ("Client", false)]);
    assert!(own(&[tied("n", &[accepted, started])], &[merged]).is_empty());
}

#[test]
fn several_logs_of_a_node_are_one_in_the_order_of_time() {
    let line = |ms: u32, thread: &str, place: &str, message: &str| {
        format!("2021-07-28 13:31:16,{ms:03} [myid:] - INFO  [{thread}:{place}] - {message}\n")
    };
    let one = [
        line(10, "a", "Client@60", "Started"),
        line(30, "b", "Server@10", "Accepted x"),
        // A clock that went back does not take it before what it follows.
        line(5, "a", "Sync@30", "Synced 1 bytes"),
        line(50, "c", "Nobody@1", "knows 7"),
    ];
    let other = [
        line(20, "c", "Nobody@1", "knows 1"),
        line(30, "a", "Client@60", "Started"),
        line(40, "b", "x", "y"),
    ];
    let logs = [one.concat(), other.concat()].map(|it| Log::read(it.as_bytes()).expect("a log"));
    let fields = Fields::of(logs[0].layout());
    let merged = Tied::merged("n", logs.iter().map(|it| Tied::of("", it, &program(), fields)).collect());
    let mut expected = Tied::empty("n", fields);
    let order = [(0, 0), (1, 0), (0, 1), (0, 2), (1, 1), (1, 2), (0, 3)];
    order.iter().for_each(|&(log, at): &(usize, usize)| {
        expected.push(&logs[log].entry(at).expect("it has as many"), &program());
    });
    assert_eq!((merged.node(), merged.fields()), ("n", fields));
    assert_eq!(merged.entries(), expected.entries());
    assert_eq!(merged.threads(), expected.threads());
    assert_eq!(merged.ties(), expected.ties());
    let statements =
        |tied: &Tied| tied.entries().iter().map(|it| tied.statements(it.key).to_vec()).collect::<Vec<_>>();
    assert_eq!(statements(&merged), statements(&expected));
    // They are compared as they would be without the detour.
    let run = [tied("n", &NORMAL)];
    let partners = |other: Tied| Comparison::of(&run, &[other]).pairs().collect::<Vec<_>>();
    assert_eq!(partners(merged), partners(expected));
}

const NORMAL: [&str; 6] = [
    "main|Client@60|INFO|Started",
    "Server:1|Server@10|INFO|Accepted /10.0.0.1:4000",
    "Sync:1|Sync@30|INFO|Synced 17 bytes",
    "Sync:1|Sync@30|INFO|Synced 18 bytes",
    "Server:1|Server@20|WARN|Closing /10.0.0.1:4000",
    "main|Other@7|INFO|took 12 ms, see /tmp/run1/out.log",
];

/// The messages of a run that only it has, as `line`s of its log.
fn own(run: &[Tied], other: &[Tied]) -> Vec<u32> {
    Comparison::of(run, other)
        .own()
        .map(|it| run[it.node as usize].entries()[it.entry as usize].line)
        .collect()
}

#[test]
fn numbers_paths_ports_and_the_order_of_threads_are_no_difference() {
    let normal = [tied("n", &NORMAL)];
    assert_eq!(own(&normal, &normal), []);
    let again = [tied(
        "n",
        &[
            "Server:2|Server@10|INFO|Accepted /10.0.0.1:4711",
            "main|Client@60|INFO|Started",
            "Server:2|Server@20|WARN|Closing /10.0.0.1:4711",
            "Sync:2|Sync@30|INFO|Synced 1 bytes",
            "main|Other@7|INFO|took 3 ms, see /tmp/run2/out.log",
            "Sync:2|Sync@30|INFO|Synced 2 bytes",
        ],
    )];
    assert_eq!(own(&again, &normal), []);
    assert_eq!(own(&normal, &again), []);
}

#[test]
fn more_of_a_message_counts_and_less_does_not() {
    let normal = [tied("n", &NORMAL)];
    let mut lines = NORMAL.to_vec();
    lines.insert(3, "Sync:1|Sync@30|INFO|Synced 99 bytes");
    let more = [tied("n", &lines)];
    assert_eq!(own(&more, &normal).len(), 1);
    assert_eq!(own(&normal, &more), []);
    let shown = Observables::of(&more, &[&normal]);
    let all: Vec<_> = shown.list().iter().map(|it| it.statements.clone()).collect();
    assert_eq!(all, [[StatementId(3)]]);
}

#[test]
fn without_threads_a_message_at_another_place_is_no_other_message() {
    let sync = "Sync:1|Sync@30|INFO|Synced 9 bytes";
    let error = "Sync:1|Sync@40|ERROR|Severe unrecoverable error, from thread 7";
    let (early, late) = ([error, sync, sync, sync], [sync, sync, sync, error]);
    let own = |fields: Fields, run: &[&str], other: &[&str]| {
        let tied = |lines: &[&str]| {
            let log = Log::read(text(lines).as_bytes()).expect("a log");
            [Tied::of("n", &log, &program(), fields)]
        };
        own(&tied(run), &tied(other))
    };
    let nameless = Fields { thread: false, ..Fields::ALL };
    // One thread keeps its order; of several that stand among each other nobody knows it.
    assert_eq!(own(Fields::ALL, &late, &early), [4]);
    assert_eq!(own(nameless, &late, &early), []);
    // As often as the other has it.
    assert_eq!(own(nameless, &[sync, sync, error, error], &early), [4]);
    assert_eq!(own(nameless, &late, &[sync, sync, sync]), [4]);
}

#[test]
fn what_stands_at_another_place_of_its_thread_is_told() {
    let [folded, early, other] =
        ["Sync:1|Sync@30|INFO|Synced 9 bytes", "Sync:1|Sync@40|ERROR|Severe", "main|Sync@40|ERROR|Severe"];
    let elsewhere = |run: &[&str], other: &[&str]| {
        let comparison = Comparison::of(&[tied("n", run)], &[tied("n", other)]);
        comparison.elsewhere().iter().map(|it| it.entry).collect::<Vec<_>>()
    };
    // More is in common without it.
    let run = [folded, folded, folded, early];
    assert_eq!(elsewhere(&run, &[folded, early, folded, folded]), [3]);
    assert_eq!(elsewhere(&run, &[folded, folded, early]), []);
    assert_eq!(elsewhere(&run, &[folded, folded, folded]), []);
    // What another thread says is something else.
    assert_eq!(elsewhere(&run, &[folded, other, folded, folded]), []);
    // Which of several equal threads says it is a matter of chance.
    let [second, late] = ["Sync:2|Server@10|INFO|Accepted 1", "Sync:2|Sync@40|ERROR|Severe"];
    let run = [folded, folded, early, second, second];
    assert_eq!(elsewhere(&run, &[folded, folded, second, second, late]), [2]);
    assert_eq!(elsewhere(&run, &[folded, folded, second, second]), []);
}

#[test]
fn in_order_no_two_partners_cross() {
    let [sync, error, closing] = [
        "Sync:1|Sync@30|INFO|Synced 9 bytes",
        "Sync:1|Sync@40|ERROR|Severe",
        "main|Server@20|WARN|Closing a",
    ];
    let pairs = |run: &[&str], other: &[&str]| {
        let comparison = Comparison::as_read(&[nameless("n", run)], &[nameless("n", other)]);
        comparison.pairs().map(|(it, partner)| (it.entry, partner.entry)).collect::<Vec<_>>()
    };
    // What says the same again and again is paired in its order, and what stands elsewhere not at all.
    assert_eq!(pairs(&[sync, sync, error, sync], &[error, sync, sync, sync]), [(0, 1), (1, 2), (3, 3)]);
    // Of what several threads wrote the most that is in the order of both, whoever wrote it.
    assert_eq!(pairs(&[sync, closing, sync], &[closing, sync]), [(1, 0), (2, 1)]);
    assert_eq!(pairs(&[sync, closing], &[closing, error]), [(1, 0)]);
}

#[test]
fn threads_of_one_role_are_paired_by_what_they_wrote() {
    let normal = [tied(
        "n",
        &[
            "Peer:1|Server@10|INFO|Accepted a",
            "Peer:2|Sync@30|INFO|Synced 1 bytes",
            "Peer:2|Client@60|INFO|Started",
        ],
    )];
    let swapped = [tied(
        "n",
        &[
            "Peer:1|Sync@30|INFO|Synced 1 bytes",
            "Peer:2|Server@10|INFO|Accepted a",
            "Peer:1|Client@60|INFO|Started",
            "Peer:3|Server@10|INFO|Accepted b",
        ],
    )];
    // The third has nobody left, and counts whole.
    assert_eq!(own(&swapped, &normal), [4]);
}

/// Three lines by three threads, the last of which says this.
fn written_by([first, second, third]: [&str; 3], last: &str) -> Tied {
    let lines = [
        format!("{first}|Server@10|INFO|Accepted x"),
        format!("{second}|Sync@30|INFO|Synced 1 bytes"),
        format!("{third}|{last}"),
    ];
    tied("n", &lines.each_ref().map(String::as_str))
}

#[test]
fn threads_that_only_one_run_has_are_those_whose_names_differ_in_a_word() {
    let run = |threads| written_by(threads, "Client@60|INFO|Started");
    let failure = [run(["gate-A", "gate-B", "auditor"])];
    assert!(own(&failure, &[run(["gate-north", "gate-south", "auditor"])]).is_empty());
    // One that both have is itself, also where another says the same.
    assert_eq!(own(&failure, &[run(["gate-B", "gate-A", "auditor"])]), [1, 2]);
    // Names of one word have nothing in common.
    assert_eq!(own(&failure, &[run(["gate-A", "gate-B", "inspector"])]), [3]);
    assert_eq!(own(&failure, &[run(["reader-A", "reader-B", "auditor"])]), [1, 2]);
}

#[test]
fn threads_that_only_one_run_has_are_those_that_wrote_mostly_the_same() {
    let run = |thread: &str, messages: &[&str]| {
        // A statement for each, which the line tells.
        let lines = messages.iter().map(|it| format!("{thread}|Door@{}|INFO|{it}", 10 + it.len()));
        let lines: Vec<String> = lines.collect();
        [tied("n", &lines.iter().map(String::as_str).collect::<Vec<_>>())]
    };
    let check = |failure: (&str, &[&str]), normal: (&str, &[&str]), expected: &[u32]| {
        let found = own(&run(failure.0, failure.1), &run(normal.0, normal.1));
        assert_eq!(found, expected, "{failure:?}, {normal:?}");
    };
    let work = ["opening the door", "opened", "closing", "done"];
    check(("Test worker", &work), ("main", &work), &[]);
    // What the failure says more, or more often, is of it.
    check(("Test worker", &["opening the door", "opened", "it is lost", "closing"]), ("main", &work), &[3]);
    check(("Test worker", &["opening the door", "opened", "done", "done"]), ("main", &work), &[4]);
    // Little in common is not enough, and neither is little of all.
    check(("Test worker", &work[..2]), ("main", &work[..2]), &[1, 2]);
    let other = ["opening the door", "opened", "closing", "a", "as", "and", "alsoo"];
    check(("Test worker", &other), ("main", &work), &[1, 2, 3, 4, 5, 6, 7]);
}

#[test]
fn by_role_the_threads_of_a_pool_are_one() {
    let run = |threads| written_by(threads, "Server@10|INFO|Accepted y");
    let (failure, other) = ([run(["pool-1", "pool-2", "pool-1"])], [run(["pool-2", "pool-1", "pool-1"])]);
    let partners =
        |it: &Comparison| it.pairs().map(|(own, other)| (own.entry, other.entry)).collect::<Vec<_>>();
    assert_eq!(partners(&Comparison::by_role(&failure, &other)), [(0, 0), (1, 1), (2, 2)]);
    assert_eq!(partners(&Comparison::of(&failure, &other)).len(), 2, "each thread has its own");
    let apart = [run(["pool-2", "main", "pool-1"])];
    assert_eq!(partners(&Comparison::by_role(&failure, &apart)), [(0, 0), (2, 2)]);
}

#[test]
fn nodes_are_compared_by_name_by_place_or_together() {
    let a = ["main|Client@60|INFO|Started"];
    let b = ["main|Server@10|INFO|Accepted x"];
    let normal = [tied("a", &a), tied("b", &b)];
    assert_eq!(own(&[tied("b", &b), tied("a", &a)], &normal), [], "by name");
    assert_eq!(own(&[tied("x", &a), tied("y", &b)], &normal), [], "by place");
    assert_eq!(own(&[tied("x", &b), tied("y", &a)], &normal).len(), 2, "by place");
    assert_eq!(own(&[tied("x", &["one|Client@60|INFO|Started"])], &normal).len(), 1);
    let together = [tied("all", &["main|Client@60|INFO|Started", "other|Server@20|WARN|Closing x"])];
    assert_eq!(own(&together, &normal), [2], "one log against two");
    assert_eq!(own(&[tied("a", &a), tied("c", &b)], &normal), [1], "a node that the other does not have");
}

const FAILURE: [&str; 9] = [
    "main|Client@60|INFO|Started",
    "Server:1|Server@10|INFO|Accepted /10.0.0.1:4000",
    "Sync:1|Sync@30|INFO|Synced 17 bytes",
    "Sync:1|Sync@40|ERROR|Severe unrecoverable error, from thread Sync:1",
    "java.io.IOException: No space left on device",
    "\tat a.Log.commit(Log.java:12)",
    "Caused by: java.io.IOException: disk",
    "\tat java.io.FileOutputStream.write(FileOutputStream.java:300)",
    "Server:1|Server@20|WARN|Closing /10.0.0.1:4000",
];

#[test]
fn observables_have_their_statements_entries_and_exceptions() {
    let (failure, normal) = ([tied("n", &FAILURE)], [tied("n", &NORMAL)]);
    let observables = Observables::of(&failure, &[&normal]);
    let [it] = observables.list() else { panic!("{observables:?}") };
    assert_eq!(it.statements, [StatementId(4)]);
    assert_eq!(it.entries, [Position { node: 0, entry: 3 }]);
    let [(0, evidence)] = &it.evidence[..] else { panic!("{it:?}") };
    let trace = evidence.trace();
    let classes: Vec<_> =
        trace.exceptions.iter().map(|it| (it.class, it.message, it.frames[0].method)).collect();
    assert_eq!(
        classes,
        [
            ("java.io.IOException", "No space left on device", "commit"),
            ("java.io.IOException", "disk", "write")
        ]
    );
}

#[test]
fn what_differs_without_a_fault_is_no_observable() {
    let mut lines = NORMAL.to_vec();
    lines.push("late|Server@20|WARN|Closing /10.0.0.2:1");
    let (one, two) = ([tied("n", &NORMAL)], [tied("n", &lines)]);
    let mut lines = FAILURE.to_vec();
    lines.push("other|Server@20|WARN|Closing /10.0.0.2:1");
    let failure = [tied("n", &lines)];
    let ids = |it: &Observables| it.list().iter().map(|it| it.statements[0].0).collect::<Vec<_>>();
    assert_eq!(ids(&Observables::of(&failure, &[&one])), [4, 2]);
    let observables = Observables::of(&failure, &[&one, &two]);
    assert_eq!(ids(&observables), [4]);
    assert_eq!(observables.unsteady().len(), 1);
}

#[test]
fn a_trial_shows_some_observables_and_things_of_its_own() {
    let (failure, normal) = ([tied("n", &FAILURE)], [tied("n", &NORMAL)]);
    let observables = Observables::of(&failure, &[&normal]);
    assert_eq!(observables.shown(&normal, &[&normal]).present, [false]);
    assert_eq!(observables.shown(&failure, &[&normal]).present, [true]);
    let mut lines = NORMAL.to_vec();
    lines.insert(4, "Sync:1|Sync@40|ERROR|Severe unrecoverable error, from thread Sync:1");
    lines.insert(5, "main|Client@50|INFO|Accepted late");
    let shown = observables.shown(&[tied("n", &lines)], &[&normal]);
    assert_eq!(shown.present, [true]);
    assert_eq!(shown.missing().count(), 0);
    assert_eq!(shown.others, [Position { node: 0, entry: 5 }]);
}

#[test]
fn a_log_that_says_less_is_compared_by_what_it_says() {
    let plain = |lines: &[&str]| {
        let message = |it: &&str| it.splitn(4, '|').nth(3).map_or(it.to_string(), str::to_owned);
        let lines: Vec<String> =
            lines.iter().map(message).map(|it| format!("2021-07-28 13:31:16,997 INFO {it}\n")).collect();
        Log::read(lines.concat().as_bytes()).expect("a log")
    };
    let bare = plain(&NORMAL);
    let full = Log::read(text(&NORMAL).as_bytes()).expect("a log");
    let fields = Fields::of(bare.layout()) & Fields::of(full.layout());
    assert_eq!(fields, Fields { thread: false, class: false, line: false, level: true });
    let fields = Fields { level: false, ..fields };
    let program = program();
    let (bare, full) = ([Tied::of("n", &bare, &program, fields)], [Tied::of("n", &full, &program, fields)]);
    assert_eq!(own(&bare, &full), []);
    assert_eq!(full[0].ties().by_text, 5);
    assert_eq!(full[0].ties().none, 1);
}

#[test]
fn a_log_of_another_version_has_moved_ties_and_one_of_another_system_has_none() {
    let moved = tied("n", &["main|Client@61|INFO|Started", "Server:1|Server@12|INFO|Accepted a"]);
    assert_eq!((moved.ties().by_line, moved.ties().moved, moved.ties().none), (0, 2, 0));
    let other = tied("n", &["main|Nobody@61|INFO|Hello", "x|Other@12|INFO|Good bye"]);
    assert_eq!(other.ties().none, 2);
}

fn timeline(failure: &[Tied], normal: &[Tied]) -> Timeline {
    Timeline::of(failure, normal, &Comparison::of(failure, normal))
}

#[test]
fn moments_of_a_normal_run_have_a_place_in_the_failure() {
    // Entry 0 and 1 are tied, then the failure has four more, then entry 2 is tied; the rest has no partner.
    let normal = [tied(
        "n",
        &["a|X@1|INFO|one", "a|X@2|INFO|two", "a|X@3|INFO|three", "a|X@4|INFO|four", "a|X@5|INFO|five"],
    )];
    let failure = [tied(
        "n",
        &[
            "a|X@1|INFO|one",
            "a|X@2|INFO|two",
            "a|Y@1|INFO|p",
            "a|Y@2|INFO|q",
            "a|Y@3|INFO|r",
            "a|Y@4|INFO|s",
            "a|X@3|INFO|three",
            "a|Y@5|INFO|t",
        ],
    )];
    let timeline = timeline(&failure, &normal);
    assert_eq!((timeline.ties(), timeline.length()), (3, 8));
    let mut finder = timeline.finder();
    let mut after = |entries| finder.place(Moment::After { node: 0, entries });
    assert_eq!(after(0), Some(0.0));
    assert_eq!(after(1), Some(1.0));
    assert_eq!(after(2), Some(4.0), "in the middle of what the failure has between");
    assert_eq!(after(3), Some(7.0));
    assert_eq!(after(4), Some(8.0));
    assert_eq!(after(9), Some(8.0), "behind the end");
    assert_eq!(finder.place(Moment::After { node: 1, entries: 0 }), None);
    // What comes behind the second entry may come before the first of those that only the failure has, or behind the last.
    let mut span = |entries| finder.span(Moment::After { node: 0, entries });
    assert_eq!([span(0), span(1), span(2)], [Some((0.0, 0.0)), Some((1.0, 1.0)), Some((2.0, 6.0))]);
    assert_eq!(span(9), Some((8.0, 8.0)));
    // Entries are ten milliseconds apart, each in the middle of its own.
    let start = Log::read(text(&NORMAL).as_bytes())
        .expect("a log")
        .entry(0)
        .and_then(|it| it.time_ms)
        .expect("a time");
    let mut at = |ms: f64| finder.place(Moment::AtMs(start as f64 + ms)).expect("a clock");
    assert_eq!(at(-5.0), 0.0);
    assert_eq!(at(5.0), 1.0);
    assert_eq!(at(15.5), 4.0);
    assert_eq!(at(13.0), 3.0);
    assert_eq!(at(1e9), 8.0);
    assert_eq!(at(-1e9), 0.0);
}

/// A log of some messages in some threads.
fn logs() -> impl Strategy<Value = Vec<(u8, u8)>> {
    prop::collection::vec((0_u8..3, 0_u8..8), 1..60)
}

fn lines(of: &[(u8, u8)]) -> Tied {
    let lines = texts(of);
    tied("n", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn nameless_lines(of: &[(u8, u8)]) -> Tied {
    let lines = texts(of);
    nameless("n", &lines.iter().map(String::as_str).collect::<Vec<_>>())
}

fn texts(of: &[(u8, u8)]) -> Vec<String> {
    of.iter().map(|(thread, it)| format!("t{thread}|X@{it}|INFO|m{}", (b'a' + it) as char)).collect()
}

proptest! {
    #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

    #[test]
    fn a_run_against_itself_has_nothing_of_its_own(log in logs()) {
        let run = [lines(&log)];
        prop_assert_eq!(own(&run, &run), []);
        let timeline = timeline(&run, &run);
        prop_assert_eq!(timeline.ties(), log.len());
        let mut finder = timeline.finder();
        for entries in 0..=log.len() as u32 {
            prop_assert_eq!(finder.place(Moment::After { node: 0, entries }), Some(f64::from(entries)));
        }
    }

    #[test]
    fn partners_are_mutual_in_number_and_say_the_same(x in logs(), y in logs()) {
        let (a, b) = ([lines(&x)], [lines(&y)]);
        let comparison = Comparison::of(&a, &b);
        for (it, partner) in comparison.pairs() {
            let key = |run: &[Tied; 1], it: Position| run[0].entries()[it.entry as usize].key;
            prop_assert_eq!(key(&a, it), key(&b, partner));
        }
        prop_assert_eq!(comparison.pairs().count(), Comparison::of(&b, &a).pairs().count());
        prop_assert_eq!(comparison.own().count() + comparison.pairs().count(), a[0].entries().len());
        let (a, b) = ([nameless_lines(&x)], [nameless_lines(&y)]);
        let in_order: Vec<u32> = Comparison::as_read(&a, &b).pairs().map(|it| it.1.entry).collect();
        prop_assert!(in_order.is_sorted_by(|a, b| a < b), "{in_order:?}");
    }

    #[test]
    fn places_never_fall_and_stay_within_the_failure(a in logs(), b in logs()) {
        let (a, b) = ([lines(&a)], [lines(&b)]);
        let timeline = timeline(&a, &b);
        let mut finder = timeline.finder();
        let first = b[0].entries()[0].time_ms.expect("a time") as f64;
        let mut last = 0.0;
        for step in -10..800 {
            let place = finder.place(Moment::AtMs(first + f64::from(step) * 0.8)).expect("a clock");
            prop_assert!(place >= last && place <= timeline.length() as f64, "{place} after {last}");
            last = place;
        }
        // The order of questions is nobody's concern.
        let again = timeline.finder().place(Moment::AtMs(first + 33.3));
        prop_assert_eq!(finder.place(Moment::AtMs(first + 33.3)), again);
    }
}

/// There is no clock here: were time the square of the length, the test would not end.
#[test]
fn long_logs_of_any_kind_are_compared_in_bounded_time() {
    const LINES: usize = 20_000;
    let log = |line: &dyn Fn(usize) -> String| {
        let text: String =
            (0..LINES).map(|it| format!("2021-07-28 13:31:16,997 INFO {}\n", line(it))).collect();
        let log = Log::read(text.as_bytes()).expect("a log");
        [Tied::of("n", &log, &Statements::new(Vec::new()), Fields::of(log.layout()))]
    };
    let threads = |line: &dyn Fn(usize) -> (usize, String)| {
        let line = |it: usize| {
            let (thread, message) = line(it);
            format!("2021-07-28 13:31:16,997 INFO [t-{thread}] a.B: {message}\n")
        };
        let log = Log::read((0..LINES).map(line).collect::<String>().as_bytes()).expect("a log");
        [Tied::of("n", &log, &Statements::new(Vec::new()), Fields::of(log.layout()))]
    };
    // Letters, since numbers are masked.
    let word = |n: usize| n.to_string().bytes().map(|it| (it - b'0' + b'a') as char).collect::<String>();
    let equal = log(&|_| "again".into());
    let different = log(&word);
    let others = log(&|it| format!("other {}", word(it)));
    let shuffled = log(&|it| word(it * 7919 % LINES));
    let (each_its_own, each_another) =
        (threads(&|it| (it, word(it))), threads(&|it| (it, word(it * 7919 % LINES + LINES / 2))));
    let (hundred, other_hundred) =
        (threads(&|it| (it % 100, word(it % 977))), threads(&|it| (it % 100, word(it % 983))));
    for (a, b, at_most) in [
        (&equal, &equal, 0),
        (&different, &different, 0),
        (&different, &others, LINES),
        (&different, &shuffled, LINES - 2),
        (&equal, &different, LINES),
        (&each_its_own, &each_another, LINES),
        (&hundred, &other_hundred, LINES - 1000),
    ] {
        let comparison = Comparison::of(a, b);
        assert!(comparison.own().count() <= at_most, "{} of {at_most}", comparison.own().count());
        Timeline::of(a, b, &comparison);
    }
}

#[test]
fn a_template_without_a_text_ties_nothing_by_itself() {
    let open =
        Statement { template: Template::new([Part::Hole]), ..statement(9, "a.Open", 1, Level::Info, "") };
    let program = Statements::new(vec![open]);
    let log = Log::read(b"2021-07-28 13:31:16,997 INFO whatever\n").expect("a log");
    let tied = Tied::of("n", &log, &program, Fields::ALL);
    assert_eq!(tied.ties().none, 1);
}
