//! Fields and methods.

use crate::attribute::{Attribute, AttributeList};
use crate::bytes::{Reader, u16_at};
use crate::{Code, ConstantPool, Error};
use std::ops::Range;

/// A field or method.
#[derive(Debug, Clone)]
pub struct Member<'a> {
    /// The access flags.
    pub access: u16,
    /// The name.
    pub name: &'a [u8],
    /// The descriptor.
    pub descriptor: &'a [u8],
    /// Where the member stands in the file.
    pub range: Range<usize>,
    pool: ConstantPool<'a>,
    attributes: AttributeList<'a>,
    code: Option<Attribute<'a>>,
}

impl<'a> Member<'a> {
    pub(crate) fn parse_all(
        file: &'a [u8],
        reader: &mut Reader<'a>,
        pool: &ConstantPool<'a>,
    ) -> Result<Vec<Self>, Error> {
        const SMALLEST: usize = 8;
        let count = usize::from(reader.u16()?);
        let mut members = Vec::with_capacity(count.min((file.len() - reader.pos()) / SMALLEST));
        for _ in 0..count {
            let start = reader.pos();
            let access = reader.u16()?;
            let name = pool.utf8(reader.u16()?)?;
            let descriptor = pool.utf8(reader.u16()?)?;
            let mut code = None;
            let attributes = AttributeList::parse(file, reader, pool, |attribute| {
                if attribute.name == b"Code" && code.is_none() {
                    code = Some(attribute);
                }
            })?;
            let range = start..reader.pos();
            members.push(Member { access, name, descriptor, range, pool: pool.clone(), attributes, code });
        }
        Ok(members)
    }

    /// Tests whether it belongs to the class rather than to an object.
    pub fn is_static(&self) -> bool {
        const STATIC: u16 = 0x0008;
        self.access & STATIC != 0
    }

    /// Tests whether it holds a monitor as long as it runs.
    pub fn is_synchronized(&self) -> bool {
        const SYNCHRONIZED: u16 = 0x0020;
        self.access & SYNCHRONIZED != 0
    }

    /// Name and contents of the attributes.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + '_ {
        self.attributes.iter(&self.pool).map(|a| (a.name, a.body))
    }

    /// The contents of the first attribute of that name.
    pub fn attribute(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.attributes.iter(&self.pool).find(|a| a.name == name).map(|a| a.body)
    }

    /// The code, if the member has any (abstract and native methods and fields do not).
    pub fn code(&self) -> Result<Option<Code<'a>>, Error> {
        self.code.map(|attribute| Code::parse(attribute, &self.pool)).transpose()
    }

    pub(crate) fn code_attribute(&self) -> Option<Attribute<'a>> {
        self.code
    }

    /// The internal names of the exception classes in the `throws` clause.
    pub fn exceptions(&self) -> Result<Vec<&'a [u8]>, Error> {
        let Some(attribute) = self.attributes.iter(&self.pool).find(|a| a.name == b"Exceptions") else {
            return Ok(Vec::new());
        };
        let mut reader = Reader::new(attribute.body, attribute.body_offset());
        let count = usize::from(reader.u16()?);
        let indices = reader.take(count * 2)?;
        indices.chunks_exact(2).map(|index| self.pool.class_name(u16_at(index, 0))).collect()
    }
}
