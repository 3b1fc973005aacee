//! Messages in the troubleshooting guide are indexed by their texts, so the tool must print exactly these.

use std::path::{Path, PathBuf};

use hypocenter_plan::ExitCode::{self, AlreadyFails, Budget, Bug, Done, Findings, TryAgain, Usage};

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..")
}

/// All sources of the crates, with the lines of a text put together.
fn sources() -> String {
    let mut open = vec![root().join("crates")];
    let mut text = String::new();
    while let Some(directory) = open.pop() {
        for entry in std::fs::read_dir(&directory).unwrap().flatten() {
            let path = entry.path();
            match path.extension() {
                _ if path.is_dir() => open.push(path),
                // Tests may say anything.
                Some(it) if it == "rs" && !path.components().any(|it| it.as_os_str() == "tests") => {
                    text += &std::fs::read_to_string(&path).unwrap();
                }
                _ => {}
            }
        }
    }
    let mut joined = String::with_capacity(text.len());
    let mut goes_on = false;
    for line in text.lines() {
        let line = if goes_on { line.trim_start() } else { line };
        let begun = line.strip_suffix('\\');
        goes_on = begun.is_some();
        joined += begun.unwrap_or(line);
        if !goes_on {
            joined.push('\n');
        }
    }
    joined
}

/// The parts of a message that the tool prints as they are: what stands for something else is `...`, a number or a letter.
fn fixed_parts(message: &str) -> Vec<&str> {
    let ends = ["...", " N", " M", ": ", "; ", ", ", "{dir}"];
    let mut parts = vec![message];
    for end in ends {
        parts = parts.into_iter().flat_map(|it| it.split(end)).collect();
    }
    parts.into_iter().map(|it| it.trim_matches([' ', '.', ':'])).filter(|it| it.contains(' ')).collect()
}

#[test]
fn every_message_of_the_troubleshooting_is_one_of_the_tools() {
    let sources = sources();
    let text = std::fs::read_to_string(root().join("docs/troubleshooting.md")).unwrap();
    let headings: Vec<&str> = text.lines().filter_map(|it| it.strip_prefix("## ")).collect();
    assert!(headings.len() > 40, "{headings:?}");
    let messages = headings.iter().flat_map(|it| it.split('`').skip(1).step_by(2));
    let unknown: Vec<&str> = messages.flat_map(fixed_parts).filter(|part| !sources.contains(part)).collect();
    assert!(unknown.is_empty(), "docs/troubleshooting.md has messages that no source has: {unknown:#?}");
}

#[test]
fn every_page_of_the_guide_is_there() {
    for name in [
        "README.md",
        "docs/README.md",
        "docs/start.md",
        "docs/clusters.md",
        "docs/exploring.md",
        "docs/cascading.md",
        "docs/oracles.md",
    ] {
        let path = root().join(name);
        let text = std::fs::read_to_string(&path).unwrap();
        for link in text.split("](").skip(1).filter_map(|it| it.split_once(')')).map(|it| it.0) {
            let file = link.split('#').next().unwrap_or(link);
            let there = file.is_empty() || file.contains("://") || path.parent().unwrap().join(file).exists();
            assert!(there, "{name} leads to {link}, which does not exist");
        }
    }
}

#[test]
fn every_exit_code_is_explained() {
    let all = [Done, Usage, Findings, Budget, AlreadyFails, Bug, TryAgain];
    // One that is added belongs into the list too.
    let _ = |it: ExitCode| match it {
        Done | Usage | Findings | Budget | AlreadyFails | Bug | TryAgain => {}
    };
    for name in ["README.md", "docs/exit-codes.md"] {
        let text = std::fs::read_to_string(root().join(name)).unwrap();
        for code in all.map(|it| it as u8) {
            assert!(text.contains(&format!("\n| {code} | ")), "{name} does not say what {code} is");
        }
    }
}
