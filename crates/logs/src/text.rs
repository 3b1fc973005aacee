//! The bytes of a log as text.

use std::borrow::Cow;

/// The longest escape sequence that a terminal understands; what is longer is text.
const ESCAPE_BYTES_MAX: usize = 32;

/// How the bytes of a log are to be read.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) enum Encoding {
    #[default]
    Utf8,
    Utf16Le,
    Utf16Be,
}

/// What the text of a log was before it was text.
#[derive(Clone, Copy, Debug, Default, PartialEq, Eq)]
pub(crate) struct Origin {
    pub encoding: Encoding,
    /// How many times bytes were no text.
    pub broken: u64,
    /// The line of the first.
    pub broken_line: u64,
}

/// Turns the bytes of a log into text, in one piece or line by line. What is no text becomes the replacement character,
/// ends of line become `\n`, and what colours a terminal goes away. Lines keep their numbers.
#[derive(Debug)]
pub(crate) struct Decoder {
    origin: Origin,
    /// Bytes at the start that are no text.
    mark: usize,
    lines: u64,
}

/// How many bytes tell what encoding they are in when nothing says it.
pub(crate) const LOOKED_AT_BYTES: usize = 256;

impl Decoder {
    /// A decoder for a text that begins with these bytes.
    pub fn new(begin: &[u8]) -> Decoder {
        let (encoding, mark) = match begin {
            [0xef, 0xbb, 0xbf, ..] => (Encoding::Utf8, 3),
            [0xff, 0xfe, ..] => (Encoding::Utf16Le, 2),
            [0xfe, 0xff, ..] => (Encoding::Utf16Be, 2),
            _ => (guess(begin), 0),
        };
        Decoder { origin: Origin { encoding, ..Origin::default() }, mark, lines: 0 }
    }

    pub fn origin(&self) -> Origin {
        self.origin
    }

    /// How many of these bytes are whole lines.
    pub fn whole_lines(&self, bytes: &[u8]) -> usize {
        match self.origin.encoding {
            Encoding::Utf8 => memchr::memrchr(b'\n', bytes).map_or(0, |it| it + 1),
            Encoding::Utf16Le | Encoding::Utf16Be => {
                let newline: [u8; 2] =
                    if self.origin.encoding == Encoding::Utf16Le { *b"\n\0" } else { *b"\0\n" };
                // The mark is as long as a character.
                let last = bytes.chunks_exact(2).rposition(|it| it == newline);
                last.map_or(0, |it| 2 * it + 2)
            }
        }
    }

    /// Adds the text of these bytes, which follow those that came before.
    pub fn decode(&mut self, bytes: &[u8], into: &mut String) {
        let mark = self.mark.min(bytes.len());
        self.mark -= mark;
        let bytes = &bytes[mark..];
        let begin = into.len();
        match self.origin.encoding {
            Encoding::Utf8 => self.utf8(bytes, into),
            Encoding::Utf16Le => self.utf16(bytes, u16::from_le_bytes, into),
            Encoding::Utf16Be => self.utf16(bytes, u16::from_be_bytes, into),
        }
        if memchr::memchr2(b'\r', b'\x1b', &into.as_bytes()[begin..]).is_some() {
            let cleaned = clean(Cow::Borrowed(&into[begin..]));
            into.truncate(begin);
            into.push_str(&cleaned);
        }
    }

    fn utf8(&mut self, bytes: &[u8], into: &mut String) {
        if let Ok(text) = std::str::from_utf8(bytes) {
            into.push_str(text);
            // Only for the line of what is broken, which no text needs that is not.
            self.lines += if self.origin.broken == 0 { count_lines(bytes) } else { 0 };
            return;
        }
        for it in bytes.utf8_chunks() {
            into.push_str(it.valid());
            if self.origin.broken == 0 {
                self.lines += count_lines(it.valid().as_bytes());
            }
            if !it.invalid().is_empty() {
                into.push(char::REPLACEMENT_CHARACTER);
                self.broken();
            }
        }
    }

    fn utf16(&mut self, bytes: &[u8], unit: fn([u8; 2]) -> u16, into: &mut String) {
        let (units, odd) = bytes.as_chunks::<2>();
        for it in char::decode_utf16(units.iter().map(|it| unit(*it))) {
            let it = it.unwrap_or_else(|_| {
                self.broken();
                char::REPLACEMENT_CHARACTER
            });
            self.lines += u64::from(it == '\n');
            into.push(it);
        }
        if !odd.is_empty() {
            self.broken();
            into.push(char::REPLACEMENT_CHARACTER);
        }
    }

    fn broken(&mut self) {
        if self.origin.broken == 0 {
            self.origin.broken_line = self.lines + 1;
        }
        self.origin.broken += 1;
    }
}

