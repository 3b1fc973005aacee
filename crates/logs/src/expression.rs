//! A layout given as a regular expression with named groups, for logs that no pattern describes.

use regex::{Regex, RegexBuilder};

use crate::date::DateFormat;
use crate::error::LogError;
use crate::layout::{Found, Span};
use crate::level::Level;
use crate::tied::Fields;

/// The groups that an expression may name. `class` and `logger` are the same thing.
const GROUPS: [&str; 10] =
    ["time", "level", "thread", "logger", "class", "file", "line", "method", "context", "message"];
/// How a group `time` may be written. The first that fits all of its text is taken.
const TIMES: [&str; 13] = [
    "ISO8601",
    "yyMMdd HHmmss",
    "yy/MM/dd HH:mm:ss",
    "dd/MMM/yyyy:HH:mm:ss Z",
    "dd MMM yyyy HH:mm:ss,SSS",
    "MMM dd, yyyy h:mm:ss a",
    "EEE MMM dd HH:mm:ss yyyy",
    "HH:mm:ss,SSS",
    "HH:mm:ss.SSS",
    "HH:mm:ss",
    "COMPACT",
    "UNIX_MILLIS",
    "UNIX",
];
/// Expressions are a line in a configuration file; longer ones are mistakes.
const EXPRESSION_BYTES_MAX: usize = 4096;
/// How much memory a compiled expression may take.
const COMPILED_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How much of a line is looked at.
const LINE_BYTES_MAX: usize = 64 * 1024;

/// An expression that fits the first line of an entry.
#[derive(Clone, Debug)]
pub(crate) struct Expression {
    regex: Regex,
    times: Vec<DateFormat>,
}

impl Expression {
    /// Whether a layout is given as an expression rather than a pattern.
    pub fn is_one(text: &str) -> bool {
        text.contains("(?<") || text.contains("(?P<")
    }

    pub fn compile(text: &str) -> Result<Expression, LogError> {
        let wrong = |why: String| LogError::Pattern { pattern: text.to_owned(), at: 1, why };
        if text.len() > EXPRESSION_BYTES_MAX {
            return Err(wrong("it is longer than any expression needs to be; shorten it".into()));
        }
        // It stands at the start of a line, whether it says so or not.
        let regex = RegexBuilder::new(&format!(r"\A(?:{text})")).size_limit(COMPILED_BYTES_MAX).build();
        let regex = regex.map_err(|error| {
            let told = error.to_string();
            let last = told.lines().last().unwrap_or_default().trim_start_matches("error: ");
            wrong(format!("it is not a regular expression: {last}"))
        })?;
        if let Some(other) = regex.capture_names().flatten().find(|it| !GROUPS.contains(it)) {
            return Err(wrong(format!(
                "the group `{other}` is not known; the groups are {}",
                GROUPS.join(", ")
            )));
        }
        if !regex.capture_names().flatten().any(|it| it == "message") {
            return Err(wrong("it has no group `message`; add `(?<message>.*)`".into()));
        }
        let times = TIMES.map(|it| DateFormat::compile(it).expect("a format of ours compiles")).into();
        Ok(Expression { regex, times })
    }

    pub fn has(&self, group: &str) -> bool {
        self.regex.capture_names().flatten().any(|it| it == group)
    }

    pub fn says(&self) -> Fields {
        Fields {
            thread: self.has("thread"),
            class: self.has("logger") || self.has("class") || self.has("file"),
            line: self.has("line"),
            level: self.has("level"),
        }
    }

    /// Matches the line from `at` to `end`. The answer is where the message begins.
    pub fn head(&self, text: &str, at: usize, end: usize, found: &mut Found) -> Option<usize> {
        *found = Found::default();
        let mut cut = end.min(at + LINE_BYTES_MAX);
        while !text.is_char_boundary(cut) {
            cut -= 1;
        }
        let groups = self.regex.captures(text.get(at..cut)?)?;
        let group = |name: &str| groups.name(name).filter(|it| !it.is_empty());
        let span = |name: &str| {
            group(name).map(|it| Span { start: (at + it.start()) as u32, end: (at + it.end()) as u32 })
        };
        if let Some(time) = group("time") {
            let bytes = time.as_str().as_bytes();
            let whole = |it: &DateFormat| it.read(bytes, 0).filter(|(_, end)| *end == bytes.len());
            let read = self.times.iter().find_map(|it| Some((whole(it)?.0, it.has_day)));
            (found.time_ms, found.is_time_of_day) =
                (read.map(|it| it.0), read.is_some_and(|(_, has_day)| !has_day));
        }
        found.level = group("level").and_then(|it| Level::parse(it.as_str().trim()));
        found.thread = span("thread");
        found.logger = span("logger").or_else(|| span("class"));
        found.file = span("file");
        found.method = span("method");
        found.context = span("context");
        found.source_line = group("line").and_then(|it| it.as_str().parse().ok());
        let message = groups.name("message")?;
        // What stands behind the message is no part of it.
        found.message_end = (at + message.end() < cut).then_some((at + message.end()) as u32);
        Some(at + message.start())
    }
}
