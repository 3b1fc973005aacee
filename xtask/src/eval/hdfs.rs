//! `cargo xtask eval hdfs-341`: the points of HDFS 3.4.1 that `cascade` works with, beside those that CSNAKE has published, and the
//! cost of recording them in HDFS's own tests.

mod cost;
mod counts;
mod plan;

use std::fs;
use std::path::PathBuf;

use crate::eval::scan::Read;
use crate::eval::{out, unit_tests};
use crate::failure::{Failure, Result};
use crate::jdk::JdkArgs;
use crate::process::{fresh_directory, step};
use crate::tool::ToolArgs;
use crate::{Verdict, maven, root};

const NAME: &str = "hdfs-3.4.1";
const PACKAGES: [&str; 1] = ["org.apache.hadoop.hdfs"];
/// Test classes that are run unless others are asked for.
const DEFAULT: [&str; 3] = ["TestIncrementalBlockReports", "TestHeartbeatHandling", "TestBlockRecovery"];

/// The points of HDFS 3.4.1 that `cascade` works with, beside published counts, and what recording them costs its tests
#[derive(Debug, clap::Args)]
pub struct HdfsArgs {
    /// Test classes of eval/hdfs-3.4.1/tests.txt, with or without their package [default: three of them]
    #[arg(value_name = "CLASS", conflicts_with = "all")]
    classes: Vec<String>,
    /// All test classes of eval/hdfs-3.4.1/tests.txt
    #[arg(long)]
    all: bool,
    /// Number of runs of each test without hooks, and of as many with them
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..=1000))]
    repeats: u32,
    /// Depth of the calls whose branches belong to the path of a loop or method; 0 for its own branches alone
    #[arg(long, value_name = "N", default_value_t = 0)]
    path_depth: u32,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &HdfsArgs) -> Result<Verdict> {
    let classes = chosen(args)?;
    let jdks = args.jdks.given_or_default()?;
    let tool = args.tool.ready()?;
    maven::fetch(NAME, "lib", None)?;
    let out = out("hdfs-341");
    fresh_directory(&out)?;
    let mut is_good = true;
    for (at, jdk) in jdks.iter().enumerate() {
        if at == 0 {
            counts::print(&tool, jdk, &config(), &out)?;
        }
        let plan = step("choosing what to record", || {
            let read = Read::of(NAME, "lib", None, &PACKAGES.map(str::to_owned), jdk)?;
            Ok(plan::of(&read.program, args.path_depth))
        })?;
        plan.print();
        let path = out.join("plan.json");
        let text = serde_json::to_string(&plan.plan).expect("a plan is JSON");
        fs::write(&path, text).map_err(Failure::file(&path))?;
        let config = &config();
        let cost = cost::Cost { tool: &tool, jdk, config, plan: &path, out: &out, repeats: args.repeats };
        is_good &= cost.print(&classes)?;
    }
    println!("{}", if is_good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(is_good))
}

fn folder() -> PathBuf {
    root().join("eval").join(NAME)
}

fn config() -> PathBuf {
    folder().join("hypocenter.toml")
}

/// The classes that were asked for, with their packages, in the order of the list.
fn chosen(args: &HdfsArgs) -> Result<Vec<String>> {
    let mut all = unit_tests::listed(&folder().join("tests.txt"))?;
    let is = |class: &str, name: &str| class == name || simple(class) == name;
    let default = DEFAULT.map(str::to_owned);
    let wanted = match &args.classes[..] {
        _ if args.all => return Ok(all),
        [] => &default,
        some => some,
    };
    if let Some(unknown) = wanted.iter().find(|name| !all.iter().any(|class| is(class, name))) {
        return Err(Failure::new(format!("eval/{NAME}/tests.txt has no test class `{unknown}`"))
            .hint("add it to the list if it passes; `hypocenter scan --tests` lists all tests"));
    }
    all.retain(|class| wanted.iter().any(|name| is(class, name)));
    Ok(all)
}

/// The name of a class without its package.
fn simple(class: &str) -> &str {
    class.rsplit('.').next().unwrap_or(class)
}

#[cfg(test)]
mod tests {
    use std::collections::BTreeSet;

    use clap::Parser;

    use super::*;

    #[derive(Parser)]
    struct Line {
        #[command(flatten)]
        args: HdfsArgs,
    }

    fn of(words: &[&str]) -> Result<Vec<String>> {
        chosen(&Line::parse_from(std::iter::once(&"eval").chain(words)).args)
    }

    #[test]
    fn classes_are_asked_for_with_or_without_their_package() {
        let heartbeats = "org.apache.hadoop.hdfs.server.blockmanagement.TestHeartbeatHandling";
        assert_eq!(of(&["TestHeartbeatHandling"]).unwrap(), [heartbeats]);
        assert_eq!(of(&[heartbeats]).unwrap(), [heartbeats]);
        assert_eq!(of(&[]).unwrap().len(), DEFAULT.len());
        let failure = of(&["HeartbeatHandling"]).unwrap_err().to_string();
        assert!(failure.contains("`HeartbeatHandling`"), "{failure}");
    }

    #[test]
    fn the_list_names_each_class_once() {
        let all = of(&["--all"]).unwrap();
        assert!(all.iter().all(|it| PACKAGES.iter().any(|package| it.starts_with(package))), "{all:?}");
        // Results are kept by the name without the package.
        let names: BTreeSet<&str> = all.iter().map(|it| simple(it)).collect();
        assert_eq!((all.len(), names.len()), (30, 30));
    }
}
