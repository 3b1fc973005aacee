//! `cargo xtask eval targets`: the bugs of the bundled targets show under the faults that `truth.toml` names and only
//! under them, and their fixed twins survive the same faults.

use std::path::{Path, PathBuf};

use hypocenter_plan::Outcome;
use serde::Deserialize;

use crate::eval::campaign::{self, Ran};
use crate::failure::Result;
use crate::jdk::{Jdk, JdkArgs};
use crate::process::step;
use crate::show::{Call, Stage};
use crate::targets::{self, Target};
use crate::tool::{Tool, ToolArgs, words};
use crate::truth::{self, Truth};
use crate::{Verdict, eval, table};

const HEADINGS: [&str; 9] =
    ["target", "classes", "fault", "trials", "injected", "failure", "all well", "median s", ""];
const BUGGY: Side = Side { config: "hypocenter.toml", name: "buggy" };
const FIXED: Side = Side { config: "fixed.toml", name: "fixed" };

/// The bugs of the bundled targets show under their faults and only then, and their fixed twins survive the same faults
#[derive(Debug, clap::Args)]
pub struct TargetsArgs {
    /// Which, by the names of their folders; by default all that have a truth.toml
    #[arg(value_name = "TARGET")]
    names: Vec<String>,
    /// Number of trials with each fault
    #[arg(long, value_name = "N", default_value_t = 5)]
    repeat: u64,
    /// Number of trials without a fault
    #[arg(long, value_name = "N", default_value_t = 50)]
    fault_free: u64,
    /// Number of parallel trials
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

/// Number of trials of a campaign that must be so; none if it does not matter.
struct Wanted {
    injected: Option<u64>,
    failures: u64,
    well: Option<u64>,
}

/// The buggy classes or those of the fixed twin.
#[derive(Clone, Copy)]
struct Side {
    config: &'static str,
    /// Their names in the table.
    name: &'static str,
}

impl Session<'_> {
    fn all(&self) -> Result<Vec<Judged>> {
        let truth: Truth = truth::read(&self.target.directory.join("truth.toml"))?;
        let (repeat, free) = (self.args.repeat, self.args.fault_free);
        let mut all = Vec::new();
        let shows = Wanted { injected: Some(repeat), failures: repeat, well: None };
        let survives = Wanted { injected: Some(repeat), failures: 0, well: Some(repeat) };
        for bug in &truth.bug {
            if let Some(second) = &bug.second {
                for (cause, which) in [(&bug.cause, "first"), (second, "second")] {
                    let alone = Call { verb: "inject", args: bug.args_of(cause), faults: 1 };
                    let name = format!("{}, {which} alone", bug.name);
                    all.push(self.judge(BUGGY, &name, alone, repeat, &survives)?);
                }
            }
            for (side, wanted) in [(BUGGY, &shows), (FIXED, &survives)] {
                let place = self.place(side, &bug.name);
                let call = self.stage(&self.target.directory.join(side.config), &place).call(bug)?;
                all.push(self.judge(side, &bug.name, call, repeat, wanted)?);
            }
        }
        if free == 0 {
            return Ok(all);
        }
        for side in [BUGGY, FIXED] {
            let config: Config = truth::read(&self.target.directory.join(side.config))?;
            for workload in config.workload {
                let quiet = Wanted { injected: None, failures: 0, well: Some(free) };
                let call = Call { verb: "run", args: words([&workload.name]), faults: 0 };
                all.push(self.judge(side, "none", call, free, &quiet)?);
            }
        }
        Ok(all)
    }

    /// Directory of the results of a campaign.
    fn place(&self, side: Side, fault: &str) -> PathBuf {
        let fault = fault.replace(", ", "-").replace(' ', "-");
        eval::out("targets")
            .join(format!("{}-{}-{fault}-jdk-{}", self.target.name, side.name, self.jdk.feature))
    }

    fn stage<'b>(&'b self, config: &'b Path, directory: &'b Path) -> Stage<'b> {
        Stage { tool: self.tool, jdk: self.jdk, config, directory }
    }

    fn judge(&self, side: Side, fault: &str, call: Call, repeat: u64, wanted: &Wanted) -> Result<Judged> {
        let target = &self.target.name;
        let mut args = call.args;
        args.extend(words(["--jobs", &self.args.jobs.to_string()]));
        let (config, place) = (self.target.directory.join(side.config), self.place(side, fault));
        let what = format!("{target}, {} classes, fault: {fault}, {repeat} trials", side.name);
        let ran = step(&what, || self.stage(&config, &place).run(call.verb, args, repeat, "all"))?;
        let of = |fits: &dyn Fn(&Outcome) -> bool| ran.outcomes.iter().filter(|it| fits(it)).count() as u64;
        let injected = of(&|it| campaign::injections(it) == call.faults);
        let failures = of(&campaign::has_failed);
        let well = of(&|it| it.end.is_well());
        let good = wanted.injected.is_none_or(|it| it == injected)
            && wanted.failures == failures
            && wanted.well.is_none_or(|it| it == well);
        let row = vec![
            target.clone(),
            side.name.to_owned(),
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
            for side in [BUGGY, FIXED] {
                let config: Config = truth::read(&target.directory.join(side.config)).unwrap();
                for bug in &truth.bug {
                    assert!(config.workload.iter().any(|it| it.name == bug.workload), "{}", bug.name);
                }
            }
        }
    }
}
