//! Class path of the target: an ordered list of directories and jars, as for `java`.

use std::path::{Path, PathBuf};

use hypocenter_plan::{Problem, glob_matches};

use crate::Classes;

/// The most entries that a class path may have, wildcards and manifests included.
pub(crate) const ENTRIES_MAX: usize = 10_000;

/// An ordered list of directories and jars. It only names them; [`ClassPath::open`] reads them.
#[derive(Debug, Clone, Default, PartialEq, Eq)]
pub struct ClassPath {
    pub(crate) entries: Vec<PathBuf>,
    pub(crate) jdk: Option<PathBuf>,
    pub(crate) problems: Vec<Problem>,
}

impl ClassPath {
    /// Reads java's own syntax: entries separated by `:`, where `dir/*` stands for all jars in `dir`, an empty
    /// entry for `base`, and relative names are seen from `base`.
    pub fn parse(text: &str, base: &Path) -> ClassPath {
        let mut path = ClassPath::default();
        for entry in text.split(':') {
            match wildcard(entry) {
                Some(directory) => path.add_jars_of(&base.join(directory)),
                None => path.add(base.join(entry)),
            }
        }
        path
    }

    /// Reads a list as `hypocenter.toml` has it: files and directories relative to `base`, in which `*` stands for any
    /// text within a name (`lib/*.jar`); `dir/*` means all jars in `dir`, as for java.
    pub fn from_entries(entries: &[String], base: &Path) -> ClassPath {
        let mut path = ClassPath::default();
        for entry in entries {
            if !entry.contains('*') {
                path.add(base.join(entry));
            } else if let Some(directory) = wildcard(entry).filter(|directory| !directory.contains('*')) {
                path.add_jars_of(&base.join(directory));
            } else {
                let found = expand(entry, base);
                if found.is_empty() {
                    path.problem(entry, "no file fits this pattern; correct it, or build the target first");
                }
                found.into_iter().for_each(|file| path.add(file));
            }
        }
        path
    }

    /// A path of entries that are known one by one.
    pub fn from_paths(entries: Vec<PathBuf>) -> ClassPath {
        let mut path = ClassPath::default();
        entries.into_iter().for_each(|entry| path.add(entry));
        path
    }

    /// Errors of the text that it was read from.
    pub fn problems(&self) -> &[Problem] {
        &self.problems
    }

    /// The same path with the JDK's own classes behind everything else: `lib/modules`, or `rt.jar` and its
    /// companions for JDK 8.
    pub fn with_jdk(mut self, java_home: &Path) -> ClassPath {
        self.jdk = Some(java_home.to_owned());
        self
    }

    /// The entries, without the JDK and before manifests are followed.
    pub fn entries(&self) -> &[PathBuf] {
        &self.entries
    }

    /// Opens everything on the path. `release` is the Java version of the target's JVM, for jars that hold
    /// classes for several. What cannot be read is a problem of the result.
    pub fn open(&self, release: u16) -> Classes {
        Classes::open(self, release)
    }

    pub(crate) fn add(&mut self, entry: PathBuf) {
        if self.entries.len() < ENTRIES_MAX {
            self.entries.push(entry);
        } else if self.entries.len() == ENTRIES_MAX && self.problems.iter().all(|it| it.place != "class path")
        {
            self.problem(
                "class path",
                &format!("has more than {ENTRIES_MAX} entries; the rest was left out"),
            );
        }
    }

    /// All jars directly in a directory, in the order of their names: java gives no order, a report needs one.
    pub(crate) fn add_jars_of(&mut self, directory: &Path) {
        match names_in(directory) {
            Ok(names) => {
                let jars = names.into_iter().filter(|name| name.ends_with(".jar") || name.ends_with(".JAR"));
                jars.for_each(|name| self.add(directory.join(name)));
            }
            Err(error) => {
                self.problem(&directory.display().to_string(), &format!("cannot be listed: {error}"))
            }
        }
    }

    fn problem(&mut self, place: &str, what: &str) {
        self.problems.push(Problem { place: place.to_owned(), what: what.to_owned() });
    }
}

/// The directory of an entry `dir/*` or `*`.
fn wildcard(entry: &str) -> Option<&str> {
    entry.strip_suffix('*').filter(|directory| directory.is_empty() || directory.ends_with('/'))
}

fn names_in(directory: &Path) -> std::io::Result<Vec<String>> {
    let mut names: Vec<String> = std::fs::read_dir(directory)?
        .filter_map(|entry| entry.ok()?.file_name().into_string().ok())
        .collect();
    names.sort();
    Ok(names)
}

/// The files that a pattern fits, part by part; `*` does not cross a `/`.
fn expand(pattern: &str, base: &Path) -> Vec<PathBuf> {
    let mut found = vec![if pattern.starts_with('/') { PathBuf::from("/") } else { base.to_owned() }];
    for part in pattern.split('/').filter(|part| !part.is_empty()) {
        found = if part.contains('*') {
            let fitting = |directory: PathBuf| {
                let names = names_in(&directory).unwrap_or_default();
                names
                    .into_iter()
                    .filter(|name| glob_matches(part, name))
                    .map(move |name| directory.join(name))
                    .collect()
            };
            found.into_iter().flat_map(|directory| -> Vec<PathBuf> { fitting(directory) }).collect()
        } else {
            found.into_iter().map(|directory| directory.join(part)).filter(|path| path.exists()).collect()
        };
        found.truncate(ENTRIES_MAX);
    }
    found
}
