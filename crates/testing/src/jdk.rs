//! The JDKs of the machine.

use std::fs;
use std::path::{Path, PathBuf};
use std::sync::OnceLock;

/// A JDK or JRE of this machine.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Jdk {
    /// The directory that has `bin/java`.
    pub home: PathBuf,
    /// Its feature version, such as 17.
    pub feature: u32,
}

impl Jdk {
    fn at(home: &Path) -> Option<Jdk> {
        let home = home.canonicalize().ok().filter(|it| it.join("bin/java").is_file())?;
        let release = fs::read_to_string(home.join("release")).ok()?;
        let version = release.lines().find_map(|line| line.strip_prefix("JAVA_VERSION="))?.trim_matches('"');
        let feature = version.split(['.', '-', '+']).next()?.parse().ok()?;
        Some(Jdk { home, feature })
    }

    /// Its `java`.
    pub fn java(&self) -> String {
        self.home.join("bin/java").display().to_string()
    }

    /// Its compiler, which a JRE has not.
    pub fn javac(&self) -> Option<PathBuf> {
        Some(self.home.join("bin/javac")).filter(|it| it.is_file())
    }
}

/// Every JDK that can be found: that of `JAVA_HOME` first, then the one on the `PATH`, then those of the usual directories.
pub fn jdks() -> &'static [Jdk] {
    static ALL: OnceLock<Vec<Jdk>> = OnceLock::new();
    ALL.get_or_init(|| {
        let mut homes: Vec<PathBuf> = std::env::var_os("JAVA_HOME").map(PathBuf::from).into_iter().collect();
        let path = std::env::var_os("PATH").unwrap_or_default();
        let on_path = std::env::split_paths(&path).filter_map(|it| it.join("java").canonicalize().ok());
        homes.extend(on_path.filter_map(|java| Some(java.parent()?.parent()?.to_owned())));
        for place in ["/usr/lib/jvm", "/usr/java", "/opt"] {
            homes.extend(fs::read_dir(place).into_iter().flatten().flatten().map(|it| it.path()));
        }
        let mut found: Vec<Jdk> = Vec::new();
        for jdk in homes.iter().filter_map(|home| Jdk::at(home)) {
            if !found.contains(&jdk) {
                found.push(jdk);
            }
        }
        found
    })
}
