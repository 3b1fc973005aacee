//! Source files: which packages they are in, and which of them are tests.
//!
//! A package is what the file says, not where it lies: Kotlin's directories often leave out what all packages share. Only
//! the beginning of a file is read, and only so many files.

use std::collections::BTreeMap;
use std::fs::{DirEntry, File};
use std::io::Read;
use std::path::{Path, PathBuf};

/// The most files that are looked at; beyond, a project is guessed by what was seen so far.
const FILES_MAX: usize = 20_000;
/// Maximum depth of directories that are followed.
const DEPTH_MAX: usize = 40;
/// Maximum size of the part of a file that is read: the text before the first class, and some tests.
const HEAD_BYTES: u64 = 64 << 10;
/// The languages, as the names of source directories and of files.
pub const LANGUAGES: [(&str, &str); 4] =
    [("java", "java"), ("kotlin", "kt"), ("scala", "scala"), ("groovy", "groovy")];

/// A class that a test runner would take.
#[derive(Debug, Clone, PartialEq, Eq, PartialOrd, Ord)]
pub struct TestClass {
    /// True if it is one that wants the system built and started; those come last.
    pub integration: bool,
    /// With its package.
    pub name: String,
}

impl TestClass {
    /// Its name without the package.
    pub fn short(&self) -> &str {
        self.name.rsplit('.').next().unwrap_or(&self.name)
    }
}

/// Content of some source directories.
#[derive(Debug, Default)]
pub struct Sources {
    /// The packages, with how many files each has. The package without a name is the empty text.
    pub packages: BTreeMap<String, usize>,
    /// The tests, in order.
    pub tests: Vec<TestClass>,
    /// The languages that were seen, by the names of their directories.
    pub languages: Vec<&'static str>,
    /// True if there were more files than are looked at.
    pub cut: bool,
}

impl Sources {
    /// Reads everything below some directories; one that is not there holds nothing.
    pub fn read(directories: &[PathBuf]) -> Sources {
        let mut sources = Sources::default();
        let whole = each_file(directories, is_source, |it| sources.add(&it.path()));
        sources.cut = !whole;
        sources.tests.sort();
        sources.tests.dedup();
        sources
    }

    /// Tests whether there is no source at all.
    pub fn is_empty(&self) -> bool {
        self.packages.is_empty()
    }

    fn add(&mut self, file: &Path) {
        let Some(stem) = file.file_stem().and_then(|it| it.to_str()) else { return };
        if stem == "module-info" {
            return;
        }
        let text = head(file);
        let package = package_of(&text);
        if is_test(stem, &text) {
            let name = if package.is_empty() { stem.to_owned() } else { format!("{package}.{stem}") };
            self.tests.push(TestClass { integration: is_integration(stem), name });
        }
        *self.packages.entry(package).or_default() += 1;
        let language = language(file).map(|(directory, _)| directory);
        if let Some(language) = language.filter(|it| !self.languages.contains(it)) {
            self.languages.push(language);
        }
    }
}

/// Visits the files below some directories that are meant; one that is not there has none. Whether those were all, and not only as many as
/// are looked at.
pub fn each_file(
    directories: &[PathBuf],
    is_meant: impl Fn(&Path) -> bool,
    mut visit: impl FnMut(&DirEntry),
) -> bool {
    let mut files = 0;
    let mut open: Vec<(PathBuf, usize)> = directories.iter().map(|it| (it.clone(), 0)).collect();
    while let Some((directory, depth)) = open.pop() {
        for entry in std::fs::read_dir(&directory).into_iter().flatten().flatten() {
            // A link may lead back up, so links are not followed.
            let Ok(kind) = entry.file_type() else { continue };
            if kind.is_dir() && depth < DEPTH_MAX {
                open.push((entry.path(), depth + 1));
            } else if kind.is_file() && is_meant(&entry.path()) {
                files += 1;
                if files > FILES_MAX {
                    return false;
                }
                visit(&entry);
            }
        }
    }
    true
}

fn language(file: &Path) -> Option<(&'static str, &'static str)> {
    let extension = file.extension()?.to_str()?;
    LANGUAGES.into_iter().find(|(_, it)| *it == extension)
}

/// Tests whether a file has the name of a source.
pub fn is_source(file: &Path) -> bool {
    language(file).is_some()
}

/// The beginning of a file as text; nothing of one that cannot be read.
fn head(file: &Path) -> String {
    let mut bytes = Vec::new();
    // What was read before an error is as good as a whole file here.
    let _ = File::open(file).and_then(|file| file.take(HEAD_BYTES).read_to_end(&mut bytes));
    String::from_utf8_lossy(&bytes).into_owned()
}

/// Tests whether the runners of tests would take a class of this name (surefire's own patterns, and failsafe's).
pub fn has_test_name(name: &str) -> bool {
    let is_name = name.chars().all(|it| it.is_alphanumeric() || it == '_');
    let ends = ["Test", "Tests", "TestCase", "IT", "ITCase"];
    is_name
        && (name.starts_with("Test") || name.starts_with("IT") || ends.iter().any(|it| name.ends_with(it)))
}

