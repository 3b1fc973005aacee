//! Common parts of the tests: the JDKs of this machine, the compiled targets, and the tool as a user runs it.

// Each test binary uses its own part of this.
#![allow(dead_code)]

pub mod spool;

use std::collections::hash_map::DefaultHasher;
use std::fs;
use std::hash::{Hash, Hasher};
use std::panic::{AssertUnwindSafe, catch_unwind};
use std::path::{Path, PathBuf};
use std::process::{Child, Command, Stdio};
use std::sync::atomic::{AtomicUsize, Ordering};
use std::sync::{Mutex, OnceLock};

pub use hypocenter_testing::{Jdk, skip};
use serde_json::Value;
use tempfile::TempDir;

/// Output of the tool.
#[derive(Debug)]
pub struct Said {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
}

impl Said {
    #[track_caller]
    pub fn exits(self, code: i32) -> Said {
        assert_eq!(self.code, code, "the exit code\nstdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    #[track_caller]
    pub fn says(self, text: &str) -> Said {
        assert!(self.stderr.contains(text), "`{text}` is not said\nstderr: {}", self.stderr);
        self
    }

    /// The one JSON document on stdout.
    #[track_caller]
    pub fn json(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\nstdout: {}\nstderr: {}", self.stdout, self.stderr))
    }
}

/// The oldest JDK that compiles the targets.
const COMPILER_FEATURE_MIN: u32 = 17;
/// Java release of the targets: the oldest JVM that runs them.
const TARGET_RELEASE: u32 = 11;
/// The targets of these tests, as directories of `targets/`; each is a package.
const TARGETS: [&str; 4] = ["probe", "shapes", "plugin", "hits"];
/// No run of these tests takes this long; one that hangs ends here, and fails by its exit code.
const TIMEOUT: &str = "120s";

/// Every JDK that can be found and runs the targets, the default first.
pub fn jdks() -> &'static [Jdk] {
    static ALL: OnceLock<Vec<Jdk>> = OnceLock::new();
    ALL.get_or_init(|| {
        let all = hypocenter_testing::jdks().iter();
        let found: Vec<Jdk> = all.filter(|it| it.feature >= TARGET_RELEASE).cloned().collect();
        assert!(
            found.iter().any(compiles),
            "these tests need a JDK, {COMPILER_FEATURE_MIN} or newer, and found none by JAVA_HOME, on the PATH or in \
             /usr/lib/jvm: install openjdk-17-jdk (Debian, Ubuntu) or java-17-openjdk-devel (Fedora)"
        );
        found
    })
}

/// Those that have virtual threads. Without one the test is skipped.
#[track_caller]
pub fn jdks_with_virtual_threads() -> Vec<&'static Jdk> {
    let able: Vec<&Jdk> = jdks().iter().filter(|jdk| jdk.feature >= 21).collect();
    if able.is_empty() {
        skip("no JDK has virtual threads (21 or newer)");
    }
    able
}

/// Tests whether a small disk can be mounted by `unshare` with some flags. Otherwise the test is skipped.
#[track_caller]
pub fn can_mount(flags: &str) -> bool {
    let tried = Command::new("unshare").args([flags, "mount", "-t", "tmpfs", "none", "/mnt"]).output();
    let can = tried.is_ok_and(|output| output.status.success());
    if !can {
        skip(format!("a user cannot mount a small disk (unshare {flags})"));
    }
    can
}

fn compiles(jdk: &Jdk) -> bool {
    jdk.feature >= COMPILER_FEATURE_MIN && jdk.javac().is_some()
}

/// The JDK that a user gets without asking for another.
pub fn default_jdk() -> &'static Jdk {
    &jdks()[0]
}

fn targets() -> PathBuf {
    Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets")
}

