//! What a line is to have: a text, or what fits a regular expression.

use hypocenter_plan::LogText;
use regex::bytes::Regex;

use crate::LabError;

/// A pattern for lines, which need not be UTF-8.
#[derive(Debug, Clone)]
pub struct Pattern {
    text: Option<Vec<u8>>,
    regex: Option<Regex>,
}

impl Pattern {
    /// The pattern for a text of the configuration.
    pub fn new(text: &LogText) -> Result<Pattern, LabError> {
        let literal = |text: &String| Some(text.as_bytes().to_vec());
        Ok(match text {
            LogText::Text(text) => Pattern { text: literal(text), regex: None },
            // A text that is no regular expression is meant as it stands.
            LogText::Either(text) => Pattern { text: literal(text), regex: Regex::new(text).ok() },
            LogText::Regex(text) => {
                let regex = Regex::new(text).map_err(|error| LabError::Pattern {
                    pattern: text.clone(),
                    // The last line of such an error says what is wrong; the others draw it.
                    why: error.to_string().lines().last().unwrap_or_default().trim().to_owned(),
                })?;
                Pattern { text: None, regex: Some(regex) }
            }
        })
    }

    /// Whether a line has it.
    pub fn fits(&self, line: &[u8]) -> bool {
        let has = |text: &Vec<u8>| memchr::memmem::find(line, text).is_some();
        self.text.as_ref().is_some_and(has) || self.regex.as_ref().is_some_and(|it| it.is_match(line))
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_is_also_tried_as_a_regular_expression() {
        let check = |text: LogText, line: &[u8], expected: bool| {
            assert_eq!(Pattern::new(&text).unwrap().fits(line), expected, "{text:?}");
        };
        check(LogText::Either("LEADING|FOLLOWING".into()), b"now FOLLOWING", true);
        check(LogText::Either("a(b".into()), b"x a(b y", true);
        check(LogText::Text("a.b".into()), b"axb", false);
        check(LogText::Regex("a.b".into()), b"axb", true);
        check(LogText::Text("b".into()), b"a\xff\xfeb", true);
        let why = Pattern::new(&LogText::Regex("a(b".into())).unwrap_err().to_string();
        assert!(why.contains("a(b") && why.contains("unclosed group"), "{why}");
    }
}
