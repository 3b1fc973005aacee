//! A log: a header, entries, and what a test runner wrote behind them.

use crate::entry::Entry;
use crate::error::{LogError, first_line};
use crate::known;
use crate::layout::{Found, Layout, Span, is_space, line_end};
use crate::runner;
use crate::text::{Decoder, Origin};
use crate::trace;
use crate::warning::{Warning, warnings};

/// A log that was read: its text, and where its entries are.
///
/// Every line belongs to the header, to one entry or to the footer.
#[derive(Clone, Debug)]
pub struct Log {
    text: String,
    layout: Layout,
    entries: Vec<Place>,
    lines: u32,
    /// Where the header ends.
    header_end: usize,
    /// Where the footer begins, and its line.
    footer: Option<(usize, u32)>,
    origin: Origin,
}

/// Where an entry is.
#[derive(Clone, Copy, Debug)]
pub(crate) struct Place {
    pub line: u32,
    lines: u32,
    found: Found,
    /// Where it begins.
    start: u32,
    message: Span,
    rest: Span,
}

/// Positions have four bytes.
pub(crate) const BYTES_MAX: usize = u32::MAX as usize;
/// How far into a line an entry may begin that is glued to other text.
const GLUE_BYTES_MAX: usize = 512;
const DAY_MS: i64 = 86_400_000;

impl Log {
    /// Reads a log, whose layout is detected.
    pub fn read(bytes: &[u8]) -> Result<Log, LogError> {
        let (text, origin) = decode(bytes)?;
        let layout = known::detect(&text)?;
        Ok(parse(text, layout, origin))
    }

    /// Reads a log of a given layout.
    pub fn read_with(bytes: &[u8], layout: &Layout) -> Result<Log, LogError> {
        let (text, origin) = decode(bytes)?;
        let log = parse(text, layout.clone(), origin);
        if log.entries.is_empty() {
            return Err(LogError::OtherLayout {
                pattern: layout.pattern().to_owned(),
                lines: log.lines as usize,
                first: first_line(&log.text),
            });
        }
        Ok(log)
    }

    /// The text of a log's bytes as it is read from them, with `\n` at the end of each line, whether or not it has a layout.
    pub fn text_of(bytes: &[u8]) -> String {
        let mut text = String::new();
        Decoder::new(bytes).decode(bytes, &mut text);
        text
    }

    /// The layout that it was read with.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What is wrong with it although it can be read, and what that means.
    pub fn warnings(&self) -> Vec<Warning> {
        warnings(self.origin, &self.layout)
    }

    /// How many lines the text has.
    pub fn lines(&self) -> u32 {
        self.lines
    }

    /// How many entries there are.
    pub fn len(&self) -> usize {
        self.entries.len()
    }

    /// Whether there is no entry.
    pub fn is_empty(&self) -> bool {
        self.entries.is_empty()
    }

    /// The entries, in the order of the text.
    pub fn entries(&self) -> impl ExactSizeIterator<Item = Entry<'_>> + Clone {
        self.entries_from(0)
    }

    /// The entries from the `n`-th on, counted from zero. Those before it are not looked at.
    pub fn entries_from(&self, n: usize) -> impl ExactSizeIterator<Item = Entry<'_>> + Clone {
        self.entries[n.min(self.entries.len())..].iter().map(|it| self.view(it))
    }

    /// The `n`-th entry, counted from zero.
    pub fn entry(&self, n: usize) -> Option<Entry<'_>> {
        self.entries.get(n).map(|it| self.view(it))
    }

    /// What stands before the first entry.
    pub fn header(&self) -> &str {
        &self.text[..self.header_end]
    }

    /// How many lines the header has.
    pub fn header_lines(&self) -> u32 {
        self.entries.first().map_or(self.lines, |it| it.line - 1)
    }

    /// What a test runner wrote behind the last entry, if it did.
    pub fn footer(&self) -> Option<&str> {
        self.footer.map(|(at, _)| &self.text[at..])
    }

    /// How many lines the footer has.
    pub fn footer_lines(&self) -> u32 {
        self.footer.map_or(0, |(_, line)| self.lines + 1 - line)
    }

    fn view(&self, place: &Place) -> Entry<'_> {
        place.of(&self.text)
    }
}

