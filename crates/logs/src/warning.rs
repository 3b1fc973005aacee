//! What a person should know about a log that could be read.

use std::fmt;

use crate::layout::Layout;
use crate::text::{Encoding, Origin};

/// Something about a log that makes it worth less.
#[derive(Clone, Copy, Debug, PartialEq, Eq)]
pub enum Warning {
    /// It is in UTF-16, which no JVM writes by default.
    Utf16,
    /// Some bytes are no text.
    BrokenBytes {
        /// How many times.
        times: u64,
        /// On which line first, counted from one.
        line: u64,
    },
    /// Its entries do not say when they were written.
    NoTimes,
    /// Its entries say the time of day but not the day.
    NoDays,
    /// Its entries do not say which thread wrote them.
    NoThreads {
        /// Whether it is laid out as `java.util.logging` does it by default.
        is_jul: bool,
    },
    /// Its entries say neither a class nor a source file.
    NoClasses,
}

impl fmt::Display for Warning {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        match self {
            Warning::Utf16 => f.write_str(
                "the log is in UTF-16 and was converted; if messages look wrong, give it as its program has written it",
            ),
            Warning::BrokenBytes { times, line } => write!(
                f,
                "the log has bytes that are no UTF-8, {times} times, first on line {line}; these characters are lost, and messages \
                 with them may be tied to no statement"
            ),
            Warning::NoTimes => f.write_str(
                "the log has no timestamps, so the order of its lines has to do: of what several nodes or threads did at \
                 once it says little; add %d to the pattern of its appender if it can be had again",
            ),
            Warning::NoDays => {
                f.write_str("the log says no day, so a time that goes back by half a day is taken for the next day")
            }
            Warning::NoThreads { is_jul } => {
                const FORMATTER: &str = "a Formatter of your own with Thread.currentThread().getName()";
                f.write_str(
                    "the log has no thread names, so which thread did what, and in which order, has to be guessed; if it can be had \
                     again, ",
                )?;
                match is_jul {
                    true => write!(
                        f,
                        "give its handler {FORMATTER}, as no format of java.util.logging's SimpleFormatter has them"
                    ),
                    false => write!(
                        f,
                        "add %t to the pattern of its appender (log4j, logback), or give the handler of java.util.logging {FORMATTER}"
                    ),
                }
            }
            Warning::NoClasses => f.write_str(
                "the log names neither loggers nor classes, so its messages are tied to statements by their text alone",
            ),
        }
    }
}

pub(crate) fn warnings(origin: Origin, layout: &Layout) -> Vec<Warning> {
    let says = layout.says();
    let broken = Warning::BrokenBytes { times: origin.broken, line: origin.broken_line };
    let all = [
        (origin.encoding != Encoding::Utf8, Warning::Utf16),
        (origin.broken > 0, broken),
        (!layout.has_time(), Warning::NoTimes),
        (layout.has_time() && !layout.has_day(), Warning::NoDays),
        // Nobody else writes two lines for an entry by default.
        (!says.thread, Warning::NoThreads { is_jul: layout.breaks() > 0 }),
        (!says.class, Warning::NoClasses),
    ];
    all.into_iter().filter(|(holds, _)| *holds).map(|(_, it)| it).collect()
}
