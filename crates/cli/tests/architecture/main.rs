//! The shape of the workspace: who may depend on whom, who may talk to the outside, and what its names and sentences are. See
//! DESIGN, section 2.

mod engines;
mod names;
mod public;
mod sentences;
mod sources;

use std::process::Command;

use serde_json::Value;
use sources::{all, root};

/// Each crate, without the prefix, and the crates of ours that it may depend on (also for its tests).
const ARROWS: &[(&str, &[&str])] = &[
    ("classfile", &[]),
    ("plan", &[]),
    ("logs", &[]),
    // Only for tests, and open to all.
    ("testing", &[]),
    ("trace", &["plan"]),
    ("agent", &["classfile", "plan", "trace"]),
    ("program", &["classfile", "plan", "trace"]),
    ("ties", &["program", "logs"]),
    // The shape of an engine: what a campaign asks and tells.
    ("engine", &["plan", "results", "trace"]),
    ("lab", &["engine", "plan", "results", "trace", "logs"]),
    ("reproduce", ENGINE),
    ("explore", ENGINE),
    ("cascade", ENGINE),
    ("predict", ENGINE),
    ("explain", ENGINE),
    ("results", &["plan"]),
    ("report", &["plan", "results"]),
    // Everything but the agent, which it carries as a file.
    (
        "cli",
        &[
            "classfile",
            "plan",
            "logs",
            "trace",
            "program",
            "ties",
            "engine",
            "lab",
            "reproduce",
            "explore",
            "cascade",
            "predict",
            "explain",
            "results",
            "report",
        ],
    ),
    (
        "xtask",
        &["classfile", "plan", "logs", "trace", "program", "ties", "engine", "lab", "explore", "results"],
    ),
];

const ENGINE: &[&str] = &["engine", "program", "ties", "logs", "plan", "results", "trace"];

/// The crate that any other may use in its tests.
const TESTING: &str = "testing";

/// The name as the table has it.
fn short(package: &str) -> &str {
    if package == "hypocenter" { "cli" } else { package.strip_prefix("hypocenter-").unwrap_or(package) }
}

#[test]
fn dependencies_follow_the_arrows() {
    let cargo = std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into());
    let output = Command::new(cargo)
        .args(["metadata", "--format-version", "1", "--no-deps", "--offline"])
        .current_dir(root())
        .output()
        .expect("cargo can be run");
    assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
    let metadata: Value = serde_json::from_slice(&output.stdout).expect("cargo prints JSON");
    let mut wrong = Vec::new();
    for package in metadata["packages"].as_array().expect("packages") {
        let name = short(package["name"].as_str().expect("a name"));
        let Some((_, allowed)) = ARROWS.iter().find(|(it, _)| *it == name) else {
            wrong.push(format!("{name} is not in the table"));
            continue;
        };
        // A dependency within the workspace is one by path.
        let ours = package["dependencies"]
            .as_array()
            .expect("dependencies")
            .iter()
            .filter(|it| it["path"].is_string());
        for dependency in ours {
            let is_for_tests = dependency["kind"] == "dev";
            let dependency = short(dependency["name"].as_str().expect("a name"));
            let is_allowed = allowed.contains(&dependency) || (dependency == TESTING && is_for_tests);
            if !is_allowed {
                wrong.push(format!("{name} -> {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

#[test]
fn only_the_command_prints_exits_and_reads_the_environment() {
    const FORBIDDEN: [&str; 7] =
        ["println!", "print!", "dbg!", "process::exit", "env::var", "env::args", "env::current_dir"];
    // The agent asks its JVM's environment which node it is.
    const EXCEPTIONS: [(&str, &str); 1] = [("agent", "NODE_VARIABLE")];
    let names = ARROWS.iter().map(|(name, _)| *name).filter(|it| !["cli", "xtask", TESTING].contains(it));
    let names: Vec<&str> = names.collect();
    let mut wrong = Vec::new();
    for source in all().iter().filter(|it| names.contains(&it.krate()) && it.is_product()) {
        for (number, line) in source.code().lines().enumerate() {
            let excepted = EXCEPTIONS.iter().any(|(of, mark)| *of == source.krate() && line.contains(mark));
            if !excepted && FORBIDDEN.iter().any(|it| line.contains(it)) {
                wrong.push(format!("{}:{}: {}", source.path, number + 1, line.trim()));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
