//! A layout: what an appender puts around a message, compiled into a matcher.
//!
//! The matcher walks its tokens once, from left to right. Most fields are *narrow*: the characters that they may have say
//! where they end. A thread name or a diagnostic context may have any: such an *open* field is tried up to each place
//! where what follows could begin, and a budget for the whole line bounds the tries, so time stays linear whatever the
//! line has.

use std::fmt;

use memchr::{memchr, memmem, memrchr};

use crate::date::DateFormat;
use crate::error::LogError;
use crate::expression::Expression;
use crate::level::Level;
use crate::pattern;
use crate::tied::Fields;

/// How the lines of a log are laid out: detected, or compiled from a pattern in the syntax of log4j and logback.
#[derive(Clone, Debug)]
pub struct Layout {
    pattern: String,
    /// What stands before the message.
    head: Vec<Token>,
    /// What stands behind the message, on its last line.
    tail: Vec<Token>,
    /// How many ends of line `head` has.
    head_breaks: usize,
    /// Whether a word that is no known level may stand for one.
    any_level: bool,
    /// In place of all that, for a layout that was given as an expression.
    expression: Option<Expression>,
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Token {
    /// These bytes, with no white space in them.
    Text(Box<[u8]>),
    /// Some white space. How much depends on padding, so any amount will do.
    Space,
    /// White space or none: the padding of a field.
    Padding,
    /// The end of a line.
    Break,
    Field(Field),
}

#[derive(Clone, Debug, PartialEq, Eq)]
pub(crate) enum Field {
    Date(DateFormat),
    Level,
    Logger,
    File,
    SourceLine,
    Method,
    /// `a.b.C.method(C.java:12)`.
    Location,
    Number,
    Thread,
    Context,
    /// Text that nobody asks for.
    Other,
}

impl Token {
    /// Whether it is a field that may have any characters.
    pub fn is_open(&self) -> bool {
        matches!(self, Token::Field(Field::Thread | Field::Context | Field::Other))
    }
}

/// A piece of the text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Span {
    pub start: u32,
    pub end: u32,
}

impl Span {
    fn new(start: usize, end: usize) -> Span {
        Span { start: start as u32, end: end as u32 }
    }

    pub fn of(self, text: &str) -> &str {
        text.get(self.start as usize..self.end as usize).unwrap_or_default()
    }
}

/// What the fields of an entry were. Positions are those of the whole text.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Found {
    pub time_ms: Option<i64>,
    /// Whether the time has no day.
    pub is_time_of_day: bool,
    pub level: Option<Level>,
    pub logger: Option<Span>,
    pub file: Option<Span>,
    pub source_line: Option<u32>,
    pub method: Option<Span>,
    pub thread: Option<Span>,
    pub context: Option<Span>,
    /// Where the message ends on its first line, if other text follows.
    pub message_end: Option<u32>,
}

/// How far into a line the message may begin. What comes later is not looked at.
const HEAD_BYTES_MAX: usize = 4096;
/// How many ends are tried for the open fields of one line, together.
const TRIES_MAX: u32 = 96;
/// The longest word that may stand for a level nobody knows.
const LEVEL_BYTES_MAX: usize = 16;

impl Layout {
    /// Compiles a pattern such as `%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n`; or, where no pattern describes
    /// the log, a regular expression for the first line of an entry, with the groups `time`, `level`, `thread`, `logger` or
    /// `class`, `file`, `line`, `method`, `context` and `message`: `(?<level>\\w+) (?<time>\\S+ \\S+) (?<message>.*)`.
    pub fn compile(pattern: &str) -> Result<Layout, LogError> {
        if Expression::is_one(pattern) {
            return Ok(Layout {
                pattern: pattern.to_owned(),
                head: Vec::new(),
                tail: Vec::new(),
                head_breaks: 0,
                any_level: false,
                expression: Some(Expression::compile(pattern)?),
            });
        }
        let compiled = pattern::compile(pattern)?;
        let head_breaks = compiled.head.iter().filter(|it| **it == Token::Break).count();
        Ok(Layout {
            pattern: pattern.to_owned(),
            head: compiled.head,
            tail: compiled.tail,
            head_breaks,
            any_level: true,
            expression: None,
        })
    }

    /// A layout that is only tried: it takes no unknown word for a level.
    pub(crate) fn known(pattern: &str) -> Layout {
        Layout { any_level: false, ..Layout::compile(pattern).expect("a pattern of ours compiles") }
    }

