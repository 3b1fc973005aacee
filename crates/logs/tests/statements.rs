//! From entries to log statements.

use hypocenter_logs::{
    Entry, Fields, How, Level, Log, Memo, Statement, StatementId, Statements, Template, Tie, Tied,
};

/// A row of the program: class, line, level, template. Its number is its place. A template that ends in `!` logs an
/// exception too.
type Row = (&'static str, u32, Level, &'static str);

const PROGRAM: &[Row] = &[
    /* 0 */ ("org.z.quorum.Leader", 10, Level::Info, "LEADING - LEADER ELECTION TOOK - {} {}"),
    /* 1 */ ("org.z.quorum.Leader", 20, Level::Warn, "Unexpected exception!"),
    /* 2 */ ("org.z.quorum.Follower", 20, Level::Warn, "Unexpected exception!"),
    /* 3 */ ("org.z.quorum.Leader$Acceptor", 30, Level::Error, "Exception while {}"),
    /* 4 */ ("org.z.quorum.Leader$Acceptor", 40, Level::Error, "Exception while accepting {}!"),
    /* 5 */ ("org.other.Leader", 10, Level::Info, "LEADING somewhere else"),
    /* 6 */ ("org.z.quorum.Leader", 50, Level::Info, "{}"),
    /* 7 */ ("org.z.quorum.Leader", 60, Level::Debug, "{}"),
    /* 8 */ ("org.z.server.Db", 70, Level::Info, "Values:\n{}\nend"),
    /* 9 */ ("org.z.server.Db", 71, Level::Fatal, "cannot go on: {}"),
    /* 10 */ ("org.z.server.Base", 80, Level::Info, "Session {} closed"),
    /* 11 */ ("org.z.server.Db", 90, Level::Info, "{}: {}"),
    /* 12 */ ("org.z.server.Db", 91, Level::Info, "twice"),
    /* 13 */ ("org.z.server.Db", 92, Level::Info, "twice"),
];

fn program() -> Statements {
    let statement = |(n, row): (usize, &Row)| Statement {
        id: StatementId(n as u32),
        class: row.0.into(),
        method: "run".into(),
        line: Some(row.1),
        level: Some(row.2),
        template: Template::parse(row.3.trim_end_matches('!')),
        has_exception: row.3.ends_with('!'),
    };
    Statements::new(PROGRAM.iter().enumerate().map(statement).collect())
}

fn exact(id: u32, how: How) -> Tie {
    Tie::Exact(StatementId(id), how)
}

fn several(ids: &[u32], how: How) -> Tie {
    Tie::Several(ids.iter().copied().map(StatementId).collect(), how)
}

#[test]
fn by_class_and_line() {
    let program = program();
    for (logger, line, message, expected) in [
        ("Leader", 10, "LEADING - LEADER ELECTION TOOK - 3 ms", exact(0, How::Line)),
        ("Leader", 10, "LEADING somewhere else", exact(5, How::Line)),
        ("org.z.quorum.Leader", 20, "Unexpected exception", exact(1, How::Line)),
        ("o.z.q.Follower", 20, "Unexpected exception", exact(2, How::Line)),
        ("Leader$Acceptor", 30, "Exception while accepting x", exact(3, How::Line)),
        ("Leader", 50, "anything at all", exact(6, How::Line)),
        // The line is another's in this build, but the text says which it is.
        ("Leader$Acceptor", 30, "Exception in vain", exact(3, How::Line)),
        ("Leader", 20, "LEADING - LEADER ELECTION TOOK - 3 ms", exact(0, How::Text)),
        // No statement on this line: by text.
        ("Leader", 11, "LEADING - LEADER ELECTION TOOK - 3 ms", exact(0, How::Text)),
        ("Nobody", 10, "no such text", Tie::None),
    ] {
        let entry = Entry { logger: Some(logger), source_line: Some(line), message, ..Entry::default() };
        assert_eq!(program.tie(&entry), expected, "{logger}@{line} {message}");
    }
    let entry = Entry { file: Some("Leader.java"), source_line: Some(40), message: "x", ..Entry::default() };
    assert_eq!(program.tie(&entry), exact(4, How::Line), "a file has the inner classes, too");
}

