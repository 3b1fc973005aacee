//! `cargo xtask eval cost`: what the lab itself costs a trial.
//!
//! The workload is `java -version`, the least that a JVM can do. Rounds take turns between it alone and under the lab, so
//! that what else the machine does meets both. A round has the same number of both, one after the other, and gives the mean
//! of each: two trials are the fewest that make a campaign, which says how long its trials took without the tool's start.

use std::fs::File;
use std::path::Path;
use std::process::{Command, Stdio};
use std::time::{Duration, Instant};

use serde::Deserialize;

use crate::eval::campaign::{Campaign, Ran};
use crate::failure::{Failure, Result};
use crate::jdk::{Jdk, JdkArgs};
use crate::process::{self, step};
use crate::tool::{Tool, ToolArgs, words};
use crate::{Verdict, eval, javac, jdk, root, table};

const EACH: u64 = 2;
const LIMIT: Duration = Duration::from_secs(120);
const MODES: [(&str, &str); 2] = [("sandbox", "on"), ("plain", "off")];
const HEADINGS: [&str; 7] = ["JDK", "mode", "what", "median ms", "difference ms", "ratio", "rounds"];
/// Below this many rounds no interval can be given.
const ROUNDS_MIN: usize = 6;

/// Cost of the lab per trial: `java -version` alone, and as a trial with sandbox and agent
#[derive(Debug, clap::Args)]
pub struct CostArgs {
    /// Maximum number of rounds
    #[arg(long, value_name = "N", default_value_t = 50)]
    rounds: usize,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

/// Statements of the tool about a campaign.
#[derive(Debug, Deserialize)]
struct Summary {
    well: u64,
    /// Duration of its trials, with their preparation and evaluation.
    seconds: f64,
}

/// One round, in milliseconds.
#[derive(Debug, Clone, Copy)]
struct Round {
    /// `java -version` alone.
    bare: f64,
    /// A trial of it, with all that belongs to it.
    trial: f64,
    /// Of that, from the first start of a process to the end of the last.
    running: f64,
    /// The whole call of the tool, but for its trials.
    start: f64,
}

pub fn run(args: &CostArgs) -> Result<Verdict> {
    if args.rounds < ROUNDS_MIN {
        return Err(Failure::new(format!("--rounds {}: give {ROUNDS_MIN} or more", args.rounds)));
    }
    let jdks = args.jdks.given_or_default()?;
    let tool = args.tool.ready()?;
    // The tool wants a class path. This one is small, so its start is mostly the look at the JDK's own classes.
    let classes = root().join("target/targets/journal/classes");
    javac::compile(&jdk::compiler()?, &javac::sources(&root().join("targets/journal/src"))?, "", &classes)?;
    let before = load();
    let mut rows = Vec::new();
    for jdk in &jdks {
        let measured = step(&format!("java -version, {} rounds, JDK {}", args.rounds, jdk.version), || {
            // One round of each before it counts: files get into memory, the agent is unpacked.
            for mode in MODES {
                round(&tool, jdk, &classes, mode)?;
            }
            let mut rounds = [const { Vec::new() }; MODES.len()];
            for _ in 0..args.rounds {
                for (mode, rounds) in MODES.iter().zip(&mut rounds) {
                    rounds.push(round(&tool, jdk, &classes, *mode)?);
                }
            }
            Ok(rounds)
        })?;
        for ((mode, _), rounds) in MODES.iter().zip(&measured) {
            rows.extend(shown(jdk, mode, rounds));
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    println!("{EXPLAINED}");
    println!("Load of the machine before: {before}, after: {}.", load());
    Ok(Verdict::Pass)
}

/// The mean number of threads that wanted a core in the last minute: times of a busy machine say little.
fn load() -> String {
    let text = process::lossy(Path::new("/proc/loadavg"));
    text.split_whitespace().next().unwrap_or("unknown").to_owned()
}

const EXPLAINED: &str = "
alone       java -version, started and waited for by this program, its output thrown away
trial       the same in a campaign: directory and trial's file made, keeper and sandbox started, agent loaded, output kept,
            all processes ended, outcome read and synced to disk, journal synced; the mean of two trials in a row
  running   of that, from the first start of a process to the end of the last (wall_ms of the outcome)
call        hypocenter started for one trial: its own start, the look at class path and JDK, the map, the trial
Differences and ratios are to `alone` of the same round: their median, with a 95 % interval (order statistics).";

fn round(tool: &Tool, jdk: &Jdk, classes: &Path, (name, sandbox): (&str, &str)) -> Result<Round> {
    let bare = (0..EACH).map(|_| alone(jdk)).sum::<Result<f64>>()? / EACH as f64;
    let directory = eval::out("cost").join(name);
    let mut args = words(["--sandbox", sandbox, "--packages", "journal", "--classpath"]);
    args.push(classes.into());
    let config = directory.with_extension("toml");
    std::fs::create_dir_all(eval::out("cost")).map_err(Failure::file(&directory))?;
    let workload =
        format!("[[workload]]\nname = \"version\"\ncommand = \"'{}' -version\"\n", jdk.java().display());
    std::fs::write(&config, workload).map_err(Failure::file(&config))?;
    let campaign = Campaign {
        jdk,
        verb: "run",
        args,
        config: &config,
        repeat: EACH,
        directory: &directory,
        limit: LIMIT,
    };
    let ran: Ran = campaign.run(tool)?;
    let path = directory.join("summary.json");
    let summary: Summary = serde_json::from_str(&process::lossy(&path))
        .map_err(|error| Failure::new(format!("{}: {error}", path.display())))?;
    if summary.well != EACH {
        return Err(Failure::new(format!(
            "java -version does not end well; see {}",
            ran.directory.display()
        )));
    }
    let running = ran.outcomes.iter().map(|it| it.wall_ms as f64).sum::<f64>() / EACH as f64;
    Ok(Round {
        bare,
        trial: summary.seconds * 1e3 / EACH as f64,
        running,
        start: (ran.took.as_secs_f64() - summary.seconds) * 1e3,
    })
}

/// `java -version` from its start to its end.
fn alone(jdk: &Jdk) -> Result<f64> {
    let null =
        || File::options().write(true).open("/dev/null").map_err(Failure::file(Path::new("/dev/null")));
    let mut command = Command::new(jdk.java());
    command
        .arg("-version")
        .stdin(Stdio::null())
        .stdout(null()?)
        .stderr(null()?)
        .env_remove("JAVA_TOOL_OPTIONS");
    let text = process::text(&command);
    let started = Instant::now();
    let status =
        command.status().map_err(|error| Failure::new(format!("`{text}` cannot be run: {error}")))?;
    let took = started.elapsed().as_secs_f64() * 1e3;
    if status.success() { Ok(took) } else { Err(Failure::new(format!("`{text}` ended with {status}"))) }
}

fn shown(jdk: &Jdk, mode: &str, rounds: &[Round]) -> Vec<Vec<String>> {
    type Kind = (&'static str, fn(&Round) -> f64);
    let kinds: [Kind; 4] = [
        ("alone", |it| it.bare),
        ("trial", |it| it.trial),
        ("  running", |it| it.running),
        ("call", |it| it.start + it.trial),
    ];
    kinds
        .iter()
        .map(|(what, value)| {
            let of = |compare: &dyn Fn(&Round) -> f64| Spread::of(rounds.iter().map(compare).collect());
            let is_alone = *what == "alone";
            let against = |text: String| if is_alone { "-".to_owned() } else { text };
            vec![
                jdk.version.clone(),
                mode.to_owned(),
                (*what).to_owned(),
                format!("{:.1}", of(&|it| value(it)).median),
                against(of(&|it| value(it) - it.bare).text(1)),
                against(of(&|it| value(it) / it.bare).text(2)),
                rounds.len().to_string(),
            ]
        })
        .collect()
}

/// A median with its interval.
#[derive(Debug, PartialEq)]
struct Spread {
    median: f64,
    low: f64,
    high: f64,
}

impl Spread {
    fn of(mut values: Vec<f64>) -> Spread {
        values.sort_by(f64::total_cmp);
        let count = values.len();
        let median = (values[(count - 1) / 2] + values[count / 2]) / 2.0;
        let rank = interval_rank(count);
        Spread { median, low: values[rank - 1], high: values[count - rank] }
    }

    fn text(&self, digits: usize) -> String {
        format!("{:.digits$} ({:.digits$} to {:.digits$})", self.median, self.low, self.high)
    }
}

/// The k for which the k-th smallest and the k-th largest of so many values have the median between them in 95 of 100
/// cases, whatever their distribution; at least 1.
fn interval_rank(count: usize) -> usize {
    // The chance that fewer than k of the values lie below the median is that of fewer than k heads.
    let mut chance = 0.5f64.powi(count as i32);
    let (mut sum, mut rank) = (chance, 1);
    for heads in 1..count {
        chance *= (count + 1 - heads) as f64 / heads as f64;
        sum += chance;
        if 2.0 * sum > 0.05 {
            break;
        }
        rank = heads + 1;
    }
    rank
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn ranks_are_those_of_the_tables() {
        assert_eq!([6, 10, 20, 50].map(interval_rank), [1, 2, 6, 18]);
    }

    #[test]
    fn a_spread_is_a_median_between_order_statistics() {
        let spread = Spread::of((1..=10).rev().map(f64::from).collect());
        assert_eq!(spread, Spread { median: 5.5, low: 2.0, high: 9.0 });
        assert_eq!(spread.text(1), "5.5 (2.0 to 9.0)");
    }
}
