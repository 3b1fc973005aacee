//! Oracles on real trials: what each kind sees, what it does not, and what is said of one that cannot be meant.

mod support;

use std::fs;
use std::path::Path;

use serde_json::Value;
use support::{Done, Tool, classes, default_jdk, each};

/// A configuration: the target's classes, and whatever else.
fn config(rest: &str) -> String {
    format!("[target]\nclasspath = [\"{}\"]\npackages = [\"probe\"]\n\n{rest}", classes().display())
}

/// A JVM of the targets, as a command.
fn java(program: &str) -> String {
    let (java, path) = (default_jdk().java(), classes().display());
    format!("{java} -XX:+UseSerialGC -XX:TieredStopAtLevel=1 -cp {path} {program}")
}

/// Form of an oracle.
#[derive(Debug, Clone, Copy, PartialEq)]
enum Way {
    Configuration,
    Flag,
}

/// Runs a shell script under an oracle.
fn run(script: &str, oracle: &str, way: Way, flags: &str) -> Done {
    let tool = Tool::new("run").args("--hook entry --json").args(flags).file("script.sh", script);
    match way {
        Way::Configuration => {
            let workload = "[[workload]]\nname = \"script\"\ncommand = \"sh script.sh\"\ntimeout = \"60s\"\n";
            let failure = format!("[failure]\nworkload = \"script\"\noracle = {oracle}\n");
            tool.file("hypocenter.toml", config(&format!("{workload}\n{failure}"))).end()
        }
        Way::Flag => {
            let path = classes().display();
            let tool = tool.args(&format!("--classpath {path} --packages probe"));
            tool.arg("--oracle").arg(oracle).command(&["sh", "script.sh"])
        }
    }
}

/// Asserts what an oracle said.
#[track_caller]
fn said(done: &Done, happened: bool, why: &str) {
    let outcome = done.outcome();
    let failure = &outcome["failure"];
    assert_eq!(failure["happened"], happened, "{failure:#}");
    assert!(failure["why"].as_str().is_some_and(|it| it.contains(why)), "`{why}` is not in {failure:#}");
    let word = if happened { "failure   happened: " } else { "failure   did not happen: " };
    assert!(done.stderr.contains(word), "`{word}` is not said: {}", done.stderr);
    // What is kept is what was printed.
    let kept: Value = serde_json::from_slice(&fs::read(done.trial().join("outcome.json")).unwrap()).unwrap();
    assert_eq!(kept, outcome);
}

#[test]
fn the_oracle_of_another_workload_is_not_asked_and_that_is_said() {
    let workloads =
        "[[workload]]\nname = 'a'\ncommand = 'true'\n[[workload]]\nname = 'b'\ncommand = 'true'\n";
    let of_a = "[failure]\nworkload = 'a'\noracle = { log = 'x' }\n";
    let of_all = "[failure]\noracle = { log = 'x' }\n";
    let said = "oracle    none: the oracle of [failure] is for workload a";
    for (verb, args, failure, expected) in [
        ("run", "--workload b", of_a, true),
        ("inject", "Guards.hit --sleep 1ms --workload b", of_a, true),
        ("run", "--workload b --oracle {exit=1}", of_a, false),
        ("run", "--workload a", of_a, false),
        ("run", "--workload b", of_all, false),
        ("run", "--workload b", "[failure]\nworkload = 'a'\n", false),
    ] {
        let tool = Tool::new(verb).file("hypocenter.toml", config(&format!("{workloads}{failure}")));
        let done = tool.args(args).end();
        assert_eq!(done.stderr.contains(said), expected, "{verb} {args} {failure}: {}", done.stderr);
    }
}

