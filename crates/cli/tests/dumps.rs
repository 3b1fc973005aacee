//! Thread dumps by the agent: asked for while the program runs, complete, and out of the program's way.

mod support;

use std::fs;
use std::path::{Path, PathBuf};
use std::process::Command;
use std::time::{Duration, Instant};

use hypocenter_plan::{DumpedThread, ThreadDump};
use hypocenter_trace::{Trace, TrialControl};
use serde_json::json;
use support::{Done, Jdk, Running, Tool, classes, default_jdk, each, jdks};

/// No answer takes this long.
const PATIENCE: Duration = Duration::from_secs(60);

/// A run of the tool whose program waits for its end.
struct Live {
    running: Running,
    directory: PathBuf,
    trial: TrialControl,
}

/// Waits for a condition.
#[track_caller]
fn until(what: &str, mut holds: impl FnMut() -> bool) {
    let start = Instant::now();
    while !holds() {
        assert!(start.elapsed() < PATIENCE, "{what}: not within {PATIENCE:?}");
        std::thread::sleep(Duration::from_millis(5));
    }
}

impl Live {
    /// Starts the tool and waits until the program has made all these files.
    fn start(tool: Tool, words: &[&str], ready: &[&str]) -> Live {
        let directory = tool.directory().to_owned();
        let mut running = tool.for_command(words).start();
        ready.iter().for_each(|file| running.wait_for(file));
        let trial = TrialControl::open(&directory.join("hypocenter-out/latest/trials/000/trace"));
        Live { running, directory, trial: trial.expect("the trial has begun") }
    }

    /// `probe.Dumps` in one JVM.
    fn dumps(tool: Tool, jdk: &Jdk, options: &str, arguments: &str) -> Live {
        let (java, classes) = (jdk.java(), classes().display().to_string());
        let words = [java.as_str()].into_iter().chain(options.split_whitespace());
        let words =
            words.chain(["-cp", &classes, "probe.Dumps", "ready"]).chain(arguments.split_whitespace());
        Live::start(tool, &words.collect::<Vec<_>>(), &["ready"])
    }

    fn files(&self) -> PathBuf {
        self.directory.join("hypocenter-out/latest/trials/000")
    }

    /// Asks for a dump, and waits until all JVMs have answered but those of these nodes.
    fn ask(&self, dead: &[&str]) -> u32 {
        let request = self.trial.request_dump().unwrap();
        until("every JVM answers", || {
            self.trial.dumps_pending(request).unwrap().iter().all(|it| dead.contains(&it.node.as_str()))
        });
        let silent: Vec<_> =
            self.trial.dumps_pending(request).unwrap().into_iter().map(|it| it.node).collect();
        assert_eq!(silent, dead);
        request
    }

    /// The dumps of a request, by file name.
    fn dumped(&self, request: u32) -> Vec<(String, ThreadDump)> {
        let Ok(entries) = fs::read_dir(self.files().join("dumps")) else { return Vec::new() };
        let mut all: Vec<_> = entries
            .map(|entry| entry.unwrap())
            .filter(|entry| entry.file_name().to_str().unwrap().ends_with(&format!("-{request}.json")))
            .map(|entry| {
                let text = fs::read_to_string(entry.path()).unwrap();
                (entry.file_name().into_string().unwrap(), serde_json::from_str(&text).unwrap())
            })
            .collect();
        all.sort_by(|a: &(String, ThreadDump), b| a.0.cmp(&b.0));
        all
    }

    /// Lets the program end.
    fn end(self) -> Done {
        fs::write(self.directory.join("go"), "").unwrap();
        self.running.end()
    }
}

#[track_caller]
fn thread<'a>(dump: &'a ThreadDump, name: &str) -> &'a DumpedThread {
    let found: Vec<_> = dump.threads.iter().filter(|it| it.name == name).collect();
    let [thread] = found.as_slice() else { panic!("one thread `{name}`: {found:?}") };
    thread
}

fn methods(thread: &DumpedThread) -> Vec<&str> {
    thread.frames.iter().map(|it| it.method.as_str()).collect()
}

