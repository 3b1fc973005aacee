//! The JDK's own classes: `lib/modules` of JDK 9 and later.
//!
//! The layout (`jdk.internal.jimage.BasicImageReader`): a header, two tables of the perfect hash, the locations, the
//! strings, the data. A scan needs every class, so the hash is not used: the locations are read once, the data
//! where it is asked for. The file is read at offsets rather than mapped, and nothing in it is believed
//! unchecked.

use std::fs::File;
use std::io::Read;
use std::os::unix::fs::FileExt;
use std::path::Path;

const HEADER_BYTES: usize = 28;
const MAGIC: u32 = 0xcafe_dada;
/// The most that the tables of an image may take; those of a whole JDK have 3 MB.
const INDEX_BYTES_MAX: u64 = 256 << 20;
/// The most entries that are looked at; a whole JDK has 30,000.
const ENTRIES_MAX: u64 = 1 << 20;
/// The longest name in an image, as in a class file.
const STRING_BYTES_MAX: usize = u16::MAX as usize;

const MODULE: usize = 1;
const PARENT: usize = 2;
const BASE: usize = 3;
const EXTENSION: usize = 4;
const OFFSET: usize = 5;
const COMPRESSED: usize = 6;
const UNCOMPRESSED: usize = 7;

/// An open runtime image.
pub(crate) struct Modules {
    file: File,
    length: u64,
    tables: Vec<u8>,
    table_length: usize,
    locations_at: usize,
    strings_at: usize,
    big_endian: bool,
}

/// Offset of the bytes of a class in the file.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Resource {
    at: u64,
    length: u32,
    compressed: bool,
}

impl Modules {
    pub fn open(path: &Path) -> Result<Modules, String> {
        let io = |error: std::io::Error| format!("cannot be read: {error}");
        let file = File::open(path).map_err(io)?;
        let length = file.metadata().map_err(io)?.len();
        let mut header = [0; HEADER_BYTES];
        file.read_exact_at(&mut header, 0).map_err(io)?;
        let words: [[u8; 4]; 7] = std::array::from_fn(|i| std::array::from_fn(|j| header[i * 4 + j]));
        let big_endian = match words[0] {
            magic if u32::from_le_bytes(magic) == MAGIC => false,
            magic if u32::from_be_bytes(magic) == MAGIC => true,
            _ => return Err("is not a runtime image".into()),
        };
        let word = |i: usize| number(words[i], big_endian);
        if word(1) >> 16 != 1 {
            return Err(format!(
                "is a runtime image of version {}, this tool reads version 1",
                word(1) >> 16
            ));
        }
        let (table_length, locations, strings) = (u64::from(word(4)), u64::from(word(5)), u64::from(word(6)));
        let index_bytes = table_length * 8 + locations + strings;
        if table_length > ENTRIES_MAX
            || index_bytes > INDEX_BYTES_MAX
            || HEADER_BYTES as u64 + index_bytes > length
        {
            return Err("is a damaged runtime image: its tables do not fit".into());
        }
        let mut tables = vec![0; index_bytes as usize];
        file.read_exact_at(&mut tables, HEADER_BYTES as u64).map_err(io)?;
        let table_length = table_length as usize;
        let locations_at = table_length * 8;
        let strings_at = locations_at + locations as usize;
        Ok(Modules { file, length, tables, table_length, locations_at, strings_at, big_endian })
    }

    /// Every class, by its name with slashes, and where it is; and how many locations could not be read. A name
    /// occurs once: modules of a JDK do not share packages.
    pub fn classes(&self) -> (Vec<(String, Resource)>, usize) {
        let mut classes = Vec::new();
        let mut damaged = 0;
        for index in 0..self.table_length {
            match self.class_at(index) {
                Ok(Some(class)) => classes.push(class),
                Ok(None) => {}
                Err(Damaged) => damaged += 1,
            }
        }
        (classes, damaged)
    }

