//! `cargo xtask eval jit`: the JVM compiles every method with hooks that it compiles without.
//!
//! Verification cannot see code that the JIT compiler refuses. The method would be interpreted from then on, and nothing else shows that.

use std::collections::BTreeSet;
use std::fs;
use std::path::{Path, PathBuf};

use crate::eval::zookeeper::{ClusterRun, Version, ZooKeeper};
use crate::failure::{Failure, Result};
use crate::jdk::{Jdk, JdkArgs};
use crate::process::{lossy, step};
use crate::table::{self, thousands};
use crate::tool::{Tool, ToolArgs};
use crate::{Verdict, eval};

const FLAG: &str = "-XX:+PrintCompilation";
const SKIPPED: &str = "COMPILE SKIPPED: ";
/// Reasons that say nothing of the code, but of what else the JVM did just then. The method is compiled later.
const PASSING: [&str; 2] = ["concurrent class loading", "Jvmti state change invalidated dependencies"];
/// Package of the methods that get hooks.
const PACKAGE: &str = "org.apache.zookeeper.";
const HEADINGS: [&str; 7] = ["JDK", "run", "hooks", "left out", "compilations", "of ZooKeeper", "skipped"];

/// Methods that the JIT compilers give up in a ZooKeeper cluster with every kind of hook, and not without hooks
#[derive(Debug, clap::Args)]
pub struct JitArgs {
    /// The version of ZooKeeper
    #[arg(long, value_enum, default_value = "3.6.2")]
    version: Version,
    /// Kinds of hooks, as `hypocenter run --hook` takes them
    #[arg(long, value_name = "KINDS", default_value = "every")]
    hook: String,
    /// Number of runs without hooks, whose skipped compilations are taken together
    #[arg(long, value_name = "N", default_value_t = 2, value_parser = clap::value_parser!(u32).range(1..=100))]
    bare: u32,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

/// Compilations that the JVMs of a run report.
#[derive(Debug, Default, PartialEq, Eq)]
struct Compilations {
    all: u64,
    of_package: u64,
    /// Those that were given up, by method and reason.
    skipped: BTreeSet<(String, String)>,
}

impl Compilations {
    /// Reads the lines of `-XX:+PrintCompilation` in the output of a JVM, which has others too.
    fn add(&mut self, text: &str) {
        for line in text.lines() {
            let (before, reason) = match line.split_once(SKIPPED) {
                Some((before, reason)) => (before, Some(reason.trim())),
                None => (line, None),
            };
            let method = before.split_whitespace().find(|it| it.contains("::"));
            if let Some(reason) = reason {
                if PASSING.iter().any(|it| reason.starts_with(it)) {
                    continue;
                }
                // A line that another thread has cut still names its reason.
                let method = method.unwrap_or("unknown method").to_owned();
                self.skipped.insert((method, reason.to_owned()));
            } else if let Some(method) = method.filter(|_| before.ends_with(" bytes)")) {
                self.all += 1;
                self.of_package += u64::from(method.starts_with(PACKAGE));
            }
        }
    }

    /// Those of all JVMs of a cluster.
    fn of(logs: &Path) -> Result<Compilations> {
        let mut all = Compilations::default();
        for entry in fs::read_dir(logs).map_err(Failure::file(logs))? {
            let path = entry.map_err(Failure::file(logs))?.path();
            if path.extension().is_some_and(|it| it == "log" || it == "out") {
                all.add(&lossy(&path));
            }
        }
        match all.of_package {
            0 => Err(Failure::new(format!("no log in {} names a compiled method", logs.display()))
                .hint(format!("does this JVM know {FLAG}?"))),
            _ => Ok(all),
        }
    }

