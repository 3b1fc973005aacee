//! `cargo xtask eval unit-tests`: ZooKeeper's own tests pass and fail with hooks as they do without.

use std::collections::BTreeMap;
use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, PoisonError};
use std::time::{Duration, Instant};

use crate::failure::{Failure, Result};
use crate::jdk::{self, Jdk, JdkArgs};
use crate::process::{self, Job, fresh_directory};
use crate::table::thousands;
use crate::tool::{Invocation, Tool, ToolArgs, words};
use crate::{Verdict, eval, javac, maven, network, root};

const VERSION: &str = "zookeeper-3.6.2";
/// RunTests gives a class 120 s and then ends by itself.
const LIMIT: Duration = Duration::from_secs(150);
/// Classes at the same time, where each has a network of its own.
const AT_ONCE: usize = 2;

/// ZooKeeper's own tests, bare and with hooks: the same ones pass and fail
#[derive(Debug, clap::Args)]
pub struct UnitTestsArgs {
    /// Only the first N test classes
    #[arg(long, value_name = "N")]
    classes: Option<usize>,
    /// Number of runs of each class without the agent; a class whose result changes is left out
    #[arg(long, value_name = "N", default_value_t = 3, value_parser = clap::value_parser!(u32).range(1..))]
    bare: u32,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

/// The result of each method of a class.
type Results = BTreeMap<String, String>;

/// Results of the runs of a class.
struct Report {
    methods: usize,
    bare: String,
    hooked: String,
    verdict: ClassVerdict,
    hooks: u64,
    left_out: u64,
    details: Vec<String>,
}

#[derive(Clone, Copy, PartialEq, Eq)]
enum ClassVerdict {
    Same,
    Different,
    NotStable,
}

struct Suite<'a> {
    jdk: &'a Jdk,
    tool: &'a Tool,
    class_path: String,
    bare_runs: u32,
    out: PathBuf,
}

pub fn run(args: &UnitTestsArgs) -> Result<Verdict> {
    let jdks = args.jdks.given_or_default()?;
    let tool = args.tool.ready()?;
    let lib = maven::fetch(VERSION, "test-lib", Some("tests"))?;
    let compiled = lib.with_file_name("test-classes");
    let source = root().join("eval/zookeeper-common/src/hypocenter/eval/RunTests.java");
    javac::compile(&jdk::compiler()?, &[source], &format!("{}/*", lib.display()), &compiled)?;
    let mut classes = listed(&root().join("eval").join(VERSION).join("unit-tests.txt"))?;
    classes.truncate(args.classes.unwrap_or(usize::MAX));
    let mut verdict = Verdict::Pass;
    for jdk in &jdks {
        let suite = Suite {
            jdk,
            tool: &tool,
            class_path: format!("{}:{}/*", compiled.display(), lib.display()),
            bare_runs: args.bare,
            out: eval::out("unit-tests").join(format!("jdk-{}", jdk.version)),
        };
        if suite.run(&classes)? == Verdict::Fail {
            verdict = Verdict::Fail;
        }
    }
    Ok(verdict)
}

/// The classes that the list names, sorted.
pub(super) fn listed(path: &Path) -> Result<Vec<String>> {
    let text = fs::read_to_string(path).map_err(Failure::file(path))?;
    let mut classes: Vec<String> = text
        .lines()
        .filter_map(|line| line.split('#').next()?.split_whitespace().next().map(str::to_owned))
        .collect();
    classes.sort();
    Ok(classes)
}

