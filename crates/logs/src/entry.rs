//! An entry of a log: one message, with what the layout says about it.

use crate::level::Level;
use crate::runner;
use crate::trace::Trace;

/// What one call of a logger wrote. Everything is as written; what the layout does not have is absent.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub struct Entry<'t> {
    /// The line on which it begins, counted from one.
    pub line: u32,
    /// How many lines it has, stack traces included.
    pub lines: u32,
    /// Milliseconds since the epoch. A clock without a zone is read as UTC; one without a day counts from the midnight before the
    /// first entry.
    pub time_ms: Option<i64>,
    /// How serious it is.
    pub level: Option<Level>,
    /// The name of the thread.
    pub thread: Option<&'t str>,
    /// The logger or the class, in full, shortened, or without its package; inner classes with a `$`.
    pub logger: Option<&'t str>,
    /// The source file of the statement.
    pub file: Option<&'t str>,
    /// The source line of the statement.
    pub source_line: Option<u32>,
    /// The method of the statement.
    pub method: Option<&'t str>,
    /// The diagnostic context, where it is not empty.
    pub context: Option<&'t str>,
    /// The message, all its lines.
    pub message: &'t str,
    /// From where it begins to the end of the message: what a program prints that writes its log without a framework.
    pub printed: &'t str,
    /// What follows the message: stack traces, the report of a test runner, and lines that others wrote in between.
    pub rest: &'t str,
}

impl<'t> Entry<'t> {
    /// The first line of the message.
    pub fn first_line(&self) -> &'t str {
        self.message.split('\n').next().unwrap_or_default()
    }

    /// The exceptions that were logged with the message. Those of a test runner's report are not.
    pub fn trace(&self) -> Trace<'t> {
        if self.rest.is_empty() {
            return Trace::default();
        }
        let last_line = self.message.rsplit('\n').next().unwrap_or_default();
        Trace::parse_behind(last_line, self.thrown())
    }

    /// The text that has the stack traces.
    pub(crate) fn thrown(&self) -> &'t str {
        &self.rest[..self.report_at()]
    }

    /// What a test runner wrote into the log behind this entry. What it wrote behind the last is the footer of the log.
    pub fn report(&self) -> Option<&'t str> {
        Some(&self.rest[self.report_at()..]).filter(|it| !it.is_empty())
    }

    fn report_at(&self) -> usize {
        let mut at = 0;
        for line in self.rest.split_inclusive('\n') {
            if runner::is_report(line.trim_end_matches('\n')) {
                return at;
            }
            at += line.len();
        }
        at
    }

    /// The class of the statement as far as the entry says it: the logger, or else the name of the source file.
    pub fn class(&self) -> Option<&'t str> {
        let of_file = || self.file.map(|it| it.split_once('.').map_or(it, |(stem, _)| stem));
        self.logger.or_else(of_file)
    }
}