    /// The pattern that it was compiled from.
    pub fn pattern(&self) -> &str {
        &self.pattern
    }

    /// Whether entries say the day, not only the time of day.
    pub fn has_day(&self) -> bool {
        // Of an expression each entry says for itself.
        self.expression.is_some() || self.date().is_some_and(|it| it.has_day)
    }

    /// Whether entries say when they were written.
    pub fn has_time(&self) -> bool {
        self.date().is_some() || self.expression.as_ref().is_some_and(|it| it.has("time"))
    }

    fn date(&self) -> Option<&DateFormat> {
        self.head.iter().find_map(|it| match it {
            Token::Field(Field::Date(format)) => Some(format),
            _ => None,
        })
    }

    /// What its entries say beside their message.
    pub(crate) fn says(&self) -> Fields {
        if let Some(expression) = &self.expression {
            return expression.says();
        }
        let has = |wanted: &[Field]| {
            let all = self.head.iter().chain(&self.tail);
            all.into_iter().any(|it| matches!(it, Token::Field(field) if wanted.contains(field)))
        };
        Fields {
            thread: has(&[Field::Thread]),
            class: has(&[Field::Logger, Field::File, Field::Location]),
            line: has(&[Field::SourceLine, Field::Location]),
            level: has(&[Field::Level]),
        }
    }

    /// How much an entry of this layout says.
    pub(crate) fn fields(&self) -> usize {
        let said = |it: &&Token| matches!(it, Token::Field(field) if *field != Field::Other);
        self.head.iter().chain(&self.tail).filter(said).count()
    }

    /// Whether the first thing of an entry is a day and a time, which is not found elsewhere by chance.
    pub(crate) fn starts_with_day(&self) -> bool {
        match &self.head[..] {
            [Token::Field(Field::Date(format)), ..] => format.has_day,
            [Token::Text(_), Token::Field(Field::Date(format)), ..] => format.has_day,
            _ => false,
        }
    }

    pub(crate) fn has_tail(&self) -> bool {
        !self.tail.is_empty()
    }

    /// How many lines the part before a message's end spans, beyond its first.
    pub(crate) fn breaks(&self) -> usize {
        self.head_breaks
    }

    /// Matches what stands before a message, from `at`. The answer is where the message begins.
    pub(crate) fn head(&self, text: &str, at: usize, found: &mut Found) -> Option<usize> {
        if let Some(expression) = &self.expression {
            return expression.head(text, at, line_end(text.as_bytes(), at), found);
        }
        *found = Found::default();
        let bytes = text.as_bytes();
        // Not even the end of the line is looked for further on: a line may be tried at many places.
        let bytes = &bytes[..bytes.len().min(at + HEAD_BYTES_MAX)];
        let mut end = line_end(bytes, at);
        for _ in 0..self.head_breaks {
            end = line_end(bytes, (end + 1).min(bytes.len()));
        }
        let mut walk = Walk { bytes: &bytes[..end], tries: TRIES_MAX, any_level: self.any_level, found };
        let begin = walk.run(&self.head, at)?;
        // A bound may have cut a character in two.
        text.is_char_boundary(begin).then_some(begin)
    }

    /// Matches what stands behind a message, at the end of a line that goes from `from` to `end`. The answer is where
    /// the message ends.
    pub(crate) fn tail(&self, text: &str, from: usize, end: usize, found: &mut Found) -> Option<usize> {
        let bytes = &text.as_bytes()[..end];
        let mut tries = TRIES_MAX;
        let mut before = end;
        loop {
            tries = tries.checked_sub(1)?;
            let at = last_start(&self.tail, bytes, from, before)?;
            // What a failed try has found is forgotten.
            let mut with_tail = *found;
            let mut walk = Walk { bytes, tries, any_level: self.any_level, found: &mut with_tail };
            let fits = walk.run(&self.tail, at).is_some_and(|it| skip_space(bytes, it) == end);
            tries = walk.tries;
            if fits && text.is_char_boundary(at) {
                *found = with_tail;
                return Some(at);
            }
            before = at;
        }
    }
}

impl fmt::Display for Layout {
    fn fmt(&self, f: &mut fmt::Formatter<'_>) -> fmt::Result {
        f.write_str(&self.pattern)
    }
}

