//! A campaign of a workload that a configuration describes, and the outcomes of its trials.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hypocenter_lab::TrialFiles;
use hypocenter_plan::{CandidateResult, Outcome};

use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::process::{self, Job, fresh_directory};
use crate::tool::Tool;

/// Command.
pub struct Campaign<'a> {
    pub jdk: &'a Jdk,
    /// `run` or `inject`.
    pub verb: &'a str,
    /// The verb's arguments, without those that this module adds.
    pub args: Vec<OsString>,
    pub config: &'a Path,
    /// Number of trials.
    pub repeat: u64,
    /// Emptied first.
    pub directory: &'a Path,
    /// Time limit for all of it.
    pub limit: Duration,
}

/// A campaign that is over.
pub struct Ran {
    /// One for each trial, in order.
    pub outcomes: Vec<Outcome>,
    /// Its directory.
    pub directory: PathBuf,
    /// Duration of the whole call of the tool.
    pub took: Duration,
}

const NAME: &str = "campaign";

impl Campaign<'_> {
    /// Runs it. It is an error if a trial has no outcome; how they ended is for the caller to judge.
    pub fn run(self, tool: &Tool) -> Result<Ran> {
        fresh_directory(self.directory)?;
        let mut command = Command::new(&tool.binary);
        command.arg(self.verb).args(self.args).arg("--config").arg(self.config);
        command.args(["--json", "--repeat", &self.repeat.to_string(), "--campaign", NAME]);
        command.arg("--out").arg(self.directory).current_dir(self.directory);
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &self.jdk.home);
        command.env("PATH", first_on_path(&self.jdk.home.join("bin"))?);
        let (stdout, stderr) = (self.directory.join("summary.json"), self.directory.join("hypocenter.log"));
        let text = process::text(&command);
        let started = Instant::now();
        let status = Job { command, stdout: &stdout, stderr: &stderr, limit: self.limit }.run()?;
        let took = started.elapsed();
        let directory = self.directory.join(NAME);
        let outcomes = (0..self.repeat)
            .map(|number| {
                let path = TrialFiles::of(&directory.join(format!("trials/{number:03}"))).outcome;
                let bytes = fs::read(&path).map_err(|_| {
                    let how = format!("gave no outcome of trial {number} ({status})");
                    process::failure(&text, &how, &stdout, &stderr)
                })?;
                serde_json::from_slice(&bytes)
                    .map_err(|error| Failure::new(format!("{}: {error}", path.display())))
            })
            .collect::<Result<Vec<Outcome>>>()?;
        Ok(Ran { outcomes, directory, took })
    }
}

/// Number of faults injected in a trial, each counted as often as it was injected.
pub fn injections(outcome: &Outcome) -> u64 {
    let times = outcome.candidates.iter().map(|it| match &it.result {
        CandidateResult::Injected(injection) => injection.times,
        _ => 0,
    });
    times.sum()
}

/// Tests whether the oracle reports the failure.
pub fn has_failed(outcome: &Outcome) -> bool {
    outcome.failure.as_ref().is_some_and(|it| it.happened)
}

/// The path with a directory before all others, so that the `java` of a configuration is the one that is meant.
pub fn first_on_path(directory: &Path) -> Result<OsString> {
    let path = std::env::var_os("PATH").unwrap_or_default();
    let all = std::iter::once(directory.to_owned()).chain(std::env::split_paths(&path));
    std::env::join_paths(all).map_err(|error| Failure::new(format!("PATH: {error}")))
}
