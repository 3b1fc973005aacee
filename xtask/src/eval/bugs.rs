//! `cargo xtask eval bugs`: the bugs of the bundled targets, reproduced from the log of a run in which they show, by several
//! seeds. A fault that was found is right if it makes the buggy system fail again and leaves its fixed twin unharmed; and the
//! log of the buggy system is not to be reproduced with the twin. `--without RULE` tells what a rule of the search is worth; `--flaky`
//! searches in a system that also fails by itself now and then.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;

use serde_json::Value;

use crate::eval::campaign::{self, first_on_path};
use crate::eval::reproduce::Searched;
use crate::failure::{Failure, Result};
use crate::jdk::{self, Jdk};
use crate::process::{fresh_directory, lossy, step};
use crate::show::Stage;
use crate::targets::{self, Target};
use crate::tool::{Tool, ToolArgs, words};
use crate::truth::{self, Bug, Late, Truth};
use crate::{Verdict, eval, table};

/// Form of a time in the logs of the bundled targets.
const TIME: &str = "0000-00-00 00:00:00,000";
/// Runs without a fault of a system that fails by itself: enough to measure how often.
const FLAKY_RUNS: &str = "10";
const USUAL: Files = Files {
    config: "hypocenter.toml",
    shown: "hypocenter.toml",
    fixed: "fixed.toml",
    truth: "truth.toml",
    name: "",
};
/// A system that also fails by itself in some runs.
const FLAKY: Files = Files {
    config: "flaky.toml",
    shown: "small.toml",
    fixed: "small-fixed.toml",
    truth: "small-truth.toml",
    name: "-flaky",
};
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
    /// Maximum number of rounds with any seed
    #[arg(long, value_name = "N")]
    each_at_most: Option<u64>,
    /// Search by every seed without this rule too, and print those rounds beside; may be given several times
    #[arg(long, value_name = "RULE")]
    without: Vec<String>,
    /// Search in the flaky.toml of the targets that have one, whose failure also happens without a fault in some runs; the rates of
    /// both must be printed. One trial at a time
    #[arg(long)]
    flaky: bool,
    /// Append to the logs the line that a node may log while it is being ended, for bugs whose truth.toml has one (`late`)
    #[arg(long)]
    late_line: bool,
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
    let files = if args.flaky { &FLAKY } else { &USUAL };
    all.retain(|it| [files.config, files.truth].iter().all(|file| it.directory.join(file).is_file()));
    if all.is_empty() {
        let names = args.names.join(", ");
        return Err(Failure::new(format!(
            "{names}: no target there has {} and {}",
            files.config, files.truth
        )));
    }
    let (mut rows, mut lines, mut is_good) = (Vec::new(), Vec::new(), true);
    for target in &all {
        target.compile()?;
        let truth: Truth = truth::read(&target.directory.join(files.truth))?;
        for bug in truth.bug.iter().filter(|it| args.bug.as_ref().is_none_or(|name| *name == it.name)) {
            let session = Session { args, tool: &tool, jdk: &jdk, target, bug, files };
            let (found, line, good) = session.all()?;
            rows.extend(found);
            lines.push(line);
            is_good &= good;
        }
    }
    print!("{}", table::text(&args.headings(), &rows));
    lines.iter().for_each(|it| println!("{it}"));
    println!("{}", if is_good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(is_good))
}

impl BugsArgs {
    fn headings(&self) -> Vec<&'static str> {
        let mut all = vec!["target", "bug", "seed", "rounds"];
        all.extend((!self.without.is_empty()).then_some("without the rule"));
        all.push("replays");
        all.extend(self.flaky.then_some("without the fault"));
        all.extend(["fixed twin", "seconds", "fault", ""]);
        all
    }
}

/// Files of a target.
struct Files {
    config: &'static str,
    /// The configuration under which the bug is shown for its log.
    shown: &'static str,
    fixed: &'static str,
    truth: &'static str,
    /// End of the name of a directory of results.
    name: &'static str,
}

/// Everything about one bug.
struct Session<'a> {
    args: &'a BugsArgs,
    tool: &'a Tool,
    jdk: &'a Jdk,
    target: &'a Target,
    bug: &'a Bug,
    files: &'a Files,
}

