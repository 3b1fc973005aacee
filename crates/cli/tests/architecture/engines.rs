//! Engines do the same for the same outcomes: they use no clock, file, process, network or thread.

use regex::Regex;

use crate::sources::{Source, all, made_up};

const ENGINES: [&str; 6] = ["engine", "reproduce", "explore", "cascade", "predict", "explain"];

/// Each line of an engine that names something of the outside.
fn outside(sources: &[Source]) -> Vec<String> {
    let direct = r"\bstd::(?:fs|process|net|thread)\b|\b(?:Instant|SystemTime)\b";
    // One of several imports: `use std::{collections::BTreeMap, fs}`.
    let grouped = r"\bstd::\{[^;]*?[{,\s](?:fs|process|net|thread)\b";
    let named = Regex::new(&format!("{direct}|{grouped}")).expect("a regular expression");
    let mut found = Vec::new();
    for source in sources.iter().filter(|it| ENGINES.contains(&it.krate()) && it.is_product()) {
        let code = source.code();
        for it in named.find_iter(&code) {
            let line = 1 + code[..it.start()].matches('\n').count();
            found.push(format!("{}:{line}: {}", source.path, it.as_str().trim()));
        }
    }
    found
}

#[test]
fn an_engine_uses_no_clock_file_process_network_or_thread() {
    let found = outside(&all());
    assert!(found.is_empty(), "{}", found.join("\n"));
}

#[test]
fn what_an_engine_uses_of_the_outside_is_found() {
    let check = |path: &str, text: &str, lines: &[&str]| {
        assert_eq!(outside(&[made_up(path, text)]), lines, "{text}");
    };
    let path = "crates/explore/src/a.rs";
    check(path, "use std::fs;\n", &["crates/explore/src/a.rs:1: std::fs"]);
    check(path, "\nlet a = std::process::id();", &["crates/explore/src/a.rs:2: std::process"]);
    check(path, "let a = Instant::now();", &["crates/explore/src/a.rs:1: Instant"]);
    check(path, "use std::time::{Duration, SystemTime};", &["crates/explore/src/a.rs:1: SystemTime"]);
    let grouped = "use std::{\n    collections::BTreeMap,\n    thread,\n};";
    check(path, grouped, &["crates/explore/src/a.rs:1: std::{\n    collections::BTreeMap,\n    thread"]);
    check(path, "use std::time::Duration;\nuse std::{fmt, mem};\nlet process = 1;", &[]);
    check(path, "// std::fs\n#[cfg(test)]\nmod tests {\n    use std::fs;\n}", &[]);
    check("crates/explore/tests/a.rs", "use std::fs;", &[]);
    check("crates/lab/src/a.rs", "use std::fs;", &[]);
}
