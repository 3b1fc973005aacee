//! Logs that name no threads, side by side: each side in its own order.

mod support;

use hypocenter_engine::{Evidence, LogBytes};
use hypocenter_reproduce::{Case, Interest, Row};
use memmap2::MmapMut;

/// As `java.util.logging` writes it: on two lines, and whoever wrote it is not told.
fn log(messages: &[&str]) -> String {
    let entry = |(at, it): (usize, &&str)| {
        let level = if it.starts_with("cannot") { "WARNING" } else { "INFO" };
        format!("Jan 01, 2026 10:00:{at:02} AM store.Store save\n{level}: {it}\n")
    };
    messages.iter().enumerate().map(entry).collect()
}

fn evidence(messages: &[&str]) -> Evidence {
    let mapped = |bytes: &[u8]| {
        let mut map = MmapMut::map_anon(bytes.len()).expect("there is memory");
        map.copy_from_slice(bytes);
        map.make_read_only().expect("it can be read")
    };
    let bytes = mapped(log(messages).as_bytes());
    let log = LogBytes { process: "n".to_owned(), incarnation: 1, path: "a.log".to_owned(), bytes };
    Evidence::new(mapped(&[0]), mapped(&[0]), vec![log], Vec::new())
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
    for row in beside.rows {
        let Row::Entries { failure, trial, is } = row else { panic!("{row:?}") };
        for (side, it) in lines.iter_mut().zip([&failure, &trial]) {
            side.extend(it.as_ref().map(|it| it.line));
        }
        let message =
            |it: Option<Box<hypocenter_reproduce::Line>>| it.map_or_else(String::new, |it| it.message);
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
