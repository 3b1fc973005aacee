//! Rows 1 and 2: nanoseconds a hook, idle and armed.
//!
//! One JVM has the loop twice, and only one of them is hooked: the two are timed in turns, in slices of CPU time, so
//! both sides are from the same instant of a noisy machine.

use std::path::{Path, PathBuf};
use std::process::Command;

use hypocenter_plan::{Candidate, EventTime, Fault, Guard, Plan, Repeat, SiteKind, Watch, WatchLevel};
use hypocenter_program::{ClassPath, SitePattern, find_sites};
use hypocenter_trace::CandidateEnd;

use crate::java::Java;
use crate::process::{Bench, Finished, run, words};
use crate::sample::{Estimate, Pair, estimate, least, median};
use crate::table::{Goal, Table};
use crate::{byteman, classes, setting};

const IDLE_GOAL: Goal = Goal::AtMost(0.5);
const COUNT_GOAL: Goal = Goal::AtMost(8.0);
const ARMED_GOAL: Goal = Goal::AtMost(12.0);
const THREADS: u64 = 8;
const THREAD_PAIRS: u64 = 6;
const THREAD_HITS: u64 = 300_000;
/// In the middle of what is measured: the first pair warms up.
const FAULT_AT: u64 = THREADS * THREAD_HITS * 7 / 2;
const THREAD_HITS_ALL: u64 = THREADS * THREAD_HITS * (THREAD_PAIRS + 1);
/// An occurrence that never comes, and that Byteman's counters of 32 bits can still name.
const NEVER: u64 = 2_000_000_000;

/// Conditions of the hooked loop.
enum Under<'a> {
    Nothing,
    Tool(Vec<String>),
    Byteman(&'a Path, PathBuf),
}

struct Micro<'a> {
    bench: &'a Bench,
    classes: PathBuf,
    /// Everything armed at the one site of the threads.
    armed_shared: PathBuf,
    byteman: Option<PathBuf>,
}

pub fn measure(bench: &Bench, idle: bool, armed: bool, table: &mut Table) {
    let classes = classes::loops(bench);
    let micro = Micro {
        armed_shared: plan(
            bench,
            &classes,
            Some(("hooked.Loop.one -> Loop.a", FAULT_AT)),
            Some(WatchLevel::Event),
            false,
        ),
        byteman: byteman::jar(&bench.root),
        bench,
        classes,
    };
    let forks: usize = setting("BENCH_FORKS", 5);
    if idle {
        micro.idle(forks, table);
    }
    if armed {
        micro.armed(forks, table);
    }
}

/// A plan with a fault at the sites that fit, written to a file. `native`: as all hooks were served before they ran in Java, with exact
/// times.
fn plan(
    bench: &Bench,
    classes: &Path,
    fault: Option<(&str, u64)>,
    watch: Option<WatchLevel>,
    native: bool,
) -> PathBuf {
    let opened = ClassPath::parse(&classes.display().to_string(), Path::new("/")).open(bench.jdks[0].feature);
    let mut plan = Plan::default();
    if let Some((sites, at)) = fault {
        let pattern: SitePattern = sites.parse().expect("the pattern is ours");
        let found = find_sites(&opened, &pattern).sites;
        assert!(!found.is_empty(), "no site fits {sites}");
        plan.candidates.extend(found.into_iter().map(|site| Candidate {
            site,
            fault: Fault::Exception { class: "java.lang.IllegalStateException".into(), message: None },
            when: Guard { occurrence: Some(at), ..Guard::default() },
            repeat: Repeat::Once,
        }));
    }
    plan.record.native = native;
    plan.record.time = if native { EventTime::Exact } else { EventTime::Coarse };
    plan.record.watch.extend(watch.map(|level| Watch {
        kinds: vec![SiteKind::Call],
        classes: vec!["hooked.Loop".into()],
        methods: Vec::new(),
        level,
    }));
    let file = bench.fresh("plan").join("plan.json");
    std::fs::write(&file, serde_json::to_string(&plan).expect("a plan is JSON"))
        .expect("a plan can be written");
    file
}

fn record(level: &str) -> Under<'static> {
    Under::Tool(words(["--hook", "call", "--record", level]))
}

fn planned(file: &Path) -> Under<'static> {
    Under::Tool(vec!["--plan".to_owned(), file.display().to_string()])
}

