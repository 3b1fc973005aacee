//! Class paths of any content: jars, jars in jars, directories, the image of a JDK.

use std::hint::black_box;
use std::path::Path;

use hypocenter_program::{ClassPath, Classes, Digest};

use crate::bundle::{self, File};
use crate::place;

/// How many classes are read one by one.
const READS_MAX: usize = 64;
/// The version of the JVM that jars for several versions are read for.
const RELEASE: u16 = 17;

/// The first byte says what the others are.
pub fn check(bytes: &[u8]) {
    let Some((kind, bytes)) = bytes.split_first() else { return };
    let directory = place::fresh();
    let path = match kind % 4 {
        0 => ClassPath::from_paths(vec![place::write(directory, "a.jar", bytes)]),
        1 => {
            let files = bundle::files(bytes);
            if files.iter().any(leads_away) {
                return;
            }
            // The second jar has everything again, so that each class is there twice.
            let jar = bundle::jar(&files);
            let paths = ["a.jar", "b.jar"].map(|it| place::write(directory, it, &jar));
            ClassPath::from_paths(paths.into())
        }
        2 => {
            lay_out(directory, &bundle::files(bytes));
            ClassPath::from_paths(vec![directory.to_owned()])
        }
        _ => {
            place::write(directory, "lib/modules", bytes);
            ClassPath::default().with_jdk(directory)
        }
    };
    let classes = path.open(RELEASE);
    walk(&classes);
    let image = |path: &Path| Digest::of_file(path);
    let digest = path.digest(image).ok();
    assert_eq!(path.digest(image).ok(), digest, "the same files have another digest");
}

/// Everything that can be asked of what was opened.
fn walk(classes: &Classes) {
    let names: Vec<&str> = classes.names().collect();
    assert_eq!(names.len(), classes.len());
    assert!(names.is_sorted_by(|a, b| a < b), "a name is there twice, or out of order");
    for problem in classes.problems() {
        assert!(!problem.place.is_empty() && !problem.what.is_empty());
    }
    let (sizes, problems) = classes.map(|_| true, |_, bytes| bytes.len());
    assert_eq!(sizes.len() + problems.len(), names.len(), "a class is neither read nor a problem");
    for name in names.iter().take(READS_MAX) {
        assert!(classes.contains(name) && classes.origin(name).is_some());
        black_box(classes.read(name).expect("it is among the names").map(|it| it.len()).ok());
    }
    assert!(classes.read("no.such.Class$").is_none());
}

/// Whether a file is a manifest that names places outside of the directory: they are no part of the input.
fn leads_away(file: &File<'_>) -> bool {
    if file.flags & bundle::flag::NESTED != 0 {
        return false;
    }
    let is_manifest = file.name.eq_ignore_ascii_case(b"META-INF/MANIFEST.MF");
    is_manifest
        && (file.content.windows(2).any(|it| it == b"..")
            || file.content.iter().any(|it| b"/%\\".contains(it)))
}

/// Writes files below a directory, those whose names are paths that stay there.
fn lay_out(directory: &Path, files: &[File<'_>]) {
    for file in files {
        let Ok(name) = std::str::from_utf8(file.name) else { continue };
        let is_plain = |part: &str| !part.is_empty() && part != "." && part != ".." && !part.contains('\0');
        if name.len() > 200 || !name.split('/').all(is_plain) {
            continue;
        }
        let path = directory.join(name);
        // A file may stand where another wants a directory.
        let Some(parent) = path.parent() else { continue };
        if std::fs::create_dir_all(parent).is_ok() {
            black_box(std::fs::write(&path, file.content).is_ok());
        }
    }
}
