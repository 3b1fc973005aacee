//! `cargo xtask eval scan`: what a scan of ZooKeeper counts and which states it finds, beside what was published; that it is
//! the same on one thread and on two; and how many entries of real logs it ties to their statements.

mod counts;
mod states;
mod threads;
mod ties;

use std::path::{Path, PathBuf};

use hypocenter_program::{ClassPath, Classes, Program, Scope, StateOptions};

pub(super) use ties::Ties;

use crate::failure::{Failure, Result};
use crate::jdk::{Jdk, JdkArgs};
use crate::tool::ToolArgs;
use crate::{Verdict, maven};

/// Packages that count as ZooKeeper.
pub(super) const PACKAGES: [&str; 2] = ["org.apache.zookeeper", "org.apache.jute"];

/// The counts and states of a scan of ZooKeeper beside published ones, threads, and log entries tied to their statements
#[derive(Debug, clap::Args)]
pub struct ScanArgs {
    /// A directory with a folder for each case, named as in the table of cases, with `failure.log` and `normal.log` in it;
    /// without it no entries are tied
    #[arg(long, value_name = "DIR")]
    cases: Option<PathBuf>,
    /// Show the entries that are not tied to their statement
    #[arg(long, requires = "cases")]
    misses: bool,
    #[command(flatten)]
    tool: ToolArgs,
    #[command(flatten)]
    jdks: JdkArgs,
}

/// A system that was read.
pub(super) struct Read {
    classes: Classes,
    pub(super) program: Program,
}

impl Read {
    /// Reads the jars of a folder of `eval/`: those that it runs with, or with its tests.
    pub(super) fn of(
        name: &str,
        lib: &str,
        profile: Option<&str>,
        packages: &[String],
        jdk: &Jdk,
    ) -> Result<Read> {
        let directory = maven::fetch(name, lib, profile)?;
        let path = ClassPath::from_paths(maven::jars(&directory)?).with_jdk(&jdk.home);
        let classes = path.open(jdk.feature as u16);
        let scope = Scope::of(packages);
        let program = Program::of(&classes, &scope, &StateOptions::default(), |_| {});
        if program.world.system_classes().is_empty() {
            let wanted = packages.join(", ");
            return Err(Failure::new(format!("{}: no class of {wanted} is there", directory.display())));
        }
        Ok(Read { classes, program })
    }
}

pub fn run(args: &ScanArgs) -> Result<Verdict> {
    let jdks = args.jdks.given_or_default()?;
    let jdk = jdks.first().ok_or_else(|| Failure::new("no JDK was given"))?;
    let packages = PACKAGES.map(str::to_owned);
    let alone = Read::of("zookeeper-3.6.2", "lib", None, &packages, jdk)?;
    let with_tests = Read::of("zookeeper-3.6.2", "test-lib", Some("tests"), &packages, jdk)?;
    let mut is_good = counts::print(&alone.program, &with_tests.program);
    is_good &= states::print(&alone.program);
    drop(with_tests);
    is_good &= threads::print(&args.tool.ready()?, jdk)?;
    if let Some(cases) = &args.cases {
        let old = Read::of("zookeeper-3.5.2-alpha", "lib", None, &packages, jdk)?;
        let logs = |case: &str| ["failure.log", "normal.log"].map(|it| cases.join(case).join(it));
        is_good &= ties::print(&old, "zookeeper-2247", &existing(&logs("zookeeper-2247"))?, args.misses)?;
        is_good &= ties::print(&alone, "zookeeper-4203", &existing(&logs("zookeeper-4203"))?, args.misses)?;
    }
    Ok(Verdict::of(is_good))
}

fn existing(files: &[PathBuf]) -> Result<Vec<&Path>> {
    let found: Vec<&Path> = files.iter().map(PathBuf::as_path).filter(|it| it.is_file()).collect();
    if found.is_empty() {
        let first = files.first().map(|it| it.display().to_string()).unwrap_or_default();
        return Err(Failure::new(format!("{first}: there is no such log"))
            .hint("give --cases the directory that has a folder for each case"));
    }
    Ok(found)
}
