//! Entries of a small Java program and the statements that they are tied to.

use std::path::{Path, PathBuf};
use std::process::Command;
use std::sync::LazyLock;

use hypocenter_logs::{Fields, Log, StatementId, Tie, Tied};
use hypocenter_program::{ClassPath, Program, Scope, StateOptions};
use hypocenter_ties::{copies, index, ranking};

/// Lines of `Ledger.java` that log.
const OPENED_LINE: u16 = 15;
const DONE_AFTER_OPENING_LINE: u16 = 17;
const DONE_AFTER_CLOSING_LINE: u16 = 22;

static LEDGER: LazyLock<Program> = LazyLock::new(|| {
    let classes = Path::new(env!("CARGO_TARGET_TMPDIR")).join("ledger");
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("tests/java/ledger/Ledger.java");
    let mut javac = Command::new(java_home().join("bin/javac"));
    assert!(javac.arg("-g").arg("-d").arg(&classes).arg(source).status().expect("javac runs").success());
    let class_path = ClassPath::from_entries(&[".".to_owned()], &classes).with_jdk(&java_home());
    let scope = Scope::of(&["ledger".to_owned()]);
    Program::of(&class_path.open(17), &scope, &StateOptions::default(), |_| {})
});

fn java_home() -> PathBuf {
    if let Some(home) = std::env::var_os("JAVA_HOME").filter(|home| !home.is_empty()) {
        return home.into();
    }
    let path = std::env::var_os("PATH").expect("a PATH");
    let java = std::env::split_paths(&path).map(|it| it.join("java")).find(|it| it.is_file());
    let java = java.expect("these tests need a JDK: set JAVA_HOME, or put java on the PATH");
    java.canonicalize().expect("java exists").ancestors().nth(2).expect("it is in bin").to_owned()
}

/// A log of one thread.
fn log(messages: &[&str]) -> Log {
    let entry =
        |(at, it): (usize, &&str)| format!("2026-01-01 10:00:{at:02},000 INFO  [main] ledger.Ledger: {it}\n");
    let text: String = messages.iter().enumerate().map(entry).collect();
    Log::read(text.as_bytes()).expect("a log")
}

fn line(id: StatementId) -> u16 {
    LEDGER.statements.statements()[id.0 as usize].line
}

#[test]
fn copies_of_a_statement_in_a_finally_are_one() {
    let tie = index(&LEDGER).tie(&log(&["opened a"]).entry(0).expect("an entry"));
    let Tie::Exact(id, _) = tie else { panic!("{tie:?}") };
    let lines: Vec<u16> = copies(&LEDGER, id.0).map(|it| it.line).collect();
    assert_eq!(lines, [OPENED_LINE; 2], "javac emits it for both ways out");
}

#[test]
fn of_statements_with_one_text_the_first_is_that_which_follows_the_entry_before() {
    let index = index(&LEDGER);
    let first = |before: &str| {
        let log = log(&[before, "done"]);
        let tied = Tied::of("n", &log, &index, Fields::of(log.layout()));
        let statements = ranking(&LEDGER, &tied).statements(1).to_vec();
        assert_eq!(statements.len(), 2, "the text alone does not tell them apart");
        line(statements[0])
    };
    assert_eq!(first("opened a"), DONE_AFTER_OPENING_LINE);
    assert_eq!(first("closing a"), DONE_AFTER_CLOSING_LINE);
}