impl Session<'_> {
    /// The rows, a line that sums them up, and whether all is as it should be.
    fn all(&self) -> Result<(Vec<Vec<String>>, String, bool)> {
        let name = format!("{}-{}{}", self.target.name, self.bug.name, self.files.name);
        let place = eval::out("bugs").join(name);
        fresh_directory(&place)?;
        let logs = self.stage(self.files.shown, &place.join("logs")).logs(self.bug)?;
        if let Some(late) = self.bug.late.as_ref().filter(|_| self.args.late_line) {
            append(late, &logs)?;
        }
        let (mut rows, mut rounds, mut is_good) = (Vec::new(), Rounds::default(), true);
        let mut rounds_without = Rounds::default();
        for seed in 1..=self.args.seeds {
            let directory = place.join(format!("seed-{seed}"));
            let what = format!("{}, {}, seed {seed}", self.target.name, self.bug.name);
            let asked = Asked { config: self.files.config, seed, budget: self.args.budget, without: &[] };
            let ran = step(&what, || self.reproduce(&asked, &logs, &directory))?;
            let found = &ran.document["found"][0];
            let unharmed =
                if found.is_object() { self.unharmed(found, &directory.join("twin"))? } else { None };
            let mut is_right = ran.code == Some(0) && unharmed == Some(TWIN_RUNS);
            is_right &= self.args.each_at_most.is_none_or(|it| round(found) <= it);
            rounds.0.push(round(found));
            let mut row = vec![self.target.name.clone(), self.bug.name.clone(), seed.to_string()];
            row.push(self.shown(round(found)));
            if !self.args.without.is_empty() {
                let directory = place.join(format!("seed-{seed}-without"));
                let what = format!("  without {}", self.args.without.join(" and "));
                let asked = Asked { without: &self.args.without, ..asked };
                let without = step(&what, || self.reproduce(&asked, &logs, &directory))?;
                rounds_without.0.push(round(&without.document["found"][0]));
                row.push(self.shown(round(&without.document["found"][0])));
            }
            row.push(format!("{} of {}", number(&found["rate"], "hits"), number(&found["rate"], "runs")));
            if self.args.flaky {
                let (failed, runs) =
                    (number(&ran.document, "normal_failures"), number(&ran.document, "normal_runs"));
                is_right &= failed > 0
                    && rates_are_printed(found, (failed, runs), &lossy(&directory.join("hypocenter.log")));
                row.push(format!("{failed} of {runs}"));
            }
            row.push(unharmed.map_or("-".to_owned(), |it| format!("unharmed {it} of {TWIN_RUNS}")));
            row.push(format!("{:.0}", ran.took.as_secs_f64()));
            row.push(faults(found));
            row.push(if is_right { "PASS" } else { "FAIL" }.to_owned());
            rows.push(row);
            is_good &= is_right;
        }
        let mut line = format!(
            "{}, {}: median {}, worst {} rounds of {} seeds",
            self.target.name,
            self.bug.name,
            self.shown(rounds.median()),
            self.shown(rounds.worst()),
            self.args.seeds
        );
        if !self.args.without.is_empty() {
            line += &format!(
                "; without {} median {}, worst {}",
                self.args.without.join(" and "),
                self.shown(rounds_without.median()),
                self.shown(rounds_without.worst())
            );
        }
        if let Some(limit) = self.args.at_most {
            is_good &= rounds.median() <= limit;
            line += &format!("; the median may be {limit}");
        }
        if let Some(limit) = self.args.each_at_most {
            line += &format!("; each may be {limit}");
        }
        if self.args.twin_budget > 0 {
            let directory = place.join("fixed");
            let what = format!("{}, the log of {} with the fixed twin", self.target.name, self.bug.name);
            let budget = self.args.twin_budget;
            let asked = Asked { config: self.files.fixed, seed: 1, budget, without: &[] };
            let ran = step(&what, || self.reproduce(&asked, &logs, &directory))?;
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

    /// A number of rounds for people.
    fn shown(&self, rounds: u64) -> String {
        if rounds == NOT_FOUND { format!("> {}", self.args.budget) } else { rounds.to_string() }
    }

    fn reproduce(&self, asked: &Asked, logs: &Path, directory: &Path) -> Result<Searched> {
        fresh_directory(directory)?;
        let mut command = Command::new(&self.tool.binary);
        command.args(["reproduce", &self.bug.workload, "--json", "--campaign", "campaign"]);
        command.arg("--config").arg(self.target.directory.join(asked.config)).arg("--log").arg(logs);
        let jobs = if self.args.flaky { 1 } else { self.args.jobs };
        let (seed, budget, jobs) = (asked.seed.to_string(), asked.budget.to_string(), jobs.to_string());
        command.args(["--seed", &seed, "--trials", &budget, "--jobs", &jobs]);
        if self.args.flaky {
            command.args(["--normal-runs", FLAKY_RUNS]);
        }
        if !asked.without.is_empty() {
            command.args(["--set", &format!("reproduce.without={:?}", asked.without)]);
        }
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
        let stage = self.stage(self.files.fixed, directory);
        let ran = step("  the same faults with the fixed twin", || {
            stage.stage().run("run", args, TWIN_RUNS, "runs")
        })?;
        let is_unharmed =
            |it: &&hypocenter_plan::Outcome| campaign::injections(it) == faults && !campaign::has_failed(it);
        Ok(Some(ran.outcomes.iter().filter(is_unharmed).count() as u64))
    }
}

/// A search.
struct Asked<'b> {
    config: &'b str,
    seed: u64,
    budget: u64,
    /// Rules that it goes without.
    without: &'b [String],
}

