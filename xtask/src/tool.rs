//! Hypocenter as the tasks use it: built once, run with `--json`.

use std::ffi::{OsStr, OsString};
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};
use std::time::Duration;

use hypocenter_lab::TrialFiles;
use hypocenter_plan::Outcome;
use serde_json::Value;

use crate::failure::{Failure, Result};
use crate::process::{self, Job, step};
use crate::{network, root};

/// Time of the tool beyond the time limit of its command: scanning, and reading the trace.
const OWN_TIME: Duration = Duration::from_secs(600);

/// The tool's binary.
#[derive(Debug)]
pub struct Tool {
    pub binary: PathBuf,
}

/// Tool of a task.
#[derive(Debug, clap::Args)]
pub struct ToolArgs {
    /// Use this hypocenter, and do not build it
    #[arg(long = "tool", value_name = "FILE")]
    binary: Option<PathBuf>,
}

impl ToolArgs {
    /// The tool that was given, or the one that this builds.
    pub fn ready(&self) -> Result<Tool> {
        match &self.binary {
            Some(path) => Ok(Tool { binary: path.canonicalize().map_err(Failure::file(path))? }),
            None => step("building hypocenter (cargo build --release -p hypocenter)", Tool::build),
        }
    }
}

impl Tool {
    fn build() -> Result<Tool> {
        let mut command = Command::new(cargo());
        command.current_dir(root()).args(["build", "--release", "--package", "hypocenter"]);
        command.arg("--message-format=json-render-diagnostics").stdin(Stdio::null()).stderr(Stdio::inherit());
        let text = process::text(&command);
        let output =
            command.output().map_err(|error| Failure::new(format!("`{text}` cannot be run: {error}")))?;
        if !output.status.success() {
            return Err(Failure::new(format!("`{text}` ended with {}; its output is above", output.status)));
        }
        let stdout = String::from_utf8_lossy(&output.stdout);
        let binary = stdout.lines().rev().find_map(|line| {
            let message: Value = serde_json::from_str(line).ok()?;
            let is_tool = message["target"]["name"] == "hypocenter";
            message["executable"].as_str().filter(|_| is_tool).map(PathBuf::from)
        });
        let binary = binary.ok_or_else(|| Failure::new(format!("`{text}` names no executable")))?;
        Ok(Tool { binary })
    }
}

/// The cargo that runs us.
pub fn cargo() -> OsString {
    std::env::var_os("CARGO").unwrap_or_else(|| "cargo".into())
}

/// One run of the tool.
#[derive(Debug)]
pub struct Invocation<'a> {
    /// `run` or `inject`.
    pub verb: &'a str,
    /// The verb's arguments, without those that this module adds.
    pub args: Vec<OsString>,
    /// The command that the tool runs.
    pub command: Vec<OsString>,
    pub variables: Vec<(&'a str, OsString)>,
    /// An existing directory of this run: the tool's output and results are kept there.
    pub directory: &'a Path,
    /// Working directory of the command.
    pub current_directory: &'a Path,
    /// Time limit of the command.
    pub limit: Duration,
}

/// Results of a run.
#[derive(Debug)]
pub struct Done {
    pub outcome: Outcome,
    /// The directory of its trial.
    pub directory: PathBuf,
}

impl Done {
    /// Standard output of the command.
    pub fn stdout(&self) -> PathBuf {
        TrialFiles::of(&self.directory).logs.join("main.stdout.log")
    }

    /// Standard error of the command.
    pub fn stderr(&self) -> PathBuf {
        TrialFiles::of(&self.directory).logs.join("main.stderr.log")
    }

    /// Hooks in place, over all JVMs.
    pub fn hooks(&self) -> u64 {
        self.outcome.jvms.iter().map(|it| it.hooks.placed + it.hooks.moved).sum()
    }

    /// Hooks in place in bytes that something else had changed, over all JVMs.
    pub fn moved(&self) -> u64 {
        self.outcome.jvms.iter().map(|it| it.hooks.moved).sum()
    }

    /// Hooks left out, over all JVMs.
    pub fn left_out(&self) -> u64 {
        self.outcome.jvms.iter().map(|it| it.hooks.refused).sum()
    }
}

impl Tool {
    /// Runs the tool in a network of its own. It is an error if it gives no outcome, and none if its command fails:
    /// that is for the caller to judge.
    pub fn run(&self, it: Invocation<'_>) -> Result<Done> {
        let out = it.directory.join("hypocenter-out");
        let mut command = network::isolated(&self.binary);
        command.arg(it.verb).args(it.args).arg("--json").arg("--out").arg(&out);
        command.arg("--timeout").arg(format!("{}s", it.limit.as_secs())).arg("--").args(it.command);
        command.current_dir(it.current_directory).env_remove("JAVA_TOOL_OPTIONS").envs(it.variables);
        let (stdout, stderr) = (it.directory.join("outcome.json"), it.directory.join("hypocenter.log"));
        let text = process::text(&command);
        let status = Job { command, stdout: &stdout, stderr: &stderr, limit: it.limit + OWN_TIME }.run()?;
        let json = fs::read_to_string(&stdout).map_err(Failure::file(&stdout))?;
        let outcome = serde_json::from_str(&json)
            .map_err(|_| process::failure(&text, &format!("gave no outcome ({status})"), &stdout, &stderr))?;
        Ok(Done { outcome, directory: out.join("latest/trials/000") })
    }
}

/// Words of a command line.
pub fn words<W: AsRef<OsStr>>(words: impl IntoIterator<Item = W>) -> Vec<OsString> {
    words.into_iter().map(|it| it.as_ref().to_owned()).collect()
}
