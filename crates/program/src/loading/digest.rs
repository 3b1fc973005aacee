//! Content of a class path as one number: the cache of scans compares it.

use std::fs::File;
use std::io;
use std::os::unix::ffi::OsStrExt;
use std::os::unix::fs::FileExt;
use std::path::{Path, PathBuf};

use hypocenter_trace::hash;
use rayon::prelude::*;
use rustc_hash::FxHashMap;

use crate::loading::classpath::ClassPath;
use crate::loading::directory;
use crate::loading::jar::{JAR_BYTES_MAX, Jar};
use crate::loading::walk::{Jdk, Stop, Walk};

/// Contents are taken in pieces of this size, each by itself, so that threads can share a large file.
const PIECE_BYTES: usize = 1 << 20;
/// Starts of the two halves.
const SEEDS: [u64; 2] = [0x243f_6a88_85a3_08d3, 0x1319_8a2e_0370_7344];

/// 128 bits of some content. It is the same in every build and on every machine. Contents that differ by accident differ in
/// it; it is no seal against somebody who makes two contents of one digest on purpose.
#[derive(Debug, Clone, Copy, PartialEq, Eq, Hash)]
pub struct Digest(pub u128);

impl Digest {
    /// Of some bytes.
    pub fn of(bytes: &[u8]) -> Digest {
        let pieces: Vec<Digest> = bytes.par_chunks(PIECE_BYTES).map(piece).collect();
        joined(bytes.len() as u64, &pieces)
    }

    /// Of the content of a file, of any size.
    pub fn of_file(path: &Path) -> io::Result<Digest> {
        let file = File::open(path)?;
        let metadata = file.metadata()?;
        if !metadata.is_file() {
            return Err(io::Error::other("is not a file"));
        }
        let length = metadata.len();
        let read = |at: u64| {
            let mut bytes = vec![0; (length - at).min(PIECE_BYTES as u64) as usize];
            file.read_exact_at(&mut bytes, at)?;
            Ok(piece(&bytes))
        };
        let starts: Vec<u64> =
            (0..length.div_ceil(PIECE_BYTES as u64)).map(|it| it * PIECE_BYTES as u64).collect();
        let pieces: io::Result<Vec<Digest>> = starts.into_par_iter().map(read).collect();
        Ok(joined(length, &pieces?))
    }

    /// Of several texts, each with its end: `ab`, `c` is not `a`, `bc`.
    pub fn of_all<T: AsRef<[u8]>>(texts: impl IntoIterator<Item = T>) -> Digest {
        let mut all = Vec::new();
        for text in texts {
            all.extend_from_slice(&(text.as_ref().len() as u64).to_le_bytes());
            all.extend_from_slice(text.as_ref());
        }
        Digest::of(&all)
    }
}

impl std::fmt::Display for Digest {
    fn fmt(&self, f: &mut std::fmt::Formatter<'_>) -> std::fmt::Result {
        write!(f, "{:032x}", self.0)
    }
}

fn piece(bytes: &[u8]) -> Digest {
    let mut halves = SEEDS;
    let mut word = |word: u64| halves = halves.map(|half| hash::word(word, half));
    word(bytes.len() as u64);
    let (words, rest) = bytes.as_chunks::<8>();
    words.iter().for_each(|it| word(u64::from_le_bytes(*it)));
    let mut last = [0; 8];
    last[..rest.len()].copy_from_slice(rest);
    word(u64::from_le_bytes(last));
    Digest(u128::from(halves[0]) << 64 | u128::from(halves[1]))
}

fn joined(length: u64, pieces: &[Digest]) -> Digest {
    let mut all = length.to_le_bytes().to_vec();
    pieces.iter().for_each(|it| all.extend_from_slice(&it.0.to_le_bytes()));
    piece(&all)
}

/// A jar as far as it decides about a class path: its content, and the addresses in its manifest.
struct JarContent {
    digest: Digest,
    addresses: Vec<String>,
}

impl JarContent {
    fn of(path: &Path) -> io::Result<JarContent> {
        let metadata = std::fs::metadata(path)?;
        if !metadata.is_file() || metadata.len() > JAR_BYTES_MAX {
            return Err(io::Error::other("is no file, or one that is too large"));
        }
        let bytes = std::fs::read(path)?;
        let digest = Digest::of(&bytes);
        // What is no jar names nothing.
        let addresses = Jar::from_bytes(bytes).map(|it| it.manifest.class_path).unwrap_or_default();
        Ok(JarContent { digest, addresses })
    }
}