/// The last place in `from..before` where `tokens` could begin.
fn last_start(tokens: &[Token], bytes: &[u8], from: usize, before: usize) -> Option<usize> {
    let within = bytes.get(from..before)?;
    match tokens {
        [Token::Space | Token::Padding, Token::Text(text), ..] => {
            let at = memmem::rfind(within, text)? + from;
            let spaces = bytes[from..at].iter().rev().take_while(|it| is_space(**it)).count();
            // Without its white space it is still the place from which to look further.
            Some(at - spaces)
        }
        [Token::Text(text), ..] => Some(memmem::rfind(within, text)? + from),
        [Token::Space, ..] => within.iter().rposition(|it| is_space(*it)).map(|it| it + from),
        _ => before.checked_sub(1).filter(|it| *it >= from),
    }
}

struct Walk<'t> {
    bytes: &'t [u8],
    tries: u32,
    any_level: bool,
    found: &'t mut Found,
}

impl Walk<'_> {
    fn run(&mut self, tokens: &[Token], mut at: usize) -> Option<usize> {
        for (n, token) in tokens.iter().enumerate() {
            at = match token {
                Token::Text(text) => self.bytes[at..].starts_with(text).then_some(at + text.len())?,
                Token::Space => self.space(at)?,
                Token::Padding => skip_space(self.bytes, at),
                Token::Break => {
                    let end = skip_space(self.bytes, at);
                    (self.bytes.get(end) == Some(&b'\n')).then_some(end + 1)?
                }
                Token::Field(field) if token.is_open() => return self.open(field, &tokens[n + 1..], at),
                Token::Field(field) => self.narrow(field, at)?,
            };
        }
        Some(at)
    }

    /// White space, of which an empty field or the end of the line may have left none.
    fn space(&self, at: usize) -> Option<usize> {
        let after = skip_space(self.bytes, at);
        let enough = after > at
            || at.checked_sub(1).is_some_and(|it| is_space(self.bytes[it]))
            || matches!(self.bytes.get(at), None | Some(b'\n'));
        enough.then_some(after)
    }

    fn open(&mut self, field: &Field, rest: &[Token], at: usize) -> Option<usize> {
        let line_end = line_end(self.bytes, at);
        if rest.is_empty() {
            self.keep(field, at, line_end);
            return Some(line_end);
        }
        let mut from = at;
        loop {
            self.tries = self.tries.checked_sub(1)?;
            let end = next_start(rest, self.bytes, from, line_end)?;
            if let Some(after) = self.run(rest, end) {
                self.keep(field, at, end);
                return Some(after);
            }
            from = end + 1;
        }
    }

    fn keep(&mut self, field: &Field, start: usize, end: usize) {
        let padded = &self.bytes[start..end];
        let left = padded.iter().take_while(|it| is_space(**it)).count();
        let right = padded[left..].iter().rev().take_while(|it| is_space(**it)).count();
        let span = Span::new(start + left, end - right);
        match field {
            Field::Thread => self.found.thread = Some(span),
            // Of several contexts the first that has something is the one.
            Field::Context if span.start < span.end => self.found.context = Some(span),
            _ => {}
        }
    }

    fn narrow(&mut self, field: &Field, at: usize) -> Option<usize> {
        let run = |fits: fn(u8) -> bool| {
            let length = self.bytes[at..].iter().take_while(|it| fits(**it)).count();
            (length > 0).then_some(at + length)
        };
        match field {
            Field::Date(format) => {
                let (time_ms, end) = format.read(self.bytes, at)?;
                self.found.time_ms = Some(time_ms);
                self.found.is_time_of_day = !format.has_day;
                Some(end)
            }
            Field::Level => {
                let end = run(|it| it.is_ascii_alphabetic())?;
                // Only letters: it is text.
                let word = std::str::from_utf8(&self.bytes[at..end]).ok()?;
                self.found.level = Level::parse(word);
                let is_level = self.found.level.is_some()
                    || (self.any_level
                        && word.len() <= LEVEL_BYTES_MAX
                        && word.bytes().all(|it| it.is_ascii_uppercase()));
                is_level.then_some(end)
            }
            Field::Logger => {
                let end = run(is_name)?;
                self.found.logger = Some(Span::new(at, end));
                Some(end)
            }
            Field::File => {
                let end = run(is_name)?;
                self.found.file = Some(Span::new(at, end));
                Some(end)
            }
            Field::Method => {
                let end = run(is_name)?;
                self.found.method = Some(Span::new(at, end));
                Some(end)
            }
            Field::SourceLine => {
                // Where the framework does not know the line it writes a question mark.
                let end = run(|it| it.is_ascii_digit() || it == b'?')?;
                self.found.source_line = number(&self.bytes[at..end]);
                Some(end)
            }
            Field::Number => run(|it| it.is_ascii_digit() || it == b'-'),
            Field::Location => self.location(at),
            Field::Thread | Field::Context | Field::Other => unreachable!("an open field"),
        }
    }

    fn location(&mut self, at: usize) -> Option<usize> {
        let rest = &self.bytes[at..];
        let name = rest.iter().take_while(|it| is_name(**it)).count();
        let dot = memrchr(b'.', &rest[..name])?;
        if rest.get(name) != Some(&b'(') {
            return None;
        }
        let source = &rest[name + 1..];
        let close =
            source.iter().position(|it| matches!(it, b')' | b'\n')).filter(|it| source[*it] == b')')?;
        let file = memchr(b':', &source[..close]).unwrap_or(close);
        self.found.logger = Some(Span::new(at, at + dot));
        self.found.method = Some(Span::new(at + dot + 1, at + name));
        self.found.file = Some(Span::new(at + name + 1, at + name + 1 + file));
        self.found.source_line = source.get(file + 1..close).and_then(number);
        Some(at + name + 1 + close + 1)
    }
}

