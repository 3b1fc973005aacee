//! `cargo xtask eval emission`: what passes the level filter of each logging framework, as the trace has it, beside the lines that
//! the framework wrote.

use std::collections::BTreeSet;
use std::ffi::OsString;
use std::fs;
use std::path::Path;
use std::time::Duration;

use hypocenter_lab::TrialFiles;
use hypocenter_plan::{Plan, Record, SiteKind, Watch, WatchLevel};
use hypocenter_program::EMITTING;
use hypocenter_trace::{Map, SiteId, Trace};

use crate::failure::{Failure, Result};
use crate::jdk::{Jdk, JdkArgs};
use crate::process::{fresh_directory, lossy, step};
use crate::tool::{Invocation, Tool, ToolArgs, words};
use crate::{Verdict, eval, javac, maven, root, table};

const HEADINGS: [&str; 6] = ["framework", "JDK", "statements executed", "let through", "lines written", ""];
/// The frameworks behind slf4j, by the profiles of the `pom.xml`; and the one of the JDK.
const FRAMEWORKS: [(&str, &str); 6] = [
    ("log4j1", "emission.Emits"),
    ("reload4j", "emission.Emits"),
    ("log4j2", "emission.Emits"),
    ("logback", "emission.Emits"),
    ("simple", "emission.Emits"),
    ("java.util.logging", "emission.EmitsJul"),
];
const LIMIT: Duration = Duration::from_secs(120);

/// Entries that each logging framework lets through its level filter, by the trace, beside the lines that it wrote
#[derive(Debug, clap::Args)]
pub struct EmissionArgs {
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &EmissionArgs) -> Result<Verdict> {
    let jdks = args.jdks.all()?;
    let tool = args.tool.ready()?;
    let mut rows = Vec::new();
    let mut is_good = true;
    for (framework, main) in FRAMEWORKS {
        // The one of the JDK needs no jars, but the other program is compiled beside it.
        let profile = if framework.starts_with("java.") { "simple" } else { framework };
        let jars = maven::jars(&maven::fetch("emission", profile, Some(profile))?)?;
        for jdk in &jdks {
            let name = format!("{framework}, JDK {}", jdk.version);
            let counted = step(&name, || count(&tool, jdk, framework, main, &jars))?;
            let good =
                counted.emitted == counted.lines && counted.lines > 0 && counted.executed > counted.lines;
            is_good &= good;
            let numbers = [counted.executed, counted.emitted, counted.lines].map(|it| it.to_string());
            let mut row = vec![framework.to_owned(), jdk.version.clone()];
            row.extend(numbers);
            row.push(if good { "PASS" } else { "FAIL" }.to_owned());
            rows.push(row);
        }
    }
    print!("{}", table::text(&HEADINGS, &rows));
    println!("{}", if is_good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(is_good))
}

/// Events of a run.
struct Counted {
    executed: u64,
    emitted: u64,
    lines: u64,
}

fn count(
    tool: &Tool,
    jdk: &Jdk,
    framework: &str,
    main: &str,
    jars: &[std::path::PathBuf],
) -> Result<Counted> {
    let directory = eval::out("emission").join(format!("{framework}-jdk-{}", jdk.version));
    fresh_directory(&directory)?;
    let sources = javac::sources(&root().join("eval/emission/src"))?;
    let joined = |all: &[&Path]| -> Result<OsString> {
        std::env::join_paths(all).map_err(|error| Failure::new(format!("class path: {error}")))
    };
    let jars: Vec<&Path> = jars.iter().map(|it| it.as_path()).collect();
    let classes = directory.join("classes");
    javac::compile(jdk, &sources, &joined(&jars)?.to_string_lossy(), &classes)?;
    let conf = root().join("eval/emission/conf");
    let all: Vec<&Path> = [classes.as_path(), conf.as_path()].into_iter().chain(jars).collect();
    let plan = directory.join("plan.json");
    fs::write(&plan, serde_json::to_string(&watching()).expect("a plan is JSON"))
        .map_err(Failure::file(&plan))?;
    let mut args = words(["--packages", "emission", "--plan"]);
    args.push(plan.into());
    let mut command = vec![jdk.home.join("bin/java").into(), OsString::from("-cp"), joined(&all)?];
    command.push(main.into());
    let done = tool.run(Invocation {
        verb: "run",
        args,
        command,
        variables: Vec::new(),
        directory: &directory,
        current_directory: &directory,
        limit: LIMIT,
    })?;
    let written = [done.stdout(), done.stderr()].map(|it| lossy(&it)).concat();
    let lines = written.lines().filter(|it| it.contains("line of ") && it.contains("number ")).count() as u64;
    let (executed, emitted) = events(&done.directory)?;
    Ok(Counted { executed, emitted, lines })
}

/// Watches the log statements of the program, and what the frameworks let through.
fn watching() -> Plan {
    let watch = |kind, class: &str, methods: &[&str]| Watch {
        kinds: vec![kind],
        classes: vec![class.to_owned()],
        methods: methods.iter().map(|&it| it.to_owned()).collect(),
        level: WatchLevel::Event,
    };
    let emitting = EMITTING.map(|(class, method)| watch(SiteKind::Entry, class, &[method]));
    let own = watch(SiteKind::Log, "emission.*", &[]);
    let watch = std::iter::once(own).chain(emitting).collect();
    Plan { record: Record { watch, lossless: true, ..Record::default() }, ..Plan::default() }
}

/// Number of executed log statements, and number of those let through: an appender of a parent may be another entry.
fn events(trial: &Path) -> Result<(u64, u64)> {
    let files = TrialFiles::of(trial);
    let read = |path: &Path| fs::read(path).map_err(Failure::file(path));
    let (map, trace) = (read(&files.map)?, read(&files.trace)?);
    let map = Map::new(&map).map_err(|error| Failure::new(format!("the map: {error}")))?;
    let trace = Trace::new(&trace).map_err(|error| Failure::new(format!("the trace: {error}")))?;
    let (mut executed, mut emitted) = (0, 0);
    for jvm in trace.jvms() {
        let mut logging = BTreeSet::new();
        for event in trace.events(&jvm) {
            match map.kind(SiteId(event.site.0)) {
                Some(SiteKind::Log) => {
                    executed += 1;
                    logging.insert(event.thread);
                }
                Some(SiteKind::Entry) => emitted += u64::from(logging.remove(&event.thread)),
                _ => {}
            }
        }
    }
    Ok((executed, emitted))
}
