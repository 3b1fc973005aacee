//! Cache of scans, so that the next scan of an unchanged target need not read it again.
//!
//! A scan is found by its *key*: a digest of every byte that it can read, of what was asked, and of this program. Only the
//! digests of the two large files that hardly ever change, the JDK's image and this program, are remembered
//! by what the file system says of them ([`Large`]). Files are written beside their place and renamed, and a file
//! is checked before anything of it is used: it may have been cut, damaged or put there by somebody else.

use std::fs::{self, File};
use std::io::{self, Read, Seek, SeekFrom, Write};
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::{Duration, SystemTime, UNIX_EPOCH};

use hypocenter_program::Digest;
use serde::{Deserialize, Serialize};

use crate::agent_library;

/// The version of the files.
const VERSION: u32 = 1;
/// The longest first line of a file.
const HEADER_BYTES_MAX: u64 = 16 << 10;
/// The largest scan that is kept.
const SCAN_BYTES_MAX: u64 = 256 << 20;
/// Maximum number of cached scans, and their maximum size in bytes; the least recently used go first.
const SCANS_MAX: usize = 64;
const BYTES_MAX: u64 = 512 << 20;
/// A file that was being written so long ago was left by somebody who was ended.
const LEFT_OVER_AFTER: Duration = Duration::from_secs(3600);
/// Maximum number of large files that are remembered.
const LARGE_MAX: usize = 64;
/// A file that changed so short a time ago may change again without its times telling.
const SETTLED_AFTER: Duration = Duration::from_secs(2);

/// The directory of all scans.
#[derive(Debug)]
pub struct Cache {
    directory: PathBuf,
}

/// A scan that was kept.
#[derive(Debug)]
pub struct KeptScan {
    path: PathBuf,
    file: File,
    parts: Vec<Part>,
    /// Starts of the parts.
    start: u64,
}

/// The first line of a file; the parts follow.
#[derive(Debug, Serialize, Deserialize)]
struct Header {
    version: u32,
    key: String,
    parts: Vec<Part>,
}

#[derive(Debug, Clone, Serialize, Deserialize)]
struct Part {
    name: String,
    bytes: u64,
    digest: String,
}

/// Error of a file.
#[derive(Debug, thiserror::Error)]
#[error("{}: {what}", path.display())]
pub struct Damaged {
    path: PathBuf,
    what: &'static str,
}

impl Cache {
    /// The cache of this user, if there is a place for it.
    pub fn of_user() -> Option<Cache> {
        // Not where others can write: what is found there would be believed.
        let directory = agent_library::user_cache()?.join("scans");
        Some(Cache { directory })
    }

    /// Its place.
    pub fn directory(&self) -> &Path {
        &self.directory
    }

    fn path(&self, key: Digest) -> PathBuf {
        self.directory.join(format!("{key}.scan"))
    }

    /// The scan of a key, if it was kept.
    pub fn find(&self, key: Digest) -> Result<Option<KeptScan>, Damaged> {
        let path = self.path(key);
        let Ok(file) = File::open(&path) else { return Ok(None) };
        KeptScan::open(path.clone(), file, key).map(Some).map_err(|what| Damaged { path, what })
    }

    /// Keeps the parts of a scan, and lets go of old ones.
    pub fn keep(&self, key: Digest, parts: &[(&str, Vec<u8>)]) -> io::Result<()> {
        if parts.iter().map(|it| it.1.len() as u64).sum::<u64>() > SCAN_BYTES_MAX {
            return Err(io::Error::other(format!("it is larger than {} MiB", SCAN_BYTES_MAX >> 20)));
        }
        let part = |(name, bytes): &(&str, Vec<u8>)| Part {
            name: (*name).to_owned(),
            bytes: bytes.len() as u64,
            digest: Digest::of(bytes).to_string(),
        };
        let header =
            Header { version: VERSION, key: key.to_string(), parts: parts.iter().map(part).collect() };
        let mut bytes = serde_json::to_vec(&header)?;
        bytes.push(b'\n');
        parts.iter().for_each(|it| bytes.extend_from_slice(&it.1));
        self.write(&self.path(key), &bytes)?;
        self.tidy();
        Ok(())
    }

    /// Writes a file whole or not at all.
    fn write(&self, path: &Path, bytes: &[u8]) -> io::Result<()> {
        fs::create_dir_all(&self.directory)?;
        // Numbers of processes are not enough: containers that share a cache have the same.
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default().as_nanos();
        let part = self.directory.join(format!(".{}-{now}.part", std::process::id()));
        let mut file = File::create_new(&part)?;
        let written = file.write_all(bytes).and_then(|()| fs::rename(&part, path));
        if written.is_err() {
            let _ = fs::remove_file(&part);
        }
        written
    }

    /// Lets go of what was not used for longest, and of what others have left half written.
    fn tidy(&self) {
        let now = SystemTime::now();
        let mut scans = Vec::new();
        for entry in fs::read_dir(&self.directory).into_iter().flatten().flatten() {
            let (path, Ok(metadata)) = (entry.path(), entry.metadata()) else { continue };
            let used = metadata.modified().unwrap_or(UNIX_EPOCH);
            match path.extension().and_then(|it| it.to_str()) {
                Some("scan") => scans.push((used, metadata.len(), path)),
                Some("part") if now.duration_since(used).is_ok_and(|it| it > LEFT_OVER_AFTER) => {
                    let _ = fs::remove_file(path);
                }
                _ => {}
            }
        }
        scans.sort_by(|a, b| b.cmp(a));
        let mut bytes = 0;
        for (at, (_, length, path)) in scans.iter().enumerate() {
            bytes += length;
            if at >= SCANS_MAX || bytes > BYTES_MAX {
                let _ = fs::remove_file(path);
            }
        }
    }

