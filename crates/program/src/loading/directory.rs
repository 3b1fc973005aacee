//! A directory of class files.

use std::path::{Path, PathBuf};

use hypocenter_plan::Problem;
use rustc_hash::FxHashSet;

use crate::loading::classes::class_name;
use crate::loading::jar::ENTRY_BYTES_MAX;

/// Maximum depth of a tree of packages.
const DEPTH_MAX: usize = 64;
/// Maximum number of files to read.
const FILES_MAX: usize = 1 << 20;

/// The names, with dots, of the classes below a directory.
pub(crate) fn class_names(root: &Path) -> (Vec<Box<str>>, Vec<Problem>) {
    let mut names = Vec::new();
    let mut problems = Vec::new();
    let mut problem =
        |path: &Path, what: String| problems.push(Problem { place: path.display().to_string(), what });
    let mut files = 0;
    // Links to directories are followed once each, so that a link to its own parent ends.
    let mut linked: FxHashSet<PathBuf> = FxHashSet::default();
    let mut pending = vec![(root.to_owned(), String::new(), 0)];
    while let Some((directory, prefix, depth)) = pending.pop() {
        let entries = match std::fs::read_dir(&directory) {
            Ok(entries) => entries,
            Err(error) => {
                problem(&directory, format!("cannot be listed: {error}; its classes are left out"));
                continue;
            }
        };
        for entry in entries.flatten() {
            files += 1;
            if files > FILES_MAX {
                problem(root, format!("has more than {FILES_MAX} files; the rest is left out"));
                return (names, problems);
            }
            let Ok(file_name) = entry.file_name().into_string() else { continue };
            let path = format!("{prefix}{file_name}");
            let Ok(kind) = entry.file_type() else { continue };
            let is_linked_directory = kind.is_symlink() && entry.path().is_dir();
            if kind.is_dir() || is_linked_directory {
                let is_new =
                    !is_linked_directory || entry.path().canonicalize().is_ok_and(|it| linked.insert(it));
                if depth == DEPTH_MAX {
                    problem(&entry.path(), format!("is deeper than {DEPTH_MAX} directories; left out"));
                } else if is_new {
                    pending.push((entry.path(), format!("{path}/"), depth + 1));
                }
            } else if let Some(name) = class_name(&path) {
                names.push(name.into());
            }
        }
    }
    (names, problems)
}

/// The bytes of a class below a directory.
pub(crate) fn read(root: &Path, name: &str) -> Result<Vec<u8>, String> {
    let path = root.join(format!("{}.class", name.replace('.', "/")));
    let io = |error: std::io::Error| format!("cannot be read: {error}");
    let metadata = std::fs::metadata(&path).map_err(io)?;
    if !metadata.is_file() {
        return Err("is not a file".into());
    }
    if metadata.len() > ENTRY_BYTES_MAX {
        return Err(format!("is larger than {} MiB", ENTRY_BYTES_MAX >> 20));
    }
    std::fs::read(&path).map_err(io)
}
