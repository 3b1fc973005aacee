//! The bytes of a log as text.

use std::borrow::Cow;

/// The longest escape sequence that a terminal understands; what is longer is text.
const ESCAPE_BYTES_MAX: usize = 32;

/// Decodes the bytes of a log. What is no UTF-8 becomes the replacement character, ends of line become `\n`, and what
/// colours a terminal goes away. Lines keep their numbers.
pub(crate) fn decode(bytes: &[u8]) -> String {
    let bytes = bytes.strip_prefix(b"\xef\xbb\xbf").unwrap_or(bytes);
    let text = String::from_utf8_lossy(bytes);
    if memchr::memchr2(b'\r', b'\x1b', text.as_bytes()).is_none() { text.into_owned() } else { clean(text) }
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
            assert_eq!(decode(bytes), expected);
        }
    }
}
