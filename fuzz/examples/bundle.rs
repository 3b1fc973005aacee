//! Writes seeds for the targets `loader` and `program`, and the small JDK that `program` has:
//!
//! - `bundle seeds <corpus> <directory>...`: each class below the directories with those nested in it, as a seed for both;
//! - `bundle library <jar> <directory> <name>...`: a jar of these classes, as far as they are there.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};

use hypocenter_fuzz::bundle::{self, File, flag};

/// How large a seed is at most.
const SEED_BYTES_MAX: usize = 24 * 1024;

fn main() {
    let arguments: Vec<String> = std::env::args().skip(1).collect();
    match &arguments[..] {
        [verb, corpus, directories @ ..] if verb == "seeds" => seeds(Path::new(corpus), directories),
        [verb, jar, directory, names @ ..] if verb == "library" => {
            library(Path::new(jar), Path::new(directory), names)
        }
        _ => panic!("bundle seeds <corpus> <directory>... | bundle library <jar> <directory> <name>..."),
    }
}

/// The class files below a directory, each with its path from there.
fn classes(root: &Path, below: &Path, found: &mut Vec<(String, PathBuf)>) {
    for entry in fs::read_dir(below).into_iter().flatten().flatten().map(|it| it.path()) {
        if entry.is_dir() {
            classes(root, &entry, found);
        } else if entry.extension().is_some_and(|it| it == "class") {
            let name = entry.strip_prefix(root).expect("it is below").to_string_lossy().into_owned();
            found.push((name, entry));
        }
    }
}

fn seeds(corpus: &Path, directories: &[String]) {
    let mut groups: BTreeMap<(String, String), Vec<(String, PathBuf)>> = BTreeMap::new();
    for directory in directories {
        let mut found = Vec::new();
        classes(Path::new(directory), Path::new(directory), &mut found);
        found.sort();
        for (name, path) in found {
            let outer = name.trim_end_matches(".class").split('$').next().unwrap_or_default().to_owned();
            groups.entry((directory.clone(), outer)).or_default().push((name, path));
        }
    }
    let mut written = [0, 0];
    for (n, group) in groups.values().enumerate() {
        let mut inner = Vec::new();
        for (name, path) in group {
            let content = fs::read(path).expect("a class can be read");
            bundle::put(&mut inner, File { flags: 0, name: name.as_bytes(), content: &content });
        }
        if inner.len() > SEED_BYTES_MAX {
            continue;
        }
        // What the first byte asks for in `program`: helpers, one package, no JDK, threads.
        put(&corpus.join("program"), n, &[&[[0, 9, 2, 12, 1, 8][n % 6]], &inner[..]].concat());
        written[0] += 1;
        if n % 8 == 0 {
            loader(&corpus.join("loader"), n, &inner, group.first().map_or("a.class", |it| &it.0));
            written[1] += 4;
        }
    }
    println!("program: {} seeds, loader: {} seeds", written[0], written[1]);
}

/// The same classes as a jar, as a bundle with what jars can have, as a directory, and as the image of a JDK.
fn loader(corpus: &Path, n: usize, classes: &[u8], name: &str) {
    let files = bundle::files(classes);
    put(corpus, 4 * n, &[&[0], &bundle::jar(&files)[..]].concat());
    let manifest = b"Manifest-Version: 1.0\nMulti-Release: true\nClass-Path: b.jar c.jar\n";
    let mut bundle = Vec::new();
    let mut add = |flags, name: &str, content| {
        bundle::put(&mut bundle, File { flags, name: name.as_bytes(), content });
    };
    add(0, "META-INF/MANIFEST.MF", manifest);
    add(flag::NESTED, "BOOT-INF/lib/inner.jar", classes);
    add(flag::WRONG_SUM, "BOOT-INF/lib/broken.jar", classes);
    add(0, &format!("META-INF/versions/11/{name}"), files[0].content);
    add(flag::TWICE, &format!("WEB-INF/classes/{name}"), files[0].content);
    add(flag::NOT_DEFLATED, "a/B.class", b"");
    add(flag::WRONG_SIZE, "a/C.class", b"");
    put(corpus, 4 * n + 1, &[&[1], &bundle[..]].concat());
    put(corpus, 4 * n + 2, &[&[2], classes].concat());
    put(corpus, 4 * n + 3, &[&[3], &image(&files)[..]].concat());
}

/// A runtime image as `jlink` writes it, without its hash.
fn image(files: &[File<'_>]) -> Vec<u8> {
    let mut strings = b"\0class\0java.base\0".to_vec();
    let (mut locations, mut offsets, mut data) = (vec![0], Vec::new(), Vec::new());
    for file in files {
        let name = String::from_utf8_lossy(file.name).trim_end_matches(".class").to_owned();
        let (parent, base) = name.rsplit_once('/').unwrap_or(("", &name));
        let mut string = |text: &str| {
            let at = strings.len();
            strings.extend(text.as_bytes());
            strings.push(0);
            at
        };
        let (parent, base) = (string(parent), string(base));
        offsets.push(locations.len() as u32);
        let attributes = [(1, 7), (2, parent), (3, base), (4, 1), (5, data.len()), (7, file.content.len())];
        for (kind, value) in attributes {
            locations.push(kind << 3 | 3);
            locations.extend((value as u32).to_be_bytes());
        }
        locations.push(0);
        data.extend(file.content);
    }
    let count = offsets.len() as u32;
    let header = [0xcafe_dada, 1 << 16, 0, count, count, locations.len() as u32, strings.len() as u32];
    let words = header.into_iter().chain(std::iter::repeat_n(0, offsets.len())).chain(offsets);
    let mut image: Vec<u8> = words.flat_map(u32::to_le_bytes).collect();
    image.extend([locations, strings, data].concat());
    image
}

fn put(folder: &Path, n: usize, seed: &[u8]) {
    fs::create_dir_all(folder).expect("the corpus can be made");
    fs::write(folder.join(format!("seed-{n}")), seed).expect("the corpus can be written");
}

fn library(jar: &Path, directory: &Path, names: &[String]) {
    let read = |name: &String| {
        Some((format!("{name}.class"), fs::read(directory.join(format!("{name}.class"))).ok()?))
    };
    let found: Vec<(String, Vec<u8>)> = names.iter().filter_map(read).collect();
    let files: Vec<File<'_>> =
        found.iter().map(|(name, content)| File { flags: 0, name: name.as_bytes(), content }).collect();
    fs::create_dir_all(jar.parent().expect("a path with a directory")).expect("a directory can be made");
    fs::write(jar, bundle::jar(&files)).expect("the jar can be written");
    println!("library: {} of {} classes", files.len(), names.len());
}
