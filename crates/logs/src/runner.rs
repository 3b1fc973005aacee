//! What test runners write between the entries of a log.

use crate::layout::is_space;

/// How many marks of progress before an entry are told apart from its own first letters.
const MARKS_TRIED: usize = 8;

/// JUnit writes a mark for each test without an end of line, so that the next entry is glued to it: a point, an `E` for
/// an error, an `I` for a test that is ignored, an `F` for a failure.
fn is_mark(byte: u8) -> bool {
    matches!(byte, b'.' | b'E' | b'I' | b'F')
}

/// What `matches` answers at the start of a line, or behind the marks of progress there.
pub(crate) fn past_progress<T>(
    text: &str,
    at: usize,
    mut matches: impl FnMut(usize) -> Option<T>,
) -> Option<T> {
    if let Some(it) = matches(at) {
        return Some(it);
    }
    let marks = text.as_bytes()[at..].iter().take_while(|it| is_mark(**it)).count();
    // An entry may itself begin with such letters (`ERROR`), so each of the first and of the last few may be the last mark.
    let first = 1..=marks.min(MARKS_TRIED);
    let last = (marks.saturating_sub(MARKS_TRIED)).max(MARKS_TRIED) + 1..=marks;
    first.chain(last).find_map(|skipped| matches(at + skipped))
}

/// Whether a line is the work of a test runner: no message goes on with it.
pub(crate) fn is_report(line: &str) -> bool {
    const STARTS: [&str; 17] = [
        "Tests run: ",
        "Tests in error:",
        "Failed tests:",
        "Results :",
        "Running ",
        "[INFO] ",
        "[ERROR] ",
        "[WARNING] ",
        "OK (",
        "FAILURES!!!",
        "There was ",
        "There were ",
        "JUnit version ",
        "Test run finished after ",
        "Thanks for using JUnit!",
        "Failures (",
        "JVM exit",
    ];
    if let Some(rest) = line.strip_prefix("Time: ") {
        return rest.bytes().all(|it| it.is_ascii_digit() || matches!(it, b'.' | b','));
    }
    if line.starts_with(['.', 'E', 'I', 'F']) && is_progress(line) {
        return true;
    }
    match STARTS.iter().find(|it| line.starts_with(**it)) {
        // These words begin a sentence, too.
        Some(&"Running ") => line[8..].contains('.') && !line[8..].contains(' '),
        Some(&("There was " | "There were ")) => line.contains(" failure"),
        Some(_) => true,
        None => false,
    }
}

/// Whether a line is the beginning of what a runner writes when all tests have ended.
pub(crate) fn is_summary(line: &str) -> bool {
    is_report(line)
        && !is_progress(line)
        && !line.starts_with("Running ")
        && !line.starts_with("JUnit version ")
}

/// Whether a line has marks of progress and nothing else.
pub(crate) fn is_progress(line: &str) -> bool {
    line.bytes().all(|it| is_mark(it) || is_space(it))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn reports_and_what_only_looks_like_one() {
        for (line, expected) in [
            ("Time: 9.385", true),
            ("Time: 1,234.5", true),
            ("Time: soon", false),
            ("OK (1 test)", true),
            (".E.", true),
            ("Early", false),
            ("There was 1 failure:", true),
            ("There was no leader", false),
            ("Tests run: 1,  Failures: 1", true),
            ("Running org.apache.zookeeper.FooTest", true),
            ("Running the election again", false),
            ("Test run finished after 1234 ms", true),
            ("\tat a.B.c(B.java:1)", false),
            ("", false),
        ] {
            assert_eq!(is_report(line), expected, "{line}");
        }
    }
}
