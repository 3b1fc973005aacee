//! Texts as numbers: every name and descriptor of the target once.

use std::hash::Hasher;

use hashbrown::HashTable;
use rustc_hash::FxHasher;

/// A text of the target: the internal name of a class, the name of a member, a descriptor.
#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord, Hash)]
pub struct NameId(pub u32);

/// The texts, in modified UTF-8 as class files have them. Numbers are given in the order of arrival.
#[derive(Default)]
pub struct Names {
    bytes: Vec<u8>,
    ends: Vec<u32>,
    table: HashTable<u32>,
}

impl Names {
    /// The number of a text, a new one if it was not known.
    pub(crate) fn intern(&mut self, text: &[u8]) -> NameId {
        let Names { bytes, ends, table } = self;
        let hash = hash(text);
        let entry =
            table.entry(hash, |&it| slice(bytes, ends, it) == text, |&it| self::hash(slice(bytes, ends, it)));
        NameId(match entry {
            hashbrown::hash_table::Entry::Occupied(it) => *it.get(),
            hashbrown::hash_table::Entry::Vacant(it) => {
                let id = ends.len() as u32;
                it.insert(id);
                bytes.extend_from_slice(text);
                ends.push(bytes.len() as u32);
                id
            }
        })
    }

    /// The number of a text that is known.
    pub fn find(&self, text: &[u8]) -> Option<NameId> {
        let found = self.table.find(hash(text), |&it| slice(&self.bytes, &self.ends, it) == text);
        found.map(|&it| NameId(it))
    }

    /// The text.
    pub fn bytes(&self, id: NameId) -> &[u8] {
        slice(&self.bytes, &self.ends, id.0)
    }

    /// Number of texts.
    pub fn len(&self) -> usize {
        self.ends.len()
    }

    /// Tests whether there are none.
    pub fn is_empty(&self) -> bool {
        self.ends.is_empty()
    }
}

impl std::fmt::Debug for Names {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "Names({})", self.len())
    }
}

fn slice<'a>(bytes: &'a [u8], ends: &[u32], id: u32) -> &'a [u8] {
    let start = if id == 0 { 0 } else { ends[id as usize - 1] };
    &bytes[start as usize..ends[id as usize] as usize]
}

fn hash(text: &[u8]) -> u64 {
    let mut hasher = FxHasher::default();
    hasher.write(text);
    hasher.finish()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_text_has_one_number() {
        let mut names = Names::default();
        let ids: Vec<u32> =
            [&b"a"[..], b"", b"b", b"a", b"", b"ab"].iter().map(|it| names.intern(it).0).collect();
        assert_eq!(ids, [0, 1, 2, 0, 1, 3]);
        assert_eq!(names.bytes(NameId(3)), b"ab");
        assert_eq!(names.find(b"b"), Some(NameId(2)));
        assert_eq!(names.find(b"c"), None);
    }
}
