//! The constant pool.

use crate::Error;
use crate::bytes::{Reader, u16_at, u32_at};
use std::sync::Arc;

pub(crate) const UTF8: u8 = 1;
pub(crate) const INTEGER: u8 = 3;
const FLOAT: u8 = 4;
const LONG: u8 = 5;
const DOUBLE: u8 = 6;
pub(crate) const CLASS: u8 = 7;
pub(crate) const STRING: u8 = 8;
const FIELD_REF: u8 = 9;
pub(crate) const METHOD_REF: u8 = 10;
const INTERFACE_METHOD_REF: u8 = 11;
pub(crate) const NAME_AND_TYPE: u8 = 12;
const METHOD_HANDLE: u8 = 15;
const METHOD_TYPE: u8 = 16;
const DYNAMIC: u8 = 17;
const INVOKE_DYNAMIC: u8 = 18;
const MODULE: u8 = 19;
const PACKAGE: u8 = 20;

/// The constants of a class. Cloning is cheap: the table of offsets is shared.
#[derive(Debug, Clone)]
pub struct ConstantPool<'a> {
    bytes: &'a [u8],
    /// Where each constant's tag stands; 0 for index 0 and the second half of a long or double.
    offsets: Arc<[u32]>,
    end: usize,
}

/// One constant as it stands in the pool; indices refer to other constants.
#[derive(Debug, Clone, Copy, PartialEq)]
pub enum Constant<'a> {
    /// Text in modified UTF-8.
    Utf8(&'a [u8]),
    /// An `int`.
    Integer(i32),
    /// A `float`.
    Float(f32),
    /// A `long`.
    Long(i64),
    /// A `double`.
    Double(f64),
    /// A class, interface or array type.
    Class {
        /// Index of its name.
        name: u16,
    },
    /// A string literal.
    String {
        /// Index of its text.
        text: u16,
    },
    /// A field.
    Fieldref {
        /// Index of the owner.
        class: u16,
        /// Index of name and descriptor.
        name_and_type: u16,
    },
    /// A method of a class.
    Methodref {
        /// Index of the owner.
        class: u16,
        /// Index of name and descriptor.
        name_and_type: u16,
    },
    /// A method of an interface.
    InterfaceMethodref {
        /// Index of the owner.
        class: u16,
        /// Index of name and descriptor.
        name_and_type: u16,
    },
    /// A name with a descriptor.
    NameAndType {
        /// Index of the name.
        name: u16,
        /// Index of the descriptor.
        descriptor: u16,
    },
    /// A method handle.
    MethodHandle {
        /// The reference kind, 1 to 9.
        kind: u8,
        /// Index of the member.
        reference: u16,
    },
    /// A method type.
    MethodType {
        /// Index of the descriptor.
        descriptor: u16,
    },
    /// A dynamically computed constant.
    Dynamic {
        /// Index in the class's bootstrap methods.
        bootstrap: u16,
        /// Index of name and descriptor.
        name_and_type: u16,
    },
    /// A dynamically computed call site.
    InvokeDynamic {
        /// Index in the class's bootstrap methods.
        bootstrap: u16,
        /// Index of name and descriptor.
        name_and_type: u16,
    },
    /// A module.
    Module {
        /// Index of its name.
        name: u16,
    },
    /// A package.
    Package {
        /// Index of its name.
        name: u16,
    },
}

/// A field or method with its owner, as text.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct MemberRef<'a> {
    /// Internal name of the class the reference names (not always the one that declares the member).
    pub owner: &'a [u8],
    /// The name.
    pub name: &'a [u8],
    /// The descriptor.
    pub descriptor: &'a [u8],
}

/// An `invokedynamic` call site or dynamic constant.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct DynamicRef<'a> {
    /// Index in the class's bootstrap methods.
    pub bootstrap: u16,
    /// The name.
    pub name: &'a [u8],
    /// The descriptor.
    pub descriptor: &'a [u8],
}

impl<'a> ConstantPool<'a> {
    pub(crate) fn parse(file: &'a [u8], reader: &mut Reader<'a>) -> Result<Self, Error> {
        let count = reader.u16()?;
        let mut offsets = Vec::with_capacity(usize::from(count).max(1));
        offsets.push(0);
        while offsets.len() < usize::from(count) {
            let offset = reader.offset();
            let tag = reader.u8()?;
            offsets.push(offset as u32);
            let len = match tag {
                UTF8 => usize::from(reader.u16()?),
                CLASS | STRING | METHOD_TYPE | MODULE | PACKAGE => 2,
                METHOD_HANDLE => 3,
                LONG | DOUBLE => {
                    offsets.push(0);
                    8
                }
                INTEGER | FLOAT | FIELD_REF | METHOD_REF | INTERFACE_METHOD_REF | NAME_AND_TYPE | DYNAMIC
                | INVOKE_DYNAMIC => 4,
                _ => return Err(Error::BadTag { tag, offset }),
            };
            reader.take(len)?;
        }
        // A long in the last slot claims one index more than the pool has. A JVM refuses it too, and constants could not
        // be added behind it.
        if offsets.len() > usize::from(count).max(1) {
            return Err(Error::NoConstant { index: count, offset: reader.offset() });
        }
        Ok(ConstantPool { bytes: file, offsets: offsets.into(), end: reader.offset() })
    }

    /// One more than the highest index (`constant_pool_count`), so `1..len()` are the indices to try.
    #[allow(clippy::len_without_is_empty)]
    pub fn len(&self) -> u16 {
        self.offsets.len() as u16
    }

    /// The file offset just behind the last constant.
    pub(crate) fn end(&self) -> usize {
        self.end
    }

