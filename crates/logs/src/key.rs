//! What makes two entries of different logs the same.

use crate::class::outermost;
use crate::entry::Entry;
use crate::role::role;
use crate::statements::StatementId;

/// What an entry says, without what differs from run to run: the statements that can have written it, or else its message
/// with the variable parts masked. Equal in every log that was tied with the same statements and the same fields.
#[derive(Clone, Copy, Debug, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct Key(pub u64);

/// How much of a message that no statement has written tells it from others.
const MASKED_BYTES_MAX: usize = 512;

impl Key {
    /// The key of an entry with these statements, which are in order.
    pub(crate) fn of(entry: &Entry<'_>, statements: &[StatementId]) -> Key {
        let mut hash = Fnv::default();
        if statements.is_empty() {
            hash.bytes(entry.class().map_or("", outermost).as_bytes());
            hash.bytes(&[0]);
            hash.bytes(masked(entry.first_line()).as_bytes());
        } else {
            statements.iter().for_each(|it| hash.bytes(&it.0.to_le_bytes()));
        }
        // The two kinds never meet.
        Key(hash.end() << 1 | u64::from(statements.is_empty()))
    }
}

/// A message without its numbers, addresses and paths.
pub(crate) fn masked(message: &str) -> String {
    let mut end = message.len().min(MASKED_BYTES_MAX);
    while !message.is_char_boundary(end) {
        end -= 1;
    }
    let words = message[..end].split(' ').map(without_path);
    role(&words.collect::<Vec<_>>().join(" ")).into_owned()
}

/// A word with the path in it as `#`: `file=/tmp/a/b,` is `file=#,`.
fn without_path(word: &str) -> String {
    let is_edge = |it: char| "=:([{<\"',;)]}>".contains(it);
    let Some(slash) = word.find('/') else { return word.to_owned() };
    let begin = word[..slash].rfind(is_edge).map_or(0, |it| it + 1);
    // A single slash within a word is no path: `read/write`.
    if begin < slash && !word[slash + 1..].contains('/') {
        return word.to_owned();
    }
    let end = word.trim_end_matches(is_edge).len().max(slash + 1);
    format!("{}#{}", &word[..begin], &word[end..])
}

/// FNV-1a: the same in every build, since keys may be written down.
struct Fnv(u64);

impl Default for Fnv {
    fn default() -> Self {
        Fnv(0xcbf2_9ce4_8422_2325)
    }
}

impl Fnv {
    fn bytes(&mut self, bytes: &[u8]) {
        for it in bytes {
            self.0 = (self.0 ^ u64::from(*it)).wrapping_mul(0x0000_0100_0000_01b3);
        }
    }

    fn end(&self) -> u64 {
        // The last bytes have not reached every bit.
        let mixed = (self.0 ^ self.0 >> 32).wrapping_mul(0x9e37_79b9_7f4a_7c15);
        mixed ^ mixed >> 29
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn what_differs_from_run_to_run_is_masked() {
        for (message, expected) in [
            ("Started", "Started"),
            ("took 12 ms", "took # ms"),
            ("session 0x14f05578bd80006 of /10.0.0.1:4711", "session # of #"),
            ("wrote /tmp/test123/version-2/log.1 in 3 ms", "wrote # in # ms"),
            ("wrote file=/tmp/x, size=3", "wrote file=#, size=#"),
            ("read/write of hdfs://a:1/b/c", "read/write of hdfs:#"),
            ("a / b", "a # b"),
            ("\u{e9}/\u{e9}/\u{e9}", "#"),
            ("", ""),
        ] {
            assert_eq!(masked(message), expected, "{message}");
        }
    }

    #[test]
    fn keys_of_statements_and_of_texts_differ() {
        let entry = |message| Entry { message, ..Entry::default() };
        let (one, two) = (StatementId(1), StatementId(2));
        let keys = [
            Key::of(&entry("a"), &[]),
            Key::of(&entry("b"), &[]),
            Key::of(&Entry { logger: Some("a"), ..entry("a") }, &[]),
            Key::of(&entry("a"), &[one]),
            Key::of(&entry("a"), &[two]),
            Key::of(&entry("a"), &[one, two]),
        ];
        for (n, key) in keys.iter().enumerate() {
            assert!(!keys[..n].contains(key), "{n}");
        }
        assert_eq!(Key::of(&entry("a 1"), &[]), Key::of(&entry("a 2"), &[]));
        assert_eq!(Key::of(&entry("a"), &[one]), Key::of(&entry("b"), &[one]));
    }
}
