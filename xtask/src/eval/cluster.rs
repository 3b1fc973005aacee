//! `cargo xtask eval cluster`: a ZooKeeper cluster works with every hook in place.

use crate::eval::zookeeper::{Cluster, ClusterRun, Version, ZooKeeper};
use crate::failure::Result;
use crate::jdk::{Jdk, JdkArgs};
use crate::process::step;
use crate::table::{self, thousands};
use crate::tool::ToolArgs;
use crate::{Verdict, eval};

const HEADINGS: [&str; 10] = [
    "JDK",
    "record",
    "leader",
    "creates",
    "verify errors",
    "hooks",
    "hits",
    "events kept",
    "dropped",
    "left out",
];

/// A ZooKeeper cluster with all hooks in its JVMs, idle and recording events
#[derive(Debug, clap::Args)]
pub struct ClusterArgs {
    /// The version of ZooKeeper
    #[arg(long, value_enum, default_value = "3.6.2")]
    version: Version,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &ClusterArgs) -> Result<Verdict> {
    let jdks = args.jdks.all()?;
    let tool = args.tool.ready()?;
    let zookeeper = ZooKeeper::ready(args.version)?;
    let version = args.version.number();
    let out = eval::out(&format!("cluster-{version}"));
    let (mut rows, mut broken) = (Vec::new(), Vec::new());
    for jdk in &jdks {
        for record in ["off", "events"] {
            let directory = out.join(format!("jdk-{}-{record}", jdk.version));
            let what = format!("ZooKeeper {version} on JDK {}, --hook all --record {record}", jdk.version);
            let run = ClusterRun {
                jdk,
                verb: "run",
                args: &["--hook", "all", "--record", record, "--top", "0"],
                jvm_flags: "-Xverify:all",
                java_tool_options: None,
                directory: &directory,
            };
            let cluster = step(&what, || zookeeper.run(&tool, run))?;
            rows.push(row(jdk, record, &cluster));
            if !cluster.is_whole() {
                broken.push(format!("FAIL: {what}; see {}", directory.display()));
            }
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    broken.iter().for_each(|line| println!("{line}"));
    Ok(Verdict::of(broken.is_empty()))
}

fn row(jdk: &Jdk, record: &str, cluster: &Cluster) -> Vec<String> {
    let jvms = &cluster.done.outcome.jvms;
    vec![
        jdk.version.clone(),
        record.to_owned(),
        cluster.leader.clone(),
        cluster.creates.clone(),
        cluster.verify_errors.clone(),
        thousands(cluster.done.hooks()),
        thousands(jvms.iter().map(|it| it.hits).sum()),
        thousands(jvms.iter().map(|it| it.events).sum()),
        thousands(jvms.iter().map(|it| it.dropped).sum()),
        thousands(cluster.done.left_out()),
    ]
}
