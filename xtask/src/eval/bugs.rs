//! `cargo xtask eval bugs`: the bugs of the bundled targets, reproduced from the log of a run in which they show, by several
//! seeds. A fault that was found is right if it makes the buggy system fail again and leaves its fixed twin unharmed; and the
//! log of the buggy system is not to be reproduced with the twin.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::eval::campaign::{self, first_on_path};
use crate::eval::reproduce::Searched;
use crate::failure::{Failure, Result};
use crate::jdk::{self, Jdk};
use crate::process::{fresh_directory, step};
use crate::show::Stage;
use crate::targets::{self, Target};
use crate::tool::{Tool, ToolArgs, words};
use crate::truth::{self, Bug, Truth};
use crate::{Verdict, eval, table};

const HEADINGS: [&str; 9] =
    ["target", "bug", "seed", "rounds", "replays", "fixed twin", "seconds", "fault", ""];
/// Number of times that the fault found is tried on the fixed twin.
const TWIN_RUNS: u64 = 3;
/// The exit code of a campaign whose budget is used up.
const BUDGET_USED_UP: i32 = 3;

/// Reproduce the bugs of the bundled targets from their logs by several seeds, and not with their fixed twins
#[derive(Debug, clap::Args)]
pub struct BugsArgs {
    /// Targets, by the names of their folders; by default all that have a truth.toml
    #[arg(value_name = "TARGET")]
    names: Vec<String>,
    /// The bug, where a target has several; by default all
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
    /// Number of seeds
    #[arg(long, value_name = "N", default_value_t = 5)]
    seeds: u64,
    /// The most rounds for each
    #[arg(long, value_name = "N", default_value_t = 200)]
    budget: u64,
    /// Maximum median number of rounds over the seeds
    #[arg(long, value_name = "N")]
    at_most: Option<u64>,
    /// The most rounds that are tried with the fixed twin; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 60)]
    twin_budget: u64,
    /// Number of parallel trials
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: u16,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &BugsArgs) -> Result<Verdict> {
    let (jdk, tool) = (jdk::compiler()?, args.tool.ready()?);
    let mut all = targets::chosen(&args.names)?;
    all.retain(|it| it.directory.join("truth.toml").is_file());
    let (mut rows, mut lines, mut is_good) = (Vec::new(), Vec::new(), true);
    for target in &all {
        target.compile()?;
        let truth: Truth = truth::read(&target.directory.join("truth.toml"))?;
        for bug in truth.bug.iter().filter(|it| args.bug.as_ref().is_none_or(|name| *name == it.name)) {
            let session = Session { args, tool: &tool, jdk: &jdk, target, bug };
            let (found, line, good) = session.all()?;
            rows.extend(found);
            lines.push(line);
            is_good &= good;
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    lines.iter().for_each(|it| println!("{it}"));
    println!("{}", if is_good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(is_good))
}

/// Everything about one bug.
struct Session<'a> {
    args: &'a BugsArgs,
    tool: &'a Tool,
    jdk: &'a Jdk,
    target: &'a Target,
    bug: &'a Bug,
}

impl Session<'_> {
    /// The rows, a line that sums them up, and whether all is as it should be.
    fn all(&self) -> Result<(Vec<Vec<String>>, String, bool)> {
        let place = eval::out("bugs").join(format!("{}-{}", self.target.name, self.bug.name));
        fresh_directory(&place)?;
        let logs = self.stage("hypocenter.toml", &place.join("logs")).logs(self.bug)?;
        let (mut rows, mut rounds, mut is_good) = (Vec::new(), Vec::new(), true);
        for seed in 1..=self.args.seeds {
            let directory = place.join(format!("seed-{seed}"));
            let what = format!("{}, {}, seed {seed}", self.target.name, self.bug.name);
            let ran =
                step(&what, || self.reproduce("hypocenter.toml", &logs, seed, self.args.budget, &directory))?;
            let found = &ran.document["found"][0];
            let unharmed =
                if found.is_object() { self.unharmed(found, &directory.join("twin"))? } else { None };
            let is_right = ran.code == Some(0) && unharmed == Some(TWIN_RUNS);
            rounds.push(found["round"].as_u64().unwrap_or(u64::MAX));
            is_good &= is_right;
            rows.push(vec![
                self.target.name.clone(),
                self.bug.name.clone(),
                seed.to_string(),
                found["round"].as_u64().map_or(format!("> {}", self.args.budget), |it| it.to_string()),
                format!("{} of {}", number(&found["rate"], "hits"), number(&found["rate"], "runs")),
                unharmed.map_or("-".to_owned(), |it| format!("unharmed {it} of {TWIN_RUNS}")),
                format!("{:.0}", ran.took.as_secs_f64()),
                faults(found),
                if is_right { "PASS" } else { "FAIL" }.to_owned(),
            ]);
        }
        rounds.sort_unstable();
        let shown = |it: u64| if it == u64::MAX { format!("> {}", self.args.budget) } else { it.to_string() };
        let median = rounds.get(rounds.len() / 2).copied().unwrap_or(u64::MAX);
        let worst = rounds.last().copied().unwrap_or(u64::MAX);
        let mut line = format!(
            "{}, {}: median {}, worst {} rounds of {} seeds",
            self.target.name,
            self.bug.name,
            shown(median),
            shown(worst),
            self.args.seeds
        );
        if let Some(limit) = self.args.at_most {
            is_good &= median <= limit;
            line += &format!("; the median may be {limit}");
        }
        if self.args.twin_budget > 0 {
            let directory = place.join("fixed");
            let what = format!("{}, the log of {} with the fixed twin", self.target.name, self.bug.name);
            let budget = self.args.twin_budget;
            let ran = step(&what, || self.reproduce("fixed.toml", &logs, 1, budget, &directory))?;
            let is_none = ran.document["reproduced"] == false && ran.code == Some(BUDGET_USED_UP);
            let code = ran.code.map_or("a signal".to_owned(), |it| it.to_string());
            line += &format!(
                "; fixed twin, budget {budget}: {}, exit code {code}, closest trials in {}",
                if ran.document["reproduced"] == false { "not reproduced" } else { "REPRODUCED" },
                directory.join("hypocenter.log").display()
            );
            is_good &= is_none;
        }
        Ok((rows, line, is_good))
    }

    fn stage<'b>(&'b self, config: &str, directory: &'b Path) -> StageOf<'b> {
        StageOf { tool: self.tool, jdk: self.jdk, config: self.target.directory.join(config), directory }
    }

    fn reproduce(
        &self,
        config: &str,
        logs: &Path,
        seed: u64,
        budget: u64,
        directory: &Path,
    ) -> Result<Searched> {
        fresh_directory(directory)?;
        let mut command = Command::new(&self.tool.binary);
        command.args(["reproduce", &self.bug.workload, "--json", "--campaign", "campaign"]);
        command.arg("--config").arg(self.target.directory.join(config)).arg("--log").arg(logs);
        let (seed, budget, jobs) = (seed.to_string(), budget.to_string(), self.args.jobs.to_string());
        command.args(["--seed", &seed, "--trials", &budget, "--jobs", &jobs]);
        command.args(self.oracle()).arg("--out").arg(directory).current_dir(directory);
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &self.jdk.home);
        command.env("PATH", first_on_path(&self.jdk.home.join("bin"))?);
        Searched::by(command, directory)
    }

    fn oracle(&self) -> Vec<OsString> {
        self.bug.oracle().iter().flat_map(|it| words(["--oracle", it])).collect()
    }

    /// In how many runs of the fixed twin the faults that were found happened and did no harm.
    fn unharmed(&self, found: &Value, directory: &Path) -> Result<Option<u64>> {
        fresh_directory(directory)?;
        let path = directory.join("plan.json");
        fs::write(&path, found["plan"].to_string()).map_err(Failure::file(&path))?;
        let mut args = words([self.bug.workload.as_str(), "--plan"]);
        args.push(path.into());
        args.extend(self.oracle());
        let faults = found["faults"].as_array().map_or(0, Vec::len) as u64;
        let stage = self.stage("fixed.toml", directory);
        let ran = step("  the same faults with the fixed twin", || {
            stage.stage().run("run", args, TWIN_RUNS, "runs")
        })?;
        let is_unharmed =
            |it: &&hypocenter_plan::Outcome| campaign::injections(it) == faults && !campaign::has_failed(it);
        Ok(Some(ran.outcomes.iter().filter(is_unharmed).count() as u64))
    }
}

