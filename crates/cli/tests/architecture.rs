//! The shape of the workspace: who may depend on whom, and who may talk to the outside. See DESIGN, section 2.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

/// Each crate, without the prefix, and the crates of ours that it may depend on (also for its tests).
const ARROWS: &[(&str, &[&str])] = &[
    ("classfile", &[]),
    ("plan", &[]),
    ("logs", &[]),
    ("trace", &["plan"]),
    ("agent", &["classfile", "plan", "trace"]),
    ("program", &["classfile", "plan", "trace"]),
    // The shape of an engine: what a campaign asks and tells.
    ("engine", &["plan", "trace"]),
    ("lab", &["engine", "plan", "trace", "logs"]),
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
    ("xtask", &["classfile", "plan", "logs", "trace", "program", "engine", "lab", "reproduce", "explore"]),
];

const ENGINE: &[&str] = &["engine", "program", "logs", "plan", "results", "trace"];

fn root() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../..").canonicalize().expect("the crate is in its workspace")
}

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
        for dependency in ours.map(|it| short(it["name"].as_str().expect("a name"))) {
            if !allowed.contains(&dependency) {
                wrong.push(format!("{name} -> {dependency}"));
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}

fn rust_files(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).into_iter().flatten().flatten() {
        let path = entry.path();
        if path.is_dir() {
            rust_files(&path, into);
        } else if path.extension().is_some_and(|it| it == "rs") {
            into.push(path);
        }
    }
}

#[test]
fn only_the_command_prints_exits_and_reads_the_environment() {
    const FORBIDDEN: [&str; 7] =
        ["println!", "print!", "dbg!", "process::exit", "env::var", "env::args", "env::current_dir"];
    // The agent asks its JVM's environment which node it is.
    const EXCEPTIONS: [(&str, &str); 1] = [("agent", "NODE_VARIABLE")];
    let mut wrong = Vec::new();
    for (name, _) in ARROWS.iter().filter(|(name, _)| !["cli", "xtask"].contains(name)) {
        let mut files = Vec::new();
        rust_files(&root().join("crates").join(name).join("src"), &mut files);
        for file in files {
            let text = fs::read_to_string(&file).expect("a source can be read");
            // Tests may do as they like; they stand at the end of a file.
            let code = text.split("#[cfg(test)]").next().unwrap_or("");
            for (number, line) in
                code.lines().enumerate().filter(|(_, line)| !line.trim_start().starts_with("//"))
            {
                let excepted = EXCEPTIONS.iter().any(|(of, mark)| of == name && line.contains(mark));
                if !excepted && FORBIDDEN.iter().any(|it| line.contains(it)) {
                    wrong.push(format!("{}:{}: {}", file.display(), number + 1, line.trim()));
                }
            }
        }
    }
    assert!(wrong.is_empty(), "{}", wrong.join("\n"));
}