#[test]
fn by_text() {
    let program = program();
    let trace = "java.io.IOException\n\tat a.B.c(B.java:1)\n";
    for (logger, level, message, rest, expected) in [
        // Most text first.
        (None, None, "Exception while accepting x", "", exact(4, How::Text)),
        (None, None, "Exception while closing x", "", exact(3, How::Text)),
        // Class, or else a tie.
        (None, None, "Unexpected exception", "", several(&[1, 2], How::Text)),
        (Some("Follower"), None, "Unexpected exception", "", exact(2, How::Text)),
        (Some("x.Unrelated"), None, "Unexpected exception", trace, several(&[1, 2], How::Text)),
        (Some("org.z.server.Db"), None, "twice", "", several(&[12, 13], How::Text)),
        // Inner classes use the logger of the class around them.
        (Some("org.z.quorum.Leader"), Some(Level::Error), "Exception while x", "", exact(3, How::Text)),
        // A level that does not fit; fatal may be written as an error.
        (None, Some(Level::Info), "Unexpected exception", "", Tie::None),
        (None, Some(Level::Error), "cannot go on: x", "", exact(9, How::Text)),
        // Several lines, and lines of others behind the first.
        (None, None, "Values:\na\nb\nend", "", exact(8, How::Text)),
        (None, None, "Session 1 closed\nsomebody printed this", "", exact(10, How::Text)),
        // The class of the logger is a subclass; a vague template of it does not take the message.
        (Some("Db"), Some(Level::Info), "Session 1 closed", "", exact(10, How::Text)),
        (Some("Db"), Some(Level::Info), "Session: 1 closed", "", exact(11, How::Text)),
        // Nothing but a hole: only in its class, at its level, when nothing else fits.
        (Some("Leader"), Some(Level::Debug), "who knows", "", exact(7, How::Text)),
        (Some("Leader"), None, "who knows", "", several(&[6, 7], How::Text)),
        (Some("Follower"), None, "who knows", "", Tie::None),
        (None, None, "who knows", "", Tie::None),
        (None, None, "", "", Tie::None),
    ] {
        let entry = Entry { logger, level, message, rest, ..Entry::default() };
        assert_eq!(program.tie(&entry), expected, "{logger:?} {level:?} {message}");
    }
}

#[test]
fn by_a_part_of_a_message() {
    let program = program();
    for (part, expected) in [
        // Words of their own, however few.
        ("wice", several(&[12, 13], How::Text)),
        ("TOOK", exact(0, How::Text)),
        ("wi", Tie::None),
        // With what was put in, from anywhere to anywhere.
        ("Session 0x1 clos", exact(10, How::Text)),
        ("ession 0x1000023a4f closed", exact(10, How::Text)),
        ("0x1 closed", exact(10, How::Text)),
        ("TOOK - 3", exact(0, How::Text)),
        ("alues:\n1\n2\nen", exact(8, How::Text)),
        // As the program has it.
        ("Session {} cl", exact(10, How::Text)),
        // Those that say most.
        ("Exception whi", several(&[3, 4], How::Text)),
        ("while accepting 1", exact(4, How::Text)),
        // More than half of it, or too much of too little, is put in.
        ("ession 0x1000023a4f00001 closed", Tie::None),
        ("on 1 c", Tie::None),
        // Behind the end of a template comes nothing.
        ("Session 1 closed again", Tie::None),
    ] {
        assert_eq!(program.saying(part), expected, "{part:?}");
    }
    assert_eq!(program.saying(&format!("Session {} closed", "x".repeat(2000))), Tie::None);
}

#[test]
fn an_exception_in_the_entry_tells_statements_apart() {
    let statement = |id, has_exception| Statement {
        id: StatementId(id),
        class: "a.B".into(),
        method: "run".into(),
        line: None,
        level: None,
        template: Template::parse("Failed to close"),
        has_exception,
    };
    let program = Statements::new(vec![statement(1, false), statement(2, true)]);
    let log = b"10:00:00.123 [main] INFO  a.B - Failed to close\n\
        10:00:00.123 [main] INFO  a.B - Failed to close\njava.io.IOException\n\tat a.B.c(B.java:1)\n";
    let log = Log::read(log).unwrap();
    let ties: Vec<Tie> = log.entries().map(|it| program.tie(&it)).collect();
    assert_eq!(ties, [exact(1, How::Text), exact(2, How::Text)]);
}

