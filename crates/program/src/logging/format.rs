//! The formats in which messages are written: `{}`, `%s` and `{0}`.

/// Conversion of a text to a message.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub(crate) enum Style {
    /// `{}` is the next argument (slf4j).
    Braces,
    /// `%s` and its kin (`java.util.Formatter`).
    Percent,
    /// `{0}` is the first argument (`java.text.MessageFormat`).
    Numbered,
    /// Braces if the text has a pair, otherwise `%s`: loggers of log4j 2 are made for the one or the other, and
    /// the call does not show for which.
    Either,
}

/// A piece of a format.
#[derive(Debug, Clone, PartialEq, Eq)]
pub(crate) enum Segment {
    /// Its content.
    Text(String),
    /// The argument of this number as it is.
    Argument(usize),
    /// An argument that is changed on its way, such as a number with a width.
    Changed,
}

/// Takes a format apart. `next` is the number of the next argument of those that are not numbered; several texts
/// may make up one format.
pub(crate) fn segments(style: Style, text: &str, next: &mut usize) -> Vec<Segment> {
    let mut parser = Parser { found: Vec::new(), text: String::new() };
    match style {
        Style::Braces => parser.braces(text, next),
        Style::Percent => parser.percent(text, next),
        Style::Numbered => parser.numbered(text),
        Style::Either if text.contains("{}") || !text.contains('%') => parser.braces(text, next),
        Style::Either => parser.percent(text, next),
    }
    parser.flush();
    parser.found
}

struct Parser {
    found: Vec<Segment>,
    text: String,
}

impl Parser {
    fn flush(&mut self) {
        if !self.text.is_empty() {
            self.found.push(Segment::Text(std::mem::take(&mut self.text)));
        }
    }

    fn argument(&mut self, segment: Segment) {
        self.flush();
        self.found.push(segment);
    }

    fn next(&mut self, next: &mut usize, is_plain: bool) {
        self.argument(if is_plain { Segment::Argument(*next) } else { Segment::Changed });
        *next += 1;
    }

    /// A backslash keeps a pair of braces; two are one backslash and no protection.
    fn braces(&mut self, text: &str, next: &mut usize) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once("{}") {
            match before.strip_suffix('\\') {
                Some(escaped) if !escaped.ends_with('\\') => {
                    self.text.push_str(escaped);
                    self.text.push_str("{}");
                }
                escaped => {
                    self.text.push_str(escaped.unwrap_or(before));
                    self.next(next, true);
                }
            }
            rest = after;
        }
        self.text.push_str(rest);
    }

    /// `%[number$][flags][width][.precision]conversion`; what is none stays as it is.
    fn percent(&mut self, text: &str, next: &mut usize) {
        let mut rest = text;
        while let Some((before, after)) = rest.split_once('%') {
            self.text.push_str(before);
            let is_modifier = |c: char| c.is_ascii_digit() || "$-#+ ,(<.".contains(c);
            let tail = after.trim_start_matches(is_modifier);
            let modifiers = &after[..after.len() - tail.len()];
            let Some(conversion) = tail.chars().next() else {
                self.text.push_str(&rest[before.len()..]);
                return;
            };
            rest = &tail[conversion.len_utf8()..];
            match conversion {
                '%' => self.text.push('%'),
                'n' => self.text.push('\n'),
                _ if !"bBhHsScCdoxXeEfgGaAtT".contains(conversion) => {
                    self.text.push('%');
                    rest = after;
                }
                _ => {
                    if matches!(conversion, 't' | 'T') {
                        rest = rest.get(1..).unwrap_or("");
                    }
                    let number = modifiers.split_once('$').and_then(|it| it.0.parse::<usize>().ok());
                    let is_plain = conversion == 's';
                    match number {
                        Some(number) => {
                            let is_plain = is_plain && modifiers.ends_with('$') && number > 0;
                            let plain =
                                if is_plain { Segment::Argument(number - 1) } else { Segment::Changed };
                            self.argument(plain);
                        }
                        None if modifiers.contains('<') => self.argument(Segment::Changed),
                        None => self.next(next, is_plain && modifiers.is_empty()),
                    }
                }
            }
        }
        self.text.push_str(rest);
    }

    /// Without a numbered argument the text is no format at all, and quotes mean nothing.
    fn numbered(&mut self, text: &str) {
        let bytes = text.as_bytes();
        if !bytes.windows(2).any(|it| it[0] == b'{' && it[1].is_ascii_digit()) {
            self.text.push_str(text);
            return;
        }
        let mut is_quoted = false;
        let mut rest = text.chars();
        while let Some(c) = rest.next() {
            let behind = rest.as_str();
            match c {
                '\'' if behind.starts_with('\'') => {
                    self.text.push('\'');
                    rest.next();
                }
                '\'' => is_quoted = !is_quoted,
                '{' if !is_quoted && behind.starts_with(|c: char| c.is_ascii_digit()) => {
                    let Some((inside, after)) = behind.split_once('}') else {
                        self.text.push('{');
                        continue;
                    };
                    self.argument(inside.parse().map_or(Segment::Changed, Segment::Argument));
                    rest = after.chars();
                }
                _ => self.text.push(c),
            }
        }
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn formats_are_taken_apart() {
        let check = |style: Style, text: &str, expected: &str| {
            let shown = segments(style, text, &mut 0).into_iter().map(|it| match it {
                Segment::Text(text) => text,
                Segment::Argument(number) => format!("<{number}>"),
                Segment::Changed => "<>".into(),
            });
            assert_eq!(shown.collect::<String>(), expected, "{style:?} {text}");
        };
        check(Style::Braces, "a {} b {}", "a <0> b <1>");
        check(Style::Braces, "{}{}", "<0><1>");
        check(Style::Braces, "kept \\{} and {}", "kept {} and <0>");
        check(Style::Braces, "path \\\\{}", "path \\<0>");
        check(Style::Braces, "{ } {x} %s", "{ } {x} %s");
        check(Style::Percent, "%s: %d entries, %.2f%% free%n", "<0>: <> entries, <>% free\n");
        check(Style::Percent, "%2$05d of %1$s", "<> of <0>");
        check(Style::Percent, "%0$s %99999999999999999999$s", "<> <>");
        check(Style::Percent, "100%; %ü", "100%; %ü");
        check(Style::Percent, "at %tH:%<tM", "at <>:<>");
        check(Style::Percent, "%", "%");
        check(Style::Percent, "%5", "%5");
        check(Style::Percent, "%t", "<>");
        check(Style::Percent, "%tü", "<>");
        check(Style::Percent, "%!", "%!");
        check(Style::Numbered, "{0} has {1,number} votes", "<0> has <> votes");
        check(Style::Numbered, "it''s {1}", "it's <1>");
        check(Style::Numbered, "it''s", "it''s");
        check(Style::Numbered, "'{0}' {0", "{0} {0");
        check(Style::Either, "{} of %s", "<0> of %s");
        check(Style::Either, "%s of", "<0> of");
    }
}
