//! `cargo xtask eval surefire`: tests under Maven's surefire, and a JVM that another one forks as Gradle does.
//!
//! Each workload runs bare and then with hooks. What has to hold: of all JVMs the forked one alone takes part, and nobody
//! who reads the outputs or the reports can tell the two runs apart, but for times. A JVM that takes its agent from the
//! environment prints a line that says so; where that line gets to is looked for everywhere.

use std::ffi::OsString;
use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::Duration;

use hypocenter_lab::{LabError, evidence_of};

use crate::failure::{Failure, Result};
use crate::jdk::{Jdk, JdkArgs};
use crate::process::{self, Job, copy, fresh_directory, step};
use crate::table;
use crate::tool::{Done, Invocation, Tool, ToolArgs, words};
use crate::{Verdict, eval, javac, root};

/// Maven may have to fetch its plugins.
const LIMIT: Duration = Duration::from_secs(1800);
const HEADINGS: [&str; 8] =
    ["workload", "JDK", "agents", "JVMs", "the fork alone", "output", "dump files", "\"Picked up\" in"];
/// Surefire 2 reads both outputs of its fork, and writes what it does not understand into a dump file; 3.0.0-M5 logs it as
/// an error of Maven's; later ones pass it on.
const VERSIONS: [&str; 4] = ["2.22.2", "3.0.0-M5", "3.2.5", "3.5.4"];
/// Line that a JVM prints when it takes options from the environment.
const PICKED_UP: &str = "Picked up JAVA_TOOL_OPTIONS";

/// Tests under Maven's surefire, and a JVM forked as Gradle does it: the fork alone takes part, outputs are the same
#[derive(Debug, clap::Args)]
pub struct SurefireArgs {
    /// The versions of surefire
    #[arg(long, value_name = "VERSION", num_args = 1.., default_values = VERSIONS)]
    surefire: Vec<String>,
    #[command(flatten)]
    jdks: JdkArgs,
    #[command(flatten)]
    tool: ToolArgs,
}

pub fn run(args: &SurefireArgs) -> Result<Verdict> {
    let jdks = args.jdks.given_or_default()?;
    let tool = args.tool.ready()?;
    let mut judged = Vec::new();
    for jdk in &jdks {
        for version in &args.surefire {
            judged.push(surefire(&tool, jdk, version)?);
        }
        for mode in ["apart", "joined"] {
            judged.push(fork(&tool, jdk, mode)?);
        }
    }
    let rows: Vec<_> = judged.iter().map(Judged::row).collect();
    print!("{}", table::text(&HEADINGS, &rows));
    for it in &judged {
        it.broken.iter().for_each(|line| println!("FAIL: {}: {line}", it.workload));
    }
    let good = judged.iter().all(|it| it.broken.is_empty());
    println!("{}", if good { "PASS" } else { "FAIL" });
    Ok(Verdict::of(good))
}

/// A command that is run bare and with hooks.
struct Workload<'a> {
    name: String,
    jdk: &'a Jdk,
    command: Vec<OsString>,
    class_path: PathBuf,
    packages: &'a str,
    /// Working directory of the command.
    current_directory: &'a Path,
    /// Line by which its forked JVM identifies itself.
    processes: PathBuf,
    /// Its report directory, if it writes reports.
    reports: Option<PathBuf>,
    /// Emptied first.
    directory: PathBuf,
}

/// Result of a workload.
struct Judged {
    workload: String,
    jdk: String,
    /// JVMs that loaded the agent.
    agents: u32,
    /// JVMs that took part.
    jvms: usize,
    alone: bool,
    same: bool,
    dumps: String,
    picked_up: Vec<String>,
    broken: Vec<String>,
}

impl Judged {
    fn row(&self) -> Vec<String> {
        let word = |good: bool| if good { "ok" } else { "NO" }.to_owned();
        let places = if self.picked_up.is_empty() { "nothing".to_owned() } else { self.picked_up.join(", ") };
        vec![
            self.workload.clone(),
            self.jdk.clone(),
            self.agents.to_string(),
            self.jvms.to_string(),
            word(self.alone),
            if self.same { "same" } else { "DIFFERENT" }.to_owned(),
            self.dumps.clone(),
            places,
        ]
    }
}

