//! What is known of a message before it is written: its fixed text, and holes for the rest.

use memchr::memmem;

/// A piece of a template.
#[derive(Clone, Debug, PartialEq, Eq, Hash)]
pub enum Part {
    /// Text that every message has.
    Text(String),
    /// Text of which nothing is known. It may be empty and may have several lines.
    Hole,
}

/// The message of a log statement, as far as the statement says it.
#[derive(Clone, Debug, Default, PartialEq, Eq, Hash)]
pub struct Template {
    parts: Vec<Part>,
}

impl Template {
    /// A template of these parts. Texts side by side become one, and so do holes; ends of line become `\n`, as in a log
    /// that was read.
    pub fn new(parts: impl IntoIterator<Item = Part>) -> Template {
        let mut joined: Vec<Part> = Vec::new();
        for part in parts {
            match (joined.last_mut(), part) {
                (Some(Part::Hole), Part::Hole) => {}
                (_, Part::Text(text)) if text.is_empty() => {}
                (Some(Part::Text(before)), Part::Text(text)) => before.push_str(&text),
                (_, part) => joined.push(part),
            }
        }
        for part in &mut joined {
            if let Part::Text(text) = part
                && text.contains("\r\n")
            {
                *text = text.replace("\r\n", "\n");
            }
        }
        Template { parts: joined }
    }

    /// A template in the notation of SLF4J: each `{}` is a hole, unless a backslash stands before it.
    pub fn parse(text: &str) -> Template {
        let mut parts = Vec::new();
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{}") {
            match before.strip_suffix('\\') {
                // Two backslashes are one, and the hole is a hole.
                Some(escaped) if escaped.ends_with('\\') => {
                    parts.extend([Part::Text(escaped.to_owned()), Part::Hole]);
                }
                Some(escaped) => parts.push(Part::Text(format!("{escaped}{{}}"))),
                None => parts.extend([Part::Text(before.to_owned()), Part::Hole]),
            }
            rest = after;
        }
        parts.push(Part::Text(rest.to_owned()));
        Template::new(parts)
    }

    /// Whether nothing is known of how a message begins.
    pub fn begins_with_hole(&self) -> bool {
        self.parts.first() == Some(&Part::Hole)
    }

    /// The parts: no two texts and no two holes stand side by side.
    pub fn parts(&self) -> &[Part] {
        &self.parts
    }

    /// How many characters of a message it says.
    pub fn literal_chars(&self) -> usize {
        self.texts().map(|it| it.chars().count()).sum()
    }

    /// How many characters of a part of a message it says at most: none where no message has this part.
    pub(crate) fn literal_chars_of(&self, part: &[char]) -> usize {
        let end = part.len();
        // For each place of the part: how much of what is before it was said, if the template can have come so far.
        let mut said: Vec<Option<usize>> = vec![None; end + 1];
        let mut most = 0;
        // The part may begin anywhere, so its first place is always come to.
        said[0] = Some(0);
        for it in &self.parts {
            match it {
                Part::Hole => {
                    (0..end).for_each(|at| said[at + 1] = said[at + 1].max(said[at]));
                    most = most.max(said[end].unwrap_or(0));
                }
                Part::Text(text) => {
                    for letter in text.chars() {
                        for at in (0..end).rev() {
                            said[at + 1] = said[at].filter(|_| part[at] == letter).map(|it| it + 1);
                        }
                        // It may end anywhere.
                        most = most.max(said[end].unwrap_or(0));
                    }
                }
            }
        }
        most
    }

    /// Whether nothing is known: every message fits.
    pub fn is_open(&self) -> bool {
        self.parts == [Part::Hole]
    }

    /// The fixed texts, in order.
    pub(crate) fn texts(&self) -> impl Iterator<Item = &str> {
        self.parts.iter().filter_map(|it| match it {
            Part::Text(text) => Some(text.as_str()),
            Part::Hole => None,
        })
    }

    /// Whether this statement can have written the message: the texts stand in it in order, the first at its start and the
    /// last at its end unless there is a hole. White space at the end may be missing, because an editor or an appender
    /// may have removed it.
    pub fn fits(&self, message: &str) -> bool {
        if let Some(Part::Text(first)) = self.parts.first()
            && !message.starts_with(first.trim_end())
        {
            return false;
        }
        fits(&self.parts, message) || self.fits_trimmed(message.trim_end())
    }

    /// Whether a message fits that has lost the white space at its end.
    fn fits_trimmed(&self, message: &str) -> bool {
        match &self.parts[..] {
            [before @ .., Part::Text(last)] => {
                // Nothing more to try if the text has no white space to lose.
                let text = last.trim_end();
                fits_with_end(before, text, message)
            }
            // Of `closed: {}` an empty hole and no white space may be left.
            [before @ .., Part::Text(last), Part::Hole] => {
                let text = last.trim_end();
                text.len() < last.len() && !text.is_empty() && fits_with_end(before, text, message)
            }
            _ => false,
        }
    }
}