    /// The digest of a large file that hardly ever changes: remembered as long as the file system says that it is the
    /// same file, unchanged.
    pub fn large(&self, path: &Path) -> io::Result<Digest> {
        let path = path.canonicalize()?;
        let now = SystemTime::now().duration_since(UNIX_EPOCH).unwrap_or_default();
        let seen = Large::of(&path, Digest(0))?;
        let mut all = self.all_large();
        if let Some(known) = all.iter().find(|it| it.is_same(&seen)) {
            return u128::from_str_radix(&known.digest, 16).map(Digest).map_err(io::Error::other);
        }
        let large = Large::of(&path, Digest::of_file(&path)?)?;
        let digest = Digest(u128::from_str_radix(&large.digest, 16).map_err(io::Error::other)?);
        if large.is_same(&seen) && large.is_settled(now) {
            all.retain(|it| it.path != large.path);
            all.insert(0, large);
            all.truncate(LARGE_MAX);
            // Whoever writes at the same time may win; then it is computed once more.
            let _ =
                serde_json::to_vec(&all).map(|bytes| self.write(&self.directory.join("large.json"), &bytes));
        }
        Ok(digest)
    }

    fn all_large(&self) -> Vec<Large> {
        let Ok(file) = File::open(self.directory.join("large.json")) else { return Vec::new() };
        let mut text = Vec::new();
        let read = file.take(1 << 20).read_to_end(&mut text);
        read.ok().and_then(|_| serde_json::from_slice(&text).ok()).unwrap_or_default()
    }
}

impl KeptScan {
    fn open(path: PathBuf, mut file: File, key: Digest) -> Result<KeptScan, &'static str> {
        let length = file.metadata().map_err(|_| "it cannot be read")?.len();
        let mut begin = Vec::new();
        (&mut file).take(HEADER_BYTES_MAX).read_to_end(&mut begin).map_err(|_| "it cannot be read")?;
        let line = begin.iter().position(|it| *it == b'\n').ok_or("it has no first line")?;
        let header: Header =
            serde_json::from_slice(&begin[..line]).map_err(|_| "its first line is not in our format")?;
        if header.version != VERSION || header.key != key.to_string() {
            return Err("it is of another scan");
        }
        let start = line as u64 + 1;
        let sum = header.parts.iter().try_fold(start, |sum, it| sum.checked_add(it.bytes));
        if sum != Some(length) {
            return Err("it is truncated");
        }
        // The file that was used last is the last to go; a file of another owner may not take it.
        let _ = file.set_modified(SystemTime::now());
        Ok(KeptScan { path, file, parts: header.parts, start })
    }

    /// One of its parts, checked.
    pub fn part(&mut self, name: &str) -> Result<Vec<u8>, Damaged> {
        self.read_part(name).map_err(|what| self.damaged(what))
    }

    fn read_part(&mut self, name: &str) -> Result<Vec<u8>, &'static str> {
        let at = self.parts.iter().position(|it| it.name == name).ok_or("part of it is missing")?;
        let (before, part) = (&self.parts[..at], &self.parts[at]);
        let start = self.start + before.iter().map(|it| it.bytes).sum::<u64>();
        self.file.seek(SeekFrom::Start(start)).map_err(|_| "it cannot be read")?;
        let mut bytes = Vec::new();
        (&mut self.file).take(part.bytes).read_to_end(&mut bytes).map_err(|_| "it cannot be read")?;
        if Digest::of(&bytes).to_string() != part.digest {
            return Err("its content was changed");
        }
        Ok(bytes)
    }

    /// Something is wrong with it.
    pub fn damaged(&self, what: &'static str) -> Damaged {
        Damaged { path: self.path.clone(), what }
    }
}

/// Metadata of a large file, and the digest that it had then. Any change of the content changes a time
/// that nobody can set.
#[derive(Debug, Serialize, Deserialize)]
struct Large {
    path: PathBuf,
    device: u64,
    inode: u64,
    bytes: u64,
    modified_ns: i64,
    changed_ns: i64,
    digest: String,
}

impl Large {
    fn of(path: &Path, digest: Digest) -> io::Result<Large> {
        let it = fs::metadata(path)?;
        let ns = |seconds: i64, ns: i64| seconds.saturating_mul(1_000_000_000).saturating_add(ns);
        Ok(Large {
            path: path.to_owned(),
            device: it.dev(),
            inode: it.ino(),
            bytes: it.len(),
            modified_ns: ns(it.mtime(), it.mtime_nsec()),
            changed_ns: ns(it.ctime(), it.ctime_nsec()),
            digest: digest.to_string(),
        })
    }

    fn is_same(&self, other: &Large) -> bool {
        let times = |it: &Large| (it.device, it.inode, it.bytes, it.modified_ns, it.changed_ns);
        self.path == other.path && times(self) == times(other)
    }

    fn is_settled(&self, now: Duration) -> bool {
        let last = self.modified_ns.max(self.changed_ns);
        i128::from(last) + (SETTLED_AFTER.as_nanos() as i128) < now.as_nanos() as i128
    }
}
