//! `cargo xtask eval jacoco`: with another agent in the JVM, before and after ours, no hook is lost without a word.

use hypocenter_lab::{LabError, evidence_of};

use crate::eval::zookeeper::{Cluster, ClusterRun, Version, ZooKeeper};
use crate::failure::{Failure, Result};
use crate::jdk::JdkArgs;
use crate::process::step;
use crate::table::{self, thousands};
use crate::tool::ToolArgs;
use crate::{Verdict, eval, maven};

const HEADINGS: [&str; 10] =
    ["JaCoCo", "JDK", "node", "classes", "hooks in them", "placed", "moved", "left out", "sum", "check"];

/// A ZooKeeper cluster with JaCoCo's agent before and after ours: every hook is placed, moved or reported
#[derive(Debug, clap::Args)]
pub struct JacocoArgs {
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &JacocoArgs) -> Result<Verdict> {
    let jdks = args.jdks.all()?;
    let tool = args.tool.ready()?;
    let zookeeper = ZooKeeper::ready(Version::V3_6_2)?;
    let lib = maven::fetch("jacoco", "lib", None)?;
    let jars = maven::jars(&lib)?;
    let jar = jars.first().ok_or_else(|| Failure::new(format!("{}: no jar there", lib.display())))?;
    let agent = format!("-javaagent:{}=output=none", jar.display());
    let behind = format!("-Xverify:all {agent}");
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for jdk in &jdks {
        // The JVM starts agents in the order of their options, those of the variable first.
        for (order, options, flags) in
            [("before", Some(agent.as_str()), "-Xverify:all"), ("after", None, behind.as_str())]
        {
            let directory = eval::out("jacoco").join(format!("jdk-{}-{order}", jdk.version));
            let what = format!("ZooKeeper on JDK {} with JaCoCo {order} Hypocenter", jdk.version);
            let run = ClusterRun {
                jdk,
                verb: "run",
                args: &["--hook", "every", "--record", "count", "--top", "0"],
                jvm_flags: flags,
                java_tool_options: options,
                directory: &directory,
            };
            let cluster = step(&what, || zookeeper.run(&tool, run))?;
            let tallies = tallies(&cluster)?;
            rows.extend(tallies.iter().map(|it| it.row(order, &jdk.version)));
            let lost = tallies.iter().any(|it| !it.adds_up());
            for (bad, why) in [
                (!cluster.is_whole(), "creates are missing or classes are broken"),
                (lost, "hooks were lost without a report"),
                (tallies.len() != JVMS, "a JVM is missing"),
            ] {
                if bad {
                    broken.push(format!("FAIL: {what}: {why}; see {}", directory.display()));
                }
            }
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    broken.iter().for_each(|line| println!("{line}"));
    Ok(Verdict::of(broken.is_empty()))
}

/// Three servers and the client.
const JVMS: usize = 4;

/// Fate of the hooks in one JVM.
struct Tally {
    node: String,
    classes: u64,
    /// As the map has them, for the classes that the JVM loaded.
    hooks: u64,
    placed: u64,
    moved: u64,
    left_out: u64,
}

impl Tally {
    fn sum(&self) -> u64 {
        self.placed + self.moved + self.left_out
    }

    fn adds_up(&self) -> bool {
        self.hooks > 0 && self.sum() == self.hooks
    }

    fn row(&self, order: &str, version: &str) -> Vec<String> {
        let mut row = vec![order.to_owned(), version.to_owned(), self.node.clone()];
        let numbers = [self.classes, self.hooks, self.placed, self.moved, self.left_out, self.sum()];
        row.extend(numbers.map(thousands));
        row.push(if self.adds_up() { "ok" } else { "LOST" }.to_owned());
        row
    }
}

/// Compares what the agent counted with what the map says of the classes that it saw.
fn tallies(cluster: &Cluster) -> Result<Vec<Tally>> {
    let evidence = evidence_of(&cluster.done.directory, &cluster.done.outcome)?;
    let (map, trace) = (evidence.map().map_err(LabError::from)?, evidence.trace().map_err(LabError::from)?);
    let hooks_of = |class: &u32| {
        let methods = map.class_at(*class as usize).into_iter().flat_map(|class| class.methods());
        methods.map(|method| method.hooks().count() as u64).sum::<u64>()
    };
    let tally = |jvm: hypocenter_trace::Jvm| Tally {
        hooks: trace.dictionary(&jvm).patched.iter().map(hooks_of).sum(),
        node: jvm.node,
        classes: jvm.classes,
        placed: jvm.placed,
        moved: jvm.moved,
        left_out: jvm.refused,
    };
    Ok(trace.jvms().into_iter().map(tally).collect())
}