/// Whether a message fits `parts` and then ends with `end`.
fn fits_with_end(parts: &[Part], end: &str, message: &str) -> bool {
    message.strip_suffix(end).is_some_and(|it| fits(parts, it))
}

/// Whether a message fits, to the letter.
fn fits(parts: &[Part], message: &str) -> bool {
    let mut rest = message;
    let mut middle = match parts {
        [] => return message.is_empty(),
        [Part::Text(text)] => return text == message,
        [Part::Text(first), middle @ ..] => {
            let Some(after) = rest.strip_prefix(first.as_str()) else { return false };
            rest = after;
            middle
        }
        [Part::Hole, ..] => parts,
    };
    if let [before @ .., Part::Text(last)] = middle {
        let Some(before_last) = rest.strip_suffix(last.as_str()) else { return false };
        rest = before_last;
        middle = before;
    }
    // The leftmost place for each text leaves most room for those behind it.
    for part in middle {
        let Part::Text(text) = part else { continue };
        let Some(at) = find(rest.as_bytes(), text.as_bytes()) else { return false };
        rest = &rest[at + text.len()..];
    }
    true
}

/// A message shorter than this is searched without a searcher, the making of which takes longer.
const SHORT_BYTES_MAX: usize = 256;

fn find(within: &[u8], text: &[u8]) -> Option<usize> {
    if within.len() > SHORT_BYTES_MAX {
        return memmem::find(within, text);
    }
    let first = *text.first()?;
    memchr::memchr_iter(first, within).find(|it| within[*it..].starts_with(text))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn messages_that_fit_and_that_do_not() {
        for (template, message, expected) in [
            ("Created node", "Created node", true),
            ("Created node", "Created nodes", false),
            ("Created node", "Not Created node", false),
            ("{}", "anything", true),
            ("{}", "", true),
            ("", "", true),
            ("", "x", false),
            ("Notification time out: {}", "Notification time out: 3200", true),
            ("Notification time out: {}", "Notification time out: ", true),
            ("Notification time out: {}", "Notification time out:", true),
            ("Notification time out: {}", "notification time out: 3", false),
            ("{} leaving thread", "Send worker leaving thread", true),
            ("{} leaving thread", "Send worker leaving thread now", false),
            ("a{}b{}c", "abc", true),
            ("a{}b{}c", "aXbYc", true),
            ("a{}b{}c", "aXcYb", false),
            ("a{}a", "a", false),
            ("a{}a", "aa", true),
            ("{}ab{}ab{}", "abab", true),
            ("{}ab{}ab{}", "aab", false),
            ("sid: {} state: {}", "sid: 1 state:", true),
            ("sid: {} state: {}", "sid: 1 stat", false),
            ("Values:\n{}\nend", "Values:\na\nb\nend", true),
            ("Values:\r\n{}", "Values:\nx", true),
            ("done\n", "done", true),
            ("done", "done  ", true),
            ("\\{} is kept, {} is not", "{} is kept, 1 is not", true),
            ("C:\\\\{}", "C:\\x", true),
            ("\u{e9}{}\u{e9}", "\u{e9}1\u{e9}", true),
        ] {
            assert_eq!(Template::parse(template).fits(message), expected, "{template:?} on {message:?}");
        }
    }

    #[test]
    fn parts_side_by_side_are_joined() {
        let text = |it: &str| Part::Text(it.into());
        let template = Template::new([text("a"), text(""), text("b"), Part::Hole, text(""), Part::Hole]);
        assert_eq!(template.parts(), [text("ab"), Part::Hole]);
        assert_eq!(template.literal_chars(), 2);
        assert!(Template::new([Part::Hole, Part::Hole]).is_open());
    }
}
