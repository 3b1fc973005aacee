//! `cargo xtask eval targets`: the bugs of the bundled targets show under the faults that `truth.toml` or `predict-truth.toml` names and
//! only under them, and their fixed twins survive the same faults.

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
/// Truths of a target: of one whose twins are of several kinds the second.
const TRUTHS: [&str; 2] = ["truth.toml", "predict-truth.toml"];

/// The bugs of the bundled targets show under their faults and only then, and their fixed twins survive the same faults
#[derive(Debug, clap::Args)]
pub struct TargetsArgs {
    /// Which, by the names of their folders; by default all that have a truth.toml or a predict-truth.toml
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
    all.retain(|it| TRUTHS.iter().any(|file| it.directory.join(file).is_file()));
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

/// The buggy classes or those of a fixed twin.
#[derive(Debug, PartialEq)]
struct Side {
    config: PathBuf,
    /// Their names in the table.
    name: String,
}

/// The truths of a target, each with the buggy classes and then those of its twins.
fn truths(target: &Target) -> Result<Vec<(Truth, Vec<Side>)>> {
    let mut all = Vec::new();
    for file in TRUTHS.iter().filter(|it| target.directory.join(it).is_file()) {
        let mut sides =
            vec![Side { config: target.directory.join("hypocenter.toml"), name: "buggy".to_owned() }];
        if *file == TRUTHS[0] {
            sides.push(Side { config: target.directory.join("fixed.toml"), name: "fixed".to_owned() });
        } else {
            sides.extend(
                target.ways()?.into_iter().map(|it| Side { config: target.config_of(&it), name: it }),
            );
        }
        all.push((truth::read(&target.directory.join(file))?, sides));
    }
    Ok(all)
}

impl Session<'_> {
    fn all(&self) -> Result<Vec<Judged>> {
        let (repeat, free) = (self.args.repeat, self.args.fault_free);
        let shows = Wanted { injected: Some(repeat), failures: repeat, well: None };
        let survives = Wanted { injected: Some(repeat), failures: 0, well: Some(repeat) };
        let mut all = Vec::new();
        for (truth, sides) in truths(self.target)? {
            for bug in &truth.bug {
                if let Some(second) = &bug.second {
                    for (cause, which) in [(&bug.cause, "first"), (second, "second")] {
                        let alone = Call { verb: "inject", args: bug.args_of(cause), faults: 1 };
                        let name = format!("{}, {which} alone", bug.name);
                        all.push(self.judge(&sides[0], &name, alone, repeat, &survives)?);
                    }
                }
                for (number, side) in sides.iter().enumerate() {
                    let call = self.stage(&side.config, &self.place(side, &bug.name)).call(bug)?;
                    let wanted = if number == 0 { &shows } else { &survives };
                    all.push(self.judge(side, &bug.name, call, repeat, wanted)?);
                }
            }
            if free > 0 {
                for side in &sides {
                    all.extend(self.judge_fault_free(side, free)?);
                }
            }
        }
        Ok(all)
    }

    fn judge_fault_free(&self, side: &Side, free: u64) -> Result<Vec<Judged>> {
        let config: Config = truth::read(&side.config)?;
        let quiet = Wanted { injected: None, failures: 0, well: Some(free) };
        let call = |name: &str| Call { verb: "run", args: words([name]), faults: 0 };
        config.workload.iter().map(|it| self.judge(side, "none", call(&it.name), free, &quiet)).collect()
    }

    /// Directory of the results of a campaign.
    fn place(&self, side: &Side, fault: &str) -> PathBuf {
        let fault = fault.replace(", ", "-").replace(' ', "-");
        eval::out("targets")
            .join(format!("{}-{}-{fault}-jdk-{}", self.target.name, side.name, self.jdk.feature))
    }

    fn stage<'b>(&'b self, config: &'b Path, directory: &'b Path) -> Stage<'b> {
        Stage { tool: self.tool, jdk: self.jdk, config, directory }
    }

    fn judge(&self, side: &Side, fault: &str, call: Call, repeat: u64, wanted: &Wanted) -> Result<Judged> {
        let target = &self.target.name;
        let mut args = call.args;
        args.extend(words(["--jobs", &self.args.jobs.to_string()]));
        let (config, place) = (&side.config, self.place(side, fault));
        let what = format!("{target}, {} classes, fault: {fault}, {repeat} trials", side.name);
        let ran = step(&what, || self.stage(config, &place).run(call.verb, args, repeat, "all"))?;
        let of = |fits: &dyn Fn(&Outcome) -> bool| ran.outcomes.iter().filter(|it| fits(it)).count() as u64;
        let injected = of(&|it| campaign::injections(it) == call.faults);
        let failures = of(&campaign::has_failed);
        let well = of(&|it| it.end.is_well());
        let good = wanted.injected.is_none_or(|it| it == injected)
            && wanted.failures == failures
            && wanted.well.is_none_or(|it| it == well);
        let row = vec![
            target.clone(),
            side.name.clone(),
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
    fn every_truth_is_read_and_names_a_workload_of_its_configurations() {
        for target in targets::chosen(&[]).unwrap() {
            for (truth, sides) in truths(&target).unwrap() {
                // The configurations of several twins are made from that of the target.
                for side in sides.iter().filter(|it| !it.name.starts_with("fixed-")) {
                    let config: Config = truth::read(&side.config).unwrap();
                    for bug in &truth.bug {
                        assert!(config.workload.iter().any(|it| it.name == bug.workload), "{}", bug.name);
                    }
                }
            }
        }
    }
}
