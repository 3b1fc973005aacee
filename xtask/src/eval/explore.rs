//! `cargo xtask eval explore`: in which trial each policy first exposes the bugs of the bundled targets, by several seeds; and
//! that nothing suspicious is found in their fixed twins. With the name of a real system, one campaign on that.

mod system;
mod zookeeper;

use std::collections::BTreeMap;
use std::fs;
use std::hash::{DefaultHasher, Hash, Hasher};
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hypocenter_plan::{Outcome, glob_matches};
use serde_json::Value;

use crate::eval::campaign::first_on_path;
use crate::failure::{Failure, Result};
use crate::jdk::{self, Jdk};
use crate::process::{self, Job, fresh_directory, step};
use crate::targets::{self, Target};
use crate::tool::{Tool, ToolArgs};
use crate::truth::{self, Bug, Truth};
use crate::{Verdict, eval, table};
use system::System;

const HEADINGS: [&str; 9] = [
    "bug",
    "policy",
    "first exposed in, by seed",
    "exposed",
    "median",
    "worst",
    "minutes",
    "trials an hour",
    "tool's share",
];
/// For a campaign: far beyond what the slowest takes.
const LIMIT: Duration = Duration::from_secs(12 * 3600);
/// Duration of delays in the bundled targets: far longer than any timeout there, and every trial whose start is held up
/// waits for that.
const DELAY: &str = "20s";
/// The exit codes of a campaign that came to its end: nothing suspicious, and findings.
const ENDED: [i32; 2] = [0, 2];

/// Explore the bundled targets by several policies and seeds until their bugs are exposed, and their fixed twins
#[derive(Debug, clap::Args)]
pub struct ExploreArgs {
    /// Targets, by the names of their folders; by default all whose truth.toml has the places of their bugs. With
    /// `zookeeper-3.6.2` alone, published bugs of ZooKeeper: one campaign with exceptions, one with delays. With another folder of
    /// eval that has an explore.toml, one campaign on that system
    #[arg(value_name = "TARGET")]
    names: Vec<String>,
    /// The bug, where a target has several; by default all
    #[arg(long, value_name = "NAME")]
    bug: Option<String>,
    /// The policies; the first is measured, the others are to compare. `bsrr/operation` is bsrr with the finer key
    #[arg(
        long,
        value_name = "NAMES",
        value_delimiter = ',',
        default_value = "bsrr,new-state,random,exhaustive"
    )]
    policies: Vec<String>,
    /// Number of seeds for the first policy
    #[arg(long, value_name = "N", default_value_t = 10)]
    seeds: u64,
    /// The first of those seeds; to run an evaluation in parts, side by side. The seed of a system's one campaign
    #[arg(long, value_name = "N", default_value_t = 1)]
    first_seed: u64,
    /// Number of seeds for the others
    #[arg(long, value_name = "N", default_value_t = 3)]
    other_seeds: u64,
    /// The most trials of a campaign; 200, with ZooKeeper 1000, with other systems 40
    #[arg(long, value_name = "N")]
    trials: Option<u64>,
    /// With ZooKeeper, the most trials of the campaign with delays
    #[arg(long, value_name = "N", default_value_t = 100)]
    delay_trials: u64,
    /// With ZooKeeper, the most trials of one that also injects where everything is in memory, to see what that would do; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 120)]
    in_memory_trials: u64,
    /// With ZooKeeper, the most trials of one with a trial at a time, to see how fast that is; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 20)]
    alone_trials: u64,
    /// Maximum median number of trials of the first policy
    #[arg(long, value_name = "N", default_value_t = 60)]
    at_most: u64,
    /// Trials with the fixed twin for each kind of fault; 0 leaves it out
    #[arg(long, value_name = "N", default_value_t = 200)]
    twin_trials: u64,
    /// Number of parallel trials
    #[arg(long, value_name = "N", default_value_t = 2)]
    jobs: u16,
    /// Take the result of a campaign that an earlier call has run with the same tool and the same words, and run only the others: so a long
    /// evaluation can be run in parts, by --bug, --policies, --first-seed and --seeds
    #[arg(long)]
    resume: bool,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &ExploreArgs) -> Result<Verdict> {
    let (jdk, tool) = (jdk::compiler()?, args.tool.ready()?);
    let runner = Runner { tool: &tool, jdk: &jdk, resume: args.resume };
    if matches!(args.names.as_slice(), [name] if name == zookeeper::NAME) {
        return zookeeper::run(args, &runner);
    }
    if let [name] = args.names.as_slice()
        && let Some(system) = System::named(name)
    {
        return system.run(args, &runner);
    }
    let mut rows = Vec::new();
    let mut lines = Vec::new();
    let mut is_good = true;
    for target in &targets::chosen(&args.names)? {
        let path = target.directory.join("truth.toml");
        if !path.is_file() {
            continue;
        }
        let truth: Truth = truth::read(&path)?;
        let is_meant =
            |it: &&Bug| it.within.is_some() && args.bug.as_ref().is_none_or(|name| *name == it.name);
        let bugs: Vec<&Bug> = truth.bug.iter().filter(is_meant).collect();
        if bugs.is_empty() {
            continue;
        }
        target.compile()?;
        let session = Session { args, runner: &runner, target };
        for bug in &bugs {
            is_good &= session.bug(bug, &mut rows, &mut lines)?;
        }
        is_good &= session.twin(&bugs, &mut rows, &mut lines)?;
    }
    print!("{}", table::text(&HEADINGS, &rows));
    lines.iter().for_each(|it| println!("{it}"));
    println!("{}", if is_good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(is_good))
}

