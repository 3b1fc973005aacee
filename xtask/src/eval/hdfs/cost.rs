//! CPU seconds of tests without hooks and with everything recorded that `cascade` needs, in turns.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::os::unix::fs::MetadataExt;
use std::path::{Path, PathBuf};
use std::time::Duration;

use hypocenter_lab::TrialFiles;
use hypocenter_plan::Outcome;

use super::simple;
use crate::eval::campaign::Campaign;
use crate::failure::{Failure, Result};
use crate::jdk::Jdk;
use crate::process::{lossy, step};
use crate::table::{self, thousands};
use crate::tool::{Tool, words};

/// For all tests of a class; each has the limit of its workload.
const LIMIT: Duration = Duration::from_secs(7200);
const HEADINGS: [&str; 10] = [
    "class",
    "tests",
    "bare s",
    "recorded s",
    "ratio (least .. most)",
    "trace MB",
    "hooks",
    "left out",
    "hits",
    "lost",
];
/// Hooks left out that are named; the outcomes have all.
const LEFT_OUT_SHOWN: usize = 12;
/// Begin of a problem that names a hook.
const LEFT_OUT: &str = "hook left out: ";
/// Unit of the number of blocks of a file.
const BLOCK_BYTES: u64 = 512;

/// An evaluation of the cost.
pub struct Cost<'a> {
    pub tool: &'a Tool,
    pub jdk: &'a Jdk,
    pub config: &'a Path,
    pub plan: &'a Path,
    /// Directory of results.
    pub out: &'a Path,
    pub repeats: u32,
}

#[derive(Debug, Clone, Copy, PartialEq, Eq, PartialOrd, Ord)]
enum Mode {
    Bare,
    Recorded,
}

/// The tests of a class, each run once.
#[derive(Debug, Default, Clone)]
struct Ran {
    tests: u64,
    cpu_s: f64,
    trace_bytes: u64,
    /// Hooks in place, in the JVM that has most.
    hooks: u64,
    /// Sites whose hooks were left out, with the reason.
    left_out: BTreeMap<String, String>,
    hits: u64,
    /// Events that were dropped.
    lost: u64,
    /// Trials that did not end well.
    bad: Vec<String>,
}

/// Rounds of a class: without hooks, and with them.
type Rounds = Vec<(Ran, Ran)>;

impl Cost<'_> {
    /// Runs the classes and prints what they cost; false if a test fails, no hook is in place, or an event is lost.
    pub fn print(&self, classes: &[String]) -> Result<bool> {
        let mut rounds: BTreeMap<&str, Rounds> = BTreeMap::new();
        for round in 0..self.repeats {
            for class in classes {
                let what = format!("{}, round {} of {}", simple(class), round + 1, self.repeats);
                let pair = step(&what, || self.pair(class, round))?;
                rounds.entry(simple(class)).or_default().push(pair);
            }
        }
        let mut rows: Vec<Vec<String>> = rounds.iter().map(|(class, it)| row(class, it)).collect();
        if rounds.len() > 1 {
            rows.push(row("all", &sums(&rounds)));
        }
        println!(
            "JDK {}, CPU seconds of all tests of a class, median of {} rounds",
            self.jdk.version, self.repeats
        );
        print!("{}", table::text(&HEADINGS, &rows));
        println!(
            "trace MB: on disk, mean of a test; hooks: in place in one JVM, the most; left out: different sites; hits: mean of a test"
        );
        print_left_out(&rounds);
        let problems = rounds.iter().flat_map(|(class, rounds)| problems(class, rounds));
        Ok(problems.inspect(|it| println!("{it}")).count() == 0)
    }

    /// Both modes, which take turns at being first.
    fn pair(&self, class: &str, round: u32) -> Result<(Ran, Ran)> {
        if round.is_multiple_of(2) {
            let bare = self.run(class, Mode::Bare)?;
            Ok((bare, self.run(class, Mode::Recorded)?))
        } else {
            let recorded = self.run(class, Mode::Recorded)?;
            Ok((self.run(class, Mode::Bare)?, recorded))
        }
    }

    /// Every test of a class, a JVM each, one after the other.
    fn run(&self, class: &str, mode: Mode) -> Result<Ran> {
        let mut args = words(["--test", &format!("{class}#*"), "--quiet", "--jobs", "1"]);
        let name = match mode {
            Mode::Bare => {
                args.extend(words(["--no-agent"]));
                "bare"
            }
            Mode::Recorded => {
                args.extend(words(["--keep", "traces", "--plan"]));
                args.push(OsString::from(self.plan));
                "recorded"
            }
        };
        let directory = &self.out.join(simple(class)).join(name);
        let campaign = Campaign {
            jdk: self.jdk,
            verb: "run",
            args,
            config: self.config,
            repeat: 1,
            directory,
            limit: LIMIT,
        };
        let ran = campaign.run(self.tool)?;
        let trials = trials(&ran.directory.join("trials"))?;
        let mut sum = Ran::default();
        for trial in &trials {
            sum.add(&TrialFiles::of(trial), mode)?;
        }
        Ok(sum)
    }
}

