//! The source files of a project. A class says which package it is in, and an editor or a code host wants the path from the root of
//! the project.

use std::collections::BTreeMap;
use std::path::Path;

use crate::project::is_source;

/// The most files and directories that are looked at.
const ENTRIES_MAX: usize = 200_000;
/// Maximum depth of directories that are followed.
const DEPTH_MAX: usize = 40;
/// Directories with what tools have made.
const MADE: [&str; 3] = ["target", "build", "node_modules"];

/// See the module.
#[derive(Debug, Default)]
pub struct Sources {
    /// By the name of the file its paths from the root.
    paths: BTreeMap<String, Vec<String>>,
}

impl Sources {
    /// Those below the current directory, without what is beside a campaign.
    pub fn of_project(campaign: &Path) -> Sources {
        let out = campaign.canonicalize().ok().and_then(|it| Some(it.parent()?.to_owned()));
        let root = std::env::current_dir().and_then(|it| it.canonicalize());
        root.map_or_else(|_| Sources::default(), |root| Sources::below(&root, out.as_deref(), ENTRIES_MAX))
    }

    /// Those below a directory. Of more than can be looked at none: whether a path is the only one is not known then.
    fn below(root: &Path, without: Option<&Path>, entries_max: usize) -> Sources {
        let mut sources = Sources::default();
        let mut open = vec![(root.to_owned(), 0)];
        let mut seen = 0;
        while let Some((directory, depth)) = open.pop() {
            for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
                seen += 1;
                if seen > entries_max {
                    return Sources::default();
                }
                // A link may lead back up, so links are not followed.
                let (Ok(kind), Ok(name)) = (entry.file_type(), entry.file_name().into_string()) else {
                    continue;
                };
                let path = entry.path();
                if kind.is_dir() && depth < DEPTH_MAX {
                    let of_root = path.strip_prefix(root).unwrap_or(&path);
                    // Among sources it is a package.
                    let is_made = MADE.contains(&name.as_str()) && !of_root.iter().any(|it| it == "src");
                    if !is_made && !name.starts_with('.') && without != Some(&path) {
                        open.push((path, depth + 1));
                    }
                } else if kind.is_file() && is_source(&path) {
                    let of_root = path.strip_prefix(root).ok().and_then(Path::to_str);
                    sources.paths.entry(name).or_default().extend(of_root.map(str::to_owned));
                }
            }
        }
        sources
    }

    /// The path that ends in this one, if there is one alone.
    pub fn find(&self, end: &str) -> Option<String> {
        let name = end.rsplit('/').next().unwrap_or(end);
        let mut fitting = self.paths.get(name)?.iter().filter(|it| Path::new(it).ends_with(end));
        let found = fitting.next()?;
        fitting.next().is_none().then(|| found.clone())
    }
}

#[cfg(test)]
mod tests {
    use std::fs;
    use std::os::unix::fs::symlink;

    use super::*;

    #[test]
    fn a_source_is_found_where_it_is_and_not_where_it_was_made_or_there_are_two() {
        let directory = tempfile::tempdir().expect("a temporary directory can be made");
        let root = directory.path();
        for file in [
            "core/src/main/java/org/acme/Store.java",
            "core/src/test/kotlin/org/acme/StoreTest.kt",
            "core/src/main/java/org/acme/build/Plan.java",
            "core/src/main/java/org/acme/Twice.java",
            "net/src/main/java/org/acme/Twice.java",
            "net/src/main/java/org/acme/MyStore.java",
            "core/target/generated-sources/org/acme/Made.java",
            "build/tmp/org/acme/Made.java",
            ".idea/org/acme/Made.java",
            "out/export/org/acme/Made.java",
            "web/node_modules/org/acme/Made.java",
            "Top.java",
        ] {
            fs::create_dir_all(root.join(file).parent().expect("it has one")).expect("a directory");
            fs::write(root.join(file), "").expect("a file");
        }
        symlink(root, root.join("core/again")).expect("a link");
        let out = root.join("out");
        let sources = Sources::below(root, Some(&out), ENTRIES_MAX);
        for (end, expected) in [
            ("org/acme/Store.java", Some("core/src/main/java/org/acme/Store.java")),
            ("org/acme/StoreTest.kt", Some("core/src/test/kotlin/org/acme/StoreTest.kt")),
            ("org/acme/build/Plan.java", Some("core/src/main/java/org/acme/build/Plan.java")),
            ("Top.java", Some("Top.java")),
            ("org/acme/Twice.java", None),
            ("org/acme/Made.java", None),
            ("acme/org/Store.java", None),
            ("java/util/List.java", None),
        ] {
            assert_eq!(sources.find(end).as_deref(), expected, "{end}");
        }
        assert_eq!(Sources::below(root, Some(&out), 20).find("Top.java"), None);
    }
}