impl ExploreArgs {
    fn trials(&self) -> u64 {
        self.trials.unwrap_or(200)
    }
}

/// Requirements of campaigns.
struct Runner<'a> {
    tool: &'a Tool,
    jdk: &'a Jdk,
    resume: bool,
}

struct Session<'a> {
    args: &'a ExploreArgs,
    runner: &'a Runner<'a>,
    target: &'a Target,
}

/// Purpose of a campaign.
struct Asked<'a> {
    config: &'a str,
    workload: &'a str,
    faults: &'a str,
    policy: &'a str,
    seed: u64,
    trials: u64,
    until: Option<&'a str>,
}

/// The trial in which a seed exposed a bug, or after how many trials it had not.
type Exposed = std::result::Result<u64, u64>;

/// The middle one; of an even number the later of the two. One that does not expose it comes after all that do.
fn median(first: &[Exposed]) -> Option<u64> {
    let mut sorted = first.to_vec();
    sorted.sort_by_key(|it| it.unwrap_or(u64::MAX));
    sorted.get(sorted.len() / 2).and_then(|it| it.ok())
}

/// The part of a campaign's time, with so many trials at once, in which no trial ran.
fn share_of_tool(busy_seconds: f64, jobs: u16, seconds: f64) -> f64 {
    1.0 - busy_seconds / (f64::from(jobs) * seconds)
}

/// A campaign that is over.
struct Ran {
    document: Value,
    /// Of all its runs, by their numbers.
    outcomes: BTreeMap<u64, Outcome>,
    /// Its own.
    directory: PathBuf,
    /// File with what the tool wrote for people.
    log: PathBuf,
}

impl Ran {
    fn seconds(&self) -> f64 {
        self.document["seconds"].as_f64().unwrap_or(f64::NAN)
    }

    fn trials(&self) -> u64 {
        self.document["trials"].as_u64().unwrap_or(0)
    }

    /// The wall times of all its runs together.
    fn busy_seconds(&self) -> f64 {
        self.outcomes.values().map(|it| it.wall_ms as f64 / 1e3).sum()
    }
}

