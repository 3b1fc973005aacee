//! Patterns in the syntax of log4j 1, log4j 2 and logback, compiled into the tokens of a layout.

use crate::date::DateFormat;
use crate::error::LogError;
use crate::layout::{Field, Token};

/// The tokens before and behind the message.
#[derive(Default)]
pub(crate) struct Compiled {
    pub head: Vec<Token>,
    pub tail: Vec<Token>,
}

/// Patterns are a line in a configuration file; longer ones are mistakes.
const PATTERN_CHARS_MAX: usize = 2048;
/// How deep groups may stand in one another.
const DEPTH_MAX: usize = 8;

#[derive(Clone, Copy, PartialEq, Eq)]
enum Word {
    Date,
    Level,
    Logger,
    File,
    SourceLine,
    Method,
    Location,
    Number,
    Thread,
    Context,
    Other,
    Message,
    Break,
    /// Writes nothing on the entry's first lines: stack traces stand behind the message.
    Nothing,
    /// Writes the pattern that it is given, in a colour or otherwise changed.
    Group,
    /// Writes its pattern or nothing.
    Maybe,
}

/// Conversion words, all frameworks together. Where two use one letter for different things, the common one is here.
const WORDS: [(&[&str], Word); 16] = [
    (&["d", "date"], Word::Date),
    (&["p", "le", "level"], Word::Level),
    (&["c", "lo", "logger", "C", "class", "fqcn"], Word::Logger),
    (&["F", "file"], Word::File),
    (&["L", "line"], Word::SourceLine),
    (&["M", "method"], Word::Method),
    (&["l", "location"], Word::Location),
    (
        &[
            "r",
            "relative",
            "pid",
            "processId",
            "T",
            "tid",
            "threadId",
            "tp",
            "threadPriority",
            "sn",
            "sequenceNumber",
            "N",
            "nano",
            "i",
        ],
        Word::Number,
    ),
    (&["t", "tn", "thread", "threadName"], Word::Thread),
    (&["X", "mdc", "MDC", "x", "NDC"], Word::Context),
    (
        &[
            "K",
            "map",
            "MAP",
            "marker",
            "markerSimpleName",
            "u",
            "uuid",
            "contextName",
            "cn",
            "property",
            "hostName",
            "pn",
            "node_name",
        ],
        Word::Other,
    ),
    (&["m", "msg", "message"], Word::Message),
    (&["n"], Word::Break),
    (
        &[
            "ex",
            "exception",
            "throwable",
            "xEx",
            "xException",
            "xThrowable",
            "wEx",
            "wex",
            "rEx",
            "rootException",
            "rException",
            "rThrowable",
            "nopex",
            "nopexception",
            "caller",
            "endOfBatch",
        ],
        Word::Nothing,
    ),
    (
        &[
            "highlight",
            "style",
            "clr",
            "replace",
            "enc",
            "encode",
            "maxLen",
            "maxLength",
            "black",
            "red",
            "green",
            "yellow",
            "blue",
            "magenta",
            "cyan",
            "white",
            "gray",
            "boldRed",
            "boldGreen",
            "boldYellow",
            "boldBlue",
            "boldMagenta",
            "boldCyan",
            "boldWhite",
        ],
        Word::Group,
    ),
    (&["notEmpty", "varsNotEmpty", "variablesNotEmpty", "equals", "equalsIgnoreCase"], Word::Maybe),
];

pub(crate) fn compile(pattern: &str) -> Result<Compiled, LogError> {
    let chars: Vec<char> = pattern.chars().collect();
    let mut compiler = Compiler { pattern, compiled: Compiled::default(), has_message: false };
    if chars.len() > PATTERN_CHARS_MAX {
        return Err(
            compiler.wrong(PATTERN_CHARS_MAX, "it is longer than any pattern of an appender; shorten it")
        );
    }
    compiler.sequence(&chars, 0, 0)?;
    if !compiler.has_message {
        return Err(compiler.wrong(chars.len(), "it has no message; add %m"));
    }
    let mut compiled = compiler.compiled;
    // What ends the last line stands behind every entry and says nothing.
    while matches!(compiled.tail.last(), Some(Token::Break | Token::Space | Token::Padding)) {
        compiled.tail.pop();
    }
    compiled.tail.retain(|it| *it != Token::Break);
    if !compiled.head.iter().any(|it| matches!(it, Token::Field(field) if *field != Field::Other)) {
        let why = "nothing before the message says where an entry begins; add what the appender writes there, such as %d";
        return Err(LogError::Pattern { pattern: pattern.to_owned(), at: 1, why: why.to_owned() });
    }
    Ok(compiled)
}