fn surefire(tool: &Tool, jdk: &Jdk, version: &str) -> Result<Judged> {
    let name = format!("surefire {version}");
    let base = root().join("eval/work/surefire").join(format!("{version}-jdk-{}", jdk.version));
    let project = base.join("project");
    fresh_directory(&project)?;
    copy(&root().join("eval/surefire/pom.xml"), &project.join("pom.xml"))?;
    copy(&root().join("eval/surefire/src"), &project.join("src"))?;
    let processes = base.join("processes.txt");
    // No colours and no progress: what a CI server would see.
    let arguments = [
        "-B".to_owned(),
        format!("-Dsurefire.version={version}"),
        format!("-DargLine=-Dprocesses={}", processes.display()),
        "test".to_owned(),
    ];
    let log = base.join("maven.log");
    step(&format!("{name}, JDK {}: fetching and compiling with Maven", jdk.version), || {
        let mut command = Command::new("mvn");
        command.args(&arguments).current_dir(&project);
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &jdk.home);
        Job { command, stdout: &log, stderr: &log, limit: LIMIT }.succeed()
    })
    .map_err(|failure| failure.hint("this needs Maven (`apt-get install maven`) and Maven Central"))?;
    let mut command = words(["mvn", "-o"]);
    command.extend(words(&arguments));
    judge(
        tool,
        Workload {
            jdk,
            command,
            class_path: project.join("target/classes"),
            packages: "notes",
            current_directory: &project,
            processes,
            reports: Some(project.join("target/surefire-reports")),
            directory: eval::out("surefire").join(format!("{version}-jdk-{}", jdk.version)),
            name,
        },
    )
}

fn fork(tool: &Tool, jdk: &Jdk, mode: &str) -> Result<Judged> {
    let base = root().join("eval/work/surefire");
    let classes = base.join("fork-classes");
    javac::compile(jdk, &javac::sources(&root().join("eval/surefire/fork/src"))?, "", &classes)?;
    let processes = base.join("fork-processes.txt");
    // As from a build tool's script: where java is in plain sight, it alone would get the agent.
    let mut command = words(["sh", "-c", "exec \"$@\"", "sh"]);
    command.extend([jdk.java().into(), "-cp".into(), classes.clone().into(), "forker.Forker".into()]);
    command.extend([mode.into(), processes.clone().into()]);
    judge(
        tool,
        Workload {
            name: format!("fork, outputs {mode}"),
            jdk,
            command,
            class_path: classes,
            packages: "worker",
            current_directory: &base,
            processes,
            reports: None,
            directory: eval::out("surefire").join(format!("fork-{mode}-jdk-{}", jdk.version)),
        },
    )
}

fn judge(tool: &Tool, it: Workload<'_>) -> Result<Judged> {
    let out = &it.directory;
    fresh_directory(out)?;
    let (stdout, stderr) = (out.join("bare-stdout.log"), out.join("bare-stderr.log"));
    step(&format!("{}, JDK {}: bare", it.name, it.jdk.version), || {
        forget(&it)?;
        let mut command = Command::new(&it.command[0]);
        command.args(&it.command[1..]).current_dir(it.current_directory);
        command.env_remove("JAVA_TOOL_OPTIONS").env("JAVA_HOME", &it.jdk.home);
        Job { command, stdout: &stdout, stderr: &stderr, limit: LIMIT }.succeed()
    })?;
    let done = step(&format!("{}, JDK {}: with hooks", it.name, it.jdk.version), || {
        forget(&it)?;
        let mut args = words(["--hook", "all", "--top", "0", "--packages", it.packages, "--classpath"]);
        args.push(it.class_path.clone().into());
        tool.run(Invocation {
            verb: "run",
            args,
            command: it.command.clone(),
            variables: vec![("JAVA_HOME", it.jdk.home.clone().into())],
            directory: out,
            current_directory: it.current_directory,
            limit: LIMIT,
        })
    })?;
    let mut broken = Vec::new();
    let said = process::lossy(&it.processes);
    let evidence = evidence_of(&done.directory, &done.outcome)?;
    let agents = evidence.trace().map_err(LabError::from)?.agents();
    let jvms = &done.outcome.jvms;
    if !done.outcome.end.is_well() {
        broken.push(format!("the command {}", done.outcome.end));
    }
    // The fork says who it is and who started it: Maven or the forker loaded the agent too, and must have kept out.
    let (fork, parent) = (number_after(&said, "self "), number_after(&said, "parent "));
    let alone = agents >= 2
        && matches!(jvms.as_slice(), [jvm] if Some(jvm.pid) == fork && Some(jvm.pid) != parent && jvm.hits > 0);
    if !alone {
        let pids: Vec<u32> = jvms.iter().map(|it| it.pid).collect();
        broken
            .push(format!("{agents} agents, and the processes {pids:?} took part; the fork says: {said:?}"));
    }
    let pairs = [(stdout, done.stdout()), (stderr, done.stderr())];
    let different: Vec<String> = pairs.iter().filter_map(|(bare, hooked)| difference(bare, hooked)).collect();
    let same = different.is_empty();
    broken.extend(different);
    let picked_up = places_of_the_line(&it, &done)?;
    let dumps = dumps(&it)?;
    let ours_alone = dumps.iter().all(|path| holds_the_line_alone(&process::lossy(path)));
    if !ours_alone {
        broken.push("a dump file has more than the line of the JVM".to_owned());
    }
    // Surefire 2 writes down what the JVM itself says, and the JVM says it before any of our code runs.
    let seen = picked_up.iter().filter(|place| *place != DUMP).count();
    if seen > 0 {
        broken.push(format!("the line \"{PICKED_UP}\" is in {}", picked_up.join(", ")));
    }
    if !broken.is_empty() {
        broken.push(format!("see {}", out.display()));
    }
    Ok(Judged {
        workload: it.name,
        jdk: it.jdk.version.clone(),
        agents,
        jvms: jvms.len(),
        alone,
        same,
        dumps: match (dumps.len(), ours_alone) {
            (0, _) => "none".to_owned(),
            (count, true) => format!("{count}, with that line"),
            (count, false) => format!("{count}, CORRUPTED"),
        },
        picked_up,
        broken,
    })
}

