//! The way along a class path, in the order in which java would look: a jar, then what its manifest names, then the rest.

use std::path::{Path, PathBuf};

use rustc_hash::FxHashSet;

use crate::loading::classpath::ENTRIES_MAX;
use crate::loading::manifest::Manifest;

/// Remembers where it has been: a manifest may name its own jar, or two each other.
#[derive(Default)]
pub(crate) struct Walk {
    seen: FxHashSet<PathBuf>,
}

/// Items met on the way.
pub(crate) enum Stop<'a> {
    /// Nothing is there. java passes over it, and manifests are full of such; but what the user has written should be
    /// there.
    Missing {
        path: &'a Path,
        is_explicit: bool,
    },
    /// It is beyond the last entry that is looked at.
    Beyond(&'a Path),
    Directory(&'a Path),
    /// Whatever is no directory. The answer is the `Class-Path` of its manifest.
    Jar(&'a Path),
}

/// Directories of a JDK's classes.
pub(crate) enum Jdk {
    /// JDK 9 and later.
    Image(PathBuf),
    /// JDK 8.
    Jars(Vec<PathBuf>),
    None,
}

impl Walk {
    /// Goes to an entry and to what its manifest names. `at` is asked at each stop, and answers with the addresses that
    /// are to be followed.
    pub fn entry(&mut self, path: &Path, is_explicit: bool, mut at: impl FnMut(Stop<'_>) -> Vec<String>) {
        let mut pending = vec![(path.to_owned(), is_explicit)];
        while let Some((path, is_explicit)) = pending.pop() {
            let Ok(canonical) = path.canonicalize() else {
                at(Stop::Missing { path: &path, is_explicit });
                continue;
            };
            if !self.seen.insert(canonical) {
                continue;
            }
            if self.seen.len() > ENTRIES_MAX {
                at(Stop::Beyond(&path));
                return;
            }
            if path.is_dir() {
                at(Stop::Directory(&path));
            } else {
                let addresses = at(Stop::Jar(&path));
                let beside = path.parent().unwrap_or(Path::new(""));
                let named = addresses.iter().rev().filter_map(|address| Manifest::resolve(address, beside));
                pending.extend(named.map(|path| (path, false)));
            }
        }
    }
}

impl Jdk {
    pub fn of(home: &Path) -> Jdk {
        let image = home.join("lib/modules");
        if image.is_file() {
            return Jdk::Image(image);
        }
        let libraries = [home.join("jre/lib"), home.join("lib")];
        match libraries.iter().find(|directory| directory.join("rt.jar").is_file()) {
            Some(directory) => Jdk::Jars(
                ["rt.jar", "jsse.jar", "jce.jar", "charsets.jar"].map(|name| directory.join(name)).into(),
            ),
            None => Jdk::None,
        }
    }
}