impl Suite<'_> {
    fn run(&self, classes: &[String]) -> Result<Verdict> {
        fresh_directory(&self.out)?;
        let at_once = if network::available() { AT_ONCE } else { 1 };
        eprintln!(
            "... {} classes on JDK {}, each {} times bare and twice with hooks, {at_once} at once; output in {}",
            classes.len(),
            self.jdk.version,
            self.bare_runs,
            self.out.display()
        );
        let width = classes.iter().map(String::len).max().unwrap_or(0);
        println!("{:<width$}  methods  bare                  hooked", "class");
        let (next, reports) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
        let work = || {
            loop {
                let number = next.fetch_add(1, Ordering::Relaxed);
                let Some(class) = classes.get(number) else { return };
                let started = Instant::now();
                eprintln!("... {} of {}: {class}", number + 1, classes.len());
                let report = self.class(class);
                eprintln!("    {class}: {:.1} s", started.elapsed().as_secs_f64());
                if let Ok(report) = &report {
                    report.print(class, width);
                }
                reports.lock().unwrap_or_else(PoisonError::into_inner).push((class, report));
            }
        };
        std::thread::scope(|scope| (0..at_once).for_each(|_| drop(scope.spawn(work))));
        let reports = reports.into_inner().unwrap_or_else(PoisonError::into_inner);
        Ok(summary(self.jdk, &reports))
    }

    /// All runs of a class.
    fn class(&self, class: &str) -> Result<Report> {
        let mut bare: Vec<Results> = Vec::new();
        for run in 1..=self.bare_runs {
            bare.push(self.bare(class, &format!("bare-{run}"))?);
        }
        let first = &bare[0];
        let mut report = Report {
            methods: first.len(),
            bare: counts(first),
            hooked: String::new(),
            verdict: ClassVerdict::Same,
            hooks: 0,
            left_out: 0,
            details: Vec::new(),
        };
        for (run, other) in bare.iter().enumerate().filter(|(_, other)| *other != first) {
            report.verdict = ClassVerdict::NotStable;
            report.details.extend(differences("bare-1", first, &format!("bare-{}", run + 1), other));
        }
        if report.verdict == ClassVerdict::NotStable {
            report.hooked = "-".to_owned();
            return Ok(report);
        }
        for record in ["off", "count"] {
            let (results, hooks, left_out) = self.hooked(class, record)?;
            report.hooks += hooks;
            report.left_out += left_out;
            let counts = counts(&results);
            if report.hooked != counts {
                let separator = if report.hooked.is_empty() { "" } else { ", then " };
                report.hooked = format!("{}{separator}{counts}", report.hooked);
            }
            if results != *first {
                report.verdict = ClassVerdict::Different;
                report.details.extend(differences("bare", first, record, &results));
            }
        }
        Ok(report)
    }

    /// An empty directory for a run; tests write into the current one, and temporary files into one below.
    fn directory(&self, class: &str, run: &str) -> Result<PathBuf> {
        let directory = self.out.join(class).join(run);
        fresh_directory(&directory.join("cwd/tmp"))?;
        Ok(directory)
    }

    /// The same flags with and without hooks.
    fn java(&self, class: &str, directory: &Path) -> Vec<OsString> {
        let tmp = format!("-Djava.io.tmpdir={}", directory.join("cwd/tmp").display());
        let mut java = words([self.jdk.java()]);
        java.extend(words(["-Xmx512m", "-Xverify:all", "-Dbuild.test.dir=.", "-Dtest.data.dir=.", &tmp]));
        java.extend(words([
            "-Dzookeeper.DigestAuthenticationProvider.superDigest=super:D/InIHSb7yEEbrWz8b9l71RjZJU=",
            "-cp",
            &self.class_path,
            "hypocenter.eval.RunTests",
            class,
        ]));
        java
    }

    fn bare(&self, class: &str, run: &str) -> Result<Results> {
        let directory = self.directory(class, run)?;
        let java = self.java(class, &directory);
        let mut command = network::isolated(&java[0]);
        command.args(&java[1..]).current_dir(directory.join("cwd")).env_remove("JAVA_TOOL_OPTIONS");
        let (stdout, stderr) = (directory.join("results.txt"), directory.join("stderr.txt"));
        let text = process::text(&command);
        let status = Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.run()?;
        let results = results(&stdout);
        if results.is_empty() {
            return Err(process::failure(&text, &format!("gave no result ({status})"), &stdout, &stderr));
        }
        Ok(results)
    }

    /// The results, the hooks in place and the hooks left out.
    fn hooked(&self, class: &str, record: &str) -> Result<(Results, u64, u64)> {
        let directory = self.directory(class, record)?;
        let done = self.tool.run(Invocation {
            verb: "run",
            args: words(["--hook", "all", "--record", record, "--top", "0"])
                .into_iter()
                .chain(words(["--packages", "org.apache.zookeeper,org.apache.jute"]))
                .collect(),
            command: self.java(class, &directory),
            variables: Vec::new(),
            directory: &directory,
            current_directory: &directory.join("cwd"),
            limit: LIMIT,
        })?;
        if done.hooks() == 0 {
            let why =
                format!("{class}: no hook was placed; see {}", directory.join("hypocenter.log").display());
            return Err(Failure::new(why));
        }
        // A JVM that a hook brought down gives no result, and that is a difference like any other.
        Ok((results(&done.stdout()), done.hooks(), done.left_out()))
    }
}

