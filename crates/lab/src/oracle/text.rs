//! Condition on a line, and its wording.

use hypocenter_plan::LogText;
use regex::bytes::Regex;

use super::OracleError;

/// Maximum length of a line.
const SHOWN_CHARS_MAX: usize = 200;

/// Condition on a line, ready for matching. A line that is not UTF-8 is also checked with a replacement
/// character for each broken part, because `.` stands for a character and never for a broken one.
#[derive(Debug, Clone)]
pub struct LineText(Vec<Regex>);

impl LineText {
    pub(crate) fn new(what: &'static str, text: &LogText) -> Result<LineText, OracleError> {
        let (LogText::Either(pattern) | LogText::Text(pattern) | LogText::Regex(pattern)) = text;
        let wrong = |why: String| Err(OracleError::Pattern { what, pattern: pattern.clone(), why });
        if pattern.is_empty() {
            return wrong(
                "it is empty and would match every line; give the text that the failure prints".into(),
            );
        }
        let literal = || Regex::new(&regex::escape(pattern));
        let expressions = match text {
            LogText::Text(_) => literal().map(|it| vec![it]),
            LogText::Regex(_) => Regex::new(pattern).map(|it| vec![it]),
            LogText::Either(_) if regex::escape(pattern) == *pattern => literal().map(|it| vec![it]),
            LogText::Either(_) => {
                literal().map(|it| [it].into_iter().chain(Regex::new(pattern).ok()).collect())
            }
        };
        let expressions = match expressions {
            Ok(expressions) => expressions,
            Err(error) => {
                // The last line of such an error says what is wrong; those before draw it.
                let error = error.to_string();
                let error = error.lines().last().unwrap_or_default().trim().trim_start_matches("error: ");
                return wrong(format!(
                    "it is not a regular expression: {error}; correct it, or use `text` for a literal text"
                ));
            }
        };
        if !matches!(text, LogText::Regex(_)) && pattern.contains('\n') {
            return wrong(
                "it has a line break, and lines are matched one by one; give a part of one line".into(),
            );
        }
        // What fits an empty line and one of a single odd character fits any: `^$` fits but one of them.
        if expressions.iter().any(|it| it.is_match(b"") && it.is_match(b"\x01")) {
            return wrong(
                "as a regular expression it matches every line; correct it, or use `text` for a literal text"
                    .into(),
            );
        }
        Ok(LineText(expressions))
    }

    /// Tests whether a line has it.
    pub fn fits(&self, line: &[u8]) -> bool {
        if self.0.iter().any(|it| it.is_match(line)) {
            return true;
        }
        if std::str::from_utf8(line).is_ok() {
            return false;
        }
        let repaired = String::from_utf8_lossy(line);
        self.0.iter().any(|it| it.is_match(repaired.as_bytes()))
    }
}

/// A line as it is shown: without the space around it, and cut.
pub(super) fn shown(line: &[u8]) -> String {
    // A character has at most four bytes, so this is enough and a long line is not converted whole.
    let start = line.trim_ascii();
    let start = &start[..start.len().min(4 * SHOWN_CHARS_MAX + 4)];
    cut(&String::from_utf8_lossy(start), SHOWN_CHARS_MAX)
}

/// A text cut to so many characters.
pub(super) fn cut(text: &str, chars_max: usize) -> String {
    match text.char_indices().nth(chars_max) {
        Some((end, _)) => format!("{}...", &text[..end]),
        None => text.to_owned(),
    }
}

/// Names in a row, the first few of them.
pub(super) fn names<'a>(all: impl IntoIterator<Item = &'a str>) -> String {
    const LISTED_MAX: usize = 5;
    let all: Vec<&str> = all.into_iter().collect();
    let listed = all[..all.len().min(LISTED_MAX)].join(", ");
    match all.len().checked_sub(LISTED_MAX) {
        Some(rest) if rest > 0 => format!("{listed} and {rest} more"),
        _ => listed,
    }
}

/// "1st", "2nd", "11th".
pub(super) fn ordinal(number: u64) -> String {
    let end = match (number % 10, number % 100) {
        (_, 11..=13) => "th",
        (1, _) => "st",
        (2, _) => "nd",
        (3, _) => "rd",
        _ => "th",
    };
    format!("{number}{end}")
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_number_in_a_row_ends_as_it_is_read() {
        let check = |number: u64, expected: &str| assert_eq!(ordinal(number), expected);
        check(2, "2nd");
        check(3, "3rd");
        check(10, "10th");
        check(11, "11th");
        check(21, "21st");
        check(112, "112th");
    }
}
