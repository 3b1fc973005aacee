//! The layouts that are tried when none is given.

use std::sync::LazyLock;

use crate::error::{LogError, first_line};
use crate::layout::{Found, Layout, line_end};
use crate::runner;

/// Patterns that systems ship with or that every tutorial shows. Among those that fit equally many lines the one that says
/// most is taken, then the one that comes first.
const PATTERNS: [&str; 48] = [
    // ZooKeeper.
    "%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n",
    "%d{ISO8601} - %-5p [%t:%C{1}@%L] - %m%n",
    "%d{ISO8601} [myid:%X{myid}] - %-5p [%t] - %m%n",
    "%d{ISO8601} - %-5p [%t] - %m%n",
    // Hadoop, HBase and their tests.
    "%d{ISO8601} %p [%t] %c: %m%n",
    "%d{ISO8601} %-5p [%t] %C{2}(%L): %m%n",
    "%d{ISO8601} [%t] %-5p %c{2} (%F:%M(%L)) - %m%n",
    "%d{ISO8601} %-5p [%t] %c{2} (%F:%M(%L)) - %m%n",
    "%d{ISO8601} %-5p %c{2} (%F:%M(%L)) - %m%n",
    "%d{ISO8601} %p %c: %m%n",
    "%d{yyMMdd HHmmss} %t %p %c: %m%n",
    // Spark.
    "%d{yy/MM/dd HH:mm:ss} %p %c: %m%n",
    "%d{yy/MM/dd HH:mm:ss} %p [%t] %c: %m%n",
    // Kafka and its tests.
    "[%d] %p %m (%c)%n",
    "[%d] %p %m (%c:%L)%n",
    // Cassandra, new and old.
    "%-5level [%thread] %date{ISO8601} %F:%L - %msg%n",
    "%5p [%t] %d{ISO8601} %F (line %L) %m%n",
    // Logback and log4j 2 out of the box, with and without the day.
    "%d{HH:mm:ss.SSS} [%thread] %-5level %logger{36} - %msg%n",
    "%d{HH:mm:ss.SSS} [%thread] %level %logger{36} -- %msg%n",
    "%d{HH:mm:ss.SSS} [%thread] %-5level %logger{36}:%L - %msg%n",
    "%d{HH:mm:ss.SSS} %-5level [%thread] %logger{36} - %msg%n",
    "%d{ISO8601} [%t] %-5p %c - %m%n",
    "%d{ISO8601} [%t] %-5p %c:%L - %m%n",
    "%d{ISO8601} [%t] %-5p %c: %m%n",
    "%d{ISO8601} %-5p [%t] %c - %m%n",
    "%d{ISO8601} %-5p [%t] %c:%L - %m%n",
    "%d{ISO8601} %-5p [%c] (%t) %m%n",
    "%d{ISO8601} [%t] %-5p [%c] - %m%n",
    // Flink.
    "%d{ISO8601} %-5p %c %x - %m%n",
    "%d{ISO8601} %-5p %c:%L - %m%n",
    // Spring Boot.
    "%d{ISO8601} %5p %pid --- [%t] %c : %m%n",
    // Elasticsearch, Ignite.
    "[%d{ISO8601}][%-5p][%-25c{1.}] [%X{node}] %m%n",
    "[%d{ISO8601}][%-5p][%t][%c{1}] %m%n",
    // Solr, Storm, ActiveMQ.
    "%d{ISO8601} %-5p (%t) [%X] %c %m%n",
    "%d{ISO8601} %c{1.} %t [%p] %m%n",
    "%d{ISO8601} | %-5p | %m | %c | %t%n",
    // `java.util.logging`.
    "%d{MMM dd, yyyy h:mm:ss a} %C %M%n%p: %m%n",
    "%d{MMM dd, yyyy h:mm:ss a} %c%n%p: %m%n",
    // Log4j 1 out of the box, and SLF4J's simple logger.
    "%r [%t] %p %c %x - %m%n",
    "[%t] %p %c - %m%n",
    // Little, but better than nothing.
    "%d{ISO8601} [%t] %-5p %m%n",
    "%d{ISO8601} %-5p %m%n",
    "[%d{ISO8601}] %-5p %m%n",
    "%d{HH:mm:ss.SSS} %-5p %m%n",
    // Without a time, as collectors of logs leave them that write their own.
    "%-5p [%t] %c - %m%n",
    "%-5p [%t] %c: %m%n",
    "%-5p %c - %m%n",
    "%-5p %c: %m%n",
];

