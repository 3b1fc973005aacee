//! How serious a message is, in the words of every framework.

/// A level, as the frameworks share it. The levels of `java.util.logging` are mapped as SLF4J's bridge maps them.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub enum Level {
    /// `TRACE`, `FINEST`.
    Trace,
    /// `DEBUG`, `FINER`, `FINE`.
    Debug,
    /// `INFO`, `CONFIG`.
    Info,
    /// `WARN`, `WARNING`.
    Warn,
    /// `ERROR`, `SEVERE`.
    Error,
    /// `FATAL`. SLF4J has no such level, so what a statement calls fatal may be written as an error.
    Fatal,
}

/// What the frameworks write, and the single letters of `%.-1p`.
const WORDS: [(&str, Level); 19] = [
    ("INFO", Level::Info),
    ("WARN", Level::Warn),
    ("DEBUG", Level::Debug),
    ("ERROR", Level::Error),
    ("TRACE", Level::Trace),
    ("FATAL", Level::Fatal),
    ("WARNING", Level::Warn),
    ("SEVERE", Level::Error),
    ("CONFIG", Level::Info),
    ("FINE", Level::Debug),
    ("FINER", Level::Debug),
    ("FINEST", Level::Trace),
    ("I", Level::Info),
    ("W", Level::Warn),
    ("D", Level::Debug),
    ("E", Level::Error),
    ("T", Level::Trace),
    ("F", Level::Fatal),
    ("SEV", Level::Error),
];

impl Level {
    /// The level that a word stands for, in upper or lower case.
    pub fn parse(word: &str) -> Option<Level> {
        WORDS.iter().find(|(it, _)| it.eq_ignore_ascii_case(word)).map(|(_, level)| *level)
    }

    /// Whether a statement of level `self` may have written an entry of level `written`. A bridge without `FATAL`
    /// writes `ERROR` for it.
    pub fn may_write(self, written: Level) -> bool {
        self == written || (self >= Level::Error && written >= Level::Error)
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn words_of_every_framework() {
        for (word, expected) in [
            ("INFO", Some(Level::Info)),
            ("info", Some(Level::Info)),
            ("WARNING", Some(Level::Warn)),
            ("SEVERE", Some(Level::Error)),
            ("FINEST", Some(Level::Trace)),
            ("E", Some(Level::Error)),
            ("INFORMATION", None),
            ("", None),
        ] {
            assert_eq!(Level::parse(word), expected, "{word}");
        }
    }

    #[test]
    fn fatal_may_be_written_as_error_and_nothing_else_changes() {
        assert!(Level::Fatal.may_write(Level::Error));
        assert!(Level::Error.may_write(Level::Fatal));
        assert!(!Level::Warn.may_write(Level::Error));
        assert!(!Level::Info.may_write(Level::Debug));
    }
}
