//! `cargo xtask eval play TARGET`: every strategy on the same trials of a bundled target, and how many rounds each needs.
//!
//! Every fault is run once at every instance of a normal run, and what came of it is kept with the campaign that ran it; that takes
//! a workload that is small, so a target that has a `small.toml` is run under it. Each call plays on what all calls before it have
//! recorded, so it can be ended at any time and called again.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Command, Stdio};

use serde::Deserialize;

use super::campaign::first_on_path;
use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::show::Stage;
use crate::targets::{self, Target};
use crate::tool::{Tool, ToolArgs, words};
use crate::truth::{self, Truth};
use crate::{Verdict, jdk, process, root, table};

/// Factor by which the search needs fewer rounds than trying everything.
const RATIO: u64 = 10;

/// Let all strategies play on the same trials of a bundled target, each fault and moment run once, and print their rounds
#[derive(Debug, clap::Args)]
pub struct PlayArgs {
    /// The target, by the name of its folder
    #[arg(value_name = "TARGET", default_value = "wal")]
    name: String,
    /// Strategies, separated by commas; by default all
    #[arg(long, value_name = "NAMES")]
    strategies: Option<String>,
    /// Number of seeds each
    #[arg(long, value_name = "N", default_value_t = 10)]
    seeds: u64,
    /// The most rounds of a game
    #[arg(long, value_name = "N", default_value_t = 5000)]
    budget: u64,
    /// Normal runs: the order of executions in a round is that of one of them
    #[arg(long, value_name = "N", default_value_t = 4)]
    normal_runs: u64,
    /// Do not run every fault at every instance first, only what a game asks for
    #[arg(long)]
    as_asked: bool,
    /// The most trials beyond what was recorded before; 0 only plays
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// Trials at once
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: u64,
    /// Print the document instead of judging it
    #[arg(long)]
    json: bool,
    #[command(flatten)]
    tool: ToolArgs,
}

/// As much of the document as is judged.
#[derive(Debug, Deserialize)]
struct Document {
    seeds: u64,
    rounds_max: u64,
    recorded: u64,
    every_instance: bool,
    strategies: Vec<Row>,
    left_out: String,
}

#[derive(Debug, Deserialize)]
struct Row {
    strategy: String,
    reproduced: u64,
    median: Count,
    worst: Count,
}

#[derive(Debug, Clone, Copy, Deserialize)]
struct Count {
    more_than: bool,
    rounds: u64,
}

pub fn run(args: &PlayArgs) -> Result<Verdict> {
    let jdk = jdk::compiler()?;
    let tool = args.tool.ready()?;
    let mut chosen = targets::chosen(std::slice::from_ref(&args.name))?;
    let target = chosen.pop().expect("a target that is not there is an error");
    target.compile()?;
    let place = root().join("eval/work/play").join(&target.name);
    let small = target.directory.join("small.toml").is_file();
    let [config, truth] =
        if small { ["small.toml", "small-truth.toml"] } else { ["hypocenter.toml", "truth.toml"] }
            .map(|it| target.directory.join(it));
    let logs = failure_logs(&target, (&config, &truth), &tool, &jdk, &place)?;
    let mut command = Command::new(&tool.binary);
    command.args(["compare", "--faults", "exceptions", "--json", "--log"]).arg(&logs);
    command.arg("--config").arg(&config);
    if !args.as_asked {
        command.arg("--every-instance");
    }
    command.arg("--out").arg(place.join("campaigns")).args(args.passed_on());
    for campaign in campaigns(&place)? {
        command.arg("--recorded").arg(campaign);
    }
    command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &jdk.home).stdin(Stdio::null());
    command.current_dir(&target.directory).env("PATH", first_on_path(&jdk.home.join("bin"))?);
    command.stderr(Stdio::inherit());
    let text = process::text(&command);
    let output =
        command.output().map_err(|error| Failure::new(format!("`{text}` cannot be run: {error}")))?;
    if !output.status.success() {
        return Err(Failure::new(format!("`{text}` ended with {}; what it said is above", output.status)));
    }
    let json = String::from_utf8_lossy(&output.stdout);
    if args.json {
        println!("{json}");
        return Ok(Verdict::Pass);
    }
    let document: Document =
        serde_json::from_str(&json).map_err(|error| Failure::new(format!("`{text}`: {error}")))?;
    println!(
        "{}: {} seeds each, at most {} rounds; {} faults at instances, each run once{}",
        target.name,
        document.seeds,
        table::thousands(document.rounds_max),
        table::thousands(document.recorded),
        if document.every_instance { ", among them every one of a normal run" } else { "" }
    );
    let rows: Vec<Vec<String>> = document.strategies.iter().map(|it| it.cells(document.seeds)).collect();
    print!("{}", table::text(&["strategy", "median", "worst", "reproduced"], &rows));
    println!("{}", document.left_out);
    let (good, said) = judged(&document.strategies);
    println!("{}: {said}", if good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(good))
}