static KNOWN: LazyLock<Vec<Layout>> = LazyLock::new(|| PATTERNS.map(Layout::known).into());

/// How many lines are looked at before a layout is chosen. While none fits, more are.
const SAMPLE_LINES: usize = 1000;
/// After how many lines the layout is known for good, if any of them fits one.
pub(crate) const SETTLED_LINES: usize = SAMPLE_LINES + 1;
/// A layout that says more is taken if it fits this share of the lines that the best fits: a few lines of another
/// appender do not decide.
const SHARE_PERCENT: usize = 90;

/// The layout of a text.
pub(crate) fn detect(text: &str) -> Result<Layout, LogError> {
    look(text).0
}

/// The layout of a text, given its beginning in whole lines; nothing if more of it might give another.
pub(crate) fn detect_begun(begin: &str) -> Option<Result<Layout, LogError>> {
    // The last line that is looked at may be the first of an entry that goes on.
    let breaks = KNOWN.iter().map(Layout::breaks).max().unwrap_or(0);
    let (layout, looked_at) = look(begin);
    let behind = begin.as_bytes().get(looked_at?..)?;
    (memchr::memchr_iter(b'\n', behind).take(breaks).count() == breaks).then_some(layout)
}

/// The layout of a text, and where the lines end that were looked at, if there were enough.
fn look(text: &str) -> (Result<Layout, LogError>, Option<usize>) {
    let mut counts = vec![0_usize; KNOWN.len()];
    let mut tails = vec![0_usize; KNOWN.len()];
    let mut lines = 0;
    let mut at = 0;
    let mut enough_at = None;
    while at < text.len() {
        let is_blank = text.as_bytes()[at] == b'\n';
        for (n, layout) in KNOWN.iter().enumerate().filter(|_| !is_blank) {
            let (starts, has_tail) = starts(layout, text, at);
            counts[n] += usize::from(starts);
            tails[n] += usize::from(has_tail);
        }
        lines += 1;
        at = line_end(text.as_bytes(), at) + 1;
        if lines >= SAMPLE_LINES && counts.iter().any(|it| *it > 0) {
            enough_at = Some(at);
            break;
        }
    }
    // A message of several lines has what stands behind it further on, but few messages are such.
    for (count, tails) in counts.iter_mut().zip(tails) {
        if tails * 2 < *count {
            *count = 0;
        }
    }
    let most = counts.iter().copied().max().unwrap_or(0);
    let enough = (most * SHARE_PERCENT).div_ceil(100).max(1);
    let fitting = KNOWN.iter().zip(&counts).filter(|(_, count)| **count >= enough).map(|(layout, _)| layout);
    // The first of those that say most: `max_by_key` takes the last of equals.
    let layout = fitting.rev().max_by_key(|it| it.fields()).cloned();
    let layout = layout.ok_or_else(|| match runner::of_maven(text) {
        Some((of_maven, lines)) => LogError::OfMaven { of_maven, lines },
        None => LogError::NoLayout { tried: KNOWN.len(), lines, first: first_line(text) },
    });
    (layout, enough_at)
}

/// Whether the line at `at` starts an entry, and whether it has the end that the layout asks for.
fn starts(layout: &Layout, text: &str, at: usize) -> (bool, bool) {
    let mut found = Found::default();
    let message = runner::past_progress(text, at, |at| layout.head(text, at, &mut found));
    let Some(message) = message else { return (false, false) };
    let end = line_end(text.as_bytes(), message);
    (true, !layout.has_tail() || layout.tail(text, message, end, &mut found).is_some())
}
