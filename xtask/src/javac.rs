//! Compiles Java sources.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::process::{Job, step};

const LIMIT: Duration = Duration::from_secs(300);
/// Release that classes are compiled for: the oldest JVM that runs them.
const RELEASE: &str = "11";

/// Compiles some sources into a directory.
pub fn compile(jdk: &Jdk, sources: &[PathBuf], class_path: &str, into: &Path) -> Result<()> {
    let javac =
        jdk.javac().ok_or_else(|| Failure::new(format!("{}: no bin/javac there", jdk.home.display())))?;
    fs::create_dir_all(into).map_err(Failure::file(into))?;
    let mut command = Command::new(javac);
    command.args(["--release", RELEASE, "-cp", class_path, "-d"]).arg(into).args(sources);
    let log = into.with_extension("javac.log");
    step(&format!("compiling into {}", into.display()), || {
        Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()
    })
}

/// The sources below a directory, sorted.
pub fn sources(directory: &Path) -> Result<Vec<PathBuf>> {
    let mut found = Vec::new();
    let mut open = vec![directory.to_owned()];
    while let Some(directory) = open.pop() {
        for entry in fs::read_dir(&directory).map_err(Failure::file(&directory))?.flatten() {
            let path = entry.path();
            if path.is_dir() {
                open.push(path);
            } else if path.extension().is_some_and(|it| it == "java") {
                found.push(path);
            }
        }
    }
    found.sort();
    Ok(found)
}
