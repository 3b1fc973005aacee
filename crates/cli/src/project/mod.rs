//! Content of a directory as far as `hypocenter init` can detect it without running anything: a Maven or Gradle project,
//! compiled classes, or nothing known.
//!
//! A [`Project`] is a guess, and every part of it may be wrong or missing. So nothing in here fails: what cannot be read
//! becomes a note, and the rest goes on. Build files are read as data and never run: [`maven`] knows `pom.xml`, [`gradle`]
//! the usual forms of `settings.gradle`, [`plain`] class files and jars; [`sources`] reads packages and tests off source
//! files, [`packages`] brings many packages down to a few, and [`configuration`] writes it all down, with what is [`carried`]
//! over from a file that was there before.

mod build;
mod carried;
pub mod configuration;
mod gradle;
mod junit;
mod maven;
pub mod packages;
mod plain;
mod sources;

use std::path::{Path, PathBuf};

use hypocenter_plan::Problem;

pub use carried::Carried;
pub use sources::{LANGUAGES, each_file, is_source};

/// Content of a directory.
#[derive(Debug, Default)]
pub struct Project {
    /// For people: "a Maven project with 2 modules".
    pub what: String,
    /// Entries as `[target] classpath` takes them.
    pub class_path: Vec<String>,
    /// The packages of the system.
    pub packages: Vec<String>,
    /// Possible workloads, the most useful first.
    pub workloads: Vec<Proposal>,
    /// The name of one among them that does without the build tool, which every trial would wait for.
    pub direct: Option<String>,
    /// Instructions to get one, if known: a sentence, and the commands.
    pub faster: Vec<String>,
    /// Command to run once before, unless it was run: it compiles, and downloads dependencies that a trial cannot get.
    pub first: Option<String>,
    /// Why the commands are as they are, in lines of a comment.
    pub why: Vec<String>,
    /// Pattern of test reports, as in the oracle `junit`.
    pub reports: Option<String>,
    /// Parts that could not be read or found.
    pub notes: Vec<Problem>,
}

/// A workload that could be meant.
#[derive(Debug, Clone, PartialEq, Eq)]
pub struct Proposal {
    pub name: String,
    /// Description for the comment above it.
    pub what: String,
    pub command: String,
    pub timeout: &'static str,
    /// True if it is written as a setting; otherwise it is in a comment.
    pub active: bool,
}

impl Project {
    /// Looks at a directory.
    pub fn look(directory: &Path) -> Project {
        let is_there = |name: &&str| directory.join(name).is_file();
        let gradle = gradle::FILES.iter().find(|name| is_there(name));
        match (is_there(&maven::FILE), gradle) {
            (true, other) => {
                let mut project = maven::look(directory);
                if let Some(file) = other {
                    project.note(*file, "also exists, and pom.xml was used instead");
                }
                project
            }
            (false, Some(_)) => gradle::look(directory),
            (false, None) => plain::look(directory),
        }
    }

    /// The file above a directory that makes it a part of a project, where it is none itself. What is outside of a repository has
    /// nothing to do with what is in it.
    pub fn above(directory: &Path) -> Option<PathBuf> {
        let directory = directory.canonicalize().ok()?;
        let build = || gradle::FILES.into_iter().chain([maven::FILE]);
        let is_project = |it: &Path| build().any(|name| it.join(name).is_file());
        if is_project(&directory) {
            return None;
        }
        for it in directory.ancestors() {
            let is_itself = it == directory;
            let mut files = [configuration::FILE].into_iter().chain(build()).map(|name| it.join(name));
            if let Some(found) = files.find(|file| !is_itself && file.is_file()) {
                return Some(found);
            }
            if it.join(".git").exists() {
                return None;
            }
        }
        None
    }

    /// The workload to try: the one that starts at once, or else one test, which is quicker than all of them.
    pub fn to_try(&self) -> Option<&Proposal> {
        let active = || self.workloads.iter().filter(|it| it.active);
        let direct = active().find(|it| Some(&it.name) == self.direct.as_ref());
        direct.or_else(|| active().find(|it| it.name != ALL_TESTS)).or_else(|| active().next())
    }

    fn note(&mut self, place: impl Into<String>, what: impl Into<String>) {
        self.notes.push(Problem { place: place.into(), what: what.into() });
    }

    /// Adds a workload; a name that is taken gives way to the longer one.
    fn propose(&mut self, proposal: Proposal, longer: &str) {
        let taken = |name: &str| self.workloads.iter().any(|it| it.name == name);
        let name = if taken(&proposal.name) { longer.to_owned() } else { proposal.name };
        if !taken(&name) {
            self.workloads.push(Proposal { name, ..proposal });
        }
    }
}

/// Suffix of the name of a workload that runs a test with `java` directly.
pub const DIRECT: &str = "-direct";
/// The name of the workload that runs every test.
const ALL_TESTS: &str = "tests";
/// Time limits for all tests and for one class of them, until the user sets better ones.
const ALL_TESTS_TIME: &str = "15m";
const ONE_TEST_TIME: &str = "5m";
/// Maximum number of test classes that get a workload, the first of them enabled and the others as comments.
const TESTS_MAX: usize = 5;

/// A path with `/` below another, or nothing where a part of it is not text.
fn relative(path: &Path, base: &Path) -> Option<String> {
    path.strip_prefix(base).ok()?.to_str().map(str::to_owned)
}

/// A place below a module's place, which is empty for the directory itself.
fn below(place: &str, name: &str) -> String {
    if place.is_empty() { name.to_owned() } else { format!("{place}/{name}") }
}