/// The program's threads, as `probe.Dumps` leaves them.
fn check(dump: &ThreadDump) {
    let (left, right) = (thread(dump, "left-handed"), thread(dump, "right-handed"));
    for (one, other) in [(left, right), (right, left)] {
        assert_eq!(one.state, "BLOCKED");
        assert_eq!(one.daemon, Some(true));
        let waits = one.waits_for.as_ref().expect("it waits for a fork");
        assert_eq!((waits.owner.as_deref(), waits.owner_id), (Some(other.name.as_str()), Some(other.id)));
        assert_eq!(other.locks, std::slice::from_ref(&waits.lock));
        assert!(waits.lock.starts_with("probe.Dumps$Fork@"), "{one:?}");
        assert_eq!(methods(one)[..2], ["probe.Dumps.take", "probe.Dumps.eat"]);
        assert!(one.frames[0].at.as_ref().unwrap().starts_with("Dumps.java:"), "{one:?}");
    }
    let keeper = thread(dump, "keeper");
    assert_eq!(keeper.state, "WAITING");
    assert!(methods(keeper).contains(&"probe.Dumps.waitForTheBell"), "{keeper:?}");
    let bell = keeper.waits_for.as_ref().unwrap();
    assert!(bell.lock.starts_with("probe.Dumps$Bell@") && bell.owner.is_none(), "{keeper:?}");
    let queued = thread(dump, "queued").waits_for.as_ref().unwrap();
    assert_eq!((queued.owner.as_deref(), queued.owner_id), (Some("keeper"), Some(keeper.id)));
    assert!(keeper.locks.contains(&queued.lock), "a synchronizer has an owner too: {keeper:?}");
    let main = thread(dump, "main");
    assert_eq!(main.daemon, Some(false));
    assert!(methods(main).contains(&"probe.Dumps.main"), "{main:?}");
    assert!(!dump.threads.iter().any(|it| it.name == "hypocenter"), "the agent's thread is not shown");
}

/// The threads that the JVM has for itself come and go.
fn own_threads(done: &Done) -> Vec<String> {
    let own = ["keeper", "left-handed", "main", "queued", "right-handed", "hypocenter"];
    let named = |it: &&str| own.contains(it) || it.starts_with("Thread-");
    done.program().lines().filter(named).map(str::to_owned).collect()
}

#[test]
fn a_deadlock_is_dumped_with_its_locks_and_owners() {
    let rows: Vec<(&Jdk, &str, &str)> = jdks()
        .iter()
        .flat_map(|jdk| {
            [
                (jdk, "-XX:+UseSerialGC", "--hook every --record events"),
                (jdk, "-Xint", "--hook every --record stacks"),
                (jdk, "-Xcheck:jni -XX:+UseG1GC", "--hook call --record off"),
            ]
        })
        .collect();
    each(
        &rows,
        |(jdk, options, hooks)| format!("{options} {hooks} on Java {}", jdk.feature),
        |(jdk, options, hooks)| {
            let tool = Tool::on(jdk, "run").args("--json --sandbox off").args(hooks);
            let live = Live::dumps(tool, jdk, options, "");
            for number in 1..=3 {
                let request = live.ask(&[]);
                assert_eq!(request, number);
                let dumped = live.dumped(request);
                let [(name, dump)] = dumped.as_slice() else { panic!("{dumped:?}") };
                assert_eq!(*name, format!("main-{}-{number}.json", dump.pid));
                assert_eq!((dump.version, dump.node.as_str()), (1, "main"));
                check(dump);
            }
            // The JVM's own way still works: the signal does not end in a thread of ours.
            let pid = live.dumped(1)[0].1.pid.to_string();
            assert!(Command::new("kill").args(["-QUIT", &pid]).status().unwrap().success());
            let log = live.files().join("logs/main.stdout.log");
            until("the JVM dumps its threads", || {
                fs::read_to_string(&log).is_ok_and(|text| text.contains("Found 1 deadlock"))
            });
            let stderr = live.files().join("logs/main.stderr.log");
            let done = live.end().exits(0);
            assert_eq!(fs::read_to_string(stderr).unwrap(), "");
            assert_eq!(own_threads(&done), ["keeper", "left-handed", "main", "queued", "right-handed"]);
            let outcome = done.outcome();
            assert_eq!(outcome["problems"].as_array().unwrap().len(), 0, "{outcome:#}");
            assert_eq!(outcome["jvms"][0]["ended"], true, "{outcome:#}");
            assert!(!done.program().contains("WARNING"), "{}", done.program());
        },
    );
}