#[test]
fn a_program_that_prints_its_log_itself_has_all_of_the_line_in_its_statements() {
    let statement = |(id, (class, level, template)): (u32, (&str, Option<Level>, &str))| Statement {
        id: StatementId(id),
        class: class.into(),
        method: "run".into(),
        line: None,
        level,
        template: Template::parse(template),
        has_exception: false,
    };
    let rows = [
        ("a.Intake", None, "{} WARN [{}] {}: closed: {}"),
        ("a.Intake", None, "{} INFO [{}] {}: closed: {}"),
        ("a.Shipper", None, "{} WARN [{}] {}: {}"),
        // Of a framework, which puts what is before the message there itself.
        ("a.Other", Some(Level::Info), "{} [intake] {}"),
        ("a.Main", None, "usage: a.Main {}"),
    ];
    let program = Statements::new((0..).zip(rows).map(statement).collect());
    let log = "2026-11-17 12:54:43.814 WARN [intake] Intake: closed: No space left on device\n\
        2026-11-17 12:54:43.815 INFO [intake] Intake: closed: at the end\nand a second line\n\
        2026-11-17 12:54:43.816 WARN [shipper] Shipper: whatever it was told\n\
        2026-11-17 12:54:43.817 INFO [intake] Intake: opened\n";
    let log = Log::read(log.as_bytes()).unwrap();
    let ties: Vec<Tie> = log.entries().map(|it| program.tie(&it)).collect();
    assert_eq!(ties, [exact(0, How::Text), exact(1, How::Text), exact(2, How::Text), Tie::None]);
    let printed: Vec<&str> = log.entries().map(|it| it.printed).collect();
    assert!(printed[0].starts_with("2026-11-17 12:54:43.814 WARN") && printed[0].ends_with("on device"));
    assert!(printed[1].ends_with("at the end\nand a second line"), "{printed:?}");
    // What was tied before says nothing of a line with another beginning.
    let mut memo = Memo::default();
    for _ in 0..2 {
        let mut tied = Tied::empty("n", Fields::of(log.layout()));
        log.entries().for_each(|it| tied.push_with(&it, &program, &mut memo));
        let found: Vec<&[StatementId]> = tied.entries().iter().map(|it| tied.statements(it.key)).collect();
        assert_eq!(found, ties.iter().map(Tie::ids).collect::<Vec<_>>());
    }
}

#[test]
fn the_stack_of_an_exception_tells_who_has_caught_it() {
    let program = program();
    let tie = |message: &str, rest: &str| program.tie(&Entry { message, rest, ..Entry::default() });
    let stack = |frames: &[&str]| {
        let frames = frames.iter().map(|it| format!("\tat org.z.quorum.{it}.run({it}.java:9)\n"));
        format!("java.io.IOException: x\n{}", frames.collect::<String>())
    };
    let unexpected = "Unexpected exception";
    assert_eq!(tie(unexpected, &stack(&["Socket", "Follower"])), exact(2, How::Text));
    assert_eq!(tie(unexpected, &stack(&["Socket", "Leader", "Main"])), exact(1, How::Text));
    assert_eq!(
        tie(unexpected, &stack(&["Follower", "Leader"])),
        exact(2, How::Text),
        "the nearest to the top"
    );
    assert_eq!(tie(unexpected, &stack(&["Socket"])), several(&[1, 2], How::Text));
    // What a statement says counts more than where it is.
    assert_eq!(tie("Exception while accepting x", &stack(&["Leader"])), exact(4, How::Text));
    // White space that the message has lost says nothing.
    let statement = |id: u32, class: &str, template: &str, has_exception: bool| Statement {
        id: StatementId(id),
        class: class.into(),
        method: "run".into(),
        line: None,
        level: None,
        template: Template::parse(template),
        has_exception,
    };
    let program = Statements::new(vec![
        statement(0, "org.z.Server", "shutdown called {}", false),
        statement(1, "org.z.quorum.Follower", "shutdown called", true),
    ]);
    let rest = stack(&["Follower"]);
    let entry = Entry { message: "shutdown called", rest: &rest, ..Entry::default() };
    assert_eq!(program.tie(&entry), exact(1, How::Text));
}

#[test]
fn a_program_without_statements_ties_nothing() {
    let program = Statements::new(Vec::new());
    assert!(program.is_empty());
    let entry = Entry { logger: Some("a.B"), source_line: Some(1), message: "x", ..Entry::default() };
    assert_eq!(program.tie(&entry), Tie::None);
    assert_eq!(program.tie(&entry).ids(), []);
}
