//! A log that is read while it is written.

use crate::entry::Entry;
use crate::error::LogError;
use crate::known;
use crate::layout::Layout;
use crate::log::{BYTES_MAX, Clock, Log, Reader, Scan, finish};
use crate::text::{Decoder, LOOKED_AT_BYTES};

/// What there is of a log so far. What is added is read as far as nothing that follows can change it; the end says what the
/// whole log is, and the answer is that of [`Log::read`], however it was cut.
#[derive(Debug)]
pub struct GrowingLog {
    /// None until there is enough to know the encoding.
    decoder: Option<Decoder>,
    /// Bytes that are not yet text: less than a line.
    pending: Vec<u8>,
    /// Whole lines.
    text: String,
    /// The bytes that the text was made of, once they are others.
    bytes: Option<Vec<u8>>,
    /// None until no further line can give another.
    layout: Option<Layout>,
    /// How long the text must be before the layout is looked for again.
    look_bytes: usize,
    scan: Scan,
    /// Whether it is of no use to read on before the end.
    is_left: bool,
}

/// A line that gets longer is not waited for.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;
/// The shortest text in which a layout is looked for.
const LOOK_BYTES_MIN: usize = 32 * 1024;

impl Default for GrowingLog {
    fn default() -> Self {
        GrowingLog {
            decoder: None,
            pending: Vec::new(),
            text: String::new(),
            bytes: None,
            layout: None,
            look_bytes: LOOK_BYTES_MIN,
            scan: Scan::new(Vec::new(), Clock::default(), 1),
            is_left: false,
        }
    }
}

impl GrowingLog {
    /// Adds what was written next.
    pub fn add(&mut self, bytes: &[u8]) {
        if self.is_left || self.text.len() + bytes.len() >= BYTES_MAX / 2 {
            self.leave();
            return;
        }
        self.pending.extend_from_slice(bytes);
        if self.decoder.is_none() && self.pending.len() >= LOOKED_AT_BYTES {
            self.decoder = Some(Decoder::new(&self.pending));
        }
        let Some(decoder) = &mut self.decoder else { return };
        let whole = decoder.whole_lines(&self.pending);
        if whole == 0 {
            if self.pending.len() > LINE_BYTES_MAX {
                self.leave();
            }
            return;
        }
        let from = self.text.len();
        decoder.decode(&self.pending[..whole], &mut self.text);
        if self.bytes.is_none() && self.text.as_bytes()[from..] != self.pending[..whole] {
            self.bytes = Some(self.text.as_bytes()[..from].to_vec());
        }
        if let Some(bytes) = &mut self.bytes {
            bytes.extend_from_slice(&self.pending[..whole]);
        }
        self.pending.drain(..whole);
        self.find();
    }

    /// The layout, as soon as it is known.
    pub fn layout(&self) -> Option<&Layout> {
        self.layout.as_ref()
    }

    /// The entries that nothing can change any more, from the `n`-th on, counted from zero.
    pub fn entries_from(&self, n: usize) -> impl ExactSizeIterator<Item = Entry<'_>> + Clone {
        let complete = self.scan.entries.len().saturating_sub(1);
        self.scan.entries[n.min(complete)..complete].iter().map(|it| it.of(&self.text))
    }

    /// The log, given all of its bytes; and whether its entries begin with those that were complete before. They do not if what
    /// was added is not what the log begins with: somebody has begun the file anew.
    pub fn finish(mut self, whole: &[u8]) -> (Result<Log, LogError>, bool) {
        let read = self.bytes.as_deref().unwrap_or(self.text.as_bytes());
        let is_same = !self.is_left && whole.len() < BYTES_MAX && whole.starts_with(read);
        let (Some(layout), Some(mut decoder), true) = (self.layout.take(), self.decoder.take(), is_same)
        else {
            return (Log::read(whole), false);
        };
        let read = read.len();
        let mut text = std::mem::take(&mut self.text);
        decoder.decode(&whole[read..], &mut text);
        if text.len() >= BYTES_MAX {
            return (Err(LogError::TooLong { bytes: text.len(), max: BYTES_MAX }), false);
        }
        (Ok(finish(text, layout, decoder.origin(), self.scan)), true)
    }

    fn find(&mut self) {
        if self.layout.is_none() && self.text.len() >= self.look_bytes {
            // As much again, so that looking at it all again costs no more than twice.
            self.look_bytes = 2 * self.text.len();
            match known::detect_begun(&self.text) {
                Some(Ok(layout)) => self.layout = Some(layout),
                Some(Err(_)) => self.leave(),
                None => {}
            }
        }
        let Some(layout) = &self.layout else { return };
        // The last lines may be the beginning of an entry that has its message on a further one.
        let mut ends = memchr::memrchr_iter(b'\n', self.text.as_bytes());
        let end = match layout.breaks() {
            0 => self.text.len(),
            breaks => ends.nth(breaks).map_or(0, |it| it + 1),
        };
        let scan = std::mem::replace(&mut self.scan, Scan::new(Vec::new(), Clock::default(), 1));
        let mut reader = Reader { text: &self.text, layout, scan };
        reader.scan(end);
        self.scan = reader.scan;
    }

    /// Gives up reading before the end, and the memory with it.
    fn leave(&mut self) {
        *self = GrowingLog { is_left: true, ..GrowingLog::default() };
    }
}