impl Micro<'_> {
    fn run(&self, java: &Java, under: &Under<'_>, jvm: &[&str], args: &[&str]) -> Option<Finished> {
        let program = java.home.join("bin/java").display().to_string();
        // Compiled in the foreground, so that what is timed is compiled however busy the machine is.
        let mut flags = words(["-Xbatch", "-XX:+UseSerialGC"]);
        flags.extend(jvm.iter().map(ToString::to_string));
        if let Under::Byteman(jar, script) = under {
            flags.extend(byteman::flags(jar, script));
        }
        flags.extend(["-cp".to_owned(), self.classes.display().to_string(), "Micro".to_owned()]);
        flags.extend(args.iter().map(ToString::to_string));
        match under {
            Under::Tool(tool) => {
                let mut tool = tool.clone();
                tool.extend(words(["--packages", "hooked"]));
                flags.insert(0, program);
                self.bench.hooked(&tool, &[], &flags)
            }
            Under::Nothing | Under::Byteman(..) => {
                let mut command = Command::new(program);
                command.args(flags);
                run(command)
            }
        }
    }

    fn idle(&self, forks: usize, table: &mut Table) {
        table.section("1", "hook not armed, ns of CPU a call (goal: the compiled hook, over the bare call)");
        for java in &self.bench.jdks {
            self.alone(java, "no agent, to see the noise", &Under::Nothing, &[], 1, None, table);
            self.alone(java, "idle", &record("off"), &[], forks, Some(IDLE_GOAL), table);
            self.alone(java, "idle, C1 only", &record("off"), &["-XX:TieredStopAtLevel=1"], 1, None, table);
            self.alone(java, "idle, interpreted", &record("off"), &["-Xint"], 1, None, table);
            if let Some(under) = self.byteman_rules(|_| "FALSE".to_owned(), "NOTHING") {
                self.alone(java, "Byteman, IF FALSE", &under, &[], 1, None, table);
            }
        }
        self.note_byteman(table);
    }

    fn armed(&self, forks: usize, table: &mut Table) {
        table.section("2", "armed, ns of CPU a hit (goal: count, decision and event together, one thread)");
        let throws = "throw new IllegalStateException(\"byteman\")";
        for java in &self.bench.jdks {
            let never = Some(("hooked.Loop.four -> Loop.*", NEVER));
            let rows = [
                ("count", None, Some(WatchLevel::Count), Some(COUNT_GOAL)),
                ("count and decide", never, None, None),
                ("count and event", None, Some(WatchLevel::Event), None),
                ("count, decide and event", never, Some(WatchLevel::Event), Some(ARMED_GOAL)),
            ];
            for (what, fault, watch, goal) in rows {
                self.both_paths(java, what, fault, watch, forks, goal, table);
            }
            self.lossless(java, table);
            let rules = self.byteman_rules(|site| byteman::at(site, NEVER), throws);
            if let Some(under) = &rules {
                self.alone(java, "Byteman, count and decide", under, &[], 1, None, table);
            }
            self.threads(java, "8 threads, one site, all of it", &planned(&self.armed_shared), table);
            if let Some(under) = self.byteman_shared(throws) {
                self.threads(java, "8 threads, one site, Byteman", &under, table);
            }
        }
        self.note_byteman(table);
        table.note(
            "Byteman has no event log to compare with: its traces are lines of text. Its exception leaves the method \
             past the handlers around the call; ours comes out of the call.",
        );
    }

    fn note_byteman(&self, table: &mut Table) {
        if self.byteman.is_none() {
            table.note(format!("Byteman skipped: run `{}` first", byteman::FETCH));
        }
    }

    fn byteman_rules(&self, condition: impl Fn(&str) -> String, action: &str) -> Option<Under<'_>> {
        let rules = ["a", "b", "c", "d"]
            .map(|site| byteman::rule("hooked.Loop", "four", Some(site), &condition(site), action));
        self.script(&rules.concat())
    }

    fn byteman_shared(&self, action: &str) -> Option<Under<'_>> {
        self.script(&byteman::rule("hooked.Loop", "one", Some("a"), &byteman::at("shared", FAULT_AT), action))
    }

    fn script(&self, rules: &str) -> Option<Under<'_>> {
        let file = self.bench.fresh("rules").join("rules.btm");
        std::fs::write(&file, rules).expect("rules can be written");
        Some(Under::Byteman(self.byteman.as_deref()?, file))
    }

    /// Several JVMs: what one compiles, another may compile a little differently.
    #[allow(clippy::too_many_arguments)]
    fn alone(
        &self,
        java: &Java,
        what: &str,
        under: &Under<'_>,
        jvm: &[&str],
        forks: usize,
        goal: Option<Goal>,
        table: &mut Table,
    ) {
        let args = ["alone", "300", "150", "2000"];
        let runs = (0..forks).filter_map(|_| self.run(java, under, jvm, &args));
        let forks: Vec<Vec<Pair>> = runs.map(|it| pairs(&it)).collect();
        show(java, what, &forks, goal, table);
    }

    /// The same plan served in Java and by native code, in turns: a fork of one, a fork of the other.
    #[allow(clippy::too_many_arguments)]
    fn both_paths(
        &self,
        java: &Java,
        what: &str,
        fault: Option<(&str, u64)>,
        watch: Option<WatchLevel>,
        forks: usize,
        goal: Option<Goal>,
        table: &mut Table,
    ) {
        let args = ["alone", "300", "150", "2000"];
        let plans = [false, true].map(|native| plan(self.bench, &self.classes, fault, watch, native));
        let mut sides = [Vec::new(), Vec::new()];
        for _ in 0..forks {
            for (plan, side) in plans.iter().zip(&mut sides) {
                side.extend(self.run(java, &planned(plan), &[], &args).map(|it| pairs(&it)));
            }
        }
        show(java, what, &sides[0], goal, table);
        show(java, &format!("{what}, native path"), &sides[1], None, table);
    }

    /// Few hits: each leaves 16 bytes on the disk.
    fn lossless(&self, java: &Java, table: &mut Table) {
        let under = Under::Tool(words(["--hook", "call", "--record", "events", "--lossless"]));
        let forks: Vec<Vec<Pair>> =
            self.run(java, &under, &[], &["alone", "100", "60", "1000"]).iter().map(pairs).collect();
        show(java, "count and event, lossless", &forks, None, table);
    }

    fn threads(&self, java: &Java, what: &str, under: &Under<'_>, table: &mut Table) {
        let args = ["threads", &THREADS.to_string(), &THREAD_PAIRS.to_string(), &THREAD_HITS.to_string()];
        let Some(finished) = self.run(java, under, &[], &args) else {
            return table.note(format!("JDK {} {what}: failed, see stderr", java.feature));
        };
        show(java, what, &[pairs(&finished)], None, table);
        let said = finished.numbers("hits").next().unwrap_or_default();
        // The line reads `hits N faults N`.
        let faults = said.get(1).copied().unwrap_or(f64::NAN);
        let exact = |good: bool| if good { "exact" } else { "NOT EXACT" };
        let mut text = format!("    {faults} fault, asked for at hit {FAULT_AT} of {THREAD_HITS_ALL}");
        let mut good = faults == 1.0;
        if let Some(evidence) = finished.evidence()
            && let Ok(trace) = evidence.trace()
        {
            let counted: u64 = trace.jvms().iter().flat_map(|jvm| trace.counts(jvm)).max().unwrap_or(0);
            let fired = trace.candidates().into_iter().find_map(|it| match it {
                CandidateEnd::Injected { occurrence, .. } => Some(occurrence),
                _ => None,
            });
            text += &format!(", thrown at hit {}, {counted} counted", fired.unwrap_or(0));
            good &= counted == THREAD_HITS_ALL && fired == Some(FAULT_AT);
        }
        table.note(format!("{text}: {}", exact(good)));
    }
}

