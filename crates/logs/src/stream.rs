//! A log of any length, read as it comes and not kept.

use std::io::{self, Read};

use crate::entry::Entry;
use crate::error::{LogError, first_line};
use crate::known;
use crate::layout::Layout;
use crate::log::{Clock, Place, Reader, Scan};
use crate::text::Decoder;
use crate::warning::{Warning, warnings};

/// Reads the entries of a log one after the other. Memory does not grow with the log, only with its longest entry, up to a
/// bound: of an entry that is longer the rest is passed over.
#[derive(Debug)]
pub struct LogReader<R> {
    source: R,
    /// How many bytes are read at a time.
    piece: usize,
    layout: Layout,
    decoder: Decoder,
    /// Bytes that were read and are not yet text: less than a line.
    bytes: Vec<u8>,
    /// Text with whole lines. It begins with the entry that was not yet complete before.
    text: String,
    /// The entries of the text, and which of them is next.
    entries: Vec<Place>,
    next: usize,
    /// Where in the text the entry begins that is not complete, on which line, and what the clock said before it.
    open: (usize, u32, Clock),
    is_at_end: bool,
    /// The first line of the log, while no entry was found.
    first: Option<String>,
    cut: u64,
}

/// Why a log that is read as it comes could not be read.
#[derive(Debug, thiserror::Error)]
pub enum ReadError {
    /// Its bytes did not come.
    #[error("the log cannot be read: {0}; look whether the file is still there and may be read")]
    Io(#[from] io::Error),
    /// It is no log.
    #[error(transparent)]
    Log(#[from] LogError),
}

/// How much is read at a time: little enough to stay in a processor's cache.
const PIECE_BYTES: usize = 256 * 1024;
/// The longest entry that is kept whole.
const ENTRY_BYTES_MAX: usize = 4 * 1024 * 1024;
/// How much text is looked at to find the layout.
const DETECTED_BYTES_MAX: usize = 16 * 1024 * 1024;

impl<R: Read> LogReader<R> {
    /// Reads a log, whose layout is detected from its beginning.
    pub fn new(source: R) -> Result<LogReader<R>, ReadError> {
        Self::open(source, None, PIECE_BYTES)
    }

    /// Reads a log of a given layout.
    pub fn with_layout(source: R, layout: &Layout) -> Result<LogReader<R>, ReadError> {
        Self::open(source, Some(layout.clone()), PIECE_BYTES)
    }

    fn open(mut source: R, layout: Option<Layout>, piece: usize) -> Result<LogReader<R>, ReadError> {
        let mut bytes = Vec::new();
        let mut is_at_end = fill(&mut source, &mut bytes, piece)?;
        let mut decoder = Decoder::new(&bytes);
        let mut text = String::new();
        let layout = loop {
            take_lines(&mut decoder, &mut bytes, is_at_end, &mut text);
            if is_at_end && text.trim().is_empty() {
                return Err(LogError::Empty.into());
            }
            let found = layout.clone().map_or_else(|| known::detect(&text), Ok);
            match found {
                Ok(layout) => break layout,
                Err(error) if is_at_end || text.len() >= DETECTED_BYTES_MAX => return Err(error.into()),
                // As much again, so that looking at it all again costs no more than twice.
                Err(_) => is_at_end = fill(&mut source, &mut bytes, text.len().max(piece))?,
            }
        };
        let mut reader = LogReader {
            source,
            piece,
            layout,
            decoder,
            bytes,
            first: Some(String::new()),
            text,
            entries: Vec::new(),
            next: 0,
            open: (0, 1, Clock::default()),
            is_at_end,
            cut: 0,
        };
        reader.scan();
        Ok(reader)
    }

    /// The next entry, or nothing at the end. Line numbers are those of the whole log.
    #[expect(
        clippy::should_implement_trait,
        reason = "an entry borrows the reader's text, which no iterator can say"
    )]
    pub fn next(&mut self) -> Result<Option<Entry<'_>>, ReadError> {
        while self.next == self.entries.len() {
            if !self.is_at_end {
                self.more()?;
                continue;
            }
            let Some(first) = self.first.take() else { return Ok(None) };
            let (pattern, lines) = (self.layout.pattern().to_owned(), self.open.1 as usize - 1);
            return Err(LogError::OtherLayout { pattern, lines, first }.into());
        }
        self.first = None;
        let place = self.entries[self.next];
        self.next += 1;
        Ok(Some(place.of(&self.text)))
    }

    /// The layout that it is read with.
    pub fn layout(&self) -> &Layout {
        &self.layout
    }

    /// What is wrong with the log as far as it was read, and what that means.
    pub fn warnings(&self) -> Vec<Warning> {
        warnings(self.decoder.origin(), &self.layout)
    }

    /// How many entries were too long to be kept whole.
    pub fn cut(&self) -> u64 {
        self.cut
    }

    /// How many bytes of memory it holds.
    pub fn held_bytes(&self) -> usize {
        self.bytes.capacity() + self.text.capacity() + self.entries.capacity() * size_of::<Place>()
    }

    /// Reads on from the entry that is not complete.
    fn more(&mut self) -> Result<(), ReadError> {
        let (from, ..) = self.open;
        self.text.drain(..from);
        self.open.0 = 0;
        // As much again as there is, so that a long entry is not looked at too often.
        let wanted = self.text.len().max(self.piece);
        self.is_at_end = fill(&mut self.source, &mut self.bytes, wanted)?;
        let is_long_line = self.bytes.len() >= ENTRY_BYTES_MAX;
        take_lines(&mut self.decoder, &mut self.bytes, self.is_at_end || is_long_line, &mut self.text);
        self.scan();
        Ok(())
    }

    /// Finds the entries of the text. The last is complete only if nothing follows.
    fn scan(&mut self) {
        let (_, line, clock) = self.open;
        if let Some(first) = self.first.as_mut().filter(|it| it.is_empty()) {
            *first = first_line(&self.text);
        }
        let mut entries = std::mem::take(&mut self.entries);
        entries.clear();
        self.next = 0;
        let scan = Scan::new(entries, clock, line);
        let mut reader = Reader { text: &self.text, layout: &self.layout, scan };
        reader.scan(self.text.len());
        let is_cut = self.text.len() >= ENTRY_BYTES_MAX && reader.scan.entries.len() == 1;
        if self.is_at_end || is_cut {
            reader.finish();
            self.cut += u64::from(is_cut && !self.is_at_end);
            self.open = (self.text.len(), reader.scan.line, reader.scan.last.1);
        } else if let Some(last) = reader.scan.entries.pop() {
            self.open = (reader.scan.last.0, last.line, reader.scan.last.1);
        } else {
            // The last lines may be the beginning of an entry that has its message on a further one.
            let breaks = self.layout.breaks();
            let ends = memchr::memrchr_iter(b'\n', self.text.as_bytes()).skip(1);
            let from =
                if breaks == 0 { self.text.len() } else { ends.take(breaks).last().map_or(0, |it| it + 1) };
            let kept = memchr::memchr_iter(b'\n', &self.text.as_bytes()[from..]).count() as u32;
            self.open = (from, reader.scan.line - kept, clock);
        }
        self.entries = reader.scan.entries;
    }
}