#[test]
fn every_jvm_of_the_trial_answers_but_those_that_have_ended() {
    let script = "
        start() { HYPOCENTER_NODE=$1 \"$JAVA\" -XX:+UseSerialGC -cp \"$CLASSES\" probe.Dumps $2 & }
        HYPOCENTER_NODE=ended \"$JAVA\" -XX:+UseSerialGC -cp \"$CLASSES\" probe.Guards many 1
        start n1 ready1
        start ../n/2 ready2
        start killed ready3
        victim=$!
        while ! test -e ready3; do sleep 0.01; done
        kill -9 $victim
        wait $victim
        touch gone
        wait";
    let (jdk, classes) = (default_jdk(), classes().display().to_string());
    let tool = Tool::on(jdk, "run").args("--json --record events --packages probe");
    let tool = tool.arg("--classpath").arg(&classes).env("JAVA", jdk.java()).env("CLASSES", &classes);
    let live = Live::start(tool, &["sh", "-c", script], &["ready1", "ready2", "gone"]);
    let request = live.ask(&["killed"]);
    let dumped = live.dumped(request);
    let nodes: Vec<_> = dumped.iter().map(|(_, dump)| dump.node.as_str()).collect();
    assert_eq!(nodes, ["../n/2", "n1"]);
    assert!(dumped[0].0.starts_with(".._n_2-"), "{}", dumped[0].0);
    dumped.iter().for_each(|(_, dump)| check(dump));
    let done = live.end().exits(0);
    let outcome = done.outcome();
    let ended: Vec<_> =
        outcome["jvms"].as_array().unwrap().iter().map(|it| (&it["node"], &it["ended"])).collect();
    assert_eq!(ended.len(), 4, "{outcome:#}");
    for (node, ended) in ended {
        assert_eq!(*ended, *node != "killed", "{outcome:#}");
    }
}

#[test]
fn a_thread_that_a_fault_keeps_is_shown_where_the_program_is() {
    each(
        jdks(),
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            let tool = Tool::on(jdk, "inject").arg("Dumps.step -> Dumps.nothing").args("--sleep 600s --json");
            let live = Live::dumps(tool, jdk, "-XX:+UseSerialGC", "step");
            let dumped = live.dumped(live.ask(&[]));
            let stepper = thread(&dumped[0].1, "stepper");
            assert_eq!(stepper.state, "TIMED_WAITING");
            let methods = methods(stepper);
            let at = methods.iter().position(|it| *it == "probe.Dumps.step").expect("the site");
            assert!(methods[..at].iter().all(|it| it.starts_with("java.lang.Thread.")), "{methods:?}");
            live.end().exits(0);
        },
    );
}

#[test]
fn hooks_that_the_dump_itself_runs_through_only_count() {
    // Every call of a method that the dump needs would throw, were it not the agent's own.
    let plan = json!({
        "version": 1,
        "candidates": [{
            "site": {
                "class": "java.lang.management.ThreadInfo", "method": "getThreadName",
                "descriptor": "()Ljava/lang/String;", "kind": "entry", "ordinal": 0
            },
            "fault": {"kind": "exception", "class": "java.lang.IllegalStateException"},
            "repeat": "always",
        }],
        "record": {"watch": [{"kinds": ["entry"], "classes": ["probe.*"], "level": "event"}]},
    });
    let tool = Tool::new("run").args("--json").plan(&plan);
    let live = Live::dumps(tool, default_jdk(), "-XX:+UseSerialGC", "");
    for _ in 0..2 {
        check(&live.dumped(live.ask(&[]))[0].1);
    }
    let outcome = live.end().exits(2).outcome();
    assert_eq!(outcome["candidates"][0]["result"]["end"], "not_reached", "{outcome:#}");
    assert_ne!(outcome["candidates"][0]["hits"], 0, "the hook is there: {outcome:#}");
}

#[test]
fn a_jvm_that_cannot_dump_says_why() {
    let tool = Tool::new("run").args("--json --record count");
    let live = Live::dumps(tool, default_jdk(), "--limit-modules java.base", "");
    let request = live.ask(&[]);
    assert!(live.dumped(request).is_empty());
    let bytes = fs::read(live.files().join("trace")).unwrap();
    let jvms = Trace::new(&bytes).unwrap().jvms();
    assert_eq!((jvms[0].dumped, jvms[0].dump_failed), (request, true));
    let done = live.end().exits(0);
    let problems = done.outcome()["problems"].to_string();
    assert!(problems.contains("no thread dump") && problems.contains("java.management"), "{problems}");
}

#[test]
fn a_directory_that_cannot_be_written_is_said() {
    let live = Live::dumps(Tool::new("run").args("--json"), default_jdk(), "-XX:+UseSerialGC", "");
    // A file where the directory is to be: also for root, who may write anywhere.
    fs::remove_dir(live.files().join("dumps")).unwrap();
    fs::write(live.files().join("dumps"), "").unwrap();
    live.ask(&[]);
    fs::remove_file(live.files().join("dumps")).unwrap();
    let dumped = live.dumped(live.ask(&[]));
    check(&dumped[0].1);
    let problems = live.end().exits(0).outcome()["problems"].to_string();
    let path = Path::new("trials/000/dumps");
    assert!(problems.contains("no thread dump") && problems.contains(path.to_str().unwrap()), "{problems}");
}