impl Session<'_> {
    /// All policies on one bug; whether the first one is as good as it should be.
    fn bug(&self, bug: &Bug, rows: &mut Vec<Vec<String>>, lines: &mut Vec<String>) -> Result<bool> {
        let Some(within) = bug.within.as_deref() else { return Ok(true) };
        let mut is_good = true;
        for (number, policy) in self.args.policies.iter().enumerate() {
            let seeds = if number == 0 { self.args.seeds } else { self.args.other_seeds };
            let (mut first, mut campaigns) = (Vec::new(), Vec::new());
            for seed in self.args.first_seed..=seeds {
                let asked = Asked {
                    config: "hypocenter.toml",
                    workload: &bug.workload,
                    faults: if bug.is_delay() { "delays" } else { "exceptions" },
                    policy,
                    seed,
                    trials: self.args.trials(),
                    until: Some(within),
                };
                let what = format!("{}, {}, {policy}, seed {seed}", self.target.name, bug.name);
                let place = format!("{}-{}-{}-{seed}", self.target.name, bug.name, policy.replace('/', "-"));
                let ran = step(&what, || self.explore(&asked, &place))?;
                first.push(first_exposure(&ran.document, within).ok_or_else(|| ran.trials()));
                campaigns.push(ran);
            }
            let median = median(&first);
            rows.push(self.row(&bug.name, policy, &first, &campaigns));
            if number == 0 {
                is_good = median.is_some_and(|it| it <= self.args.at_most);
                lines.push(format!(
                    "{}, {policy}: median {}, {} at most",
                    bug.name,
                    median.map_or_else(|| "none".to_owned(), |it| it.to_string()),
                    self.args.at_most
                ));
            }
        }
        Ok(is_good)
    }

    /// The fixed twin, with each kind of fault that one of the bugs needs.
    fn twin(&self, bugs: &[&Bug], rows: &mut Vec<Vec<String>>, lines: &mut Vec<String>) -> Result<bool> {
        let (trials, mut is_good) = (self.args.twin_trials, true);
        for faults in ["exceptions", "delays"] {
            let needed = bugs.iter().find(|it| it.is_delay() == (faults == "delays"));
            let (Some(bug), Some(policy), true) = (needed, self.args.policies.first(), trials > 0) else {
                continue;
            };
            let (config, workload) = ("fixed.toml", bug.workload.as_str());
            let asked = Asked { config, workload, faults, policy, seed: 1, trials, until: None };
            let what = format!("{}, the fixed twin, {faults}", self.target.name);
            let ran = step(&what, || self.explore(&asked, &format!("{}-fixed-{faults}", self.target.name)))?;
            let seen = list(&ran.document, "findings").iter().chain(list(&ran.document, "unconfirmed"));
            let found: Vec<&Value> = seen.collect();
            rows.push(self.row(&format!("fixed twin, {faults}"), policy, &[], std::slice::from_ref(&ran)));
            for it in &found {
                let text = |key: &str| it[key].as_str().unwrap_or("?").to_owned();
                let at = format!("{}.{}:{}", text("class"), text("method"), it["line"]);
                lines.push(format!("fixed twin, {faults}: {} at {at}: {}", text("fault"), text("why")));
            }
            let (trials, found_count) = (ran.trials(), found.len());
            lines.push(format!("fixed twin, {faults}: {found_count} suspicious findings in {trials} trials"));
            is_good &= found.is_empty() && trials == self.args.twin_trials;
        }
        Ok(is_good)
    }

    /// A policy on a bug: in which trial each seed exposed it, or after how many it had not.
    fn row(&self, bug: &str, policy: &str, first: &[Exposed], campaigns: &[Ran]) -> Vec<String> {
        let shown = |it: &Exposed| it.map_or_else(|trials| format!("> {trials}"), |it| it.to_string());
        let seconds: f64 = campaigns.iter().map(Ran::seconds).sum();
        let trials: u64 = campaigns.iter().map(Ran::trials).sum();
        let busy: f64 = campaigns.iter().map(Ran::busy_seconds).sum();
        let worst = first.iter().max_by_key(|it| it.unwrap_or(u64::MAX));
        let or_none = |it: Option<String>| it.unwrap_or_else(|| "-".to_owned());
        vec![
            bug.to_owned(),
            policy.to_owned(),
            or_none((!first.is_empty()).then(|| first.iter().map(shown).collect::<Vec<_>>().join(" "))),
            or_none(
                (!first.is_empty()).then(|| format!("{} of {}", first.iter().flatten().count(), first.len())),
            ),
            or_none(
                (!first.is_empty()).then(|| median(first).map_or("> all".to_owned(), |it| it.to_string())),
            ),
            or_none(worst.map(shown)),
            format!("{:.0}", seconds / 60.0),
            format!("{:.0}", trials as f64 / seconds * 3600.0),
            format!("{:.1} %", share_of_tool(busy, self.args.jobs, seconds) * 100.0),
        ]
    }

    fn explore(&self, asked: &Asked<'_>, place: &str) -> Result<Ran> {
        let (policy, key) = asked.policy.split_once('/').unwrap_or((asked.policy, "state"));
        let numbers = [asked.seed, asked.trials, u64::from(self.args.jobs)].map(|it| it.to_string());
        let [seed, trials, jobs] = numbers.each_ref().map(String::as_str);
        let [policy, key] = [format!("explore.policy={policy}"), format!("explore.key={key}")];
        let until = asked.until.map(|it| format!("explore.until={it}"));
        let mut words = vec![asked.workload, "--faults", asked.faults, "--set", &policy, "--set", &key];
        words.extend([
            "--seed",
            seed,
            "--trials",
            trials,
            "--jobs",
            jobs,
            "--replays",
            "0",
            "--neighbours",
            "0",
            "--delay",
            DELAY,
        ]);
        words.extend(until.iter().flat_map(|it| ["--set", it]));
        self.runner.carry_out(&self.target.directory.join(asked.config), &words, place)
    }
}

