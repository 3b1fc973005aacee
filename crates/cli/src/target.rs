//! Which classes are the target's: from the flags, the configuration, or the java command itself.

use std::path::{Path, PathBuf};

use hypocenter_plan::Problem;
use hypocenter_program::{ClassPath, Classes};
use serde::Deserialize;

use crate::args::TargetArgs;
use crate::failure::Failure;
use crate::java;

/// The part of `hypocenter.toml` that this version reads.
#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct Config {
    #[serde(default)]
    target: TargetConfig,
    /// Of other verbs; not looked at here.
    #[serde(default, rename = "workload")]
    _workload: Option<toml::Value>,
    /// As above.
    #[serde(default, rename = "failure")]
    _failure: Option<toml::Value>,
}

#[derive(Debug, Default, Deserialize)]
#[serde(deny_unknown_fields)]
struct TargetConfig {
    #[serde(default)]
    classpath: Vec<String>,
    #[serde(default)]
    packages: Vec<String>,
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

impl Target {
    /// Opens the target of a command.
    pub fn open(args: &TargetArgs) -> Result<Target, Failure> {
        let cwd = std::env::current_dir()
            .map_err(|error| Failure::usage(format!("the current directory cannot be read: {error}")))?;
        let (config, base) = read_config(&args.config)?;
        let variable = std::env::var("CLASSPATH").ok();
        let command = ClassPath::of_java_command(&args.command, &cwd, variable.as_deref());
        let class_path = match (&args.classpath, config.target.classpath.as_slice(), &command) {
            (Some(text), ..) => ClassPath::parse(text, &cwd),
            (None, [_, ..], _) => ClassPath::from_entries(&config.target.classpath, &base),
            (None, [], Some(command)) => command.class_path.clone(),
            (None, [], None) => {
                let program = args.command.first().map_or("", String::as_str);
                return Err(Failure::usage(format!("`{program}` is not java, so its class path is unknown"))
                    .hint(
                        "give --classpath and --packages, or write them into hypocenter.toml under [target]",
                    ));
            }
        };
        let program = args.command.first().map(String::as_str);
        let home = java::home_for(program)
            .ok_or_else(|| Failure::usage("no Java installation was found").hint(java::INSTALL_HINT))?;
        let feature = java::describe(&home).map_or(DEFAULT_FEATURE, |java| java.feature);
        let own = class_path.open(feature);
        if own.is_empty() {
            let first =
                own.problems().first().map(|it| format!(" ({}: {})", it.place, it.what)).unwrap_or_default();
            return Err(Failure::usage(format!("the class path has no class that can be read{first}"))
                .hint("check -cp, --classpath or [target] classpath; the target must be compiled first"));
        }
        let packages = match (args.packages.as_slice(), config.target.packages.as_slice()) {
            ([_, ..], _) => args.packages.clone(),
            ([], [_, ..]) => config.target.packages,
            ([], []) => guess_packages(command.and_then(|it| it.main_class).as_deref())?,
        };
        let with_jdk = class_path.with_jdk(&home).open(feature);
        let class_patterns = packages.iter().flat_map(|package| patterns_of(package, &own)).collect();
        Ok(Target { own, with_jdk, class_patterns, packages })
    }

    /// What could not be read.
    pub fn problems(&self) -> &[Problem] {
        self.own.problems()
    }
}

/// The multi-release version taken where the JDK does not say which it is.
const DEFAULT_FEATURE: u16 = 17;

fn read_config(path: &Path) -> Result<(Config, PathBuf), Failure> {
    let base = path.parent().filter(|it| !it.as_os_str().is_empty()).unwrap_or(Path::new(".")).to_owned();
    let text = match std::fs::read_to_string(path) {
        Ok(text) => text,
        // The default file need not be there.
        Err(error)
            if error.kind() == std::io::ErrorKind::NotFound && path == Path::new("hypocenter.toml") =>
        {
            return Ok((Config::default(), base));
        }
        Err(error) => {
            return Err(Failure::usage(format!("{}: {error}", path.display()))
                .hint("give another file with --config"));
        }
    };
    let config = toml::from_str(&text).map_err(|error: toml::de::Error| {
        let before = error.span().map_or(&[] as &[u8], |span| &text.as_bytes()[..span.start.min(text.len())]);
        let line = 1 + before.iter().filter(|&&byte| byte == b'\n').count();
        Failure::usage(format!("{}:{line}: {}", path.display(), error.message().replace('\n', ", ")))
            .hint("[target] has the keys classpath and packages, both lists of texts")
    })?;
    Ok((config, base))
}

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
