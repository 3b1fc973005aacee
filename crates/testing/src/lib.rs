//! Common parts of the tests of several crates: the JDKs of the machine, and [`skip`] for tests that it cannot run.
//!
//! Only a dev-dependency. It knows no other crate.

mod jdk;

use std::fmt::Display;
use std::io::Write;
use std::panic::Location;

pub use jdk::{Jdk, jdks};

/// With this set to 1, a test that would be skipped fails.
pub const ALL: &str = "HYPOCENTER_TEST_ALL";

/// Reports on stderr that the calling test, or a part of it, is skipped, and why: what the machine lacks. Fails the test where
/// all tests must run.
#[track_caller]
pub fn skip(why: impl Display) {
    let all = std::env::var_os(ALL).is_some_and(|it| it == "1");
    match skipped(all, &test_name(), Location::caller(), &why.to_string()) {
        // Past the capture of passing tests' output, so that a person sees it.
        Ok(said) => drop(writeln!(std::io::stderr(), "{said}")),
        Err(failure) => panic!("{failure}"),
    }
}

fn skipped(all: bool, test: &str, at: &Location<'_>, why: &str) -> Result<String, String> {
    let said = format!("skipped: {test} ({}:{}): {why}", at.file(), at.line());
    if all { Err(format!("{said}; {ALL}=1 lets no test be skipped")) } else { Ok(said) }
}

/// The name of the running test. The test harness names its threads so; with one thread it uses the main one.
fn test_name() -> String {
    std::thread::current().name().unwrap_or("a part of a test").to_owned()
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_skipped_test_is_named_and_fails_where_all_must_run() {
        let at = Location::caller();
        let said = skipped(false, "a_test", at, "no browser").unwrap();
        assert!(said.starts_with("skipped: a_test (") && said.ends_with("): no browser"), "{said}");
        let failure = skipped(true, "a_test", at, "no browser").unwrap_err();
        assert!(failure.starts_with(&said) && failure.contains("HYPOCENTER_TEST_ALL=1"), "{failure}");
    }
}
