//! Files and directories of a campaign, written so that no link planted there leads elsewhere.
//!
//! A campaign directory may come from somebody else. Opening follows no link at the last step, a document is written
//! beside its place and renamed, and a directory that is a link is refused.

use std::fs::{self, DirBuilder, File, OpenOptions};
use std::io::{Error, ErrorKind, Result, Write};
use std::os::unix::fs::{DirBuilderExt, OpenOptionsExt};
use std::path::{Path, PathBuf};

use rustix::fs::OFlags;
use rustix::io::Errno;

/// Opens a file, as the options say, unless its name is a link.
pub fn open(options: &mut OpenOptions, path: &Path) -> Result<File> {
    let file = options.custom_flags(OFlags::NOFOLLOW.bits() as i32).open(path);
    file.map_err(|error| match error.raw_os_error() {
        Some(code) if code == Errno::LOOP.raw_os_error() => link(path),
        _ => error,
    })
}

/// Makes a directory unless it is there; a link to one is refused.
pub(crate) fn make_directory(path: &Path) -> Result<()> {
    match fs::create_dir(path) {
        Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
        made => return made,
    }
    match fs::symlink_metadata(path)?.file_type() {
        it if it.is_dir() => Ok(()),
        it if it.is_symlink() => Err(link(path)),
        _ => Err(Error::new(ErrorKind::NotADirectory, "it is a file, not a directory")),
    }
}

/// Makes a directory of this process's own in `parent`, which only its user can enter.
pub fn private_directory(parent: &Path, name: &str) -> Result<PathBuf> {
    for number in 0..ATTEMPTS_MAX {
        let path = parent.join(format!("{name}-{}-{number}", std::process::id()));
        match DirBuilder::new().mode(0o700).create(&path) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            made => return made.map(|()| path),
        }
    }
    Err(Error::new(ErrorKind::AlreadyExists, "every name for a private directory is taken"))
}

/// Puts a whole document in its place, synced; whatever happens there is never half of it. A link at its name is
/// replaced, and what it points to stays as it is.
pub fn replace(path: &Path, bytes: &[u8]) -> Result<()> {
    let (part, mut file) = create_part(path)?;
    let written = file.write_all(bytes).and_then(|()| file.sync_all()).and_then(|()| fs::rename(&part, path));
    if written.is_err() {
        let _ = fs::remove_file(&part);
    }
    written
}

/// The names that are tried before a place is given up.
const ATTEMPTS_MAX: u32 = 1_000;

/// A new file beside a place; what stands at a name for it, left by a process that died or planted, is not touched.
fn create_part(path: &Path) -> Result<(PathBuf, File)> {
    let name = path.file_name().unwrap_or_default().to_string_lossy().into_owned();
    for number in 0..ATTEMPTS_MAX {
        let part = path.with_file_name(format!("{name}.{}-{number}.part", std::process::id()));
        match OpenOptions::new().write(true).create_new(true).open(&part) {
            Err(error) if error.kind() == ErrorKind::AlreadyExists => {}
            opened => return opened.map(|file| (part, file)),
        }
    }
    Err(Error::new(ErrorKind::AlreadyExists, "every name for a part of it is taken"))
}

fn link(path: &Path) -> Error {
    let to = fs::read_link(path).map_or_else(|_| String::new(), |it| format!(" to {}", it.display()));
    let what =
        format!("it is a symbolic link{to}, and the tool writes through no links; remove it and try again");
    Error::other(what)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn nothing_is_written_through_a_planted_link() {
        let directory = tempfile::tempdir().unwrap();
        let at = |name: &str| directory.path().join(name);
        fs::write(at("mine"), "keep").unwrap();
        fs::create_dir(at("elsewhere")).unwrap();
        for name in ["lock", "summary.json"] {
            symlink(at("mine"), at(name)).unwrap();
        }
        symlink(at("elsewhere"), at("trials")).unwrap();
        let part = format!("summary.json.{}-0.part", std::process::id());
        symlink(at("mine"), at(&part)).unwrap();

        let why = open(OpenOptions::new().write(true).create(true), &at("lock")).unwrap_err().to_string();
        assert!(why.contains("symbolic link"), "{why}");
        replace(&at("summary.json"), b"{}").unwrap();
        assert_eq!(fs::read(at("summary.json")).unwrap(), b"{}");
        assert!(!fs::symlink_metadata(at("summary.json")).unwrap().is_symlink());
        let why = make_directory(&at("trials")).unwrap_err().to_string();
        assert!(why.contains("symbolic link"), "{why}");
        make_directory(&at("elsewhere")).unwrap();
        assert_eq!(fs::read(at("mine")).unwrap(), b"keep");
        assert_eq!(fs::read_dir(at("elsewhere")).unwrap().count(), 0);
    }
}
