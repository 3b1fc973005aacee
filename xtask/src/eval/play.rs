//! `cargo xtask eval play TARGET`: every strategy on the same trials of a bundled target, and how many rounds each needs.
//!
//! A fault at an instance is run once, however many strategies and seeds ask for it, and what came of it is kept with the campaign
//! that ran it. Each call plays on what all calls before it have recorded, so it can be ended at any time and called again; only
//! a game that asks for something new has it run.

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
use crate::{Verdict, jdk, process, root};

/// How many times fewer rounds the search needs than trying everything.
const RATIO: u64 = 10;

/// Let all strategies play on the same trials of a bundled target, each fault and moment run once, and print their rounds
#[derive(Debug, clap::Args)]
pub struct PlayArgs {
    /// The target, by the name of its folder
    #[arg(value_name = "TARGET", default_value = "wal")]
    name: String,
    /// Which strategies, separated by commas; by default all
    #[arg(long, value_name = "NAMES")]
    strategies: Option<String>,
    /// How many seeds each
    #[arg(long, value_name = "N", default_value_t = 10)]
    seeds: u64,
    /// The most rounds of a game
    #[arg(long, value_name = "N", default_value_t = 200)]
    budget: u64,
    /// Normal runs: the order of executions in a round is that of one of them
    #[arg(long, value_name = "N", default_value_t = 4)]
    normal_runs: u64,
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
    strategies: Vec<Row>,
}

#[derive(Debug, Deserialize)]
struct Row {
    strategy: String,
    median: Count,
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
    let logs = failure_logs(&target, &tool, &jdk, &place)?;
    let mut command = Command::new(&tool.binary);
    command.args(["reproduce", "--compare", "--faults", "exceptions", "--json", "--log"]).arg(&logs);
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
    let (good, said) = judged(&document);
    println!("{}: {said}", if good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(good))
}

impl PlayArgs {
    /// The arguments of the tool.
    fn passed_on(&self) -> Vec<OsString> {
        let flags = [
            ("--strategies", self.strategies.clone()),
            ("--seeds", Some(self.seeds.to_string())),
            ("--budget", Some(self.budget.to_string())),
            ("--normal-runs", Some(self.normal_runs.to_string())),
            ("--trials", self.trials.map(|it| it.to_string())),
            ("--jobs", Some(self.jobs.to_string())),
        ];
        words(flags.iter().filter_map(|(flag, value)| Some([*flag, value.as_deref()?])).flatten())
    }
}

/// The logs of the failure, made once: another run of it has other logs, and nothing recorded would fit them.
fn failure_logs(target: &Target, tool: &Tool, jdk: &Jdk, place: &Path) -> Result<PathBuf> {
    let logs = place.join("failure");
    if logs.is_dir() {
        return Ok(logs);
    }
    let truth: Truth = truth::read(&target.directory.join("truth.toml"))?;
    let bug = truth.bug.first().ok_or_else(|| Failure::new(format!("{}: it has no bug", target.name)))?;
    let (config, directory) = (target.directory.join("hypocenter.toml"), place.join("shown"));
    fs::create_dir_all(&directory).map_err(Failure::file(&directory))?;
    let shown = Stage { tool, jdk, config: &config, directory: &directory }.logs(bug)?;
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

/// Whether the search needs so many times fewer rounds than trying everything does.
fn judged(document: &Document) -> (bool, String) {
    let median = |name: &str| document.strategies.iter().find(|it| it.strategy == name).map(|it| it.median);
    let (Some(full), Some(exhaustive)) = (median("full"), median("exhaustive")) else {
        return (true, "`full` and `exhaustive` were not both asked for, so nothing is judged".to_owned());
    };
    let text = |it: Count| format!("{}{}", if it.more_than { "more than " } else { "" }, it.rounds);
    let good = !full.more_than && full.rounds * RATIO <= exhaustive.rounds;
    let (full, exhaustive) = (text(full), text(exhaustive));
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
            median: Count { more_than, rounds },
        };
        let good = |full: (bool, u64), exhaustive: (bool, u64)| {
            let strategies = vec![row("full", full.0, full.1), row("exhaustive", exhaustive.0, exhaustive.1)];
            judged(&Document { strategies }).0
        };
        assert!(good((false, 9), (false, 90)));
        assert!(good((false, 9), (true, 200)));
        assert!(!good((false, 9), (false, 89)));
        assert!(!good((false, 9), (true, 80)));
        assert!(!good((true, 9), (true, 200)));
    }
}