/// Reads up to `wanted` more bytes; whether the end was reached.
fn fill(source: &mut impl Read, bytes: &mut Vec<u8>, wanted: usize) -> io::Result<bool> {
    let before = bytes.len();
    source.by_ref().take(wanted as u64).read_to_end(bytes)?;
    Ok(bytes.len() - before < wanted)
}

/// Moves whole lines, or everything, to the text.
fn take_lines(decoder: &mut Decoder, bytes: &mut Vec<u8>, all: bool, text: &mut String) {
    let end = if all { bytes.len() } else { decoder.whole_lines(bytes) };
    decoder.decode(&bytes[..end], text);
    bytes.drain(..end);
}

#[cfg(test)]
mod tests {
    use super::*;
    use crate::log::Log;
    use proptest::prelude::*;

    /// Reads in pieces of so many bytes.
    fn check(bytes: &[u8], layout: Option<&Layout>, piece: usize) {
        let whole = layout.map_or_else(|| Log::read(bytes), |it| Log::read_with(bytes, it));
        let mut reader = match (LogReader::open(bytes, layout.cloned(), piece), &whole) {
            (Ok(reader), _) => reader,
            (Err(ReadError::Log(error)), Err(expected)) => {
                assert_eq!(error.to_string(), expected.to_string());
                return;
            }
            (Err(error), _) => panic!("{error}"),
        };
        let whole = match (whole, layout) {
            (Ok(whole), Some(_)) => whole,
            // A layout that is detected by the beginning may be another.
            (Ok(_), None) => Log::read_with(bytes, reader.layout()).expect("a log"),
            (Err(expected), _) => {
                assert_eq!(reader.next().expect_err("an error").to_string(), expected.to_string());
                return;
            }
        };
        for expected in whole.entries() {
            assert_eq!(reader.next().expect("it is all there"), Some(expected));
        }
        assert_eq!(reader.next().expect("it is all there"), None);
        assert_eq!(reader.cut(), 0);
    }

