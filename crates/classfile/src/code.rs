//! The `Code` attribute of a method.

use crate::attribute::{Attribute, AttributeList};
use crate::bytes::{Reader, u16_at};
use crate::{ConstantPool, Error, Instructions};

/// The code of a method.
#[derive(Debug, Clone)]
pub struct Code<'a> {
    /// Words of operand stack.
    pub max_stack: u16,
    /// Words of local variables, parameters included.
    pub max_locals: u16,
    /// The instructions, 1 to 65,535 bytes.
    pub bytes: &'a [u8],
    pub(crate) offset: usize,
    pub(crate) handler_bytes: &'a [u8],
    pub(crate) attribute_list: AttributeList<'a>,
    pub(crate) pool: ConstantPool<'a>,
}

/// An entry of the exception table: exceptions in `start..end` go to `handler`.
#[derive(Debug, Clone, Copy, PartialEq, Eq)]
pub struct Handler {
    /// The first address covered.
    pub start: u16,
    /// The first address no longer covered.
    pub end: u16,
    /// Where the handler starts.
    pub handler: u16,
    /// Pool index of the class caught, 0 for any.
    pub catch_type: u16,
}

impl Handler {
    /// Tests whether exceptions of the instruction at `pc` go to the handler.
    pub(crate) fn covers(&self, pc: u32) -> bool {
        (u32::from(self.start)..u32::from(self.end)).contains(&pc)
    }
}

impl<'a> Code<'a> {
    pub(crate) fn parse(attribute: Attribute<'a>, pool: &ConstantPool<'a>) -> Result<Self, Error> {
        let mut reader = Reader::new(attribute.body, attribute.body_offset());
        let max_stack = reader.u16()?;
        let max_locals = reader.u16()?;
        let length = reader.u32()?;
        let offset = reader.offset();
        if length == 0 || length > 0xFFFF {
            return Err(Error::CodeLength { length, offset });
        }
        let bytes = reader.take(length as usize)?;
        let handler_count = usize::from(reader.u16()?);
        let handler_bytes = reader.take(handler_count * 8)?;
        let attribute_list = AttributeList::parse(attribute.body, &mut reader, pool, |_| {})?;
        if !reader.is_empty() {
            return Err(Error::BadAttribute { what: "Code", offset: attribute.body_offset() });
        }
        Ok(Code { max_stack, max_locals, bytes, offset, handler_bytes, attribute_list, pool: pool.clone() })
    }

    /// The exception table, in the order in which the JVM searches it.
    pub fn handlers(&self) -> impl Iterator<Item = Handler> + use<'a> {
        self.handler_bytes.chunks_exact(8).map(|entry| Handler {
            start: u16_at(entry, 0),
            end: u16_at(entry, 2),
            handler: u16_at(entry, 4),
            catch_type: u16_at(entry, 6),
        })
    }

    /// Name and contents of the attributes of the code.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + '_ {
        self.attribute_list.iter(&self.pool).map(|a| (a.name, a.body))
    }

    /// Address and line of every entry of every `LineNumberTable`, in file order.
    pub fn lines(&self) -> impl Iterator<Item = (u32, u16)> + '_ {
        self.attributes().filter(|(name, _)| *name == b"LineNumberTable").flat_map(|(_, body)| {
            let count = if body.len() >= 2 { usize::from(u16_at(body, 0)) } else { 0 };
            let entries = body.get(2..).unwrap_or_default().chunks_exact(4);
            entries.take(count).map(|entry| (u32::from(u16_at(entry, 0)), u16_at(entry, 2)))
        })
    }

    /// The line of an address: the entry nearest before it, as HotSpot finds it.
    pub fn line_at(&self, pc: u32) -> Option<u16> {
        let mut best: Option<(u32, u16)> = None;
        for (start, line) in self.lines() {
            if start == pc {
                return Some(line);
            }
            if start < pc && best.is_none_or(|(nearest, _)| start >= nearest) {
                best = Some((start, line));
            }
        }
        best.map(|(_, line)| line)
    }

    /// The instructions in address order; ends after the first error.
    pub fn instructions(&self) -> Instructions<'a> {
        Instructions::new(self.bytes, self.offset)
    }
}