/// Tests whether a test class is one for the whole system.
pub fn is_integration(name: &str) -> bool {
    name.starts_with("IT") || name.ends_with("IT") || name.ends_with("ITCase")
}

fn is_test(name: &str, text: &str) -> bool {
    // Helpers have such names too, but neither a test in them nor a class of tests above them.
    const MARKS: [&str; 5] = ["@Test", "@ParameterizedTest", "@RepeatedTest", "extends ", "Spec("];
    let is_base =
        ["abstract class", "interface", "object"].iter().any(|it| text.contains(&format!("{it} {name}")));
    has_test_name(name) && !is_base && MARKS.iter().any(|it| text.contains(it))
}

/// The package that a source file says it is in, empty if it says none.
fn package_of(text: &str) -> String {
    let mut parts: Vec<String> = Vec::new();
    for line in without_comments(text).lines().map(str::trim).filter(|it| !it.is_empty()) {
        match line.strip_prefix("package ").map(str::trim_start) {
            Some(rest) => {
                parts.push(rest[..rest.find([';', '{', ' ', '\t']).unwrap_or(rest.len())].replace('`', ""))
            }
            // Annotations may stand before it (`package-info.java`, `@file:JvmName`).
            None if line.starts_with('@') || line.starts_with("#!") => {}
            // Scala may say it in several lines, one below the other; anything else ends it.
            None => break,
        }
    }
    let package = parts.join(".");
    let is_part =
        |it: &str| !it.is_empty() && it.chars().all(|it| it.is_alphanumeric() || it == '_' || it == '$');
    if package.split('.').all(is_part) { package } else { String::new() }
}

/// The text without comments. Literals may stand before a package only in annotations, which have none that look so.
pub fn without_comments(text: &str) -> String {
    let mut out = String::with_capacity(text.len());
    let mut rest = text.strip_prefix('\u{feff}').unwrap_or(text);
    let mut quote: Option<char> = None;
    while let Some(it) = rest.chars().next() {
        match quote {
            Some(_) if it == '\\' => {
                let length = 1 + rest[1..].chars().next().map_or(0, char::len_utf8);
                out.push_str(&rest[..length]);
                rest = &rest[length..];
                continue;
            }
            Some(open) if it == open || it == '\n' => quote = None,
            None if it == '"' || it == '\'' => quote = Some(it),
            None if rest.starts_with("//") => {
                rest = rest.find('\n').map_or("", |at| &rest[at..]);
                continue;
            }
            None if rest.starts_with("/*") => {
                rest = rest.find("*/").map_or("", |at| &rest[at + 2..]);
                continue;
            }
            _ => {}
        }
        out.push(it);
        rest = &rest[it.len_utf8()..];
    }
    out
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_package_is_what_the_file_says() {
        let check = |text: &str, package: &str| assert_eq!(package_of(text), package, "{text}");
        check("package org.acme;\nclass A {}", "org.acme");
        check("// package no.way;\n/* package neither; */\n\npackage  org.acme ;", "org.acme");
        check("/* licence */ package org.acme;", "org.acme");
        check("@file:JvmName(\"package x\")\npackage org.acme\n\nimport a.b", "org.acme");
        check("package org.`in`.acme\nclass A", "org.in.acme");
        check("package org\npackage acme\n\nobject A", "org.acme");
        check("package org.acme { class A }", "org.acme");
        check("@Deprecated\npackage org.acme;", "org.acme");
        check("import a.b;\nclass A { String package = \"\"; }", "");
        check("\u{feff}package org.acme;", "org.acme");
        check("package \u{1}\n", "");
        check("", "");
    }

    #[test]
    fn comments_are_taken_out_and_literals_left() {
        let check = |text: &str, rest: &str| assert_eq!(without_comments(text), rest);
        check("a // b\nc", "a \nc");
        check("a /* b\n */ c", "a  c");
        check("'http://x' \"/*\" d", "'http://x' \"/*\" d");
        check("'it\\'s // no' e // f", "'it\\'s // no' e ");
        check("a /* never closed", "a ");
        check("'\\", "'\\");
    }

    #[test]
    fn tests_are_known_by_name_and_content() {
        let check = |name: &str, text: &str, expected: bool| {
            assert_eq!(is_test(name, text), expected, "{name}: {text}");
        };
        check("StoreTest", "class StoreTest { @Test void a() {} }", true);
        check("TestStore", "public class TestStore extends TestCase {}", true);
        check("StoreIT", "class StoreIT { @ParameterizedTest void a() {} }", true);
        check("StoreTest", "class StoreTest : StringSpec() // @Test", true);
        check("BaseTest", "abstract class BaseTest { @Test void a() {} }", false);
        check("TestUtil", "final class TestUtil { static void a() {} }", false);
        check("Store", "class Store { @Test void a() {} }", false);
    }
}
