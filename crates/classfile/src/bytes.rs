//! A bounds-checked cursor over big-endian bytes.

use crate::Error;

/// Reads forwards; knows where in the file it is, so that errors can say so.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Reader<'a> {
    bytes: &'a [u8],
    pos: usize,
    base: usize,
}

impl<'a> Reader<'a> {
    pub(crate) fn new(bytes: &'a [u8], base: usize) -> Self {
        Reader { bytes, pos: 0, base }
    }

    /// The position in the file.
    pub(crate) fn offset(&self) -> usize {
        self.base + self.pos
    }

    /// The position in the slice.
    pub(crate) fn pos(&self) -> usize {
        self.pos
    }

    pub(crate) fn is_empty(&self) -> bool {
        self.pos >= self.bytes.len()
    }

    #[inline]
    pub(crate) fn take(&mut self, len: usize) -> Result<&'a [u8], Error> {
        let rest = &self.bytes[self.pos..];
        let Some(taken) = rest.get(..len) else {
            return Err(Error::Truncated { offset: self.base + self.bytes.len() });
        };
        self.pos += len;
        Ok(taken)
    }

    #[inline]
    pub(crate) fn u8(&mut self) -> Result<u8, Error> {
        Ok(self.take(1)?[0])
    }

    #[inline]
    pub(crate) fn u16(&mut self) -> Result<u16, Error> {
        Ok(u16_at(self.take(2)?, 0))
    }

    #[inline]
    pub(crate) fn u32(&mut self) -> Result<u32, Error> {
        Ok(u32_at(self.take(4)?, 0))
    }
}

/// The caller has checked the bounds.
#[inline]
pub(crate) fn u16_at(bytes: &[u8], at: usize) -> u16 {
    u16::from_be_bytes([bytes[at], bytes[at + 1]])
}

/// The caller has checked the bounds.
#[inline]
pub(crate) fn u32_at(bytes: &[u8], at: usize) -> u32 {
    u32::from_be_bytes([bytes[at], bytes[at + 1], bytes[at + 2], bytes[at + 3]])
}

/// Overwrites two bytes; the caller has checked the bounds.
#[inline]
pub(crate) fn put_u16(bytes: &mut [u8], at: usize, value: u16) {
    bytes[at..at + 2].copy_from_slice(&value.to_be_bytes());
}

/// Overwrites four bytes; the caller has checked the bounds.
#[inline]
pub(crate) fn put_u32(bytes: &mut [u8], at: usize, value: u32) {
    bytes[at..at + 4].copy_from_slice(&value.to_be_bytes());
}
