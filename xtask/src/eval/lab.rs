//! `cargo xtask eval lab`: a ZooKeeper cluster as the lab runs it from a configuration alone, in three JVMs and in one; its
//! leader is crashed in the second phase of its clients, comes again, and everybody gets through.

use std::path::{Path, PathBuf};
use std::time::Duration;

use hypocenter_plan::{CandidateResult, End, Injection, Outcome, ProcessOutcome, Role};

use crate::eval::campaign::Campaign;
use crate::failure::Result;
use crate::jdk::{Jdk, JdkArgs};
use crate::process::{self, step};
use crate::tool::{Tool, ToolArgs, words};
use crate::{Verdict, eval, javac, jdk, maven, root, table};

const FOLDER: &str = "zookeeper-3.6.2";
const SITE: &str = "FileTxnLog.commit -> FileChannel.force";
/// Of empty servers the one with the highest number leads.
const LEADER: &str = "zk3";
/// The three clients of the first phase make at most 36 transactions, each a force or less; those of the second make at
/// least 50 forces, since each waits for its own. So this one is always in the second phase.
const AT: u64 = 40;
/// For each trial: the workloads have limits of their own, which are shorter.
const TRIAL_LIMIT: Duration = Duration::from_secs(300);
const HEADINGS: [&str; 4] = ["cluster", "fault", "", "checked"];

/// The configurations: what each is called in the table, the node that the leader's JVM is, and all of them.
const CLUSTERS: [Shape; 2] = [
    Shape {
        config: "hypocenter.toml",
        title: "three JVMs",
        process: LEADER,
        processes: &["zk1", "zk2", LEADER],
    },
    Shape { config: "one-jvm.toml", title: "one JVM", process: "jvm", processes: &["jvm"] },
];

struct Shape {
    config: &'static str,
    title: &'static str,
    /// The process that has the leader.
    process: &'static str,
    processes: &'static [&'static str],
}

/// A ZooKeeper cluster described by hypocenter.toml, in three JVMs and in one: fault-free, and with its leader crashed
#[derive(Debug, clap::Args)]
pub struct LabArgs {
    /// Number of trials of each kind
    #[arg(long, value_name = "N", default_value_t = 1)]
    repeat: u64,
    /// Number of parallel trials
    #[arg(long, value_name = "N", default_value_t = 1)]
    jobs: u16,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &LabArgs) -> Result<Verdict> {
    let jdks = args.jdks.all()?;
    let tool = args.tool.ready()?;
    let lib = maven::fetch(FOLDER, "lib", None)?;
    let sources = root().join("eval/zookeeper-common/src/hypocenter/eval");
    let sources = ["ZkWorker.java", "OneJvm.java"].map(|name| sources.join(name));
    let class_path = format!("{}/*", lib.display());
    javac::compile(&jdk::compiler()?, &sources, &class_path, &lib.with_file_name("lab-classes"))?;
    let mut verdict = Verdict::Pass;
    for jdk in &jdks {
        let mut rows = Vec::new();
        let mut broken = Vec::new();
        for shape in &CLUSTERS {
            for crash in [false, true] {
                for (directory, outcome) in trials(args, &tool, jdk, shape, crash)? {
                    let checks = checks(shape, crash, &directory, &outcome);
                    let fault = if crash { "leader crashes" } else { "none" };
                    rows.extend(checks.iter().map(|(good, what)| {
                        let word = if *good { "ok" } else { "NO" };
                        [shape.title, fault, word, what].map(str::to_owned).to_vec()
                    }));
                    if checks.iter().any(|(good, _)| !good) {
                        broken.push(format!(
                            "FAIL: {}, fault: {fault}; see {}",
                            shape.title,
                            directory.display()
                        ));
                    }
                }
            }
        }
        print!("{}", table::text(&HEADINGS, &rows));
        broken.iter().for_each(|line| println!("{line}"));
        println!("{} on JDK {}", if broken.is_empty() { "PASS" } else { "FAIL" }, jdk.version);
        if !broken.is_empty() {
            verdict = Verdict::Fail;
        }
    }
    Ok(verdict)
}

