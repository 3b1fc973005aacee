//! JUnit on a class path that is ready to be used: a test can then be run by `java` alone.

use std::path::Path;

use hypocenter_program::{ClassPath, Classes};

use super::build::{line, words};
use super::plain::RELEASE;

const JUNIT_4: &str = "org.junit.runner.JUnitCore";
const CONSOLE: &str = "org.junit.platform.console.ConsoleLauncher";
/// Class of consoles that need a subcommand; older ones have none.
const EXECUTE: &str = ".ExecuteTestsCommand";

/// The command that runs a class of tests, if JUnit is among the entries; `class_path` is the same for java.
pub fn command(entries: &[String], directory: &Path, class_path: &str, test: &str) -> Option<String> {
    command_on(&ClassPath::from_entries(entries, directory).open(RELEASE), class_path, test)
}

/// As [`command`], for classes that are open.
pub fn command_on(classes: &Classes, class_path: &str, test: &str) -> Option<String> {
    let java = words(["java", "-cp", class_path]);
    // The console runs tests of JUnit 4 too, where the engine for them is there; the other way round it never works.
    let command: Vec<String> = if classes.contains(CONSOLE) {
        let execute = classes.names().any(|it| it.ends_with(EXECUTE)).then(|| "execute".to_owned());
        java.chain(words([CONSOLE])).chain(execute).chain(words(["--select-class", test])).collect()
    } else if classes.contains(JUNIT_4) {
        java.chain(words([JUNIT_4, test])).collect()
    } else {
        return None;
    };
    Some(line(&command))
}
