//! A name of a public type has one meaning, or two at most.

use std::collections::{BTreeMap, BTreeSet};

use regex::Regex;

use crate::sources::{Source, all, compared, made_up};

/// The most crates that define a public type of the same name.
const CRATES_MAX: usize = 2;

/// Names with more meanings than that. None may be added.
const CLASHING: &[&str] = &[];

/// The names of public types that too many crates define, each with these.
fn clashes(sources: &[Source]) -> BTreeMap<String, BTreeSet<String>> {
    // An associated type is indented.
    let defined =
        Regex::new(r"(?m)^pub (?:struct|enum|trait|type|union) (\w+)").expect("a regular expression");
    let mut names: BTreeMap<String, BTreeSet<String>> = BTreeMap::new();
    for source in sources.iter().filter(|it| it.path.starts_with("crates/") && it.is_product()) {
        for it in defined.captures_iter(&source.code()) {
            names.entry(it[1].to_owned()).or_default().insert(source.krate().to_owned());
        }
    }
    names.retain(|_, crates| crates.len() > CRATES_MAX);
    names
}

#[test]
fn the_name_of_a_public_type_is_defined_in_two_crates_at_most() {
    let clashes = clashes(&all());
    let wrong = compared(&clashes.keys().cloned().collect::<Vec<_>>(), CLASHING);
    assert!(wrong.is_empty(), "{}\nall: {clashes:#?}", wrong.join("\n"));
}

#[test]
fn a_name_of_three_crates_is_found() {
    let one = "pub struct Found;\npub enum Two {}\npub(crate) struct Own;\n    pub type Inner = u8;\n";
    let three = "pub type Found = u8;\nstruct Own;\n#[cfg(test)]\nmod tests {\n}\npub enum Two {}\n";
    let sources = [
        made_up("crates/a/src/lib.rs", one),
        made_up("crates/b/src/x/y.rs", one),
        made_up("crates/c/src/lib.rs", three),
        made_up("crates/c/tests/two.rs", "pub struct Two;"),
    ];
    assert_eq!(clashes(&sources).into_keys().collect::<Vec<_>>(), ["Found"]);
}