/// The directories of trials, in order.
fn trials(directory: &Path) -> Result<Vec<PathBuf>> {
    let entries = fs::read_dir(directory).map_err(Failure::file(directory))?;
    let mut trials: Vec<PathBuf> =
        entries.flatten().map(|it| it.path()).filter(|it| TrialFiles::of(it).outcome.is_file()).collect();
    trials.sort();
    Ok(trials)
}

impl Ran {
    fn add(&mut self, files: &TrialFiles, mode: Mode) -> Result<()> {
        let text = fs::read_to_string(&files.outcome).map_err(Failure::file(&files.outcome))?;
        let outcome: Outcome = serde_json::from_str(&text)
            .map_err(|error| Failure::new(format!("{}: {error}", files.outcome.display())))?;
        self.tests += 1;
        let stdout = files.logs.join("main.stdout.log");
        match cpu_seconds(&lossy(&stdout)) {
            Some(seconds) if outcome.end.is_well() => self.cpu_s += seconds,
            _ => self.bad.push(format!("the test {}: see {}", outcome.end, stdout.display())),
        }
        if mode == Mode::Bare {
            return Ok(());
        }
        let placed = outcome.jvms.iter().map(|it| it.hooks.placed + it.hooks.moved).max().unwrap_or(0);
        if placed == 0 {
            self.bad.push(format!("no hook was placed: see {}", files.outcome.display()));
        }
        self.hooks = self.hooks.max(placed);
        let refused: u64 = outcome.jvms.iter().map(|it| it.hooks.refused).sum();
        let named: BTreeMap<String, String> = left_out(&outcome).collect();
        if refused > 0 && named.is_empty() {
            self.bad.push(format!("no hook left out is named: see {}", files.outcome.display()));
        }
        self.left_out.extend(named);
        self.hits += outcome.jvms.iter().map(|it| it.hits).sum::<u64>();
        self.lost += outcome.jvms.iter().map(|it| it.dropped).sum::<u64>();
        let trace = fs::metadata(&files.trace).map_err(Failure::file(&files.trace))?;
        self.trace_bytes += trace.blocks() * BLOCK_BYTES;
        // Traces of many tests would fill the disk.
        fs::remove_file(&files.trace).map_err(Failure::file(&files.trace))
    }

    fn plus(mut self, other: &Ran) -> Ran {
        self.tests += other.tests;
        self.cpu_s += other.cpu_s;
        self.trace_bytes += other.trace_bytes;
        self.hooks = self.hooks.max(other.hooks);
        self.left_out.extend(other.left_out.clone());
        self.hits += other.hits;
        self.lost += other.lost;
        self
    }
}

fn print_left_out(rounds: &BTreeMap<&str, Rounds>) {
    let all: BTreeMap<&String, &String> = rounds.values().flatten().flat_map(|it| &it.1.left_out).collect();
    for (place, why) in all.iter().take(LEFT_OUT_SHOWN) {
        println!("  left out: {place}: {why}");
    }
    if all.len() > LEFT_OUT_SHOWN {
        println!("  {} more in the outcomes", thousands((all.len() - LEFT_OUT_SHOWN) as u64));
    }
}

/// Hooks that were left out, each with the reason.
fn left_out(outcome: &Outcome) -> impl Iterator<Item = (String, String)> {
    outcome
        .problems
        .iter()
        .filter_map(|it| Some((it.place.clone(), it.what.strip_prefix(LEFT_OUT)?.to_owned())))
}

/// The rounds of all classes as if they were one.
fn sums(rounds: &BTreeMap<&str, Rounds>) -> Rounds {
    let mut sums: Rounds = Vec::new();
    for of_class in rounds.values() {
        for (at, (bare, recorded)) in of_class.iter().enumerate() {
            match sums.get_mut(at) {
                Some(sum) => *sum = (sum.0.clone().plus(bare), sum.1.clone().plus(recorded)),
                None => sums.push((bare.clone(), recorded.clone())),
            }
        }
    }
    sums
}