struct Compiler<'p> {
    pattern: &'p str,
    compiled: Compiled,
    has_message: bool,
}

/// `%-5.10`: what stands between the percent sign and the word.
#[derive(Clone, Copy, Default)]
struct Width {
    is_padded: bool,
    is_padded_left: bool,
}

impl Compiler<'_> {
    fn wrong(&self, at: usize, why: impl Into<String>) -> LogError {
        LogError::Pattern { pattern: self.pattern.to_owned(), at: at + 1, why: why.into() }
    }

    /// Compiles `chars`, which begin at character `base` of the pattern.
    fn sequence(&mut self, chars: &[char], base: usize, depth: usize) -> Result<(), LogError> {
        if depth > DEPTH_MAX {
            return Err(self.wrong(base, format!("groups stand in one another more than {DEPTH_MAX} deep")));
        }
        let mut at = 0;
        while at < chars.len() {
            match (chars[at], chars.get(at + 1)) {
                ('%', Some('%')) => {
                    self.text('%');
                    at += 2;
                }
                ('%', _) => at = self.conversion(chars, at, base, depth)?,
                ('\\', Some(escaped)) => {
                    match escaped {
                        'n' => self.push(Token::Break),
                        't' => self.text('\t'),
                        'r' | '_' => {}
                        other => self.text(*other),
                    }
                    at += 2;
                }
                // A variable that the framework replaces when it starts.
                ('$', Some('{')) => {
                    let end = closing(chars, at + 1, '{', '}')
                        .ok_or_else(|| self.wrong(base + at, "a brace is not closed"))?;
                    self.push(Token::Field(Field::Other));
                    at = end + 1;
                }
                ('\n', _) => {
                    self.push(Token::Break);
                    at += 1;
                }
                (other, _) => {
                    self.text(other);
                    at += 1;
                }
            }
        }
        Ok(())
    }

    /// Compiles the conversion at the percent sign at `start`; the answer is where the pattern goes on.
    fn conversion(
        &mut self,
        chars: &[char],
        start: usize,
        base: usize,
        depth: usize,
    ) -> Result<usize, LogError> {
        let mut at = start + 1;
        let modifier = chars[at..].iter().take_while(|it| it.is_ascii_digit() || "-.".contains(**it)).count();
        let width = width(&chars[at..at + modifier]);
        at += modifier;
        if chars.get(at) == Some(&'(') {
            return self.group(chars, at, '(', ')', base, depth);
        }
        let letters: String =
            chars[at..].iter().take_while(|it| it.is_ascii_alphabetic() || **it == '_').collect();
        let known = WORDS.iter().flat_map(|(names, word)| names.iter().map(move |name| (*name, *word)));
        // `%mfoo` is a message and a text: the longest word that is known counts.
        let longest = known.filter(|(name, _)| letters.starts_with(name)).max_by_key(|(name, _)| name.len());
        let Some((name, word)) = longest else {
            let why = format!("`%{letters}` is not known; write %X in its place, which fits any text");
            return Err(self.wrong(base + start, why));
        };
        at += name.len();
        if matches!(word, Word::Group) {
            let (open, close) = if chars.get(at) == Some(&'(') { ('(', ')') } else { ('{', '}') };
            let after = self.group(chars, at, open, close, base, depth)?;
            return Ok(self.options(chars, after, base)?.1);
        }
        let (option, after) = self.options(chars, at, base)?;
        let field = match word {
            Word::Date => {
                let option = option.unwrap_or_default();
                let format = DateFormat::compile(&option).map_err(|why| self.wrong(base + start, why))?;
                Field::Date(format)
            }
            Word::Level => Field::Level,
            Word::Logger => Field::Logger,
            Word::File => Field::File,
            Word::SourceLine => Field::SourceLine,
            Word::Method => Field::Method,
            Word::Location => Field::Location,
            Word::Number => Field::Number,
            Word::Thread => Field::Thread,
            Word::Context => Field::Context,
            Word::Other | Word::Maybe => Field::Other,
            Word::Break => {
                self.push(Token::Break);
                return Ok(after);
            }
            Word::Message => {
                if std::mem::replace(&mut self.has_message, true) {
                    return Err(self.wrong(base + start, "the message stands in it twice; remove one"));
                }
                // Nothing tells where a field with any text ends that stands right before the message: it is part of it.
                while self.compiled.head.last().is_some_and(Token::is_open) {
                    self.compiled.head.pop();
                }
                return Ok(after);
            }
            Word::Nothing | Word::Group => return Ok(after),
        };
        if width.is_padded_left {
            self.push(Token::Padding);
        }
        let token = Token::Field(field);
        let is_open = token.is_open();
        self.push(token);
        // The ends of an open field are trimmed, so that its padding is its own.
        if width.is_padded && !is_open {
            self.push(Token::Padding);
        }
        Ok(after)
    }

    fn group(
        &mut self,
        chars: &[char],
        at: usize,
        open: char,
        close: char,
        base: usize,
        depth: usize,
    ) -> Result<usize, LogError> {
        let end = if chars.get(at) == Some(&open) { closing(chars, at, open, close) } else { None };
        let end = end.ok_or_else(|| {
            self.wrong(base + at, format!("a group must stand between `{open}` and `{close}` here"))
        })?;
        self.sequence(&chars[at + 1..end], base + at + 1, depth + 1)?;
        Ok(end + 1)
    }

    /// The first of the options in braces that stand at `at`, and what comes behind them all.
    fn options(
        &self,
        chars: &[char],
        mut at: usize,
        base: usize,
    ) -> Result<(Option<String>, usize), LogError> {
        let mut first = None;
        while chars.get(at) == Some(&'{') {
            let end = closing(chars, at, '{', '}')
                .ok_or_else(|| self.wrong(base + at, "a brace is not closed; add `}`"))?;
            if first.is_none() {
                first = Some(chars[at + 1..end].iter().collect());
            }
            at = end + 1;
        }
        Ok((first, at))
    }

    fn text(&mut self, it: char) {
        if it.is_whitespace() {
            self.push(Token::Space);
            return;
        }
        let mut buffer = [0; 4];
        let bytes = it.encode_utf8(&mut buffer).as_bytes();
        let tokens = self.tokens();
        if let Some(Token::Text(text)) = tokens.last_mut() {
            *text = [text, bytes].concat().into();
        } else {
            tokens.push(Token::Text(bytes.into()));
        }
    }

    fn tokens(&mut self) -> &mut Vec<Token> {
        if self.has_message { &mut self.compiled.tail } else { &mut self.compiled.head }
    }

    fn push(&mut self, token: Token) {
        let tokens = self.tokens();
        match (tokens.last_mut(), &token) {
            // White space takes the padding beside it along.
            (Some(Token::Space), Token::Space | Token::Padding) => {}
            (Some(Token::Padding), Token::Padding) => {}
            (Some(last @ Token::Padding), Token::Space) => *last = Token::Space,
            _ => tokens.push(token),
        }
    }
}

