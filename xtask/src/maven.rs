//! Fetches jars from Maven Central, by the `pom.xml` of a folder of `eval/` or of a bundled target.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use crate::failure::{Failure, Result};
use crate::process::{Job, fresh_directory, lossy, step};
use crate::root;

/// The corpus is 600 MB.
const LIMIT: Duration = Duration::from_secs(3600);
/// Spelt out, because a short name is looked up in the repository, and where that fails the log does not say why.
const GOAL: &str = "org.apache.maven.plugins:maven-dependency-plugin:copy-dependencies";
/// Maven's log lines about a repository that it does not reach; the last lines of the log lack them.
const UNREACHED: [&str; 7] = [
    "Unknown host",
    "Connection refused",
    "timed out",
    "Network is unreachable",
    "No route to host",
    "Temporary failure in name resolution",
    "Cannot access",
];

/// The directory `eval/work/<name>/<lib>` with the jars of `eval/<name>/pom.xml`, fetched if it is not there.
pub fn fetch(name: &str, lib: &str, profile: Option<&str>) -> Result<PathBuf> {
    let directory = root().join("eval/work").join(name).join(lib);
    let pom = root().join("eval").join(name).join("pom.xml");
    fetch_into(&directory, &format!("{name} ({lib})"), &pom, profile)?;
    Ok(directory)
}

/// Fetches the jars of a `pom.xml` into a directory, if none are there.
pub fn fetch_into(directory: &Path, name: &str, pom: &Path, profile: Option<&str>) -> Result<()> {
    if !jars(directory)?.is_empty() {
        return Ok(());
    }
    // Fetched beside its place and renamed: a fetch that was cut short is not taken for a whole one.
    let part = directory.with_extension("part");
    fresh_directory(&part)?;
    let mut command = Command::new("mvn");
    // Asked again for what an earlier fetch without a network has noted as missing.
    command.args(["-q", "-B", "-U", "-Dstyle.color=never", "-f"]);
    command.arg(pom).args(profile.map(|it| format!("-P{it}")));
    command.arg(format!("-DoutputDirectory={}", part.display())).arg(GOAL);
    let log = directory.with_extension("maven.log");
    step(&format!("fetching {name} with Maven"), || {
        Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()
    })
    .map_err(|failure| match unreached(&lossy(&log)) {
        Some(line) => Failure::new(format!("Maven does not reach its repository, so {name} is not fetched: {line}"))
            .hint(format!(
                "again with a network; behind a proxy or with a mirror, Maven wants them in ~/.m2/settings.xml. The \
                 whole output is in {}",
                log.display()
            )),
        None => failure.hint("this needs Maven (`apt-get install maven`) and Maven Central"),
    })?;
    match fs::remove_dir(directory) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::file(directory)(error));
        }
        _ => {}
    }
    fs::rename(&part, directory).map_err(Failure::file(directory))
}

/// The line of Maven's log that tells that a repository was not reached.
fn unreached(log: &str) -> Option<&str> {
    let line = log.lines().find(|line| UNREACHED.iter().any(|sign| line.contains(sign)))?;
    // Maven resets colours before the mark even when told to use none.
    Some(line.split_once("[ERROR]").map_or(line, |(_, said)| said).trim())
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_repository_that_is_not_reached_is_told_from_other_failures() {
        let check = |log: &str, expected: Option<&str>| assert_eq!(unreached(log), expected, "{log}");
        let unknown = "Could not transfer artifact a:b:pom:1 from/to central: Unknown host";
        check(&format!("[INFO] x\n[ERROR] {unknown}\n[ERROR] \n[ERROR] re-run with -e\n"), Some(unknown));
        check(&format!("\u{1b}[0m[ERROR] {unknown}"), Some(unknown));
        check("[ERROR] Could not find artifact a:b:jar:1 in central", None);
        check("", None);
    }
}
