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
    /// How many lines the text has, and how many it must have before the layout is looked for again.
    lines: usize,
    look_lines: usize,
    scan: Scan,
    /// Whether it is of no use to read on before the end.
    is_left: bool,
}

/// A line that gets longer is not waited for.
const LINE_BYTES_MAX: usize = 4 * 1024 * 1024;

impl Default for GrowingLog {
    fn default() -> Self {
        GrowingLog {
            decoder: None,
            pending: Vec::new(),
            text: String::new(),
            bytes: None,
            layout: None,
            lines: 0,
            look_lines: known::SETTLED_LINES,
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
        self.lines += memchr::memchr_iter(b'\n', &self.text.as_bytes()[from..]).count();
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
        if self.layout.is_none() && self.lines >= self.look_lines {
            // As much again, so that looking at it all again costs no more than twice.
            self.look_lines = 2 * self.lines;
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

#[cfg(test)]
mod tests {
    use super::*;
    use proptest::prelude::*;

    /// Adds the bytes cut into pieces of these lengths, in turn, up to `until`, and ends with all; whether what was read before
    /// the end was of use.
    fn check(bytes: &[u8], whole: &Result<Log, LogError>, pieces: &[usize], until: usize) -> bool {
        let mut growing = GrowingLog::default();
        let mut entries = 0;
        let mut rest = &bytes[..until];
        for length in pieces.iter().cycle() {
            if rest.is_empty() {
                break;
            }
            let (piece, behind) = rest.split_at(rest.len().min(*length));
            growing.add(piece);
            rest = behind;
            for it in growing.entries_from(entries) {
                let expected = whole.as_ref().expect("it has entries").entry(entries);
                assert_eq!(Some(it), expected);
                entries += 1;
            }
        }
        let (log, is_begun) = growing.finish(bytes);
        assert!(is_begun || entries == 0);
        match (log, whole) {
            (Ok(log), Ok(whole)) => {
                assert!(log.entries().eq(whole.entries()), "the entries are the same");
                assert_eq!((log.header(), log.footer()), (whole.header(), whole.footer()));
                assert_eq!(log.layout().pattern(), whole.layout().pattern());
                assert_eq!((log.lines(), log.warnings()), (whole.lines(), whole.warnings()));
            }
            (log, whole) => {
                assert_eq!(log.map(drop).map_err(|it| show(&it)), whole.as_ref().map(drop).map_err(show))
            }
        }
        is_begun
    }

    fn show(error: &LogError) -> String {
        error.to_string()
    }

    /// Each group has a layout of its own, or none.
    const LINES: &[&[&[u8]]] = &[
        &[
            b"2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - here\n",
            b"2021-07-28 13:31:17,001 [myid:1] - WARN  [t:1:B$C@22] - th\xc3\xa9re\r\n",
            b".2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - \xe2\x82\xac\xff\n",
            b"glued2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - on\n",
            b"\x1b[32m2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - green\x1b[0;39m\n",
        ],
        &[
            b"Jul 29, 2015 5:41:44 PM a.B run\n",
            b"INFO: in two lines\n",
            b"Jul 29, 2015 5:41:45 PM a.B run\nWARNING: x\n",
        ],
        &[b"23:59:59.001 [main] INFO  a.B - late\n", b"00:00:01.001 [main] INFO  a.B - early\n"],
        &[
            b"[2021-07-28 13:31:16,997] INFO tailed (a.B)\n",
            b"[2021-07-28 13:31:16,997] WARN in two\nlines (a.B)\n",
        ],
        &[b"nobody\n", b"knows\n", b" this\n"],
    ];
    const NOISE: &[&[u8]] = &[
        b"\tat a.B.c(B.java:1)\n",
        b"java.io.IOException: x\n",
        b"Caused by: a.XException: x\r\n",
        b"and more",
        b"\n",
        b"Time: 1.2\n",
        b"OK (1 test)\n",
    ];

    proptest! {
        #![proptest_config(ProptestConfig { cases: 12, failure_persistence: None, ..ProptestConfig::default() })]

        #[test]
        fn pieces_give_what_the_whole_gives(
            group in prop::sample::select(LINES),
            before in prop::sample::select(&[0_usize, 3, 1100]),
            picks in prop::collection::vec((0_usize..50, 0_usize..40), 1300..1500),
            pieces in prop::collection::vec(1_usize..9000, 1..40),
            until in 0.5_f64..=1.0,
            is_wide in prop::bool::weighted(0.2),
        ) {
            let mut bytes = b"no entry\n".repeat(before);
            for (line, noise) in picks {
                bytes.extend_from_slice(group[line % group.len()]);
                bytes.extend_from_slice(NOISE.get(noise).copied().unwrap_or_default());
            }
            if is_wide {
                let text = String::from_utf8_lossy(&bytes).into_owned();
                bytes = [0xff, 0xfe].into_iter().chain(text.encode_utf16().flat_map(u16::to_le_bytes)).collect();
            }
            let until = (bytes.len() as f64 * until) as usize;
            let whole = Log::read(&bytes);
            check(&bytes, &whole, &pieces, until);
            check(&bytes, &whole, &[bytes.len()], until);
        }
    }

    const ENTRY: &[u8] = b"2021-07-28 13:31:16,997 [myid:] - INFO  [main:A@1] - \xe2\x82\xac here\r\n";

    #[test]
    fn a_cut_may_be_anywhere() {
        let bytes =
            [&ENTRY.repeat(1300)[..], b"java.io.IOException: x\n\tat a.B.c(B.java:1)\n", ENTRY, b"Time: 1\n"]
                .concat();
        let behind = bytes.len() - 3 * ENTRY.len();
        let whole = Log::read(&bytes);
        for cut in behind..bytes.len() {
            assert!(check(&bytes, &whole, &[cut, 1], bytes.len()), "{cut}");
        }
        assert!(check(&bytes, &whole, &[1], bytes.len()));
    }

    #[test]
    fn a_file_that_was_begun_anew_is_read_as_it_is() {
        let mut growing = GrowingLog::default();
        growing.add(&ENTRY.repeat(2000));
        assert!(growing.layout().is_some() && growing.entries_from(0).len() == 1999);
        for anew in [&ENTRY.repeat(1500)[..], &b"x".repeat(ENTRY.len() * 3000), b""] {
            let mut growing = GrowingLog::default();
            growing.add(&ENTRY.repeat(2000));
            let (log, is_begun) = growing.finish(anew);
            assert!(!is_begun);
            let expected = Log::read(anew).map(|it| it.len());
            assert_eq!(log.map(|it| it.len()).map_err(|it| show(&it)), expected.map_err(|it| show(&it)));
        }
    }

    #[test]
    fn what_is_no_log_or_has_no_end_of_line_is_not_kept() {
        let mut growing = GrowingLog::default();
        (0..6).for_each(|_| growing.add(&b"x".repeat(1 << 20)));
        assert!(growing.is_left && growing.pending.capacity() == 0);
        let (log, is_begun) = growing.finish(&[&b"x".repeat(6 << 20)[..], b"\n", ENTRY].concat());
        assert_eq!((log.expect("a log").len(), is_begun), (1, false));
    }
}