/// Stands for the round of a fault that was not found.
const NOT_FOUND: u64 = u64::MAX;

/// The round in which each seed found the fault.
#[derive(Debug, Default)]
struct Rounds(Vec<u64>);

impl Rounds {
    /// The middle; the upper of two.
    fn median(&self) -> u64 {
        let mut sorted = self.0.clone();
        sorted.sort_unstable();
        sorted.get(sorted.len() / 2).copied().unwrap_or(NOT_FOUND)
    }

    fn worst(&self) -> u64 {
        self.0.iter().max().copied().unwrap_or(NOT_FOUND)
    }
}

fn round(found: &Value) -> u64 {
    found["round"].as_u64().unwrap_or(NOT_FOUND)
}

/// Appends a line to one of these logs, later than all that they have.
fn append(late: &Late, logs: &Path) -> Result<()> {
    let entries = fs::read_dir(logs).map_err(Failure::file(logs))?.flatten();
    let texts: Vec<String> = entries.map(|it| lossy(&it.path())).collect();
    let path = logs.join(&late.log);
    let text = fs::read_to_string(&path).map_err(Failure::file(&path))?;
    fs::write(&path, text + &late_line(&texts, &late.line)).map_err(Failure::file(&path))
}

/// The line at the end of the last second of these logs.
fn late_line(logs: &[String], line: &str) -> String {
    let last = logs.iter().flat_map(|it| it.lines().filter_map(time_of)).max().unwrap_or(TIME);
    let (second, _) = last.split_at(TIME.len() - 3);
    format!("{second}999 {line}\n")
}

/// The time that a line begins with, as the bundled targets log it: `2026-01-31 23:59:59,123`.
fn time_of(line: &str) -> Option<&str> {
    let (time, _) = line.split_at_checked(TIME.len())?;
    let is_alike = |(is, of): (char, char)| if of == '0' { is.is_ascii_digit() } else { is == of };
    time.chars().zip(TIME.chars()).all(is_alike).then_some(time)
}

/// Tests whether a search printed how often the failure happens with the fault and how often without, in one line.
fn rates_are_printed(found: &Value, (failed, runs): (u64, u64), printed: &str) -> bool {
    let (hits, replays) = (number(&found["rate"], "hits"), number(&found["rate"], "runs"));
    let with = format!(" {hits} of {replays} replays");
    let without = format!("; {failed} of {runs} runs without the fault");
    printed.lines().any(|it| it.contains(&with) && it.contains(&without))
        && printed.contains("the failure happens without a fault, in ")
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

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_middle_and_the_worst_know_what_was_not_found() {
        for (rounds, median, worst) in [
            (&[][..], NOT_FOUND, NOT_FOUND),
            (&[3], 3, 3),
            (&[7, 2, 5], 5, 7),
            (&[NOT_FOUND, 2, 5], 5, NOT_FOUND),
            (&[NOT_FOUND, 2], NOT_FOUND, NOT_FOUND),
        ] {
            let rounds = Rounds(rounds.to_vec());
            assert_eq!((rounds.median(), rounds.worst()), (median, worst), "{rounds:?}");
        }
    }

    #[test]
    fn both_rates_must_be_printed() {
        let found = serde_json::json!({ "rate": { "hits": 5, "runs": 5 } });
        let flaky = "  flaky     the failure happens without a fault, in 2 of 10 runs\n";
        let check = |rate: &str, expected: bool| {
            assert_eq!(rates_are_printed(&found, (2, 10), &format!("{flaky}{rate}")), expected, "{rate}");
        };
        check("  rate      5 of 5 replays; 2 of 10 runs without the fault\n", true);
        check(
            "  rate      5 of 5 replays, 1 more did not reach the fault; 2 of 10 runs without the fault\n",
            true,
        );
        check("  rate      5 of 5 replays\n", false);
        check("  rate      15 of 5 replays; 2 of 10 runs without the fault\n", false);
        check("  rate      5 of 5 replays\n; 2 of 10 runs without the fault\n", false);
        assert!(!rates_are_printed(&found, (2, 10), "rate 5 of 5 replays; 2 of 10 runs without the fault"));
    }

    #[test]
    fn a_late_line_is_later_than_all_logs() {
        let logs = [
            "2026-01-31 23:59:59,123 INFO b\n\tat b\nprogress 9\n".to_owned(),
            "2026-01-31 23:59:58,700 INFO a\n".to_owned(),
        ];
        assert_eq!(late_line(&logs, "INFO closed"), "2026-01-31 23:59:59,999 INFO closed\n");
    }

    #[test]
    fn only_a_time_is_a_time() {
        assert_eq!(time_of("2026-01-31 23:59:59,123 INFO a"), Some("2026-01-31 23:59:59,123"));
        for line in
            ["progress 9", "2026-01-31 23:59:59.123 INFO a", "\tat java.lang.Thread.run(Thread.java:840)", ""]
        {
            assert_eq!(time_of(line), None, "{line}");
        }
    }
}
