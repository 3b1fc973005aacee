//! Constants added behind the existing ones.

use crate::Unpatched;
use crate::pool::{CLASS, INTEGER, METHOD_REF, NAME_AND_TYPE, STRING, UTF8};
use rustc_hash::{FxHashMap, FxHasher};
use std::hash::Hasher;

/// A state of the additions to which [`crate::Patcher::rollback`] can return.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Mark {
    entries: usize,
    bytes: usize,
}

/// The added constants as they will stand in the file.
#[derive(Debug)]
pub(crate) struct Additions {
    /// The index of the first addition.
    first: u16,
    bytes: Vec<u8>,
    /// Start and content hash of each addition.
    entries: Vec<(usize, u64)>,
    /// Content hash to index. Two constants with one hash would only cost a duplicate: the bytes are compared.
    known: FxHashMap<u64, u16>,
}

impl Additions {
    pub(crate) fn new(first: u16) -> Self {
        Additions { first, bytes: Vec::new(), entries: Vec::new(), known: FxHashMap::default() }
    }

    pub(crate) fn bytes(&self) -> &[u8] {
        &self.bytes
    }

    /// The `constant_pool_count` with the additions.
    pub(crate) fn count(&self) -> u16 {
        self.first + self.entries.len() as u16
    }

    pub(crate) fn mark(&self) -> Mark {
        Mark { entries: self.entries.len(), bytes: self.bytes.len() }
    }

    pub(crate) fn rollback(&mut self, mark: Mark) {
        for (n, (_, hash)) in self.entries.iter().enumerate().skip(mark.entries) {
            if self.known.get(hash) == Some(&(self.first + n as u16)) {
                self.known.remove(hash);
            }
        }
        self.entries.truncate(mark.entries);
        self.bytes.truncate(mark.bytes);
    }

    /// Adds tag, operands and text, unless the same was added before.
    fn add(&mut self, tag: u8, operands: &[u8], text: &[u8]) -> Result<u16, Unpatched> {
        let mut hasher = FxHasher::default();
        hasher.write_u8(tag);
        hasher.write(operands);
        hasher.write(text);
        let hash = hasher.finish();
        if let Some(&index) = self.known.get(&hash) {
            let n = usize::from(index - self.first);
            let end = self.entries.get(n + 1).map_or(self.bytes.len(), |entry| entry.0);
            let entry = &self.bytes[self.entries[n].0..end];
            let (head, tail) = entry.split_at((1 + operands.len()).min(entry.len()));
            if head.split_first() == Some((&tag, operands)) && tail == text {
                return Ok(index);
            }
        }
        // The count itself is 16 bits wide, so the last index is 65,534.
        let index = usize::from(self.first) + self.entries.len();
        if index >= 0xFFFF {
            return Err(Unpatched::PoolFull);
        }
        self.entries.push((self.bytes.len(), hash));
        self.bytes.push(tag);
        self.bytes.extend_from_slice(operands);
        self.bytes.extend_from_slice(text);
        self.known.insert(hash, index as u16);
        Ok(index as u16)
    }

    /// Runs `build` and takes back what it added if it fails half way.
    fn whole(&mut self, build: impl FnOnce(&mut Self) -> Result<u16, Unpatched>) -> Result<u16, Unpatched> {
        let mark = self.mark();
        build(self).inspect_err(|_| self.rollback(mark))
    }

    pub(crate) fn utf8(&mut self, text: &[u8]) -> Result<u16, Unpatched> {
        // A text too long for its 16-bit length cannot be in any pool.
        let len = u16::try_from(text.len()).map_err(|_| Unpatched::PoolFull)?;
        self.add(UTF8, &len.to_be_bytes(), text)
    }

    fn of_text(&mut self, tag: u8, text: &[u8]) -> Result<u16, Unpatched> {
        self.whole(|pool| {
            let text = pool.utf8(text)?;
            pool.add(tag, &text.to_be_bytes(), &[])
        })
    }

    pub(crate) fn class(&mut self, name: &[u8]) -> Result<u16, Unpatched> {
        self.of_text(CLASS, name)
    }

    pub(crate) fn string(&mut self, text: &[u8]) -> Result<u16, Unpatched> {
        self.of_text(STRING, text)
    }

    pub(crate) fn integer(&mut self, value: i32) -> Result<u16, Unpatched> {
        self.add(INTEGER, &value.to_be_bytes(), &[])
    }

    pub(crate) fn method_ref(
        &mut self,
        owner: &[u8],
        name: &[u8],
        descriptor: &[u8],
    ) -> Result<u16, Unpatched> {
        let pair = |a: u16, b: u16| (u32::from(a) << 16 | u32::from(b)).to_be_bytes();
        self.whole(|pool| {
            let class = pool.class(owner)?;
            let name = pool.utf8(name)?;
            let descriptor = pool.utf8(descriptor)?;
            let name_and_type = pool.add(NAME_AND_TYPE, &pair(name, descriptor), &[])?;
            pool.add(METHOD_REF, &pair(class, name_and_type), &[])
        })
    }
}