/// A [`Stage`] that owns its configuration's path.
struct StageOf<'b> {
    tool: &'b Tool,
    jdk: &'b Jdk,
    config: PathBuf,
    directory: &'b Path,
}

impl StageOf<'_> {
    fn stage(&self) -> Stage<'_> {
        Stage { tool: self.tool, jdk: self.jdk, config: &self.config, directory: self.directory }
    }

    fn logs(&self, bug: &Bug) -> Result<PathBuf> {
        self.stage().logs(bug)
    }
}

fn number(found: &Value, key: &str) -> u64 {
    found[key].as_u64().unwrap_or(0)
}

/// The faults that were found, shortly: `Class.method:line -> Class.callee hit n`.
pub fn faults(found: &Value) -> String {
    let short = |name: &str| {
        let parts: Vec<&str> = name.rsplitn(3, '.').collect();
        parts[..parts.len().min(2)].iter().rev().copied().collect::<Vec<_>>().join(".")
    };
    let one = |it: &Value| {
        let (site, text) = (&it["site"], |value: &Value| value.as_str().unwrap_or("?").to_owned());
        let class = text(&site["class"]);
        let class = class.rsplit('.').next().unwrap_or("?");
        let callee = text(&site["callee"]);
        let callee = short(callee.split('(').next().unwrap_or("?"));
        format!(
            "{class}.{}:{} -> {callee}, hit {} of {}",
            text(&site["method"]),
            site["line"],
            it["at"]["occurrence"],
            text(&it["at"]["thread"])
        )
    };
    let all = found["faults"].as_array().map_or(&[][..], Vec::as_slice);
    all.iter().map(one).collect::<Vec<_>>().join(" + ")
}
