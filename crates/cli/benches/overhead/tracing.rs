//! Row 4: CPU seconds of the servers of a ZooKeeper cluster under all the tracing that `explore` needs, from their start to the end of
//! its workload.
//!
//! The plan is that of a run without a fault of a real campaign: every call that can fail is an event in the
//! trace, and every task says which state it comes to. A round runs two clusters side by side, one of them without the agent, so both
//! have the same machine at the same time. A sandbox keeps their ports apart.

use std::collections::BTreeMap;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::thread;
use std::time::{Duration, Instant};

use hypocenter_plan::Outcome;

use crate::process::{Bench, run};
use crate::sample::{Pair, estimate, median};
use crate::table::{Goal, Table};
use crate::{classes, setting};

const GOAL: Goal = Goal::AtMost(1.5);
const VERSION: &str = "zookeeper-3.6.2";
/// On the command line of every server.
const SERVER: &str = "QuorumPeerMain";
const SERVERS: usize = 3;
/// Interval at which the clocks of the servers are read: up to this much of each is lost at its end, on both sides.
const TICK: Duration = Duration::from_millis(50);
/// Of a tick of the clocks in `/proc`, on every Linux.
const TICK_SECONDS: f64 = 0.01;

/// The two configurations and the plan.
struct Tracing<'a> {
    bench: &'a Bench,
    traced: PathBuf,
    bare: PathBuf,
    plan: PathBuf,
}

pub fn measure(bench: &Bench, table: &mut Table) {
    table.section(
        "4",
        "all the tracing that explore needs, on its ZooKeeper workload: CPU seconds of the three servers",
    );
    let work = bench.root.join("eval/work");
    let place = work.join(VERSION);
    if classes::jars(&place.join("lib")).is_empty() {
        return table.note(format!("skipped: run `cargo xtask fetch {VERSION}` first"));
    }
    let load = bench.root.join("eval/zookeeper-common/src/hypocenter/eval/ZkLoad.java");
    let class_path = format!("{}/*", place.join("lib").display());
    classes::compile_into(bench, &place.join("explore-classes"), &class_path, &[load]);
    let Some(tracing) = Tracing::new(bench, &work) else {
        return table.note("skipped: explore gives no plan, see stderr");
    };
    let (mut pairs, wanted): (Vec<Pair>, usize) = (Vec::new(), setting("BENCH_PAIRS", 15));
    let limit = Duration::from_secs(setting("BENCH_SECONDS", 400));
    let started = Instant::now();
    for round in 0..wanted {
        if started.elapsed() > limit {
            break;
        }
        let (bare, traced) = thread::scope(|scope| {
            let bare = scope.spawn(|| tracing.run(&tracing.bare, None));
            let traced = tracing.run(&tracing.traced, Some(&tracing.plan));
            (bare.join().expect("a cluster's thread ends"), traced)
        });
        eprintln!(
            "  round {round}: bare {:.2} s, traced {:.2} s",
            bare.unwrap_or(f64::NAN),
            traced.unwrap_or(f64::NAN)
        );
        pairs.extend(bare.zip(traced));
    }
    let Some(ratio) = estimate(pairs.iter().map(|(bare, with)| with / bare)) else {
        return table.note("not run: no pair of clusters came to its end");
    };
    table.row([
        "hypocenter explore, a run without a fault".to_owned(),
        format!("{:.2} s", median(&pairs, |it| it.0)),
        format!("{:.2} s", median(&pairs, |it| it.1)),
        format!("x {:.3}", ratio.median),
        format!("{:.3} .. {:.3}, {} pairs", ratio.low, ratio.high, ratio.count),
        format!("<= 1.5 {}", GOAL.verdict(&ratio)),
    ]);
    table.note(format!("pairs that failed or were not run for lack of time: {}", wanted - pairs.len()));
}

impl Tracing<'_> {
    fn new<'a>(bench: &'a Bench, work: &Path) -> Option<Tracing<'a>> {
        let traced = bench.root.join("eval").join(VERSION).join("explore.toml");
        let out = bench.fresh("explore");
        let mut explore = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
        explore.args(["explore", "--trials", "0", "--normal-runs", "1", "--config"]).arg(&traced);
        explore.arg("--out").arg(&out);
        run(explore)?;
        // Beside the directory of the other, because what it names is relative to it.
        let bare = work.join("explore-bare.toml");
        let text = fs::read_to_string(&traced).ok()?;
        let without = text.lines().filter(|it| !it.starts_with("agent")).map(|it| match it {
            "[[workload.node]]" => format!("{it}\nagent = false\n"),
            _ => format!("{it}\n"),
        });
        fs::write(&bare, without.collect::<String>()).ok()?;
        Some(Tracing { bench, traced, bare, plan: out.join("latest/trials/000/plan.json") })
    }

    /// The CPU seconds of the servers, if the workload ended well.
    fn run(&self, config: &Path, plan: Option<&Path>) -> Option<f64> {
        let out = self.bench.fresh("out");
        let mut tool = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
        tool.args(["run", "--sandbox", "on", "--json", "--config"]).arg(config).arg("--out").arg(&out);
        if let Some(plan) = plan {
            tool.arg("--plan").arg(plan);
        }
        tool.env("JAVA_HOME", &self.bench.jdks[0].home);
        let mut child = tool.stdin(Stdio::null()).stdout(Stdio::null()).stderr(Stdio::null()).spawn().ok()?;
        let seconds = watch(&mut child);
        let outcome = fs::read(out.join("latest/trials/000/outcome.json")).unwrap_or_default();
        let _ = fs::remove_dir_all(&out);
        let is_well = serde_json::from_slice::<Outcome>(&outcome).is_ok_and(|it| it.end.is_well());
        (is_well && seconds.len() == SERVERS).then(|| seconds.values().sum())
    }
}

/// The last that was seen of the CPU seconds of each server below a process, which has ended then.
fn watch(child: &mut Child) -> BTreeMap<u32, f64> {
    let mut seconds = BTreeMap::new();
    while matches!(child.try_wait(), Ok(None)) {
        let all: BTreeMap<u32, (u32, f64)> = processes().collect();
        let is_below = |pid: u32| {
            let parents = std::iter::successors(Some(pid), |it| all.get(it).map(|it| it.0));
            parents.take(all.len()).any(|it| it == child.id())
        };
        for (&pid, &(_, own)) in all.iter().filter(|it| is_below(*it.0)) {
            let command = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            if String::from_utf8_lossy(&command).contains(SERVER) {
                seconds.insert(pid, own);
            }
        }
        thread::sleep(TICK);
    }
    seconds
}

/// Every process: its parent, and its CPU seconds.
fn processes() -> impl Iterator<Item = (u32, (u32, f64))> {
    fs::read_dir("/proc").into_iter().flatten().flatten().filter_map(|it| {
        let pid: u32 = it.file_name().to_str()?.parse().ok()?;
        let stat = fs::read_to_string(it.path().join("stat")).ok()?;
        // Behind the command, which is in parentheses and may hold anything.
        let fields: Vec<&str> = stat.rsplit_once(')')?.1.split_whitespace().collect();
        let ticks: f64 = fields.get(11)?.parse::<f64>().ok()? + fields.get(12)?.parse::<f64>().ok()?;
        Some((pid, (fields.get(1)?.parse().ok()?, ticks * TICK_SECONDS)))
    })
}
