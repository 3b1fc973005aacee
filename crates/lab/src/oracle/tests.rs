//! Every kind of oracle over real files. The texts in `testdata` are what JUnitCore 4.13, the console launcher of
//! JUnit 5.11 and Surefire 3.2 wrote for the same four classes.

use std::fs::{self, File};
use std::io::{BufWriter, Write};
use std::os::unix::fs::symlink;
use std::path::PathBuf;
use std::time::{Duration, SystemTime};

use hypocenter_plan::Role;
use tempfile::TempDir;

use super::*;

const JUNIT_CORE: &str = include_str!("testdata/junitcore.txt");
const CONSOLE: &str = include_str!("testdata/console.txt");
const MAVEN: &str = include_str!("testdata/maven.txt");
const STORE_TEST: &str = include_str!("testdata/TEST-org.acme.StoreTest.xml");
const WHEN_FULL: &str = include_str!("testdata/TEST-org.acme.StoreTest-WhenFull.xml");
const OLD_TEST: &str = include_str!("testdata/TEST-org.acme.OldTest.xml");
const SETUP_TEST: &str = include_str!("testdata/TEST-org.acme.SetupTest.xml");

/// A trial that is over: `trial` is its directory, `trial/fresh` what `{dir}` stands for, `base` the project.
struct Stage {
    root: TempDir,
    end: End,
    processes: Vec<ProcessOutcome>,
    threads: Vec<LiveThread<'static>>,
    started: SystemTime,
}

fn process(name: &str, role: Role, incarnation: u32, end: Option<End>, logs: &[&str]) -> ProcessOutcome {
    ProcessOutcome {
        name: name.to_owned(),
        role,
        incarnation,
        started_ms: 0,
        ready_ms: None,
        ended_ms: None,
        end,
        progress: None,
        steps: None,
        alive: None,
        logs: logs.iter().map(|it| (*it).to_owned()).collect(),
    }
}

const WELL: End = End::Exited { status: 0 };

impl Stage {
    fn new() -> Stage {
        let root = TempDir::new().unwrap();
        for directory in ["trial/fresh", "base", "private"] {
            fs::create_dir_all(root.path().join(directory)).unwrap();
        }
        let started = SystemTime::now();
        Stage { root, end: WELL, processes: Vec::new(), threads: Vec::new(), started }
    }

    /// A trial of one command that wrote this.
    fn of_output(text: impl AsRef<[u8]>) -> Stage {
        let mut stage = Stage::new().file("trial/out", text).file("trial/err", "");
        stage.processes.push(process("main", Role::Command, 1, Some(WELL), &["out", "err"]));
        stage
    }

    fn path(&self, name: &str) -> PathBuf {
        self.root.path().join(name)
    }

    fn file(self, name: &str, text: impl AsRef<[u8]>) -> Stage {
        fs::create_dir_all(self.path(name).parent().unwrap()).unwrap();
        fs::write(self.path(name), text).unwrap();
        self
    }

    fn process(mut self, name: &str, role: Role, end: Option<End>, log: &str) -> Stage {
        let incarnation = 1 + self.processes.iter().filter(|it| it.name == name).count() as u32;
        let file = format!("{name}-{incarnation}.out");
        self.processes.push(process(name, role, incarnation, end, &[&file]));
        self.file(&format!("trial/{file}"), log)
    }

