//! `cargo xtask eval --all`: every evaluation, with what it printed in `eval/RESULTS.md`. Nobody writes figures into it by hand.
//!
//! All of them take hours, so some can be asked for by name: those of the others stay as they were printed, each with the commit
//! that it was printed on.

use std::fmt::Write as _;
use std::fs;
use std::path::PathBuf;
use std::process::{Command, Stdio};
use std::time::Instant;

use crate::failure::{Failure, Result};
use crate::{Verdict, root};

const HEAD: &str = "# Results\n\n\
                    Written by `cargo xtask eval --all`: what each evaluation printed, and on which commit. Times are those of the\n\
                    machine that it ran on, and of whatever else that machine did.\n";
/// Prefix of a section in the file, before its name.
const MARK: &str = "\n## ";

/// An evaluation, by the name of its section, with its arguments.
const ALL: [(&str, &[&str]); 32] = [
    ("reproduce: published failures", &["cases"]),
    ("cascade: cycles of the bundled targets", &["cascade"]),
    ("reproduce: strategies", &["play", "wal"]),
    ("reproduce: an exception at one moment of many", &["bugs", "wal", "--seeds", "10"]),
    ("reproduce: an exception in a cluster", &["bugs", "quorum", "--bug", "acceptor-ends"]),
    ("reproduce: a delay", &["bugs", "lease", "--at-most", "40"]),
    (
        "reproduce: a delay, from a log with a late line",
        &["bugs", "lease", "--late-line", "--seeds", "2", "--each-at-most", "40", "--twin-budget", "0"],
    ),
    ("reproduce: two faults", &["bugs", "ledger", "--at-most", "120"]),
    (
        "reproduce: a near miss",
        &["bugs", "relay", "--without", "near-miss", "--seeds", "10", "--each-at-most", "6"],
    ),
    ("reproduce: a workload that fails by itself", &["bugs", "wal", "--flaky", "--seeds", "2"]),
    ("explore: policies", &["explore", "quorum", "--resume"]),
    ("explore: ZooKeeper", &["explore", "zookeeper-3.6.2", "--resume"]),
    ("explore: Ratis", &["explore", "ratis-3.1.3"]),
    ("explore: Kafka", &["explore", "kafka-3.9.1"]),
    ("cascade: HDFS", &["hdfs-341"]),
    ("predict: bundled targets", &["predict", "--random", "100"]),
    ("predict: ZooKeeper", &["predict", "zookeeper-3.8.0", "zookeeper-3.4.5", "--random", "40"]),
    ("logs", &["logs"]),
    ("emission", &["emission"]),
    ("scan", &["scan"]),
    ("targets", &["targets"]),
    ("lab", &["lab"]),
    ("cost", &["cost"]),
    ("newcomer: the guide, on a project of one's own", &["newcomer"]),
    ("demo, and what it leaves for other tools", &["demo"]),
    ("cluster", &["cluster"]),
    ("force", &["force"]),
    ("jacoco", &["jacoco"]),
    ("jit", &["jit"]),
    ("surefire", &["surefire"]),
    ("unit-tests", &["unit-tests"]),
    ("corpus", &["corpus"]),
];

#[derive(Debug, clap::Args)]
pub struct AllArgs {
    /// Run everything, and write what was printed into eval/RESULTS.md
    #[arg(long)]
    all: bool,
    /// Only those sections whose names contain this; may be given several times
    #[arg(long, value_name = "TEXT", requires = "all")]
    only: Vec<String>,
    /// A directory with CASE/failure.log for each published failure
    #[arg(long, value_name = "DIR", requires = "all")]
    cases: Option<PathBuf>,
    /// A directory with production logs; without it they are left out
    #[arg(long, value_name = "DIR", requires = "all")]
    logs: Option<PathBuf>,
    /// Systems of the logs
    #[arg(long, value_name = "LOG=SYSTEM", requires = "logs")]
    system: Vec<String>,
    /// A ready binary of hypocenter instead of building it
    #[arg(long, value_name = "FILE", requires = "all")]
    tool: Option<PathBuf>,
}

