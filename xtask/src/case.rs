//! `cargo xtask case`: a published failure of a real system, laid out as somebody who met it would have it.
//!
//! The folder of a case in `eval/` has its workload (`src/`, `conf/`), its configuration, `case.toml`, which says what it
//! runs on, and `truth.toml`. Laid out below `eval/work/` it is a directory like any user's: jars in `lib/`, the workload in
//! `classes/`, and a `hypocenter.toml`.

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use serde::Deserialize;

use crate::failure::{Failure, Result};
use crate::jdk::{self, Jdk};
use crate::process::{Job, fresh_directory, step};
use crate::show::Stage;
use crate::tool::{Tool, ToolArgs};
use crate::truth::{self, Truth};
use crate::{Verdict, eval, javac, maven, root};

/// For the program that writes the data of a case.
const SEED_LIMIT: Duration = Duration::from_secs(120);
/// Output of a workload that is one command.
const LOG: &str = "main.stdout.log";

/// Lay out a published failure of a real system, with its workload and configuration, and print where
#[derive(Debug, clap::Args)]
pub struct CaseArgs {
    /// Which, by the name of its folder in eval
    #[arg(value_name = "CASE")]
    name: String,
    /// Inject the published root cause, and write the log of that run to this file
    #[arg(long, value_name = "FILE")]
    make_log: Option<PathBuf>,
    #[command(flatten)]
    tool: ToolArgs,
}

/// `case.toml`.
#[derive(Debug, Deserialize)]
#[serde(deny_unknown_fields)]
struct Made {
    /// The folder in `eval` whose `pom.xml` has the system.
    system: String,
    /// True if the workload is one of the system's own tests, which the profile `tests` of that `pom.xml` fetches.
    #[serde(default)]
    tests: bool,
    /// Request of `reproduce`.
    goal: Goal,
    /// A class of the workload that writes the data that every trial begins with, given the directory for it.
    seed: Option<String>,
}

/// Maximum number of rounds of `reproduce`.
#[derive(Debug, Clone, Copy, Deserialize)]
#[serde(deny_unknown_fields)]
pub struct Goal {
    /// With the log as it is.
    pub rounds: u64,
    /// With a log that has no class and no line.
    pub stripped: u64,
}

pub fn run(args: &CaseArgs) -> Result<Verdict> {
    let case = Case::named(&args.name)?;
    let jdk = jdk::compiler()?;
    let place = case.lay_out(&jdk)?;
    if let Some(file) = &args.make_log {
        case.make_log(&args.tool.ready()?, &jdk, &place, file)?;
    }
    println!("{}", place.display());
    Ok(Verdict::Pass)
}

/// A case of `eval/`.
#[derive(Debug)]
pub struct Case {
    name: String,
    /// Its folder.
    source: PathBuf,
    made: Made,
}

impl Case {
    /// The case of this name.
    pub fn named(name: &str) -> Result<Case> {
        let all = names()?;
        if !all.iter().any(|it| it == name) {
            return Err(Failure::new(format!("eval has no case `{name}`"))
                .hint(format!("name one of {}", all.join(", "))));
        }
        let source = root().join("eval").join(name);
        let made = truth::read(&source.join("case.toml"))?;
        Ok(Case { name: name.to_owned(), source, made })
    }

    /// Request of `reproduce`.
    pub fn goal(&self) -> Goal {
        self.made.goal
    }

    /// The methods in which a fault is the published one or has the same effect.
    pub fn accepted(&self) -> Result<Vec<String>> {
        let truth: Truth = truth::read(&self.source.join("truth.toml"))?;
        Ok(truth.bug.into_iter().flat_map(|it| it.accepted).collect())
    }