    const PIECES: &[&str] = &[
        "2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - here\n",
        "2021-07-28 13:31:17,001 [myid:1] - WARN  [t:1:B$C@22] - there\r\n",
        ".2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - \u{e9}\n",
        "glued 2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - on\n",
        "\tat a.B.c(B.java:1)\n",
        "java.io.IOException: x\n",
        "Caused by: a.XException: x\n",
        "and more",
        "\n",
        "Time: 1.2\n",
        "OK (1 test)\n",
        "Jul 29, 2015 5:41:44 PM a.B run\n",
        "INFO: in two lines\n",
        "23:59:59.001 [main] INFO  a.B - late\n",
        "00:00:01.001 [main] INFO  a.B - early\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 128, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_give_what_the_whole_gives(
            text in prop::collection::vec(prop::sample::select(PIECES), 0..30).prop_map(|it| it.concat()),
            piece in 1_usize..400,
        ) {
            check(text.as_bytes(), None, piece);
            for pattern in [
                "%d{ISO8601} [myid:%X{myid}] - %-5p [%t:%C{1}@%L] - %m%n",
                "%d{MMM dd, yyyy h:mm:ss a} %C %M%n%p: %m%n",
                "%d{HH:mm:ss.SSS} [%thread] %-5level %logger{36} - %msg%n",
            ] {
                let layout = Layout::compile(pattern).expect("a pattern");
                check(text.as_bytes(), Some(&layout), piece);
                let wide: Vec<u8> = text.encode_utf16().flat_map(u16::to_le_bytes).collect();
                check(&[b"\xff\xfe", &wide[..]].concat(), Some(&layout), piece.max(8));
            }
        }
    }

    #[test]
    fn memory_stays_bounded_whatever_an_entry_has() {
        let entry = b"2021-07-28 13:31:16,997 INFO [main] a.B: here\n";
        let rest = [&b"x".repeat(3 * ENTRY_BYTES_MAX)[..], &b"\tat a.B.c(B.java:1)\n".repeat(500_000)];
        for rest in rest {
            let source = entry.chain(rest).chain(&b"\n"[..]).chain(&entry[..]);
            let mut reader = LogReader::new(source).expect("a log");
            let mut most = 0;
            let mut lines = Vec::new();
            while let Some(it) = reader.next().expect("it is all there") {
                lines.push(it.lines);
                most = most.max(reader.held_bytes());
            }
            assert_eq!((lines.len(), reader.cut()), (2, 1));
            assert!(most < 8 * ENTRY_BYTES_MAX, "{most}");
        }
    }
}
