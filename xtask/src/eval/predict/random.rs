//! Random crashes: the same workload and oracle, and one node of each run is killed at a random time.

use std::fs;
use std::path::Path;
use std::time::Duration;

use hypocenter_plan::{End, Outcome, Role};
use toml::Value;

use crate::eval::campaign::{self, Campaign};
use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::process::step;
use crate::root;
use crate::tool::{Tool, words};

pub const HEADINGS: [&str; 7] =
    ["target", "runs", "crashed", "not survived", "by the oracle", "rate", "95 % interval"];
/// For each run: the workloads have limits of their own, which are shorter.
const RUN_LIMIT: Duration = Duration::from_secs(180);
/// Quantile of the normal distribution for an interval of 95 %.
const Z: f64 = 1.96;

/// A system under random crashes.
pub struct Stage<'a> {
    pub tool: &'a Tool,
    pub jdk: &'a Jdk,
    pub config: &'a Path,
    /// Directory of results, emptied first.
    pub place: &'a Path,
}

/// Number of runs of each kind.
#[derive(Debug, Default)]
pub struct Chance {
    runs: u64,
    /// With a crash: the time may lie behind the end of the node.
    crashed: u64,
    /// Those that did not end well.
    failed: u64,
    /// Those that the oracle recognizes.
    recognized: u64,
}

impl Stage<'_> {
    /// Runs so many times, with a crash of one of these nodes.
    pub fn run(&self, runs: u64, jobs: u16, nodes: &[String]) -> Result<Chance> {
        let usual = self.campaign(self.config, 1, 1, "usual")?;
        let limit_ms = usual.first().map_or(0, |it| it.wall_ms).max(1);
        // Beside the other, since its paths are relative to it.
        let config = self.config.with_file_name("random-crash.toml");
        let text = fs::read_to_string(self.config).map_err(Failure::file(self.config))?;
        fs::write(&config, wrapped(&text, nodes, limit_ms)?).map_err(Failure::file(&config))?;
        let what = format!("{runs} random crashes, each in the first {limit_ms} ms");
        let outcomes = step(&what, || self.campaign(&config, runs, jobs, "random"));
        fs::remove_file(&config).map_err(Failure::file(&config))?;
        Ok(Chance::of(&outcomes?))
    }

    fn campaign(&self, config: &Path, repeat: u64, jobs: u16, name: &str) -> Result<Vec<Outcome>> {
        let args = words(["--no-agent", "--jobs", &jobs.to_string()]);
        let directory = &self.place.join(name);
        let limit = RUN_LIMIT * repeat as u32;
        let campaign = Campaign { jdk: self.jdk, verb: "run", args, config, repeat, directory, limit };
        Ok(campaign.run(self.tool)?.outcomes)
    }
}

/// The configuration, in which these nodes may crash.
fn wrapped(text: &str, nodes: &[String], limit_ms: u64) -> Result<String> {
    let mut config: toml::Table = text.parse().map_err(|error| Failure::new(format!("{error}")))?;
    let script = root().join("eval/predict/crash.sh");
    let workloads = config.get_mut("workload").and_then(Value::as_array_mut).into_iter().flatten();
    let all = workloads.filter_map(|it| it.get_mut("node")?.as_array_mut()).flatten();
    for node in all {
        let number = nodes.iter().position(|it| node["name"].as_str() == Some(it));
        if let (Some(number), Some(command)) = (number, node.get_mut("command")) {
            let own = command.as_str().unwrap_or_default();
            let count = nodes.len();
            *command = Value::String(format!(
                "bash '{}' {number} {count} {limit_ms} {{dir}} {own}",
                script.display()
            ));
        }
    }
    Ok(config.to_string())
}

impl Chance {
    fn of(outcomes: &[Outcome]) -> Chance {
        let count = |holds: &dyn Fn(&Outcome) -> bool| outcomes.iter().filter(|it| holds(it)).count() as u64;
        Chance {
            runs: outcomes.len() as u64,
            crashed: count(&has_crashed),
            failed: count(&|it| !it.end.is_well() || campaign::has_failed(it)),
            recognized: count(&campaign::has_failed),
        }
    }

    pub fn row(&self, target: &str) -> Vec<String> {
        let (low, high) = interval(self.failed, self.runs);
        vec![
            target.to_owned(),
            self.runs.to_string(),
            self.crashed.to_string(),
            self.failed.to_string(),
            self.recognized.to_string(),
            percent(self.failed as f64 / self.runs.max(1) as f64),
            format!("{} to {}", percent(low), percent(high)),
        ]
    }
}

fn has_crashed(outcome: &Outcome) -> bool {
    let killed = |end: &End| matches!(end, End::Exited { status: 137 });
    outcome.processes.iter().any(|it| it.role == Role::Node && it.end.as_ref().is_some_and(killed))
}

fn percent(share: f64) -> String {
    format!("{:.1} %", 100.0 * share)
}

/// Wilson's interval of a rate.
fn interval(hits: u64, runs: u64) -> (f64, f64) {
    if runs == 0 {
        return (0.0, 1.0);
    }
    let (n, p) = (runs as f64, hits as f64 / runs as f64);
    let middle = p + Z * Z / (2.0 * n);
    let half = Z * (p * (1.0 - p) / n + Z * Z / (4.0 * n * n)).sqrt();
    let whole = 1.0 + Z * Z / n;
    (((middle - half) / whole).max(0.0), ((middle + half) / whole).min(1.0))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn an_interval_is_that_of_wilson() {
        let check = |hits, runs, low: f64, high: f64| {
            let it = interval(hits, runs);
            assert!((it.0 - low).abs() < 5e-4 && (it.1 - high).abs() < 5e-4, "{hits} of {runs}: {it:?}");
        };
        // By R: prop.test(x, n, correct = FALSE).
        check(0, 100, 0.0, 0.0370);
        check(3, 100, 0.0103, 0.0845);
        check(40, 40, 0.9124, 1.0);
    }

    #[test]
    fn nodes_that_may_crash_have_numbers() {
        let text = "[[workload]]\nname = 'w'\n[[workload.node]]\nname = 'a'\ncommand = 'java A'\n\
                    [[workload.node]]\nname = 'b'\ncommand = 'java B'\n";
        let config: toml::Table = wrapped(text, &["b".to_owned()], 900).unwrap().parse().unwrap();
        let command = |at: usize| config["workload"][0]["node"][at]["command"].as_str().unwrap();
        assert_eq!(command(0), "java A");
        assert!(command(1).ends_with("crash.sh' 0 1 900 {dir} java B"), "{}", command(1));
    }
}