/// A script, an oracle, whether the failure happened, and a part of the reason.
type Row = (&'static str, &'static str, bool, &'static str);

const TALK: &str = "echo one; echo 'two errors (a+b)'; echo two warnings >&2";
const REPORT: &str = r#"mkdir "$HYPOCENTER_DIR/reports"; cat > "$HYPOCENTER_DIR/reports/TEST-a.StoreTest.xml" <<'END'
<?xml version="1.0" encoding="UTF-8"?>
<testsuite name="a.StoreTest" tests="2" failures="1">
  <testcase classname="a.StoreTest" name="opens" time="0.01"/>
  <testcase classname="a.StoreTest" name="appends" time="0.02">
    <failure message="the disk is slow" type="java.lang.AssertionError">at a.StoreTest.appends(StoreTest.java:7)</failure>
  </testcase>
</testsuite>
END"#;
const PRINTED: &str = "cat <<'END'
JUnit version 4.13.2
..E
Time: 0.012
There was 1 failure:
1) appends(a.StoreTest)
java.lang.AssertionError: the disk is slow
\tat a.StoreTest.appends(StoreTest.java:7)

FAILURES!!!
Tests run: 2,  Failures: 1

END
exit 1";

const ROWS: &[Row] = &[
    // A line of the output: as text, as either, as a regular expression; how often; of whom.
    (TALK, r#"{ log = "two errors" }"#, true, "logs/main.stdout.log:2: two errors (a+b)"),
    (
        TALK,
        r#"{ log = "two (errors|warnings)", times = 2 }"#,
        true,
        "at least 2 lines, the 2nd is logs/main.stderr.log:1",
    ),
    (TALK, r#"{ log = "^two", times = 3 }"#, false, "only 2 of 3 lines"),
    (TALK, r#"{ log = "(a+b)" }"#, true, "two errors (a+b)"),
    (
        TALK,
        r#"{ log = "three" }"#,
        false,
        "no line of logs/main.stdout.log, logs/main.stderr.log has `three`",
    ),
    (TALK, r#"{ text = "(a+b)" }"#, true, "two errors (a+b)"),
    (TALK, r#"{ text = "two.*s" }"#, false, "has `two.*s`"),
    (TALK, r#"{ regex = '^two \w+$' }"#, true, "logs/main.stderr.log:1: two warnings"),
    (TALK, r#"{ regex = "^wo" }"#, false, "has `^wo`"),
    (TALK, r#"{ regex = "^one$", node = "main" }"#, true, "logs/main.stdout.log:1: one"),
    // How the command ended.
    ("exit 3", "{ exit = 3 }", true, "main exited with status 3"),
    ("exit 3", "{ exit = 0 }", false, "main exited with status 3"),
    ("exit 3", r#"{ exit = "failed" }"#, true, "main exited with status 3"),
    ("exit 0", r#"{ exit = "failed" }"#, false, "main exited with status 0"),
    ("exit 3", r#"{ exit = "signal 9" }"#, false, "main exited with status 3"),
    ("kill -9 $$", r#"{ exit = "signal 9" }"#, true, "main was ended by signal 9"),
    ("kill -9 $$", r#"{ exit = "signal 15" }"#, false, "main was ended by signal 9"),
    ("kill -9 $$", r#"{ exit = "failed" }"#, true, "main was ended by signal 9"),
    ("kill -9 $$", "{ exit = 9 }", false, "main was ended by signal 9"),
    (
        "exit 0",
        r#"{ exit = "timeout" }"#,
        false,
        "the trial did not time out: the workload exited with status 0",
    ),
    // A file: in the fresh directory, beside the configuration; there, and with a text.
    ("echo hello > \"$HYPOCENTER_DIR/out\"", r#"{ file = "{dir}/out" }"#, true, "dir/out exists"),
    ("echo hello > \"$HYPOCENTER_DIR/out\"", r#"{ file = "{dir}/in" }"#, false, " does not exist"),
    (
        "echo hello > \"$HYPOCENTER_DIR/out\"",
        r#"{ file = "{dir}/out", contains = "h.l+o" }"#,
        true,
        "out:1: hello",
    ),
    (
        "echo hello > \"$HYPOCENTER_DIR/out\"",
        r#"{ file = "{dir}/out", contains = "bye" }"#,
        false,
        "has `bye`",
    ),
    ("echo hello > beside", r#"{ file = "beside", contains = "hello" }"#, true, "beside:1: hello"),
    ("true", r#"{ file = "beside", contains = "hello" }"#, false, " does not exist"),
    // A test, by its report and by what its runner printed.
    (REPORT, r#"{ junit = "StoreTest.appends", reports = "{dir}/reports/*.xml" }"#, true, "the disk is slow"),
    (REPORT, r#"{ junit = "a.StoreTest", reports = "{dir}/**/*.xml" }"#, true, "a.StoreTest.appends failed"),
    (REPORT, r#"{ junit = "StoreTest.opens", reports = "{dir}/reports/*.xml" }"#, false, "and none failed"),
    (REPORT, r#"{ junit = "OtherTest", reports = "{dir}/reports/*.xml" }"#, false, "is `OtherTest`"),
    (
        PRINTED,
        r#"{ junit = "StoreTest.appends" }"#,
        true,
        "a.StoreTest.appends failed (logs/main.stdout.log:5",
    ),
    (PRINTED, r#"{ junit = "StoreTest.*" }"#, true, "a.StoreTest.appends failed"),
    (PRINTED, r#"{ junit = "StoreTest.opens" }"#, false, "none is `StoreTest.opens`"),
    (
        "echo '1) appends(a.StoreTest)'",
        r#"{ junit = "StoreTest" }"#,
        false,
        "no runner of JUnit tests printed",
    ),
    // A command.
    ("echo 1 > made", r#"{ command = "test -f made" }"#, true, "`test -f made` ended with status 0"),
    ("true", r#"{ command = "test -f made" }"#, false, "`test -f made` did not end with status 0"),
    (
        "echo 7 > \"$HYPOCENTER_DIR/n\"",
        r#"{ command = "test $(cat {dir}/n) = 7" }"#,
        true,
        "ended with status 0",
    ),
    // Combinations.
    (TALK, r#"{ all = [{ log = "one" }, { exit = 0 }] }"#, true, "one; main exited with status 0"),
    (TALK, r#"{ all = [{ log = "one" }, { exit = 1 }] }"#, false, "main exited with status 0"),
    (TALK, r#"{ any = [{ exit = 1 }, { log = "two" }] }"#, true, "two errors"),
    (TALK, r#"{ any = [{ exit = 1 }, { log = "three" }] }"#, false, "has `three`"),
    (
        TALK,
        r#"{ not = { exit = 0 } }"#,
        false,
        "but the oracle requires the opposite: main exited with status 0",
    ),
    (TALK, r#"{ not = { log = "three" } }"#, true, "has `three`"),
    (
        "echo hello > beside; exit 4",
        r#"{ all = [{ any = [{ exit = 3 }, { exit = 4 }] }, { not = { all = [{ file = "beside" }, { log = "x" }] } }] }"#,
        true,
        "main exited with status 4",
    ),
];

#[test]
fn each_kind_of_oracle_sees_what_happened_and_nothing_else() {
    // Every other row by the other way, so that each kind is given in both.
    let ways = [Way::Configuration, Way::Flag].into_iter().cycle();
    let rows: Vec<(Way, &Row)> = ways.zip(ROWS).collect();
    each(
        &rows,
        |(way, (script, oracle, ..))| format!("{oracle} by {way:?} of: {script}"),
        |(way, (script, oracle, happened, why))| {
            let done = run(script, oracle, *way, "");
            said(&done, *happened, why);
        },
    );
}

#[test]
fn a_command_that_does_not_end_is_seen_by_its_time() {
    let rows = [
        (r#"{ exit = "timeout" }"#, true, "the trial timed out"),
        (r#"{ exit = "timeout", node = "main" }"#, true, "main was still running at the timeout"),
        (r#"{ exit = "failed" }"#, false, "main was still running at the timeout"),
        (r#"{ all = [{ exit = "timeout" }, { log = "begun" }] }"#, true, "begun"),
    ];
    each(
        &rows,
        |(oracle, ..)| oracle.to_string(),
        |(oracle, happened, why)| {
            let done = run("echo begun; exec sleep 600", oracle, Way::Flag, "--timeout 1s").exits(3);
            said(&done, *happened, why);
        },
    );
}

/// Two nodes, of which one ends with status 5, and a client that has seen that.
fn cluster(oracle: &str) -> Done {
    let workload = r#"
        [[workload]]
        name = "cluster"
        timeout = "60s"

        [[workload.node]]
        name = "a"
        command = "sh a.sh"
        ready = { file = "{dir}/a" }

        [[workload.node]]
        name = "b"
        command = "sh b.sh"
        ready = { file = "{dir}/b" }

        [[workload.client]]
        name = "c"
        command = "sh c.sh"
    "#;
    let failure = format!("[failure]\noracle = {oracle}\n");
    let note_pid = |name: &str| {
        format!("echo from {name}; cd \"$HYPOCENTER_DIR\"; echo $$ > {name}.part; mv {name}.part {name}; ")
    };
    Tool::new("run")
        .args("--hook entry --json")
        .file("hypocenter.toml", config(&format!("{workload}\n{failure}")))
        .file("a.sh", note_pid("a") + "exec sleep 600")
        .file("b.sh", note_pid("b") + "until test -f end; do sleep 0.02; done; exit 5")
        // A process that nobody has waited for yet is still there for kill.
        .file("c.sh", "echo from c; cd \"$HYPOCENTER_DIR\"; touch end; while kill -0 $(cat b); do sleep 0.02; done 2>&-")
        .end()
}

#[test]
fn an_oracle_may_ask_one_node_or_client() {
    let rows = [
        (r#"{ log = "from a", node = "a" }"#, true, "logs/a.stdout.log:1: from a"),
        (r#"{ log = "from a", node = "b" }"#, false, "no line of logs/b.stdout.log, logs/b.stderr.log"),
        (r#"{ log = "from c", client = "c" }"#, true, "logs/c.stdout.log:1: from c"),
        (r#"{ log = "from", times = 3 }"#, true, "3 lines"),
        (r#"{ exit = 5, node = "b" }"#, true, "b exited with status 5"),
        (r#"{ exit = "failed", node = "a" }"#, false, "a was still running at the end of the trial"),
        (r#"{ exit = "timeout", node = "a" }"#, false, "a was still running at the end of the trial"),
        (r#"{ exit = 5 }"#, false, "c exited with status 0"),
        // While the nodes are alive.
        (r#"{ command = "kill -0 $(cat {dir}/a)" }"#, true, "ended with status 0"),
        (r#"{ command = "kill -0 $(cat {dir}/b)" }"#, false, "did not end with status 0"),
    ];
    each(
        &rows,
        |(oracle, ..)| oracle.to_string(),
        |(oracle, happened, why)| said(&cluster(oracle), *happened, why),
    );
}

#[test]
fn an_oracle_of_a_process_that_is_not_there_is_refused() {
    let rows = [r#"{ log = "from a", node = "z" }"#, r#"{ not = { exit = 0, client = "z" } }"#];
    for oracle in rows {
        let done = cluster(oracle).exits(1).says("`z`").says("a, b, c");
        assert!(!done.directory().join("hypocenter-out").exists(), "nothing was run: {}", done.stderr);
    }
    run("true", r#"{ log = "x", node = "z" }"#, Way::Flag, "").exits(1).says("`z`").says("main");
}

#[test]
fn a_file_of_the_private_tmp_is_looked_for_there() {
    let name = format!("/tmp/hypocenter-oracle-{}", std::process::id());
    let (script, oracle) =
        (format!("echo mine > {name}"), format!("{{ file = \"{name}\", contains = \"mine\" }}"));
    for way in [Way::Configuration, Way::Flag] {
        let done = run(&script, &oracle, way, "");
        said(&done, true, ":1: mine");
        let private = !done.stderr.contains("sandbox: none");
        assert_eq!(Path::new(&name).exists(), !private, "{}", done.stderr);
        assert_eq!(done.trial().join(name.replace("/tmp/", "tmp/")).exists(), private);
        let _ = fs::remove_file(&name);
    }
    // What was there before is not the trial's.
    fs::write(&name, "mine\n").unwrap();
    let done = run("true", &oracle, Way::Flag, "");
    fs::remove_file(&name).unwrap();
    if !done.stderr.contains("sandbox: none") {
        said(&done, false, " does not exist");
    }
}

/// A JVM with stuck threads, as a node; the oracle looks at them when the client has ended.
fn stuck(verb: Tool, arguments: &str, oracle: &str) -> Done {
    let command = java(&format!("probe.Dumps {{dir}}/ready {arguments}"));
    let workload = format!(
        "[[workload]]\nname = \"stuck\"\ntimeout = \"60s\"\n\n\
         [[workload.node]]\nname = \"table\"\ncommand = \"{command}\"\nready = {{ file = \"{{dir}}/ready\" }}\n\n\
         [[workload.client]]\nname = \"guest\"\ncommand = \"true\"\n\n[failure]\noracle = {oracle}\n"
    );
    verb.args("--json").file("hypocenter.toml", config(&workload)).end()
}

#[test]
fn the_stack_of_a_live_thread_is_seen() {
    let rows = [
        (
            r#"{ stack = "probe.Dumps.waitForTheBell" }"#,
            true,
            "thread `keeper` of table is in probe.Dumps.waitForTheBell",
        ),
        (
            r#"{ stack = ["Dumps.waitForTheBell", "Dumps.keep"], thread = "keep*", node = "table" }"#,
            true,
            "keeper",
        ),
        (r#"{ stack = "Dumps.take", thread = "right-handed" }"#, true, "thread `right-handed`"),
        (
            r#"{ stack = "Dumps.take", thread = "keeper" }"#,
            false,
            "none of the 1 threads called `keeper` is in",
        ),
        (r#"{ stack = ["Dumps.keep", "Dumps.waitForTheBell"] }"#, false, "but not next to each other"),
        (r#"{ stack = "Dumps.step" }"#, false, "is in Dumps.step"),
        (r#"{ all = [{ stack = "Dumps.queue" }, { not = { stack = "Dumps.step" } }] }"#, true, "queued"),
    ];
    each(
        &rows,
        |(oracle, ..)| oracle.to_string(),
        |(oracle, happened, why)| {
            let done = stuck(Tool::new("run").args("--hook entry"), "", oracle);
            let done = done.exits(if *happened { 4 } else { 0 });
            said(&done, *happened, why);
            assert_eq!(fs::read_dir(done.trial().join("dumps")).unwrap().count(), 1);
        },
    );
    // A thread that the fault itself keeps.
    let tool = || Tool::new("inject").arg("Dumps.step").args("--sleep 600s");
    let done = stuck(tool(), "x", r#"{ stack = "probe.Dumps.step", thread = "stepper" }"#).exits(0);
    said(&done, true, "thread `stepper` of table is in probe.Dumps.step");
}

#[test]
fn a_frame_in_which_no_thread_can_be_is_told_before_anything_runs() {
    let oracle = |stack: &str| format!("{{ all = [{{ exit = 0 }}, {{ stack = \"{stack}\" }}] }}");
    let run = |stack: &str| stuck(Tool::new("run").args("--hook entry"), "", &oracle(stack));
    let done = run("probe.Dumps.waitForTheBel").exits(1);
    let done = done.says("the oracle requires a thread in `probe.Dumps.waitForTheBel`, which is impossible");
    let done = done.says("`probe.Dumps` has no method `waitForTheBel`; there is probe.Dumps.waitForTheBell");
    assert!(!done.directory().join("hypocenter-out").exists(), "there is no campaign");
    // A class may come from elsewhere, and a native method is one.
    run("probe.Dunps.keep")
        .exits(0)
        .says("no class `probe.Dunps` is on the class path; there is probe.Dumps");
    let done = run("java.lang.Thread.currentThread").exits(0);
    assert!(!done.stderr.contains("class path"), "{}", done.stderr);
    run("probe.*.waitForTheBel").exits(0);
}

#[test]
fn a_test_that_is_not_on_the_class_path_is_noted() {
    let oracle = |test: &str| format!("{{ any = [{{ exit = 1 }}, {{ junit = \"{test}\" }}] }}");
    let run = |test: &str| stuck(Tool::new("run").args("--hook entry"), "", &oracle(test)).exits(0);
    run("Dunps")
        .says("it requires test `Dunps`, which is misspelled or not on the class path: no class `Dunps`");
    run("Dumps.keeep").says("`Dumps` has no method `keeep`; there is Dumps.keep");
    for test in ["probe.Dumps.keep", "Dun*"] {
        let done = run(test);
        assert!(!done.stderr.contains("it requires test"), "{}", done.stderr);
    }
}

#[test]
fn what_only_the_fault_holds_is_not_stuck_if_delays_are_outlasted() {
    let oracle = |method: &str| format!("{{ stack = \"probe.Dumps.{method}\" }}");
    let held =
        stuck(Tool::new("inject").arg("Dumps.step").args("--sleep 600s"), "x", &oracle("step")).exits(0);
    let plan = fs::read(held.trial().join("plan.json")).expect("a trial has its plan");
    let mut plan: Value = serde_json::from_slice(&plan).expect("a plan is JSON");
    plan["candidates"][0]["fault"]["delay_ms"] = 5_000.into();
    plan["outlast"] = true.into();
    let outlasted = |method: &str| stuck(Tool::new("run").plan(&plan), "x", &oracle(method));
    said(&outlasted("step").exits(0), false, "is in probe.Dumps.step");
    // What nobody holds is where it was.
    said(
        &outlasted("waitForTheBell").exits(0),
        true,
        "thread `keeper` of table is in probe.Dumps.waitForTheBell",
    );
}

#[test]
fn a_failure_without_a_fault_is_said_by_the_exit_code() {
    let oracle = |text: &str| format!("{{ log = \"{text}\" }}");
    let run = |text: &str, flags: &str| {
        let tool = Tool::new("run").args("--hook entry --json").args(flags);
        tool.arg("--oracle").arg(oracle(text)).java("probe.Guards many 3")
    };
    let done = run("main 2: fine", "").exits(4);
    said(&done, true, "logs/main.stdout.log:2: main 2: fine");
    let done = run("main 4", "").exits(0);
    said(&done, false, "has `main 4`");
    let done = run("main 2: fine", "--repeat 2").exits(4).says("happened in 2 of 2");
    assert_eq!((&done.outcome()["failures"], &done.outcome()["well"]), (&2.into(), &2.into()));
    run("main 4", "--repeat 2").exits(0).says("happened in 0 of 2");
    // With a fault it is what was looked for.
    let inject = |text: &str| {
        let tool = Tool::new("inject").arg("Guards.hit").args("--throw java.io.IOException --at 2 --json");
        tool.arg("--oracle").arg(oracle(text)).java("probe.Guards many 3").exits(0)
    };
    said(&inject("injected by hypocenter"), true, "main 2: java.io.IOException");
    said(&inject("main 2: fine"), false, "has `main 2: fine`");
}

#[test]
fn an_oracle_of_the_configuration_is_for_its_workload() {
    let text = config(
        "[[workload]]\nname = \"one\"\ncommand = \"echo x\"\n\n[[workload]]\nname = \"two\"\ncommand = \"echo x\"\n\n\
         [failure]\nworkload = \"two\"\noracle = { log = \"x\" }\n",
    );
    let run = |workload: &str| {
        let tool = Tool::new("run").args("--hook entry --json").arg(workload).file("hypocenter.toml", &text);
        tool.end().outcome()["failure"]["happened"].clone()
    };
    assert_eq!(run("one"), Value::Null);
    assert_eq!(run("two"), true);
    // The flag is stronger than the file.
    let tool = Tool::new("run").args("--hook entry --json two").file("hypocenter.toml", &text);
    let done = tool.arg("--oracle").arg("{ log = \"y\" }").end();
    assert_eq!(done.outcome()["failure"]["happened"], false);
}

#[test]
fn an_oracle_that_cannot_be_meant_is_refused_where_it_is_written() {
    let rows = [
        (r#"{ lgo = "a" }"#, "unknown field `lgo`"),
        (r#"{ regex = "(" }"#, "unclosed group"),
        (r#"{ file = "x", contains = "" }"#, "it is empty"),
        ("{}", "an oracle needs one of log"),
        (r#"{ log = "" }"#, "it is empty and would match every line"),
        (r#"{ log = "a.*" , exit = 1 }"#, "combine them with all"),
        (r#"{ log = "a", times = 0 }"#, "give 1 or more"),
        (r#"{ log = "a", thread = "b" }"#, "not to `log`"),
        (r#"{ all = [] }"#, "`all` needs at least one oracle"),
        (r#"{ all = [{ exit = 1 }, { not = {} }] }"#, "an oracle needs one of log"),
        (r#"{ stack = [] }"#, "at least one frame"),
        (r#"{ stack = "a.B.c(B.java:3)" }"#, "without file and line"),
        (r#"{ exit = "broken" }"#, "give an exit code such as 1"),
        (r#"{ junit = "T#m" }"#, "`Class.method`"),
        (r#"{ command = " " }"#, "it is empty; give a command"),
        (r#"{ log = "a""#, "unclosed inline table"),
        (r#"{ exit = 1, node = "a", client = "b" }"#, "not both"),
    ];
    each(
        &rows,
        |(oracle, _)| oracle.to_string(),
        |(oracle, why)| {
            let flag = run("echo run > ran", oracle, Way::Flag, "").exits(1).says(why).says("--oracle");
            let file = run("echo run > ran", oracle, Way::Configuration, "").exits(1).says(why);
            let text = fs::read_to_string(file.directory().join("hypocenter.toml")).unwrap();
            let line = 1 + text.lines().position(|line| line.starts_with("oracle = ")).unwrap();
            let file = file.says(&format!("hypocenter.toml:{line}: ")).says("hypocenter schema config");
            for done in [flag, file] {
                assert!(!done.stderr.contains('\u{fffd}'), "the message is readable: {}", done.stderr);
                assert!(!done.directory().join("ran").exists(), "nothing was run");
            }
        },
    );
}

#[test]
fn an_oracle_that_cannot_say_anything_is_an_error_and_no_no() {
    let rows = [
        (
            r#"{ junit = "StoreTest", reports = "{dir}/none/*.xml" }"#,
            "no test report matches `{dir}/none/*.xml`",
        ),
        (r#"{ junit = "StoreTest", reports = "{dir}/broken.xml" }"#, "broken.xml cannot be read"),
        (r#"{ command = "no-such-program" }"#, "the oracle's command `no-such-program` could not be run"),
        (r#"{ file = "{dir}", contains = "x" }"#, "cannot be read"),
    ];
    each(
        &rows,
        |(oracle, _)| oracle.to_string(),
        |(oracle, why)| {
            let script = "echo told; echo '<testsuite><testcase' > \"$HYPOCENTER_DIR/broken.xml\"";
            let done = run(script, oracle, Way::Flag, "").exits(1).says(why);
            // What the trial recorded is not lost with it.
            assert_eq!(done.program(), "told\n");
            assert!(done.trial().join("outcome.json").is_file(), "{}", done.stderr);
        },
    );
}
