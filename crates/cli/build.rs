//! Builds the agent and hands its file to the crate, which carries it inside the binary, as it does the target of the demo.
//!
//! The agent is another crate type with another profile, so it is built by a cargo of its own, in a directory of its
//! own: in the same one the two would wait for each other for ever.

use std::env;
use std::path::{Path, PathBuf};
use std::process::Command;

fn main() {
    println!("cargo::rerun-if-changed=build.rs");
    demo_files();
    println!("cargo::rerun-if-env-changed=HYPOCENTER_AGENT");
    if let Some(ready) = env::var_os("HYPOCENTER_AGENT") {
        let path = PathBuf::from(ready);
        println!("cargo::rerun-if-changed={}", path.display());
        println!("cargo::rustc-env=HYPOCENTER_AGENT_FILE={}", path.display());
        return;
    }
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"))
        .join("../..");
    let target = env::var("TARGET").expect("cargo sets TARGET");
    let directory = agent_directory(&out);
    let status = Command::new(env::var_os("CARGO").unwrap_or_else(|| "cargo".into()))
        .current_dir(&root)
        .args([
            "build",
            "--quiet",
            "--lib",
            "--package",
            "hypocenter-agent",
            "--profile",
            "agent",
            "--locked",
        ])
        .args(["--target", &target])
        .arg("--target-dir")
        .arg(&directory)
        .env_remove("RUSTC_WORKSPACE_WRAPPER")
        .env_remove("CARGO_BUILD_BUILD_DIR")
        .env_remove("CARGO_TARGET_DIR")
        .status()
        .expect("cargo can be run");
    assert!(
        status.success(),
        "the agent does not build; run `cargo build -p hypocenter-agent --profile agent`"
    );
    let built = directory.join(&target).join("agent");
    let library = built.join("libhypocenter_agent.so");
    assert!(library.exists(), "no library at {}", library.display());
    for file in dependencies(&built.join("libhypocenter_agent.d")) {
        println!("cargo::rerun-if-changed={file}");
    }
    for file in ["Cargo.toml", "Cargo.lock", "crates/agent/Cargo.toml"] {
        println!("cargo::rerun-if-changed={}", root.join(file).display());
    }
    println!("cargo::rustc-env=HYPOCENTER_AGENT_FILE={}", library.display());
}

/// Lists of the files that the demo carries, by path and text: of each of its targets the sources, the configuration, and what that names.
fn demo_files() {
    let root = PathBuf::from(env::var_os("CARGO_MANIFEST_DIR").expect("cargo sets CARGO_MANIFEST_DIR"));
    let out = PathBuf::from(env::var_os("OUT_DIR").expect("cargo sets OUT_DIR"));
    for name in ["quorum", "mailer"] {
        let list = target_files(&root.join("../../targets").join(name), name);
        let out = out.join(format!("demo_{name}.rs"));
        std::fs::write(&out, list).unwrap_or_else(|error| panic!("{}: {error}", out.display()));
    }
}

/// The files of a target whose package is called like it.
fn target_files(target: &Path, package: &str) -> String {
    let sources = format!("src/{package}/");
    // Not all of the target: what is built there is no matter.
    println!("cargo::rerun-if-changed={}", target.join("src").display());
    let configuration = target.join("hypocenter.toml");
    let text = std::fs::read_to_string(&configuration)
        .unwrap_or_else(|error| panic!("{}: {error}", configuration.display()));
    let list = |directory: &str, is_wanted: &dyn Fn(&str) -> bool| -> Vec<String> {
        let entries = std::fs::read_dir(target.join(directory))
            .unwrap_or_else(|error| panic!("{directory} of {}: {error}", target.display()));
        let names = entries.map(|it| it.expect("the directory can be read").file_name());
        let names = names.map(|it| it.to_string_lossy().into_owned()).filter(|it| is_wanted(it));
        names.map(|it| format!("{directory}{it}")).collect()
    };
    let mut paths = list(&sources, &|it| it.ends_with(".java"));
    paths.extend(list("", &|it| it == "hypocenter.toml" || it.ends_with(".sh") && text.contains(it)));
    paths.sort();
    let mut files = String::from("&[\n");
    for path in paths {
        let file = target.join(&path).display().to_string();
        println!("cargo::rerun-if-changed={file}");
        files += &format!("    ({path:?}, include_str!({file:?})),\n");
    }
    files + "]\n"
}

/// One directory for all profiles of this build, beside them: `target/agent-build`.
fn agent_directory(out: &Path) -> PathBuf {
    // OUT_DIR is <target>/<profile>/build/<package>/out, with one more level for a given --target.
    let target = out.ancestors().nth(4).unwrap_or(out);
    target.join("agent-build")
}

/// The files that the inner build says it depends on: a list written by hand would go stale.
fn dependencies(path: &Path) -> Vec<String> {
    let text = std::fs::read_to_string(path).unwrap_or_default();
    let list = text.split_once(": ").map_or("", |(_, list)| list.trim_end());
    list.replace("\\ ", "\u{0}").split_whitespace().map(|file| file.replace('\u{0}', " ")).collect()
}