    /// Fetches, compiles and copies everything to a directory below `eval/work`, and gives that directory. Results of
    /// earlier runs in it are left alone.
    pub fn lay_out(&self, jdk: &Jdk) -> Result<PathBuf> {
        let place = root().join("eval/work").join(&self.name);
        let (lib, profile) = if self.made.tests { ("test-lib", Some("tests")) } else { ("lib", None) };
        let jars = maven::jars(&maven::fetch(&self.made.system, lib, profile)?)?;
        copy_all(&jars, &place.join("lib"))?;
        copy_all(&files(&self.source.join("conf"))?, &place.join("conf"))?;
        let sources = javac::sources(&self.source.join("src"))?;
        fresh_directory(&place.join("classes"))?;
        javac::compile(jdk, &sources, &format!("{}/*", place.join("lib").display()), &place.join("classes"))?;
        if let Some(class) = &self.made.seed {
            self.seed(jdk, &place, class)?;
        }
        copy(&self.source.join("hypocenter.toml"), &place.join("hypocenter.toml"))?;
        Ok(place)
    }

    fn seed(&self, jdk: &Jdk, place: &Path, class: &str) -> Result<()> {
        fresh_directory(&place.join("seed"))?;
        let mut command = Command::new(jdk.java());
        command.current_dir(place).args(["-cp", "conf:classes:lib/*", class, "seed"]);
        let log = place.join("seed.log");
        step(&format!("writing the data that {} begins with", self.name), || {
            Job { command, stdout: &log, stderr: &log, limit: SEED_LIMIT }.succeed()
        })
    }

    /// Runs the workload with the published root cause, which must bring the failure about, and keeps its log.
    pub fn make_log(&self, tool: &Tool, jdk: &Jdk, place: &Path, file: &Path) -> Result<()> {
        let truth: Truth = truth::read(&self.source.join("truth.toml"))?;
        let bug = truth.bug.first().ok_or_else(|| {
            Failure::new(format!("{}: no [[bug]]", self.source.join("truth.toml").display()))
        })?;
        let directory = &eval::out("case").join(&self.name);
        let stage = Stage { tool, jdk, config: &place.join("hypocenter.toml"), directory };
        copy(&stage.logs(bug)?.join(LOG), file)
    }
}

/// The cases that there are, sorted.
pub fn names() -> Result<Vec<String>> {
    let place = root().join("eval");
    let entries = fs::read_dir(&place).map_err(Failure::file(&place))?.flatten();
    let cases = entries.filter(|it| it.path().join("case.toml").is_file());
    let mut names: Vec<String> = cases.map(|it| it.file_name().to_string_lossy().into_owned()).collect();
    names.sort();
    Ok(names)
}

/// The files in a directory.
fn files(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(Failure::file(directory))?.flatten();
    Ok(entries.map(|it| it.path()).filter(|it| it.is_file()).collect())
}

/// Copies files into a directory, which has nothing else afterwards.
fn copy_all(files: &[PathBuf], into: &Path) -> Result<()> {
    fresh_directory(into)?;
    files.iter().try_for_each(|it| copy(it, &into.join(it.file_name().expect("a file has a name"))))
}

fn copy(from: &Path, to: &Path) -> Result<()> {
    fs::copy(from, to)
        .map(|_| ())
        .map_err(|error| Failure::new(format!("{} to {}: {error}", from.display(), to.display())))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_case_names_a_system_and_a_workload_that_are_there() {
        let all = names().unwrap();
        assert!(all.contains(&"zookeeper-2247".to_owned()), "{all:?}");
        for name in all {
            let case = Case::named(&name).unwrap();
            assert!(root().join("eval").join(&case.made.system).join("pom.xml").is_file(), "{name}");
            let config: toml::Table = truth::read(&case.source.join("hypocenter.toml")).unwrap();
            let truth: Truth = truth::read(&case.source.join("truth.toml")).unwrap();
            let workload = config["failure"]["workload"].as_str().unwrap();
            assert!(truth.bug.iter().all(|it| it.workload == workload), "{name}");
            if let Some(class) = &case.made.seed {
                let source = case.source.join("src").join(class.replace('.', "/")).with_extension("java");
                assert!(source.is_file(), "{name}");
            }
        }
        let failure = Case::named("zookeeper").unwrap_err().to_string();
        assert!(failure.contains("`zookeeper`") && failure.contains("zookeeper-4203"), "{failure}");
    }
}
