//! Row 3: CPU seconds of the servers of a ZooKeeper cluster, from their start to the end of a fixed amount of work.
//!
//! A round runs three clusters side by side: bare, with every call hooked, and one of the further variants. Each is
//! compared with the bare one of its round, which had the same machine at the same time.

use std::path::PathBuf;
use std::process::Command;
use std::sync::atomic::{AtomicU64, Ordering};
use std::time::{Duration, Instant};

use crate::process::{Bench, Finished, run, words};
use crate::sample::{Estimate, Pair, estimate, median};
use crate::table::{Goal, Table};
use crate::{byteman, classes, setting};

const GOAL: Goal = Goal::AtMost(1.10);
const VERSION: &str = "zookeeper-3.6.2";
/// Not the script's own ports: somebody may run it beside.
const BASE_PORT: u16 = 27310;
/// A cluster takes nine.
const PORTS: u16 = 10;

enum Variant {
    Bare,
    Hooks { hook: &'static str, record: &'static str },
    Byteman { script: PathBuf },
}

struct Cluster<'a> {
    bench: &'a Bench,
    library: PathBuf,
    classes: PathBuf,
    creates: u32,
    /// The hooks that were placed in the servers, to see that there were any.
    hooks: AtomicU64,
}

pub fn measure(bench: &Bench, table: &mut Table) {
    table
        .section("3", "every call site of ZooKeeper hooked, nothing armed: CPU seconds of the three servers");
    let library = bench.root.join("eval/work").join(VERSION).join("lib");
    if classes::jars(&library).is_empty() {
        return table.note(format!(
            "skipped: run `mvn -q -f eval/{VERSION}/pom.xml dependency:copy-dependencies` first"
        ));
    }
    let client = bench.root.join("eval/zookeeper-common/src/hypocenter/eval/ZkClient.java");
    let class_path = format!("{}/*", library.display());
    let cluster = Cluster {
        classes: classes::compile(bench, "client", &class_path, &[client]),
        creates: setting("BENCH_CREATES", 2000),
        hooks: Default::default(),
        library,
        bench,
    };
    let mut names = vec!["hypocenter run --hook call --record off".to_owned()];
    let mut variants = vec![Variant::Hooks { hook: "call", record: "off" }];
    for (hook, record) in [("all", "off"), ("all", "count"), ("all", "events")] {
        names.push(format!("hypocenter run --hook {hook} --record {record}"));
        variants.push(Variant::Hooks { hook, record });
    }
    let byteman = byteman::jar(&bench.root);
    if byteman.is_some() {
        names.push("Byteman, one rule: the n-th FileChannel.force of FileTxnLog.commit".to_owned());
        variants.push(Variant::Byteman { script: cluster.rule() });
    }
    let (pairs, missing) = cluster.rounds(&variants);
    for (number, (name, pairs)) in names.into_iter().zip(&pairs).enumerate() {
        show(name, pairs, (number == 0).then_some(GOAL), table);
    }
    table.note(format!(
        "{} creates and reads; {} hooks in the servers of the first variant; pairs that were not run for lack of time: {missing}",
        cluster.creates,
        cluster.hooks.load(Ordering::Relaxed)
    ));
    if byteman.is_none() {
        table.note(format!("Byteman skipped: run `{}` first", byteman::FETCH));
    }
    table.note("Byteman cannot hook every call: a rule names one method, and its location one callee.");
}

