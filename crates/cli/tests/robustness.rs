//! The agent in programs, and in JVMs, that make it hard: everything goes on as it would without it.

mod support;

use std::fs;
use std::path::Path;
use std::process::Command;
use std::sync::OnceLock;

use serde_json::json;
use support::{Jdk, Tool, classes, default_jdk, each, jdks, on_every_jdk, processes_with, with_lines};

/// Environment of the processes of a test.
const MARK: &str = "ROBUSTNESS_MARK";

/// Output of `probe.Constructs` without the tool.
fn undisturbed() -> &'static str {
    static TEXT: OnceLock<String> = OnceLock::new();
    TEXT.get_or_init(|| {
        let mut java = Command::new(default_jdk().java());
        let output =
            java.arg("-cp").arg(classes()).arg("probe.Constructs").output().expect("java can be run");
        assert!(output.status.success(), "{}", String::from_utf8_lossy(&output.stderr));
        String::from_utf8(output.stdout).expect("it prints plain text")
    })
}

#[test]
fn every_construct_works_the_same_under_every_hook() {
    let rows = ["--record off", "--record count", "--record events", "--record stacks"];
    each(
        &on_every_jdk(&rows),
        |(jdk, record)| format!("{record} on Java {}", jdk.feature),
        |(jdk, record)| {
            let tool = Tool::on(jdk, "run").args("--hook every --json").args(record);
            let done = tool.java_with("-Xverify:all -Xcheck:jni -Xss320k", "probe.Constructs").exits(0);
            // Also no word of the verifier, and none of the JVM about our use of JNI.
            assert_eq!(done.program(), undisturbed());
            let stderr = fs::read_to_string(done.trial().join("logs/main.stderr.log")).unwrap();
            let words = stderr.lines().filter(|line| !line.contains("Options -Xverify"));
            assert_eq!(words.collect::<Vec<_>>(), [""; 0]);
            let outcome = done.outcome();
            assert_eq!(outcome["end"], json!({"how": "exited", "status": 0}));
            assert!(outcome["jvms"][0]["hooks"]["placed"].as_u64().unwrap() > 200, "{outcome:#}");
        },
    );
}

/// A fault in `probe.Constructs`: the one line that changes, and what it changes to.
struct Row {
    site: &'static str,
    fault: &'static str,
    was: &'static str,
    is: &'static str,
}

const ROWS: &[Row] = &[
    Row {
        site: "Constructs$Made.<init>(IJ)V",
        fault: "--throw java.io.IOException --at 2",
        was: "made 5",
        is: "made java.io.IOException 'injected by hypocenter' at <init>:{made}",
    },
    Row {
        site: "Constructs$Made.<init>(I)V -> Constructs$Made.<init>",
        fault: "--throw java.io.IOException --at 2",
        was: "made 5",
        is: "made java.io.IOException 'injected by hypocenter' at <init>:{this}",
    },
    Row {
        site: "Constructs$Initialised.<clinit>",
        fault: "--throw java.io.IOException",
        was: "initialised 3",
        is: "initialised java.io.IOException 'injected by hypocenter' at <clinit>:{initialiser}",
    },
    Row {
        site: "Constructs$Shape.area",
        fault: "--throw java.io.IOException",
        was: "default 6.0",
        is: "default java.io.IOException 'injected by hypocenter' at area:{default}",
    },
    // Inside two monitors, which are free afterwards: the line after it says so.
    Row {
        site: "Constructs.monitors block 2",
        fault: "--throw java.io.IOException --at 2",
        was: "monitors 0",
        is: "monitors java.io.IOException 'injected by hypocenter' at monitors:{monitors}",
    },
    Row { site: "Constructs$Shape.isBig", fault: "--negate", was: "static false", is: "static true" },
];

#[test]
fn a_fault_in_a_hard_place_changes_one_line() {
    let name = |(jdk, row): &(&Jdk, &Row)| format!("{} {} on Java {}", row.site, row.fault, jdk.feature);
    each(&on_every_jdk(ROWS), name, |(jdk, row)| {
        let tool = Tool::on(jdk, "inject").arg(row.site).args(row.fault).args("--json");
        let done = tool.java_with("-Xverify:all", "probe.Constructs").exits(0);
        let program = done.program();
        let changed: Vec<_> =
            undisturbed().lines().zip(program.lines()).filter(|(was, is)| was != is).collect();
        let is = with_lines("probe/Constructs.java", row.is);
        assert_eq!(changed, [(row.was, is.as_str())], "{program}");
        assert_eq!(undisturbed().lines().count(), program.lines().count(), "{program}");
    });
}