/// Runs the trials of one kind; each with its directory.
fn trials(
    args: &LabArgs,
    tool: &Tool,
    jdk: &Jdk,
    shape: &Shape,
    crash: bool,
) -> Result<Vec<(PathBuf, Outcome)>> {
    let at = AT.to_string();
    let (verb, mut all) = match crash {
        true => ("inject", words([SITE, "--crash", "--at", &at, "--node", LEADER, "--workload", "cluster"])),
        // The hooks are in place and idle: what is shown here is the lab.
        false => ("run", words(["cluster", "--hook", "call", "--record", "off"])),
    };
    all.extend(words(["--jobs", &args.jobs.to_string()]));
    let kind = format!("{}-{verb}", shape.config.trim_end_matches(".toml"));
    let campaign = Campaign {
        jdk,
        verb,
        args: all,
        config: &root().join("eval").join(FOLDER).join(shape.config),
        repeat: args.repeat,
        directory: &eval::out("lab").join(format!("{kind}-jdk-{}", jdk.version)),
        limit: TRIAL_LIMIT * args.repeat as u32,
    };
    let what = match crash {
        true => format!("ZooKeeper in {}, crash of {LEADER} at hit {AT} of {SITE}", shape.title),
        false => format!("ZooKeeper in {}, no fault", shape.title),
    };
    let ran = step(&format!("{what}, JDK {}, {} trials", jdk.version, args.repeat), || campaign.run(tool))?;
    let directory = |number| ran.directory.join(format!("trials/{number:03}"));
    Ok(ran.outcomes.into_iter().enumerate().map(|(number, it)| (directory(number), it)).collect())
}

type Check = (bool, String);

fn checks(shape: &Shape, crash: bool, directory: &Path, outcome: &Outcome) -> Vec<Check> {
    let of = |role| outcome.processes.iter().filter(move |it| it.role == role);
    let nodes: Vec<&ProcessOutcome> = of(Role::Node).collect();
    let clients: Vec<&ProcessOutcome> = of(Role::Client).collect();
    let mut checks = vec![
        ready(&nodes, &clients),
        leads(directory, &nodes, shape),
        phases(&clients),
        alive(shape, &nodes),
        starts(shape, crash, &nodes),
        jvms(shape, crash, outcome),
    ];
    if crash {
        let injections: Vec<&Injection> = outcome
            .candidates
            .iter()
            .filter_map(|it| match &it.result {
                CandidateResult::Injected(injection) => Some(injection),
                _ => None,
            })
            .collect();
        checks.extend(injected(shape, &injections, outcome, &clients));
    }
    let first = outcome.problems.first().map_or(String::new(), |it| format!(": {}: {}", it.place, it.what));
    checks.push((outcome.problems.is_empty(), format!("{} notes{first}", outcome.problems.len())));
    checks.push((outcome.end.is_well(), format!("the trial {} after {} ms", outcome.end, outcome.wall_ms)));
    checks
}

/// Every start of a node got ready, and no client was started before the first ones were.
fn ready(nodes: &[&ProcessOutcome], clients: &[&ProcessOutcome]) -> Check {
    let texts: Vec<String> = nodes
        .iter()
        .map(|it| {
            let again = if it.incarnation > 1 { " again" } else { "" };
            it.ready_ms
                .map_or(format!("{}{again} never", it.name), |ms| format!("{}{again} {ms} ms", it.name))
        })
        .collect();
    let first = nodes.iter().filter(|it| it.incarnation == 1).map(|it| it.ready_ms.unwrap_or(u64::MAX)).max();
    let clients = clients.iter().map(|it| it.started_ms).min();
    let good = nodes.iter().all(|it| it.ready_ms.is_some()) && first <= clients && clients.is_some();
    (good, format!("ready before clients start: {}", texts.join(", ")))
}

fn leads(directory: &Path, nodes: &[&ProcessOutcome], shape: &Shape) -> Check {
    let process = nodes.iter().find(|it| it.name == shape.process && it.incarnation == 1);
    let logs = process.map_or(&[] as &[String], |it| it.logs.as_slice());
    let number = LEADER.trim_start_matches("zk");
    let leads = |line: &str| {
        line.contains(&format!("QuorumPeer[myid={number}]")) && line.contains("leading - broadcast")
    };
    let good = logs.iter().any(|path| process::lossy(&directory.join(path)).lines().any(leads));
    (good, format!("{LEADER} leads, in its own words"))
}