impl Report {
    fn print(&self, class: &str, width: usize) {
        let verdict = match self.verdict {
            ClassVerdict::Same => "same",
            ClassVerdict::Different => "DIFFERENT",
            ClassVerdict::NotStable => "not stable, left out",
        };
        let details: String = self.details.iter().map(|it| format!("\n    {it}")).collect();
        println!(
            "{class:<width$}  {:>7}  {:<20}  {:<20}  {verdict}{details}",
            self.methods, self.bare, self.hooked
        );
    }
}

/// The lines `Class.method RESULT` that RunTests prints.
fn results(path: &Path) -> Results {
    let text = process::lossy(path);
    let pairs = text.lines().filter_map(|line| line.rsplit_once(' '));
    pairs.map(|(method, result)| (method.to_owned(), result.to_owned())).collect()
}

/// `12 PASS, 1 FAIL`.
fn counts(results: &Results) -> String {
    let mut counts: BTreeMap<&str, usize> = BTreeMap::new();
    for result in results.values() {
        *counts.entry(result).or_default() += 1;
    }
    if counts.is_empty() {
        return "nothing".to_owned();
    }
    let parts: Vec<String> = counts.iter().rev().map(|(result, count)| format!("{count} {result}")).collect();
    parts.join(", ")
}

fn differences(one: &str, first: &Results, two: &str, second: &Results) -> Vec<String> {
    let none = "no result".to_owned();
    let mut methods: Vec<&String> = first.keys().chain(second.keys()).collect();
    methods.sort();
    methods.dedup();
    methods
        .into_iter()
        .map(|method| (method, first.get(method).unwrap_or(&none), second.get(method).unwrap_or(&none)))
        .filter(|(_, a, b)| a != b)
        .map(|(method, a, b)| format!("{method}: {one} {a}, {two} {b}"))
        .collect()
}

fn summary(jdk: &Jdk, reports: &[(&String, Result<Report>)]) -> Verdict {
    let good: Vec<&Report> = reports.iter().filter_map(|(_, it)| it.as_ref().ok()).collect();
    let with = |verdict: ClassVerdict| good.iter().filter(move |it| it.verdict == verdict);
    let compared = || good.iter().filter(|it| it.verdict != ClassVerdict::NotStable);
    let different = with(ClassVerdict::Different).count();
    println!(
        "{} classes, {} methods, {different} different (JDK {}; {} hooks placed, {} left out, over both runs)",
        compared().count(),
        compared().map(|it| it.methods).sum::<usize>(),
        jdk.version,
        thousands(compared().map(|it| it.hooks).sum()),
        thousands(compared().map(|it| it.left_out).sum()),
    );
    let unstable = with(ClassVerdict::NotStable).count();
    if unstable > 0 {
        println!("{unstable} classes not stable without hooks, left out");
    }
    let mut broken = 0;
    for (class, failure) in reports.iter().filter_map(|(class, it)| Some((class, it.as_ref().err()?))) {
        println!("{class} could not be run: {failure}");
        broken += 1;
    }
    Verdict::of(different == 0 && broken == 0)
}