fn java_files(directory: &Path, into: &mut Vec<PathBuf>) {
    for entry in fs::read_dir(directory).expect("the targets are in the checkout").flatten() {
        let path = entry.path();
        if path.is_dir() {
            java_files(&path, into);
        } else if path.extension().is_some_and(|it| it == "java") {
            into.push(path);
        }
    }
}

/// The class path of the targets, compiled when their sources have changed.
pub fn classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| compiled("targets", &TARGETS, TARGET_RELEASE))
}

/// The class path of `targets/wal`, likewise; it is a system of its own and newer.
pub fn wal_classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| compiled("wal", &["wal/src"], COMPILER_FEATURE_MIN))
}

/// The class path of `targets/spool` and `targets/relay`, likewise: small systems with a bug each to be reproduced.
pub fn spool_classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| compiled("spool", &["spool/src", "relay/src"], TARGET_RELEASE))
}

/// The class path of `targets/quorum`, likewise: a cluster with two bugs that break a part of its service.
pub fn quorum_classes() -> &'static Path {
    static CLASSES: OnceLock<PathBuf> = OnceLock::new();
    CLASSES.get_or_init(|| compiled("quorum", &["quorum/src"], COMPILER_FEATURE_MIN))
}

/// The configuration of that cluster, for the classes that the tests have compiled.
pub fn quorum_configuration() -> String {
    let path = targets().join("quorum/hypocenter.toml");
    let text = fs::read_to_string(path).expect("the configuration is in the checkout");
    let java = default_jdk().java();
    let text = text.replace("\"java ", &format!("\"'{java}' "));
    let text = ["health.sh", "answers.sh"].iter().fold(text, |text, script| {
        text.replace(script, &format!("'{}'", targets().join("quorum").join(script).display()))
    });
    text.replace("build/classes", &quorum_classes().display().to_string())
}

/// The class path of `targets/snapshot`, likewise, or of one of its twins: a store whose epoch and snapshot are two files.
pub fn snapshot_classes(twin: Option<&str>) -> PathBuf {
    let root = targets().join("snapshot");
    let (mut sources, mut fixed) = (Vec::new(), Vec::new());
    java_files(&root.join("src"), &mut sources);
    twin.iter().for_each(|it| java_files(&root.join(it), &mut fixed));
    let is_fixed = |it: &PathBuf| fixed.iter().any(|other| other.file_name() == it.file_name());
    sources.retain(|it| !is_fixed(it));
    sources.extend(fixed.iter().cloned());
    compiled_of(&format!("snapshot-{}", twin.unwrap_or("src")), sources, COMPILER_FEATURE_MIN)
}

/// The configuration of that store, for these classes, where only one follower may crash.
pub fn snapshot_configuration(classes: &Path) -> String {
    let path = targets().join("snapshot/hypocenter.toml");
    let text = fs::read_to_string(path).expect("the configuration is in the checkout");
    let mut node = "";
    let kept = text.lines().filter(|line| {
        if let Some(name) = line.strip_prefix("name    = ") {
            node = name;
        }
        !line.starts_with("restart") || node == "\"f1\""
    });
    let kept: Vec<&str> = kept.collect();
    let java = default_jdk().java();
    // A busy machine takes its time.
    kept.join("\n")
        .replace("\"java ", &format!("\"'{java}' "))
        .replace("build/classes", &classes.display().to_string())
        .replace("\"60s\"", "\"240s\"")
}

/// The classes of some directories of `targets/`.
fn compiled(name: &str, directories: &[&str], release: u32) -> PathBuf {
    let mut sources = Vec::new();
    directories.iter().for_each(|name| java_files(&targets().join(name), &mut sources));
    compiled_of(name, sources, release)
}