#[test]
fn a_fault_is_the_same_in_every_mode_of_the_jvm() {
    let threw = with_lines("probe/Guards.java", "java.io.IOException 'injected by hypocenter' at hit:{hit}");
    let rows = [
        ("-Xint", threw.as_str()),
        ("-Xcomp", &threw),
        ("-XX:TieredStopAtLevel=1", &threw),
        ("-Xcheck:jni", &threw),
        ("-XX:+UnlockDiagnosticVMOptions -XX:+ShowHiddenFrames", &threw),
        ("-XX:-StackTraceInThrowable", "java.io.IOException 'injected by hypocenter' nowhere"),
    ];
    each(
        &on_every_jdk(&rows),
        |(jdk, (options, _))| format!("{options} on Java {}", jdk.feature),
        |(jdk, (options, threw))| {
            let tool =
                Tool::on(jdk, "inject").arg("Guards.hit").args("--throw java.io.IOException --at 2 --json");
            let done = tool.java_with(options, "probe.Guards many 3").exits(0);
            assert_eq!(done.program(), format!("main 1: fine\nmain 2: {threw}\nmain 3: fine\n"));
        },
    );
}

#[test]
fn javac_under_a_hundred_thousand_hooks_writes_the_same_classes() {
    let source = Path::new(env!("CARGO_MANIFEST_DIR")).join("../../targets/probe/Constructs.java");
    let caught = source.with_file_name("Caught.java");
    let (source, caught) = (source.display().to_string(), caught.display().to_string());
    let compilers: Vec<&Jdk> = jdks().iter().filter(|jdk| jdk.home.join("bin/javac").is_file()).collect();
    each(
        &compilers,
        |jdk| format!("Java {}", jdk.feature),
        |jdk| {
            let path = classes().display().to_string();
            let tool = Tool::on(jdk, "run").args("--hook every --packages com.sun.tools.javac --json");
            let (plain, hooked) = (tool.directory().join("plain"), tool.directory().join("hooked"));
            let flags = ["--release", "11", "-g", "-d"];
            let mut javac = Command::new(jdk.home.join("bin/javac"));
            javac.args(flags).arg(&plain).args([&source, &caught]);
            assert!(javac.status().expect("javac can be run").success());
            let (java, hooked_text) = (jdk.java(), hooked.display().to_string());
            let main = [&java, "-m", "jdk.compiler/com.sun.tools.javac.Main"];
            let words: Vec<&str> =
                main.into_iter().chain(flags).chain([&*hooked_text, &source, &caught]).collect();
            let done = tool.args(&format!("--classpath {path}")).command(&words).exits(0);
            let outcome = done.outcome();
            assert!(outcome["jvms"][0]["hooks"]["placed"].as_u64().unwrap() > 100_000, "{outcome:#}");
            assert!(outcome["jvms"][0]["hits"].as_u64().unwrap() > 1_000_000, "{outcome:#}");
            let mut names: Vec<_> =
                fs::read_dir(plain.join("probe")).unwrap().flatten().map(|it| it.file_name()).collect();
            names.sort();
            assert!(names.len() > 5, "{names:?}");
            for name in names {
                let read = |directory: &Path| fs::read(directory.join("probe").join(&name)).unwrap();
                assert_eq!(read(&plain), read(&hooked), "{name:?}");
            }
        },
    );
}

#[test]
fn threads_that_still_hit_while_the_jvm_ends_do_no_harm() {
    let rows = ["--record count", "--record events", "--record stacks"];
    each(
        &on_every_jdk(&rows),
        |(jdk, record)| format!("{record} on Java {}", jdk.feature),
        |(jdk, record)| {
            let tool = Tool::on(jdk, "run").args("--hook entry --packages hits.Threads --json").args(record);
            let done = tool.java("hits.Threads 4 500 daemons").exits(0);
            let outcome = done.outcome();
            assert_eq!(outcome["end"], json!({"how": "exited", "status": 0}));
            assert!(outcome["jvms"][0]["hits"].as_u64().unwrap() >= 4 * 2 * 500, "{outcome:#}");
        },
    );
}

#[test]
fn the_tool_asked_to_end_ends_the_command_and_tells_what_there_was() {
    for signal in ["TERM", "INT"] {
        let (java, path) = (default_jdk().java(), classes().display().to_string());
        let script =
            format!("{java} -cp {path} probe.Guards many 3; sh -c 'touch sleeping; sleep 600; :' & wait");
        let tool = Tool::new("run").args(&format!("--hook entry --json --classpath {path} --packages probe"));
        let mark = tool.directory().display().to_string();
        let tool = tool.env(MARK, &mark);
        let mut running = tool.for_command(&["sh", "-c", &script]).start();
        running.wait_for("sleeping");
        let entry = format!("{MARK}={mark}");
        // The shell in the background, not one of those around it, whose commands have its text too.
        let is_inner = |it: &String| it.contains(": sh -c touch sleeping");
        let before = processes_with(&entry);
        assert!(before.iter().any(is_inner), "what is to be ended is not to be seen: {before:?}");
        running.signal(signal);
        let done = running.end().exits(3);
        let outcome = done.outcome();
        assert_eq!(outcome["jvms"][0]["hits"], 10, "{outcome:#}");
        assert_eq!(processes_with(&entry), [""; 0], "left behind");
    }
}