fn phases(clients: &[&ProcessOutcome]) -> Check {
    let phase = |letter: char| clients.iter().filter(move |it| it.name.starts_with(letter));
    let ends = phase('c').map(|it| it.ended_ms.unwrap_or(u64::MAX)).max();
    let starts = phase('d').map(|it| it.started_ms).min();
    let text =
        |it: &&ProcessOutcome| format!("{} {}/{}", it.name, it.progress.unwrap_or(0), it.steps.unwrap_or(0));
    let good = clients.len() == 6 && clients.iter().all(|it| it.is_well()) && ends <= starts;
    (
        good,
        format!("clients well, in two phases: {}", clients.iter().map(text).collect::<Vec<_>>().join(", ")),
    )
}

fn alive(shape: &Shape, nodes: &[&ProcessOutcome]) -> Check {
    let alive = nodes.iter().filter(|it| it.end.is_none() && it.alive == Some(true)).count();
    (
        alive == shape.processes.len(),
        format!("{alive} of {} nodes say they are alive at the end", shape.processes.len()),
    )
}

/// The processes: each node once, the crashed one twice.
fn starts(shape: &Shape, crash: bool, nodes: &[&ProcessOutcome]) -> Check {
    let good = shape.processes.iter().all(|name| {
        let starts: Vec<_> = nodes.iter().filter(|it| it.name == *name).collect();
        let numbers: Vec<u32> = starts.iter().map(|it| it.incarnation).collect();
        match crash && *name == shape.process {
            true => {
                numbers == [1, 2]
                    && starts[0].end == Some(End::Exited { status: 137 })
                    && starts[0].ended_ms < Some(starts[1].started_ms)
            }
            false => numbers == [1] && starts[0].end.is_none(),
        }
    });
    let text = nodes.iter().map(|it| match it.end {
        Some(end) => format!("{} start {} {end}", it.name, it.incarnation),
        None => format!("{} start {} alive at the end", it.name, it.incarnation),
    });
    (good, format!("processes: {}", text.collect::<Vec<_>>().join(", ")))
}

/// The JVMs that took part: the same as the processes.
fn jvms(shape: &Shape, crash: bool, outcome: &Outcome) -> Check {
    let good = shape.processes.iter().all(|name| {
        let numbers: Vec<u32> =
            outcome.jvms.iter().filter(|it| it.node == *name).map(|it| it.incarnation).collect();
        if crash && *name == shape.process { numbers == [1, 2] } else { numbers == [1] }
    });
    let text = outcome.jvms.iter().map(|it| format!("{} start {}", it.node, it.incarnation));
    (good, format!("jvms: {}", text.collect::<Vec<_>>().join(", ")))
}

fn injected(
    shape: &Shape,
    injections: &[&Injection],
    outcome: &Outcome,
    clients: &[&ProcessOutcome],
) -> Vec<Check> {
    let [injection] = injections else {
        return vec![(false, format!("{} faults were injected, not one", injections.len()))];
    };
    let it = injection;
    let jvm = outcome.jvms.get(it.jvm);
    let place = jvm.map_or("no JVM".to_owned(), |jvm| format!("{} start {}", jvm.node, jvm.incarnation));
    let in_first = jvm.is_some_and(|jvm| jvm.node == shape.process && jvm.incarnation == 1);
    let second = clients.iter().filter(|it| it.name.starts_with('d')).map(|it| it.started_ms).min();
    vec![
        (
            it.times == 1
                && it.occurrence == AT
                && it.node == LEADER
                && it.thread == "SyncThread:3"
                && in_first,
            format!(
                "injected once, at hit {}, node {}, thread {}, in {place}",
                it.occurrence, it.node, it.thread
            ),
        ),
        (
            second.is_some_and(|second| it.at_ms > second as f64),
            format!("at {:.0} ms, while the clients of the second phase work", it.at_ms),
        ),
    ]
}