/// The classes of some sources.
fn compiled_of(name: &str, mut sources: Vec<PathBuf>, release: u32) -> PathBuf {
    sources.sort();
    let mut hasher = DefaultHasher::new();
    sources.iter().for_each(|path| fs::read(path).expect("a source can be read").hash(&mut hasher));
    let base = Path::new(env!("CARGO_TARGET_TMPDIR"));
    let ready = base.join(format!("{name}-{:016x}", hasher.finish()));
    if ready.is_dir() {
        return ready;
    }
    let jdk = jdks().iter().find(|it| compiles(it)).expect("asserted by jdks()");
    // Compiled beside its place and renamed, so that another test binary sees all of it or nothing.
    let part = TempDir::new_in(base).expect("cargo's directory can be written");
    let output = Command::new(jdk.home.join("bin/javac"))
        .args(["-g", "-nowarn", "--release", &release.to_string(), "-d"])
        .arg(part.path())
        .args(&sources)
        .output()
        .expect("javac can be run");
    assert!(output.status.success(), "javac: {}", String::from_utf8_lossy(&output.stderr));
    if fs::rename(part.path(), &ready).is_err() {
        assert!(ready.is_dir(), "{} could not be made", ready.display());
    }
    ready
}

/// The line of a source of the targets that ends in `// site: NAME`.
pub fn line_of(source: &str, site: &str) -> usize {
    let text = fs::read_to_string(targets().join(source)).expect("a source can be read");
    let mark = format!("// site: {site}");
    1 + text.lines().position(|line| line.ends_with(&mark)).unwrap_or_else(|| panic!("{source}: no `{mark}`"))
}

/// Puts the line of each `{site}` into a text.
pub fn with_lines(source: &str, text: &str) -> String {
    let mut out = String::new();
    let mut rest = text;
    while let Some((before, after)) = rest.split_once('{') {
        let (site, after) = after.split_once('}').expect("a brace is closed");
        out += before;
        out += &line_of(source, site).to_string();
        rest = after;
    }
    out + rest
}

/// The tool, about to be run in a fresh directory.
pub struct Tool {
    command: Command,
    directory: TempDir,
    java: String,
}

impl Tool {
    /// A verb on the default JDK.
    pub fn new(verb: &str) -> Tool {
        Tool::on(default_jdk(), verb)
    }

    /// A verb on some JDK.
    pub fn on(jdk: &Jdk, verb: &str) -> Tool {
        let directory =
            TempDir::new_in(env!("CARGO_TARGET_TMPDIR")).expect("cargo's directory can be written");
        let mut command = Command::new(env!("CARGO_BIN_EXE_hypocenter"));
        command.arg(verb).current_dir(directory.path()).stdin(Stdio::null());
        for name in ["JAVA_TOOL_OPTIONS", "JDK_JAVA_OPTIONS", "_JAVA_OPTIONS", "CLASSPATH", "HYPOCENTER_NODE"]
        {
            command.env_remove(name);
        }
        command.env("JAVA_HOME", &jdk.home);
        command.env("XDG_CACHE_HOME", Path::new(env!("CARGO_TARGET_TMPDIR")).join("cache"));
        Tool { command, directory, java: jdk.java() }
    }

