//! What can be wrong with a log or with a pattern.

/// Why a log could not be read. The caller knows the file and names it.
#[derive(Clone, Debug, PartialEq, Eq, thiserror::Error)]
pub enum LogError {
    /// Nothing but white space.
    #[error(
        "the log is empty; give the log of the run that failed, and look whether the system writes it to another file"
    )]
    Empty,
    /// More text than positions can name.
    #[error("the log has {bytes} bytes, and at most {max} can be read; cut out the part around the failure")]
    TooLong {
        /// How much there is.
        bytes: usize,
        /// How much can be read.
        max: usize,
    },
    /// No layout that is known starts an entry anywhere in the text.
    #[error(
        "no layout fits the log: {tried} were tried on {}; give the pattern of its appender, in the syntax of log4j or logback, such as `%d{{ISO8601}} [%t] %-5p %c - %m%n`",
        tried_on(*lines, first)
    )]
    NoLayout {
        /// How many layouts.
        tried: usize,
        /// On how many lines.
        lines: usize,
        /// The first line that is not blank, escaped and shortened.
        first: String,
    },
    /// No layout starts an entry, and most lines are Maven's.
    #[error(
        "no layout fits the log: it is the output of Maven, {of_maven} of {lines} lines are its own; give the log of the program, \
         which surefire writes to target/surefire-reports/*-output.txt where it is told so \
         (-Dmaven.test.redirectTestOutputToFile=true)"
    )]
    OfMaven {
        /// How many lines.
        of_maven: usize,
        /// Of how many that are not blank and no part of a stack trace.
        lines: usize,
    },
    /// The pattern that was given starts no entry anywhere in the text.
    #[error(
        "the pattern `{pattern}` fits no line of the log, tried on {}; take the pattern from the appender that wrote this log, or \
         give none to have it detected",
        tried_on(*lines, first)
    )]
    OtherLayout {
        /// The pattern.
        pattern: String,
        /// Tried on how many lines.
        lines: usize,
        /// The first line that is not blank, escaped and shortened.
        first: String,
    },
    /// A pattern that cannot be compiled.
    #[error("log pattern `{pattern}`, at character {at}: {why}")]
    Pattern {
        /// The pattern.
        pattern: String,
        /// Counted from one.
        at: usize,
        /// What is wrong there and what to do.
        why: String,
    },
}

impl LogError {
    /// Whether no layout fits that is known, so that somebody may say which does.
    pub fn has_no_layout(&self) -> bool {
        matches!(self, LogError::NoLayout { .. } | LogError::OfMaven { .. })
    }
}

/// The lines that were looked at, in words.
fn tried_on(lines: usize, first: &str) -> String {
    match lines {
        1 => format!("1 line, which is \"{first}\""),
        _ => format!("{lines} lines, the first of which is \"{first}\""),
    }
}

/// How much of a line a message shows.
const SHOWN_CHARS: usize = 100;

/// The first line that is not blank, fit to be shown: log text is not trusted.
pub(crate) fn first_line(text: &str) -> String {
    let line = text.lines().find(|it| !it.trim().is_empty()).unwrap_or_default();
    let mut shown: String = line.chars().take(SHOWN_CHARS).flat_map(char::escape_debug).collect();
    if line.chars().nth(SHOWN_CHARS).is_some() {
        shown.push_str("...");
    }
    shown
}