impl Count {
    fn text(self) -> String {
        format!("{}{}", if self.more_than { "> " } else { "" }, self.rounds)
    }
}

impl Row {
    fn cells(&self, seeds: u64) -> Vec<String> {
        let reproduced = format!("{} of {seeds}", self.reproduced);
        vec![self.strategy.clone(), self.median.text(), self.worst.text(), reproduced]
    }
}

impl PlayArgs {
    /// The arguments of the tool.
    fn passed_on(&self) -> Vec<OsString> {
        let flags = [
            ("--strategies", self.strategies.clone()),
            ("--seeds", Some(self.seeds.to_string())),
            ("--trials", Some(self.budget.to_string())),
            ("--normal-runs", Some(self.normal_runs.to_string())),
            ("--more-trials", self.trials.map(|it| it.to_string())),
            ("--jobs", Some(self.jobs.to_string())),
        ];
        words(flags.iter().filter_map(|(flag, value)| Some([*flag, value.as_deref()?])).flatten())
    }
}

/// The logs of the failure, made once: another run of it has other logs, and nothing recorded would fit them.
fn failure_logs(
    target: &Target,
    (config, truth): (&Path, &Path),
    tool: &Tool,
    jdk: &Jdk,
    place: &Path,
) -> Result<PathBuf> {
    let logs = place.join("failure");
    if logs.is_dir() {
        return Ok(logs);
    }
    let truth: Truth = truth::read(truth)?;
    let bug = truth.bug.first().ok_or_else(|| Failure::new(format!("{}: it has no bug", target.name)))?;
    let directory = place.join("shown");
    fs::create_dir_all(&directory).map_err(Failure::file(&directory))?;
    let shown = Stage { tool, jdk, config, directory: &directory }.logs(bug)?;
    let part = place.join("failure.part");
    process::fresh_directory(&part)?;
    for entry in fs::read_dir(&shown).map_err(Failure::file(&shown))?.flatten() {
        fs::copy(entry.path(), part.join(entry.file_name())).map_err(Failure::file(&entry.path()))?;
    }
    fs::rename(&part, &logs).map_err(Failure::file(&logs))?;
    Ok(logs)
}

/// The campaigns that were begun before, the oldest first.
fn campaigns(place: &Path) -> Result<Vec<PathBuf>> {
    let directory = place.join("campaigns");
    if !directory.is_dir() {
        return Ok(Vec::new());
    }
    let entries = fs::read_dir(&directory).map_err(Failure::file(&directory))?.flatten();
    let begun = entries.filter(|it| it.file_name() != "latest").map(|it| it.path());
    let mut all: Vec<PathBuf> = begun.filter(|it| it.join("results.jsonl").is_file()).collect();
    all.sort();
    Ok(all)
}

/// Tests whether the search needs so many times fewer rounds than trying everything does.
fn judged(rows: &[Row]) -> (bool, String) {
    let median = |name: &str| rows.iter().find(|it| it.strategy == name).map(|it| it.median);
    let (Some(full), Some(exhaustive)) = (median("full"), median("exhaustive")) else {
        return (true, "`full` and `exhaustive` were not both asked for, so nothing is judged".to_owned());
    };
    let good = !full.more_than && full.rounds * RATIO <= exhaustive.rounds;
    let (full, exhaustive) = (full.text(), exhaustive.text());
    (
        good,
        format!(
            "`full` needs {full} rounds and `exhaustive` {exhaustive}, a {RATIO}th of which is asked for"
        ),
    )
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_tenth_is_a_tenth_and_what_did_not_get_there_is_no_success() {
        let row = |strategy: &str, more_than, rounds| Row {
            strategy: strategy.to_owned(),
            reproduced: 0,
            median: Count { more_than, rounds },
            worst: Count { more_than, rounds },
        };
        let good = |full: (bool, u64), exhaustive: (bool, u64)| {
            judged(&[row("full", full.0, full.1), row("exhaustive", exhaustive.0, exhaustive.1)]).0
        };
        assert!(good((false, 9), (false, 90)));
        assert!(good((false, 9), (true, 200)));
        assert!(!good((false, 9), (false, 89)));
        assert!(!good((false, 9), (true, 80)));
        assert!(!good((true, 9), (true, 200)));
    }
}