fn pairs(finished: &Finished) -> Vec<Pair> {
    finished.numbers("pair").filter_map(|it| Some((*it.first()?, *it.get(1)?))).collect()
}

/// With several JVMs the interval is that of their medians, with one that of its pairs.
fn show(java: &Java, what: &str, forks: &[Vec<Pair>], goal: Option<Goal>, table: &mut Table) {
    let over = |pair: &Pair| pair.1 - pair.0;
    let of_forks = || forks.iter().map(|pairs| median(pairs, over));
    let difference: Option<Estimate> = match forks {
        [pairs] => estimate(pairs.iter().map(over)),
        _ => estimate(of_forks()),
    };
    let what = format!("JDK {} {what}", java.feature);
    let Some(difference) = difference else {
        return table.note(format!("{what}: failed, see stderr"));
    };
    let all: Vec<Pair> = forks.concat();
    let (bare, with) = (|pair: &Pair| pair.0, |pair: &Pair| pair.1);
    let best = least(&all, with) - least(&all, bare);
    table.row([
        what,
        format!("{:.2}", median(&all, bare)),
        format!("{:.2}", median(&all, with)),
        format!("{:+.2} ns", difference.median),
        format!("{:+.2} .. {:+.2}, best {best:+.2}", difference.low, difference.high),
        goal.map_or(String::new(), |goal| verdict(goal, &difference, best)),
    ]);
}

/// On the interval; and on the best slices, which are those that nobody disturbed.
fn verdict(goal: Goal, it: &Estimate, best: f64) -> String {
    let (Goal::AtMost(limit) | Goal::AtLeast(limit)) = goal;
    let undisturbed = Estimate { median: best, low: best, high: best, count: 1 };
    format!("<= {limit} ns {}, best {}", goal.verdict(it), goal.verdict(&undisturbed))
}