impl Place {
    /// The entry that is there in a text.
    pub fn of<'t>(&self, whole: &'t str) -> Entry<'t> {
        let Place { line, lines, found, start, message, rest } = *self;
        let text = |span: Option<Span>| span.map(|it| it.of(whole));
        Entry {
            line,
            lines,
            time_ms: found.time_ms,
            level: found.level,
            thread: text(found.thread),
            logger: text(found.logger),
            file: text(found.file),
            source_line: found.source_line,
            method: text(found.method),
            context: text(found.context),
            message: message.of(whole),
            printed: Span { start, end: message.end }.of(whole),
            rest: rest.of(whole),
        }
    }
}

fn decode(bytes: &[u8]) -> Result<(String, Origin), LogError> {
    // Looked at first, because decoding takes as much again.
    let too_long = |bytes| LogError::TooLong { bytes, max: BYTES_MAX };
    if bytes.len() >= BYTES_MAX {
        return Err(too_long(bytes.len()));
    }
    let mut decoder = Decoder::new(bytes);
    let mut text = String::new();
    decoder.decode(bytes, &mut text);
    if text.len() >= BYTES_MAX {
        return Err(too_long(text.len()));
    }
    if text.trim().is_empty() { Err(LogError::Empty) } else { Ok((text, decoder.origin())) }
}

fn parse(text: String, layout: Layout, origin: Origin) -> Log {
    finish(text, layout, origin, Scan::new(Vec::new(), Clock::default(), 1))
}

/// The log of a text of which a part was scanned already.
pub(crate) fn finish(text: String, layout: Layout, origin: Origin, scan: Scan) -> Log {
    let mut reader = Reader { text: &text, layout: &layout, scan };
    reader.scan(text.len());
    let footer = reader.finish();
    let Scan { entries, header_end, line, .. } = reader.scan;
    let header_end = if entries.is_empty() { text.len() } else { header_end };
    Log { text, layout, entries, lines: line - 1, header_end, footer, origin }
}

/// A clock that says the time of day but not the day.
#[derive(Clone, Copy, Debug, Default)]
pub(crate) struct Clock {
    previous_ms: i64,
    days_ms: i64,
}

impl Clock {
    /// The time since the midnight before the first entry.
    fn since_start(&mut self, time_ms: i64) -> i64 {
        let mut time_ms = time_ms + self.days_ms;
        // A clock that goes back by half a day has passed midnight.
        if time_ms < self.previous_ms - DAY_MS / 2 {
            time_ms += DAY_MS;
            self.days_ms += DAY_MS;
        }
        self.previous_ms = time_ms;
        time_ms
    }
}

/// How far the entries of a text were found.
#[derive(Clone, Debug)]
pub(crate) struct Scan {
    /// The last is open: what belongs to it ends where the next begins.
    pub entries: Vec<Place>,
    /// Where the line begins that is looked at next.
    at: usize,
    /// Where the line ends on which the message of the last entry begins.
    message_end: usize,
    header_end: usize,
    /// The line that comes next.
    pub line: u32,
    /// Where the last entry begins, and what the clock said before it.
    pub last: (usize, Clock),
    clock: Clock,
}

impl Scan {
    pub fn new(entries: Vec<Place>, clock: Clock, line: u32) -> Scan {
        Scan { entries, at: 0, message_end: 0, header_end: 0, line, last: (0, clock), clock }
    }
}

/// Finds the entries of a text.
pub(crate) struct Reader<'t> {
    pub text: &'t str,
    pub layout: &'t Layout,
    pub scan: Scan,
}

