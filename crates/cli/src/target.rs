//! Which classes are the target's: from the flags, the configuration, or the java command itself.

use std::path::{Path, PathBuf};

use hypocenter_plan::Problem;
use hypocenter_program::{ClassPath, Classes};
use serde::{Deserialize, Serialize};

use crate::args::TargetArgs;
use crate::config::Config;
use crate::failure::Failure;
use crate::{java, screen};

/// Where the target's classes are, and which are its own.
#[derive(Debug, Clone, PartialEq, Eq, Serialize, Deserialize)]
pub struct TargetSpec {
    /// Jars and directories.
    pub classpath: Vec<PathBuf>,
    /// The packages of the system.
    pub packages: Vec<String>,
    /// The Java that it runs on.
    pub java_home: PathBuf,
}

/// The target, opened.
#[derive(Debug)]
pub struct Target {
    /// The classes of its class path.
    pub own: Classes,
    /// The same and the JDK's behind them.
    pub with_jdk: Classes,
    /// Patterns of the names of the target's own classes.
    pub class_patterns: Vec<String>,
    /// For people: what those patterns stand for.
    pub packages: Vec<String>,
}

impl TargetSpec {
    /// The target of a command that runs in `directory`.
    pub fn of(
        args: &TargetArgs,
        config: &Config,
        command: &[String],
        directory: &Path,
    ) -> Result<TargetSpec, Failure> {
        let variable = std::env::var("CLASSPATH").ok();
        let java = ClassPath::of_java_command(command, directory, variable.as_deref());
        let program = command.first().map(String::as_str);
        let class_path = match (&args.classpath, config.target.classpath.as_slice(), &java) {
            (Some(text), ..) => {
                let cwd = std::env::current_dir().map_err(|error| {
                    Failure::usage(format!("the current directory cannot be read: {error}"))
                })?;
                ClassPath::parse(text, &cwd)
            }
            (None, [_, ..], _) => ClassPath::from_entries(&config.target.classpath, &config.base),
            (None, [], Some(command)) => command.class_path.clone(),
            (None, [], None) => {
                let program = program.unwrap_or("");
                return Err(Failure::usage(format!("`{program}` is not java, so its class path is unknown"))
                    .hint(
                        "give --classpath and --packages, or write them into hypocenter.toml under [target]",
                    ));
            }
        };
        let java_home = java::home_for(program)
            .ok_or_else(|| Failure::usage("no Java installation was found").hint(java::INSTALL_HINT))?;
        let packages = match (args.packages.as_slice(), config.target.packages.as_slice()) {
            ([_, ..], _) => args.packages.clone(),
            ([], [_, ..]) => config.target.packages.clone(),
            ([], []) => guess_packages(java.and_then(|it| it.main_class).as_deref())?,
        };
        screen::problems(class_path.problems());
        Ok(TargetSpec { classpath: class_path.entries().to_vec(), packages, java_home })
    }
}

impl Target {
    /// Opens a target.
    pub fn open(spec: &TargetSpec) -> Result<Target, Failure> {
        let feature = java::describe(&spec.java_home).map_or(DEFAULT_FEATURE, |java| java.feature);
        let class_path = ClassPath::from_paths(spec.classpath.clone());
        let own = class_path.open(feature);
        if own.is_empty() {
            let first =
                own.problems().first().map(|it| format!(" ({}: {})", it.place, it.what)).unwrap_or_default();
            return Err(Failure::usage(format!("the class path has no class that can be read{first}"))
                .hint("check -cp, --classpath or [target] classpath; the target must be compiled first"));
        }
        let with_jdk = class_path.with_jdk(&spec.java_home).open(feature);
        let class_patterns = spec.packages.iter().flat_map(|package| patterns_of(package, &own)).collect();
        Ok(Target { own, with_jdk, class_patterns, packages: spec.packages.clone() })
    }

    /// What could not be read.
    pub fn problems(&self) -> &[Problem] {
        self.own.problems()
    }
}

/// The multi-release version taken where the JDK does not say which it is.
const DEFAULT_FEATURE: u16 = 17;

/// The first three parts of the main class's package: `org.apache.zookeeper` of `org.apache.zookeeper.server.Main`.
fn guess_packages(main_class: Option<&str>) -> Result<Vec<String>, Failure> {
    let main = main_class.ok_or_else(|| {
        Failure::usage("which packages are the target's is unknown: the command names no main class")
            .hint("give --packages")
    })?;
    let parts: Vec<&str> = main.split('.').collect();
    let package = &parts[..parts.len() - 1];
    Ok(vec![package[..package.len().min(3)].join(".")])
}

/// The name patterns of a package; the package without a name is spelt out class by class.
fn patterns_of(package: &str, classes: &Classes) -> Vec<String> {
    if package.is_empty() {
        return classes.names().filter(|name| !name.contains('.')).map(str::to_owned).collect();
    }
    if package.contains('*') {
        return vec![package.to_owned()];
    }
    // A package, or a class with what is nested in it.
    vec![package.to_owned(), format!("{package}.*"), format!("{package}$*")]
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn packages_are_guessed_from_the_main_class() {
        let guess = |main| guess_packages(Some(main)).unwrap();
        assert_eq!(guess("org.apache.zookeeper.server.quorum.QuorumPeerMain"), ["org.apache.zookeeper"]);
        assert_eq!(guess("demo.Main"), ["demo"]);
        assert_eq!(guess("Main"), [""]);
        assert!(guess_packages(None).is_err());
    }
}