    fn thread(mut self, process: &'static str, name: &'static str, frames: &[&'static str]) -> Stage {
        self.threads.push(LiveThread { process, name, frames: frames.to_vec() });
        self
    }

    fn ended(mut self, end: End) -> Stage {
        self.end = end;
        self
    }

    fn judge(&self, oracle: &str) -> Result<OracleOutcome, OracleError> {
        let oracle: Oracle = serde_json::from_str(oracle).expect("a test's oracle can be read");
        let (directory, fresh) = (self.path("trial"), self.path("trial/fresh"));
        let (base, private) = (self.path("base"), self.path("private"));
        judge(
            &oracle,
            &Scene {
                end: self.end,
                started: self.started,
                processes: &self.processes,
                directory: &directory,
                fresh: &fresh,
                base: &base,
                tmp: Some(&private),
                threads: &self.threads,
                commands: &|command| match command {
                    "true" => Some(true),
                    "false" => Some(false),
                    _ => None,
                },
            },
        )
    }

    #[track_caller]
    fn check(&self, oracle: &str, happened: bool, part: &str) {
        let outcome = self.judge(oracle).unwrap();
        assert_eq!(outcome.happened, happened, "{oracle}: {}", outcome.why);
        assert!(outcome.why.contains(part), "{oracle}: {}", outcome.why);
    }

    #[track_caller]
    fn fails(&self, oracle: &str, part: &str) {
        let why = self.judge(oracle).unwrap_err().to_string();
        assert!(why.contains(part), "{oracle}: {why}");
    }
}

#[test]
fn a_log_line_is_found_by_text_or_expression() {
    let stage = Stage::of_output("start\r\nSevere error (code 7)\nSevere error (code 8)\nlast without end");
    stage.check(r#"{"log": "Severe error"}"#, true, "out:2: Severe error (code 7)");
    stage.check(r#"{"log": "error (code 8)"}"#, true, "out:3: ");
    stage.check(r#"{"log": "code [0-9]"}"#, true, "out:2: ");
    stage.check(r#"{"log": "(code 7"}"#, true, "out:2: ");
    stage.check(r#"{"log": "without end$"}"#, true, "out:4: last");
    stage.check(r#"{"regex": "^start$"}"#, true, "out:1: start");
    stage.check(r#"{"text": "code [0-9]"}"#, false, "no line of out, err has `code [0-9]`");
    stage.check(r#"{"regex": "error (code 7)"}"#, false, "no line of out, err has");
    stage.check(r#"{"regex": "start.Severe"}"#, false, "no line");
    stage.check(r#"{"log": "Severe", "times": 2}"#, true, "at least 2 lines, the 2nd is out:3: ");
    stage.check(r#"{"log": "Severe", "times": 3}"#, false, "only 2 of 3 lines of out, err have `Severe`");
    stage.check(r#"{"log": "Severe", "node": "zk9"}"#, false, "no process `zk9` was started (started: main)");
}

#[test]
fn logs_of_all_incarnations_of_a_process_count_together() {
    let stage = Stage::new()
        .process("zk1", Role::Node, Some(End::Signalled { signal: 9 }), "lost\n")
        .process("zk2", Role::Node, None, "lost\nlost\n")
        .process("zk1", Role::Node, None, "up\nlost\n");
    stage.check(r#"{"log": "lost", "node": "zk1", "times": 2}"#, true, "the 2nd is zk1-2.out:2: lost");
    stage.check(r#"{"log": "lost", "node": "zk1", "times": 3}"#, false, "only 2 of 3");
    stage.check(r#"{"log": "lost", "times": 4}"#, true, "the 4th is zk1-2.out:2");
    stage.check(r#"{"log": "up", "node": "zk2"}"#, false, "no line of zk2-1.out has `up`");
}

#[test]
fn a_log_that_is_gone_is_an_error_that_names_it() {
    let stage = Stage::of_output("fine\n");
    fs::remove_file(stage.path("trial/err")).unwrap();
    // Nothing is read once enough was seen.
    stage.check(r#"{"log": "fine"}"#, true, "out:1");
    stage.fails(r#"{"log": "absent"}"#, "trial/err cannot be read");
    stage.fails(r#"{"not": {"log": "absent"}}"#, "trial/err cannot be read");
}

#[test]
fn broken_characters_do_not_hide_a_line() {
    let stage = Stage::of_output(b"\xff\xfe\x00\nfailed \xc3( with \xff code 5\nfehlgeschlagen: \xc3\xa4\n");
    stage.check(r#"{"text": "code 5"}"#, true, "out:2: failed \u{fffd}( with \u{fffd} code 5");
    stage.check(r#"{"regex": "failed .* with .+ code \\d"}"#, true, "out:2: ");
    stage.check(r#"{"regex": ": .$"}"#, true, "out:3: fehlgeschlagen: ä");
}

#[test]
fn what_is_shown_of_a_line_is_cut() {
    let stage = Stage::of_output(format!("{}needle\n", "é".repeat(5000)));
    let why = stage.judge(r#"{"log": "needle"}"#).unwrap().why;
    assert_eq!(why, format!("out:1: {}...", "é".repeat(200)));
}

#[test]
fn an_oracle_that_cannot_be_meant_is_refused_before_anything_runs() {
    let check = |oracle: &str, part: &str| {
        let oracle: Oracle = serde_json::from_str(oracle).unwrap();
        let why = super::check(&oracle).unwrap_err().to_string();
        assert!(why.contains(part), "{oracle}: {why}");
    };
    check(r#"{"regex": "a("}"#, "log `a(`: it is not a regular expression");
    check(r#"{"regex": "(?:a{1000}){1000}{1000}"}"#, "not a regular expression");
    check(r#"{"log": ""}"#, "it is empty");
    check(r#"{"regex": ".*"}"#, "matches every line");
    check(r#"{"log": "lost*|"}"#, "matches every line");
    check(r#"{"text": "a\nb"}"#, "lines are matched one by one");
    check(r#"{"log": "a", "times": 0}"#, "give 1 or more");
    check(r#"{"all": [{"exit": 1}, {"not": {"regex": "["}}]}"#, "log `[`");
    check(r#"{"stack": "Roller.java:12"}"#, "`package.Class.method`");
    check(r#"{"stack": ["a.B.c", ""]}"#, "`package.Class.method`");
    check(r#"{"stack": "*"}"#, "matches every thread");
    check(r#"{"file": "logs/*.txt"}"#, "name one file");
    check(r#"{"file": "x", "contains": ""}"#, "contains ``: it is empty");
    check(r#"{"junit": "StoreTest#appends"}"#, "`Class.method`");
    check(r#"{"junit": "StoreTest.m(String)"}"#, "without parameters");
    check(r#"{"junit": "T", "reports": "target/"}"#, "such as `*.xml`");
    check(r#"{"command": " "}"#, "it is empty");
    for fine in [
        r#"{"log": "(open"}"#,
        r#"{"text": "**"}"#,
        r#"{"regex": "^$"}"#,
        r#"{"stack": "*", "thread": "main"}"#,
        r#"{"exit": "timeout"}"#,
        r#"{"junit": "a.*Test.m*", "reports": "{dir}/*.xml"}"#,
    ] {
        assert!(super::check(&serde_json::from_str(fine).unwrap()).is_ok(), "{fine}");
    }
}

#[test]
fn frames_are_next_to_each_other_in_one_live_thread() {
    let stage = Stage::new()
        .thread("rs1", "main", &["java.lang.Object.wait", "org.acme.Main.main"])
        .thread("rs1", "regionserver/rs1.logRoller", &["a.Lock.take", "wal.Roller.wait", "wal.Roller.run"])
        .thread("rs2", "pool-1", &["wal.Roller.run", "java.lang.Thread.run"]);
    stage.check(
        r#"{"stack": "wal.Roller.wait"}"#,
        true,
        "thread `regionserver/rs1.logRoller` of rs1 is in wal.Roller.wait",
    );
    stage.check(r#"{"stack": "Roller.wait"}"#, true, "is in wal.Roller.wait");
    stage.check(r#"{"stack": "oller.wait"}"#, false, "none of the 3 threads is in oller.wait");
    stage.check(r#"{"stack": "*oller.wait"}"#, true, "logRoller");
    stage.check(r#"{"stack": ["Roller.wait", "Roller.run"]}"#, true, "wal.Roller.wait, wal.Roller.run");
    stage.check(r#"{"stack": ["Lock.take", "Roller.run"]}"#, false, "but not next to each other");
    stage.check(r#"{"stack": ["Roller.run", "Roller.wait"]}"#, false, "not next to each other");
    stage.check(r#"{"stack": "Roller.run", "thread": "pool-*"}"#, true, "thread `pool-1` of rs2");
    stage.check(r#"{"stack": "Roller.wait", "thread": "pool-*"}"#, false, "1 threads called `pool-*`");
    stage.check(r#"{"stack": "Roller.wait", "thread": "x"}"#, false, "none of the 3 threads");
    stage.check(r#"{"stack": "Roller.wait", "node": "rs2"}"#, false, "none of the 1 threads of rs2");
    stage.check(r#"{"stack": "Roller.wait", "node": "rs3"}"#, false, "no thread of rs3 was alive");
    stage.check(r#"{"stack": ["*", "*", "*", "*"], "thread": "main"}"#, false, "none of the 1 threads");
}

#[test]
fn an_exit_is_that_of_the_command_or_of_a_client_or_of_who_is_named() {
    let killed = End::Signalled { signal: 9 };
    let command = |end| Stage::new().process("main", Role::Command, end, "");
    command(Some(WELL)).check(r#"{"exit": 0}"#, true, "main exited with status 0");
    command(Some(WELL)).check(r#"{"exit": "failed"}"#, false, "main exited with status 0");
    command(Some(End::Exited { status: 3 })).check(r#"{"exit": "failed"}"#, true, "status 3");
    command(Some(killed)).check(r#"{"exit": "failed"}"#, true, "signal 9");
    command(Some(killed)).check(r#"{"exit": "signal 9"}"#, true, "signal 9");
    command(Some(killed)).check(r#"{"exit": "signal 6"}"#, false, "signal 9");
    command(None).check(r#"{"exit": "failed"}"#, false, "main was still running at the end");

    let late = |end| command(end).ended(End::TimedOut);
    late(None).check(r#"{"exit": "timeout"}"#, true, "the trial timed out");
    late(None).check(r#"{"exit": "timeout", "client": "main"}"#, true, "still running at the timeout");
    late(Some(WELL)).check(r#"{"exit": "timeout", "client": "main"}"#, false, "status 0");
    command(Some(WELL)).check(r#"{"exit": "timeout"}"#, false, "the workload exited with status 0");
    command(None).check(
        r#"{"exit": "timeout", "node": "main"}"#,
        false,
        "still running at the end of the trial",
    );

    let cluster = Stage::new()
        .process("zk1", Role::Node, Some(End::Exited { status: 7 }), "")
        .process("zk1", Role::Node, None, "")
        .process("c1", Role::Client, Some(WELL), "")
        .process("c2", Role::Client, Some(End::Exited { status: 2 }), "");
    cluster.check(r#"{"exit": 2}"#, true, "c2 exited with status 2");
    cluster.check(r#"{"exit": 7}"#, false, "c1 exited with status 0, c2 exited with status 2");
    cluster.check(r#"{"exit": 7, "node": "zk1"}"#, false, "zk1 was still running");
    cluster.check(r#"{"exit": 0, "client": "c3"}"#, false, "no process `c3` was started");
    Stage::new().process("zk1", Role::Node, None, "").check(
        r#"{"exit": 0}"#,
        false,
        "no command and no client",
    );
}

#[test]
fn a_file_is_looked_for_where_it_really_is() {
    let stage = Stage::new()
        .file("base/core.txt", "one\ntwo lines\n")
        .file("trial/fresh/data/snap.1", b"\x00\xffhead\n")
        .file("private/app/lock", "held\n")
        .file("private/gone", "");
    stage.check(r#"{"file": "core.txt"}"#, true, "base/core.txt exists");
    stage.check(r#"{"file": "core.txt", "contains": "two"}"#, true, "base/core.txt:2: two lines");
    stage.check(r#"{"file": "core.txt", "contains": "t.o l"}"#, true, ":2: ");
    stage.check(r#"{"file": "core.txt", "contains": "three"}"#, false, "core.txt has `three`");
    stage.check(r#"{"file": "{dir}/data/snap.1", "contains": "head"}"#, true, "snap.1:1: ");
    stage.check(r#"{"file": "{dir}/data"}"#, true, "exists");
    stage.check(r#"{"file": "{dir}"}"#, true, "exists");
    stage.check(r#"{"file": "{dir}/data/snap.1/x"}"#, false, " does not exist");
    stage.check(r#"{"file": "/tmp/app/lock", "contains": "held"}"#, true, "private/app/lock:1: held");
    stage.check(r#"{"file": "/tmp/app/none"}"#, false, "private/app/none");
    stage.check(r#"{"file": "/nowhere/x"}"#, false, "/nowhere/x does not exist");
    stage.fails(r#"{"file": "{dir}/data", "contains": "x"}"#, "not a regular file");
    // The trial's own directory keeps its path, also where it is below /tmp.
    let named = stage.path("trial/fresh/data/snap.1");
    stage.check(&format!(r#"{{"file": {named:?}}}"#), true, "snap.1 exists");
}

#[test]
fn a_pipe_in_place_of_a_file_does_not_keep_us_waiting() {
    let stage = Stage::of_output("");
    let pipe = stage.path("base/pipe");
    rustix::fs::mkfifoat(rustix::fs::CWD, &pipe, 0o600.into()).unwrap();
    stage.check(r#"{"file": "pipe"}"#, true, "exists");
    stage.fails(r#"{"file": "pipe", "contains": "x"}"#, "not a regular file");
    symlink("loop", stage.path("base/loop")).unwrap();
    stage.fails(r#"{"file": "loop"}"#, "base/loop cannot be read");
}

#[test]
fn reports_say_which_tests_failed() {
    let stage = Stage::new()
        .file("base/target/surefire-reports/TEST-org.acme.StoreTest.xml", STORE_TEST)
        .file("base/target/surefire-reports/TEST-org.acme.OldTest.xml", OLD_TEST)
        .file("base/target/surefire-reports/TEST-org.acme.SetupTest.xml", SETUP_TEST)
        .file("base/target/surefire-reports/notes.xml", "<project/>")
        .file("trial/fresh/module/reports/a/TEST-x.xml", WHEN_FULL);
    let check = |test: &str, reports: &str, happened: bool, part: &str| {
        stage.check(&format!(r#"{{"junit": "{test}", "reports": "{reports}"}}"#), happened, part);
    };
    let maven = "target/surefire-reports/*.xml";
    check("StoreTest.appends", maven, true, "org.acme.StoreTest.appends failed: records after the append");
    check("StoreTest.appends", maven, true, "(target/surefire-reports/TEST-org.acme.StoreTest.xml)");
    check("org.acme.StoreTest", maven, true, "failed: expected: not equal but was: <b>");
    check("StoreTest.opens", maven, true, "org.acme.StoreTest.opens failed");
    check("StoreTest.reads", maven, true, "failed: closed");
    check("StoreTest.flaky", maven, false, "1 tests in 3 reports match `StoreTest.flaky`, and none failed");
    check("OldTest.counts", maven, true, "failed: n expected:<1> but was:<2>");
    check("OldTest.stands", maven, false, "2 tests in 3 reports match");
    check("SetupTest", maven, true, "org.acme.SetupTest failed: no port");
    check("SetupTest.never", maven, false, "org.acme.SetupTest failed outside of its test methods: no port");
    check("NoTest", maven, false, "none of the 8 tests in 3 reports is `NoTest`");
    check(
        "*.refuses",
        "{dir}/*/reports/*/TEST-*.xml",
        true,
        "org.acme.StoreTest$WhenFull.refuses failed: took it",
    );
    check("StoreTest.flaky", "{dir}/**/TEST-*.xml", true, "first time");
    check("StoreTest.skipped", "{dir}/**/*.xml", false, "1 tests in 1 reports match");
    stage.fails(
        r#"{"junit": "T", "reports": "build/test-results/*.xml"}"#,
        " does not exist; the tests wrote no report",
    );
    stage.fails(r#"{"junit": "T", "reports": "target/surefire-reports"}"#, "this is a directory");
    stage.fails(r#"{"junit": "T", "reports": "target/*/notes.xml"}"#, "none is a test report");
}

#[test]
fn reports_from_before_the_trial_are_left_out() {
    let stage = Stage::new().file("base/r/a.xml", STORE_TEST).file("base/r/b.xml", OLD_TEST);
    let old = stage.started - Duration::from_secs(1);
    let set_old = |name: &str| {
        File::options().write(true).open(stage.path(name)).unwrap().set_modified(old).unwrap();
    };
    stage.check(r#"{"junit": "StoreTest.reads", "reports": "r/*.xml"}"#, true, "failed: closed");
    set_old("base/r/a.xml");
    stage.check(
        r#"{"junit": "StoreTest.reads", "reports": "r/*.xml"}"#,
        false,
        "none of the 4 tests in 1 reports is `StoreTest.reads`; 1 reports older than the trial were left out",
    );
    set_old("base/r/b.xml");
    stage.fails(r#"{"junit": "OldTest", "reports": "r/*.xml"}"#, "all are older than the trial");
}

#[test]
fn a_report_that_cannot_be_read_matters_only_if_no_other_has_the_failure() {
    let stage = Stage::new().file("base/r/1.xml", &STORE_TEST[..1000]).file("base/r/2.xml", OLD_TEST);
    stage.check(r#"{"junit": "OldTest", "reports": "r/*.xml"}"#, true, "org.acme.OldTest.counts");
    stage.fails(r#"{"junit": "NoTest", "reports": "r/*.xml"}"#, "r/1.xml cannot be read: it is truncated");
    let large = Stage::new();
    fs::create_dir(large.path("base/r")).unwrap();
    File::create(large.path("base/r/1.xml")).unwrap().set_len(1 << 30).unwrap();
    large.fails(r#"{"junit": "T", "reports": "r/*.xml"}"#, "it has 1024 MB, and the limit is 256 MB");
}

#[test]
fn what_a_runner_prints_says_which_tests_failed() {
    let check = |text: &str, test: &str, happened: bool, part: &str| {
        Stage::of_output(text).check(&format!(r#"{{"junit": "{test}"}}"#), happened, part);
    };
    check(
        JUNIT_CORE,
        "PlainTest.testSync",
        true,
        "org.acme.PlainTest.testSync failed (out:14: 3) testSync(org",
    );
    check(JUNIT_CORE, "OldTest.counts", true, "out:5: 1) counts[1](org.acme.OldTest)");
    check(JUNIT_CORE, "SetupTest", true, "out:18: 4) org.acme.SetupTest");
    check(JUNIT_CORE, "SetupTest.never", false, "org.acme.SetupTest failed outside of a test method (out:18");
    check(
        JUNIT_CORE,
        "PlainTest.testFine",
        false,
        "tests failed in out, err, but none is `PlainTest.testFine`",
    );
    check(JUNIT_CORE, "a.real", false, "but none is");

    check(CONSOLE, "org.acme.StoreTest.appends", true, "MethodSource [className = 'org.acme.StoreTest'");
    check(CONSOLE, "StoreTest.opens", true, "org.acme.StoreTest.opens failed");
    check(CONSOLE, "WhenFull.refuses", true, "org.acme.StoreTest$WhenFull.refuses failed");
    check(CONSOLE, "OldTest.counts", true, "org.acme.OldTest.counts");
    check(CONSOLE, "SetupTest", true, "ClassSource");
    check(CONSOLE, "StoreTest.fine", false, "but none is");

    check(MAVEN, "StoreTest.appends", true, "<<< FAILURE!");
    check(MAVEN, "StoreTest.reads", true, "<<< ERROR!");
    check(MAVEN, "StoreTest.opens", true, "org.acme.StoreTest.opens(String)[2] -- Time elapsed");
    check(MAVEN, "OldTest", true, "in org.acme.OldTest");
    check(MAVEN, "SetupTest.up", true, "Run 1: SetupTest.up:4");
    check(MAVEN, "StoreTest.fine", false, "but none is");
    let (_, summary) = MAVEN.split_once("Results:").unwrap();
    let summary = format!("[INFO] Results:{summary}");
    check(&summary, "PlainTest.testOther", true, "out:");
    check(&summary, "org.acme.StoreTest.opens", true, "[ERROR] org.acme.StoreTest.opens(String)[2]");
    check(&summary, "PlainTest.testFine", false, "but none is");

    check("OK (3 tests)\n", "StoreTest", false, "no failed test in out, err");
    check("hello\n", "StoreTest", false, "no runner of JUnit tests printed its result to out, err");
}

#[test]
fn tests_are_looked_for_in_the_output_of_clients_not_of_nodes() {
    let stage = Stage::new().process("zk1", Role::Node, None, JUNIT_CORE);
    stage.check(r#"{"junit": "OldTest"}"#, true, "zk1-1.out:5");
    let stage = stage.process("c1", Role::Client, Some(WELL), "OK (1 test)\n");
    stage.check(r#"{"junit": "OldTest"}"#, false, "no failed test in c1-1.out");
}

#[test]
fn commands_are_asked_of_the_lab() {
    let stage = Stage::new();
    stage.check(r#"{"command": "true"}"#, true, "`true` ended with status 0");
    stage.check(r#"{"command": "false"}"#, false, "`false` did not end with status 0");
    stage.fails(r#"{"command": "nosuch"}"#, "`nosuch` could not be run");
}

#[test]
fn combinations_say_what_decided() {
    let stage = Stage::of_output("lost\n");
    stage.check(
        r#"{"all": [{"log": "lost"}, {"exit": 0}, {"command": "true"}]}"#,
        true,
        "out:1: lost; main exited with status 0; `true` ended",
    );
    stage.check(r#"{"all": [{"log": "lost"}, {"exit": 1}]}"#, false, "main exited with status 0");
    stage.check(r#"{"any": [{"exit": 1}, {"log": "lost"}]}"#, true, "out:1: lost");
    stage.check(
        r#"{"any": [{"exit": 1}, {"log": "found"}]}"#,
        false,
        "main exited with status 0; no line of out, err has `found`",
    );
    stage.check(r#"{"not": {"log": "found"}}"#, true, "no line of out, err has `found`");
    stage.check(r#"{"not": {"log": "lost"}}"#, false, "but the oracle requires the opposite: out:1: lost");
    stage.check(
        r#"{"all": [{"any": [{"exit": 3}, {"log": "lo+st"}]}, {"not": {"file": "x"}}]}"#,
        true,
        "x does not exist",
    );
    // What cannot be judged matters only where nothing else decides.
    stage.check(r#"{"any": [{"command": "nosuch"}, {"log": "lost"}]}"#, true, "out:1: lost");
    stage.check(r#"{"all": [{"command": "nosuch"}, {"exit": 1}]}"#, false, "status 0");
    stage.fails(r#"{"any": [{"command": "nosuch"}, {"exit": 1}]}"#, "`nosuch` could not be run");
    stage.fails(r#"{"all": [{"command": "nosuch"}, {"exit": 0}]}"#, "`nosuch` could not be run");
    let many = vec![r#"{"log": "lost"}"#; 1000].join(",");
    let outcome = stage.judge(&format!(r#"{{"all": [{many}]}}"#)).unwrap();
    assert!(outcome.happened && outcome.why.len() < 2100, "{}", outcome.why.len());
}

#[test]
fn the_processes_that_an_oracle_names_are_listed() {
    let oracle = r#"{"all": [{"log": "a", "node": "n1"}, {"not": {"any": [{"exit": 1, "client": "c1"},
        {"stack": "a.B.c", "node": "n2"}, {"file": "x"}]}}, {"log": "b"}]}"#;
    assert_eq!(named_processes(&serde_json::from_str(oracle).unwrap()), ["n1", "c1", "n2"]);
}

/// The most memory that this process ever had, in kB.
fn memory_peak_kb() -> u64 {
    let status = fs::read_to_string("/proc/self/status").unwrap();
    let line = status.lines().find(|line| line.starts_with("VmHWM:")).unwrap();
    line.split_whitespace().nth(1).unwrap().parse().unwrap()
}

#[test]
fn logs_of_hundreds_of_megabytes_are_read_in_little_memory() {
    const SIZE: u64 = 300 << 20;
    let stage = Stage::of_output("");
    let line = format!("2024-01-01 INFO [main] acme.Store: {}\n", "appended a record ".repeat(230));
    let mut log = BufWriter::new(File::create(stage.path("trial/out")).unwrap());
    for _ in 0..SIZE / line.len() as u64 {
        log.write_all(line.as_bytes()).unwrap();
    }
    log.write_all(b"Severe\n").unwrap();
    log.flush().unwrap();
    drop(log);
    // One line of 300 MB: what comes first is seen, what comes after its first megabyte is not, the next line is.
    let mut sparse = File::create(stage.path("trial/err")).unwrap();
    sparse.write_all(b"the head ").unwrap();
    sparse.set_len(SIZE).unwrap();
    let mut sparse = File::options().append(true).open(stage.path("trial/err")).unwrap();
    sparse.write_all(b"the tail\nthe next\n").unwrap();

    // Expressions that fail at a line's first character: what is tried here is the reading, in a slow build too.
    let before = memory_peak_kb();
    let lines = SIZE / line.len() as u64;
    stage.check(r#"{"regex": "^Severe"}"#, true, &format!("out:{}: Severe", lines + 1));
    stage.check(r#"{"regex": "^the next"}"#, true, "err:2: the next");
    fs::write(stage.path("trial/out"), "").unwrap();
    stage.check(r#"{"text": "the head"}"#, true, "err:1: the head");
    stage.check(r#"{"text": "the tail"}"#, false, "no line");
    let grown = memory_peak_kb() - before;
    assert!(grown < 64 << 10, "{grown} kB more");
}