impl Cluster<'_> {
    /// The pairs of each variant, and how many of the wanted ones of the first there are not.
    fn rounds(&self, variants: &[Variant]) -> (Vec<Vec<Pair>>, usize) {
        let wanted: usize = setting("BENCH_PAIRS", 15);
        let limit = Duration::from_secs(setting("BENCH_SECONDS", 400));
        let started = Instant::now();
        let mut pairs = vec![Vec::new(); variants.len()];
        for round in 0..wanted {
            if started.elapsed() > limit {
                break;
            }
            let further = 1 + round % (variants.len() - 1);
            let side_by_side = [&Variant::Bare, &variants[0], &variants[further]];
            let [bare, hooked, other] = std::thread::scope(|scope| {
                let run = |place: usize| {
                    let port = BASE_PORT + place as u16 * PORTS;
                    scope.spawn(move || self.run(side_by_side[place], port))
                };
                // All are started before any is waited for.
                [0, 1, 2].map(run).map(|it| it.join().expect("a cluster's thread ends"))
            });
            let (bare, hooked, other) = (
                ran(bare, round, "bare"),
                ran(hooked, round, "hooked"),
                ran(other, round, &format!("variant {further}")),
            );
            eprintln!(
                "  round {round}: bare {bare:.2} s, hooked {hooked:.2} s, variant {further} {other:.2} s"
            );
            pairs[0].push((bare, hooked));
            pairs[further].push((bare, other));
        }
        let missing = wanted - pairs[0].len();
        (pairs, missing)
    }

    fn variables(&self, port: u16, more_flags: &str) -> Vec<(&'static str, String)> {
        let java = self.bench.jdks[0].home.join("bin/java");
        vec![
            ("ZK_LIB", self.library.display().to_string()),
            ("ZK_CLASSES", self.classes.display().to_string()),
            ("JAVA", java.display().to_string()),
            ("CREATES", self.creates.to_string()),
            ("BASE_PORT", port.to_string()),
            // One thread that collects garbage: less that comes and goes with the machine's load.
            ("EXTRA_JVM", format!("-XX:+UseSerialGC {more_flags}")),
        ]
    }

    fn script(&self) -> String {
        self.bench.root.join("eval/zookeeper-common/cluster.sh").display().to_string()
    }

    fn plain(&self, port: u16, more_flags: &str) -> Option<f64> {
        let work = Work::new(self.bench);
        let mut command = Command::new("bash");
        command.arg(self.script()).envs(self.variables(port, more_flags)).env("WORK", &work.0);
        seconds(&run(command)?)
    }

    fn run(&self, variant: &Variant, port: u16) -> Option<f64> {
        match variant {
            Variant::Bare => self.plain(port, ""),
            Variant::Byteman { script } => {
                self.plain(port, &byteman::flags(&byteman::jar(&self.bench.root)?, script).join(" "))
            }
            Variant::Hooks { hook, record } => {
                let work = Work::new(self.bench);
                let mut flags =
                    words(["--hook", hook, "--record", record, "--packages", "org.apache.zookeeper"]);
                flags.extend(["--classpath".to_owned(), format!("{}/*", self.library.display())]);
                let mut variables = self.variables(port, "");
                variables.push(("WORK", work.0.display().to_string()));
                let finished = self.bench.hooked(&flags, &variables, &["bash".to_owned(), self.script()])?;
                if *hook == "call" {
                    let evidence = finished.evidence()?;
                    let jvms = evidence.trace().ok()?.jvms();
                    let servers = jvms.iter().filter(|it| it.node.starts_with("zk"));
                    self.hooks.store(servers.map(|it| it.placed).sum(), Ordering::Relaxed);
                }
                seconds(&finished)
            }
        }
    }

    fn rule(&self) -> PathBuf {
        let rule = byteman::rule(
            "org.apache.zookeeper.server.persistence.FileTxnLog",
            "commit",
            Some("java.nio.channels.FileChannel.force"),
            &byteman::at("force", 2_000_000_000),
            "throw new java.io.IOException(\"byteman\")",
        );
        let file = self.bench.fresh("rules").join("force.btm");
        std::fs::write(&file, rule).expect("a rule can be written");
        file
    }
}

/// The servers' data, in memory where that can be had: a disk that others use adds nothing but noise.
struct Work(PathBuf);

impl Work {
    fn new(bench: &Bench) -> Work {
        let name = bench.fresh("cluster");
        let memory = PathBuf::from("/dev/shm").join(format!(
            "hypocenter-bench-{}-{}",
            std::process::id(),
            name.file_name().unwrap_or_default().display()
        ));
        Work(if std::fs::create_dir(&memory).is_ok() { memory } else { name })
    }
}

impl Drop for Work {
    fn drop(&mut self) {
        let _ = std::fs::remove_dir_all(&self.0);
    }
}

/// The seconds of a cluster. Without them there is nothing to compare, and the benchmark ends.
fn ran(seconds: Option<f64>, round: usize, which: &str) -> f64 {
    seconds.unwrap_or_else(|| {
        eprintln!(
            "error: round {round}: the {which} cluster did not run, so there is nothing to compare\n  \
             try: see its output above; `bash eval/zookeeper-common/cluster.sh` starts the same cluster alone"
        );
        std::process::exit(1)
    })
}

/// The sum of the lines `cpu zkN SECONDS`.
fn seconds(finished: &Finished) -> Option<f64> {
    let servers: Vec<f64> = finished.numbers("cpu").filter_map(|it| it.first().copied()).collect();
    (servers.len() == 3).then(|| servers.iter().sum())
}

fn show(name: String, pairs: &[Pair], goal: Option<Goal>, table: &mut Table) {
    let ratio: Option<Estimate> = estimate(pairs.iter().map(|(bare, with)| with / bare));
    let Some(ratio) = ratio else { return table.note(format!("{name}: not run")) };
    table.row([
        name,
        format!("{:.2} s", median(pairs, |it| it.0)),
        format!("{:.2} s", median(pairs, |it| it.1)),
        format!("x {:.3}", ratio.median),
        format!("{:.3} .. {:.3}, {} pairs", ratio.low, ratio.high, ratio.count),
        goal.map_or(String::new(), |goal| format!("<= 1.10 {}", goal.verdict(&ratio))),
    ]);
}
