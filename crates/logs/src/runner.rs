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

/// How many lines of a text are Maven's, and of how many that are not blank and no part of a stack trace; nothing if it does not
/// look like the output of Maven. Others write `[INFO]` too, so there has to be a line that only Maven writes.
pub(crate) fn of_maven(text: &str) -> Option<(usize, usize)> {
    const LEVELS: [&str; 4] = ["[INFO]", "[ERROR]", "[WARNING]", "[DEBUG]"];
    let (mut own, mut all, mut is_sure) = (0, 0, false);
    let begins = |it: &&str| !it.trim().is_empty() && !it.starts_with('\t') && !it.starts_with("    ");
    for line in text.lines().filter(begins) {
        let said = LEVELS.iter().find_map(|it| line.strip_prefix(it));
        let is_rule = line.bytes().all(|it| it == b'-');
        all += 1;
        own += usize::from(said.is_some() || is_rule || is_report(line) || line.trim() == TESTS);
        is_sure |= is_only_mavens(said.unwrap_or(line).trim());
    }
    (is_sure && own * 2 > all).then_some((own, all))
}

/// The heading of surefire.
const TESTS: &str = "T E S T S";

fn is_only_mavens(said: &str) -> bool {
    let is_count = said.starts_with("Tests run: ") && said.contains(", Failures: ");
    let is_goal = said.starts_with("--- ") && said.ends_with(" ---") && said.contains(':');
    is_count
        || is_goal
        || matches!(said, TESTS | "Scanning for projects..." | "BUILD SUCCESS" | "BUILD FAILURE")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_output_of_maven_and_what_only_looks_like_it() {
        let new = "[INFO] Scanning for projects...\n[INFO]\n[INFO] --- surefire:3.2.5:test (default-test) @ outbox ---\n\
                   [INFO] Running outbox.OutboxTest\nready\n\n[ERROR] Tests run: 1, Failures: 1, Errors: 0, Skipped: 0\n\
                   \tat outbox.OutboxTest.sends(OutboxTest.java:9)\n";
        let old = "-------------------------------------------------------\n T E S T S\n\
                   -------------------------------------------------------\nRunning outbox.OutboxTest\n\
                   Tests run: 1, Failures: 0, Errors: 0, Skipped: 0, Time elapsed: 0.1 sec\n";
        for (text, expected) in [
            (new, Some((5, 6))),
            (old, Some((5, 5))),
            ("[INFO] opening\n[ERROR] the drawer is stuck\n", None),
            ("[INFO] BUILD SUCCESS\n1|INFO|opening\n2|INFO|open\n", None),
            ("JUnit version 4.13\n.\nTests run: 1,  Failures: 1\n", None),
            ("", None),
        ] {
            assert_eq!(of_maven(text), expected, "{text}");
        }
    }

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