impl ClassPath {
    /// A digest of all that can be read on this path: jars with what their manifests name, the classes below directories,
    /// the JDK; with the paths at which they are, and what is missing. Every byte is read, but for those of the JDK's
    /// image, whose digest `image` gives. An error says that something cannot be read; then there is no telling.
    pub fn digest(&self, image: impl FnOnce(&Path) -> io::Result<Digest>) -> io::Result<Digest> {
        let jars: Vec<&PathBuf> = self.entries.iter().filter(|it| it.is_file()).collect();
        let contents: io::Result<Vec<JarContent>> = jars.par_iter().map(|it| JarContent::of(it)).collect();
        let mut contents: FxHashMap<&Path, JarContent> =
            jars.into_iter().map(PathBuf::as_path).zip(contents?).collect();
        let mut sum = Sum::default();
        let mut walk = Walk::default();
        let mut entry = |path: &Path, is_explicit: bool| {
            let mut failed = None;
            walk.entry(path, is_explicit, |stop| {
                sum.stop(stop, &mut contents).unwrap_or_else(|error| {
                    failed = Some(error);
                    Vec::new()
                })
            });
            failed.map_or(Ok(()), Err)
        };
        for path in &self.entries {
            entry(path, true)?;
        }
        match self.jdk.as_deref().map(Jdk::of) {
            Some(Jdk::Image(path)) => sum.add(b"image", &path, image(&path)?),
            Some(Jdk::Jars(paths)) => paths.iter().try_for_each(|path| entry(path, false))?,
            Some(Jdk::None) | None => {}
        }
        Ok(Digest::of(&sum.bytes))
    }
}

/// Items met so far.
#[derive(Default)]
struct Sum {
    bytes: Vec<u8>,
}

impl Sum {
    fn add(&mut self, kind: &[u8], path: &Path, content: Digest) {
        let content = content.0.to_le_bytes();
        self.bytes.extend_from_slice(
            &Digest::of_all([kind, path.as_os_str().as_bytes(), &content]).0.to_le_bytes(),
        );
    }

    fn stop(
        &mut self,
        stop: Stop<'_>,
        contents: &mut FxHashMap<&Path, JarContent>,
    ) -> io::Result<Vec<String>> {
        match stop {
            Stop::Missing { path, .. } => self.add(b"missing", path, Digest(0)),
            Stop::Beyond(path) => self.add(b"beyond", path, Digest(0)),
            Stop::Directory(path) => self.add(b"directory", path, of_classes(path)?),
            Stop::Jar(path) => {
                let content = contents.remove(path).map_or_else(|| JarContent::of(path), Ok)?;
                self.add(b"jar", path, content.digest);
                return Ok(content.addresses);
            }
        }
        Ok(Vec::new())
    }
}

/// The classes below a directory, by name and content.
fn of_classes(root: &Path) -> io::Result<Digest> {
    let (mut names, problems) = directory::class_names(root);
    if let Some(first) = problems.first() {
        return Err(io::Error::other(format!("{}: {}", first.place, first.what)));
    }
    names.sort_unstable();
    let digest = |name: &str| {
        let bytes = directory::read(root, name).map_err(|what| io::Error::other(format!("{name} {what}")))?;
        Ok(piece(&bytes))
    };
    let contents: io::Result<Vec<Digest>> = names.par_iter().map(|it| digest(it)).collect();
    let contents: Vec<[u8; 16]> = contents?.iter().map(|it| it.0.to_le_bytes()).collect();
    let all = names.iter().zip(&contents).flat_map(|(name, content)| [name.as_bytes(), content]);
    Ok(Digest::of_all(all))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_digest_tells_every_small_difference() {
        let plain = vec![7u8; 3 * PIECE_BYTES + 5];
        let all = Digest::of(&plain);
        let mut seen =
            vec![all, Digest::of(&plain[1..]), Digest::of(&[]), Digest::of(&[0]), Digest::of(&[0, 0])];
        for at in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, 3 * PIECE_BYTES, plain.len() - 1] {
            let mut changed = plain.clone();
            changed[at] ^= 1;
            seen.push(Digest::of(&changed));
        }
        let mut swapped = plain.clone();
        swapped[..PIECE_BYTES].fill(8);
        seen.push(Digest::of(&swapped));
        swapped.rotate_left(PIECE_BYTES);
        seen.push(Digest::of(&swapped));
        let distinct: std::collections::HashSet<Digest> = seen.iter().copied().collect();
        assert_eq!(distinct.len(), seen.len());
        assert_ne!(Digest::of_all(["ab", "c"]), Digest::of_all(["a", "bc"]));
    }

    #[test]
    fn a_file_has_the_digest_of_its_bytes() {
        let file = std::env::temp_dir().join(format!("hypocenter-digest-{}", std::process::id()));
        for length in [0, 1, PIECE_BYTES - 1, PIECE_BYTES, 2 * PIECE_BYTES + 9] {
            let bytes: Vec<u8> = (0..length).map(|it| (it * 31 % 251) as u8).collect();
            std::fs::write(&file, &bytes).unwrap();
            assert_eq!(Digest::of_file(&file).unwrap(), Digest::of(&bytes), "{length}");
        }
        std::fs::remove_file(&file).unwrap();
        assert!(Digest::of_file(&file).is_err());
        assert!(Digest::of_file(Path::new("/dev/zero")).is_err());
    }
}
