//! `cargo xtask eval targets`: the bugs of the bundled targets show under the faults that `truth.toml` names and only
//! under them, and their fixed twins survive the same faults.

use std::ffi::OsString;
use std::time::Duration;

use hypocenter_plan::Outcome;
use serde::Deserialize;

use crate::eval::campaign::{self, Campaign, Ran};
use crate::failure::Result;
use crate::jdk::{Jdk, JdkArgs};
use crate::process::step;
use crate::targets::{self, Target};
use crate::tool::{Tool, ToolArgs, words};
use crate::truth::{self, Truth};
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

/// As much of a configuration as is needed here.
#[derive(Debug, Deserialize)]
struct Config {
    workload: Vec<Named>,
}

#[derive(Debug, Deserialize)]
struct Named {
    name: String,
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
        let truth: Truth = truth::read(&self.target.directory.join("truth.toml"))?;
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
            let config: Config = truth::read(&self.target.directory.join(classes.0))?;
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
        let injected = of(&|it| campaign::injections(it) == 1);
        let failures = of(&campaign::has_failed);
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
            let truth: Truth = truth::read(&target.directory.join("truth.toml")).unwrap();
            assert!(!truth.bug.is_empty(), "{}", target.name);
            for (config, _) in [BUGGY, FIXED] {
                let config: Config = truth::read(&target.directory.join(config)).unwrap();
                for bug in &truth.bug {
                    assert!(config.workload.iter().any(|it| it.name == bug.workload), "{}", bug.name);
                }
            }
        }
    }
}
