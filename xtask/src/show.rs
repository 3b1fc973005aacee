//! Command that shows a bug of a `truth.toml`: with all faults that it needs, in one trial.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hypocenter_lab::TrialFiles;
use hypocenter_plan::Plan;

use crate::eval::campaign::{self, Campaign, Ran};
use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::process::step;
use crate::tool::{Tool, words};
use crate::truth::Bug;

/// For each trial: the workloads have limits of their own, which are shorter.
const TRIAL_LIMIT: Duration = Duration::from_secs(180);

/// A call of the tool that injects faults.
pub struct Call {
    /// `inject` or `run`.
    pub verb: &'static str,
    pub args: Vec<OsString>,
    /// Number of faults injected in a trial.
    pub faults: u64,
}

/// Example that shows a bug.
pub struct Stage<'a> {
    pub tool: &'a Tool,
    pub jdk: &'a Jdk,
    pub config: &'a Path,
    /// Directory of results; parts of it are emptied.
    pub directory: &'a Path,
}

impl Stage<'_> {
    /// The call that shows a bug. `inject` takes one fault; for two, a plan is put together from what it makes of each.
    pub fn call(&self, bug: &Bug) -> Result<Call> {
        let Some(second) = &bug.second else {
            return Ok(Call { verb: "inject", args: bug.args_of(&bug.cause), faults: 1 });
        };
        let mut plan = self.plan(bug.args_of(&bug.cause), "first")?;
        plan.candidates.extend(self.plan(bug.args_of(second), "second")?.candidates);
        plan.limit = plan.candidates.len() as u32;
        let path = self.directory.join("plan.json");
        let text = serde_json::to_string_pretty(&plan).expect("a plan is JSON");
        fs::write(&path, text).map_err(Failure::file(&path))?;
        let mut args = words([bug.workload.as_str(), "--plan"]);
        args.push(path.into());
        args.extend(bug.oracle().iter().flat_map(|it| words(["--oracle", it])));
        Ok(Call { verb: "run", args, faults: u64::from(plan.limit) })
    }

    fn plan(&self, args: Vec<OsString>, name: &str) -> Result<Plan> {
        let ran = step(&format!("the plan of the {name} fault"), || self.run("inject", args, 1, name))?;
        let path = TrialFiles::of(&ran.directory.join("trials/000")).plan;
        let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
        serde_json::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
    }

    /// Runs a campaign; its results go to a directory of this name.
    pub fn run(&self, verb: &str, args: Vec<OsString>, repeat: u64, name: &str) -> Result<Ran> {
        let directory = &self.directory.join(name);
        let limit = TRIAL_LIMIT * repeat as u32;
        Campaign { jdk: self.jdk, verb, args, config: self.config, repeat, directory, limit }.run(self.tool)
    }

    /// Lets a bug show once, and gives the directory with the logs of that trial. It is an error if it does not show.
    pub fn logs(&self, bug: &Bug) -> Result<PathBuf> {
        let call = self.call(bug)?;
        let ran = step(&format!("{} shows", bug.name), || self.run(call.verb, call.args, 1, "shown"))?;
        let trial = ran.directory.join("trials/000");
        let injected = campaign::injections(&ran.outcomes[0]);
        if injected == call.faults && campaign::has_failed(&ran.outcomes[0]) {
            return Ok(TrialFiles::of(&trial).logs);
        }
        let what =
            if injected == call.faults { "the failure did not happen" } else { "not all faults happened" };
        Err(Failure::new(format!("{}: {what}; see {}", bug.name, trial.display()))
            .hint("again: the machine may have been too busy for the workload's limits"))
    }
}
