//! Row 5: how fast classes are transformed while a JVM loads very many of them.
//!
//! The rate is from what the agent recorded itself. Beside it stands what the whole load costs, in CPU seconds of the
//! JVM, bare and hooked: that includes what the JVM does with the larger classes.

use std::path::PathBuf;
use std::process::Command;

use crate::process::{Bench, run, words};
use crate::sample::{Pair, estimate, median};
use crate::table::{Goal, Table};
use crate::{byteman, classes};

const GOAL: Goal = Goal::AtLeast(150.0);
const PAIRS: usize = 5;
/// It takes long.
const BYTEMAN_PAIRS: usize = 2;
/// Jars of the corpus by the start of their names: some ten thousand classes of programs as they are written.
const JARS: [&str; 4] = ["hadoop-common-", "kafka-clients-", "lucene-core-", "zookeeper-3"];
const PACKAGES: &str = "org.apache";

struct Load<'a> {
    bench: &'a Bench,
    classes: PathBuf,
    jars: Vec<PathBuf>,
    list: PathBuf,
}

/// Result of one load.
struct Loaded {
    seconds: f64,
    bytes: f64,
    nanos: f64,
    classes: u64,
    hooks: u64,
}

pub fn measure(bench: &Bench, table: &mut Table) {
    table.section("5", "class transform in the JVM, over a mass load");
    let sources =
        [bench.root.join("eval/corpus/LinkAll.java"), classes::java_sources(bench).join("Load.java")];
    let mut jars = classes::jars(&bench.root.join("eval/work/corpus/lib"));
    jars.retain(|it| {
        it.file_name().is_some_and(|name| JARS.iter().any(|jar| name.display().to_string().starts_with(jar)))
    });
    let what = if jars.is_empty() {
        table
            .note("run `mvn -q -f eval/corpus/pom.xml dependency:copy-dependencies` first for real programs");
        "the JDK's own modules".to_owned()
    } else {
        format!("{} jars", jars.len())
    };
    let list = bench.fresh("jars").join("jars.txt");
    let lines: Vec<String> = jars.iter().map(|it| it.display().to_string()).collect();
    std::fs::write(&list, lines.join("\n")).expect("a list can be written");
    let load = Load { bench, classes: classes::compile(bench, "load", "", &sources), jars, list };
    let byteman = byteman::jar(&bench.root).map(|jar| byteman::flags_for_all_loaders(&jar, &load.rule()));
    let (mut calls, mut all, mut ruled): (Vec<_>, Vec<_>, Vec<Pair>) = Default::default();
    for round in 0..PAIRS {
        let Some(bare) = load.plain(&[]) else { continue };
        calls.extend(load.hooked("call").map(|it| (bare, it)));
        all.extend(load.hooked("all").map(|it| (bare, it)));
        if round < BYTEMAN_PAIRS {
            ruled.extend(byteman.as_deref().and_then(|flags| load.plain(flags)).map(|it| (bare, it)));
        }
    }
    show(format!("{what}, --hook all"), &all, true, table);
    show(format!("{what}, --hook call"), &calls, false, table);
    if let Some(over) = estimate(ruled.iter().map(|it| it.1 - it.0)) {
        table.row([
            "Byteman, one rule: the start of every toString()".to_owned(),
            format!("{:.2} s", median(&ruled, |it| it.0)),
            format!("{:.2} s", median(&ruled, |it| it.1)),
            format!("{:+.2} s", over.median),
            format!("{:+.2} .. {:+.2} s", over.low, over.high),
            String::new(),
        ]);
    } else {
        table.note(format!("Byteman skipped: run `{}` first", byteman::FETCH));
    }
    table.note("seconds are of CPU, of the whole JVM; MB/s are by the clock in the agent, so they fall on a busy machine");
}

impl Load<'_> {
    fn command(&self, flags: &[String]) -> Vec<String> {
        let mut command = vec![self.bench.jdks[0].home.join("bin/java").display().to_string()];
        command.extend(words(["-XX:+UseSerialGC", "-XX:TieredStopAtLevel=1"]));
        command.extend_from_slice(flags);
        command.extend(["-cp".to_owned(), self.classes.display().to_string(), "Load".to_owned()]);
        command.push(if self.jars.is_empty() { "--jdk".to_owned() } else { self.list.display().to_string() });
        command
    }

    fn plain(&self, flags: &[String]) -> Option<f64> {
        let words = self.command(flags);
        let mut command = Command::new(&words[0]);
        command.args(&words[1..]);
        Some(run(command)?.numbers("cpu").next()?.first()? / 1e9)
    }

    fn hooked(&self, hook: &str) -> Option<Loaded> {
        let (class_path, packages) = if self.jars.is_empty() {
            (self.classes.display().to_string(), "com.sun,jdk,sun,javax")
        } else {
            let jars: Vec<String> = self.jars.iter().map(|it| it.display().to_string()).collect();
            (jars.join(":"), PACKAGES)
        };
        let mut flags = words(["--hook", hook, "--record", "off", "--packages", packages, "--classpath"]);
        flags.push(class_path);
        let finished = self.bench.hooked(&flags, &[], &self.command(&[]))?;
        let evidence = finished.evidence()?;
        let jvms = evidence.trace().ok()?.jvms();
        let jvm = jvms.first()?;
        Some(Loaded {
            seconds: finished.numbers("cpu").next()?.first()? / 1e9,
            bytes: jvm.transform_bytes as f64,
            nanos: jvm.transform_ns as f64,
            classes: jvm.classes,
            hooks: jvm.placed,
        })
    }

    /// Byteman has no rule for every call or block. One for all constructors comes nearer, but some classes do not
    /// link under it.
    fn rule(&self) -> PathBuf {
        let rule = byteman::rule("^java.lang.Object", "toString()", None, "FALSE", "NOTHING");
        let file = self.bench.fresh("rules").join("to-string.btm");
        std::fs::write(&file, rule).expect("a rule can be written");
        file
    }
}

fn show(name: String, loads: &[(f64, Loaded)], goal: bool, table: &mut Table) {
    let rate = estimate(loads.iter().map(|(_, it)| it.bytes * 1e3 / it.nanos));
    let over = estimate(loads.iter().map(|(bare, it)| it.seconds - bare));
    let (Some(rate), Some(over), Some((_, first))) = (rate, over, loads.first()) else {
        return table.note(format!("{name}: failed, see stderr"));
    };
    let seconds: Vec<Pair> = loads.iter().map(|(bare, it)| (*bare, it.seconds)).collect();
    table.row([
        format!("{name}: rate of the transform"),
        String::new(),
        format!("{:.0} MB/s", rate.median),
        String::new(),
        format!("{:.0} .. {:.0} MB/s", rate.low, rate.high),
        if goal { format!(">= 150 MB/s {}", GOAL.verdict(&rate)) } else { String::new() },
    ]);
    table.row([
        format!("{name}: the whole load"),
        format!("{:.2} s", median(&seconds, |it| it.0)),
        format!("{:.2} s", median(&seconds, |it| it.1)),
        format!("{:+.2} s", over.median),
        format!("{:+.2} .. {:+.2} s", over.low, over.high),
        String::new(),
    ]);
    table.note(format!(
        "    {} hooks in {} classes, {:.1} MB, at best {:.2} s in the agent",
        first.hooks,
        first.classes,
        first.bytes / 1e6,
        loads.iter().map(|(_, it)| it.nanos).fold(f64::INFINITY, f64::min) / 1e9
    ));
}