impl Runner<'_> {
    /// Runs a campaign in a fresh place, or takes the result of the one that was run there.
    fn carry_out(&self, config: &Path, words: &[&str], place: &str) -> Result<Ran> {
        let directory = eval::out("explore").join(place);
        let mut command = Command::new(&self.tool.binary);
        command.arg("explore").args(words).args(["--json", "--campaign", "campaign"]);
        command.arg("--config").arg(config).arg("--out").arg(&directory).current_dir(&directory);
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &self.jdk.home);
        command.env("PATH", first_on_path(&self.jdk.home.join("bin"))?);
        let (stdout, stderr) = (directory.join("result.json"), directory.join("hypocenter.log"));
        let text = process::text(&command);
        let done = directory.join("done");
        let mark = format!("{text}\n{}\n{}\n", digest(&self.tool.binary)?, digest(config)?);
        if !(self.resume && fs::read_to_string(&done).is_ok_and(|it| it == mark)) {
            fresh_directory(&directory)?;
            let status = Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.run()?;
            if !status.code().is_some_and(|it| ENDED.contains(&it)) {
                return Err(process::failure(&text, &format!("ended with {status}"), &stdout, &stderr));
            }
        }
        let written = fs::read(&stdout).map_err(Failure::file(&stdout))?;
        let document = serde_json::from_slice(&written).map_err(|error| {
            process::failure(&text, &format!("gave no result: {error}"), &stdout, &stderr)
        })?;
        let campaign = directory.join("campaign");
        let ran =
            Ran { document, outcomes: outcomes(&campaign.join("trials"))?, directory: campaign, log: stderr };
        fs::write(&done, mark).map_err(Failure::file(&done))?;
        Ok(ran)
    }
}

/// A number that stands for what a file says.
fn digest(path: &Path) -> Result<String> {
    let mut hasher = DefaultHasher::new();
    fs::read(path).map_err(Failure::file(path))?.hash(&mut hasher);
    Ok(format!("{:016x}", hasher.finish()))
}

fn list<'v>(document: &'v Value, key: &str) -> &'v [Value] {
    document[key].as_array().map_or(&[], Vec::as_slice)
}

/// The first trial that shows something suspicious by a fault below this method.
fn first_exposure(document: &Value, within: &str) -> Option<u64> {
    let is_below =
        |it: &&Value| list(it, "stack").iter().filter_map(Value::as_str).any(|it| glob_matches(within, it));
    // Whether a trial exposes a bug does not depend on its replays, which these campaigns leave out.
    let seen = list(document, "findings").iter().chain(list(document, "unconfirmed"));
    seen.filter(is_below).filter_map(|it| it["first_trial"].as_u64()).min()
}

/// The outcomes of all trials of a campaign, by their numbers.
fn outcomes(trials: &Path) -> Result<BTreeMap<u64, Outcome>> {
    let mut all = BTreeMap::new();
    for entry in fs::read_dir(trials).map_err(Failure::file(trials))?.flatten() {
        let path = entry.path().join("outcome.json");
        let number = entry.file_name().to_str().and_then(|it| it.parse().ok());
        let (Some(number), Ok(bytes)) = (number, fs::read(&path)) else { continue };
        let outcome = serde_json::from_slice(&bytes);
        all.insert(number, outcome.map_err(|error| Failure::new(format!("{}: {error}", path.display())))?);
    }
    Ok(all)
}

#[cfg(test)]
mod tests {
    use serde_json::json;

    use super::*;

    #[test]
    fn a_seed_that_exposes_nothing_counts_as_the_last() {
        assert_eq!(median(&[Ok(3), Err(200), Ok(1)]), Some(3));
        assert_eq!(median(&[Ok(3), Ok(5)]), Some(5));
        assert_eq!(median(&[Ok(3), Err(9)]), None);
        assert_eq!(median(&[]), None);
    }

    #[test]
    fn the_first_exposure_is_that_of_a_finding_below_the_method() {
        let finding = |first: u64, stack: &[&str]| json!({"first_trial": first, "stack": stack});
        let document = json!({"findings": [
            finding(9, &["a.Out.write", "a.Tree.save"]),
            finding(7, &["a.Out.flush", "a.Tree.save", "a.Task.run"]),
            finding(2, &["a.Other.run"]),
        ]});
        assert_eq!(first_exposure(&document, "a.Tree.save"), Some(7));
        assert_eq!(first_exposure(&document, "*.run"), Some(2));
        assert_eq!(first_exposure(&document, "a.Tree.load"), None);
    }
}
