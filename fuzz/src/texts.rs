//! Any bytes as a log: entries, traces, roles, ties, and the same read as a stream.

use std::hint::black_box;

use hypocenter_logs::{
    Entry, Layout, Level, Log, LogReader, Statement, StatementId, Statements, Template, role,
};

/// The longest pattern of an appender.
const PATTERN_BYTES_MAX: usize = 200;
/// How many entries become statements that the others are tied to.
const STATEMENTS_MAX: usize = 32;

/// Where the first line begins with `%`, it is the pattern of the appender that wrote the rest.
pub fn check(bytes: &[u8]) {
    let end = bytes.iter().take(PATTERN_BYTES_MAX).position(|it| *it == b'\n');
    let given = end.filter(|_| bytes.starts_with(b"%")).and_then(|end| {
        let pattern = std::str::from_utf8(&bytes[..end]).ok()?;
        Some((Layout::compile(pattern), &bytes[end + 1..]))
    });
    let (layout, bytes) = match given {
        Some((Ok(layout), rest)) => (Some(layout), rest),
        Some((Err(error), _)) => {
            assert!(!error.to_string().is_empty());
            return;
        }
        None => (None, bytes),
    };
    let log = match &layout {
        Some(layout) => Log::read_with(bytes, layout),
        None => Log::read(bytes),
    };
    let log = match log {
        Ok(log) => log,
        Err(error) => {
            assert!(!error.to_string().is_empty());
            return;
        }
    };
    let mut lines = log.header_lines() + log.footer_lines();
    for entry in log.entries() {
        assert!(entry.lines > 0, "an entry without a line");
        lines += entry.lines;
        black_box((entry.trace().exceptions.len(), entry.class(), entry.report(), entry.thread.map(role)));
    }
    assert_eq!(lines, log.lines(), "a line belongs nowhere, or twice");
    black_box((log.header().len(), log.footer(), log.warnings().len()));
    tie(&log);
    stream(&log, bytes);
}

/// What the entries say becomes statements; each entry must then be tied to its own or to one that fits as well.
fn tie(log: &Log) {
    let statement = |(n, entry): (usize, Entry<'_>)| Statement {
        id: StatementId(n as u32),
        class: entry.class().unwrap_or("a.B").to_owned(),
        method: entry.method.unwrap_or("m").to_owned(),
        line: entry.source_line,
        level: [None, entry.level, Some(Level::Info)][n % 3],
        template: if n % 2 == 0 {
            Template::parse(entry.message)
        } else {
            Template::parse(entry.first_line())
        },
        has_exception: !entry.rest.is_empty(),
    };
    let statements = Statements::new(log.entries().take(STATEMENTS_MAX).enumerate().map(statement).collect());
    for entry in log.entries().take(STATEMENTS_MAX) {
        let ids = statements.tie(&entry).ids().to_vec();
        assert!(ids.is_sorted() && ids.iter().all(|it| (it.0 as usize) < statements.len()));
    }
}

/// A reader that gets the same bytes finds the same entries.
fn stream(log: &Log, bytes: &[u8]) {
    let mut reader = LogReader::with_layout(bytes, log.layout()).expect("it was read before");
    for entry in log.entries() {
        let read = reader.next().expect("it was read before").expect("an entry more");
        // What a test runner wrote behind the last entry is the log's footer, and to a reader part of the entry.
        assert_eq!((read.line, read.message, read.thread), (entry.line, entry.message, entry.thread));
        assert_eq!((read.time_ms, read.level, read.logger), (entry.time_ms, entry.level, entry.logger));
    }
    assert!(reader.next().expect("it was read before").is_none(), "a stream has more entries than the log");
}