impl Reader<'_> {
    /// Finds where entries begin that begin on the lines before `end`, and ends all but the last. Whoever adds text later
    /// lets it see only lines with everything behind them that the layout looks at.
    pub fn scan(&mut self, end: usize) {
        let bytes = self.text.as_bytes();
        while self.scan.at < end {
            let mut found = Found::default();
            let Some((start, message)) = self.start(self.scan.at, &mut found) else {
                self.scan.at = line_end(bytes, self.scan.at) + 1;
                self.scan.line = self.scan.line.saturating_add(1);
                continue;
            };
            self.close(start, self.scan.line);
            let breaks = self.layout.breaks() as u32;
            let scan = &mut self.scan;
            scan.last = (start, scan.clock);
            if let (Some(time_ms), true) = (&mut found.time_ms, found.is_time_of_day) {
                *time_ms = scan.clock.since_start(*time_ms);
            }
            if scan.entries.is_empty() {
                scan.header_end = start;
            }
            scan.message_end = line_end(bytes, message);
            let message = Span { start: message as u32, end: scan.message_end as u32 };
            let rest = Span { start: message.end, end: message.end };
            scan.entries.push(Place { line: scan.line, lines: 0, found, start: start as u32, message, rest });
            scan.at = scan.message_end + 1;
            scan.line = scan.line.saturating_add(1 + breaks);
        }
    }

    /// Ends the last entry where the text ends, or where the footer begins: the answer is where and on which line.
    pub fn finish(&mut self) -> Option<(usize, u32)> {
        let footer = self.footer();
        let (end, end_line) = footer.unwrap_or((self.text.len(), self.scan.line));
        self.close(end, end_line);
        footer
    }

    /// Whether the line at `at` starts an entry: where the text of the entry before ends, and where its message begins.
    fn start(&self, at: usize, found: &mut Found) -> Option<(usize, usize)> {
        let layout = self.layout;
        if let Some(message) = runner::past_progress(self.text, at, |at| layout.head(self.text, at, found)) {
            return Some((at, message));
        }
        if layout.starts_with_day() { self.glued(at, found) } else { None }
    }

    /// An entry behind text that somebody printed without an end of line. A line that quotes an entry has white space, a
    /// bracket or a quote before it.
    fn glued(&self, at: usize, found: &mut Found) -> Option<(usize, usize)> {
        let bytes = self.text.as_bytes();
        if is_space(bytes[at]) {
            return None;
        }
        let limit = line_end(bytes, at).min(at + GLUE_BYTES_MAX);
        let mut places = (at + 1..limit).filter(|it| {
            let before = bytes[it - 1];
            let begins = match bytes[*it] {
                b'0'..=b'9' => !before.is_ascii_digit(),
                byte => byte == b'[',
            };
            begins && (before.is_ascii_alphanumeric() || b".!?)]}".contains(&before))
        });
        places.find_map(|it| self.layout.head(self.text, it, found).map(|message| (it, message)))
    }

    /// Ends the last entry at `end`, before line `next_line`.
    fn close(&mut self, end: usize, next_line: u32) {
        let message_end = self.scan.message_end;
        let Some(last) = self.scan.entries.last_mut() else { return };
        // Two entries may stand on one line if one is glued to the other.
        last.lines = next_line.saturating_sub(last.line);
        let mut message_end = message_end.min(end);
        let mut goes_on = (message_end + 1).min(end);
        let mut has_tail = false;
        if self.layout.has_tail() {
            let mut from = last.message.start as usize;
            let mut line_ends = message_end;
            loop {
                if let Some(at) = self.layout.tail(self.text, from, line_ends, &mut last.found) {
                    (message_end, goes_on, has_tail) = (at, (line_ends + 1).min(end), true);
                    break;
                }
                if line_ends >= end {
                    break;
                }
                from = line_ends + 1;
                line_ends = line_end(self.text.as_bytes(), from).min(end);
            }
        }
        if let Some(at) = last.found.message_end.map(|it| it as usize).filter(|it| *it < message_end) {
            (message_end, has_tail) = (at, true);
        }
        if !has_tail && goes_on < end {
            let length = trace::begin(&self.text[goes_on..end], runner::is_report);
            if length > 0 {
                message_end = goes_on + length;
                goes_on = message_end;
            }
        }
        let begin = last.message.start as usize;
        let message = self.text[begin..message_end.max(begin)].trim_end_matches('\n');
        last.message.end = last.message.start + message.len() as u32;
        last.rest = Span { start: goes_on as u32, end: end.max(goes_on) as u32 };
    }

    /// Where a test runner's summary begins behind the last entry, and on which line.
    fn footer(&self) -> Option<(usize, u32)> {
        let last = self.scan.entries.last()?;
        let mut at = (self.scan.message_end + 1).min(self.text.len());
        let first = last.line + 1 + self.layout.breaks() as u32;
        // Blank lines and marks of progress right before it belong to it.
        let mut begin = None;
        for (line, it) in (first..).zip(self.text[at..].split_inclusive('\n')) {
            let bare = it.trim_end_matches('\n');
            if runner::is_summary(bare) {
                return begin.or(Some((at, line)));
            }
            begin = if runner::is_progress(bare) { begin.or(Some((at, line))) } else { None };
            at += it.len();
        }
        None
    }
}