    /// Its future working directory.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    pub fn arg(mut self, arg: impl AsRef<std::ffi::OsStr>) -> Tool {
        self.command.arg(arg);
        self
    }

    /// Several arguments, written with spaces between.
    pub fn args(mut self, args: &str) -> Tool {
        self.command.args(args.split_whitespace());
        self
    }

    pub fn env(mut self, name: &str, value: impl AsRef<std::ffi::OsStr>) -> Tool {
        self.command.env(name, value);
        self
    }

    /// A file in the directory where it will run.
    pub fn file(self, name: &str, content: impl AsRef<[u8]>) -> Tool {
        fs::write(self.directory.path().join(name), content).expect("a temporary file can be written");
        self
    }

    /// A plan, to be carried out.
    pub fn plan(self, plan: &Value) -> Tool {
        self.file("plan.json", plan.to_string()).args("--plan plan.json")
    }

    /// Runs it for a class of the targets, written with its arguments: `probe.Kinds call 3`.
    pub fn java(self, program: &str) -> Done {
        self.java_with("-XX:+UseSerialGC", program)
    }

    /// As [`Tool::java`], with options for the JVM.
    pub fn java_with(self, options: &str, program: &str) -> Done {
        let classes = classes().display().to_string();
        let java = self.java.clone();
        let words = [java.as_str()].into_iter().chain(options.split_whitespace());
        let words = words.chain(["-cp", &classes]).chain(program.split_whitespace());
        self.command(&words.collect::<Vec<_>>())
    }

    /// Runs it for a shell script, which has `$JAVA` and `$CLASSES`.
    pub fn script(self, packages: &str, script: &str) -> Done {
        let classes = classes().display().to_string();
        let java = self.java.clone();
        self.env("JAVA", java)
            .env("CLASSES", &classes)
            .args(&format!("--classpath {classes} --packages {packages}"))
            .command(&["sh", "-c", script])
    }

    /// Runs it for a command.
    pub fn command(self, words: &[&str]) -> Done {
        self.for_command(words).end()
    }

    /// Puts the command behind its arguments.
    pub fn for_command(mut self, words: &[&str]) -> Tool {
        if !self.command.get_args().any(|it| it == "--timeout") {
            self.command.args(["--timeout", TIMEOUT]);
        }
        self.command.arg("--").args(words);
        self
    }

    /// Runs it as it is.
    pub fn end(self) -> Done {
        self.start().end()
    }

    /// Starts it.
    pub fn start(mut self) -> Running {
        let child = self.command.stdout(Stdio::piped()).stderr(Stdio::piped()).spawn();
        Running { child: child.expect("the tool can be run"), directory: self.directory }
    }
}

/// The tool while it runs.
pub struct Running {
    child: Child,
    directory: TempDir,
}

impl Running {
    /// Waits until the command has made a file in the directory where it runs.
    pub fn wait_for(&mut self, file: &str) {
        while !self.directory.path().join(file).exists() {
            let ended = self.child.try_wait().expect("the tool can be waited for");
            assert!(ended.is_none(), "the tool has ended and there is no `{file}`: {ended:?}");
            std::thread::sleep(std::time::Duration::from_millis(10));
        }
    }

    /// Sends it a signal.
    pub fn signal(&self, name: &str) {
        let status = Command::new("kill").args(["-s", name, &self.child.id().to_string()]).status();
        assert!(status.expect("kill can be run").success());
    }

    /// Waits for its end.
    pub fn end(self) -> Done {
        let output = self.child.wait_with_output().expect("the tool can be waited for");
        Done {
            code: output.status.code().expect("the tool is not ended by a signal"),
            stdout: String::from_utf8_lossy(&output.stdout).into_owned(),
            stderr: String::from_utf8_lossy(&output.stderr).into_owned(),
            directory: self.directory,
        }
    }
}

/// Result of a run of the tool.
#[derive(Debug)]
pub struct Done {
    pub code: i32,
    pub stdout: String,
    pub stderr: String,
    directory: TempDir,
}

impl Done {
    /// Asserts the exit code.
    #[track_caller]
    pub fn exits(self, code: i32) -> Done {
        assert_eq!(self.code, code, "the exit code\nstdout: {}\nstderr: {}", self.stdout, self.stderr);
        self
    }

    /// Asserts that the tool says something to people.
    #[track_caller]
    pub fn says(self, text: &str) -> Done {
        assert!(self.stderr.contains(text), "`{text}` is not said\nstderr: {}", self.stderr);
        self
    }

    /// The outcome: all that is on stdout.
    #[track_caller]
    pub fn outcome(&self) -> Value {
        serde_json::from_str(&self.stdout)
            .unwrap_or_else(|error| panic!("{error}\nstdout: {}\nstderr: {}", self.stdout, self.stderr))
    }