    fn class_at(&self, index: usize) -> Result<Option<(String, Resource)>, Damaged> {
        let offset_at = (self.table_length + index) * 4;
        let offset = self.tables.get(offset_at..offset_at + 4).ok_or(Damaged)?;
        let offset = number(offset.try_into().map_err(|_| Damaged)?, self.big_endian);
        let attributes = self.attributes(offset as usize)?;
        if self.string(attributes[EXTENSION])? != "class" {
            return Ok(None);
        }
        let (parent, base) = (self.string(attributes[PARENT])?, self.string(attributes[BASE])?);
        // `/modules` and `/packages` are directories of links to the resources.
        if base == "module-info" || matches!(self.string(attributes[MODULE])?, "" | "modules" | "packages") {
            return Ok(None);
        }
        let data_at = (HEADER_BYTES + self.tables.len()) as u64;
        let compressed = attributes[COMPRESSED] != 0;
        let bytes = if compressed { attributes[COMPRESSED] } else { attributes[UNCOMPRESSED] };
        let at = data_at.checked_add(attributes[OFFSET]).ok_or(Damaged)?;
        let length = u32::try_from(bytes).map_err(|_| Damaged)?;
        if at.checked_add(bytes).ok_or(Damaged)? > self.length || bytes > crate::loading::jar::ENTRY_BYTES_MAX
        {
            return Err(Damaged);
        }
        let name = if parent.is_empty() { base.to_owned() } else { format!("{parent}/{base}") };
        Ok(Some((name, Resource { at, length, compressed })))
    }

    /// A location: pairs of kind and value, most significant byte first, up to kind 0. Unknown kinds (later
    /// versions have one for preview classes) are passed over.
    fn attributes(&self, offset: usize) -> Result<[u64; 8], Damaged> {
        let locations = self.tables.get(self.locations_at..self.strings_at).ok_or(Damaged)?;
        let mut rest = locations.get(offset..).ok_or(Damaged)?;
        let mut attributes = [0; 8];
        loop {
            let (&head, after) = rest.split_first().ok_or(Damaged)?;
            let kind = usize::from(head >> 3);
            if kind == 0 {
                return Ok(attributes);
            }
            let (value, after) = after.split_at_checked(usize::from(head & 7) + 1).ok_or(Damaged)?;
            if let Some(attribute) = attributes.get_mut(kind) {
                *attribute = value.iter().fold(0, |number, &byte| number << 8 | u64::from(byte));
            }
            rest = after;
        }
    }

    fn string(&self, offset: u64) -> Result<&str, Damaged> {
        let start =
            self.strings_at.checked_add(usize::try_from(offset).map_err(|_| Damaged)?).ok_or(Damaged)?;
        let rest = self.tables.get(start..).ok_or(Damaged)?;
        let end = rest.iter().take(STRING_BYTES_MAX + 1).position(|&byte| byte == 0).ok_or(Damaged)?;
        std::str::from_utf8(&rest[..end]).map_err(|_| Damaged)
    }

    /// The bytes of a class.
    pub fn read(&self, resource: Resource) -> Result<Vec<u8>, String> {
        let mut bytes = vec![0; resource.length as usize];
        self.file
            .read_exact_at(&mut bytes, resource.at)
            .map_err(|error| format!("cannot be read: {error}"))?;
        if resource.compressed { self.decompress(bytes) } else { Ok(bytes) }
    }

    /// Images of `jlink --compress`: one layer of compression around the next, each behind a header that names it.
    fn decompress(&self, mut bytes: Vec<u8>) -> Result<Vec<u8>, String> {
        const LAYER_HEADER_BYTES: usize = 29;
        const LAYER_MAGIC: u32 = 0xcafe_fafa;
        const LAYERS_MAX: usize = 4;
        for _ in 0..LAYERS_MAX {
            let word = |at: usize| {
                let word = bytes.get(at..at + 4)?.try_into().ok()?;
                Some(number(word, self.big_endian))
            };
            if word(0) != Some(LAYER_MAGIC) || bytes.len() < LAYER_HEADER_BYTES {
                return Ok(bytes);
            }
            let name = word(20).and_then(|offset| self.string(offset.into()).ok()).unwrap_or("");
            if name != "zip" {
                return Err(format!(
                    "is compressed by `{name}` in the runtime image, which is not supported; give a JDK \
                     that was not linked with --compress"
                ));
            }
            let mut inflated = Vec::new();
            flate2::read::ZlibDecoder::new(&bytes[LAYER_HEADER_BYTES..])
                .take(crate::loading::jar::ENTRY_BYTES_MAX)
                .read_to_end(&mut inflated)
                .map_err(|error| format!("cannot be inflated: {error}"))?;
            bytes = inflated;
        }
        Err("is compressed more often than any JDK does it".into())
    }
}

/// A place in the tables that makes no sense.
struct Damaged;

fn number(bytes: [u8; 4], big_endian: bool) -> u32 {
    if big_endian { u32::from_be_bytes(bytes) } else { u32::from_le_bytes(bytes) }
}