fn width(modifier: &[char]) -> Width {
    let fewest: Vec<char> = modifier.iter().copied().take_while(|it| *it != '.').collect();
    let is_padded = fewest.iter().any(char::is_ascii_digit);
    Width { is_padded, is_padded_left: is_padded && fewest.first() != Some(&'-') }
}

/// Where the bracket that opens at `at` is closed.
fn closing(chars: &[char], at: usize, open: char, close: char) -> Option<usize> {
    let mut depth = 0_usize;
    let mut at = at;
    while at < chars.len() {
        match chars[at] {
            '\\' => at += 1,
            it if it == open => depth += 1,
            it if it == close => {
                depth -= 1;
                if depth == 0 {
                    return Some(at);
                }
            }
            _ => {}
        }
        at += 1;
    }
    None
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_pattern_that_cannot_be_compiled_says_where_and_what_to_do() {
        for (pattern, at, why) in [
            ("%d %p", 6, "add %m"),
            ("%m%n", 1, "add what the appender writes there"),
            ("%d %foo %m", 4, "write %X in its place"),
            ("%d{yyyy %m", 3, "a brace is not closed"),
            ("%d{QQ} %m", 1, "date letter `Q`"),
            ("%d %m %m", 7, "twice"),
            ("%d %highlight %m", 14, "a group must stand between"),
            ("%d %(%p %m", 5, "a group must stand between"),
        ] {
            let Err(LogError::Pattern { at: found, why: told, .. }) = compile(pattern) else {
                panic!("{pattern} compiles");
            };
            assert!(told.contains(why), "{pattern}: {told}");
            assert_eq!(found, at, "{pattern}: {told}");
        }
    }

    #[test]
    fn deep_and_long_patterns_are_refused() {
        let deep = format!("%d {}%p{} %m", "%(".repeat(100), ")".repeat(100));
        assert!(matches!(compile(&deep), Err(LogError::Pattern { .. })));
        assert!(matches!(compile(&"%d %m ".repeat(1000)), Err(LogError::Pattern { .. })));
    }
}