pub fn run(args: &AllArgs) -> Result<Verdict> {
    let file = root().join("eval/RESULTS.md");
    let own = std::env::current_exe()
        .map_err(|error| Failure::new(format!("this program has no path: {error}")))?;
    let mut is_good = true;
    let wanted = |name: &str| args.only.is_empty() || args.only.iter().any(|it| name.contains(it.as_str()));
    if !ALL.iter().any(|it| wanted(it.0)) {
        let names = ALL.map(|it| it.0).join(", ");
        return Err(Failure::new("--only: no section has that in its name".to_owned())
            .hint(format!("there are {names}")));
    }
    for (name, words) in ALL.iter().filter(|it| wanted(it.0)) {
        let Some(words) = args.words_of(words) else {
            eprintln!("... {name}: left out, it needs --logs DIR");
            continue;
        };
        let text = format!("cargo xtask eval {}", words.join(" "));
        eprintln!("... {name}: {text}");
        let mut command = Command::new(&own);
        command.arg("eval").args(&words).args(args.tool.iter().flat_map(|it| ["--tool".into(), it.clone()]));
        // Now: what runs is what was built from this.
        let (commit, started) = (commit(), Instant::now());
        let output = command
            .stdin(Stdio::null())
            .stderr(Stdio::inherit())
            .output()
            .map_err(|error| Failure::new(format!("`{text}` cannot be run: {error}")))?;
        is_good &= output.status.success();
        let printed = String::from_utf8_lossy(&output.stdout).replace(&format!("{}/", root().display()), "");
        let binary = if args.tool.is_some() { " but for a binary that was ready" } else { "" };
        let mut section = format!("`{text}`, commit {commit}{binary}, ");
        let minutes = started.elapsed().as_secs_f64() / 60.0;
        let _ = writeln!(section, "{minutes:.1} minutes, {}", output.status);
        let _ = write!(section, "\n```text\n{}\n```\n", printed.trim_end());
        // Read when it is written: others may run other evaluations meanwhile.
        let mut known = if file.is_file() {
            sections(&fs::read_to_string(&file).map_err(Failure::file(&file))?)
        } else {
            Vec::new()
        };
        known.retain(|it| it.0 != *name);
        known.push(((*name).to_owned(), section));
        // After each, so that what was printed is not lost with what comes after it.
        fs::write(&file, document(&known)).map_err(Failure::file(&file))?;
    }
    println!("{}", file.display());
    Ok(Verdict::of(is_good))
}

impl AllArgs {
    /// The arguments of an evaluation with the directories that it takes; nothing if it cannot do without one.
    fn words_of(&self, words: &[&str]) -> Option<Vec<String>> {
        let mut all: Vec<String> = words.iter().map(|it| (*it).to_owned()).collect();
        let text = |it: &PathBuf| it.display().to_string();
        match words[0] {
            "cases" => all.extend(self.cases.iter().flat_map(|it| ["--logs".to_owned(), text(it)])),
            "scan" => all.extend(self.cases.iter().flat_map(|it| ["--cases".to_owned(), text(it)])),
            "logs" => {
                all.extend(["--logs".to_owned(), text(self.logs.as_ref()?)]);
                all.extend(self.system.iter().flat_map(|it| ["--system".to_owned(), it.clone()]));
            }
            _ => {}
        }
        Some(all)
    }
}

/// The commit of the sources, with a mark where they differ from it.
fn commit() -> String {
    let git = |args: &[&str]| {
        let output = Command::new("git").args(args).current_dir(root()).output().ok()?;
        output.status.success().then(|| String::from_utf8_lossy(&output.stdout).trim().to_owned())
    };
    let changed = git(&["status", "--porcelain", "--untracked-files=no", "--", ".", ":!eval/RESULTS.md"]);
    let mark = if changed.is_some_and(|it| !it.is_empty()) { " with changes" } else { "" };
    git(&["rev-parse", "--short", "HEAD"]).map_or("unknown".to_owned(), |it| it + mark)
}

/// Content of the file, by the names of its sections.
fn sections(text: &str) -> Vec<(String, String)> {
    let parts = text.split(MARK).skip(1);
    let named = parts.filter_map(|it| it.split_once('\n'));
    named.map(|(name, body)| (name.to_owned(), body.trim_start_matches('\n').to_owned())).collect()
}

/// The file: sections in the order of [`ALL`], those that it no longer has left out.
fn document(known: &[(String, String)]) -> String {
    let mut text = HEAD.to_owned();
    for (name, _) in &ALL {
        if let Some((_, body)) = known.iter().find(|it| it.0 == *name) {
            let _ = write!(text, "{MARK}{name}\n\n{}\n", body.trim_end());
        }
    }
    text
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn a_section_that_is_not_printed_again_stays_as_it_was() {
        let body = |it: &str| format!("`cargo xtask eval x`, commit a, 1 minute\n\n```text\n{it}\n```");
        let known = vec![(ALL[2].0.to_owned(), body("two")), (ALL[0].0.to_owned(), body("# zero"))];
        let text = document(&known);
        let again = sections(&text);
        assert_eq!(again.iter().map(|it| it.0.as_str()).collect::<Vec<_>>(), [ALL[0].0, ALL[2].0]);
        assert_eq!(document(&again), text);
        assert!(text.starts_with(HEAD) && text.contains("# zero"), "{text}");
        let changed =
            vec![(ALL[0].0.to_owned(), body("one")), again[1].clone(), ("gone".to_owned(), body("x"))];
        let text = document(&changed);
        assert!(
            text.contains("one") && text.contains("two") && !text.contains("zero") && !text.contains("gone")
        );
    }

    #[test]
    fn the_directories_go_where_they_are_taken() {
        let args = AllArgs {
            all: true,
            only: Vec::new(),
            cases: Some("c".into()),
            logs: None,
            system: Vec::new(),
            tool: None,
        };
        assert_eq!(args.words_of(&["cases"]).unwrap(), ["cases", "--logs", "c"]);
        assert_eq!(args.words_of(&["scan"]).unwrap(), ["scan", "--cases", "c"]);
        assert_eq!(args.words_of(&["play", "wal"]).unwrap(), ["play", "wal"]);
        assert!(args.words_of(&["logs"]).is_none());
    }
}
