//! Resolution of a path of an oracle, and of a pattern of paths.

use std::fs;
use std::io;
use std::path::{Path, PathBuf};

use hypocenter_plan::glob_matches;

use super::Scene;

/// Maximum number of directory entries that a pattern may check.
const ENTRIES_MAX: usize = 200_000;
/// Maximum depth of `**`.
const DEPTH_MAX: usize = 32;

/// A path in two parts: what is known to exist for itself, and what the oracle wrote, in which `*` may have a
/// meaning.
pub(crate) struct Place {
    root: PathBuf,
    rest: String,
}

/// Base of the paths of a configuration.
#[derive(Debug, Clone, Copy)]
pub(crate) struct Ground<'a> {
    pub base: &'a Path,
    pub directory: &'a Path,
    pub fresh: &'a Path,
    pub tmp: Option<&'a Path>,
}

impl Place {
    pub(super) fn of(text: &str, scene: &Scene<'_>) -> Place {
        let Scene { base, directory, fresh, tmp, .. } = *scene;
        Place::on(text, &Ground { base, directory, fresh, tmp })
    }

    pub(crate) fn on(text: &str, ground: &Ground<'_>) -> Place {
        if let Some(rest) = text.strip_prefix("{dir}")
            && (rest.is_empty() || rest.starts_with('/'))
        {
            return Place { root: ground.fresh.to_owned(), rest: rest.trim_start_matches('/').to_owned() };
        }
        let text = text.replace("{dir}", &ground.fresh.to_string_lossy());
        if !text.starts_with('/') {
            return Place { root: ground.base.to_owned(), rest: text };
        }
        // The directories of the trial and of the project are put back at their own paths when the trial has a /tmp
        // of its own, so what is below them is where it says.
        let (path, shared) = (Path::new(&text), Path::new("/tmp"));
        let put_back = [ground.fresh, ground.directory, ground.base]
            .into_iter()
            .any(|kept| kept != shared && kept.starts_with(shared) && path.starts_with(kept));
        if let Some(tmp) = ground.tmp
            && !put_back
            && let Ok(rest) = path.strip_prefix(shared)
        {
            return Place { root: tmp.to_owned(), rest: rest.to_string_lossy().into_owned() };
        }
        Place { root: PathBuf::from("/"), rest: text.trim_start_matches('/').to_owned() }
    }

    pub(crate) fn path(&self) -> PathBuf {
        if self.rest.is_empty() { self.root.clone() } else { self.root.join(&self.rest) }
    }

    /// The files that fit, in order: `*` stands for any text within a name, `**` for any directories. Links to
    /// directories are followed where they are named, not by `**`.
    pub(crate) fn files(&self) -> io::Result<Vec<PathBuf>> {
        let parts: Vec<&str> = self.rest.split('/').filter(|part| !part.is_empty() && *part != ".").collect();
        let mut walk = Walk { found: Vec::new(), entries: 0 };
        walk.go(&self.root, &parts, 0)?;
        walk.found.sort();
        walk.found.dedup();
        Ok(walk.found)
    }
}

struct Walk {
    found: Vec<PathBuf>,
    entries: usize,
}

impl Walk {
    fn go(&mut self, at: &Path, parts: &[&str], depth: usize) -> io::Result<()> {
        match parts {
            [] => {
                if fs::metadata(at).is_ok_and(|it| it.is_file()) {
                    self.found.push(at.to_owned());
                }
                Ok(())
            }
            ["**", rest @ ..] => {
                self.go(at, rest, depth)?;
                if depth == DEPTH_MAX {
                    return Ok(());
                }
                for entry in self.entries(at)? {
                    if entry.file_type().is_ok_and(|it| it.is_dir()) {
                        self.go(&entry.path(), parts, depth + 1)?;
                    }
                }
                Ok(())
            }
            [part, rest @ ..] if part.contains('*') => {
                for entry in self.entries(at)? {
                    if glob_matches(part, &entry.file_name().to_string_lossy()) {
                        self.go(&entry.path(), rest, depth)?;
                    }
                }
                Ok(())
            }
            [part, rest @ ..] => self.go(&at.join(part), rest, depth),
        }
    }

    /// Content of a directory; none if it is not a directory.
    fn entries(&mut self, at: &Path) -> io::Result<Vec<fs::DirEntry>> {
        let listing = match fs::read_dir(at) {
            Ok(listing) => listing,
            Err(error) if is_absent(&error) => return Ok(Vec::new()),
            Err(error) => return Err(error),
        };
        let mut entries = Vec::new();
        for entry in listing {
            self.entries += 1;
            if self.entries > ENTRIES_MAX {
                return Err(io::Error::other(format!(
                    "more than {ENTRIES_MAX} files and directories are below this pattern; name the directories"
                )));
            }
            entries.push(entry?);
        }
        Ok(entries)
    }
}

/// Tests whether an error says that nothing is there.
pub(super) fn is_absent(error: &io::Error) -> bool {
    matches!(error.kind(), io::ErrorKind::NotFound | io::ErrorKind::NotADirectory)
}

#[cfg(test)]
mod tests {
    use std::time::SystemTime;

    use hypocenter_plan::End;

    use super::*;

    #[test]
    fn only_what_the_trial_hides_is_looked_for_elsewhere() {
        let check = |text: &str, fresh: &str, base: &str, tmp: Option<&str>, expected: &str| {
            let scene = Scene {
                end: End::TimedOut,
                started: SystemTime::UNIX_EPOCH,
                processes: &[],
                directory: Path::new("/var/out/trial"),
                fresh: Path::new(fresh),
                base: Path::new(base),
                tmp: tmp.map(Path::new),
                threads: &[],
                commands: &|_| None,
            };
            assert_eq!(Place::of(text, &scene).path(), Path::new(expected), "{text}");
        };
        let tmp = Some("/var/out/trial/tmp");
        check("x/y", "/f", "/b", tmp, "/b/x/y");
        check("{dir}/y", "/f", "/b", tmp, "/f/y");
        check("{dir}", "/f", "/b", tmp, "/f");
        check("logs-of{dir}/y", "/f", "/b", tmp, "/b/logs-of/f/y");
        check("/etc/x", "/f", "/b", tmp, "/etc/x");
        check("/tmp/x", "/f", "/b", None, "/tmp/x");
        check("/tmp/x", "/f", "/b", tmp, "/var/out/trial/tmp/x");
        check("/tmp", "/f", "/b", tmp, "/var/out/trial/tmp");
        check("/tmpx/y", "/f", "/b", tmp, "/tmpx/y");
        check("/tmp/x", "/f", "/", tmp, "/var/out/trial/tmp/x");
        check("/tmp/x", "/f", "/tmp", tmp, "/var/out/trial/tmp/x");
        check("/tmp/b/x", "/f", "/tmp/b", tmp, "/tmp/b/x");
        check("/tmp/bx/y", "/f", "/tmp/b", tmp, "/var/out/trial/tmp/bx/y");
        check("{dir}/y", "/tmp/f", "/tmp/b", tmp, "/tmp/f/y");
    }
}
