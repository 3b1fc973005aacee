//! The JDKs of this machine.

use std::fs;
use std::path::{Path, PathBuf};

use crate::failure::{Failure, Result};

const INSTALL_HINT: &str = "install a JDK, 17 or newer: `apt-get install openjdk-17-jdk` (Debian, Ubuntu), \
                            `dnf install java-17-openjdk-devel` (Fedora), `brew install openjdk` (macOS)";

/// The oldest JDK whose compiler is used.
const COMPILER_FEATURE_MIN: u32 = 17;

/// A Java installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    /// The directory that has `bin/java`.
    pub home: PathBuf,
    /// Its version: 17.0.15.
    pub version: String,
    /// The feature release: 17 of 17.0.15.
    pub feature: u32,
}

impl Jdk {
    fn at(home: &Path) -> Option<Jdk> {
        let home = home.canonicalize().ok().filter(|it| it.join("bin/java").is_file())?;
        let release = fs::read_to_string(home.join("release")).ok()?;
        let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?.trim_matches('"');
        let feature = version.split(['.', '-', '+']).next()?.parse().ok()?;
        Some(Jdk { version: version.to_owned(), feature, home })
    }

    /// The program that runs classes.
    pub fn java(&self) -> PathBuf {
        self.home.join("bin/java")
    }

    /// The program that compiles them, where this is more than a runtime.
    pub fn javac(&self) -> Option<PathBuf> {
        Some(self.home.join("bin/javac")).filter(|it| it.is_file())
    }
}

/// JDKs of a task.
#[derive(Debug, clap::Args)]
pub struct JdkArgs {
    /// The homes of the JDKs to run on, instead of those that are found
    #[arg(long = "java", value_name = "HOME", num_args = 1..)]
    homes: Vec<PathBuf>,
}

impl JdkArgs {
    /// Those that were given, or every one that can be found.
    pub fn all(&self) -> Result<Vec<Jdk>> {
        if self.homes.is_empty() {
            return match found() {
                none if none.is_empty() => Err(missing("java")),
                some => Ok(some),
            };
        }
        let named = |home: &PathBuf| {
            Jdk::at(home).ok_or_else(|| {
                Failure::new(format!("--java {}: no bin/java and release file there", home.display()))
            })
        };
        self.homes.iter().map(named).collect()
    }

    /// Those that were given, or the default one.
    pub fn given_or_default(&self) -> Result<Vec<Jdk>> {
        let mut all = self.all()?;
        if self.homes.is_empty() {
            all.truncate(1);
        }
        Ok(all)
    }
}

/// A JDK that has a compiler: the default one if it can.
pub fn compiler() -> Result<Jdk> {
    let all = found();
    if all.is_empty() {
        return Err(missing("java and javac"));
    }
    all.into_iter()
        .find(|it| it.feature >= COMPILER_FEATURE_MIN && it.javac().is_some())
        .ok_or_else(|| missing("javac"))
}

fn missing(what: &str) -> Failure {
    Failure::new(format!("no JDK was found: {what} missing on the PATH, in JAVA_HOME and /usr/lib/jvm"))
        .hint(INSTALL_HINT)
}

/// Every installation that can be found, the default first.
fn found() -> Vec<Jdk> {
    let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
    let path = std::env::var_os("PATH").unwrap_or_default();
    let on_path = std::env::split_paths(&path).filter_map(|it| it.join("java").canonicalize().ok());
    homes.extend(on_path.filter_map(|java| Some(java.parent()?.parent()?.to_owned())));
    let first = homes.len();
    for place in ["/usr/lib/jvm", "/usr/java", "/opt"] {
        homes.extend(fs::read_dir(place).into_iter().flatten().flatten().map(|it| it.path()));
    }
    homes[first..].sort();
    let mut found: Vec<Jdk> = Vec::new();
    for jdk in homes.iter().filter_map(|home| Jdk::at(home)) {
        if !found.contains(&jdk) {
            found.push(jdk);
        }
    }
    found
}