/// Takes away what an earlier run has left.
fn forget(it: &Workload<'_>) -> Result<()> {
    match fs::remove_file(&it.processes) {
        Err(error) if error.kind() != std::io::ErrorKind::NotFound => {
            return Err(Failure::file(&it.processes)(error));
        }
        _ => {}
    }
    it.reports.as_deref().map_or(Ok(()), fresh_directory)
}

const DUMP: &str = "dump file";

/// Places of the JVM's line: on the terminal, in stored logs, in reports.
fn places_of_the_line(it: &Workload<'_>, done: &Done) -> Result<Vec<String>> {
    let has = |path: &Path| process::lossy(path).contains(PICKED_UP);
    let mut places = Vec::new();
    for (path, place) in [
        (it.directory.join("hypocenter.log"), "what the user sees"),
        (done.stdout(), "stdout"),
        (done.stderr(), "stderr"),
    ] {
        if has(&path) {
            places.push(place.to_owned());
        }
    }
    for file in reports(it)?.iter().filter(|path| has(path)) {
        let name = file.file_name().unwrap_or_default().to_string_lossy().into_owned();
        places.push(if is_dump(file) { DUMP.to_owned() } else { name });
    }
    Ok(places)
}

fn reports(it: &Workload<'_>) -> Result<Vec<PathBuf>> {
    let Some(directory) = &it.reports else { return Ok(Vec::new()) };
    let mut files: Vec<PathBuf> =
        fs::read_dir(directory).map_err(Failure::file(directory))?.flatten().map(|it| it.path()).collect();
    files.sort();
    Ok(files)
}

/// Files that Surefire writes if something came between it and its fork.
fn is_dump(path: &Path) -> bool {
    path.extension().is_some_and(|it| it == "dump" || it == "dumpstream")
}

fn dumps(it: &Workload<'_>) -> Result<Vec<PathBuf>> {
    Ok(reports(it)?.into_iter().filter(|path| is_dump(path)).collect())
}

fn holds_the_line_alone(text: &str) -> bool {
    text.lines().all(|it| it.is_empty() || it.starts_with("# Created at ") || it.starts_with(PICKED_UP))
}

fn number_after(text: &str, key: &str) -> Option<u32> {
    text.lines().find_map(|line| line.strip_prefix(key)?.parse().ok())
}

/// The first line in which two outputs differ, times left aside.
fn difference(bare: &Path, hooked: &Path) -> Option<String> {
    let (bare, hooked) = (process::lossy(bare), process::lossy(hooked));
    let (mut bare, mut hooked) = (bare.lines().map(without_times), hooked.lines().map(without_times));
    loop {
        match (bare.next(), hooked.next()) {
            (None, None) => return None,
            (one, two) if one == two => {}
            (one, two) => return Some(format!("bare: {one:?}, with hooks: {two:?}")),
        }
    }
}

/// A line of Maven's without how long something took and when it was.
fn without_times(line: &str) -> String {
    for key in ["Total time:", "Finished at:"] {
        if let Some(at) = line.find(key) {
            return line[..at + key.len()].to_owned();
        }
    }
    match line.split_once("Time elapsed: ") {
        Some((before, after)) => {
            let rest = after.trim_start_matches(|it: char| it.is_ascii_digit() || it == '.');
            format!("{before}Time elapsed: {rest}")
        }
        None => line.to_owned(),
    }
}

#[cfg(test)]
mod tests {
    use super::*;

    #[test]
    fn times_are_left_aside_and_nothing_else() {
        let check = |one: &str, two: &str, same: bool| {
            assert_eq!(without_times(one) == without_times(two), same, "{one} / {two}");
        };
        check("[INFO] Total time:  1.2 s", "[INFO] Total time:  01:31 min", true);
        check("Tests run: 1, Time elapsed: 0.1 s - in A", "Tests run: 1, Time elapsed: 12 s - in A", true);
        check("Tests run: 1, Time elapsed: 0.1 s - in A", "Tests run: 1, Time elapsed: 0.1 s - in B", false);
        check("Tests run: 1, Time elapsed: 0.1 s", "Tests run: 2, Time elapsed: 0.1 s", false);
    }

    #[test]
    fn a_dump_file_may_hold_the_line_of_the_jvm_and_nothing_else() {
        let line = "# Created at 2024-01-01T00:00:00.000\nPicked up JAVA_TOOL_OPTIONS: -agentpath:x\n\n";
        assert!(holds_the_line_alone(line));
        assert!(!holds_the_line_alone(&format!("{line}Corrupted STDOUT by directly writing\n")));
    }
}
