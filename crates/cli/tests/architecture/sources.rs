//! The sources of the workspace as text.

use std::fs;
use std::path::{Path, PathBuf};

/// A source file.
pub struct Source {
    /// From the root of the workspace.
    pub path: String,
    pub text: String,
}

/// The line that begins the tests of a file. They stand at its end.
const TESTS: &str = "#[cfg(test)]\nmod tests";

/// The root of the workspace.
pub fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the crate is in its workspace")
}

/// All sources of the workspace and of the fuzzers, sorted by path.
pub fn all() -> Vec<Source> {
    let root = root();
    let mut found = Vec::new();
    for directory in ["crates", "xtask", "fuzz"] {
        read_into(&root.join(directory), &root, &mut found);
    }
    found.sort_by(|a, b| a.path.cmp(&b.path));
    found
}

fn read_into(directory: &Path, root: &Path, found: &mut Vec<Source>) {
    for path in fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path()) {
        if path.is_dir() && path.file_name().is_some_and(|it| it != "target") {
            read_into(&path, root, found);
        } else if path.extension().is_some_and(|it| it == "rs") {
            let text = fs::read_to_string(&path).expect("a source can be read");
            let path = path.strip_prefix(root).expect("it lies in the workspace").display().to_string();
            found.push(Source { path, text });
        }
    }
}

impl Source {
    /// The crate, as its folder is called.
    pub fn krate(&self) -> &str {
        let mut parts = self.path.split('/');
        let first = parts.next().unwrap_or("");
        if first == "crates" { parts.next().unwrap_or("") } else { first }
    }

    /// Tests whether it is part of the crate itself, as opposed to its tests, benches and examples.
    pub fn is_product(&self) -> bool {
        self.path.contains("/src/") && !self.path.ends_with("/tests.rs") && !self.path.contains("/tests/")
    }

    /// The text without tests and without lines of comment. Lines keep their numbers.
    pub fn code(&self) -> String {
        let code = self.text.split(TESTS).next().unwrap_or("");
        without_comments(code)
    }

    /// The tests of the file: its last part, or all of it.
    pub fn tests(&self) -> String {
        let tests = match self.text.split_once(TESTS) {
            Some((_, tests)) => tests,
            None if self.is_product() => "",
            None => &self.text,
        };
        without_comments(tests)
    }
}

/// The text with empty lines for those that are comments.
pub fn without_comments(text: &str) -> String {
    let lines = text.lines().map(|it| if it.trim_start().starts_with("//") { "" } else { it });
    lines.collect::<Vec<_>>().join("\n")
}

/// The difference between today's exceptions and a list of them that may only shrink.
pub fn compared(found: &[String], listed: &[&str]) -> Vec<String> {
    let new = found.iter().filter(|it| !listed.contains(&it.as_str())).cloned();
    let gone = listed.iter().filter(|it| !found.iter().any(|found| found == *it));
    new.chain(gone.map(|it| format!("{it}: no longer found; take it off the list"))).collect()
}

/// A made-up source.
pub fn made_up(path: &str, text: &str) -> Source {
    Source { path: path.to_owned(), text: text.to_owned() }
}

#[test]
fn a_list_of_exceptions_may_only_shrink() {
    let found = ["a".to_owned(), "b".to_owned()];
    assert_eq!(compared(&found, &["a", "b"]), [""; 0]);
    assert_eq!(compared(&found, &["a"]), ["b"]);
    assert_eq!(compared(&found[..1], &["a", "b"]), ["b: no longer found; take it off the list"]);
}

#[test]
fn tests_and_comments_are_no_code() {
    let text = "// one\nfn a() {}\n    // two\n#[cfg(test)]\nmod tests {\n    // three\n    fn b() {}\n}\n";
    let source = made_up("crates/x/src/a.rs", text);
    assert_eq!(source.code(), "\nfn a() {}\n");
    assert_eq!(source.tests().trim(), "{\n\n    fn b() {}\n}");
    assert_eq!((source.krate(), source.is_product()), ("x", true));
    assert_eq!(made_up("crates/x/tests/a.rs", "fn c() {}").tests(), "fn c() {}");
    assert_eq!(made_up("xtask/src/main.rs", "").krate(), "xtask");
}
