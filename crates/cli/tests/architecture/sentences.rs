//! A sentence of the tool is pinned by one test, so that rewording it changes one.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::sources::{Source, all, made_up};

/// The shortest text that counts as a sentence, in words and in characters.
const WORDS_MIN: usize = 4;
const CHARS_MIN: usize = 24;

/// The sentences that several tests assert, each with these.
fn pinned_twice(sources: &[Source]) -> Vec<String> {
    let pin = Regex::new(r#"\bfn (\w+)|\.(?:says|contains)\(\s*&?"((?:[^"\\]|\\.|\\\n)*)""#);
    let pin = pin.expect("a regular expression");
    let continued = Regex::new(r"\\\n\s*").expect("a regular expression");
    let mut pins: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources {
        let tests = source.tests();
        let mut test = "";
        for it in pin.captures_iter(&tests) {
            if let Some(name) = it.get(1) {
                test = name.as_str();
            } else if let Some(text) = it.get(2) {
                let text = continued.replace_all(text.as_str(), "").into_owned();
                let words = text.split_whitespace().filter(|it| it.contains(char::is_alphabetic)).count();
                if words >= WORDS_MIN && text.chars().count() >= CHARS_MIN {
                    pins.entry(text).or_default().insert(format!("{}: {test}", source.path));
                }
            }
        }
    }
    pins.retain(|_, tests| tests.len() > 1);
    let line = |(text, tests): (String, BTreeSet<String>)| {
        format!("`{text}`: {}", tests.into_iter().collect::<Vec<_>>().join(", "))
    };
    pins.into_iter().map(line).collect()
}

#[test]
fn a_sentence_is_pinned_by_one_test() {
    let found = pinned_twice(&all());
    assert!(
        found.is_empty(),
        "{}\nkeep it in the test that is about it; elsewhere assert what matters there",
        found.join("\n")
    );
}

#[test]
fn a_sentence_that_two_tests_pin_is_found() {
    let check = |one: &str, two: &str, expected: &[&str]| {
        let sources = [made_up("crates/x/tests/one.rs", one), made_up("crates/x/tests/two.rs", two)];
        assert_eq!(pinned_twice(&sources), expected, "{one}\n{two}");
    };
    let of = |name: &str, body: &str| format!("#[test]\nfn {name}() {{\n    {body}\n}}\n");
    let says = r#"done.says("the disk was full at the end");"#;
    let contains = "assert!(it.contains(\n        \"the disk was \\\n         full at the end\"\n    ));";
    let twice = ["`the disk was full at the end`: crates/x/tests/one.rs: a, crates/x/tests/two.rs: b"];
    check(&of("a", says), &of("b", contains), &twice);
    check(&of("a", &format!("{says}{says}")), &of("b", "done.says(\"the disk was full\");"), &[]);
    check(&of("a", says), &format!("// {says}"), &[]);
    check(&of("a", says), &of("b", "done.tells(\"the disk was full at the end\");"), &[]);
}