fn row(class: &str, rounds: &Rounds) -> Vec<String> {
    let ratios = sorted(rounds.iter().map(|(bare, recorded)| recorded.cpu_s / bare.cpu_s));
    let seconds = |of: fn(&(Ran, Ran)) -> f64| format!("{:.2}", median(&sorted(rounds.iter().map(of))));
    let all = rounds.iter().fold(Ran::default(), |sum, it| sum.plus(&it.1));
    let megabytes = all.trace_bytes as f64 / 1e6 / all.tests.max(1) as f64;
    vec![
        class.to_owned(),
        thousands(rounds.first().map_or(0, |it| it.1.tests)),
        seconds(|it| it.0.cpu_s),
        seconds(|it| it.1.cpu_s),
        format!("{:.2} ({:.2} .. {:.2})", median(&ratios), ratios[0], ratios[ratios.len() - 1]),
        format!("{megabytes:.1}"),
        thousands(all.hooks),
        thousands(all.left_out.len() as u64),
        thousands(all.hits / all.tests.max(1)),
        thousands(all.lost),
    ]
}

fn problems(class: &str, rounds: &Rounds) -> Vec<String> {
    let runs = || rounds.iter().flat_map(|(bare, recorded)| [bare, recorded]);
    let mut problems: Vec<String> =
        runs().flat_map(|it| &it.bad).map(|it| format!("{class}: {it}")).collect();
    let lost: u64 = runs().map(|it| it.lost).sum();
    if lost > 0 {
        problems.push(format!("{class}: {} events were lost", thousands(lost)));
    }
    if runs().any(|it| it.tests == 0) {
        problems.push(format!("{class}: no test was run"));
    }
    problems
}

/// In order. There is at least one.
fn sorted(values: impl Iterator<Item = f64>) -> Vec<f64> {
    let mut values: Vec<f64> = values.collect();
    values.sort_by(f64::total_cmp);
    values
}

fn median(sorted: &[f64]) -> f64 {
    (sorted[(sorted.len() - 1) / 2] + sorted[sorted.len() / 2]) / 2.0
}

/// The time in user mode and in the kernel that `test.sh` prints last: `0m2.650000s 0m0.570000s`.
fn cpu_seconds(stdout: &str) -> Option<f64> {
    let seconds = |text: &str| {
        let (minutes, seconds) = text.strip_suffix('s')?.split_once('m')?;
        Some(60.0 * minutes.parse::<f64>().ok()? + seconds.parse::<f64>().ok()?)
    };
    let (user, kernel) = stdout.trim_end().lines().next_back()?.split_once(' ')?;
    Some(seconds(user)? + seconds(kernel)?)
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn the_last_line_has_the_seconds_of_both_modes() {
        let check =
            |stdout: &str, expected: Option<f64>| assert_eq!(cpu_seconds(stdout), expected, "{stdout}");
        check("ok\n0m0.00s 0m0.00s\n1m2.500s 0m0.250s\n", Some(62.75));
        check("[ 3 tests found ]\n", None);
        check("0m1.5s\n", None);
        check("", None);
    }

    #[test]
    fn a_ratio_is_that_of_runs_in_the_same_round() {
        let left_out = BTreeMap::from([("a.B.c:1 loop_exit".to_owned(), "why".to_owned())]);
        let ran = |cpu_s: f64| Ran {
            tests: 2,
            cpu_s,
            trace_bytes: 1_500_000,
            hooks: 7,
            hits: 8,
            left_out: left_out.clone(),
            ..Ran::default()
        };
        let rounds = vec![(ran(1.0), ran(2.0)), (ran(10.0), ran(11.0)), (ran(2.0), ran(3.0))];
        let cells = row("T", &rounds);
        let expected = ["T", "2", "2.00", "3.00", "1.50 (1.10 .. 2.00)", "0.8", "7", "1", "4", "0"];
        assert_eq!(cells, expected);
        let two = BTreeMap::from([("A", rounds.clone()), ("B", rounds)]);
        let all = row("all", &sums(&two));
        assert_eq!((&*all[1], &*all[2], &*all[4]), ("4", "4.00", "1.50 (1.10 .. 2.00)"));
    }

    #[test]
    fn lost_events_and_failed_tests_are_problems() {
        let good = Ran { tests: 1, cpu_s: 1.0, ..Ran::default() };
        assert!(problems("T", &vec![(good.clone(), good.clone())]).is_empty());
        let lossy = Ran { lost: 3, ..good.clone() };
        assert_eq!(problems("T", &vec![(good.clone(), lossy)]), ["T: 3 events were lost"]);
        let bad = Ran { bad: vec!["x".to_owned()], ..good.clone() };
        assert_eq!(problems("T", &vec![(bad, good.clone())]), ["T: x"]);
        assert_eq!(problems("T", &vec![(Ran::default(), good)]), ["T: no test was run"]);
    }
}
