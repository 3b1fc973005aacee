//! Classes of the target: from the flags, the configuration, or the java command itself.

use std::cmp::Reverse;
use std::collections::BTreeSet;
use std::path::{Path, PathBuf};

use hypocenter_plan::{Oracle, Problem, glob_matches};
use hypocenter_program::{ClassPath, Classes, Unknown, unknown_frame, unknown_test};
use serde::{Deserialize, Serialize};

use crate::args::TargetArgs;
use crate::config::{Config, DEFAULT_FILE, meant};
use crate::failure::Failure;
use crate::{java, screen, stale};

/// Directories of the target's classes, and its packages.
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
    /// Parts that could not be read, or are invalid.
    pub problems: Vec<Problem>,
}

/// Target by its flags.
#[derive(Debug, Clone, Copy)]
pub struct Said<'a> {
    /// The class path, as for java.
    pub classpath: Option<&'a str>,
    /// The packages of the system.
    pub packages: &'a [String],
    /// The Java that it runs on.
    pub java_home: Option<&'a Path>,
}

/// A target as far as it is named.
#[derive(Debug)]
pub struct Named {
    /// With no packages if nobody names one.
    pub spec: TargetSpec,
    /// The class that the command starts.
    pub main_class: Option<String>,
    /// Problem of the class path.
    pub problems: Vec<Problem>,
}

impl TargetSpec {
    /// The target of a command that runs in `directory`.
    pub fn of(
        args: &TargetArgs,
        config: &Config,
        command: &[String],
        directory: &Path,
    ) -> Result<TargetSpec, Failure> {
        let said = Said { classpath: args.classpath.as_deref(), packages: &args.packages, java_home: None };
        let Named { mut spec, main_class, problems } = TargetSpec::named(said, config, command, directory)?;
        if spec.packages.is_empty() {
            spec.packages = guess_packages(main_class.as_deref())?;
            spec.check_main(main_class.as_deref().unwrap_or_default())?;
        }
        screen::problems(&problems);
        Ok(spec)
    }

    /// The target that flags, the configuration or a command name, in this order.
    pub fn named(
        said: Said<'_>,
        config: &Config,
        command: &[String],
        directory: &Path,
    ) -> Result<Named, Failure> {
        let variable = std::env::var("CLASSPATH").ok();
        let java = ClassPath::of_java_command(command, directory, variable.as_deref());
        let program = command.first().map(String::as_str);
        let class_path = match (said.classpath, config.target.classpath.as_slice(), &java) {
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
                return Err(Failure::usage(format!(
                    "`{program}` is not `java`, so its class path is unknown"
                ))
                .hint("give --classpath and --packages, or add them to [target] of hypocenter.toml"));
            }
        };
        let java_home = match said.java_home {
            Some(home) if java::has_classes(home) => home.to_owned(),
            Some(home) => {
                return Err(Failure::usage(format!(
                    "{}: not a Java installation: it has neither lib/modules nor rt.jar",
                    home.display()
                ))
                .hint("give the directory that contains bin/java"));
            }
            None => java::home_for(program)
                .ok_or_else(|| Failure::usage("no Java installation was found").hint(java::INSTALL_HINT))?,
        };
        let packages =
            if said.packages.is_empty() { config.target.packages.clone() } else { said.packages.to_vec() };
        Ok(Named {
            spec: TargetSpec { classpath: class_path.entries().to_vec(), packages, java_home },
            main_class: java.and_then(|it| it.main_class),
            problems: class_path.problems().to_vec(),
        })
    }
}

impl TargetSpec {
    /// Checks that the class that a command starts is there, where the packages are guessed from its name and have no other class.
    fn check_main(&self, main: &str) -> Result<(), Failure> {
        let feature = java::describe(&self.java_home).map_or(DEFAULT_FEATURE, |java| java.feature);
        let own = ClassPath::from_paths(self.classpath.clone()).open(feature);
        let patterns: Vec<String> = self.packages.iter().flat_map(|it| patterns_of(it, &own)).collect();
        let is_taken = |name: &str| patterns.iter().any(|it| glob_matches(it, name));
        if own.is_empty() || own.contains(main) || own.names().any(is_taken) {
            return Ok(());
        }
        let with_jdk = ClassPath::from_paths(self.classpath.clone()).with_jdk(&self.java_home).open(feature);
        if with_jdk.contains(main) {
            return Ok(());
        }
        let entries: Vec<String> = self.classpath.iter().map(|it| it.display().to_string()).collect();
        let names: Vec<&str> = own.names().collect();
        let meant =
            meant(main, &names).map_or_else(String::new, |it| format!("did you mean `{it}`? Otherwise "));
        let what = format!(
            "the class `{main}` of the command was not found on the class path {}",
            entries.join(":")
        );
        Err(Failure::usage(what).hint(format!(
            "{meant}correct the class or -cp; if the target's classes are elsewhere, give --classpath and --packages"
        )))
    }