    fn row(&self, jdk: &Jdk, run: &str, hooks: u64, left_out: u64) -> Vec<String> {
        let counts = [hooks, left_out, self.all, self.of_package, self.skipped.len() as u64];
        [jdk.version.clone(), run.to_owned()].into_iter().chain(counts.map(thousands)).collect()
    }
}

pub fn run(args: &JitArgs) -> Result<Verdict> {
    let jdks = args.jdks.all()?;
    let tool = args.tool.ready()?;
    let zookeeper = ZooKeeper::ready(args.version)?;
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for jdk in &jdks {
        let out = eval::out(&format!("jit-{}", args.version.number())).join(format!("jdk-{}", jdk.version));
        let mut bare = Compilations::default();
        for run in 1..=args.bare {
            let name = format!("bare {run}");
            let directory = out.join(format!("bare-{run}"));
            let what = format!("ZooKeeper {} on JDK {}, {name}", args.version.number(), jdk.version);
            let logs = step(&what, || zookeeper.run_bare(jdk, FLAG, &directory))?;
            let these = Compilations::of(&logs)?;
            rows.push(these.row(jdk, &name, 0, 0));
            bare.skipped.extend(these.skipped);
        }
        for record in ["count", "events"] {
            let directory = out.join(record);
            let (these, row) = hooked(&zookeeper, &tool, jdk, (&args.hook, record), directory.clone())?;
            rows.push(row);
            let new = these.skipped.difference(&bare.skipped);
            broken.extend(new.map(|(method, reason)| {
                let place = directory.join("cluster");
                format!(
                    "FAIL: JDK {}, --record {record}: {method}: {reason}; see {}",
                    jdk.version,
                    place.display()
                )
            }));
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    broken.iter().for_each(|line| println!("{line}"));
    if broken.is_empty() {
        println!("PASS: no compilation is skipped that is not skipped without hooks");
    }
    Ok(Verdict::of(broken.is_empty()))
}

/// A run with hooks, and its row of the table.
fn hooked(
    zookeeper: &ZooKeeper,
    tool: &Tool,
    jdk: &Jdk,
    (hook, record): (&str, &str),
    directory: PathBuf,
) -> Result<(Compilations, Vec<String>)> {
    let run = ClusterRun {
        jdk,
        verb: "run",
        args: &["--hook", hook, "--record", record, "--top", "0"],
        jvm_flags: FLAG,
        java_tool_options: None,
        directory: &directory,
    };
    let what = format!("the same on JDK {} with --hook {hook} --record {record}", jdk.version);
    let cluster = step(&what, || zookeeper.run(tool, run))?;
    if !cluster.is_whole() {
        let why = format!("the cluster with hooks did not do its work; see {}", directory.display());
        return Err(Failure::new(why));
    }
    let these = Compilations::of(&cluster.logs)?;
    let row = these.row(jdk, &format!("{hook}, {record}"), cluster.done.hooks(), cluster.done.left_out());
    Ok((these, row))
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn skipped_compilations_are_told_from_others() {
        let mut all = Compilations::default();
        all.add(
            "    181   12       3       java.lang.String::hashCode (60 bytes)\n\
             \x20   190   13 %     4       org.apache.zookeeper.A::run @ 12 (300 bytes)\n\
             \x20   191   13 %     4       org.apache.zookeeper.A::run @ -2 (300 bytes)   made not entrant\n\
             \x20   200   14       4       org.apache.zookeeper.A::b (9 bytes)   COMPILE SKIPPED: out of nodes (retry at different tier)\n\
             \x20   201   15       3       java.util.HashMap::put (13 bytes)   COMPILE SKIPPED: concurrent class loading\n\
             2026-01-01 12:00:00,000 [myid:1] - INFO  [main:A@1] - a::b (0:0:0:0)\n",
        );
        let skipped = ("org.apache.zookeeper.A::b", "out of nodes (retry at different tier)");
        let expected = [(skipped.0.to_owned(), skipped.1.to_owned())].into();
        assert_eq!(all, Compilations { all: 2, of_package: 1, skipped: expected });
    }
}
