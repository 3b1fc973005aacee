//! The JDKs of this machine.

use std::path::{Path, PathBuf};
use std::process::Command;

/// A Java installation.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Java {
    /// The directory that has `bin/java`.
    pub home: PathBuf,
    /// Its description of itself.
    pub version: String,
    /// The feature release: 17 of 17.0.15.
    pub feature: u16,
}

/// Installation advice if there is none.
pub const INSTALL_HINT: &str = "install a JDK, 17 or newer: `apt-get install openjdk-17-jdk` (Debian, Ubuntu), \
                                `dnf install java-17-openjdk-devel` (Fedora); or set JAVA_HOME";

/// The program on the PATH, links followed.
pub fn on_path(program: &str) -> Option<PathBuf> {
    if program.contains('/') {
        return std::fs::canonicalize(program).ok();
    }
    let path = std::env::var_os("PATH")?;
    std::env::split_paths(&path)
        .map(|it| it.join(program))
        .find(|it| it.is_file())
        .and_then(|it| it.canonicalize().ok())
}

/// Value of JAVA_HOME, if it has no java.
pub fn wrong_home() -> Option<PathBuf> {
    let home = std::env::var_os("JAVA_HOME").filter(|it| !it.is_empty()).map(PathBuf::from);
    home.filter(|it| !it.join("bin/java").is_file())
}

/// The home of the java that a command would run: `java` as given, or that of JAVA_HOME, or that on the PATH.
pub fn home_for(program: Option<&str>) -> Option<PathBuf> {
    let of = |java: PathBuf| java.parent().and_then(Path::parent).map(Path::to_owned);
    match program {
        // A script named java lies elsewhere than the JDK that it starts.
        Some(program)
            if Path::new(program).file_name().is_some_and(|it| it == "java")
                && on_path(program).and_then(of).is_some_and(|home| has_classes(&home)) =>
        {
            on_path(program).and_then(of)
        }
        _ => std::env::var_os("JAVA_HOME")
            .map(PathBuf::from)
            .filter(|home| home.join("bin/java").is_file())
            .or_else(|| on_path("java").and_then(of)),
    }
}

/// Tests whether a directory is a Java home: it has the JDK's own classes.
pub fn has_classes(home: &Path) -> bool {
    ["lib/modules", "jre/lib/rt.jar", "lib/rt.jar"].iter().any(|it| home.join(it).is_file())
}

/// Every installation that can be found, the default first.
pub fn all() -> Vec<Java> {
    let mut homes: Vec<PathBuf> = home_for(None).into_iter().collect();
    for place in ["/usr/lib/jvm", "/usr/java", "/opt"] {
        let entries = std::fs::read_dir(place).into_iter().flatten().flatten().map(|it| it.path());
        homes.extend(
            entries.filter_map(|it| it.canonicalize().ok()).filter(|it| it.join("bin/java").is_file()),
        );
    }
    let mut found: Vec<Java> = Vec::new();
    for home in homes {
        if !found.iter().any(|it| it.home == home)
            && let Some(java) = describe(&home)
        {
            found.push(java);
        }
    }
    found
}

/// Reads the `release` file of a home, or asks the program.
pub fn describe(home: &Path) -> Option<Java> {
    let release = std::fs::read_to_string(home.join("release")).unwrap_or_default();
    let from_file = release
        .lines()
        .find_map(|line| line.strip_prefix("JAVA_VERSION="))
        .map(|value| value.trim_matches('"').to_owned());
    let version = from_file.or_else(|| {
        let output = Command::new(home.join("bin/java")).arg("-version").output().ok()?;
        let text = String::from_utf8_lossy(&output.stderr).into_owned();
        let quoted = text.lines().find(|line| line.contains("version"))?.split('"').nth(1)?;
        Some(quoted.to_owned())
    })?;
    let mut numbers = version.split(['.', '-', '_', '+']).map(|it| it.parse::<u16>().unwrap_or(0));
    let feature = match numbers.next()? {
        1 => numbers.next()?,
        feature => feature,
    };
    Some(Java { home: home.to_owned(), version, feature })
}
