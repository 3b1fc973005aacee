//! Real logs, which are not part of the project: `HYPOCENTER_LOGS` names directories that have some, with colons between.

use std::fs;
use std::path::{Path, PathBuf};

use hypocenter_logs::Log;

fn logs_below(directory: &Path, into: &mut Vec<PathBuf>) {
    let mut paths: Vec<PathBuf> =
        fs::read_dir(directory).into_iter().flatten().flatten().map(|it| it.path()).collect();
    paths.sort();
    for path in paths {
        if path.is_dir() {
            logs_below(&path, into);
        } else if path.extension().is_some_and(|it| it == "log") {
            into.push(path);
        }
    }
}

/// What a person would count: lines with a time of day and a level before their hundredth character, that are not indented.
fn looks_like_an_entry(line: &str) -> bool {
    let start: String = line.chars().take(100).collect();
    let has_level = ["INFO", "WARN", "ERROR", "DEBUG", "TRACE", "FATAL"].iter().any(|it| start.contains(it));
    let digits = start.chars().filter(char::is_ascii_digit).count();
    has_level && digits >= 10 && !line.starts_with(char::is_whitespace)
}

#[test]
#[ignore = "reads real logs, from the directories that HYPOCENTER_LOGS names"]
fn every_line_of_a_real_log_belongs_to_something() {
    let directories = std::env::var_os("HYPOCENTER_LOGS");
    let directories = directories.expect("HYPOCENTER_LOGS names directories with *.log files");
    let mut paths = Vec::new();
    std::env::split_paths(&directories).for_each(|it| logs_below(&it, &mut paths));
    assert!(!paths.is_empty(), "no *.log file below {directories:?}");
    for path in paths {
        let bytes = fs::read(&path).expect("a log can be read");
        let log = Log::read(&bytes).unwrap_or_else(|it| panic!("{}: {it}", path.display()));
        let continued: u32 = log.entries().map(|it| it.lines.saturating_sub(1)).sum();
        let entry_lines: u32 = log.entries().map(|it| it.lines).sum();
        let exceptions: usize = log.entries().map(|it| it.trace().exceptions.len()).sum();
        let expected = String::from_utf8_lossy(&bytes).lines().filter(|it| looks_like_an_entry(it)).count();
        println!(
            "{}: {} lines = {} header + {} entries + {continued} continued + {} footer; {exceptions} exceptions; a person counts \
             {expected} entries; {}",
            path.display(),
            log.lines(),
            log.header_lines(),
            log.len(),
            log.footer_lines(),
            log.layout(),
        );
        assert_eq!(log.header_lines() + entry_lines + log.footer_lines(), log.lines(), "{}", path.display());
        assert!(log.len() * 100 >= expected * 95, "{}", path.display());
        let full = log.entries().filter(|it| it.time_ms.is_some() && it.level.is_some()).count();
        assert_eq!(full, log.len(), "entries without a time or a level in {}", path.display());
    }
}