    /// Flags that name this target in the current directory: none if hypocenter.toml has the same.
    pub fn flags(&self) -> String {
        let config = Config::read(Path::new(DEFAULT_FILE)).unwrap_or_default();
        let class_path = ClassPath::from_entries(&config.target.classpath, &config.base);
        if config.target.packages == self.packages && class_path.entries() == self.classpath {
            return String::new();
        }
        let paths: Vec<String> = self.classpath.iter().map(|it| it.display().to_string()).collect();
        let (paths, packages) = (screen::word(&paths.join(":")), screen::word(&self.packages.join(",")));
        format!(" --classpath {paths} --packages {packages}")
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
            return Err(no_classes(&first));
        }
        let with_jdk = class_path.with_jdk(&spec.java_home).open(feature);
        let class_patterns = spec.packages.iter().flat_map(|package| patterns_of(package, &own)).collect();
        let problems = own.problems().iter().cloned().chain(stale::problems(&spec.classpath)).collect();
        Ok(Target { own, with_jdk, class_patterns, packages: spec.packages.clone(), problems })
    }

    /// Says what is wrong with it, once: it may be the reason for what fails next.
    pub fn tell_problems(&mut self) {
        screen::problems(&std::mem::take(&mut self.problems));
    }

    /// Packages that have no class are a mistake; those that come nearest are named.
    pub fn check_packages(&self) -> Result<(), Failure> {
        let takes = |name: &str| self.class_patterns.iter().any(|it| glob_matches(it, name));
        if self.own.names().any(takes) || self.with_jdk.names().any(takes) {
            return Ok(());
        }
        let package_of = |it: &str| it.rsplit_once('.').map_or(String::new(), |it| it.0.to_owned());
        let there: BTreeSet<String> = self.own.names().map(package_of).filter(|it| !it.is_empty()).collect();
        let mut there: Vec<String> = there.into_iter().collect();
        let nearness = |it: &str| self.packages.iter().map(|wanted| shared(wanted, it)).max();
        there.sort_by_key(|it| (Reverse(nearness(it)), it.len()));
        let nearest = there.first().and_then(|it| nearness(it)).unwrap_or(0);
        there.retain(|it| nearness(it).is_some_and(|it| 2 * it > nearest));
        there.truncate(SUGGESTED_MAX);
        let has =
            if there.is_empty() { "only classes without a package".to_owned() } else { there.join(", ") };
        let what = format!(
            "nothing to hook: no class of {} is on the class path, which has {has}",
            self.packages.join(", ")
        );
        Err(Failure::usage(what)
            .hint("correct `packages` under [target] of hypocenter.toml or --packages, or add the classes of the target to the class path"))
    }
}

impl Target {
    /// A stack in which no thread can ever stand is a mistake; a class that is not on the class path may come from elsewhere.
    pub fn check_frames(&self, oracle: &Oracle) -> Result<(), Failure> {
        // What the JVM makes itself is nowhere, and a pattern says what it means.
        let is_plain = |it: &&str| !it.contains('*') && !it.contains("$$");
        for frame in hypocenter_lab::oracle::frames(oracle).into_iter().filter(is_plain) {
            match unknown_frame(&self.with_jdk, frame) {
                None => {}
                Some(Unknown::Class(nearest)) => {
                    let what = format!(
                        "it requires a thread in `{frame}`, which is not on the class path: {nearest}"
                    );
                    screen::note("oracle", &what);
                }
                Some(Unknown::Method(nearest)) => {
                    return Err(Failure::usage(format!(
                        "the oracle requires a thread in `{frame}`, which is impossible: {nearest}"
                    ))
                    .hint(
                        "a frame names the class that declares the method, as in a stack trace; correct `stack` of the oracle",
                    ));
                }
            }
        }
        Ok(())
    }
}

impl Target {
    /// Says so where a test that the oracle asks for is not there. It is no mistake for certain: a build may have other classes.
    pub fn tell_tests(&self, oracle: &Oracle) {
        for test in hypocenter_lab::oracle::tests(oracle).into_iter().filter(|it| !it.contains('*')) {
            if let Some(nearest) = unknown_test(&self.own, test) {
                let what = format!(
                    "it requires test `{test}`, which is misspelled or not on the class path: {nearest}"
                );
                screen::note("oracle", &what);
            }
        }
    }
}

/// Number of suggested packages.
const SUGGESTED_MAX: usize = 4;

/// Length of the common beginnings and ends of two names.
fn shared(one: &str, other: &str) -> usize {
    let same = |(a, b): &(char, char)| a == b;
    one.chars().zip(other.chars()).take_while(same).count()
        + one.chars().rev().zip(other.chars().rev()).take_while(same).count()
}

/// The multi-release version taken where the JDK does not say which it is.
pub const DEFAULT_FEATURE: u16 = 17;

/// There is nothing to look at; `first` is the first reason, in brackets, if there is one.
pub fn no_classes(first: &str) -> Failure {
    Failure::usage(format!("the class path has no readable class{first}"))
        .hint("check -cp, --classpath or [target] classpath; the target must be compiled first")
}

/// The first three parts of the main class's package: `org.apache.zookeeper` of `org.apache.zookeeper.server.Main`.
pub fn guess_packages(main_class: Option<&str>) -> Result<Vec<String>, Failure> {
    let main = main_class.ok_or_else(|| {
        Failure::usage("the packages of the target are unknown: the command names no main class")
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
