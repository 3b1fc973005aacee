//! A jar, read whole and indexed by its central directory.
//!
//! The file is read, not mapped: a build that writes the jar anew while it is scanned must give an error, not a
//! bus error.

use std::cell::RefCell;
use std::path::Path;

use flate2::{Decompress, FlushDecompress, Status};
use rawzip::{CompressionMethod, ZipArchive, ZipArchiveEntryWayfinder, ZipSliceArchive};

use crate::loading::manifest::Manifest;

/// The largest entry that is inflated. The largest class file that a JVM could load is far smaller; a jar inside
/// a jar may be of this size.
pub const ENTRY_BYTES_MAX: u64 = 64 << 20;
/// The largest jar that is read.
pub const JAR_BYTES_MAX: u64 = 2 << 30;
/// The most entries of a jar that are looked at.
const ENTRIES_MAX: usize = 1 << 20;

/// Error of a jar or one of its entries.
#[derive(Debug, thiserror::Error)]
pub(crate) enum JarError {
    #[error("cannot be read: {0}")]
    Io(#[from] std::io::Error),
    #[error("is not a file")]
    NotAFile,
    #[error("is not a readable jar: {0}")]
    Zip(#[from] rawzip::Error),
    #[error("is larger than {} MiB and was not read", .0 >> 20)]
    TooLarge(u64),
    #[error("has more than {ENTRIES_MAX} entries and was not read")]
    TooManyEntries,
    #[error("uses the compression method {0}, which no JVM reads")]
    Method(u16),
    #[error("does not inflate: {0}")]
    Corrupt(&'static str),
}

/// An entry of a jar.
#[derive(Debug, Clone, Copy)]
pub(crate) struct JarEntry {
    place: ZipArchiveEntryWayfinder,
    method: CompressionMethod,
}

impl JarEntry {
    /// Declared size; an entry that inflates to another size is not read.
    pub fn claimed_bytes(&self) -> u64 {
        self.place.uncompressed_size_hint()
    }
}

/// An open jar.
pub(crate) struct Jar {
    archive: ZipSliceArchive<Vec<u8>>,
    /// Every file in it, in the order of the central directory.
    pub entries: Vec<(Box<str>, JarEntry)>,
    /// Its description of itself.
    pub manifest: Manifest,
}

impl Jar {
    /// Reads a jar from disk.
    pub fn open(path: &Path) -> Result<Jar, JarError> {
        let metadata = std::fs::metadata(path)?;
        if !metadata.is_file() {
            // A pipe would be waited for, a device read for ever.
            return Err(JarError::NotAFile);
        }
        if metadata.len() > JAR_BYTES_MAX {
            return Err(JarError::TooLarge(JAR_BYTES_MAX));
        }
        Jar::from_bytes(std::fs::read(path)?)
    }

    /// Reads a jar in memory, such as one inside another.
    pub fn from_bytes(bytes: Vec<u8>) -> Result<Jar, JarError> {
        let archive = ZipArchive::from_slice(bytes)?;
        // The hint is what the file claims; a record has at least 46 bytes.
        let hint = (archive.entries_hint() as usize).min(archive.get_ref().len() / 46).min(ENTRIES_MAX);
        let mut entries = Vec::with_capacity(hint);
        let mut manifest = None;
        let mut records = archive.entries();
        while let Some(record) = records.next_entry()? {
            if entries.len() == ENTRIES_MAX {
                return Err(JarError::TooManyEntries);
            }
            let Ok(name) = std::str::from_utf8(record.file_path().as_bytes()) else { continue };
            if name.ends_with('/') {
                continue;
            }
            let entry = JarEntry { place: record.wayfinder(), method: record.compression_method() };
            if name.eq_ignore_ascii_case("META-INF/MANIFEST.MF") && manifest.is_none() {
                manifest = Some(entry);
            }
            entries.push((Box::from(name), entry));
        }
        let mut jar = Jar { archive, entries, manifest: Manifest::default() };
        if let Some(entry) = manifest {
            jar.manifest = Manifest::parse(&jar.read(entry)?);
        }
        Ok(jar)
    }

    /// The content of an entry, checked against its checksum.
    pub fn read(&self, entry: JarEntry) -> Result<Vec<u8>, JarError> {
        let found = self.archive.get_entry(entry.place)?;
        let claimed = entry.claimed_bytes();
        if claimed > ENTRY_BYTES_MAX {
            return Err(JarError::TooLarge(ENTRY_BYTES_MAX));
        }
        let bytes = match entry.method {
            CompressionMethod::STORE => found.data().to_vec(),
            CompressionMethod::DEFLATE => inflate(found.data(), claimed as usize)?,
            other => return Err(JarError::Method(other.as_u16())),
        };
        let mut check = found.verifying_reader(&bytes[..]);
        std::io::copy(&mut check, &mut std::io::sink())
            .map_err(|_| JarError::Corrupt("its checksum is wrong"))?;
        Ok(bytes)
    }
}

thread_local! {
    // An inflater owns some 40 KB of tables and window: one a thread, not one a class.
    static INFLATER: RefCell<Decompress> = RefCell::new(Decompress::new(false));
}

fn inflate(data: &[u8], claimed: usize) -> Result<Vec<u8>, JarError> {
    // Deflate cannot do better than about 1 to 1032, so a small entry that claims to be large gets no memory.
    let mut out = Vec::with_capacity(claimed.min(data.len().saturating_mul(1040) + 64));
    INFLATER.with_borrow_mut(|inflater| {
        inflater.reset(false);
        loop {
            let before = (inflater.total_in(), inflater.total_out());
            let rest = &data[before.0 as usize..];
            let status = inflater
                .decompress_vec(rest, &mut out, FlushDecompress::Finish)
                .map_err(|_| JarError::Corrupt("the compressed data is damaged"))?;
            if status == Status::StreamEnd {
                return Ok(());
            }
            if out.len() as u64 > ENTRY_BYTES_MAX {
                return Err(JarError::TooLarge(ENTRY_BYTES_MAX));
            }
            if out.len() < out.capacity() && before == (inflater.total_in(), inflater.total_out()) {
                return Err(JarError::Corrupt("the compressed data ends too early"));
            }
            if out.len() == out.capacity() {
                out.reserve(out.len().max(4096));
            }
        }
    })?;
    Ok(out)
}