/// The first place in `from..=end` where `tokens`, which follow an open field, could begin.
fn next_start(tokens: &[Token], bytes: &[u8], from: usize, end: usize) -> Option<usize> {
    let within = bytes.get(from..end)?;
    match tokens {
        [Token::Text(text), ..] => Some(find(within, text)? + from),
        [Token::Space, Token::Text(text), ..] => {
            // Looking for the text rather than for each white space before it spares tries.
            let mut skipped = 0;
            loop {
                let at = find(&within[skipped..], text)? + skipped + from;
                let spaces = bytes[from..at].iter().rev().take_while(|it| is_space(**it)).count();
                if spaces > 0 || (at == from && at > 0 && is_space(bytes[at - 1])) {
                    return Some(at - spaces);
                }
                skipped = at - from + 1;
            }
        }
        [Token::Space, ..] => {
            if from > 0 && is_space(bytes[from - 1]) && !within.first().is_some_and(|it| is_space(*it)) {
                return Some(from);
            }
            Some(within.iter().position(|it| is_space(*it)).unwrap_or(within.len()) + from)
        }
        [Token::Break, ..] => Some(end),
        _ => Some(from),
    }
}

/// Where `text` is. What stands between the fields of a layout is a few bytes long, for which a searcher is not worth
/// its making.
fn find(within: &[u8], text: &[u8]) -> Option<usize> {
    let first = *text.first()?;
    let mut from = 0;
    loop {
        let at = from + memchr(first, &within[from..])?;
        if within[at..].starts_with(text) {
            return Some(at);
        }
        from = at + 1;
    }
}

fn number(digits: &[u8]) -> Option<u32> {
    std::str::from_utf8(digits).ok()?.parse().ok()
}

pub(crate) fn is_space(byte: u8) -> bool {
    matches!(byte, b' ' | b'\t')
}

fn skip_space(bytes: &[u8], at: usize) -> usize {
    at + bytes[at..].iter().take_while(|it| is_space(**it)).count()
}

/// What may stand in the name of a class, a logger, a method or a file.
fn is_name(byte: u8) -> bool {
    NAME[byte as usize]
}

/// Looked up rather than compared: names are most of what stands before a message.
const NAME: [bool; 256] = {
    let mut table = [false; 256];
    let mut byte = 0;
    while byte < 256 {
        let it = byte as u8;
        table[byte] = it.is_ascii_alphanumeric()
            || matches!(it, b'.' | b'$' | b'_' | b'-' | b'/' | b'<' | b'>' | b'?' | b'~' | b'#' | b'*')
            || it >= 0x80;
        byte += 1;
    }
    table
};

/// Where the line that has `at` ends: at its end of line, or at the end of the text.
pub(crate) fn line_end(bytes: &[u8], at: usize) -> usize {
    memchr(b'\n', &bytes[at..]).map_or(bytes.len(), |it| at + it)
}
