//! Fetches jars from Maven Central, by the `pom.xml` of a folder of `eval/`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::process::{Job, fresh_directory, step};
use crate::root;

/// The corpus is 600 MB.
const LIMIT: Duration = Duration::from_secs(3600);

/// The directory `eval/work/<name>/<lib>` with the jars of `eval/<name>/pom.xml`, fetched if it is not there.
pub fn fetch(name: &str, lib: &str, profile: Option<&str>) -> Result<PathBuf> {
    let directory = root().join("eval/work").join(name).join(lib);
    if !jars(&directory)?.is_empty() {
        return Ok(directory);
    }
    // Fetched beside its place and renamed: a fetch that was cut short is not taken for a whole one.
    let part = directory.with_file_name(format!("{lib}.part"));
    fresh_directory(&part)?;
    let mut command = Command::new("mvn");
    command.args(["-q", "-f"]).arg(root().join("eval").join(name).join("pom.xml"));
    command.args(profile.map(|it| format!("-P{it}")));
    command.arg(format!("-DoutputDirectory={}", part.display())).arg("dependency:copy-dependencies");
    let log = directory.with_file_name(format!("{lib}.maven.log"));
    step(&format!("fetching {name} ({lib}) with Maven"), || {
        Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()
    })
    .map_err(|failure| failure.hint("this needs Maven (`apt-get install maven`) and Maven Central"))?;
    match fs::remove_dir(&directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::file(&directory)(error));
        }
        _ => {}
    }
    fs::rename(&part, &directory).map_err(Failure::file(&directory))?;
    Ok(directory)
}

/// The jars in a directory, sorted; none where there is no such directory.
pub fn jars(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = match fs::read_dir(directory) {
        Err(error) if error.kind() == std::io::ErrorKind::NotFound => return Ok(Vec::new()),
        other => other.map_err(Failure::file(directory))?,
    };
    let mut jars: Vec<PathBuf> = entries
        .flatten()
        .map(|it| it.path())
        .filter(|it| it.extension().is_some_and(|extension| extension == "jar"))
        .collect();
    jars.sort();
    Ok(jars)
}
