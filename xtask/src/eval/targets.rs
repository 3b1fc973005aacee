//! `cargo xtask eval targets`: the bugs of the bundled targets show under the faults that `truth.toml` names and only
//! under them, and their fixed twins survive the same faults.

use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use hypocenter_plan::{CandidateResult, Outcome};
use serde::Deserialize;

use crate::eval::campaign::{Campaign, Ran};
use crate::failure::{Failure, Result};
use crate::jdk::{Jdk, JdkArgs};
use crate::process::step;
use crate::targets::{self, Target};
use crate::tool::{Tool, ToolArgs, words};
use crate::{Verdict, eval, table};

const HEADINGS: [&str; 9] =
    ["target", "classes", "fault", "trials", "injected", "failure", "all well", "median s", ""];
/// For each trial: the workloads have limits of their own, which are shorter.
const TRIAL_LIMIT: Duration = Duration::from_secs(180);
/// The configurations, and what their classes are called in the table.
const BUGGY: (&str, &str) = ("hypocenter.toml", "buggy");
const FIXED: (&str, &str) = ("fixed.toml", "fixed");

/// The bugs of the bundled targets show under their faults and only then, and their fixed twins survive the same faults
#[derive(Debug, clap::Args)]
pub struct TargetsArgs {
    /// Which, by the names of their folders; by default all that have a truth.toml
    #[arg(value_name = "TARGET")]
    names: Vec<String>,
    /// How many trials with each fault
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeat: u64,
    /// How many trials without a fault
    #[arg(long, value_name = "N", default_value_t = 50)]
    fault_free: u64,
    /// How many trials run at once
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: u16,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

/// `truth.toml`: the bugs of a target. Its keys for people are not read.
#[derive(Debug, Deserialize)]
struct Truth {
    bug: Vec<Bug>,
}

/// A bug, and the arguments of `hypocenter inject` that show it.
#[derive(Debug, Deserialize)]
struct Bug {
    name: String,
    workload: String,
    site: String,
    fault: Fault,
    at: Option<u64>,
    node: Option<String>,
    thread: Option<String>,
    stack: Option<String>,
    /// What says that this bug showed, where that is not the oracle of the configuration.
    oracle: Option<toml::Value>,
}

#[derive(Debug, Deserialize)]
#[serde(rename_all = "snake_case")]
enum Fault {
    Throw(String),
    Sleep(String),
    Spin(String),
}

impl Bug {
    fn args(&self) -> Vec<OsString> {
        let fault = match &self.fault {
            Fault::Throw(class) => ["--throw", class],
            Fault::Sleep(time) => ["--sleep", time],
            Fault::Spin(time) => ["--spin", time],
        };
        let mut args = words([self.site.as_str()]);
        args.extend(words(fault));
        let at = self.at.map(|it| it.to_string());
        let oracle = self.oracle.as_ref().map(toml::Value::to_string);
        let given = [
            ("--workload", Some(&self.workload)),
            ("--at", at.as_ref()),
            ("--node", self.node.as_ref()),
            ("--thread", self.thread.as_ref()),
            ("--stack", self.stack.as_ref()),
            ("--oracle", oracle.as_ref()),
        ];
        for (flag, value) in given {
            args.extend(value.into_iter().flat_map(|it| words([flag, it])));
        }
        args
    }
}

/// As much of a configuration as is needed here.
#[derive(Debug, Deserialize)]
struct Config {
    workload: Vec<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
}

fn read<T: for<'a> Deserialize<'a>>(path: &Path) -> Result<T> {
    let text = fs::read_to_string(path).map_err(Failure::file(path))?;
    toml::from_str(&text).map_err(|error| Failure::new(format!("{}: {error}", path.display())))
}

pub fn run(args: &TargetsArgs) -> Result<Verdict> {
    let jdks = args.jdks.given_or_default()?;
    let tool = args.tool.ready()?;
    let mut all = targets::chosen(&args.names)?;
    all.retain(|it| it.directory.join("truth.toml").is_file());
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for target in &all {
        target.compile()?;
        for jdk in &jdks {
            let session = Session { args, tool: &tool, jdk, target };
            for judged in session.all()? {
                rows.push(judged.row);
                broken.extend(judged.broken);
            }
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    broken.iter().for_each(|line| println!("{line}"));
    println!("{}", if broken.is_empty() { "PASS" } else { "FAIL" });
    Ok(Verdict::of(broken.is_empty()))
}

/// All campaigns on one target.
struct Session<'a> {
    args: &'a TargetsArgs,
    tool: &'a Tool,
    jdk: &'a Jdk,
    target: &'a Target,
}

/// A campaign as it is shown.
struct Judged {
    row: Vec<String>,
    broken: Option<String>,
}

/// How many trials of a campaign must be so; none where it does not matter.
struct Wanted {
    injected: Option<u64>,
    failures: u64,
    well: Option<u64>,
}

impl Session<'_> {
    fn all(&self) -> Result<Vec<Judged>> {
        let truth: Truth = read(&self.target.directory.join("truth.toml"))?;
        let (repeat, free) = (self.args.repeat, self.args.fault_free);
        let mut all = Vec::new();
        for bug in &truth.bug {
            let shows = Wanted { injected: Some(repeat), failures: repeat, well: None };
            all.push(self.judge(BUGGY, &bug.name, "inject", bug.args(), repeat, &shows)?);
            let survives = Wanted { injected: Some(repeat), failures: 0, well: Some(repeat) };
            all.push(self.judge(FIXED, &bug.name, "inject", bug.args(), repeat, &survives)?);
        }
        if free == 0 {
            return Ok(all);
        }
        for classes in [BUGGY, FIXED] {
            let config: Config = read(&self.target.directory.join(classes.0))?;
            for workload in config.workload {
                let quiet = Wanted { injected: None, failures: 0, well: Some(free) };
                all.push(self.judge(classes, "none", "run", words([&workload.name]), free, &quiet)?);
            }
        }
        Ok(all)
    }

    fn judge(
        &self,
        (config, classes): (&str, &str),
        fault: &str,
        verb: &str,
        mut args: Vec<OsString>,
        repeat: u64,
        wanted: &Wanted,
    ) -> Result<Judged> {
        let target = &self.target.name;
        args.extend(words(["--jobs", &self.args.jobs.to_string()]));
        let directory =
            eval::out("targets").join(format!("{target}-{classes}-{fault}-jdk-{}", self.jdk.feature));
        let campaign = Campaign {
            jdk: self.jdk,
            verb,
            args,
            config: &self.target.directory.join(config),
            repeat,
            directory: &directory,
            limit: TRIAL_LIMIT * repeat as u32,
        };
        let what = format!("{target}, {classes} classes, fault: {fault}, {repeat} trials");
        let ran = step(&what, || campaign.run(self.tool))?;
        let of = |fits: &dyn Fn(&Outcome) -> bool| ran.outcomes.iter().filter(|it| fits(it)).count() as u64;
        let injected = of(&is_injected);
        let failures = of(&|it| it.failure.as_ref().is_some_and(|it| it.happened));
        let well = of(&|it| it.end.is_well());
        let good = wanted.injected.is_none_or(|it| it == injected)
            && wanted.failures == failures
            && wanted.well.is_none_or(|it| it == well);
        let row = vec![
            target.clone(),
            classes.to_owned(),
            fault.to_owned(),
            repeat.to_string(),
            if wanted.injected.is_some() { injected.to_string() } else { "-".to_owned() },
            failures.to_string(),
            well.to_string(),
            format!("{:.1}", median_seconds(&ran)),
            if good { "PASS" } else { "FAIL" }.to_owned(),
        ];
        let broken = (!good).then(|| format!("FAIL: {what}; see {}", ran.directory.display()));
        Ok(Judged { row, broken })
    }
}

/// Whether the one fault happened, and once.
fn is_injected(outcome: &Outcome) -> bool {
    let times = outcome.candidates.iter().map(|it| match &it.result {
        CandidateResult::Injected(injection) => injection.times,
        _ => 0,
    });
    times.sum::<u64>() == 1
}

fn median_seconds(ran: &Ran) -> f64 {
    let mut times: Vec<u64> = ran.outcomes.iter().map(|it| it.wall_ms).collect();
    times.sort_unstable();
    times.get(times.len() / 2).map_or(0.0, |&ms| ms as f64 / 1e3)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn every_truth_is_read_and_names_a_workload_of_both_configurations() {
        let all = targets::chosen(&[]).unwrap();
        let truths = all.iter().filter(|it| it.directory.join("truth.toml").is_file());
        for target in truths {
            let truth: Truth = read(&target.directory.join("truth.toml")).unwrap();
            assert!(!truth.bug.is_empty(), "{}", target.name);
            for (config, _) in [BUGGY, FIXED] {
                let config: Config = read(&target.directory.join(config)).unwrap();
                for bug in &truth.bug {
                    assert!(config.workload.iter().any(|it| it.name == bug.workload), "{}", bug.name);
                }
            }
        }
    }

    #[test]
    fn a_bug_becomes_the_arguments_of_inject() {
        let bug: Bug = toml::from_str(
            "name = 'b'\nworkload = 'w'\nsite = 'A.b'\nfault = { sleep = '60s' }\nat = 2\nnode = 'n'\n\
             oracle = { any = [{ exit = 1, client = 'c' }] }",
        )
        .unwrap();
        let expected = ["A.b", "--sleep", "60s", "--workload", "w", "--at", "2", "--node", "n", "--oracle"];
        let args = bug.args();
        assert_eq!(args[..expected.len()], words(expected));
        assert!(args[expected.len()].to_string_lossy().starts_with("{ any = [{ "), "{args:?}");
    }
}