    /// Tag and position of the payload.
    #[inline]
    fn at(&self, index: u16) -> Result<(u8, usize), Error> {
        match self.offsets.get(usize::from(index)) {
            Some(&offset) if offset != 0 => Ok((self.bytes[offset as usize], offset as usize + 1)),
            _ => Err(Error::NoConstant { index, offset: self.end }),
        }
    }

    /// The constant at an index.
    pub fn get(&self, index: u16) -> Result<Constant<'a>, Error> {
        let (tag, at) = self.at(index)?;
        let b = self.bytes;
        let long = || u64::from(u32_at(b, at)) << 32 | u64::from(u32_at(b, at + 4));
        Ok(match tag {
            UTF8 => Constant::Utf8(&b[at + 2..at + 2 + usize::from(u16_at(b, at))]),
            INTEGER => Constant::Integer(u32_at(b, at) as i32),
            FLOAT => Constant::Float(f32::from_bits(u32_at(b, at))),
            LONG => Constant::Long(long() as i64),
            DOUBLE => Constant::Double(f64::from_bits(long())),
            CLASS => Constant::Class { name: u16_at(b, at) },
            STRING => Constant::String { text: u16_at(b, at) },
            FIELD_REF => Constant::Fieldref { class: u16_at(b, at), name_and_type: u16_at(b, at + 2) },
            METHOD_REF => Constant::Methodref { class: u16_at(b, at), name_and_type: u16_at(b, at + 2) },
            INTERFACE_METHOD_REF => {
                Constant::InterfaceMethodref { class: u16_at(b, at), name_and_type: u16_at(b, at + 2) }
            }
            NAME_AND_TYPE => Constant::NameAndType { name: u16_at(b, at), descriptor: u16_at(b, at + 2) },
            METHOD_HANDLE => Constant::MethodHandle { kind: b[at], reference: u16_at(b, at + 1) },
            METHOD_TYPE => Constant::MethodType { descriptor: u16_at(b, at) },
            DYNAMIC => Constant::Dynamic { bootstrap: u16_at(b, at), name_and_type: u16_at(b, at + 2) },
            INVOKE_DYNAMIC => {
                Constant::InvokeDynamic { bootstrap: u16_at(b, at), name_and_type: u16_at(b, at + 2) }
            }
            MODULE => Constant::Module { name: u16_at(b, at) },
            PACKAGE => Constant::Package { name: u16_at(b, at) },
            tag => return Err(Error::BadTag { tag, offset: at - 1 }),
        })
    }

    fn wrong<T>(&self, index: u16, expected: &'static str) -> Result<T, Error> {
        let offset = self.offsets.get(usize::from(index)).copied().unwrap_or(0) as usize;
        Err(Error::WrongConstant { index, expected, offset })
    }

    /// Text in modified UTF-8.
    #[inline]
    pub fn utf8(&self, index: u16) -> Result<&'a [u8], Error> {
        let (tag, at) = self.at(index)?;
        if tag != UTF8 {
            return self.wrong(index, "a text");
        }
        Ok(&self.bytes[at + 2..at + 2 + usize::from(u16_at(self.bytes, at))])
    }

    /// The internal name of a class constant, for example `java/lang/String` or `[I`.
    pub fn class_name(&self, index: u16) -> Result<&'a [u8], Error> {
        let (tag, at) = self.at(index)?;
        if tag != CLASS {
            return self.wrong(index, "a class");
        }
        self.utf8(u16_at(self.bytes, at))
    }

    /// The text of a string literal.
    pub fn string(&self, index: u16) -> Result<&'a [u8], Error> {
        let (tag, at) = self.at(index)?;
        if tag != STRING {
            return self.wrong(index, "a string");
        }
        self.utf8(u16_at(self.bytes, at))
    }

    /// The text of a constant that consists of one: module, package or method type.
    pub fn single_name(&self, index: u16) -> Result<&'a [u8], Error> {
        let (tag, at) = self.at(index)?;
        if !matches!(tag, MODULE | PACKAGE | METHOD_TYPE) {
            return self.wrong(index, "a module, package or method type");
        }
        self.utf8(u16_at(self.bytes, at))
    }

    /// Name and descriptor.
    pub fn name_and_type(&self, index: u16) -> Result<(&'a [u8], &'a [u8]), Error> {
        let (tag, at) = self.at(index)?;
        if tag != NAME_AND_TYPE {
            return self.wrong(index, "a name and type");
        }
        Ok((self.utf8(u16_at(self.bytes, at))?, self.utf8(u16_at(self.bytes, at + 2))?))
    }

    /// The field or method that a `Fieldref`, `Methodref` or `InterfaceMethodref` names.
    pub fn member(&self, index: u16) -> Result<MemberRef<'a>, Error> {
        let (tag, at) = self.at(index)?;
        if !matches!(tag, FIELD_REF | METHOD_REF | INTERFACE_METHOD_REF) {
            return self.wrong(index, "a field or method");
        }
        let owner = self.class_name(u16_at(self.bytes, at))?;
        let (name, descriptor) = self.name_and_type(u16_at(self.bytes, at + 2))?;
        Ok(MemberRef { owner, name, descriptor })
    }

    /// The call site or constant that an `InvokeDynamic` or `Dynamic` names.
    pub fn invoke_dynamic(&self, index: u16) -> Result<DynamicRef<'a>, Error> {
        let (tag, at) = self.at(index)?;
        if !matches!(tag, DYNAMIC | INVOKE_DYNAMIC) {
            return self.wrong(index, "a dynamic call site or constant");
        }
        let (name, descriptor) = self.name_and_type(u16_at(self.bytes, at + 2))?;
        Ok(DynamicRef { bootstrap: u16_at(self.bytes, at), name, descriptor })
    }
}