    /// The directory that it ran in.
    pub fn directory(&self) -> &Path {
        self.directory.path()
    }

    /// The directory of its trial.
    pub fn trial(&self) -> PathBuf {
        self.directory().join("hypocenter-out/latest/trials/000")
    }

    /// Standard output of the program.
    #[track_caller]
    pub fn program(&self) -> String {
        fs::read_to_string(self.trial().join("logs/main.stdout.log"))
            .unwrap_or_else(|error| panic!("the program's output: {error}\nstderr: {}", self.stderr))
    }
}

/// The number behind a word of a text: 7 of `wall_ms 7`.
#[track_caller]
pub fn number_after(text: &str, word: &str) -> u64 {
    let mut words = text.split_whitespace().skip_while(|it| *it != word);
    let number = words.nth(1).unwrap_or_else(|| panic!("no `{word}` in `{text}`"));
    number.parse().unwrap_or_else(|_| panic!("`{word} {number}` in `{text}`"))
}

/// Tests whether a process does something; one that has ended and that nobody has asked for yet does not.
pub fn is_running(pid: &str) -> bool {
    let status = fs::read_to_string(format!("/proc/{pid}/status")).unwrap_or_default();
    status.lines().any(|line| line.starts_with("State:") && !line.contains('Z') && !line.contains('X'))
}

/// The processes of this machine that have an entry in their environment and do something, each with its command. Inside of a
/// sandbox they have other numbers, so that the one that a script knows says nothing out here.
pub fn processes_with(entry: &str) -> Vec<String> {
    let all = fs::read_dir("/proc").expect("/proc can be read").flatten();
    all.filter_map(|it| it.file_name().into_string().ok())
        .filter(|pid| pid.bytes().all(|it| it.is_ascii_digit()))
        .filter(|pid| {
            let environment = fs::read(format!("/proc/{pid}/environ")).unwrap_or_default();
            environment.split(|&it| it == 0).any(|it| it == entry.as_bytes()) && is_running(pid)
        })
        .map(|pid| {
            let line = fs::read(format!("/proc/{pid}/cmdline")).unwrap_or_default();
            format!("{pid}: {}", String::from_utf8_lossy(&line).replace('\0', " "))
        })
        .collect()
}

/// Number of repetitions of a test of chance or of races: a few times, or as `HYPOCENTER_REPEAT` says.
pub fn repeats(few: usize) -> usize {
    std::env::var("HYPOCENTER_REPEAT").ok().and_then(|text| text.parse().ok()).unwrap_or(few)
}

/// Checks every row of a table, two at a time, and fails with the names of all that failed.
pub fn each<R: Sync>(rows: &[R], name: impl Fn(&R) -> String + Sync, check: impl Fn(&R) + Sync) {
    let (next, failed) = (AtomicUsize::new(0), Mutex::new(Vec::new()));
    std::thread::scope(|scope| {
        for _ in 0..2 {
            scope.spawn(|| {
                while let Some(row) = rows.get(next.fetch_add(1, Ordering::Relaxed)) {
                    if let Err(panic) = catch_unwind(AssertUnwindSafe(|| check(row))) {
                        let text = panic.downcast_ref::<String>().cloned();
                        let text = text.or_else(|| panic.downcast_ref::<&str>().map(ToString::to_string));
                        let text = format!("== {}\n{}", name(row), text.unwrap_or_default());
                        failed.lock().expect("no row panics with the lock").push(text);
                    }
                }
            });
        }
    });
    let failed = failed.into_inner().expect("no row panics with the lock");
    assert!(failed.is_empty(), "{} of {} rows:\n{}", failed.len(), rows.len(), failed.join("\n"));
}

/// Every row on every JDK.
pub fn on_every_jdk<R>(rows: &[R]) -> Vec<(&'static Jdk, &R)> {
    jdks().iter().flat_map(|jdk| rows.iter().map(move |row| (jdk, row))).collect()
}