fn count_lines(bytes: &[u8]) -> u64 {
    memchr::memchr_iter(b'\n', bytes).count() as u64
}

/// UTF-16 without a mark: logs are mostly ASCII, so every second byte is zero.
fn guess(begin: &[u8]) -> Encoding {
    let (pairs, _) = begin[..begin.len().min(LOOKED_AT_BYTES)].as_chunks::<2>();
    let most = |which: usize| {
        let zeros = pairs.iter().filter(|it| it[which] == 0 && it[1 - which] != 0).count();
        pairs.len() >= 4 && zeros * 4 >= pairs.len() * 3
    };
    match (most(0), most(1)) {
        (true, _) => Encoding::Utf16Be,
        (_, true) => Encoding::Utf16Le,
        _ => Encoding::Utf8,
    }
}

fn clean(text: Cow<'_, str>) -> String {
    let mut cleaned = String::with_capacity(text.len());
    let bytes = text.as_bytes();
    let mut kept = 0;
    let mut from = 0;
    while let Some(found) = memchr::memchr2(b'\r', b'\x1b', &bytes[from..]) {
        let at = from + found;
        let dropped = match bytes[at] {
            b'\r' if bytes.get(at + 1) == Some(&b'\n') => 1,
            b'\x1b' => escape(&bytes[at..]),
            _ => 0,
        };
        if dropped > 0 {
            cleaned.push_str(&text[kept..at]);
            kept = at + dropped;
        }
        from = at + dropped.max(1);
    }
    cleaned.push_str(&text[kept..]);
    cleaned
}

/// How many bytes the escape sequence at the start has; none if it is no such sequence.
fn escape(bytes: &[u8]) -> usize {
    if bytes.get(1) != Some(&b'[') {
        return 0;
    }
    let parameters =
        bytes[2..].iter().take(ESCAPE_BYTES_MAX).take_while(|it| (0x20..0x40).contains(*it)).count();
    match bytes.get(2 + parameters) {
        Some(0x40..0x7f) => parameters + 3,
        _ => 0,
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    fn decode(bytes: &[u8]) -> (String, Origin) {
        let mut text = String::new();
        let mut decoder = Decoder::new(bytes);
        decoder.decode(bytes, &mut text);
        (text, decoder.origin())
    }

    #[test]
    fn sixteen_bits_with_and_without_a_mark() {
        let text = "2021-07-28 INFO \u{e9}\u{1f600}\r\nnext\n";
        let units = text.encode_utf16();
        let little: Vec<u8> = units.clone().flat_map(u16::to_le_bytes).collect();
        let big: Vec<u8> = units.flat_map(u16::to_be_bytes).collect();
        for (mark, bytes, encoding) in [
            (&b"\xff\xfe"[..], &little, Encoding::Utf16Le),
            (b"\xfe\xff", &big, Encoding::Utf16Be),
            (b"", &little, Encoding::Utf16Le),
            (b"", &big, Encoding::Utf16Be),
        ] {
            let bytes = [mark, bytes].concat();
            let (decoded, origin) = decode(&bytes);
            assert_eq!(
                (decoded.as_str(), origin.encoding),
                ("2021-07-28 INFO \u{e9}\u{1f600}\nnext\n", encoding)
            );
            assert_eq!(origin.broken, 0);
            let whole = Decoder::new(&bytes).whole_lines(&bytes[..bytes.len() - 2]);
            assert_eq!(whole, bytes.len() - 2 * "next\n".len());
        }
    }

    #[test]
    fn what_is_broken_is_counted() {
        for (bytes, count, line) in [
            (&b"a\nb\n"[..], 0, 0),
            (b"a\nb\xffc\xff\n", 2, 2),
            (b"\xff\xfea\0\n\0\x00\xd8b\0", 1, 2),
            (b"\xff\xfea\0b", 1, 1),
        ] {
            let (_, origin) = decode(bytes);
            assert_eq!((origin.broken, origin.broken_line), (count, line), "{bytes:?}");
        }
    }

    #[test]
    fn lines_keep_their_numbers_and_lose_what_is_no_text() {
        for (bytes, expected) in [
            (&b"a\nb"[..], "a\nb"),
            (b"a\r\nb\r\n", "a\nb\n"),
            (b"a\rb", "a\rb"),
            (b"\xef\xbb\xbfa", "a"),
            (b"a\xffb", "a\u{fffd}b"),
            (b"\x1b[32mINFO\x1b[0;39m x", "INFO x"),
            (b"\x1b[", "\x1b["),
            (b"\x1b[1\xffm\r\n\x1b", "\x1b[1\u{fffd}m\n\x1b"),
            (b"", ""),
        ] {
            assert_eq!(decode(bytes).0, expected);
        }
    }
}
