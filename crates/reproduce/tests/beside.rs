//! Logs that name no threads: side by side each in its own order, and beside logs that do.

mod support;

use hypocenter_engine::{Evidence, LogBytes};
use hypocenter_reproduce::Case;
use hypocenter_results::runs::{Entries, Interest, Line, Row};
use memmap2::MmapMut;

/// As `java.util.logging` writes it: on two lines, and whoever wrote it is not told.
fn log(messages: &[&str]) -> String {
    let entry = |(at, it): (usize, &&str)| {
        let level = if it.starts_with("cannot") { "WARNING" } else { "INFO" };
        format!("Jan 01, 2026 10:00:{at:02} AM store.Store save\n{level}: {it}\n")
    };
    messages.iter().enumerate().map(entry).collect()
}

/// A log that names threads, each line with the thread that wrote it.
fn log_of_threads(lines: &[(&str, &str)]) -> String {
    let entry = |(at, (thread, it)): (usize, &(&str, &str))| {
        format!("2026-01-01 10:00:{at:02},000 INFO  [{thread}] store.Store - {it}\n")
    };
    lines.iter().enumerate().map(entry).collect()
}

fn evidence(messages: &[&str]) -> Evidence {
    evidence_of(&[("n", "n.stdout.log", log(messages))])
}

/// The logs of some processes, each with its path.
fn evidence_of(logs: &[(&str, &str, String)]) -> Evidence {
    let mapped = |bytes: &[u8]| {
        let mut map = MmapMut::map_anon(bytes.len()).expect("there is memory");
        map.copy_from_slice(bytes);
        map.make_read_only().expect("it can be read")
    };
    let log = |(process, path, text): &(&str, &str, String)| LogBytes {
        process: (*process).to_owned(),
        incarnation: 1,
        path: (*path).to_owned(),
        bytes: mapped(text.as_bytes()),
    };
    Evidence::new(mapped(&[0]), mapped(&[0]), logs.iter().map(log).collect(), Vec::new())
}

/// For each row what the failure says and what the trial says, and why that is of interest. Each side is in its order.
#[track_caller]
fn rows(case: &Case, trial: &[&str]) -> Vec<(String, String, Interest)> {
    let missing: Vec<(u32, u32)> = (0..)
        .zip(case.keys())
        .filter(|(_, it)| it.message != "saved" && it.message != "loaded")
        .map(|(key, _)| (key, 0))
        .collect();
    let beside = case.beside_at_length(&evidence(trial), &missing).expect("there is a log");
    let mut lines = [Vec::new(), Vec::new()];
    let mut found = Vec::new();
    for row in beside.beside.rows {
        let Row::Entries(entries) = row else { panic!("{row:?}") };
        let Entries { failure, trial, is } = *entries;
        for (side, it) in lines.iter_mut().zip([&failure, &trial]) {
            side.extend(it.as_ref().map(|it| it.line));
        }
        let message = |it: Option<Line>| it.map_or_else(String::new, |it| it.message);
        found.push((message(failure), message(trial), is));
    }
    for side in lines {
        assert!(side.is_sorted(), "{side:?}: {found:#?}");
    }
    found
}

#[test]
fn without_threads_both_sides_are_in_their_own_order() {
    const FAILURE: [&str; 6] = ["loaded", "cannot save", "saved", "saved", "saved", "edits are lost"];
    let case = support::case_of("store", "Store", &log(&FAILURE), "edits are lost");
    let check = |trial: &[&str], expected: &[(&str, &str, Interest)]| {
        let found = rows(&case, trial);
        let found: Vec<_> = found.iter().map(|it| (&*it.0, &*it.1, it.2)).collect();
        assert_eq!(found, expected, "{trial:?}");
    };
    use Interest::{Around, Observable, Symptom};
    let same = |it: &'static str, is| (it, it, is);
    let saved = same("saved", Around);
    check(
        &FAILURE,
        &[
            same("loaded", Around),
            same("cannot save", Observable),
            saved,
            saved,
            saved,
            same("edits are lost", Symptom),
        ],
    );
    // What is paired is what stands in the same order; what both have in another is of the same interest on both sides.
    check(
        &["loaded", "saved", "saved", "saved", "cannot save", "edits are lost"],
        &[
            same("loaded", Around),
            ("cannot save", "", Observable),
            saved,
            saved,
            saved,
            ("", "cannot save", Observable),
            same("edits are lost", Symptom),
        ],
    );
    check(
        &["edits are lost", "loaded", "cannot save", "saved", "saved", "saved", "saved"],
        &[
            ("", "edits are lost", Symptom),
            same("loaded", Around),
            same("cannot save", Observable),
            saved,
            saved,
            saved,
            ("", "saved", Around),
            ("edits are lost", "", Symptom),
        ],
    );
    // Whatever a trial logs, and however often.
    let mut seed = 7_u64;
    for _ in 0..500 {
        seed = seed.wrapping_mul(6_364_136_223_846_793_005).wrapping_add(1);
        let message = |at: u64| {
            ["loaded", "cannot save", "saved", "edits are lost"][(seed >> (9 + 3 * at)) as usize % 4]
        };
        let trial: Vec<&str> = (0..1 + (seed >> 60)).map(message).collect();
        rows(&case, &trial);
    }
}

#[test]
fn a_log_without_threads_leaves_the_lanes_of_the_others_alone() {
    const LINES: [(&str, &str); 4] =
        [("main", "loaded"), ("saver-1", "saved"), ("saver-2", "saved"), ("main", "edits are lost")];
    let failure = log_of_threads(&LINES);
    let case = support::case_of("store", "Store", &failure, "edits are lost");
    // `java.util.logging` with its default format names no thread.
    let client = || log(&["cannot reach the store"]);
    let check = |logs: &[(&str, &str, String)], expected: &[(&str, &str)]| {
        let lanes = case.lanes(None, Some(&evidence_of(logs)), &[], &[]).expect("there are times");
        let lanes: Vec<(&str, &str)> =
            lanes.lanes.iter().map(|it| (&*it.node, it.thread.as_deref().unwrap_or("all"))).collect();
        assert_eq!(lanes, expected);
        let beside = case.beside_at_length(&evidence_of(logs), &[]).expect("there is a log");
        let is_pair =
            |it: &&Row| matches!(it, Row::Entries(it) if it.failure.is_some() && it.trial.is_some());
        let rows = &beside.beside.rows;
        assert_eq!(rows.iter().filter(is_pair).count(), LINES.len(), "{rows:#?}");
    };
    let own = ("n", "n.stdout.log", failure.clone());
    check(
        &[("client", "client.stderr.log", client()), own.clone()],
        &[("client", "Store"), ("n", "main"), ("n", "saver-#")],
    );
    // The same of two files of one process.
    check(&[own, ("n", "n.stderr.log", client())], &[("", "Store"), ("", "main"), ("", "saver-#")]);
    // And of a failure whose one log is that of all.
    check(
        &[("client", "client.stderr.log", client()), ("m", "m.stdout.log", failure.clone())],
        &[("client", "Store"), ("m", "main"), ("m", "saver-#"), ("n", "main"), ("n", "saver-#")],
    );
}
