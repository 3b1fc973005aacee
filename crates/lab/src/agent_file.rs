//! The agent's library as a file that JVMs can load, and that nobody but its user can change.
//!
//! A JVM runs whatever is in that file, so it lies in a directory of the user's own that others cannot enter, and is
//! compared byte by byte before each trial.

use std::fs::{self, DirBuilder, File};
use std::io::{Error, ErrorKind, Read, Result, Write};
use std::os::unix::fs::{DirBuilderExt, MetadataExt, PermissionsExt};
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicU64, Ordering};

use rustix::fs::{Mode, OFlags};

/// The agent's library, unpacked.
#[derive(Debug, Clone)]
pub struct AgentFile {
    directory: PathBuf,
    name: String,
    library: &'static [u8],
}

impl AgentFile {
    /// Unpacks the library into a directory, unless it is there; the directory is made if need be.
    pub fn unpack(directory: &Path, name: &str, library: &'static [u8]) -> Result<AgentFile> {
        DirBuilder::new().recursive(true).mode(OWN_MODE).create(directory)?;
        // A link on the way there may be the user's own; what it leads to is looked at.
        let directory = fs::canonicalize(directory)?;
        let file = AgentFile { directory, name: name.to_owned(), library };
        file.ensure()?;
        Ok(file)
    }

    /// The file.
    pub fn path(&self) -> PathBuf {
        self.directory.join(&self.name)
    }

    /// Makes sure that the file is there and has the library's bytes, and that nobody else can change it.
    pub fn ensure(&self) -> Result<()> {
        let directory = self.own_directory()?;
        if self.is_intact(&directory)? {
            return Ok(());
        }
        // Behind a name that is taken at its first use nothing of somebody else's can hide.
        let number = PARTS.fetch_add(1, Ordering::Relaxed);
        let part = format!(".{}.{}-{number}.part", self.name, std::process::id());
        match rustix::fs::unlinkat(&directory, &part, rustix::fs::AtFlags::empty()) {
            Err(rustix::io::Errno::NOENT) | Ok(()) => {}
            Err(error) => return Err(error.into()),
        }
        let flags = OFlags::CREATE | OFlags::EXCL | OFlags::WRONLY | OFlags::NOFOLLOW | OFlags::CLOEXEC;
        let mode = Mode::from_raw_mode(OWN_MODE);
        let mut file = File::from(rustix::fs::openat(&directory, &part, flags, mode)?);
        file.write_all(self.library)?;
        rustix::fs::renameat(&directory, &part, &directory, &self.name)?;
        match self.is_intact(&directory)? {
            true => Ok(()),
            false => Err(Error::other("another process changes the agent file while it is unpacked")),
        }
    }

    /// The directory, opened, which must be the user's own; if others may enter it they no longer may.
    fn own_directory(&self) -> Result<File> {
        if let Some(open) = self.directory.ancestors().skip(1).find(|it| is_open_to_all(it)) {
            let what = format!(
                "any user can replace files in {}, which is world-writable and not sticky",
                open.display()
            );
            return Err(Error::new(ErrorKind::PermissionDenied, what));
        }
        let flags = OFlags::DIRECTORY | OFlags::NOFOLLOW | OFlags::RDONLY | OFlags::CLOEXEC;
        let directory = File::from(rustix::fs::open(&self.directory, flags, Mode::empty())?);
        let metadata = directory.metadata()?;
        let own = rustix::process::geteuid().as_raw();
        if metadata.uid() != own {
            let what = format!("the directory belongs to user {}, not to user {own}", metadata.uid());
            return Err(Error::new(ErrorKind::PermissionDenied, what));
        }
        if metadata.mode() & 0o7777 != OWN_MODE {
            directory.set_permissions(fs::Permissions::from_mode(OWN_MODE))?;
        }
        Ok(directory)
    }

    /// Tests whether the file is the user's own, writable for nobody else, and has the library's bytes.
    fn is_intact(&self, directory: &File) -> Result<bool> {
        let flags = OFlags::RDONLY | OFlags::NOFOLLOW | OFlags::NONBLOCK | OFlags::CLOEXEC;
        let Ok(file) = rustix::fs::openat(directory, &self.name, flags, Mode::empty()) else {
            return Ok(false);
        };
        let mut file = File::from(file);
        let metadata = file.metadata()?;
        let is_own = metadata.uid() == rustix::process::geteuid().as_raw() && metadata.mode() & 0o022 == 0;
        if !metadata.is_file() || !is_own || metadata.len() != self.library.len() as u64 {
            return Ok(false);
        }
        let mut bytes = Vec::with_capacity(self.library.len());
        file.read_to_end(&mut bytes)?;
        Ok(bytes == self.library)
    }
}

/// Numbers the parts of this process: trials that start side by side may each find the file missing.
static PARTS: AtomicU64 = AtomicU64::new(0);

/// For the user alone.
const OWN_MODE: u32 = 0o700;

/// Tests whether everybody can rename what is in a directory.
fn is_open_to_all(directory: &Path) -> bool {
    const STICKY: u32 = 0o1000;
    fs::metadata(directory).is_ok_and(|it| it.mode() & 0o002 != 0 && it.mode() & STICKY == 0)
}

#[cfg(test)]
mod tests {
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_file_that_was_changed_linked_or_removed_is_unpacked_again() {
        let root = tempfile::tempdir().unwrap();
        let directory = root.path().join("cache/hypocenter");
        let agent = AgentFile::unpack(&directory, "agent.so", b"library").unwrap();
        let evil = root.path().join("evil");
        type Attack<'a> = &'a dyn Fn(&Path);
        let attacks: [Attack<'_>; 4] = [
            &|at| fs::write(at, b"LIBRARY").unwrap(),
            &|at| fs::set_permissions(at, fs::Permissions::from_mode(0o666)).unwrap(),
            &|at| fs::remove_file(at).unwrap(),
            &|at| {
                fs::write(&evil, b"library").unwrap();
                fs::remove_file(at).unwrap();
                symlink(&evil, at).unwrap();
            },
        ];
        for attack in attacks {
            attack(&agent.path());
            agent.ensure().unwrap();
            let metadata = fs::symlink_metadata(agent.path()).unwrap();
            assert!(metadata.is_file() && metadata.mode() & 0o077 == 0);
            assert_eq!(fs::read(agent.path()).unwrap(), b"library");
        }
        // A directory that others may write to no longer is one.
        fs::set_permissions(&directory, fs::Permissions::from_mode(0o777)).unwrap();
        agent.ensure().unwrap();
        assert_eq!(fs::metadata(&directory).unwrap().mode() & 0o777, 0o700);
    }

    #[test]
    fn a_place_where_anybody_can_swap_directories_is_refused() {
        let root = tempfile::tempdir().unwrap();
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o777)).unwrap();
        let why = AgentFile::unpack(&root.path().join("mine"), "agent.so", b"library").unwrap_err();
        assert!(why.to_string().contains("world-writable"), "{why}");
        fs::set_permissions(root.path(), fs::Permissions::from_mode(0o1777)).unwrap();
        AgentFile::unpack(&root.path().join("mine"), "agent.so", b"library").unwrap();
    }
}
