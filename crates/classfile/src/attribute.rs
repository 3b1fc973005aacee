//! Attribute lists, the same at a class, a member and a `Code` attribute.

use crate::bytes::Reader;
use crate::{ConstantPool, Error};

/// A list whose bounds and names have been checked once, so that walking it again cannot fail.
#[derive(Debug, Clone, Copy)]
pub(crate) struct AttributeList<'a> {
    body: &'a [u8],
    offset: usize,
}

/// One attribute; `offset` is the file position of its six-byte header.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Attribute<'a> {
    pub(crate) name_index: u16,
    pub(crate) name: &'a [u8],
    pub(crate) body: &'a [u8],
    pub(crate) offset: usize,
}

impl Attribute<'_> {
    /// Where the contents start in the file.
    pub(crate) fn body_offset(&self) -> usize {
        self.offset + 6
    }
}

impl<'a> AttributeList<'a> {
    /// Walks the list at `reader`, which is then behind it. `file` is what `reader` reads from.
    pub(crate) fn parse(
        file: &'a [u8],
        reader: &mut Reader<'a>,
        pool: &ConstantPool<'a>,
        mut seen: impl FnMut(Attribute<'a>),
    ) -> Result<Self, Error> {
        let count = reader.u16()?;
        let offset = reader.offset();
        let start = reader.pos();
        for _ in 0..count {
            let attribute = next(reader, pool)?;
            seen(attribute);
        }
        Ok(AttributeList { body: &file[start..reader.pos()], offset })
    }

    pub(crate) fn iter<'p>(
        self,
        pool: &'p ConstantPool<'a>,
    ) -> impl Iterator<Item = Attribute<'a>> + use<'a, 'p> {
        let mut reader = Reader::new(self.body, self.offset);
        std::iter::from_fn(move || if reader.is_empty() { None } else { next(&mut reader, pool).ok() })
    }
}

#[inline]
fn next<'a>(reader: &mut Reader<'a>, pool: &ConstantPool<'a>) -> Result<Attribute<'a>, Error> {
    let offset = reader.offset();
    let name_index = reader.u16()?;
    let name = pool.utf8(name_index)?;
    let len = reader.u32()?;
    let body = reader.take(len as usize)?;
    Ok(Attribute { name_index, name, body, offset })
}
