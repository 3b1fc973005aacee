//! One trial from its plan to its outcome.

use std::fs::{self, File};
use std::path::{Path, PathBuf};
use std::time::Duration;

use hypocenter_plan::{Outcome, Plan, WatchLevel};
use hypocenter_trace::{Map, MapBuilder, Trace, TrialFile};
use memmap2::Mmap;

use crate::command::{AgentOption, with_agent};
use crate::process::{self, Job, Observer};
use crate::{LabError, arm, outcome};

/// What is to be run.
#[derive(Debug)]
pub struct Trial<'a> {
    /// The number of the trial.
    pub number: u64,
    /// The plan.
    pub plan: &'a Plan,
    /// The command.
    pub command: &'a [String],
    /// The node that its JVMs are, where they do not say it themselves.
    pub node: &'a str,
    /// How closely each site of the map is watched.
    pub levels: &'a [WatchLevel],
    /// For each candidate that throws: the classes to try in turn.
    pub throwables: &'a [Vec<String>],
    /// The agent's library.
    pub agent: &'a Path,
    /// How long the command may take.
    pub timeout: Option<Duration>,
    /// The value of `JAVA_TOOL_OPTIONS` that the command would see.
    pub java_tool_options: Option<&'a str>,
    /// The directory of the trial: made here, and an error if it is there already.
    pub directory: &'a Path,
}

/// The files of a trial.
#[derive(Debug, Clone)]
pub struct TrialFiles {
    /// The plan, as JSON.
    pub plan: PathBuf,
    /// The instrumentation map.
    pub map: PathBuf,
    /// The trial's file.
    pub trace: PathBuf,
    /// The outcome, as JSON.
    pub outcome: PathBuf,
    /// What the command wrote.
    pub logs: PathBuf,
}

impl TrialFiles {
    /// The files of the trial in this directory.
    pub fn of(directory: &Path) -> TrialFiles {
        TrialFiles {
            plan: directory.join("plan.json"),
            map: directory.join("map"),
            trace: directory.join("trace"),
            outcome: directory.join("outcome.json"),
            logs: directory.join("logs"),
        }
    }

    /// The agent's own log.
    pub fn agent_log(&self) -> PathBuf {
        let mut name = self.trace.clone().into_os_string();
        name.push(".agent.log");
        PathBuf::from(name)
    }
}

/// What a trial recorded: its map and its trace, mapped into memory.
#[derive(Debug)]
pub struct Evidence {
    map: Mmap,
    trace: Mmap,
}

impl Evidence {
    /// Opens the evidence of a trial that is over.
    pub fn open(files: &TrialFiles) -> Result<Evidence, LabError> {
        Ok(Evidence { map: mapped(&files.map)?, trace: mapped(&files.trace)? })
    }

    /// The instrumentation map.
    pub fn map(&self) -> Result<Map<'_>, LabError> {
        Ok(Map::new(&self.map)?)
    }

    /// The trace.
    pub fn trace(&self) -> Result<Trace<'_>, LabError> {
        Ok(Trace::new(&self.trace)?)
    }
}

impl Trial<'_> {
    /// Runs the trial with the map that was built for its plan.
    pub fn run(&self, map: MapBuilder, observer: &dyn Observer) -> Result<Outcome, LabError> {
        let file_error = |path: &Path| {
            let path = path.display().to_string();
            move |source| LabError::File { path, source }
        };
        let parent = self.directory.parent().unwrap_or(self.directory);
        fs::create_dir_all(parent).map_err(file_error(parent))?;
        fs::create_dir(self.directory).map_err(file_error(self.directory))?;
        let directory = fs::canonicalize(self.directory).map_err(file_error(self.directory))?;
        let files = TrialFiles::of(&directory);
        fs::create_dir(&files.logs).map_err(file_error(&files.logs))?;
        let json = serde_json::to_string_pretty(self.plan).expect("a plan is always JSON");
        fs::write(&files.plan, json + "\n").map_err(file_error(&files.plan))?;
        map.write(&files.map)?;
        let map_bytes = mapped(&files.map)?;
        let map = Map::new(&map_bytes)?;
        let spec = arm(self.plan, &map, self.levels, self.throwables, self.number)?;
        let trial = TrialFile::create(&files.trace, &spec)?;

        let option = AgentOption {
            library: self.agent.to_owned(),
            map: files.map.clone(),
            trial: files.trace.clone(),
            node: self.node.to_owned(),
        };
        let with_agent = with_agent(self.command, &option, self.java_tool_options);
        let log = |name: &str| {
            let path = files.logs.join(name);
            File::create(&path).map_err(file_error(&path))
        };
        let job = Job {
            command: &with_agent.command,
            variables: &with_agent.variables,
            directory: None,
            timeout: self.timeout,
            filter_picked_up: !with_agent.variables.is_empty(),
            stdout: log("stdout.log")?,
            stderr: log("stderr.log")?,
        };
        let ended = process::run(job, observer)?;
        trial.end();
        let agent_log = fs::read_to_string(files.agent_log()).unwrap_or_default();
        let evidence = Evidence::open(&files)?;
        let outcome = outcome::read(self.plan, &map, &evidence.trace()?, ended, &agent_log);
        let json = serde_json::to_string_pretty(&outcome).expect("an outcome is always JSON");
        fs::write(&files.outcome, json + "\n").map_err(file_error(&files.outcome))?;
        Ok(outcome)
    }
}

/// A file of the trial, mapped.
#[allow(unsafe_code)]
fn mapped(path: &Path) -> Result<Mmap, LabError> {
    let error = |source| LabError::File { path: path.display().to_string(), source };
    let file = File::open(path).map_err(error)?;
    // SAFETY: the map is written once and the trace is read after its writers have ended; a process that was left
    // behind can at worst change numbers, which the reader doubts anyway.
    unsafe { Mmap::map(&file) }.map_err(error)
}
