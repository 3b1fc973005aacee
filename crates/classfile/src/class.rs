//! The class as a whole.

use crate::attribute::AttributeList;
use crate::bytes::{Reader, u16_at};
use crate::{ConstantPool, Error, Member};

/// The oldest major version that is read (JDK 1.0.2).
pub(crate) const MIN_MAJOR: u16 = 45;
/// The newest major version that is read (Java 25).
pub(crate) const MAX_MAJOR: u16 = 69;

/// A class file, borrowed from its bytes.
#[derive(Debug, Clone)]
pub struct ClassFile<'a> {
    /// The major version, 45 to 69.
    pub major: u16,
    /// The minor version; 65535 marks preview features.
    pub minor: u16,
    /// The access flags.
    pub access: u16,
    /// The constants.
    pub pool: ConstantPool<'a>,
    /// Pool index of the class itself.
    pub this_class: u16,
    /// Pool index of the superclass, 0 for `java/lang/Object` and modules.
    pub super_class: u16,
    bytes: &'a [u8],
    name: &'a [u8],
    super_name: Option<&'a [u8]>,
    interfaces: &'a [u8],
    fields: Vec<Member<'a>>,
    methods: Vec<Member<'a>>,
    attributes: AttributeList<'a>,
}

/// How a dynamic call site or constant is computed.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct BootstrapMethod {
    /// Pool index of the method handle.
    pub method: u16,
    /// Pool indices of the static arguments.
    pub arguments: Vec<u16>,
}

impl<'a> ClassFile<'a> {
    /// Walks the whole structure once and checks its bounds; code and other contents are left for later.
    pub fn parse(bytes: &'a [u8]) -> Result<ClassFile<'a>, Error> {
        if u32::try_from(bytes.len()).is_err() {
            return Err(Error::TooLarge { bytes: bytes.len() });
        }
        let mut reader = Reader::new(bytes, 0);
        if reader.u32()? != 0xCAFE_BABE {
            return Err(Error::BadMagic);
        }
        let minor = reader.u16()?;
        let major = reader.u16()?;
        if !(MIN_MAJOR..=MAX_MAJOR).contains(&major) {
            return Err(Error::UnknownVersion { major });
        }
        let pool = ConstantPool::parse(bytes, &mut reader)?;
        let access = reader.u16()?;
        let this_class = reader.u16()?;
        let name = pool.class_name(this_class)?;
        let super_class = reader.u16()?;
        let super_name = if super_class == 0 { None } else { Some(pool.class_name(super_class)?) };
        let interface_count = usize::from(reader.u16()?);
        let interfaces = reader.take(interface_count * 2)?;
        for index in interfaces.chunks_exact(2) {
            pool.class_name(u16_at(index, 0))?;
        }
        let fields = Member::parse_all(bytes, &mut reader, &pool)?;
        let methods = Member::parse_all(bytes, &mut reader, &pool)?;
        let attributes = AttributeList::parse(bytes, &mut reader, &pool, |_| {})?;
        if !reader.is_empty() {
            return Err(Error::TrailingBytes { offset: reader.offset() });
        }
        Ok(ClassFile {
            major,
            minor,
            access,
            pool,
            this_class,
            super_class,
            bytes,
            name,
            super_name,
            interfaces,
            fields,
            methods,
            attributes,
        })
    }

    /// The file's bytes.
    pub fn bytes(&self) -> &'a [u8] {
        self.bytes
    }

    /// The internal name in modified UTF-8, for example `java/lang/String`.
    pub fn name(&self) -> &'a [u8] {
        self.name
    }

    /// The internal name of the superclass.
    pub fn super_name(&self) -> Option<&'a [u8]> {
        self.super_name
    }

    /// The internal names of the direct superinterfaces.
    pub fn interfaces(&self) -> impl Iterator<Item = &'a [u8]> + '_ {
        self.interfaces.chunks_exact(2).filter_map(|index| self.pool.class_name(u16_at(index, 0)).ok())
    }

    /// The fields in file order.
    pub fn fields(&self) -> &[Member<'a>] {
        &self.fields
    }

    /// The methods in file order.
    pub fn methods(&self) -> &[Member<'a>] {
        &self.methods
    }

    /// Name and contents of the class's own attributes.
    pub fn attributes(&self) -> impl Iterator<Item = (&'a [u8], &'a [u8])> + '_ {
        self.attributes.iter(&self.pool).map(|a| (a.name, a.body))
    }

    /// The contents of the first attribute of that name.
    pub fn attribute(&self, name: &[u8]) -> Option<&'a [u8]> {
        self.attributes.iter(&self.pool).find(|a| a.name == name).map(|a| a.body)
    }

    /// The source file's name, if it is given.
    pub fn source_file(&self) -> Option<&'a [u8]> {
        let body = self.attribute(b"SourceFile")?;
        if body.len() != 2 {
            return None;
        }
        self.pool.utf8(u16_at(body, 0)).ok()
    }

    /// The bootstrap methods; empty if there are none.
    pub fn bootstrap_methods(&self) -> Result<Vec<BootstrapMethod>, Error> {
        let Some(attribute) = self.attributes.iter(&self.pool).find(|a| a.name == b"BootstrapMethods") else {
            return Ok(Vec::new());
        };
        let mut reader = Reader::new(attribute.body, attribute.body_offset());
        let count = reader.u16()?;
        let mut methods = Vec::with_capacity(usize::from(count).min(attribute.body.len() / 4));
        for _ in 0..count {
            let method = reader.u16()?;
            let argument_count = usize::from(reader.u16()?);
            let arguments = reader.take(argument_count * 2)?;
            let arguments = arguments.chunks_exact(2).map(|index| u16_at(index, 0)).collect();
            methods.push(BootstrapMethod { method, arguments });
        }
        Ok(methods)
    }
}