#[test]
fn many_jvms_and_many_threads_in_one_trial() {
    const JVMS: usize = 8;
    let script = format!(
        "for n in $(seq {JVMS}); do
             HYPOCENTER_NODE=n$n \"$JAVA\" -XX:+UseSerialGC -cp \"$CLASSES\" hits.Threads 50 20 > /dev/null &
         done
         wait"
    );
    let tool = Tool::new("run").args("--hook entry --record events --json");
    let done = tool.script("hits.Threads", &script).exits(0);
    let outcome = done.outcome();
    let mut nodes: Vec<&str> = Vec::new();
    for jvm in outcome["jvms"].as_array().unwrap() {
        nodes.push(jvm["node"].as_str().unwrap());
        assert_eq!((&jvm["hits"], &jvm["events"]), (&json!(50 * 41 + 1), &json!(50 * 41 + 1)), "{jvm:#}");
    }
    nodes.sort();
    assert_eq!(nodes, ["n1", "n2", "n3", "n4", "n5", "n6", "n7", "n8"]);
}

#[test]
fn a_target_in_a_jar_is_found_from_its_command() {
    let compiler = jdks().iter().find(|jdk| jdk.home.join("bin/jar").is_file()).expect("a JDK has jar");
    // How java is told: by -jar, by a wildcard, by a file of arguments.
    let rows = [
        &["-jar", "lib/probe.jar"][..],
        &["-cp", "lib/*", "probe.Guards"],
        &["-cp", "nothing:lib/probe.jar", "probe.Guards"],
        &["@arguments", "probe.Guards"],
    ];
    each(
        &rows,
        |words| words.join(" "),
        |words| {
            let tool =
                Tool::new("inject").arg("Guards.hit").args("--throw java.io.IOException --at 2 --json");
            fs::create_dir(tool.directory().join("lib")).unwrap();
            let status = Command::new(compiler.home.join("bin/jar"))
                .args(["--create", "--file"])
                .arg(tool.directory().join("lib/probe.jar"))
                .args(["--main-class", "probe.Guards", "-C"])
                .arg(classes())
                .arg("probe")
                .status();
            assert!(status.expect("jar can be run").success());
            let tool = tool.file("arguments", "-cp lib/probe.jar");
            let java = default_jdk().java();
            let command: Vec<&str> =
                [java.as_str()].into_iter().chain(words.iter().copied()).chain(["many", "3"]).collect();
            let done = tool.command(&command).exits(0);
            assert!(
                done.program().starts_with("main 1: fine\nmain 2: java.io.IOException"),
                "{}",
                done.program()
            );
        },
    );
}

#[test]
fn a_workload_that_cuts_the_files_of_its_trial_does_not_take_the_tool_along() {
    let jvm = "\"$JAVA\" -XX:+UseSerialGC -cp \"$CLASSES\" probe.Guards many 2";
    let trace = "\"$HYPOCENTER_DIR/../trace\"";
    let rows = [
        format!("{jvm}; : > {trace}"),
        format!(": > {trace}; {jvm}"),
        format!("{jvm}; truncate -s 4096 {trace}"),
        // What the JVM counted is gone, and all before it is there.
        format!("{jvm}; truncate -s -4096 {trace}"),
    ];
    each(
        &rows,
        |script| script.clone(),
        |script| {
            let done = Tool::new("run").args("--hook entry").script("probe", script).exits(1);
            done.says("trials/000/trace").says("cut");
        },
    );
    // The map is that of all trials of the campaign.
    let script = format!("{jvm}; : > \"$HYPOCENTER_DIR/../map\"");
    Tool::new("run")
        .args("--hook entry")
        .script("probe", &script)
        .exits(1)
        .says("map: the file is too short");
    let tool = Tool::new("run").args("--hook entry --repeat 2");
    tool.script("probe", &script).exits(1).says("trials/001/map: instrumentation map: the file is too short");
}

#[test]
fn a_node_that_cuts_the_trace_before_it_is_asked_for_anything_does_not_take_the_tool_along() {
    // Faults are armed when the nodes are ready, and threads are dumped when a client fails.
    let node = |script: &str| {
        format!(
            "[[workload.node]]\nname = \"n\"\ncommand = \"sh -c '{script} echo up; exec sleep 600'\"\nready = {{ log = \"up\" }}\n"
        )
    };
    let client =
        |script: &str| format!("[[workload.client]]\nname = \"c\"\ncommand = \"sh -c '{script}'\"\n");
    let cut = ": > {dir}/../trace;";
    let rows = [node(cut) + &client("exit 0"), node("") + &client(&format!("{cut} exit 1"))];
    each(
        &rows,
        |parts| parts.clone(),
        |parts| {
            let classes = classes().display();
            let config = format!(
                "[target]\nclasspath = [\"{classes}\"]\npackages = [\"probe\"]\n[[workload]]\nname = \"w\"\ntimeout = \"60s\"\n{parts}"
            );
            let tool = Tool::new("inject").file("hypocenter.toml", config);
            let done = tool.args("Guards.hit --crash --when-ready").end().exits(1);
            done.says("trials/000/trace: something cut it short");
        },
    );
}
